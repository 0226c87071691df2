"""Presets as TOML files: read, checked and written; docs/guides/presets.md describes the format."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pqswarm._base.checks import check_name, is_finite
from pqswarm._base.toml import explain_mistakes, parse_toml, read_toml_text, table_error, to_toml
from pqswarm.errors import PqswarmError, shorten
from pqswarm.events.bench import run_bench
from pqswarm.events.classes import EVENT_CLASSES, is_name
from pqswarm.events.event import check_event_draw
from pqswarm.events.parameters import (
    HARMONICS,
    PARAMETERS,
    RANGES,
    RECORD_PARAMETERS,
    SUPPLY_PARAMETERS,
    Fixed,
    IndexedBy,
    NameIndex,
    Parameter,
    Range,
    order_ranges,
    range_from_table,
    range_to_table,
    spectrum_ranges,
)
from pqswarm.events.preset import PRESETS, Preset, Ranges

if TYPE_CHECKING:
    from pydantic import BaseModel

_EVERYWHERE = (*RECORD_PARAMETERS, *SUPPLY_PARAMETERS)  # parameters of events of every class
_UNITS = {"s": ("cycles", "cycles left", "notch periods", "record"), "Hz": ("fundamental", "hertz")}
"""Other units in which a parameter in [s] or [Hz] may be given."""
_EXAMPLE = "{ uniform = [0.1, 0.9] }"


def load_preset(path: str | Path) -> Preset:
    """Read a preset from a TOML file.

    Parameters
    ----------
    path : str or Path
        The file. It lists the differences from the preset that it ``extends``, or everything.

    Returns
    -------
    Preset
        The preset, checked: every class has the parameters of its model, and every range is within its limits. Without
        a key ``name`` it is named after the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> text = '''
    ... extends = "paper"
    ... common = { frequency = 60 }
    ... sag = { depth = { uniform = [0.1, 0.5] } }
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "sixty.toml")
    ...     written = file.write_text(text)
    ...     preset = load_preset(file)
    >>> preset.name, preset.ranges("sag")["frequency"], preset.ranges("sag")["depth"]
    ('sixty', Fixed(value=60.0), Uniform(low=0.1, high=0.5, unit=''))
    """
    return _load_preset(Path(path), ())


def _load_preset(path: Path, via: tuple[Path, ...]) -> Preset:
    """Read a file; `via` are the files that extend it."""
    if path.resolve() in via:
        raise PqswarmError(f"{path}: extends: the file extends itself: name another preset.")
    try:
        table = parse_toml(read_toml_text(path), str(path))
    except FileNotFoundError:
        raise PqswarmError(
            f"there is no preset file {path}: `pqswarm preset show paper > {path.name}` writes one to edit."
        ) from None
    return read_preset(table, str(path), path.parent, path.stem, (*via, path.resolve()))


def read_preset(
    table: Mapping[str, Any],
    source: str = "",
    folder: Path | None = None,
    name: str = "own",
    via: tuple[Path, ...] = (),
) -> Preset:
    """Return the preset that the tables of a file describe; paths are relative to `folder`, messages name `source`."""
    from pydantic import ValidationError

    try:
        tables: Any = _preset_table_models()["preset"].model_validate(dict(table))
    except ValidationError as error:
        raise table_error(source, explain_mistakes(error, _preset_table_models()["preset"])) from None
    with _located_in_preset(source):
        base = _extended_preset(tables.extends, folder or Path(), via)
        return _PresetReader(tables, base, tables.name or name).read()


def _extended_preset(extends: str | None, folder: Path, via: tuple[Path, ...]) -> Preset:
    if extends is None:
        return Preset("", {}, {}, {}, 0.0)
    if extends.endswith(".toml"):
        return _load_preset(folder / extends, via)
    with _located_in_preset("extends"):
        check_name("preset", extends, (*PRESETS, "a path that ends in .toml"))
    return PRESETS[extends]


@contextmanager
def _located_in_preset(where: str) -> Iterator[None]:
    """Prefix errors with their place."""
    try:
        yield
    except PqswarmError as error:
        raise PqswarmError(f"{where}: {error}" if where else str(error)) from None


@cache
def _preset_table_models() -> "dict[str, type[BaseModel]]":
    """The tables of a file and of its ranges; pydantic is imported when the first file is read."""
    from typing import Annotated

    from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model, model_validator

    number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
    positive = Annotated[number, Field(gt=0)]
    ends = Annotated[list[number], Field(min_length=2, max_length=2)]
    positive_ends = Annotated[list[positive], Field(min_length=2, max_length=2)]
    options = Annotated[tuple[number, ...], Field(min_length=1)]
    unit = (Any, None)
    ranges: dict[str, dict[str, Any]] = {
        "uniform": {"uniform": (ends, ...), "unit": unit},
        "log_uniform": {"log_uniform": (positive_ends, ...), "unit": unit},
        "steps": {
            "steps": (ends, ...),
            "number": (Annotated[int, Field(strict=True, ge=2, le=1_000_000)], ...),
            "unit": unit,
        },
        "choice": {"choice": (options, ...), "unit": unit},
        "inside": {
            "inside": (str, ...),
            "before": (str | None, None),
            "margin": (Annotated[number, Field(ge=0)], 0.0),
        },
        "same": {"same": (str, ...)},
    }

    class WithClasses(BaseModel):
        """Keys, and a table for each of some event classes."""

        model_config = ConfigDict(extra="allow", frozen=True)
        __pydantic_extra__: dict[str, dict[str, Any]] = Field(init=False)

        @model_validator(mode="before")
        @classmethod
        def _check_keys(cls, given: Any) -> Any:
            known = (*cls.model_fields, *EVENT_CLASSES)
            for key in given if isinstance(given, Mapping) else ():
                check_name("key or event class", key, known)
            return given

    class Bench(WithClasses):
        fraction: Any = None

    text = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_preset_text)]
    names = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_check_preset_classes)]
    keys: dict[str, Any] = {
        "name": (text | None, None),
        "extends": (text | None, None),
        "classes": (names | None, None),
        "common": (dict[str, Any], {}),
        "spectra": (dict[Annotated[str, AfterValidator(_check_spectrum_name)], dict[str, Any]] | None, None),
        "bench": (Bench, Bench()),
    }
    strict = ConfigDict(extra="forbid", frozen=True)
    models = {keyword: create_model(keyword, __config__=strict, **fields) for keyword, fields in ranges.items()}
    return models | {"preset": create_model("preset", __base__=WithClasses, **keys)}


def _check_preset_text(text: str) -> str:
    if not text.isprintable():
        raise PqswarmError(f"must be printable text, not {shorten(repr(text))}")
    return text


def _check_preset_classes(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise PqswarmError(f"must name each event class once, not {list(names)}")
    return names


def _check_spectrum_name(name: str) -> str:
    if not is_name(name):
        raise PqswarmError(f"{shorten(repr(name))} must be lower-case letters, digits and underscores, at most 60")
    return name


def _read_preset_range(name: str, given: Any, allowed: Parameter) -> Range:
    """Return the range of a parameter, or raise an error that says what is wrong with it."""
    from pydantic import ValidationError

    if isinstance(given, int | float) and not isinstance(given, bool):
        return Fixed(inf if name == "snr" and given == inf else _check_range_limits(given, allowed))
    keyword = _preset_range_keyword(given)
    model = _preset_table_models()[keyword]
    try:
        table = model.model_validate(given).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise PqswarmError(" ".join(explain_mistakes(error, model))) from None
    if keyword == "inside" and allowed.unit != "s":
        raise PqswarmError(f"'inside' is only for times, and {name} is not a time: write {_EXAMPLE}.")
    if keyword in ("inside", "same"):
        return range_from_table(table)
    units = () if name in RECORD_PARAMETERS else _UNITS.get(allowed.unit, ())
    unit = check_name("unit", table.pop("unit", allowed.unit), (allowed.unit, *units))
    if unit in units:
        table["unit"] = unit
    values = table[keyword]
    for value in values if unit in (allowed.unit, "hertz") else ():  # others are checked when they are drawn
        _check_range_limits(value, allowed)
    if keyword != "choice" and not values[0] < values[1]:
        low, high = values
        raise PqswarmError(f"low must be below high, not {low:g} and {high:g}; a plain number is a fixed value.")
    return range_from_table(table)


def _preset_range_keyword(given: Any) -> str:
    """Return which range a table is."""
    if isinstance(given, list):
        text = shorten(repr(given))
        raise PqswarmError(f"a list can be a range or a choice: write {{ uniform = {text} }} or {{ choice = {text} }}.")
    if not isinstance(given, Mapping):
        raise PqswarmError(f"must be a number, or a range such as {_EXAMPLE}, not {shorten(repr(given))}.")
    keywords = [key for key in given if key in RANGES]
    if len(keywords) > 1:
        raise PqswarmError(f"has both {keywords[0]!r} and {keywords[1]!r}: keep one of the two.")
    unknown = next((key for key in given if key not in ("unit", "number")), None)
    if not keywords and unknown is None:
        raise PqswarmError(f"must have one of {', '.join(RANGES)}, as in {_EXAMPLE}.")
    return check_name("kind of range", keywords[0] if keywords else unknown, RANGES)


def _check_range_limits(value: float, allowed: Parameter) -> float:
    if not is_finite(value):
        raise PqswarmError(f"must be a finite number, not {shorten(repr(value))}.")
    if not allowed.low <= value <= allowed.high:
        raise PqswarmError(f"must lie from {allowed.low:g} to {allowed.high:g} [{allowed.unit}], not at {value:g}.")
    return float(value)


class _PresetReader:
    """Builds a preset from the tables of a file and the preset that it extends."""

    def __init__(self, tables: Any, base: Preset, name: str) -> None:
        self.name = name
        self.base = base
        self.own: Mapping[str, Mapping[str, Any]] = tables.__pydantic_extra__
        self.common: Mapping[str, Any] = tables.common
        self.bench: Mapping[str, Mapping[str, Any]] = tables.bench.__pydantic_extra__
        self.tables = tables
        self.spectra: Mapping[str, Mapping[str, float]] = tables.spectra or _preset_spectra(base)
        if self.tables.spectra is not None:
            with _located_in_preset("[spectra]"):
                spectrum_ranges(tables.spectra)
        single = next((name for name in HARMONICS if name in self.common), None)
        if single is not None and (self.tables.spectra is not None or "spectrum" in self.common):
            raise PqswarmError(f"[common] {single}: harmonics are also given by [spectra]: keep one of the two.")

    def read(self) -> Preset:
        """Return the preset."""
        base = self._chosen()
        with _located_in_preset("[common]"):
            common = self._common(base)
        models = {label: self._model(label, base) for label in dict.fromkeys((*base.models, *self.own))}
        if not models:
            raise PqswarmError('no event class: add a table such as [sag], or extends = "paper".')
        for label in self.bench:
            check_name("key of [bench]", label, ("fraction", *models))
        bench = {label: self._circuit(label, base) for label in models if label in base.bench or label in self.bench}
        fraction = base.bench_fraction if self.tables.bench.fraction is None else self.tables.bench.fraction
        with _located_in_preset("[bench]"):
            preset = Preset(self.name, common, models, bench, fraction)
        _check_preset_draws(preset)
        if self.name in PRESETS and preset != PRESETS[self.name]:
            raise PqswarmError(f"name: {self.name!r} is a preset with other ranges: give this one another name.")
        return preset

    def _chosen(self) -> Preset:
        """The extended preset, reduced to the listed classes."""
        if self.tables.classes is None:
            return self.base
        known = tuple(dict.fromkeys((*self.base.models, *self.own)))
        with _located_in_preset("classes"):
            for label in self.tables.classes:
                check_name("event class", label, known)
            for label in (*self.own, *self.bench):
                if label in known and label not in self.tables.classes:
                    raise PqswarmError(f"{label!r} has a table but is not listed: add it, or remove the table.")
        kept = [label for label in self.tables.classes if label in self.base.models]
        return self.base.with_classes(kept) if kept else replace(self.base, models={}, bench={}, bench_fraction=0.0)

    def _common(self, base: Preset) -> Ranges:
        """Ranges of record and supply; those of disturbances belong to the classes."""
        taken = {name for label in (*base.models, *self.own) for name in _parameters_of_class(label)[1]}
        for name in self.common:
            check_name("parameter", name, (*_EVERYWHERE, *sorted(taken)))
        given = {name: value for name, value in self.common.items() if name in _EVERYWHERE}
        ranges = {**base.common, **_read_preset_ranges(given, PARAMETERS)}
        for name in RECORD_PARAMETERS:
            if name not in ranges:
                raise PqswarmError(f'{name} is missing: add it, or extends = "paper".')
        return order_ranges(ranges)

    def _model(self, label: str, base: Preset) -> Ranges:
        required, taken = _parameters_of_class(label)
        own = self.own.get(label, {})
        catalog = EVENT_CLASSES[label].catalog
        ranges: Ranges = dict(base.models.get(label, {}))
        shared = {name: given for name, given in self.common.items() if name in ranges or name in taken}
        shared.pop("spectrum", None)
        with _located_in_preset("[common]"):
            ranges |= _read_preset_ranges(shared, catalog)
        with _located_in_preset(f"[{label}]"):
            spectrum = self._spectrum(own, taken)
            if spectrum:  # in place of the first harmonic
                ranges = {
                    key: value
                    for name, spec in ranges.items()
                    for key, value in (spectrum if name in spectrum else {name: spec}).items()
                }
            elif any(name in own or name in self.common for name in HARMONICS):
                ranges.pop("spectrum", None)
            for name in own:
                check_name(f"parameter of {label}", name, (*taken, *_EVERYWHERE))
            ranges |= _read_preset_ranges(own, catalog, spectrum) | spectrum
            return self._complete(ranges, required)

    def _spectrum(self, own: Mapping[str, Any], taken: tuple[str, ...]) -> Ranges:
        """The ranges of the spectra of a class; none if its harmonics are given one by one, or inherited."""
        single = next((name for name in HARMONICS if name in own), None)
        if "spectrum" not in taken:
            return {}
        if single is not None and "spectrum" in own:
            raise PqswarmError(f"has both spectrum and {single}: keep one of the two.")
        if single is not None or not (
            self.tables.spectra is not None or "spectrum" in own or "spectrum" in self.common
        ):
            return {}
        names = own.get("spectrum", self.common.get("spectrum", list(self.spectra)))
        with _located_in_preset("spectrum"):
            if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
                raise PqswarmError(f"must be a list of names of [spectra], not {names!r}.")
            for name in names:
                check_name("spectrum", name, self.spectra)
        return spectrum_ranges({name: self.spectra[name] for name in names})

    def _circuit(self, label: str, base: Preset) -> Ranges:
        required, taken = _model_keywords(run_bench)
        own = self.bench.get(label, {})
        ranges: Ranges = dict(base.bench.get(label, {}))
        # Common parameters of record and supply apply to the bench, too; those of faults and banks do not.
        shared = {name: given for name, given in self.common.items() if name in ranges and name in _EVERYWHERE}
        with _located_in_preset(f"[bench.{label}]"):
            for name in own:
                check_name("parameter of the bench", name, (*taken, *_EVERYWHERE))
            ranges |= _read_preset_ranges({**shared, **own}, PARAMETERS)
            return self._complete(ranges, required)

    def _complete(self, ranges: Ranges, required: tuple[str, ...]) -> Ranges:
        """The ranges in order, unless a required one is missing."""
        missing = next((name for name in required if name not in ranges), None)
        if missing is not None:
            raise PqswarmError(
                f'{missing} is missing: give it a range, or start from another preset with extends = "...".'
            )
        return order_ranges(ranges, {**self.base.common, **self.common})


def _read_preset_ranges(
    given: Mapping[str, Any], catalog: Mapping[str, Parameter], spectrum: Ranges | None = None
) -> Ranges:
    ranges: Ranges = {}
    for name, value in given.items():
        with _located_in_preset(name):
            ranges |= (
                spectrum if name == "spectrum" and spectrum else {name: _read_preset_range(name, value, catalog[name])}
            )
    return ranges


def _model_keywords(function: Callable[..., object]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Required and possible parameters of a function."""
    skipped = ("grid", "nominal_frequency", "oversampling")
    parameters = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in skipped
    ]
    required = tuple(parameter.name for parameter in parameters if parameter.default is parameter.empty)
    return required, tuple(parameter.name for parameter in parameters)


def _parameters_of_class(label: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Required and possible parameters of the model of a class."""
    event_class = EVENT_CLASSES[label]
    required, taken = _model_keywords(event_class.model)
    taken = tuple(dict.fromkeys((*taken, *event_class.parameters)))
    return required, (*taken, "spectrum") if set(HARMONICS) <= set(taken) else taken


def _check_preset_draws(preset: Preset) -> None:
    """Draw both ends of every range, and refuse impossible events."""
    for source, prefix, classes in (("model", "", preset.models), ("bench", "bench.", preset.bench)):
        for label in classes:
            with _located_in_preset(f"[{prefix}{label}]"):
                ranges = preset.ranges(label, source)
                if list(order_ranges(ranges)) != list(ranges):
                    raise PqswarmError("parameters of record and supply cannot depend on those of the disturbance.")
                for u in (0.0, 1.0 - 2.0**-53):
                    check_event_draw(label, ranges, [u] * len(ranges))


def _preset_spectra(preset: Preset) -> dict[str, Mapping[str, float]]:
    """The spectra of the classes of a preset."""
    spectra: dict[str, Mapping[str, float]] = {}
    for ranges in preset.models.values():
        named = ranges.get("spectrum")
        amplitudes = {order: spec.options for order in HARMONICS if isinstance(spec := ranges.get(order), IndexedBy)}
        for number, name in enumerate(named.names if isinstance(named, NameIndex) else ()):
            series = {order: options[number] for order, options in amplitudes.items()}
            if spectra.setdefault(name, series) != series:
                raise PqswarmError(f"spectrum {name!r} differs between classes: rename one of the two.")
    return spectra


def write_preset(preset: Preset) -> dict[str, Any]:
    """Return a complete preset as the tables of a file."""

    def plain(ranges: Mapping[str, Range]) -> dict[str, Any]:
        return {name: range_to_table(spec) for name, spec in ranges.items() if not isinstance(spec, IndexedBy)}

    spectra = _preset_spectra(preset)
    return {
        "name": preset.name,
        "common": plain(preset.common),
        **({"spectra": spectra} if spectra else {}),
        **{label: plain(ranges) for label, ranges in preset.models.items()},
        "bench": {
            "fraction": preset.bench_fraction,
            **{label: plain(ranges) for label, ranges in preset.bench.items()},
        },
    }


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
        circuits = {label: circuit for label, circuit in content.items() if key == "bench" and label != "fraction"}
        plain = {name: value for name, value in content.items() if name not in circuits}
        lines += ["", f"[{prefix}{key}]", *_preset_toml_lines(plain, {} if key == "spectra" else catalog)]
        for label, circuit in circuits.items():
            lines += ["", f"[{prefix}bench.{label}]", *_preset_toml_lines(circuit, PARAMETERS)]
    return lines


def _preset_toml_lines(content: Mapping[str, Any], catalog: Mapping[str, Parameter]) -> list[str]:
    """A line for each parameter with its meaning, and its unit unless the range has another."""
    comments = {"spectrum": "  # names of [spectra], all equally likely", "fraction": "  # of all events"}
    lines = []
    for name, value in content.items():
        comment = comments.get(name, "")
        if not comment and name in catalog:
            unit = catalog[name].unit
            own_unit = isinstance(value, Mapping) and value.keys() & {"unit", "inside", "same"}
            comment = f"  # {catalog[name].meaning}" + ("" if unit == "1" or own_unit else f" [{unit}]")
        lines.append(f"{name} = {to_toml(value)}{comment}")
    return lines
