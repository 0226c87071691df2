"""Nested cross-validation: the whole selection is repeated in each outer training set and scored on unseen events."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring

from pqswarm._base.random import derived_seed
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Splits
from pqswarm.selector.searching import Interrupts
from pqswarm.selector.selection import search_and_choose
from pqswarm.selector.task import SelectionTask, SelectorData, named_scorings
from pqswarm.statistics.intervals import wilson_interval

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector


@dataclass(frozen=True, eq=False)
class OuterEstimate:
    """The result of nested cross-validation."""

    scores: FloatArray  # of each outer test set, by the estimator fitted to the features selected in its training set
    score: float  # their mean
    interval: tuple[float, float]  # of 95 %
    method: str  # how the interval was computed, as a sentence
    optimism: float  # mean score of the searches minus `score`
    optimism_interval: tuple[float, float]  # of 95 %, by the variance of Nadeau and Bengio
    supports: BoolArray = field(repr=False)


def nested_mean_interval(scores: Sequence[float] | FloatArray, n_train: float, n_test: float) -> tuple[float, float]:
    """Return the 95 % t interval of a mean over test sets, with the variance of Nadeau and Bengio."""
    from scipy.special import stdtrit

    values = np.asarray(scores, dtype=np.float64)
    if values.size < 2:
        return float("nan"), float("nan")
    spread = sqrt(values.var(ddof=1) * (1 / values.size + n_test / n_train))
    half = float(stdtrit(values.size - 1, 0.975)) * spread
    return float(values.mean()) - half, float(values.mean()) + half


def outer_splits(selector: "SwarmSelector", data: SelectorData) -> list[tuple[IntArray, IntArray]]:
    """Return the outer training and test sets of a selector; empty without outer_cv."""
    if selector.outer_cv is None:
        return []
    if not (selector.cv is None or isinstance(selector.cv, int | np.integer) or hasattr(selector.cv, "split")):
        raise PqswarmError("outer_cv needs a cv that can split each outer training set: use an integer or a splitter.")
    classifies = selector.estimator is None or is_classifier(selector.estimator)
    return list(Splits.from_cv(selector.outer_cv, data.X, data.y, data.groups, classifier=classifies).split())


def estimate_outer(
    selector: "SwarmSelector",
    task: SelectionTask,
    splits: Sequence[tuple[IntArray, IntArray]],
    data: SelectorData,
    interrupts: Interrupts,
) -> OuterEstimate | None:
    """Repeat the whole selection in each outer training set, and score it on the test set; None if Ctrl-C ended it."""
    estimator, scoring = task.estimator, next(iter(named_scorings(selector.scoring, selector.refit).values()))
    scorer = check_scoring(estimator, scoring)
    scores, searched, supports = [], [], []
    for number, (train, test) in enumerate(splits):
        seen, new = data.take(train), data.take(test)
        selection = search_and_choose(selector, seen, derived_seed(task.seed, (2**31 + 1, number)), interrupts)
        if selection is None:
            return None
        support = selection.chosen.support
        model = interrupts.attempt(seen.fit, estimator, support)
        if model is None:
            return None
        scores.append(new.score(scorer, model, support))
        searched.append(selection.chosen.score)
        supports.append(support)
    n_train, n_test = (np.array([len(split[part]) for split in splits]) for part in (0, 1))
    tests = np.concatenate([test for _, test in splits])
    counts = is_classifier(estimator) and data.y.ndim == 1 and not (data.score_params or data.sample_weight is not None)
    counts = counts and (scoring is None or (isinstance(scoring, str) and scoring == "accuracy"))
    if counts and tests.size == len(data.y) == np.unique(tests).size:
        right = round(float(n_test @ scores))
        interval = wilson_interval(right, tests.size)
        method = f"Wilson's interval of {right} right predictions among {tests.size} events, each predicted once."
    else:
        interval = nested_mean_interval(scores, n_train.mean(), n_test.mean())
        method = f"t interval of the mean over {len(splits)} test sets, with the variance of Nadeau and Bengio."
    excess = np.subtract(searched, scores)
    spread = nested_mean_interval(excess, n_train.mean(), n_test.mean())
    score = float(np.mean(scores))
    return OuterEstimate(np.array(scores), score, interval, method, float(excess.mean()), spread, np.array(supports))
