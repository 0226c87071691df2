"""The verdict on a recording: what the rules of the standard find, what the model says, and whether they agree."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm.errors import PqswarmError
from pqswarm.features import WINDOW_CYCLES
from pqswarm.identify.model import Model, default_model
from pqswarm.identify.outcome import ChannelVerdict, Verdict
from pqswarm.identify.prepare import LEAST_CYCLES, available, features_of
from pqswarm.identify.rules import agreement, main_disturbance, rule_class
from pqswarm.recordings.characterise import characterise
from pqswarm.recordings.urms import fill_gaps

if TYPE_CHECKING:
    from pqswarm._typing import FloatArray
    from pqswarm.recordings.characterisation import ChannelResult, Characterisation
    from pqswarm.recordings.recording import Recording

__all__ = ["capture_of", "identify"]

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
    **thresholds: float,
) -> Verdict:
    """Say what happened in a recording.

    Parameters
    ----------
    recording : Recording
        With at least one voltage.
    model : Model, str or Path, optional
        Or the file of one; by default that of the package.
    channels : sequence of str, optional
        Names (or phases) of the channels to look at; by default all voltages of the supply.
    reference : {"auto", "nominal", "pre-event"} or float
        What 1 pu is; see :func:`pqswarm.recordings.characterise.characterise`.
    nominal_voltage : float, optional
        RMS, as the channels measure it [V]. With an automatic reference far from it, the model takes it for 1 pu.
    **thresholds : float
        Of the rules, such as ``sag_threshold``.

    Returns
    -------
    Verdict
        Disturbances by the rules, the learned class of each channel, and what limits both.

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> from pqswarm.recordings import Channel, Recording
    >>> event = generate("sag", seed=3, depth=0.38, start=0.2, duration=0.15)
    >>> verdict = identify(Recording((Channel("U2", "V", "B", 325 * event.signal),), 25_000, 50))
    >>> verdict.channels[0].label, verdict.sentences
    ('sag', ('instantaneous sag on phase B, 0.62 pu residual, 7.5 cycles',))
    """
    if model is None:
        chosen = default_model()
    elif isinstance(model, Model):
        chosen = model
    else:
        from pqswarm.identify.files import load_model

        chosen = load_model(model)
    names = None if channels is None else [recording.channel(name).name for name in channels]
    found = characterise(recording, reference, nominal_voltage=nominal_voltage, channels=names, **thresholds)
    bands = available(recording.sampling_rate, found.frequency)
    judged = tuple(
        _channel(result, wave, found, chosen, bands, _scale(result.reference, reference, nominal_voltage))
        for result, wave in zip(found.channels, _samples(recording, found), strict=True)
    )
    asked = any(channel.label for channel in judged)
    return Verdict(
        source=recording.source,
        characterisation=found,
        channels=judged,
        limits=(*found.limits, *(_limits(recording, found, chosen, bands) if asked else ())),
        notes=tuple(recording.notes),
    )


def _samples(recording: "Recording", found: "Characterisation") -> "list[FloatArray]":
    """The samples of each channel found, also where two have the same name."""
    left = list(recording.channels)
    taken = []
    for result in found.channels:
        channel = next(one for one in left if (one.name, one.phase) == (result.name, result.phase))
        left.remove(channel)
        taken.append(fill_gaps(channel.samples, recording.sampling_rate / found.frequency)[0])
    return taken


def capture_of(result: "ChannelResult", found: "Characterisation", n_samples: int) -> tuple[int, int]:
    """Return the first sample of the capture that the model looks at, and the one after its last.

    Parameters
    ----------
    result : ChannelResult
        What the rules found on the channel.
    found : Characterisation
        What they found in all.
    n_samples : int
        Length of the recording.

    Returns
    -------
    first, stop : int
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

    A record that begins inside a swell has too high a first level; the model can tell if it knows what is normal.
    """
    if reference != "auto" or nominal is None or not found > 0 or _NEAR[0] < found / nominal < _NEAR[1]:
        return found
    return nominal


def _channel(
    result: "ChannelResult", wave: "FloatArray", found: "Characterisation", model: Model, bands: Any, scale: float
) -> ChannelVerdict:
    first, stop = capture_of(result, found, wave.size)
    rate = found.sampling_rate
    window = (first / rate, stop / rate)
    rule = rule_class(result, window)
    extended = stop - first < int(np.floor(WINDOW_CYCLES / found.frequency * rate))
    cycles = (stop - first) / rate * found.frequency
    try:
        if not scale > 0:
            raise PqswarmError("no voltage to speak of: the model was not asked.")
        capture = wave[first:stop] / (np.sqrt(2) * scale)
        prediction = model.predict(features_of(np.clip(capture, -1e3, 1e3), rate, found.frequency), bands)
    except PqswarmError as error:
        reason = f"only {cycles:.1f} cycles, {LEAST_CYCLES} are needed" if cycles < LEAST_CYCLES else str(error)
        return ChannelVerdict(result, rule, {}, (), f"rules only: {reason.rstrip('.')}", window, extended)
    shares = dict(zip(prediction.class_names, prediction.probabilities[0].tolist(), strict=True))
    ordered = dict(sorted(shares.items(), key=lambda item: -item[1]))
    used = tuple(dict.fromkeys(name.partition(".")[0] for name in prediction.subset.names))
    return ChannelVerdict(result, rule, ordered, used, agreement(rule, next(iter(ordered)), result), window, extended)


def _limits(recording: "Recording", found: "Characterisation", model: Model, bands: Any) -> list[str]:
    """What limits the model's word, beyond what limits the rules."""
    said = []
    widest = model.subsets[0]
    subset = model.subset_for(bands)
    if subset.highest < widest.highest:
        said.append(
            f"At {recording.sampling_rate:.5g} Hz the model uses features below "
            f"{subset.highest * found.frequency:.4g} Hz only ({len(subset.names)} of its features; it errs in "
            f"{100 * subset.error:.0f} % of its training events, with all bands in {100 * widest.error:.0f} %)."
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
