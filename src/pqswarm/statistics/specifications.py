"""Effects over the specifications of a multiverse: which choices move them, and whether they could be chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pqswarm._base.random import checked_seed, stream
from pqswarm._base.typing import ArrayLike, FloatArray
from pqswarm.errors import PqswarmError

_PERMUTATIONS = 9999


@dataclass(frozen=True)
class ChoiceEffect:
    """What a choice does to an effect."""

    choice: str
    means: dict[str, float]  # over the specifications with each alternative
    fraction: float  # of the variance


@dataclass(frozen=True)
class ExplainedEffects:
    """What moves an effect: the choices, and the fractions of variance of the data sets and of the rest."""

    choices: list[ChoiceEffect]
    datasets: float
    rest: float


def explain_effects(effects: ArrayLike, chosen: Sequence[Mapping[str, str]]) -> ExplainedEffects:
    """Split the variance of effects, specifications x data sets, into those of choices, of data sets, and the rest.

    The fractions are descriptive: what the sum of squares grows by without the main effects of a choice. In a balanced
    design they add up to 1 with those of the data sets and of the rest, which holds interactions and chance.
    """
    values = np.asarray(effects, dtype=np.float64)
    if values.ndim != 2 or len(values) != len(chosen) or not np.isfinite(values).all():
        raise PqswarmError("effects must be finite, one row for each specification and one column for each data set.")
    n_specifications, n_datasets = values.shape
    names = {choice: list(dict.fromkeys(each[choice] for each in chosen)) for choice in chosen[0]}
    has_alternative = {
        choice: np.array([[each[choice] == name for name in names[choice]] for each in chosen]) for choice in names
    }
    blocks = {choice: np.repeat(each, n_datasets, axis=0) for choice, each in has_alternative.items()}
    datasets = np.tile(np.eye(n_datasets), (n_specifications, 1))
    y = values.ravel()
    total = float(np.square(y - y.mean()).sum())

    def residual(*parts: npt.NDArray[np.bool_] | FloatArray) -> float:
        design = np.concatenate([np.ones((y.size, 1)), *parts], axis=1)
        return float(np.square(y - design @ np.linalg.lstsq(design, y, rcond=None)[0]).sum())

    whole = residual(datasets, *blocks.values())

    def fraction(without: float) -> float:
        return max(0.0, without - whole) / total if total else 0.0

    choices = []
    for choice in blocks:
        others = [block for name, block in blocks.items() if name != choice]
        columns = zip(names[choice], has_alternative[choice].T, strict=True)
        means = {name: float(values[rows].mean()) for name, rows in columns}
        choices.append(ChoiceEffect(choice, means, fraction(residual(datasets, *others))))
    return ExplainedEffects(choices, fraction(residual(*blocks.values())), whole / total if total else 0.0)


def joint_permutation(first: ArrayLike, second: ArrayLike, *, seed: int = 0) -> tuple[float, float]:
    """Test whether two algorithms differ in the median specification, by exchanging the labels of their runs.

    Both hold positive values, specifications x data sets x runs. Labels are exchanged within data sets, in the same way
    in all specifications, so that these may depend on each other. Returned are the median over the specifications of
    the logarithm of the ratio of means, and the two-sided p-value. The test is about the given data sets; see
    Simonsohn, Simmons and Nelson, Nature Human Behaviour 4 (2020).
    """
    a = np.asarray(first, dtype=np.float64)
    b = np.asarray(second, dtype=np.float64)
    if a.ndim != 3 or a.shape[:2] != b.shape[:2] or not ((a > 0).all() and (b > 0).all()):
        raise PqswarmError("both must be positive, with the same specifications and data sets.")
    runs = np.concatenate([a, b], axis=2)
    n_specifications, n_datasets, n_runs = runs.shape
    n_first = a.shape[2]
    orders = stream(checked_seed(seed), ()).random((_PERMUTATIONS, n_datasets, n_runs)).argsort(axis=2) < n_first
    labels = np.concatenate([np.broadcast_to(np.arange(n_runs) < n_first, (1, n_datasets, n_runs)), orders])
    flat = runs.reshape(n_specifications, -1).T
    sums = labels.reshape(len(labels), -1) @ flat
    other_sums = flat.sum(axis=0) - sums
    medians = np.median(np.log(sums / n_first / (other_sums / b.shape[2])), axis=1)
    extreme = np.abs(medians) >= abs(medians[0]) * (1 - 1e-12)
    return float(medians[0]), float(extreme.mean())
