"""Wide data, NaN, weights, and any cross-validation."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import make_classification, make_regression
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, PredefinedSplit, RepeatedStratifiedKFold, ShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from pqswarm import SwarmSelector
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import FILTERS, Filter
from pqswarm.search import BPSO, SearchParameters, parameter
from pqswarm.selector import nested_score
from tests.selector.problems import WINE, assert_same, quick

X, y = WINE

WIDE = make_classification(60, 400, n_informative=5, n_redundant=0, random_state=0)


def test_wide_data_are_prefiltered_and_masks_cover_all_features():
    X, y = WIDE
    masks = []
    options = {"max_evaluations": 60, "prefilter": 300}
    selector = quick(**options, callbacks=lambda progress: masks.append(progress.mask)).fit(X, y)
    assert selector.prefilter_ == "Kept the best 300 of 400 features by ANOVA F."
    kept = np.zeros(400, dtype=bool)
    kept[np.argsort(-f_classif(X, y)[0])[:300]] = True
    narrow = quick(**options).fit(X[:, kept], y)
    assert narrow.prefilter_ is None
    np.testing.assert_array_equal(selector.support_, np.isin(np.arange(400), np.flatnonzero(kept)[narrow.support_]))
    every = [selector.support_, selector.history_.mask, masks[-1], *(point.support for point in selector.front_)]
    assert {len(array) for array in every} == {400}
    score = cross_val_score(GaussianNB(), X[:, selector.support_], y, cv=5).mean()
    assert selector.best_score_ == pytest.approx(score)
    assert all(name.startswith("x") for name in selector.get_feature_names_out())


def test_prefilter_by_number_by_name_or_not_at_all():
    X, y = WIDE
    assert quick(prefilter=None, max_evaluations=30).fit(X, y).prefilter_ is None
    ten = quick(prefilter=10, max_evaluations=30).fit(X, y)
    assert ten.prefilter_.startswith("Kept the best 10 of 400 features")
    assert not ten.support_[np.argsort(-f_classif(X, y)[0])[10:]].any()
    assert quick(prefilter=10, n_features_to_select=12, max_evaluations=30).fit(X, y).support_.sum() == 12
    assert quick(prefilter=13).fit(*WINE).prefilter_ is None
    small = quick(prefilter="auto", max_evaluations=30).fit(*WINE)
    assert_same(small, quick(prefilter=None, max_evaluations=30).fit(*WINE))


def test_few_events_keep_few_features():
    """A filter that sees the test events would mislead the search."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2000)), np.arange(300) % 2
    X[:, :4] += 0.7 * (2 * y - 1)[:, np.newaxis]
    few, new = slice(0, 60), slice(60, 300)
    selector = quick().fit(X[few], y[few])
    sizes = (5, 10, 20, 50, 100, 200, 300)
    models = [make_pipeline(SelectKBest(k=size), GaussianNB()) for size in sizes]
    folds = np.array([1 - cross_val_score(model, X[few], y[few], cv=5) for model in models])
    errors = folds.mean(axis=1)
    allowed = errors.min() + folds[errors.argmin()].std(ddof=1) / np.sqrt(5)
    needed = next(place for place, error in enumerate(errors) if error <= allowed)
    assert sizes[needed] < 20
    assert selector.prefilter_.startswith(f"Kept the best {3 * sizes[needed]} of 2000 features by ANOVA F.")
    assert f"{errors[needed]:.2g}" in selector.prefilter_
    misled = quick(prefilter=300).fit(X[few], y[few])
    assert misled.best_score_ > selector.best_score_
    scores = [
        GaussianNB().fit(X[few][:, one.support_], y[few]).score(X[new][:, one.support_], y[new])
        for one in (misled, selector)
    ]
    assert scores[1] > scores[0] + 0.1


def test_many_events_keep_many_features():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 310)), np.arange(400) % 2
    X[:, :100] += 0.3 * (2 * y - 1)[:, np.newaxis]
    selector = quick(max_evaluations=10).fit(X, y)
    assert selector.prefilter_.startswith("Kept the best 300 of 310 features by ANOVA F.")


def test_prefilter_of_a_regression():
    X, y = make_regression(40, 310, n_informative=3, random_state=0)
    selector = quick(LinearRegression(), max_evaluations=10, cv=2).fit(X, np.round(y))
    assert " of 310 features by " in selector.prefilter_
    assert "ANOVA F" in selector.prefilter_


def test_the_prefilter_sees_only_what_is_trained_on(monkeypatch):
    seen = []

    def variance(X, y):
        seen.append(len(X))
        return np.var(X, axis=0)

    monkeypatch.setitem(FILTERS._members, "variance", Filter("variance", variance))
    X, y = WIDE
    nested_score(quick(prefilter="variance", max_evaluations=10, cv=2), X, y, cv=3)
    # In each: all, and those that train the two splits.
    assert seen == 3 * [40, 20, 20]


class TellingParameters(SearchParameters):
    """With an order."""

    order: tuple[int, ...] = parameter(default=(), low=0, meaning="features, best first")


class Telling(BPSO):
    name = "telling"
    Parameters = TellingParameters
    told = ()

    def _start(self):
        Telling.told = self.parameters.order
        self.parameters = BPSO.Parameters()
        super()._start()


def test_an_algorithm_with_an_order_receives_it():
    X, y = WIDE
    quick(algorithm=Telling, prefilter=20, max_evaluations=30).fit(X, y)
    best = np.argsort(-f_classif(X, y)[0])[:20]
    assert np.sort(best)[list(Telling.told)].tolist() == best.tolist()
    quick(algorithm=Telling, max_evaluations=30).fit(*WINE)
    assert Telling.told == ()
    given = (2, 1, 0)
    quick(algorithm=(Telling, {"order": given}), prefilter=3, max_evaluations=30).fit(X, y)
    assert Telling.told == given


def test_ranking_ranks_what_is_kept():
    X, y = WIDE
    selector = quick(algorithm=("ranking", {"filter": "anova"}), prefilter=300).fit(X, y)
    best = np.argsort(-f_classif(X, y)[0])[: selector.n_features_]
    np.testing.assert_array_equal(np.sort(best), np.flatnonzero(selector.support_))


def with_holes():
    holes = np.random.default_rng(0).random(X.shape) < 0.05
    return np.where(holes, np.nan, X), y


def test_nan_is_allowed_if_the_estimator_accepts_it():
    X, y = with_holes()
    for estimator in (DecisionTreeClassifier(random_state=0), make_pipeline(SimpleImputer(), GaussianNB())):
        selector = quick(estimator, max_evaluations=20, cv=3).fit(X, y)
        score = cross_val_score(estimator, X[:, selector.support_], y, cv=3).mean()
        assert selector.best_score_ == pytest.approx(score)
        assert "X has NaN" in selector.evaluator_name_
        assert np.isnan(selector.transform(X)).any()


def test_nan_is_refused_otherwise():
    X, y = with_holes()
    row, column = np.argwhere(np.isnan(X))[0]
    for estimator in (GaussianNB(), None):
        with pytest.raises(PqswarmError, match=f"feature {column} of sample {row} is NaN.*SimpleImputer"):
            SwarmSelector(estimator, max_evaluations=20).fit(X, y)
    with pytest.raises(ValueError, match="infinity"):
        quick(DecisionTreeClassifier()).fit(np.where(np.isnan(X), np.inf, X), y)
    with pytest.raises(ValueError, match="NaN"):
        quick().fit(*WINE).transform(X)


def test_weights():
    weights = np.where(y == 0, 0.1, np.linspace(1, 2, len(y)))
    selector = quick(max_evaluations=20, cv=3).fit(X, y, sample_weight=weights)
    assert selector.evaluator_name_.startswith("GaussianNBEvaluator")
    found = []
    from sklearn.model_selection import StratifiedKFold

    for train, test in StratifiedKFold(3).split(X, y):
        model = GaussianNB().fit(X[train][:, selector.support_], y[train], sample_weight=weights[train])
        found.append(model.score(X[test][:, selector.support_], y[test], sample_weight=weights[test]))
    assert selector.best_score_ == pytest.approx(np.mean(found))
    with pytest.raises(PqswarmError, match="fit of GaussianNB does not accept weight"):
        quick().fit(X, y, weight=weights)


def test_weights_and_groups_are_routed():
    weights, groups = np.linspace(1, 2, len(y)), np.arange(len(y)) % 6
    options = {"cv": GroupKFold(3), "max_evaluations": 20}
    with config_context(enable_metadata_routing=True):
        weighted = GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        selector = quick(weighted, **options)
        model = make_pipeline(selector, GaussianNB().set_fit_request(sample_weight=True))
        routed = model.fit(X, y, sample_weight=weights, groups=groups)[0]
    assert_same(routed, quick(**options).fit(X, y, groups=groups, sample_weight=weights))


HALVES = PredefinedSplit(np.where(np.arange(178) % 4 == 0, 0, -1))


@pytest.mark.parametrize(
    "cv", [RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), ShuffleSplit(3, random_state=0), HALVES]
)
def test_any_cross_validation(cv):
    selector = quick(cv=cv, max_evaluations=40).fit(X, y)
    assert selector.evaluator_name_.startswith("GaussianNBEvaluator")
    assert selector.best_score_ == pytest.approx(
        cross_val_score(GaussianNB(), X[:, selector.support_], y, cv=cv).mean()
    )
    assert np.isnan(selector.front_[0].std) == (cv is HALVES)
