"""Rescoring on other partitions: the best subsets, the choice, and when there is none."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from pqswarm._base.random import derived_seed
from pqswarm.errors import PqswarmError
from pqswarm.selector import EarlyStopping
from pqswarm.selector.plan import MOST, BestSubsets
from pqswarm.selector.selection import PARTITIONS
from tests.selector.problems import WINE, quick

X, y = WINE


def test_the_best_are_kept_in_any_order():
    rng = np.random.default_rng(0)
    masks = rng.random((400, 7)) < 0.5  # with repetitions, and empty ones
    errors = np.round(masks @ rng.random(7), 1)  # with ties
    masks[0] = False
    distinct = {tuple(mask.tolist()): error for mask, error in zip(masks, errors, strict=True) if mask.any()}
    expected = sorted(distinct, key=lambda mask: (distinct[mask], sum(mask), mask))[:MOST]
    for order in (np.arange(400), rng.permutation(400)):
        best = BestSubsets(7, None)
        for part in np.array_split(order, 23):
            best.add(masks[part], errors[part])
        assert [tuple(mask) for mask in best.masks.tolist()] == expected
        assert best.errors.tolist() == [distinct[mask] for mask in expected]
    sized = BestSubsets(7, 3)
    sized.add(masks, errors)
    assert (sized.masks.sum(axis=1) == 3).all()
    for state in ({}, {"masks": masks, "errors": errors[1:]}, {"masks": masks[:, 1:], "errors": errors}):
        with pytest.raises(PqswarmError, match="not that of a selection"):
            BestSubsets(7, None).restore(state)


@pytest.mark.parametrize("cv", [3, KFold(4), StratifiedKFold(3, shuffle=True, random_state=1)])
def test_chooses_the_best_mean_over_all_partitions(cv, tmp_path):
    selector = quick(cv=cv, max_evaluations=900, storage=tmp_path / "search.npz", random_state=3).fit(X, y)
    with np.load(tmp_path / "search.npz") as saved:
        masks, errors = saved["0.best.masks"][:3], saved["0.best.errors"][:3]
    kind, folds = (KFold, 4) if type(cv) is KFold else (StratifiedKFold, 3)
    scores = []
    for mask, error in zip(masks, errors, strict=True):
        assert 1 - error == pytest.approx(cross_val_score(GaussianNB(), X[:, mask], y, cv=cv).mean())
        others = [
            kind(folds, shuffle=True, random_state=derived_seed(3, (2**31 + 2, number)) % 2**32)
            for number in range(PARTITIONS)
        ]
        values = [cross_val_score(GaussianNB(), X[:, mask], y, cv=other).mean() for other in others]
        scores.append(np.mean([1 - error, *values]))
    np.testing.assert_array_equal(selector.support_, masks[int(np.argmax(scores))])
    assert selector.best_score_ == pytest.approx(1 - errors[int(np.argmax(scores))])
    assert "3 best" in selector.rule_


def test_without_other_partitions_the_best_score_counts():
    for options, reason in (
        ({"max_evaluations": 500}, "fewer than 600 evaluations"),
        ({"cv": ShuffleSplit(3, random_state=0)}, "not a plain k-fold"),
        ({"callbacks": EarlyStopping(max_time=1e-9)}, "stopped"),
    ):
        given = {"max_evaluations": 900} | options
        selector = quick(**given).fit(X, y)
        np.testing.assert_array_equal(selector.support_, selector.front_[-1].support)
        assert reason in selector.rule_
