"""Naive Bayes with normal densities."""

from typing import Any, ClassVar, Self

from pqswarm._base.options import Parameters
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.exact.naive_bayes.gaussian import GaussianNBEvaluator, GaussianNBHyperparameters


class GaussianNBClassifier(Classifier):
    """Naive Bayes with normal densities, scikit-learn's GaussianNB."""

    name = "gaussian-nb"
    title = "Gaussian NB"
    Hyperparameters: ClassVar[type[Parameters]] = GaussianNBHyperparameters
    devices = ("cpu", "cuda")
    exact = True
    hyperparameters: GaussianNBHyperparameters
    fast_evaluator = GaussianNBEvaluator

    def estimator(self) -> Any:
        """Return scikit-learn's GaussianNB."""
        from sklearn.naive_bayes import GaussianNB

        return GaussianNB(**self.settings)

    def describe(self) -> str:
        """Return a short description."""
        return f"naive Bayes with normal densities, variances smoothed by {self.hyperparameters.var_smoothing:g}"

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the classifier that equals a GaussianNB without given priors."""
        from sklearn.naive_bayes import GaussianNB

        if type(estimator) is not GaussianNB or estimator.priors is not None:
            return None
        return cls({"var_smoothing": estimator.var_smoothing})
