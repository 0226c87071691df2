"""Ranges: how the parameters of an event are drawn.

A preset maps parameter names to *ranges*. A range turns a uniform number `u` of [0, 1) and the values
drawn before it into a value. It draws nothing itself: fixing one parameter leaves all others unchanged.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal, Protocol

from pqswarm._base.checks import check_integer
from pqswarm.errors import PqswarmError
from pqswarm.events.catalog import HARMONICS, check_parameters

Unit = Literal["", "cycles", "cycles left", "notch periods", "record", "fundamental", "hertz"]


class Range(Protocol):
    """How a parameter is drawn."""

    def at(self, u: float, values: Mapping[str, float]) -> float:
        """Return the value at the quantile `u`, given the parameters drawn so far."""


def record_length(values: Mapping[str, float]) -> float:
    """Length of the record [s]."""
    return values["cycles"] / values["frequency"]


def _unit_scale(low: float, high: float, unit: Unit, values: Mapping[str, float]) -> tuple[float, float]:
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


def _bounds(low: float, high: float, unit: Unit, values: Mapping[str, float]) -> tuple[float, float]:
    """Convert the ends of a range to SI units and cut it to what the record can hold."""
    scale, limit = _unit_scale(low, high, unit, values)
    return low * scale, min(high * scale, limit)


@dataclass(frozen=True)
class Uniform:
    """Uniform over (low, high].

    Parameters
    ----------
    low, high : float
        The ends, in `unit`.
    unit : str
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
        low, high = _bounds(self.low, self.high, self.unit, values)
        return high - (high - low) * u


@dataclass(frozen=True)
class LogUniform:
    """Uniform in the logarithm over (low, high]; see :class:`Uniform` for the units."""

    low: float
    high: float
    unit: Unit = ""

    def at(self, u: float, values: Mapping[str, float]) -> float:
        """Return the value at the quantile `u`."""
        from pqswarm._kernels.math import exponential, logarithm

        low, high = _bounds(self.low, self.high, self.unit, values)
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
    unit : str
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
        scale, limit = _unit_scale(self.low, self.high, self.unit, values)
        width, last = self.high - self.low, self.number - 1
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
        scale, limit = _unit_scale(min(self.options), max(self.options), self.unit, values)
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
    duration : str
        The parameter that holds the length of the window [s].
    before : str or None
        The parameter that holds the latest end of the window [s]; by default the end of the record.
    margin : float
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


def draw(ranges: Mapping[str, Range], uniforms: list[float], given: Mapping[str, float]) -> dict[str, float]:
    """Turn one uniform number of [0, 1) per range into a value, in order; `given` values replace drawn ones."""
    values: dict[str, float] = {}
    for (name, spec), u in zip(ranges.items(), uniforms, strict=True):
        values[name] = given[name] if name in given else spec.at(u, values)
    return values


def _parameter_dependencies(spec: Range) -> tuple[str, ...]:
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
    """Return the ranges in order, each after those that it depends on; `drawn` are drawn before all."""
    rest, done = dict(ranges), dict.fromkeys(drawn)
    for name, spec in ranges.items():
        for other in _parameter_dependencies(spec):
            if other not in ranges and other not in done:
                raise PqswarmError(f"{name} depends on {other}, which is not drawn: give {other} a range.")
    sorted_ranges: dict[str, Range] = {}
    while rest:
        free = next((name for name, spec in rest.items() if done.keys() >= set(_parameter_dependencies(spec))), None)
        if free is None:
            raise PqswarmError(f"{' and '.join(rest)} depend on each other: give one of them an independent range.")
        sorted_ranges[free] = rest.pop(free)
        done[free] = None
    return sorted_ranges
