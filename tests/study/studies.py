"""Small studies, and what they come to, in a form that can be compared bit for bit."""

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from math import inf

import psutil

from pqswarm.datasets import make_dataset
from pqswarm.events import get_preset
from pqswarm.study import Store, load_plan, plan_text, read_plan, run_study, scheduler
from pqswarm.study.findings import About, Finished
from pqswarm.study.records import mask_text
from tests.waiting import PATIENCE, wait_until

LEVELS = (inf, 30.0)

# The command line, whose reports have no pictures, which take most of the time of a small study.
WITHOUT_PICTURES = """
from pqswarm.cli.main import main
from pqswarm.report import html

html._html_pictures = lambda drawing, prefix: {"wide": ""}
main()
"""


FEW = ("sag", "swell", "harmonics", "notching")
"""Classes of studies whose searches, SFFS above all, shall take a fraction of the time."""


def plan_toml(runs=3, max_evaluations=150, algorithms=("2d-upso", "ga", "sffs"), events=10, classes=(), old="", new=""):
    """The smoke plan with fewer algorithms and another budget, all classes or some, as TOML."""
    head = plan_text("smoke").partition("[[algorithms]]")[0]
    head = head.replace("runs = 3 ", f"runs = {runs} ").replace("= 120 ", f"= {max_evaluations} ")
    head = head.replace("events_per_class = 10", f"events_per_class = {events}", 1)
    if classes:
        head = head.replace("snr = [inf, 30]\n", f"snr = [inf, 30]\nclasses = {list(classes)}\n")
    assert old in head
    return head.replace(old, new, 1) + "".join(f'[[algorithms]]\nalgorithm = "{name}"\n' for name in algorithms)


def tiny(**changes):
    """A plan that takes half a second."""
    return read_plan(plan_toml(**{"classes": FEW} | changes))


def events_of_few(events_per_class=10, snr=LEVELS, seed=0):
    """The events of that plan, or others like them."""
    return make_dataset(events_per_class, snr, seed, get_preset("paper").with_classes(FEW))


MULTIVERSE = """[multiverse]
design = "array"

[multiverse.choices]
dataset.features.border = ["symmetric", "zero"]
algorithms."*".start_probability = [0.5, 0.1]

[multiverse.choices.densities]
logarithms = {}
underflow = { "classifiers.NB.underflow" = true }

[multiverse.marked]
plain = {}
"""


def seeded_toml(seeds, max_evaluations):
    """The smoke plan with a few events on the data sets of some seeds, two runs, and nothing held out, as TOML."""
    changes = {"runs": 2, "max_evaluations": max_evaluations, "classes": FEW}
    text = plan_toml(old="seed = 0\n\n[held_out]", new=f"seeds = {seeds}\n\n[other]", **changes)
    start, _, rest = text.partition("[other]")
    return start + rest[rest.index("[folds]") :]


def multiverse_toml(block=MULTIVERSE):
    """That plan as a multiverse of four specifications and a marked one, on two data sets each, as TOML."""
    return f"{seeded_toml([1, 2], 30)}\n{block}"


def two_specifications_toml():
    """A multiverse of two specifications, whose SFFS takes a few steps instead of hundreds."""
    text = multiverse_toml('[multiverse]\ndesign = "full"\nchoices.dataset.features.border = ["symmetric", "zero"]\n')
    return text.replace('"sffs"', '"sffs"\nparameters.size = 3')


def find(folder, kind, *place):
    """One finding of a study."""
    with Store(folder) as store:
        return store.find(kind, *place)


def records(folder, classifier, algorithm):
    """The finished runs of an algorithm with a classifier."""
    with Store(folder) as store:
        return [r for r in store.finished() if (r.key.classifier, r.key.algorithm) == (classifier, algorithm)]


def contents(folder):
    """All that a study has found, without times and machines: runs by key, findings as they are written."""
    with Store(folder) as store:
        runs = {
            record.key: (
                record.seed,
                record.result.algorithm,
                record.error.hex(),
                mask_text(record.mask),
                record.result.n_evaluations,
                record.result.improvements.tobytes(),
            )
            for dataset in {status.key.dataset for status in store.statuses()}
            for record in store.of(dataset).finished()
        }
        assert not store.checkpoints() or store.find(Finished) is None
        about = store.find(About)
    with closing(sqlite3.connect(folder / "study.sqlite")) as db:
        rows = db.execute("SELECT dataset, kind, classifier, level, value FROM findings").fetchall()
    findings = {tuple(row[:4]): row[4] for row in rows if row[1] not in ("About", "Finished")}
    return {"runs": runs, "findings": findings, "about": about and (about.plan, about.version)}


def change_database(folder, *statements):
    with closing(sqlite3.connect(folder / "study.sqlite")) as db, db:
        for statement in statements:
            db.execute(statement)


def stop_study(plan, folder, is_time):
    """Run a study in this process, and stop it when its progress is so."""

    class Stopped(Exception):
        pass

    def stop(progress):
        if is_time(progress):
            raise Stopped

    with suppress(Stopped):
        run_study(plan, folder, jobs=1, progress=stop)
        raise AssertionError("the study ended before it was stopped")


def start_command(*arguments, **options):
    """Start ``pqswarm`` in a session of its own, as a person would from a terminal."""
    return subprocess.Popen(
        [sys.executable, "-m", "pqswarm", *map(str, arguments)], start_new_session=True, text=True, **options
    )


def fork_study(plan, folder, jobs):
    """Begin a study in a process and a session of its own, which are at work within a few milliseconds."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.study.studies", "tests.study.warm"])
    process = context.Process(target=_study_in_session, args=(plan, folder, jobs))
    process.start()
    return process


def _study_in_session(plan, folder, jobs):
    os.setsid()
    scheduler._FIRST_SLICE = 0.05  # a fast machine, too, takes several slices for a run
    run_study(load_plan(plan), folder, jobs=jobs)


def session_of(leader):
    """The processes of a session that are alive."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def survivors(leader, seconds=PATIENCE):
    """The processes of a session that are still alive after some time; returns as soon as there are none."""
    deadline = time.monotonic() + seconds
    while session_of(leader) and time.monotonic() < deadline:
        time.sleep(0.05)
    return session_of(leader)


def workers_of(pid, seconds=PATIENCE):
    """The worker processes of a study, as soon as there are some."""

    def find():
        try:
            children = psutil.Process(pid).children()
            return [child for child in children if "LokyProcess" in " ".join(child.cmdline())]
        except psutil.NoSuchProcess:
            return []

    return wait_until(find, "workers have started", seconds)
