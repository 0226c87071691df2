"""Slowdown of a study that a page follows: the same study with and without one, alternately.

CPU time is compared, because it is more reliable than wall time on a busy machine. The page behaves like a browser: it
keeps the connection for messages open and requests the charts whenever a run finishes.
"""

import argparse
import http.client
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

PROGRAM = """
import sys, time, resource
from pqswarm.study import load_plan, run_study
plan = load_plan(sys.argv[1])
start = time.monotonic()
run_study(plan, sys.argv[2], jobs=1)
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, time.monotonic() - start)
"""
PLAN = """
runs = {runs}
max_evaluations = 1500
baseline = "ga"
dataset = {{ preset = "paper", events_per_class = 20, snr = [inf] }}
folds = {{ number = 5 }}
classifiers = [{{ name = "k-NN", kind = "k-nn", n_neighbors = 3, grid_search = false }}]
algorithms = [{{ algorithm = "ga" }}, {{ algorithm = "bpso" }}, {{ algorithm = "2d-upso" }}]
[held_out]
events_per_class = 1
seeds = [1]
"""


class Page:
    """A client that behaves like an open page."""

    def __init__(self, address: str) -> None:
        self._home, _, token = address.partition("?token=")
        self._headers = {"X-Page": "0" * 32, "X-Visitor": "0" * 32, "X-Token": token}
        self.messages = self.charts = 0
        threading.Thread(target=self._listen, daemon=True).start()
        while not self._ask("api/studies/watch", {"watch": True})["watching"]:
            time.sleep(0.1)
        self._ask("api/studies")

    def _open(self, path: str, json_body: object = None):
        data = None if json_body is None else json.dumps(json_body)
        connection = http.client.HTTPConnection(self._home.removeprefix("http://").rstrip("/"), timeout=600)
        connection.request("GET" if data is None else "PUT", f"/{path}", data, self._headers)
        return connection.getresponse()

    def _ask(self, path: str, json_body: object = None):
        with self._open(path, json_body) as answer:
            return json.load(answer)

    def _listen(self) -> None:
        done, shown_at = -1, 0.0
        with self._open(f"api/updates/{'0' * 32}") as lines:
            for line in lines:
                if not line.startswith(b"data:"):
                    continue
                row = json.loads(line[5:]).get("study")
                if not row:
                    continue
                self.messages += 1
                if row["state"] == "running" and row["runs_done"] not in (0, done) and time.monotonic() > shown_at + 3:
                    done, shown_at = row["runs_done"], time.monotonic()
                    self._ask(f"api/studies/{row['id']}/charts?classifier=k-NN")
                    self.charts += 1


def run(plan: Path, folder: Path) -> tuple[float, float]:
    """Return the CPU time and the wall time of a study in seconds."""
    command = [sys.executable, "-c", PROGRAM, str(plan), str(folder)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    cpu, wall = map(float, output.split())
    return cpu, wall


def used_by(pid: int) -> float:
    """Return the CPU time of a process so far in seconds."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def wait_idle(pid: int) -> None:
    """Wait until a process is idle: a server that has just started still loads modules."""
    before = -1.0
    while used_by(pid) > before + 0.02:
        before = used_by(pid)
        time.sleep(1.0)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--runs", type=int, default=4)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        plan, served = home / "plan.toml", home / "served"
        plan.write_text(PLAN.format(runs=options.runs))
        served.mkdir()
        run(plan, home / "warm")  # compiles everything
        command = [sys.executable, "-m", "pqswarm", "app", str(served), "--no-open"]
        environment = os.environ | {"XDG_STATE_HOME": str(home / "state"), "PYTHONUNBUFFERED": "1"}
        alone, followed, server, messages, charts = [], [], [], 0, 0
        for i in range(options.repeats):
            alone.append(run(plan, home / f"alone-{i}"))
            app = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
            try:
                address = next(filter(None, (re.search(r"http://\S+", line) for line in app.stdout))).group()
                page = Page(address)
                wait_idle(app.pid)
                before = used_by(app.pid)
                followed.append(run(plan, served / f"followed-{i}"))
                server.append((used_by(app.pid) - before) / followed[-1][1])
                messages, charts = messages + page.messages, charts + page.charts
            finally:
                app.kill()
                app.wait()
            times = [f"{cpu:.2f} s CPU ({wall:.1f} s wall)" for cpu, wall in (alone[-1], followed[-1])]
            print(f"{i}: alone {times[0]}, followed {times[1]}, server {100 * server[-1]:.1f} % of a core", flush=True)
        ratios = [median(cpu for cpu, _ in followed) / median(cpu for cpu, _ in alone)]
        ratios += [min(cpu for cpu, _ in followed) / min(cpu for cpu, _ in alone)]
        walls = median(wall for _, wall in followed) / median(wall for _, wall in alone)
        print(f"{messages} messages, {charts} chart requests; the server took {100 * median(server):.2f} % of a core")
        print(f"CPU, followed / alone: {ratios[0]:.3f} (medians), {ratios[1]:.3f} (minima); wall {walls:.3f}")


if __name__ == "__main__":
    main()
