"""Identify the events of a recording by the rules of the standard and by a model, and compare the two."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pqswarm._base.text import frequency_text
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.features import WINDOW_CYCLES
from pqswarm.identify.agreement import MEASURED, describe_agreement, event_rule
from pqswarm.identify.analysis import Analysis, EventResult, Reference
from pqswarm.identify.class_limits import allowed_classes, measured_classes
from pqswarm.identify.confidence import calibrate_shares
from pqswarm.identify.features.compute import MIN_CYCLES, compute_features, usable_features, uses_wavelets
from pqswarm.identify.model import Model, Prediction, default_model
from pqswarm.identify.model_file import load_model
from pqswarm.identify.windows import event_window, read_window_samples, worst_channel
from pqswarm.measure import ChannelResult, Characterization, Event, Thresholds, characterize
from pqswarm.recordings.recording import RecordingSource

_NEAR = 2.0
"""Events that start within this time of another may be in its window [s]."""


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
    model : Model, str or Path, optional
        A model or its file; by default the bundled model.
    channels : sequence of str, optional
        Names or phases of the channels to analyse; by default all supply voltages.
    reference : {"auto", "nominal", "pre-event"} or float
        Voltage of 1 pu; see :func:`pqswarm.measure.characterize`.
    nominal_voltage : float or mapping of str to float, optional
        RMS voltage of 1 pu, as the channels measure it [V]: for all channels, or by name.
    thresholds : Thresholds or mapping of str to float, optional
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
    asked = any(one.label for one in events)
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
        caveats=(*found.caveats, *(classifier.caveats() if asked else ())),
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
        result = worst_channel(event, self.found)
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
        prediction, reason = (
            (None, "the model analyses one channel at a time")
            if event.type == "unbalance"
            else (None, "")
            if is_measured
            else self._ask(result, first, stop, classes)
        )
        if prediction is None:
            shares = {rule: 1.0} if is_measured else {}
            known = True
        else:
            shares, known = _analyzed_probabilities(prediction)
        if shares and is_bundled:
            shares = calibrate_shares(shares, event.type, result, rate / frequency)
        if not shares:
            agreement = f"rules only: {reason}"
        elif is_measured:
            agreement = MEASURED
        elif known:
            agreement = describe_agreement(rule, next(iter(shares)), self.model.class_names, result, self.found)
        else:
            agreement = "cannot be compared: unlike all training events of the model"
        window = (first / rate, stop / rate)
        return EventResult(event, rule, shares, agreement, window, result.reference_source, known)

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
                wavelet = uses_wavelets(self.model.subset_for(self.usable).names)
                self._features[key] = compute_features(capture, rate, frequency, wavelet=wavelet)
            return self.model.predict(self._features[key], self.usable, classes or None), ""
        except PqswarmError as error:
            return None, str(error).rstrip(".")

    def caveats(self) -> list[str]:
        """Caveats of the model, in addition to those of the rules."""
        found = self.found
        said = []
        widest = self.model.subsets[0]
        subset = self.model.subset_for(self.usable)
        if subset.highest < widest.highest:
            said.append(
                f"At {frequency_text(found.sampling_rate)} the model uses only features below "
                f"{frequency_text(subset.highest * found.frequency)} ({len(subset.names)} features; error rate "
                f"{100 * subset.error:.0f} %, with all bands {100 * widest.error:.0f} %)."
            )
        cycles = found.n_samples / found.sampling_rate * found.frequency
        if cycles < WINDOW_CYCLES - 0.5 and uses_wavelets(subset.names):
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


def _analyzed_probabilities(prediction: Prediction) -> tuple[dict[str, float], bool]:
    """Probabilities of the allowed classes, the highest first, and whether the capture is like any training event."""
    shares = zip(prediction.class_names, prediction.probabilities[0].tolist(), strict=True)
    ordered = sorted(((name, share) for name, share in shares if share > 0), key=lambda item: -item[1])
    # If the standard allows a single class, the event has it, whether known or not.
    return dict(ordered), bool(prediction.known[0]) or len(ordered) == 1
