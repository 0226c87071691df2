"""Generate docs/reference/commands.md from the commands: ``python -m tests.cli.command_tables``."""

import re
from pathlib import Path

from typer.main import get_command

from pqswarm.cli.main import app
from pqswarm.cli.terminal import help_rows

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"
HEAD = """# Commands

Arguments and options as shown by `pqswarm COMMAND --help`. Words in capitals are placeholders: `FILE` and `DIR` for
paths, `N` for an integer, `HZ`, `DB` and `MB` for numbers in that unit. Options may precede or follow arguments.

The exit code is 0 on success, 1 on partial failure (such as one recording of several), 2 if the command cannot be
carried out as given, and 130 after Ctrl-C. Results go to standard output, messages to standard error.
"""
_EXAMPLE = re.compile(r"^(?P<what>[^:]+): (?P<line>pqswarm .+)$")
_DEFAULT = re.compile(r"\s*\[(?:env var: (?P<variable>\w+)(?:; )?)?(?:default: (?P<default>.*))?\]$")


def commands(command=None, path=("pqswarm",), parent=None):
    """Yield all commands with their names and contexts."""
    command = command or get_command(app)
    context = command.context_class(command, parent=parent, info_name=path[-1])
    if not hasattr(command, "commands"):
        yield " ".join(path), command, context
    for name in getattr(command, "commands", ()):
        yield from commands(command.commands[name], (*path, name), context)


def page():
    parts = [HEAD]
    for name, command, context in commands():
        told = [" ".join(paragraph.split()) for paragraph in command.help.split("\n\n")]
        examples = [match for match in map(_EXAMPLE.match, told) if match]
        usage = " ".join(command.collect_usage_pieces(context))
        parts.append(f"\n## {name}\n\n" + "\n\n".join(text for text in told if not _EXAMPLE.match(text)))
        parts.append(f"\n```text\n{name} {usage}\n```\n")
        arguments, options = help_rows(command, context)
        if arguments:
            parts += ["| argument | default | meaning |", "|---|---|---|", *map(_row, arguments), ""]
        parts += ["| option | default | meaning |", "|---|---|---|", *map(_row, options), "", "```console"]
        for example in examples:
            parts += [f"# {example['what']}"] if example["what"] != "Example" else []
            parts += [f"$ {line}" for line in example["line"].split(" && ")]
        parts.append("```")
    return "\n".join(parts) + "\n"


def _row(row):
    written, meaning = row
    found = _DEFAULT.search(meaning)
    default = found["default"] or "" if found else ""
    variable = f" Also taken from the environment, as `{found['variable']}`." if found and found["variable"] else ""
    return f"| `{written}` | {default} | {_DEFAULT.sub('', meaning)}{variable} |".replace("|  |", "| |")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
