"""Classifiers and regressors: a name, hyperparameters, an evaluator of subsets, and a scikit-learn estimator."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.parameters import Parameters
from pqswarm._base.threads import effective_jobs
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import ClassificationEvaluator
from pqswarm.evaluation.cuda import DEVICES, check_device
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.generic import GenericEvaluator, first_line
from pqswarm.evaluation.grid import GridSearchResult
from pqswarm.evaluation.regression import SCORINGS, RegressionEvaluator, RegressionOptions
from pqswarm.evaluation.scaling import Scaling


@dataclass(frozen=True)
class Learner(ABC):
    """A classifier or regressor with its hyperparameters; learners with equal hyperparameters are equal.

    Subclasses set `name`, under which it is registered, the same in plans, model files and on the command line;
    `title`, its name in tables and figures; and `fast_evaluator`, constructed with the hyperparameters, if there is
    one, and whether it takes a sparse matrix.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    Hyperparameters: ClassVar[type[Parameters]] = Parameters
    fast_evaluator: ClassVar[Any] = None
    takes_sparse: ClassVar[bool] = False

    hyperparameters: Any = None  # of the class `Hyperparameters`

    def __post_init__(self) -> None:
        object.__setattr__(self, "hyperparameters", self.Hyperparameters.of(self.hyperparameters))

    @property
    def settings(self) -> dict[str, Any]:
        """The hyperparameters as JSON values; the registered class called with them returns an equal learner."""
        return self.hyperparameters.settings()  # type: ignore[no-any-return]

    @abstractmethod
    def estimator(self) -> Any:
        """Return the same learner as a new, seeded scikit-learn estimator, for features that are already scaled."""

    def describe(self) -> str:
        """Return a short description for a sentence, such as ``"3 nearest neighbours by Manhattan distance"``."""
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"{self.title} with {settings}" if settings else self.title

    def _evaluator(self, X: Any, y: Any, folds: Any, **options: Any) -> Any:
        """The evaluator; `options` are those of its constructor other than the hyperparameters."""
        return self.fast_evaluator(X, y, folds, **self.settings, **options)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:  # noqa: ARG003
        """Return the learner that equals a scikit-learn estimator and can evaluate subsets for it, or None."""
        return None


class ScikitLearner(Learner):
    """A learner whose estimator is the class of scikit-learn at `path`, called with the hyperparameters."""

    path: ClassVar[str]

    @classmethod
    def estimator_class(cls) -> Any:
        """Return the class of scikit-learn, which is imported on first use."""
        module, _, name = cls.path.rpartition(".")
        return getattr(import_module(module), name)

    def estimator(self) -> Any:
        """Return a new estimator with the hyperparameters."""
        return self.estimator_class()(**self.settings)


class Classifier(Learner):
    """A classifier with its hyperparameters; classifiers with equal hyperparameters are equal.

    To add one, derive from this class, set `name`, `title` and `Hyperparameters`, and write :meth:`estimator`. Subsets
    are then evaluated by fitting as usual. A `fast_evaluator`, or the method `_evaluator`, replaces that. Register it
    by an entry point in the group ``pqswarm.classifiers``, and check it by :mod:`pqswarm.evaluation.conformance`.

    Parameters
    ----------
    hyperparameters : Parameters, mapping or None
        Hyperparameters; the others keep their defaults.

    Attributes
    ----------
    name, title : str
        The registered name, used in plans, model files and on the command line; the name in tables and figures.
    fast_evaluator : type or None
        The evaluator that is constructed with the hyperparameters, if there is one.
    devices : tuple of str
        Where its evaluator computes.
    exact : bool
        Whether its evaluator is a fast one with exactly the errors of fitting as usual.
    grid : mapping of str to sequence
        The values of each hyperparameter that :meth:`search_grid` tries; empty if there is nothing to search.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pqswarm.evaluation import CLASSIFIERS
    >>> X, y = load_wine(return_X_y=True)
    >>> classifier = CLASSIFIERS["k-nn"]({"n_neighbors": 5})
    >>> classifier.settings, classifier.describe()
    ({'n_neighbors': 5, 'metric': 'manhattan'}, '5 nearest neighbours by Manhattan distance')
    >>> evaluator = classifier.evaluator(X, y, Folds.stratified(y))
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.05)
    True
    """

    devices: ClassVar[tuple[str, ...]] = ("cpu",)
    exact: ClassVar[bool] = False
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {}

    def evaluator(
        self,
        X: ArrayLike,
        y: ArrayLike,
        folds: Folds,
        *,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> ClassificationEvaluator:
        """Return the evaluator of feature subsets by this classifier.

        Parameters
        ----------
        X, y, folds, scaling, n_jobs
            See :class:`ClassificationEvaluator`.
        device : str
            Where it computes: one of `devices`.

        Returns
        -------
        ClassificationEvaluator
            An evaluator whose predictions are those of :meth:`estimator`.
        """
        if device in DEVICES and device not in self.devices:
            raise PqswarmError(f"{self.name} cannot compute on device {device!r}: use {' or '.join(self.devices)}.")
        check_device(device)
        more = {"device": device} if len(self.devices) > 1 else {}
        return self._evaluator(X, y, folds, scaling=scaling, n_jobs=n_jobs, **more)

    def _evaluator(self, X: ArrayLike, y: ArrayLike, folds: Folds, **options: Any) -> ClassificationEvaluator:
        """The evaluator; `options` are `scaling`, `n_jobs` and, if there are several `devices`, `device`."""
        if self.fast_evaluator is None:
            return GenericEvaluator(X, y, folds, self.estimator(), **options)
        return super()._evaluator(X, y, folds, **options)  # type: ignore[no-any-return]

    def predict_new(
        self, X: FloatArray, y: AnyArray, new: FloatArray, masks: BoolArray, *, n_jobs: int | None = None
    ) -> AnyArray:
        """Predict the labels of new samples by a classifier fitted to all others, for each subset of the features.

        Parameters
        ----------
        X, y : ndarray of shape (n_samples, n_features), and (n_samples,)
            Training samples, scaled.
        new : ndarray of shape (n_new, n_features)
            Samples to predict, in the same scale.
        masks : ndarray of bool, shape (m, n_features)
            Non-empty subsets.
        n_jobs : int or None
            Threads; see :class:`ClassificationEvaluator`.

        Returns
        -------
        ndarray of shape (m, n_new)
            The predictions of :meth:`estimator`, with ties broken as by the evaluator.

        Examples
        --------
        >>> from pqswarm.evaluation import CLASSIFIERS
        >>> X, y = np.array([[0.0, 0.5], [0.1, 0.4], [1.0, 0.5]]), np.array([0, 0, 1])
        >>> masks = np.array([[True, False], [True, True]])
        >>> CLASSIFIERS["k-nn"]({"n_neighbors": 1}).predict_new(X, y, np.array([[0.8, 0.5]]), masks).tolist()
        [[1], [1]]
        """
        from joblib import Parallel, delayed

        predicted = np.empty((len(masks), len(new)), dtype=y.dtype)

        def work(row: int) -> None:
            mask = masks[row]
            try:
                predicted[row] = self.estimator().fit(X[:, mask], y).predict(new[:, mask])
            except Exception as error:  # third-party code may raise anything
                what = f"{self.describe()} cannot be used with features {np.flatnonzero(mask).tolist()}"
                raise PqswarmError(f"{what}: {first_line(error)}") from error

        jobs = min(effective_jobs(n_jobs), len(masks))
        Parallel(n_jobs=jobs, backend="threading")(delayed(work)(row) for row in range(len(masks)))
        return predicted

    @classmethod
    def search_grid(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        folds: Folds,
        *,
        grid: Mapping[str, Sequence[Any]] | None = None,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
    ) -> GridSearchResult | None:
        """Compute the accuracy of all features at each combination of hyperparameters.

        Parameters
        ----------
        X, y, folds, scaling, n_jobs
            See :class:`ClassificationEvaluator`.
        grid : mapping of str to sequence, optional
            The values of each hyperparameter to try; by default the class variable `grid`.

        Returns
        -------
        GridSearchResult or None
            With ``.best``, ``.table()`` and ``.plot()``; None if there is nothing to search.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from pqswarm.evaluation import CLASSIFIERS
        >>> X, y = load_wine(return_X_y=True)
        >>> CLASSIFIERS["kernel-nb"].search_grid(X, y, Folds.stratified(y), grid={"bandwidth": (1e-4, 0.05)}).best
        {'bandwidth': 0.05}
        """
        chosen = cls.grid if grid is None else grid
        if not chosen:
            return None
        names = tuple(chosen)
        points = tuple(product(*chosen.values()))
        if not points:
            raise PqswarmError(f"the grid of {' and '.join(names)} is empty: give at least one value of each.")
        accuracies = []
        usable = []
        for point in points:
            settings = dict(zip(names, point, strict=True))
            evaluator, is_usable = cls._at_point(settings, X, y, folds, scaling=scaling, n_jobs=n_jobs)
            error = evaluator.errors(np.ones((1, evaluator.n_features), dtype=np.bool_))[0]
            accuracies.append(1.0 - error)
            usable.append(is_usable)
        return GridSearchResult(names, points, np.array(accuracies), tuple(usable))

    @classmethod
    def _at_point(
        cls, settings: Mapping[str, Any], X: ArrayLike, y: ArrayLike, folds: Folds, **options: Any
    ) -> tuple[ClassificationEvaluator, bool]:
        """The evaluator at one point of a grid, and whether the classifier accepts these hyperparameters."""
        return cls(settings).evaluator(X, y, folds, **options), True


class Regressor(Learner):
    """A regressor with its hyperparameters and a fast evaluator; regressors with equal hyperparameters are equal.

    To add one, derive from this class, set `name`, `title`, `Hyperparameters` and `fast_evaluator`, and write
    :meth:`estimator` and :meth:`from_estimator`. Register it by an entry point in the group ``pqswarm.regressors``,
    and check it by :mod:`pqswarm.evaluation.conformance`. A regressor without a fast evaluator needs none of this:
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
