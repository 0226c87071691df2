"""What is done with the subsets once they are found: stage II, fresh events, confusion, smaller subsets."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pqswarm._typing import BoolArray, FloatArray, IntArray
from pqswarm.evaluation import Evaluator, scaled
from pqswarm.study.problem import Problem

__all__ = ["confusion", "fresh_errors", "one_standard_error", "standard_error", "subset_accuracies"]


def subset_accuracies(evaluator: Evaluator, masks: Mapping[str, BoolArray]) -> dict[str, float]:
    """Return the mean accuracy over the folds of some subsets, by name [%].

    Parameters
    ----------
    evaluator : Evaluator
        Who knows the errors.
    masks : mapping of str to ndarray of bool
        Subsets.

    Returns
    -------
    dict of str to float
        Accuracies [%].
    """
    errors = evaluator.errors(np.stack(list(masks.values())))
    return {name: 100.0 * (1.0 - float(error)) for name, error in zip(masks, errors, strict=True)}


def fresh_errors(problem: Problem, masks: Mapping[str, BoolArray], X: FloatArray, y: IntArray) -> dict[str, float]:
    """Return the errors on events that no search saw, of classifiers trained on all events of the study.

    Parameters
    ----------
    problem : Problem
        The study's events and the classifier.
    masks : mapping of str to ndarray of bool
        Subsets.
    X, y : ndarray
        Features and labels of the fresh events.

    Returns
    -------
    dict of str to float
        Errors, 0 to 1.
    """
    train, test = scaled(problem.X, problem.X), scaled(X, problem.X)
    errors = {}
    for name, mask in masks.items():
        model = _classifier(problem).fit(train[:, mask], problem.y)
        errors[name] = float(np.mean(model.predict(test[:, mask]) != y))
    return errors


def _classifier(problem: Problem) -> Any:
    if problem.kind == "k-nn":
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier(**problem.hyperparameters, algorithm="brute")
    from pqswarm.evaluation.kernel_nb import KernelNB

    return KernelNB(**problem.hyperparameters)


def confusion(evaluator: Evaluator, mask: BoolArray) -> list[list[int]]:
    """Count how often events of each class were taken for each class.

    Parameters
    ----------
    evaluator : Evaluator
        Who predicts.
    mask : ndarray of bool
        Subset.

    Returns
    -------
    list of list of int
        Rows are true classes, columns predicted ones.
    """
    predicted = np.searchsorted(evaluator.classes, evaluator.predictions(mask))
    table = np.zeros((evaluator.classes.size,) * 2, dtype=np.int64)
    np.add.at(table, (evaluator.labels, predicted), 1)
    counts: list[list[int]] = table.tolist()
    return counts


def standard_error(evaluator: Evaluator, mask: BoolArray) -> float:
    """Return the standard error of a subset's mean error over the folds.

    Parameters
    ----------
    evaluator : Evaluator
        Who knows the errors.
    mask : ndarray of bool
        Subset.

    Returns
    -------
    float
        Standard deviation of the folds' errors over the root of their number.
    """
    rates = (evaluator.error_counts(mask[np.newaxis]) / evaluator.folds.sizes)[0]
    return float(rates.std(ddof=1) / np.sqrt(rates.size))


def one_standard_error(evaluator: Evaluator, best: BoolArray, others: list[BoolArray]) -> BoolArray:
    """Return the smallest subset found whose error is within one standard error of that of the best.

    Looked at are subsets that searches found, and what is left of the best one when, again and again, the
    feature least missed is taken away.

    Parameters
    ----------
    evaluator : Evaluator
        Who knows the errors.
    best : ndarray of bool
        The subset with the least error.
    others : list of ndarray of bool
        Other subsets.

    Returns
    -------
    ndarray of bool
        A subset; of equal sizes the one with the least error.
    """
    allowed = float(evaluator.errors(best[np.newaxis])[0]) + standard_error(evaluator, best)
    candidates = [best, *others]
    shrunk = best
    while shrunk.sum() > 1:
        smaller = np.tile(shrunk, (int(shrunk.sum()), 1))
        smaller[np.arange(len(smaller)), np.flatnonzero(shrunk)] = False
        errors = evaluator.errors(smaller)
        if errors.min() > allowed:
            break
        shrunk = smaller[int(errors.argmin())]
        candidates.append(shrunk)
    masks = np.stack(candidates)
    errors = evaluator.errors(masks)
    chosen = min(np.flatnonzero(errors <= allowed).tolist(), key=lambda row: (masks[row].sum(), errors[row]))
    return np.asarray(masks[chosen])
