"""Settings of all tests, and the study that many of them look at."""

import json
import os
import subprocess
import sys
from functools import cache
from math import inf
from types import SimpleNamespace

import pytest
from filelock import FileLock
from hypothesis import settings

# Threads of scikit-learn and of NumPy that wait for each other keep a core busy. Several processes have few cores
# between them, where that takes many times as long as the work itself; child processes wait as quietly.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

# Locally hypothesis looks for new examples each time; where a red run stops others, it repeats the same ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


# What compiles most of the kernels, in halves of about the same time.
COMPILING = (
    """
from sklearn.datasets import load_wine
from pqswarm.evaluation import CLASSIFIERS, FILTERS, REGRESSORS, Folds
X, y = load_wine(return_X_y=True)
folds, masks = Folds.stratified(y, 5), X[:2] > 1
CLASSIFIERS["k-nn"]().evaluator(X, y, folds).neighbours(masks[0])
CLASSIFIERS["k-nn"]().evaluator(X, y, folds).errors(masks)
twice = X[:, [*range(13), 0]]
CLASSIFIERS["lda"]().evaluator(twice, y, folds).errors(twice[:2] > 0)
REGRESSORS["linear"]().evaluator(X, X[:, 0], folds).errors(masks)
for name in ("mutual-information-binned", "relieff"):
    FILTERS[name].scores(X, y)
""",
    """
from pqswarm.datasets import make_dataset
from pqswarm.evaluation import CLASSIFIERS, Folds
for preset in ("paper", "field"):
    events = make_dataset(5, float("inf"), preset=preset, n_jobs=1)
X, y = events.X(), events.y
folds = Folds.stratified(y, 5)
masks = X[:2] > X[2]
for name in ("kernel-nb", "gaussian-nb", "nearest-centroid"):
    CLASSIFIERS[name]().evaluator(X, y, folds).errors(masks)
CLASSIFIERS["kernel-nb"]().estimator().fit(X, y).predict(X)
""",
)


def pytest_configure(config):
    """Compile the kernels, which are kept in files, before several processes begin: else each of them compiles all."""
    if getattr(config.option, "dist", "no") == "no" or hasattr(config, "workerinput"):
        return
    children = [subprocess.Popen([sys.executable, "-c", program]) for program in COMPILING]
    codes = [child.wait() for child in children]
    if any(codes):
        raise pytest.UsageError("the compiled parts of pqswarm cannot be used: see above.")


def made_once(tmp_path_factory, name, make):
    """The folder of that name, which `make` fills, once for all processes of the test run."""
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
    """A function that returns the 3500 events of a preset, in full and with noise of 30 dB, only to be read."""
    from pqswarm.datasets import load_dataset, make_dataset

    @cache
    def events(preset):
        def make(folder):
            make_dataset(250, [inf, 30.0], 0, preset).save(folder / "events.npz")

        return load_dataset(made_once(tmp_path_factory, f"events-{preset}", make) / "events.npz")

    return events


@pytest.fixture(scope="session")
def smoke_command(tmp_path_factory):
    """What ``pqswarm study smoke`` came to: return code, standard output and error, and the folder of the study."""

    def run(folder):
        command = [sys.executable, "-m", "pqswarm", "study", "smoke", "--out", str(folder)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        told = {"returncode": run.returncode, "stdout": run.stdout, "stderr": run.stderr}
        folder.with_suffix(".json").write_text(json.dumps(told))

    folder = made_once(tmp_path_factory, "smoke-study", run)
    return SimpleNamespace(folder=folder, **json.loads(folder.with_suffix(".json").read_text()))


@pytest.fixture(scope="session")
def smoke_study(smoke_command):
    """The folder of a finished study of the plan ``smoke``, only to be read: copy it to change it."""
    return smoke_command.folder


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A real browser with its own profile, for all tests of a process."""
    from tests.browser import Browser

    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()
