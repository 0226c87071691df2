"""A classifier, a section, an event class and a reader from another package, from the plan to the verdict."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

CLASSIFIER = """
from pqswarm.evaluation import Classifier, Parameters, option, parameters

@parameters
class TreeHyperparameters(Parameters):
    '''Of a decision tree.'''
    depth: int = option(default=6, meaning="levels of the tree", low=1)

class Tree(Classifier):
    '''A decision tree.'''
    name, title = "tree", "Tree"
    Hyperparameters = TreeHyperparameters

    def estimator(self):
        from sklearn.tree import DecisionTreeClassifier
        return DecisionTreeClassifier(max_depth=self.hyperparameters.depth, random_state=0)

    def describe(self):
        return f"a decision tree of at most {self.hyperparameters.depth} levels"
"""
SECTION = """
from pqswarm.report import ClassifierSection, Content, Table

def content(study, found):
    rows = [{"algorithm": title, "evaluations": runs[0].result.n_evaluations} for title, runs in found.runs.items()]
    return Content(tables=[Table("effort", "Evaluations of the first run", rows)], answer=["It was no great effort."])

EFFORT = ClassifierSection("effort", "How much effort was it?", content)
"""
EVENT_CLASS = """
from dataclasses import replace
import numpy as np
from pqswarm.events import PRESETS, EventClass, Parameter, Uniform

def ferroresonance(t, *, grid, order, strength):
    '''A fraction of the fundamental beside it.'''
    return grid.wave(t) + strength * np.sin(grid.angle(t) / order)

FERRORESONANCE = EventClass(
    "ferroresonance", "Ferroresonance", ferroresonance,
    {"order": Parameter("n", "1", "divisor", 2, 9), "strength": Parameter("", "pu", "amplitude", 0, 2)},
    family="swell",
)
RANGES = {"order": Uniform(2.5, 3.5), "strength": Uniform(0.4, 1.0)}
FIELD = PRESETS["field"]
MORE = replace(FIELD, models={**FIELD.models, "ferroresonance": RANGES})
MINE = replace(MORE.with_classes(["pure_sinusoid", "sag", "swell", "ferroresonance"]), name="mine")
"""
READER = """
import numpy as np
from pqswarm.recordings import RawChannel, RawRecording, Reader, RecordingError

def read_raw(path, options):
    body = path.read_bytes()
    if len(body) < 8:
        raise RecordingError("is empty.")
    options.check_samples(len(body) // 8)
    return [RawRecording([RawChannel("Ua", "V", "", np.frombuffer(body, "<f8"))], 25_000.0)]

RAW = Reader("raw", (".raw8",), read_raw)
"""
ENTRY_POINTS = """[pqswarm.classifiers]
tree = own_classifier:Tree
[pqswarm.sections]
effort = own_section:EFFORT
[pqswarm.event_classes]
ferroresonance = own_class:FERRORESONANCE
[pqswarm.presets]
mine = own_class:MINE
[pqswarm.readers]
raw = own_reader:RAW
"""
PLAN = """
title = "Ferroresonance and others"
runs = 2
max_evaluations = 30
[dataset]
preset = "mine"
events_per_class = 15
snr = [inf, 30]
[held_out]
events_per_class = 10
[folds]
number = 5
[[classifiers]]
name = "Tree"
kind = "tree"
depth = 4
[[algorithms]]
algorithm = "2d-upso"
parameters.size = 4
[[algorithms]]
algorithm = "ga"
parameters.size = 4
"""
# Several commands in one process, with reports without pictures: starting processes takes most of the time.
COMMANDS = """
import json, sys
from typer.testing import CliRunner
from pqswarm.cli.main import app
from pqswarm.report import html

html._pictures = lambda drawing, prefix: {"wide": ""}
if __name__ == "__main__":
    results = [CliRunner().invoke(app, arguments, catch_exceptions=False) for arguments in json.loads(sys.argv[1])]
    assert not any(result.exit_code for result in results), [result.output for result in results]
    print(json.dumps([result.stdout for result in results]))
"""
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with the package."""
    folder = tmp_path_factory.mktemp("plugins")
    modules = {"classifier": CLASSIFIER, "section": SECTION, "class": EVENT_CLASS, "reader": READER}
    for name, text in modules.items():
        assert len([line for line in text.splitlines() if line]) <= 30
        (folder / f"own_{name}.py").write_text(text)
    info = folder / "own-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (folder / "plan.toml").write_text(PLAN)
    return folder


@pytest.fixture(scope="module")
def outputs(home):
    """What commands say with the package installed, all in one process."""
    t = np.arange(25_000) / 25_000
    wave = 325 * (np.sin(2 * np.pi * 50 * t) + 0.7 * np.sin(2 * np.pi * 50 / 3 * t))
    (home / "a.raw8").write_bytes(wave.astype("<f8").tobytes())
    identifying = ("identify", "a.raw8", "--model", "model.npz", "--nominal", 230)
    commands = (
        ("study", "plan.toml", "--out", "study", "--jobs", 2),
        ("report", "study", "--format", "md"),
        ("train", "--preset", "mine", "--classifier", "tree", "--events-per-class", 15, "--out", "model.npz"),
        (*identifying, "--json"),
        identifying,
    )
    (home / "commands.py").write_text(COMMANDS)
    path = os.pathsep.join(filter(None, [str(home), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "commands.py", json.dumps([list(map(str, arguments)) for arguments in commands])],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
        cwd=home,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_from_the_plan_to_the_report(home, outputs):
    """In two worker processes, which find the classifier too."""
    text = (home / "study" / "report.md").read_text(encoding="utf-8")
    assert "60 events of 4 classes" in text
    assert "a decision tree of at most 4 levels" in text
    assert "### How much effort was it?" in text
    assert "- It was no great effort." in text
    assert "paper" not in text.replace("paper = false", "").lower()
    page = (home / "study" / "report.html").read_text(encoding="utf-8")
    assert "Ferroresonance" in page
    assert "How much effort was it?" in page


def test_from_training_to_the_verdict(outputs):
    found, said = outputs[-2:]
    assert "ferroresonance" in json.dumps(json.loads(found))
    assert "ferroresonance " in said
    assert "instantaneous swell" in said  # of whose family the class is
