"""The file of a site, TOML: messages name the file, the key, the value and what is allowed."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf, isfinite, sqrt
from typing import Any

from pqswarm._base.checks import is_finite
from pqswarm._base.toml import parse_toml
from pqswarm.errors import PqswarmError, shorten, unknown_name
from pqswarm.recordings.units import clean, si_unit

__all__ = ["ChannelRule", "parse_site", "read_reference", "read_voltage"]

_KEYS = ("station", "nominal_voltage", "nominal_frequency", "reference", "unit", "thresholds", "channels")
_RULE_KEYS = ("name", "phase", "unit", "ratio", "system", "nominal", "ignore")
_CONNECTIONS = ("line_to_line", "phase_to_neutral")
_PHASES = ("A", "B", "C", "N", "AB", "BC", "CA", "")
_REFERENCES = ("auto", "nominal", "pre-event")
_MOST_RATIO = 1e9
_VOLTAGE = re.compile(r"\s*([0-9][0-9.eE+-]*)\s*([^\s\d].*)?")


@dataclass(frozen=True)
class ChannelRule:
    """What a site file says of a channel; None where it says nothing.

    Attributes
    ----------
    name, phase, unit, system : str or None
        Instead of those of the file.
    ratio : float
        Factor to what is measured, such as that of a voltage transformer; negative for a reversed one.
    nominal : float or None
        Nominal voltage of this channel, RMS, after the ratio [V].
    ignore : bool
        Whether to leave the channel out.
    """

    name: str | None = None
    phase: str | None = None
    unit: str | None = None
    ratio: float = 1.0
    system: str | None = None
    nominal: float | None = None
    ignore: bool = False


def parse_site(text: str, source: str) -> dict[str, Any]:
    """Return the fields of a :class:`~pqswarm.recordings.site.model.Site` from the text of its file, checked."""
    table = parse_toml(text, source)
    try:
        _check_keys("key", table, _KEYS)
        thresholds = _as_table("thresholds", table.get("thresholds", {}))
        channels = _as_table("channels", table.get("channels", {}))
        return {
            "station": _read_text("station", table.get("station", "")),
            "line_to_line": _read_nominal(table.get("nominal_voltage")),
            "nominal_frequency": _read_frequency(table.get("nominal_frequency")),
            "reference": read_reference("reference", table["reference"]) if "reference" in table else None,
            "unit": _read_unit("unit", table.get("unit", "")),
            "thresholds": {key: _read_number(f"thresholds.{key}", value, low=0.0) for key, value in thresholds.items()},
            "channels": {name: _read_rule(f"channels.{name}", rule) for name, rule in channels.items()},
        }
    except PqswarmError as error:
        raise PqswarmError(f"{source}: {error}") from None


def _as_table(key: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise PqswarmError(f"{key}: must be a table of keys, not {shorten(repr(value))}.")
    return value


def _read_nominal(value: object) -> float | None:
    """The nominal voltage between phases [V], however it is given."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise PqswarmError(
            f"nominal_voltage: say which: {{ line_to_line = {value!r} }} or {{ phase_to_neutral = {value!r} }}."
        )
    _check_keys("key of nominal_voltage", value, _CONNECTIONS)
    if len(value) != 1:
        raise PqswarmError("nominal_voltage: give one of line_to_line and phase_to_neutral.")
    (key, given), *_ = value.items()
    volts = read_voltage(f"nominal_voltage.{key}", given)
    return volts if key == "line_to_line" else volts * sqrt(3)


def _read_frequency(value: object) -> float | None:
    return None if value is None else _read_number("nominal_frequency", value, low=5.0, high=1000.0, unit="Hz")


def read_reference(key: str, value: object) -> str | float:
    """Return what 1 pu is: a name, or a voltage [V].

    Examples
    --------
    >>> read_reference("reference", "nominal"), read_reference("reference", "20 kV")
    ('nominal', 20000.0)
    """
    if isinstance(value, str) and not value.strip()[:1].isdigit():
        if value not in _REFERENCES:
            raise unknown_name(key, value, (*_REFERENCES, "a voltage such as 230 or '20 kV'"))
        return value
    return read_voltage(key, value)


def _read_unit(key: str, value: object) -> str:
    text = _read_text(key, value)
    if text and si_unit(text)[0] == text and si_unit(text)[0] not in ("V", "A", "W", "VA", "var", "Hz"):
        raise PqswarmError(f"{key}: {text!r} is no unit that is known: give V, kV, mV, A, kA, ...")
    return text


def _read_rule(key: str, value: object) -> ChannelRule:
    table = _as_table(key, value)
    _check_keys(f"key of [{key}]", table, _RULE_KEYS)
    if "phase" in table and table["phase"] not in _PHASES:
        raise unknown_name(f"phase in [{key}]", table["phase"], _PHASES[:-1])
    ignore = table.get("ignore", False)
    if not isinstance(ignore, bool):
        raise PqswarmError(f"{key}.ignore: must be true or false, not {shorten(repr(ignore))}.")
    ratio = _read_number(f"{key}.ratio", table.get("ratio", 1.0), -_MOST_RATIO, _MOST_RATIO)
    if ratio == 0:
        raise PqswarmError(f"{key}.ratio: must not be 0: it is the factor from what the meter sees to the network.")
    return ChannelRule(
        name=_read_text(f"{key}.name", table["name"], needed=True) if "name" in table else None,
        phase=table.get("phase"),
        unit=_read_unit(f"{key}.unit", table["unit"]) or None if "unit" in table else None,
        ratio=ratio,
        system=_read_text(f"{key}.system", table["system"]) or None if "system" in table else None,
        nominal=read_voltage(f"{key}.nominal", table["nominal"]) if "nominal" in table else None,
        ignore=ignore,
    )


def _check_keys(what: str, given: Iterable[str], known: tuple[str, ...]) -> None:
    """Refuse keys that are not known."""
    for key in given:
        if key not in known:
            raise unknown_name(what, key, known)


def _read_text(key: str, value: object, needed: bool = False) -> str:
    """Return a text, safe to show."""
    if not isinstance(value, str) or (needed and not clean(value)):
        raise PqswarmError(f"{key}: must be text, not {shorten(repr(value))}.")
    return clean(value)


def _read_number(key: str, value: object, low: float = -inf, high: float = inf, unit: str = "") -> float:
    """Return a number from `low` to `high`."""
    if not is_finite(value) or not low <= value <= high:
        limits = f" of {low:g} to {high:g}" if isfinite(high) else f" of at least {low:g}" if isfinite(low) else ""
        raise PqswarmError(f"{key}: must be a number{limits}{' ' + unit if unit else ''}, not {shorten(repr(value))}.")
    return float(value)


def read_voltage(key: str, value: object) -> float:
    """Return a voltage of 1 uV to 1 GV in volts, from a number or a text such as ``20 kV``.

    Examples
    --------
    >>> read_voltage("nominal", "20kV"), read_voltage("nominal", 230)
    (20000.0, 230.0)
    """
    volts: object = value
    if isinstance(value, str):
        match = _VOLTAGE.fullmatch(value)
        unit, factor = si_unit(match[2] or "V") if match else ("", 1.0)
        try:
            volts = float(match[1]) * factor if match and unit == "V" else None
        except ValueError:
            volts = None
    if not is_finite(volts) or not 1e-6 <= volts <= 1e9:
        raise PqswarmError(
            f"{key}: must be a voltage above 0 (1e-6 to 1e9 V), such as 230, '400 V' or '20 kV', not "
            f"{shorten(repr(value))}."
        )
    return float(volts)
