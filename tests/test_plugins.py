"""A classifier, a section, an event class and a reader from another package, from the plan to the verdict."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pqswarm.cli.main import app
from pqswarm.evaluation import CLASSIFIERS
from pqswarm.events import EVENT_CLASSES, PRESETS
from pqswarm.recordings import READERS
from pqswarm.report.sections.registry import REGISTRY

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
    "ferroresonance", ferroresonance,
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
tree = plugin:Tree
[pqswarm.sections]
effort = plugin:EFFORT
[pqswarm.event_classes]
ferroresonance = plugin:FERRORESONANCE
[pqswarm.presets]
mine = plugin:MINE
[pqswarm.readers]
raw = plugin:RAW
"""
PLAN = """
title = "Ferroresonance and others"
runs = 2
max_evaluations = 20
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


@pytest.mark.slow
def test_from_the_plan_to_the_report_and_from_training_to_the_verdict(installed, tmp_path, monkeypatch):
    """In two worker processes, which find the classifier too; with a report without pictures, which take long."""
    modules = (CLASSIFIER, SECTION, EVENT_CLASS, READER)
    assert all(len([line for line in text.splitlines() if line]) <= 30 for text in modules)
    installed("".join(modules), ENTRY_POINTS, CLASSIFIERS, REGISTRY, EVENT_CLASSES, PRESETS, READERS)
    monkeypatch.setattr("pqswarm.report.html._pictures", lambda drawing, prefix: {"wide": ""})
    monkeypatch.chdir(tmp_path)

    def said(*arguments):
        result = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    Path("plan.toml").write_text(PLAN)
    said("study", "plan.toml", "--out", "study", "--jobs", 2)
    said("report", "study", "--format", "md")
    text = Path("study/report.md").read_text(encoding="utf-8")
    assert "60 events of 4 classes" in text
    assert "a decision tree of at most 4 levels" in text
    assert "### How much effort was it?" in text
    assert "- It was no great effort." in text
    assert "paper" not in text.replace("paper = false", "").lower()
    page = Path("study/report.html").read_text(encoding="utf-8")
    assert "Ferroresonance" in page
    assert "How much effort was it?" in page

    t = np.arange(25_000) / 25_000
    wave = 325 * (np.sin(2 * np.pi * 50 * t) + 0.7 * np.sin(2 * np.pi * 50 / 3 * t))
    Path("a.raw8").write_bytes(wave.astype("<f8").tobytes())
    said("train", "--preset", "mine", "--classifier", "tree", "--events-per-class", 15, "--out", "model.npz")
    identifying = ("identify", "a.raw8", "--model", "model.npz", "--nominal", 230)
    assert "ferroresonance" in json.dumps(json.loads(said(*identifying, "--json")))
    text = said(*identifying)
    assert "ferroresonance " in text
    assert "instantaneous swell" in text  # of whose family the class is
