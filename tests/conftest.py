"""Settings and fixtures shared by all tests."""

import gc
import json
import os
import signal
import subprocess
import sys
from functools import cache
from importlib import metadata
from math import inf
from pathlib import Path
from types import SimpleNamespace

import pytest
from _pytest.doctest import DoctestModule
from filelock import FileLock
from hypothesis import settings

from tests.depth import DEPTH
from tests.slowest import is_slow, read_list

# Threads of scikit-learn and NumPy spin while they wait for each other. Several processes share a few cores, where
# spinning takes many times as long as the work itself. Child processes inherit this.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

# A shell may have started this in the background, where Ctrl-C does nothing, neither here nor in child processes.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What a terminal or a runner says of colors and widths would change what commands print, here and in child processes.
for name in ("CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "GITHUB_ACTIONS", "LINES", "NO_COLOR", "TTY_COMPATIBLE"):
    os.environ.pop(name, None)

# Studies, journals and reports wait for the disk after each write. In memory they do not; a kill of a process, which is
# what tests do, shows no difference. Some machines lend little memory that way, or run no scripts from there.
MEMORY = Path("/dev/shm")
if os.access(MEMORY, os.W_OK):
    found = os.statvfs(MEMORY)
    if found.f_bavail * found.f_frsize > 4e9 and not found.f_flag & os.ST_NOEXEC:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Tests know the members of registries: those of packages that happen to be installed are hidden, except that of the
# fixture `installed`.
found_entry_points = metadata.entry_points


def entry_points_of_tests(**chosen):
    found = found_entry_points(**chosen)
    if not chosen.get("group", "").startswith("pqswarm."):
        return found
    return metadata.EntryPoints(point for point in found if point.dist.name == "plugin")


metadata.entry_points = entry_points_of_tests

# What is imported and collected stays: looking for garbage in it takes a third of the time of collecting the tests.
gc.disable()

# In make deep hypothesis draws new examples each time; else it repeats the same ones: tests fail by a change alone. On
# a machine that is shared, an example may take any time.
settings.register_profile("tests", deadline=None, derandomize=DEPTH == 1, max_examples=100 if DEPTH > 1 else 30)
settings.load_profile("tests")


# Files that take longest: several processes start with them. The first to need the smoke study makes it for all.
FIRST = (
    "tests/study/test_kills.py",
    "tests/cli/test_report.py",
    "tests/app",
    "tests/test_selector.py",
    "tests/study/test_multiverse.py",
    "tests/evaluation/test_conformance.py",
    "tests/test_docs.py",
    "tests/study/test_cluster.py",
    "tests/test_other_processors.py",
    "tests/cli/test_study.py",
    "tests/study/test_several.py",
    "tests/identify/test_model.py",
    "tests/test_reference_results.py",
    "tests/fuzz/test_fuzzing.py",
    "tests/cli/test_warnings.py",
    "tests/test_wheel.py",
    "tests/test_plugins.py",
    "tests/study/test_classifiers.py",
    "tests/report/test_study_figures.py",
    "tests/cli/test_commands.py",
    "tests/cli/test_identify.py",
    "tests/test_windows.py",
    "tests/study/test_scheduler.py",
)


def work_unit(nodeid):
    """What one process runs as a whole: a file, so that its fixtures are made once; all tests that share servers."""
    return "tests/app" if nodeid.startswith("tests/app/") else nodeid.partition("::")[0]


def pytest_configure(config):
    """Compile what all processes need before they start: otherwise each compiles all."""
    if getattr(config.option, "dist", "no") == "no" or hasattr(config, "workerinput"):
        return
    from tests.compiling import compile_kernels, compile_tests

    tests = compile_tests()
    if not compile_kernels():
        raise pytest.UsageError("the compiled parts of pqswarm cannot be used: see above.")
    if tests is not None:
        tests.wait()


def pytest_ignore_collect(collection_path):
    """Look for doctests in the package, and in no helper of the tests: importing some of those takes seconds."""
    is_helper = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return (is_helper and Path(__file__).parent in collection_path.parents) or None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for no doctests in tests: there are none."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


def pytest_collection_modifyitems(config, items):
    """Mark slow tests; start with the files that take longest and end with the doctests, so that all end together."""
    listed = read_list()
    for item in items:
        if is_slow(item, listed):
            item.add_marker("slow")
    if hasattr(config, "workerinput"):
        ranks = {name: number for number, name in enumerate(FIRST)}
        items.sort(key=lambda item: ranks.get(work_unit(item.nodeid), len(FIRST) + item.nodeid.startswith("src/")))


def pytest_collection_finish():
    """From now on, look for garbage, but not among modules and tests, and seldom: it took a twelfth of the time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With ``--dist loadfile``, give each process whole work units in that order."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return work_unit(nodeid)

    config.option.loadscopereorder = False
    return Scheduling(config, log)


def made_once(tmp_path_factory, name, make):
    """The folder of that name, filled by `make` once for all processes of a test run."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, done = shared / name, shared / f"{name}.done"
    with FileLock(shared / f"{name}.lock"):
        if not done.exists():
            make(folder)
            done.touch()
    return folder


@pytest.fixture(scope="session")
def paper_events(tmp_path_factory):
    """A function that returns the 3500 events of a preset or its file, without noise and at 30 dB. Read-only."""
    from pqswarm.datasets import load_dataset, make_dataset
    from pqswarm.events import load_preset

    @cache
    def events(preset):
        whole = load_preset(preset) if preset.endswith(".toml") else preset

        def make(folder):
            make_dataset(250, [inf, 30.0], 0, whole).save(folder / "events.npz")

        return load_dataset(made_once(tmp_path_factory, f"events-{Path(preset).stem}", make) / "events.npz")

    return events


@pytest.fixture(scope="session")
def smoke_command(tmp_path_factory):
    """The outcome of ``pqswarm study smoke``: return code, standard output and error, its folder."""

    def run(folder):
        command = [sys.executable, "-m", "pqswarm", "study", "smoke", "--jobs", "1", "--out", str(folder)]
        settings = os.environ | {"PYTHONHASHSEED": "1"}  # tests that write the report again have other ones
        run = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=600, check=False)
        outcome = {"returncode": run.returncode, "stdout": run.stdout, "stderr": run.stderr}
        folder.with_suffix(".json").write_text(json.dumps(outcome))

    folder = made_once(tmp_path_factory, "smoke-study", run)
    return SimpleNamespace(folder=folder, **json.loads(folder.with_suffix(".json").read_text()))


@pytest.fixture(scope="session")
def smoke_study(smoke_command):
    """The folder of a finished study of the plan ``smoke``. Read-only: copy it to change it."""
    return smoke_command.folder


@pytest.fixture
def installed(tmp_path):
    """A function that installs a module `plugin` with entry points of some registries, for this process and test."""
    changed = []

    def install(source, points, *registries):
        (tmp_path / "plugin.py").write_text(source)
        info = tmp_path / "plugin-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(points)
        sys.path.insert(0, str(tmp_path))
        for registry in registries:
            changed.append((registry, registry._members))
            registry._members = dict(registry._members)
            vars(registry).pop("_entry_points", None)  # they are looked up again

    yield install
    sys.path[:] = [path for path in sys.path if path != str(tmp_path)]
    sys.modules.pop("plugin", None)
    for registry, members in changed:
        registry._members = members
        vars(registry).pop("_entry_points", None)


@pytest.fixture(scope="session")
def browser():
    """A real browser, for all tests of a process."""
    from tests.browser import Browser

    opened = Browser()
    yield opened
    opened.close()
