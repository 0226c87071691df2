"""The plan of a selection: its searches, with the partition, features, budget and seed of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pqswarm._base.random import derived_seed
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import CachedEvaluator, FeatureGroups, GenericEvaluator
from pqswarm.search import Run
from pqswarm.selector.task import SelectionTask

MOST = 20
"""Number of subsets that are kept."""
_ENOUGH = 300  # evaluations of a search with an exact evaluator, at least
_DETOURS = 4  # times the evaluations that a sequential search needs at least to reach a size


class BestSubsets:
    """The best subsets that were evaluated, as bits of the search: by error, then size, then bits.

    The lowest of thousands of errors is partly luck, which other partitions of the same samples do not repeat.
    """

    def __init__(self, n_bits: int, size: int | None) -> None:
        self.masks: BoolArray = np.zeros((0, n_bits), dtype=np.bool_)
        self.errors: FloatArray = np.empty(0)
        self._size = size

    def add(self, masks: BoolArray, errors: FloatArray) -> None:
        """Consider evaluated subsets; the order does not matter."""
        sizes = masks.sum(axis=1)
        good = (sizes > 0 if self._size is None else sizes == self._size) & ~np.isnan(errors)
        if len(self.errors) == MOST:
            good &= errors <= self.errors[-1]
        if not good.any():
            return
        masks = np.vstack([self.masks, masks[good]])
        errors = np.append(self.errors, errors[good])
        kept, first = np.unique(masks, axis=0, return_index=True)
        order = np.lexsort((kept.sum(axis=1), errors[first]))[:MOST]  # stable: of equals the first bits
        self.masks = kept[order]
        self.errors = errors[first[order]]

    def state(self) -> dict[str, AnyArray]:
        """Return the subsets and their errors as arrays."""
        return {"masks": self.masks, "errors": self.errors}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Resume from a :meth:`state`, which is not trusted."""
        masks = np.asarray(state.get("masks", False))
        errors = np.asarray(state.get("errors", np.nan))
        shapes = ((errors.size, self.masks.shape[1]), (errors.size,))
        if (masks.shape, errors.shape) != shapes or masks.dtype != np.bool_ or errors.dtype.kind != "f":
            raise PqswarmError("the state is not that of a selection of these features.")
        self.add(masks, errors)


@dataclass(eq=False)
class PlannedSearch:
    """A search: its run, whose bits `groups` states, the evaluator of its partition, and the best subsets so far."""

    number: int
    groups: FeatureGroups
    run: Run
    evaluator: CachedEvaluator
    best: BestSubsets

    @property
    def found(self) -> bool:
        """Whether a subset was evaluated."""
        return bool(self.run.best.any())


class SearchPlan:
    """Several searches share the evaluations of a task.

    Each search has a partition of its own, if the cross-validation allows it, and a seed of its own. With a limit on
    the features of all subsets together, half of the searches are a second phase, inside a pool of features. There are
    fewer searches if the evaluations do not suffice: each needs `least` to find anything, and more for good subsets.
    """

    def __init__(self, task: SelectionTask) -> None:
        self._task = task
        minimum = task.search(task.groups.n_bits, 0, task.parameters).min_evaluations
        self.least = 1 if minimum == 1 else _DETOURS * minimum
        least = self.least if isinstance(task.choice.evaluator, GenericEvaluator) else max(self.least, _ENOUGH)
        self.n_phases = 2 if task.limit is not None and task.max_evaluations >= 2 * least else 1
        self.n_searches = max(1, min(task.n_subsets, task.max_evaluations // (self.n_phases * least)))

    def first_searches(self) -> list[PlannedSearch]:
        """Return the searches among all features of the task."""
        return [self._search(number, self._task.groups, self._task.parameters) for number in range(self.n_searches)]

    def searches_in_pool(self, pool: BoolArray) -> list[PlannedSearch]:
        """Return the searches among the features of a pool; a size that leaves no choice there is left out."""
        task = self._task
        groups = task.groups.keep(pool)
        parameters = dict(task.parameters)
        if (parameters.get("size") or 0) >= groups.n_bits:
            del parameters["size"]
        if parameters.get("order"):
            kept = np.unique(task.groups.owner[groups.owner < groups.n_bits]).tolist()
            parameters["order"] = tuple(kept.index(bit) for bit in parameters["order"] if bit in kept)
        return [self._search(number, groups, parameters) for number in range(self.n_searches, 2 * self.n_searches)]

    def _search(self, number: int, groups: FeatureGroups, parameters: dict[str, Any]) -> PlannedSearch:
        task = self._task
        count = self.n_phases * self.n_searches
        budget = task.max_evaluations * (number + 1) // count - task.max_evaluations * number // count
        evaluator = task.evaluator(groups, number)
        search = task.search(groups.n_bits, derived_seed(task.seed, (number,)), parameters)
        best = BestSubsets(groups.n_bits, parameters.get("size"))
        return PlannedSearch(number, groups, Run(search, budget, evaluator.blocks), CachedEvaluator(evaluator), best)
