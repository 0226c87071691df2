"""Models on disk."""

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._archive import Archive
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.evaluation import CLASSIFIERS, Classifier
from pqswarm.events.classes import is_name
from pqswarm.identify._deprecated import CLASSIFIER_NAMES
from pqswarm.identify.features import FEATURES, upper_frequencies
from pqswarm.identify.model import Model, Subset

if TYPE_CHECKING:
    from pqswarm._typing import AnyArray

__all__ = ["load_model", "save"]

_ARCHIVE = Archive(
    format="pqswarm model",
    what="model",
    version=1,
    command="pqswarm train",
    keys={
        "class_names": list,
        "feature_names": list,
        "subsets": list,
        "classifier": str,
        "hyperparameters": dict,
        "origin": dict,
    },
    arrays={"codes": "<u2", "labels": "|u1", "knots": "<f4"},
    limit=200_000_000,
)
_MOST_CLASSES = 200


def save(model: Model, path: str | Path) -> Path:
    """Write a model; see :meth:`pqswarm.identify.Model.save`."""
    entries = {
        "class_names": model.class_names,
        "feature_names": model.feature_names,
        "subsets": [vars(subset) for subset in model.subsets],
        "classifier": model.classifier.name,
        "hyperparameters": model.classifier.settings,
        "origin": dict(model.origin),
    }
    return _ARCHIVE.write(path, entries, {name: getattr(model, name) for name in _ARCHIVE.arrays})


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
    >>> from pqswarm.identify import train
    >>> model = train(events_per_class=10, subset=["rms.minimum", "rms.maximum"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_model(model.save(f"{folder}/small.npz"))
    <Model: kernel-nb, 140 events of 14 classes, preset 'field', seed 0>
    """
    return _ARCHIVE.read(path, _assemble)


def _names(given: Any, known: tuple[str, ...], what: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not given or not all(isinstance(name, str) for name in given):
        raise FileFormatError(f"is damaged: its {what} are not names.")
    strangers = [name for name in given if name not in known]
    if strangers or len(set(given)) < len(given):
        raise FileFormatError(f"is damaged, or is from another pqswarm: unknown or repeated {what} {strangers[:3]}.")
    return tuple(given)


def _class_names(given: list[Any]) -> tuple[str, ...]:
    if not all(is_name(name) for name in given):
        raise FileFormatError("is damaged: its classes are not names.")
    if not 2 <= len(given) <= _MOST_CLASSES or len(set(given)) < len(given):
        raise FileFormatError(f"is damaged: it must have 2 to {_MOST_CLASSES} classes, each once.")
    return tuple(given)


def _classifier(name: str, settings: dict[str, Any]) -> Classifier:
    """The classifier; of estimators by import path, which a stranger may choose, only those of scikit-learn."""
    old = name in CLASSIFIER_NAMES
    if old:  # a file of an earlier version; the k-NN's weights of votes are not kept
        known = {"width": "bandwidth", "floor": "floor", "n_neighbors": "n_neighbors"}
        name, settings = CLASSIFIER_NAMES[name], {known[key]: settings[key] for key in settings if key in known}
    if name == "estimator" and not str(settings.get("estimator")).startswith("sklearn."):
        raise FileFormatError("is not loaded: its classifier is neither one of pqswarm nor one of scikit-learn.")
    try:
        made = CLASSIFIERS.find(name)(settings)
    except PqswarmError as error:
        raise FileFormatError(f"is damaged, or its classifier is from another package: {error}") from error
    if not old and set(settings) != set(made.settings):
        raise FileFormatError(f"is damaged: it lacks hyperparameters of its classifier {name!r}.")
    return made


def _number(given: Any, low: float, high: float, what: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not low <= given <= high:
        raise FileFormatError(f"is damaged: its {what} is not a number from {low:g} to {high:g}.")
    return given


def _subset(given: Any, kept: tuple[str, ...]) -> Subset:
    if not isinstance(given, dict):
        raise FileFormatError("is damaged: a subset is not a record.")
    names = _names(given.get("names"), kept, "features of a subset")
    highest = _number(given.get("highest"), 0.0, 1e6, "bandwidth")
    limit = dict(zip(FEATURES, upper_frequencies().tolist(), strict=True))
    if any(limit[name] > highest for name in names):
        raise FileFormatError("is damaged: a subset has features beyond its bandwidth.")
    return Subset(
        highest=float(highest),
        names=names,
        temperature=float(_number(given.get("temperature"), 1e-3, 1e3, "temperature")),
        error=float(_number(given.get("error"), 0.0, 1.0, "error")),
    )


def _assemble(manifest: dict[str, Any], arrays: "dict[str, AnyArray]") -> Model:
    class_names = _class_names(manifest["class_names"])
    feature_names = _names(manifest["feature_names"], FEATURES, "features")
    if not manifest["subsets"] or len(manifest["subsets"]) > len(FEATURES):
        raise FileFormatError("is damaged: it has no subsets of features.")
    subsets = tuple(_subset(given, feature_names) for given in manifest["subsets"])
    classifier = _classifier(manifest["classifier"], manifest["hyperparameters"])
    codes, labels, knots = arrays["codes"], arrays["labels"], arrays["knots"].astype(np.float64)
    if labels.ndim != 1 or codes.shape != (labels.size, len(feature_names)) or not labels.size:
        raise FileFormatError("is damaged: its events, labels and features do not fit together.")
    if knots.ndim != 2 or knots.shape[0] != len(feature_names) or knots.shape[1] < 2:
        raise FileFormatError("is damaged: its scaling does not fit its features.")
    if not (np.isfinite(knots).all() and (np.diff(knots, axis=1) >= 0).all()):
        raise FileFormatError("is damaged: its scaling is not ascending.")
    if set(labels.tolist()) != set(range(len(class_names))):
        raise FileFormatError("is damaged: its labels are not those of its classes.")
    origin = manifest["origin"]
    if not all(
        isinstance(value, str | list) or (isinstance(value, int | float) and isfinite(value))
        for value in origin.values()
    ):
        raise FileFormatError("is damaged: its origin is not plain.")
    return Model(
        codes=codes,
        labels=labels.astype(np.int64),
        knots=knots,
        class_names=class_names,
        feature_names=feature_names,
        subsets=subsets,
        classifier=classifier,
        origin=origin,
    )
