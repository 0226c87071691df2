"""MOSAIC: our own search, which learns the value of features and combines the best subsets."""

from collections.abc import Mapping
from decimal import Context, Decimal
from functools import cache
from typing import ClassVar

import numpy as np

from pqswarm._base.options import option, parameters
from pqswarm._base.random import stream
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.search.base import SearchParameters
from pqswarm.search.distinct import DistinctSearch, move
from pqswarm.search.umda import frequencies

_POPULATION, _BEST, _KEPT = 60, 18, 10  # subsets drawn by frequencies: per batch, learned from, kept
_LOW, _NEAR, _SINGLE = 8, 12, 60  # per line: features to drop and to add in exchanges; single drops or additions
_RATE, _MEMORY = 0.4, 0.02  # learning rates of the gains, and of their scale
_UNKNOWN = -np.inf  # the error of a subset that was not requested yet
_EXACT = Context(prec=30)  # digits of powers before rounding
_NOISE = 0.5  # of the gains when moves are ordered, in units of their mean error


@parameters
class MosaicParameters(SearchParameters):
    """Parameters of MOSAIC."""

    start_size: int = option(
        "mean number of features of an initial subset, at most an eighth of all", default=12, low=1
    )
    learning: int = option(
        "subsets drawn by frequencies before lines start; at most six per feature", default=600, low=1
    )
    lines: int = option("subsets improved in parallel", default=6, low=1, high=10_000)
    moves: int = option("neighbours of each line per batch", default=4, low=1, high=10_000)
    patience: int = option("consecutive neighbours without improvement after which a line ends", default=50, low=1)
    elites: int = option("best end points of lines, from which new lines start", default=12, low=2, high=10_000)
    parsimony: float = option(
        "value of small subsets: lines minimise the error times the size to this power", default=0.15, low=0, high=10
    )
    order: tuple[int, ...] = option(
        "indices of the features, best first, for a warm start; empty for none", default=(), low=0
    )


class Mosaic(DistinctSearch):
    """Learn the feature frequencies of the best subsets, then improve several subsets and recombine them.

    First, small subsets are drawn with the feature frequencies of the best so far (as in :class:`UMDA`). Then several
    lines start from the best. A line asks for neighbours of its subset, with one feature added, dropped or exchanged,
    in the order of their estimated gains plus some noise; neighbours of one batch differ in different features. It
    moves to a better neighbour, and ends after many without improvement. The best end points are kept. A new line
    starts from one of them with some features dropped, or from two: their common features and the best of the others.
    No subset is requested twice. The combination is ours, its parts are not.

    References
    ----------
    P. Moscato, "On evolution, search, optimization, genetic algorithms and martial arts: towards memetic algorithms",
    Caltech Concurrent Computation Program report 826 (1989).
    """

    name = "mosaic"
    title = "MOSAIC"
    Parameters: ClassVar[type[SearchParameters]] = MosaicParameters
    parameters: MosaicParameters
    growing_fields: ClassVar[tuple[str, ...]] = (
        *DistinctSearch.state_fields,
        *("population", "population_errors", "owners"),
        *("waiting", "waiting_errors", "elites", "elite_errors"),
    )
    state_fields: ClassVar[tuple[str, ...]] = (
        *growing_fields,
        *("gains", "tries", "scale", "line_masks", "line_errors", "line_failures", "hints"),
    )

    def _start(self) -> None:
        super()._start()
        p, n = self.parameters, self.n_features
        if p.order and sorted(p.order) != list(range(n)):
            raise PqswarmError(f"order of MosaicParameters must hold each of the {n} features once, or none.")
        nothing = np.zeros((0, n), dtype=np.bool_)
        self.population, self.population_errors = nothing, np.empty(0)  # drawn by frequencies, best first
        self.gains, self.tries, self.scale = (
            np.zeros(n),
            np.zeros(n),
            np.array(0.0),
        )  # the latter: mean error of the gains
        self._codes: IntArray = stream(0, ()).integers(
            1, 2**63 - 1, n
        )  # per feature; the code of a subset is their xor
        self._asked = {0}  # codes of the known subsets and of the empty one
        self.waiting, self.waiting_errors = nothing.copy(), np.empty(0)  # starts of future lines
        self.elites, self.elite_errors = nothing.copy(), np.empty(0)  # the best first
        self.line_masks: BoolArray = np.zeros((p.lines, n), dtype=np.bool_)
        self.line_errors: FloatArray = np.full(p.lines, _UNKNOWN)
        self.line_failures: IntArray = np.full(p.lines, -1)  # -1: no line yet
        self.hints: BoolArray = np.zeros((p.lines, n), dtype=np.bool_)  # two good moves combined; empty: none
        self.owners: IntArray = np.empty(0, dtype=np.int64)  # the line of each requested subset; empty while learning

    def _next(self) -> BoolArray:
        p, n = self.parameters, self.n_features
        if len(self.seen) < min(p.learning, 6 * n):
            self.owners = self.owners[:0].copy()
            likely = frequencies(self.population[:_BEST]) if len(self.population) else self._first_frequencies()
            return self._make_distinct(self.rng.random((_POPULATION, n)) < likely)
        if not self.owners.size:
            self._learn_first_gains()
        return self._ask_neighbours()

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        super()._learn(masks, errors)
        self._asked.update(self._code(masks).tolist())
        if self.owners.size:
            self._advance_lines(masks, errors)
            return
        known = np.concatenate([self.population[:_KEPT], masks])
        values = np.concatenate([self.population_errors[:_KEPT], errors])
        order = np.lexsort((known.sum(axis=1), values))
        self.population, self.population_errors = known[order], values[order]

    def _cost(self, masks: BoolArray, errors: FloatArray) -> FloatArray:
        """The objective: the error, higher for more features."""
        sizes, exponents = np.broadcast_arrays(
            np.maximum(masks.sum(axis=-1), 1), self.parameters.parsimony * np.sign(errors)
        )
        powers = [_mosaic_power(*pair) for pair in zip(sizes.ravel().tolist(), exponents.ravel().tolist(), strict=True)]
        return np.asarray(errors * np.reshape(powers, sizes.shape))

    # Learning frequencies

    def _first_frequencies(self) -> FloatArray:
        """Initial frequencies of the features: uniform, or by their order."""
        p, n = self.parameters, self.n_features
        size = max(1.0, min(p.start_size, n / 8))
        if not p.order:
            return np.full(n, size / n)
        weights = 1.0 / (np.argsort(p.order) + size)
        return np.asarray(np.minimum(weights * size / weights.sum(), 0.5))

    def _learn_first_gains(self) -> None:
        """Start with the mean difference of subsets without and with a feature, and queue the best for lines."""
        masks, errors = self.population, self.population_errors
        count, total = masks.sum(axis=0), len(masks)
        fewer = np.minimum(count, total - count)
        if np.isfinite(errors).all():
            held = errors @ masks
            difference = (errors.sum() - held) / np.maximum(total - count, 1) - held / np.maximum(count, 1)
            self.gains = np.where(fewer > 0, difference * 0.5 * fewer / (fewer + 5.0), 0.0)
        self.waiting = masks[: self.parameters.elites].copy()
        self.waiting_errors = self.population_errors[: self.parameters.elites].copy()

    # Improving lines

    def _ask_neighbours(self) -> BoolArray:
        """The next neighbours of all lines, and the first subsets of new lines."""
        p = self.parameters
        for line in np.flatnonzero(self._have_ended()).tolist():
            self._renew(line)
        begun = self.line_errors != _UNKNOWN
        fresh, lines = np.flatnonzero(~begun), np.flatnonzero(begun)
        if fresh.size:
            found = self._make_distinct(self.line_masks[fresh])
            fresh = fresh[: len(found)]
            self.line_masks[fresh] = found
        noise = _NOISE * self.scale * _mosaic_noise(self.rng.random((2, p.lines, self.n_features)))
        beliefs = self.gains + noise / np.sqrt(1.0 + 0.2 * self.tries)
        moves = -(-(p.lines * p.moves - fresh.size) // max(1, lines.size))  # new lines request one subset
        neighbours, owners = self._neighbours(lines, beliefs[lines], moves)
        hinted = np.flatnonzero(begun & self.hints.any(axis=1))
        masks = np.concatenate([self.line_masks[fresh], self.hints[hinted], neighbours])
        owners = np.concatenate([fresh, hinted, owners])
        new = self.seen.is_new(masks)
        masks, self.owners = masks[new], owners[new]
        alone = begun & (np.bincount(self.owners, minlength=p.lines) == 0)  # no new neighbours
        self.line_failures[alone] = p.patience
        if not len(masks):
            masks = self._make_distinct(self.line_masks)
            self.owners = np.full(len(masks), -1)
        return masks

    def _neighbours(self, lines: IntArray, beliefs: FloatArray, moves: int) -> tuple[BoolArray, IntArray]:
        """The most promising new neighbours of the lines, at most `moves` each, and their lines."""
        n, here = self.n_features, self.line_masks[lines]
        if not lines.size:  # all lines are new
            return here, lines
        less, out = _smallest_in_mosaic(np.where(here, beliefs, np.inf), _LOW)
        more, into = _smallest_in_mosaic(np.where(here, np.inf, -beliefs), _NEAR)
        worse = (less[:, :, np.newaxis] + more[:, np.newaxis, :]).reshape(len(lines), -1)
        one, other = np.repeat(out, into.shape[1], axis=1), np.tile(into, out.shape[1])
        if self.size is None:
            several = here.sum(axis=1, keepdims=True) > 1
            single, alone = _smallest_in_mosaic(np.where(here, np.where(several, beliefs, np.inf), -beliefs), _SINGLE)
            nothing = np.full(alone.shape, n)
            worse, one, other = (np.concatenate(c, axis=1) for c in ((worse, single), (one, alone), (other, nothing)))
        worse, order = _smallest_in_mosaic(worse, worse.shape[1])
        rows = np.arange(len(lines))[:, np.newaxis]
        one, other = one[rows, order], other[rows, order]
        codes = np.append(self._codes, 0)
        neighbours = np.where(worse < np.inf, self._code(here)[:, np.newaxis] ^ codes[one] ^ codes[other], 0)
        chosen: list[tuple[int, int]] = []
        for k, line in enumerate(zip(neighbours.tolist(), one.tolist(), other.tolist(), strict=True)):
            chosen += [(k, place) for place in self._unlike(*line, moves)]
        row, place = np.array(chosen, dtype=np.int64).reshape(-1, 2).T
        masks = np.concatenate([here[row], np.zeros((row.size, 1), dtype=np.bool_)], axis=1)
        masks[np.arange(row.size), np.stack([one[row, place], other[row, place]])] ^= True
        return masks[:, :n], lines[row]

    def _unlike(self, codes: list[int], one: list[int], other: list[int], moves: int) -> list[int]:
        """Positions of the first new subsets, at most `moves`, preferring changes of different features."""
        n = self.n_features
        first, later, changed = list[int](), list[int](), set[int]()
        for place, (code, a, b) in enumerate(zip(codes, one, other, strict=True)):
            if code not in self._asked:
                alike = a in changed or b in changed
                (later if alike else first).append(place)
                if len(first) == moves:
                    break
                changed |= set() if alike else {a, b} - {n}
        return (first + later)[:moves]

    def _code(self, masks: BoolArray) -> IntArray:
        """Codes of the subsets, quick to update for neighbours; 0 is the empty one."""
        return np.asarray(np.bitwise_xor.reduce(np.where(masks, self._codes, 0), axis=1))

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Resume from a :meth:`state` of a search with the same features and parameters."""
        super().restore(state)
        self._asked = {0}
        for start in range(0, len(self.seen), 256):
            masks = np.unpackbits(self.seen.packed[start : start + 256], axis=1, count=self.n_features)
            self._asked.update(self._code(masks.astype(np.bool_)).tolist())

    def _advance_lines(self, masks: BoolArray, errors: FloatArray) -> None:
        """Learn gains from the neighbours of all lines, and move lines with a better neighbour."""
        first = self.owners >= 0
        first[first] = self.line_errors[self.owners[first]] == _UNKNOWN
        nearby = np.flatnonzero((self.owners >= 0) & ~first)
        if nearby.size:
            self._learn_gains(masks[nearby], errors[nearby], self.owners[nearby])
            self._advance(masks[nearby], errors[nearby], self.owners[nearby])
        self.line_errors[self.owners[first]] = errors[first]

    def _advance(self, masks: BoolArray, errors: FloatArray, owners: IntArray) -> None:
        """Move each line to its best neighbour if that is better, or as good and no larger."""
        costs, sizes = self._cost(masks, errors), masks.sum(axis=1)
        order = np.lexsort((sizes, costs, owners))
        count = np.bincount(owners)
        lines, count = np.flatnonzero(count), count[count > 0]
        place = np.cumsum(count) - count
        best, second = order[place], order[np.minimum(place + 1, order.size - 1)]
        here, size = self._cost(self.line_masks[lines], self.line_errors[lines]), self.line_masks[lines].sum(axis=1)
        level = costs[best] == here
        better = (costs[best] < here) | (level & (sizes[best] < size))
        both = masks[best] ^ masks[second] ^ self.line_masks[lines]  # two good moves may be even better
        likely = better & (count > 1) & (costs[second] < here)
        if self.size is not None:
            likely &= both.sum(axis=1) == self.size
        self.hints[lines] = both & likely[:, np.newaxis]
        self.line_failures[lines] = np.where(better, 0, self.line_failures[lines] + count)
        moved = better | (level & (sizes[best] == size))
        self.line_masks[lines[moved]], self.line_errors[lines[moved]] = masks[best[moved]], errors[best[moved]]

    def _learn_gains(self, masks: BoolArray, errors: FloatArray, lines: IntArray) -> None:
        """Correct the gains of the features in which neighbours differ from their lines."""
        known = np.isfinite(errors) & np.isfinite(self.line_errors[lines])
        masks, errors, lines = masks[known], errors[known], lines[known]
        changed = masks ^ self.line_masks[lines]
        signs = changed * np.where(masks, 1.0, -1.0)
        wrong = self.line_errors[lines] - errors - (signs * self.gains).sum(axis=1)
        shares = (signs * (wrong / np.maximum(changed.sum(axis=1), 1))[:, np.newaxis]).sum(axis=0)
        count = changed.sum(axis=0)
        self.gains = self.gains + np.where(self.tries > 0, _RATE, 1.0) * shares / np.maximum(count, 1)
        self.tries = self.tries + count
        if wrong.size:
            weight = 1.0 if self.scale == 0 else 1.0 - _mosaic_power(1.0 - _MEMORY, wrong.size)
            self.scale = self.scale + weight * (np.abs(wrong).mean() - self.scale)

    def _have_ended(self) -> BoolArray:
        """Lines without improvement for too long; those worse than all elites get half the time."""
        p, failures = self.parameters, self.line_failures
        ended = (failures < 0) | (failures >= p.patience)
        if len(self.elites) == p.elites:
            last = self._cost(self.elites[-1], self.elite_errors[-1])
            ended |= (2 * failures >= p.patience) & (self._cost(self.line_masks, self.line_errors) > last)
        return np.asarray(ended)

    def _renew(self, line: int) -> None:
        """Keep the end of a line if it is among the best, and start another."""
        if self.line_failures[line] >= 0 and not (self.elites == self.line_masks[line]).all(axis=1).any():
            known = np.concatenate([self.elites, self.line_masks[line : line + 1]])
            values = np.append(self.elite_errors, self.line_errors[line])
            order = np.lexsort((known.sum(axis=1), self._cost(known, values)))[: self.parameters.elites]
            self.elites, self.elite_errors = known[order], values[order]
        self.line_failures[line] = 0
        self.hints[line] = False
        if len(self.waiting):
            self.line_masks[line], self.line_errors[line] = self.waiting[0], self.waiting_errors[0]
            self.waiting, self.waiting_errors = self.waiting[1:].copy(), self.waiting_errors[1:].copy()
            return
        self.line_masks[line], self.line_errors[line] = self._child(), _UNKNOWN

    def _child(self) -> BoolArray:
        """A subset derived from one elite, or from two."""
        count = len(self.elites)
        which, chosen, rival, other, much, steps, *kinds = self.rng.random(8)
        draws = self.rng.random((4, self.n_features))
        if not count:
            return np.asarray(draws[0] < self._first_frequencies())
        place = int(min(chosen, rival) * count)
        one = self.elites[place]
        if which < 0.5 or count < 2:  # some features dropped, one new feature added
            lost = min(round((0.2 + 0.4 * much) * one.sum()), one.sum() - 1)
            left = one & (np.argsort(np.argsort(-np.where(one, draws[0], -1.0), kind="stable")) >= lost)
            left[np.where(one, -1.0, draws[1]).argmax()] = True
            return np.asarray(left)
        two = self.elites[(place + 1 + int(other * (count - 1))) % count]
        shared, differ = one & two, one ^ two
        sizes = sorted((one.sum(), two.sum()))
        more = sizes[0] + int(much * (sizes[1] - sizes[0] + 1)) - shared.sum()
        worth = np.where(differ, self.gains + 2 * _NOISE * self.scale * _mosaic_noise(draws[:2]), -np.inf)
        child = shared | (differ & (np.argsort(np.argsort(-worth, kind="stable")) < more))
        for step in range(int(steps * 3)):
            child = move(child[np.newaxis], np.array(kinds[step : step + 1]), draws[2 + step : 3 + step])[0]
        return np.asarray(child)


def _mosaic_noise(draws: FloatArray) -> FloatArray:
    """Numbers of mean 0 and variance 1, from two uniform ones each."""
    return np.asarray((draws[0] + draws[1] - 1.0) * np.sqrt(6.0))


def _smallest_in_mosaic(values: FloatArray, count: int) -> tuple[FloatArray, IntArray]:
    """The smallest values of each row in order, at most `count`, and their positions."""
    rows = np.arange(len(values))[:, np.newaxis]
    where = np.argpartition(values, count, axis=1)[:, :count] if count < values.shape[1] else None
    found = values if where is None else values[rows, where]
    order = np.argsort(found, axis=1, kind="stable")
    return found[rows, order], order if where is None else where[rows, order]


@cache
def _mosaic_power(base: float, exponent: float) -> float:
    """A correctly rounded power; that of the C library depends on the processor."""
    return float(_EXACT.power(Decimal(base), Decimal(exponent)))
