"""Conformance checks of classifiers, also for those of other packages.

>>> from pqswarm.evaluation import CLASSIFIERS
>>> from pqswarm.evaluation.conformance import check_classifier
>>> check_classifier(CLASSIFIERS["gaussian-nb"])
"""

import json
import warnings
from functools import cache
from multiprocessing.reduction import ForkingPickler

import numpy as np

from pqswarm._base.conformance import (
    collect_checks,
    global_generator_unchanged,
    is_frozen,
    refuses,
    require,
    require_equal,
    require_parameter_class,
)
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.evaluation.base import DEVICES
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.learners import Classifier
from pqswarm.evaluation.scaling import SCALINGS, WITHIN_FOLDS, Scaling, scale_by_extremes

_Problem = tuple[FloatArray, AnyArray, Folds]


@cache
def _classification_problems() -> tuple[_Problem, _Problem]:
    """Overlapping classes; the second problem has rare classes, text labels and features of different units."""
    rng = np.random.Generator(np.random.PCG64(11))
    first = np.arange(90) % 3
    second = np.repeat([0, 1, 2, 3], (50, 20, 12, 8))
    X = rng.normal(0.0, 1.0, (90, 7)) + first[:, np.newaxis] * np.linspace(0.0, 1.5, 7)
    other = rng.gamma(2.0, 1.0, (90, 6)) + 0.8 * second[:, np.newaxis]
    other[:, 4] = 3.0
    other *= np.array([1.0, 50.0, 1e-3, 7.0, 1.0, 1e4])
    words = np.array(["red", "green", "blue", "white"])[second]
    plain = X, first, Folds.stratified(first, 3)
    return plain, (scale_by_extremes(other, other), words, Folds.stratified(words, 4, seed=3))


def _problem_masks(n_features: int) -> BoolArray:
    masks = np.random.Generator(np.random.PCG64(5)).random((9, n_features)) < 0.5
    masks[0] = True
    masks[1] = np.arange(n_features) == 0
    masks[2] = False
    return masks


def _estimator_predictions(classifier: Classifier, problem: _Problem, mask: BoolArray, scaling: Scaling) -> AnyArray:
    """The prediction of the estimator for each sample when its fold is tested."""
    from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

    X, y, folds = problem
    predicted = np.empty_like(y)
    scalers = {"minmax": MinMaxScaler, "standard": StandardScaler, "robust": RobustScaler}
    for train, test in folds.split():
        data = scale_by_extremes(X, X) if scaling == "once" else X
        data = (scalers[scaling]().fit(X[train]).transform(X) if scaling in scalers else data)[:, mask]
        with warnings.catch_warnings(action="ignore"):  # estimators may warn of a constant feature
            predicted[test] = classifier.estimator().fit(data[train], y[train]).predict(data[test])
    return predicted


def check_declarations(classifier: Classifier) -> None:
    """It has a name, a title and devices, including the CPU."""
    require(classifier.name and classifier.name == classifier.name.lower().strip(), "the name is not in lower case")
    require(isinstance(classifier.title, str) and classifier.title, "there is no title")
    require("cpu" in classifier.devices and set(classifier.devices) <= set(DEVICES), "devices are not among DEVICES")


def check_hyperparameters(classifier: Classifier) -> None:
    """Hyperparameters are frozen and documented; wrong names and values are refused by name."""
    require_parameter_class(classifier.Hyperparameters, type(classifier), classifier.settings)
    require(is_frozen(classifier, "hyperparameters"), "hyperparameters can be changed")


def check_settings(classifier: Classifier) -> None:
    """Settings are JSON values, and restore an equal classifier with the same hash and description."""
    again = type(classifier)(json.loads(json.dumps(classifier.settings)))
    require(again == classifier and hash(again) == hash(classifier), "settings do not restore an equal classifier")
    classifier.settings.clear()
    require(again == classifier and again.settings == classifier.settings, "settings can be changed from outside")
    text = classifier.describe()
    require(isinstance(text, str) and 3 <= len(text) <= 160 and len(text.splitlines()) == 1, "no short description")
    require(text == again.describe(), "equal classifiers have two descriptions")


def check_other_processes(classifier: Classifier) -> None:
    """It can be sent to another process unchanged."""
    other = ForkingPickler.loads(ForkingPickler.dumps(classifier))
    require(other == classifier and hash(other) == hash(classifier), "a copy in another process is not equal")
    X, y, folds = _classification_problems()[0]
    here, there = (each.evaluator(X, y, folds).error_counts(_problem_masks(X.shape[1])) for each in (classifier, other))
    require_equal(here, there, "a copy in another process has other errors")


def check_estimator(classifier: Classifier) -> None:
    """Each estimator is new, unfitted, clonable and seeded."""
    from sklearn.base import clone, is_classifier

    X, y, _ = _classification_problems()[0]
    one = classifier.estimator()
    two = classifier.estimator()
    require(one is not two and is_classifier(one), "estimator() does not return a new classifier each time")
    with global_generator_unchanged():
        predicted = [each.fit(X[::2], y[::2]).predict(X).tolist() for each in (one, two, clone(two))]
        require(predicted[0] == predicted[1] == predicted[2], "the estimator's predictions are not repeatable: seed it")


def check_predictions(classifier: Classifier) -> None:
    """The evaluator predicts as the estimator does, for every scaling, and counts those errors."""
    for problem in _classification_problems():
        X, y, folds = problem
        for scaling in SCALINGS:
            few = scaling in WITHIN_FOLDS or classifier.fast_evaluator is None  # these take long
            masks = _problem_masks(X.shape[1])[: 5 if few else None]
            evaluator = classifier.evaluator(X, y, folds, scaling=scaling)
            counts = evaluator.error_counts(masks)
            for mask, count, error in zip(masks, counts, evaluator.errors(masks), strict=True):
                where = f"scaling {scaling!r}, features {np.flatnonzero(mask).tolist()}"
                wrong = folds.sizes
                if mask.any():
                    expected = _estimator_predictions(classifier, problem, mask, scaling)
                    require_equal(
                        evaluator.predictions(mask), expected, f"the estimator predicts other labels: {where}"
                    )
                    wrong = np.bincount(folds.test_fold[expected != y], minlength=folds.n_folds)
                require_equal(count, wrong, f"the evaluator miscounts errors: {where}")
                mean = (wrong / folds.sizes).mean()
                require(abs(error - mean) < 1e-12, f"error is not the mean over folds: {where}")
            rates = evaluator.fold_errors(masks[:3])
            require_equal(rates, counts[:3] / folds.sizes, "fold errors are not counts over fold sizes")


def check_threads(classifier: Classifier) -> None:
    """Errors depend neither on threads nor on the batch of a subset."""
    X, y, folds = _classification_problems()[1]
    masks = _problem_masks(X.shape[1])
    one = classifier.evaluator(X, y, folds, n_jobs=1)
    two = classifier.evaluator(X, y, folds, n_jobs=2)
    expected = one.error_counts(masks)
    require_equal(two.error_counts(masks), expected, "errors depend on n_jobs")
    single = np.concatenate([two.error_counts(masks[row : row + 1]) for row in range(len(masks))])
    require_equal(single, expected, "errors depend on the batch")


def check_devices(classifier: Classifier) -> None:
    """Unsupported devices are refused by name."""
    X, y, folds = _classification_problems()[0]
    for device in {"abacus", *DEVICES} - set(classifier.devices):
        refused = refuses(classifier.evaluator, X, y, folds, device=device, named=device)
        require(refused, f"device {device!r} is not refused")


def check_grid(classifier: Classifier) -> None:
    """A grid search, if any, reports the accuracy of all features, and its best point is usable."""
    X, y, folds = _classification_problems()[0]
    grid = type(classifier).search_grid(X, y, folds, scaling="once", n_jobs=1)
    if grid is None:
        return
    require(len(grid.points) == len(grid.accuracies) == len(grid.table()), "points and accuracies differ in number")
    evaluator = type(classifier)(grid.best).evaluator(X, y, folds)
    accuracy = 1.0 - evaluator.errors(np.ones((1, X.shape[1]), dtype=np.bool_))[0]
    usable = [a for a, fits in zip(grid.accuracies, grid.usable or [True] * len(grid.points), strict=True) if fits]
    require(accuracy == max(usable), "the best point of the grid does not have the highest accuracy")


def check_from_estimator(classifier: Classifier) -> None:
    """Only its own estimator is recognized."""
    recognized = type(classifier).from_estimator(classifier.estimator())
    require(recognized is None or recognized == classifier, "its own estimator gives another classifier")
    require(type(classifier).from_estimator(object()) is None, "any object is accepted as its estimator")


CHECKS = collect_checks(globals())
"""All checks."""


def check_classifier(classifier: type[Classifier] | Classifier) -> None:
    """Run all checks on a classifier.

    Parameters
    ----------
    classifier : type or Classifier
        A subclass of :class:`Classifier`, checked with its defaults, or an instance.

    Raises
    ------
    AssertionError
        With a message that says what is wrong.
    """
    member = classifier() if isinstance(classifier, type) else classifier
    for check in CHECKS:
        check(member)
