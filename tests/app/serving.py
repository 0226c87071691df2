"""A running server for tests."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager


@contextmanager
def running_app(folder, *options, state):
    """``pqswarm app`` on a folder: gives the process, with its `address`, which has the token."""
    command = [sys.executable, "-m", "pqswarm", "app", str(folder), "--no-open", *options]
    environment = os.environ | {"XDG_STATE_HOME": str(state), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    try:
        said = ""
        for line in process.stdout:
            said += line
            found = re.search(r"http://\S+", line)
            if found:
                process.address = found.group()
                process.home = process.address.partition("?")[0].rstrip("/")
                process.token = process.address.partition("token=")[2]
                break
        else:
            raise AssertionError(f"the server did not start: {said}")
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
