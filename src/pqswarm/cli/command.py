"""Help and error messages of the commands, in terms of the command line."""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from pqswarm.cli.options import Stopped
from pqswarm.errors import PqswarmError

# Typer has its own copy of click's errors, earlier versions used click's: this is the one it raises.
_UsageError: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "UsageError")

# Arguments of the library whose options have other names.
_OPTION_NAMES = {
    "channels": "--channel",
    "jobs": "--jobs",
    "max_bytes": "--max-mb",
    "max_evaluations": "--evaluations",
    "n_jobs": "--jobs",
    "nominal_frequency": "--frequency",
    "nominal_voltage": "--nominal",
    "sampling_rate": "--rate",
}

# Names with an underscore are always arguments; others may be words of the sentence.
_ANYWHERE = r"(?<![\w.'-])NAME\b(?!\.\w|=)"
_AS_ARGUMENT = r"(?<![\w.-])(?<!\w )NAME(?= must )|(?<=name one in )NAME\b|\bNAME of features\b"


def name_options(text: str, options: Iterable[str]) -> str:
    """Return a message of the library with options of a command in place of arguments, but not of plain words."""
    text = re.sub(r" of \w*(?:Hyperp|P)arameters\b", "", text)  # the message says which ones
    if re.match(r"\S+\.toml\b", text):  # keys of a file keep their names
        return text
    known = set(options)
    names = {option.removeprefix("--").replace("-", "_"): option for option in known} | _OPTION_NAMES
    text, listed, rest = text.partition(" Known: ")
    text = text.replace(" or None for all", " for all").replace(", or None,", ",")
    for name, option in names.items():
        if option in known:
            place = _ANYWHERE if "_" in name else _AS_ARGUMENT
            text = re.sub(place.replace("NAME", name), option, text)
    return text + listed + rest


def help_rows(command: Any, context: Any) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the arguments and options of a command: syntax and meaning."""
    arguments, options = [], []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None:
            continue
        meaning = record[1].replace("\\[", "[")  # as written by Typer before 0.16
        meaning = re.sub(r"default: \((.*)\)\]", r"default: \1]", meaning)
        if parameter.param_type_name == "argument":
            arguments.append((_argument_name(parameter), meaning.replace("  [required]", "")))
        else:
            options.append((record[0], meaning))
    return arguments, options


class _ErrorMessages:
    """Reports errors of a command line in one sentence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments and options."""
        given = list(args)
        if "" in given and isinstance(self, Command) and not ctx.resilient_parsing:
            raise PqswarmError(f"{ctx.command_path} does not accept an empty argument: omit it, or give a value.")
        try:
            return super().parse_args(ctx, args)  # type: ignore[misc, no-any-return]
        except _UsageError as error:
            _refuse(error, ctx, given)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)  # type: ignore[misc]
        except KeyboardInterrupt:  # commands with something to say handle it themselves
            raise Stopped("stopped.") from None
        except PqswarmError as error:
            raise PqswarmError(name_options(str(error), _options(ctx.command))) from error


class Command(_ErrorMessages, TyperCommand):
    """A command."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the usage after the name of the command."""
        arguments = [one for one in self.get_params(ctx) if one.param_type_name == "argument"]
        return [
            "[OPTIONS]",
            *(_argument_name(one) if one.required else f"[{_argument_name(one)}]" for one in arguments),
        ]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options."""
        for title, rows in zip(("Arguments", "Options"), help_rows(self, ctx), strict=True):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class CommandGroup(_ErrorMessages, TyperGroup):
    """A command with subcommands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            names = self.list_commands(ctx)
            if name.startswith("-"):
                raise PqswarmError(f"{ctx.command_path} has no option {name}. {_see_help(ctx)}")
            near = _suggest_command_word(name, names)
            raise PqswarmError(
                f"{ctx.command_path} has no command {name!r}{near} Known: {', '.join(names)}. {_see_help(ctx)}"
            )
        return super().resolve_command(ctx, args)


def _argument_name(argument: Any) -> str:
    """The name of an argument in the help."""
    return f"{argument.metavar or argument.name.upper()}{'...' if argument.nargs != 1 else ''}"


def _options(command: Any) -> Iterator[str]:
    for parameter in command.params:
        yield from (name for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("--"))


def _see_help(ctx: Any) -> str:
    return f"See {ctx.command_path} --help."


def _suggest_command_word(name: str, known: Iterable[str]) -> str:
    """End a sentence about an unknown name with the closest known one."""
    names = {one.lstrip("-"): one for one in known}
    close = difflib.get_close_matches(name.lstrip("-").lower(), names, n=1, cutoff=0.7)
    return f": did you mean {names[close[0]]}?" if close else "."


def _refuse(error: Any, ctx: Any, given: Sequence[str]) -> NoReturn:
    """Raise an error that says what is wrong and what is accepted."""
    where = ctx.command_path
    parameter = getattr(error, "param", None)
    kind = type(error).__name__
    if kind == "NoArgsIsHelpError":
        raise error
    if kind == "NoSuchOption":
        name = error.option_name
        raise PqswarmError(
            f"{where} has no option {name}{_suggest_command_word(name, _options(ctx.command))} {_see_help(ctx)}"
        ) from error
    if kind == "MissingParameter" and parameter is not None:
        raise PqswarmError(f"{where} needs {_argument_name(parameter)}: {parameter.help} {_see_help(ctx)}") from error
    if kind == "BadOptionUsage":
        taker = next((one for one in ctx.command.params if error.option_name in one.opts), None)
        if getattr(taker, "is_flag", False):
            raise PqswarmError(f"{error.option_name} takes no value. {_see_help(ctx)}") from error
        wanted = getattr(taker, "metavar", None)
        raise PqswarmError(
            f"{error.option_name} needs {'two values' if getattr(taker, 'nargs', 1) == 2 else 'a value'}"
            f"{f': {wanted}' if wanted else ''}. {_see_help(ctx)}"
        ) from error
    if kind == "BadParameter" and parameter is not None:
        option = next((one for one in parameter.opts if one.startswith("--")), parameter.metavar or parameter.name)
        is_number = "number" in error.message or "float" in error.message
        wanted = "an integer" if "integer" in error.message else "a number" if is_number else ""
        if wanted:
            raise PqswarmError(f"{option} must be {wanted}, not {_command_line_value(parameter, given)!r}.") from error
        raise PqswarmError(f"{option} is invalid: {error.message}") from error
    extra = re.search(r"unexpected extra arguments?(?:\(s\))? \((.*)\)", error.message)
    if extra is not None:
        names = [_argument_name(one) for one in ctx.command.params if one.param_type_name == "argument"]
        takes = " and ".join(names) or "options"
        raise PqswarmError(f"{where} takes only {takes}, not also {extra[1]!r}. {_see_help(ctx)}") from error
    raise PqswarmError(f"{error.format_message()} {_see_help(ctx)}") from error


def _command_line_value(parameter: Any, given: Sequence[str]) -> str:
    """The value given for a parameter; for an argument, which has no name, the first."""
    for name in parameter.opts:
        for word, following in zip(given, (*given[1:], ""), strict=True):
            if word == name:
                return following
            if word.startswith(f"{name}=" if name.startswith("--") else name):
                return word[len(name) :].removeprefix("=")
    return given[0] if given else ""
