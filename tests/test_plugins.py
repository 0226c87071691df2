"""A classifier, a section, an event class and a reader from another package, from the plan to the analysis."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pqswarm.cli.main import app
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import CLASSIFIERS, Classifier, Folds, GaussianNBEvaluator
from pqswarm.events import EVENT_CLASSES
from pqswarm.recordings import READERS
from pqswarm.search import Search
from pqswarm.search.base import SearchParameters
from pqswarm.study.records import RunKey
from pqswarm.study.worker import PlannedRun, RunGroup, StudyProblem, advance

CLASSIFIER = """
from pqswarm.evaluation import Classifier, Parameters, parameter

class TreeHyperparameters(Parameters):
    '''Of a decision tree.'''
    depth: int = parameter(default=6, meaning="levels of the tree", low=1)

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
EVENT_CLASS = """
import numpy as np
from pqswarm.events import EventClass, Parameter

def ferroresonance(t, *, grid, order, strength):
    '''A fraction of the fundamental beside it.'''
    return grid.wave(t) + strength * np.sin(grid.angle(t) / order)

FERRORESONANCE = EventClass(
    "ferroresonance", ferroresonance,
    {"order": Parameter("n", "1", "divisor", 2, 9), "strength": Parameter("", "pu", "amplitude", 0, 2)},
    type="swell",
)
"""
PRESET = """
extends = "field"
classes = ["pure_sinusoid", "sag", "swell", "ferroresonance"]
[ferroresonance]
order = { uniform = [2.5, 3.5] }
strength = { uniform = [0.4, 1.0] }
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
[pqswarm.event_classes]
ferroresonance = plugin:FERRORESONANCE
[pqswarm.readers]
raw = plugin:RAW
"""
PLAN = """
title = "Ferroresonance and others"
runs = 2
max_evaluations = 20
[dataset]
preset = "mine.toml"
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
    modules = (CLASSIFIER, EVENT_CLASS, READER)
    assert all(len([line for line in text.splitlines() if line]) <= 30 for text in modules)
    installed("".join(modules), ENTRY_POINTS, CLASSIFIERS, EVENT_CLASSES, READERS)
    monkeypatch.setattr("pqswarm.report.html._html_pictures", lambda drawing, prefix: {"wide": ""})
    monkeypatch.chdir(tmp_path)

    def said(*arguments):
        result = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    Path("mine.toml").write_text(PRESET)
    Path("plan.toml").write_text(PLAN)
    said("study", "plan.toml", "--out", "study", "--jobs", 2)
    said("report", "study", "--format", "md")
    text = Path("study/report.md").read_text(encoding="utf-8")
    assert "60 events of 4 classes" in text
    assert "a decision tree of at most 4 levels" in text
    assert "paper" not in text.replace("paper = false", "").lower()
    page = Path("study/report.html").read_text(encoding="utf-8")
    assert "Ferroresonance" in page

    t = np.arange(25_000) / 25_000
    wave = 325 * (np.sin(2 * np.pi * 50 * t) + 0.7 * np.sin(2 * np.pi * 50 / 3 * t))
    Path("a.raw8").write_bytes(wave.astype("<f8").tobytes())
    said("train", "--preset", "mine.toml", "--classifier", "tree", "--events-per-class", 15, "--out", "model.npz")
    identifying = ("identify", "a.raw8", "--model", "model.npz", "--nominal", 230)
    assert "ferroresonance" in json.dumps(json.loads(said(*identifying, "--json")))
    text = said(*identifying)
    assert "  ferroresonance\n" in text  # the class in the last column
    assert "instantaneous swell" in text  # the type of the class


class Liar(Search):
    """A search that does what its class variables say."""

    name = title = "liar"
    may_ask_empty = False
    state_fields = ("seen",)
    Parameters = SearchParameters
    asks = staticmethod(lambda masks: masks)
    learns = staticmethod(lambda search: None)

    def _start(self):
        self.seen = np.zeros(1)

    def _next(self):
        return self.asks(np.ones((2, self.n_features), dtype=bool))

    def _learn(self, masks, errors):
        self.learns(self)


LIES = {
    "one feature too few": lambda masks: masks[:, 1:],
    "not a batch": lambda masks: masks[0],
    "numbers": lambda masks: masks * 7,
    "nothing, for ever": lambda masks: masks[:0],
    "None": lambda masks: None,
    "an error": lambda masks: 1 / 0,
    "the end": lambda masks: exit(0),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_search_that_asks_for_nonsense_is_named(lie):
    with pytest.raises(PqswarmError, match=rf"'liar' of {__name__} failed"):
        type("Liar", (Liar,), {"asks": staticmethod(lie), "__module__": __name__})(5).ask()


@pytest.mark.parametrize("state", [np.array(["text"]), np.array([object()]), None])
def test_a_search_that_cannot_resume_is_named_and_does_not_start_over_for_ever(state):
    def learns(search):
        if state is None:
            del search.seen
        else:
            search.seen = state

    liar = type("Liar", (Liar,), {"learns": staticmethod(learns), "__module__": __name__})
    key, planned = RunKey("NB", "liar", 0), PlannedRun(liar, {}, 100, 0)

    def advance_twice():
        (begun,) = advance(RunGroup(problem(), {key: planned}, {}), 0.0).running
        advance(RunGroup(problem(), {key: planned}, {key: begun}, slices=1), 0.0)

    with pytest.raises(PqswarmError, match=rf"'liar' of {__name__} failed"):
        advance_twice()


def problem(errors=GaussianNBEvaluator.errors):
    """A small problem with a classifier that computes its errors so."""
    evaluator = type("LyingEvaluator", (GaussianNBEvaluator,), {"errors": errors})

    class LyingClassifier(Classifier):
        name = title = "liar"

        def estimator(self):
            raise RuntimeError("there is none")

        def _evaluator(self, X, y, folds, **options):
            return evaluator(X, y, folds, **options)

    y = np.arange(12) % 2
    X = np.random.default_rng(0).random((12, 4)) + y[:, np.newaxis]
    return StudyProblem(X, y, Folds.stratified(y, 3).test_fold, LyingClassifier())


def overwritten(self, masks):
    masks[:] = True
    return GaussianNBEvaluator.errors(self, masks)


WRONG_ERRORS = {
    "not a number": lambda self, masks: np.full(len(masks), np.nan),
    "negative": lambda self, masks: -np.ones(len(masks)),
    "too few": lambda self, masks: np.zeros(len(masks) - 1),
    "other ones each time": lambda self, masks: np.random.default_rng().random(len(masks)),
    "other subsets": overwritten,
    "an error": lambda self, masks: 1 / 0,
}


@pytest.mark.parametrize("errors", WRONG_ERRORS.values(), ids=WRONG_ERRORS)
def test_a_classifier_that_lies_is_named_before_anything_is_stored(errors):
    assert 0.0 <= problem().error_of_all(1) <= 1.0
    with pytest.raises(PqswarmError, match=rf"'liar' of {__name__} failed"):
        problem(errors).error_of_all(1)
