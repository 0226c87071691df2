"""A requested event: class, preset, seed and the parameters that were set."""

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

NOMINAL = 230.0
"""RMS voltage of 1 pu [V]."""

MAX_SAMPLES = 200_000
"""Maximum length of an event [samples]; keeps responses fast."""

_SEED_LIMIT = 2**53
_MAX_PARAMETERS = 100


@dataclass(frozen=True)
class EventRequest:
    """A requested event, as for :func:`pqswarm.events.generate`; presets by name only.

    The seed draws all parameters but those `given`; `noise` is the signal-to-noise ratio of added noise [dB], infinity
    for none.
    """

    event_class: str
    preset: str = "paper"
    source: str = "model"
    seed: int = 1
    noise: float = inf
    given: Mapping[str, float] = field(default_factory=dict)

    @property
    def ranges_of(self) -> Preset:
        """The preset; never loaded from a file."""
        return PRESETS.find(self.preset)

    def drawn(self) -> Event:
        """The event as drawn by the preset, with no parameter set."""
        return _draw_requested_event(self.event_class, self.seed, self.preset, self.source)

    def make(self) -> tuple[Event, FloatArray]:
        """Return the event and its voltage with added noise [pu]."""
        drawn = self.drawn()
        rate, frequency, cycles = (
            self.given.get(name, getattr(drawn, name)) for name in ("sampling_rate", "frequency", "cycles")
        )
        n_samples = cycles / max(frequency, 1e-9) * rate
        if n_samples > MAX_SAMPLES:
            raise PqswarmError(
                f"cycles: {cycles:,.10g} cycles of {frequency:g} Hz at {frequency_text(rate)} are {n_samples:,.0f} "
                f"samples; the limit is {MAX_SAMPLES:,}. Use fewer cycles or a lower sampling rate."
            )
        event = generate(self.event_class, self.seed, self.ranges_of, source=self.source, **self.given)
        if self.noise == inf:
            return event, event.signal
        return event, add_noise(event.signal, self.noise, noise_stream(self.seed, self.noise))

    def record(self) -> tuple[Event, Recording]:
        """Return the event and its recording on phase A of a 230 V supply."""
        event, signal = self.make()
        channel = Channel("U", "V", "A", NOMINAL * sqrt(2) * signal)
        return event, Recording((channel,), event.sampling_rate, event.frequency, source=self.title)

    def with_parameter(self, name: str, value: float) -> "EventRequest":
        """The same request with one parameter set; ``noise`` counts as a parameter."""
        if name == "noise":
            return replace(self, noise=check_snr(value))
        return replace(self, given={**self.given, name: value})

    @property
    def title(self) -> str:
        """Title of the event, usable as a file name."""
        return f"{self.event_class}-{self.preset}-{self.seed}"

    @property
    def python(self) -> str:
        """Python code that makes the same event."""
        words = [f'"{self.event_class}"', f"seed={self.seed}"]
        words += [f'preset="{self.preset}"'] if self.preset != "paper" else []
        words += [f'source="{self.source}"'] if self.source != "model" else []
        words += [f"{name}={_request_number_text(value)}" for name, value in self.given.items()]
        line = f"event = generate({', '.join(words)})"
        if self.noise == inf:
            return line
        level = _request_number_text(self.noise)
        return f"{line}\nsignal = add_noise(event.signal, {level}, noise_stream({self.seed}, {level}))"


def read_request(words: Mapping[str, str]) -> EventRequest:
    """Parse the query of a URL; errors name the first invalid parameter."""
    rest = dict(words)
    event_class, preset, source = rest.pop("class", "sag"), rest.pop("preset", "paper"), rest.pop("source", "model")
    known = PRESETS.find(preset)  # by name only: a URL must not load a file
    if event_class not in known.classes:
        raise unknown_name(f"event class of preset {preset!r}", event_class, known.classes)
    seed = rest.pop("seed", "1")
    if not (seed.isascii() and seed.isdigit() and int(seed[:20]) < _SEED_LIMIT and len(seed) <= 20):
        raise PqswarmError(f"seed must be an integer of 0 to {_SEED_LIMIT - 1}, not {seed[:40]!r}.")
    noise = rest.pop("noise", "off")
    if len(rest) > _MAX_PARAMETERS:
        raise PqswarmError(f"an event has at most {_MAX_PARAMETERS} parameters.")
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
    return EventRequest(
        event_class, preset, source, int(seed), inf if noise == "off" else _parse_requested_noise(noise), given
    )


def _parse_requested_noise(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not -20 <= value <= 200:
        raise PqswarmError(f"noise must be from -20 to 200 dB, or off, not {text[:40]!r}.")
    return value


@lru_cache(maxsize=64)
def _draw_requested_event(event_class: str, seed: int, preset: str, source: str) -> Event:
    return generate(event_class, seed, PRESETS.find(preset), source=source)


def _request_number_text(value: float) -> str:
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
