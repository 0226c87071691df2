"""The file of a site as pydantic models: messages name the file, the key, the value and what is allowed."""

import re
from collections.abc import Mapping
from functools import partial
from math import sqrt
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pqswarm._base.checks import is_finite
from pqswarm._base.toml import explain_mistakes, parse_toml, table_error
from pqswarm.errors import PqswarmError, shorten, unknown_name
from pqswarm.recordings.recording import STATES
from pqswarm.recordings.units import clean, si_unit

_REFERENCES = ("auto", "nominal", "pre-event")
_VOLTAGE = re.compile(r"\s*([0-9][0-9.eE+-]*)\s*([^\s\d].*)?")


def read_voltage(key: str, value: object) -> float:
    """Return a voltage of 1 uV to 1 GV in volts, from a number or a text such as ``20 kV``."""
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
            f"{key + ': ' if key else ''}must be a voltage above 0 (1e-6 to 1e9 V), such as 230, '400 V' or '20 kV', "
            f"not {shorten(repr(value))}."
        )
    return float(volts)


def read_reference(key: str, value: object) -> str | float:
    """Return what 1 pu is: a name, or a voltage [V]."""
    if isinstance(value, str) and not value.strip()[:1].isdigit():
        if value not in _REFERENCES:
            raise unknown_name(key, value, (*_REFERENCES, "a voltage such as 230 or '20 kV'"))
        return value
    return read_voltage(key, value)


def read_state(key: str, value: str) -> str:
    """Return what a channel is, one of the states."""
    if value not in STATES:
        raise unknown_name(key, value, STATES)
    return value


def _check_unit(text: str) -> str:
    if text and si_unit(text)[0] == text and text not in ("V", "A", "W", "VA", "var", "Hz"):
        raise PqswarmError(f"{text!r} is not a known unit: give V, kV, mV, A, kA, ...")
    return text


def _check_ratio(ratio: float) -> float:
    if ratio == 0:
        raise PqswarmError("must not be 0: it is the factor from what the meter sees to the network")
    return ratio


def _check_connection(given: Any) -> Any:
    if given is not None and not isinstance(given, Mapping):
        raise PqswarmError(f"say which: {{ line_to_line = {given!r} }} or {{ phase_to_neutral = {given!r} }}")
    return given


Text = Annotated[str, AfterValidator(clean)]
Unit = Annotated[Text, AfterValidator(_check_unit)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Voltage = Annotated[float, BeforeValidator(partial(read_voltage, ""))]


class _SiteTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _NominalVoltage(_SiteTable):
    line_to_line: Voltage | None = None
    phase_to_neutral: Voltage | None = None

    @model_validator(mode="after")
    def _check_one(self) -> "_NominalVoltage":
        if len(self.model_fields_set) != 1:
            raise PqswarmError("give one of line_to_line and phase_to_neutral")
        return self


class _Channel(_SiteTable):
    name: Annotated[Text, Field(min_length=1)] | None = None
    phase: Literal["A", "B", "C", "N", "AB", "BC", "CA", ""] | None = None
    unit: Unit | None = None
    ratio: Annotated[Number, Field(ge=-1e9, le=1e9), AfterValidator(_check_ratio)] = 1.0
    system: Text | None = None
    nominal: Voltage | None = None
    state: Annotated[str, AfterValidator(partial(read_state, "state"))] | None = None
    ignore: Annotated[bool, Field(strict=True)] = False


class _Site(_SiteTable):
    station: Text = ""
    nominal_voltage: Annotated[_NominalVoltage | None, BeforeValidator(_check_connection)] = None
    nominal_frequency: Annotated[Number, Field(ge=5, le=1000)] | None = None
    reference: Annotated[Any, BeforeValidator(partial(read_reference, "reference"))] = None
    unit: Unit = ""
    thresholds: dict[str, Annotated[Number, Field(ge=0)]] = {}
    channels: dict[str, _Channel] = {}


def parse_site(text: str, source: str) -> dict[str, Any]:
    """Return the fields of a :class:`~pqswarm.recordings.site.model.Site` from the text of its file, checked."""
    try:
        site = _Site.model_validate(parse_toml(text, source))
    except ValidationError as error:
        raise table_error(source, explain_mistakes(error, _Site)) from None
    fields = site.model_dump(exclude={"nominal_voltage"})
    for rule in fields["channels"].values():
        rule["unit"] = rule["unit"] or None
        rule["system"] = rule["system"] or None
    nominal = site.nominal_voltage or _NominalVoltage.model_construct()
    to_neutral = nominal.phase_to_neutral
    return {**fields, "line_to_line": nominal.line_to_line if to_neutral is None else to_neutral * sqrt(3)}
