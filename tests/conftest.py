"""Settings of all tests, and the study that many of them look at."""

import json
import os
import subprocess
import sys

import pytest
from filelock import FileLock
from hypothesis import settings

# Locally hypothesis looks for new examples each time; where a red run stops others, it repeats the same ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(scope="session")
def smoke_command(tmp_path_factory):
    """What ``pqswarm study smoke`` came to, as JSON, and its folder: made once for all processes of the test run."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, told = shared / "smoke-study", shared / "smoke-study.json"
    with FileLock(shared / "smoke-study.lock"):
        if not told.exists():
            command = [sys.executable, "-m", "pqswarm", "study", "smoke", "--out", str(folder)]
            run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
            told.write_text(json.dumps({"returncode": run.returncode, "stdout": run.stdout, "stderr": run.stderr}))
    return folder, json.loads(told.read_text())


@pytest.fixture(scope="session")
def smoke_study(smoke_command):
    """The folder of a finished study of the plan ``smoke``, only to be read: copy it to change it."""
    return smoke_command[0]
