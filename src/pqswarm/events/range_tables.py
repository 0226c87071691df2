"""Ranges as plain values, the way they stand in a preset file: ``{ uniform = [0.5, 30], unit = "cycles" }``."""

from collections.abc import Iterable, Mapping
from math import inf, isfinite
from typing import Any

from pqswarm._base.checks import check_integer, is_finite
from pqswarm.errors import PqswarmError, shorten, unknown_name
from pqswarm.events.catalogue import Parameter
from pqswarm.events.parameters import (
    Choice,
    EqualTo,
    Fixed,
    IndexedBy,
    LogUniform,
    NameIndex,
    Range,
    Steps,
    Uniform,
    WithinRecord,
)

__all__ = ["in_order", "read_range", "write_range"]

_KINDS: dict[str, tuple[str, ...]] = {
    "uniform": ("unit",),
    "log_uniform": ("unit",),
    "steps": ("number", "unit"),
    "choice": ("unit",),
    "inside": ("before", "margin"),
    "same": (),
}
"""The kinds of ranges, and what may stand beside each."""

_UNITS = {"s": ("cycles", "cycles left", "notch periods", "record"), "Hz": ("fundamental", "hertz")}
"""The units in which parameters may be given that have the unit [s] or [Hz]."""

_RECORD = ("sampling_rate", "frequency", "cycles")
_EXAMPLE = "{ uniform = [0.1, 0.9] }"


def read_range(name: str, given: object, allowed: Parameter) -> Range:
    """Return the range of a parameter, or raise an error that says what is wrong with it."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return Fixed(_number(given, allowed, snr=name == "snr"))
    if isinstance(given, list):
        raise PqswarmError(
            f"a list can be a range or a choice: write {{ uniform = {given} }} or {{ choice = {given} }}."
        )
    if not isinstance(given, Mapping):
        raise PqswarmError(f"must be a number, or a range such as {_EXAMPLE}, not {shorten(repr(given))}.")
    kinds = [key for key in given if key in _KINDS]
    if len(kinds) > 1:
        raise PqswarmError(f"has both {kinds[0]!r} and {kinds[1]!r}: keep one of them.")
    if not kinds:
        unknown = next((key for key in given if key not in ("unit", "number")), None)
        if unknown is None:
            raise PqswarmError(f"must have one of {', '.join(_KINDS)}, as in {_EXAMPLE}.")
        raise unknown_name("kind of range", unknown, _KINDS)
    kind = kinds[0]
    for key in given:
        if key != kind and key not in _KINDS[kind]:
            raise unknown_name(f"key beside {kind!r}", key, _KINDS[kind] or ("none",))
    return _READERS[kind](name, given, allowed)


def _number(value: object, allowed: Parameter | None, *, snr: bool = False) -> float:
    if snr and value == inf:
        return inf
    if not is_finite(value):
        raise PqswarmError(f"must be a finite number, not {shorten(repr(value))}.")
    if allowed is not None and not allowed.low <= value <= allowed.high:
        raise PqswarmError(f"must lie from {allowed.low:g} to {allowed.high:g} [{allowed.unit}], not at {value:g}.")
    return float(value)


def _unit(name: str, given: Mapping[str, Any], allowed: Parameter) -> Any:
    """The unit that a range has, none if it is the parameter's own."""
    unit = given.get("unit", allowed.unit)
    others = () if name in _RECORD else _UNITS.get(allowed.unit, ())
    if unit == allowed.unit:
        return ""
    if unit not in others:
        raise unknown_name("unit", unit, (allowed.unit, *others))
    return unit


def _ends(name: str, kind: str, given: Mapping[str, Any], allowed: Parameter) -> tuple[float, float, Any]:
    """The two ends of a range and its unit; ends in another unit are checked when they are known in that of SI."""
    unit, ends = _unit(name, given, allowed), given[kind]
    if not isinstance(ends, list) or len(ends) != 2:
        raise PqswarmError(f"{kind!r} must be a list of two numbers, low and high, not {ends!r}.")
    low, high = (_number(end, None if unit not in ("", "hertz") else allowed) for end in ends)
    if not low < high:
        raise PqswarmError(f"low must be below high, not {low:g} and {high:g}; a plain number is a fixed value.")
    return low, high, unit


def _read_uniform(name: str, given: Mapping[str, Any], allowed: Parameter) -> Range:
    return Uniform(*_ends(name, "uniform", given, allowed))


def _read_log_uniform(name: str, given: Mapping[str, Any], allowed: Parameter) -> Range:
    low, high, unit = _ends(name, "log_uniform", given, allowed)
    if low <= 0:
        raise PqswarmError(f"'log_uniform' must begin above 0, not at {low:g}: write {{ uniform = ... }}.")
    return LogUniform(low, high, unit)


def _read_steps(name: str, given: Mapping[str, Any], allowed: Parameter) -> Range:
    low, high, unit = _ends(name, "steps", given, allowed)
    if "number" not in given:
        raise PqswarmError("'steps' must say how many values there are: add number = 10.")
    number = check_integer("'number'", given["number"], 2, 1_000_000)
    return Steps(low, high, number, unit)


def _read_choice(name: str, given: Mapping[str, Any], allowed: Parameter) -> Range:
    unit, options = _unit(name, given, allowed), given["choice"]
    if not isinstance(options, list) or not options:
        raise PqswarmError(f"'choice' must be a list of numbers, not {options!r}.")
    return Choice(tuple(_number(one, None if unit not in ("", "hertz") else allowed) for one in options), unit)


def _read_inside(name: str, given: Mapping[str, Any], allowed: Parameter) -> Range:
    if allowed.unit != "s":
        raise PqswarmError(f"'inside' is for times, and {name} is none: write {_EXAMPLE}.")
    margin = _number(given.get("margin", 0.0), None)
    if margin < 0:
        raise PqswarmError(f"'margin' must be at least 0 [cycles], not {margin:g}.")
    before = given.get("before")
    return WithinRecord(_name("inside", given["inside"]), None if before is None else _name("before", before), margin)


def _read_same(name: str, given: Mapping[str, Any], allowed: Parameter) -> Range:  # noqa: ARG001 (as its siblings)
    return EqualTo(_name("same", given["same"]))


def _name(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise PqswarmError(f"{key!r} must be the name of a parameter, not {shorten(repr(value))}.")
    return value


_READERS = {
    "uniform": _read_uniform,
    "log_uniform": _read_log_uniform,
    "steps": _read_steps,
    "choice": _read_choice,
    "inside": _read_inside,
    "same": _read_same,
}


def write_range(spec: Range) -> Any:
    """Return what :func:`read_range` reads as the same range; of a :class:`Named`, its names."""
    match spec:
        case Fixed(value):
            return _plain(value)
        case Uniform(low, high, unit):
            table: dict[str, Any] = {"uniform": [_plain(low), _plain(high)], "unit": unit}
        case LogUniform(low, high, unit):
            table = {"log_uniform": [_plain(low), _plain(high)], "unit": unit}
        case Steps(low, high, number, unit):
            table = {"steps": [_plain(low), _plain(high)], "number": number, "unit": unit}
        case Choice(options, unit):
            table = {"choice": [_plain(option) for option in options], "unit": unit}
        case WithinRecord(duration, before, margin):
            table = {"inside": duration, "before": before or "", "margin": _plain(margin) or ""}
        case EqualTo(name):
            table = {"same": name}
        case NameIndex(names):
            return list(names)
        case _:
            raise PqswarmError(f"a range of type {type(spec).__name__} has no form in a file.")
    return {key: value for key, value in table.items() if value != ""}


def _plain(value: float) -> float:
    return int(value) if isfinite(value) and float(value).is_integer() and abs(value) < 1e15 else float(value)


def _needs(spec: Range) -> tuple[str, ...]:
    """The parameters that must be drawn before this range."""
    units = {"cycles": ("frequency", "cycles"), "cycles left": ("frequency", "cycles", "start")}
    units |= {"notch periods": ("frequency", "cycles", "notches_per_cycle"), "record": ("frequency", "cycles")}
    units |= {"fundamental": ("frequency", "sampling_rate"), "hertz": ("sampling_rate",)}
    match spec:
        case EqualTo(name) | IndexedBy(name):
            return (name,)
        case WithinRecord(duration, before):
            return ("frequency", "cycles", duration, *([before] if before else []))
    return units.get(getattr(spec, "unit", ""), ())


def in_order(ranges: Mapping[str, Range], drawn: Iterable[str] = ()) -> dict[str, Range]:
    """Return the ranges in their order, but each after those that it depends on; `drawn` come before all."""
    rest, done = dict(ranges), dict.fromkeys(drawn)
    for name, spec in ranges.items():
        for other in _needs(spec):
            if other not in ranges and other not in done:
                raise PqswarmError(f"{name} depends on {other}, which is not drawn: give {other} a range, too.")
    sorted_ranges: dict[str, Range] = {}
    while rest:
        free = next((name for name, spec in rest.items() if done.keys() >= set(_needs(spec))), None)
        if free is None:
            raise PqswarmError(f"{' and '.join(rest)} depend on each other: give one of them a range of its own.")
        sorted_ranges[free] = rest.pop(free)
        done[free] = None
    return sorted_ranges
