"""``pqswarm study`` and ``pqswarm plan``, as a person uses them."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from threading import Thread

import pytest
from tests.cli.running import run
from tests.study.own_data import PLAN, flowers
from tests.study.studies import FEW, contents, plan_toml, start_command, survivors, workers_of
from tests.waiting import PATIENCE, wait_until

from pqswarm.cli.study import _study_duration_text, _study_progress_text, study
from pqswarm.study import PLANS, RunKey, Store, StudyProgress, load_plan, plan_text, run_study
from pqswarm.study.records import RunStatus

PROGRESS = StudyProgress("searching", 1, 2, 100, 200, 10.0, {})
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.fixture
def no_report(monkeypatch):
    """Draw no report: that takes most of the time of a small study."""
    monkeypatch.setattr("pqswarm.report.write_report", lambda folder, form: folder / "report.html")


def test_smoke_from_end_to_end(smoke_command):
    run, report = smoke_command, smoke_command.folder / "report.html"
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("done in ")
    assert run.stdout.endswith(f"; the report is {report.resolve()}\n")
    assert "A smoke test" in report.read_text()
    assert "Traceback" not in run.stderr
    assert "Warning" not in run.stderr
    stages = [line.partition(":")[0] for line in run.stderr.splitlines()]
    assert stages[0] == "generating events"
    assert "searching" in stages
    assert len(contents(run.folder)["runs"]) == 2 * (6 * 3 + 1)


@pytest.fixture
def smoke_copy(smoke_study, tmp_path):
    return shutil.copytree(smoke_study, tmp_path / "smoke")


def test_the_same_command_again_changes_nothing(smoke_copy, monkeypatch, pqswarm, no_report):
    """Also next to the folder, which has the name of the built-in plan."""
    before = contents(smoke_copy)
    monkeypatch.chdir(smoke_copy.parent)
    run = pqswarm("study", "smoke", "--out", "smoke", "--jobs", 1)
    assert run.returncode == 0, run.stderr
    assert "38 of 38 runs" in run.stderr.splitlines()[0]
    assert "starting the searches" not in run.stderr, "something was computed again"
    assert contents(smoke_copy) == before


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A function that returns a plan, with that many evaluations a run, and what it comes to undisturbed."""

    @cache
    def undisturbed(evaluations):
        folder = tmp_path_factory.mktemp("undisturbed")
        plan = folder / "my plan.toml"
        plan.write_text(plan_toml(runs=6, max_evaluations=evaluations, classes=FEW))
        run_study(load_plan(plan), folder / "study", jobs=1)
        return plan, contents(folder / "study")

    return undisturbed


def wait_for_results(folder):
    """Wait until a study has come so far that there is something to lose."""

    def has_results():
        if not (folder / "dataset.npz").exists():
            return False
        with Store(folder) as store:
            return bool(store.checkpoints() or store.finished())

    wait_until(has_results, "there is something to lose", pause=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["workers begin", "searching", "in one process"])
def test_interrupt_stops_cleanly_and_can_be_resumed(undisturbed, tmp_path, moment):
    """Ctrl-C goes to all processes of the terminal: one line, no traceback from any of them, nobody stays."""
    for evaluations in (600, 6000, 60_000):  # more, where a study ends before it is interrupted
        (plan, expected), folder = undisturbed(evaluations), tmp_path / f"study-{evaluations}"
        jobs = 1 if moment == "in one process" else 2
        process = start_command("study", plan, "--out", folder, "--jobs", jobs, **PIPES)
        try:
            assert jobs == 1 or workers_of(process.pid)
            time.sleep(0.2)  # any moment will do: they are being started
            if moment != "workers begin":
                wait_for_results(folder)
            os.killpg(process.pid, signal.SIGINT)
            out, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
            process.wait()
        if not (folder / "study.sqlite").exists() or len(contents(folder)["runs"]) < 26:
            break
    assert process.returncode == 130, errors
    assert not out
    assert errors.strip().splitlines()[-1] == (
        f"pqswarm: stopped; results so far are kept. Resume with: pqswarm study '{plan}' --out {folder} --jobs {jobs}"
    )
    assert "Traceback" not in errors
    assert "Warning" not in errors
    assert not survivors(process.pid)
    with Store(folder) as store:
        assert len(store.finished()) < 26
    run_study(load_plan(plan), folder, jobs=1)
    assert contents(folder) == expected


@pytest.mark.parametrize("name", PLANS)
def test_plan_show_prints_what_plan_check_accepts(name, tmp_path):
    shown = run("plan", "show", name).output
    assert shown == plan_text(name)
    (tmp_path / "mine.toml").write_text(shown)
    assert run("plan", "check", tmp_path / "mine.toml").output.startswith(f"{tmp_path / 'mine.toml'} is valid: ")


@pytest.mark.parametrize(
    ("text", "counts", "once"),
    [
        (
            plan_text("paper"),
            "3500 events, 2 classifiers, 8 algorithms, 484 runs, 2880000 evaluations",
            "SFFS and SFFS all sizes",
        ),
        (plan_toml(classes=FEW), "40 events, 2 classifiers, 3 algorithms, 14 runs, 1800 evaluations", "SFFS"),
    ],
    ids=["paper", "chosen classes"],
)
def test_plan_check_tells_what_the_plan_comes_to(tmp_path, monkeypatch, pqswarm, text, counts, once):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(text)
    told = pqswarm("plan", "check", "mine.toml").stdout.splitlines()[0]
    assert told == f"mine.toml is valid: {counts} and those of {once}."


@pytest.mark.parametrize(("runs", "told"), [(1, "With 1 run per"), (3, "With 3 runs per"), (4, "")])
def test_plan_check_says_what_few_runs_cannot_tell(tmp_path, pqswarm, runs, told):
    (tmp_path / "mine.toml").write_text(plan_toml(runs=runs))
    _, *more = pqswarm("plan", "check", tmp_path / "mine.toml").stdout.splitlines()
    assert [line.startswith(told) and "runs = 4" in line for line in more] == [True] * bool(told)


def test_plan_check_times_an_estimator_that_has_no_exact_evaluator(tmp_path, pqswarm):
    (tmp_path / "flowers.csv").write_text(flowers(0))
    head, _, algorithms = PLAN.partition("[[classifiers]]")
    head += '[[classifiers]]\nname = "tree"\nestimator = "sklearn.tree.DecisionTreeClassifier"\n'
    (tmp_path / "mine.toml").write_text(head + algorithms[algorithms.index("[[algorithms]]") :])
    told = pqswarm("plan", "check", tmp_path / "mine.toml").stdout
    assert re.search(r"^tree: about [\d.e-]+ s per subset, .* s for its evaluations on one core\.$", told, re.M)


def test_a_study_goes_on_when_nobody_reads_what_it_says(tmp_path, monkeypatch):
    """As with ``pqswarm study ... | head -1``."""
    told = []

    def echo(text, err=False, nl=True):
        told.append(text)
        raise BrokenPipeError

    monkeypatch.setattr("typer.echo", echo)
    for stream in ("sys.stdout", "sys.stderr"):
        monkeypatch.setattr(stream, io.StringIO())
    monkeypatch.setattr("pqswarm.study.run_study", lambda *_, progress, **__: progress(PROGRESS))
    monkeypatch.setattr("pqswarm.report.write_report", lambda folder, form: folder / "report.html")
    study("smoke", out=tmp_path)
    assert told[0].startswith("searching: 1 of 2 runs")
    assert told[-1].startswith("done in ")


def test_a_folder_with_another_plan_is_refused(smoke_copy, pqswarm):
    run = pqswarm("study", "quick", "--out", smoke_copy)
    assert run.returncode == 2
    assert "holds a study with another plan:\n" in run.stderr
    assert "  max_evaluations: 6000 in the plan, 120 in the study\n" in run.stderr


@pytest.mark.slow
def test_a_full_disk_is_said_and_finished_runs_are_kept(tmp_path, pqswarm, no_report):
    disk, plan = tmp_path / "disk", tmp_path / "plan.toml"
    disk.mkdir()
    plan.write_text(plan_toml(runs=60, max_evaluations=40, classes=FEW))
    mount = ["mount", "-t", "tmpfs", "-o", "size=1300k", "tmpfs", disk]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        run = pqswarm("study", plan, "--out", disk / "study", "--jobs", 1)
        assert run.returncode == 2, run.stderr
        assert "Traceback" not in run.stderr
        last = run.stderr.splitlines()[-1]
        assert last.startswith("pqswarm: the disk is full")
        assert f"{disk}/study/study.sqlite" in last
        assert "Finished runs are safe" in last
        subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
        kept = contents(disk / "study")["runs"]
        assert 0 < len(kept) < 242
        run = pqswarm("study", plan, "--out", disk / "study", "--jobs", 1)
        assert run.returncode == 0, run.stderr
        assert kept.items() <= contents(disk / "study")["runs"].items()
    finally:
        subprocess.run(["umount", disk], check=True)


def test_progress_progress_text():
    best = {name: RunStatus(RunKey(name, "ga", 0), 120, error) for name, error in (("NB", 0.1), ("k-NN", 0.25))}
    progress = StudyProgress("searching", 3, 14, 600, 1800, 12.3, best, 0.4, 98.0)
    assert _study_progress_text(progress) == "3 of 14 runs, 12 evaluations/s, 1 min 38 s left, NB 0.1000, k-NN 0.2500"
    assert _study_progress_text(StudyProgress("generating events", 0, 14, 0, 1800, 0.0, {})) == "0 of 14 runs"
    assert (_study_duration_text(0.4), _study_duration_text(59.6), _study_duration_text(3599.6)) == (
        "0 s",
        "1 min 0 s",
        "1 h 0 min",
    )


def test_bar_on_a_terminal_and_a_folder_named_after_the_plan(tmp_path, monkeypatch, capfd, pqswarm, no_report):
    """A terminal gets a bar with the runs, the rate, the time left and the best errors."""
    import pty

    (tmp_path / "my plan.toml").write_text(
        plan_toml(runs=2, max_evaluations=60, algorithms=("2d-upso", "ga"), classes=FEW)
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    ours, theirs = pty.openpty()
    shown = []

    def read():
        with suppress(OSError):  # the other end is closed
            while chunk := os.read(ours, 65536):
                shown.append(chunk)

    reader = Thread(target=read)
    reader.start()
    with os.fdopen(theirs, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        run = pqswarm("study", "my plan.toml", "--jobs", 1)
    reader.join()
    os.close(ours)
    assert run.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(shown).decode())
    assert re.search(r"8 of 8 runs, (.* left, )?k-NN 0\.\d{4}, NB 0\.\d{4}\r", text), text
    assert re.search(r"[a-z] [\u2501\u2578\u257a]{10,} \d:\d\d", text), text  # of a stage that was drawn
    assert run.stdout.strip().endswith(str((tmp_path / "study-my plan" / "report.html").resolve()))
