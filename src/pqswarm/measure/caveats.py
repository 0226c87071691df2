"""Caveats: assumptions, and what a recording cannot show."""

from collections.abc import Sequence

from pqswarm._base.typing import FloatArray
from pqswarm._base.units import frequency_text
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
    recording: RecordingSource, supply: Supply, states: Sequence[ChannelState], missing: FloatArray
) -> tuple[str, ...]:
    """List assumptions and limits of detection; `missing` is the fraction of missing samples of each channel."""
    said = [*describe_states(states), *supply.caveats]
    measured = supply.measured
    nominal_frequency = supply.nominal_frequency
    rate = recording.sampling_rate
    cycle = rate / nominal_frequency
    if measured is None:
        said.append(f"The frequency could not be measured: {recording.nominal_frequency:g} Hz was assumed.")
    elif nominal_frequency != recording.nominal_frequency:
        said.append(
            f"The recording gives {recording.nominal_frequency:g} Hz, but {measured:.2f} Hz was measured: "
            f"{nominal_frequency:g} Hz is used as nominal."
        )
    elif abs(measured / nominal_frequency - 1) > 0.08:
        said.append(f"The frequency, {measured:.1f} Hz, is far from nominal: a machine off the grid, or a wrong rate.")
    said += dict.fromkeys(reference.caveat for reference in supply.references if reference.caveat)
    dead = [one.name for one, ref in zip(supply.headers, supply.references, strict=True) if ref.volts <= 0]
    if dead and len(dead) == len(supply.headers):
        said.append("No voltage on any phase: no results in per unit.")
    elif dead:
        said.append(f"No voltage on {', '.join(dead)}: no results in per unit.")
    fractions = zip(supply.headers, missing.tolist(), strict=True)
    gaps = [f"{one.name} ({100 * fraction:.1f} %)" for one, fraction in fractions if fraction > 0]
    if gaps:
        said.append(f"Samples are missing on {', '.join(gaps)}.")
    seconds = recording.n_samples / rate
    cycles = seconds * nominal_frequency
    if cycles < _FLICKER_CYCLES:
        said.append(f"Flicker cannot be detected in {cycles:.1f} cycles, and the frequency is less certain.")
    elif seconds < _FLICKER_PERIODS:
        said.append(
            f"Flicker below {_FLICKER_PERIODS / seconds:.1f} Hz cannot be detected in a {seconds:.2g} s record."
        )
    if cycles < _TRANSIENT_CYCLES:
        said.append("Transients cannot be detected in fewer than 2.2 cycles.")
    elif cycle < _TRANSIENT_SAMPLES:
        said.append(f"Transients cannot be detected at a sampling rate of {frequency_text(rate)}.")
    else:
        highest = frequency_text(rate / 2)
        said.append(f"Transients above {highest} cannot be detected at a sampling rate of {frequency_text(rate)}.")
    orders = min(50, int(0.45 * cycle))
    if orders < 2:
        said.append(f"Harmonics cannot be measured at {cycle:.3g} samples per cycle.")
    elif orders < 40:
        said.append(f"Harmonics are measured to order {orders}.")
    if cycle < MIN_SAMPLES:
        said.append(f"Notching cannot be detected at {cycle:.0f} samples per cycle.")
    elif cycle < 100:
        said.append(f"At {cycle:.0f} samples per cycle, notches narrower than two samples cannot be detected.")
    return tuple(said)
