"""Naive Bayes with normal densities."""

from typing import Any, ClassVar

from pqswarm._base.options import Parameters
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.exact.naive_bayes.gaussian import GaussianNBEvaluator, GaussianNBHyperparameters

__all__ = ["GaussianNBClassifier"]


class GaussianNBClassifier(Classifier):
    """Naive Bayes with normal densities, scikit-learn's GaussianNB."""

    name = "gaussian-nb"
    title = "Gaussian NB"
    Hyperparameters: ClassVar[type[Parameters]] = GaussianNBHyperparameters
    devices = ("cpu", "cuda")
    exact = True
    hyperparameters: GaussianNBHyperparameters

    def estimator(self) -> Any:
        """Return scikit-learn's GaussianNB."""
        from sklearn.naive_bayes import GaussianNB

        return GaussianNB(**self.settings)

    def describe(self) -> str:
        """Return what it is in a few words."""
        return f"naive Bayes with normal densities, variances smoothed by {self.hyperparameters.var_smoothing:g}"

    def _evaluator(self, X: Any, y: Any, folds: Any, **options: Any) -> GaussianNBEvaluator:
        return GaussianNBEvaluator(X, y, folds, **self.settings, **options)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Classifier | None:
        """Return the classifier that equals a GaussianNB without given priors."""
        from sklearn.naive_bayes import GaussianNB

        if type(estimator) is not GaussianNB or estimator.priors is not None:
            return None
        return cls({"var_smoothing": estimator.var_smoothing})
