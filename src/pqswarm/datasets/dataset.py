"""A data set: features at every noise level, labels, and the table of events; in memory and on disk.

``numpy.load`` can also open the arrays of its file.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import TextIOWrapper
from math import inf, isnan
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pqswarm._base.array_file import ArrayFile
from pqswarm._base.files import write_atomically
from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.events import PARAMETERS, SOURCES, Event, Parameter, check_snr
from pqswarm.events.catalog import RECORD_PARAMETERS
from pqswarm.events.classes import is_name
from pqswarm.events.event import synthesize
from pqswarm.features import FUNCTIONS, FeatureOptions, feature_names


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features, labels and events; see :func:`pqswarm.datasets.make_dataset`.

    Attributes
    ----------
    features : ndarray of shape (n_levels, n_events, n_features)
        The features at each noise level.
    snr : tuple of float
        The noise levels [dB].
    y : ndarray of shape (n_events,)
        Labels: positions in `class_names`.
    class_names, feature_names : tuple of str
        What the labels and the columns mean.
    source : ndarray of shape (n_events,)
        Source of each event: positions in :data:`pqswarm.events.SOURCES`.
    seeds : ndarray of shape (n_events,)
        The seed of each event.
    record : ndarray of shape (n_events, 3)
        Sampling rate [Hz], nominal frequency [Hz] and length [cycles] of each event.
    parameter_names : tuple of str
        Columns of `parameters`.
    parameters : ndarray of shape (n_events, n_parameters)
        The parameters of each event; NaN where its class has no such parameter.
    seed : int
        Seed of the data set.
    preset : mapping
        The complete preset.
    version : str
        Version of pqswarm that generated it.
    feature_options : FeatureOptions
        Wavelet, level and border mode of the features.
    """

    features: FloatArray
    snr: tuple[float, ...]
    y: IntArray
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    source: IntArray
    seeds: IntArray
    record: FloatArray
    parameter_names: tuple[str, ...]
    parameters: FloatArray
    seed: int
    preset: Mapping[str, Any]
    version: str
    feature_options: FeatureOptions = field(default_factory=FeatureOptions)

    def __len__(self) -> int:
        return self.y.size

    def __repr__(self) -> str:
        levels = ", ".join(f"{level:g}" for level in self.snr)
        return (
            f"<Dataset: {len(self)} events of {len(self.class_names)} classes, {len(self.feature_names)} features, "
            f"SNR {levels} dB, preset {self.preset['name']!r}, seed {self.seed}>"
        )

    def X(self, snr: float = inf) -> FloatArray:
        """Return the features at the noise level `snr` [dB], shape (n_events, n_features).

        Examples
        --------
        >>> from pqswarm.datasets import make_dataset
        >>> make_dataset(1, snr=40).X(40).shape
        (14, 99)
        """
        if snr not in self.snr:
            raise PqswarmError(f"the data set has no noise level {snr!r} dB; it has {', '.join(map(str, self.snr))}.")
        at_level: FloatArray = self.features[self.snr.index(snr)]
        return at_level

    def event(self, number: int) -> Event:
        """Regenerate an event from its recorded parameters.

        Examples
        --------
        >>> from pqswarm.datasets import make_dataset
        >>> make_dataset(1, snr=40).event(3).label
        'swell'
        """
        if not isinstance(number, int | np.integer) or not 0 <= number < len(self):
            raise PqswarmError(f"the data set has events 0 to {len(self) - 1}, not {number!r}.")
        label = self.class_names[self.y[number]]
        row = dict(zip(self.parameter_names, self.parameters[number].tolist(), strict=True))
        parameters = {name: value for name, value in row.items() if not isnan(value)}
        source = SOURCES[self.source[number]]
        seed = int(self.seeds[number])
        record = dict(zip(RECORD_PARAMETERS, self.record[number].tolist(), strict=True))
        return Event(
            signal=synthesize(label, parameters, source=source, seed=seed, **record),
            label=label,
            parameters=parameters,
            source=source,
            seed=seed,
            preset=self.preset["name"],
            **record,
        )

    def save(self, path: str | Path) -> Path:
        """Write one file atomically, without pickle; see :func:`pqswarm.datasets.load_dataset`."""
        entries = {name: getattr(self, name) for name in _FILE.keys}
        entries["snr"] = ["inf" if level == inf else level for level in self.snr]
        if changed := self.feature_options.changed():
            entries["feature_options"] = changed
        return _FILE.write(path, entries, {name: getattr(self, name) for name in _FILE.arrays})

    def write_csv(self, path: str | Path, snr: float = inf) -> Path:
        """Write one row per event: class, source, seed, record, parameters, features at `snr` [dB]."""
        features = self.X(snr)

        def write(binary: BinaryIO) -> None:
            file = TextIOWrapper(binary, encoding="utf-8", newline="")
            writer = csv.writer(file)
            writer.writerow(["class", "source", "seed", *RECORD_PARAMETERS, *self.parameter_names, *self.feature_names])
            for i in range(len(self)):
                numbers = [*self.record[i], *self.parameters[i], *features[i]]
                cells = ["" if isnan(value) else repr(float(value)) for value in numbers]
                writer.writerow([self.class_names[self.y[i]], SOURCES[self.source[i]], self.seeds[i], *cells])
            file.detach()  # the file stays open

        return write_atomically(path, write)


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
