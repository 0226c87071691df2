"""The built-in classifiers."""

import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from math import inf
from typing import Any, ClassVar, Self

import numpy as np

from pqswarm._base.checks import is_finite, is_integer
from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.random import derived_seed
from pqswarm._base.threads import effective_jobs
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation.base import ClassificationEvaluator
from pqswarm.evaluation.exact.knn.evaluator import METRICS, FoldView, KNNEvaluator, KNNHyperparameters, KNNOnCpu
from pqswarm.evaluation.exact.linear.lda import LDAEvaluator, LDAHyperparameters
from pqswarm.evaluation.exact.naive_bayes.discrete import (
    DISCRETE_MODELS,
    DiscreteNBEvaluator,
    DiscreteNBHyperparameters,
    make_discrete_estimator,
)
from pqswarm.evaluation.exact.naive_bayes.evaluator import KernelNBEvaluator, KernelNBHyperparameters
from pqswarm.evaluation.exact.naive_bayes.gaussian import GaussianNBEvaluator, GaussianNBHyperparameters
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.generic import GenericEvaluator, first_line
from pqswarm.evaluation.learner import Classifier, ScikitLearner

_MINKOWSKI = {1.0: "manhattan", 2.0: "euclidean", inf: "chebyshev"}
_MIN_SAMPLES = 15  # samples in a fold: the maximum number of neighbours
_SAME_METRIC = {"l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean"}


class KNNClassifier(ScikitLearner, Classifier):
    """Nearest neighbours with uniform votes, one of the paper's two classifiers."""

    name = "k-nn"
    title = "k-NN"
    path = "sklearn.neighbors.KNeighborsClassifier"
    Hyperparameters: ClassVar[type[Parameters]] = KNNHyperparameters
    devices = ("cpu", "cuda")
    exact = True
    # The evaluator does not support the cosine distance, which is listed for comparison.
    grid: ClassVar[Any] = {"metric": (*METRICS, "cosine"), "n_neighbors": tuple(range(1, 16))}
    hyperparameters: KNNHyperparameters
    fast_evaluator = KNNEvaluator

    def estimator(self) -> Any:
        """Return scikit-learn's KNeighborsClassifier."""
        return self.estimator_class()(**self.settings, algorithm="brute")

    def describe(self) -> str:
        """Return a short description."""
        count = self.hyperparameters.n_neighbors
        metric = self.hyperparameters.metric.capitalize()
        return f"{f'{count} nearest neighbours' if count > 1 else 'the nearest neighbour'} by {metric} distance"

    def predict_new(
        self, X: FloatArray, y: AnyArray, new: FloatArray, masks: BoolArray, *, n_jobs: int | None = None
    ) -> AnyArray:
        """Predict the labels of new samples by the evaluator, as its second fold, with its rule for ties."""
        rows = np.resize(np.arange(len(new)), max(len(new), _MIN_SAMPLES))
        folds = Folds(np.repeat([0, 1], [len(X), len(rows)]))
        labels = np.concatenate([y, np.resize(y, len(rows))])  # labels of new samples are not used
        data = np.concatenate([X, new[rows]])
        evaluator = KNNEvaluator(data, labels, folds, **self.settings, scaling="none", n_jobs=n_jobs)
        evaluator.views = [FoldView(evaluator.data, 1)]  # samples of the first fold are not predicted
        found = KNNOnCpu(evaluator).predict(masks)[:, len(X) : len(X) + len(new)]
        return np.asarray(evaluator.classes[found])

    @classmethod
    def _at_point(
        cls, settings: Mapping[str, Any], X: Any, y: Any, folds: Any, **options: Any
    ) -> tuple[ClassificationEvaluator, bool]:
        metric = settings.get("metric", METRICS[0])
        if metric in METRICS:
            return super()._at_point(settings, X, y, folds, **options)
        from sklearn.neighbors import VALID_METRICS, KNeighborsClassifier

        if metric not in VALID_METRICS["brute"]:
            raise unknown_name("metric", metric, sorted({*METRICS, *VALID_METRICS["brute"]}))
        return GenericEvaluator(X, y, folds, KNeighborsClassifier(**settings), **options), False

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the classifier that equals a KNeighborsClassifier with uniform votes."""
        if type(estimator) is not cls.estimator_class() or estimator.weights != "uniform":
            return None
        metric = covered_knn_metric(estimator)
        k = estimator.n_neighbors
        covered = metric is not None and is_integer(k) and 1 <= k <= 15
        return cls({"n_neighbors": k, "metric": metric}) if covered else None


def covered_knn_metric(estimator: Any) -> str | None:
    """Return the distance of a nearest-neighbour estimator if the fast evaluator supports it."""
    if estimator.metric_params is not None or not isinstance(estimator.metric, str):
        return None
    if estimator.metric == "minkowski":
        return _MINKOWSKI.get(estimator.p)
    metric = _SAME_METRIC.get(estimator.metric, estimator.metric)
    return metric if metric in METRICS else None


class KernelNBClassifier(Classifier):
    """Naive Bayes with normal kernel densities, one of the paper's two classifiers."""

    name = "kernel-nb"
    title = "Kernel NB"
    Hyperparameters: ClassVar[type[Parameters]] = KernelNBHyperparameters
    devices = ("cpu", "cuda")
    exact = True
    grid: ClassVar[Any] = {
        "bandwidth": tuple(sorted({*(float(f"{value:.2g}") for value in np.logspace(-4, 0, 21)), 0.004}))
    }
    hyperparameters: KernelNBHyperparameters
    fast_evaluator = KernelNBEvaluator

    def estimator(self) -> Any:
        """Return :class:`pqswarm.KernelNB`."""
        from pqswarm.evaluation.exact.naive_bayes.kernel import KernelNB

        return KernelNB(**self.settings)

    def describe(self) -> str:
        """Return a short description."""
        floor = self.hyperparameters.floor
        bounded = f" and a floor of {floor:g}" if floor else ""
        plain = " and underflow" if self.hyperparameters.underflow else ""
        return f"naive Bayes with kernels of bandwidth {self.hyperparameters.bandwidth:g}{bounded}{plain}"

    def predict_new(
        self, X: FloatArray, y: AnyArray, new: FloatArray, masks: BoolArray, *, n_jobs: int | None = None
    ) -> AnyArray:
        """Predict the labels of new samples; the log densities of each feature are computed once for all subsets."""
        from joblib import Parallel, delayed

        from pqswarm.evaluation.exact.naive_bayes.kernels import decide_exactly

        def terms(columns: IntArray) -> tuple[FloatArray, FloatArray]:
            found: tuple[FloatArray, FloatArray] = self.estimator().fit(X[:, columns], y)._terms(new[:, columns])
            return found

        jobs = min(effective_jobs(n_jobs), X.shape[1])
        parts = np.array_split(np.arange(X.shape[1]), jobs)
        found = Parallel(n_jobs=jobs, backend="threading")(delayed(terms)(columns) for columns in parts)
        table = np.concatenate([part for part, _ in found])
        priors = found[0][1]
        winners = np.empty((len(masks), len(new)), dtype=np.int64)
        for mask, row in zip(masks, winners, strict=True):
            decide_exactly(table, priors, np.flatnonzero(mask), np.arange(len(new)), row)
        return np.asarray(np.unique(y)[winners])

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the classifier that equals a :class:`pqswarm.KernelNB`."""
        from pqswarm.evaluation.exact.naive_bayes.kernel import KernelNB

        return cls(estimator.checked_hyperparameters()) if type(estimator) is KernelNB else None


class GaussianNBClassifier(ScikitLearner, Classifier):
    """Naive Bayes with normal densities, scikit-learn's GaussianNB."""

    name = "gaussian-nb"
    title = "Gaussian NB"
    path = "sklearn.naive_bayes.GaussianNB"
    Hyperparameters: ClassVar[type[Parameters]] = GaussianNBHyperparameters
    devices = ("cpu", "cuda")
    exact = True
    hyperparameters: GaussianNBHyperparameters
    fast_evaluator = GaussianNBEvaluator

    def describe(self) -> str:
        """Return a short description."""
        return f"naive Bayes with normal densities, variances smoothed by {self.hyperparameters.var_smoothing:g}"

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the classifier that equals a GaussianNB without given priors."""
        if type(estimator) is not cls.estimator_class() or estimator.priors is not None:
            return None
        return cls({"var_smoothing": estimator.var_smoothing})


class LDAClassifier(ScikitLearner, Classifier):
    """Linear discriminant analysis, scikit-learn's LinearDiscriminantAnalysis."""

    name = "lda"
    title = "LDA"
    path = "sklearn.discriminant_analysis.LinearDiscriminantAnalysis"
    Hyperparameters: ClassVar[type[Parameters]] = LDAHyperparameters
    exact = True
    hyperparameters: LDAHyperparameters
    fast_evaluator = LDAEvaluator

    def estimator(self) -> Any:
        """Return scikit-learn's LinearDiscriminantAnalysis."""
        own = self.hyperparameters
        return self.estimator_class()(solver=own.solver, shrinkage=own.shrinkage or None)

    def describe(self) -> str:
        """Return a short description."""
        own = self.hyperparameters
        shrunk = f", covariance shrunk by {own.shrinkage:g}" if own.shrinkage else ""
        return f"linear discriminant analysis by {own.solver}{shrunk}"

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the classifier that equals a LinearDiscriminantAnalysis with estimated priors and fixed shrinkage."""
        if type(estimator) is not cls.estimator_class():
            return None
        shrinkage = estimator.shrinkage
        by_svd = estimator.solver == "svd"
        others = (estimator.priors, estimator.n_components, estimator.covariance_estimator) == (None, None, None)
        known = shrinkage is None or (isinstance(shrinkage, int | float) and 0 < shrinkage <= 1 and not by_svd)
        if not others or not known or (by_svd and estimator.tol != 1e-4):
            return None
        return cls({"solver": estimator.solver, "shrinkage": float(shrinkage or 0.0)})


class DiscreteNBClassifier(Classifier):
    """scikit-learn's MultinomialNB, ComplementNB or BernoulliNB, for text and other counts of at least 0."""

    name = "discrete-nb"
    title = "Discrete NB"
    Hyperparameters: ClassVar[type[Parameters]] = DiscreteNBHyperparameters
    exact = True
    takes_sparse = True
    hyperparameters: DiscreteNBHyperparameters
    fast_evaluator = DiscreteNBEvaluator

    def estimator(self) -> Any:
        """Return scikit-learn's classifier."""
        return make_discrete_estimator(self.hyperparameters)

    def describe(self) -> str:
        """Return a short description."""
        return f"{self.hyperparameters.model} naive Bayes, counts smoothed by {self.hyperparameters.alpha:g}"

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the classifier that equals one of the three without given priors."""
        from sklearn import naive_bayes

        models = {getattr(naive_bayes, path): model for model, path in DISCRETE_MODELS.items()}
        model = models.get(type(estimator))
        if model is None or estimator.class_prior is not None:
            return None
        own = {"norm": getattr(estimator, "norm", False), "binarize": getattr(estimator, "binarize", 0.0)}
        if not all(is_finite(one) for one in (estimator.alpha, own["binarize"])):
            return None
        if not (1e-10 <= estimator.alpha <= 1e10 and 0.0 <= own["binarize"] <= 1e300):
            return None
        return cls({"model": model, "alpha": float(estimator.alpha), "fit_prior": bool(estimator.fit_prior)} | own)


_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


class EstimatorHyperparameters(Parameters):
    """Which classifier, and its parameters."""

    _owner = "the classifier"
    estimator: str = parameter("import path of a class, such as sklearn.svm.LinearSVC", default="")
    parameters: tuple[tuple[str, Any], ...] = parameter("arguments of the class, such as {'C': 0.5}", default=())


class EstimatorClassifier(Classifier):
    """Any scikit-learn-compatible classifier, fitted for each subset and fold.

    The import path names a module, which is imported, and a class in it; anything else is refused without being called.
    A class with a random_state is seeded if none is given.
    """

    name = "estimator"
    title = "Estimator"
    Hyperparameters: ClassVar[type[Parameters]] = EstimatorHyperparameters
    hyperparameters: EstimatorHyperparameters

    def __post_init__(self) -> None:
        super().__post_init__()
        self.estimator()

    def estimator(self) -> Any:
        """Return the unfitted, seeded classifier, or raise an error that says what is wrong."""
        from sklearn.base import is_classifier

        path = self.hyperparameters.estimator
        given = dict(self.hyperparameters.parameters)
        found = _import(path)
        known = inspect.signature(found).parameters
        takes_any = any(one.kind is one.VAR_KEYWORD for one in known.values())
        for name in given:
            if name not in known and not takes_any:
                raise unknown_name(f"parameter of {path}", name, known)
        try:
            made = found(**given)
            classifies = is_classifier(made)
            if hasattr(found, "_parameter_constraints"):  # scikit-learn's own: reject wrong values now
                made._validate_params()
        except Exception as error:  # third-party code may raise anything
            raise PqswarmError(f"estimator {self.describe()} cannot be constructed: {first_line(error)}") from error
        if not classifies:
            raise PqswarmError(f"estimator {path} is not a classifier: give the import path of one.")
        return seed_sklearn_estimator(made, 0)

    def describe(self) -> str:
        """Return its import path and parameters."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.hyperparameters.parameters)
        return f"{self.hyperparameters.estimator}({given})"


def _import(path: str) -> Any:
    """The class of an import path; anything else is refused without being called."""
    if not _PATH.fullmatch(path):
        raise PqswarmError(f"estimator must be an import path such as sklearn.svm.LinearSVC, not {path!r}.")
    module, _, name = path.rpartition(".")
    try:
        within = import_module(module)
    except (Exception, SystemExit) as error:  # third-party code may raise anything
        why = f"{module} calls sys.exit." if isinstance(error, SystemExit) else first_line(error)
        raise PqswarmError(f"estimator {path} cannot be imported: {why}") from error
    if not hasattr(within, name):
        raise unknown_name(f"class of {module}", name, [key for key in dir(within) if key[0].isupper()])
    found = getattr(within, name)
    methods = ("fit", "predict", "get_params", "set_params")
    if not isinstance(found, type) or not all(callable(getattr(found, method, None)) for method in methods):
        raise PqswarmError(f"estimator {path} is not a classifier: it must be a class with {', '.join(methods)}.")
    return found


def seed_sklearn_estimator(estimator: Any, seed: int) -> Any:
    """Return an estimator with all random states set, if need be from `seed`, so that errors are repeatable."""
    if not hasattr(estimator, "get_params"):
        return estimator
    values = estimator.get_params()
    loose = [key for key in sorted(values) if key.rpartition("__")[2] == "random_state" and values[key] is None]
    if not loose:
        return estimator
    from sklearn.base import clone

    seeds = {key: derived_seed(seed, (2**31, number)) % 2**31 for number, key in enumerate(loose)}
    return clone(estimator).set_params(**seeds)
