"""Conformance checks of classifiers and regressors, also for those of other packages.

>>> from pqswarm.evaluation import CLASSIFIERS
>>> from pqswarm.evaluation.conformance import check_classifier
>>> check_classifier(CLASSIFIERS["gaussian-nb"])
"""

import dataclasses
import json
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from pqswarm._base.conformance import refuses, require
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.evaluation.devices import DEVICES
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.generic import GenericEvaluator
from pqswarm.evaluation.learners import Classifier, Regressor
from pqswarm.evaluation.scaling import SCALINGS, WITHIN_FOLDS, Scaling, scale_by_extremes

_Problem = tuple[FloatArray, AnyArray, Folds]


@cache
def _problems() -> tuple[_Problem, ...]:
    """Overlapping classes; the second problem has rare classes, text labels and features of different units."""
    rng = np.random.Generator(np.random.PCG64(11))
    first, second = np.arange(90) % 3, np.repeat([0, 1, 2, 3], (50, 20, 12, 8))
    X = rng.normal(0.0, 1.0, (90, 7)) + first[:, np.newaxis] * np.linspace(0.0, 1.5, 7)
    other = rng.gamma(2.0, 1.0, (90, 6)) + 0.8 * second[:, np.newaxis]
    other[:, 4] = 3.0
    other *= np.array([1.0, 50.0, 1e-3, 7.0, 1.0, 1e4])
    words = np.array(["swell", "sag", "flicker", "notch"])[second]
    return (X, first, Folds.stratified(first, 3)), (
        scale_by_extremes(other, other),
        words,
        Folds.stratified(words, 4, seed=3),
    )


def _masks(n_features: int) -> BoolArray:
    masks = np.random.Generator(np.random.PCG64(5)).random((9, n_features)) < 0.5
    masks[0], masks[1], masks[2] = True, np.arange(n_features) == 0, False
    return masks


def _cross_validate_for_conformance(
    classifier: Classifier, problem: _Problem, mask: BoolArray, scaling: Scaling
) -> AnyArray:
    """The prediction of the estimator for each sample when its fold is tested."""
    from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

    X, y, folds = problem
    predicted = np.empty_like(y)
    scalers = {"minmax": MinMaxScaler, "standard": StandardScaler, "robust": RobustScaler}
    for train, test in folds.split():
        data = scale_by_extremes(X, X) if scaling == "once" else X
        data = (scalers[scaling]().fit(X[train]).transform(X) if scaling in scalers else data)[:, mask]
        with warnings.catch_warnings():  # estimators may warn of a constant feature
            warnings.simplefilter("ignore")
            predicted[test] = classifier.estimator().fit(data[train], y[train]).predict(data[test])
    return predicted


def check_declarations(classifier: Classifier) -> None:
    """It has a name, a title and devices, including the CPU."""
    require(classifier.name and classifier.name == classifier.name.lower().strip(), "the name is not in lower case")
    require(isinstance(classifier.title, str) and classifier.title, "there is no title")
    require("cpu" in classifier.devices and set(classifier.devices) <= set(DEVICES), "devices are not among DEVICES")


def check_hyperparameters(classifier: Classifier) -> None:
    """Hyperparameters are frozen and documented; wrong names and values are refused by name."""
    for row in classifier.Hyperparameters.table():
        require(row["meaning"] and row["range"], f"hyperparameter {row['name']} has no meaning or range")
    for name, wrong in _wrong_values(classifier):
        given = {**classifier.settings, name: wrong}
        require(refuses(type(classifier), given, named=name), f"{name} = {wrong!r} is accepted")
    given = {**classifier.settings, "no_such_thing": 1}
    require(refuses(type(classifier), given, named="no_such_thing"), "an unknown hyperparameter is accepted")
    try:
        classifier.hyperparameters = None  # type: ignore[misc]
    except dataclasses.FrozenInstanceError:
        return
    raise AssertionError("hyperparameters can be changed")


def _wrong_values(classifier: Classifier) -> Iterator[tuple[str, Any]]:
    """Values outside the range of each hyperparameter, and of a wrong type."""
    for field in dataclasses.fields(classifier.Hyperparameters):
        yield field.name, object()
        for limit, beyond in (("low", -1), ("high", 1)):
            if field.metadata[limit] is not None:
                yield field.name, field.metadata[limit] + beyond * max(1, abs(field.metadata[limit]))


def check_settings(classifier: Classifier) -> None:
    """Settings are JSON values, and restore an equal classifier with the same hash."""
    again = type(classifier)(json.loads(json.dumps(classifier.settings)))
    require(again == classifier and hash(again) == hash(classifier), "settings do not restore an equal classifier")
    classifier.settings.clear()
    require(again == classifier and again.settings == classifier.settings, "settings can be changed from outside")


def check_description(classifier: Classifier) -> None:
    """The description is a short phrase, the same for equal classifiers."""
    text = classifier.describe()
    require(isinstance(text, str) and 3 <= len(text) <= 160 and len(text.splitlines()) == 1, "no short description")
    require(text == type(classifier)(classifier.settings).describe(), "equal classifiers have two descriptions")


def check_other_processes(classifier: Classifier) -> None:
    """It can be sent to another process unchanged."""
    other = ForkingPickler.loads(ForkingPickler.dumps(classifier))
    require(other == classifier and hash(other) == hash(classifier), "a copy in another process is not equal")
    X, y, folds = _problems()[0]
    one, two = (each.evaluator(X, y, folds).error_counts(_masks(X.shape[1])) for each in (classifier, other))
    require(np.array_equal(one, two), "a copy in another process has other errors")


def check_estimator(classifier: Classifier) -> None:
    """Each estimator is new, unfitted, clonable and seeded."""
    from sklearn.base import clone, is_classifier

    X, y, _ = _problems()[0]
    one, two = classifier.estimator(), classifier.estimator()
    require(one is not two and is_classifier(one), "estimator() does not return a new classifier each time")
    before = np.random.get_state(legacy=True)[1].tolist()  # type: ignore[index]  # noqa: NPY002
    predicted = [each.fit(X[::2], y[::2]).predict(X).tolist() for each in (one, two, clone(two))]
    require(predicted[0] == predicted[1] == predicted[2], "the estimator's predictions are not repeatable: seed it")
    after = np.random.get_state(legacy=True)[1].tolist()  # type: ignore[index]  # noqa: NPY002
    require(before == after, "NumPy's global random state was changed")


def check_predictions(classifier: Classifier) -> None:
    """The evaluator predicts as the estimator does, for every scaling, and counts those errors."""
    for problem in _problems():
        X, y, folds = problem
        for scaling in SCALINGS:
            few = scaling in WITHIN_FOLDS or classifier.fast_evaluator is None  # these take long
            masks = _masks(X.shape[1])[: 5 if few else None]
            evaluator = classifier.evaluator(X, y, folds, scaling=scaling)
            counts, errors = evaluator.error_counts(masks), evaluator.errors(masks)
            for mask, count, error in zip(masks, counts, errors, strict=True):
                if not mask.any():
                    all_wrong = error == 1.0 and np.array_equal(count, folds.sizes)
                    require(all_wrong, "the empty subset has an error below 1")
                    continue
                expected = _cross_validate_for_conformance(classifier, problem, mask, scaling)
                found = evaluator.predictions(mask)
                where = f"scaling {scaling!r}, features {np.flatnonzero(mask).tolist()}"
                require(np.array_equal(found, expected), f"the estimator predicts other labels: {where}")
                wrong = np.bincount(folds.test_fold[expected != y], minlength=folds.n_folds)
                require(np.array_equal(count, wrong), f"the evaluator miscounts errors: {where}")
                mean = (wrong / folds.sizes).mean()
                require(abs(error - mean) < 1e-12, f"error is not the mean over folds: {where}")
            rates = evaluator.fold_errors(masks[:3])
            require(np.array_equal(rates, counts[:3] / folds.sizes), "fold errors are not counts over fold sizes")


def check_threads(classifier: Classifier) -> None:
    """Errors depend neither on threads nor on the batch of a subset."""
    X, y, folds = _problems()[1]
    masks = _masks(X.shape[1])
    one, two = (classifier.evaluator(X, y, folds, n_jobs=n_jobs) for n_jobs in (1, 2))
    expected = one.error_counts(masks)
    require(np.array_equal(two.error_counts(masks), expected), "errors depend on n_jobs")
    single = np.concatenate([two.error_counts(masks[row : row + 1]) for row in range(len(masks))])
    require(np.array_equal(single, expected), "errors depend on the batch")
    parts = np.concatenate([one.error_counts(masks, range(*part)) for part in ((0, 1), (1, folds.n_folds))], axis=1)
    taken = (parts >= 0).all(axis=1)
    require(np.array_equal(parts[taken], expected[taken]), "errors of a fold depend on the other folds")


def check_devices(classifier: Classifier) -> None:
    """Unsupported devices are refused by name."""
    X, y, folds = _problems()[0]
    for device in {"abacus", *DEVICES} - set(classifier.devices):
        refused = refuses(classifier.evaluator, X, y, folds, device=device, named=device)
        require(refused, f"device {device!r} is not refused")


def check_grid(classifier: Classifier) -> None:
    """A grid search, if any, reports the accuracy of all features, and its best point is usable."""
    X, y, folds = _problems()[0]
    grid = type(classifier).search_grid(X, y, folds, scaling="once", n_jobs=1)
    if grid is None:
        return
    require(len(grid.points) == len(grid.accuracies) == len(grid.table()), "points and accuracies differ in number")
    evaluator = type(classifier)(grid.best).evaluator(X, y, folds)
    accuracy = 1.0 - evaluator.errors(np.ones((1, X.shape[1]), dtype=np.bool_))[0]
    usable = [a for a, fits in zip(grid.accuracies, grid.usable or [True] * len(grid.points), strict=True) if fits]
    require(accuracy == max(usable), "the best point of the grid does not have the highest accuracy")


def check_from_estimator(classifier: Classifier) -> None:
    """Only its own estimator is recognised."""
    recognized = type(classifier).from_estimator(classifier.estimator())
    require(recognized is None or recognized == classifier, "its own estimator gives another classifier")
    require(type(classifier).from_estimator(object()) is None, "any object is accepted as its estimator")


CHECKS: tuple[Callable[[Classifier], None], ...] = (
    *(check_declarations, check_hyperparameters, check_settings, check_description, check_other_processes),
    *(check_estimator, check_predictions, check_threads, check_devices, check_grid, check_from_estimator),
)
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
    made = classifier() if isinstance(classifier, type) else classifier
    for check in CHECKS:
        check(made)


def check_regressor(regressor: type[Regressor] | Regressor) -> None:
    """Check that a regressor equals its copies, recognises its estimator, and has the errors of its estimator.

    Parameters
    ----------
    regressor : type or Regressor
        A subclass of :class:`Regressor`, checked with its defaults, or an instance.

    Raises
    ------
    AssertionError
        With a message that says what is wrong.
    """
    made = regressor() if isinstance(regressor, type) else regressor
    again = type(made)(json.loads(json.dumps(made.settings)))
    require(again == made and hash(again) == hash(made), "settings do not restore an equal regressor")
    require(ForkingPickler.loads(ForkingPickler.dumps(made)) == made, "a copy in another process is not equal")
    require(3 <= len(made.describe()) <= 160, "no short description")
    require(type(made).from_estimator(made.estimator()) in (None, made), "its own estimator gives another regressor")
    require(type(made).from_estimator(object()) is None, "any object is accepted as its estimator")
    for X, y, folds in _problems():
        target = X[:, 0] - 2.0 * X[:, 1] ** 2 + 0.3 * np.unique(y, return_inverse=True)[1]
        masks = _masks(X.shape[1])[:5]
        for scaling in SCALINGS:
            _check_errors(made, (X, target, folds), masks, None, scaling)
        for scoring in made.scorings:
            _check_errors(made, (X, target, folds), masks[::3], scoring, "once")


def _check_errors(regressor: Regressor, problem: _Problem, masks: BoolArray, scoring: Any, scaling: Scaling) -> None:
    """Compare the errors and predictions of the evaluator with those of the estimator and of other batches."""
    X, y, folds = problem
    evaluator = regressor.evaluator(X, y, folds, scoring=scoring, scaling=scaling, n_jobs=1)
    expected = GenericEvaluator(X, y, folds, regressor.estimator(), scoring, scaling=scaling, n_jobs=1)
    errors, where = evaluator.errors(masks), f"scaling {scaling!r}, scoring {scoring!r}"
    same = np.allclose(errors, expected.errors(masks), rtol=1e-9, atol=1e-12)
    require(same and evaluator.is_loss == expected.is_loss, f"errors are not the estimator's: {where}")
    single = np.concatenate([evaluator.errors(masks[row : row + 1]) for row in range(len(masks))])
    require(np.array_equal(single, errors), f"errors depend on the batch: {where}")
    require(
        np.array_equal(evaluator.fold_errors(masks).mean(axis=1), errors), f"fold errors have another mean: {where}"
    )
    if scoring is None:
        found, wanted = (each.predictions(masks[0]) for each in (evaluator, expected))
        require(np.allclose(found, wanted, rtol=1e-8, atol=1e-9), f"predictions are not the estimator's: {where}")
