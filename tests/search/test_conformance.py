"""Every registered search passes the checks, and the checks detect faulty ones."""

import numpy as np
import pytest

from pqswarm.search import ALGORITHMS, BPSO, UPSO2D
from pqswarm.search.conformance import CHECKS, check_copies, check_masks, check_resume, check_seeds


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_conformance(name, check):
    check(ALGORITHMS[name])


class Forgetful(BPSO):
    state_fields = tuple(name for name in BPSO.state_fields if name != "velocities")


class Viewing(BPSO):
    def _learn(self, masks, errors):
        super()._learn(masks, errors)
        self.pbest = self.positions


class Global(BPSO):
    def _move(self):
        return super()._move() ^ (np.random.random(self.positions.shape) < 0.01)  # noqa: NPY002


class Emptying(UPSO2D):
    def _move(self):
        positions = super()._move()
        positions[0] = False
        return positions


class Pretending(BPSO):
    deterministic = True


class Unseeded(BPSO):
    def __init__(self, n_features, seed=0, parameters=None):
        super().__init__(n_features, 0, parameters)


@pytest.mark.parametrize(
    ("search", "check"),
    [
        (Forgetful, check_resume),
        (Viewing, check_copies),
        (Global, check_seeds),
        (Emptying, check_masks),
        (Pretending, check_seeds),
        (Unseeded, check_seeds),
    ],
    ids=lambda value: value.__name__,
)
def test_the_checks_can_fail(search, check):
    with pytest.raises(AssertionError):
        check(search)
