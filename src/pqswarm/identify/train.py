"""Train a model on generated events, and check it on others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, inf
from typing import TYPE_CHECKING

import numpy as np

from pqswarm import __version__
from pqswarm._random import checked_seed, derived_seed
from pqswarm._threads import effective_jobs
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.events import PRESETS, Event, Preset, check_snr, generate, get_preset
from pqswarm.identify.classifiers import evaluator, hyperparameters, scores_of, softened
from pqswarm.identify.model import CODES, Model, Subset, scale
from pqswarm.identify.prepare import FEATURES, TIERS, features_of, resample, uppers

if TYPE_CHECKING:
    from pqswarm._typing import BoolArray, FloatArray, IntArray

__all__ = ["TRAINING_SNR", "Order", "Progress", "made_event", "make_events", "orders_of", "train"]

TRAINING_SNR: tuple[float, ...] = (20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 60.0, 75.0)
"""Noise levels of the training events, one after the other [dB]."""

_KNOTS = 257
_TRAINED, _CHECKED = 7, 8  # streams of events of their own: what is checked was never trained
_CLASSES = PRESETS["paper"].classes
_PER_TASK = 25
_MANY = 2000

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Order:
    """An event to be made: class, source, seed, and noise [dB], None for the preset's own."""

    event_class: str
    source: str
    seed: int
    snr: float | None


def train(
    preset: str | Preset = "field",
    events_per_class: int = 400,
    classifier: str = "nb",
    subset: "Sequence[str] | BoolArray | None" = None,
    search: str | None = None,
    *,
    max_evaluations: int = 20_000,
    snr: Sequence[float] = TRAINING_SNR,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Model:
    """Train a model on generated events.

    Parameters
    ----------
    preset : str or Preset
        Ranges of the events.
    events_per_class : int
        Events of each of the fourteen classes, at least 10.
    classifier : {"nb", "knn"}
        Kernel naive Bayes or nearest neighbours, on features scaled by their quantiles.
    subset : sequence of str, or of bool, optional
        Features to use (names, or yes and no for each of :data:`pqswarm.identify.FEATURES`); by default all.
    search : str, optional
        Algorithm (:data:`pqswarm.search.ALGORITHMS`) that looks for the best subset among them, once for each
        bandwidth that recordings can have.
    max_evaluations : int
        Of each search.
    snr : sequence of float
        Noise levels [dB], dealt out to the events in turn; empty for those of the preset.
    seed : int
        The same seed gives the same model.
    n_jobs : int or None
        Threads; None or -1 uses all cores.
    progress : callable, optional
        Called with (what, done, in all) from time to time.

    Returns
    -------
    Model
        The model.

    Examples
    --------
    >>> train(events_per_class=10, subset=["rms.minimum", "rms.maximum", "harmonic.5"])
    <Model: nb, 140 events of 14 classes, preset 'field', seed 0>
    """
    chosen = get_preset(preset)
    parameters = hyperparameters(classifier)
    wanted = _wanted(subset)
    levels = tuple(check_snr(level) for level in snr)
    if search is not None:
        from pqswarm.search.registry import search_class

        search_class(search)
    features, labels, _ = make_events(
        chosen, events_per_class, levels, checked_seed(seed), n_jobs=n_jobs, progress=progress, least=10
    )
    knots = np.quantile(features, np.linspace(0, 1, _KNOTS), axis=0).T.astype(np.float32).astype(np.float64)
    codes = np.round(scale(features, knots) * CODES).astype(np.uint16)
    subsets = _choose(codes / CODES, labels, wanted, classifier, parameters, search, max_evaluations, seed, progress)
    used = {name for one in subsets for name in one.names}
    kept = [i for i, name in enumerate(FEATURES) if name in used]
    return Model(
        codes=codes[:, kept],
        labels=labels,
        knots=knots[kept],
        class_names=_CLASSES,
        feature_names=tuple(FEATURES[i] for i in kept),
        subsets=subsets,
        classifier=classifier,
        hyperparameters=parameters,
        origin={
            "preset": chosen.name,
            "seed": seed,
            "events_per_class": events_per_class,
            "snr": ["inf" if level == inf else level for level in levels],
            "search": search or "",
            "max_evaluations": max_evaluations if search else 0,
            "pqswarm": __version__,
            "numpy": np.__version__,
        },
    )


def _wanted(subset: "Sequence[str] | BoolArray | None") -> "BoolArray":
    if subset is None:
        return np.ones(len(FEATURES), dtype=np.bool_)
    given = np.asarray(subset)
    if given.dtype == np.bool_ and given.shape == (len(FEATURES),):
        mask: BoolArray = given.astype(np.bool_)
    else:
        for name in given.tolist():
            if name not in FEATURES:
                raise unknown_name("feature", name, FEATURES)
        mask = np.isin(FEATURES, given)
    if not mask.any():
        raise PqswarmError("subset must name at least one feature.")
    return mask


def make_events(
    preset: Preset,
    events_per_class: int,
    snr: Sequence[float],
    seed: int,
    *,
    fresh: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    least: int = 1,
    rate: float | None = None,
) -> "tuple[FloatArray, IntArray, FloatArray]":
    """Generate events and compute their features.

    Parameters
    ----------
    preset : Preset
        Ranges of the events.
    events_per_class : int
        Of each class.
    snr : sequence of float
        Noise levels [dB], in turn; empty for those of the preset.
    seed : int
        Of all events.
    fresh : bool
        Make events that no model was trained on, whatever its seed.
    n_jobs : int or None
        Threads.
    progress : callable, optional
        Called with (what, done, in all).
    least : int
        Least `events_per_class`.
    rate : float, optional
        Of the recorder, if not that of the preset: events are filtered and sampled at it [Hz].

    Returns
    -------
    features : ndarray of shape (n, n_features)
        In the order of :data:`pqswarm.identify.FEATURES`.
    labels : ndarray of shape (n,)
        Positions in the classes of the preset.
    frequencies : ndarray of shape (n,)
        As measured [Hz].
    """
    from joblib import Parallel, delayed

    if isinstance(events_per_class, bool) or not isinstance(events_per_class, int) or events_per_class < least:
        raise PqswarmError(f"events_per_class must be a whole number of at least {least}, not {events_per_class!r}.")
    orders = orders_of(preset, events_per_class, snr, seed, fresh)
    tasks = [orders[i : i + _PER_TASK] for i in range(0, len(orders), _PER_TASK)]
    rows: list[tuple[FloatArray, float]] = []
    jobs = min(effective_jobs(n_jobs), len(tasks))
    # Many small steps hold the interpreter lock: processes, where there is enough to do for them.
    backend = "loky" if jobs > 1 and len(orders) >= _MANY else "threading"
    made = Parallel(n_jobs=jobs, backend=backend, return_as="generator")(
        delayed(_features_of_orders)(task, preset, rate) for task in tasks
    )
    for some in made:
        rows += some
        if progress is not None:
            progress("events", len(rows), len(orders))
    labels = np.array([_CLASSES.index(order.event_class) for order in orders], dtype=np.int64)
    return np.array([row for row, _ in rows]), labels, np.array([frequency for _, frequency in rows])


def orders_of(preset: Preset, count: int, snr: Sequence[float], seed: int, fresh: bool) -> list[Order]:
    """List the events to be made, class by class; those of the bench are spread evenly over their classes."""
    family = _CHECKED if fresh else _TRAINED
    share = preset.bench_share * len(_CLASSES) / len(preset.bench) if preset.bench else 0.0
    orders = []
    for label, event_class in enumerate(_CLASSES):
        own = share if event_class in preset.bench else 0.0
        for number in range(count):
            source = "bench" if floor(own * (number + 1) + 1e-9) > floor(own * number + 1e-9) else "model"
            level = snr[number % len(snr)] if snr else None
            orders.append(Order(event_class, source, derived_seed(seed, (family, label, number)), level))
    return orders


def made_event(order: Order, preset: Preset) -> Event:
    """Return the event of an order."""
    noise = {} if order.snr is None else {"snr": order.snr}
    return generate(order.event_class, order.seed, preset, source=order.source, **noise)


def _features_of_orders(
    orders: Sequence[Order], preset: Preset, rate: float | None
) -> "list[tuple[FloatArray, float]]":
    from pqswarm.recordings._char_frequency import measure_frequency

    rows = []
    for order in orders:
        event = made_event(order, preset)
        own = event.sampling_rate if rate is None else rate
        signal = event.signal if rate is None else resample(event.signal, rate / event.sampling_rate)
        frequency = measure_frequency([signal], own, event.frequency) or event.frequency
        rows.append((features_of(signal, own, frequency), frequency))
    return rows


def _choose(
    data: "FloatArray",
    labels: "IntArray",
    wanted: "BoolArray",
    classifier: str,
    parameters: Mapping[str, float],
    search: str | None,
    max_evaluations: int,
    seed: int,
    progress: Progress | None,
) -> tuple[Subset, ...]:
    """Choose a subset for each bandwidth, with its error and temperature."""
    from pqswarm.evaluation import Folds
    from pqswarm.search import minimize

    folds = Folds.stratified(labels, seed=seed)
    subsets: list[Subset] = []
    for number, highest in enumerate(TIERS):
        allowed = np.flatnonzero(wanted & (uppers() <= highest))
        if not allowed.size:
            break
        judge = evaluator(classifier, data[:, allowed], labels, folds, parameters)
        mask = np.ones(allowed.size, dtype=np.bool_)
        if search is not None:
            mask = minimize(search, judge, max_evaluations, seed).mask
        error = float(judge.errors(mask[np.newaxis])[0])
        scores = scores_of(judge, mask)
        temperature = 1.0 if scores is None else _fit_temperature(scores, labels)
        subsets.append(Subset(float(highest), tuple(FEATURES[i] for i in allowed[mask]), temperature, error))
        if progress is not None:
            progress("bandwidths", number + 1, len(TIERS))
    if not subsets:
        raise PqswarmError("subset has no feature that a model can use.")
    return tuple(subsets)


def _fit_temperature(scores: "FloatArray", labels: "IntArray") -> float:
    """The temperature under which the true classes are most likely."""

    def loss(temperature: float) -> float:
        right = softened(scores, temperature)[np.arange(len(labels)), labels]
        return float(-np.log(np.maximum(right, 1e-300)).mean())

    candidates: list[float] = np.geomspace(0.5, 50.0, 120).tolist()
    best: float = min(candidates, key=loss)
    return round(best, 4)
