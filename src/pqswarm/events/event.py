"""A power-quality event: its waveform, and everything needed to regenerate it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pqswarm._base.random import checked_seed, stream
from pqswarm._base.text import frequency_text
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.events.bench import run_bench
from pqswarm.events.classes import EVENT_CLASSES
from pqswarm.events.models import Grid
from pqswarm.events.noise import add_noise, noise_stream
from pqswarm.events.parameters import (
    BACKGROUND_PARAMETERS,
    RECORD_PARAMETERS,
    SUPPLY_PARAMETERS,
    Range,
    check_parameters,
    draw_parameters,
    record_length,
)
from pqswarm.events.preset import Preset, get_preset

_NO_MODEL = (*SUPPLY_PARAMETERS, "spectrum")  # parameters that no model takes
_HIGHEST_ORDER = 13
_MAX_SAMPLES = 10_000_000


@dataclass(frozen=True, eq=False)
class Event:
    """A power-quality event.

    Attributes
    ----------
    signal : ndarray of shape (n,)
        Voltage [pu].
    label : str
        Name of the event class.
    parameters : mapping of str to float
        All parameters of the supply and the disturbance (see :data:`pqswarm.events.PARAMETERS`).
    sampling_rate, frequency : float
        Samples per second [Hz]; nominal frequency of the grid [Hz].
    cycles : float
        Length of the record [nominal cycles].
    source : str
        ``"model"`` (Table 1) or ``"bench"`` (the simulated test bench).
    seed : int
        Seed of the event.
    preset : str
        Name of its preset.
    """

    signal: FloatArray
    label: str
    parameters: Mapping[str, float]
    sampling_rate: float
    frequency: float
    cycles: float
    source: str
    seed: int
    preset: str

    @property
    def time(self) -> FloatArray:
        """Time axis [s], starting at 0."""
        return np.arange(self.signal.size) / self.sampling_rate


def generate(
    event_class: str, seed: int, preset: str | Preset = "paper", *, source: str = "model", **parameters: float
) -> Event:
    """Generate one event: draw its parameters from the preset, then its waveform.

    The event depends only on the arguments. A parameter given by name replaces the drawn one and leaves the
    others unchanged.

    Parameters
    ----------
    event_class : str
        One of the classes of the preset.
    seed : int
        Non-negative seed.
    preset : str or Preset, default="paper"
        ``"paper"``, ``"paper-grid"``, ``"paper-printed"``, ``"field"``, a TOML file, or a :class:`Preset`.
    source : {"model", "bench"}, default="model"
        The parametric model, or the simulated test bench (sags, harmonics, transients).
    **parameters : float
        `sampling_rate` [Hz], `frequency` [Hz] (nominal), `cycles` (length of the record), and any
        parameter of the class (see :data:`pqswarm.events.PARAMETERS`).

    Returns
    -------
    Event
        The waveform with its parameters.

    Examples
    --------
    >>> event = generate("sag", seed=1, depth=0.4)
    >>> event.label, event.signal.shape, event.parameters["depth"]
    ('sag', (15000,), 0.4)
    >>> generate("flicker", seed=1, frequency=60, cycles=12).signal.shape
    (5000,)
    """
    chosen = get_preset(preset)
    ranges = chosen.ranges(event_class, source)
    seed = checked_seed(seed)
    known = EVENT_CLASSES.find(event_class)
    undeclared = [name for name in ranges if name not in known.catalog]
    if undeclared:
        raise PqswarmError(
            f"preset {chosen.name!r} draws {undeclared[0]!r}, which event class {event_class!r} does not declare: add "
            f"it to the `parameters` of the EventClass."
        )
    given = check_parameters(parameters, ranges, event_class, known.catalog)
    uniforms = stream(seed, (0, known.seed_word)).random(len(ranges)).tolist()
    values = draw_parameters(ranges, uniforms, given)
    _keep_event_inside_record(values, given, event_class)
    record = {name: values.pop(name) for name in RECORD_PARAMETERS}
    return Event(
        signal=synthesize_event(event_class, values, seed=seed, source=source, **record),
        label=event_class,
        parameters=values,
        source=source,
        seed=seed,
        preset=chosen.name,
        **record,
    )


def synthesize_event(
    event_class: str,
    parameters: Mapping[str, float],
    *,
    sampling_rate: float,
    frequency: float,
    cycles: float,
    source: str = "model",
    seed: int = 0,
) -> FloatArray:
    """Compute the waveform [pu] of an event from its parameters; `seed` is that of noise that is part of the event."""
    n_samples = check_event_record(sampling_rate, frequency, cycles)
    disturbance = {name: value for name, value in parameters.items() if name not in _NO_MODEL}
    grid = Grid(
        frequency=frequency * (1.0 + parameters.get("frequency_deviation", 0.0)),
        amplitude=parameters.get("amplitude", 1.0),
        phase=parameters.get("phase", 0.0),
        # In the order of the catalog: the sum must not depend on the order of the mapping.
        background=tuple(
            (int(name.removeprefix("background_")), parameters[name], parameters.get(f"{name}_phase", 0.0))
            for name in BACKGROUND_PARAMETERS
            if name in parameters and not name.endswith("_phase")
        ),
    )
    signal: FloatArray
    if source == "bench":
        circuit: dict[str, Any] = disturbance
        signal = (
            run_bench(n_samples, sampling_rate, grid=grid, nominal_frequency=frequency, **circuit).voltages[0].copy()
        )
    else:
        model = EVENT_CLASSES.find(event_class).model
        signal = np.asarray(model(np.arange(n_samples) / sampling_rate, grid=grid, **disturbance), np.float64)
        if signal.shape != (n_samples,):
            raise PqswarmError(
                f"the model of event class {event_class!r} must return one voltage for each of the {n_samples} times, "
                f"not an array of shape {signal.shape}."
            )
    if "snr" in parameters:
        signal = add_noise(signal, parameters["snr"], noise_stream(seed, parameters["snr"], own=True))
    return signal


def check_event_record(sampling_rate: float, frequency: float, cycles: float) -> int:
    """Return the number of samples of a record of some nominal cycles, or raise an error if it is impossible."""
    if sampling_rate <= 2 * _HIGHEST_ORDER * frequency:
        raise PqswarmError(
            f"sampling_rate must be above {2 * _HIGHEST_ORDER} times the frequency ({frequency:g} Hz), "
            f"so that harmonics to order {_HIGHEST_ORDER} can be seen, not {frequency_text(sampling_rate)}."
        )
    n_samples = round(cycles / frequency * sampling_rate)
    if n_samples > _MAX_SAMPLES:
        raise PqswarmError(
            f"{cycles:,.10g} cycles of {frequency:g} Hz at {frequency_text(sampling_rate)} are {n_samples:,} samples, "
            f"more than the maximum of {_MAX_SAMPLES:,}: shorten the record or lower the sampling rate."
        )
    return n_samples


def check_event_draw(event_class: str, ranges: Mapping[str, Range], uniforms: list[float]) -> None:
    """Draw the parameters of an event, and raise an error if they are impossible."""
    values = draw_parameters(ranges, uniforms, {})
    check_parameters(values, ranges, event_class, EVENT_CLASSES.find(event_class).catalog)
    _keep_event_inside_record(values, {}, event_class)
    check_event_record(values["sampling_rate"], values["frequency"], values["cycles"])


def _keep_event_inside_record(values: dict[str, float], given: Mapping[str, float], event_class: str) -> None:
    """Refuse what the record cannot show; shorten a drawn duration that does not fit after a given start."""
    end = record_length(values)
    for name in ("start", "transient_onset", "notch_position"):
        if values.get(name, 0.0) >= end:
            raise PqswarmError(
                f"{name} of {event_class} must lie inside the record of {end:g} s, not at {values[name]:g} s."
            )
    for name in ("transient_frequency", "flicker_frequency"):
        if values.get(name, 0.0) >= values["sampling_rate"] / 2:
            raise PqswarmError(
                f"{name} of {event_class} must be below half the sampling rate of {values['sampling_rate']:g} Hz, "
                f"not {values[name]:g} Hz."
            )
    if "start" in values and values["start"] + values["duration"] > end * (1 + 1e-12):
        if "duration" in given:
            raise PqswarmError(
                f"start and duration of {event_class}, {values['start']:g} s and {values['duration']:g} s, "
                f"reach beyond the record of {end:g} s."
            )
        values["duration"] = end - values["start"]
