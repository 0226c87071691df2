"""Data sets on disk; ``numpy.load`` can also open the arrays."""

from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from pqswarm._base.array_file import ArrayFile
from pqswarm._base.typing import AnyArray
from pqswarm.datasets.dataset import Dataset
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.events import PARAMETERS, SOURCES, Parameter, check_snr
from pqswarm.events.catalog import RECORD_PARAMETERS
from pqswarm.events.classes import is_name
from pqswarm.features import FUNCTIONS, FeatureOptions, feature_names

_FILE = ArrayFile(
    format="pqswarm dataset",
    what="data set",
    version=1,
    command="pqswarm dataset",
    keys={
        "version": str,
        "seed": int,
        "preset": dict,
        "snr": list,
        "class_names": list,
        "feature_names": list,
        "parameter_names": list,
    },
    arrays={"features": "<f8", "y": "<i8", "source": "<i8", "seeds": "<i8", "record": "<f8", "parameters": "<f8"},
)

_ANY = Parameter("", "", "")


def save(dataset: Dataset, path: str | Path) -> Path:
    """Write a data set; see :meth:`pqswarm.datasets.Dataset.save`."""
    entries = {name: getattr(dataset, name) for name in _FILE.keys}
    entries["snr"] = ["inf" if level == inf else level for level in dataset.snr]
    if changed := dataset.feature_options.changed():
        entries["feature_options"] = changed
    return _FILE.write(path, entries, {name: getattr(dataset, name) for name in _FILE.arrays})


def load_dataset(path: str | Path) -> Dataset:
    """Read a data set that :meth:`Dataset.save` wrote, and check it completely.

    A file that is damaged, or is not a pqswarm data set, raises a FileFormatError.

    Examples
    --------
    >>> import tempfile
    >>> from pqswarm.datasets import make_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_dataset(make_dataset(1, snr=40).save(f"{folder}/small.npz"))
    <Dataset: 14 events of 14 classes, 99 features, SNR 40 dB, preset 'paper', seed 0>
    """
    return _FILE.read(path, _build_dataset)


def _build_dataset(manifest: dict[str, Any], arrays: dict[str, AnyArray]) -> Dataset:
    if not isinstance(manifest["preset"].get("name"), str):
        raise FileFormatError("is damaged: the preset of its manifest has no name.")
    try:
        snr = tuple(check_snr(inf if level == "inf" else level) for level in manifest["snr"])
    except PqswarmError:
        raise FileFormatError("is damaged: its noise levels are not numbers.") from None
    if len(set(snr)) < len(snr):
        raise FileFormatError("is damaged: a noise level appears twice.")
    level = len(manifest["feature_names"]) // len(FUNCTIONS) - 1
    if tuple(manifest["feature_names"]) != feature_names(level):
        raise FileFormatError("is damaged, or from another version of pqswarm: its features have other names.")
    try:
        options = FeatureOptions.of(manifest.get("feature_options", {}))
    except PqswarmError as error:
        raise FileFormatError(f"is damaged, or from another version of pqswarm: {error}") from None
    for kind in ("class_names", "parameter_names"):
        if not all(map(is_name, manifest[kind])) or len(set(manifest[kind])) < len(manifest[kind]):
            raise FileFormatError(f"is damaged: the {kind!r} of its manifest are not distinct names.")
    _check_arrays(manifest, arrays, len(snr))
    return Dataset(
        **arrays,
        snr=snr,
        class_names=tuple(manifest["class_names"]),
        feature_names=tuple(manifest["feature_names"]),
        parameter_names=tuple(manifest["parameter_names"]),
        seed=manifest["seed"],
        preset=manifest["preset"],
        version=manifest["version"],
        feature_options=options,
    )


def _check_arrays(manifest: dict[str, Any], arrays: dict[str, AnyArray], n_levels: int) -> None:
    n = arrays["y"].size
    shapes = {
        "features": (n_levels, n, len(manifest["feature_names"])),
        "y": (n,),
        "source": (n,),
        "seeds": (n,),
        "record": (n, 3),
        "parameters": (n, len(manifest["parameter_names"])),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise FileFormatError(f"is damaged: {name!r} has shape {arrays[name].shape}, not {shape}.")
    for name, limit in (("y", len(manifest["class_names"])), ("source", len(SOURCES))):
        if n and not (arrays[name].min() >= 0 and arrays[name].max() < limit):
            raise FileFormatError(f"is damaged: {name!r} has values outside 0 to {limit - 1}.")
    if not np.isfinite(arrays["features"]).all():
        raise FileFormatError("is damaged: it holds features that are not finite.")
    for names, values in ((RECORD_PARAMETERS, arrays["record"]), (manifest["parameter_names"], arrays["parameters"])):
        for name, column in zip(names, values.T, strict=True):
            given = column[~np.isnan(column)] if values is arrays["parameters"] else column
            allowed = PARAMETERS.get(name, _ANY)  # parameters of plugins may be unknown here
            if not ((given >= allowed.low) & (given <= allowed.high)).all():
                raise FileFormatError(f"is damaged: it holds impossible values of {name}.")
