"""Faults: the types of Bollen, how they begin, evolve and are cleared, and the currents of the measured feeder.

Types and formulas: M. H. J. Bollen, Understanding Power Quality Problems, IEEE Press 2000, chapter 4 (types A to G by
the characteristic voltage; the characteristic voltage by the impedance angle). Types H and I add the displacement of
the neutral of a system that is not solidly earthed (V. Ignatova, P. Granjon, S. Bacha, IEEE Trans. Power Deliv., 2009).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, pi, sqrt

import numpy as np

from three_phase.record import BALANCED, PHASES, Axis, Shape, Stage, Truth

ROOT = 1j * sqrt(3) / 2
DELTA_WYE = 1j / sqrt(3) * np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
"""Voltages behind a delta-wye transformer, turned back by its clock number: no zero sequence."""
TYPES = "ABCDEFGHI"


def type_phasors(bollen: str, characteristic: complex, symmetrical: int = 0) -> np.ndarray:
    """Voltages of phases A, B and C for a type, its characteristic voltage [pu] and its symmetrical phase (0 to 2)."""
    v = characteristic
    first = {
        "A": (v, v * (-0.5 - ROOT), v * (-0.5 + ROOT)),
        "B": (v, -0.5 - ROOT, -0.5 + ROOT),
        "C": (1, -0.5 - ROOT * v, -0.5 + ROOT * v),
        "D": (v, -v / 2 - ROOT, -v / 2 + ROOT),
        "E": (1, v * (-0.5 - ROOT), v * (-0.5 + ROOT)),
        "F": (v, -v / 2 - ROOT * (2 + v) / 3, -v / 2 + ROOT * (2 + v) / 3),
        "G": ((2 + v) / 3, -(2 + v) / 6 - ROOT * v, -(2 + v) / 6 + ROOT * v),
        "H": (v, v - 1.5 - ROOT, v - 1.5 + ROOT),
        "I": (1.5 - v / 2, v * (-0.5 - ROOT), v * (-0.5 + ROOT)),
    }[bollen]
    return np.roll(np.array(first, complex), symmetrical) * BALANCED[symmetrical]


def characteristic_voltage(magnitude: float, impedance_angle: float) -> complex:
    """The characteristic voltage of a magnitude [pu] for an angle between feeder and source impedance [rad].

    V = z / (1 + z) with z = k exp(j angle), where the distance k to the fault gives the magnitude.
    """
    near, far = 0.0, 50.0
    for _ in range(60):
        k = (near + far) / 2
        z = k * np.exp(1j * impedance_angle)
        near, far = (k, far) if abs(z / (1 + z)) < magnitude else (near, k)
    return complex(z / (1 + z))


def draw_characteristic(rng: np.random.Generator, low: float = 0.05, high: float = 0.8) -> complex:
    """A characteristic voltage; overhead lines jump little, cables behind a strong source up to 35 degrees."""
    return characteristic_voltage(rng.uniform(low, high), np.radians(rng.uniform(-35, 8)))


@dataclass(frozen=True)
class State:
    """Voltages from a time on.

    Attributes
    ----------
    name : str
        Of the stage.
    times : ndarray of shape (3,)
        When each phase changes [s].
    phasors : ndarray of shape (3,)
        Voltages [pu].
    bollen, symmetrical : str, int
        Type of the voltages.
    fault : ndarray of shape (3,)
        Fault currents of the feeder if the fault is on it, relative to the load current.
    """

    name: str
    times: np.ndarray
    phasors: np.ndarray
    bollen: str = ""
    symmetrical: int = 0
    fault: np.ndarray | None = None


def pole_times(axis: Axis, time: float, bollen: str, symmetrical: int, lag: float, grounded: bool) -> np.ndarray:
    """When each phase recovers if the contacts part at a time: at the next zero of the current in its pole."""
    s, u, w = (symmetrical + np.arange(3)) % 3
    own = np.array([axis.next_zero(phasor * np.exp(-1j * lag), time) for phasor in BALANCED])
    if bollen in "CDI":  # one current through two phases, seen behind 0, 1 or 2 delta-wye transformers
        return np.full(3, axis.next_zero((BALANCED[u] - BALANCED[w]) * np.exp(-1j * lag), time))
    if bollen in "BH":
        return np.full(3, own[s])
    if bollen in "EFG":
        own[s] = max(own[u], own[w])
        return own
    if not grounded:  # after the first pole the other two share one current
        first = own.argmin()
        own = np.where(np.arange(3) == first, own[first], own[first] + 1 / (4 * axis.frequency))
    return own


def fault_currents(bollen: str, symmetrical: int, size: float, lag: float) -> np.ndarray | None:
    """Currents into a fault at the measured level, or None if this type is seen through a transformer."""
    s, u, w = (symmetrical + np.arange(3)) % 3
    currents = np.zeros(3, complex)
    if bollen == "A":
        currents += BALANCED
    elif bollen in "BH":
        currents[s] = BALANCED[s] * (0.05 if bollen == "H" else 1)
    elif bollen in "CI":
        between = (BALANCED[u] - BALANCED[w]) / 2
        currents[u], currents[w] = between, -between
    elif bollen == "E":
        currents[[u, w]] = BALANCED[[u, w]]
    else:
        return None
    return currents * size * np.exp(-1j * lag)


def fault_name(bollen: str, symmetrical: int) -> str:
    """Name of the faulted phases at the measured level: ``"AG"``, ``"BC"``, ``"BCG"``, ``"ABC"``; empty if not seen."""
    others = "".join(p for i, p in enumerate(PHASES) if i != symmetrical)
    names = {"A": "ABC", "B": PHASES[symmetrical] + "G", "H": PHASES[symmetrical] + "G", "C": others}
    return (names | {"E": others + "G", "I": others + "G"}).get(bollen, "")


def ringing(axis: Axis, time: float, step: float, rng: np.random.Generator) -> np.ndarray:
    """The lines' own oscillation after a step of the voltage."""
    since = axis.t - time
    frequency, decay = rng.uniform(600, 3000), rng.uniform(0.3e-3, 1.5e-3)
    after = np.maximum(since, 0)
    return (since >= 0) * step * np.exp(-after / decay) * np.cos(2 * pi * frequency * after)


def sequence_shape(
    axis: Axis,
    kind: str,
    states: Sequence[State],
    end: float,
    rng: np.random.Generator,
    *,
    upstream: bool = False,
    fading: float = 0.0,
) -> Shape:
    """Waveforms of a sequence of states, each with its edges, the recovery and the currents.

    The last state lasts; `end` is the end of the last stage [s]. A final state "restored" is not a stage. With `fading`
    [pu], motors keep up a decaying voltage in the last state.
    """
    phasors = np.repeat(BALANCED[:, None], axis.t.size, axis=1)
    rings = np.zeros((3, axis.t.size))
    last = BALANCED
    for state in states:
        for p in range(3):
            phasors[p, axis.t >= state.times[p]] = state.phasors[p]
            jump = axis.value(last[p] - state.phasors[p], state.times[p])
            if abs(jump) > 0.01:
                share = rng.uniform(0, 0.5) * (abs(state.phasors[p]) > 0.01)
                rings[p] += ringing(axis, state.times[p], share * jump, rng)
        last = state.phasors
    back = next((state for state in reversed(states) if state.name == "restored"), None)
    if back is not None and rng.random() < 0.4:  # motors accelerate again and transformers draw inrush current
        since = np.maximum(axis.t - back.times.max(), 0)
        slow = 1 - rng.uniform(0.01, 0.05) * np.exp(-since / rng.uniform(0.03, 0.1))
        phasors = np.where(axis.t >= back.times.max(), phasors * slow, phasors)
    if fading:
        since = np.maximum(axis.t - states[-1].times[:, None], 0)
        left = fading * BALANCED[:, None] * np.exp(-since / rng.uniform(0.03, 0.08))
        phasors = np.where(axis.t >= states[-1].times[:, None], left, phasors)
    wave = axis.wave(phasors) + rings
    wave += arc_voltage(axis, states, rng)
    names = [state for state in states if state is not back or state is not states[-1]]
    ends = [*(float(state.times.min()) for state in states[1 : len(names)]), end]
    letters = [PHASES[state.symmetrical] if state.bollen not in ("", "A") else "" for state in names]
    stages = tuple(
        Stage(state.name, float(state.times.min()), until, state.bollen, letter)
        for state, until, letter in zip(names, ends, letters, strict=True)
    )
    residual = np.min([np.ones(3), *(np.abs(state.phasors) for state in states)], axis=0)
    worst = next(state for state in reversed(states) if state.bollen)
    truth = Truth(
        "fault",
        kind,
        stages,
        tuple(residual.tolist()),
        fault=fault_name(worst.bollen, worst.symmetrical),
        direction="upstream" if upstream or worst.fault is None else "downstream",
    )
    return Shape(wave, np.abs(phasors), feeder_currents(axis, states, phasors, rng, upstream=upstream), truth)


def arc_voltage(axis: Axis, states: Sequence[State], rng: np.random.Generator) -> np.ndarray:
    """Odd harmonics of an arc on the phases of a one- or two-phase fault to earth, in a third of them."""
    waves = np.zeros((3, axis.t.size))
    size = rng.uniform(0.01, 0.04) * (rng.random() < 1 / 3)
    for i, state in enumerate(states):
        if size and state.bollen in ("B", "E"):
            until = states[i + 1].times if i + 1 < len(states) else np.full(3, inf)
            for p in np.flatnonzero(np.abs(state.phasors) < 0.95):
                on = (axis.t >= state.times[p]) & (axis.t < until[p])
                turning = np.exp(1j * np.angle(state.phasors[p])) * axis.rotation
                waves[p] += on * size * sum(np.real(turning**h) / h for h in (3, 5, 7))
    return waves


def feeder_currents(
    axis: Axis, states: Sequence[State], phasors: np.ndarray, rng: np.random.Generator, *, upstream: bool
) -> np.ndarray:
    """Load current of constant impedance, and the fault current with its decaying offset if the fault is downstream."""
    currents = axis.wave(phasors * np.exp(-1j * rng.uniform(0.2, 0.6)))
    decay = rng.uniform(0.02, 0.06)
    for i, state in enumerate(states):
        until = states[i + 1].times if i + 1 < len(states) else np.full(3, inf)
        for p in range(3):
            on = (axis.t >= state.times[p]) & (axis.t < until[p])
            since = np.maximum(axis.t - state.times[p], 0)
            if upstream and state.bollen and abs(state.phasors[p]) < 0.9:  # running motors feed the fault
                back = -rng.uniform(0.5, 2.5) * state.phasors[p] * np.exp(-1j * rng.uniform(0.8, 1.4))
                currents[p] += on * np.exp(-since / 0.03) * np.real(back * axis.rotation)
            elif not upstream and state.fault is not None and state.fault[p]:
                offset = axis.value(state.fault[p], state.times[p])
                flow = np.real(state.fault[p] * axis.rotation) - offset * np.exp(-since / decay)
                currents[p] += on * flow
    return currents
