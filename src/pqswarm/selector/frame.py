"""The subsets that a selector has kept, as a table."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pqswarm._typing import BoolArray
from pqswarm.errors import PqswarmError
from pqswarm.search import SearchResult
from pqswarm.selector.front import FrontPoint

__all__ = ["make_frame"]


def make_frame(
    results: Sequence[SearchResult],
    front: Sequence[FrontPoint],
    chosen: BoolArray,
    names: Sequence[Any],
    score: Callable[[float], float],
) -> Any:
    """Return a pandas frame of the front, and of the improvements of each run."""
    try:
        import pandas as pd
    except ImportError as error:
        raise PqswarmError(
            "results_ is a pandas frame: install pandas (pip install pandas), or look at front_ and history_."
        ) from error
    features = {point.support.tobytes(): _named(point.support, names) for point in front}
    rows: list[dict[str, Any]] = [
        {
            **{"kind": "front", "run": pd.NA, "evaluations": pd.NA, "score": point.score, "std": point.std},
            **{"size": point.size, "selected": bool(np.array_equal(point.support, chosen))},
            "features": features[point.support.tobytes()],
        }
        for point in front
    ]
    for number, result in enumerate(results):
        for before, error, size in result.improvements:
            last = before == result.improvements[-1, 0]
            rows.append(
                {
                    **{"kind": "improvement", "run": number, "evaluations": int(before) + 1, "score": score(error)},
                    **{"std": np.nan, "size": int(size), "selected": False},
                    "features": features[result.mask.tobytes()] if last else None,
                }
            )
    return pd.DataFrame(rows).astype({"run": "Int64", "evaluations": "Int64"})


def _named(mask: BoolArray, names: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(names[place] for place in np.flatnonzero(mask))
