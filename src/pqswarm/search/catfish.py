"""Catfish BPSO: when the swarm stagnates, its worst particles are replaced."""

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.search.bpso import BPSO, BPSOParameters


class CatfishParameters(BPSOParameters):
    """Parameters of catfish BPSO."""

    catfish_fraction: float = parameter(
        "fraction of the swarm that is replaced, rounded, at least one", default=0.1, low=0, high=1, symbol="C"
    )
    refresh_gap: int = parameter(
        "iterations without a better global best after which they are replaced", default=3, low=1, symbol="RG"
    )
    catfish_positions: str = parameter(
        "new positions: drawn as at the start, or all features or none at random",
        default="random",
        choices=("random", "extreme"),
    )


class CatfishBPSO(BPSO):
    """Binary particle swarm optimization with catfish particles.

    When the global best has not improved for `refresh_gap` iterations, the worst particles are reinitialized: their
    positions are drawn as at the start. They keep their velocities and their personal bests, which is our choice. The
    count then restarts. With ``catfish_positions="extreme"`` each moves to all ones or all zeros instead, as in the
    literature on catfish particles.

    References
    ----------
    L.-Y. Chuang, S.-W. Tsai, C.-H. Yang, "Improved binary particle swarm optimization using catfish effect for
    feature selection", Expert Systems with Applications 38 (2011).
    """

    name = "cbpso"
    title = "CBPSO"
    Parameters = CatfishParameters
    parameters: CatfishParameters
    state_fields = (*BPSO.state_fields, "stagnation")

    def _start(self) -> None:
        super()._start()
        self.stagnation = np.array(0)

    def _notice(self, errors: FloatArray, better: BoolArray, improved: bool) -> None:  # noqa: ARG002
        self.stagnation = np.array(0) if improved else self.stagnation + 1

    def _move(self) -> BoolArray:
        before = self.velocities
        positions = super()._move()
        if self.stagnation < self.parameters.refresh_gap:
            return positions
        self.stagnation = np.array(0)
        count = max(1, round(self.parameters.catfish_fraction * len(positions)))
        catfish = np.argsort(-self.errors, kind="stable")[:count]  # the worst; ties by index
        self.velocities[catfish] = before[catfish]
        if self.parameters.catfish_positions == "random":
            positions[catfish] = self._random_subsets(catfish.size, self.parameters.start_probability)
        else:
            positions[catfish] = self.rng.random((catfish.size, 1)) < 0.5
        return positions
