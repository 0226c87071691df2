"""The built-in regressors."""

from typing import Any, ClassVar, Self

from pqswarm._base.checks import is_finite, is_integer
from pqswarm._base.parameters import Parameters
from pqswarm.evaluation.classifiers import covered_knn_metric
from pqswarm.evaluation.exact.knn.evaluator import KNNRegressionEvaluator, KNNRegressionHyperparameters
from pqswarm.evaluation.exact.linear.regression import LinearEvaluator, LinearHyperparameters, RidgeHyperparameters
from pqswarm.evaluation.learner import Regressor, ScikitLearner


class KNNRegressor(ScikitLearner, Regressor):
    """The mean of the nearest neighbours, scikit-learn's KNeighborsRegressor."""

    name = "k-nn-regression"
    title = "k-NN regression"
    path = "sklearn.neighbors.KNeighborsRegressor"
    Hyperparameters: ClassVar[type[Parameters]] = KNNRegressionHyperparameters
    hyperparameters: KNNRegressionHyperparameters
    fast_evaluator = KNNRegressionEvaluator

    def estimator(self) -> Any:
        """Return scikit-learn's KNeighborsRegressor."""
        return self.estimator_class()(**self.settings, algorithm="brute")

    def describe(self) -> str:
        """Return a short description."""
        count = self.hyperparameters.n_neighbors
        metric = self.hyperparameters.metric.capitalize()
        return f"the mean of {count} nearest neighbours by {metric} distance"

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the regressor that equals a KNeighborsRegressor with uniform weights."""
        if type(estimator) is not cls.estimator_class() or estimator.weights != "uniform":
            return None
        metric = covered_knn_metric(estimator)
        k = estimator.n_neighbors
        covered = metric is not None and is_integer(k) and 1 <= k <= 15
        return cls({"n_neighbors": int(k), "metric": metric}) if covered else None


class OrdinaryRegressor(ScikitLearner, Regressor):
    """Ordinary least squares, scikit-learn's LinearRegression."""

    name = "linear"
    title = "Linear regression"
    path = "sklearn.linear_model.LinearRegression"
    Hyperparameters: ClassVar[type[Parameters]] = LinearHyperparameters
    hyperparameters: LinearHyperparameters
    fast_evaluator = LinearEvaluator

    def describe(self) -> str:
        """Return a short description."""
        return f"linear regression{'' if self.hyperparameters.fit_intercept else ' through the origin'}"

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the regressor that equals a LinearRegression without `positive`."""
        if type(estimator) is not cls.estimator_class() or estimator.positive:
            return None
        if getattr(estimator, "tol", 1e-6) != 1e-6:  # since scikit-learn 1.7
            return None
        return cls({"fit_intercept": bool(estimator.fit_intercept)})


class RidgeRegressor(ScikitLearner, Regressor):
    """Least squares with a penalty on the coefficients, scikit-learn's Ridge."""

    name = "ridge"
    title = "Ridge regression"
    path = "sklearn.linear_model.Ridge"
    Hyperparameters: ClassVar[type[Parameters]] = RidgeHyperparameters
    hyperparameters: RidgeHyperparameters
    fast_evaluator = LinearEvaluator

    def describe(self) -> str:
        """Return a short description."""
        where = "" if self.hyperparameters.fit_intercept else " through the origin"
        return f"ridge regression{where} with alpha {self.hyperparameters.alpha:g}"

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the regressor that equals a Ridge with a single alpha and a direct solver."""
        if type(estimator) is not cls.estimator_class() or estimator.positive:
            return None
        alpha = estimator.alpha
        direct = estimator.solver in ("auto", "cholesky")
        covered = direct and is_finite(alpha) and 0 <= alpha <= 1e300
        return cls({"alpha": float(alpha), "fit_intercept": bool(estimator.fit_intercept)}) if covered else None
