"""Small recordings for the tests of this folder."""

import numpy as np

from pqswarm.recordings import Channel, Recording

RATE = 10_000.0


def record(*waves, rate=RATE, frequency=50.0, phases="ABC"):
    channels = tuple(Channel(f"U{i + 1}", "V", phases[i : i + 1], wave) for i, wave in enumerate(waves))
    return Recording(channels, rate, frequency, source="test")


def sine(cycles=20, rate=RATE, frequency=50.0, phase=0.3, volts=325.0):
    return volts * np.sin(2 * np.pi * frequency * np.arange(round(cycles * rate / frequency)) / rate + phase)


def three(volts=325.0, cycles=40, rate=RATE):
    return [sine(cycles, rate, phase=0.3 - 2 * np.pi * k / 3, volts=volts) for k in range(3)]


def with_level(wave, first, last, level, rate=RATE):
    t = np.arange(wave.size) / rate
    return wave * np.where((t > first) & (t <= last), level, 1.0)


NEVER = (0.0, 0.0, 1.0)


def dipped(*windows, cycles=40):
    """A recording of three phases, each at another level in a stretch: first, last, level."""
    padded = [*windows, *[NEVER] * (3 - len(windows))]
    return record(*(with_level(wave, *window) for wave, window in zip(three(cycles=cycles), padded, strict=True)))


def parts(found, *kinds):
    """Parts of all events, or of those of some kinds."""
    return [part for event in found.events for part in event.parts if not kinds or part.type in kinds]


def levels(found):
    """Sags, swells and interruptions of each channel."""
    return parts(found, "sag", "swell", "interruption")
