"""Naive Bayes for counts and for binary features."""

from typing import Any, ClassVar, Self

from pqswarm._base.checks import is_finite
from pqswarm._base.parameters import Parameters
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.exact.naive_bayes.discrete import (
    DISCRETE_MODELS,
    DiscreteNBEvaluator,
    DiscreteNBHyperparameters,
    make_discrete_estimator,
)


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
