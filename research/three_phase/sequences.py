"""Sequences of faults: plain, evolving, cleared by interruption, and reclosed."""

import numpy as np

from three_phase.faults import (
    DELTA_WYE,
    State,
    draw_characteristic,
    fault_currents,
    pole_times,
    sequence_shape,
    type_phasors,
)
from three_phase.record import BALANCED, Axis, Shape


def fault_state(time: float, bollen: str, symmetrical: int, rng: np.random.Generator) -> State:
    """A fault that strikes all phases at one time."""
    voltage = draw_characteristic(rng, high=0.75 if bollen in "FGHI" else 0.8)
    phasors = type_phasors(bollen, voltage, symmetrical)
    currents = fault_currents(bollen, symmetrical, rng.uniform(3, 10), rng.uniform(0.9, 1.4))
    return State("fault", np.full(3, time), phasors, bollen, symmetrical, currents)


def cleared(axis: Axis, fault: State, time: float, phasors: np.ndarray, name: str, rng: np.random.Generator) -> State:
    """The state after a breaker whose contacts part at a time."""
    times = pole_times(
        axis, time, fault.bollen, fault.symmetrical, lag=rng.uniform(0.9, 1.4), grounded=bool(rng.random() < 0.5)
    )
    if name == "interruption":  # sound phases carry load current, which has zeros of its own
        load = [axis.next_zero(phasor * np.exp(-0.4j), time) for phasor in BALANCED]
        times = np.maximum(times, load) if fault.bollen == "A" else np.array(load)
    return State(name, times, phasors)


def plain_fault(axis: Axis, rng: np.random.Generator, bollen: str, *, ends_inside: bool = False) -> Shape:
    """One fault of a type, 3 to 20 cycles long, or longer than the record."""
    start = rng.uniform(0.1, 0.3) * min(axis.length, 1)
    fault = fault_state(start, bollen, int(rng.integers(3)), rng)
    if ends_inside:
        kind = f"fault, type {bollen}, record ends inside"
        return sequence_shape(axis, kind, [fault], axis.length + 0.2, rng, upstream=rng.random() < 0.3)
    back = cleared(axis, fault, start + rng.uniform(0.06, 0.4), BALANCED, "restored", rng)
    upstream = fault.fault is None or rng.random() < 0.4
    return sequence_shape(axis, f"fault, type {bollen}", [fault, back], float(back.times.max()), rng, upstream=upstream)


def evolving_fault(axis: Axis, rng: np.random.Generator, types: str) -> Shape:
    """A fault to earth that spreads to a second phase and perhaps to all, behind 0, 1 or 2 transformers.

    Parameters
    ----------
    types : str
        Types in order, such as ``"BEA"`` at the level of the fault, or ``"CFA"`` behind a delta-wye transformer.
    """
    distance = "BCD".index(types[0])  # transformers between fault and meter
    struck = int(rng.integers(3))
    second = (struck + int(rng.integers(1, 3))) % 3
    symmetric = {"B": struck, "E": 3 - struck - second, "A": 0}
    voltage, time, states = draw_characteristic(rng, 0.3, 0.8), rng.uniform(0.1, 0.25), []
    for seen in types:
        origin = "A" if seen == "A" else "B" if seen in "BCD" else "E"
        voltage *= rng.uniform(0.75, 0.95)  # it comes nearer as it spreads
        at_fault = type_phasors(origin, voltage, symmetric[origin])
        # A turn of the whole system by the clock number of the transformers is left out.
        phasors = np.linalg.matrix_power(DELTA_WYE, distance) @ at_fault
        currents = fault_currents(origin, symmetric[origin], rng.uniform(3, 10), 1.2) if distance == 0 else None
        states.append(State("fault", np.full(3, time), phasors, seen, symmetric[origin], currents))
        time += rng.uniform(0.04, 0.15)
    back = cleared(axis, states[-1], time, BALANCED, "restored", rng)
    return sequence_shape(
        axis, "evolving fault", [*states, back], float(back.times.max()), rng, upstream=bool(distance)
    )


def tripped_fault(axis: Axis, rng: np.random.Generator) -> Shape:
    """A fault cleared by a breaker upstream: no voltage until the end of the record."""
    fault = fault_state(rng.uniform(0.1, 0.3), str(rng.choice(list("ABCE"))), int(rng.integers(3)), rng)
    off = cleared(axis, fault, fault.times[0] + rng.uniform(0.06, 0.2), np.zeros(3), "interruption", rng)
    fading = rng.uniform(0.3, 0.6) * (rng.random() < 0.25)
    return sequence_shape(axis, "fault cleared by interruption", [fault, off], axis.length + 1, rng, fading=fading)


def reclosing(axis: Axis, rng: np.random.Generator, *, successful: bool, from_bus: bool = False) -> Shape:
    """A fault, dead time and reclosing; from the bus, a neighboring feeder's voltage is normal in the dead time."""
    bollen, symmetrical = str(rng.choice(list("ABCE"))), int(rng.integers(3))
    fault = fault_state(rng.uniform(0.08, 0.15), bollen, symmetrical, rng)
    trip = fault.times[0] + rng.uniform(0.06, 0.12)
    dead = BALANCED if from_bus else np.zeros(3)
    off = cleared(axis, fault, trip, dead, "restored" if from_bus else "interruption", rng)
    close = off.times.max() + rng.uniform(0.2, 0.4)
    poles = close + rng.uniform(0, 0.004, 3)
    if successful:
        back = State("restored", poles, BALANCED)
        return sequence_shape(axis, "reclosing, successful", [fault, off, back], float(poles.max()), rng)
    again = State("fault", np.full(3, close), fault.phasors, bollen, symmetrical, fault.fault)
    final = cleared(axis, again, close + rng.uniform(0.06, 0.12), dead, off.name, rng)
    kind = "reclosing, unsuccessful" + ", from the bus" * from_bus
    end = float(final.times.max()) if from_bus else axis.length + 1
    return sequence_shape(axis, kind, [fault, off, again, final], end, rng, upstream=from_bus)
