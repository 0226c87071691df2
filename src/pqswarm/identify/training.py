"""Train a model on generated events and on corrected recorded ones, found again with variants; check it on others."""

import hashlib
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, inf
from pathlib import Path

import numpy as np

from pqswarm import __version__
from pqswarm._base.checks import check_integer, check_name
from pqswarm._base.random import checked_seed, derived_seed, stream
from pqswarm._base.text import file_text, printable
from pqswarm._base.threads import effective_jobs
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.datasets.dataset import MAX_PER_CLASS, EventSpec, event_specs
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation import CLASSIFIERS, Classifier, Folds
from pqswarm.events import EVENT_CLASSES, Event, Preset, check_snr, get_preset
from pqswarm.events.classes import class_type
from pqswarm.events.noise import add_noise
from pqswarm.events.training import TRAINING_CLASSES, RecordedEvent, record_event
from pqswarm.identify.agreement import in_words
from pqswarm.identify.analysis import Analysis, EventResult
from pqswarm.identify.classify import possible_labels, read_window_samples
from pqswarm.identify.features import (
    BANDWIDTHS,
    FEATURES,
    MARGIN,
    MEASURES,
    MIN_CYCLES,
    WHOLE,
    bandwidth_of,
    compute_features,
    feature_upper_frequencies,
    resample_for_features,
    usable_features,
    uses_wavelet_features,
)
from pqswarm.identify.folder.batch import Failure, find_batch_candidate, identify_file, recording_failure
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
from pqswarm.recordings import Site
from pqswarm.recordings.recording import RecordingSource

Progress = Callable[[str, int, int], None]
"""Called with what is done, how many of it are, and of how many."""
_WEIGHT = 0.05  # tuned
"""Training events per corrected one at the bandwidth of its recording, as a fraction of those of a class."""
_NARROWER = 0.02  # tuned
"""The same at narrower bandwidths, where its distinguishing content may be missing."""
_MAX_WEIGHT = 0.5
"""The same of all corrected events of a class together."""
_NOISE = (inf, 60.0, 50.0, 40.0)
"""Noise added to the variants, in turn [dB]."""
_SHIFT = 0.5
"""Cycles by which a variant may start later and end earlier."""
_GAIN = 0.005
"""Standard deviation of the voltage of the variants [pu]."""
_NEAR = 0.5
"""Cycles by which the start of an event may differ when it is found again."""


@dataclass(frozen=True)
class Correction:
    """The class of an event according to a person; :meth:`pqswarm.identify.Archive.correct` stores one.

    Attributes
    ----------
    path : str
        The file of the recording.
    digest : str
        SHA-256 of its content.
    source : str
        Which recording of the file.
    found : EventResult
        The event that was corrected, with the analysis on it.
    label : str
        Its class; empty to withdraw an earlier correction.
    by : str
        Author.
    at : str
        Time of the correction (UTC, ISO 8601).
    note : str
        Reason.
    site : Site or None
        Site of its station; None for that of :func:`train`.
    """

    path: str
    digest: str
    source: str
    found: EventResult
    label: str
    by: str
    at: str
    note: str = ""
    site: Site | None = field(default=None, compare=False)

    @property
    def place(self) -> str:
        """Which recording of its file, whatever the name of the file."""
        return self.source.removeprefix(file_text(Path(self.path).name))

    @property
    def key(self) -> tuple[str, str, str, float, tuple[str, ...]]:
        """Identifies the event, whatever the path; see :func:`corrected_event_key`."""
        return corrected_event_key(self.digest, self.place, self.found)

    def __str__(self) -> str:
        """The event as text."""
        event = self.found.event
        where = f"{file_text(self.path)}{self.place}"
        return f"{where}, {event.type} at {event.start:.3f} s on {', '.join(map(file_text, event.channels))}"


def corrected_event_key(digest: str, place: str, found: EventResult) -> tuple[str, str, str, float, tuple[str, ...]]:
    """Return what identifies an event: SHA-256 of its file, place in the file, type, start [s] and channels."""
    event = found.event
    return digest, place, event.type, round(event.start, 6), tuple(map(file_text, event.channels))


def merge_corrections(corrections: Iterable[Correction]) -> tuple[Correction, ...]:
    """Return the last correction of each event, without withdrawn ones, in order of the events."""
    last = {one.key: one for one in corrections}
    return tuple(last[key] for key in sorted(last) if last[key].label)


@dataclass(frozen=True, eq=False)
class CorrectedEvent:
    """A corrected event: its window [pu of the peak], possible classes, sampling rate and measured fundamental [Hz]."""

    correction: Correction
    capture: FloatArray
    sampling_rate: float
    frequency: float
    possible: tuple[str, ...]

    @property
    def widest(self) -> int:
        """Index of the widest of BANDWIDTHS that its recording has."""
        return BANDWIDTHS.index(bandwidth_of(self.sampling_rate, self.frequency))

    def classify(self, model: Model) -> str:
        """Return its class by a model."""
        wavelet = any(uses_wavelet_features(subset.names) for subset in model.subsets)
        features = compute_features(self.capture, self.sampling_rate, self.frequency, wavelet=wavelet)
        said = model.predict(features, usable_features(self.sampling_rate, self.frequency), self.possible)
        return said.best(count=1)[0][0] if said.known[0] else "unknown"

    def features(self, bandwidth: int, count: int, seed: int, *, wavelet: bool) -> FloatArray:
        """Return the features of the event and of `count` - 1 variants at one of BANDWIDTHS, (count, n_features)."""
        capture = self.capture
        rate = self.sampling_rate
        if bandwidth > self.widest:  # as a recorder of that bandwidth sees it
            ratio = 2 * BANDWIDTHS[bandwidth] * self.frequency / rate
            capture = resample_for_features(capture, ratio)
            rate = rate * ratio
        key = hashlib.sha256(repr(self.correction.key).encode("utf-8", "backslashreplace")).digest()[:8]
        random = stream(seed, (9, int.from_bytes(key, "big"), bandwidth))
        varied = [capture, *(self._vary(capture, rate, number, random) for number in range(count - 1))]
        return np.array([compute_features(one, rate, self.frequency, wavelet=wavelet) for one in varied])

    def _vary(self, capture: FloatArray, rate: float, number: int, random: np.random.Generator) -> FloatArray:
        """The event with another window, a slightly different voltage, and noise."""
        spare = capture.size - ceil(MIN_CYCLES * rate / self.frequency) - 1
        limit = max(min(int(_SHIFT * rate / self.frequency), spare // 2), 0)
        first, last = random.integers(0, limit + 1, 2)
        gain = 1 + _GAIN * random.standard_normal()
        return add_noise(gain * capture[first : capture.size - last], _NOISE[number % len(_NOISE)], random)


def read_corrections(
    given: str | Path | Correction | Iterable[str | Path | Correction] | None,
) -> tuple[Correction, ...]:
    """Return the corrections in force of some archives; the last one of an event applies."""
    if given is None:
        return ()
    from pqswarm.identify.archive.archive import Archive

    listed = [given] if isinstance(given, str | Path | Correction) else list(given)
    found: list[Correction] = []
    for one in listed:
        if isinstance(one, Correction):
            found.append(one)
            continue
        with Archive(one, read_only=True) as archive:
            found += archive.class_corrections()
    holding = merge_corrections(found)
    if listed and not holding:
        raise PqswarmError("there are no corrections to train with: nothing was corrected, or all was withdrawn.")
    return holding


def describe_corrected_events(corrections: Sequence[Correction]) -> dict[str, int | str]:
    """Return the number of corrections and the SHA-256 of their events and labels, whatever the author and path."""
    if not corrections:
        return {}
    listed = sorted((*one.key, one.label) for one in corrections)
    digest = hashlib.sha256(repr(listed).encode("utf-8", "backslashreplace")).hexdigest()
    return {"corrections": len(corrections), "corrections_digest": digest}


def make_corrected_features(
    events: Sequence[CorrectedEvent],
    class_names: Sequence[str],
    learned: Collection[int],
    events_per_class: int,
    seed: int,
    *,
    bandwidth: int,
    wavelet: bool,
) -> tuple[FloatArray, IntArray]:
    """Return features and labels of corrected events, of classes `learned`, and variants at one of BANDWIDTHS."""
    places = [class_names.index(one.correction.label) for one in events]
    shown = [
        (event, place)
        for event, place in zip(events, places, strict=True)
        if place in learned and event.widest <= bandwidth
    ]
    rows = [np.empty((0, len(FEATURES)))]
    labels = []
    for event, place in shown:
        alike = sum(other == place for _, other in shown)
        weight = _WEIGHT if event.widest == bandwidth else _NARROWER
        count = max(round(min(weight, _MAX_WEIGHT / alike) * events_per_class), 1)
        rows.append(event.features(bandwidth, count, seed, wavelet=wavelet))
        labels += count * [place]
    return np.vstack(rows), np.array(labels, dtype=np.int64)


def count_corrected_events_followed(model: Model, events: Sequence[CorrectedEvent]) -> dict[str, int]:
    """Return how many corrected events a model classifies as corrected; warn about each of the others."""
    followed = 0
    for event in events:
        said = event.classify(model)
        if said == event.correction.label:
            followed += 1
        else:
            label = in_words(event.correction.label)
            other = in_words(said)
            warnings.warn(
                f"{printable(str(event.correction))}: corrected to {label!r}, but the model still says {other!r}: too "
                "many generated events are similar. Correcting more recorded events may help.",
                stacklevel=3,
            )
    return {"corrections_followed": followed} if events else {}


def find_corrected_events(
    corrections: Sequence[Correction],
    class_names: Collection[str],
    site: Site | None = None,
    progress: Progress | None = None,
) -> list[CorrectedEvent]:
    """Find corrected events again in their recordings; warn about each that cannot be used, and fail if none can."""
    by_path: dict[str, list[Correction]] = {}
    for one in corrections:
        by_path.setdefault(one.path, []).append(one)
    found: list[CorrectedEvent] = []
    for number, (path, own) in enumerate(by_path.items(), 1):
        for event in _find_corrected_in_file(path, own, class_names, own[-1].site or site):
            if isinstance(event, CorrectedEvent):
                found.append(event)
            else:
                warnings.warn(f"{printable(event)}; left out of the training.", stacklevel=3)
        if progress is not None:
            progress("corrected recordings", number, len(by_path))
    if corrections and not found:
        raise PqswarmError("none of the corrections can be used: see the warnings.")
    return sorted(found, key=lambda one: one.correction.key)


def _find_corrected_in_file(
    path: str, corrections: Sequence[Correction], class_names: Collection[str], site: Site | None
) -> "list[CorrectedEvent | str]":
    """The corrected events of a file, or why they cannot be used."""
    try:
        digest = find_batch_candidate(path).digest()
    except (OSError, ValueError) as error:
        return [f"{file_text(path)}: {recording_failure(error, path, '').reason.rstrip('.')}"]
    known = [one for one in corrections if one.digest == digest]
    found: list[CorrectedEvent | str] = []
    if len(known) < len(corrections):
        found.append(f"{file_text(path)}: has changed since it was corrected")
    seen = set()

    def look(recording: RecordingSource, analysis: Analysis) -> None:
        place = file_text(analysis.source).removeprefix(file_text(Path(path).name))
        own = [one for one in known if one.place == place]
        found.extend(_find_corrected_in_recording(recording, analysis, own, class_names))
        seen.add(place)

    results = list(identify_file(path, site=site, after=look)) if known else []
    failed = {str(one) for one in results if isinstance(one, Failure)}
    if any(one.place not in seen for one in known):
        found += failed or [f"{one}: the file has no such recording" for one in known if one.place not in seen]
    return found


def _find_corrected_in_recording(
    recording: RecordingSource, analysis: Analysis, corrections: Sequence[Correction], class_names: Collection[str]
) -> "Iterator[CorrectedEvent | str]":
    for correction in corrections:
        event = _find_corrected_event(analysis, correction)
        possible = () if event is None else possible_labels(analysis, event, class_names)
        if event is None:
            yield f"{correction}: there is no such event (was it analyzed with another site file?)"
        elif correction.label not in class_names:
            yield f"{correction}: the model has no class {correction.label!r}"
        elif not possible:
            yield f"{correction}: it is left to the rules ({event.agreement})"
        elif correction.label not in possible:
            yield (
                f"{correction}: {in_words(correction.label)!r} contradicts the measurements "
                f"(possible: {', '.join(map(in_words, possible))})"
            )
        else:
            rate = analysis.sampling_rate
            frequency = analysis.frequency
            first, stop = (round(moment * rate) for moment in event.window)
            channel = next(one for one in analysis.references if one.number == event.event.worst.number)
            capture = read_window_samples(recording, channel.number, channel.volts, frequency, first, stop)
            yield CorrectedEvent(correction, capture, rate, frequency, possible)


def _find_corrected_event(analysis: Analysis, correction: Correction) -> EventResult | None:
    """The event of the same type and channels that starts nearest."""
    old = correction.found.event
    like = [
        one
        for one in analysis.events
        if one.event.type == old.type and tuple(map(file_text, one.event.channels)) == old.channels
    ]
    best = min(like, key=lambda one: abs(one.event.start - old.start), default=None)
    return best if best is not None and abs(best.event.start - old.start) <= _NEAR / analysis.frequency else None


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
    count = check_integer("events_per_class", events_per_class, minimum, MAX_PER_CLASS)
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

    classes = TRAINING_CLASSES if isinstance(preset, str) else preset.classes
    orders: list[TrainingSpec] | list[EventSpec] = (
        list_training_specs(events_per_class, snr, seed, family, bandwidth, minimum)
        if isinstance(preset, str)
        else event_specs(preset, events_per_class, seed, family, snr, minimum)
    )
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
    orders: "Sequence[TrainingSpec | EventSpec]", rate: float | None, wavelet: bool
) -> list[tuple[FloatArray, float]]:
    from pqswarm.recordings.frequency import measure_frequency

    rows = []
    for order in orders:
        if isinstance(order, TrainingSpec):
            event: RecordedEvent | Event = record_event(
                order.event_class, order.seed, order.bandwidth, order.snr, rate=rate
            )
        else:
            event = order.make()
            if rate is not None:
                signal = resample_for_features(event.signal, rate / event.sampling_rate)
                event = replace(event, signal=signal, sampling_rate=rate)
        frequency = measure_frequency([event.signal], event.sampling_rate, event.frequency) or event.frequency
        rows.append((compute_features(event.signal, event.sampling_rate, frequency, wavelet=wavelet), frequency))
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
            features, labels, _ = make_training_events(
                chosen,
                events_per_class,
                levels,
                checked_seed(seed),
                bandwidth=number,
                n_jobs=n_jobs,
                progress=progress,
                minimum=10,
            )
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
        members = {event_type: np.flatnonzero(types == event_type) for event_type in dict.fromkeys(types.tolist())}
        return {
            event_type: float(self.confusion[np.ix_(own, own)].sum() / self.confusion[own].sum())
            for event_type, own in members.items()
        }

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
