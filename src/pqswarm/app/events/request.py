"""An event as a page asks for it: class, preset, seed, and the parameters that somebody moved."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf, isinf, sqrt

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm._base.units import frequency_text
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.events import PRESETS, Event, Preset, add_noise, check_snr, generate, noise_stream
from pqswarm.recordings import Channel, Recording

__all__ = ["MOST_SAMPLES", "NOMINAL", "EventRequest", "read_request"]

NOMINAL = 230.0
"""What 1 pu is [V]."""

MOST_SAMPLES = 200_000
"""Of an event, so that no answer takes long."""

_MOST_SEED = 2**53
_MOST_PARAMETERS = 100


@dataclass(frozen=True)
class EventRequest:
    """An event that is asked for.

    Attributes
    ----------
    event_class, preset, source : str
        As for :func:`pqswarm.events.generate`; presets by name only.
    seed : int
        From which the parameters that nobody moved are drawn.
    noise : float
        Signal-to-noise ratio of what is added to the event [dB]; infinity for nothing.
    given : mapping of str to float
        The parameters that somebody moved.

    Examples
    --------
    >>> EventRequest("sag", seed=3, given={"depth": 0.4}).python
    'event = generate("sag", seed=3, depth=0.4)'
    """

    event_class: str
    preset: str = "paper"
    source: str = "model"
    seed: int = 1
    noise: float = inf
    given: Mapping[str, float] = field(default_factory=dict)

    @property
    def ranges_of(self) -> Preset:
        """The preset; never one of a file."""
        return PRESETS.find(self.preset)

    def drawn(self) -> Event:
        """The event as the preset draws it, with nothing moved."""
        return _drawn(self.event_class, self.seed, self.preset, self.source)

    def make(self) -> tuple[Event, FloatArray]:
        """Return the event, and its voltage with the noise that is added [pu]."""
        drawn = self.drawn()
        rate, frequency, cycles = (
            self.given.get(name, getattr(drawn, name)) for name in ("sampling_rate", "frequency", "cycles")
        )
        n_samples = cycles / max(frequency, 1e-9) * rate
        if n_samples > MOST_SAMPLES:
            raise PqswarmError(
                f"cycles: {cycles:,.10g} cycles of {frequency:g} Hz at {frequency_text(rate)} are {n_samples:,.0f} "
                f"samples, more than the {MOST_SAMPLES:,} that this page shows: take fewer, or a lower sampling rate."
            )
        event = generate(self.event_class, self.seed, self.ranges_of, source=self.source, **self.given)
        if self.noise == inf:
            return event, event.signal
        return event, add_noise(event.signal, self.noise, noise_stream(self.seed, self.noise))

    def record(self) -> tuple[Event, Recording]:
        """Return the event, and what a meter would record of it, on phase A of a supply of 230 V."""
        event, signal = self.make()
        channel = Channel("U", "V", "A", NOMINAL * sqrt(2) * signal)
        return event, Recording((channel,), event.sampling_rate, event.frequency, source=self.title)

    def moved(self, name: str, value: float) -> "EventRequest":
        """The same with a parameter moved; ``noise`` counts as one."""
        if name == "noise":
            return replace(self, noise=check_snr(value))
        return replace(self, given={**self.given, name: value})

    @property
    def title(self) -> str:
        """The event in words, fit to be the name of a file."""
        return f"{self.event_class}-{self.preset}-{self.seed}"

    @property
    def python(self) -> str:
        """What makes the same event in Python."""
        words = [f'"{self.event_class}"', f"seed={self.seed}"]
        words += [f'preset="{self.preset}"'] if self.preset != "paper" else []
        words += [f'source="{self.source}"'] if self.source != "model" else []
        words += [f"{name}={_number_text(value)}" for name, value in self.given.items()]
        line = f"event = generate({', '.join(words)})"
        if self.noise == inf:
            return line
        level = _number_text(self.noise)
        return f"{line}\nsignal = add_noise(event.signal, {level}, noise_stream({self.seed}, {level}))"


def read_request(words: Mapping[str, str]) -> EventRequest:
    """Read an event from the words of an address, or raise an error that names the first that will not do."""
    rest = dict(words)
    event_class, preset, source = rest.pop("class", "sag"), rest.pop("preset", "paper"), rest.pop("source", "model")
    known = PRESETS.find(preset)  # by name: an address does not lead to a file
    if event_class not in known.classes:
        raise unknown_name(f"event class of preset {preset!r}", event_class, known.classes)
    seed = rest.pop("seed", "1")
    if not (seed.isascii() and seed.isdigit() and int(seed[:20]) < _MOST_SEED and len(seed) <= 20):
        raise PqswarmError(f"seed must be an integer of 0 to {_MOST_SEED - 1}, not {seed[:40]!r}.")
    noise = rest.pop("noise", "off")
    if len(rest) > _MOST_PARAMETERS:
        raise PqswarmError(f"an event has at most {_MOST_PARAMETERS} parameters.")
    ranges = known.ranges(event_class, source)
    given = {}
    for name, text in rest.items():
        if name not in ranges:
            raise unknown_name(f"parameter of {event_class}", name[:60], ranges)
        try:
            given[name] = float(text)
        except ValueError:
            raise PqswarmError(f"{name} must be a number, not {text[:40]!r}.") from None
        if isinf(given[name]):
            raise PqswarmError(f"{name} must be finite, not {text[:40]!r}.")
    return EventRequest(event_class, preset, source, int(seed), inf if noise == "off" else _decibels(noise), given)


def _decibels(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not -20 <= value <= 200:
        raise PqswarmError(f"noise must be from -20 to 200 dB, or off, not {text[:40]!r}.")
    return value


@lru_cache(maxsize=64)
def _drawn(event_class: str, seed: int, preset: str, source: str) -> Event:
    return generate(event_class, seed, PRESETS.find(preset), source=source)


def _number_text(value: float) -> str:
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
