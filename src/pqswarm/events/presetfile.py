"""Read presets from TOML files; docs/how/presets.md describes the format."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pqswarm._base.checks import is_finite
from pqswarm._base.toml import parse_toml, read_toml_text
from pqswarm.errors import PqswarmError, shorten, unknown_name
from pqswarm.events.bench import run_bench
from pqswarm.events.catalog import HARMONICS, PARAMETERS
from pqswarm.events.classes import EVENT_CLASSES
from pqswarm.events.event import RECORD_PARAMETERS, SUPPLY_PARAMETERS, check_event_draw
from pqswarm.events.parameters import Range, in_order, spectrum_ranges
from pqswarm.events.preset import Preset
from pqswarm.events.preset_text import spectra_of
from pqswarm.events.presets import PRESETS

if TYPE_CHECKING:
    from pqswarm.events.catalog import Parameter
    from pqswarm.events.preset_tables import PresetTable


_EVERYWHERE = (*RECORD_PARAMETERS, *SUPPLY_PARAMETERS)  # parameters of events of every class

Ranges = dict[str, Range]


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
    return _load_preset_file(Path(path), ())


def _load_preset_file(path: Path, via: tuple[Path, ...]) -> Preset:
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
    table: Mapping[str, Any], source: str = "", folder: Path | None = None, name: str = "own",
    via: tuple[Path, ...] = (),
) -> Preset:  # fmt: skip
    """Return the preset that the tables of a file describe; paths are relative to `folder`, messages name `source`."""
    from pqswarm.events.preset_tables import read_tables  # pydantic is imported when a file is read

    tables = read_tables(table, source)
    with _locate_preset_file_errors(source):
        return _PresetReader(tables, folder or Path(), name, via).read()


@contextmanager
def _locate_preset_file_errors(where: str) -> Iterator[None]:
    """Prefix errors with their place."""
    try:
        yield
    except PqswarmError as error:
        raise PqswarmError(f"{where}: {error}" if where else str(error)) from None


class _PresetReader:
    """Builds a preset from the tables of a file and the preset that it extends."""

    def __init__(self, table: "PresetTable", folder: Path, name: str, via: tuple[Path, ...]) -> None:
        self.name = table.name or name
        self.own = table.__pydantic_extra__
        self.common, self.wanted = table.common, table.classes
        self.bench, self.fraction = table.bench.__pydantic_extra__, table.bench.fraction
        self.base = self._extended(table.extends, folder, via)
        self.spectra: Mapping[str, Mapping[str, float]] = table.spectra or spectra_of(self.base)
        self.spectra_given = table.spectra is not None
        if table.spectra is not None:
            with _locate_preset_file_errors("[spectra]"):
                spectrum_ranges(table.spectra)
        single = next((name for name in HARMONICS if name in self.common), None)
        if single is not None and (self.spectra_given or "spectrum" in self.common):
            raise PqswarmError(f"[common] {single}: harmonics are also given by [spectra]: keep one of the two.")

    def _extended(self, extends: str | None, folder: Path, via: tuple[Path, ...]) -> Preset:
        if extends is None:
            return Preset("", {}, {}, {}, 0.0)
        if extends.endswith(".toml"):
            return _load_preset_file(folder / extends, via)
        with _locate_preset_file_errors("extends"):
            if extends not in PRESETS:
                raise unknown_name("preset", extends, (*PRESETS, "a path that ends in .toml"))
        return PRESETS[extends]

    def read(self) -> Preset:
        """Return the preset."""
        base = self._chosen()
        with _locate_preset_file_errors("[common]"):
            common = self._common(base)
        models = {label: self._model(label, base) for label in dict.fromkeys((*base.models, *self.own))}
        if not models:
            raise PqswarmError('no event class: add a table such as [sag], or extends = "paper".')
        for label in self.bench:
            if label not in models:
                raise unknown_name("key of [bench]", label, ("fraction", *models))
        bench = {label: self._circuit(label, base) for label in models if label in base.bench or label in self.bench}
        made = Preset(self.name, common, models, bench, self._bench_fraction(base, bench, len(models)))
        _check_preset_file_draws(made)
        if self.name in PRESETS and made != PRESETS[self.name]:
            raise PqswarmError(f"name: {self.name!r} is a preset with other ranges: give this one another name.")
        return made

    def _chosen(self) -> Preset:
        """The extended preset, reduced to the listed classes."""
        if self.wanted is None:
            return self.base
        known = tuple(dict.fromkeys((*self.base.models, *self.own)))
        for label in self.wanted:
            if label not in known:
                with _locate_preset_file_errors("classes"):
                    raise unknown_name("event class", label, known)
        for label in (*self.own, *self.bench):
            if label in known and label not in self.wanted:
                raise PqswarmError(f"classes: {label!r} has a table but is not listed: add it, or remove the table.")
        kept = [label for label in self.wanted if label in self.base.models]
        return self.base.with_classes(kept) if kept else replace(self.base, models={}, bench={}, bench_fraction=0.0)

    def _common(self, base: Preset) -> Ranges:
        """Ranges of record and supply; those of disturbances belong to the classes."""
        ranges: Ranges = dict(base.common)
        taken = {name for label in (*base.models, *self.own) for name in _preset_file_class_parameters(label)[1]}
        for name, given in self.common.items():
            if name in _EVERYWHERE:
                with _locate_preset_file_errors(name):
                    ranges[name] = _read_range(name, given, PARAMETERS[name])
            elif name not in taken:
                raise unknown_name("parameter", name, (*_EVERYWHERE, *sorted(taken)))
        for name in RECORD_PARAMETERS:
            if name not in ranges:
                raise PqswarmError(f'{name} is missing: add it, or extends = "paper".')
        return in_order(ranges)

    def _model(self, label: str, base: Preset) -> Ranges:
        required, taken = _preset_file_class_parameters(label)
        own, catalog = self.own.get(label, {}), EVENT_CLASSES[label].catalog
        ranges: Ranges = dict(base.models.get(label, {}))
        for name, given in self.common.items():
            if name != "spectrum" and (name in ranges or name in taken):
                with _locate_preset_file_errors(f"[common] {name}"):
                    ranges[name] = _read_range(name, given, catalog[name])
        with _locate_preset_file_errors(f"[{label}]"):
            drawn = self._spectrum(own, taken)
            if drawn is not None:
                ranges = _replace_preset_file_harmonics(ranges, drawn)
            elif any(name in own or name in self.common for name in HARMONICS):
                ranges.pop("spectrum", None)
            for name, given in own.items():
                if name not in taken and name not in _EVERYWHERE:
                    raise unknown_name(f"parameter of {label}", name, (*taken, *_EVERYWHERE))
                with _locate_preset_file_errors(name):
                    new = drawn if name == "spectrum" else {name: _read_range(name, given, catalog[name])}
                ranges |= new or {}
            ranges |= drawn or {}
            _check_preset_file_complete(ranges, required)
            return in_order(ranges, base.common.keys() | self.common.keys())

    def _spectrum(self, own: Mapping[str, Any], taken: tuple[str, ...]) -> Ranges | None:
        """The ranges of the spectra of a class; None if its harmonics are given one by one, or inherited."""
        if "spectrum" not in taken:
            return None
        single = next((name for name in HARMONICS if name in own), None)
        if single is not None and "spectrum" in own:
            raise PqswarmError(f"has both spectrum and {single}: keep one of the two.")
        if single is not None or not (self.spectra_given or "spectrum" in own or "spectrum" in self.common):
            return None
        names = own.get("spectrum", self.common.get("spectrum", list(self.spectra)))
        with _locate_preset_file_errors("spectrum"):
            if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
                raise PqswarmError(f"must be a list of names of [spectra], not {names!r}.")
            for name in names:
                if name not in self.spectra:
                    raise unknown_name("spectrum", name, self.spectra)
        return spectrum_ranges({name: self.spectra[name] for name in names})

    def _circuit(self, label: str, base: Preset) -> Ranges:
        required, taken = _preset_file_keywords(run_bench)
        own = self.bench.get(label, {})
        ranges: Ranges = dict(base.bench.get(label, {}))
        # Common parameters of record and supply apply to the bench, too; those of faults and banks do not.
        for name, given in self.common.items():
            if name in ranges and name in _EVERYWHERE:
                ranges[name] = _read_range(name, given, PARAMETERS[name])
        with _locate_preset_file_errors(f"[bench.{label}]"):
            for name, given in own.items():
                if name not in taken and name not in _EVERYWHERE:
                    raise unknown_name("parameter of the bench", name, (*taken, *_EVERYWHERE))
                with _locate_preset_file_errors(name):
                    ranges[name] = _read_range(name, given, PARAMETERS[name])
            _check_preset_file_complete(ranges, required)
            return in_order(ranges, base.common.keys() | self.common.keys())

    def _bench_fraction(self, base: Preset, bench: Mapping[str, Ranges], n_classes: int) -> float | dict[str, float]:
        fraction, most = base.bench_fraction if self.fraction is None else self.fraction, len(bench) / n_classes
        if isinstance(fraction, Mapping):
            for label, own in fraction.items():
                if label not in bench:
                    raise unknown_name("class of [bench] fraction", label, bench)
                _check_fraction(f"[bench] fraction.{label}", own, 1.0, "")
            return {label: float(own) for label, own in fraction.items()}
        _check_fraction(
            "[bench] fraction", fraction, most, f", as {len(bench)} of {n_classes} classes come from the bench"
        )
        return float(fraction)


def _check_fraction(key: str, fraction: object, most: float, why: str) -> None:
    if not is_finite(fraction) or not 0.0 <= fraction <= most + 1e-9:
        raise PqswarmError(f"{key}: must be a number from 0 to {most:.4g}{why}, not {shorten(repr(fraction))}.")


def _read_range(name: str, given: object, allowed: "Parameter") -> Range:
    from pqswarm.events.preset_tables import read_preset_table_range

    return read_preset_table_range(name, given, allowed)


def _preset_file_keywords(function: Callable[..., object]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Required and possible parameters of a function."""
    known = [one for one in inspect.signature(function).parameters.values() if one.kind is one.KEYWORD_ONLY]
    skipped = ("grid", "nominal_frequency", "oversampling")
    return (
        tuple(one.name for one in known if one.default is one.empty and one.name not in skipped),
        tuple(one.name for one in known if one.name not in skipped),
    )


def _preset_file_class_parameters(label: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Required and possible parameters of the model of a class."""
    event_class = EVENT_CLASSES[label]
    required, taken = _preset_file_keywords(event_class.model)
    taken = tuple(dict.fromkeys((*taken, *event_class.parameters)))
    return required, (*taken, "spectrum") if set(HARMONICS) <= set(taken) else taken


def _replace_preset_file_harmonics(ranges: Ranges, drawn: Ranges) -> Ranges:
    """The ranges, with those of spectra in place of the first harmonic."""
    replaced: Ranges = {}
    for name, spec in ranges.items():
        replaced |= drawn if name in drawn else {name: spec}
    return replaced


def _check_preset_file_complete(ranges: Mapping[str, Range], required: tuple[str, ...]) -> None:
    missing = next((name for name in required if name not in ranges), None)
    if missing is not None:
        raise PqswarmError(f'{missing} is missing: give it a range, or start from another preset with extends = "...".')


def _check_preset_file_draws(preset: Preset) -> None:
    """Draw both ends of every range, and refuse impossible events."""
    for source, classes in (("model", preset.models), ("bench", preset.bench)):
        for label in classes:
            with _locate_preset_file_errors(f"[{label}]" if source == "model" else f"[bench.{label}]"):
                ranges = preset.ranges(label, source)
                if list(in_order(ranges)) != list(ranges):
                    raise PqswarmError("parameters of record and supply cannot depend on those of the disturbance.")
                for u in (0.0, 1.0 - 2.0**-53):
                    check_event_draw(label, ranges, [u] * len(ranges))
