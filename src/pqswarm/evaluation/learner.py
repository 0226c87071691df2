"""The common part of classifiers and regressors: a name, hyperparameters, a scikit-learn estimator."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Self

from pqswarm._base.parameters import Parameters


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
