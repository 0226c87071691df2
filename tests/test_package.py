"""The package: light imports, complete exports, documented functions."""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import pqswarm
from pqswarm import errors
from pqswarm.errors import FileFormatError, PqswarmError

HEAVY = ("numba", "scipy", "matplotlib", "sklearn", "joblib", "rich", "comtrade", "pandas")
LIGHT = ("datasets", "evaluation", "recordings", "measure", "search", "statistics", "study")
OTHERS = ("events", "events.models", "features", "identify", "measure.steady", "report")
PACKAGES = [f"pqswarm.{name}" for name in (*LIGHT, *OTHERS)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("packages", "absent"),
    [
        ("pqswarm", ("numpy", "pywt", *HEAVY)),
        ("pqswarm.events", ("pywt", *HEAVY)),
        (", ".join(f"pqswarm.{name}" for name in LIGHT), HEAVY),
        ("pqswarm.identify", ("sklearn", "numba", "matplotlib", "scipy.signal")),
    ],
)
def test_import_is_light(packages, absent):
    program = f"import sys, {packages}; print([name for name in {absent!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


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


def test_errors_are_value_errors():
    assert issubclass(PqswarmError, ValueError)
    assert issubclass(FileFormatError, PqswarmError)


def test_messages_name_the_way_to_install_that_works_here(tmp_path, monkeypatch):
    assert errors.how_to_install("gpu") == "make gpu"
    monkeypatch.setattr(errors, "__file__", str(tmp_path / "site-packages" / "pqswarm" / "errors.py"))
    assert errors.how_to_install("gpu") == "pip install 'pqswarm[gpu]'"


def test_nothing_uses_pickle_or_global_random_state():
    for path in Path(pqswarm.__path__[0]).rglob("*.py"):
        text = path.read_text()
        for word in ("import pickle", "allow_pickle=True", "np.random.seed", "np.random.rand(", "np.random.random("):
            assert word not in text, f"{word} in {path.name}"
