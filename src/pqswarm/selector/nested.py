"""Nested cross-validation: the whole selection is repeated in each training set and scored on unseen samples."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier

from pqswarm._base.intervals import wilson_interval
from pqswarm._base.random import derived_seed
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Splits
from pqswarm.selector.ensemble import SubsetEnsemble
from pqswarm.selector.search_loop import Interrupts
from pqswarm.selector.selection import SubsetSelection
from pqswarm.selector.task import given_estimator, make_task, read_input, scorer_of, seed_of

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector


@dataclass(frozen=True, eq=False)
class NestedScore:
    """The result of nested cross-validation.

    Attributes
    ----------
    score : float
        Mean score of the test sets: an estimate of the score of the whole procedure on new data.
    scores : ndarray of shape (n_splits,)
        The score of each test set, by the estimator fitted to the features selected in its training set.
    interval : tuple of float
        A 95 % interval of `score`.
    interval_method : str
        How it was computed, as a sentence: Wilson's interval of the proportion of correct predictions if each sample is
        tested once and accuracy is scored, else a t interval with the variance of Nadeau and Bengio.
    optimism : float
        How much better the scores of the searches are than those of their test sets, on average.
    optimism_interval : tuple of float
        A 95 % t interval of `optimism`, with the variance of Nadeau and Bengio.
    supports : ndarray of bool, shape (n_splits, n_features)
        The features selected in each training set.
    """

    score: float
    scores: FloatArray
    interval: tuple[float, float]
    interval_method: str
    optimism: float
    optimism_interval: tuple[float, float]
    supports: BoolArray = field(repr=False)


def nested_score(
    selector: "SwarmSelector", X: Any, y: Any, *, cv: Any = 5, groups: Any = None, **fit_params: Any
) -> NestedScore:
    """Estimate the score of a selector on new data by nested cross-validation.

    `best_score_` of a selector was optimized, so it is optimistic. Here the whole selection, with its limits and
    callbacks, is repeated in each training set of an outer cross-validation, and scored on its test set. The selector
    itself is not fitted, and its `storage` is not used.

    Parameters
    ----------
    selector : SwarmSelector
        The selector. Its `cv` must be able to split each training set: an integer, None or a splitter.
    X, y, groups, **fit_params
        See :meth:`SwarmSelector.fit`.
    cv : int, cross-validation generator or iterable, default=5
        The outer cross-validation.

    Returns
    -------
    NestedScore
        The scores, their interval, and the optimism of the searches.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm import SwarmSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> nested = nested_score(SwarmSelector(max_evaluations=100, random_state=0), X, y, cv=3)
    >>> nested.interval[0] < nested.score < nested.interval[1], nested.supports.shape
    (True, (3, 13))
    """
    if not (selector.cv is None or isinstance(selector.cv, int | np.integer) or hasattr(selector.cv, "split")):
        raise PqswarmError("cv of the selector must split each training set: use an integer or a splitter.")
    selector = clone(selector).set_params(storage=None)
    data = read_input(selector, X, y, groups, fit_params)
    seed = seed_of(selector.random_state)
    classifies = is_classifier(given_estimator(selector))
    scorer = scorer_of(selector)
    splits = list(Splits.from_cv(cv, data.X, data.y, data.groups, classifier=classifies).split())
    scores: list[float] = []
    searched: list[float] = []
    supports: list[BoolArray] = []
    for number, (train, test) in enumerate(splits):
        part = data.take(train)
        with Interrupts() as interrupts:
            task = make_task(selector, part, derived_seed(seed, (2**31 + 1, number)))
            selection = SubsetSelection(selector, task, part, interrupts)
            selection.search()
        if interrupts.pressed:
            raise KeyboardInterrupt
        ensemble = SubsetEnsemble(selection.fit_members(), selection.members, several=data.y.ndim > 1)
        scores.append(data.take(test).score(scorer, ensemble))
        searched.append(selection.chosen.score)
        supports.append(selection.chosen.support)
    n_train = float(np.mean([len(train) for train, _ in splits]))
    n_test = np.array([len(test) for _, test in splits])
    tested = np.concatenate([test for _, test in splits])
    weighted = bool(data.score_params) or data.sample_weight is not None
    counts = classifies and data.y.ndim == 1 and not weighted and selector.scoring in (None, "accuracy")
    if counts and tested.size == len(data.y) == np.unique(tested).size:
        right = round(float(n_test @ scores))
        interval = wilson_interval(right, tested.size)
        method = f"Wilson's interval of {right} right predictions among {tested.size} samples, each predicted once."
    else:
        interval = nested_mean_interval(scores, n_train, n_test.mean())
        method = f"t interval of the mean over {len(splits)} test sets, with the variance of Nadeau and Bengio."
    excess = np.subtract(searched, scores)
    return NestedScore(
        score=float(np.mean(scores)),
        scores=np.array(scores),
        interval=interval,
        interval_method=method,
        optimism=float(excess.mean()),
        optimism_interval=nested_mean_interval(excess, n_train, n_test.mean()),
        supports=np.array(supports),
    )


def nested_mean_interval(scores: Sequence[float] | FloatArray, n_train: float, n_test: float) -> tuple[float, float]:
    """Return the 95 % t interval of a mean over test sets, with the variance of Nadeau and Bengio."""
    from scipy.special import stdtrit

    values = np.asarray(scores, dtype=np.float64)
    if values.size < 2:
        return float("nan"), float("nan")
    spread = sqrt(values.var(ddof=1) * (1 / values.size + n_test / n_train))
    half = float(stdtrit(values.size - 1, 0.975)) * spread
    return float(values.mean()) - half, float(values.mean()) + half
