"""Learning in two dimensions: the published examples step by step, and a slow twin."""

import numpy as np
import pytest

from pqswarm._base.random import stream
from pqswarm.search import ALGORITHMS, UPSO2D
from pqswarm.search.learning2d import adaptive_weight, cardinality, learning_set, position, ranks, self_learning_set
from tests.reference import searches
from tests.search.problems import assert_same_as_twin


def bits(text):
    return np.array([letter == "1" for letter in text])


def rows(*texts):
    return np.array([[int(letter) for letter in text] for text in texts])


class TestAppendixOfThePaper:
    def test_learning_sets(self):
        np.testing.assert_array_equal(learning_set(bits("11101"), bits("11010")), rows("00010", "00101"))
        np.testing.assert_array_equal(self_learning_set(bits("11010")), rows("00100", "11010"))

    def test_position(self):
        velocity = np.array([[0.82, 2.53, 2.22, 0.28, 0.95], [1.61, 1.88, 0.80, 1.33, 2.88]])
        np.testing.assert_allclose(velocity[0].cumsum(), [0.82, 3.35, 5.57, 5.85, 6.80])
        xi = cardinality(velocity[0], np.array(3.1))
        assert xi == 2
        assert ranks(velocity[1]).tolist() == [3, 2, 5, 4, 1]
        np.testing.assert_array_equal(position(velocity[1], xi), bits("01001"))


def test_adaptive_weight_at_the_ends():
    assert adaptive_weight(np.zeros(3), np.ones(3)).tolist() == [0, 0, 0]
    assert adaptive_weight(np.array([0.1, np.inf]), np.array([0.2, 0.1])).tolist() == [1.0, 0.0]


def test_adaptive_weight_relative_to_another_swarm():
    errors = np.array([0.25, 0.75, 2.0, np.inf])
    previous = np.array([0.5, 0.5, 0.25, 0.5])
    assert adaptive_weight(errors, previous, previous).tolist() == [0.5, 0.5, 3.0, 0.0]
    assert adaptive_weight(errors, previous, np.zeros(4)).tolist() == [0, 0, 0, 0]


def sizes_asked(options, n=12, moves=60):
    """Sizes that a swarm asks for, a row per move, after its first subsets, and the swarm."""
    search = UPSO2D(n, 3, options)
    sizes = []
    for move in range(moves):
        masks = search.ask()
        if move:
            sizes.append(masks.sum(axis=1))
        search.tell(masks, np.abs(masks.sum(axis=1) - 4.0) / n)
    return np.array(sizes), search


def test_sizes_drawn_uniformly_are_not_learned():
    sizes, _ = sizes_asked({"cardinality": "uniform"}, moves=200)
    frequencies = np.bincount(sizes.ravel(), minlength=13)[1:] / sizes.size
    assert np.abs(frequencies - 1 / 12).max() < 0.015  # four standard deviations
    learned, _ = sizes_asked({}, moves=200)
    assert np.bincount(learned.ravel())[4] > 2 * learned.size / 12


def test_sizes_of_exemplars_are_at_most_one_off():
    search = UPSO2D(12, 0, {"cardinality": "exemplar", "swarm_size": 300, "unification": 1.0})
    first = search.ask()
    search.tell(first, np.linspace(0.2, 0.8, 300))
    before = first.sum(axis=1)
    leader = before[0]
    sizes = search.ask().sum(axis=1)
    near = np.minimum(np.abs(sizes - before), np.abs(sizes - leader))
    assert near.max() == 1
    clear = np.abs(before - leader) > 2
    towards = np.abs(sizes[clear] - leader) <= 1
    assert 0.25 < towards.mean() < 0.75  # c_1 = c_2: half of the particles
    sizes, _ = sizes_asked({"cardinality": "exemplar"})
    assert sizes[-20:].mean() < sizes[:5].mean()  # towards four features


@pytest.mark.parametrize(
    ("seed", "options", "twin"),
    [
        (0, {}, {"pairs": True}),
        (1, {"refresh_gap": 4}, {"pairs": True, "rg": 4}),
        (2, {"randomness": "element"}, {}),
        (3, {"separate_draws": True}, {"pairs": True, "separate": True}),
        (4, {"separate_draws": True, "randomness": "element"}, {"separate": True}),
        (5, {"worst_error": "previous"}, {"pairs": True, "old": True}),
        (6, {"inertia": 0.8, "cognitive": 2.1, "social": 1.7}, {"pairs": True, "w": 0.8, "c1": 2.1, "c2": 1.7}),
        (7, {"unification": 0.3, "randomness": "element"}, {"u": 0.3}),
    ],
)
def test_2d_upso_equals_its_slow_twin(seed, options, twin):
    fast = UPSO2D(12, seed, options)
    slow = searches.UPSO2D(12, stream(seed, ()), **twin)
    assert_same_as_twin(fast, slow, 75)  # beyond two refreshes of all velocities
    assert fast.stagnation.sum() < 30 * 74


def told(search, errors):
    masks = search.ask()
    search.tell(masks, errors)
    return masks


def test_negative_likelihoods_are_clipped_at_zero():
    search = UPSO2D(4, 0, {"clip_negative": True, "cognitive": 0.0, "social": 0.0})
    told(search, np.full(30, 0.5))
    search.velocities[:, 0] = [-5.0, 1.0, -2.0, 0.5]
    sizes = search.ask().sum(axis=1)
    assert set(sizes) <= {2, 4}
    plain = UPSO2D(4, 0, {"cognitive": 0.0, "social": 0.0})
    told(plain, np.full(30, 0.5))
    plain.velocities[:, 0] = [-5.0, 1.0, -2.0, 0.5]
    assert set(plain.ask().sum(axis=1)) == {2}  # no wheel: the likeliest


def test_neighbors_alone_are_learnt_from_without_unification():
    errors = np.linspace(0.1, 0.9, 30)[np.random.default_rng(2).permutation(30)]
    for neighbors in (1, 4):
        search = UPSO2D(9, 3, {"neighbors": neighbors, "cognitive": 0.0, "unification": 0.0})
        before = search.velocities.copy()
        masks = told(search, errors)
        search.ask()
        for i in range(30):
            around = [(i + k) % 30 for k in range(-neighbors, neighbors + 1)]
            best = min(around, key=lambda k: errors[k])
            changed = search.velocities[i] != before[i]
            np.testing.assert_array_equal(changed, learning_set(masks[best], masks[i]) > 0)


def test_a_required_size_keeps_the_chosen_features():
    search = ALGORITHMS["bpso"](20, 0, {"size": 5})
    rng = np.random.default_rng(0)
    masks = rng.random((400, 20)) < 0.3
    sized = search._resize(masks)
    assert (sized.sum(axis=1) == 5).all()
    for before, after in zip(masks, sized, strict=True):
        assert (after <= before).all() if before.sum() >= 5 else (before <= after).all()
    everything = search._resize(np.ones((4000, 20), bool)).mean(axis=0)
    assert np.abs(everything - 0.25).max() < 0.04
