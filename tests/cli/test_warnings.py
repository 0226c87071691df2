"""What warnings look like on the command line."""

import subprocess
import sys

import pytest
from tests.study.studies import WITHOUT_PICTURES, plan_toml

from pqswarm._kernels.compile_times import call_when_compiling, note_compile_time
from pqswarm.cli.main import main
from pqswarm.study import plan_text


@pytest.mark.slow
def test_a_warning_is_shown_once_in_one_line(tmp_path, pqswarm):
    few = 'snr = [inf]\nclasses = ["sag", "swell", "notching"]'
    head = plan_toml(runs=2, max_evaluations=20, old="snr = [inf, 30]", new=few).partition("[[classifiers]]")[0]
    svm = 'name = "SVM"\nestimator = "sklearn.svm.LinearSVC"\nparameters = { C = 500.0, max_iter = 5 }\n'
    algorithm = '[[algorithms]]\nalgorithm = "2d-upso"\nparameters = { swarm_size = 4, size = 3 }\n'
    (tmp_path / "mine.toml").write_text(f"{head}[[classifiers]]\n{svm}{algorithm}")
    # Pictures take most of the time of a small study.
    command = [sys.executable, "-c", WITHOUT_PICTURES, "study", "mine.toml", "--jobs", "2"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    warned = [line for line in run.stderr.splitlines() if "converge" in line or "warn" in line.lower()]
    assert warned == ["warning: Liblinear failed to converge, increase the number of iterations."]
    checked = pqswarm("plan", "check", tmp_path / "mine.toml")
    assert ", 1 classifier, 1 algorithm, 2 runs, 40 evaluations." in checked.stdout


LACKS = (MemoryError(), ImportError("libx.so: failed to map segment"), OSError("Could not load shared object libx.so"))


def test_plan_check_counts_the_chosen_classes(tmp_path, pqswarm):
    text = plan_text("smoke").replace("seed = 0\n\n[", 'seed = 0\nclasses = ["sag", "swell", "notching"]\n\n[', 1)
    (tmp_path / "mine.toml").write_text(text)
    run = pqswarm("plan", "check", tmp_path / "mine.toml")
    assert run.returncode == 0, run.stderr
    assert "mine.toml is valid: 30 events, 2 classifiers, 7 algorithms, 38 runs, " in run.stdout


@pytest.mark.parametrize("error", LACKS)
def test_without_memory_there_is_a_sentence(monkeypatch, capsys, error):
    def fail(**_):
        raise error

    monkeypatch.setattr("pqswarm.cli.main.app", fail)
    monkeypatch.setattr("pqswarm.cli.main._show_warnings_once", lambda: None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("pqswarm: not enough memory")
    assert str(error) in told
    assert told.endswith(": try less data or fewer jobs.\n")


def test_the_command_line_says_that_it_compiles(monkeypatch, capfd):
    """Else nothing moves for a minute, the first time."""
    monkeypatch.setattr("pqswarm.cli.main._show_warnings_once", lambda: None)
    monkeypatch.setattr("pqswarm.cli.main.app", lambda **_: note_compile_time())
    main()
    assert capfd.readouterr().err.startswith("compiling ")
    call_when_compiling(None)


def test_a_check_of_a_preset_announces_no_minutes_of_compiling(tmp_path, pqswarm):
    (tmp_path / "mine.toml").write_text('extends = "paper"\n')
    said = []
    call_when_compiling(lambda: said.append("compiling"))
    assert pqswarm("preset", "check", tmp_path / "mine.toml").returncode == 0
    note_compile_time()
    call_when_compiling(None)
    assert not said


def test_ctrl_c_before_a_command_begins_gets_a_sentence(monkeypatch, pqswarm):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pqswarm.cli.main.app", interrupted)
    run = pqswarm("identify")
    assert (run.returncode, run.stderr) == (130, "pqswarm: stopped.\n")
