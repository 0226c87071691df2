"""The nearest centroid."""

from typing import Any, ClassVar, Self

from pqswarm._base.options import Parameters
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.exact.centroid.evaluator import NearestCentroidEvaluator, NearestCentroidHyperparameters
from pqswarm.evaluation.learner import ScikitLearner


class NearestCentroidClassifier(ScikitLearner, Classifier):
    """The class whose centroid is nearest, scikit-learn's NearestCentroid."""

    name = "nearest-centroid"
    title = "Nearest centroid"
    path = "sklearn.neighbors.NearestCentroid"
    Hyperparameters: ClassVar[type[Parameters]] = NearestCentroidHyperparameters
    exact = True
    hyperparameters: NearestCentroidHyperparameters
    fast_evaluator = NearestCentroidEvaluator

    def describe(self) -> str:
        """Return a short description."""
        return f"the nearest centroid by {self.hyperparameters.metric.capitalize()} distance"

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the classifier that equals a NearestCentroid with uniform priors and without shrinking."""
        if type(estimator) is not cls.estimator_class() or estimator.shrink_threshold is not None:
            return None
        uniform = isinstance(estimator.priors, str) and estimator.priors == "uniform"
        known = estimator.metric in ("euclidean", "manhattan")
        return cls({"metric": estimator.metric}) if uniform and known else None
