"""Write a preset as TOML; :mod:`pqswarm.events.presetfile` reads it."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from pqswarm._base.toml import to_toml
from pqswarm.errors import PqswarmError
from pqswarm.events.catalog import HARMONICS, PARAMETERS, Parameter
from pqswarm.events.classes import EVENT_CLASSES
from pqswarm.events.parameters import (
    EqualTo,
    Fixed,
    IndexedBy,
    LogUniform,
    NameIndex,
    OneOf,
    Range,
    Steps,
    Uniform,
    WithinRecord,
)
from pqswarm.events.preset import Preset


def spectra_of(preset: Preset) -> dict[str, Mapping[str, float]]:
    """Return the spectra of the classes of a preset."""
    spectra: dict[str, Mapping[str, float]] = {}
    for ranges in preset.models.values():
        named = ranges.get("spectrum")
        for number, name in enumerate(named.names if isinstance(named, NameIndex) else ()):
            series = {
                order: spec.options[number] for order in HARMONICS if isinstance(spec := ranges[order], IndexedBy)
            }
            if spectra.setdefault(name, series) != series:
                raise PqswarmError(f"spectrum {name!r} differs between classes: rename one of the two.")
    return spectra


def write_preset(preset: Preset) -> dict[str, Any]:
    """Return a complete preset as the tables of a file."""

    def plain(ranges: Mapping[str, Range]) -> dict[str, Any]:
        return {name: _write_range(spec) for name, spec in ranges.items() if not isinstance(spec, IndexedBy)}

    spectra = spectra_of(preset)
    return {
        "name": preset.name,
        "common": plain(preset.common),
        **({"spectra": {name: dict(series) for name, series in spectra.items()}} if spectra else {}),
        **{label: plain(ranges) for label, ranges in preset.models.items()},
        "bench": {
            "fraction": preset.bench_fraction,
            **{label: plain(ranges) for label, ranges in preset.bench.items()},
        },
    }


def _write_range(spec: Range) -> Any:
    """Return a range as it is written in a file."""
    match spec:
        case Fixed(value):
            return _preset_text_number(value)
        case Uniform(low, high, unit):
            table: dict[str, Any] = {"uniform": [_preset_text_number(low), _preset_text_number(high)], "unit": unit}
        case LogUniform(low, high, unit):
            table = {"log_uniform": [_preset_text_number(low), _preset_text_number(high)], "unit": unit}
        case Steps(low, high, number, unit):
            table = {"steps": [_preset_text_number(low), _preset_text_number(high)], "number": number, "unit": unit}
        case OneOf(options, unit):
            table = {"choice": [_preset_text_number(option) for option in options], "unit": unit}
        case WithinRecord(duration, before, margin):
            table = {"inside": duration, "before": before or "", "margin": _preset_text_number(margin) or ""}
        case EqualTo(name):
            table = {"same": name}
        case NameIndex(names):
            return list(names)
        case _:
            raise PqswarmError(f"a range of type {type(spec).__name__} cannot be written to a file.")
    return {key: value for key, value in table.items() if value != ""}


def _preset_text_number(value: float) -> float:
    return int(value) if isfinite(value) and float(value).is_integer() and abs(value) < 1e15 else float(value)


def format_preset(preset: Preset) -> str:
    r"""Return a preset as TOML, with the unit and the meaning of every parameter; :func:`load_preset` reads it.

    Examples
    --------
    >>> from pqswarm.events import PRESETS
    >>> print(*format_preset(PRESETS["paper"]).splitlines()[:5], sep="\n")
    name = "paper"
    <BLANKLINE>
    [common]
    sampling_rate = 25000  # samples per second [Hz]
    frequency = 50  # nominal frequency of the grid [Hz]
    """
    return "\n".join(preset_lines(write_preset(preset))) + "\n"


def preset_lines(table: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return the TOML lines of what :func:`write_preset` returns; names of tables start with the prefix."""
    lines = [f"name = {to_toml(table['name'])}"]
    for key, content in table.items():
        if key == "name":
            continue
        catalog = EVENT_CLASSES[key].catalog if key in EVENT_CLASSES else PARAMETERS
        plain = {name: value for name, value in content.items() if key != "bench" or name == "fraction"}
        lines += ["", f"[{prefix}{key}]", *_toml_lines(plain, {} if key == "spectra" else catalog)]
        for label in (label for label in content if label not in plain):
            lines += ["", f"[{prefix}bench.{label}]", *_toml_lines(content[label], PARAMETERS)]
    return lines


def _toml_lines(content: Mapping[str, Any], catalog: Mapping[str, Parameter]) -> list[str]:
    return [f"{name} = {to_toml(value)}{_comment(name, value, catalog)}" for name, value in content.items()]


def _comment(name: str, value: object, catalog: Mapping[str, Parameter]) -> str:
    """The meaning of a parameter, and its unit unless the range has another."""
    if name in ("spectrum", "fraction"):
        return "  # names of [spectra], all equally likely" if name == "spectrum" else "  # of all events"
    if name not in catalog:
        return ""
    unit = catalog[name].unit
    shown = unit != "1" and not (isinstance(value, Mapping) and value.keys() & {"unit", "inside", "same"})
    return f"  # {catalog[name].meaning}{f' [{unit}]' if shown else ''}"
