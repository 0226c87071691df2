"""A model: features of training events, to which a classifier is fitted for the bandwidth of a recording."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Classifier
from pqswarm.identify.features.compute import FEATURES
from pqswarm.identify.training.calibration import CalibratedExperts, calibrated_probabilities, find_nearest

_SLACK = 1.15  # tuned
"""Recorded events are farther from generated ones than these are from each other."""
CODES = 65535
"""A scaled feature is stored as an integer from 0 to this."""


@dataclass(frozen=True)
class FeatureSubset:
    """The features to use for recordings of a certain bandwidth.

    Attributes
    ----------
    highest : float
        Highest frequency that they use, in multiples of the fundamental.
    names : tuple of str
        The features.
    temperature : float
        Divides the log-probabilities of the classifier, so that its confidence matches its accuracy.
    error : float
        Cross-validated error on the training events.
    discriminant : float
        Weight of the added log-probabilities of a linear discriminant; 0 for none.
    farthest : float
        Mean difference of the scaled features to the nearest training event above which an event is unknown: 99 % of
        the training events are closer to one of another fold. Infinite for models of a preset.
    """

    highest: float
    names: tuple[str, ...]
    temperature: float
    error: float
    discriminant: float = 0.0
    farthest: float = inf


@dataclass(frozen=True, eq=False)
class ModelTrainingTable:
    """The training events of a subset: scaled features (n_events, n_features) as integers, and classes.

    `knots` (n_features, n_knots) are evenly spaced quantiles of each feature, ascending, which map it to 0 ... 1.
    """

    codes: AnyArray
    labels: IntArray
    knots: FloatArray

    @property
    def data(self) -> FloatArray:
        """The scaled features."""
        return np.asarray(self.codes.astype(np.float64) / CODES)


@dataclass(frozen=True, eq=False)
class Prediction:
    """Probabilities of the classes of some events.

    Attributes
    ----------
    class_names : tuple of str
        The classes.
    probabilities : ndarray of shape (n, n_classes)
        Rows sum to 1.
    subset : FeatureSubset
        Features used.
    known : ndarray of bool, shape (n,)
        False for an event unlike all training events, whose probabilities mean little.
    """

    class_names: tuple[str, ...]
    probabilities: FloatArray
    subset: FeatureSubset
    known: BoolArray

    @property
    def labels(self) -> IntArray:
        """Most probable class of each event, as a position in `class_names`."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    def best(self, row: int = 0, count: int = 2) -> tuple[tuple[str, float], ...]:
        """Return the most probable classes of one event, with their probabilities.

        Parameters
        ----------
        row : int
            Index of the event.
        count : int
            Number of classes.

        Returns
        -------
        tuple of (str, float)
            The most probable first.
        """
        order = np.argsort(-self.probabilities[row], kind="stable")[:count]
        return tuple((self.class_names[i], float(self.probabilities[row, i])) for i in order)


@dataclass(frozen=True, eq=False)
class Model:
    """Training events and how to learn from them; make one with :func:`pqswarm.identify.train`.

    Attributes
    ----------
    class_names : tuple of str
        Classes.
    subsets : tuple of FeatureSubset
        From the widest bandwidth to the narrowest.
    tables : tuple of ModelTrainingTable
        The training events of each subset.
    classifier : Classifier
        With its hyperparameters; it is fitted to the training events when it is first needed.
    origin : mapping of str to Any
        Preset, seed, noise levels, search and versions, for the record.

    Examples
    --------
    >>> model = default_model()
    >>> len(model.class_names), model.classifier.name
    (16, 'kernel-nb')
    """

    class_names: tuple[str, ...]
    subsets: tuple[FeatureSubset, ...]
    tables: tuple[ModelTrainingTable, ...]
    classifier: Classifier
    origin: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"<Model: {self.classifier.name}, {len(self.tables[0].labels)} events of {len(self.class_names)} classes, "
            f"preset {self.origin.get('preset', '')!r}, seed {self.origin.get('seed', '')}>"
        )

    @cached_property
    def _experts(self) -> "dict[FeatureSubset, CalibratedExperts]":
        return {}

    def subset_for(self, usable: BoolArray | None = None) -> FeatureSubset:
        """Return the widest subset whose features a recording has.

        Parameters
        ----------
        usable : ndarray of bool, shape (n_features,), optional
            What :func:`pqswarm.identify.usable_features` says; by default all.

        Returns
        -------
        FeatureSubset
            The subset.
        """
        if usable is None:
            return self.subsets[0]
        if np.shape(usable) != (len(FEATURES),):
            raise PqswarmError(f"usable must say yes or no to each of the {len(FEATURES)} features.")
        has = {name for name, yes in zip(FEATURES, usable, strict=True) if yes}
        for subset in self.subsets:
            if has.issuperset(subset.names):
                return subset
        raise PqswarmError("the sampling rate is too low for the model, which needs eight samples per cycle.")

    def predict(
        self,
        features: FloatArray,
        usable: BoolArray | None = None,
        classes: Collection[str] | None = None,
    ) -> Prediction:
        """Return the probabilities of the classes.

        The classifier is fitted to the training events for the widest subset whose features exist.

        Parameters
        ----------
        features : ndarray of shape (n, n_features) or (n_features,)
            In the order of :data:`pqswarm.identify.FEATURES`.
        usable : ndarray of bool, shape (n_features,), optional
            Features that the recording has (:func:`pqswarm.identify.usable_features`); by default all.
        classes : collection of str, optional
            Allowed classes: others have probability 0. By default all.

        Returns
        -------
        Prediction
            Probabilities, the subset used, and whether the event is like any training event.

        Examples
        --------
        >>> from pqswarm.events import generate
        >>> from pqswarm.identify import compute_features
        >>> event = generate("sag", seed=4, preset="field", depth=0.5)
        >>> default_model().predict(compute_features(event.signal, 25_000, event.frequency)).best(count=1)[0][0]
        'sag'
        """
        rows = np.atleast_2d(np.asarray(features, dtype=np.float64))
        if rows.ndim != 2 or rows.shape[1] != len(FEATURES) or not np.isfinite(rows).all():
            raise PqswarmError(f"features must be finite, {len(FEATURES)} for each event.")
        subset = self.subset_for(usable)
        table = self.tables[self.subsets.index(subset)]
        if subset not in self._experts:
            self._experts[subset] = CalibratedExperts.fit(
                self.classifier, table.data, table.labels, len(self.class_names)
            )
        columns = rows[:, [FEATURES.index(name) for name in subset.names]]
        scaled = scale_for_model(columns, table.knots)
        scores = self._experts[subset].scores(scaled, subset.temperature, subset.discriminant)
        shares = calibrated_probabilities(self._only(scores, classes))
        known = np.ones(len(rows), dtype=np.bool_)
        if subset.farthest < inf:
            known = find_nearest(scaled + model_overshoot(columns, table.knots), table.data) <= _SLACK * subset.farthest
        return Prediction(self.class_names, shares, subset, known)

    def _only(self, scores: FloatArray, classes: Collection[str] | None) -> FloatArray:
        """Scores with those of other classes at minus infinity."""
        if classes is None:
            return scores
        offered = np.array([name in classes for name in self.class_names])
        if not np.isfinite(scores[:, offered]).any():
            raise PqswarmError("classes must include one that the model knows.")
        return np.asarray(np.where(offered, scores, -np.inf))

    def save(self, path: str | Path) -> Path:
        """Write the model: a zip archive of arrays and a JSON manifest, without pickle.

        Parameters
        ----------
        path : str or Path
            File to write, such as ``model.npz``.

        Returns
        -------
        Path
            The file. The same model gives the same bytes.
        """
        from pqswarm.identify.model_file import save

        return save(self, path)


def scale_for_model(values: FloatArray, knots: FloatArray) -> FloatArray:
    """Map each column to 0 ... 1: its place among `knots` (n_features, n_knots), quantiles of the training events.

    A value at several equal quantiles is mapped to their middle. It is rounded to single precision, like the knots in a
    file, so that the last bit does not decide on which side it falls.
    """
    places = np.linspace(0.0, 1.0, knots.shape[1])
    found = np.empty(values.shape)
    for j, own in enumerate(knots):
        steps, first, counts = np.unique(own, return_index=True, return_counts=True)
        middle = 0.5 * (places[first] + places[first + counts - 1])
        found[:, j] = np.interp(values[:, j].astype(np.float32), steps, middle)
    return found


def model_overshoot(values: FloatArray, knots: FloatArray) -> FloatArray:
    """Return by how much each value lies outside the knots of its feature, relative to their range, at most 2."""
    low, high = knots[:, 0], knots[:, -1]
    beyond = np.maximum(values - high, 0.0) - np.maximum(low - values, 0.0)
    return np.asarray(np.clip(beyond / np.maximum(high - low, 1e-9), -2.0, 2.0))


@cache
def default_model() -> Model:
    """Return the bundled model.

    Returns
    -------
    Model
        Trained by ``pqswarm train`` with its defaults.

    Examples
    --------
    >>> default_model().origin["preset"]
    'broad'
    """
    from pqswarm.identify.model_file import load_model

    return load_model(Path(__file__).with_name("default.npz"))
