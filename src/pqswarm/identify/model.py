"""A model: training events by their features, from which a classifier is fitted for what a recording can show."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm.errors import PqswarmError
from pqswarm.identify.calibration import fit_estimator, log_scores, soften
from pqswarm.identify.features import FEATURES

if TYPE_CHECKING:
    from pqswarm._typing import AnyArray, BoolArray, FloatArray, IntArray
    from pqswarm.evaluation import Classifier

__all__ = ["CODES", "Model", "Prediction", "Subset", "default_model", "scale"]

CODES = 65535
"""A scaled feature is kept as an integer from 0 to this."""


@dataclass(frozen=True)
class Subset:
    """The features to use for recordings of a certain bandwidth.

    Attributes
    ----------
    highest : float
        Highest frequency that they look at, in multiples of the fundamental.
    names : tuple of str
        The features.
    temperature : float
        By which log-probabilities are divided, so that they are as sure as the model is right.
    error : float
        Cross-validated, on the training events.
    """

    highest: float
    names: tuple[str, ...]
    temperature: float
    error: float


@dataclass(frozen=True, eq=False)
class Prediction:
    """Probabilities of the classes of some events.

    Attributes
    ----------
    class_names : tuple of str
        The classes.
    probabilities : ndarray of shape (n, n_classes)
        Rows sum to 1.
    subset : Subset
        Which features were used.
    """

    class_names: tuple[str, ...]
    probabilities: "FloatArray"
    subset: Subset

    @property
    def labels(self) -> "IntArray":
        """Most probable class of each event, as a position in `class_names`."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    def best(self, row: int = 0, count: int = 2) -> tuple[tuple[str, float], ...]:
        """Return the most probable classes of one event, with their probabilities.

        Parameters
        ----------
        row : int
            Which event.
        count : int
            How many classes.

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
    codes : ndarray of uint16, shape (n_events, n_kept)
        Scaled features of the training events.
    labels : ndarray of int64, shape (n_events,)
        Their classes.
    knots : ndarray of shape (n_kept, n_knots)
        Ascending quantiles of each feature, evenly spaced: they map a feature to 0 ... 1.
    class_names, feature_names : tuple of str
        Classes, and the features that any subset uses.
    subsets : tuple of Subset
        From the widest bandwidth to the narrowest.
    classifier : Classifier
        With its hyperparameters; it is fitted to the training events when it is first needed.
    origin : mapping of str to Any
        Preset, seed, noise levels, search and versions, for the record.

    Examples
    --------
    >>> model = default_model()
    >>> len(model.class_names), model.classifier.name
    (14, 'kernel-nb')
    """

    codes: "AnyArray"
    labels: "IntArray"
    knots: "FloatArray"
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    subsets: tuple[Subset, ...]
    classifier: "Classifier"
    origin: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"<Model: {self.classifier.name}, {len(self.labels)} events of {len(self.class_names)} classes, "
            f"preset {self.origin.get('preset', '')!r}, seed {self.origin.get('seed', '')}>"
        )

    @cached_property
    def _estimators(self) -> dict[Subset, Any]:
        return {}

    def subset_for(self, usable: "BoolArray | None" = None) -> Subset:
        """Return the widest subset whose features a recording has.

        Parameters
        ----------
        usable : ndarray of bool, shape (n_features,), optional
            What :func:`pqswarm.identify.usable_features` says; by default all.

        Returns
        -------
        Subset
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
        raise PqswarmError("the sampling rate is too low for the model: eight samples per cycle are needed.")

    def predict(
        self, features: "FloatArray", usable: "BoolArray | None" = None, classes: "frozenset[str] | None" = None
    ) -> Prediction:
        """Return the probabilities of the classes.

        The classifier is fitted to the training events for the widest subset whose features exist.

        Parameters
        ----------
        features : ndarray of shape (n, n_features) or (n_features,)
            In the order of :data:`pqswarm.identify.FEATURES`.
        usable : ndarray of bool, shape (n_features,), optional
            Which of them the recording has (:func:`pqswarm.identify.usable_features`); by default all.

        Returns
        -------
        Prediction
            Probabilities, and the subset used.

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
        if subset not in self._estimators:
            data = self.codes[:, self._places(subset)].astype(np.float64) / CODES
            self._estimators[subset] = fit_estimator(self.classifier, data, self.labels)
        columns = rows[:, [FEATURES.index(name) for name in subset.names]]
        scores = log_scores(self._estimators[subset], scale(columns, self.knots[self._places(subset)]))
        shares = soften(scores, subset.temperature)
        if classes is not None and not classes.issuperset(self.class_names):
            offered = np.isin(self.class_names, list(classes))
            if offered.any():
                shares = soften(np.where(offered, scores, -np.inf), subset.temperature)
        return Prediction(self.class_names, shares, subset)

    def _places(self, subset: Subset) -> list[int]:
        return [self.feature_names.index(name) for name in subset.names]

    def save(self, path: str | Path) -> Path:
        """Write the model: a zip archive of arrays and a JSON manifest, without pickle.

        Parameters
        ----------
        path : str or Path
            Where to, such as ``model.npz``.

        Returns
        -------
        Path
            Where it was written. The same model gives the same bytes.
        """
        from pqswarm.identify.files import save

        return save(self, path)


def scale(values: "FloatArray", knots: "FloatArray") -> "FloatArray":
    """Map each column to 0 ... 1: its place among `knots` (n_features, n_knots), quantiles of the training events.

    Examples
    --------
    >>> scale(np.array([[2.0], [9.0]]), np.array([[1.0, 3.0, 4.0]])).tolist()
    [[0.25], [1.0]]
    """
    places = np.linspace(0.0, 1.0, knots.shape[1])
    return np.column_stack(
        [np.interp(column, own, places) for column, own in zip(values.T, knots, strict=True)]
    ).reshape(values.shape)


@cache
def default_model() -> Model:
    """Return the bundled model.

    Returns
    -------
    Model
        Made by ``pqswarm train --search`` with its defaults.

    Examples
    --------
    >>> default_model().origin["preset"]
    'field'
    """
    from pqswarm.identify.files import load_model

    return load_model(Path(__file__).with_name("default.npz"))
