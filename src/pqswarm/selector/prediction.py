"""Predict with the selected features: the estimator that a selector refits to them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import check_scoring
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from pqswarm._base.typing import AnyArray, FloatArray
from pqswarm.evaluation.tables import is_table, take_table
from pqswarm.selector.inputs import given_estimator


def _estimator_has(method: str) -> Callable[[Any], bool]:
    """A check that the estimator has a method; it raises the estimator's AttributeError."""

    def check(selector: Any) -> bool:
        getattr(getattr(selector, "best_estimator_", given_estimator(selector)), method)
        return True

    return check


def _delegated(method: str, what: str) -> Any:
    """A method of `best_estimator_`, which gets the selected features."""

    def call(self: Any, X: Any) -> FloatArray:
        selected = self._selected(X)
        predicted: FloatArray = getattr(self.best_estimator_, method)(selected)
        return predicted

    call.__name__ = method
    call.__doc__ = f"{what} by `best_estimator_`; see :meth:`predict`."
    return available_if(_estimator_has(method))(call)


class PredictorMixin:
    """Predictions of `best_estimator_`, which sees only the selected features."""

    estimator: Any
    scoring: Any
    support_: Any
    best_estimator_: Any

    @property
    def classes_(self) -> AnyArray:
        """The labels, if the estimator is a classifier."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.classes_)

    def _selected(self, X: Any) -> Any:
        """The selected columns of X, checked."""
        check_is_fitted(self)
        if is_table(X) and not issparse(X):
            validate_data(self, X, skip_check_array=True, reset=False)
        else:
            tags = get_tags(self).input_tags
            sparse = ("csr", "csc") if tags.sparse else False
            finite = "allow-nan" if tags.allow_nan else True
            X = validate_data(self, X, dtype=np.float64, accept_sparse=sparse, ensure_all_finite=finite, reset=False)
        return take_table(X, np.flatnonzero(self.support_), axis=1)

    @available_if(_estimator_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> AnyArray:
        """Predict labels or targets, (n,) or (n, n_targets), of samples with all features; the selected ones are used.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from pqswarm import SwarmSelector
        >>> X, y = load_wine(return_X_y=True)
        >>> selector = SwarmSelector(max_evaluations=200, random_state=0).fit(X, y)
        >>> selector.predict(X[:3]).tolist(), selector.predict_proba(X[:3]).shape, bool(selector.score(X, y) > 0.9)
        ([0, 0, 0], (3, 3), True)
        """
        selected = self._selected(X)
        return np.asarray(self.best_estimator_.predict(selected))

    predict_proba = _delegated("predict_proba", "Predict the probabilities of the classes")
    predict_log_proba = _delegated("predict_log_proba", "Predict the log probabilities of the classes")
    decision_function = _delegated("decision_function", "Return the decision function")

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Return the score of `best_estimator_`: `scoring`, or its own.

        Arguments of the scorer, such as ``sample_weight``, can be given by keyword.
        """
        selected = self._selected(X)
        return float(check_scoring(self.best_estimator_, self.scoring)(self.best_estimator_, selected, y, **params))
