"""The command line, as a person uses it."""

import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PIL import Image
from tests.cli.command_tables import PAGE, commands, page
from tests.cli.running import run
from tests.waiting import PATIENCE

from pqswarm import __version__
from pqswarm.cli.options import complete_event, complete_preset
from pqswarm.datasets import load_dataset


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def size(path):
    with Image.open(path) as image:
        return image.size


def test_version(pqswarm):
    told = pqswarm("--version")
    assert (told.returncode, told.stdout) == (0, f"pqswarm {__version__}\n")


@pytest.mark.parametrize("command", ["pqswarm", *(name for name, *_ in commands())])
def test_help_has_an_example(command):
    output = run(*command.split()[1:], "--help").output
    assert re.search(r"\w: pqswarm \w+", output)
    assert "[dB]" not in output


def test_values_have_names_and_flags_have_none():
    """Words such as FILE or HZ, not the types of Python; lines fit a terminal."""
    for name, command, context in commands():
        assert len(command.help.partition(".")[0]) <= 66, f"the first sentence of {name} is cut in the list of commands"
        for parameter in command.params:
            assert parameter.help, f"{name} {parameter.name} has no meaning"
            if not getattr(parameter, "is_flag", False):
                assert re.fullmatch(r"[A-Z][A-Z0-9=,. ]*", parameter.metavar or ""), f"{name} {parameter.name}"
                # Typer 0.27 takes such a word for the name of the option, in capitals.
                assert f"--{parameter.metavar.lower()}" not in map(str.lower, parameter.opts), (
                    f"{name} {parameter.name}"
                )
        text = command.get_help(context)
        assert not re.search(r"<\w+>|\bTEXT\b|\bPath\b|\bNone\b", text)
        assert max(map(len, text.splitlines())) <= 80


def test_page_of_commands_is_up_to_date():
    """Else: python -m tests.cli.command_tables."""
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.slow
def test_dataset(pqswarm, in_folder):
    run = pqswarm("dataset", "--events-per-class", 2, "--snr", "inf,30", "--csv", "events.csv")
    assert run.returncode == 0, run.stderr
    assert "wrote dataset.npz: 28 events of 14 classes, 99 features, 2 noise levels, " in run.stdout
    assert "wrote events.csv" in run.stdout
    assert load_dataset("dataset.npz").snr == (float("inf"), 30.0)
    sixty = ("--events-per-class", 1, "--snr", "inf", "--set", "frequency=60", "-o", "60.npz")
    assert re.search(r"99 features, 1 noise level, [\d.]+ kB$", pqswarm("dataset", *sixty).stdout.strip())
    assert set(load_dataset("60.npz").record[:, 1]) == {60.0}
    assert len(Path("events.csv").read_text().splitlines()) == 29


def test_an_existing_file_is_replaced_when_asked(pqswarm, in_folder):
    existing = in_folder / "dataset.npz"
    existing.write_text("old")
    assert pqswarm("dataset", "--events-per-class", 1, "--snr", "inf", "--overwrite").returncode == 0
    assert len(load_dataset(existing)) == 14


@pytest.mark.parametrize("event", ["sag", "Sag with transient", "oscillatory-transient"])
def test_plot(event, tmp_path):
    run("plot", event, "--snr", 30, "--out", tmp_path / "event.png")
    assert min(size(tmp_path / "event.png")) > 800


def test_plot_as_svg_of_the_bench_with_a_parameter(tmp_path):
    out = tmp_path / "new" / "event.svg"
    told = run("plot", "sag", "--source", "bench", "--set", "fault_ratio=0.5", "--set", "cycles=10", "-o", out).output
    assert ET.parse(out).getroot().tag.endswith("svg")
    assert f"wrote {out}" in told


def test_gallery_and_default_name(pqswarm, in_folder):
    assert pqswarm("plot", "all").stdout == "wrote all.png\n"
    assert min(size("all.png")) > 1000


def test_a_mistake_in_a_process_of_its_own():
    command = [sys.executable, "-m", "pqswarm", "plot", "sagg"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert not run.stdout
    assert run.stderr.startswith("pqswarm: unknown event class 'sagg': did you mean 'sag'?")
    assert len(run.stderr.splitlines()) == 1


# The command, which says when it is at work: however long it takes to start.
DATASET = """
import os

from pqswarm.cli.main import main
from pqswarm.datasets import dataset

produce = dataset._produce_dataset_events

def say_and_produce(*given):
    os.write(1, b"at work\\n")  # at once: threads produce side by side
    return produce(*given)

dataset._produce_dataset_events = say_and_produce
main()
"""


@pytest.mark.slow
def test_interrupt_stops_cleanly(tmp_path):
    """Ctrl-C in the middle of a large data set: one line, no traceback, no half-written file."""
    process = subprocess.Popen(
        [sys.executable, "-c", DATASET, "dataset", "--events-per-class", "20000"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "at work\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1] == "pqswarm: stopped; nothing was written."
    assert "Traceback" not in errors
    assert not list(tmp_path.iterdir())


def test_an_interrupted_training_does_not_pass_off_an_older_model_as_its_own(pqswarm, monkeypatch, tmp_path):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    (tmp_path / "model.npz").write_bytes(b"older")
    monkeypatch.setattr("pqswarm.identify.train", interrupt)
    run = pqswarm("train", "--overwrite", "--out", tmp_path / "model.npz")
    assert (run.returncode, run.stderr) == (130, "pqswarm: stopped; nothing was written.\n")


def test_completion():
    assert complete_event("sag") == ["sag", "sag_with_harmonics", "sag_with_transient"]
    assert "all" in complete_event("")
    assert complete_preset("pap") == ["paper", "paper-grid", "paper-printed"]


def test_help_is_light():
    """Heavy libraries are imported by the commands that use them, not by the help."""
    program = (
        "import sys; from typer.testing import CliRunner; from pqswarm.cli.main import app;"
        "assert CliRunner().invoke(app, ['plot', '--help']).exit_code == 0;"
        "print([name for name in ('numpy', 'scipy', 'numba', 'matplotlib', 'pywt', 'joblib') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_installed_script():
    script = Path(sys.executable).with_name("pqswarm")
    assert subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout.startswith(
        "pqswarm "
    )
