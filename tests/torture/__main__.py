"""Kill pqswarm, fill its disks, change its machine, and print the outcome: ``python -m tests.torture --help``."""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tests.study.studies import plan_toml
from tests.torture.disks import Disks, make_cases
from tests.torture.forks import ONE_THREAD, warm_up
from tests.torture.kills import MODES, kill, study_seconds, undisturbed_study, undisturbed_watch
from tests.torture.outcomes import Tally
from tests.torture.settings import SETTINGS, compare_settings

# Fraction of all kills by mode: command lines and workers start interpreters, which takes seconds.
SHARES = {
    "one process": 0.62,
    "watch": 0.24,
    "two workers": 0.06,
    "Dask": 0.04,
    "command line": 0.02,
    "watch, command line": 0.02,
}
PARTS = ("kills", "disks", "settings")
TOGETHER = {"one process": 20, "watch": 20}  # kills per job, by mode; 5 otherwise
RECORDINGS = ("sag", "capacitor", "interruption", "quiet", "harmonics")
COMPARED = ("settings", "exports compared", "exports of another machine compared")
JOBS = []  # functions of a tally, which forked processes know
WRONG = ("differences", "files left", "processes left", "half-written files", "wrong endings", "crashes")


def small_plan(classifier=""):
    """The smallest complete study, or one with a classifier that other processes load quickly."""
    text = plan_toml(runs=2, max_evaluations=60, old="seeds = [1, 2]", new="seeds = [1]")
    text = text.replace("snr = [inf, 30]", "snr = [inf]").replace("number = 5", "number = 3")
    if classifier:
        head, *_, tail = text.split("[[classifiers]]")
        algorithms = tail[tail.index("[[algorithms]]") :]
        text = f'{head}[[classifiers]]\nname = "k-NN"\nkind = "{classifier}"\ngrid_search = false\n\n{algorithms}'
    return text


def prepare(folder, parts, modes):
    """Plans, recordings, and the outcome of undisturbed studies and watchers."""
    from pqswarm.recordings.samples import write_samples

    prepared = {}
    for name, classifier in (("plan", ""), ("light", "gaussian-nb")):
        path = folder / f"{name}.toml"
        path.write_text(small_plan(classifier))
        prepared[path.name] = path
    write_samples(folder / "samples")
    prepared["recordings"] = [
        [folder / "samples" / f"{name}.cfg", folder / "samples" / f"{name}.dat"] for name in RECORDINGS
    ]
    if "kills" in parts or "disks" in parts:
        cfgs = [parts[0] for parts in prepared["recordings"]]
        warm_up([prepared["plan.toml"], prepared["light.toml"]], cfgs, folder)
        prepared["plan"] = undisturbed_study(prepared["plan.toml"], folder / "plan")
        prepared["study"] = folder / "plan"
        prepared["light"] = undisturbed_study(prepared["light.toml"], folder / "light")
        prepared["seconds"] = study_seconds(modes if "kills" in parts else (), prepared["light.toml"], folder)
        prepared["watch"] = undisturbed_watch(prepared["recordings"], folder / "watch")
        prepared["runs"] = folder / "results.csv"
        prepared["runs"].write_text("run,a,b,c\n" + "".join(f"{i},{0.1 + i},{0.2 * i},{0.3}\n" for i in range(9)))
    return prepared


def make_jobs(options, folder, prepared):
    """The jobs, longest first: functions of a tally."""
    jobs = []
    if "settings" in options.parts:
        chosen = [*SETTINGS][: options.settings]
        jobs.append(partial(compare_settings, chosen, folder / "settings", prepared, options.digests))
    if "disks" in options.parts:
        cases = make_cases(prepared)
        jobs += [partial(fill_disk, name, cases[name], folder, prepared, options) for name in cases]
    if "kills" in options.parts:
        share = options.kills / sum(SHARES[mode] for mode in options.modes)
        for mode in options.modes:
            kills, together = round(share * SHARES[mode]), TOGETHER.get(mode, 5)
            for number in range(0, kills, together):
                place, seed = folder / f"{mode} {number}", f"{options.seed} {mode} {number}"
                jobs.append(partial(kill, mode, place, seed, prepared, min(together, kills - number)))
    return jobs


def fill_disk(name, case, folder, prepared, options, tally):
    """Fill the disk of a command at all of its writes, or at some."""
    disks = Disks(name, case, folder / f"disk {name}", tally, prepared["recordings"][:2])
    writes = disks.measure()
    points = range(1, writes + 1)
    if 0 < options.points < writes:
        points = sorted(random.Random(options.seed).sample(points, options.points))
    disks.try_all(points)


def begin_lane(folder):
    """Give a process a folder of its own for temporary files."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="tmp-", dir=folder)


def run_job(number):
    tally = Tally()
    try:
        JOBS[number](tally)
    except BaseException:  # noqa: BLE001 (reported at the end)
        tally.check("crashes", False, traceback.format_exc()[-2000:])
    return tally


def run_lanes(lanes, folder):
    """Run the jobs in several processes; return the total tally."""
    total = Tally()
    with ProcessPoolExecutor(lanes, get_context("fork"), begin_lane, (folder,)) as pool:
        for number, tally in enumerate(pool.map(run_job, range(len(JOBS))), 1):
            total.merge(tally)
            sys.stderr.write(f"\r{number} of {len(JOBS)} ")
    left = [path.name for path in folder.glob("tmp-*/*") if not path.name.startswith("dask-")]
    total.check("files left", not left, f"temporary files: {left}")
    return total


def print_table(tally, seconds):
    kinds = sorted(name for name in tally.counts if ": " in name)
    rows = [(name, tally.counts[name]) for name in kinds]
    others = ("kills", "studies", "watched folders", "resumes", "came through", "full-disk points", "full-disk errors")
    others += ("semaphores of joblib left",)
    rows += [(name, tally.counts[name]) for name in (*others, *COMPARED, *WRONG)]
    lines = [f"{name:44} {number:6}" for name, number in (*rows, ("seconds", round(seconds)))]
    sys.stdout.write("\n".join([*lines, *(f"\n{line}" for line in tally.wrong[:40])]) + "\n")


def main(arguments=None):
    """Run the chosen parts; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000, help="number of kills (1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments (0)")
    parser.add_argument("--points", type=int, default=0, help="maximum number of full-disk points per command (0: all)")
    parser.add_argument("--settings", type=int, default=len(SETTINGS), help="number of settings to compare (all)")
    parser.add_argument(
        "--digests", type=Path, metavar="FILE", help="digests of exports: written, or compared if the file exists"
    )
    parser.add_argument("--lanes", type=int, default=os.cpu_count() or 1, help="number of parallel processes (cores)")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=[*MODES], help="what to kill (all)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="parts to run (all)")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # children in the background ignore it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    start = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="pqswarm-torture-"))
    prepared = prepare(folder, options.parts, options.modes)
    JOBS.extend(make_jobs(options, folder, prepared))
    tally = run_lanes(options.lanes, folder)
    print_table(tally, time.monotonic() - start)
    if tally.wrong:
        sys.stdout.write(f"\nremaining files: {folder}\n")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    if not os.environ.items() >= ONE_THREAD.items():  # libraries read it when they are loaded
        os.execve(sys.executable, [sys.executable, "-m", "tests.torture", *sys.argv[1:]], os.environ | ONE_THREAD)
    sys.exit(main())
