"""The common part of all searches: ask and tell, a random generator, a state that can be saved."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from pqswarm._base.checks import check_integer
from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.random import checked_seed, stream
from pqswarm._base.typing import AnyArray, ArrayLike, BoolArray, FloatArray
from pqswarm.errors import PqswarmError, naming_plugin

_WORD = 2**64 - 1


class SearchParameters(Parameters):
    """Parameters common to all algorithms."""

    size: int | None = parameter(
        "number of features of a subset; None leaves it to the search (SFFS: all sizes)", default=None, low=1
    )


class Search(ABC):
    """One run of a search algorithm, by ask and tell.

    It proposes feature subsets and learns their errors; it never sees data, budget, clock or disk. To add an algorithm,
    derive from this class, set the class variables, and write `_start`, `_next` and `_learn`. If a `size` is required,
    features of the subsets that `_next` returned are dropped or added at random before they are evaluated; `_learn`
    receives them as evaluated.

    Parameters
    ----------
    n_features : int
        Number of features.
    seed : int, default=0
        The same seed gives the same search.
    parameters : SearchParameters, mapping or None, default=None
        Parameters of the algorithm; the others keep their defaults.

    Attributes
    ----------
    name, title : str
        The name under which it is registered; its name in tables and figures.
    may_ask_empty : bool
        Whether it can propose the empty subset, by default not.
    equivariant : bool
        Whether the numbering of the features is irrelevant. Such a search draws only by ``self.rng.random``, with
        features along the last axis.
    deterministic : bool
        Whether it draws no random numbers, so that every seed gives the same search.
    runs_once : bool
        Whether a study runs it only once.
    prefers_small : bool
        Whether the smallest, rather than the first, of subsets with equal error is its result.
    needs_size : bool
        Whether a study sets its subset size, to that of the best subset of the reference algorithm.
    races : bool
        Whether it learns from subsets that were tested in some folds only; it then has :meth:`race_limits`.
    needs_order : bool
        Whether a study or SwarmSelector sets the `order` of the features by its parameter `filter`.

    Examples
    --------
    >>> from pqswarm.search import ALGORITHMS
    >>> search = ALGORITHMS["2d-upso"](n_features=20, seed=1)
    >>> for _ in range(30):
    ...     masks = search.ask()
    ...     search.tell(masks, errors=(masks.sum(axis=1) - 3.0) ** 2)
    >>> int(search.ask().sum(axis=1).min()) > 0
    True
    """

    name: ClassVar[str]
    title: ClassVar[str]
    Parameters: ClassVar[type[SearchParameters]] = SearchParameters
    may_ask_empty: ClassVar[bool] = False
    equivariant: ClassVar[bool] = False
    deterministic: ClassVar[bool] = False
    runs_once: ClassVar[bool] = False
    prefers_small: ClassVar[bool] = False
    needs_size: ClassVar[bool] = False
    needs_order: ClassVar[bool] = False
    races: ClassVar[bool] = False
    state_fields: ClassVar[tuple[str, ...]] = ()
    """Attributes that, with the generator, make up the state: arrays of fixed type and shape."""
    growing_fields: ClassVar[tuple[str, ...]] = ()
    """State fields whose first axis may have any length."""

    parameters: Any  # of the class `Parameters`, which each algorithm narrows

    def __init__(
        self, n_features: int, seed: int = 0, parameters: SearchParameters | Mapping[str, Any] | None = None
    ) -> None:
        self.parameters = self.Parameters.of(parameters)
        self.n_features = check_integer("n_features", n_features, 1)
        self.size: int | None = self.parameters.size
        if self.size is not None and self.size > n_features:
            raise PqswarmError(f"size is {self.size}, but there are only {n_features} features.")
        self.rng = stream(checked_seed(seed), ())
        self._pending = np.zeros((0, self.n_features), dtype=np.bool_)
        self._start()

    @abstractmethod
    def _start(self) -> None:
        """Set all `state_fields`."""

    @abstractmethod
    def _next(self) -> BoolArray:
        """Return the next subsets to evaluate, at least one."""

    @abstractmethod
    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:
        """Learn the errors of the subsets that `_next` returned."""

    @property
    def done(self) -> bool:
        """Whether the algorithm has finished; most never do."""
        return False

    @property
    def min_evaluations(self) -> int:
        """Minimum number of evaluations to find anything; above 1, the search passes other sizes on its way."""
        return 1

    def ask(self) -> BoolArray:
        """Return the subsets to evaluate next, shape (m, n_features); the same ones until `tell`."""
        return self._ask().copy()

    def _ask(self) -> BoolArray:
        """Return the subsets to evaluate next, without a copy."""
        if self.done:
            raise PqswarmError(f"{self.name} has finished: check `done` before asking again.")
        if not len(self._pending):
            with naming_plugin("search", self):
                masks = np.array(self._next())
                if masks.dtype != np.bool_ or masks.shape != (len(masks), self.n_features) or not len(masks):
                    raise PqswarmError(
                        f"it asks for masks of shape {masks.shape} and type {masks.dtype}, not for boolean ones of "
                        f"shape (m, {self.n_features}), m at least 1"
                    )
                if self.min_evaluations == 1:
                    masks = self._resize(masks)
            self._pending = masks
        return self._pending

    def tell(self, masks: ArrayLike, errors: ArrayLike) -> None:
        """Accept the errors, lower is better, of the masks that `ask` returned.

        Infinity is allowed, NaN is not: a failure is not a score.
        """
        if not np.array_equal(np.asarray(masks), self._pending) or not len(self._pending):
            raise PqswarmError("tell needs the masks that ask returned last, complete and unchanged.")
        self._tell(checked_errors(errors, len(self._pending), raced=self.races and np.ndim(errors) == 2))

    def race_limits(self) -> tuple[int, FloatArray]:
        """Return the first block of folds and the two limits for the pending subsets; see :meth:`Evaluator.raced`."""
        raise NotImplementedError

    def _tell(self, errors: FloatArray) -> None:
        """Accept the checked errors of the last subsets, an array that is not shared."""
        pending, self._pending = self._pending, self._pending[:0]
        with naming_plugin("search", self):
            self._learn(pending, errors)

    def state(self) -> dict[str, AnyArray]:
        """Return copies of the whole state as plain arrays, for example for ``numpy.savez``."""
        with naming_plugin("search", self):
            arrays = {field: np.array(getattr(self, field)) for field in self.state_fields}
            if any(array.dtype.hasobject for array in arrays.values()):
                raise PqswarmError("its state holds objects, which cannot be stored")
        identity = np.array(json.dumps([self.name, asdict(self.parameters)], sort_keys=True))
        return arrays | {
            "identity": identity,
            "pending": self._pending.copy(),
            "generator": _search_generator_words(self.rng),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Resume from a :meth:`state` of a search with the same features and parameters."""
        expected = self.state()
        if set(state) != set(expected):
            raise PqswarmError(f"the state is not of {self.name}: it must hold {', '.join(sorted(expected))}.")
        if str(state["identity"]) != str(expected["identity"]):
            raise PqswarmError(
                f"the state is of another search or of other parameters: {state['identity']}, "
                f"not {expected['identity']}."
            )
        for field, present in expected.items():
            given = np.asarray(state[field])
            if field == "identity":
                continue
            fixed = 1 if field in ("pending", *self.growing_fields) else 0
            same = given.ndim == present.ndim and given.shape[fixed:] == present.shape[fixed:]
            if given.dtype != present.dtype or not same:
                raise PqswarmError(
                    f"{field} of the state has shape {given.shape} and type {given.dtype}, but {present.shape} and "
                    f"{present.dtype} are needed: restore it with the same features and parameters."
                )
        for field in self.state_fields:
            setattr(self, field, np.array(state[field]))
        self._pending = np.array(state["pending"])
        self.rng = _restored_search_generator(np.asarray(state["generator"]))

    def _random_subsets(self, count: int, probability: float = 0.5) -> BoolArray:
        """Draw non-empty subsets, each feature with a probability, by default 1/2 (our choice)."""
        masks = self.rng.random((count, self.n_features)) < probability
        while not masks.any(axis=1).all():
            empty = ~masks.any(axis=1)
            masks[empty] = self.rng.random((int(empty.sum()), self.n_features)) < probability
        return self._resize(masks)

    def _resize(self, masks: BoolArray) -> BoolArray:
        """Drop or add features at random until each subset has the required size, if one is set."""
        if self.size is None or (masks.sum(axis=1) == self.size).all():
            return masks
        priority = self.rng.random(masks.shape) + masks
        keep = np.argsort(-priority, axis=1, kind="stable")[:, : self.size]
        sized = np.zeros_like(masks)
        np.put_along_axis(sized, keep, True, axis=1)
        return sized


def checked_errors(errors: ArrayLike, count: int, *, raced: bool = False) -> FloatArray:
    """Return a copy of the errors of `count` subsets, or of a race of them, or raise an error."""
    values = np.array(errors, dtype=np.float64)
    if raced:
        tested = ~np.isnan(values)
        fits = values.shape == (count, 4) and tested[:, :3].any(axis=1).all()
        if not fits or (tested[:, 3] > tested[:, :3].all(axis=1)).any() or np.isneginf(values).any():
            raise PqswarmError(f"the outcome of a race must be {count} x 4 numbers, NaN where no fold was tested.")
        return values
    if values.shape != (count,) or not (values > -np.inf).all():
        raise PqswarmError(f"errors must be {count} numbers, none NaN or minus infinity: a failure is not a score.")
    return values


def errors_as_rates(errors: FloatArray) -> FloatArray:
    """Return errors of at most 1: error rates unchanged, larger losses divided by the largest."""
    if errors.max() <= 1.0:
        return errors
    finite = errors[np.isfinite(errors)]
    largest = max(1.0, float(finite.max())) if finite.size else 1.0
    return np.minimum(errors / largest, 1.0)


def _search_generator_words(rng: np.random.Generator) -> AnyArray:
    """The state of a PCG64 generator as six words."""
    state = rng.bit_generator.state
    words = [word >> shift & _WORD for word in (state["state"]["state"], state["state"]["inc"]) for shift in (64, 0)]
    return np.array([*words, state["has_uint32"], state["uinteger"]], dtype=np.uint64)


def _restored_search_generator(words: AnyArray) -> np.random.Generator:
    """The generator of a packed state."""
    w = [int(word) for word in words]
    generator = np.random.PCG64()
    try:
        generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": w[0] << 64 | w[1], "inc": w[2] << 64 | w[3]},
            "has_uint32": w[4],
            "uinteger": w[5],
        }
    except (OverflowError, ValueError) as error:
        raise PqswarmError(f"the state holds no random generator: {error}.") from None
    return np.random.Generator(generator)
