"""The structure of the source: short files, no shadowed modules, packages that can be imported alone."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import pqswarm
from tests.module_index import module_index

ROOT = Path(__file__).parents[1]
PACKAGES = ["pqswarm", *(m.name for m in pkgutil.walk_packages(pqswarm.__path__, "pqswarm.") if m.ispkg)]


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "examples"])
def test_no_file_is_long(folder):
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".cu", ".jinja", ".toml")]
    assert files
    assert not {str(path): n for path in files if (n := len(path.read_text().splitlines())) > 400}


@pytest.mark.parametrize("name", PACKAGES)
def test_no_module_is_hidden_by_what_its_package_exports(name):
    package = importlib.import_module(name)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    hidden = {
        export
        for export in modules & set(getattr(package, "__all__", ()))
        if getattr(package, export) is not sys.modules.get(f"{name}.{export}")
    }
    assert not hidden


def loaded_by(module):
    program = f"import {module}, sys; print(*(name for name in sys.modules if name.startswith('pqswarm.')))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_style_of_figures_imports_no_study():
    assert not {name for name in loaded_by("pqswarm.report.style") if name.startswith("pqswarm.study")}


def test_figures_of_recordings_need_no_study():
    """`identify --pdf` must not need the dependencies of studies."""
    assert not {name for name in loaded_by("pqswarm.identify.show.sheet") if name.startswith("pqswarm.study")}


def test_contributing_ends_with_the_module_index():
    """If this fails, run ``python -m tests.module_index``."""
    assert (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").endswith(module_index())
