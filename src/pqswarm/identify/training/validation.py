"""Accuracy of a model on held-out events: generated events that no model was trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from pqswarm._base.random import checked_seed
from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.events import Preset, check_snr, get_preset
from pqswarm.events.classes import class_type
from pqswarm.events.training import TRAINING_CLASSES
from pqswarm.identify.features.compute import BANDWIDTHS, bandwidth_of, usable_features
from pqswarm.identify.model import Model
from pqswarm.identify.training.specs import (
    HELD_OUT,
    TRAINING_EVENTS,
    Progress,
    list_orders,
    make_training_events,
)


@dataclass(frozen=True, eq=False)
class ModelCheck:
    """Accuracy of a model at one noise level.

    Attributes
    ----------
    snr : float
        Signal-to-noise ratio [dB].
    class_names : tuple of str
        The classes.
    confusion : ndarray of int64, shape (n_classes, n_classes)
        Number of events by true class (row) and predicted class (column).
    confidence : float
        Mean probability of the chosen classes.
    unlabelled : ndarray of int64, shape (n_classes,)
        Events of each true class without a class by the model: the recording or the event was left to the rules, or is
        unlike anything learned. They count as wrong.
    """

    snr: float
    class_names: tuple[str, ...]
    confusion: IntArray
    confidence: float
    unlabeled: IntArray

    @property
    def n_events(self) -> int:
        """Number of events."""
        return int(self.confusion.sum() + self.unlabeled.sum())

    @property
    def accuracy(self) -> float:
        """Fraction of events with the right class."""
        return float(np.trace(self.confusion) / self.n_events)

    @property
    def type_accuracy(self) -> float:
        """Fraction of events with a class of the right type (:class:`pqswarm.events.EventClass`)."""
        types = np.array([class_type(name) for name in self.class_names])
        same = types[:, np.newaxis] == types
        return float(self.confusion[same].sum() / self.n_events)

    def types(self) -> dict[str, float]:
        """Return the accuracy of each type."""
        types = np.array([class_type(name) for name in self.class_names])
        totals = self.confusion.sum(axis=1) + self.unlabeled
        accuracies = {}
        for event_type in dict.fromkeys(types.tolist()):
            ours = types == event_type
            accuracies[event_type] = float(self.confusion[np.ix_(ours, ours)].sum() / totals[ours].sum())
        return accuracies

    def table(self) -> str:
        """Return the confusion matrix in Markdown."""
        letters = [chr(ord("a") + i) for i in range(len(self.class_names))]
        lines = ["| true class | " + " | ".join(letters) + " |", "|---|" + "---:|" * len(letters)]
        for letter, name, row in zip(letters, self.class_names, self.confusion, strict=True):
            cells = " | ".join(str(value) if value else "·" for value in row.tolist())
            lines.append(f"| {letter} {name.replace('_', ' ')} | {cells} |")
        return "\n".join(lines)

    def row(self) -> dict[str, Any]:
        """Return a summary."""
        return {
            "snr": "inf" if self.snr == inf else self.snr,
            "events": self.n_events,
            "accuracy": self.accuracy,
            "type_accuracy": self.type_accuracy,
            "confidence": self.confidence,
        }


def check_model(
    model: Model,
    events_per_class: int = 100,
    snr: Sequence[float] = (20.0, 30.0, 40.0, 50.0, inf),
    *,
    preset: str | Preset = TRAINING_EVENTS,
    seed: int = 0,
    rate: float | None = None,
    whole: bool = False,
    nominal_voltage: float | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[ModelCheck, ...]:
    """Test a model on held-out events, on which no model was trained, whatever its seed.

    Parameters
    ----------
    model : Model
        The model.
    events_per_class : int
        Number of events of each class and noise level.
    snr : sequence of float
        Noise levels [dB].
    preset : str or Preset
        ``"training"``, or the ranges of the events.
    seed : int
        Seed of the events.
    rate : float, optional
        Sampling rate of the recorder, if not that of the events [Hz]. Classes that it cannot show are left out.
    whole : bool
        Analyse each event as a recording of 230 V by :func:`pqswarm.identify.identify`, and compare the class of the
        worst event, :attr:`pqswarm.identify.Analysis.main`; without events it is an undisturbed voltage. By default the
        model is given the event in per unit.
    nominal_voltage : float, optional
        Given to `identify` if `whole` [V].
    n_jobs : int or None
        Number of threads.
    progress : callable, optional
        Called with (stage, done, total).

    Returns
    -------
    tuple of ModelCheck
        One for each noise level.

    Examples
    --------
    >>> from pqswarm.identify import default_model
    >>> (check,) = check_model(default_model(), events_per_class=2, snr=[40])
    >>> bool(check.accuracy > 0.8)
    True
    """
    chosen = TRAINING_EVENTS if preset == TRAINING_EVENTS else get_preset(preset)
    classes = TRAINING_CLASSES if isinstance(chosen, str) else chosen.classes
    unknown = [name for name in classes if name not in model.class_names]
    if unknown:
        raise PqswarmError(f"the model does not know {', '.join(unknown)}: check it on a preset of its own classes.")
    places = np.array([model.class_names.index(name) for name in classes])
    checks = []
    for level in (check_snr(value) for value in snr):
        n = len(model.class_names)
        if whole:
            labels, shares = _predict_whole(model, chosen, events_per_class, level, checked_seed(seed), nominal_voltage)
        else:
            features, labels, frequencies = make_training_events(
                chosen,
                events_per_class,
                (level,),
                checked_seed(seed),
                family=HELD_OUT,
                n_jobs=n_jobs,
                progress=progress,
                rate=rate,
                bandwidth=0 if rate is None else BANDWIDTHS.index(bandwidth_of(rate, 60.0)),
            )
            shares = _predict_for_validation(model, features, frequencies, rate)
        true = places[labels]
        best = shares.max(axis=1)
        cells = (true * n + shares.argmax(axis=1))[best > 0]
        confusion = np.bincount(cells, minlength=n * n).reshape(n, n)
        confidence = float(best[best > 0].mean()) if cells.size else 0.0
        checks.append(
            ModelCheck(level, model.class_names, confusion, confidence, np.bincount(true[best == 0], minlength=n))
        )
    return tuple(checks)


def _predict_for_validation(
    model: Model, features: FloatArray, frequencies: FloatArray, rate: float | None
) -> FloatArray:
    if rate is None:
        return model.predict(features).probabilities
    shares = np.empty((len(features), len(model.class_names)))
    for sixty in (False, True):  # the same rate is another bandwidth in multiples of the fundamental
        rows = np.flatnonzero((frequencies > 55) == sixty)
        if rows.size:
            usable = usable_features(rate, float(np.median(frequencies[rows])))
            shares[rows] = model.predict(features[rows], usable).probabilities
    return shares


def _predict_whole(
    model: Model, preset: Preset | str, count: int, snr: float, seed: int, nominal: float | None
) -> tuple[IntArray, FloatArray]:
    from pqswarm.identify.classify import identify
    from pqswarm.recordings import Channel, Recording

    classes, orders = list_orders(preset, count, (snr,), seed, HELD_OUT, 1)
    labels = []
    shares = []
    for order in orders:
        signal, rate, frequency = order.record(None)
        volts = Channel("U1", "V", "A", 230 * np.sqrt(2) * signal)
        try:
            main = identify(Recording((volts,), rate, frequency), model, nominal_voltage=nominal).main
            found = {"pure_sinusoid": 1.0} if main is None else dict(main.probabilities) if main.known else {}
        except PqswarmError:  # no voltage of the supply frequency: no row
            found = {}
        labels.append(classes.index(order.event_class))
        shares.append([found.get(name, 0.0) for name in model.class_names])
    return np.array(labels), np.array(shares)
