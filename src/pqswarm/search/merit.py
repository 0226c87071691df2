"""MERIT: our own search, in which a model of the subsets seen selects the draws worth an evaluation."""

from collections.abc import Mapping

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.search.base import SearchParameters
from pqswarm.search.distinct import DistinctSearch
from pqswarm.search.umda import feature_frequencies

_ELITES = 20  # best subsets that never leave the population
_BEST_FRACTION = 0.3  # of the population, that is learned from
_MEMORY = 450  # number of the best and of the last subsets that the model learns from
_SHRINKAGE = 25.0  # subsets that the penalty of the model is worth
_NOISE = 0.3  # of a prediction, in standard deviations of the residuals
_PASSED = 0.9  # fraction of the best of the population that would pass the limits of a race
_EXTRAPOLATED = 1.5  # difference in all folds for one in the tested folds, of a dropped subset
_STALLED = 240  # subsets without improvement before the elites are changed instead of drawing by frequencies
_IDLE = 600  # subsets without improvement before a new start, at least
_PATIENCE = 0.7  # subsets without improvement before a new start, per subset before them


class MeritParameters(SearchParameters):
    """Parameters of MERIT."""

    start_size: int = parameter(
        "mean number of features of an initial subset, at most a fifth of all", default=20, low=1
    )
    initial: int = parameter(
        "random subsets at the start; a later population starts with one batch", default=200, low=1
    )
    batch: int = parameter("subsets requested at once", default=40, low=2, high=10_000)
    candidates: int = parameter("subsets drawn, from which the model selects a batch", default=300, low=2, high=100_000)
    population: int = parameter("subsets that the frequencies are learned from, at first", default=60, low=2)
    growth: float = parameter("subsets added to the population for each subset seen", default=0.05, low=0)
    thinning: float = parameter(
        "fraction by which features are drawn less often than the best subsets contain them",
        default=0.05,
        low=0,
        high=0.9,
    )
    unranked: float = parameter("fraction of a batch drawn from the candidates at random", default=0.2, low=0, high=1)
    order: tuple[int, ...] = parameter(
        "indices of the features, best first, for a warm start; empty for none", default=(), low=0
    )


class Merit(DistinctSearch):
    """Draw many subsets by the feature frequencies of the best, and evaluate those that a model of the error prefers.

    Features are drawn by their frequency in the best 30 % of a population, slightly less often, so that those of no use
    disappear. The population holds the latest subsets, and the best ones so far. It starts with random subsets and
    grows with their number, so that the search is fast at first and converges late. Of the draws, those with the lowest
    prediction of a ridge regression of the error on the features are evaluated, and some others at random. The
    regression is fitted to the best and the last subsets, in which good ones weigh more. No subset is requested twice.
    Where the evaluator can test subsets in part of the folds, as that of a fitted estimator can, those clearly behind
    the best of the population there are dropped, and evaluations are counted in folds. When nothing better is found,
    subsets that differ from the best ones in one to three features replace the draws; when that does not help either, a
    new population is started. The model keeps what it knows. The combination is ours, its parts are not.

    References
    ----------
    H. Muehlenbein, G. Paass, "From recombination of genes to the estimation of distributions I. Binary parameters",
    Parallel Problem Solving from Nature (1996).

    Y. Jin, "Surrogate-assisted evolutionary computation: recent advances and future challenges", Swarm and Evolutionary
    Computation 1 (2011).
    """

    name = "merit"
    title = "MERIT"
    Parameters = MeritParameters
    parameters: MeritParameters
    races = True
    state_fields = (*DistinctSearch.state_fields, "parts", "slopes", "epoch")
    growing_fields = (*DistinctSearch.growing_fields, "parts")

    def _start(self) -> None:
        super()._start()
        p, n = self.parameters, self.n_features
        if p.order and sorted(p.order) != list(range(n)):
            raise PqswarmError(f"order must hold each of the {n} features once, or none.")
        self.slopes: FloatArray = np.zeros(n)
        self.parts: FloatArray = np.empty((0, 3))  # of the errors, by block of folds: infinity if not tested
        self.epoch: IntArray = np.zeros(2, dtype=np.int64)  # subsets before this population, and up to its best
        self._forget()

    def _forget(self) -> None:
        """Empty what follows from the subsets seen."""
        self._places: AnyArray = np.empty(0, dtype=np.uint32)  # the features of all subsets
        self._ends: IntArray = np.zeros(1, dtype=np.int64)
        self._best: IntArray = np.empty(0, dtype=np.int64)  # indices of the best subsets
        self._elites: IntArray = np.empty(0, dtype=np.int64)  # those of this population
        self._count = 0
        self._leaders: IntArray | None = None  # indices of the best of the population

    def _next(self) -> BoolArray:
        p, n = self.parameters, self.n_features
        begin, improved = self.epoch.tolist()
        random = self._count < p.initial
        if not random and self._count - improved > max(_IDLE, _PATIENCE * (improved - begin)):
            self.epoch[:] = begin = improved = self._count
            self._elites = self._elites[:0]
            self._leaders = None
        if random or self._count == begin:
            return self._make_distinct(self.rng.random((p.batch, n)) < self._first_frequencies())
        noise = self._fit_model()
        likely = (1.0 - p.thinning) * feature_frequencies(self._masks(self._best_of_population()))
        count = max(p.candidates, p.batch)
        if self._elites.size and self._count - improved > _STALLED:
            masks = self._changed_elites(count, likely)
        else:
            masks = self._resize(self.rng.random((count, n)) < likely)
        picks = self.rng.random((count, 3))
        spread = _NOISE * noise * np.sqrt(6.0)
        predicted = np.cumsum(masks * self.slopes, axis=1)[:, -1] + spread * (picks[:, 0] + picks[:, 1] - 1)
        order = np.argsort(predicted, kind="stable")
        best, rest = self._first_new(masks, order[:0], order, p.batch - round(p.unranked * p.batch))
        chosen, _ = self._first_new(masks, best, rest[np.argsort(picks[rest, 2], kind="stable")], p.batch)
        batch = masks[chosen]
        if len(batch) < p.batch:  # too few of the draws are new
            more = self._make_distinct(self.rng.random((p.batch, n)) < likely)
            every = np.concatenate([batch, more])
            batch = np.asarray(every[self.seen.is_new(every)][: p.batch])
        return batch

    def _fit_model(self) -> float:
        """Fit the slopes to the best and the last subsets; return the standard deviation of the residuals."""
        from pqswarm.search._kernels import fit_merit_slopes

        last = max(0, self._count - _MEMORY)
        rows = np.concatenate([self._best[self._best < last], np.arange(last, self._count)])
        errors = self.seen.errors[rows]
        finite = errors[errors < np.inf]
        low, worst = (errors.min(), finite.max()) if finite.size else (0.0, 0.0)
        above = np.minimum(errors, worst) - low
        mean = _sum_in_order(above / rows.size)
        half = 0.5 * np.sqrt(_sum_in_order((above - mean) * (above - mean) / rows.size)) + 1e-12
        weights = half / (half + above)  # good subsets weigh more
        total = _sum_in_order(weights)
        gains = above - _sum_in_order(weights * above) / total
        scratch = np.zeros((5, self.n_features))
        squares = fit_merit_slopes(self._places, self._ends, rows, weights, gains, self.slopes, _SHRINKAGE, scratch)
        return float(np.sqrt(squares / total))

    def _first_new(self, masks: BoolArray, found: IntArray, order: IntArray, count: int) -> tuple[IntArray, IntArray]:
        """Up to `count` new subsets, those found and the first in an order, and the others; few are looked at."""
        start = 0
        step = 2 * (count - found.size)
        while found.size < count and start < order.size:
            looked = np.concatenate([found, order[start : start + step]])
            start += step
            found = looked[self.seen.is_new(masks[looked]) & masks[looked].any(axis=1)]
        return found[:count], np.concatenate([found[count:], order[start:]])

    def _changed_elites(self, count: int, likely: FloatArray) -> BoolArray:
        """Subsets that differ from an elite by one to three added, dropped or exchanged features."""
        from pqswarm.search._kernels import change_merit_elites

        kinds, draws = self.rng.random((count, 5)), self.rng.random((count, self.n_features))
        masks = self._masks(self._elites)[(kinds[:, 4] * self._elites.size).astype(np.int64)]
        change_merit_elites(masks, kinds, draws, 1.1 - likely, likely + 2.0 / self.n_features, self.size is not None)
        return masks

    def _best_of_population(self) -> IntArray:
        """Indices of the best of the latest subsets and of the elites."""
        if self._leaders is None:
            begin = int(self.epoch[0])
            size = self.parameters.population + int(self.parameters.growth * (self._count - begin))
            first = max(begin, self._count - size)
            rows = np.concatenate([self._elites[self._elites < first], np.arange(first, self._count)])
            self._leaders = rows[self._order(rows)[: max(2, round(_BEST_FRACTION * size))]]
        return self._leaders

    def race_limits(self) -> tuple[int, FloatArray]:
        """Return the first block of folds, another for each batch, and what most of the best of the population have."""
        first = len(self.seen) // self.parameters.batch % 3
        known = self.parts[self._tested_best()] if self._count else self.parts
        if len(known) < 4:
            return first, np.full(2, np.inf)
        sums = np.sort(np.cumsum(known[:, [first, (first + 1) % 3]], axis=1), axis=0)
        return first, sums[min(len(sums) - 1, int(_PASSED * len(sums)))]

    def _tested_best(self) -> IntArray:
        """Indices of the best of the population that were raced and tested in all folds."""
        best = self._best_of_population()
        return best[np.isfinite(self.parts[best]).all(axis=1)]

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        parts = np.full((len(masks), 3), np.inf)
        if errors.ndim == 2:
            parts = np.where(np.isnan(errors[:, :3]), np.inf, errors[:, :3])
            errors = self._estimated(parts, errors[:, 3])
        super()._learn(masks, errors)
        self.parts = np.concatenate([self.parts, parts])
        before = self.seen.errors[self._elites[:1]].min(initial=np.inf)
        self._note(masks)
        if self.seen.errors[self._elites[:1]].min(initial=np.inf) < before:
            self.epoch[1] = self._count

    def _estimated(self, parts: FloatArray, errors: FloatArray) -> FloatArray:
        """The errors; of a dropped subset what the best of the population have, and more for its tested blocks."""
        dropped = np.isnan(errors)
        if not dropped.any():
            return errors
        best = self._tested_best()
        level = self.parts[best].mean(axis=0)
        worst = self.seen.errors[best].max()
        guess = level.sum() + _EXTRAPOLATED * np.where(np.isfinite(parts), parts - level, 0.0).sum(axis=1)
        return np.where(dropped, np.maximum(guess, np.nextafter(worst, np.inf)), errors)

    def _note(self, masks: BoolArray) -> None:
        """Note the features of new subsets, and which are among the best."""
        features = np.nonzero(masks)[1]
        first = self._ends[self._count]
        end = self._ends[self._count] + features.size
        count = self._count + len(masks)
        if end > self._places.size:  # double the capacity: amortized constant time
            self._places = np.concatenate([self._places[:first], np.empty(2 * end, dtype=np.uint32)])
        if count >= self._ends.size:
            self._ends = np.concatenate([self._ends, np.empty(count, dtype=np.int64)])
        self._places[first:end] = features
        self._ends[self._count + 1 : count + 1] = first + np.cumsum(masks.sum(axis=1))
        new = np.arange(max(self._count, int(self.epoch[0])), count)
        tested = np.isfinite(self.parts[new]).sum(axis=1)
        whole = (tested == 0) | (tested == 3)
        elites = np.concatenate([self._elites, new[whole]])
        self._elites = elites[self._order(elites)[:_ELITES]]
        self._best = np.concatenate([self._best, np.arange(self._count, count)])
        self._best = self._best[self._order(self._best)[:_MEMORY]]
        self._count = count
        self._leaders = None

    def _order(self, rows: IntArray) -> IntArray:
        """The order of these subsets by error, then by size, then by age."""
        return np.lexsort((self._ends[rows + 1] - self._ends[rows], self.seen.errors[rows]))

    def _masks(self, rows: IntArray | slice) -> BoolArray:
        """Subsets seen."""
        return np.unpackbits(self.seen.packed[rows], axis=1, count=self.n_features).astype(np.bool_)

    def _first_frequencies(self) -> FloatArray:
        """Initial frequencies of the features: uniform, or by their order."""
        p, n = self.parameters, self.n_features
        size = max(1.0, min(p.start_size, n / 5))
        if not p.order:
            return np.full(n, min(size / n, 0.5))
        weights = 1.0 / (np.argsort(p.order) + size)
        return np.asarray(np.minimum(weights * size / weights.sum(), 0.5))

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Resume from a :meth:`state` of a search with the same features and parameters."""
        super().restore(state)
        if len(self.parts) != len(self.seen) or not 0 <= self.epoch[0] <= self.epoch[1] <= len(self.seen):
            raise PqswarmError(f"the state is not of {self.name}: its parts and epoch do not fit the subsets seen.")
        self._forget()
        for start in range(0, len(self.seen), 256):
            self._note(self._masks(slice(start, start + 256)))


def _sum_in_order(numbers: FloatArray) -> float:
    """The sum from the first to the last, the same on every processor."""
    return float(np.cumsum(numbers)[-1])
