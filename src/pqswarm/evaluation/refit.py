"""The fallback of exact evaluators: scikit-learn fits a fold in which rounding could decide."""

from typing import Any

import numpy as np

from pqswarm._base.typing import AnyArray, IntArray
from pqswarm.evaluation.base import SubsetError
from pqswarm.evaluation.tables import take_table


def refit_fold(
    evaluator: Any, fold: int, selected: IntArray, *, methods: Any = "predict", data: Any = None, target: Any = None
) -> AnyArray:
    """Return the response of the evaluator's `estimator` for the test samples of a fold, by its first known method.

    `data` are the features scaled for the fold, `target` what is fitted, by default the labels; a subset that the
    estimator refuses raises a SubsetError.
    """
    train = evaluator.folds.train(fold)
    test = evaluator.folds.test(fold)
    target = evaluator.labels if target is None else target
    weights = getattr(evaluator, "sample_weight", None)
    more = {} if weights is None else {"sample_weight": weights[train]}
    used = take_table(evaluator.fold_data(fold) if data is None else data, selected, axis=1)
    model = evaluator.estimator()
    method = next(name for name in ([methods] if isinstance(methods, str) else methods) if hasattr(model, name))
    try:
        with np.errstate(all="ignore"):
            model.fit(take_table(used, train), target[train], **more)
            response = np.asarray(getattr(model, method)(take_table(used, test)))
        if method != "predict" and not np.isfinite(response).all():
            raise ValueError(f"{method} gives NaN or infinite values")
    except Exception as error:  # third-party code may raise anything
        raise SubsetError.of(model, selected, error) from error
    return response
