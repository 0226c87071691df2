"""One power-quality event: its waveform and all that is needed to make it again."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from pqswarm._random import checked_seed, stream
from pqswarm._typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.events.bench import run_bench
from pqswarm.events.models import MODELS, Grid
from pqswarm.events.noise import add_noise, noise_stream
from pqswarm.events.parameters import PARAMETERS, check_parameters, draw
from pqswarm.events.presets import Preset, get_preset

__all__ = ["Event", "generate", "synthesise"]

_RECORD = ("sampling_rate", "frequency", "cycles")
_GRID = (
    "amplitude",
    "phase",
    "frequency_deviation",
    "snr",
    *(name for name in PARAMETERS if name.startswith("background_")),
)
_HIGHEST_ORDER = 13


@dataclass(frozen=True, eq=False)
class Event:
    """A power-quality event.

    Attributes
    ----------
    signal : ndarray of shape (n,)
        Voltage [pu].
    label : str
        The event class, one of :data:`pqswarm.events.EVENT_CLASSES`.
    parameters : mapping of str to float
        All parameters of the supply and the disturbance (see :data:`pqswarm.events.PARAMETERS`).
    sampling_rate : float
        Samples per second [Hz].
    frequency : float
        Nominal frequency of the grid [Hz].
    cycles : float
        Length of the record [nominal cycles].
    source : str
        ``"model"`` (Table 1) or ``"bench"`` (the simulated laboratory).
    seed : int
        From which the event was drawn.
    preset : str
        Name of the preset it was drawn from.
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
    event_class: str,
    seed: int,
    preset: str | Preset = "paper",
    *,
    source: str = "model",
    **parameters: float,
) -> Event:
    """Generate one event: draw its parameters from the preset, then its waveform.

    The event depends on the arguments alone. A parameter given by name replaces the drawn one and
    leaves the others as they were.

    Parameters
    ----------
    event_class : str
        One of :data:`pqswarm.events.EVENT_CLASSES`.
    seed : int
        Non-negative seed.
    preset : str or Preset
        ``"paper"``, ``"paper-printed"``, ``"field"``, or one of your own.
    source : {"model", "bench"}
        The parametric model, or the simulated laboratory bench (sags, harmonics, transients).
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
    given = check_parameters(parameters, ranges, event_class)
    uniforms = stream(seed, (0,)).random(len(ranges)).tolist()
    values = draw(ranges, uniforms, given)
    record = {name: values.pop(name) for name in _RECORD}
    return Event(
        signal=synthesise(event_class, values, seed=seed, source=source, **record),
        label=event_class,
        parameters=MappingProxyType(values),
        source=source,
        seed=seed,
        preset=chosen.name,
        **record,
    )


def synthesise(
    event_class: str,
    parameters: Mapping[str, float],
    *,
    sampling_rate: float,
    frequency: float,
    cycles: float,
    source: str = "model",
    seed: int = 0,
) -> FloatArray:
    """Compute the waveform of an event from its parameters.

    Parameters
    ----------
    event_class : str
        One of :data:`pqswarm.events.EVENT_CLASSES`.
    parameters : mapping of str to float
        As an :class:`Event` keeps them.
    sampling_rate : float
        Samples per second [Hz].
    frequency : float
        Nominal frequency [Hz].
    cycles : float
        Length of the record [nominal cycles].
    source : {"model", "bench"}
        Which of the two computes it.
    seed : int
        Of the event's own noise, where it has any.

    Returns
    -------
    ndarray of shape (n,)
        Voltage [pu].

    Examples
    --------
    >>> event = generate("swell", seed=3)
    >>> again = synthesise("swell", event.parameters, sampling_rate=25_000, frequency=50, cycles=30)
    >>> bool((again == event.signal).all())
    True
    """
    if sampling_rate <= 2 * _HIGHEST_ORDER * frequency:
        raise PqswarmError(
            f"sampling_rate must be above {2 * _HIGHEST_ORDER} times the frequency ({frequency:g} Hz), "
            f"so that harmonics to order {_HIGHEST_ORDER} can be seen, not {sampling_rate:g} Hz."
        )
    n_samples = round(cycles / frequency * sampling_rate)
    disturbance = {name: value for name, value in parameters.items() if name not in _GRID}
    grid = _grid(parameters, frequency)
    signal: FloatArray
    if source == "bench":
        circuit: dict[str, Any] = disturbance
        signal = (
            run_bench(n_samples, sampling_rate, grid=grid, nominal_frequency=frequency, **circuit).voltages[0].copy()
        )
    else:
        signal = MODELS[event_class](np.arange(n_samples) / sampling_rate, grid=grid, **disturbance)
    if "snr" in parameters:
        signal = add_noise(signal, parameters["snr"], noise_stream(seed, parameters["snr"]))
    return signal


def _grid(parameters: Mapping[str, float], frequency: float) -> Grid:
    return Grid(
        frequency=frequency * (1.0 + parameters.get("frequency_deviation", 0.0)),
        amplitude=parameters.get("amplitude", 1.0),
        phase=parameters.get("phase", 0.0),
        # In the order of the catalogue, so that the sum does not depend on the order of the mapping.
        background=tuple(
            (int(name.removeprefix("background_")), parameters[name], parameters.get(f"{name}_phase", 0.0))
            for name in PARAMETERS
            if name in parameters and name.startswith("background_") and not name.endswith("_phase")
        ),
    )
