"""Command lines as new users mistype them: each gets a sentence that names the thing, and nothing is left behind."""

import re
import shlex
import time
from pathlib import Path

import numpy as np
import pytest

from pqswarm import __version__
from pqswarm.cli.main import app
from pqswarm.cli.terminal import _OPTION_NAMES
from pqswarm.events import generate
from pqswarm.recordings import Channel, Recording, write_comtrade, write_csv
from pqswarm.study import Store, load_plan
from pqswarm.study.findings import About

TABLE = "GA,BPSO,2D-UPSO\n0.05,0.04,0.03\n0.06,0.05,0.02\n0.07,0.03,0.04\n"
RUNS = "classifier,algorithm,run,error,size\n" + "".join(
    f"{classifier},{algorithm},{run},0.{run}{len(algorithm)},{10 + run}\n"
    for classifier in ("k-NN", "NB")
    for algorithm in ("GA", "BPSO")
    for run in range(4)
)
PLAN = """title = "Mine"
runs = 2
max_evaluations = 30
[dataset]
events_per_class = 15
snr = [inf, 30]
[held_out]
events_per_class = 10
[[classifiers]]
name = "k-NN"
kind = "k-nn"
[[algorithms]]
algorithm = "2d-upso"
[[algorithms]]
algorithm = "ga"
"""


def wave(hertz, seconds=0.6, rate=3200.0):
    return 325 * np.sin(2 * np.pi * hertz * np.arange(round(rate * seconds)) / rate)


def write_materials(folder):
    """What the command lines name: tables, plans, recordings and a study, right ones and wrong ones."""

    def text(name, content):
        (folder / name).write_text(content)

    text("table.csv", TABLE)
    text("runs.csv", RUNS)
    text("one-column.csv", "GA\n0.1\n0.2\n")
    text("words.csv", "GA,BPSO\n0.1,bad\n0.2,0.3\n")
    text("folds.csv", "fold,GA,BPSO\n1,0.1,0.2\n2,0.1,0.3\n")
    text("ragged.csv", "GA,BPSO\n0.1,0.2\n0.1\n")
    text("empty.csv", "")
    text("notes.txt", "nothing to see\n")
    text("names.txt", "A8.mean\nA8.mien\n")
    text("plan.toml", PLAN)
    text("key.toml", PLAN.replace("max_evaluations", "max_evaluation"))
    text("half-blocks.csv", "dataset,algorithm,error\n1,a,3\n1,b,4\n2,a,5\n")
    text("deep-key.toml", PLAN.replace("snr =", "noise ="))
    text("type.toml", PLAN.replace("runs = 2", 'runs = "two"'))
    text("runs.toml", PLAN.replace("runs = 2", "runs = 0"))
    text("algorithm.toml", PLAN.replace('"ga"', '"gaa"'))
    text("parameter.toml", PLAN + "parameters.mutation = 3\n")
    text("kind.toml", PLAN.replace('"k-nn"', '"knn"'))
    text("metric.toml", PLAN.replace('"k-nn"\n', '"k-nn"\nmetric = "manhatten"\n'))
    text("plan-preset.toml", PLAN.replace("[dataset]", '[dataset]\npreset = "papper"'))
    text("no-algorithms.toml", PLAN.partition("[[algorithms]]")[0])
    text("reference.toml", PLAN.replace("runs = 2", 'runs = 2\nbaseline = "bpso"'))
    text("no-inf.toml", PLAN.replace("[inf, 30]", "[30]"))
    text("decibels.toml", PLAN.replace("[inf, 30]", '[inf, "30 dB"]'))
    text("folds.toml", PLAN + "[folds]\nnumber = 20\n")
    text(
        "no-data.toml",
        PLAN.replace("events_per_class = 15\nsnr = [inf, 30]", 'file = "mine.csv"').replace(
            "[held_out]\nevents_per_class = 10", ""
        ),
    )
    text("broken.toml", "title = Mine\n")
    text("preset.toml", 'extends = "paper"\n[common]\nfrequency = 60\n')
    text("preset-key.toml", 'extends = "paper"\n[comon]\nfrequency = 60\n')
    text("preset-class.toml", 'extends = "paper"\nclasses = ["sag", "swel"]\n')
    text("site.toml", 'reference = "nominal"\n')
    text("site-key.toml", "nominl = 230\n")
    text("site-unit.toml", 'nominal = "20 kA"\n')
    (folder / "folder").mkdir()
    (folder / "no-study").mkdir()
    text("no-study/readme.txt", "mine")
    (folder / "damaged").mkdir()
    (folder / "damaged/study.sqlite").write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 20)
    (folder / "damaged.npz").write_bytes(b"PK\3\4" + bytes(200))
    (folder / "damaged.zip").write_bytes(b"PK\3\4" + bytes(200))
    (folder / "new.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(126) + b"IM")
    (folder / "sensor.tdms").write_bytes(b"TDSm\x0e" + bytes(50))
    np.savez(folder / "other.npz", X=np.ones((3, 2)))
    with Store(folder / "study", write=True) as store:
        store.put(About(load_plan(str(folder / "plan.toml")).model_dump(), __version__, time.time(), {}))
    sag = generate("sag", seed=3, preset="field", cycles=20, frequency=50)
    write_comtrade(Recording((Channel("UA", "V", "A", 325 * sag.signal),), 25_000, 50), folder / "fault.cfg")
    write_csv(Recording((Channel("UA", "V", "A", wave(50)),), 3200, 50), folder / "good.csv")
    text("no-rate.csv", "UA [V]\n" + "\n".join(f"{value:.1f}" for value in wave(50)) + "\n")
    text("log.csv", "time [s],UA [V]\n" + "".join(f"{second},230\n" for second in range(100)))
    text("current.csv", "time [ms],Ia [A]\n" + "".join(f"{k},{k % 7}\n" for k in range(50)))
    text("lonely.cfg", (folder / "fault.cfg").read_text())
    (folder / "noise.dat").write_bytes(bytes(range(256)))
    (folder / "broken.pqd").write_bytes(b"no PQDIF" * 20)


LINES = [
    line.split(" => ")
    for line in Path(__file__).with_name("wrong_lines.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
# What only a programmer knows.
ARGUMENTS = "|".join(name for name in _OPTION_NAMES if "_" in name)
PYTHON = re.compile(rf"Traceback|Error\b|Errno|\bNone\b|<class|Input should|\w+Parameters\b|\b({ARGUMENTS})\b")


def state(folder):
    """All that is in a folder, with the time at which it was changed."""
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()} | {
        path: () for path in folder.rglob("*") if path.is_dir()
    }


@pytest.fixture(scope="module")
def materials(tmp_path_factory):
    folder = tmp_path_factory.mktemp("materials")
    write_materials(folder)
    return folder, state(folder)


def test_there_are_mistakes_with_every_command():
    assert len({line for line, _ in LINES}) == len(LINES) >= 120
    names = {command.name or command.callback.__name__.replace("_", "-") for command in app.registered_commands}
    names |= {group.name for group in app.registered_groups}
    assert names <= {line.split()[0] for line, _ in LINES}


@pytest.mark.parametrize(("line", "words"), LINES, ids=[line for line, _ in LINES])
def test_mistake_gets_a_sentence_and_leaves_nothing(line, words, pqswarm, materials, monkeypatch):
    folder, before = materials
    monkeypatch.chdir(folder)
    code, words = (1, words.removeprefix("(1) ")) if words.startswith("(1) ") else (2, words)
    run = pqswarm(*shlex.split(line))
    assert run.returncode == code
    assert not run.stderr.startswith("\n")
    sentence = run.stderr[re.search("^(pqswarm|Error): ", run.stderr, re.M).start() :]
    assert all(part in sentence for part in words.split(" ... "))
    assert "Traceback" not in sentence
    if sentence.startswith("pqswarm: "):  # otherwise Typer's words
        assert sentence.rstrip().endswith((".", "?"))
        if ".toml" not in sentence and "--set" not in line:  # in a file, and there, names are what they are
            assert not PYTHON.search(sentence.partition(" Known: ")[0])
    assert code == 1 or not run.stdout
    assert state(folder) == before


def test_remedy_of_a_recording_without_a_rate(pqswarm, materials):
    run = pqswarm("site-file", materials[0] / "no-rate.csv", "--rate", 3200)
    assert run.returncode == 0
    assert "UA" in run.stdout
