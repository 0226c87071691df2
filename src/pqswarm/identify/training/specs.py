"""Features of training events: events of a preset, or of many types as recorders of a bandwidth see them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from pqswarm._base.random import derived_seed
from pqswarm._base.threads import effective_jobs
from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.datasets.make import EventSpec, check_spec_event_count, event_specs
from pqswarm.events import EVENT_CLASSES, Preset
from pqswarm.events.training import TRAINING_CLASSES, record_event
from pqswarm.identify.features.compute import BANDWIDTHS, MARGIN, compute_features, resample_for_features

TRAINING_SNR: tuple[float, ...] = (20.0, inf, 25.0, 40.0, 30.0, 60.0, 35.0, inf, 50.0)
"""Noise levels of the training events, in turn [dB]."""

TRAINING_EVENTS = "training"
"""Name of the events of :mod:`pqswarm.events.training`, in place of a preset."""
_UNDISTURBED = 4  # tuned
"""Undisturbed voltages are this many times as frequent as any disturbance, so that noise is not one."""
TRAINED = (7,)
HELD_OUT = (8,)
"""Families of events with separate seeds: held-out events are never trained."""
_PER_TASK = 25
_MANY = 2000

Progress = Callable[[str, int, int], None]


def list_training_specs(
    events_per_class: int, snr: Sequence[float], seed: int, family: tuple[int, ...], bandwidth: int, minimum: int = 1
) -> "list[BroadSpec]":
    """List the events of ``"training"`` for one of BANDWIDTHS, without classes that it cannot show."""
    count = check_spec_event_count(events_per_class, minimum)
    levels = snr or TRAINING_SNR
    usual = _UNDISTURBED if family == TRAINED else 1
    highest = 1000.0 if bandwidth == 0 else BANDWIDTHS[bandwidth - 1] / MARGIN
    limits = (BANDWIDTHS[bandwidth] / MARGIN * 1.0001, highest)
    return [
        BroadSpec(
            name, derived_seed(seed, (*family, 2**20 + bandwidth, word, number)), levels[number % len(levels)], limits
        )
        for name in TRAINING_CLASSES
        for word, needs in ((EVENT_CLASSES[name].seed_word, EVENT_CLASSES[name].requirements),)
        if needs.bandwidth <= BANDWIDTHS[bandwidth]
        for number in range(count * (usual if name == "pure_sinusoid" else 1))
    ]


@dataclass(frozen=True)
class BroadSpec:
    """Specification of an event of ``"training"``; see :func:`pqswarm.events.training.record_event`."""

    event_class: str
    seed: int
    snr: float
    bandwidth: tuple[float, float]

    def record(self, rate: float | None) -> tuple[FloatArray, float, float]:
        """Generate the event: samples, their rate and the nominal frequency [Hz]."""
        made = record_event(self.event_class, self.seed, self.bandwidth, self.snr, rate=rate)
        return made.signal, made.sampling_rate, made.frequency


@dataclass(frozen=True)
class PresetSpec:
    """Specification of an event of a preset."""

    order: EventSpec
    preset: Preset

    @property
    def event_class(self) -> str:
        """Its class."""
        return self.order.event_class

    def record(self, rate: float | None) -> tuple[FloatArray, float, float]:
        """Generate the event: samples, their rate and the nominal frequency [Hz]."""
        event = self.order.make(self.preset)
        if rate is None:
            return event.signal, event.sampling_rate, event.frequency
        return resample_for_features(event.signal, rate / event.sampling_rate), rate, event.frequency


def list_orders(
    preset: Preset | str,
    events_per_class: int,
    snr: Sequence[float],
    seed: int,
    family: tuple[int, ...],
    bandwidth: int,
    minimum: int = 1,
) -> tuple[tuple[str, ...], "list[BroadSpec] | list[PresetSpec]"]:
    """Return the classes of a preset, or of ``"training"``, and its events of a family."""
    if isinstance(preset, str):
        return TRAINING_CLASSES, list_training_specs(events_per_class, snr, seed, family, bandwidth, minimum)
    listed = event_specs(preset, events_per_class, seed, family, snr, minimum)
    return preset.classes, [PresetSpec(order, preset) for order in listed]


def make_training_events(
    preset: Preset | str,
    events_per_class: int,
    snr: Sequence[float],
    seed: int,
    *,
    family: tuple[int, ...] = TRAINED,
    bandwidth: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    minimum: int = 1,
    rate: float | None = None,
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Generate events and compute their features.

    Families of events have different seeds. Noise levels [dB] are taken in turn; without any, those of the preset are
    used. Events of ``"training"`` are for one of BANDWIDTHS. If the recorder has another `rate` [Hz], events are
    filtered and resampled. Returns the features (n, n_features), the labels as positions in the classes of the preset,
    and the measured frequencies [Hz].
    """
    from joblib import Parallel, delayed

    classes, orders = list_orders(preset, events_per_class, snr, seed, family, bandwidth, minimum)
    tasks = [orders[i : i + _PER_TASK] for i in range(0, len(orders), _PER_TASK)]
    rows: list[tuple[FloatArray, float]] = []
    jobs = min(effective_jobs(n_jobs), len(tasks))
    # Many small steps hold the interpreter lock: use processes if there is enough to do.
    backend = "loky" if jobs > 1 and len(orders) >= _MANY else "threading"
    made = Parallel(n_jobs=jobs, backend=backend, return_as="generator")(
        delayed(_compute_training_spec_features)(task, rate, not isinstance(preset, str)) for task in tasks
    )
    for some in made:
        rows += some
        if progress is not None:
            progress("events", len(rows), len(orders))
    labels = np.array([classes.index(order.event_class) for order in orders], dtype=np.int64)
    return np.array([row for row, _ in rows]), labels, np.array([frequency for _, frequency in rows])


def _compute_training_spec_features(
    orders: "Sequence[BroadSpec | PresetSpec]", rate: float | None, wavelet: bool
) -> list[tuple[FloatArray, float]]:
    from pqswarm.recordings.frequency import measure_frequency

    rows = []
    for order in orders:
        signal, own, nominal = order.record(rate)
        frequency = measure_frequency([signal], own, nominal) or nominal
        rows.append((compute_features(signal, own, frequency, wavelet=wavelet), frequency))
    return rows
