"""The front of score and size: the best subset of each size."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.search import SearchResult


class UnavailableError(PqswarmError, AttributeError):
    """An attribute of a fitted selector that is not available; the message says why."""


@dataclass(frozen=True, eq=False)
class FrontPoint:
    """A subset on the front: no evaluated subset of at most its size has a better score.

    Attributes
    ----------
    size : int
        Number of features.
    score : float
        Mean score over the splits.
    std : float
        Standard deviation over these splits; NaN if not evaluated.
    support : ndarray of bool, shape (n_features_in_,)
        The features.
    """

    size: int
    score: float
    std: float
    support: BoolArray = field(repr=False)


def make_cv_results(scores: FloatArray | None, front: Sequence[FrontPoint]) -> dict[str, AnyArray]:
    """Return the scores of front points, (n_points, n_splits), as scikit-learn's searches do."""
    results: dict[str, AnyArray] = {"n_features": np.array([point.size for point in front])}
    if scores is not None:
        results["mean_test_score"] = scores.mean(axis=1)
        results["std_test_score"] = scores.std(axis=1)
        results |= {f"split{number}_test_score": column for number, column in enumerate(scores.T)}
    return results


def make_frame(
    result: SearchResult,
    front: Sequence[FrontPoint],
    chosen: BoolArray,
    names: Sequence[Any],
    score: Callable[[float], float],
    cv_results: Mapping[str, AnyArray],
) -> Any:
    """Return the front, with its scores of each split, and the improvements of the search as a pandas data frame."""
    try:
        import pandas as pd  # type: ignore[import-untyped]
    except ImportError as error:
        raise UnavailableError("results_ needs pandas: pip install pandas, or use cv_results_ and history_.") from error

    def named(mask: BoolArray) -> tuple[Any, ...]:
        return tuple(names[place] for place in np.flatnonzero(mask).tolist())

    rows: list[dict[str, Any]] = [
        {
            "kind": "front",
            "evaluations": None,
            "score": point.score,
            "std": point.std,
            "size": point.size,
            "selected": bool(np.array_equal(point.support, chosen)),
            "features": named(point.support),
        }
        for point in front
    ]
    for before, loss, size in result.improvements.tolist():
        rows.append(
            {
                "kind": "improvement",
                "evaluations": int(before) + 1,
                "score": score(loss),
                "std": np.nan,
                "size": int(size),
                "selected": False,
                "features": None,
            }
        )
    rows[-1]["features"] = named(result.mask)
    frame = pd.DataFrame(rows).astype({"evaluations": "Int64"})
    splits = {key: values for key, values in cv_results.items() if key.startswith("split")}
    return frame.join(pd.DataFrame(splits)) if splits else frame
