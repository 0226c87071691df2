"""Make the reference results anew: run their studies side by side, and write the files of docs/results.

``python research/reference_results.py --device cuda --out docs/results`` takes about half an hour on an H200.
Studies that were stopped are resumed; ``--only NAME ...`` takes some of them, ``--seconds N`` stops all in time, and
``--small`` tries everything at a size that means nothing.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
GRID = "dataset.preset=paper-grid"
STUDIES = {
    "replication-paper": ("replication",),
    "replication-paper-grid": ("replication", GRID),
    "paper": ("paper",),
    "paper-grid": ("paper-grid",),
    "as-printed": ("as-printed",),
    "ablation-paper": ("research/ablation.toml",),
    "ablation-paper-grid": ("research/ablation.toml", GRID),
    "multiverse": ("multiverse",),
    "random-readings": ("docs/results/random-readings.toml",),
}
TABLES = ("runs", "stage-two", "held-out")
SMALL = (
    "runs=2",
    "max_evaluations=30",
    "dataset.events_per_class=10",
    "dataset.snr=[inf, 30]",
    "folds.number=2",
)


def study_command(name: str, work: Path, device: str, is_small: bool) -> list[str]:
    """The command that runs or resumes a study."""
    plan, *changes = STUDIES[name]
    if is_small:
        changes += SMALL
    options = [f"--set={change}" for change in changes]
    source = str(ROOT / plan) if plan.endswith(".toml") else plan
    return [sys.executable, "-m", "pqswarm", "study", source, "--out", str(work / name), "--device", device, *options]


def run_side_by_side(names: Sequence[str], arguments: argparse.Namespace) -> list[str]:
    """Run the studies, and return the names of those that did not end."""
    waiting = list(names)
    running: dict[str, subprocess.Popen[bytes]] = {}
    unfinished = []
    end = time.monotonic() + arguments.seconds
    while waiting or running:
        while waiting and len(running) < arguments.at_once and time.monotonic() < end:
            name = waiting.pop(0)
            log = (arguments.work / f"{name}.log").open("ab")
            command = study_command(name, arguments.work, arguments.device, arguments.small)
            running[name] = subprocess.Popen(command, stdout=log, stderr=log)
        time.sleep(0.2)
        if time.monotonic() > end:
            unfinished += waiting
            waiting = []
            for process in running.values():
                process.send_signal(signal.SIGINT)
        for name in [name for name, process in running.items() if process.poll() is not None]:
            code = running.pop(name).returncode
            print(f"{name}: {'finished' if code == 0 else f'stopped with exit code {code}'}", flush=True)
            if code != 0:
                unfinished.append(name)
        if time.monotonic() > end:
            time.sleep(2)
    return unfinished


def collect(name: str, work: Path, out: Path) -> None:
    """Write the page of a study and its tables of runs."""
    out.mkdir(parents=True, exist_ok=True)
    tables = work / f"{name}-csv"
    for form, path in (("html", out / f"{name}.html"), ("csv", tables)):
        command = [sys.executable, "-m", "pqswarm", "report", str(work / name), "--format", form, "--out", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for table in TABLES:
        for file in tables.rglob(f"{table}.csv"):
            shutil.copy(file, out / f"{name}-{table}.csv")


def main() -> int:
    """Run what is asked for; the exit code is 1 if a study did not end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--work", type=Path, default=ROOT / "study" / "reference", help="folder of the studies")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--only", nargs="+", default=list(STUDIES), choices=list(STUDIES), metavar="NAME")
    parser.add_argument("--at-once", type=int, default=3, metavar="N", help="studies that share the machine")
    parser.add_argument("--seconds", type=float, default=float("inf"), metavar="N", help="time until all are stopped")
    parser.add_argument("--small", action="store_true", help="a try, whose numbers mean nothing")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    unfinished = run_side_by_side(arguments.only, arguments)
    for name in arguments.only:
        if name not in unfinished:
            collect(name, arguments.work, arguments.out)
    return 1 if unfinished else 0


if __name__ == "__main__":
    raise SystemExit(main())
