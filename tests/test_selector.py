"""The selector with scikit-learn."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from pqswarm import KernelNB, SwarmSelector
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import CLASSIFIERS, Classifier, GenericEvaluator
from pqswarm.search import UPSO2D
from pqswarm.selector import ProgressBar

X, y = load_wine(return_X_y=True)


def quick(estimator=None, **options):
    return SwarmSelector(estimator, **({"max_evaluations": 150, "random_state": 0} | options))


@pytest.mark.parametrize(
    "selector",
    [
        SwarmSelector(max_evaluations=10, cv=3),
        SwarmSelector(GaussianNB(), algorithm="bpso", cv=3, max_evaluations=60),
        SwarmSelector(DecisionTreeClassifier(max_depth=3), algorithm="ga", cv=2, max_evaluations=3),
        SwarmSelector(Ridge(), max_evaluations=3),
        SwarmSelector(KernelNB(0.1), algorithm="sffs", cv=2, max_evaluations=60),
        SwarmSelector(BernoulliNB(), cv=2, max_evaluations=3),
    ],
    ids=["default", "gaussian", "generic", "ridge", "kernel", "sparse"],
)
def test_check_estimator(selector):
    with warnings.catch_warnings(action="ignore"):  # scikit-learn's checks warn of small data sets
        results = check_estimator(selector, on_fail=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.mark.slow
def test_common_tests_of_metadata_routing():
    routing = pytest.importorskip("sklearn.tests.test_metaestimators_metadata_routing")
    options = {"max_evaluations": 1, "random_state": 0, "algorithm": "2d-upso"}
    case = {"metaestimator": SwarmSelector, "init_args": options, "X": routing.X, "y": routing.y}
    for name, thing in (("estimator", "classifier"), ("scorer", "scoring"), ("cv", "cv")):
        case |= {name: thing, f"{name}_name": thing, f"{name}_routing_methods": ["fit"]}
    case |= {"estimator_name": "estimator", "preserves_metadata": "subset"}
    beginnings = ("test_metadata", "test_setting", "test_error", "test_non")
    tests = [name for name in dir(routing) if name.startswith(beginnings)]
    assert len(tests) >= 6
    with config_context(enable_metadata_routing=True), warnings.catch_warnings(action="ignore"):
        for name in tests:
            getattr(routing, name)(dict(case))


PAPER = make_pipeline(MinMaxScaler(), KNeighborsClassifier(3, metric="manhattan"))
COVERED = {
    "default, as in the paper": (None, "KNNEvaluator"),
    "3-NN": (KNeighborsClassifier(3), "KNNEvaluator"),
    "cityblock": (KNeighborsClassifier(1, metric="cityblock"), "KNNEvaluator"),
    "Gaussian": (GaussianNB(), "GaussianNBEvaluator"),
    "scaled 3-NN": (make_pipeline(MinMaxScaler(), KNeighborsClassifier(3)), "KNNEvaluator"),
    "kernel": (make_pipeline(MinMaxScaler(), KernelNB(0.05)), "KernelNBEvaluator"),
    "weighted": (KNeighborsClassifier(3, weights="distance"), "GenericEvaluator"),
    "p=3": (KNeighborsClassifier(3, p=3), "GenericEvaluator"),
    "cosine": (KNeighborsClassifier(3, metric="cosine"), "GenericEvaluator"),
    "tree": (DecisionTreeClassifier(random_state=0), "GenericEvaluator"),
}


@pytest.mark.parametrize("name", COVERED)
def test_best_score_is_that_of_scikit_learn_for_the_selected_features(name):
    estimator, evaluator = COVERED[name]
    apart = X + 1e-6 * np.random.default_rng(0).random(X.shape)  # no ties, which scikit-learn orders arbitrarily
    budget = 20 if evaluator == "GenericEvaluator" else 40
    selector = quick(estimator, cv=5, max_evaluations=budget).fit(apart, y)
    assert selector.evaluator_name_.startswith(f"{evaluator}: ")
    plain = PAPER if estimator is None else estimator
    expected = cross_val_score(plain, apart[:, selector.support_], y, cv=5).mean()
    assert selector.best_score_ == pytest.approx(expected, abs=1e-12)


def test_fitted_attributes():
    X, y = load_breast_cancer(return_X_y=True)
    selector = quick(GaussianNB()).fit(X, y)
    assert selector.support_.shape == (30,)
    assert selector.n_features_ == selector.support_.sum() == selector.transform(X).shape[1]
    assert selector.subsets_.shape == (len(selector.estimators_), 30)
    assert selector.union_.sum() <= selector.n_features_
    assert selector.history_.n_evaluations == selector.n_evaluations_ == 150  # not enough for two searches


def test_classifiers_of_other_packages_are_used(monkeypatch):
    class OwnEvaluator(GenericEvaluator):
        pass

    class Stump(Classifier):
        name, title = "stump", "Stump"

        def estimator(self):
            return DecisionTreeClassifier(max_depth=1, random_state=0)

        def _evaluator(self, X, y, folds, **options):
            return OwnEvaluator(X, y, folds, self.estimator(), **options)

        @classmethod
        def from_estimator(cls, estimator):
            return cls() if isinstance(estimator, DecisionTreeClassifier) and estimator.max_depth == 1 else None

    monkeypatch.setitem(CLASSIFIERS._members, "stump", Stump)
    for tree, name in ((DecisionTreeClassifier(max_depth=1), "Own"), (DecisionTreeClassifier(), "Generic")):
        assert quick(tree, cv=3, max_evaluations=20).fit(X, y).evaluator_name_.startswith(f"{name}Evaluator: ")


def test_same_seed_same_selection_and_refit_starts_over():
    one, two = quick(GaussianNB()).fit(X, y), quick(GaussianNB(), n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.history_.errors, two.history_.errors)
    shuffled = np.random.default_rng(0).permutation(y)
    refitted = one.fit(X, shuffled)
    fresh = quick(GaussianNB()).fit(X, shuffled)
    assert refitted.best_score_ == fresh.best_score_ < 0.7
    np.testing.assert_array_equal(refitted.support_, fresh.support_)


def test_global_random_state_is_not_changed():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    for state in (None, 3, np.random.RandomState(3)):
        quick(DecisionTreeClassifier(max_features=2), cv=2, random_state=state, max_evaluations=10).fit(X, y)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_names_pandas_clone_and_pipelines():
    names = load_wine().feature_names
    frame = pd.DataFrame(X, columns=names)
    selector = quick(GaussianNB()).set_output(transform="pandas").fit(frame, y)
    chosen = selector.transform(frame)
    assert list(chosen.columns) == list(selector.get_feature_names_out()) == list(np.array(names)[selector.support_])
    np.testing.assert_array_equal(clone(selector).fit(frame, y).support_, selector.support_)
    pipeline = make_pipeline(StandardScaler(), quick(GaussianNB(), algorithm="2d-upso"), LogisticRegression())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9


def test_names_without_pandas():
    selector = quick(GaussianNB()).fit(X, y)
    assert list(selector.get_feature_names_out()) == [f"x{i}" for i in selector.get_support(indices=True)]
    back = selector.inverse_transform(selector.transform(X))
    np.testing.assert_array_equal(back[:, selector.support_], X[:, selector.support_])


def test_grid_search_over_the_selector():
    pipeline = make_pipeline(MinMaxScaler(), quick(KNeighborsClassifier(), max_evaluations=60), GaussianNB())
    grid = GridSearchCV(
        pipeline,
        {"swarmselector__algorithm": ["2d-upso", "bpso"], "swarmselector__estimator__n_neighbors": [1, 5]},
        cv=3,
    ).fit(X, y)
    assert grid.best_score_ > 0.9
    assert set(grid.cv_results_["param_swarmselector__algorithm"]) == {"2d-upso", "bpso"}


@pytest.mark.parametrize(("wanted", "expected"), [(1, 1), (5, 5), (13, 13), (0.5, 6), (0.01, 1)])
@pytest.mark.parametrize("algorithm", ["2d-upso", "cbpso", "sffs", "aco"])
def test_number_of_features(algorithm, wanted, expected):
    selector = quick(GaussianNB(), algorithm=algorithm, n_features_to_select=wanted, max_evaluations=250).fit(X, y)
    assert selector.n_features_ == expected


def test_regressors_and_scorings():
    X, y = load_diabetes(return_X_y=True)
    selector = quick(LinearRegression(), cv=KFold(5)).fit(X, y)
    score = cross_val_score(LinearRegression(), X[:, selector.support_], y, cv=KFold(5)).mean()
    assert selector.best_score_ == pytest.approx(score)
    loss = quick(LinearRegression(), cv=5, scoring="neg_mean_absolute_error").fit(X, y)
    expected = cross_val_score(
        LinearRegression(), X[:, loss.support_], y, cv=5, scoring="neg_mean_absolute_error"
    ).mean()
    assert loss.best_score_ == pytest.approx(expected)


def test_labels_of_text_and_splits():
    words = np.array(["red", "rose", "white"])[y]
    assert quick(GaussianNB()).fit(X, words).best_score_ > 0.9
    pairs = list(StratifiedKFold(4).split(X, y))
    assert quick(GaussianNB(), cv=pairs).fit(X, y).best_score_ > 0.9


def test_too_many_folds_for_small_classes_warn():
    few = np.concatenate([np.flatnonzero(y == label)[:4] for label in range(3)])
    with pytest.warns(UserWarning, match="cv=10 folds are too many for classes of at most 4 samples: using 4 folds"):
        quick(KNeighborsClassifier(3), max_evaluations=30).fit(X[few], y[few])
    with pytest.warns(UserWarning, match="cv=10 folds are too many for 15 samples: using 7 folds"):
        quick(Ridge(), max_evaluations=30).fit(X[:15], X[:15, 0])


def test_progress_is_silent_by_default(capsys):
    quick(GaussianNB(), max_evaluations=60).fit(X, y)
    assert capsys.readouterr() == ("", "")
    quick(GaussianNB(), max_evaluations=60, callbacks=ProgressBar()).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "60/60" in err


def test_all_but_the_estimator_are_keywords():
    parameters = list(inspect.signature(SwarmSelector).parameters.values())
    assert len(parameters) == 15
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters[1:])


def test_callback_and_classes_as_algorithms():
    algorithm = (UPSO2D, {"swarm_size": 20})
    selector = quick(GaussianNB(), algorithm=algorithm, max_features=None, callbacks=lambda progress: True).fit(X, y)
    assert selector.n_evaluations_ == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "upso"}, "unknown algorithm 'upso'"),
        ({"n_features_to_select": 14}, "n_features_to_select must be an integer from 1 to 13"),
        ({"n_features_to_select": True}, "n_features_to_select must be"),
        ({"n_features_to_select": 1.0}, "n_features_to_select must be"),
        ({"n_features_to_select": 3, "algorithm": ("merit", {"size": 3})}, "not both"),
        ({"algorithm": ("merit", [1])}, "algorithm must be a name or class, or a pair of it and a mapping"),
        ({"algorithm": ("2d-upso", {"swarm": 3})}, "unknown parameter 'swarm'"),
        ({"random_state": -1}, "random_state must be an integer of at least 0"),
        ({"random_state": "x"}, "random_state must be an integer of at least 0"),
        ({"estimator": GaussianNB}, r"must be an instance, not the class GaussianNB: write GaussianNB\(\)"),
        ({"callbacks": 3}, "callbacks must be a function, a list of functions or None"),
        ({"callbacks": [print, 3]}, "callbacks must be a function, a list of functions or None"),
        ({"constraints": [0]}, "constraints must map fixed, excluded, groups to features"),
        ({"constraints": {"fix": [0]}}, "unknown constraint 'fix': did you mean 'fixed'"),
        ({"constraints": {"fixed": "0"}}, "fixed must be a list"),
        ({"constraints": {"fixed": [13]}}, "fixed holds 13, but features have positions 0 to 12"),
        ({"constraints": {"excluded": ["hue"]}}, "unknown feature in excluded 'hue'"),
        ({"constraints": {"fixed": [1], "excluded": [1]}}, "both fixed and excluded"),
        ({"constraints": {"groups": [[0, 1], [1, 2]]}}, "groups holds 1 twice"),
        ({"constraints": {"groups": 3}}, "groups must be lists of features"),
        ({"constraints": {"excluded": range(13)}}, "nothing to search"),
        ({"constraints": {"fixed": [0, 1]}, "n_features_to_select": 2}, "must exceed the 2 fixed features"),
        ({"estimator": "knn"}, "estimator must be a scikit-learn classifier or regressor"),
        ({"max_evaluations": 2.5}, "max_evaluations must be an integer"),
        ({"n_jobs": 0}, "n_jobs must be an integer other than 0"),
        ({"n_subsets": 0}, "n_subsets must be an integer"),
        (
            {"max_features": 0},
            "max_features must be an integer from 1 to 13, a fraction between 0 and 1, 'auto' or None",
        ),
        ({"max_features": "all"}, "max_features must be an integer"),
        ({"max_features": 3, "n_subsets": 1}, "for one, use n_features_to_select"),
        ({"max_features": 2, "constraints": {"fixed": [0, 1]}}, "max_features must be at least 3, for the fixed"),
        ({"transform_features": "all"}, "unknown transform_features 'all'"),
        ({"n_features_to_select": "2se"}, "n_features_to_select must be an integer from 1 to 13.* '1se'"),
        ({"prefilter": "anowa"}, "unknown prefilter 'anowa': did you mean 'anova'"),
        ({"prefilter": 0}, "prefilter must be"),
        ({"storage": 3}, "storage must be a file name"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(PqswarmError, match=message):
        quick(**options).fit(X, y)


def test_labels_that_are_missing_or_look_like_quantities():
    holes = np.array(["a", None, "b"], dtype=object)[y]
    with pytest.raises(PqswarmError, match="y must not hold None, but value 59 is"):
        quick().fit(X, holes)
    with pytest.warns(UserWarning, match="y holds 59 different numbers.* use a regressor if they are quantities"):
        quick(KNeighborsClassifier(1), cv=KFold(2), max_evaluations=2).fit(X, np.arange(178) % 59)


def test_randomness_of_the_estimator_is_fixed_too():
    tree = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=2))
    one, two = (quick(tree, cv=3, max_evaluations=20, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.history_.errors, two.history_.errors)
    assert tree.get_params()["decisiontreeclassifier__random_state"] is None


def test_scorings_that_cannot_be_used():
    X, y = load_diabetes(return_X_y=True)
    told = "scoring 'r2' needs two samples in each fold: use fewer folds"
    with warnings.catch_warnings(action="ignore"), pytest.raises(PqswarmError, match=told):
        quick(LinearRegression(), cv=LeaveOneOut()).fit(X[:40], y[:40])


def test_an_error_of_the_estimator_is_an_error():
    class Broken(GaussianNB):
        def predict(self, X):
            raise RuntimeError("broken")

    with pytest.raises(PqswarmError, match=r"^Broken cannot be used with features \[.*\]: broken\.$") as caught:
        quick(Broken(), max_evaluations=20).fit(X, y)
    assert isinstance(caught.value.__cause__, RuntimeError)
