"""Presets by name: built-in ones, read from the folder ``preset_files``, and plugins."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from os import PathLike, fspath
from typing import Any

from pqswarm._base.registry import Registry
from pqswarm.events.parameters import (
    EqualTo,
    Fixed,
    LogUniform,
    OneOf,
    Range,
    Steps,
    Uniform,
    WithinRecord,
    in_order,
    spectrum_ranges,
)
from pqswarm.events.preset import Preset, Ranges


def _built_in_range(given: Any) -> Range:
    """A range of a file that is known to be right: neither checks nor pydantic."""
    match given:
        case {"uniform": (low, high)}:
            return Uniform(low, high, given.get("unit", ""))
        case {"log_uniform": (low, high)}:
            return LogUniform(low, high, given.get("unit", ""))
        case {"steps": (low, high), "number": number}:
            return Steps(low, high, number, given.get("unit", ""))
        case {"choice": options}:
            return OneOf(tuple(options))
        case {"inside": duration}:
            return WithinRecord(duration, given.get("before"), given.get("margin", 0.0))
        case {"same": name}:
            return EqualTo(name)
    return Fixed(given)


@cache
def _built_in_preset(name: str) -> Preset:
    table = tomllib.loads((files("pqswarm.events") / "preset_files" / f"{name}.toml").read_text(encoding="utf-8"))
    base = _built_in_preset(table.pop("extends")) if "extends" in table else Preset(name, {}, {}, {})
    spectra = table.pop("spectra", {})

    def merge(old: Mapping[str, Range], own: Mapping[str, Any], drawn: Mapping[str, Range]) -> Ranges:
        ranges = dict(old)
        for key, given in own.items():
            ranges |= spectrum_ranges(spectra) if key == "spectrum" else {key: _built_in_range(given)}
        return in_order(ranges, drawn)

    common = merge(base.common, table.pop("common", {}), {})
    bench = table.pop("bench", {})
    fraction = bench.pop("fraction", base.bench_fraction)

    def merge_all(old: Mapping[str, Mapping[str, Range]], own: Mapping[str, Mapping[str, Any]]) -> dict[str, Ranges]:
        return {label: merge(old.get(label, {}), own.get(label, {}), common) for label in {**old, **own}}

    return Preset(name, common, merge_all(base.models, table), merge_all(base.bench, bench), fraction)


PRESETS: Registry[Preset] = Registry(
    "preset",
    "pqswarm.presets",
    Preset,
    map(_built_in_preset, ("paper", "paper-grid", "paper-printed", "field", "field-extended")),
)
"""Presets by name: built-in ones and plugins."""


def get_preset(preset: str | PathLike[str] | Preset) -> Preset:
    """Return a preset by its name in :data:`PRESETS`, or from a file by :func:`load_preset`; a preset stays as it is.

    Examples
    --------
    >>> get_preset("field").name
    'field'
    """
    if isinstance(preset, Preset):
        return preset
    if isinstance(preset, PathLike) or (isinstance(preset, str) and preset.endswith(".toml")):
        from pqswarm.events.presetfile import load_preset

        return load_preset(fspath(preset))
    return PRESETS.find(preset)
