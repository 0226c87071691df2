"""Classifiers and regressors by name: hyperparameters, an evaluator of subsets, and a scikit-learn estimator."""

import inspect
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from math import inf
from typing import Any, ClassVar, Self, TypeVar, Unpack

import numpy as np

from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.plotting import new_axes
from pqswarm._base.random import derived_seed
from pqswarm._base.registry import Registry
from pqswarm._base.threads import effective_jobs
from pqswarm._base.typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation.base import (
    DEVICES,
    SCORINGS,
    ClassificationEvaluator,
    RegressionEvaluator,
    RegressionOptions,
    check_device,
    first_error_line,
    import_member,
)
from pqswarm.evaluation.estimators import accepts_argument, fit_estimator
from pqswarm.evaluation.exact.knn.evaluator import (
    METRICS,
    FoldView,
    KNNEvaluator,
    KNNHyperparameters,
    KNNRegressionEvaluator,
    KNNRegressionHyperparameters,
)
from pqswarm.evaluation.exact.linear.evaluator import (
    LDAEvaluator,
    LDAHyperparameters,
    LinearEvaluator,
    LinearHyperparameters,
    RidgeHyperparameters,
)
from pqswarm.evaluation.exact.naive_bayes.evaluator import (
    DISCRETE_MODELS,
    DiscreteNBEvaluator,
    DiscreteNBHyperparameters,
    GaussianNBEvaluator,
    GaussianNBHyperparameters,
    KernelNBEvaluator,
    KernelNBHyperparameters,
)
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.generic import GenericEvaluator
from pqswarm.evaluation.scaling import Scaling


@dataclass(frozen=True, eq=False)
class GridSearchResult:
    """The mean accuracy of all features over the folds, at each point of a grid.

    Attributes
    ----------
    names : tuple of str
        The hyperparameters.
    points : tuple of tuple
        Their values.
    accuracies : ndarray of shape (n_points,)
        Mean accuracy over the folds at each point.
    usable : tuple of bool
        Whether the classifier accepts each point; some are only for comparison, such as the cosine distance of nearest
        neighbors. Empty means all.

    Examples
    --------
    >>> found = GridSearchResult(("bandwidth",), ((0.01,), (0.1,)), np.array([0.8, 0.9]))
    >>> found.best, found.table()[0]
    ({'bandwidth': 0.1}, {'bandwidth': 0.01, 'accuracy': 0.8})
    """

    names: tuple[str, ...]
    points: tuple[tuple[Any, ...], ...]
    accuracies: FloatArray
    usable: tuple[bool, ...] = ()

    @property
    def best(self) -> dict[str, Any]:
        """The usable hyperparameters with the highest accuracy; of equals the first."""
        return dict(zip(self.names, self.points[self._best], strict=True))

    @property
    def _best(self) -> int:
        return int(np.where(self.usable or True, self.accuracies, -np.inf).argmax())

    def table(self) -> list[dict[str, Any]]:
        """Return one row per point: the hyperparameters and the accuracy."""
        return [
            {**dict(zip(self.names, point, strict=True)), "accuracy": float(accuracy)}
            for point, accuracy in zip(self.points, self.accuracies, strict=True)
        ]

    def plot(self) -> Any:
        """Plot accuracy against the last hyperparameter, a line per value of the others; the best is circled."""
        axis = new_axes(6.0, 4.0)
        import matplotlib as mpl

        for others in dict.fromkeys(point[:-1] for point in self.points):
            chosen = [i for i, point in enumerate(self.points) if point[:-1] == others]
            x = [self.points[i][-1] for i in chosen]
            label = ", ".join(map(str, others)) or None
            axis.plot(x, 100 * self.accuracies[chosen], marker="o", ms=4, lw=1.2, label=label)
        best = self._best
        ink = mpl.rcParams["text.color"]
        axis.plot(self.points[best][-1], 100 * self.accuracies[best], "o", ms=13, mfc="none", mec=ink, label="best")
        values = sorted({point[-1] for point in self.points})
        if all(isinstance(value, int) for value in values):
            axis.set_xticks(values)
        elif values[0] > 0 and values[-1] > 100 * values[0]:
            axis.set_xscale("log")
        axis.set_xlabel(self.names[-1].removeprefix("n_").replace("_", " "))
        axis.set_ylabel("mean accuracy over the folds [%]")
        axis.legend(frameon=False)
        axis.grid(alpha=0.3)
        return axis.figure


@dataclass(frozen=True)
class Learner(ABC):
    """A classifier or regressor with its hyperparameters; learners with equal hyperparameters are equal.

    Subclasses set `name`, under which it is registered, the same in plans, model files and on the command line;
    `title`, its name in tables and figures; and `fast_evaluator`, constructed with the hyperparameters, if there is
    one, and whether it takes a sparse matrix.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    Hyperparameters: ClassVar[type[Parameters]] = Parameters
    fast_evaluator: ClassVar[Any] = None
    takes_sparse: ClassVar[bool] = False

    hyperparameters: Any = None  # of the class `Hyperparameters`

    def __post_init__(self) -> None:
        object.__setattr__(self, "hyperparameters", self.Hyperparameters.of(self.hyperparameters))

    @property
    def settings(self) -> dict[str, Any]:
        """The hyperparameters as JSON values; the registered class called with them returns an equal learner."""
        return self.hyperparameters.settings()  # type: ignore[no-any-return]

    @abstractmethod
    def estimator(self) -> Any:
        """Return the same learner as a new, seeded scikit-learn estimator, for features that are already scaled."""

    def describe(self) -> str:
        """Return a short description for a sentence, such as ``"3 nearest neighbors by Manhattan distance"``."""
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"{self.title} with {settings}" if settings else self.title

    def _evaluator(self, X: Any, y: Any, folds: Any, **options: Any) -> Any:
        """The evaluator; `options` are those of its constructor other than the hyperparameters."""
        return self.fast_evaluator(X, y, folds, **self.settings, **options)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:  # noqa: ARG003
        """Return the learner that equals a scikit-learn estimator and can evaluate subsets for it, or None."""
        return None

    @classmethod
    def _of_settings(cls, settings: Mapping[str, Any] | None) -> Self | None:
        """The learner with these hyperparameters; None if there are none, or one exceeds its range."""
        try:
            return None if settings is None else cls(settings)
        except PqswarmError:
            return None


class ScikitLearner(Learner):
    """A learner whose estimator is the class at `path`, of scikit-learn or like it, called with the hyperparameters."""

    path: ClassVar[str]

    @classmethod
    def estimator_class(cls) -> Any:
        """Return the class, which is imported on first use."""
        module, _, name = cls.path.rpartition(".")
        return getattr(import_module(module), name)

    def estimator(self) -> Any:
        """Return a new estimator with the hyperparameters."""
        return self.estimator_class()(**self.settings)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the learner that equals an estimator of this class, if its options are covered."""
        return cls._of_settings(cls._covered_settings(estimator) if type(estimator) is cls.estimator_class() else None)

    @classmethod
    @abstractmethod
    def _covered_settings(cls, estimator: Any) -> dict[str, Any] | None:
        """The hyperparameters of an estimator; None if it has options that the fast evaluator does not cover."""


class Classifier(Learner):
    """A classifier with its hyperparameters; classifiers with equal hyperparameters are equal.

    To add one, derive from this class, set `name`, `title` and `Hyperparameters`, and write :meth:`estimator`. Subsets
    are then evaluated by fitting as usual. A `fast_evaluator`, or the method `_evaluator`, replaces that. Register it
    by an entry point in the group ``pqswarm.classifiers``, and check it by :mod:`pqswarm.evaluation.conformance`.

    Parameters
    ----------
    hyperparameters : Parameters or mapping, default=None
        Hyperparameters; the others keep their defaults.

    Attributes
    ----------
    name, title : str
        The registered name, used in plans, model files and on the command line; the name in tables and figures.
    fast_evaluator : type or None
        The exact evaluator that is constructed with the hyperparameters, if there is one.
    devices : tuple of str
        Where its evaluator computes.
    grid : mapping of str to sequence
        The values of each hyperparameter that :meth:`search_grid` tries; empty if there is nothing to search.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm.evaluation import CLASSIFIERS
    >>> X, y = load_wine(return_X_y=True)
    >>> classifier = CLASSIFIERS["k-nn"]({"n_neighbors": 5})
    >>> classifier.settings, classifier.describe()
    ({'n_neighbors': 5, 'metric': 'manhattan'}, '5 nearest neighbors by Manhattan distance')
    >>> evaluator = classifier.evaluator(X, y, Folds.stratified(y))
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.05)
    True
    """

    devices: ClassVar[tuple[str, ...]] = ("cpu",)
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {}

    def evaluator(
        self,
        X: ArrayLike,
        y: ArrayLike,
        folds: Folds,
        *,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> ClassificationEvaluator:
        """Return the evaluator of feature subsets by this classifier.

        Parameters
        ----------
        X, y, folds, scaling, n_jobs
            See :class:`ClassificationEvaluator`.
        device : str, default="cpu"
            Where it computes: one of `devices`.

        Returns
        -------
        ClassificationEvaluator
            An evaluator whose predictions are those of :meth:`estimator`.
        """
        if device in DEVICES and device not in self.devices:
            raise PqswarmError(f"{self.name} cannot compute on device {device!r}: use {' or '.join(self.devices)}.")
        check_device(device)
        more = {"device": device} if len(self.devices) > 1 else {}
        return self._evaluator(X, y, folds, scaling=scaling, n_jobs=n_jobs, **more)

    def _evaluator(self, X: ArrayLike, y: ArrayLike, folds: Folds, **options: Any) -> ClassificationEvaluator:
        """The evaluator; `options` are `scaling`, `n_jobs` and, if there are several `devices`, `device`."""
        if self.fast_evaluator is None:
            return GenericEvaluator(X, y, folds, self.estimator(), **options)
        return super()._evaluator(X, y, folds, **options)  # type: ignore[no-any-return]

    def predict_new(
        self, X: FloatArray, y: AnyArray, new: FloatArray, masks: BoolArray, *, n_jobs: int | None = None
    ) -> AnyArray:
        """Predict the labels of new samples by a classifier fitted to all others, for each subset of the features.

        Parameters
        ----------
        X, y : ndarray of shape (n_samples, n_features), and (n_samples,)
            Training samples, scaled.
        new : ndarray of shape (n_new, n_features)
            Samples to predict, in the same scale.
        masks : ndarray of bool, shape (m, n_features)
            Non-empty subsets.
        n_jobs : int or None, default=None
            Threads; see :class:`ClassificationEvaluator`.

        Returns
        -------
        ndarray of shape (m, n_new)
            The predictions of :meth:`estimator`, with ties broken as by the evaluator.

        Examples
        --------
        >>> from pqswarm.evaluation import CLASSIFIERS
        >>> X, y = np.array([[0.0, 0.5], [0.1, 0.4], [1.0, 0.5]]), np.array([0, 0, 1])
        >>> masks = np.array([[True, False], [True, True]])
        >>> CLASSIFIERS["k-nn"]({"n_neighbors": 1}).predict_new(X, y, np.array([[0.8, 0.5]]), masks).tolist()
        [[1], [1]]
        """
        from joblib import Parallel, delayed

        predicted = np.empty((len(masks), len(new)), dtype=y.dtype)

        def work(row: int) -> None:
            mask = masks[row]
            try:
                predicted[row] = fit_estimator(self.estimator(), X[:, mask], y).predict(new[:, mask])
            except Exception as error:  # third-party code may raise anything
                what = f"{self.describe()} cannot be used with features {np.flatnonzero(mask).tolist()}"
                raise PqswarmError(f"{what}: {first_error_line(error)}") from error

        jobs = min(effective_jobs(n_jobs), len(masks))
        Parallel(n_jobs=jobs, backend="threading")(delayed(work)(row) for row in range(len(masks)))
        return predicted

    @classmethod
    def search_grid(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        folds: Folds,
        *,
        grid: Mapping[str, Sequence[Any]] | None = None,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
    ) -> GridSearchResult | None:
        """Compute the accuracy of all features at each combination of hyperparameters.

        Parameters
        ----------
        X, y, folds, scaling, n_jobs
            See :class:`ClassificationEvaluator`.
        grid : mapping of str to sequence, default=None
            The values of each hyperparameter to try; by default the class variable `grid`.

        Returns
        -------
        GridSearchResult or None
            With ``.best``, ``.table()`` and ``.plot()``; None if there is nothing to search.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from pqswarm.evaluation import CLASSIFIERS
        >>> X, y = load_wine(return_X_y=True)
        >>> CLASSIFIERS["kernel-nb"].search_grid(X, y, Folds.stratified(y), grid={"bandwidth": (1e-4, 0.05)}).best
        {'bandwidth': 0.05}
        """
        chosen = cls.grid if grid is None else grid
        if not chosen:
            return None
        names = tuple(chosen)
        points = tuple(product(*chosen.values()))
        if not points:
            raise PqswarmError(f"the grid of {' and '.join(names)} is empty: give at least one value of each.")
        accuracies = []
        usable = []
        for point in points:
            settings = dict(zip(names, point, strict=True))
            evaluator, is_usable = cls._evaluator_at_grid_point(settings, X, y, folds, scaling=scaling, n_jobs=n_jobs)
            accuracies.append(1.0 - evaluator.errors(np.ones((1, evaluator.n_features), dtype=np.bool_))[0])
            usable.append(is_usable)
        return GridSearchResult(names, points, np.array(accuracies), tuple(usable))

    @classmethod
    def _evaluator_at_grid_point(
        cls, settings: Mapping[str, Any], X: ArrayLike, y: ArrayLike, folds: Folds, **options: Any
    ) -> tuple[ClassificationEvaluator, bool]:
        """The evaluator at one point of a grid, and whether the classifier accepts these hyperparameters."""
        return cls(settings).evaluator(X, y, folds, **options), True


class Regressor(Learner):
    """A regressor with its hyperparameters and a fast evaluator; regressors with equal hyperparameters are equal.

    To add one, derive from this class, set `name`, `title`, `Hyperparameters` and `fast_evaluator`, and write
    :meth:`estimator` and :meth:`from_estimator`. A regressor without a fast evaluator needs none of this:
    :class:`GenericEvaluator` evaluates any.

    Parameters
    ----------
    hyperparameters : Parameters or mapping, default=None
        Hyperparameters; the others keep their defaults.

    Attributes
    ----------
    name, title : str
        The name under which it is registered; its name in tables and figures.
    fast_evaluator : type
        The evaluator that is constructed with the hyperparameters.
    scorings : tuple of str
        scikit-learn's names of the scores that its evaluator computes exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from pqswarm.evaluation import REGRESSORS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> regressor = REGRESSORS["ridge"]({"alpha": 0.5})
    >>> regressor.describe()
    'ridge regression with alpha 0.5'
    >>> evaluator = regressor.evaluator(X, y, Folds(np.arange(442) % 10))
    >>> bool(evaluator.errors(np.ones((1, 10), dtype=bool))[0] < 0.52)
    True
    """

    scorings: ClassVar[tuple[str, ...]] = SCORINGS

    def evaluator(
        self, X: ArrayLike, y: ArrayLike, folds: Folds, **options: Unpack[RegressionOptions]
    ) -> RegressionEvaluator:
        """Return the evaluator of feature subsets by this regressor.

        Parameters
        ----------
        X, y, folds, scoring, scaling, n_jobs
            See :class:`RegressionEvaluator`.

        Returns
        -------
        RegressionEvaluator
            An evaluator whose predictions are those of :meth:`estimator`.
        """
        return self._evaluator(X, y, folds, **options)  # type: ignore[no-any-return]


_MINKOWSKI = {1.0: "manhattan", 2.0: "euclidean", inf: "chebyshev"}
_MIN_SAMPLES = 15  # samples in a fold: the maximum number of neighbors
_SAME_METRIC = {"l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean"}


class _NearestNeighbors(ScikitLearner):
    """What nearest neighbors share as classifier and as regressor."""

    def estimator(self) -> Any:
        """Return scikit-learn's estimator."""
        return self.estimator_class()(**self.settings, algorithm="brute")

    @classmethod
    def _covered_settings(cls, estimator: Any) -> dict[str, Any] | None:
        metric = _MINKOWSKI.get(estimator.p) if estimator.metric == "minkowski" else estimator.metric
        if estimator.weights != "uniform" or estimator.metric_params is not None or not isinstance(metric, str):
            return None
        return {"n_neighbors": estimator.n_neighbors, "metric": _SAME_METRIC.get(metric, metric)}


class KNNClassifier(_NearestNeighbors, Classifier):
    """Nearest neighbors with uniform votes, one of the paper's two classifiers."""

    name = "k-nn"
    title = "k-NN"
    path = "sklearn.neighbors.KNeighborsClassifier"
    Hyperparameters = KNNHyperparameters
    devices = ("cpu", "cuda")
    # The evaluator does not support the cosine distance, which is listed for comparison.
    grid: ClassVar[Any] = {"metric": (*METRICS, "cosine"), "n_neighbors": tuple(range(1, 16))}
    fast_evaluator = KNNEvaluator

    def describe(self) -> str:
        """Return a short description."""
        count = self.hyperparameters.n_neighbors
        metric = self.hyperparameters.metric.capitalize()
        return f"{f'{count} nearest neighbors' if count > 1 else 'the nearest neighbor'} by {metric} distance"

    def predict_new(
        self, X: FloatArray, y: AnyArray, new: FloatArray, masks: BoolArray, *, n_jobs: int | None = None
    ) -> AnyArray:
        """Predict the labels of new samples by the evaluator, as its second fold, with its rule for ties."""
        rows = np.resize(np.arange(len(new)), max(len(new), _MIN_SAMPLES))
        folds = Folds(np.repeat([0, 1], [len(X), len(rows)]))
        data = np.concatenate([X, new[rows]])
        labels = np.resize(y, len(data))  # those of new samples are not used
        evaluator = KNNEvaluator(data, labels, folds, **self.settings, scaling="none", n_jobs=n_jobs)
        evaluator.views = [FoldView(evaluator.data, range(1, 2))]  # samples of the first fold are not predicted
        return np.asarray(evaluator.classes[evaluator._predict(masks)[:, len(X) : len(X) + len(new)]])

    @classmethod
    def _evaluator_at_grid_point(
        cls, settings: Mapping[str, Any], X: Any, y: Any, folds: Any, **options: Any
    ) -> tuple[ClassificationEvaluator, bool]:
        metric = settings.get("metric", METRICS[0])
        if metric in METRICS:
            return super()._evaluator_at_grid_point(settings, X, y, folds, **options)
        from sklearn.neighbors import VALID_METRICS, KNeighborsClassifier

        if metric not in VALID_METRICS["brute"]:
            raise unknown_name("metric", metric, sorted({*METRICS, *VALID_METRICS["brute"]}))
        return GenericEvaluator(X, y, folds, KNeighborsClassifier(**settings), **options), False


class KernelNBClassifier(ScikitLearner, Classifier):
    """Naive Bayes with normal kernel densities, one of the paper's two classifiers."""

    name = "kernel-nb"
    title = "Kernel NB"
    path = "pqswarm.evaluation.exact.naive_bayes.estimator.KernelNB"
    Hyperparameters = KernelNBHyperparameters
    devices = ("cpu", "cuda")
    grid: ClassVar[Any] = {
        "bandwidth": tuple(sorted({*(float(f"{value:.2g}") for value in np.logspace(-4, 0, 21)), 0.004}))
    }
    fast_evaluator = KernelNBEvaluator

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

        from pqswarm.evaluation.exact.naive_bayes.kernels import decide_nb_exactly

        def terms(columns: IntArray) -> tuple[FloatArray, FloatArray]:
            return self.estimator().fit(X[:, columns], y)._terms(new[:, columns])  # type: ignore[no-any-return]

        jobs = min(effective_jobs(n_jobs), X.shape[1])
        parts = np.array_split(np.arange(X.shape[1]), jobs)
        parts_of_table = Parallel(n_jobs=jobs, backend="threading")(delayed(terms)(columns) for columns in parts)
        table = np.concatenate([part for part, _ in parts_of_table])
        priors = parts_of_table[0][1]
        winners = np.empty((len(masks), len(new)), dtype=np.int64)
        for mask, row in zip(masks, winners, strict=True):
            decide_nb_exactly(table, priors, np.flatnonzero(mask), np.arange(len(new)), row)
        return np.asarray(np.unique(y)[winners])

    @classmethod
    def _covered_settings(cls, estimator: Any) -> dict[str, Any] | None:
        return estimator.checked_hyperparameters().settings()  # type: ignore[no-any-return]


class GaussianNBClassifier(ScikitLearner, Classifier):
    """Naive Bayes with normal densities, scikit-learn's GaussianNB."""

    name = "gaussian-nb"
    title = "Gaussian NB"
    path = "sklearn.naive_bayes.GaussianNB"
    Hyperparameters = GaussianNBHyperparameters
    devices = ("cpu", "cuda")
    fast_evaluator = GaussianNBEvaluator

    def describe(self) -> str:
        """Return a short description."""
        return f"naive Bayes with normal densities, variances smoothed by {self.hyperparameters.var_smoothing:g}"

    @classmethod
    def _covered_settings(cls, estimator: Any) -> dict[str, Any] | None:
        return {"var_smoothing": estimator.var_smoothing} if estimator.priors is None else None


class LDAClassifier(ScikitLearner, Classifier):
    """Linear discriminant analysis, scikit-learn's LinearDiscriminantAnalysis."""

    name = "lda"
    title = "LDA"
    path = "sklearn.discriminant_analysis.LinearDiscriminantAnalysis"
    Hyperparameters = LDAHyperparameters
    fast_evaluator = LDAEvaluator

    def estimator(self) -> Any:
        """Return scikit-learn's LinearDiscriminantAnalysis."""
        return self.hyperparameters.estimator()

    def describe(self) -> str:
        """Return a short description."""
        shrinkage = self.hyperparameters.shrinkage
        shrunk = f", covariance shrunk by {shrinkage:g}" if shrinkage else ""
        return f"linear discriminant analysis by {self.hyperparameters.solver}{shrunk}"

    @classmethod
    def _covered_settings(cls, estimator: Any) -> dict[str, Any] | None:
        shrinkage = estimator.shrinkage
        by_svd = estimator.solver == "svd"
        is_plain = (estimator.priors, estimator.n_components, estimator.covariance_estimator) == (None, None, None)
        is_fixed = shrinkage is None or (isinstance(shrinkage, int | float) and 0 < shrinkage <= 1 and not by_svd)
        covered = is_plain and is_fixed and not (by_svd and estimator.tol != 1e-4)
        return {"solver": estimator.solver, "shrinkage": float(shrinkage or 0.0)} if covered else None


class DiscreteNBClassifier(Classifier):
    """scikit-learn's MultinomialNB, ComplementNB or BernoulliNB, for text and other counts of at least 0."""

    name = "discrete-nb"
    title = "Discrete NB"
    Hyperparameters = DiscreteNBHyperparameters
    takes_sparse = True
    fast_evaluator = DiscreteNBEvaluator

    def estimator(self) -> Any:
        """Return scikit-learn's classifier."""
        return self.hyperparameters.estimator()

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
        return cls._of_settings(
            {
                "model": model,
                "alpha": estimator.alpha,
                "fit_prior": bool(estimator.fit_prior),
                "norm": getattr(estimator, "norm", False),
                "binarize": getattr(estimator, "binarize", 0.0),
            }
        )


_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


class EstimatorHyperparameters(Parameters):
    """Which classifier, and its parameters."""

    _owner = " of the classifier"
    estimator: str = parameter("import path of a class, such as sklearn.svm.LinearSVC", default="")
    parameters: tuple[tuple[str, Any], ...] = parameter("arguments of the class, such as {'C': 0.5}", default=())


class EstimatorClassifier(Classifier):
    """Any scikit-learn-compatible classifier, fitted for each subset and fold.

    The import path names a module, which is imported, and a class in it; anything else is refused without being called.
    A class with a random_state is seeded if none is given.
    """

    name = "estimator"
    title = "Estimator"
    Hyperparameters = EstimatorHyperparameters

    def __post_init__(self) -> None:
        super().__post_init__()
        self.estimator()

    def estimator(self) -> Any:
        """Return the unfitted, seeded classifier, or raise an error that says what is wrong."""
        from sklearn.base import is_classifier

        path = self.hyperparameters.estimator
        given = dict(self.hyperparameters.parameters)
        estimator_class = _import_estimator_class(path)
        for name in given:
            if not accepts_argument(estimator_class, name):
                raise unknown_name(f"parameter of {path}", name, inspect.signature(estimator_class).parameters)
        try:
            estimator = estimator_class(**given)
            classifies = is_classifier(estimator)
            if hasattr(estimator_class, "_parameter_constraints"):  # scikit-learn's own: reject wrong values now
                estimator._validate_params()
        except Exception as error:  # third-party code may raise anything
            raise PqswarmError(
                f"estimator {self.describe()} cannot be constructed: {first_error_line(error)}"
            ) from error
        if not classifies:
            raise PqswarmError(f"estimator {path} is not a classifier: give the import path of one.")
        return seed_sklearn_estimator(estimator, 0)

    def describe(self) -> str:
        """Return its import path and parameters."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.hyperparameters.parameters)
        return f"{self.hyperparameters.estimator}({given})"


def _import_estimator_class(path: str) -> Any:
    """The class of an import path; anything else is refused without being called."""
    if not _PATH.fullmatch(path):
        raise PqswarmError(f"estimator must be an import path such as sklearn.svm.LinearSVC, not {path!r}.")
    module, _, name = path.rpartition(".")
    member = import_member(f"estimator {path}", module, name)
    methods = ("fit", "predict", "get_params", "set_params")
    if not isinstance(member, type) or not all(callable(getattr(member, method, None)) for method in methods):
        raise PqswarmError(f"estimator {path} is not a classifier: it must be a class with {', '.join(methods)}.")
    return member


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


class KNNRegressor(_NearestNeighbors, Regressor):
    """The mean of the nearest neighbors, scikit-learn's KNeighborsRegressor."""

    name = "k-nn-regression"
    title = "k-NN regression"
    path = "sklearn.neighbors.KNeighborsRegressor"
    Hyperparameters = KNNRegressionHyperparameters
    fast_evaluator = KNNRegressionEvaluator

    def describe(self) -> str:
        """Return a short description."""
        count = self.hyperparameters.n_neighbors
        return f"the mean of {count} nearest neighbors by {self.hyperparameters.metric.capitalize()} distance"


class OrdinaryRegressor(ScikitLearner, Regressor):
    """Ordinary least squares, scikit-learn's LinearRegression."""

    name = "linear"
    title = "Linear regression"
    path = "sklearn.linear_model.LinearRegression"
    Hyperparameters = LinearHyperparameters
    fast_evaluator = LinearEvaluator

    def describe(self) -> str:
        """Return a short description."""
        return f"linear regression{'' if self.hyperparameters.fit_intercept else ' through the origin'}"

    @classmethod
    def _covered_settings(cls, estimator: Any) -> dict[str, Any] | None:
        covered = not estimator.positive and getattr(estimator, "tol", 1e-6) == 1e-6  # since scikit-learn 1.7
        return {"fit_intercept": bool(estimator.fit_intercept)} if covered else None


class RidgeRegressor(ScikitLearner, Regressor):
    """Least squares with a penalty on the coefficients, scikit-learn's Ridge."""

    name = "ridge"
    title = "Ridge regression"
    path = "sklearn.linear_model.Ridge"
    Hyperparameters = RidgeHyperparameters
    fast_evaluator = LinearEvaluator

    def describe(self) -> str:
        """Return a short description."""
        where = "" if self.hyperparameters.fit_intercept else " through the origin"
        return f"ridge regression{where} with alpha {self.hyperparameters.alpha:g}"

    @classmethod
    def _covered_settings(cls, estimator: Any) -> dict[str, Any] | None:
        covered = estimator.solver in ("auto", "cholesky") and not estimator.positive
        return {"alpha": estimator.alpha, "fit_intercept": bool(estimator.fit_intercept)} if covered else None


CLASSIFIERS: Registry[type[Classifier]] = Registry(
    "classifier",
    Classifier,
    (KNNClassifier, KernelNBClassifier, GaussianNBClassifier, EstimatorClassifier, LDAClassifier),
    group="pqswarm.classifiers",
)
"""All classifier classes by name."""

REGRESSORS: Registry[type[Regressor]] = Registry(
    "regressor", Regressor, (KNNRegressor, OrdinaryRegressor, RidgeRegressor)
)
"""All regressor classes by name; each has a fast evaluator."""


def find_classifier(estimator: Any) -> Classifier | None:
    """Return the first classifier with the hyperparameters of a scikit-learn estimator, or None.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> find_classifier(KNeighborsClassifier(5, p=1)).describe()
    '5 nearest neighbors by Manhattan distance'
    """
    # That for counts has no name: features may be negative.
    return _find_learner(CLASSIFIERS, estimator) or DiscreteNBClassifier.from_estimator(estimator)


def find_regressor(estimator: Any) -> Regressor | None:
    """Return the first regressor with the hyperparameters of a scikit-learn estimator, or None.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> find_regressor(Ridge(2.0)).describe()
    'ridge regression with alpha 2'
    """
    return _find_learner(REGRESSORS, estimator)


_Learner = TypeVar("_Learner", bound=Learner)


def _find_learner(registry: Registry[type[_Learner]], estimator: Any) -> _Learner | None:
    for name in registry:
        try:
            member = registry[name]
        except PqswarmError as error:  # a broken third-party package must not hide the others
            warnings.warn(str(error), stacklevel=3)
            continue
        learner = member.from_estimator(estimator)
        if learner is not None:
            return learner
    return None
