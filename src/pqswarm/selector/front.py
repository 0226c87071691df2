"""The front of score and size over all runs, and the choice of a subset on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.search import SearchResult


class UnavailableError(PqswarmError, AttributeError):
    """An attribute of a fitted selector that is not available; the message says why."""


_COLUMNS = ["kind", "run", "evaluations", "score", "std", "size", "selected", "features"]


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


def merge_fronts(results: Sequence[SearchResult]) -> tuple[BoolArray, FloatArray]:
    """Return masks and errors of the front over all runs, by size with falling error; of equals the first run's."""
    subsets = np.vstack([result.mask if result.front_masks is None else result.front_masks for result in results])
    values = np.hstack([result.error if result.front_errors is None else result.front_errors for result in results])
    order = np.lexsort((values, subsets.sum(axis=1)))
    lowest = np.minimum.accumulate(values[order])
    better = order[np.append(True, lowest[1:] < lowest[:-1])]
    return subsets[better], values[better]


def choose_point(rule: Any, sizes: Sequence[int], errors: FloatArray, best_fold_errors: FloatArray | None) -> int:
    """Return the position on the front that a rule chooses.

    ``"1se"`` is the smallest subset within one standard error of the lowest error; an integer the best subset of at
    most that many features, or the smallest if there is none.
    """
    if rule in ("best", "rescored", "nested"):
        return len(sizes) - 1
    if rule == "1se":
        if best_fold_errors is None or best_fold_errors.size < 2:
            raise PqswarmError("rule='1se' needs at least two splits: use a larger cv.")
        allowed = errors[-1] + best_fold_errors.std(ddof=1) / np.sqrt(best_fold_errors.size)
        return int(np.argmax(errors <= allowed))
    return max(0, int(np.searchsorted(sizes, rule, side="right")) - 1)


def make_cv_results(scores: Mapping[str, FloatArray], sizes: Sequence[int]) -> dict[str, AnyArray]:
    """Return the scores of front points, (n_points, n_splits) by name, as scikit-learn's searches do."""
    found: dict[str, AnyArray] = {"n_features": np.array(sizes)}
    for name, each in scores.items():
        found[f"mean_test_{name}"], found[f"std_test_{name}"] = each.mean(axis=1), each.std(axis=1)
        found |= {f"split{number}_test_{name}": column for number, column in enumerate(each.T)}
    return found


def make_frame(
    results: Sequence[SearchResult], front: Sequence[FrontPoint], chosen: BoolArray, names: Sequence[Any],
    score: Callable[[float], float], splits: Mapping[str, AnyArray],
) -> Any:  # fmt: skip
    """Return the front, with its scores of each split, and the improvements of each run as a pandas data frame."""
    try:
        import pandas as pd  # type: ignore[import-untyped]
    except ImportError as error:
        raise UnavailableError("results_ needs pandas: pip install pandas, or use cv_results_ and history_.") from error

    def named(mask: BoolArray) -> tuple[Any, ...]:
        return tuple(names[place] for place in np.flatnonzero(mask).tolist())

    rows: list[tuple[Any, ...]] = []
    for point in front:
        selected = bool(np.array_equal(point.support, chosen))
        rows.append(("front", None, None, point.score, point.std, point.size, selected, named(point.support)))
    for run, result in enumerate(results):
        last = len(result.improvements) - 1
        for number, (before, loss, size) in enumerate(result.improvements.tolist()):
            features = named(result.mask) if number == last else None
            rows.append(("improvement", run, int(before) + 1, score(loss), np.nan, int(size), False, features))
    frame = pd.DataFrame(rows, columns=_COLUMNS).astype({"run": "Int64", "evaluations": "Int64"})
    single = {key: values for key, values in splits.items() if key.startswith("split")}
    return frame.join(pd.DataFrame(single)) if single else frame
