"""What a regressor is to pqswarm: hyperparameters, a fast evaluator of subsets, and a scikit-learn estimator."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy.typing as npt

from pqswarm._base.options import Parameters
from pqswarm.evaluation.base import Scaling
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.regression import SCORINGS, RegressionEvaluator

__all__ = ["Regressor"]


@dataclass(frozen=True)
class Regressor(ABC):
    """A regressor with its hyperparameters and a fast evaluator; equal ones have equal hyperparameters.

    To add one, derive from this class, give `name`, `title` and `Hyperparameters`, and write :meth:`estimator`,
    :meth:`from_estimator` and `_evaluator`. An entry point in the group ``pqswarm.regressors`` makes it known, and
    :mod:`pqswarm.evaluation.conformance` checks it. A regressor without a fast evaluator needs none of this: any
    is evaluated by :class:`GenericEvaluator`.

    Parameters
    ----------
    hyperparameters : Parameters, mapping or None
        Hyperparameters; those not named have their defaults.

    Attributes
    ----------
    name : str
        The name under which it is registered.
    title : str
        Its name in tables and figures.
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

    name: ClassVar[str]
    title: ClassVar[str]
    Hyperparameters: ClassVar[type[Parameters]] = Parameters
    scorings: ClassVar[tuple[str, ...]] = SCORINGS

    hyperparameters: Any = None  # of the class `Hyperparameters`

    def __post_init__(self) -> None:
        object.__setattr__(self, "hyperparameters", self.Hyperparameters.of(self.hyperparameters))

    @property
    def settings(self) -> dict[str, Any]:
        """The hyperparameters as JSON knows them; ``REGRESSORS[name](settings)`` is this regressor again."""
        return self.hyperparameters.settings()  # type: ignore[no-any-return]

    @abstractmethod
    def estimator(self) -> Any:
        """Return the same regressor for scikit-learn, new, for features that are scaled already."""

    @abstractmethod
    def describe(self) -> str:
        """Return what it is in a few words, for a sentence."""

    def evaluator(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        folds: Folds,
        *,
        scoring: str | None = None,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
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
        return self._evaluator(X, y, folds, scoring=scoring, scaling=scaling, n_jobs=n_jobs)

    @abstractmethod
    def _evaluator(self, X: npt.ArrayLike, y: npt.ArrayLike, folds: Folds, **options: Any) -> RegressionEvaluator:
        """The evaluator; `options` are `scoring`, `scaling` and `n_jobs`."""

    @classmethod
    @abstractmethod
    def from_estimator(cls, estimator: Any) -> "Regressor | None":
        """Return the regressor that equals a scikit-learn estimator, whose evaluator stands for it, or None."""
