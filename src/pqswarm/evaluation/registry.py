"""The classifiers by name: ours, and those of other packages."""

import warnings
from typing import Any

from pqswarm._registry import Registry
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.classifiers import (
    EstimatorClassifier,
    GaussianNBClassifier,
    KernelNBClassifier,
    KNNClassifier,
    LDAClassifier,
    NearestCentroidClassifier,
    QDAClassifier,
)

__all__ = ["CLASSIFIERS", "find_classifier"]

_OURS: tuple[type[Classifier], ...] = (
    *(KNNClassifier, KernelNBClassifier, GaussianNBClassifier, EstimatorClassifier),
    *(LDAClassifier, QDAClassifier, NearestCentroidClassifier),
)

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
    for name in CLASSIFIERS:
        try:
            classifier = CLASSIFIERS[name]
        except PqswarmError as error:  # a broken package of others must not keep ours from being found
            warnings.warn(str(error), stacklevel=2)
            continue
        found = classifier.from_estimator(estimator)
        if found is not None:
            return found
    return None
