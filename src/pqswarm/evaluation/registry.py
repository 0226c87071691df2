"""The classifiers by name: ours, and those of other packages."""

from typing import Any

from pqswarm._registry import Registry
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.classifiers import (
    EstimatorClassifier,
    GaussianNBClassifier,
    KernelNBClassifier,
    KNNClassifier,
)

__all__ = ["CLASSIFIERS", "find_classifier"]

_OURS: tuple[type[Classifier], ...] = (KNNClassifier, KernelNBClassifier, GaussianNBClassifier, EstimatorClassifier)

CLASSIFIERS: Registry[type[Classifier]] = Registry("classifier", "pqswarm.classifiers", Classifier, _OURS)
"""All classifier classes by name."""


def find_classifier(estimator: Any) -> Classifier | None:
    """Return the classifier whose evaluator stands for a scikit-learn estimator.

    Parameters
    ----------
    estimator : object
        A scikit-learn classifier.

    Returns
    -------
    Classifier or None
        The first that has the hyperparameters of the estimator; None if none does.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> find_classifier(KNeighborsClassifier(5, p=1)).describe()
    '5 nearest neighbours by Manhattan distance'
    """
    found = (classifier.from_estimator(estimator) for classifier in CLASSIFIERS.values())
    return next((classifier for classifier in found if classifier is not None), None)
