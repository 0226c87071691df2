"""The structure of the source: its weight, plain lines, no shadowed modules, packages that can be imported alone."""

import importlib
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pqswarm
from tests.weights import RECORD, weigh_packages

ROOT = Path(__file__).parents[1]
SKIP = "# fmt" + ": skip"
PACKAGES = ["pqswarm", *(m.name for m in pkgutil.walk_packages(pqswarm.__path__, "pqswarm.") if m.ispkg)]


def test_no_package_outgrows_its_recorded_weight():
    """If one must grow, run ``python -m tests.weights`` and say why in the commit."""
    recorded = tomllib.loads(RECORD.read_text(encoding="utf-8"))
    weights = weigh_packages()
    assert set(weights) == set(recorded)
    grown = {
        package: {unit: (number, recorded[package][unit]) for unit, number in weight.items()}
        for package, weight in weights.items()
        if any(number > recorded[package][unit] for unit, number in weight.items())
    }
    assert not grown


def test_lines_are_plain():
    """No line starts with ``*(`` to defeat the formatter, which is switched off for at most ten matrices."""
    packed, skipped = [], []
    for folder in ("src", "tests", "benchmarks", "research", "examples", "docs"):
        for path in (ROOT / folder).rglob("*.py"):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if folder == "src" and line.lstrip().startswith("*("):
                    packed.append(f"{path}:{number}")
                if line.endswith(SKIP):
                    skipped.append(f"{path}:{number}")
    assert not packed
    assert len(skipped) <= 10, skipped


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


def test_figures_of_recordings_and_the_style_of_figures_need_no_study():
    """`identify --pdf` must not need the dependencies of studies."""
    program = "import pqswarm.report.style, pqswarm.identify.show.sheet, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "pqswarm.report.style" in loaded
    assert not [name for name in loaded if name.startswith("pqswarm.study")]
