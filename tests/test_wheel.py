"""The wheel and the source archive are complete, and the wheel works in its own environment without a network."""

import json
import os
import shutil
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import pqswarm
from pqswarm.study import load_plan, plan_text, run_study
from tests.release import build, release_time, run
from tests.study.studies import FEW, contents, plan_toml

pytest.importorskip("hatchling", reason="python -m pip install hatchling")
pytestmark = pytest.mark.slow

# Several commands in one process, with reports without pictures: starting processes takes most of the time.
COMMANDS = """
import json, sys
from typer.testing import CliRunner
from pqswarm.cli.main import app
from pqswarm.report import html

html._html_pictures = lambda drawing, prefix: {"wide": ""}
if __name__ == "__main__":
    results = [CliRunner().invoke(app, arguments, catch_exceptions=False) for arguments in json.loads(sys.argv[1])]
    assert not any(result.exit_code for result in results), [result.output for result in results]
    print(json.dumps([result.stdout for result in results]))
"""
PACKAGE = Path(pqswarm.__file__).parent
DATA = (
    "py.typed",
    "app/web",
    "evaluation/exact/knn/common.cu",
    "identify/default.npz",
    "identify/show/page/templates",
    "report/templates",
    "study/plans/smoke.toml",
)


def files_of_package():
    found = (path for path in PACKAGE.rglob("*") if path.is_file())
    return {path.relative_to(PACKAGE).as_posix() for path in found if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel, built from the source archive as users without a clone build it."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel, _ = build(folder, release_time(), 0o022)
    (source,) = (folder / "unpacked").iterdir()
    for name in ("Makefile", "constraints.txt", "docs/start.md", "tests/test_wheel.py", "LICENSE"):
        assert (source / name).is_file(), name
    return wheel


def test_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
    assert names == {f"pqswarm/{name}" for name in files_of_package()}
    assert not [one for one in DATA if not any(name.startswith(f"pqswarm/{one}") for name in names)]


def share_compiled_code(installed, cache):
    """Copy the compiled code of the tested package to the installed one: compiling everything takes a minute."""
    from numba.core.caching import _CacheLocator as Locator

    copied = 0
    for folder in {source.parent for source in PACKAGE.rglob("*.py")}:
        compiled = folder / "__pycache__"
        if os.environ.get("NUMBA_CACHE_DIR"):
            compiled = Path(os.environ["NUMBA_CACHE_DIR"], Locator.get_suitable_cache_subpath(str(folder / "a.py")))
        target = cache / Locator.get_suitable_cache_subpath(str(installed / folder.relative_to(PACKAGE) / "a.py"))
        for file in compiled.glob("*.nb*"):
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
            copied += 1
    assert copied, "no compiled code was found"


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """An environment with the wheel and the dependencies of this one, and a function that runs commands in it."""
    folder = tmp_path_factory.mktemp("environment").resolve()
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index")
    run(*pip, "--no-compile", wheel, cwd=folder, PIP_DISABLE_PIP_VERSION_CHECK="1")
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    # Searched after the wheel; .pth files in that folder, which lead to a checkout, are not read.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    share_compiled_code(site / "pqswarm", folder / "compiled")

    def command(*arguments, program=(python.parent / "pqswarm",)):
        settings = {"NUMBA_CACHE_DIR": str(folder / "compiled"), "PYTHONPATH": ""}
        return run(*program, *arguments, cwd=folder, **settings)

    place = run(python, "-c", "import pqswarm; print(pqswarm.__file__)", cwd=folder, PYTHONPATH="").strip()
    assert Path(place) == site / "pqswarm" / "__init__.py"
    return folder, python, command


def test_commands_work_without_a_checkout(environment, tmp_path):
    """The study comes to what it comes to in the checkout."""
    folder, python, command = environment
    assert command("--version") == f"pqswarm {pqswarm.__version__}\n"
    commands = (
        ("make-samples", "samples"),
        ("identify", "samples/sag.cfg", "--csv", "events.csv"),
        ("plan", "show", "smoke"),
        ("study", "plan.toml", "--jobs", "1", "--out", "study"),
    )
    (folder / "plan.toml").write_text(plan_toml(runs=2, max_evaluations=60, classes=FEW))
    _, told, shown, _ = json.loads(command(json.dumps(commands), program=(python, "-c", COMMANDS)))
    assert "sag" in told
    assert "sag" in (folder / "events.csv").read_text()
    assert shown == plan_text("smoke")
    report = (folder / "study" / "report.html").read_text()
    assert "2D-UPSO" in report
    assert report.rstrip().endswith("</html>")
    run_study(load_plan(folder / "plan.toml"), tmp_path, jobs=1)
    assert contents(folder / "study") == contents(tmp_path)
