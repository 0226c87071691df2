"""The subsets that a selector has kept, as a table."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pqswarm._base.typing import BoolArray
from pqswarm.errors import PqswarmError
from pqswarm.search import SearchResult
from pqswarm.selector.front import FrontPoint

__all__ = ["make_frame"]

_COLUMNS = ["kind", "run", "evaluations", "score", "std", "size", "selected", "features"]


def make_frame(
    results: Sequence[SearchResult],
    front: Sequence[FrontPoint],
    chosen: BoolArray,
    names: Sequence[Any],
    score: Callable[[float], float],
) -> Any:
    """Return a pandas frame of the front, and of the improvements of each run."""
    try:
        import pandas as pd  # type: ignore[import-untyped]
    except ImportError as error:
        raise PqswarmError(
            "results_ is a pandas frame: install pandas (pip install pandas), or look at front_ and history_."
        ) from error
    rows: list[tuple[Any, ...]] = []
    for point in front:
        selected = bool(np.array_equal(point.support, chosen))
        rows.append(("front", None, None, point.score, point.std, point.size, selected, _named(point.support, names)))
    for run, result in enumerate(results):
        last = len(result.improvements) - 1
        for number, (before, loss, size) in enumerate(result.improvements.tolist()):
            features = _named(result.mask, names) if number == last else None
            rows.append(("improvement", run, int(before) + 1, score(loss), np.nan, int(size), False, features))
    return pd.DataFrame(rows, columns=_COLUMNS).astype({"run": "Int64", "evaluations": "Int64"})


def _named(mask: BoolArray, names: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(names[place] for place in np.flatnonzero(mask).tolist())
