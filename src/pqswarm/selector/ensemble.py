"""Ensembles: estimators fitted to subsets of the features, whose predictions are averaged."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.evaluation.estimators import take_table


def has_method(method: str) -> Callable[[Any], bool]:
    """Return a check that the estimators of an owner have a method; it raises their AttributeError."""

    def check(owner: Any) -> bool:
        getattr(owner._any_estimator, method)
        return True

    return check


class SubsetEnsemble:
    """Fitted estimators and their subsets, of which the first `count` predict one table; they do so once.

    `several` states whether each sample has several labels or targets. Probabilities, decision functions and targets
    are means. Labels are those with the highest mean probability, or decision function, else those that most estimators
    predict, of equals the first of `classes_`. A single estimator predicts by itself.
    """

    def __init__(self, estimators: Sequence[Any], subsets: BoolArray, *, several: bool = False) -> None:
        self.estimators = estimators
        self.subsets = subsets
        self.several = several
        self.count = len(estimators)
        self._known: dict[str, list[Any]] = {}

    @property
    def _any_estimator(self) -> Any:
        return self.estimators[0]

    def __sklearn_tags__(self) -> Any:
        return get_tags(self._any_estimator)

    @property
    def classes_(self) -> Any:
        """The labels."""
        return self._any_estimator.classes_

    def _responses(self, method: str, X: Any) -> list[Any]:
        """What a method of each estimator returns for its features of X."""
        known = self._known.setdefault(method, [])
        for number in range(len(known), self.count):
            selected = take_table(X, np.flatnonzero(self.subsets[number]), axis=1)
            known.append(getattr(self.estimators[number], method)(selected))
        return known[: self.count]

    def predict(self, X: Any) -> AnyArray:
        """Return the labels or targets of samples with all features."""
        if self.count == 1:
            return np.asarray(self._responses("predict", X)[0])
        if not is_classifier(self):
            return np.asarray(np.mean(self._responses("predict", X), axis=0))
        classes = np.asarray([] if self.several else self.classes_)
        for method in () if self.several else ("predict_proba", "decision_function"):
            if not hasattr(self, method):
                continue
            scores = np.asarray(getattr(self, method)(X))
            if scores.ndim == 1:
                return np.asarray(classes[(scores > 0).astype(np.int64)])
            if scores.shape[1] == classes.size:
                return np.asarray(classes[scores.argmax(axis=1)])
        return _majority(np.array(self._responses("predict", X)))

    @available_if(has_method("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the mean probabilities of the classes; a list of several labels."""
        return _mean(self._responses("predict_proba", X))

    @available_if(has_method("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the mean probabilities."""
        if self.count == 1:
            return self._responses("predict_log_proba", X)[0]
        probabilities = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            if isinstance(probabilities, list):
                return [np.log(each) for each in probabilities]
            return np.log(probabilities)

    @available_if(has_method("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """Return the mean decision function."""
        return np.asarray(_mean(self._responses("decision_function", X)))


def _mean(responses: list[Any]) -> Any:
    """The mean of arrays, or of each array in lists of them."""
    if len(responses) == 1:
        return responses[0]
    if isinstance(responses[0], list):
        return [np.mean(arrays, axis=0) for arrays in zip(*responses, strict=True)]
    return np.mean(responses, axis=0)


def _majority(labels: AnyArray) -> AnyArray:
    """The label that is most frequent among the rows, of equals the first in ascending order."""
    classes, coded = np.unique(labels, return_inverse=True)
    votes = (coded.reshape(labels.shape)[..., np.newaxis] == np.arange(classes.size)).sum(axis=0)
    return np.asarray(classes[votes.argmax(axis=-1)])
