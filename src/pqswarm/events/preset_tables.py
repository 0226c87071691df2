"""The tables of a preset file as pydantic models, among them ranges: ``{ uniform = [0.5, 30], unit = "cycles" }``."""

from collections.abc import Mapping
from math import inf
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from pqswarm._base.checks import is_finite
from pqswarm._base.toml import explain_mistakes, table_error
from pqswarm.errors import PqswarmError, shorten, unknown_name
from pqswarm.events.catalog import Parameter
from pqswarm.events.classes import EVENT_CLASSES, is_name
from pqswarm.events.parameters import EqualTo, Fixed, LogUniform, OneOf, Range, Steps, Uniform, WithinRecord

_UNITS = {"s": ("cycles", "cycles left", "notch periods", "record"), "Hz": ("fundamental", "hertz")}
"""Other units in which a parameter in [s] or [Hz] may be given."""
_RECORD = ("sampling_rate", "frequency", "cycles")
_EXAMPLE = "{ uniform = [0.1, 0.9] }"

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Ends = Annotated[list[Number], Field(min_length=2, max_length=2)]


class _RangeTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Uniform(_RangeTable):
    kind: Literal["uniform"] = Field(repr=False)
    uniform: Ends
    unit: Any = None


class _LogUniform(_RangeTable):
    kind: Literal["log_uniform"] = Field(repr=False)
    log_uniform: Annotated[list[Annotated[Number, Field(gt=0)]], Field(min_length=2, max_length=2)]
    unit: Any = None


class _Steps(_RangeTable):
    kind: Literal["steps"] = Field(repr=False)
    steps: Ends
    number: Annotated[int, Field(strict=True, ge=2, le=1_000_000)]
    unit: Any = None


class _Choice(_RangeTable):
    kind: Literal["choice"] = Field(repr=False)
    choice: Annotated[tuple[Number, ...], Field(min_length=1)]
    unit: Any = None


class _Inside(_RangeTable):
    kind: Literal["inside"] = Field(repr=False)
    inside: str
    before: str | None = None
    margin: Annotated[Number, Field(ge=0)] = 0.0


class _Same(_RangeTable):
    kind: Literal["same"] = Field(repr=False)
    same: str


_Ranges = _Uniform | _LogUniform | _Steps | _Choice | _Inside | _Same
_RANGE: TypeAdapter[_Ranges] = TypeAdapter(Annotated[_Ranges, Field(discriminator="kind")])
_KINDS: dict[str, type[BaseModel]] = {
    "uniform": _Uniform,
    "log_uniform": _LogUniform,
    "steps": _Steps,
    "choice": _Choice,
    "inside": _Inside,
    "same": _Same,
}


def read_preset_table_range(name: str, given: object, allowed: Parameter) -> Range:
    """Return the range of a parameter, or raise an error that says what is wrong with it."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return Fixed(inf if name == "snr" and given == inf else _check_preset_table_limits(given, allowed))
    kind = _find_preset_table_kind(given)
    try:
        table = _RANGE.validate_python({"kind": kind, **given})  # type: ignore[dict-item]
    except ValidationError as error:
        raise PqswarmError(" ".join(explain_mistakes(error, _KINDS[kind], tags=(kind,)))) from None
    if isinstance(table, _Same):
        return EqualTo(table.same)
    if isinstance(table, _Inside):
        if allowed.unit != "s":
            raise PqswarmError(f"'inside' is only for times, and {name} is not a time: write {_EXAMPLE}.")
        return WithinRecord(table.inside, table.before, table.margin)
    others = () if name in _RECORD else _UNITS.get(allowed.unit, ())
    if table.unit not in (None, allowed.unit, *others):
        raise unknown_name("unit", table.unit, (allowed.unit, *others))
    unit: Any = table.unit if table.unit in others else ""
    values: tuple[float, ...] = tuple(getattr(table, kind))
    for value in values if unit in ("", "hertz") else ():  # others are checked when they are drawn
        _check_preset_table_limits(value, allowed)
    if isinstance(table, _Choice):
        return OneOf(values, unit)
    low, high = values
    if not low < high:
        raise PqswarmError(f"low must be below high, not {low:g} and {high:g}; a plain number is a fixed value.")
    if isinstance(table, _Steps):
        return Steps(low, high, table.number, unit)
    return (Uniform if kind == "uniform" else LogUniform)(low, high, unit)


def _find_preset_table_kind(given: object) -> str:
    """Return which kind of range a table is."""
    if isinstance(given, list):
        text = shorten(repr(given))
        raise PqswarmError(f"a list can be a range or a choice: write {{ uniform = {text} }} or {{ choice = {text} }}.")
    if not isinstance(given, Mapping):
        raise PqswarmError(f"must be a number, or a range such as {_EXAMPLE}, not {shorten(repr(given))}.")
    kinds = [key for key in given if key in _KINDS]
    if len(kinds) > 1:
        raise PqswarmError(f"has both {kinds[0]!r} and {kinds[1]!r}: keep one of the two.")
    unknown = next((key for key in given if key not in ("unit", "number")), None)
    if not kinds and unknown is not None:
        raise unknown_name("kind of range", unknown, _KINDS)
    if not kinds:
        raise PqswarmError(f"must have one of {', '.join(_KINDS)}, as in {_EXAMPLE}.")
    return str(kinds[0])


def _check_preset_table_limits(value: float, allowed: Parameter) -> float:
    if not is_finite(value):
        raise PqswarmError(f"must be a finite number, not {shorten(repr(value))}.")
    if not allowed.low <= value <= allowed.high:
        raise PqswarmError(f"must lie from {allowed.low:g} to {allowed.high:g} [{allowed.unit}], not at {value:g}.")
    return float(value)


def _check_preset_text(text: str) -> str:
    if not text.isprintable():
        raise PqswarmError(f"must be printable text, not {shorten(repr(text))}")
    return text


def _check_unique_preset_table_names(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise PqswarmError(f"must name each event class once, not {list(names)}")
    return names


def _check_preset_name(name: str) -> str:
    if not is_name(name):
        raise PqswarmError(f"{shorten(repr(name))} must be lower-case letters, digits and underscores, at most 60")
    return name


Text = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_preset_text)]
Parameters = dict[str, Any]
"""Ranges by parameter; :func:`read_preset_table_range` checks each once it is known whose they are."""


class _PresetTableWithClasses(BaseModel):
    """Keys, and a table for each of some event classes."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Parameters] = Field(init=False)

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, given: Any) -> Any:
        known = (*cls.model_fields, *EVENT_CLASSES)
        for key in given if isinstance(given, Mapping) else ():
            if key not in known:
                raise unknown_name("key or event class", key, known)
        return given


class _Bench(_PresetTableWithClasses):
    fraction: Any = None


class PresetTable(_PresetTableWithClasses):
    """A preset file."""

    name: Text | None = None
    extends: Text | None = None
    classes: (
        Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_check_unique_preset_table_names)] | None
    ) = None
    common: Parameters = {}
    spectra: dict[Annotated[str, AfterValidator(_check_preset_name)], Parameters] | None = None
    bench: _Bench = _Bench()


def read_tables(table: Mapping[str, Any], source: str) -> PresetTable:
    """Return the content of a preset file, or raise an error that names the source and every mistake."""
    try:
        return PresetTable.model_validate(dict(table))
    except ValidationError as error:
        raise table_error(source, explain_mistakes(error, PresetTable)) from None
