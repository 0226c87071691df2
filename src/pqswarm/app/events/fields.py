"""The parameters of an event as fields of a page: what they mean, what is usual, how far a slider reaches."""

from collections.abc import Mapping
from math import floor, isfinite, log10
from typing import Any

from pqswarm.app.events.request import EventRequest
from pqswarm.errors import PqswarmError
from pqswarm.events import EVENT_CLASSES, RECORD, Event, LogUniform, Parameter
from pqswarm.events.event import SUPPLY
from pqswarm.events.parameters import Range

__all__ = ["list_fields"]

_QUANTILES = (*(i / 64 for i in range(64)), 1 - 1e-9)
_FEW = 12
"""Values of a range that are shown one by one."""

_REACH = {
    "depth": (0.0, 1.0),
    "amplitude": (0.5, 1.5),
    "sampling_rate": (1600.0, 100_000.0),
    "frequency": (45.0, 65.0),
    "cycles": (3.0, 60.0),
    "frequency_deviation": (-0.05, 0.05),
    "snr": (0.0, 80.0),
}
"""How far the sliders of some parameters reach; others reach somewhat beyond what is usual."""

_TURN = (0.0, 6.3)
"""Angles [rad]."""


def list_fields(asked: EventRequest, event: Event) -> list[dict[str, Any]]:
    """Return the fields of an event's parameters, those of the disturbance first, then supply and record."""
    ranges = asked.ranges_of.ranges(asked.event_class, asked.source)
    catalogue = EVENT_CLASSES.find(asked.event_class).catalogue
    values = {**event.parameters, **{name: getattr(event, name) for name in RECORD}}
    drawn = asked.drawn()
    before = {**drawn.parameters, **{name: getattr(drawn, name) for name in RECORD}}
    fields = [
        _field(name, spec, catalogue[name], values, before[name], name in asked.given) for name, spec in ranges.items()
    ]
    places = {"disturbance": 0, "supply": 1, "record": 2}
    return sorted(fields, key=lambda one: places[one["group"]])


def _field(
    name: str, spec: Range, parameter: Parameter, values: Mapping[str, float], drawn: float, given: bool
) -> dict[str, Any]:
    try:
        found = _values(spec, values)
    except PqswarmError:  # the record holds what was given, and nothing that the preset would draw
        found = [float(values[name])]
    usual = (found[0], found[-1])
    many = len(found) > _FEW
    is_log = name == "sampling_rate" or (isinstance(spec, LogUniform) and usual[0] > 0)
    low, high = _reach(name, parameter, usual, values, is_log)
    if values[name] < low or values[name] > high:
        low, high = min(low, values[name]), max(high, values[name])
    step = _step(high - low)
    if not many and all(value == int(value) for value in found) and len(found) > 1:
        step = 1.0
    if not is_log:
        low, high = floor(low / step + 1e-9) * step, -floor(-high / step + 1e-9) * step
    return {
        "name": name,
        "title": _title(name, parameter),
        "symbol": parameter.symbol,
        "unit": "" if parameter.unit == "1" else parameter.unit,
        "meaning": parameter.meaning,
        "group": "record" if name in RECORD else "supply" if name in SUPPLY else "disturbance",
        "value": float(values[name]) if isfinite(values[name]) else None,
        "drawn": float(drawn),
        "given": given,
        "usual": usual,
        "options": None if many else found,
        "allowed": (parameter.low, parameter.high),
        "low": float(f"{low:.9g}"),
        "high": float(f"{high:.9g}"),
        "step": step,
        "log": is_log,
    }


def _values(spec: Range, values: Mapping[str, float]) -> list[float]:
    """Values that are drawn, from the least to the greatest; the ends as they are written in presets."""
    found = sorted(spec.at(u, values) for u in _QUANTILES)
    digits = 5 - floor(log10(max(found[-1] - found[0], abs(found[-1]) * 1e-6, 1e-12)))
    return sorted({round(value, digits) + 0.0 for value in found})


def _title(name: str, parameter: Parameter) -> str:
    """A parameter in words; harmonics have no other name than what they mean."""
    words = parameter.meaning if name[1:].isdigit() or name.startswith("background_") else name.replace("_", " ")
    return "SNR of the supply" if name == "snr" else words[:1].upper() + words[1:]


def _reach(
    name: str, parameter: Parameter, usual: tuple[float, float], values: Mapping[str, float], is_log: bool
) -> tuple[float, float]:
    """How far a slider reaches: what is usual, and somewhat beyond, as far as it is allowed."""
    low, high = usual
    seconds, half_rate = values["cycles"] / values["frequency"], values["sampling_rate"] / 2
    if name == "spectrum":
        pass
    elif name in _REACH or parameter.unit == "rad":
        least, most = _REACH.get(name, _TURN)
        low, high = min(low, least), max(high, most)
    elif is_log:
        low, high = low / 3, high * 3
    elif parameter.unit == "s":
        low, high = 0.0, seconds if name in ("start", "duration") or high > 0.2 * seconds else 3 * high
    else:
        width = (high - low) or abs(high) or 1.0
        if parameter.high - parameter.low <= 3 * width:
            low, high = parameter.low, parameter.high
        else:
            low, high = (max(low - width / 2, 0.0) if low >= 0 else low - width / 2), high + width
    if parameter.unit == "Hz" and name not in RECORD:
        high = min(high, 0.98 * half_rate)
    low, high = max(low, parameter.low), min(high, parameter.high)
    return (low, high) if high > low else (low, low + 1.0)


def _step(width: float) -> float:
    """A round step, of which the slider has 100 to 250."""
    power = 10.0 ** floor(log10(width / 100))
    return float(f"{next(one for one in (5, 2, 1) if one * power <= width / 100 * (1 + 1e-9)) * power:.6g}")
