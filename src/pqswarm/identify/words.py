"""Magnitudes, voltages, durations and times as text, the same on the command line, on the page and in figures."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import isfinite

from pqswarm._base.text import digits_text, voltage_text
from pqswarm.measure import Event

_MINUTES = 120.0
"""Durations from here on are given in minutes [s]."""


def magnitude_text(event: Event) -> str:
    """Return the magnitude, ``"0.62 pu (12.4 kV)"`` or in percent, of a transient its peak; empty if there is none."""
    if not isfinite(event.magnitude):
        return ""
    if event.unit != "pu":
        return f"{digits_text(event.magnitude, 3)} {event.unit}"
    peak = event.type == "transient"
    volts = voltage_text(event.volts) if event.reference_volts > 0 else ""
    digits = 3 if event.type == "rapid voltage change" else 2
    return f"{event.magnitude:.{digits}f} pu{' peak' if peak else ''}" + (f" ({volts})" if volts else "")


def duration_text(seconds: float, nominal_frequency: float, *, cut: bool = False) -> str:
    """Return a duration [s] as time and cycles, with ``"at least"`` if the record cuts the event."""
    if not isfinite(seconds) or seconds <= 0:
        return ""
    prefix = "at least " if cut else ""
    if seconds >= _MINUTES:
        minutes, rest = divmod(round(seconds), 60)
        return f"{prefix}{minutes} min" + (f" {rest} s" if rest else "")
    cycles = seconds * nominal_frequency
    time = f"{digits_text(seconds)} s" if seconds >= 1 else f"{digits_text(1000 * seconds, 3)} ms"
    number = digits_text(cycles, 1) if cycles < 0.1 else f"{cycles:.{1 if cycles < 100 else 0}f}"
    return f"{prefix}{time} ({number} cycles)"


def to_milliseconds(moment: datetime | None) -> datetime | None:
    """Round a time to the millisecond."""
    if moment is None:
        return None
    try:
        late = moment + timedelta(microseconds=500)
    except OverflowError:
        late = moment
    return late.replace(microsecond=late.microsecond // 1000 * 1000)


def time_text(moment: datetime | None) -> str:
    """Return date and time to the millisecond, ``"2023-05-12 19:45:25.814"``; empty if unknown."""
    moment = to_milliseconds(moment)
    return "" if moment is None else moment.replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")


def clock_text(moment: datetime | None) -> str:
    """Return the time of day to the millisecond."""
    return time_text(moment)[11:]


def join_words(words: Sequence[str]) -> str:
    """Join a list for a sentence: ``A, B and C``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
