"""Specifications of the events of a data set: class, source, seed and noise of each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import floor

from pqswarm._base.checks import check_integer
from pqswarm._base.random import derived_seed
from pqswarm.events import EVENT_CLASSES, Event, Preset, add_noise, generate, noise_stream

_MAX_PER_CLASS = 100_000


@dataclass(frozen=True)
class EventSpec:
    """An event to generate; `snr` [dB] replaces the noise of the preset."""

    event_class: str
    source: str
    seed: int
    snr: float | None = None

    def make(self, preset: Preset) -> Event:
        """Generate the event."""
        own = self.snr is not None and "snr" in preset.ranges(self.event_class, self.source)
        noise = {"snr": self.snr} if self.snr is not None and own else {}
        event = generate(self.event_class, self.seed, preset, source=self.source, **noise)
        if self.snr is None or own:
            return event
        stream = noise_stream(self.seed, self.snr, own=True)
        return replace(event, signal=add_noise(event.signal, self.snr, stream))


def check_spec_event_count(events_per_class: int, minimum: int) -> int:
    """Return the number of events of each class, or raise an error that names it."""
    return check_integer("events_per_class", events_per_class, minimum, _MAX_PER_CLASS)


def event_specs(
    preset: Preset,
    events_per_class: int,
    seed: int,
    family: tuple[int, ...] = (),
    snr: Sequence[float] = (),
    minimum: int = 1,
) -> list[EventSpec]:
    """List the events of a preset, class by class; those of the bench are spread evenly.

    An event depends only on (seed, family, class, number): different families have different seeds. The noise levels
    `snr` [dB], if any, alternate. At least `minimum` events per class are required.
    """
    count = check_spec_event_count(events_per_class, minimum)
    specs = []
    for event_class in preset.classes:
        word = EVENT_CLASSES.find(event_class).seed_word
        from_bench = preset.fraction_from_bench(event_class)
        quota = [floor(from_bench * i + 1e-9) for i in range(count + 1)]
        for number, (before, after) in enumerate(pairwise(quota)):
            level = snr[number % len(snr)] if snr else None
            source = "bench" if after > before else "model"
            specs.append(EventSpec(event_class, source, derived_seed(seed, (*family, word, number)), level))
    return specs
