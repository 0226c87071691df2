"""Presets: the ranges of the parameters of events, as plain data, by name.

It holds the ranges common to all events (record and supply) and those of each class, which override common ones of
the same name. Make your own with :meth:`Preset.fixed`, :meth:`Preset.with_classes` or :func:`dataclasses.replace`.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from os import PathLike, fspath
from typing import Any

from pqswarm._base.checks import check_name, is_finite
from pqswarm._base.registry import Registry
from pqswarm.errors import PqswarmError, shorten
from pqswarm.events.parameters import Fixed, Range, check_parameters, order_ranges, range_from_table, spectrum_ranges

Ranges = dict[str, Range]

SOURCES: tuple[str, ...] = ("model", "bench")
"""Sources of events: the parametric models of Table 1, and the simulated test bench."""


@dataclass(frozen=True)
class Preset:
    """The ranges from which events are drawn.

    Parameters
    ----------
    name : str
        Name, which data sets store.
    common : mapping of str to Range
        Ranges of the record and of the supply, the same for every class.
    models : mapping of str to mapping
        For each event class the ranges of its parametric model; these are the classes of the preset.
    bench : mapping of str to mapping
        For each class that the simulated test bench can produce, the ranges of the circuit.
    bench_fraction : float or mapping of str to float, default=0.1
        Fraction of all events that come from the bench, spread evenly over the classes that it produces; or for each
        of these classes the fraction of its events.

    Examples
    --------
    >>> from pqswarm.events import PRESETS
    >>> PRESETS["paper"].ranges("sag")["depth"]
    Uniform(low=0.1, high=0.9, unit='')
    """

    name: str
    common: Mapping[str, Range]
    models: Mapping[str, Mapping[str, Range]]
    bench: Mapping[str, Mapping[str, Range]]
    bench_fraction: float | Mapping[str, float] = 0.1

    def __post_init__(self) -> None:
        fraction = self.bench_fraction
        if isinstance(fraction, Mapping):
            owner = f"class of the bench of preset {self.name!r}"
            fraction = {
                check_name(owner, label, self.bench): _checked_bench_fraction(f"fraction.{label}", part)
                for label, part in fraction.items()
            }
        else:
            most = len(self.bench) / len(self.models) if self.bench else 1.0
            why = f", as {len(self.bench)} of {len(self.models)} classes come from the bench" if self.bench else ""
            fraction = _checked_bench_fraction("fraction", fraction, most, why)
        object.__setattr__(self, "bench_fraction", fraction)

    def fraction_from_bench(self, event_class: str) -> float:
        """Return the fraction of the events of a class that come from the bench."""
        if event_class not in self.bench:
            return 0.0
        if isinstance(self.bench_fraction, Mapping):
            return self.bench_fraction.get(event_class, 0.0)
        return self.bench_fraction * len(self.classes) / len(self.bench)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of its event classes, in order."""
        return tuple(self.models)

    def ranges(self, event_class: str, source: str = "model") -> dict[str, Range]:
        """Return the ranges of all parameters of an event, in the order in which they are drawn."""
        check_name("event class", event_class, self.classes)
        check_name("source", source, SOURCES)
        classes = self.models if source == "model" else self.bench
        if event_class not in classes:
            raise PqswarmError(
                f"the {source} of preset {self.name!r} cannot produce {event_class!r}; "
                f"it produces {', '.join(classes)}."
            )
        return {**self.common, **classes[event_class]}

    def fixed(self, **values: float) -> "Preset":
        """Return a copy in which some common parameters are fixed.

        These are `sampling_rate` [Hz], `frequency` [Hz], `cycles`, `amplitude` [pu], and all others that its classes
        share.

        Examples
        --------
        >>> from pqswarm.events import PRESETS
        >>> PRESETS["paper"].fixed(frequency=60).common["frequency"]
        Fixed(value=60.0)
        """
        checked = check_parameters(values, self.common, f"all classes of preset {self.name}")
        ranges = {key: Fixed(value) for key, value in checked.items()}

        def with_fixed(classes: Mapping[str, Mapping[str, Range]]) -> dict[str, Ranges]:
            return {label: {key: ranges.get(key, own[key]) for key in own} for label, own in classes.items()}

        return replace(
            self,
            name=", ".join([self.name, *(f"{key}={value:g}" for key, value in checked.items())]),
            common={**self.common, **ranges},
            models=with_fixed(self.models),
            bench=with_fixed(self.bench),
        )

    def with_classes(self, classes: Iterable[str]) -> "Preset":
        """Return a copy with some of the classes, in the order of the preset; their events do not change.

        Examples
        --------
        >>> from pqswarm.events import PRESETS
        >>> PRESETS["paper"].with_classes(["swell", "sag"]).classes
        ('sag', 'swell')
        """
        wanted = [check_name(f"event class of preset {self.name!r}", name, self.classes) for name in classes]
        if not wanted or len(set(wanted)) < len(wanted) or isinstance(classes, str):
            raise PqswarmError(f"classes must name at least one event class, each once, not {classes!r}.")
        if len(wanted) == len(self.classes):
            return self
        bench = {name: ranges for name, ranges in self.bench.items() if name in wanted}
        # The number of events from the bench does not change.
        fraction: float | dict[str, float]
        if isinstance(self.bench_fraction, Mapping):
            fraction = {name: self.fraction_from_bench(name) for name in bench}
        else:
            fraction = (
                self.bench_fraction * len(bench) / len(self.bench) * len(self.classes) / len(wanted) if bench else 0.0
            )
        return replace(
            self,
            name=f"{self.name}, {len(wanted)} classes",
            models={name: ranges for name, ranges in self.models.items() if name in wanted},
            bench=bench,
            bench_fraction=fraction,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the preset as nested plain values, for manifests and reports."""

        def plain(ranges: Mapping[str, Range]) -> dict[str, Any]:
            return {name: {"range": type(spec).__name__, **asdict(spec)} for name, spec in ranges.items()}  # type: ignore[call-overload]

        fraction = self.bench_fraction
        return {
            "name": self.name,
            "common": plain(self.common),
            "models": {event_class: plain(ranges) for event_class, ranges in self.models.items()},
            "bench": {event_class: plain(ranges) for event_class, ranges in self.bench.items()},
            "bench_fraction": dict(fraction) if isinstance(fraction, Mapping) else fraction,
        }


def _checked_bench_fraction(what: str, fraction: object, most: float = 1.0, why: str = "") -> float:
    if is_finite(fraction) and 0.0 <= fraction <= most + 1e-9:
        return float(fraction)
    limits = f"a number from 0 to {most:.4g}{why}"
    raise PqswarmError(f"{what} of events from the bench must be {limits}, not {shorten(repr(fraction))}.")


@cache
def _built_in_preset(name: str) -> Preset:
    """Read a file of the package, which is known to be right: neither checks nor pydantic."""
    table = tomllib.loads((files("pqswarm.events") / "preset_files" / f"{name}.toml").read_text(encoding="utf-8"))
    base = _built_in_preset(table.pop("extends")) if "extends" in table else Preset(name, {}, {}, {})
    spectra = table.pop("spectra", {})

    def merge(old: Mapping[str, Range], own: Mapping[str, Any], drawn: Iterable[str]) -> Ranges:
        ranges = dict(old)
        for key, given in own.items():
            ranges |= spectrum_ranges(spectra) if key == "spectrum" else {key: range_from_table(given)}
        return order_ranges(ranges, drawn)

    def merge_classes(old: Mapping[str, Mapping[str, Range]], own: Mapping[str, Any]) -> dict[str, Ranges]:
        return {label: merge(old.get(label, {}), own.get(label, {}), common) for label in {**old, **own}}

    common = merge(base.common, table.pop("common", {}), ())
    bench = table.pop("bench", {})
    fraction = bench.pop("fraction", base.bench_fraction)
    return Preset(name, common, merge_classes(base.models, table), merge_classes(base.bench, bench), fraction)


PRESETS: Registry[Preset] = Registry(
    "preset",
    Preset,
    map(_built_in_preset, ("paper", "paper-grid", "paper-printed", "field", "field-extended")),
)
"""Presets by name."""


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
        from pqswarm.events.preset_file import load_preset

        return load_preset(fspath(preset))
    return PRESETS.find(preset)
