"""The parameters that events can have, and the ranges from which they are drawn.

A preset maps parameter names to *ranges*. A range turns a uniform number `u` of [0, 1) and the values
drawn before it into a value. It draws nothing itself: fixing one parameter leaves all others unchanged.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from math import inf, isfinite, nan
from types import MappingProxyType
from typing import Any, Literal, Protocol

from pqswarm._base.checks import check_integer, check_name
from pqswarm.errors import PqswarmError

HARMONICS = ("h5", "h7", "h11", "h13")
"""The amplitudes of a spectrum."""

_HUGE = 1e6  # beyond any event, and far from overflow


@dataclass(frozen=True)
class Parameter:
    """One row of the catalog: the paper's symbol, the unit, the meaning, the allowed closed interval."""

    symbol: str
    unit: str
    meaning: str
    low: float = -_HUGE
    high: float = _HUGE


PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        name: Parameter(**row)
        for name, row in tomllib.loads(
            (files("pqswarm.events") / "parameters.toml").read_text(encoding="utf-8")
        ).items()
    }
)
"""Every parameter an event can have, in the order of ``parameters.toml``."""

RECORD_PARAMETERS = ("sampling_rate", "frequency", "cycles")
BACKGROUND_PARAMETERS = tuple(name for name in PARAMETERS if name.startswith("background_"))
SUPPLY_PARAMETERS = ("amplitude", "phase", "frequency_deviation", "snr", *BACKGROUND_PARAMETERS)


def check_parameters(
    parameters: Mapping[str, object],
    known: Mapping[str, object],
    owner: str,
    catalog: Mapping[str, Parameter] = PARAMETERS,
) -> dict[str, float]:
    """Return `parameters` of `owner` as floats, or raise an error that names the first invalid one."""
    checked = {}
    for name, given in parameters.items():
        allowed = catalog[check_name(f"parameter of {owner}", name, known)]
        try:
            value = float(given)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            value = nan
        without_noise = name == "snr" and value == inf
        if not (without_noise or (isfinite(value) and allowed.low <= value <= allowed.high)):
            limits = f"from {allowed.low:g} to {allowed.high:g} [{allowed.unit}]"
            raise PqswarmError(f"{name} of {owner} must be a number {limits}, not {given!r}.")
        checked[name] = value
    return checked


Unit = Literal["", "cycles", "cycles left", "notch periods", "record", "fundamental", "hertz"]


class Range(Protocol):
    """How a parameter is drawn."""

    def at(self, u: float, values: Mapping[str, float]) -> float:
        """Return the value at the quantile `u`, given the parameters drawn so far."""


def record_length(values: Mapping[str, float]) -> float:
    """Length of the record [s]."""
    return values["cycles"] / values["frequency"]


def _range_unit_scale(low: float, high: float, unit: Unit, values: Mapping[str, float]) -> tuple[float, float]:
    """Return the factor from the unit of a range to SI units, and the maximum that the record can hold."""
    limit = inf
    scale = 1.0
    if unit in ("cycles", "cycles left", "notch periods"):
        scale = 1.0 / (values["frequency"] * (1.0 + values.get("frequency_deviation", 0.0)))
        limit = record_length(values) - (values["start"] if unit == "cycles left" else 0.0)
        if unit == "notch periods":
            scale /= values["notches_per_cycle"]
    elif unit == "record":
        scale = record_length(values)
    elif unit == "fundamental":
        scale = values["frequency"]
    if unit in ("fundamental", "hertz"):
        limit = 0.45 * values["sampling_rate"]
    if limit < low * scale:
        raise PqswarmError(
            f"{values['cycles']:g} cycles of {values['frequency']:g} Hz at {values['sampling_rate']:g} Hz cannot hold "
            f"a range of {low:g} to {high:g} {unit}: use a longer record or a higher sampling rate."
        )
    return scale, limit


def _range_bounds(low: float, high: float, unit: Unit, values: Mapping[str, float]) -> tuple[float, float]:
    """Convert the ends of a range to SI units and cut it to what the record can hold."""
    scale, limit = _range_unit_scale(low, high, unit, values)
    return low * scale, min(high * scale, limit)


@dataclass(frozen=True)
class Uniform:
    """Uniform over (low, high].

    Parameters
    ----------
    low, high : float
        The ends, in `unit`.
    unit : str, default=""
        ``cycles`` of the grid (never longer than the record), ``cycles left`` (never beyond its end,
        counted from `start`), ``notch periods``, fractions of the ``record``, multiples of the
        ``fundamental`` frequency or ``hertz`` (neither above 0.45 of the sampling rate), or none.

    Examples
    --------
    >>> Uniform(0.5, 30, "cycles").at(0.0, {"frequency": 50.0, "cycles": 10.0, "sampling_rate": 25e3})
    0.2
    """

    low: float
    high: float
    unit: Unit = ""

    def at(self, u: float, values: Mapping[str, float]) -> float:
        """Return the value at the quantile `u`."""
        low, high = _range_bounds(self.low, self.high, self.unit, values)
        return high - (high - low) * u


@dataclass(frozen=True)
class LogUniform(Uniform):
    """Uniform in the logarithm over (low, high]; see :class:`Uniform` for the units."""

    def at(self, u: float, values: Mapping[str, float]) -> float:
        """Return the value at the quantile `u`."""
        from pqswarm._kernels.math import exponential, logarithm

        low, high = _range_bounds(self.low, self.high, self.unit, values)
        return high * float(exponential(-logarithm(high / low) * u))


@dataclass(frozen=True)
class Steps:
    """One of several equally spaced values from low to high, all equally likely.

    Values that the record cannot hold are not drawn.

    Parameters
    ----------
    low, high : float
        The first and the last value, in `unit`.
    number : int
        Number of values, both ends included.
    unit : str, default=""
        See :class:`Uniform`.

    Examples
    --------
    >>> half_cycles = Steps(0.5, 30, 60, "cycles")
    >>> [half_cycles.at(u, {"frequency": 50.0, "cycles": 30.0, "sampling_rate": 25e3}) for u in (0.0, 0.02, 0.99)]
    [0.01, 0.02, 0.6]
    """

    low: float
    high: float
    number: int
    unit: Unit = ""

    def __post_init__(self) -> None:
        check_integer("number of Steps", self.number, 2)
        if not self.low < self.high:
            raise PqswarmError(f"low of Steps must be below high, not {self.low!r} and {self.high!r}.")

    def at(self, u: float, values: Mapping[str, float]) -> float:
        """Return the value at the quantile `u`."""
        scale, limit = _range_unit_scale(self.low, self.high, self.unit, values)
        width = self.high - self.low
        last = self.number - 1
        if self.high * scale > limit:
            # A value that is the limit but for rounding belongs to those that fit.
            last = min(last, int((limit / scale - self.low) / width * last * (1.0 + 1e-12) + 1e-9))
        return min((self.low + width * int(u * (last + 1)) / (self.number - 1)) * scale, limit)


@dataclass(frozen=True)
class OneOf:
    """One of those options, in `unit` (see :class:`Uniform`), that the record can hold, all equally likely."""

    options: tuple[float, ...]
    unit: Unit = ""

    def __post_init__(self) -> None:
        if not self.options:
            raise PqswarmError("options of OneOf must hold at least one value.")

    def at(self, u: float, values: Mapping[str, float]) -> float:
        """Return the option at the quantile `u`."""
        scale, limit = _range_unit_scale(min(self.options), max(self.options), self.unit, values)
        fitting = [option for option in self.options if option * scale <= limit * (1.0 + 1e-12)]
        return min(fitting[int(u * len(fitting))] * scale, limit)


@dataclass(frozen=True)
class NameIndex:
    """The index, from 1, of one of several names, all equally likely; see :func:`spectrum_ranges`."""

    names: tuple[str, ...]

    def at(self, u: float, values: Mapping[str, float]) -> float:  # noqa: ARG002 (a range's signature)
        """Return the number of the name at the quantile `u`."""
        return 1.0 + int(u * len(self.names))


@dataclass(frozen=True)
class IndexedBy:
    """The option at the index, from 1, that another parameter holds; see :func:`spectrum_ranges`."""

    name: str
    options: tuple[float, ...]

    def at(self, u: float, values: Mapping[str, float]) -> float:  # noqa: ARG002 (a range's signature)
        """Return the option of the other parameter's number."""
        number = values[self.name]
        if number not in range(1, len(self.options) + 1):
            raise PqswarmError(f"{self.name} must be an integer from 1 to {len(self.options)}, not {number:g}.")
        return self.options[int(number) - 1]


@dataclass(frozen=True)
class WithinRecord:
    """The start of a window, uniform over all positions inside the record.

    Parameters
    ----------
    duration : str, default="duration"
        The parameter that holds the length of the window [s].
    before : str or None, default=None
        The parameter that holds the latest end of the window [s]; by default the end of the record.
    margin : float, default=0.0
        Time left after the window [cycles].
    """

    duration: str = "duration"
    before: str | None = None
    margin: float = 0.0

    def at(self, u: float, values: Mapping[str, float]) -> float:
        """Return the start at the quantile `u`."""
        end = record_length(values) if self.before is None else values[self.before]
        space = end - values[self.duration] - self.margin / values["frequency"]
        return max(space, 0.0) * u


@dataclass(frozen=True)
class EqualTo:
    """The value of another parameter, drawn earlier."""

    name: str

    def at(self, u: float, values: Mapping[str, float]) -> float:  # noqa: ARG002 (a range's signature)
        """Return the other parameter's value."""
        return values[self.name]


@dataclass(frozen=True)
class Fixed:
    """A fixed value."""

    value: float

    def at(self, u: float, values: Mapping[str, float]) -> float:  # noqa: ARG002 (a range's signature)
        """Return the value."""
        return self.value


def spectrum_ranges(spectra: Mapping[str, Mapping[str, float]]) -> dict[str, Range]:
    """Return the ranges of an event whose harmonics follow one of several spectra, all equally likely.

    The event has a parameter `spectrum`, the index of its spectrum in the given order, and the four amplitudes that
    follow from it.

    Parameters
    ----------
    spectra : mapping of str to mapping
        For each spectrum its name and the amplitudes `h5`, `h7`, `h11` and `h13` [pu]; missing ones are zero.

    Returns
    -------
    dict of str to Range
        The ranges of `spectrum`, `h5`, `h7`, `h11` and `h13`, to be added to those of a class.

    Examples
    --------
    >>> ranges = spectrum_ranges({"six_pulse": {"h5": 0.2, "h7": 0.14}, "twelve_pulse": {"h11": 0.09, "h13": 0.077}})
    >>> ranges["h5"].at(0.0, {"spectrum": 2.0})
    0.0
    """
    if not spectra:
        raise PqswarmError("spectra must have at least one spectrum.")
    tables = [
        check_parameters(table, dict.fromkeys(HARMONICS), f"spectrum {name!r}") for name, table in spectra.items()
    ]
    matching = {order: IndexedBy("spectrum", tuple(table.get(order, 0.0) for table in tables)) for order in HARMONICS}
    return {"spectrum": NameIndex(tuple(spectra)), **matching}


def draw_parameters(ranges: Mapping[str, Range], uniforms: list[float], given: Mapping[str, float]) -> dict[str, float]:
    """Turn one uniform number of [0, 1) per range into a value, in order; `given` values replace drawn ones."""
    values: dict[str, float] = {}
    for (name, spec), u in zip(ranges.items(), uniforms, strict=True):
        values[name] = given[name] if name in given else spec.at(u, values)
    return values


_UNIT_DEPENDENCIES = {
    "cycles": ("frequency", "cycles"),
    "cycles left": ("frequency", "cycles", "start"),
    "notch periods": ("frequency", "cycles", "notches_per_cycle"),
    "record": ("frequency", "cycles"),
    "fundamental": ("frequency", "sampling_rate"),
    "hertz": ("sampling_rate",),
}
"""The parameters that must be drawn before a range in a unit."""


def _range_dependencies(spec: Range) -> tuple[str, ...]:
    """The parameters that must be drawn before this range."""
    match spec:
        case EqualTo(name) | IndexedBy(name):
            return (name,)
        case WithinRecord(duration, None):
            return ("frequency", "cycles", duration)
        case WithinRecord(duration, str(before)):
            return ("frequency", "cycles", duration, before)
    return _UNIT_DEPENDENCIES.get(getattr(spec, "unit", ""), ())


def order_ranges(ranges: Mapping[str, Range], drawn: Iterable[str] = ()) -> dict[str, Range]:
    """Return the ranges in order, each after those that it depends on; `drawn` are drawn before all."""
    needed = {name: _range_dependencies(spec) for name, spec in ranges.items()}
    done = set(drawn)
    for name, others in needed.items():
        for other in others:
            if other not in ranges and other not in done:
                raise PqswarmError(f"{name} depends on {other}, which is not drawn: give {other} a range.")
    ordered: dict[str, Range] = {}
    while needed:
        free = next((name for name, others in needed.items() if done.issuperset(others)), None)
        if free is None:
            raise PqswarmError(f"{' and '.join(needed)} depend on each other: give one of them an independent range.")
        ordered[free] = ranges[free]
        done.add(free)
        del needed[free]
    return ordered


RANGES: dict[str, Any] = {
    "uniform": Uniform,
    "log_uniform": LogUniform,
    "steps": Steps,
    "choice": OneOf,
    "inside": WithinRecord,
    "same": EqualTo,
}
"""Ranges by their key in a preset file, as in ``{ uniform = [0.5, 30], unit = "cycles" }``."""


def range_from_table(given: Any) -> Range:
    """Return the range that a preset file describes, unchecked; a number is a fixed value."""
    if not isinstance(given, Mapping):
        return Fixed(given)
    options = dict(given)
    keyword = next(key for key in RANGES if key in options)
    value = options.pop(keyword)
    if keyword == "choice":
        return OneOf(tuple(value), **options)
    ends = value if isinstance(value, list) else [value]
    spec: Range = RANGES[keyword](*ends, **options)
    return spec


def range_to_table(spec: Range) -> Any:
    """Return a range as it is written in a preset file."""
    if isinstance(spec, Fixed | NameIndex):
        return _plain_range_value(*vars(spec).values())
    keyword = next((key for key, kind in RANGES.items() if type(spec) is kind), None)
    if keyword is None:
        raise PqswarmError(f"a range of type {type(spec).__name__} cannot be written to a file.")
    values = {name: _plain_range_value(value) for name, value in vars(spec).items()}
    first = values.pop(next(iter(values)))
    table = {keyword: [first, values.pop("high")] if "high" in values else first}
    return table | {name: value for name, value in values.items() if value}


def _plain_range_value(value: Any) -> Any:
    """A value as in a file: lists, and integers without a decimal point."""
    if isinstance(value, tuple):
        return [_plain_range_value(member) for member in value]
    if isinstance(value, str) or value is None:
        return value
    return int(value) if isfinite(value) and float(value).is_integer() and abs(value) < 1e15 else float(value)
