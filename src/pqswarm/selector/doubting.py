"""Compare a search with a filter alone, by nested cross-validation, against overfitting.

A search sees thousands of subsets, a filter a dozen: with few or noisy events the filter can be better on new ones. No
score of the search itself shows that, but searches repeated in parts of the events do, scored on the other events.
"""

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

import numpy as np

from pqswarm._base.random import derived_seed
from pqswarm._base.typing import BoolArray
from pqswarm.evaluation import FILTERS, Splits
from pqswarm.evaluation.tables import as_numbers
from pqswarm.selector.prefiltering import filtered_errors, rank_by_filter
from pqswarm.selector.rescoring import partition_by, plain_folds

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector
    from pqswarm.selector.task import SelectionTask, SelectorData

_PARTS, _SHARE = 5, 10  # nested searches; each has the evaluations of the search divided by this
_FEWEST = 3000  # evaluations of a search below which there is no comparison
_ERRORS = 2  # standard errors by which the filter must be better
_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500)  # features of the filter
_FILTER = "anova"


def filter_instead(
    selector: "SwarmSelector", task: "SelectionTask", data: "SelectorData", evaluations: int,
    search: Callable[["SwarmSelector", "SelectorData", int], Any],
) -> tuple[BoolArray | None, str]:  # fmt: skip
    """Return the first features of the filter and a sentence if they are better than what searches find, else None.

    They are if their error over the parts is lower by more than two standard errors. There is no comparison of data
    that the filter cannot rank, and of a search with constraints, with few evaluations or stopped before its end.
    """
    folds = partial(plain_folds, selector.cv, classifies=task.classifies)
    outer = folds(data.y, _PARTS, derived_seed(task.seed, (2**31 + 3,)))
    numbers = None if hasattr(data.X, "toarray") else as_numbers(data.X)
    constraints = (selector.fixed_features, selector.excluded_features, selector.feature_groups)
    free = all(one is None for one in constraints) and "size" not in task.parameters
    if evaluations < _FEWEST or outer is None or numbers is None or not free:
        return None, ""
    splits, nested = partition_by(outer, data.y), []
    for number, (train, test) in enumerate(splits.split()):
        part, seed, short = data.take(train), derived_seed(task.seed, (2**31 + 4, number)), copy(selector)
        short.rule, short.n_runs, short.callback, short.verbose = "rescored", 1, None, 0
        short.cv, short.max_evaluations = folds(part.y, task.splits.n_folds, seed), evaluations // _SHARE
        with catch_warnings(action="ignore"):  # the search on all events has warned
            found = search(short, part, seed)
        if found is None or found.stop_reason == "max_time":
            return None, ""
        columns = np.flatnonzero(found.chosen.support)
        evaluator = task.choose(columns, Splits([(train, test)], len(data.y))).evaluator
        nested.append(float(evaluator.errors(np.ones((1, columns.size), dtype=np.bool_))[0]))
    rank = partial(rank_by_filter, _FILTER, continuous=not task.classifies)
    sizes = sorted({min(size, numbers.shape[1]) for size in _SIZES})
    errors = filtered_errors(rank, task.choose, numbers, data.y, splits, sizes)
    means = errors.mean(axis=0)
    best = int(means.argmin())
    gains = np.array(nested) - errors[:, best]
    scores = f"{task.score(means[best]):.3g}, searches {task.score(float(np.mean(nested))):.3g}"
    first = f"the first {sizes[best]} features by {FILTERS[_FILTER].title}"
    if gains.mean() <= _ERRORS * gains.std(ddof=1) / np.sqrt(gains.size):
        return None, f" In nested cross-validation, {first} score {scores}: not clearly better."
    mask = np.zeros(numbers.shape[1], dtype=np.bool_)
    mask[rank(numbers, data.y)[: sizes[best]]] = True
    return mask, f"They are {first}, which score {scores} in nested cross-validation."
