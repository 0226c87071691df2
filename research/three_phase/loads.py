"""What is switched in a network without a fault: motors, transformers, capacitor banks and loads.

Motor: steady-state equivalent circuit and the equation of motion (Bollen, Understanding Power Quality Problems, 4.9).
Transformer: flux linkage with remanence and a saturated inductance behind the source impedance (Bollen and Gu, Signal
Processing of Power Quality Disturbances, 2006, on energising dips). Capacitor bank: the voltage falls towards zero and
oscillates with the source inductance (R. C. Dugan et al., Electrical Power Systems Quality, capacitor switching).
"""

from math import inf, pi

import numpy as np

from three_phase.record import BALANCED, FINE_RATE, Axis, Shape, Stage, Truth

LOAD_LAG = np.exp(-0.4j)


def motor_start(axis: Axis, rng: np.random.Generator, *, slow: bool = False) -> Shape:
    """Direct start of an induction motor: a balanced dip of 6 to 25 % that recovers as the speed rises."""
    start = rng.uniform(0.1, 0.25)
    duration = (axis.length - start) * rng.uniform(1.02, 1.25) if slow else rng.uniform(0.25, 0.6)
    x, magnetising = rng.uniform(0.15, 0.2), rng.uniform(3, 4.5)
    stator, rotor, deep_bars = rng.uniform(0.005, 0.02), rng.uniform(0.012, 0.025), rng.uniform(0.5, 2)

    def impedance(slip: float) -> complex:
        resistance = rotor * (1 + deep_bars * slip) / slip
        branch = 1 / (1 / (1j * magnetising) + 1 / (resistance + 0.5j * x))
        return stator + 0.5j * x + branch

    depth, angle = rng.uniform(0.06, 0.25), rng.uniform(0.1, 0.35) + 1j
    low, high = 0.0, 1.0
    for _ in range(50):  # the source impedance for this depth at standstill
        source = (low + high) / 2 * angle
        fraction = abs(impedance(1.0) / (impedance(1.0) + source))
        low, high = ((low + high) / 2, high) if fraction > 1 - depth else (low, (low + high) / 2)
    load, speed, step = rng.uniform(0.1, 0.4), 0.0, 0.002
    voltages, currents, speeds = [], [], []
    while len(speeds) < 20_000:
        slip = max(1 - speed, 1e-3)
        current = 1 / (impedance(slip) + source)
        voltage = 1 - source * current
        rotor_current = (
            current * 1j * magnetising / (1j * magnetising + 0.5j * x + rotor * (1 + deep_bars * slip) / slip)
        )
        torque = abs(rotor_current) ** 2 * rotor * (1 + deep_bars * slip) / slip
        gain = torque - torque_of_load(load, speed)
        voltages.append(voltage)
        currents.append(current)
        speeds.append(speed)
        if gain < 1e-4:
            break
        speed = min(speed + step * gain, 0.999)
    reached = int(np.argmax(np.array(speeds) >= 0.97 * speeds[-1]))
    times = start + duration * np.arange(len(speeds)) / max(reached, 1)
    dip = np.interp(axis.t, times, voltages)
    drawn = np.interp(axis.t, times, currents)
    on = axis.t >= start
    phasors = BALANCED[:, None] * np.where(on, dip, 1)
    since = np.maximum(axis.t - start, 0)
    flow = axis.wave(BALANCED[:, None] * drawn)
    offset = np.array([axis.value(phasor * currents[0], start) for phasor in BALANCED])
    size = rng.uniform(0.3, 1.0)  # rating of the motor relative to the other load of the feeder
    amps = axis.wave(phasors * LOAD_LAG) + size * on * (flow - offset[:, None] * np.exp(-since / 0.02))
    truth = Truth(
        "motor start",
        "motor start, slow" if slow else "motor start",
        (Stage("motor start", start, start + duration, "A"),),
        tuple(np.full(3, 1 - depth).tolist()),
    )
    return Shape(axis.wave(phasors), np.abs(phasors), amps, truth)


def torque_of_load(load: float, speed: float) -> float:
    """Torque of a pump or fan with some friction, relative to the rated torque."""
    return load * (0.1 + 0.9 * speed**2)


def energise(axis: Axis, start: float, remanence: np.ndarray, ratio: float, damping: float) -> tuple[np.ndarray, ...]:
    """Voltages and inrush currents of a transformer by integration of its flux.

    Parameters
    ----------
    remanence : ndarray of shape (3,)
        Flux before closing [peak of the steady flux].
    ratio : float
        Source inductance relative to the saturated inductance; it gives the depth.
    damping : float
        Resistance relative to the saturated reactance.
    """
    knee, smooth, part = 1.15, 0.03, 128
    table = np.linspace(-5, 5, 5001)
    drawn = np.sign(table) * smooth * np.logaddexp(0, (np.abs(table) - knee) / smooth)
    linkage = table + ratio * drawn  # flux of transformer and source inductance: its slope is source minus resistance
    source, free = axis.wave(BALANCED), axis.wave(-1j * BALANCED)
    first = int(np.argmax(axis.t >= start))
    free += remanence[:, None] - free[:, first : first + 1]
    volts, amps, lost = source.copy(), np.zeros_like(source), np.zeros((3, 1))
    for begin in range(first, axis.t.size, part):
        now = slice(begin, begin + part)
        losses = lost
        for _ in range(4):  # resistive losses within a quarter of a cycle are small: a few corrections suffice
            flux = np.interp(free[:, now] - losses, linkage, table)
            current = np.interp(flux, table, drawn)
            losses = lost + damping * axis.omega / FINE_RATE * np.cumsum(current, axis=1)
        lost = losses[:, -1:]
        slope = 1 / (1 + np.exp(-(np.abs(flux) - knee) / smooth))  # of the current over the flux
        volts[:, now] = (source[:, now] - damping * current) / (1 + ratio * slope)
        amps[:, now] = current
    return volts, amps


def transformer_energising(axis: Axis, rng: np.random.Generator) -> Shape:
    """Inrush of a transformer without load: an unequal dip of 5 to 22 % with even harmonics that decays slowly."""
    start = rng.uniform(0.1, 0.3)
    lying = rng.uniform(0.2, 0.75)
    remanence = np.roll([lying, -lying * rng.uniform(0.2, 0.8), 0.0], rng.integers(3)) * rng.choice([-1, 1])
    remanence -= remanence.mean()
    damping, depth = rng.uniform(0.02, 0.08), rng.uniform(0.05, 0.22)
    brief = Axis(start + 0.02, axis.frequency, axis.angle)  # the first cycle is the deepest
    low, high = 0.0, 1.5
    for _ in range(7):
        ratio = (low + high) / 2
        volts, _ = energise(brief, start, remanence, ratio, damping)
        low, high = (ratio, high) if min(brief.lowest_rms(volts)) > 1 - depth else (low, ratio)
    volts, amps = energise(axis, start, remanence, ratio, damping)
    stage = Stage("transformer energising", start, inf)
    truth = Truth("transformer energising", "transformer energising", (stage,), axis.lowest_rms(volts))
    load = axis.wave(BALANCED * LOAD_LAG)
    return Shape(volts, np.ones_like(volts), load + rng.uniform(2, 6) * amps, truth)


def capacitor_switching(axis: Axis, rng: np.random.Generator) -> Shape:
    """A capacitor bank of earthed star: ringing of 300 to 900 Hz, and a voltage that stays a little higher."""
    start = rng.uniform(0.15, 0.6)
    poles = start + rng.uniform(0, 0.0015, 3) * (rng.random() < 0.6)
    frequency, decay = rng.uniform(300, 900), rng.uniform(0.003, 0.015)
    share, rise, rating = rng.uniform(0.3, 0.95), rng.uniform(0.004, 0.025), rng.uniform(0.3, 1.0)
    wave, amps = axis.wave(BALANCED), axis.wave(BALANCED * LOAD_LAG)
    for p, pole in enumerate(poles):
        since = np.maximum(axis.t - pole, 0)
        on = axis.t >= pole
        fade = np.exp(-since / decay)
        struck = axis.value(BALANCED[p], pole)
        wave[p] *= 1 + on * rise * (1 - fade)
        wave[p] -= on * share * struck * fade * np.cos(2 * pi * frequency * since)
        charging = np.real(1j * BALANCED[p] * axis.rotation)
        inrush = share * struck * frequency / axis.frequency * fade * np.sin(2 * pi * frequency * since)
        amps[p] += on * rating * (charging + inrush)
    truth = Truth("capacitor switching", "capacitor switching", (Stage("capacitor switching", start, inf),))
    return Shape(wave, np.ones_like(wave), amps, truth)


def load_switching(axis: Axis, rng: np.random.Generator, change: str) -> Shape:
    """A step of 2.5 to 7 % down or up, or down and up again, in all phases or mostly in one or two."""
    start = rng.uniform(0.2, 0.5)
    end = start + rng.uniform(0.2, 0.4) if change == "on and off" else inf
    size = rng.uniform(0.025, 0.07 if change != "off" else 0.05)
    weights = np.ones(3) if rng.random() < 0.6 else np.roll([1.0, *rng.uniform(0, 0.9, 2)], rng.integers(3))
    drops = size * weights * np.exp(1j * rng.uniform(-0.6, 0.3)) * (-1 if change == "off" else 1)
    phasors = np.repeat(BALANCED[:, None], axis.t.size, axis=1)
    amps = axis.wave(BALANCED * LOAD_LAG)
    for p in range(3):
        begin = start + rng.uniform(0, 0.003) if change != "off" else axis.next_zero(BALANCED[p] * LOAD_LAG, start)
        on = (axis.t >= begin) & (axis.t < (end if end == inf else axis.next_zero(BALANCED[p] * LOAD_LAG, end)))
        phasors[p, on] *= 1 - drops[p]
        amps[p] += on * np.sign(drops[p].real) * 0.8 * weights[p] * np.real(BALANCED[p] * LOAD_LAG * axis.rotation)
    truth = Truth(
        "load switching",
        f"load {change}",
        (Stage("load switching", start, end),),
        tuple(np.minimum(1, np.abs(1 - drops)).tolist()),
    )
    return Shape(axis.wave(phasors), np.ones_like(amps), amps, truth)


def repeating_load(axis: Axis, rng: np.random.Generator) -> Shape:
    """A welder between two phases: six to nine dips of 13 to 20 %, one after another."""
    count = int(rng.integers(6, 10))
    period = rng.uniform(0.085, 0.8 / count)
    start = rng.uniform(0.06, 0.1)
    since = axis.t - start
    on = (since >= 0) & (since < count * period) & (since % period < rng.uniform(0.4, 0.6) * period)
    weights = np.roll([1.0, rng.uniform(0.8, 1.0), 0.0], rng.integers(3))
    drops = rng.uniform(0.13, 0.2) * weights
    phasors = BALANCED[:, None] * (1 - drops[:, None] * on)
    amps = axis.wave(BALANCED[:, None] * LOAD_LAG * (1 + weights[:, None] * on))
    stage = Stage("load switching", start, start + count * period)
    truth = Truth("load switching", "repeating load", (stage,), tuple((1 - drops).tolist()))
    return Shape(axis.wave(phasors), np.ones_like(amps), amps, truth)


def nothing(axis: Axis, rng: np.random.Generator) -> Shape:
    """A steady supply."""
    amps = axis.wave(BALANCED * np.exp(-1j * rng.uniform(0.2, 0.6)))
    return Shape(axis.wave(BALANCED), np.ones_like(amps), amps, Truth(None, "nothing"))
