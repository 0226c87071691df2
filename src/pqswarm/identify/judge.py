"""The verdict on a recording: what the rules of the standard find, what the model says, and whether they agree."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pqswarm.errors import PqswarmError
from pqswarm.features import WINDOW_CYCLES
from pqswarm.identify.agreement import describe_agreement, main_disturbance, rule_class
from pqswarm.identify.features import LEAST_CYCLES, compute_features, usable_features
from pqswarm.identify.files import load_model
from pqswarm.identify.model import Model, default_model
from pqswarm.identify.verdict import ChannelVerdict, EventVerdict, Verdict
from pqswarm.measure import Thresholds, characterise
from pqswarm.measure.urms import fill_gaps

if TYPE_CHECKING:
    from pqswarm._typing import BoolArray
    from pqswarm.measure import ChannelResult, Characterisation, Event
    from pqswarm.recordings.recording import Recording

__all__ = ["identify"]

_NEAR = (0.85, 1.2)
_LEAD = 8.0
"""Cycles shown before an event that is longer than the window."""


def identify(
    recording: "Recording",
    model: Model | str | Path | None = None,
    channels: Sequence[str] | None = None,
    *,
    reference: str | float = "auto",
    nominal_voltage: float | None = None,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    **old: float,
) -> Verdict:
    """Say what happened in a recording.

    Parameters
    ----------
    recording : Recording
        With at least one voltage.
    model : Model, str or Path, optional
        Or the file of one; by default the bundled model.
    channels : sequence of str, optional
        Names (or phases) of the channels to look at; by default all voltages of the supply.
    reference : {"auto", "nominal", "pre-event"} or float
        What 1 pu is; see :func:`pqswarm.measure.characterise`.
    nominal_voltage : float, optional
        RMS, as the channels measure it [V]. With an automatic reference far from it, the model takes it for 1 pu.
    thresholds : Thresholds or mapping of str to float, optional
        Of the rules.
    **old : float
        Single thresholds, as in earlier versions.

    Returns
    -------
    Verdict
        Disturbances by the rules, the learned class of each channel, and the caveats of both.

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> from pqswarm.recordings import Channel, Recording
    >>> event = generate("sag", seed=3, depth=0.38, start=0.2, duration=0.15)
    >>> verdict = identify(Recording((Channel("U2", "V", "B", 325 * event.signal),), 25_000, 50))
    >>> verdict.channels[0].label, verdict.sentences
    ('sag', ('instantaneous sag on phase B, 0.62 pu residual, 7.5 cycles',))
    """
    model = default_model() if model is None else model
    chosen = model if isinstance(model, Model) else load_model(model)
    levels = Thresholds.read(thresholds, old)
    found = characterise(recording, reference, nominal_voltage=nominal_voltage, channels=channels, thresholds=levels)
    usable = usable_features(recording.sampling_rate, found.frequency)
    verdicts = tuple(
        _judge_channel(result, found, chosen, usable, _scale(result.reference, reference, nominal_voltage))
        for result in found.channels
    )
    asked = any(channel.label for channel in verdicts)
    return Verdict(
        source=recording.source,
        characterisation=found,
        channels=verdicts,
        caveats=(*found.caveats, *(_list_caveats(recording, found, chosen, usable) if asked else ())),
        notes=tuple(recording.notes),
        events=tuple(_judge_event(event, verdicts) for event in found.events),
        station=recording.station,
        start=recording.start,
        path=recording.path,
    )


def _judge_event(event: "Event", channels: Sequence[ChannelVerdict]) -> EventVerdict:
    own = next(channel for channel in channels if channel.result.name == event.worst.channel)
    return EventVerdict(event, own.rule, own.probabilities, own.agreement, own.window, own.result.reference_source)


def _find_capture(result: "ChannelResult", found: "Characterisation", n_samples: int) -> tuple[int, int]:
    """First sample of the capture that the model looks at, and the one after its last.

    Thirty cycles around the largest disturbance: in the middle, or, if it is longer than the window, from some
    cycles before its begin; the middle of the recording if there is none; all of a shorter recording.
    """
    window = int(np.floor(WINDOW_CYCLES / found.frequency * found.sampling_rate))
    if n_samples <= window:
        return 0, n_samples
    main = main_disturbance(result)
    if main is None:
        first = (n_samples - window) // 2
    else:
        start, end = (round(moment * found.sampling_rate) for moment in main)
        cycle = found.sampling_rate / found.frequency
        if end - start > (WINDOW_CYCLES - _LEAD) * cycle:
            first = start - round(_LEAD * cycle)
        else:
            first = (start + end - window) // 2
    first = min(max(first, 0), n_samples - window)
    return first, first + window


def _scale(found: float, reference: str | float, nominal: float | None) -> float:
    """What 1 pu is for the model [V]: the reference, unless it is far from a nominal voltage that the user gave.

    A record that begins inside a swell has too high a first level; the model notices if it knows what is normal.
    """
    if reference != "auto" or nominal is None or not found > 0 or _NEAR[0] < found / nominal < _NEAR[1]:
        return found
    return nominal


def _judge_channel(
    result: "ChannelResult", found: "Characterisation", model: Model, usable: "BoolArray", scale: float
) -> ChannelVerdict:
    wave, _ = fill_gaps(result.channel.samples, found.sampling_rate / found.frequency)
    first, stop = _find_capture(result, found, wave.size)
    rate = found.sampling_rate
    window = (first / rate, stop / rate)
    rule = rule_class(result, window)
    extended = stop - first < int(np.floor(WINDOW_CYCLES / found.frequency * rate))
    cycles = (stop - first) / rate * found.frequency
    try:
        if not scale > 0:
            raise PqswarmError("there is no voltage: the model was not asked.")
        capture = wave[first:stop] / (np.sqrt(2) * scale)
        prediction = model.predict(compute_features(np.clip(capture, -1e3, 1e3), rate, found.frequency), usable)
    except PqswarmError as error:
        reason = f"only {cycles:.1f} cycles, {LEAST_CYCLES} are needed" if cycles < LEAST_CYCLES else str(error)
        return ChannelVerdict(result, rule, {}, (), f"rules only: {reason.rstrip('.')}", window, extended)
    shares = dict(zip(prediction.class_names, prediction.probabilities[0].tolist(), strict=True))
    ordered = dict(sorted(shares.items(), key=lambda item: -item[1]))
    used = tuple(dict.fromkeys(name.partition(".")[0] for name in prediction.subset.names))
    agreement = describe_agreement(rule, next(iter(ordered)), model.class_names, result)
    return ChannelVerdict(result, rule, ordered, used, agreement, window, extended)


def _list_caveats(recording: "Recording", found: "Characterisation", model: Model, usable: "BoolArray") -> list[str]:
    """What was assumed for the model, beyond what was for the rules."""
    said = []
    widest = model.subsets[0]
    subset = model.subset_for(usable)
    if subset.highest < widest.highest:
        said.append(
            f"At {recording.sampling_rate:.5g} Hz the model uses features below "
            f"{subset.highest * found.frequency:.4g} Hz only ({len(subset.names)} features; error rate "
            f"{100 * subset.error:.0f} %, with all bands {100 * widest.error:.0f} %)."
        )
    cycles = recording.n_samples / recording.sampling_rate * found.frequency
    if cycles < WINDOW_CYCLES - 0.5:
        said.append(
            f"The capture of {cycles:.1f} cycles was extended to {WINDOW_CYCLES:g} with its own steady cycles "
            "for the wavelet features."
        )
    elif cycles > WINDOW_CYCLES + 0.5:
        said.append(f"The model sees {WINDOW_CYCLES:g} cycles around the largest disturbance of each channel.")
    if abs(found.frequency / 50 - 1) > 0.02:
        said.append(
            f"Time was scaled from {found.frequency:.4g} Hz: the bands of the model are multiples of the fundamental."
        )
    return said
