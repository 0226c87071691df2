"""A data set: features at every noise level, labels, and the table of events."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import TextIOWrapper
from math import inf, isnan
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pqswarm._base.files import write_atomically
from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.events import SOURCES, Event
from pqswarm.events.catalog import RECORD_PARAMETERS
from pqswarm.events.event import synthesize
from pqswarm.features import FeatureOptions


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
        from pqswarm.datasets.files import save

        return save(self, path)

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
