"""Output of the command line: warnings in one line, and standard output that cannot be written."""

import errno
import os
import subprocess
import sys

import pytest
import typer
from tests.study.studies import WITHOUT_PICTURES, plan_toml

from pqswarm._kernels.compile_times import call_when_compiling, note_compile_time
from pqswarm.cli.main import main


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


@pytest.mark.parametrize("place", ["cli.main.app", "cli.terminal.Command.parse_args", "study.plan_text"])
def test_ctrl_c_before_a_command_begins_or_where_it_has_nothing_to_keep_gets_a_sentence(place, monkeypatch, pqswarm):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"pqswarm.{place}", interrupted)
    run = pqswarm("plan", "show", "paper")
    assert (run.returncode, run.stderr) == (130, "pqswarm: stopped.\n")


# Ctrl-C is pressed when the library of the command line is imported.
LOADED = """
import os, runpy, signal, sys

class Interrupting:
    def find_spec(self, name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
runpy.run_module("pqswarm", run_name="__main__")
"""


def test_ctrl_c_while_the_command_line_is_loaded_gets_a_sentence():
    run = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (130, "pqswarm: stopped.\n")


@pytest.fixture
def unprintable(monkeypatch):
    """Let all that is printed fail with an error, but what goes to the standard error."""
    echo, dropped = typer.echo, []

    def fail_with(number):
        def fail(text=None, err=False, **options):
            if not err:
                raise OSError(number, os.strerror(number))
            echo(text, err=err, **options)

        monkeypatch.setattr(typer, "echo", fail)
        for place in ("terminal", "main"):  # the test's own output must stay what it is
            monkeypatch.setattr(f"pqswarm.cli.{place}.discard_output", lambda **_: dropped.append(1))
        return dropped

    return fail_with


@pytest.mark.parametrize(("number", "code", "told"), [(errno.ENOSPC, 2, "cannot be printed: No space"), (32, 1, "")])
def test_files_are_written_all_the_same(number, code, told, unprintable, tmp_path, pqswarm):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("no table")
    dropped = unprintable(number)
    files = (tmp_path / "a.csv", tmp_path / "b.csv")
    done = pqswarm("identify", *files, "--json", "--csv", tmp_path / "events.csv")
    assert done.returncode == code
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert "b.csv: " in done.stderr
    assert (tmp_path / "events.csv").read_text().startswith("source,path,")
    assert dropped
    done = pqswarm("identify", *files, "--json")  # nothing else is wanted
    assert done.returncode == code
    assert "b.csv: " not in done.stderr


def test_a_full_disk_is_told_in_a_sentence(unprintable, pqswarm):
    dropped = unprintable(errno.ENOSPC)
    done = pqswarm("plan", "show", "smoke")
    assert (done.returncode, done.stderr) == (2, "pqswarm: cannot write the output: No space left on device.\n")
    assert dropped
