"""The suite: fixed numbers of events of each kind, the same events at every sampling rate."""

from collections.abc import Callable, Iterator
from functools import partial
from math import pi

import numpy as np

from three_phase.loads import (
    capacitor_switching,
    load_switching,
    motor_start,
    nothing,
    repeating_load,
    transformer_energising,
)
from three_phase.record import BACKGROUNDS, Axis, Background, Shape, ThreePhaseEvent, record_shape
from three_phase.sequences import evolving_fault, plain_fault, reclosing, tripped_fault

CHAINS = ("BE", "BEA", "BA", "CF", "CFA", "DG", "DGA")
NOMINALS = (230.0, 3464.0, 6351.0, 11_547.0, 63_509.0)
"""Phase-to-neutral [V]: 400 V, 6, 11, 20 and 110 kV."""

Maker = Callable[[Axis, np.random.Generator], Shape]

EVENT_TYPES: dict[str, tuple[int, Callable[[int], Maker]]] = {
    "fault, types A to G": (70, lambda i: partial(plain_fault, bollen="ABCDEFG"[i % 7])),
    "fault, types H and I": (16, lambda i: partial(plain_fault, bollen="HI"[i % 2])),
    "fault, record ends inside": (14, lambda i: partial(plain_fault, bollen="ABCDEFG"[i % 7], ends_inside=True)),
    "evolving fault": (14, lambda i: partial(evolving_fault, types=CHAINS[i % 7])),
    "fault cleared by interruption": (12, lambda _: tripped_fault),
    "reclosing, successful": (10, lambda _: partial(reclosing, successful=True)),
    "reclosing, unsuccessful": (10, lambda _: partial(reclosing, successful=False)),
    "reclosing, seen from the bus": (6, lambda _: partial(reclosing, successful=False, from_bus=True)),
    "motor start": (18, lambda _: motor_start),
    "motor start, record ends inside": (8, lambda _: partial(motor_start, slow=True)),
    "transformer energising": (20, lambda _: transformer_energising),
    "capacitor switching": (20, lambda _: capacitor_switching),
    "load switching": (16, lambda i: partial(load_switching, change=("on", "off", "on and off")[i % 3])),
    "nothing": (12, lambda _: nothing),
    "repeating load": (8, lambda _: repeating_load),
}
"""Numbers of events of each kind, and the function that makes the i-th."""


def draw_suite(
    seed: int, sampling_rate: float, background: Background | str = "distorted", per_kind: int | None = None
) -> Iterator[tuple[str, ThreePhaseEvent]]:
    """Draw the suite.

    Parameters
    ----------
    seed : int
        Events depend only on it, not on rate and background. Use 7 to try things; keep 1000 and above for the final
        test.
    sampling_rate : float
        1600, 3200, 6400 or 12800 Hz.
    background : Background or str
        Harmonics, frequency and noise, or a name of :data:`BACKGROUNDS`.
    per_kind : int, optional
        At most that many events of each kind.

    Yields
    ------
    tuple of str and ThreePhaseEvent
        Name of the kind, one of :data:`EVENT_TYPES`, and the event.
    """
    drawn = BACKGROUNDS[background] if isinstance(background, str) else background
    for number, (name, (count, maker)) in enumerate(EVENT_TYPES.items()):
        for i in range(count if per_kind is None else min(count, per_kind)):
            rng = np.random.default_rng([seed, number, i])
            short = name == "fault, record ends inside"
            length = rng.uniform(0.2, 0.5) if short else 1.0
            # The frequency changes with the background, the place of it in its range does not.
            low, high = drawn.frequency
            axis = Axis(length, low + (high - low) * rng.random(), rng.uniform(-pi, pi))
            scale = {"volts": float(rng.choice(NOMINALS)), "amps": rng.uniform(50, 600)}
            shape = maker(i)(axis, rng)
            own = np.random.default_rng([seed, number, i, 1])
            yield (
                name,
                record_shape(axis, shape, drawn, sampling_rate, with_currents=i % 3 == 2, rng=own, scale=scale),
            )
