"""The paper's two classifiers, fitted to scaled features, with probabilities."""

from collections.abc import Mapping
from math import log, log1p
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pqswarm.errors import unknown_name
from pqswarm.evaluation import Folds, KernelNBEvaluator, KNNEvaluator
from pqswarm.evaluation.naive_bayes import class_blocks

if TYPE_CHECKING:
    from pqswarm._typing import BoolArray, FloatArray, IntArray
    from pqswarm.evaluation import Evaluator

__all__ = ["CLASSIFIERS", "Classifier", "evaluator", "fit", "hyperparameters", "scores_of", "soften"]

CLASSIFIERS = ("nb", "knn")
"""Kernel naive Bayes, and nearest neighbours."""

_DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "nb": {"width": 0.01, "floor": 0.0005},
    "knn": {"n_neighbors": 5, "voters": 15},
}


class Classifier(Protocol):
    """What :func:`fit` returns."""

    def probabilities(self, rows: "FloatArray") -> "FloatArray":
        """Return the probability of each class for each row of scaled features."""


def hyperparameters(classifier: str) -> dict[str, float]:
    """Return the hyperparameters of a classifier.

    Parameters
    ----------
    classifier : {"nb", "knn"}
        Which.

    Returns
    -------
    dict of str to float
        For ``"nb"`` the width of the kernels (features are scaled to 0 ... 1), and the share of a uniform density
        that bounds how strongly one feature can speak against a class. For ``"knn"`` the neighbours that vote in the
        search (Manhattan distance), and those whose weighted votes give probabilities.

    Examples
    --------
    >>> hyperparameters("nb")["width"]
    0.01
    """
    if classifier not in _DEFAULTS:
        raise unknown_name("classifier", classifier, CLASSIFIERS)
    return dict(_DEFAULTS[classifier])


class _BoundedNBEvaluator(KernelNBEvaluator):
    """Kernel naive Bayes with a share of a uniform density."""

    def __init__(self, X: "FloatArray", y: "IntArray", folds: Folds, width: float, floor: float) -> None:
        self._floor = floor
        super().__init__(X, y, folds, width, scaling="none")

    def _terms(self) -> "FloatArray":
        return _bounded(super()._terms(), self._floor)


def _bounded(terms: "FloatArray", floor: float) -> "FloatArray":
    return np.asarray(np.logaddexp(terms + log1p(-floor), log(floor)))


def evaluator(
    classifier: str, data: "FloatArray", labels: "IntArray", folds: Folds, parameters: Mapping[str, float]
) -> "Evaluator":
    """Return the evaluator of a classifier on scaled features.

    Parameters
    ----------
    classifier : {"nb", "knn"}
        Which.
    data : ndarray of shape (n, n_features)
        Scaled features.
    labels : ndarray of shape (n,)
        Classes.
    folds : Folds
        For cross-validation.
    parameters : mapping of str to float
        Hyperparameters.

    Returns
    -------
    Evaluator
        Of feature subsets.
    """
    if classifier == "nb":
        return _BoundedNBEvaluator(data, labels, folds, parameters["width"], parameters["floor"])
    return KNNEvaluator(data, labels, folds, int(parameters["n_neighbors"]), scaling="none")


def scores_of(evaluator: "Evaluator", mask: "BoolArray") -> "FloatArray | None":
    """Return the cross-validated log-scores of the classes, (n, n_classes), for naive Bayes; None for others."""
    if isinstance(evaluator, KernelNBEvaluator):
        return np.asarray(evaluator.priors + evaluator.table[mask].sum(axis=0))
    return None


def fit(
    classifier: str,
    data: "FloatArray",
    labels: "IntArray",
    n_classes: int,
    parameters: Mapping[str, float],
    temperature: float,
) -> Classifier:
    """Fit a classifier to scaled training events; this is instant.

    Parameters
    ----------
    classifier : {"nb", "knn"}
        Which.
    data : ndarray of shape (n, n_features)
        Scaled features, 0 to 1.
    labels : ndarray of shape (n,)
        Classes, from 0.
    n_classes : int
        Number of classes.
    parameters : mapping of str to float
        Hyperparameters.
    temperature : float
        By which log-scores are divided.

    Returns
    -------
    Classifier
        With `probabilities`.

    Examples
    --------
    >>> data = np.array([[0.1], [0.2], [0.8], [0.9]])
    >>> fitted = fit("nb", data, np.array([0, 0, 1, 1]), 2, {"width": 0.1, "floor": 0.01}, 1.0)
    >>> fitted.probabilities(np.array([[0.15]])).round(2).tolist()
    [[1.0, 0.0]]
    """
    if classifier == "nb":
        return _FittedNB(data, labels, n_classes, parameters["width"], parameters["floor"], temperature)
    return _FittedKNN(data, labels, n_classes, int(parameters["voters"]), temperature)


def soften(scores: "FloatArray", temperature: float) -> "FloatArray":
    """Turn log-scores into probabilities.

    Parameters
    ----------
    scores : ndarray of shape (n, n_classes)
        Log-scores.
    temperature : float
        The higher, the less sure.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Rows sum to 1.
    """
    powers = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


class _FittedNB:
    def __init__(
        self, data: "FloatArray", labels: "IntArray", n_classes: int, width: float, floor: float, temperature: float
    ) -> None:
        nobody = np.zeros(len(data), dtype=np.int64)
        self._blocks = [class_blocks(np.ascontiguousarray(column), nobody, labels, n_classes) for column in data.T]
        counts = np.bincount(labels, minlength=n_classes).astype(np.float64)
        self._log_counts = np.log(counts)[np.newaxis]
        self._prior = np.log(counts / counts.sum())
        self._width, self._floor, self._temperature = width, floor, temperature

    def probabilities(self, rows: "FloatArray") -> "FloatArray":
        """Return the probability of each class."""
        from pqswarm.evaluation._nb_kernels import kernel_terms

        scores = np.tile(self._prior, (len(rows), 1))
        no_fold = np.full(len(rows), -1, dtype=np.int64)
        terms = np.empty_like(scores)
        for column, blocks in zip(rows.T, self._blocks, strict=True):
            kernel_terms(np.ascontiguousarray(column), no_fold, *blocks, self._log_counts, self._width, terms)
            scores += _bounded(terms, self._floor)
        return soften(scores, self._temperature)


class _FittedKNN:
    def __init__(self, data: "FloatArray", labels: "IntArray", n_classes: int, voters: int, temperature: float) -> None:
        self._data, self._labels, self._n_classes = data, labels, n_classes
        self._voters, self._temperature = min(voters, len(data)), temperature

    def probabilities(self, rows: "FloatArray") -> "FloatArray":
        """Return the share of each class in the votes, each neighbour's weighted by 1 / distance, none quite 0."""
        votes = np.full((len(rows), self._n_classes), 0.02 / self._n_classes)
        for i, row in enumerate(rows):
            distance = np.abs(self._data - row).sum(axis=1)
            near = np.argpartition(distance, self._voters - 1)[: self._voters]
            weight = 1.0 / (distance[near] + 1e-3 + 0.1 * distance[near].mean())
            votes[i] += np.bincount(self._labels[near], weight / weight.sum(), self._n_classes)
        return soften(np.log(votes), self._temperature)
