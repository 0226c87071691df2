"""Columns that an estimator refuses, found before the search: a subset with one would count as the worst."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer

from pqswarm._base.text import count_text
from pqswarm._base.typing import BoolArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import GenericEvaluator
from pqswarm.evaluation.estimators import pipeline_steps

_NAMED = 5  # refused columns that a message names


def check_columns(evaluator: GenericEvaluator, names: Sequence[Any]) -> None:
    """Raise an error with the features that the estimator of an evaluator refuses in any company.

    All features are tried together, in one fold; if they are refused, each alone; and those that are refused alone,
    together with all that are not.
    """
    everything = np.ones(evaluator.n_features, dtype=np.bool_)
    if not evaluator.refusal(everything):
        return
    alone = np.eye(evaluator.n_features, dtype=np.bool_)
    reasons = [evaluator.refusal(mask) for mask in alone]
    taken = np.array([not reason for reason in reasons])
    if not taken.any():
        return  # the search says so
    refused = [place for place in np.flatnonzero(~taken).tolist() if evaluator.refusal(taken | alone[place])]
    if refused:
        listed = ", ".join(f"{names[place]!r} ({reasons[place].rstrip('.')})" for place in refused[:_NAMED])
        raise PqswarmError(
            f"{type(evaluator.estimator).__name__} refuses {count_text(len(refused), 'feature')}, {listed}: encode or "
            f"impute in a pipeline, such as make_pipeline(make_column_transformer((OneHotEncoder("
            f"handle_unknown='ignore'), make_column_selector(dtype_exclude='number')), remainder='passthrough'), ...), "
            f"or leave columns out by constraints={{'excluded': [...]}}."
        )


def check_column_transformers(estimator: Any, names: Sequence[Any], fixed: BoolArray) -> None:
    """Raise an error if a ColumnTransformer asks for columns that a subset may lack, or finds others by position."""
    always = {name for name, is_fixed in zip(names, fixed, strict=True) if is_fixed}
    for _, step in pipeline_steps(estimator):
        if not isinstance(step, ColumnTransformer):
            continue
        for _, _, columns in step.transformers:
            asked = np.atleast_1d(np.asarray(columns, dtype=object))
            if not callable(columns) and not all(isinstance(one, str) and one in always for one in asked):
                raise PqswarmError(
                    f"ColumnTransformer asks for {columns!r}, which most subsets lack: use make_column_selector, which "
                    f"finds the columns that there are, or names in constraints={{'fixed': [...]}}."
                )
