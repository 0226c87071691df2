"""The row of an event in tables and lists, and its magnitudes, voltages, durations and times as text."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import isfinite, nan
from typing import Any

from pqswarm._base.text import digits_text, voltage_text
from pqswarm.measure import Event
from pqswarm.measure.event import event_time

_MINUTES = 120.0
"""Durations from here on are given in minutes [s]."""
COLUMNS = (
    "source",
    "path",
    "station",
    "date",
    "time",
    "offset_s",
    "incident",
    "cause",
    "cause_probability",
    "type",
    "category",
    "phases",
    "channels",
    "system",
    "magnitude",
    "unit",
    "volts",
    "duration_s",
    "cycles",
    "cut",
    "sag_type",
    "label",
    "probability",
    "runner_up",
    "runner_up_probability",
    "rule_label",
    "agreement",
    "correction",
    "remarks",
    "sentence",
    "reference_volts",
    "reference_source",
    "frequency",
    "sampling_rate",
    "caveats",
)
"""Columns of the row of an event, in order; the cause of an incident is in the row of its main event.

Where the record cuts an event, ``"start"``, ``"end"`` or ``"start and end"``, its duration is at least the one given.
`label` and `cause` are those that a person put in place of what was found, which `correction` tells; `remarks` are the
notes on the recording.
"""


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


def cut_side(record: Mapping[str, Any]) -> str:
    """Return which side of an event, given as plain values, the record cuts; empty if it holds all of it."""
    return " and ".join(name for name in ("start", "end") if record[f"cut_{name}"])


def event_row(
    head: Mapping[str, Any], position: int, record: Mapping[str, Any], incident: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the row of an event, with the keys of :data:`COLUMNS`.

    `head` has the plain values of its analysis, in which the event has the `position`, `record` is
    :meth:`pqswarm.identify.EventResult.as_dict`, and `incident` that of its incident, with its number and title.
    """
    first = None if head["start"] is None else datetime.fromisoformat(head["start"])
    when = to_milliseconds(event_time(first, record["start"]))
    ranked = list(record["probabilities"].items())
    second, second_probability = ranked[1] if len(ranked) > 1 else ("", 0.0)
    main = incident if incident is not None and incident["events"][0] == position else {}
    return {
        "source": head["source"],
        "path": head["path"],
        "station": head["station"],
        "date": "" if when is None else f"{when:%Y-%m-%d}",
        "time": "" if when is None else when.isoformat(timespec="milliseconds")[11:],
        "offset_s": round(record["start"], 6),
        "incident": "" if incident is None else incident["number"],
        "cause": main.get("title", ""),
        "cause_probability": round(main["probability"], 3) if main and not main["by_hand"] else "",
        "type": record["type"],
        "category": record["category"],
        "phases": " ".join(dict.fromkeys(record["phases"])).strip(),
        "channels": "; ".join(dict.fromkeys(record["channels"])),
        "system": "; ".join((record["system"], *record["also"])),
        "magnitude": _row_value_digits(record["magnitude"], 4),
        "unit": record["unit"],
        "volts": "" if record["volts"] is None else _row_value_digits(record["volts"], 6),
        "duration_s": _rounded_row_value(record["duration"], 6),
        "cycles": _rounded_row_value(record["cycles"], 2),
        "cut": cut_side(record),
        "sag_type": record["sag_type"],
        "label": record["by_hand"] or record["label"] or "",
        "probability": "" if record["probability"] is None else round(record["probability"], 3),
        "runner_up": second,
        "runner_up_probability": round(second_probability, 3) if second else "",
        "rule_label": record["rule_label"],
        "agreement": record["agreement"],
        "correction": "; ".join(filter(None, (record["correction"], main.get("correction")))),
        "remarks": "; ".join(head["remarks"]),
        "sentence": record["sentence"],
        "reference_volts": _row_value_digits(record["reference_volts"], 6),
        "reference_source": record["reference_source"],
        "frequency": round(head["frequency"], 3),
        "sampling_rate": _row_value_digits(head["sampling_rate"], 8),
        "caveats": " ".join(head["caveats"]),
    }


def _row_value_digits(value: float | None, digits: int) -> float:
    return nan if value is None else float(f"{value:.{digits}g}")


def _rounded_row_value(value: float | None, decimals: int) -> float:
    return nan if value is None else round(value, decimals)
