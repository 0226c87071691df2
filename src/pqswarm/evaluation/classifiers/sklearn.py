"""Any scikit-learn-compatible classifier, by its import path."""

import inspect
import re
from importlib import import_module
from typing import Any, ClassVar

from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.random import derived_seed
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.generic import first_line

_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


class EstimatorHyperparameters(Parameters):
    """Which classifier, and its parameters."""

    _owner = "the classifier"
    estimator: str = parameter("import path of a class, such as sklearn.svm.LinearSVC", default="")
    parameters: tuple[tuple[str, Any], ...] = parameter("arguments of the class, such as {'C': 0.5}", default=())


class EstimatorClassifier(Classifier):
    """Any scikit-learn-compatible classifier, fitted for each subset and fold.

    The import path names a module, which is imported, and a class in it; anything else is refused without being called.
    A class with a random_state is seeded if none is given.
    """

    name = "estimator"
    title = "Estimator"
    Hyperparameters: ClassVar[type[Parameters]] = EstimatorHyperparameters
    hyperparameters: EstimatorHyperparameters

    def __post_init__(self) -> None:
        super().__post_init__()
        self.estimator()

    def estimator(self) -> Any:
        """Return the unfitted, seeded classifier, or raise an error that says what is wrong."""
        from sklearn.base import is_classifier

        path = self.hyperparameters.estimator
        given = dict(self.hyperparameters.parameters)
        found = _import(path)
        known = inspect.signature(found).parameters
        takes_any = any(one.kind is one.VAR_KEYWORD for one in known.values())
        for name in given:
            if name not in known and not takes_any:
                raise unknown_name(f"parameter of {path}", name, known)
        try:
            made = found(**given)
            classifies = is_classifier(made)
            if hasattr(found, "_parameter_constraints"):  # scikit-learn's own: reject wrong values now
                made._validate_params()
        except Exception as error:  # third-party code may raise anything
            raise PqswarmError(f"estimator {self.describe()} cannot be constructed: {first_line(error)}") from error
        if not classifies:
            raise PqswarmError(f"estimator {path} is not a classifier: give the import path of one.")
        return seed_sklearn_estimator(made, 0)

    def describe(self) -> str:
        """Return its import path and parameters."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.hyperparameters.parameters)
        return f"{self.hyperparameters.estimator}({given})"


def _import(path: str) -> Any:
    """The class of an import path; anything else is refused without being called."""
    if not _PATH.fullmatch(path):
        raise PqswarmError(f"estimator must be an import path such as sklearn.svm.LinearSVC, not {path!r}.")
    module, _, name = path.rpartition(".")
    try:
        within = import_module(module)
    except (Exception, SystemExit) as error:  # third-party code may raise anything
        why = f"{module} calls sys.exit." if isinstance(error, SystemExit) else first_line(error)
        raise PqswarmError(f"estimator {path} cannot be imported: {why}") from error
    if not hasattr(within, name):
        raise unknown_name(f"class of {module}", name, [key for key in dir(within) if key[0].isupper()])
    found = getattr(within, name)
    methods = ("fit", "predict", "get_params", "set_params")
    if not isinstance(found, type) or not all(callable(getattr(found, method, None)) for method in methods):
        raise PqswarmError(f"estimator {path} is not a classifier: it must be a class with {', '.join(methods)}.")
    return found


def seed_sklearn_estimator(estimator: Any, seed: int) -> Any:
    """Return an estimator with all random states set, if need be from `seed`, so that errors are repeatable."""
    if not hasattr(estimator, "get_params"):
        return estimator
    values = estimator.get_params()
    loose = [key for key in sorted(values) if key.rpartition("__")[2] == "random_state" and values[key] is None]
    if not loose:
        return estimator
    from sklearn.base import clone

    seeds = {key: derived_seed(seed, (2**31, number)) % 2**31 for number, key in enumerate(loose)}
    return clone(estimator).set_params(**seeds)
