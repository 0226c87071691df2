"""The input of a selector: arrays, frames and sparse matrices, targets, and what accompanies them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_y, validate_data

from pqswarm.errors import PqswarmError
from pqswarm.evaluation.estimators import accepts_argument, check_estimator_kind
from pqswarm.evaluation.tables import as_numbers, is_table
from pqswarm.selector.task import SelectorData, default_estimator, named_scorings

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector


def read_input(selector: "SwarmSelector", X: Any, y: Any, groups: Any, params: Mapping[str, Any]) -> SelectorData:
    """Return the checked input of `fit`; set the selector's number and names of features."""
    estimator = default_estimator() if selector.estimator is None else selector.estimator
    classifies = check_estimator_kind(estimator)
    targets = np.asarray(y)
    several = targets.ndim == 2 and targets.shape[1] > 1
    missing = [one is None for one in targets.flat] if targets.dtype == np.object_ and targets.ndim else []
    if any(missing):
        raise PqswarmError(f"y must not hold None, but value {missing.index(True)} is: leave such events out.")
    if is_table(X) and not issparse(X) and as_numbers(X) is None:
        validate_data(selector, X, y, skip_check_array=True)
        table, target = X, _check_y(y, multi_output=several, y_numeric=not classifies, estimator=selector)
        if len(target) != X.shape[0]:
            raise PqswarmError(f"X has {X.shape[0]} rows, but y has {len(target)}.")
    else:
        sparse = ("csr", "csc") if get_tags(estimator).input_tags.sparse else False
        checks = {"accept_sparse": sparse, "multi_output": several, "y_numeric": not classifies, "dtype": np.float64}
        # Estimators without NaN support raise an error with its position.
        table, target = validate_data(selector, X, y, ensure_all_finite="allow-nan", **checks)
        table = X if is_table(X) and not issparse(X) else table
    if selector_routes_metadata():
        given = {"groups": groups} | dict(params)
        routed = process_routing(selector, "fit", **{key: one for key, one in given.items() if one is not None})
        split, fitted, scored = dict(routed.splitter.split), dict(routed.estimator.fit), dict(routed.scorer.score)
        weights = fitted.get("sample_weight")
        if weights is not None and weights is scored.get("sample_weight") and len(fitted) == len(scored) == 1:
            fitted, scored = {}, {}
        else:
            weights = None
        groups, weights = _array_or_none(split.pop("groups", None)), _array_or_none(weights)
        return SelectorData(table, target, groups, weights, fitted, scored, split)
    params = dict(params)
    sample_weight = params.pop("sample_weight", None)
    for name in params:
        if not accepts_argument(estimator.fit, name):
            raise PqswarmError(f"fit of {type(estimator).__name__} does not accept {name}: leave it out.")
    return SelectorData(table, target, _array_or_none(groups), _array_or_none(sample_weight), params)


def selector_routes_metadata() -> bool:
    """Return whether scikit-learn's metadata routing is enabled."""
    from sklearn import get_config

    return bool(get_config()["enable_metadata_routing"])


def selector_routing(selector: "SwarmSelector") -> MetadataRouter:
    """Return how a selector routes metadata: to the estimator's `fit`, the scorer, and the splitter."""
    estimator = default_estimator() if selector.estimator is None else selector.estimator
    scoring = next(iter(named_scorings(selector.scoring, selector.refit).values()))
    router = MetadataRouter(owner=selector)
    for name, callee, thing in (
        ("estimator", "fit", estimator),
        ("splitter", "split", check_cv(5 if selector.cv is None else selector.cv)),
        ("scorer", "score", check_scoring(estimator, scoring)),
    ):
        callers = MethodMapping().add(caller="fit", callee=callee)
        router.add(**{name: thing}, method_mapping=callers.add(caller="fit_transform", callee=callee))  # of pipelines
    return router


def _array_or_none(given: Any) -> Any:
    return None if given is None else np.asarray(given)
