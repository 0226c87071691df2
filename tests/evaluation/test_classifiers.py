"""Classifiers by name: grids, descriptions, any estimator by its import path, entry points."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import pqswarm
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import CLASSIFIERS, GenericEvaluator, GridSearchResult, find_classifier
from pqswarm.evaluation.conformance import check_classifier
from pqswarm.evaluation.scaling import scale_by_extremes
from tests.evaluation.data import dataset

X, y, folds = dataset("wine")

KNN, KERNEL, ANY = CLASSIFIERS["k-nn"], CLASSIFIERS["kernel-nb"], CLASSIFIERS["estimator"]


def test_one_vocabulary():
    assert list(CLASSIFIERS)[:4] == ["k-nn", "kernel-nb", "gaussian-nb", "estimator"]
    assert all(CLASSIFIERS[name].name == name for name in CLASSIFIERS)
    with pytest.raises(PqswarmError, match="unknown classifier 'knn': did you mean 'k-nn'"):
        CLASSIFIERS.find("knn")


def test_descriptions():
    assert KNN().describe() == "3 nearest neighbors by Manhattan distance"
    assert KNN({"n_neighbors": 1, "metric": "chebyshev"}).describe() == "the nearest neighbor by Chebyshev distance"
    assert KERNEL().describe() == "naive Bayes with kernels of bandwidth 0.004"
    assert KERNEL({"floor": 0.01}).describe() == "naive Bayes with kernels of bandwidth 0.004 and a floor of 0.01"
    assert ANY({"estimator": "sklearn.svm.SVC"}).describe() == "sklearn.svm.SVC()"


def test_equal_classifiers_are_one():
    assert len({KNN(), KNN({"n_neighbors": np.int64(3)}), KNN({"n_neighbors": 4})}) == 2
    assert KNN() != KERNEL()
    one = ANY({"estimator": "sklearn.neural_network.MLPClassifier", "parameters": {"hidden_layer_sizes": [5, 4]}})
    assert one == ANY(one.settings)
    assert one.settings["parameters"] == {"hidden_layer_sizes": [5, 4]}
    assert one.estimator().hidden_layer_sizes == (5, 4)
    assert len({one, ANY(one.settings)}) == 1


def test_grid_of_neighbors_and_distances():
    grid = {"metric": ("manhattan", "chebyshev", "cosine"), "n_neighbors": (1, 3, 9)}
    found = KNN.search_grid(X, y, folds, grid=grid)
    rows = found.table()
    assert len(rows) == 9
    for row in rows:
        model = KNeighborsClassifier(row["n_neighbors"], metric=row["metric"])
        assert row["accuracy"] == pytest.approx(
            cross_val_score(model, scale_by_extremes(X, X), y, cv=folds).mean(), abs=1e-12
        )
    assert [row["metric"] != "cosine" for row in rows] == list(found.usable)
    best = max((row for row in rows if row["metric"] != "cosine"), key=lambda row: row["accuracy"])
    assert found.best == {name: best[name] for name in ("metric", "n_neighbors")}
    assert KNN(found.best).settings == found.best
    figure = found.plot()
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        "manhattan", "chebyshev", "cosine", "best",
    ]  # fmt: skip
    assert figure.axes[0].get_xlabel() == "neighbors"


def test_grid_of_bandwidths():
    found = KERNEL.search_grid(X, y, folds)
    bandwidths = [row["bandwidth"] for row in found.table()]
    assert bandwidths[0] == 1e-4
    assert bandwidths[-1] == 1.0
    assert 0.004 in bandwidths
    assert found.best["bandwidth"] == bandwidths[int(np.argmax(found.accuracies))]
    assert found.plot().axes[0].get_xscale() == "log"
    assert CLASSIFIERS["gaussian-nb"].search_grid(X, y, folds) is None


def test_mistakes_in_grids_are_named():
    with pytest.raises(PqswarmError, match="did you mean 'manhattan'"):
        KNN.search_grid(X, y, folds, grid={"metric": ("manhatten",)})
    with pytest.raises(PqswarmError, match="n_neighbors must be an integer"):
        KNN.search_grid(X, y, folds, grid={"n_neighbors": (2.5,)})
    with pytest.raises(PqswarmError, match="the grid of bandwidth is empty"):
        KERNEL.search_grid(X, y, folds, grid={"bandwidth": ()})
    with pytest.raises(PqswarmError, match="unknown parameter 'with'"):
        KERNEL.search_grid(X, y, folds, grid={"with": (1,)})


def test_only_usable_points_are_best_and_the_ring_has_the_color_of_text():
    import matplotlib as mpl

    found = GridSearchResult(("a", "b"), (("x", 1), ("y", 1)), np.array([0.8, 0.9]), (True, False))
    assert found.best == {"a": "x", "b": 1}
    with mpl.rc_context({"text.color": "#123456"}):
        line = found.plot().axes[0].lines[-1]
    assert line.get_markeredgecolor() == "#123456"
    assert line.get_ydata().tolist() == [80.0]


@pytest.mark.parametrize(
    ("path", "parameters", "message"),
    [
        ("", {}, "estimator must be an import path such as sklearn.svm.LinearSVC, not ''"),
        ("SVC", {}, "estimator must be an import path"),
        ("sklearn.svm.SVC()", {}, "estimator must be an import path"),
        ("__import__('os').abort", {}, "estimator must be an import path"),
        ("sklearn.svn.SVC", {}, "estimator sklearn.svn.SVC cannot be imported: No module named 'sklearn.svn'."),
        ("sklearn.svm.LinearSVD", {}, "unknown class of sklearn.svm 'LinearSVD': did you mean 'LinearSV"),
        ("os.abort", {}, "estimator os.abort is not a classifier: it must be a class with fit, predict"),
        ("subprocess.Popen", {"args": "false"}, "estimator subprocess.Popen is not a classifier"),
        ("sklearn.linear_model.Ridge", {}, "estimator sklearn.linear_model.Ridge is not a classifier"),
        ("sklearn.svm.SVC", {"kernal": "rbf"}, "unknown parameter of sklearn.svm.SVC 'kernal': did you mean 'kernel'"),
        ("sklearn.svm.SVC", {"C": -1}, r"SVC\(C=-1\) cannot be constructed: The 'C' parameter of SVC must be"),
        ("sklearn.svm.SVC", {"C": {"a": 1}}, "C in parameters of the classifier must be a number, text"),
        ("sklearn.svm.SVC", 3, "parameters of the classifier must be a mapping of names to values, not 3"),
        ("sklearn.ensemble.VotingClassifier", {}, "cannot be constructed: .* missing 1 required .* 'estimators'"),
        (3, {}, "estimator of the classifier must be text, not 3"),
    ],
)
def test_mistakes_in_estimators_are_one_sentence(path, parameters, message):
    with pytest.raises(PqswarmError, match=message) as caught:
        ANY({"estimator": path, "parameters": parameters})
    assert "\n" not in str(caught.value)


def test_modules_that_fail_are_named(tmp_path, monkeypatch):
    (tmp_path / "failing_module.py").write_text("raise RuntimeError('not today')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PqswarmError, match=r"failing_module.Thing cannot be imported: not today\."):
        ANY({"estimator": "failing_module.Thing"})
    (tmp_path / "ending_module.py").write_text("import sys; sys.exit(3)")
    with pytest.raises(PqswarmError, match=r"ending_module.Thing cannot be imported: ending_module calls sys.exit\."):
        ANY({"estimator": "ending_module.Thing"})


class Odd(GaussianNB):
    """Accepts any parameter, and predicts a label that is not in y."""

    def __init__(self, **kwargs):
        self.given = kwargs
        super().__init__()

    def get_params(self, deep=True):
        return self.given

    def predict(self, X):
        return np.full(len(X), self.given.get("label", 0))


@pytest.mark.parametrize("label", [99, -1, 0.5, "sag"])
def test_labels_that_do_not_exist_are_named_at_once(label):
    classifier = ANY({"estimator": f"{__name__}.Odd", "parameters": {"label": label}})
    evaluator, mask = classifier.evaluator(X, y, folds), np.arange(13) == 4
    for evaluate in (evaluator.errors, evaluator.predictions):
        with pytest.raises(PqswarmError, match=r"^Odd cannot be used with features \[4\]: .*\.$"):
            evaluate(mask[np.newaxis])
    if not isinstance(label, str):
        with pytest.raises(PqswarmError, match=f"it predicts {label}, which is not a label of y"):
            evaluator.error_counts(mask[np.newaxis])
    assert ANY({"estimator": f"{__name__}.Odd"}).evaluator(X, y, folds).errors(mask[np.newaxis])[0] < 1


@pytest.mark.parametrize("scoring", [None, "f1_macro"])
def test_failures_of_predict_are_one_sentence(scoring):
    message = r"^KNeighborsClassifier cannot be used with features \[2\]: Expected n_neighbors <= .*\.$"
    with pytest.raises(PqswarmError, match=message):
        GenericEvaluator(X, y, folds, KNeighborsClassifier(5000), scoring).errors((np.arange(13) == 2)[np.newaxis])


def test_estimators_that_cannot_be_fitted_are_named():
    classifier = ANY({"estimator": "sklearn.naive_bayes.MultinomialNB"})
    evaluator = classifier.evaluator(X - 500, y, folds, scaling="none")
    message = r"^MultinomialNB cannot be used with features \[0, 3\]: Negative values .*\.$"
    with pytest.raises(PqswarmError, match=message):
        evaluator.errors(np.isin(np.arange(13), (0, 3))[np.newaxis])


def test_estimators_are_seeded():
    forest = {"estimator": "sklearn.ensemble.RandomForestClassifier", "parameters": {"n_estimators": 3}}
    assert ANY(forest).estimator().random_state == ANY(forest).estimator().random_state is not None
    seeded = {"estimator": "sklearn.ensemble.RandomForestClassifier", "parameters": {"random_state": 7}}
    assert ANY(seeded).estimator().random_state == 7


def test_classifiers_of_estimators():
    assert find_classifier(KNeighborsClassifier(np.int64(5), p=1)) == KNN({"n_neighbors": 5})
    assert find_classifier(KNeighborsClassifier(25)) is None
    assert find_classifier(pqswarm.KernelNB(0.1, 0.01)) == KERNEL({"bandwidth": 0.1, "floor": 0.01})
    assert find_classifier(GaussianNB(priors=[0.5, 0.5])) is None
    assert find_classifier(DecisionTreeClassifier()) is None


PLUGIN = '''
from sklearn.neighbors import NearestCentroid
from pqswarm.evaluation import Classifier, Parameters, parameter

class CentroidHyperparameters(Parameters):
    """Hyperparameters of the nearest centroid."""

    metric: str = parameter(default="euclidean", meaning="distance to the centers", choices=("euclidean", "manhattan"))

class Centroid(Classifier):
    """The class whose center is nearest."""

    name, title = "centroid", "Nearest centroid"
    Hyperparameters = CentroidHyperparameters
    grid = {"metric": ("euclidean", "manhattan")}

    def estimator(self):
        return NearestCentroid(**self.settings)

    def describe(self):
        return f"nearest centroid by {self.hyperparameters.metric.capitalize()} distance"
'''


@pytest.mark.filterwarnings("ignore:self.within_class_std_dev_ has at least 1 zero")
def test_other_packages_register_by_entry_point(installed):
    """What is refused in general, tests of searches show."""
    assert len(PLUGIN.strip().splitlines()) <= 30
    points = "centroid = plugin:Centroid\nother = plugin:NearestCentroid\n"
    installed(PLUGIN, f"[pqswarm.classifiers]\n{points}", CLASSIFIERS)
    with pytest.raises(PqswarmError, match=r"must be derived from pqswarm\.evaluation\.learners\.Classifier"):
        CLASSIFIERS.find("other")
    assert CLASSIFIERS.find("centroid")().describe() == "nearest centroid by Euclidean distance"
    check_classifier(CLASSIFIERS["centroid"]({"metric": "manhattan"}))
