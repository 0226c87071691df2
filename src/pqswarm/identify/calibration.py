"""Probabilities of a fitted estimator, made as sure as it is right by one temperature."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm._typing import FloatArray, IntArray
    from pqswarm.evaluation import Classifier, Folds

__all__ = ["cross_validated_scores", "fit_estimator", "fit_temperature", "log_scores", "soften"]

_DOUBT = 0.02
"""Share of a uniform distribution in probabilities that may be 0, such as those of few votes."""


def fit_estimator(classifier: "Classifier", data: "FloatArray", labels: "IntArray") -> Any:
    """Return the estimator of a classifier, fitted to scaled features; it must have `predict_proba`."""
    estimator = classifier.estimator()
    if not hasattr(estimator, "predict_proba"):
        raise PqswarmError(f"{classifier.describe()} gives no probabilities: a model needs a classifier that does.")
    return estimator.fit(data, labels)


def log_scores(estimator: Any, rows: "FloatArray") -> "FloatArray":
    """Return the log-scores of the classes, up to a constant for each row, (n, n_classes).

    Those of naive Bayes are used as they are: as probabilities they would underflow.
    """
    if hasattr(estimator, "predict_joint_log_proba"):
        return np.asarray(estimator.predict_joint_log_proba(rows))
    shares = estimator.predict_proba(rows)
    return np.asarray(np.log((1 - _DOUBT) * shares + _DOUBT / shares.shape[1]))


def cross_validated_scores(
    classifier: "Classifier", data: "FloatArray", labels: "IntArray", folds: "Folds"
) -> "FloatArray":
    """Return the log-scores of each event by a classifier that was fitted without its fold, (n, n_classes)."""
    scores = np.empty((len(labels), int(labels.max()) + 1))
    for train, test in folds.split():
        scores[test] = log_scores(fit_estimator(classifier, data[train], labels[train]), data[test])
    return scores


def soften(scores: "FloatArray", temperature: float) -> "FloatArray":
    """Turn log-scores (n, n_classes) into probabilities; the higher the temperature, the less sure.

    Examples
    --------
    >>> soften(np.log([[0.9, 0.1]]), 2.0).round(2).tolist()
    [[0.75, 0.25]]
    """
    powers = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def fit_temperature(scores: "FloatArray", labels: "IntArray") -> float:
    """Return the temperature under which the true classes are most likely."""

    def loss(temperature: float) -> float:
        right = soften(scores, temperature)[np.arange(len(labels)), labels]
        return float(-np.log(np.maximum(right, 1e-300)).mean())

    candidates: list[float] = np.geomspace(0.5, 50.0, 120).tolist()
    best: float = min(candidates, key=loss)
    return round(best, 4)
