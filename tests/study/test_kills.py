"""Kill a study with SIGKILL at random moments, repeatedly: no result is lost or changed."""

import random
import sqlite3
import time
from contextlib import closing
from itertools import count
from math import inf

import pytest

from pqswarm.study import Store
from pqswarm.study.findings import About, Finished
from tests.study.studies import contents, find, fork_study, plan_toml, survivors, workers_of

pytestmark = pytest.mark.slow

KILLS = 6  # make torture has a thousand
LONGEST = 0.5  # time to a kill at a random moment, as a fraction of a whole study


def look(folder):
    """Finished runs and number of checkpoints in the store after a kill; the store must be sound."""
    if not (folder / "study.sqlite").exists():
        return {}, 0
    with closing(sqlite3.connect(folder / "study.sqlite")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        if not db.execute("PRAGMA user_version").fetchone()[0]:
            return {}, 0
        checkpoints = db.execute("SELECT count(*) FROM checkpoints").fetchone()[0]
    return contents(folder)["runs"], checkpoints


def run_until(is_time, plan, folder, jobs):
    """Run a study and kill it when it is time; return whether it had finished before."""
    process = fork_study(plan, folder, jobs)
    while process.is_alive() and not is_time():
        process.join(0.01)
    process.kill()
    process.join()
    assert process.exitcode in (0, -9), f"the study failed with {process.exitcode}"
    assert not survivors(process.pid), "processes survive the kill of a study"
    return process.exitcode == 0


def after(seconds):
    """At a moment of the clock."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def after_more_work(folder):
    """As soon as a checkpoint or the end of a run has been written, however fast the machine is."""

    def evaluations():
        if not (folder / "dataset.npz").exists():
            return 0
        with Store(folder) as store:
            runs = [record.result for record in store.finished()]
            return sum(one.n_evaluations for one in (*runs, *store.checkpoints().values()))

    before = evaluations()
    return lambda: evaluations() > before


def test_kills_at_random_moments_change_nothing(tmp_path):
    plan, folders = tmp_path / "plan.toml", (tmp_path / str(number) for number in count())
    plan.write_text(plan_toml(runs=2, max_evaluations=1000, events=20))
    assert run_until(after(inf), plan, tmp_path / "undisturbed", jobs=1)
    whole = find(tmp_path / "undisturbed", Finished).at - find(tmp_path / "undisturbed", About).began
    undisturbed = contents(tmp_path / "undisturbed")
    rng = random.Random(1)
    folder, seen = next(folders), {}
    kills, with_checkpoints, with_runs = 0, 0, 0
    while kills < KILLS or with_checkpoints < 4 or with_runs < 2:
        jobs = 2 if kills % 5 == 0 else 1
        is_time = after(rng.uniform(0, LONGEST * whole)) if kills % 2 else after_more_work(folder)
        if run_until(is_time, plan, folder, jobs):
            assert contents(folder) == undisturbed
            folder, seen = next(folders), {}  # it finished before it could be killed: start another
            whole /= 1.2
            continue
        kills += 1
        assert kills < 10 * KILLS, "kills do not hit the searches"
        runs, checkpoints = look(folder)
        assert seen.items() <= runs.items(), "a finished run was lost or changed"
        assert runs.items() <= undisturbed["runs"].items()
        seen = runs
        with_checkpoints += checkpoints > 0
        with_runs += 0 < len(runs) < len(undisturbed["runs"])
    assert run_until(after(inf), plan, folder, jobs=1)
    assert contents(folder) == undisturbed


def test_workers_end_if_their_study_dies_while_they_start(tmp_path):
    """They do not know yet which process to watch."""
    for pause in (0.0, 0.4):
        process = fork_study("smoke", tmp_path / str(pause), jobs=2)
        try:
            assert workers_of(process.pid)
            time.sleep(pause)
        finally:
            process.kill()
            process.join()
        assert not survivors(process.pid)
