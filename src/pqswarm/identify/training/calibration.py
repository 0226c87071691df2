"""Calibrated probabilities of fitted estimators, by a temperature and a weight."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Classifier, Folds
from pqswarm.identify.discriminant import Discriminant

_DOUBT = 0.02  # tuned
"""Fraction of a uniform distribution in probabilities that may be 0, such as those of few votes."""


def fit_estimator_to_calibrate(classifier: Classifier, data: FloatArray, labels: IntArray) -> Any:
    """Return the estimator of a classifier, fitted to scaled features; it must have `predict_proba`."""
    estimator = classifier.estimator()
    if not hasattr(estimator, "predict_proba"):
        raise PqswarmError(f"{classifier.describe()} gives no probabilities, which a model needs.")
    return estimator.fit(data, labels)


def calibration_log_scores(estimator: Any, rows: FloatArray) -> FloatArray:
    """Return log-scores of classes (n, n_classes), up to a constant: probabilities would underflow."""
    if hasattr(estimator, "predict_joint_log_proba"):
        return np.asarray(estimator.predict_joint_log_proba(rows))
    shares = estimator.predict_proba(rows)
    return np.asarray(np.log((1 - _DOUBT) * shares + _DOUBT / shares.shape[1]))


@dataclass(frozen=True, eq=False)
class CalibratedExperts:
    """A fitted classifier and a linear discriminant on the same features, which also models their correlation."""

    estimator: Any
    discriminant: Discriminant
    priors: FloatArray

    @classmethod
    def fit(cls, classifier: Classifier, data: FloatArray, labels: IntArray, n_classes: int) -> "CalibratedExperts":
        """Fit both to scaled features."""
        discriminant = Discriminant.fit(data, labels, n_classes)
        return cls(
            fit_estimator_to_calibrate(classifier, data, labels),
            discriminant,
            calibration_log_priors(labels, n_classes),
        )

    def both(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-likelihoods of both, up to a constant; minus infinity for classes without events."""
        own = np.asarray(self.estimator.classes_, dtype=np.int64)
        found = calibration_log_scores(self.estimator, rows) - self.priors[own]
        scores = np.full((len(rows), self.priors.size), -np.inf)
        scores[:, own] = found - found.max(axis=1, keepdims=True)
        return scores, self.discriminant.log_scores(rows)

    def scores(self, rows: FloatArray, temperature: float, weight: float) -> FloatArray:
        """Return their sum with the priors, the first divided by the temperature, the second times the weight."""
        return combine_calibrated_scores(*self.both(rows), self.priors, temperature, weight)


def calibration_log_priors(labels: IntArray, n_classes: int) -> FloatArray:
    """Return the logarithm of the fraction of each class; minus infinity for classes without events."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.bincount(labels, minlength=n_classes) / labels.size))


def combine_calibrated_scores(
    first: FloatArray, second: FloatArray, priors: FloatArray, temperature: float, weight: float
) -> FloatArray:
    """Return the sum of two tables of log-likelihoods and of priors; minus infinity for classes without events."""
    tempered = first / temperature + priors
    return tempered + weight * second if weight > 0 else tempered


def cross_validated_scores(
    classifier: Classifier, data: FloatArray, labels: IntArray, folds: Folds, n_classes: int
) -> tuple[FloatArray, FloatArray]:
    """Return the log-scores of each event by experts that were fitted without its fold, (n, n_classes) each."""
    first, second = np.empty((len(labels), n_classes)), np.empty((len(labels), n_classes))
    for train, test in folds.split():
        first[test], second[test] = CalibratedExperts.fit(classifier, data[train], labels[train], n_classes).both(
            data[test]
        )
    return first, second


def cross_validated_distances(data: FloatArray, folds: Folds) -> FloatArray:
    """Return the distance of each event to the nearest event of the other folds."""
    distances = np.empty(len(data))
    for train, test in folds.split():
        distances[test] = find_nearest(data[test], data[train])
    return distances


def find_nearest(rows: FloatArray, data: FloatArray) -> FloatArray:
    """Return the mean difference of the features of each row to those of the nearest event."""
    return np.array([np.abs(data - row).mean(axis=1).min() for row in rows])


def calibrated_probabilities(scores: FloatArray) -> FloatArray:
    """Turn log-scores (n, n_classes) into probabilities."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def fit_weights(first: FloatArray, second: FloatArray, priors: FloatArray, labels: IntArray) -> tuple[float, float]:
    """Return temperature and weight of :meth:`CalibratedExperts.scores` under which true classes are most likely."""

    def loss(temperature: float, weight: float) -> float:
        shares = calibrated_probabilities(combine_calibrated_scores(first, second, priors, temperature, weight))
        return float(-np.log(np.maximum(shares[np.arange(len(labels)), labels], 1e-12)).mean())

    pairs = [
        (round(float(temperature), 4), weight)
        for temperature in np.geomspace(0.5, 50.0, 60)
        for weight in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    ]
    return min(pairs, key=lambda pair: loss(*pair))
