"""Discriminant analysis, linear and quadratic."""

from typing import Any, ClassVar, Self

from pqswarm._base.options import Parameters
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.exact.linear.lda import LDAEvaluator, LDAHyperparameters
from pqswarm.evaluation.exact.linear.qda import QDAEvaluator, QDAHyperparameters
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
        shrinkage, by_svd = estimator.shrinkage, estimator.solver == "svd"
        others = (estimator.priors, estimator.n_components, estimator.covariance_estimator) == (None, None, None)
        known = shrinkage is None or (isinstance(shrinkage, int | float) and 0 < shrinkage <= 1 and not by_svd)
        if not others or not known or (by_svd and estimator.tol != 1e-4):
            return None
        return cls({"solver": estimator.solver, "shrinkage": float(shrinkage or 0.0)})


class QDAClassifier(ScikitLearner, Classifier):
    """Quadratic discriminant analysis, scikit-learn's QuadraticDiscriminantAnalysis."""

    name = "qda"
    title = "QDA"
    path = "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis"
    Hyperparameters: ClassVar[type[Parameters]] = QDAHyperparameters
    exact = True
    hyperparameters: QDAHyperparameters
    fast_evaluator = QDAEvaluator

    def describe(self) -> str:
        """Return a short description."""
        return f"quadratic discriminant analysis, covariances regularised by {self.hyperparameters.reg_param:g}"

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the classifier that equals a QuadraticDiscriminantAnalysis by svd without given priors."""
        if type(estimator) is not cls.estimator_class() or estimator.priors is not None:
            return None
        # These three exist since scikit-learn 1.8.
        others = [getattr(estimator, name, None) for name in ("shrinkage", "covariance_estimator")] == [None, None]
        if not others or getattr(estimator, "solver", "svd") != "svd" or estimator.tol != 1e-4:
            return None
        return cls({"reg_param": estimator.reg_param})
