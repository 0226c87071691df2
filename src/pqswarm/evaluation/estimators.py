"""What scikit-learn estimators are and accept, and the tables, frames and parameters that are given to them."""

import inspect
import threading
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from pqswarm._base.typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import SubsetError

_LIKE_FEATURES = ("eval_set", "X_val")  # arguments of `fit` with the same columns as X
_liblinear_lock = threading.RLock()


def is_table(X: Any) -> bool:
    """Return whether X is a data frame or a sparse matrix rather than an array."""
    return any(hasattr(X, method) for method in ("tocsr", "iloc", "__dataframe__"))


def as_numbers(X: Any) -> Any:
    """Return a data frame of numbers as an array of floats; None for sparse matrices and other frames."""
    if not is_table(X):
        return X
    if hasattr(X, "tocsr") or not all(getattr(kind, "kind", "O") in "biuf" for kind in getattr(X, "dtypes", ())):
        return None
    to_numpy = getattr(X, "to_numpy", None) if hasattr(X, "iloc") else None
    return np.asarray(X, dtype=np.float64) if to_numpy is None else to_numpy(dtype=np.float64, na_value=np.nan)


def take_table(table: Any, places: IntArray, axis: int = 0) -> Any:
    """Return some rows, or columns, of an array, a data frame or a sparse matrix."""
    if isinstance(table, np.ndarray):
        return table[places] if axis == 0 else table[:, places]
    from sklearn.utils import _safe_indexing

    return _safe_indexing(table, places, axis=axis)


def take_params(
    params: Mapping[str, Any], n_samples: int, samples: IntArray, mask: BoolArray | None = None
) -> dict[str, Any]:
    """Return arguments of `fit` or of a scorer for some samples, and for the features of a mask."""
    from sklearn.utils.validation import _check_method_params

    taken: dict[str, Any] = (
        dict(_check_method_params(np.empty((n_samples, 0)), dict(params), samples)) if params else {}
    )
    if mask is not None:
        columns = np.flatnonzero(mask)
        for key in taken:
            if key.rpartition("__")[2] in _LIKE_FEATURES:
                taken[key] = _take_table_columns(params[key], columns)
    return taken


def _take_table_columns(given: Any, columns: IntArray) -> Any:
    """Some columns of X, or of each X in a pair or list of pairs (X, y)."""
    if isinstance(given, list):
        return [_take_table_columns(table, columns) for table in given]
    if isinstance(given, tuple):
        return (_take_table_columns(given[0], columns), *given[1:])
    return take_table(given if is_table(given) else np.asarray(given), columns, axis=1)


def pipeline_steps(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Yield the active steps of a pipeline, or the estimator alone without a name."""
    from sklearn.pipeline import Pipeline

    if not isinstance(estimator, Pipeline):
        yield "", estimator
        return
    for name, step in estimator.steps:
        if step is not None and step != "passthrough":
            yield name, step


def check_estimator_kind(estimator: Any) -> bool:
    """Return whether an estimator is a classifier rather than a regressor; raise an error if it is neither."""
    from sklearn.base import is_classifier, is_regressor

    if isinstance(estimator, type):
        name = estimator.__name__
        raise PqswarmError(f"estimator must be an instance, not the class {name}: write {name}().")
    is_estimator = hasattr(estimator, "fit") and hasattr(estimator, "get_params")
    if not is_estimator or not (is_classifier(estimator) or is_regressor(estimator)):
        raise PqswarmError(f"estimator must be a scikit-learn classifier or regressor, not {estimator!r}.")
    return bool(is_classifier(estimator))


def takes_missing(estimator: Any) -> bool:
    """Return whether an estimator accepts NaN by its tags; a pipeline, if each step that NaN reaches does."""
    from sklearn.utils import get_tags

    for _, step in pipeline_steps(estimator):
        try:
            tags = get_tags(step)
            takes = bool(tags.input_tags.allow_nan or tags.no_validation)
        except Exception:  # noqa: BLE001 - a third-party estimator without tags
            takes = False
        if not takes:
            return False
        module = type(step).__module__
        if not module.startswith("sklearn.preprocessing") or type(step).__name__ == "FunctionTransformer":
            return True  # such as an imputer; scalers pass NaN on
    return True


def check_missing_for_estimator(X: FloatArray, estimator: Any, scaling: str, names: Any = None) -> None:
    """Raise an error with the first NaN, unless the estimator accepts it."""
    row, column = np.argwhere(np.isnan(X))[0]
    where = f"feature {column if names is None else repr(names[column])} of sample {row} is NaN"
    if not takes_missing(estimator):
        name = type(list(pipeline_steps(estimator))[-1][1]).__name__
        raise PqswarmError(
            f"{where}, which {name} does not accept: put an imputer before it, such as make_pipeline(SimpleImputer(), "
            f"{name}()), or use an estimator that accepts NaN, such as HistGradientBoostingClassifier."
        )
    if scaling != "none":
        raise PqswarmError(f"{where}: use scaling='none', and scale in a pipeline if needed.")


def check_estimator_classes(y: AnyArray) -> None:
    """Raise scikit-learn's error if the labels are continuous."""
    from sklearn.utils.multiclass import check_classification_targets

    if y.dtype.kind == "f":
        try:
            check_classification_targets(y)
        except ValueError as error:
            raise PqswarmError(str(error)) from None


def check_estimator_weights(sample_weight: ArrayLike, n: int) -> FloatArray:
    """Return the checked weights of the samples."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise PqswarmError(f"sample_weight must hold a finite number of at least 0 for each of the {n} samples of X.")
    return weights


def weights_key(estimator: Any) -> str:
    """Return the argument of `fit` for the weights; for a pipeline, that of its last step."""
    from sklearn.pipeline import Pipeline

    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{weights_key(last)}"
    if not accepts_argument(estimator.fit, "sample_weight"):
        raise PqswarmError(f"{type(estimator).__name__} does not accept sample_weight: leave it out.")
    return "sample_weight"


def accepts_argument(function: Any, name: str) -> bool:
    """Return whether a function accepts an argument of that name."""
    arguments = inspect.signature(function).parameters
    return name in arguments or any(argument.kind is argument.VAR_KEYWORD for argument in arguments.values())


def fit_estimator(estimator: Any, X: Any, y: AnyArray, **params: Any) -> Any:
    """Fit an estimator, so that it depends on its random state alone, and return it.

    All threads of a process share the random numbers of liblinear: only one of them may draw at a time.
    """
    parts = [estimator, *estimator.get_params().values()] if hasattr(estimator, "get_params") else [estimator]
    draws = any(
        type(part).__name__ in ("LinearSVC", "LinearSVR") or getattr(part, "solver", None) == "liblinear"
        for part in parts
    )
    with _liblinear_lock if draws else nullcontext():
        return estimator.fit(X, y, **params)


def refit_fold(
    evaluator: Any, fold: int, selected: IntArray, *, methods: Any = "predict", target: Any = None
) -> AnyArray:
    """Return the response of the evaluator's `estimator` for the test samples of a fold, by its first known method.

    `target` is what is fitted, by default the labels; a subset that the estimator refuses raises a SubsetError.
    """
    train = evaluator.folds.train(fold)
    test = evaluator.folds.test(fold)
    target = evaluator.labels if target is None else target
    weights = getattr(evaluator, "sample_weight", None)
    more = {} if weights is None else {"sample_weight": weights[train]}
    used = take_table(evaluator.fold_view(fold), selected, axis=1)
    model = evaluator.estimator()
    method = next(name for name in ([methods] if isinstance(methods, str) else methods) if hasattr(model, name))
    try:
        with np.errstate(all="ignore"):
            model.fit(take_table(used, train), target[train], **more)
            response = np.asarray(getattr(model, method)(take_table(used, test)))
        if method != "predict" and not np.isfinite(response).all():
            raise ValueError(f"{method} gives NaN or infinite values")
    except Exception as error:  # third-party code may raise anything
        raise SubsetError.of(model, selected, error) from error
    return response
