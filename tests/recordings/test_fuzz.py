"""A small, fixed part of the fuzzing; the whole is ``python -m tests.recordings.fuzz --count 20000``."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.recordings.fuzz import READERS


@pytest.mark.parametrize("reader", READERS)
def test_damaged_files(reader):
    # A process of its own: its memory is limited.
    command = [sys.executable, "-m", "tests.recordings.fuzz", "--count", "250", "--seed", "7", "--reader", reader]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert run.returncode == 0, run.stdout + run.stderr
    report = json.loads(run.stdout.splitlines()[0])
    assert report["read"] > 10
    assert report["refused"] > 10
    assert report["read"] + report["refused"] == 250
