"""The filters against slow reference implementations and scikit-learn, on informative features, and on edge cases."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.feature_selection import f_regression, mutual_info_regression
from sklearn.metrics import mutual_info_score

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import FILTERS, Filter, prefilter
from pqswarm.evaluation import filters as scores
from tests.reference import filters as reference

X, y = load_wine(return_X_y=True)

FAST = [name for name in FILTERS.built_in if name != "mutual-information"]
TWINS = {"mrmr": reference.mrmr, "cfs": reference.cfs}


def samples(seed, n=40, n_features=7, n_classes=3, levels=None):
    """Random features, the first few informative; integers with many ties if levels are given."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, n_features)) + y[:, np.newaxis] * np.linspace(1.5, 0, n_features)
    return (X if levels is None else np.round(X * levels / 4)), y


@pytest.mark.parametrize("levels", [None, 2, 6])
@pytest.mark.parametrize("seed", range(3))
def test_reference_implementations_agree(seed, levels):
    X, y = samples(seed, levels=levels)
    X[:, 4] = X[:, 0]  # a copy
    assert (scores.bin_features(X, scores.number_of_bins(len(X))) == reference.binned(X)).all()
    for name, twin in TWINS.items():
        assert FILTERS[name].rank(X, y) == twin(X, y)
    np.testing.assert_allclose(FILTERS["relieff"].scores(X, y), reference.relieff(X, y), rtol=1e-12, atol=1e-14)


def test_information_of_whole_numbers_is_that_of_scikit_learn():
    X, y = samples(0, n=500, levels=2)
    expected = [mutual_info_score(column, y) for column in X.T]
    np.testing.assert_allclose(FILTERS["mutual-information-binned"].scores(X, y), expected, rtol=0, atol=1e-8)


def test_continuous_targets():
    X, y = load_diabetes(return_X_y=True)
    y = y + 0.5  # else scikit-learn takes whole numbers for labels
    assert (FILTERS["anova"].scores(X, y) == f_regression(X, y)[0]).all()
    assert (FILTERS["mutual-information"].scores(X, y) == mutual_info_regression(X, y, random_state=0)).all()
    assert (FILTERS["anova"].scores(X, y) == FILTERS["anova"].scores(X, y - 0.5, continuous=True)).all()
    labels = reference.bins(y.tolist(), 8)
    for name in ("mutual-information-binned", "mrmr", "cfs"):
        assert FILTERS[name].rank(X, y)[0] in (2, 8)  # body mass index, a serum value
        assert FILTERS[name].rank(X, y) == FILTERS[name].rank(X, labels)
    assert FILTERS["relieff"].needs_classes
    with pytest.raises(PqswarmError, match="'relieff' needs classes, but y is continuous: use one of anova, mutual"):
        FILTERS["relieff"].scores(X, y)


def test_relieff_samples_many_samples(monkeypatch):
    every = FILTERS["relieff"].scores(X, y)
    monkeypatch.setattr(scores, "_RELIEF_COST", 0)
    monkeypatch.setattr(scores, "_MIN_SAMPLES", 60)
    some = FILTERS["relieff"].scores(X, y)
    assert (some == FILTERS["relieff"].scores(X, y)).all()
    assert (some != every).all()
    assert np.corrcoef(some, every)[0, 1] > 0.95


def test_beyond_those_chosen_in_turn_relevance_decides(monkeypatch):
    X, y = samples(3, n_features=12)
    monkeypatch.setattr(scores, "_MAX_RANKED", 4)
    order, relevance = FILTERS["mrmr"].rank(X, y), FILTERS["mutual-information-binned"].scores(X, y)
    assert order[:4] == reference.mrmr(X, y)[:4]
    assert (np.diff(relevance[list(order[4:])]) <= 0).all()


@pytest.mark.parametrize("name", FAST)
def test_edge_cases(name):
    rank = FILTERS[name].rank
    X, y = samples(0, n=4, n_features=5, n_classes=2)
    assert sorted(rank(X, [0, 0, 1, 1])) == list(range(5))
    assert sorted(rank(X, ["a", "b", "b", "b"])) == list(range(5))  # a class of one sample
    assert rank(X[:, :1], [0, 0, 1, 1]) == (0,)
    assert rank(np.ones((4, 3)), [0, 0, 1, 1]) == (0, 1, 2)  # nothing to tell: by index
    X, y = samples(1)
    X[:, 3] = -2.5
    assert rank(X, y)[-1] == 3
    assert rank(np.delete(X, 3, axis=1), y) == tuple(f - (f > 3) for f in rank(X, y)[:-1])
    assert rank(np.repeat(X[:, :2], 2, axis=1), y)[0] in (0, 2)  # of equals the lower index
    assert not np.isnan(FILTERS[name].scores(X, y)).any()
    assert rank(X * 1e6 + 3, y) == rank(X, y)


def test_missing_values_count_as_the_median_and_infinite_ones_are_refused():
    X, y = samples(2)
    holes, filled = X.copy(), X.copy()
    holes[::5, 1] = np.nan
    holes[:, 6] = np.nan
    filled[::5, 1] = np.nanmedian(holes[:, 1])
    filled[:, 6] = 0
    for name in FAST:
        assert FILTERS[name].rank(holes, y) == FILTERS[name].rank(filled, y)
    X[0, 0] = np.inf
    with pytest.raises(PqswarmError, match="X holds infinite values"):
        FILTERS["mrmr"].rank(X, y)


@pytest.mark.parametrize(
    ("X", "y"), [(np.ones(5), np.ones(5)), (np.ones((5, 2)), np.ones(4)), (np.ones((5, 2)), np.ones((5, 1)))]
)
def test_shapes_are_checked(X, y):
    with pytest.raises(PqswarmError, match=r"filter 'cfs' needs X of shape \(n, n_features\)"):
        FILTERS["cfs"].scores(X, y)


def test_prefilter_keeps_the_best_and_returns_their_order():
    for name in FAST:
        kept, order = prefilter(X, y, 5, name), FILTERS[name].rank(X, y)
        assert kept.columns.tolist() == sorted(order[:5])
        assert tuple(kept.columns[list(kept.order)].tolist()) == order[:5]
        assert kept.sentence == f"Kept the best 5 of 13 features by {FILTERS[name].title}."
    whole = prefilter(X, y)
    assert (whole.columns == np.arange(13)).all()
    assert whole.order == FILTERS["anova"].rank(X, y)
    assert whole.sentence.startswith("Kept all 13 features")


@pytest.mark.parametrize("keep", [0, -1, 2.5, True, None])
def test_prefilter_must_keep_some_by_a_known_filter(keep):
    with pytest.raises(PqswarmError, match="keep must be an integer of at least 1"):
        prefilter(X, y, keep=keep)
    with pytest.raises(PqswarmError, match="unknown filter 'relief': did you mean 'relieff'"):
        prefilter(X, y, filter="relief")


def test_a_custom_filter_may_need_classes():
    mine = Filter("mine", lambda X, y: X.var(axis=0), needs_classes=True)
    assert mine.title == "mine"
    with pytest.raises(PqswarmError, match="filter 'mine' needs classes"):
        mine.rank(np.ones((4, 2)), [0.1, 0.2, 0.3, 0.4])
