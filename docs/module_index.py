"""What each module contains, by folder, from the docstrings: a page of the site, or ``python docs/module_index.py``."""

import ast
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "pqswarm"


def purpose(path):
    """First sentence of a module's docstring, on one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace(":mod:", "")


def module_index():
    """Text of the page."""
    lines = ["# Module index", "", "What each module contains, from its docstring.", "", "```text"]
    for folder in sorted({path.parent for path in SOURCE.rglob("*.py")}):
        place = folder.relative_to(SOURCE).as_posix()
        lines.append(f"{'pqswarm' if place == '.' else place}/  {purpose(folder / '__init__.py')}")
        modules = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
        lines += [f"    {path.stem:<18} {purpose(path)}" for path in modules]
    return "\n".join([*lines, "```", ""])


def write_module_index(app):
    """Write the page where Sphinx looks for it, before it reads the pages."""
    page = Path(app.srcdir) / "reference" / "generated" / "modules.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(module_index(), encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(module_index())
