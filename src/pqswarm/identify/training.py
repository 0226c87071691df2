"""Train a model on generated events."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from pqswarm import __version__
from pqswarm._random import checked_seed
from pqswarm._threads import effective_jobs
from pqswarm.datasets.orders import Order, list_orders
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation import CLASSIFIERS, Classifier
from pqswarm.events import Preset, check_snr, get_preset
from pqswarm.identify._deprecated import CLASSIFIER_NAMES
from pqswarm.identify.calibration import cross_validated_scores, fit_estimator, fit_temperature
from pqswarm.identify.features import BANDWIDTHS, FEATURES, compute_features, resample, upper_frequencies
from pqswarm.identify.model import CODES, Model, Subset, scale

if TYPE_CHECKING:
    from pqswarm._typing import BoolArray, FloatArray, IntArray

__all__ = ["HELD_OUT", "TRAINED", "TRAINING_SNR", "Progress", "make_events", "train"]

TRAINING_SNR: tuple[float, ...] = (20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 60.0, 75.0)
"""Noise levels of the training events, one after the other [dB]."""

_HYPERPARAMETERS: Mapping[str, Mapping[str, float]] = {
    "kernel-nb": {"bandwidth": 0.01, "floor": 0.0005},
    "k-nn": {"n_neighbors": 5},
}  # of classifiers whose own defaults are those of the paper's study, on fewer and more uniform events
_KNOTS = 257
TRAINED, HELD_OUT = (7,), (8,)
"""Families of events with seeds of their own: what is held out was never trained."""
_PER_TASK = 25
_MANY = 2000

Progress = Callable[[str, int, int], None]


def train(
    preset: str | Preset = "field",
    events_per_class: int = 400,
    classifier: str | Classifier = "kernel-nb",
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
        Ranges of the events: a name of :data:`pqswarm.events.PRESETS`, the path of a TOML file, or one of your own.
    events_per_class : int
        Events of each class of the preset, at least 10.
    classifier : str or Classifier
        Name in :data:`pqswarm.evaluation.CLASSIFIERS`, or one with hyperparameters of your own, on features scaled by
        their quantiles. Its estimator must have `predict_proba`.
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
    <Model: kernel-nb, 140 events of 14 classes, preset 'field', seed 0>
    """
    chosen = get_preset(preset)
    learner = _read_classifier(classifier)
    wanted = _read_subset(subset)
    levels = tuple(check_snr(level) for level in snr)
    if search is not None:
        from pqswarm.search.registry import search_class

        search_class(search)
    features, labels, _ = make_events(
        chosen, events_per_class, levels, checked_seed(seed), n_jobs=n_jobs, progress=progress, least=10
    )
    knots = np.quantile(features, np.linspace(0, 1, _KNOTS), axis=0).T.astype(np.float32).astype(np.float64)
    codes = np.round(scale(features, knots) * CODES).astype(np.uint16)
    subsets = _choose(codes / CODES, labels, wanted, learner, search, max_evaluations, seed, n_jobs, progress)
    used = {name for one in subsets for name in one.names}
    kept = [i for i, name in enumerate(FEATURES) if name in used]
    return Model(
        codes=codes[:, kept],
        labels=labels,
        knots=knots[kept],
        class_names=chosen.classes,
        feature_names=tuple(FEATURES[i] for i in kept),
        subsets=subsets,
        classifier=learner,
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


def _read_classifier(given: str | Classifier) -> Classifier:
    if isinstance(given, str) and given in CLASSIFIER_NAMES:
        name = CLASSIFIER_NAMES[given]
        warnings.warn(f"classifier {given!r} is called {name!r} now.", DeprecationWarning, stacklevel=3)
        given = name
    made = given if isinstance(given, Classifier) else CLASSIFIERS.find(given)(_HYPERPARAMETERS.get(given))
    varied = np.eye(2).repeat(20, axis=0) + 0.1 * np.sin(np.arange(80.0)).reshape(40, 2)
    fit_estimator(made, varied, np.arange(2).repeat(20))  # says now if it cannot be used
    return made


def _read_subset(subset: "Sequence[str] | BoolArray | None") -> "BoolArray":
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
    family: tuple[int, ...] = TRAINED,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    least: int = 1,
    rate: float | None = None,
) -> "tuple[FloatArray, IntArray, FloatArray]":
    """Generate events and compute their features.

    Families of events have different seeds. Noise levels [dB] are taken in turn; none stands for those of the preset.
    At `rate` [Hz], that of the recorder if not that of the preset, events are filtered and sampled. Returns the
    features (n, n_features), the labels as positions in the classes of the preset, and the measured frequencies [Hz].
    """
    from joblib import Parallel, delayed

    orders = list_orders(preset, events_per_class, seed, family, snr, least)
    tasks = [orders[i : i + _PER_TASK] for i in range(0, len(orders), _PER_TASK)]
    rows: list[tuple[FloatArray, float]] = []
    jobs = min(effective_jobs(n_jobs), len(tasks))
    # Many small steps hold the interpreter lock: processes, where there is enough to do for them.
    backend = "loky" if jobs > 1 and len(orders) >= _MANY else "threading"
    made = Parallel(n_jobs=jobs, backend=backend, return_as="generator")(
        delayed(_compute_some)(task, preset, rate) for task in tasks
    )
    for some in made:
        rows += some
        if progress is not None:
            progress("events", len(rows), len(orders))
    labels = np.array([preset.classes.index(order.event_class) for order in orders], dtype=np.int64)
    return np.array([row for row, _ in rows]), labels, np.array([frequency for _, frequency in rows])


def _compute_some(orders: Sequence[Order], preset: Preset, rate: float | None) -> "list[tuple[FloatArray, float]]":
    from pqswarm.recordings.frequency import measure_frequency

    rows = []
    for order in orders:
        event = order.make(preset)
        own = event.sampling_rate if rate is None else rate
        signal = event.signal if rate is None else resample(event.signal, rate / event.sampling_rate)
        frequency = measure_frequency([signal], own, event.frequency) or event.frequency
        rows.append((compute_features(signal, own, frequency), frequency))
    return rows


def _choose(
    data: "FloatArray",
    labels: "IntArray",
    wanted: "BoolArray",
    classifier: Classifier,
    search: str | None,
    max_evaluations: int,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> tuple[Subset, ...]:
    """Choose a subset for each bandwidth, with its error and temperature."""
    from pqswarm.evaluation import Folds
    from pqswarm.search import minimize

    folds = Folds.stratified(labels, seed=seed)
    subsets: list[Subset] = []
    for number, highest in enumerate(BANDWIDTHS):
        allowed = np.flatnonzero(wanted & (upper_frequencies() <= highest))
        if not allowed.size:
            break
        judge = classifier.evaluator(data[:, allowed], labels, folds, scaling="none", n_jobs=n_jobs)
        mask = np.ones(allowed.size, dtype=np.bool_)
        if search is not None:
            mask = minimize(search, judge, max_evaluations, seed).mask
        error = float(judge.errors(mask[np.newaxis])[0])
        scores = cross_validated_scores(classifier, data[:, allowed[mask]], labels, folds)
        temperature = fit_temperature(scores, labels)
        subsets.append(Subset(float(highest), tuple(FEATURES[i] for i in allowed[mask]), temperature, error))
        if progress is not None:
            progress("bandwidths", number + 1, len(BANDWIDTHS))
    if not subsets:
        raise PqswarmError("subset has no feature that a model can use.")
    return tuple(subsets)
