"""Effects over the readings of a multiverse: which choices move them, and whether they could be chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from pqswarm._base.random import checked_seed, stream
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError

_PERMUTATIONS = 9999


@dataclass(frozen=True)
class ChoiceEffect:
    """What a choice does to an effect."""

    choice: str
    means: dict[str, float]  # over the readings with each alternative
    share: float  # of the variance


def explain_effects(effects: ArrayLike, chosen: Sequence[Mapping[str, str]]) -> tuple[list[ChoiceEffect], float, float]:
    """Split the variance of effects, readings x data sets, into those of choices, of data sets, and the rest.

    The shares are descriptive: what the sum of squares grows by without the main effects of a choice. In a balanced
    design they add up to 1 with those of the data sets and of the rest, which holds interactions and chance.
    """
    values = np.asarray(effects, dtype=np.float64)
    if values.ndim != 2 or len(values) != len(chosen) or not np.isfinite(values).all():
        raise PqswarmError("effects must be finite, one row for each reading and one column for each data set.")
    n_readings, n_datasets = values.shape
    columns = {
        choice: np.array([[one[choice] == name for name in dict.fromkeys(c[choice] for c in chosen)] for one in chosen])
        for choice in chosen[0]
    }
    blocks = {choice: np.repeat(each, n_datasets, axis=0) for choice, each in columns.items()}
    sets = np.tile(np.eye(n_datasets), (n_readings, 1))
    y = values.ravel()
    total = float(np.square(y - y.mean()).sum())

    def left(*parts: npt.NDArray[np.bool_] | FloatArray) -> float:
        design = np.concatenate([np.ones((y.size, 1)), *parts], axis=1)
        return float(np.square(y - design @ np.linalg.lstsq(design, y, rcond=None)[0]).sum())

    whole = left(sets, *blocks.values())

    def share(without: float) -> float:
        return max(0.0, without - whole) / total if total else 0.0

    found = []
    for choice in blocks:
        others = [block for name, block in blocks.items() if name != choice]
        rows = {name: [one[choice] == name for one in chosen] for name in dict.fromkeys(c[choice] for c in chosen)}
        means = {name: float(values[each].mean()) for name, each in rows.items()}
        found.append(ChoiceEffect(choice, means, share(left(sets, *others))))
    return found, share(left(*blocks.values())), whole / total if total else 0.0


def joint_permutation(first: ArrayLike, second: ArrayLike, *, seed: int = 0) -> tuple[float, float]:
    """Test whether two algorithms differ in the median reading, by exchanging the labels of their runs.

    Both hold positive values, readings x data sets x runs. Labels are exchanged within data sets, in the same way in
    all readings, so that readings may depend on each other. Returned are the median over the readings of the logarithm
    of the ratio of means, and the two-sided p-value. The test is about the given data sets; see Simonsohn, Simmons and
    Nelson, Nature Human Behaviour 4 (2020).
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 3 or a.shape[:2] != b.shape[:2] or not ((a > 0).all() and (b > 0).all()):
        raise PqswarmError("both must be positive, with the same readings and data sets.")
    runs = np.concatenate([a, b], axis=2)
    n_readings, n_datasets, n_runs = runs.shape
    own = a.shape[2]
    orders = stream(checked_seed(seed), ()).random((_PERMUTATIONS, n_datasets, n_runs)).argsort(axis=2) < own
    labels = np.concatenate([np.broadcast_to(np.arange(n_runs) < own, (1, n_datasets, n_runs)), orders])
    flat = runs.reshape(n_readings, -1).T
    mine = labels.reshape(len(labels), -1) @ flat
    theirs = flat.sum(axis=0) - mine
    medians = np.median(np.log(mine / own / (theirs / b.shape[2])), axis=1)
    extreme = np.abs(medians) >= abs(medians[0]) * (1 - 1e-12)
    return float(medians[0]), float(extreme.mean())
