"""A Dask cluster of several processes that can be killed one by one."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

PROGRAM = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


class Cluster:
    """A scheduler in its own process, and two workers."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        script = folder / "cluster.py"
        script.write_text(PROGRAM)
        self.process = subprocess.Popen(
            [sys.executable, script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path.cwd()), *filter(None, sys.path)])},
        )
        self.address = self.process.stdout.readline().strip()

    def is_alive(self):
        return self.process.poll() is None

    def workers(self):
        """The worker processes."""
        try:
            children = psutil.Process(self.process.pid).children()
        except psutil.NoSuchProcess:
            return []
        return [one for one in children if "spawn_main" in " ".join(one.cmdline())]

    def kill_scheduler(self):
        """Kill the scheduler; its workers end with it."""
        self.process.kill()
        self._forget()

    def close(self):
        """Stop all processes."""
        if self.is_alive():
            self.process.stdin.close()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self._forget()

    def _forget(self):
        self.process.wait()
        self.process.stdout.close()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self._left():
            time.sleep(0.1)
        for process in self._left():
            process.kill()

    def _left(self):
        """Live processes of its session."""
        from tests.study.studies import session_of

        return session_of(self.process.pid)
