"""Naive Bayes with normal densities."""

from typing import Any, ClassVar, Self

from pqswarm._base.parameters import Parameters
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.exact.naive_bayes.gaussian import GaussianNBEvaluator, GaussianNBHyperparameters
from pqswarm.evaluation.learner import ScikitLearner


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
