"""MERIT: our own search, in which a model of the subsets seen selects the candidates worth an evaluation."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from pqswarm._base.options import option, parameters
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.search.base import SearchParameters
from pqswarm.search.distinct import DistinctSearch
from pqswarm.search.umda import frequencies

_START = 60  # subsets of an initial batch, of which there are two
_LIKELY = 24  # elites whose frequencies count
_SHRINKAGE, _STEPS = 0.02, 4  # of the model: ridge in units of a feature's mean variance; steps of a fit
_NOISE = 0.3  # of a prediction, in standard deviations of the residuals
_LOST = (0.4, 0.8)  # fraction of an elite's features that a founder of an epoch loses
_PICKS = 10  # uniform numbers per candidate, beside those of features


@parameters
class MeritParameters(SearchParameters):
    """Parameters of MERIT."""

    start_size: int = option("mean number of features of an initial subset, at most a fifth of all", default=20, low=1)
    batch: int = option("subsets requested at once", default=30, low=1, high=10_000)
    candidates: int = option("subsets from which the model selects a batch", default=120, low=4, high=100_000)
    elites: int = option("best subsets, from which candidates are derived", default=40, low=2, high=10_000)
    memory: int = option("number of the best and of the last subsets that the model learns from", default=450, low=10)
    patience: int = option("evaluations without improvement after which an epoch ends", default=180, low=1)
    unranked: float = option("fraction of a batch drawn from the candidates at random", default=0.2, low=0, high=1)
    parsimony: float = option(
        "price of as many features as an elite has, in standard deviations of the predictions",
        default=1.0,
        low=0,
        high=100,
    )
    order: tuple[int, ...] = option(
        "indices of the features, best first, for a warm start; empty for none", default=(), low=0
    )


class Merit(DistinctSearch):
    """Derive many candidates from the best subsets, and evaluate those that a model of all subsets seen prefers.

    The model is a ridge regression of the error on the features, fitted to the best and the last subsets, in which
    good subsets weigh more. A batch is selected from candidates of four kinds: drawn by the feature frequencies of the
    elites (as in :class:`UMDA`); crossed from two elites; a few random steps from an elite; and a few steps that are
    best by slopes drawn from their distribution (Thompson sampling). A step adds, drops or exchanges a feature. Most of
    the batch are the candidates with the lowest prediction, including a price on size; the others are drawn at random.
    If nothing improves for long, an epoch starts with elites that lost some of their features, and without the old
    ones; the next epoch continues with the best of all. The model learns from every epoch. No subset is requested
    twice. The combination is ours, its parts are not.

    References
    ----------
    R. Baptista, M. Poloczek, "Bayesian optimization of combinatorial structures", International Conference on Machine
    Learning (2018): Thompson sampling of a regression on bits.

    Y. Jin, "Surrogate-assisted evolutionary computation: recent advances and future challenges", Swarm and Evolutionary
    Computation 1 (2011).
    """

    name = "merit"
    title = "MERIT"
    Parameters: ClassVar[type[SearchParameters]] = MeritParameters
    parameters: MeritParameters
    state_fields: ClassVar[tuple[str, ...]] = (*DistinctSearch.state_fields, "slopes", "epoch")

    def _start(self) -> None:
        super()._start()
        p, n = self.parameters, self.n_features
        if p.order and sorted(p.order) != list(range(n)):
            raise PqswarmError(f"order of MeritParameters must hold each of the {n} features once, or none.")
        self.slopes: FloatArray = np.zeros(n)
        self.epoch: IntArray = np.zeros(2, dtype=np.int64)  # subsets before it, and up to its last improvement
        self._forget()

    def _forget(self) -> None:
        """Empty what follows from the subsets seen."""
        self._places: AnyArray = np.empty(0, dtype=np.uint32)  # the features of all subsets
        self._ends: IntArray = np.zeros(1, dtype=np.int64)
        self._best: IntArray = np.empty(0, dtype=np.int64)  # indices of the best subsets, and of those of the epoch
        self._leaders: IntArray = np.empty(0, dtype=np.int64)
        self._elites: BoolArray = np.zeros((0, self.n_features), dtype=np.bool_)  # the subsets of the latter
        self._count = 0

    def _next(self) -> BoolArray:
        p, n = self.parameters, self.n_features
        if self._count < 2 * _START:
            return self._make_distinct(self.rng.random((_START, n)) < self._first_frequencies())
        if self._count - self.epoch[1] >= p.patience:
            fresh = not self.epoch[0]
            self.epoch[:] = self._count if fresh else 0, self._count
            if fresh:
                return self._found_epoch()
            self._leaders = self._best[: p.elites].copy()
            self._elites = self._masks(self._leaders)
        return self._select_candidates()

    def _found_epoch(self) -> BoolArray:
        """The first subsets of an epoch: elites without some of their features."""
        shape = (self.parameters.batch, self.n_features)
        parent, lost = self.rng.random((2, shape[0], 1))
        draws = self.rng.random(shape)
        masks = self._elites[(parent[:, 0] * len(self._elites)).astype(np.int64)]
        self._leaders, self._elites = self._leaders[:0].copy(), self._elites[:0].copy()
        lost = _LOST[0] + (_LOST[1] - _LOST[0]) * lost
        return self._make_distinct(np.where(masks, draws >= lost, draws < 1.0 / shape[1]))

    def _select_candidates(self) -> BoolArray:
        """A batch of candidates, most of them those with the lowest prediction."""
        from pqswarm.search._merit_kernels import breed_candidates, fit_slopes, predict_errors

        p, n = self.parameters, self.n_features
        last = max(0, self._count - p.memory)
        rows = np.concatenate([self._best[self._best < last], np.arange(last, self._count)])
        errors = self.seen.errors
        noise, spread = fit_slopes(self._places, self._ends, rows, errors, self.slopes, _SHRINKAGE, _STEPS)
        likely, quarter = frequencies(self._elites[:_LIKELY]), -(-p.candidates // 4)
        draws, picks = self.rng.random((quarter, n)), self.rng.random((4 * quarter, _PICKS))
        masks = self._resize(breed_candidates(self._elites, likely, self.slopes, spread, draws, picks))
        predicted, sizes = predict_errors(masks, self.slopes)
        new = np.flatnonzero(self.seen.is_new(masks) & (sizes > 0))
        if new.size < p.batch:
            more = np.concatenate([masks[new], self._make_distinct(self.rng.random((p.batch, n)) < likely)])
            return np.asarray(more[self.seen.is_new(more)][: p.batch])
        predicted, sizes, picks = predicted[new], sizes[new], picks[new]
        usual = self._elites.sum() / len(self._elites)
        predicted += p.parsimony * predicted.std() * sizes / usual
        predicted += _NOISE * noise * np.sqrt(6.0) * (picks[:, 8] + picks[:, 9] - 1.0)
        order = np.argsort(predicted, kind="stable")
        ranked = p.batch - round(p.unranked * p.batch)
        others = order[ranked:]
        others = others[np.argsort(picks[others, 7], kind="stable")]
        return np.asarray(masks[new[np.concatenate([order[:ranked], others[: p.batch - ranked]])]])

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        super()._learn(masks, errors)
        before = self._count
        self._note(masks)
        if self._leaders[0] >= before:
            self.epoch[1] = self._count

    def _note(self, masks: BoolArray) -> None:
        """Note the features of new subsets, and which are among the best."""
        p, features = self.parameters, np.nonzero(masks)[1]
        first, end, count = self._ends[self._count], self._ends[self._count] + features.size, self._count + len(masks)
        if end > self._places.size:  # double the capacity: amortised constant time
            self._places = np.concatenate([self._places[:first], np.empty(2 * end, dtype=np.uint32)])
        if count >= self._ends.size:
            self._ends = np.concatenate([self._ends, np.empty(count, dtype=np.int64)])
        self._places[first:end] = features
        self._ends[self._count + 1 : count + 1] = first + np.cumsum(masks.sum(axis=1))
        new, self._count = np.arange(self._count, count), count
        self._best = np.concatenate([self._best, new])
        self._best = self._best[self._order(self._best)[: max(p.memory, p.elites)]]
        current = new >= self.epoch[0]
        self._leaders = np.concatenate([self._leaders, new[current]])
        order = self._order(self._leaders)[: p.elites]
        self._leaders, self._elites = self._leaders[order], np.concatenate([self._elites, masks[current]])[order]

    def _order(self, rows: IntArray) -> IntArray:
        """The order of these subsets by error, of equals the smaller first, then the earlier."""
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
        self._forget()
        for start in range(0, len(self.seen), 256):
            self._note(self._masks(slice(start, start + 256)))
