"""Words that the sentences of several sections share."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

__all__ = ["count", "decibel", "describe_classifier", "duration", "enumerate_words", "percent", "runs"]

_KINDS = {"k-nn": "k-nearest neighbours", "kernel-nb": "naive Bayes with kernel densities"}


def percent(share: float) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> percent(0.0638), percent(0.0)
    ('6.38 %', '0.00 %')
    """
    return f"{100 * share:.2f} %"


def count(mean: float) -> str:
    """Return a mean number of things, with a decimal if it needs one.

    Examples
    --------
    >>> count(3.0), count(3.25)
    ('3', '3.2')
    """
    return f"{mean:.0f}" if mean == round(mean) else f"{mean:.1f}"


def runs(number: int) -> str:
    """Return a number of runs in words.

    Examples
    --------
    >>> runs(1), runs(40)
    ('one run', '40 runs')
    """
    return f"{number} runs" if number > 1 else "one run"


def decibel(level: float) -> str:
    """Return a noise level in words.

    Examples
    --------
    >>> decibel(float("inf")), decibel(20.0)
    ('∞ dB', '20 dB')
    """
    return "∞ dB" if level == inf else f"{level:g} dB"


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(12.3), duration(600.0), duration(36000.0)
    ('12 seconds', '10 minutes', '10.0 hours')
    """
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def enumerate_words(words: Sequence[str]) -> str:
    """Return words as an enumeration.

    Examples
    --------
    >>> enumerate_words(["a", "b", "c"])
    'a, b and c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def describe_classifier(kind: str, settings: Mapping[str, Any]) -> str:
    """Return which classifier it is, with its hyperparameters, in words.

    Examples
    --------
    >>> describe_classifier("k-nn", {"n_neighbors": 3, "metric": "manhattan"})
    'k-nearest neighbours, 3 neighbours by Manhattan distance'
    """
    return ", ".join([_KINDS.get(kind, kind), describe_settings(settings)])


def describe_settings(settings: Mapping[str, Any]) -> str:
    """Return hyperparameters in words.

    Examples
    --------
    >>> describe_settings({"width": 0.004}), describe_settings({"C": 0.5})
    ('kernel width 0.004', 'C 0.5')
    """
    if set(settings) == {"n_neighbors", "metric"}:
        number, metric = settings["n_neighbors"], settings["metric"]
        return f"{number} neighbour{'s' if number > 1 else ''} by {metric.capitalize()} distance"
    words = {"width": "kernel width"}
    return ", ".join(f"{words.get(name, name)} {value}" for name, value in settings.items()) or "default settings"
