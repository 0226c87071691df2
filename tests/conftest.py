"""Settings of all tests, and the study that many of them look at."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from filelock import FileLock
from hypothesis import settings

# Locally hypothesis looks for new examples each time; where a red run stops others, it repeats the same ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


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
