"""The scores of the filters: data in, one number for each feature out."""

import warnings

import numpy as np

from pqswarm._typing import AnyArray, FloatArray

__all__ = ["anova", "linear_f", "mutual_information", "mutual_information_continuous"]


def anova(X: FloatArray, y: AnyArray) -> FloatArray:
    """F of the analysis of variance of each feature by class."""
    from sklearn.feature_selection import f_classif

    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # constant features have no score
        return np.asarray(f_classif(X, y)[0])


def linear_f(X: FloatArray, y: FloatArray) -> FloatArray:
    """F of the linear regression of a continuous y on each feature."""
    from sklearn.feature_selection import f_regression

    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # nor have they here
        return np.asarray(f_regression(X, y, force_finite=False)[0])


def mutual_information(X: FloatArray, y: AnyArray) -> FloatArray:
    """Mutual information of each feature and the classes, by scikit-learn's nearest neighbours."""
    from sklearn.feature_selection import mutual_info_classif

    return np.asarray(mutual_info_classif(X, y, random_state=0))


def mutual_information_continuous(X: FloatArray, y: FloatArray) -> FloatArray:
    """Mutual information of each feature and a continuous y, by scikit-learn's nearest neighbours."""
    from sklearn.feature_selection import mutual_info_regression

    return np.asarray(mutual_info_regression(X, y, random_state=0))
