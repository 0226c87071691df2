"""What a capture can show at all, by its sampling rate and length."""

from pqswarm.measure.steady.notches import FEWEST_SAMPLES

__all__ = [
    "FEWEST_CYCLES",
    "FEWEST_SAMPLES_OF_TRANSIENTS",
    "FLICKER_CYCLES",
    "SLOWEST_PERIODS",
    "visible_classes",
]

FEWEST_CYCLES = 2.2
"""Of a capture in which transients can be told from steps."""
FEWEST_SAMPLES_OF_TRANSIENTS = 32
"""Per cycle."""
FLICKER_CYCLES = 7.0
"""Of a capture that may show flicker: a dozen values of Urms(1/2)."""
SLOWEST_PERIODS = 1.5
"""Of a modulation that must be seen."""
_NOTCH_CYCLES = 3.0
_HARMONIC_SAMPLES = 8
"""Per cycle: the third order is then below 0.45 of the sampling rate."""


def visible_classes(sampling_rate: float, frequency: float, cycles: float) -> frozenset[str]:
    """Names of the event classes that a capture of that rate [Hz], fundamental [Hz] and length can show at all.

    Examples
    --------
    >>> sorted(visible_classes(300, 50.0, 5.0))
    ['dc_offset', 'interruption', 'pure_sinusoid', 'sag', 'swell', 'voltage_change']
    >>> "notching" in visible_classes(12_800, 50.0, 10.0), "flicker" in visible_classes(12_800, 50.0, 10.0)
    (True, True)
    """
    per_cycle = sampling_rate / frequency
    harmonics = per_cycle >= _HARMONIC_SAMPLES
    transients = per_cycle >= FEWEST_SAMPLES_OF_TRANSIENTS and cycles >= FEWEST_CYCLES
    flicker = cycles >= FLICKER_CYCLES
    shown = {
        **dict.fromkeys(("pure_sinusoid", "dc_offset", "sag", "swell", "interruption", "voltage_change"), True),
        **dict.fromkeys(("harmonics", "sag_with_harmonics", "swell_with_harmonics"), harmonics),
        **dict.fromkeys(
            ("oscillatory_transient", "impulsive_transient", "sag_with_transient", "swell_with_transient"), transients
        ),
        "flicker": flicker,
        "flicker_with_harmonics": flicker and harmonics,
        "notching": per_cycle >= FEWEST_SAMPLES and cycles >= _NOTCH_CYCLES,
    }
    return frozenset(name for name, yes in shown.items() if yes)
