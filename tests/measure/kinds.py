"""Captures of kinds that the events of the package do not have: each drawn from a seed, with what may be said of it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pqswarm.recordings import Channel, Recording

RATE, HERTZ, PEAK = 6400.0, 50.0, 11_000 * 2**0.5 / 3**0.5
T = np.arange(int(0.8 * RATE)) / RATE
FAULT, QUIET = frozenset({"fault"}), frozenset({"none", "unknown"})


@dataclass(frozen=True, eq=False)
class Kind:
    """A capture, the types of events of which one must be found (or none), and the causes that may be said."""

    recording: Recording
    types: frozenset[str]
    causes: frozenset[str]


def box(start, end=9.0):
    return ((start <= T) & (end > T)).astype(float)


def ring(start, hertz, decay):
    late = np.maximum(T - start, 0.0)
    return box(start) * np.exp(-late / decay) * np.sin(2 * np.pi * hertz * late)


def three_phases(rng, levels=(1.0, 1.0, 1.0), added=(0.0, 0.0, 0.0), angle=0.0, hertz=HERTZ, noise=0.001):
    """Three voltages [V] with these levels, waves that are added [pu of the peak], and an angle over time [rad]."""
    turn = 2 * np.pi * np.cumsum(np.full(T.size, 1.0) * hertz) / RATE + rng.uniform(0, 2 * np.pi) + angle
    waves = [
        level * np.sin(turn - 2 * np.pi * k / 3) + 0.02 * np.sin(5 * (turn - 2 * np.pi * k / 3) + 1) + extra
        for k, (level, extra) in enumerate(zip(levels, added, strict=True))
    ]
    return PEAK * (np.array(waves) + noise * rng.standard_normal((3, T.size)))


def record(waves, currents=None):
    channels = [Channel(f"U{phase}", "V", phase, wave) for phase, wave in zip("ABC", waves, strict=True)]
    if currents is not None:
        channels += [Channel(f"I{phase}", "A", phase, wave) for phase, wave in zip("ABC", currents, strict=True)]
    return Recording(tuple(channels), RATE, HERTZ)


def on_phase(rng, one, others=1.0):
    """Levels of three phases of which one, drawn, differs."""
    rows = [others] * 3
    rows[rng.integers(3)] = one
    return rows


def impulse(rng):
    start = rng.uniform(0.2, 0.5)
    shape = ring(start, 0.25 / rng.uniform(3e-5, 1.5e-4), rng.uniform(4e-5, 2e-4)) + 0.9 * box(start, start + 1e-4)
    size = rng.uniform(0.5, 2.0)
    return Kind(
        record(three_phases(rng, added=[s * size * shape for s in (1, 0.5, 0.4)])), frozenset({"transient"}), QUIET
    )


def spike(rng):
    start = rng.uniform(0.2, 0.5)
    added = on_phase(rng, rng.choice([-1, 1]) * rng.uniform(0.3, 1.0) * box(start, start + 3 / RATE), 0.0)
    return Kind(record(three_phases(rng, added=added)), frozenset({"transient"}), QUIET)


def capacitor(rng, start=None, hertz=None, decay=None):
    start = rng.uniform(0.2, 0.5) if start is None else start
    hertz = rng.uniform(300, 1000) if hertz is None else hertz
    decay = rng.uniform(0.003, 0.01) if decay is None else decay
    size = rng.uniform(0.3, 0.8)
    poles = start + np.array([0.0, rng.uniform(0, 0.006), rng.uniform(0, 0.01)])
    added = [size * s * ring(pole, hertz, decay) for s, pole in zip((1, -0.8, 0.9), poles, strict=True)]
    levels = [1 + rng.uniform(0.005, 0.015) * box(pole) for pole in poles]
    return Kind(record(three_phases(rng, levels, added)), frozenset({"transient"}), frozenset({"capacitor switching"}))


def first_cycle(rng):
    return capacitor(rng, rng.uniform(0.006, 0.016))


def back_to_back(rng):
    return capacitor(rng, None, rng.uniform(1000, 2600), rng.uniform(0.001, 0.002))


def damped(rng):
    return capacitor(rng, None, rng.uniform(400, 900), rng.uniform(0.001, 0.002))


def frequency_ramp(rng):
    end = rng.choice([47.0, 52.0])
    hertz = np.interp(T, [0.1, 0.7], [50.0, end])
    return Kind(record(three_phases(rng, hertz=hertz)), frozenset({"frequency"}), QUIET)


def clock_off(rng):
    return Kind(record(three_phases(rng, hertz=50 * rng.choice([0.97, 1.03]))), frozenset(), QUIET)


def clipped_swell(rng):
    start = rng.uniform(0.2, 0.3)
    waves = three_phases(rng, [1 + rng.uniform(0.3, 0.6) * box(start, start + 0.2)] * 3)
    return Kind(record(np.clip(waves, -1.2 * PEAK, 1.2 * PEAK)), frozenset({"swell"}), QUIET)


def clipped_current(rng):
    on = box(rng.uniform(0.2, 0.3), rng.uniform(0.4, 0.5))
    waves = three_phases(rng, on_phase(rng, 1 - 0.5 * on))
    currents = np.clip(100 * three_phases(rng, [1 + 9 * on] * 3) / PEAK, -600, 600)
    return Kind(record(waves, currents), frozenset({"sag"}), FAULT)


def frozen(rng):
    waves = three_phases(rng)
    first = rng.integers(1500, 3000)
    stop = first + round(rng.uniform(0.02, 0.06) * RATE)
    waves[:, first:stop] = waves[:, first : first + 1]
    return Kind(record(waves), frozenset(), QUIET)


def frozen_alone(rng):
    waves = three_phases(rng)
    row = rng.integers(3)
    first = rng.integers(1500, 1500 + RATE // HERTZ)
    first += np.abs(waves[row, first : first + int(RATE / HERTZ)]).argmax()
    waves[row, first : first + rng.integers(100, 6000)] = waves[row, first]
    return Kind(record(waves), frozenset(), QUIET)


def lost(rng):
    waves = three_phases(rng)
    first = rng.integers(1500, 3000)
    gap = round(rng.uniform(0.002, 0.018) * RATE)
    return Kind(record(np.delete(waves, slice(first, first + gap), axis=1)), frozenset(), QUIET)


def swapped(rng):
    waves = three_phases(rng)
    first = rng.integers(1500, 3000)
    waves[:2, first:] = waves[1::-1, first:].copy()
    return Kind(record(waves), frozenset(), QUIET)


def missing(rng):
    waves = three_phases(rng)
    first = rng.integers(1500, 3000)
    waves[:, first : first + rng.integers(20, 400)] = np.nan
    return Kind(record(waves), frozenset(), QUIET)


def phase_jump(rng):
    angle = np.radians(rng.uniform(15, 40)) * box(rng.uniform(0.2, 0.5))
    return Kind(record(three_phases(rng, angle=angle)), frozenset(), QUIET)


def fuse(rng):
    levels = on_phase(rng, 1 - rng.uniform(0.72, 1.0) * box(rng.uniform(0.2, 0.4)), 1.0 + 0.0 * T)
    currents = 100 * three_phases(rng) / PEAK if rng.random() < 0.5 else None
    return Kind(record(three_phases(rng, levels), currents), frozenset({"sag", "interruption"}), QUIET)


def with_load(rng, voltage, current, angle):
    """Voltages of these levels, and currents of these levels and this angle behind them [A, rad]."""
    waves = three_phases(rng, [voltage] * 3)
    behind = np.interp(T - angle / (2 * np.pi * HERTZ), T, np.arange(T.size)).astype(int)
    return record(waves, current * waves[:, behind] / PEAK)


def loose_input(rng):
    start = rng.uniform(0.2, 0.4)
    levels = on_phase(rng, 1 - rng.uniform(0.72, 1.0) * box(start, start + rng.uniform(0.1, 0.3)))
    return Kind(record(three_phases(rng, levels), 100 * three_phases(rng) / PEAK), frozenset({"sag"}), QUIET)


def island(rng):
    start = rng.uniform(0.2, 0.3)
    late = np.maximum(T - start, 0.0)
    levels = [1 - rng.uniform(0.05, 0.09) * box(start) * np.exp(-late / 0.1)] * 3
    waves = three_phases(rng, levels, hertz=HERTZ * (1 - rng.uniform(0.01, 0.02) * (1 - np.exp(-late / 0.2))))
    return Kind(record(waves), frozenset({"rapid voltage change", "frequency"}), QUIET)


def load_on_and_off(rng):
    start = rng.uniform(0.2, 0.4)
    on = box(start, start + rng.uniform(0.1, 0.25))
    made = with_load(rng, 1 - rng.uniform(0.035, 0.06) * on, 100 + rng.uniform(120, 250) * on, rng.uniform(0.5, 0.8))
    return Kind(made, frozenset({"rapid voltage change"}), frozenset({"load switching"}) | QUIET)


def bank_off(rng):
    on = 1 - box(rng.uniform(0.2, 0.4))
    made = with_load(rng, 1 + rng.uniform(0.028, 0.04) * on, 100 * on, -np.pi / 2)
    return Kind(made, frozenset({"rapid voltage change"}), frozenset({"capacitor switching"}))


def swell_on_one(rng):
    start = rng.uniform(0.2, 0.4)
    levels = on_phase(rng, 1 + rng.uniform(0.15, 0.5) * box(start, start + rng.uniform(0.06, 0.3)))
    return Kind(record(three_phases(rng, levels)), frozenset({"swell"}), QUIET | FAULT)


def swell_on_all(rng):
    levels = [1 + rng.uniform(0.15, 0.5) * box(rng.uniform(0.2, 0.4), rng.uniform(0.5, 0.7))] * 3
    return Kind(record(three_phases(rng, levels)), frozenset({"swell"}), QUIET)


def begins_dead(rng):
    levels = [0.001 + box(rng.uniform(0.05, 0.3))] * 3
    return Kind(record(three_phases(rng, levels)), frozenset({"interruption"}), QUIET)


def lockout(rng):
    start = rng.uniform(0.05, 0.07)
    opens = start + 1.5 / HERTZ
    rows = [1 - box(opens)] * 3
    rows[rng.integers(3)] = 1 - rng.uniform(0.88, 0.92) * box(start, opens) - box(opens)
    waves = three_phases(rng, np.maximum(rows, 0.001))
    return Kind(record(waves), frozenset({"interruption"}), FAULT)


def evolving(rng):
    first, second, third = np.cumsum([rng.uniform(0.2, 0.3), rng.uniform(0.05, 0.1), rng.uniform(0.05, 0.1)])
    depth = rng.uniform(0.4, 0.7, 2)
    levels = [1 - depth[0] * box(first, third), 1 - depth[1] * box(second, third), 1 + 0.02 * box(first, third)]
    return Kind(record(three_phases(rng, levels)), frozenset({"sag"}), FAULT)


def reaccelerating(rng):
    start = rng.uniform(0.1, 0.2)
    end = start + rng.uniform(0.06, 0.12)
    slow = box(end) * rng.uniform(0.06, 0.14) * np.exp(-np.maximum(T - end, 0) / rng.uniform(0.1, 0.3))
    depth = rng.uniform(0.4, 0.7)
    levels = [1 - size * depth * box(start, end) - slow for size in (1.0, 1.0, 0.6)]
    return Kind(record(three_phases(rng, levels)), frozenset({"sag"}), FAULT)


def inverter_trip(rng):
    levels = [1 - rng.uniform(0.025, 0.05) * box(rng.uniform(0.2, 0.4))] * 3
    return Kind(
        record(three_phases(rng, levels)), frozenset({"rapid voltage change"}), frozenset({"load switching", "unknown"})
    )


def half_cycle_fault(rng):
    start = rng.uniform(0.2, 0.5)
    levels = on_phase(rng, 1 - rng.uniform(0.5, 0.8) * box(start, start + 0.01))
    return Kind(record(three_phases(rng, levels)), frozenset({"sag"}), FAULT | {"unknown"})


KINDS: dict[str, Callable[[np.random.Generator], Kind]] = {
    one.__name__: one
    for one in (
        impulse,
        spike,
        capacitor,
        first_cycle,
        back_to_back,
        damped,
        frequency_ramp,
        clock_off,
        clipped_swell,
        clipped_current,
        frozen,
        frozen_alone,
        lost,
        swapped,
        missing,
        phase_jump,
        fuse,
        loose_input,
        island,
        load_on_and_off,
        bank_off,
        swell_on_one,
        swell_on_all,
        begins_dead,
        lockout,
        evolving,
        reaccelerating,
        inverter_trip,
        half_cycle_fault,
    )
}
