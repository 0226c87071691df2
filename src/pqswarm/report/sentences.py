"""Numbers, units and lists as the sentences of a report write them."""

from collections.abc import Sequence
from math import inf


def percent(fraction: float) -> str:
    """Return a fraction in percent: 0.0638 is ``6.38 %``."""
    return f"{100 * fraction:.2f} %"


def probability(p: float) -> str:
    """Return a p-value as text: ``p = 0.031``, or ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def at_most(p: float) -> str:
    """Return an upper bound of several p-values as text: ``p ≤ 0.031``."""
    return probability(p).replace("=", "≤")


def count(mean: float) -> str:
    """Return a mean number, with one decimal if it is not an integer."""
    return f"{mean:.0f}" if mean == round(mean) else f"{mean:.1f}"


def features(number: int) -> str:
    """Return a number of features as text."""
    return f"{number} feature{'s' * (number != 1)}"


def count_runs(number: int) -> str:
    """Return a number of runs as text."""
    return f"{number} runs" if number > 1 else "one run"


def decibel(level: float) -> str:
    """Return a noise level as text, such as ``20 dB`` or ``∞ dB``."""
    return "∞ dB" if level == inf else f"{level:g} dB"


def duration(seconds: float) -> str:
    """Return a duration [s] as text, in seconds, minutes or hours."""
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def points(value: float) -> str:
    """Return a number of percentage points with two decimals, never as minus zero."""
    return f"{round(value, 2) + 0.0:.2f}"


def enumerate_words(words: Sequence[str]) -> str:
    """Return words as a list: ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
