"""Every registered search passes the checks, and the checks detect faulty ones."""

import numpy as np
import pytest

from pqswarm.search import ALGORITHMS, BPSO, UPSO2D, Search
from pqswarm.search.conformance import (
    CHECKS,
    check_copies,
    check_masks,
    check_resume,
    check_search,
    check_seeds,
    check_size,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_conformance(name, check):
    check(ALGORITHMS[name])


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


class Unseeded(BPSO):
    def __init__(self, n_features, seed=0, parameters=None):
        super().__init__(n_features, 0, parameters)


@pytest.mark.parametrize(
    ("search", "check"),
    [
        (type("Forgetful", (BPSO,), {"state_fields": sorted({*BPSO.state_fields} - {"velocities"})}), check_resume),
        (Viewing, check_copies),
        (Global, check_seeds),
        (Emptying, check_masks),
        (type("Pretending", (BPSO,), {"deterministic": True}), check_seeds),
        (Unseeded, check_seeds),
    ],
    ids=lambda value: value.__name__,
)
def test_the_checks_can_fail(search, check):
    with pytest.raises(AssertionError):
        check(search)


class Counting(BPSO):
    """Draws by another method than `random`, though all swarms are equivariant unless they say otherwise."""

    def _move(self):
        self.rng.integers(2)
        return super()._move()


class Vanishing(Search):
    """Proposes the empty subset without saying so."""

    name = title = "vanishing"

    def _start(self):
        pass

    def _next(self):
        return self.rng.random((5, self.n_features)) < 0.01

    def _learn(self, masks, errors):
        pass


@pytest.mark.parametrize(
    ("search", "told"),
    [
        (Counting, r"Counting fails check_renaming: rng.integers is called, .* or set equivariant = False"),
        (Vanishing, r"Vanishing fails check_masks: an empty mask: .* set may_ask_empty = True"),
    ],
)
def test_a_message_names_the_class_and_the_remedy(search, told):
    with pytest.raises(AssertionError, match=told):
        check_search(search)


def test_the_required_size_is_the_work_of_the_base():
    check_size(Vanishing)
    learned = []

    class Listening(Vanishing):
        def _learn(self, masks, errors):
            learned.append(masks)

    search = Listening(12, 0, {"size": 4})
    asked = search.ask()
    search.tell(asked, np.ones(5))
    assert (asked.sum(axis=1) == 4).all()
    np.testing.assert_array_equal(learned[0], asked)


def test_another_generator_is_allowed_to_a_swarm_that_says_so():
    class Declared(Counting):
        equivariant = False

    check_search(Declared)
