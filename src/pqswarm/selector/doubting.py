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
from pqswarm.evaluation import Splits
from pqswarm.evaluation.tables import as_numbers
from pqswarm.selector.prefiltering import filtered_errors, rank_by_filter
from pqswarm.selector.rescoring import plain_partition

if TYPE_CHECKING:
    from pqswarm.selector.swarm_selector import SwarmSelector
    from pqswarm.selector.task import SelectionTask, SelectorData

_PARTS, _SHARE, _FEWEST = 5, 10, 3000  # nested searches; fraction of the evaluations of each; fewest evaluations
_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500)  # features of the filter


def filter_instead(
    selector: "SwarmSelector", task: "SelectionTask", data: "SelectorData", evaluations: int, search: Callable[..., Any]
) -> tuple[BoolArray | None, str]:
    """Return the first features of the filter and a sentence if they are better than what searches find, else None.

    They are if their error over the parts is lower by more than two standard errors. Nothing is compared if the filter
    cannot rank the data, or the search had constraints or few evaluations or was stopped before its end.
    """
    constraints = (selector.fixed_features, selector.excluded_features, selector.feature_groups)
    if evaluations < _FEWEST or "size" in task.parameters or any(one is not None for one in constraints):
        return None, ""
    partition = partial(plain_partition, selector.cv, classifies=task.classifies)
    splits, nested = partition(data.y, _PARTS, derived_seed(task.seed, (2**31 + 3,))), []
    numbers = None if hasattr(data.X, "toarray") else as_numbers(data.X)
    if splits is None or numbers is None:
        return None, ""
    for number, (train, test) in enumerate(splits.split()):
        part, seed, short = data.take(train), derived_seed(task.seed, (2**31 + 4, number)), copy(selector)
        short.rule, short.n_runs, short.callback, short.verbose = "best", 1, None, 0
        short.cv, short.max_evaluations = partition(part.y, task.splits.n_folds, seed), evaluations // _SHARE
        if task.prefilter is not None and selector.prefilter == "auto":
            short.prefilter = int(task.groups.used.sum())  # as many: to decide it again would take most of the time
        with catch_warnings(action="ignore"):  # the search on all events has warned
            found = search(short, part, seed)
        if found is None or found.stop_reason == "max_time":
            return None, ""
        columns = np.flatnonzero(found.chosen.support)
        evaluator = task.choose(columns, Splits([(train, test)], len(data.y))).evaluator
        nested.append(float(evaluator.errors(np.ones((1, columns.size), dtype=np.bool_))[0]))
    rank = partial(rank_by_filter, "anova", continuous=not task.classifies)
    sizes = sorted({min(size, numbers.shape[1]) for size in _SIZES})
    with catch_warnings(action="ignore"):
        errors = filtered_errors(rank, task.choose, numbers, data.y, splits, sizes)
    best = int((means := np.nan_to_num(errors.mean(axis=0), nan=np.inf)).argmin())
    gains = np.array(nested) - errors[:, best]
    scores = f"{task.score(means[best]):.3g}, searches {task.score(float(np.mean(nested))):.3g}"
    first = f"the first {sizes[best]} features by ANOVA F"
    if not gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(gains.size):  # also of NaN
        return None, f" In nested cross-validation, {first} score {scores}: not clearly better."
    mask = np.zeros(numbers.shape[1], dtype=np.bool_)
    mask[rank(numbers, data.y)[: sizes[best]]] = True
    return mask, f"They are {first}, which score {scores} in nested cross-validation."
