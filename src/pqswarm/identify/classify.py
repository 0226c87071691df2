"""Identify the events of a recording by the rules of the standard and by a model, and compare the two.

The model sees a window around each event; classes that the measurements contradict are not offered, and the
probabilities are calibrated for what the recording allows: noise, background distortion, bandwidth, nominal voltage.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.events.classes import class_type, visible_classes
from pqswarm.events.training import TRAINING_CLASSES
from pqswarm.features import WINDOW_CYCLES
from pqswarm.identify.agreement import MEASURED, describe_agreement, event_rule, settle_class
from pqswarm.identify.analysis import Analysis, EventResult, Reference
from pqswarm.identify.features import MIN_CYCLES, compute_features, usable_features, uses_wavelet_features
from pqswarm.identify.model import Model, Prediction, default_model, load_model
from pqswarm.identify.tolerance import RMS
from pqswarm.measure import ChannelResult, Characterization, Event, Thresholds, characterize
from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.detect.urms import fill_gaps
from pqswarm.recordings.recording import RecordingSource

# Fitted on 4320 events of another generator than the training events' (research/reliability.py), in the units of the
# terms below; tuned.
_BASE = 2.25
_MEASURED = 0.52
_MODEL = 0.63
_HARMONICS = 0.31
_TRANSIENT = -1.5
_INTERRUPTION = 2.64
_NOISE_MEASURED = 0.05
_NOISE_MODEL = -1.33
_LOUD_MEASURED = -1.2
_LOUD_MODEL = -0.22
_LOUD_NARROW = -0.9
_LOUD_FLICKER = -3.3
_NARROW = -0.41
_DISTORTED = -0.64
_GUESSED = -0.32
_LOUD = 0.3
"""Noise above which more of it counts more: 2 % of the peak, in decades above 1 %."""
_USUAL_NOISE = 0.005
"""Of a recording in which it could not be measured [pu of the peak]."""
_NARROW_SAMPLES = 80.0
"""Samples per cycle below which the bandwidth is narrow; half of that is very narrow."""
_BACKGROUND = (0.02, 0.06)
"""THD that may be taken for harmonics or not."""
_LEAD = 8.0  # tuned
"""Cycles before an event that is longer than the window."""
_MIN_LEAD = 2.0  # tuned
"""Minimum number of cycles before an event, whatever its neighbors."""
_MIN_LENGTH = 3.0  # tuned
"""Cycles of the shortest window."""
_MIN_STEADY = 10.0
"""Minimum number of cycles of a disturbance that lasts: in as many, IEC 61000-4-7 measures harmonics."""
_MAX_VOLTAGE = 1e3
"""Captures are clipped to this [pu of the peak]."""
_LASTING = ("harmonics", "notching", "flicker", "DC offset", "unbalance", "frequency")
_OF_SYSTEMS = ("unbalance", "frequency")
"""Types that a model of one channel cannot know."""
_NEAR = 2.0
"""Events that start within this time of another may be in its window [s]."""


def measured_classes(
    offered: Collection[str], event_type: str, rule: str, thd: float | None, limit: float
) -> frozenset[str]:
    """Return the offered classes whose additions agree with the measurement.

    A sag, swell or interruption has the class of the rules. What was measured is not an undisturbed voltage. Of the
    others, classes with harmonics need a THD above the limit, those without need one below it; both are offered if the
    THD is unknown.
    """
    if event_type in RMS:
        return frozenset({rule}) & frozenset(offered)
    other = {"notching" if event_type in _OF_SYSTEMS else "pure_sinusoid"}
    if thd is not None:
        other |= {"flicker"} if thd > limit else {"harmonics", "flicker_with_harmonics"}
    return (frozenset(offered) - other) | (frozenset({rule}) & frozenset(offered))


def allowed_classes(
    names: Collection[str], event_type: str, rule: str, sampling_rate: float, frequency: float, cycles: float
) -> frozenset[str]:
    """Return the classes of a model that an event of this type can have; its class by the rules is always one.

    A sag is a sag, with harmonics, with a transient or without; an event that is none of sag, swell and interruption by
    its magnitude is none of these by the model either. Classes that the capture cannot show, by its rate and
    fundamental [Hz] and its length in cycles, are not offered.
    """
    family = event_type if event_type in RMS else ""
    own = {name for name in names if (class_type(name) if class_type(name) in RMS else "") == family}
    visible = visible_classes(names, sampling_rate, frequency, cycles)
    return frozenset((own & visible) | {rule}) & frozenset(names)


def possible_labels(
    analysis: Analysis, event: EventResult, class_names: Collection[str] = TRAINING_CLASSES
) -> tuple[str, ...]:
    """Return the classes that a model can give to an event: the others contradict the measurements.

    A correction to any other class would have no effect, however the model is trained.

    Parameters
    ----------
    analysis : Analysis
        Analysis on the recording.
    event : EventResult
        One of its events.
    class_names : collection of str
        Classes of the model.

    Returns
    -------
    tuple of str
        In the order of `class_names`; empty if the event is left to the rules.

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> from pqswarm.identify import identify
    >>> from pqswarm.recordings import Channel, Recording
    >>> event = generate("sag", seed=3, depth=0.38, start=0.2, duration=0.15)
    >>> analysis = identify(Recording((Channel("U2", "V", "B", 325 * event.signal),), 25_000, 50))
    >>> possible_labels(analysis, analysis.events[0])
    ('sag', 'sag_with_harmonics', 'sag_with_transient')
    """
    if not event.probabilities:
        return ()
    cycles = (event.window[1] - event.window[0]) * analysis.frequency
    offered = allowed_classes(
        class_names, event.event.type, event.rule_label, analysis.sampling_rate, analysis.frequency, cycles
    )
    return tuple(name for name in class_names if name in offered)


def calibrate_probabilities(
    probabilities: Mapping[str, float], event_type: str, result: ChannelResult, samples_per_cycle: float
) -> dict[str, float]:
    """Return the probabilities of the classes of an event, calibrated for its recording.

    The class of a sag, swell or interruption is measured, and its raw probability is 1. The others keep their
    proportions.
    """
    best, raw = next(iter(probabilities.items()))
    thd = 0.0 if result.spectrum is None else result.spectrum.thd_above_noise
    noise = float(np.log10(np.clip(result.noise if result.noise == result.noise else _USUAL_NOISE, 1e-3, 0.1))) + 2
    loud = max(noise - _LOUD, 0.0)
    score = _BASE + _NARROW * (samples_per_cycle < _NARROW_SAMPLES)
    score += _LOUD_NARROW * loud * (samples_per_cycle < _NARROW_SAMPLES / 2)
    score += _GUESSED * (result.reference_source not in ("nominal", "given"))
    if event_type in RMS:
        score += (
            _MEASURED + _NOISE_MEASURED * noise + _LOUD_MEASURED * loud + _INTERRUPTION * (event_type == "interruption")
        )
        score += _HARMONICS * best.endswith("harmonics") + _TRANSIENT * best.endswith("transient")
    else:
        clipped = min(max(raw, 0.02), 0.995)
        score += _MODEL * float(np.log(clipped / (1 - clipped))) + _NOISE_MODEL * noise + _LOUD_MODEL * loud
        score += _DISTORTED * (_BACKGROUND[0] < thd < _BACKGROUND[1]) + _LOUD_FLICKER * loud * (event_type == "flicker")
    sure = float(1 / (1 + np.exp(-score)))
    others = (1 - sure) / (1 - raw) if raw < 1 else 0.0
    found = {
        name: sure if name == best else min(probability * others, sure) for name, probability in probabilities.items()
    }
    return {name: round(probability, 6) for name, probability in found.items()}


def event_window(event: Event, found: Characterization, others: Iterable[Event]) -> tuple[int, int]:
    """Return the first sample of the window of an event, and the one after its last: up to thirty cycles.

    Other events are left out if enough remains: of a disturbance that lasts, the longest part between them is taken.
    """
    part = event.worst
    rate = found.sampling_rate
    cycle = rate / found.frequency
    beside = [
        other
        for other in others
        if other is not event
        and other.type not in (*_LASTING, "rapid voltage change")
        and any(one.number == part.number for one in other.parts)
    ]
    if event.type in _LASTING:
        middle = round((event.start + event.end) / 2 * rate)
        first, stop = _clip_classified_window(found, middle - _classified_window_length(found) // 2)
        spans = sorted((one.start * rate - cycle / 2, one.end * rate + cycle / 2) for one in beside)
        starts = np.maximum.accumulate([first, *(end for _, end in spans)])
        ends = np.minimum([*(start for start, _ in spans), stop], stop)
        longest = int((ends - starts).argmax())
        if ends[longest] - starts[longest] >= _MIN_STEADY * cycle:
            first, stop = round(starts[longest]), round(ends[longest])
        return first, stop
    first, stop = _classified_window_around(found, part.start, max(part.end, part.start))
    start, end = part.start * rate, max(part.end, part.start) * rate
    for other in beside:
        own = [one for one in other.parts if one.number == part.number]
        low, high = own[0].start * rate, own[-1].end * rate
        if high <= start + cycle / 2:
            first = max(first, min(round(high + cycle / 2), round(start)))
        elif low >= end - cycle / 2:
            stop = min(stop, max(round(low - cycle / 2), round(end)))
    shortest = round(_MIN_LENGTH * cycle)
    if stop - first < shortest:  # too short: neighbors are included
        first = max(min(first, round(start - _MIN_LEAD * cycle)), 0)
        stop = min(max(stop, first + shortest), found.n_samples)
        first = max(min(first, stop - shortest), 0)
    return first, stop


def read_window_samples(
    recording: RecordingSource, number: int, reference: float, frequency: float, first: int, stop: int
) -> FloatArray:
    """Read some samples of a channel as the model sees them: [pu of the peak], without gaps."""
    (samples,) = read_channels(recording, [number], first, stop)
    filled, _ = fill_gaps(samples, recording.sampling_rate / frequency)
    return np.asarray(np.clip(filled / (np.sqrt(2) * reference), -_MAX_VOLTAGE, _MAX_VOLTAGE))


def _classified_window_length(found: Characterization) -> int:
    return int(np.floor(WINDOW_CYCLES / found.frequency * found.sampling_rate))


def _classified_window_around(found: Characterization, start: float, end: float) -> tuple[int, int]:
    """A window with the event in the middle, or, if that is longer, from some cycles before its start."""
    cycle = found.sampling_rate / found.frequency
    first, stop = round(start * found.sampling_rate), round(end * found.sampling_rate)
    if stop - first > (WINDOW_CYCLES - _LEAD) * cycle:
        return _clip_classified_window(found, first - round(_LEAD * cycle))
    return _clip_classified_window(found, (first + stop - _classified_window_length(found)) // 2)


def _clip_classified_window(found: Characterization, first: int) -> tuple[int, int]:
    length = _classified_window_length(found)
    if found.n_samples <= length:
        return 0, found.n_samples
    first = min(max(first, 0), found.n_samples - length)
    return first, first + length


def identify(
    recording: RecordingSource,
    model: Model | str | Path | None = None,
    channels: Sequence[str] | None = None,
    *,
    reference: str | float = "auto",
    nominal_voltage: float | Mapping[str, float] | None = None,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    block: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Analysis:
    """Identify the events of a recording.

    Parameters
    ----------
    recording : Recording or RecordingSource
        With at least one voltage.
    model : Model, str or Path, default=None
        A model or its file; by default the bundled model.
    channels : sequence of str, default=None
        Names or phases of the channels to analyze; by default all supply voltages.
    reference : {"auto", "nominal", "pre-event"} or float, default="auto"
        Voltage of 1 pu; see :func:`pqswarm.measure.characterize`.
    nominal_voltage : float or mapping of str to float, default=None
        RMS voltage of 1 pu, as the channels measure it [V]: for all channels, or by name.
    thresholds : Thresholds or mapping of str to float, default=None
        Detection thresholds of the rules.
    block, progress
        As for :func:`pqswarm.measure.characterize`.

    Returns
    -------
    Analysis
        One row for each event, with its type by the rules and its class by the model, and the caveats of both.

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> from pqswarm.recordings import Channel, Recording
    >>> event = generate("sag", seed=3, depth=0.38, start=0.2, duration=0.15)
    >>> analysis = identify(Recording((Channel("U2", "V", "B", 325 * event.signal),), 25_000, 50))
    >>> analysis.events[0].label, analysis.sentences
    ('sag', ('instantaneous sag on phase B, 0.62 pu residual, 7.5 cycles',))
    """
    model = default_model() if model is None else model
    chosen = model if isinstance(model, Model) else load_model(model)
    levels = Thresholds.of(thresholds)
    found = characterize(
        recording,
        reference,
        nominal_voltage=nominal_voltage,
        channels=channels,
        thresholds=levels,
        block=block,
        progress=progress,
    )
    classifier = _EventClassifier(recording, found, chosen, usable_features(recording.sampling_rate, found.frequency))
    events = []
    for event in found.events:
        if progress is not None:  # all samples are done, but many events take time: the caller may cancel
            progress(found.n_samples, found.n_samples)
        events.append(classifier.classify(event))
    return Analysis(
        source=recording.source,
        events=tuple(events),
        references=tuple(
            Reference(one.number, one.name, one.phase, one.system, one.reference, one.reference_source)
            for one in found.channels
        ),
        sampling_rate=found.sampling_rate,
        frequency=found.frequency,
        nominal_frequency=found.nominal_frequency,
        n_samples=found.n_samples,
        thresholds=levels,
        channels=found.states,
        caveats=(*found.caveats, *(classifier.caveats() if any(one.label for one in events) else ())),
        notes=tuple(recording.notes),
        station=recording.station,
        path=recording.path,
        start=recording.start,
        incidents=found.incidents,
        no_event_reason=found.no_event_reason,
        characterization=found,
    )


@dataclass(frozen=True, eq=False)
class _EventClassifier:
    """Applies a model to the events of a recording; features of a window are computed once."""

    recording: RecordingSource
    found: Characterization
    model: Model
    usable: BoolArray
    _features: dict[tuple[int, int, int], FloatArray] = field(default_factory=dict)

    def classify(self, event: Event) -> EventResult:
        """Classify an event by its window on the worst channel."""
        result = next(one for one in self.found.channels if event.worst.number in (one.number, -1))
        beside = self._beside(event)
        first, stop = event_window(event, self.found, beside)
        rate = self.found.sampling_rate
        spectrum = result.spectrum
        background = (
            0.0 if spectrum is None else spectrum.thd_above_noise * spectrum.fundamental / max(result.reference, 1e-9)
        )
        rule = event_rule(event, beside, self.found.thresholds.thd, background)
        frequency = self.found.frequency
        cycles = (stop - first) / rate * frequency
        classes = allowed_classes(self.model.class_names, event.type, rule, rate, frequency, cycles)
        is_bundled = self.model is default_model()
        if is_bundled:  # a model of the user's decides on additions by itself
            thd = None if spectrum is None else spectrum.thd_above_noise
            if event.type == "flicker" and thd is not None and thd > self.found.thresholds.thd:
                rule = "flicker_with_harmonics"
            classes = measured_classes(classes, event.type, rule, thd, self.found.thresholds.thd)
        is_measured = is_bundled and classes == {rule}
        probabilities = {rule: 1.0} if is_measured else {}
        known = True
        model_label = ""
        reason = "the model sees one channel at a time"
        if event.type not in _OF_SYSTEMS and not is_measured:
            prediction, reason = self._ask(result, first, stop, classes)
            if prediction is not None:
                ranked = prediction.best(count=len(prediction.class_names))
                probabilities = {name: probability for name, probability in ranked if probability > 0}
                # If the standard allows a single class, the event has it, whether known or not.
                known = bool(prediction.known[0]) or len(probabilities) == 1
        if probabilities and is_bundled:
            probabilities = calibrate_probabilities(probabilities, event.type, result, rate / frequency)
        if not probabilities:
            agreement = f"rules only: {reason}"
        elif is_measured:
            agreement = MEASURED
        elif known:
            model_label = next(iter(probabilities))
            agreement = describe_agreement(rule, model_label, self.model.class_names, result, self.found)
            if is_bundled and rule in classes - {model_label} and settle_class(rule, model_label) == rule:
                best = probabilities[model_label]
                others = {
                    name: min(probability, 1 - best) for name, probability in probabilities.items() if name != rule
                }
                probabilities = {rule: best, **others}
        else:
            agreement = "cannot be compared: unlike all training events of the model"
        window = (first / rate, stop / rate)
        return EventResult(event, rule, probabilities, agreement, window, result.reference_source, known, model_label)

    @cached_property
    def _starts(self) -> list[float]:
        return [event.start for event in self.found.events]

    @cached_property
    def _lasting(self) -> list[Event]:
        return [event for event in self.found.events if event.end - event.start > _NEAR]

    def _beside(self, event: Event) -> list[Event]:
        """Events that may share a window with one: those that start near it, and long ones."""
        near = slice(bisect_left(self._starts, event.start - _NEAR), bisect_right(self._starts, event.end + _NEAR))
        found = list(self.found.events[near])
        return found + [one for one in self._lasting if one.end >= event.start - _NEAR and one not in found]

    def _ask(
        self, result: ChannelResult, first: int, stop: int, classes: frozenset[str]
    ) -> tuple[Prediction | None, str]:
        """The prediction for a window, or why there is none."""
        rate = self.found.sampling_rate
        frequency = self.found.frequency
        cycles = (stop - first) / rate * frequency
        if not result.reference > 0:
            return None, "no voltage"
        if cycles < MIN_CYCLES:
            return None, f"{cycles:.1f} cycles are too few, the minimum is {MIN_CYCLES}"
        key = (result.number, first, stop)
        try:
            if key not in self._features:
                capture = read_window_samples(self.recording, result.number, result.reference, frequency, first, stop)
                wavelet = uses_wavelet_features(self.model.subset_for(self.usable).names)
                self._features[key] = compute_features(capture, rate, frequency, wavelet=wavelet)
            return self.model.predict(self._features[key], self.usable, classes or None), ""
        except PqswarmError as error:
            return None, str(error).rstrip(".")

    def caveats(self) -> list[str]:
        """Caveats of the model, in addition to those of the rules; none where the rate is too low for it."""
        found = self.found
        said: list[str] = []
        try:
            subset = self.model.subset_for(self.usable)
        except PqswarmError:
            return said
        cycles = found.n_samples / found.sampling_rate * found.frequency
        if cycles < WINDOW_CYCLES - 0.5 and uses_wavelet_features(subset.names):
            said.append(
                f"The capture of {cycles:.1f} cycles was extended to {WINDOW_CYCLES:g} with its own steady cycles "
                "for the wavelet features."
            )
        if cycles > WINDOW_CYCLES + 0.5:
            said.append(f"The model sees up to {WINDOW_CYCLES:g} cycles around each event.")
        if abs(found.frequency / 50 - 1) > 0.02:
            said.append(
                f"Time was scaled from {found.frequency:.4g} Hz: the bands of the model are multiples of the "
                "fundamental."
            )
        return said
