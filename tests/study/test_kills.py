"""Kill a study with SIGKILL at random moments, repeatedly: no result is lost or changed."""

import random
import sqlite3
import time
from contextlib import closing
from itertools import count

import pytest

from pqswarm.study.findings import About, Finished
from tests.study.studies import contents, find, fork_study, plan_toml, survivors, workers_of

pytestmark = pytest.mark.slow

KILLS = 6  # make torture has a thousand
LONGEST = {1: 0.4, 2: 0.75}  # time to a kill, by jobs, as a fraction of a whole study; two workers must start first


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


def run_for(seconds, plan, folder, jobs):
    """Run a study and kill it after a time; return whether it had finished before."""
    process = fork_study(plan, folder, jobs)
    process.join(seconds)
    process.kill()
    process.join()
    assert process.exitcode in (0, -9), f"the study failed with {process.exitcode}"
    assert not survivors(process.pid), f"processes survive a kill {seconds:.2f} s after the start"
    return process.exitcode == 0


def test_kills_at_random_moments_change_nothing(tmp_path):
    plan, folders = tmp_path / "plan.toml", (tmp_path / str(number) for number in count())
    # Runs that take several slices on a fast machine, too: there is a checkpoint after each slice but the last.
    plan.write_text(plan_toml(runs=2, max_evaluations=5000, events=20))
    assert run_for(400, plan, tmp_path / "undisturbed", jobs=1)
    whole = find(tmp_path / "undisturbed", Finished).at - find(tmp_path / "undisturbed", About).began
    undisturbed = contents(tmp_path / "undisturbed")
    rng = random.Random(1)
    folder, seen = next(folders), {}
    kills, with_checkpoints, with_runs = 0, 0, 0
    # At least that many, and more until enough have hit the searches, however fast the machine is.
    while kills < KILLS or ((with_checkpoints < 4 or with_runs < 2) and kills < 6 * KILLS):
        jobs = 2 if kills % 5 == 0 else 1
        if run_for(rng.uniform(0, LONGEST[jobs]) * whole, plan, folder, jobs):
            assert contents(folder) == undisturbed
            folder, seen = next(folders), {}  # it finished before it could be killed: start another
            whole /= 1.2
            continue
        kills += 1
        runs, checkpoints = look(folder)
        assert seen.items() <= runs.items(), "a finished run was lost or changed"
        assert runs.items() <= undisturbed["runs"].items()
        seen = runs
        with_checkpoints += checkpoints > 0
        with_runs += 0 < len(runs) < len(undisturbed["runs"])
        if not runs:  # a shared machine may be slower than it was
            whole *= 1.2
    assert with_checkpoints >= 4
    assert with_runs >= 2
    assert run_for(400, plan, folder, jobs=1)
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
