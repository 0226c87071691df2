"""The row of an event in tables and lists: the names of its columns, and their values from the stored record."""

from collections.abc import Mapping
from datetime import datetime
from math import nan
from typing import Any

from pqswarm.identify.words import to_milliseconds
from pqswarm.measure.event import event_time

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
    "sag_type",
    "label",
    "probability",
    "runner_up",
    "runner_up_probability",
    "rule_label",
    "agreement",
    "sentence",
    "reference_volts",
    "reference_source",
    "frequency",
    "sampling_rate",
    "caveats",
)
"""Columns of the row of an event, in order; the cause of an incident is in the row of its main event."""


def event_row(head: Mapping[str, Any], record: Mapping[str, Any], incident: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the row of an event, with the keys of :data:`COLUMNS`.

    `head` has the plain values of its analysis, `record` is :meth:`pqswarm.identify.EventResult.as_dict`, and
    `incident` has the number, title and probability of its incident, and whether the event is the main one of it.
    """
    first = None if head["start"] is None else datetime.fromisoformat(head["start"])
    when = to_milliseconds(event_time(first, record["start"]))
    ranked = list(record["probabilities"].items())
    second, second_probability = ranked[1] if len(ranked) > 1 else ("", 0.0)
    main_incident = incident if incident is not None and incident["is_main"] else None
    return {
        "source": head["source"],
        "path": head["path"],
        "station": head["station"],
        "date": "" if when is None else f"{when:%Y-%m-%d}",
        "time": "" if when is None else when.isoformat(timespec="milliseconds")[11:],
        "offset_s": round(record["start"], 6),
        "incident": "" if incident is None else incident["number"],
        "cause": "" if main_incident is None else main_incident["title"],
        "cause_probability": "" if main_incident is None else round(main_incident["probability"], 3),
        "type": record["type"],
        "category": record["category"],
        "phases": " ".join(dict.fromkeys(record["phases"])).strip(),
        "channels": "; ".join(dict.fromkeys(record["channels"])),
        "system": "; ".join((record["system"], *record["also"])),
        "magnitude": _with_digits(record["magnitude"], 4),
        "unit": record["unit"],
        "volts": "" if record["volts"] is None else _with_digits(record["volts"], 6),
        "duration_s": _rounded(record["duration"], 6),
        "cycles": _rounded(record["cycles"], 2),
        "sag_type": record["sag_type"],
        "label": record["label"] or "",
        "probability": "" if record["probability"] is None else round(record["probability"], 3),
        "runner_up": second,
        "runner_up_probability": round(second_probability, 3) if second else "",
        "rule_label": record["rule_label"],
        "agreement": record["agreement"],
        "sentence": record["sentence"],
        "reference_volts": _with_digits(record["reference_volts"], 6),
        "reference_source": record["reference_source"],
        "frequency": round(head["frequency"], 3),
        "sampling_rate": _with_digits(head["sampling_rate"], 8),
        "caveats": " ".join(head["caveats"]),
    }


def _with_digits(value: float | None, digits: int) -> float:
    return nan if value is None else float(f"{value:.{digits}g}")


def _rounded(value: float | None, decimals: int) -> float:
    return nan if value is None else round(value, decimals)
