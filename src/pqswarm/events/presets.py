"""Presets: which parameters the events of a data set have, as plain data.

A preset holds the ranges common to all events (record and supply) and those of each class, which
replace common ones of the same name. Make your own with :meth:`Preset.fixed`, :meth:`Preset.with_classes` or
:func:`dataclasses.replace`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from math import pi, sqrt
from os import PathLike, fspath
from typing import Any, Literal

from pqswarm._registry import Registry
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.events.parameters import Choice, Fixed, Inside, LogUniform, Range, Same, Uniform, check_parameters

__all__ = ["PRESETS", "SOURCES", "Preset", "get_preset", "paper_preset"]

Ranges = dict[str, Range]

SOURCES: tuple[str, ...] = ("model", "bench")
"""Where an event can come from: the parametric models of Table 1, or the simulated laboratory bench."""


@dataclass(frozen=True)
class Preset:
    """The ranges from which events are drawn.

    Parameters
    ----------
    name : str
        Under which data sets remember it.
    common : mapping of str to Range
        Ranges of the record and of the supply, the same for every class.
    models : mapping of str to mapping
        For each event class the ranges of its parametric model; these are the classes of the preset.
    bench : mapping of str to mapping
        For each class that the laboratory bench can produce, the ranges of the circuit.
    bench_share : float
        Share of all events of a data set that come from the bench.

    Examples
    --------
    >>> PRESETS["paper"].ranges("sag")["depth"]
    Uniform(low=0.1, high=0.9, unit='')
    """

    name: str
    common: Mapping[str, Range]
    models: Mapping[str, Mapping[str, Range]]
    bench: Mapping[str, Mapping[str, Range]]
    bench_share: float = 0.1

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of its event classes, in order."""
        return tuple(self.models)

    def ranges(self, event_class: str, source: str = "model") -> dict[str, Range]:
        """Return the ranges of all parameters of an event, in the order in which they are drawn."""
        if event_class not in self.classes:
            raise unknown_name("event class", event_class, self.classes)
        if source not in SOURCES:
            raise unknown_name("source", source, SOURCES)
        classes = self.models if source == "model" else self.bench
        if event_class not in classes:
            raise PqswarmError(
                f"the {source} of preset {self.name!r} cannot produce {event_class!r}; "
                f"it produces {', '.join(classes)}."
            )
        return {**self.common, **classes[event_class]}

    def fixed(self, **values: float) -> "Preset":
        """Return a copy in which common parameters have the same value in every event.

        Parameters
        ----------
        **values : float
            `sampling_rate` [Hz], `frequency` [Hz], `cycles`, `amplitude` [pu], and what else is common.

        Returns
        -------
        Preset
            The copy.

        Examples
        --------
        >>> PRESETS["paper"].fixed(frequency=60).common["frequency"]
        Fixed(value=60.0)
        """
        checked = check_parameters(values, self.common, f"preset {self.name!r}")
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
        """Return a copy with some of the classes; the events of each are those that the whole preset makes.

        Parameters
        ----------
        classes : iterable of str
            Names of the classes to keep; they keep their order.

        Returns
        -------
        Preset
            The copy.

        Examples
        --------
        >>> PRESETS["paper"].with_classes(["swell", "sag"]).classes
        ('sag', 'swell')
        """
        wanted = list(classes)
        for name in wanted:
            if name not in self.classes:
                raise unknown_name(f"event class of preset {self.name!r}", name, self.classes)
        if not wanted or len(set(wanted)) < len(wanted) or isinstance(classes, str):
            raise PqswarmError(f"classes must name at least one event class, each once, not {classes!r}.")
        if len(wanted) == len(self.classes):
            return self
        bench = {name: ranges for name, ranges in self.bench.items() if name in wanted}
        # As many events of each class come from the bench as before.
        kept = len(bench) / len(self.bench) * len(self.classes) / len(wanted) if bench else 0.0
        return replace(
            self,
            name=f"{self.name}, {len(wanted)} classes",
            models={name: ranges for name, ranges in self.models.items() if name in wanted},
            bench=bench,
            bench_share=self.bench_share * kept,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the preset as nested plain values, for manifests and reports."""

        def plain(ranges: Mapping[str, Range]) -> dict[str, Any]:
            return {name: {"range": type(spec).__name__, **asdict(spec)} for name, spec in ranges.items()}  # type: ignore[call-overload]

        return {
            "name": self.name,
            "common": plain(self.common),
            "models": {event_class: plain(ranges) for event_class, ranges in self.models.items()},
            "bench": {event_class: plain(ranges) for event_class, ranges in self.bench.items()},
            "bench_share": self.bench_share,
        }


def _model_ranges(
    magnitude: Ranges,
    flicker: Ranges,
    notches: Ranges,
    series: Ranges,
    transient: Ranges,
    window_of_transient: Ranges | None = None,
) -> dict[str, Ranges]:
    """Compose the ranges of the classes of Table 1 from those of their ingredients.

    `window_of_transient` replaces the window of a sag or swell that comes with a transient.
    """
    combined = transient | (window_of_transient or _WINDOW)
    sag = {"depth": magnitude["sag"], **_WINDOW}
    swell = {"rise": magnitude["swell"], **_WINDOW}
    return {
        "pure_sinusoid": {"amplitude": magnitude["amplitude"]},
        "dc_offset": {"amplitude": magnitude["amplitude"], "offset": magnitude["offset"]},
        "sag": sag,
        "swell": swell,
        "interruption": {"depth": magnitude["interruption"], **_WINDOW},
        "flicker": flicker,
        "notching": notches,
        "harmonics": series,
        "oscillatory_transient": transient,
        "sag_with_harmonics": {**sag, **series},
        "swell_with_harmonics": {**swell, **series},
        "flicker_with_harmonics": {**flicker, **series},
        "sag_with_transient": {"depth": magnitude["sag"], **combined},
        "swell_with_transient": {"rise": magnitude["swell"], **combined},
    }


_WINDOW: Ranges = {"duration": Uniform(0.5, 30, "cycles"), "start": Inside("duration")}
_WINDOW_FROM_ONSET: Ranges = {"start": Same("transient_onset"), "duration": Uniform(0.5, 30, "cycles left")}
_MAGNITUDE: Ranges = {
    "amplitude": Uniform(0.9, 1.1),
    "offset": Uniform(0.0, 0.1),
    "sag": Uniform(0.1, 0.9),
    "swell": Uniform(0.1, 0.8),
    "interruption": Uniform(0.9, 1.0),
}


def _series(low: float) -> Ranges:
    return {f"h{k}": Uniform(low, 0.2) for k in (5, 7, 11, 13)}


def _notches(per_cycle: Range) -> Ranges:
    return {
        "notches_per_cycle": per_cycle,
        "notch_depth": Uniform(0.1, 0.4),
        "notch_position": Uniform(0.0, 1.0, "notch periods"),
        "notch_width": Uniform(0.01, 0.05, "cycles"),
    }


def _bench_ranges(extra: Ranges | None = None) -> dict[str, Ranges]:
    """Ranges of the laboratory bench, chosen so that its events keep to the printed ranges of their classes.

    The damping of the bank's transient is half the source's R/L plus small losses: an X/R of 2.0 to 2.8
    gives 56 to 79 per second at 50 Hz. The bank rings with the source at 1.0 to 4.6 kHz. Trapped charge
    of the opposite sign makes the transient larger than 1 pu. The fault leaves 0.11 to 0.90 pu.
    """
    weak: Ranges = {"source_inductance": LogUniform(1e-3, 5e-3), "source_x_over_r": Uniform(2.0, 2.8)}
    stiff: Ranges = {"source_inductance": LogUniform(0.3e-3, 1e-3), "source_x_over_r": Uniform(2.0, 2.8)}
    loaded: Ranges = {"load_resistance": LogUniform(50.0, 500.0)}
    unloaded: Ranges = {"load_resistance": LogUniform(1e4, 1e5)}
    rectifier: Ranges = {"rectifier_ratio": LogUniform(12.0, 150.0)}
    fault: Ranges = {
        "fault_ratio": LogUniform(0.115, 3.8),
        "duration": Uniform(0.5, 29, "cycles"),
        "start": Inside("duration", margin=0.6),
    }
    bank: Ranges = {
        "capacitance": LogUniform(4e-6, 25e-6),
        "capacitor_resistance": Uniform(0.001, 0.005),
        "trapped_voltage": Uniform(-1.0, -0.2),
        "switching_angle": Uniform(pi / 3, 2 * pi / 3),
        "transient_onset": Uniform(0.3, 0.9, "record"),
    }
    fault_before_bank: Ranges = {
        **fault,
        "duration": Uniform(0.5, 7, "cycles"),
        "start": Inside("duration", before="transient_onset", margin=1.5),
    }
    classes: dict[str, Ranges] = {
        "sag": {**stiff, **loaded, **fault},
        "harmonics": {**weak, **loaded, **rectifier},
        "oscillatory_transient": {**stiff, **unloaded, **bank},
        "sag_with_harmonics": {**weak, **loaded, **rectifier, **fault},
        "sag_with_transient": {**stiff, **unloaded, **bank, **fault_before_bank},
    }
    return {event_class: {**ranges, **(extra or {})} for event_class, ranges in classes.items()}


def paper_preset(
    name: str = "paper",
    *,
    flicker_frequency: Literal["hertz", "printed"] = "hertz",
    transient_onset: Literal["own", "with_disturbance"] = "own",
    notch_period: Literal["cycle", "half-cycle"] = "cycle",
) -> Preset:
    r"""Return the paper's Table 1 as a preset: 25 kHz, 50 Hz, 30 cycles, a clean supply of 1 pu.

    Parameters
    ----------
    name : str
        Name of the preset.
    flicker_frequency : {"hertz", "printed"}
        Take :math:`\beta_f` for 1 to 25 Hz (IEEE 1159), or for 1 to 25 times the fundamental, which is
        what the printed :math:`\sin(\beta_f \omega t)` says.
    transient_onset : {"own", "with_disturbance"}
        Give the transient and the sag or swell beginnings of their own, or one and the same, as they
        share the symbol :math:`t_1` in the table: 0.3 to 0.9 of the record.
    notch_period : {"cycle", "half-cycle"}
        Repeat the notches every cycle, or every half cycle (the printed sum of 61 notches fills the 30
        cycles of the record then).

    Returns
    -------
    Preset
        The ranges.

    Examples
    --------
    >>> paper_preset("mine", notch_period="half-cycle").ranges("notching")["notches_per_cycle"]
    Fixed(value=2.0)
    """
    for option, value, allowed in (
        ("flicker_frequency", flicker_frequency, ("hertz", "printed")),
        ("transient_onset", transient_onset, ("own", "with_disturbance")),
        ("notch_period", notch_period, ("cycle", "half-cycle")),
    ):
        if value not in allowed:
            raise unknown_name(option, value, allowed)
    models = _model_ranges(
        magnitude=_MAGNITUDE,
        flicker={
            "flicker_depth": Uniform(0.0, 0.07),
            "flicker_frequency": Uniform(1, 25, "" if flicker_frequency == "hertz" else "fundamental"),
        },
        notches=_notches(Fixed(1.0 if notch_period == "cycle" else 2.0)),
        series=_series(0.0),
        transient={
            "transient_amplitude": Uniform(1.0, 4.0),
            "transient_damping": Uniform(50.0, 100.0),
            "transient_frequency": Uniform(1000.0, 10000.0, "hertz"),
            "transient_onset": Uniform(0.3, 0.9, "record"),
        },
        window_of_transient=None if transient_onset == "own" else _WINDOW_FROM_ONSET,
    )
    return Preset(
        name=name,
        common={
            "sampling_rate": Fixed(25_000.0),
            "frequency": Fixed(50.0),
            "cycles": Fixed(30.0),
            "amplitude": Fixed(1.0),
        },
        models=models,
        bench=_bench_ranges(),
    )


def _field_preset() -> Preset:
    """Events as recorders in the field see them; time constants and frequencies of transients are log-uniform."""
    background = {
        name: spec
        for order in (3, 5, 7, 11, 13)
        for name, spec in (
            # Five orders of at most 3 % / sqrt(5) stay within a total distortion of 3 %.
            (f"background_{order}", Uniform(0.0, 0.03 / sqrt(5))),
            (f"background_{order}_phase", Uniform(0.0, 2 * pi)),
        )
    }
    return Preset(
        name="field",
        common={
            "sampling_rate": Fixed(25_000.0),
            "frequency": Choice((50.0, 60.0)),
            "cycles": Uniform(4.0, 30.0),
            "amplitude": Uniform(0.9, 1.1),
            "phase": Uniform(0.0, 2 * pi),
            "frequency_deviation": Uniform(-0.01, 0.01),
            "snr": Uniform(30.0, 60.0),
            **background,
        },
        models=_model_ranges(
            magnitude={**_MAGNITUDE, "offset": Uniform(0.01, 0.1)},
            flicker={"flicker_depth": Uniform(0.01, 0.07), "flicker_frequency": Uniform(1.0, 25.0)},
            notches=_notches(Choice((1.0, 2.0, 3.0, 4.0, 5.0, 6.0))),
            series=_series(0.02),
            transient={
                "transient_amplitude": LogUniform(0.1, 4.0),
                "transient_damping": LogUniform(50.0, 5000.0),
                "transient_frequency": LogUniform(300.0, 10000.0, "hertz"),
                "transient_onset": Uniform(0.0, 0.95, "record"),
            },
        ),
        # A fault, its clearing and a later switching need some room.
        bench=_bench_ranges({"cycles": Uniform(12.0, 30.0)}),
    )


_PRINTED = paper_preset(
    "paper-printed", flicker_frequency="printed", transient_onset="with_disturbance", notch_period="half-cycle"
)

PRESETS: Registry[Preset] = Registry("preset", "pqswarm.presets", Preset, (paper_preset(), _PRINTED, _field_preset()))
"""The presets by name: ours, and those of other packages."""


def get_preset(preset: str | PathLike[str] | Preset) -> Preset:
    """Return the preset of that name, that of a file, or the preset itself.

    Parameters
    ----------
    preset : str, Path or Preset
        A name of :data:`PRESETS`, the path of a TOML file (see :func:`load_preset`), or a preset of one's own.

    Returns
    -------
    Preset
        The ranges.

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
