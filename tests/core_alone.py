"""Run tests as if the packages that only other parts of pqswarm need were not installed.

python -m pytest -p tests.core_alone tests/selector tests/test_selector.py
"""

import sys
from importlib.abc import MetaPathFinder

BLOCKED = ("jinja2", "matplotlib", "pydantic", "rich", "typer")


class Blocker(MetaPathFinder):
    """Refuses to import some packages."""

    def __init__(self, *packages):
        self.packages = packages

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.packages:
            raise ModuleNotFoundError(f"No module named {name!r}: it is blocked", name=name)


def block():
    """Block the packages in this process; those that are loaded are forgotten."""
    for name in [name for name in sys.modules if name.partition(".")[0] in BLOCKED]:
        del sys.modules[name]
    sys.meta_path.insert(0, Blocker(*BLOCKED))


def pytest_configure(config):
    block()
