"""Small recordings for tests of the workbench."""

import numpy as np

from pqswarm.recordings import Channel, Recording, StatusChannel, write_comtrade

RATE = 6400.0


def three_phases(seconds=1.5, names=("UA", "UB", "UC"), *, sag=(0.5, 0.6), residual=0.5, station="North"):
    """Voltages of 230 V with a sag on phase A, a current, and the state of a breaker."""
    t = np.arange(round(seconds * RATE)) / RATE
    depth = np.where((t >= sag[0]) & (t < sag[1]), residual, 1.0)
    waves = [325.27 * np.cos(2 * np.pi * (50 * t - k / 3)) for k in range(3)]
    waves[0] = waves[0] * depth
    channels = [Channel(name, "V", phase, wave) for name, phase, wave in zip(names, "ABC", waves, strict=True)]
    channels.append(Channel("IA", "A", "A", 10 * np.cos(2 * np.pi * 50 * t - 0.5)))
    breaker = StatusChannel("52a", 1, np.array([0, round(sag[1] * RATE)]), np.array([1, 0]))
    return Recording(tuple(channels), RATE, 50.0, station=station, status=(breaker,))


def write_pair(path, **options):
    """A COMTRADE pair with a sag."""
    return write_comtrade(three_phases(**options), path, "BINARY")


def write_steady(path, seconds):
    """A long COMTRADE pair without any event, made fast."""
    second = three_phases(1.0, sag=(2.0, 3.0))
    channels = [Channel(one.name, one.unit, one.phase, np.tile(one.samples, seconds)) for one in second.channels[:3]]
    return write_comtrade(Recording(tuple(channels), RATE, 50.0, station="Long"), path, "BINARY")
