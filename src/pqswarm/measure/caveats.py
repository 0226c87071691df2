"""Caveats: assumptions, and what a recording cannot show."""

from collections.abc import Sequence

from pqswarm._base.text import frequency_text
from pqswarm.measure.detect.scan import Scan
from pqswarm.measure.steady.notching import MIN_SAMPLES
from pqswarm.measure.supply.channels import ChannelState, describe_states
from pqswarm.measure.supply.survey import Supply
from pqswarm.recordings.recording import RecordingSource

_TRANSIENT_CYCLES = 2.2  # tuned
_TRANSIENT_SAMPLES = 32  # tuned
"""Cycles of a capture, and samples per cycle, that the detection of transients needs."""
_FLICKER_CYCLES = 7.0
"""Cycles of a capture that the detection of flicker needs: a dozen values of Urms(1/2)."""
_FLICKER_PERIODS = 1.5
"""Periods of a modulation that must be seen."""


def list_caveats(
    recording: RecordingSource, supply: Supply, states: Sequence[ChannelState], scan: Scan, blank: float = 0.0
) -> tuple[str, ...]:
    """List assumptions and limits of detection; `blank` is the fraction of samples that are no measurement."""
    seconds = recording.n_samples / recording.sampling_rate
    cycle = recording.sampling_rate / supply.nominal_frequency
    sentences = (
        *describe_states(states),
        *supply.caveats,
        _frequency_caveat(recording.nominal_frequency, supply),
        *dict.fromkeys(reference.caveat for reference in supply.references),
        _dead_channel_caveat(supply, seconds * supply.frequency),
        _gap_caveat(supply, scan, blank),
        _flicker_caveat(seconds, seconds * supply.nominal_frequency),
        _transient_caveat(recording.sampling_rate, cycle, seconds * supply.nominal_frequency),
        _harmonic_caveat(cycle),
        _notching_caveat(cycle),
    )
    return tuple(filter(None, sentences))


def _frequency_caveat(given: float, supply: Supply) -> str:
    measured = supply.measured
    nominal = supply.nominal_frequency
    if measured is None:
        return f"The frequency could not be measured: {given:g} Hz was assumed."
    if nominal != given:
        return (
            f"The recording gives {given:g} Hz, but {measured:.2f} Hz was measured: {nominal:g} Hz is used as nominal."
        )
    if abs(measured / nominal - 1) > 0.08:
        return f"The frequency, {measured:.1f} Hz, is far from nominal: a machine off the grid, or a wrong rate."
    return ""


def _dead_channel_caveat(supply: Supply, cycles: float) -> str:
    channels = zip(supply.headers, supply.references, strict=True)
    dead = [header.name for header, reference in channels if reference.volts <= 0]
    if not dead:
        return ""
    if cycles < 1:
        return f"A record of {cycles:.2f} cycles is too short to measure a voltage: no results in per unit."
    where = "any phase" if len(dead) == len(supply.headers) else ", ".join(dead)
    return f"No voltage on {where}: no results in per unit."


def _gap_caveat(supply: Supply, scan: Scan, blank: float) -> str:
    facts = zip(supply.headers, scan.missing.tolist(), scan.first_missing.tolist(), strict=True)
    gaps = [
        f"{header.name} ({100 * (fraction - blank):.1f} %, from {first:.3f} s on)"
        for header, fraction, first in facts
        if fraction > blank
    ]
    return f"Samples are missing on {', '.join(gaps)}." if gaps else ""


def _flicker_caveat(seconds: float, cycles: float) -> str:
    if cycles < _FLICKER_CYCLES:
        return f"Flicker cannot be detected in {cycles:.1f} cycles, and the frequency is less certain."
    if seconds < _FLICKER_PERIODS:
        return f"Flicker below {_FLICKER_PERIODS / seconds:.1f} Hz cannot be detected in a {seconds:.2g} s record."
    return ""


def _transient_caveat(rate: float, cycle: float, cycles: float) -> str:
    if cycles < _TRANSIENT_CYCLES:
        return "Transients cannot be detected in fewer than 2.2 cycles."
    highest = "" if cycle < _TRANSIENT_SAMPLES else f" above {frequency_text(rate / 2)}"
    return f"Transients{highest} cannot be detected at a sampling rate of {frequency_text(rate)}."


def _harmonic_caveat(cycle: float) -> str:
    orders = min(50, int(0.45 * cycle))
    if orders < 2:
        return f"Harmonics cannot be measured at {cycle:.3g} samples per cycle."
    return f"Harmonics are measured to order {orders}." if orders < 40 else ""


def _notching_caveat(cycle: float) -> str:
    if cycle < MIN_SAMPLES:
        return f"Notching cannot be detected at {cycle:.0f} samples per cycle."
    if cycle < 100:
        return f"At {cycle:.0f} samples per cycle, notches narrower than two samples cannot be detected."
    return ""
