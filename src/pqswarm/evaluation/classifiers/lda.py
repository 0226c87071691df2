"""Linear discriminant analysis."""

from typing import Any, ClassVar, Self

from pqswarm._base.parameters import Parameters
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.exact.linear.lda import LDAEvaluator, LDAHyperparameters
from pqswarm.evaluation.learner import ScikitLearner


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
