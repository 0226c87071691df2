"""Train a model on generated events, and check it on others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

import numpy as np

from pqswarm import __version__
from pqswarm._base.checks import check_name
from pqswarm._base.random import checked_seed, derived_seed
from pqswarm._base.threads import effective_jobs
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.datasets.dataset import EventSpec, check_spec_event_count, event_specs
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation import CLASSIFIERS, Classifier, Folds
from pqswarm.events import EVENT_CLASSES, Preset, check_snr, get_preset
from pqswarm.events.classes import class_type
from pqswarm.events.training import TRAINING_CLASSES, record_event
from pqswarm.identify.features import (
    BANDWIDTHS,
    FEATURES,
    MARGIN,
    MEASURES,
    WHOLE,
    bandwidth_of,
    compute_features,
    feature_upper_frequencies,
    resample_for_features,
    usable_features,
)
from pqswarm.identify.model import (
    COARSE_CODES,
    CODES,
    FeatureSubset,
    Model,
    ModelTrainingTable,
    combine_model_scores,
    cross_validated_model_distances,
    cross_validated_model_scores,
    fit_model_estimator,
    fit_model_weights,
    model_log_priors,
    scale_for_model,
)
from pqswarm.identify.training.corrections import (
    Correction,
    Progress,
    count_corrected_events_followed,
    describe_corrected_events,
    find_corrected_events,
    make_corrected_features,
    read_corrections,
)
from pqswarm.recordings import Site

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
_HYPERPARAMETERS: Mapping[str, Mapping[str, float]] = {
    "kernel-nb": {"bandwidth": 0.01, "floor": 0.0005},
    "k-nn": {"n_neighbors": 5},
}  # of classifiers whose own defaults are those of the paper's study, on fewer and more uniform events
_KNOTS = 129
_USUAL = 0.99
"""Fraction of the training events that count as like the others."""


def list_training_specs(
    events_per_class: int, snr: Sequence[float], seed: int, family: tuple[int, ...], bandwidth: int, minimum: int = 1
) -> "list[TrainingSpec]":
    """List the events of ``"training"`` for one of BANDWIDTHS, without classes that it cannot show."""
    count = check_spec_event_count(events_per_class, minimum)
    levels = snr or TRAINING_SNR
    usual = _UNDISTURBED if family == TRAINED else 1
    highest = 1000.0 if bandwidth == 0 else BANDWIDTHS[bandwidth - 1] / MARGIN
    limits = (BANDWIDTHS[bandwidth] / MARGIN * 1.0001, highest)
    return [
        TrainingSpec(
            name, derived_seed(seed, (*family, 2**20 + bandwidth, word, number)), levels[number % len(levels)], limits
        )
        for name in TRAINING_CLASSES
        for word, needs in ((EVENT_CLASSES[name].seed_word, EVENT_CLASSES[name].requirements),)
        if needs.bandwidth <= BANDWIDTHS[bandwidth]
        for number in range(count * (usual if name == "pure_sinusoid" else 1))
    ]


@dataclass(frozen=True)
class TrainingSpec:
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
class PresetTrainingSpec:
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


def list_training_orders(
    preset: Preset | str,
    events_per_class: int,
    snr: Sequence[float],
    seed: int,
    family: tuple[int, ...],
    bandwidth: int,
    minimum: int = 1,
) -> tuple[tuple[str, ...], "list[TrainingSpec] | list[PresetTrainingSpec]"]:
    """Return the classes of a preset, or of ``"training"``, and its events of a family."""
    if isinstance(preset, str):
        return TRAINING_CLASSES, list_training_specs(events_per_class, snr, seed, family, bandwidth, minimum)
    listed = event_specs(preset, events_per_class, seed, family, snr, minimum)
    return preset.classes, [PresetTrainingSpec(order, preset) for order in listed]


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

    classes, orders = list_training_orders(preset, events_per_class, snr, seed, family, bandwidth, minimum)
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
    orders: "Sequence[TrainingSpec | PresetTrainingSpec]", rate: float | None, wavelet: bool
) -> list[tuple[FloatArray, float]]:
    from pqswarm.recordings.frequency import measure_frequency

    rows = []
    for order in orders:
        signal, own, nominal = order.record(rate)
        frequency = measure_frequency([signal], own, nominal) or nominal
        rows.append((compute_features(signal, own, frequency, wavelet=wavelet), frequency))
    return rows


def train(
    preset: str | Preset = "training",
    events_per_class: int = 150,
    classifier: str | Classifier = "kernel-nb",
    subset: Sequence[str] | BoolArray | None = None,
    search: str | None = None,
    *,
    max_evaluations: int = 5000,
    snr: Sequence[float] = TRAINING_SNR,
    corrections: str | Path | Correction | Iterable[str | Path | Correction] | None = None,
    site: Site | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Model:
    """Train a model on generated events and on corrected recorded ones.

    Events of ``"training"`` (:func:`pqswarm.events.training.record_event`) are generated for each bandwidth, as
    recorders of that bandwidth see them, and have no wavelet features. Events of a preset are generated once, at its
    rate; a narrower bandwidth uses fewer of their features.

    Parameters
    ----------
    preset : str or Preset, default="training"
        ``"training"``, or the ranges of the events: a name of :data:`pqswarm.events.PRESETS`, the path of a TOML file,
        or one of your own.
    events_per_class : int, default=150
        Events of each class, at least 10; of ``"training"`` for each bandwidth, four times as many without disturbance.
    classifier : str or Classifier, default="kernel-nb"
        Name in :data:`pqswarm.evaluation.CLASSIFIERS`, or one with your own hyperparameters. Features are scaled by
        their quantiles. The estimator must have `predict_proba`.
    subset : sequence of str, or of bool, default=None
        Features to use: names, or a mask over :data:`pqswarm.identify.FEATURES`; by default all.
    search : str, default=None
        Algorithm (:data:`pqswarm.search.ALGORITHMS`) that searches for the best subset of these, for each bandwidth.
    max_evaluations : int, default=5000
        Budget of each search.
    snr : sequence of float, default=(20, inf, 25, 40, 30, 60, 35, inf, 50)
        Noise levels [dB], assigned to the events in turn; empty for those of the preset.
    corrections : str, Path, Correction, or an iterable of these, default=None
        Folders of archives (:class:`pqswarm.identify.Archive`) or single corrections; the last one of an event applies.
        Each corrected event is added, with variants, as 5 % of `events_per_class` at the bandwidth of its recording and
        as 2 % at narrower ones; all of a class as at most 50 %. Everything else is chosen without them. A warning names
        each correction that cannot be used.
    site : Site, default=None
        Site of corrected recordings whose station has none in the archive.
    seed : int, default=0
        The same seed and corrections, in any order, give the same model.
    n_jobs : int or None, default=None
        Threads; None or -1 uses all cores.
    progress : callable, default=None
        Called with (stage, done, total).

    Returns
    -------
    Model
        The model.

    Examples
    --------
    >>> some = get_preset("field").with_classes(["sag", "swell", "harmonics"])
    >>> train(some, events_per_class=10, subset=["rms.minimum", "rms.maximum", "harmonic.5"])
    <Model: kernel-nb, 30 events of 3 classes, preset 'field, 3 classes', seed 0>
    """
    chosen = TRAINING_EVENTS if preset == TRAINING_EVENTS else get_preset(preset)
    learner = _make_training_classifier(classifier)
    wanted = _read_training_subset(subset)
    levels = tuple(check_snr(level) for level in snr)
    if search is not None:
        from pqswarm.search.registry import search_class

        search_class(search)
    class_names = TRAINING_CLASSES if isinstance(chosen, str) else chosen.classes
    corrected = find_corrected_events(read_corrections(corrections), class_names, site, progress)
    features: FloatArray = np.empty((0, 0))
    labels: IntArray = np.empty(0, dtype=np.int64)
    subsets: list[FeatureSubset] = []
    tables: list[ModelTrainingTable] = []
    for number, highest in enumerate(BANDWIDTHS):
        allowed = wanted & (feature_upper_frequencies() <= highest)
        if isinstance(chosen, str):
            allowed &= np.isin(FEATURES, list(MEASURES))
        if isinstance(chosen, str) or not number:
            made = make_training_events(
                chosen,
                events_per_class,
                levels,
                checked_seed(seed),
                bandwidth=number,
                n_jobs=n_jobs,
                progress=progress,
                minimum=10,
            )
            features, labels = made[:2]
        elif number:
            allowed &= ~np.isin(FEATURES, WHOLE)  # these events would have other values at that bandwidth
        if not allowed.any():
            break
        more, more_labels = make_corrected_features(
            corrected,
            class_names,
            set(labels.tolist()),
            events_per_class,
            checked_seed(seed),
            bandwidth=number,
            wavelet=not isinstance(chosen, str),
        )
        one, table = _learn_training_subset(
            features[:, allowed],
            labels,
            np.array(FEATURES)[allowed],
            highest,
            len(class_names),
            learner,
            search,
            max_evaluations,
            seed,
            n_jobs,
            (more[:, allowed], more_labels),
            with_distance=isinstance(chosen, str),  # events of a preset are too similar to define what is unlike them
        )
        subsets.append(one)
        tables.append(table)
        if progress is not None:
            progress("bandwidths", number + 1, len(BANDWIDTHS))
    if not subsets:
        raise PqswarmError("subset has no feature that a model can use.")
    model = Model(
        class_names=class_names,
        subsets=tuple(subsets),
        tables=tuple(tables),
        classifier=learner,
        origin={
            "preset": chosen if isinstance(chosen, str) else chosen.name,
            "seed": seed,
            "events_per_class": events_per_class,
            "snr": ["inf" if level == inf else level for level in levels],
            "search": search or "",
            "max_evaluations": max_evaluations if search else 0,
            **describe_corrected_events([one.correction for one in corrected]),
            "pqswarm": __version__,
            "numpy": np.__version__,
        },
    )
    return replace(model, origin={**model.origin, **count_corrected_events_followed(model, corrected)})


def _make_training_classifier(given: str | Classifier) -> Classifier:
    if not isinstance(given, Classifier):
        check_name("classifier", given, [name for name in CLASSIFIERS if name != "estimator"])
        given = CLASSIFIERS[given](_HYPERPARAMETERS.get(given))
    fit_model_estimator(given, np.random.default_rng(0).random((40, 2)), np.arange(2).repeat(20))  # fails early
    return given


def _read_training_subset(subset: Sequence[str] | BoolArray | None) -> BoolArray:
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


def _learn_training_subset(
    features: FloatArray,
    labels: IntArray,
    names: AnyArray,
    highest: float,
    n_classes: int,
    classifier: Classifier,
    search: str | None,
    max_evaluations: int,
    seed: int,
    n_jobs: int | None,
    corrected: tuple[FloatArray, IntArray],
    *,
    with_distance: bool,
) -> tuple[FeatureSubset, ModelTrainingTable]:
    """Choose a subset by generated events, with error, temperature, weight, distance, and its training events.

    With a distance, these keep the other features.
    """
    from pqswarm.search import minimize

    knots = np.quantile(features, np.linspace(0, 1, _KNOTS), axis=0).T.astype(np.float32).astype(np.float64)
    codes, more = (
        np.round(scale_for_model(rows, knots) * CODES).astype(np.uint16) for rows in (features, corrected[0])
    )
    data = codes / CODES
    folds = Folds.stratified(labels, seed=seed)
    mask = np.ones(names.size, dtype=np.bool_)
    if search is not None:
        own = np.unique(labels, return_inverse=True)[1]
        evaluator = classifier.evaluator(data, own, folds, scaling="none", n_jobs=n_jobs)
        mask = minimize(search, evaluator, max_evaluations, seed).mask
    first, second = cross_validated_model_scores(classifier, data[:, mask], labels, folds, n_classes)
    priors = model_log_priors(labels, n_classes)
    temperature, weight = fit_model_weights(first, second, priors, labels)
    error = float(np.mean(combine_model_scores(first, second, priors, temperature, weight).argmax(axis=1) != labels))
    rest = ~mask & with_distance
    stored = np.vstack([codes, more])
    table = ModelTrainingTable(
        stored[:, mask],
        np.round(stored[:, rest] / CODES * COARSE_CODES).astype(np.uint8),
        np.concatenate([labels, corrected[1]]),
        np.concatenate([knots[mask], knots[rest]]),
    )
    farthest = inf
    if with_distance:
        farthest = np.quantile(cross_validated_model_distances(table.all_data[: len(labels)], labels, folds), _USUAL)
    subset = FeatureSubset(
        highest=highest,
        names=tuple(names[mask].tolist()),
        temperature=temperature,
        error=error,
        discriminant=weight,
        farthest=round(float(farthest), 6),
        others=tuple(names[rest].tolist()),
    )
    return subset, table


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

    """

    snr: float
    class_names: tuple[str, ...]
    confusion: IntArray
    confidence: float

    @property
    def n_events(self) -> int:
        """Number of events."""
        return int(self.confusion.sum())

    @property
    def accuracy(self) -> float:
        """Fraction of events with the right class."""
        return float(np.trace(self.confusion) / self.n_events)

    @property
    def type_accuracy(self) -> float:
        """Fraction of events with a class of the right type (:class:`pqswarm.events.EventClass`)."""
        types = np.array([class_type(name) for name in self.class_names])
        return float(self.confusion[types[:, np.newaxis] == types].sum() / self.n_events)

    def types(self) -> dict[str, float]:
        """Return the accuracy of each type."""
        types = np.array([class_type(name) for name in self.class_names])
        totals = self.confusion.sum(axis=1)
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


def check_model(
    model: Model,
    events_per_class: int = 100,
    snr: Sequence[float] = (20.0, 30.0, 40.0, 50.0, inf),
    *,
    preset: str | Preset = TRAINING_EVENTS,
    seed: int = 0,
    rate: float | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[ModelCheck, ...]:
    """Test a model on held-out events, on which no model was trained, whatever its seed.

    Parameters
    ----------
    model : Model
        The model.
    events_per_class : int, default=100
        Number of events of each class and noise level.
    snr : sequence of float, default=(20, 30, 40, 50, inf)
        Noise levels [dB].
    preset : str or Preset, default="training"
        ``"training"``, or the ranges of the events.
    seed : int, default=0
        Seed of the events.
    rate : float, default=None
        Sampling rate of the recorder, if not that of the events [Hz]. Classes that it cannot show are left out.
    n_jobs : int or None, default=None
        Number of threads.
    progress : callable, default=None
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
        probabilities = _predict_training_validation(model, features, frequencies, rate)
        n = len(model.class_names)
        confusion = np.bincount(places[labels] * n + probabilities.argmax(axis=1), minlength=n * n).reshape(n, n)
        checks.append(ModelCheck(level, model.class_names, confusion, float(probabilities.max(axis=1).mean())))
    return tuple(checks)


def _predict_training_validation(
    model: Model, features: FloatArray, frequencies: FloatArray, rate: float | None
) -> FloatArray:
    if rate is None:
        return model.predict(features).probabilities
    probabilities = np.empty((len(features), len(model.class_names)))
    for sixty in (False, True):  # the same rate is another bandwidth in multiples of the fundamental
        rows = np.flatnonzero((frequencies > 55) == sixty)
        if rows.size:
            usable = usable_features(rate, float(np.median(frequencies[rows])))
            probabilities[rows] = model.predict(features[rows], usable).probabilities
    return probabilities
