"""Compare a search with a filter alone, by nested cross-validation, against overfitting.

A search sees thousands of subsets, a filter a dozen: with few or noisy samples the filter can be better on new ones. No
score of the search itself shows that, but searches repeated in parts of the samples do, scored on the other samples.
"""

from copy import copy
from functools import partial
from typing import TYPE_CHECKING
from warnings import catch_warnings

import numpy as np

from pqswarm._base.random import derived_seed
from pqswarm._base.typing import BoolArray
from pqswarm.evaluation import Splits
from pqswarm.evaluation.tables import as_numbers
from pqswarm.selector.prefiltering import filtered_errors, rank_by_filter
from pqswarm.selector.rescoring import plain_partition

if TYPE_CHECKING:
    from pqswarm.selector.selection import SubsetSelection
    from pqswarm.selector.swarm_selector import SwarmSelector

_PARTS = 5  # nested searches
_DIVISOR = 10  # of the evaluations, for each nested search
_FEWEST = 3000  # evaluations of a search that is checked
_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500)  # features of the filter


def find_better_filter(selection: "SubsetSelection") -> tuple[BoolArray | None, str]:
    """Return the first features of a filter and a sentence if they are better than what searches find, else None.

    They are if their error over the parts is lower by more than two standard errors. Nothing is compared if the filter
    cannot rank the data, or the search had constraints or few evaluations or was stopped before its end.
    """
    task = selection.task
    data = selection.data
    constrained = task.subset_size is not None or bool(selection.selector.constraints)
    if selection.run.n_evaluations < _FEWEST or constrained or hasattr(data.X, "toarray"):
        return None, ""
    partition = partial(plain_partition, selection.selector.cv, classifies=task.classifies)
    splits = partition(data.y, _PARTS, derived_seed(task.seed, (2**31 + 3,)))
    numbers = as_numbers(data.X)
    if splits is None or numbers is None:
        return None, ""
    searched = []
    for number, (train, test) in enumerate(splits.split()):
        part = data.take(train)
        seed = derived_seed(task.seed, (2**31 + 4, number))
        short = _short_selector(selection)
        short.cv = partition(part.y, task.splits.n_folds, seed)
        with catch_warnings(action="ignore"):  # the search on all samples has warned
            nested = selection.repeat(short, part, seed)
        if nested is None:
            return None, ""
        columns = np.flatnonzero(nested.chosen.support)
        evaluator = task.choose(columns, Splits([(train, test)], len(data.y))).evaluator
        searched.append(float(evaluator.errors(np.ones((1, columns.size), dtype=np.bool_))[0]))
    rank = partial(rank_by_filter, "anova", continuous=not task.classifies)
    sizes = sorted({min(size, numbers.shape[1]) for size in _SIZES})
    with catch_warnings(action="ignore"):
        errors = filtered_errors(rank, task.choose, numbers, data.y, splits, sizes)
    means = np.nan_to_num(errors.mean(axis=0), nan=np.inf)
    best = int(means.argmin())
    gains = np.array(searched) - errors[:, best]
    scores = f"({task.score(means[best]):.3g} vs. {task.score(float(np.mean(searched))):.3g})"
    if not gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(gains.size):  # also of NaN
        features = f"{sizes[best]} features by ANOVA F"
        return None, (f" A filter ({features}) did not score significantly higher in nested cross-validation {scores}.")
    mask = np.zeros(numbers.shape[1], dtype=np.bool_)
    mask[rank(numbers, data.y)[: sizes[best]]] = True
    return mask, (
        f"The first {sizes[best]} features by ANOVA F, which scored significantly higher than searches in nested "
        f"cross-validation {scores}."
    )


def _short_selector(selection: "SubsetSelection") -> "SwarmSelector":
    """The options of a nested search."""
    short = copy(selection.selector)
    short.selection_rule = "best"
    short.callbacks = None
    short.max_evaluations = selection.run.n_evaluations // _DIVISOR
    if selection.task.prefilter is not None and short.prefilter == "auto":
        short.prefilter = int(selection.task.groups.used.sum())  # deciding it again would take most of the time
    return short
