"""Regressors: hyperparameters, a fast evaluator of subsets, and a scikit-learn estimator."""

from typing import ClassVar, Unpack

from numpy.typing import ArrayLike

from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.learner import Learner
from pqswarm.evaluation.regression import SCORINGS, RegressionEvaluator, RegressionOptions


class Regressor(Learner):
    """A regressor with its hyperparameters and a fast evaluator; regressors with equal hyperparameters are equal.

    To add one, derive from this class, set `name`, `title`, `Hyperparameters` and `fast_evaluator`, and write
    :meth:`estimator` and :meth:`from_estimator`. A regressor without a fast evaluator needs none of this:
    :class:`GenericEvaluator` evaluates any.

    Parameters
    ----------
    hyperparameters : Parameters, mapping or None
        Hyperparameters; the others keep their defaults.

    Attributes
    ----------
    name, title : str
        The name under which it is registered; its name in tables and figures.
    fast_evaluator : type
        The evaluator that is constructed with the hyperparameters.
    scorings : tuple of str
        scikit-learn's names of the scores that its evaluator computes exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from pqswarm.evaluation import REGRESSORS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> regressor = REGRESSORS["ridge"]({"alpha": 0.5})
    >>> regressor.describe()
    'ridge regression with alpha 0.5'
    >>> evaluator = regressor.evaluator(X, y, Folds(np.arange(442) % 10))
    >>> bool(evaluator.errors(np.ones((1, 10), dtype=bool))[0] < 0.52)
    True
    """

    scorings: ClassVar[tuple[str, ...]] = SCORINGS

    def evaluator(
        self, X: ArrayLike, y: ArrayLike, folds: Folds, **options: Unpack[RegressionOptions]
    ) -> RegressionEvaluator:
        """Return the evaluator of feature subsets by this regressor.

        Parameters
        ----------
        X, y, folds, scoring, scaling, n_jobs
            See :class:`RegressionEvaluator`.

        Returns
        -------
        RegressionEvaluator
            An evaluator whose predictions are those of :meth:`estimator`.
        """
        return self._evaluator(X, y, folds, **options)  # type: ignore[no-any-return]
