"""Parameters of an event as form fields: meaning, usual range and range of the slider."""

from collections.abc import Mapping
from math import floor, isfinite, log10
from typing import Any

from pqswarm.app.events.request import EventRequest
from pqswarm.errors import PqswarmError
from pqswarm.events import EVENT_CLASSES, RECORD, Event, LogUniform, Parameter
from pqswarm.events.event import SUPPLY
from pqswarm.events.parameters import Range

_QUANTILES = (*(i / 64 for i in range(64)), 1 - 1e-9)
_MAX_LISTED = 12
"""Maximum number of values that count as a discrete range."""

_SLIDER_RANGES = {
    "depth": (0.0, 1.0),
    "amplitude": (0.5, 1.5),
    "sampling_rate": (1600.0, 100_000.0),
    "frequency": (45.0, 65.0),
    "cycles": (3.0, 60.0),
    "frequency_deviation": (-0.05, 0.05),
    "snr": (0.0, 80.0),
}
"""Slider ranges of some parameters; the others extend somewhat beyond the usual range."""

_ANGLES = (0.0, 6.3)
"""Angles [rad]."""


def list_fields(request: EventRequest, event: Event) -> list[dict[str, Any]]:
    """Return the fields of an event: disturbance first, then supply and record."""
    ranges = request.ranges_of.ranges(request.event_class, request.source)
    catalogue = EVENT_CLASSES.find(request.event_class).catalogue
    values = {**event.parameters, **{name: getattr(event, name) for name in RECORD}}
    drawn = request.drawn()
    before = {**drawn.parameters, **{name: getattr(drawn, name) for name in RECORD}}
    fields = [
        _form_field(name, spec, catalogue[name], values, before[name], name in request.given)
        for name, spec in ranges.items()
    ]
    places = {"disturbance": 0, "supply": 1, "record": 2}
    return sorted(fields, key=lambda one: places[one["group"]])


def _form_field(
    name: str, spec: Range, parameter: Parameter, values: Mapping[str, float], drawn: float, given: bool
) -> dict[str, Any]:
    try:
        found = _sampled_field_values(spec, values)
    except PqswarmError:  # the given record is too short for the preset's range
        found = [float(values[name])]
    usual = (found[0], found[-1])
    many = len(found) > _MAX_LISTED
    is_log = name == "sampling_rate" or (isinstance(spec, LogUniform) and usual[0] > 0)
    low, high = _slider_range(name, parameter, usual, values, is_log)
    if values[name] < low or values[name] > high:
        low, high = min(low, values[name]), max(high, values[name])
    step = _slider_step(high - low)
    if not many and all(value == int(value) for value in found) and len(found) > 1:
        step = 1.0
    if not is_log:
        low, high = floor(low / step + 1e-9) * step, -floor(-high / step + 1e-9) * step
    return {
        "name": name,
        "title": _field_title(name, parameter),
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


def _sampled_field_values(spec: Range, values: Mapping[str, float]) -> list[float]:
    """Sorted sample of the values of a range, rounded so that its ends read as in the preset."""
    found = sorted(spec.at(u, values) for u in _QUANTILES)
    digits = 5 - floor(log10(max(found[-1] - found[0], abs(found[-1]) * 1e-6, 1e-12)))
    return sorted({round(value, digits) + 0.0 for value in found})


def _field_title(name: str, parameter: Parameter) -> str:
    """Title of a parameter; harmonics are named by their meaning."""
    words = parameter.meaning if name[1:].isdigit() or name.startswith("background_") else name.replace("_", " ")
    return "SNR of the supply" if name == "snr" else words[:1].upper() + words[1:]


def _slider_range(
    name: str, parameter: Parameter, usual: tuple[float, float], values: Mapping[str, float], is_log: bool
) -> tuple[float, float]:
    """Range of a slider: the usual range and somewhat beyond, within the allowed range."""
    low, high = usual
    seconds, half_rate = values["cycles"] / values["frequency"], values["sampling_rate"] / 2
    if name == "spectrum":
        pass
    elif name in _SLIDER_RANGES or parameter.unit == "rad":
        minimum, maximum = _SLIDER_RANGES.get(name, _ANGLES)
        low, high = min(low, minimum), max(high, maximum)
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


def _slider_step(width: float) -> float:
    """A round step that divides the slider into 100 to 250 steps."""
    power = 10.0 ** floor(log10(width / 100))
    return float(f"{next(one for one in (5, 2, 1) if one * power <= width / 100 * (1 + 1e-9)) * power:.6g}")
