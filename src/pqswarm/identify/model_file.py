"""Models on disk."""

from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from pqswarm._base.array_file import ArrayFile
from pqswarm._base.checks import is_finite, is_integer
from pqswarm._base.text import printable
from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.errors import FileFormatError, PqswarmError, shorten
from pqswarm.evaluation import CLASSIFIERS, Classifier
from pqswarm.events.classes import is_name
from pqswarm.identify.features.compute import FEATURES, feature_upper_frequencies
from pqswarm.identify.model import FeatureSubset, Model, ModelTrainingTable

_MAX_TEXT = 500
_MAX_NUMBER = 2.0**64
"""Limits of the metadata of a model: characters of a text, and numbers."""

_FILE = ArrayFile(
    format="pqswarm model",
    what="model",
    version=2,
    command="pqswarm train",
    keys={
        "class_names": list,
        "subsets": list,
        "classifier": str,
        "hyperparameters": dict,
        "origin": dict,
    },
    arrays={"codes": "<u2", "labels": "|u1", "knots": "<f4"},
    limit=200_000_000,
)
_MAX_CLASSES = 200
_MAX_DISTANCE = 1e6


def save(model: Model, path: str | Path) -> Path:
    """Write a model; see :meth:`pqswarm.identify.Model.save`."""
    entries = {
        "class_names": model.class_names,
        "subsets": [
            {**vars(subset), "farthest": min(subset.farthest, _MAX_DISTANCE), "events": len(table.labels)}
            for subset, table in zip(model.subsets, model.tables, strict=True)
        ],
        "classifier": model.classifier.name,
        "hyperparameters": model.classifier.settings,
        "origin": dict(model.origin),
    }
    arrays = {
        "codes": np.concatenate([table.codes.ravel() for table in model.tables]),
        "labels": np.concatenate([table.labels for table in model.tables]),
        "knots": np.concatenate([table.knots for table in model.tables]),
    }
    return _FILE.write(path, entries, arrays)


def load_model(path: str | Path) -> Model:
    """Read a model that :meth:`Model.save` wrote, checking everything on the way.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    FileFormatError
        If the file is damaged, or is not a pqswarm model.

    Examples
    --------
    >>> import tempfile
    >>> from pqswarm.events import get_preset
    >>> from pqswarm.identify import train
    >>> some = get_preset("field").with_classes(["sag", "swell"])
    >>> model = train(some, events_per_class=10, subset=["rms.minimum", "rms.maximum"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_model(model.save(f"{folder}/small.npz"))
    <Model: kernel-nb, 20 events of 2 classes, preset 'field, 2 classes', seed 0>
    """
    return _FILE.read(path, _assemble_model)


def _read_model_names(given: Any, known: tuple[str, ...], what: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not given or not all(isinstance(name, str) for name in given):
        raise FileFormatError(f"is damaged: its {what} are not names.")
    unknown = [name for name in given if name not in known]
    if unknown or len(set(given)) < len(given):
        some = shorten(unknown[:3])
        raise FileFormatError(f"is damaged, or is from another pqswarm: unknown or repeated {what} {some}.")
    return tuple(given)


def _read_model_class_names(given: list[Any]) -> tuple[str, ...]:
    if not all(is_name(name) for name in given):
        raise FileFormatError("is damaged: its classes are not names.")
    if not 2 <= len(given) <= _MAX_CLASSES or len(set(given)) < len(given):
        raise FileFormatError(f"is damaged: it must have 2 to {_MAX_CLASSES} classes, each once.")
    return tuple(given)


_ADDED = {"underflow"}  # hyperparameters that older files lack; they have their defaults


def _read_model_classifier(name: str, settings: dict[str, Any]) -> Classifier:
    """The classifier; estimators by import path, which a file may choose freely, must be of scikit-learn."""
    if name == "estimator" and not str(settings.get("estimator")).startswith("sklearn."):
        raise FileFormatError("is not loaded: its classifier is neither one of pqswarm nor one of scikit-learn.")
    try:
        made = CLASSIFIERS.find(name)(settings)
    except PqswarmError as error:
        reason = shorten(str(error), 300)
        raise FileFormatError(f"is damaged, or its classifier is from another package: {reason}") from error
    if set(made.settings) - set(settings) - _ADDED:
        raise FileFormatError(f"is damaged: it lacks hyperparameters of its classifier {shorten(repr(name))}.")
    return made


def _read_model_number(given: Any, low: float, high: float, what: str) -> float:
    if not is_finite(given) or not low <= given <= high:
        raise FileFormatError(f"is damaged: its {what} is not a number from {low:g} to {high:g}.")
    return given


def _read_model_subset(given: Any, known: tuple[str, ...]) -> FeatureSubset:
    if not isinstance(given, dict):
        raise FileFormatError("is damaged: a subset is not a record.")
    names = _read_model_names(given.get("names"), known, "features of a subset")
    highest = _read_model_number(given.get("highest"), 0.0, 1e6, "bandwidth")
    limit = dict(zip(FEATURES, feature_upper_frequencies().tolist(), strict=True))
    if any(limit[name] > highest for name in names):
        raise FileFormatError("is damaged: a subset has features beyond its bandwidth.")
    farthest = float(_read_model_number(given.get("farthest", _MAX_DISTANCE), 0.0, _MAX_DISTANCE, "distance"))
    return FeatureSubset(
        highest=float(highest),
        names=names,
        temperature=float(_read_model_number(given.get("temperature"), 1e-3, 1e3, "temperature")),
        error=float(_read_model_number(given.get("error"), 0.0, 1.0, "error")),
        discriminant=float(_read_model_number(given.get("discriminant", 0.0), 0.0, 10.0, "weight")),
        farthest=farthest if farthest < _MAX_DISTANCE else inf,
    )


def _assemble_model(manifest: dict[str, Any], arrays: dict[str, AnyArray]) -> Model:
    class_names = _read_model_class_names(manifest["class_names"])
    if not manifest["subsets"] or len(manifest["subsets"]) > len(FEATURES):
        raise FileFormatError("is damaged: it has no subsets of features.")
    subsets = tuple(_read_model_subset(given, FEATURES) for given in manifest["subsets"])
    classifier = _read_model_classifier(manifest["classifier"], manifest["hyperparameters"])
    codes = arrays["codes"]
    labels = arrays["labels"].astype(np.int64)
    knots = arrays["knots"]
    if knots.ndim != 2 or knots.shape[1] < 2:
        raise FileFormatError("is damaged: its scaling does not fit its features.")
    if not np.isfinite(knots).all():
        raise FileFormatError("is damaged: its scaling is not finite.")
    knots = knots.astype(np.float64)
    if not (np.diff(knots, axis=1) >= 0).all():
        raise FileFormatError("is damaged: its scaling is not ascending.")
    if labels.ndim != 1 or not labels.size or set(labels.tolist()) != set(range(len(class_names))):
        raise FileFormatError("is damaged: its labels are not those of its classes.")
    tables = _split_model_events(manifest, subsets, codes, labels, knots)
    return Model(class_names, subsets, tables, classifier, _read_model_origin(manifest["origin"]))


def _read_model_origin(said: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a model: texts, numbers, and lists of these."""

    def plain(value: Any) -> Any:
        if isinstance(value, str):
            return printable(value)[:_MAX_TEXT]
        if not isinstance(value, int | float) or not -_MAX_NUMBER < value < _MAX_NUMBER:
            raise FileFormatError("is damaged: its origin is not plain.")
        return value

    return {
        printable(name): [plain(one) for one in value] if isinstance(value, list) else plain(value)
        for name, value in said.items()
    }


def _split_model_events(
    manifest: dict[str, Any], subsets: tuple[FeatureSubset, ...], codes: AnyArray, labels: IntArray, knots: FloatArray
) -> tuple[ModelTrainingTable, ...]:
    """The training events of each subset, from concatenated arrays."""
    counts = [given.get("events") for given in manifest["subsets"]]
    if not all(is_integer(count) and count > 0 for count in counts):
        raise FileFormatError("is damaged: it does not say how many events its subsets have.")
    widths = [len(subset.names) for subset in subsets]
    sizes = [count * width for count, width in zip(counts, widths, strict=True)]
    if codes.ndim != 1 or codes.size != sum(sizes) or labels.size != sum(counts) or len(knots) != sum(widths):
        raise FileFormatError("is damaged: its events, labels and features do not fit together.")
    tables = tuple(
        ModelTrainingTable(own.reshape(count, width), marks, steps)
        for own, count, width, marks, steps in zip(
            np.split(codes, np.cumsum(sizes)[:-1]),
            counts,
            widths,
            np.split(labels, np.cumsum(counts)[:-1]),
            np.split(knots, np.cumsum(widths)[:-1]),
            strict=True,
        )
    )
    if any(np.unique(table.labels).size < 2 for table in tables):
        raise FileFormatError("is damaged: a subset has events of one class only.")
    return tables
