"""Kill a study with SIGKILL at random moments, again and again: nothing that was found is lost or changed."""

import random
import sqlite3
import subprocess
import time
from contextlib import closing

import pytest

from pqswarm.study import Store, load_plan, run_study
from tests.study.studies import contents, plan_toml, start_command, survivors, workers_of

pytestmark = pytest.mark.slow

KILLS = 22
SHORTEST, LONGEST = 0.3, 5.5  # from the first imports to a few slices of searching, in units of the former
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
SURVIVAL = 5.0  # seconds in which workers must notice that no more work will come


def look(folder):
    """Finished runs and the number of checkpoints in the store after a kill, which must be sound."""
    if not (folder / "study.sqlite").exists():
        return {}, 0
    with closing(sqlite3.connect(folder / "study.sqlite")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        if not db.execute("PRAGMA user_version").fetchone()[0]:
            return {}, 0
    with Store(folder) as store:
        return contents(folder)["runs"], len(store.checkpoints())


def run_for(seconds, plan, folder, jobs):
    """Run the command, kill it after a time; return whether it came to its end before."""
    process = start_command("study", plan, "--out", folder, "--jobs", jobs, **QUIET)
    try:
        ended = process.wait(timeout=seconds) == 0
        assert ended, f"the command failed with {process.returncode}"
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        ended = False
    assert not survivors(process.pid, SURVIVAL), f"processes survive a kill {seconds:.2f} s after the start"
    return ended


def seconds_to_begin(plan):
    """How long the command takes until it has read its plan: about a second, more where others are at work, too."""
    start = time.monotonic()
    assert start_command("plan", "check", plan, **QUIET).wait(timeout=120) == 0
    return max(1.0, time.monotonic() - start)


def test_kills_at_random_moments_change_nothing(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(plan_toml(runs=6, max_evaluations=2500, events=40, old="number = 5", new="number = 10"))
    run_study(load_plan(plan), tmp_path / "undisturbed", jobs=2)
    undisturbed = contents(tmp_path / "undisturbed")
    rng = random.Random(1)
    folder, seen = tmp_path / "0", {}
    kills, with_checkpoints, with_runs = 0, 0, 0
    # At least so many, and on until enough of them have fallen into searching, however fast the machine is.
    while kills < KILLS or ((with_checkpoints < 5 or with_runs < 3) and kills < 3 * KILLS):
        if run_for(rng.uniform(SHORTEST, LONGEST) * seconds_to_begin(plan), plan, folder, jobs=1 + kills % 2):
            assert contents(folder) == undisturbed
            folder, seen = tmp_path / str(kills), {}  # on a fast machine it is done too soon: begin another
            continue
        kills += 1
        runs, checkpoints = look(folder)
        assert seen.items() <= runs.items(), "a finished run was lost or changed"
        assert runs.items() <= undisturbed["runs"].items()
        seen = runs
        with_checkpoints += checkpoints > 0
        with_runs += 0 < len(runs) < len(undisturbed["runs"])
    assert with_checkpoints >= 5
    assert with_runs >= 3
    assert run_for(120, plan, folder, jobs=2)
    assert contents(folder) == undisturbed
    assert (folder / "report.html").exists()


def test_workers_whose_study_dies_while_they_begin_end_too(tmp_path):
    """They have not been told yet whom to watch."""
    for pause in (0.0, 0.2, 0.6):
        process = start_command("study", "smoke", "--out", tmp_path / str(pause), "--jobs", 2, **QUIET)
        try:
            assert workers_of(process.pid, 60), "no workers have come"
            time.sleep(pause)
        finally:
            process.kill()
            process.wait()
        assert not survivors(process.pid, SURVIVAL)
