"""Nearest neighbours."""

from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar, Self

import numpy as np

from pqswarm._base.checks import is_integer
from pqswarm._base.parameters import Parameters
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.errors import unknown_name
from pqswarm.evaluation.base import ClassificationEvaluator
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.exact.knn.evaluator import METRICS, FoldView, KNNEvaluator, KNNHyperparameters, KNNOnCpu
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.generic import GenericEvaluator
from pqswarm.evaluation.learner import ScikitLearner

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
