"""The evaluator chosen for an estimator, and the sentence that says why."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import RepeatedStratifiedKFold, ShuffleSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import GenericEvaluator, Splits, choose_evaluator
from pqswarm.evaluation import choose as module
from pqswarm.evaluation.estimators import takes_missing
from tests.evaluation.data import dataset, random_masks

X, y, folds = dataset("wine")

NEIGHBORS = KNeighborsClassifier(5)
EXACT = "KNNEvaluator: exact for 5 nearest neighbors by Euclidean distance"


class OwnPipeline(Pipeline):
    pass


@pytest.mark.parametrize(
    ("steps", "scaling", "ending"),
    [
        ([], "none", "."),
        (["passthrough", None], "none", "."),
        ([StandardScaler()], "standard", ", scaled by StandardScaler inside each fold."),
        ([RobustScaler()], "robust", ", scaled by RobustScaler inside each fold."),
        ([MinMaxScaler(copy=False)], "minmax", ", scaled by MinMaxScaler inside each fold."),
        (["passthrough", StandardScaler()], "standard", ", scaled by StandardScaler inside each fold."),
    ],
)
def test_exact_evaluators_are_chosen(steps, scaling, ending):
    model = make_pipeline(*steps, NEIGHBORS)
    choice = choose_evaluator(model, X, y, folds, scoring="accuracy")
    assert choice.evaluator.scaling == scaling
    assert choice.reason == EXACT + ending
    masks = random_masks(3, 13, 0)
    expected = GenericEvaluator(X, y, folds, model, scaling="none").error_counts(masks)
    np.testing.assert_array_equal(choice.evaluator.error_counts(masks), expected)


@pytest.mark.parametrize(
    ("model", "because"),
    [
        (make_pipeline(StandardScaler(with_mean=False), NEIGHBORS), "StandardScaler(with_mean=False) has options"),
        (make_pipeline(MinMaxScaler(clip=True), NEIGHBORS), "MinMaxScaler(clip=True) has options that no exact"),
        (make_pipeline(MinMaxScaler((-1, 1)), NEIGHBORS), "MinMaxScaler(feature_range=(-1, 1)) has options"),
        (make_pipeline(RobustScaler(unit_variance=True), NEIGHBORS), "RobustScaler(unit_variance=True) has options"),
        (make_pipeline(RobustScaler(quantile_range=(10, 90)), NEIGHBORS), "(quantile_range=(10, 90)) has options"),
        (make_pipeline(PCA(1), NEIGHBORS), "PCA(n_components=1) is not a scaler"),
        (make_pipeline(StandardScaler(), MinMaxScaler(), NEIGHBORS), "the pipeline has 2 steps before KNeighborsClas"),
        (KNeighborsClassifier(weights="distance"), "there is no exact evaluator for KNeighborsClassifier(weights='dis"),
        (DecisionTreeClassifier(random_state=0), "there is no exact evaluator for DecisionTreeClassifier()"),
        (OwnPipeline([("model", GaussianNB())]), "is not scikit-learn's own Pipeline"),
    ],
)
def test_the_generic_evaluator_is_explained(model, because):
    choice = choose_evaluator(model, X, y, folds)
    assert choice.name == "GenericEvaluator"
    assert choice.reason.startswith("GenericEvaluator: fitted fold by fold, because ")
    assert because in choice.reason
    assert choice.reason.endswith(".")


def test_all_reasons_against_an_exact_evaluator_are_named(monkeypatch):
    weights = np.linspace(1, 2, 178)
    few = Splits.from_cv(ShuffleSplit(3, test_size=9, random_state=0), X, y)
    against = module.reasons_to_fit_estimator(
        NEIGHBORS, X, y, few, "roc_auc_ovr", sample_weight=weights, fit_params={"a": 1}
    )
    for part in ("does not score by 'roc_auc_ovr'", "fit has parameters"):
        assert part in " ".join(against)
    against = module.reasons_to_fit_estimator(NEIGHBORS, X, y, few, sample_weight=weights)
    for part in ("samples have weights", "a test set that is not a fold of a partition has fewer than 16 samples"):
        assert part in " ".join(against)
    series = Splits.from_cv(TimeSeriesSplit(3), X, y)  # labels are sorted
    assert "lacks a class" in choose_evaluator(GaussianNB(), X, y, series, scoring="neg_log_loss").reason
    assert (
        "or one class"
        in choose_evaluator(
            NEIGHBORS, X[:90], np.repeat([0, 1], 45), Splits([(np.arange(20), np.arange(20, 40))], 90)
        ).reason
    )
    missing = X.copy()
    missing[3, 2] = np.nan
    model = HistGradientBoostingClassifier(max_iter=2, random_state=0)
    assert "X has NaN" in choose_evaluator(model, missing, y, folds).reason
    repeated = Splits.from_cv(RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), X, y)
    assert choose_evaluator(GaussianNB(), X, y, repeated).reason.endswith(", in 2 partitions.")
    monkeypatch.setattr(module, "MAX_TABLE_BYTES", 5 * X.nbytes)
    assert choose_evaluator(GaussianNB(), X, y, repeated).name == "GaussianNBEvaluator"
    scaled = choose_evaluator(make_pipeline(StandardScaler(), GaussianNB()), X, y, repeated)
    assert "its scaled copies of X would take" in scaled.reason


def test_splits_must_be_splits():
    with pytest.raises(PqswarmError, match=r"make them with Splits\.from_cv"):
        choose_evaluator(GaussianNB(), X, y, 5)
    with pytest.raises(PqswarmError, match="must be a scikit-learn classifier or regressor"):
        choose_evaluator(StandardScaler(), X, y, Splits.from_cv(5, X, y))


@pytest.mark.parametrize("model", [NEIGHBORS, DecisionTreeClassifier()])
def test_continuous_targets_are_not_classes(model):
    for make in (choose_evaluator, lambda model, X, y, folds: GenericEvaluator(X, y, folds, model)):
        with pytest.raises(PqswarmError, match="Unknown label type: continuous"):
            make(model, X, X[:, 0] + 0.5, folds)
    assert choose_evaluator(model, X, y.astype(float), folds).evaluator.n_features == 13


def test_seconds_are_measured_once():
    for model, most in ((NEIGHBORS, 3), (DecisionTreeClassifier(random_state=0), 3)):
        choice = choose_evaluator(model, X, y, folds)
        asked = []
        errors = choice.evaluator.errors

        def count(masks, errors=errors, asked=asked):
            asked.extend(masks)
            return errors(masks)

        choice.evaluator.errors = count
        assert 0 < choice.seconds_per_subset < 60
        assert len(asked) <= most
        assert all(mask.sum() == 7 for mask in asked)


def test_a_slow_estimator_is_measured_by_one_subset(monkeypatch):
    monkeypatch.setattr(module, "_SLOW", 0.0)
    choice = choose_evaluator(DecisionTreeClassifier(random_state=0), X, y, folds)
    asked = []
    monkeypatch.setattr(choice.evaluator, "errors", asked.extend)
    assert choice.seconds_per_subset >= 0
    assert len(asked) == 1


def with_missing():
    X, y, folds = dataset("wine")
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    return X, y, folds


@pytest.mark.parametrize(
    ("model", "takes"),
    [
        (HistGradientBoostingClassifier(), True),
        (DecisionTreeClassifier(), True),
        (GaussianNB(), False),
        (make_pipeline(SimpleImputer(), GaussianNB()), True),
        (make_pipeline(StandardScaler(), SimpleImputer(), GaussianNB()), True),
        (make_pipeline(StandardScaler(), GaussianNB()), False),
        (make_pipeline(StandardScaler(), DecisionTreeClassifier()), True),
        (make_pipeline("passthrough", DecisionTreeClassifier()), True),
        (make_pipeline(PCA(), SimpleImputer(), GaussianNB()), False),
        (make_pipeline(FunctionTransformer(np.nan_to_num), GaussianNB()), True),
    ],
)
def test_which_estimators_accept_missing_values(model, takes):
    assert takes_missing(model) is takes


def test_missing_values_are_allowed_if_the_estimator_accepts_them():
    X, y, folds = with_missing()
    masks = random_masks(2, 13, 1)
    for model in (DecisionTreeClassifier(random_state=0), make_pipeline(SimpleImputer(), StandardScaler(), NEIGHBORS)):
        found = choose_evaluator(model, X, y, folds).evaluator.error_counts(masks)
        for mask, counts in zip(masks, found, strict=True):
            for (train, test), count in zip(folds.split(), counts, strict=True):
                predicted = model.fit(X[train][:, mask], y[train]).predict(X[test][:, mask])
                assert np.count_nonzero(predicted != y[test]) == count
    row, column = np.argwhere(np.isnan(X))[0]
    message = rf"feature {column} of sample {row} is NaN, which KNeighborsClassifier does not accept: put an imputer"
    with pytest.raises(PqswarmError, match=message):
        choose_evaluator(make_pipeline(StandardScaler(), NEIGHBORS), X, y, folds)
    with pytest.raises(PqswarmError, match="use scaling='none'"):
        GenericEvaluator(X, y, folds, DecisionTreeClassifier())
    X[4, 7] = np.inf
    with pytest.raises(PqswarmError, match="feature 7 of sample 4 is inf"):
        GenericEvaluator(X, y, folds, DecisionTreeClassifier(), scaling="none")


@pytest.mark.parametrize("scoring", [None, "f1_macro"])
@pytest.mark.parametrize("piped", [False, True])
def test_weights_in_fit_and_score(scoring, piped):
    weights = np.random.default_rng(0).integers(0, 4, 178).astype(float)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = make_pipeline(StandardScaler(), tree) if piped else tree
    masks = random_masks(3, 13, 1)
    evaluator = choose_evaluator(model, X, y, folds, scoring=scoring, sample_weight=weights).evaluator
    key = "decisiontreeclassifier__sample_weight" if piped else "sample_weight"
    expected = np.empty((3, 10))
    for row, mask in enumerate(masks):
        for fold, (train, test) in enumerate(folds.split()):
            predicted = model.fit(X[train][:, mask], y[train], **{key: weights[train]}).predict(X[test][:, mask])
            given = (y[test], predicted)
            if scoring is None:
                score = accuracy_score(*given, sample_weight=weights[test])
            else:
                score = f1_score(*given, average="macro", sample_weight=weights[test])
            expected[row, fold] = 1 - score
    np.testing.assert_array_equal(evaluator.fold_errors(masks), expected)
    np.testing.assert_allclose(evaluator.errors(masks), expected.mean(axis=1), rtol=0, atol=1e-14)
    unweighted = choose_evaluator(model, X, y, folds, scoring=scoring).evaluator.errors(masks)
    assert not np.array_equal(evaluator.errors(masks), unweighted)
    assert evaluator.errors(np.zeros((1, 13), dtype=bool))[0] == (1.0 if scoring is None else np.inf)
    with pytest.raises(PqswarmError, match="error counts exist only"):
        evaluator.error_counts(masks)


def test_weights_of_a_regressor():
    y, weights = X[:, 0] * 3, np.linspace(0.1, 1, 178)
    mask = np.arange(13) % 3 == 1
    evaluator = choose_evaluator(Ridge(), X, y, folds, sample_weight=weights).evaluator
    scores = [
        Ridge().fit(X[train][:, mask], y[train], weights[train]).score(X[test][:, mask], y[test], weights[test])
        for train, test in folds.split()
    ]
    np.testing.assert_allclose(evaluator.fold_errors(mask[None])[0], 1 - np.array(scores), rtol=1e-12)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (NEIGHBORS, {}, "KNeighborsClassifier does not accept sample_weight: leave it out"),
        (make_pipeline(StandardScaler(), NEIGHBORS), {}, "KNeighborsClassifier does not accept sample_weight"),
        (GaussianNB(), {"sample_weight": [1.0]}, "sample_weight must hold a finite number of at least 0 for each of"),
        (GaussianNB(), {"sample_weight": -np.ones(178)}, "sample_weight must hold a finite number"),
        (GaussianNB(), {"sample_weight": np.zeros(178)}, "sample_weight must hold a finite number"),
        (GaussianNB(), {"sample_weight": ["a"] * 178}, "sample_weight must hold a finite number"),
        (GaussianNB(), {"scoring": lambda model, X, y: model.score(X, y)}, "does not accept sample_weight"),
        (GaussianNB(), {"scoring": make_scorer(lambda y, z: float((y == z).mean()))}, "does not accept sample_weight"),
    ],
)
def test_weights_that_cannot_be_used(model, options, message):
    with pytest.raises(PqswarmError, match=message):
        choose_evaluator(model, X, y, folds, **{"sample_weight": np.ones(178), **options})
