"""What was assumed, and what a recording cannot show, in sentences."""

from pqswarm._typing import FloatArray
from pqswarm.measure.survey import Supply
from pqswarm.recordings.recording import RecordingSource

__all__ = ["list_caveats"]


def list_caveats(recording: RecordingSource, supply: Supply, missing: FloatArray) -> tuple[str, ...]:
    """List what was assumed and what cannot be detected; `missing` is the share of missing samples of each channel."""
    said = list(supply.ignored)
    measured, nominal_frequency = supply.measured, supply.nominal_frequency
    rate = recording.sampling_rate
    cycle = rate / nominal_frequency
    if measured is None:
        said.append(f"The frequency could not be measured: {recording.nominal_frequency:g} Hz was taken.")
    elif nominal_frequency != recording.nominal_frequency:
        said.append(
            f"The recording gives {recording.nominal_frequency:g} Hz, but {measured:.2f} Hz was measured: "
            f"{nominal_frequency:g} Hz is used as nominal."
        )
    elif abs(measured / nominal_frequency - 1) > 0.08:
        said.append(f"The frequency, {measured:.1f} Hz, is far from nominal: a machine off the grid, or a wrong rate.")
    said += dict.fromkeys(reference.caveat for reference in supply.references if reference.caveat)
    dead = [one.name for one, ref in zip(supply.headers, supply.references, strict=True) if ref.volts <= 0]
    if dead:
        said.append(f"No voltage on {', '.join(dead)}: nothing can be said in per unit.")
    shares = zip(supply.headers, missing.tolist(), strict=True)
    gaps = [f"{one.name} ({100 * share:.1f} %)" for one, share in shares if share > 0]
    if gaps:
        said.append(f"Samples are missing on {', '.join(gaps)}.")
    seconds = recording.n_samples / rate
    cycles = seconds * nominal_frequency
    if cycles < 10:
        said.append(f"Flicker cannot be detected in {cycles:.1f} cycles, and the frequency is less certain.")
    elif seconds < 1.5:
        said.append(f"Flicker below {1.5 / seconds:.1f} Hz cannot be detected in a {seconds:.2g} s record.")
    if cycles < 2.2:
        said.append("Transients cannot be detected in so few cycles.")
    elif cycle < 32:
        said.append(f"Transients cannot be detected at a sampling rate of {rate:g} Hz.")
    else:
        said.append(f"Transients above {rate / 2:.5g} Hz cannot be detected at a sampling rate of {rate:.5g} Hz.")
    orders = min(50, int(0.45 * cycle))
    if orders < 40:
        said.append(f"Harmonics are measured to order {orders}.")
    if cycle < 100:
        said.append(f"Notching cannot be distinguished from transients at {cycle:.0f} samples per cycle.")
    return tuple(said)
