"""The input of a selector: arrays, frames and sparse matrices, targets, and what accompanies them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_y, validate_data

from pqswarm._base.typing import AnyArray, BoolArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.estimators import accepts_argument, check_estimator_kind, weights_key
from pqswarm.evaluation.tables import as_numbers, is_table, take_params, take_table

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector


@dataclass(frozen=True)
class SelectorData:
    """The data of a selector: an array of floats, a data frame or a sparse matrix, with what accompanies its rows."""

    X: Any
    y: AnyArray
    groups: AnyArray | None = None
    sample_weight: AnyArray | None = None
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    score_params: Mapping[str, Any] = field(default_factory=dict)
    split_params: Mapping[str, Any] = field(default_factory=dict)

    def take(self, rows: IntArray) -> "SelectorData":
        """Return the given samples."""
        return SelectorData(
            X=take_table(self.X, rows),
            y=self.y[rows],
            groups=None if self.groups is None else self.groups[rows],
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
            fit_params=take_params(self.fit_params, len(self.y), rows),
            score_params=take_params(self.score_params, len(self.y), rows),
            split_params=take_params(self.split_params, len(self.y), rows),
        )

    @property
    def evaluator_options(self) -> dict[str, Any]:
        """The arguments of choose_evaluator for weights and parameters."""
        return {
            "sample_weight": self.sample_weight,
            "fit_params": self.fit_params,
            "score_params": self.score_params,
        }

    def fit(self, estimator: Any, support: BoolArray) -> Any:
        """Return a clone of the estimator, fitted to the features of a mask."""
        params = take_params(self.fit_params, len(self.y), np.arange(len(self.y)), support)
        if self.sample_weight is not None:
            params[weights_key(estimator)] = self.sample_weight
        return clone(estimator).fit(take_table(self.X, np.flatnonzero(support), axis=1), self.y, **params)

    def score(self, scorer: Any, model: Any, support: BoolArray) -> float:
        """Return the score of a fitted model."""
        params = dict(self.score_params)
        if self.sample_weight is not None:
            params["sample_weight"] = self.sample_weight
        return float(scorer(model, take_table(self.X, np.flatnonzero(support), axis=1), self.y, **params))


def given_estimator(selector: Any) -> Any:
    """Return the estimator of a selector: by default three nearest neighbours by Manhattan distance, after scaling."""
    if selector.estimator is not None:
        return selector.estimator
    return make_pipeline(MinMaxScaler(), KNeighborsClassifier(n_neighbors=3, metric="manhattan"))


def read_input(selector: "SwarmSelector", X: Any, y: Any, groups: Any, params: Mapping[str, Any]) -> SelectorData:
    """Return the checked input of `fit`; set the selector's number and names of features."""
    estimator = given_estimator(selector)
    table, target = _checked_table(selector, estimator, X, y)
    if get_config()["enable_metadata_routing"]:
        return _routed_data(selector, table, target, {"groups": groups} | dict(params))
    params = dict(params)
    sample_weight = params.pop("sample_weight", None)
    for name in params:
        if not accepts_argument(estimator.fit, name):
            raise PqswarmError(f"fit of {type(estimator).__name__} does not accept {name}: leave it out.")
    return SelectorData(table, target, _array_or_none(groups), _array_or_none(sample_weight), params)


def _checked_table(selector: "SwarmSelector", estimator: Any, X: Any, y: Any) -> tuple[Any, AnyArray]:
    """X and y, checked as scikit-learn does; a data frame stays one."""
    classifies = check_estimator_kind(estimator)
    targets = np.asarray(y)
    if targets.dtype == np.object_ and targets.ndim:
        missing = [target is None for target in targets.flat]
        if any(missing):
            raise PqswarmError(f"y must not hold None, but value {missing.index(True)} is: leave such samples out.")
    checks: dict[str, Any] = {"multi_output": targets.ndim == 2 and targets.shape[1] > 1, "y_numeric": not classifies}
    is_frame = is_table(X) and not issparse(X)
    if is_frame and as_numbers(X) is None:
        validate_data(selector, X, y, skip_check_array=True)
        target = _check_y(y, estimator=selector, **checks)
        if len(target) != X.shape[0]:
            raise PqswarmError(f"X has {X.shape[0]} rows, but y has {len(target)}.")
        return X, target
    checks["accept_sparse"] = ("csr", "csc") if get_tags(estimator).input_tags.sparse else False
    # Estimators without NaN support raise an error with its position.
    table, target = validate_data(selector, X, y, dtype=np.float64, ensure_all_finite="allow-nan", **checks)
    return (X if is_frame else table), target


def _routed_data(selector: "SwarmSelector", table: Any, target: AnyArray, given: Mapping[str, Any]) -> SelectorData:
    """The data with what scikit-learn's metadata routing sends to the estimator, the scorer and the splitter."""
    routed = process_routing(selector, "fit", **{key: value for key, value in given.items() if value is not None})
    split_params = dict(routed.splitter.split)
    fit_params = dict(routed.estimator.fit)
    score_params = dict(routed.scorer.score)
    weights = fit_params.get("sample_weight")
    if weights is not None and weights is score_params.get("sample_weight") and len(fit_params | score_params) == 1:
        fit_params = {}
        score_params = {}
    else:
        weights = None
    groups = _array_or_none(split_params.pop("groups", None))
    return SelectorData(table, target, groups, _array_or_none(weights), fit_params, score_params, split_params)


def selector_routing(selector: "SwarmSelector") -> MetadataRouter:
    """Return how a selector routes metadata: to the estimator's `fit`, the scorer, and the splitter."""
    estimator = given_estimator(selector)
    router = MetadataRouter(owner=selector)
    for name, callee, consumer in (
        ("estimator", "fit", estimator),
        ("splitter", "split", check_cv(5 if selector.cv is None else selector.cv)),
        ("scorer", "score", check_scoring(estimator, selector.scoring)),
    ):
        callers = MethodMapping().add(caller="fit", callee=callee).add(caller="fit_transform", callee=callee)
        router.add(**{name: consumer}, method_mapping=callers)
    return router


def _array_or_none(given: Any) -> Any:
    return None if given is None else np.asarray(given)
