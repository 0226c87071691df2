"""Write the index of modules in CONTRIBUTING.md: ``python -m tests.module_index``."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE, SOURCE = ROOT / "CONTRIBUTING.md", ROOT / "src" / "pqswarm"
HEADING = "## Module index\n"


def purpose(path):
    """The first sentence of a module's docstring, on one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace(":mod:", "")


def module_index():
    """The text of the index: what each module holds, by folder."""
    lines = [HEADING, "Written from the docstrings by `python -m tests.module_index`; a test holds it.\n", "```text"]
    for folder in sorted({path.parent for path in SOURCE.rglob("*.py")}):
        place = folder.relative_to(SOURCE).as_posix()
        lines.append(f"{'pqswarm' if place == '.' else place}/  {purpose(folder / '__init__.py')}")
        modules = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
        lines += [f"    {path.stem:<18} {purpose(path)}" for path in modules]
    return "\n".join([*lines, "```\n"])


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page.partition(HEADING)[0] + module_index(), encoding="utf-8")
