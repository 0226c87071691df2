"""The package: light imports, complete exports, documented functions."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import pqswarm
from pqswarm import errors
from pqswarm.errors import FileFormatError, PqswarmError

PACKAGES = [
    "pqswarm.datasets",
    "pqswarm.evaluation",
    "pqswarm.events",
    "pqswarm.events.models",
    "pqswarm.features",
    "pqswarm.identify",
    "pqswarm.measure",
    "pqswarm.measure.steady",
    "pqswarm.recordings",
    "pqswarm.report",
    "pqswarm.search",
    "pqswarm.statistics",
    "pqswarm.study",
]
HEAVY = ("numba", "scipy", "matplotlib", "sklearn", "joblib", "rich")


def loaded_by(statement, names):
    program = f"{statement}; import sys; print([name for name in {names!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout.strip()


@pytest.mark.slow
def test_import_is_light():
    assert loaded_by("import pqswarm", ("numpy", "pywt", *HEAVY)) == "[]"
    assert loaded_by("import pqswarm.events", ("pywt", *HEAVY)) == "[]"
    assert loaded_by("import pqswarm.datasets", HEAVY) == "[]"
    assert loaded_by("import pqswarm.evaluation", HEAVY) == "[]"
    assert loaded_by("import pqswarm.recordings", HEAVY) == "[]"
    assert loaded_by("import pqswarm.measure", HEAVY) == "[]"
    assert loaded_by("import pqswarm.search", HEAVY) == "[]"
    assert loaded_by("import pqswarm.statistics", HEAVY) == "[]"
    assert loaded_by("import pqswarm.study", HEAVY) == "[]"


def test_subpackages_appear_on_first_use():
    program = "import pqswarm; print(pqswarm.events.PRESETS['paper'].classes[2], pqswarm.features.feature_names()[27])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["sag", "D3.entropy"]
    assert set(dir(pqswarm)) == set(pqswarm.__all__)
    with pytest.raises(AttributeError, match="no attribute 'swarm'"):
        pqswarm.swarm  # noqa: B018


@pytest.mark.parametrize("name", PACKAGES)
def test_exports_are_complete(name):
    package = importlib.import_module(name)
    assert all(hasattr(package, export) for export in package.__all__)
    assert len(set(package.__all__)) == len(package.__all__)


def public_functions():
    for name in PACKAGES:
        package = importlib.import_module(name)
        for export in package.__all__:
            thing = getattr(package, export)
            if inspect.isfunction(thing):
                yield f"{name}.{export}", thing


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_are_annotated_and_documented(name):
    function = FUNCTIONS[name]
    assert inspect.getdoc(function)
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    if len(signature.parameters) > 2:
        assert "Parameters\n----------" in inspect.getdoc(function)
        nothing = signature.return_annotation is None
        assert nothing or "Returns\n-------" in inspect.getdoc(function)


def test_every_module_imports():
    for module in pkgutil.walk_packages(pqswarm.__path__, "pqswarm."):
        if module.name != "pqswarm.__main__":
            importlib.import_module(module.name)


def test_errors_are_value_errors():
    assert issubclass(PqswarmError, ValueError)
    assert issubclass(FileFormatError, PqswarmError)


def test_messages_name_the_way_to_install_that_works_here(tmp_path, monkeypatch):
    assert errors.how_to_install("gpu") == "make gpu"
    monkeypatch.setattr(errors, "__file__", str(tmp_path / "site-packages" / "pqswarm" / "errors.py"))
    assert errors.how_to_install("gpu") == "pip install 'pqswarm[gpu]'"


def test_nothing_uses_pickle_or_global_random_state():
    from pathlib import Path

    for path in Path(pqswarm.__path__[0]).rglob("*.py"):
        text = path.read_text()
        for word in ("import pickle", "allow_pickle=True", "np.random.seed", "np.random.rand(", "np.random.random("):
            assert word not in text, f"{word} in {path.name}"
