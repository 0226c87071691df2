"""The nearest centroid."""

from typing import Any, ClassVar

from pqswarm._base.options import Parameters
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.exact.centroid.evaluator import NearestCentroidEvaluator, NearestCentroidHyperparameters

__all__ = ["NearestCentroidClassifier"]


class NearestCentroidClassifier(Classifier):
    """The class whose centroid is nearest, scikit-learn's NearestCentroid."""

    name = "nearest-centroid"
    title = "Nearest centroid"
    Hyperparameters: ClassVar[type[Parameters]] = NearestCentroidHyperparameters
    exact = True
    hyperparameters: NearestCentroidHyperparameters

    def estimator(self) -> Any:
        """Return scikit-learn's NearestCentroid."""
        from sklearn.neighbors import NearestCentroid

        return NearestCentroid(**self.settings)

    def describe(self) -> str:
        """Return what it is in a few words."""
        return f"the nearest centroid by {self.hyperparameters.metric.capitalize()} distance"

    def _evaluator(self, X: Any, y: Any, folds: Any, **options: Any) -> NearestCentroidEvaluator:
        return NearestCentroidEvaluator(X, y, folds, **self.settings, **options)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Classifier | None:
        """Return the classifier that equals a NearestCentroid without shrinking, all classes as likely."""
        from sklearn.neighbors import NearestCentroid

        if type(estimator) is not NearestCentroid or estimator.shrink_threshold is not None:
            return None
        uniform = isinstance(estimator.priors, str) and estimator.priors == "uniform"
        known = estimator.metric in ("euclidean", "manhattan")
        return cls({"metric": estimator.metric}) if uniform and known else None
