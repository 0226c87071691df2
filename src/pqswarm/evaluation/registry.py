"""The classifiers and regressors by name: built in, and of other packages."""

import warnings
from typing import Any

from pqswarm._base.registry import Registry
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.classifiers import (
    DiscreteNBClassifier,
    EstimatorClassifier,
    GaussianNBClassifier,
    KernelNBClassifier,
    KNNClassifier,
    LDAClassifier,
)
from pqswarm.evaluation.learner import Classifier, Regressor
from pqswarm.evaluation.regressors import KNNRegressor, OrdinaryRegressor, RidgeRegressor

_BUILT_IN: tuple[type[Classifier], ...] = (
    KNNClassifier,
    KernelNBClassifier,
    GaussianNBClassifier,
    EstimatorClassifier,
    LDAClassifier,
)

CLASSIFIERS: Registry[type[Classifier]] = Registry("classifier", "pqswarm.classifiers", Classifier, _BUILT_IN)
"""All classifier classes by name."""

REGRESSORS: Registry[type[Regressor]] = Registry(
    "regressor", "pqswarm.regressors", Regressor, (KNNRegressor, OrdinaryRegressor, RidgeRegressor)
)
"""All regressor classes by name; each has a fast evaluator."""


def find_classifier(estimator: Any) -> Classifier | None:
    """Return the first classifier with the hyperparameters of a scikit-learn estimator, or None.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> find_classifier(KNeighborsClassifier(5, p=1)).describe()
    '5 nearest neighbours by Manhattan distance'
    """
    # That for counts has no name: features may be negative.
    found: Classifier | None = _find_member(CLASSIFIERS, estimator) or DiscreteNBClassifier.from_estimator(estimator)
    return found


def find_regressor(estimator: Any) -> Regressor | None:
    """Return the first regressor with the hyperparameters of a scikit-learn estimator, or None.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> find_regressor(Ridge(2.0)).describe()
    'ridge regression with alpha 2'
    """
    found: Regressor | None = _find_member(REGRESSORS, estimator)
    return found


def _find_member(registry: Registry[Any], estimator: Any) -> Any:
    for name in registry:
        try:
            member = registry[name]
        except PqswarmError as error:  # a broken third-party package must not hide the others
            warnings.warn(str(error), stacklevel=3)
            continue
        found = member.from_estimator(estimator)
        if found is not None:
            return found
    return None
