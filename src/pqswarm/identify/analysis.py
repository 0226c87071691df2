"""The verdict on a recording: what the rules of the standard find, what the model says, and whether they agree."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pqswarm._base.units import frequency_text
from pqswarm.errors import PqswarmError
from pqswarm.features import WINDOW_CYCLES
from pqswarm.identify.agreement import describe_agreement, event_rule
from pqswarm.identify.class_limits import allowed_classes
from pqswarm.identify.features.compute import LEAST_CYCLES, compute_features, usable_features, uses_wavelets
from pqswarm.identify.model import Model, default_model
from pqswarm.identify.model_file import load_model
from pqswarm.identify.verdict import EventVerdict, Reference, Verdict
from pqswarm.identify.windows import event_window, read_capture, worst_channel
from pqswarm.measure import Thresholds, characterise

if TYPE_CHECKING:
    from pqswarm._base.typing import BoolArray, FloatArray
    from pqswarm.identify.model import Prediction
    from pqswarm.measure import ChannelResult, Characterisation, Event
    from pqswarm.recordings.recording import RecordingSource

__all__ = ["identify"]

_Item = TypeVar("_Item")

_NEAR = 2.0
"""Events that begin within this time of another may be in its window [s]."""


def identify(
    recording: "RecordingSource",
    model: Model | str | Path | None = None,
    channels: Sequence[str] | None = None,
    *,
    reference: str | float = "auto",
    nominal_voltage: float | Mapping[str, float] | None = None,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    block: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Say what happened in a recording.

    Parameters
    ----------
    recording : Recording or RecordingSource
        With at least one voltage.
    model : Model, str or Path, optional
        Or the file of one; by default the bundled model.
    channels : sequence of str, optional
        Names (or phases) of the channels to look at; by default all voltages of the supply.
    reference : {"auto", "nominal", "pre-event"} or float
        What 1 pu is; see :func:`pqswarm.measure.characterise`.
    nominal_voltage : float or mapping of str to float, optional
        RMS, as the channels measure it [V], for all channels or by their names. What is given is 1 pu.
    thresholds : Thresholds or mapping of str to float, optional
        Of the rules.
    block, progress
        As for :func:`pqswarm.measure.characterise`.

    Returns
    -------
    Verdict
        One row for each event: by the rules, and the learned class of its own window; and the caveats of both.

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> from pqswarm.recordings import Channel, Recording
    >>> event = generate("sag", seed=3, depth=0.38, start=0.2, duration=0.15)
    >>> verdict = identify(Recording((Channel("U2", "V", "B", 325 * event.signal),), 25_000, 50))
    >>> verdict.events[0].label, verdict.sentences
    ('sag', ('instantaneous sag on phase B, 0.62 pu residual, 7.5 cycles',))
    """
    model = default_model() if model is None else model
    chosen = model if isinstance(model, Model) else load_model(model)
    levels = Thresholds.of(thresholds)
    found = characterise(
        recording,
        reference,
        nominal_voltage=nominal_voltage,
        channels=channels,
        thresholds=levels,
        block=block,
        progress=progress,
    )
    judge = _Judge(recording, found, chosen, usable_features(recording.sampling_rate, found.frequency))

    def told(items: "Iterable[_Item]") -> "Iterator[_Item]":
        """Give who waits the chance to stop: all samples are done, but many events take their time."""
        for item in items:
            if progress is not None:
                progress(found.n_samples, found.n_samples)
            yield item

    events = tuple(judge.event(event) for event in told(found.events))
    asked = any(one.label for one in events)
    return Verdict(
        source=recording.source,
        events=events,
        references=tuple(
            Reference(one.number, one.name, one.phase, one.system, one.reference, one.reference_source)
            for one in found.channels
        ),
        sampling_rate=found.sampling_rate,
        frequency=found.frequency,
        nominal_frequency=found.nominal_frequency,
        n_samples=found.n_samples,
        thresholds=levels,
        caveats=(*found.caveats, *(judge.caveats() if asked else ())),
        notes=tuple(recording.notes),
        station=recording.station,
        path=recording.path,
        start=recording.start,
        characterisation=found,
    )


@dataclass(frozen=True, eq=False)
class _Judge:
    """Asks a model about parts of a recording; each part is looked at once."""

    recording: "RecordingSource"
    found: "Characterisation"
    model: Model
    usable: "BoolArray"
    _features: "dict[tuple[int, int, int], FloatArray]" = field(default_factory=dict)

    def event(self, event: "Event") -> EventVerdict:
        """Judge the capture of an event, on its worst channel."""
        result = worst_channel(event, self.found)
        beside = self._beside(event)
        first, stop = event_window(event, self.found, beside)
        rate = self.found.sampling_rate
        rule = event_rule(event, beside)
        frequency = self.found.frequency
        cycles = (stop - first) / rate * frequency
        classes = allowed_classes(self.model.class_names, event.kind, rule, rate, frequency, cycles)
        prediction, reason = (
            (None, "the model looks at one channel at a time")
            if event.kind == "unbalance"
            else self._ask(result, first, stop, classes)
        )
        shares, known = ({}, True) if prediction is None else _order(prediction)
        agreement = f"rules only: {reason}" if prediction is None else self._agreement(rule, shares, known, result)
        window = (first / rate, stop / rate)
        return EventVerdict(event, rule, shares, agreement, window, result.reference_source, known)

    @cached_property
    def _starts(self) -> list[float]:
        return [event.start for event in self.found.events]

    @cached_property
    def _lasting(self) -> "list[Event]":
        return [event for event in self.found.events if event.end - event.start > _NEAR]

    def _beside(self, event: "Event") -> "list[Event]":
        """Events that may share a window with one: those that begin near it, and those that last."""
        near = slice(bisect_left(self._starts, event.start - _NEAR), bisect_right(self._starts, event.end + _NEAR))
        found = list(self.found.events[near])
        return found + [one for one in self._lasting if one.end >= event.start - _NEAR and one not in found]

    def _agreement(self, rule: str, shares: Mapping[str, float], known: bool, result: "ChannelResult") -> str:
        if not known:
            return "cannot be compared: this is unlike anything that the model has learned"
        return describe_agreement(rule, next(iter(shares)), self.model.class_names, result, self.found)

    def _ask(
        self, result: "ChannelResult", first: int, stop: int, classes: frozenset[str]
    ) -> "tuple[Prediction | None, str]":
        """What the model says of a capture, or why it cannot be asked."""
        rate, frequency = self.found.sampling_rate, self.found.frequency
        cycles = (stop - first) / rate * frequency
        if not result.reference > 0:
            return None, "there is no voltage"
        if cycles < LEAST_CYCLES:
            return None, f"only {cycles:.1f} cycles, {LEAST_CYCLES} are needed"
        key = (result.number, first, stop)
        try:
            if key not in self._features:
                capture = read_capture(self.recording, result.number, result.reference, frequency, first, stop)
                wavelet = uses_wavelets(self.model.subset_for(self.usable).names)
                self._features[key] = compute_features(capture, rate, frequency, wavelet=wavelet)
            return self.model.predict(self._features[key], self.usable, classes or None), ""
        except PqswarmError as error:
            return None, str(error).rstrip(".")

    def caveats(self) -> list[str]:
        """What was assumed for the model, beyond what was for the rules."""
        found, said = self.found, []
        widest, subset = self.model.subsets[0], self.model.subset_for(self.usable)
        if subset.highest < widest.highest:
            said.append(
                f"At {frequency_text(found.sampling_rate)} the model uses features below "
                f"{frequency_text(subset.highest * found.frequency)} only ({len(subset.names)} features; error rate "
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


def _order(prediction: "Prediction") -> tuple[dict[str, float], bool]:
    """Probabilities of the classes offered, the greatest first, and whether the capture is like anything learned."""
    shares = zip(prediction.class_names, prediction.probabilities[0].tolist(), strict=True)
    ordered = sorted(((name, share) for name, share in shares if share > 0), key=lambda item: -item[1])
    # Where the standard leaves one class, it is that class, like others or not.
    return dict(ordered), bool(prediction.known[0]) or len(ordered) == 1
