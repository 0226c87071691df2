"""Disturbed voltages by another model than the training events', for tests only.

The formulas are those of R. Igual, C. Medrano, F. J. Arcega and G. Mantescu, "Integral mathematical model of power
quality disturbances", ICHQP 2018 (steps u(t) that scale a sine for sags, swells and interruptions; exponentially damped
sines; impulses of 1 ms; a sinusoidal envelope for flicker; 1, 2, 4 or 6 notches per cycle; orders 3, 5 and 7), with its
ranges. Ours are: a frequency and a level slightly off nominal, events that touch the ends of the capture, orders to 25,
oscillations to 5 kHz, and impulses that are added to the voltage instead of scaling it. Nothing is shared with
`pqswarm.events`.
"""

import numpy as np

CLASSES = (
    "normal",
    "sag",
    "swell",
    "interruption",
    "oscillatory transient",
    "impulsive transient",
    "harmonics",
    "flicker",
    "notching",
    "sag with harmonics",
    "swell with harmonics",
    "flicker with harmonics",
)
LABELS = {name: frozenset({name.replace(" ", "_")}) for name in CLASSES}
LABELS["normal"] = frozenset({"pure_sinusoid"})
LABELS["impulsive transient"] |= {"oscillatory_transient"}
"""Labels of pqswarm that are right for each class here."""

GROUP = {name: "transient" if "transient" in name else name.partition(" with ")[0] for name in CLASSES}
GROUP |= {"normal": "none", "flicker with harmonics": "harmonics"}
"""Type of pqswarm (`pqswarm.events.EventClass`) that is right for each class here."""


def make_sine(rng, **settings):
    """Return an undisturbed voltage [V], its phase, frequency (0.5 %) and level (1 %) at random, with white noise."""
    return make("normal", rng, **settings)[0]


def make(class_name, rng, *, sampling_rate, frequency=50.0, cycles=10.0, snr=None, nominal=230.0):
    """Return a voltage [V] of a class, and its true parameters [s, Hz, pu of the peak]; noise [dB] comes last."""
    actual = frequency * (1 + rng.uniform(-0.005, 0.005))
    level = rng.uniform(0.99, 1.01)
    phase = rng.uniform(0, 2 * np.pi)
    t = np.arange(round(cycles * sampling_rate / frequency)) / sampling_rate
    length, period = cycles / frequency, 1 / actual
    carrier = np.sin(2 * np.pi * actual * t - phase)
    truth = {"class": class_name, "frequency": actual, "level": level, "phase": phase}
    kind, _, addition = class_name.partition(" with ")
    wave = carrier
    if addition == "harmonics" or kind == "harmonics":
        low = 0.08 if kind == "harmonics" else 0.06
        wave = carrier + _harmonics(rng, t, actual, sampling_rate, (low + 0.003, 0.15), truth)
    if kind in ("sag", "swell", "interruption"):
        low, high = {"sag": (0.13, 0.88), "swell": (0.13, 0.8), "interruption": (0.92, 1.0)}[kind]
        size = rng.uniform(low, high)
        begin, end = _place(rng, length, period)
        truth |= {"start": begin, "end": end, "depth" if kind != "swell" else "rise": size}
        inside = (t >= begin) & (t < end)
        wave = wave * (1 + (size if kind == "swell" else -size) * inside)
    elif kind == "flicker":
        slowest = max(5.0, 1.6 / length)
        rate, depth = rng.uniform(slowest, 25.0), rng.uniform(0.05, 0.1)
        truth |= {"flicker_frequency": rate, "flicker_depth": depth}
        wave = wave * (1 + depth * np.sin(2 * np.pi * rate * t + rng.uniform(0, 2 * np.pi)))
    elif kind == "notching":
        wave = wave - _notches(rng, t, carrier, period, sampling_rate, truth)
    elif kind == "oscillatory transient":
        wave = wave + _oscillation(rng, t, length, period, sampling_rate, truth)
    elif kind == "impulsive transient":
        wave = wave + _impulse(rng, t, actual, phase, length, period, truth)
    elif class_name not in LABELS:
        raise ValueError(f"no class {class_name!r}; there are {', '.join(CLASSES)}.")
    if snr is not None:
        power = float(np.mean(wave**2)) / 10 ** (snr / 10)
        wave = wave + rng.normal(0.0, np.sqrt(power), wave.size)
    return np.sqrt(2) * nominal * level * wave, truth


def _place(rng, length, period):
    """Begin and end of a sag or swell [s]: a cycle at least, within the capture or, in one of five, across its end."""
    if rng.random() < 0.2:
        visible = rng.uniform(1.5 * period, max(0.35 * length, 1.6 * period))
        return (-period, visible) if rng.random() < 0.5 else (length - visible, length + period)
    duration = rng.uniform(period, max(length - 2 * period, 1.1 * period))
    begin = rng.uniform(0.75 * period, max(length - duration - 0.75 * period, 0.8 * period))
    return begin, begin + duration


def _harmonics(rng, t, frequency, sampling_rate, distortion, truth):
    """Orders 3, 5 and 7, in one of two also two or three odd ones to 25, which the sampling rate can show."""
    orders = [3, 5, 7]
    weights = [*rng.uniform(0.05, 0.15, 3)]
    if rng.random() < 0.5:
        more = [order for order in range(9, 26, 2) if order * frequency < 0.4 * sampling_rate]
        for order in rng.choice(more, min(len(more), int(rng.integers(2, 4))), replace=False) if more else ():
            orders.append(int(order))
            weights.append(rng.uniform(0.01, 0.06))
    thd = rng.uniform(*distortion)
    weights = np.array(weights) * thd / np.linalg.norm(weights)
    truth |= {"thd": thd, "harmonics": dict(zip(orders, weights.tolist(), strict=True))}
    return sum(
        weight * np.sin(2 * np.pi * order * frequency * t - rng.uniform(0, 2 * np.pi))
        for order, weight in zip(orders, weights, strict=True)
    )


def _notches(rng, t, carrier, period, sampling_rate, truth):
    """Notches 0.1 to 0.4 deep, 0.01 to 0.05 of a cycle wide (two samples at least), 1, 2, 4 or 6 per cycle."""
    count = int(rng.choice([1, 2, 4, 6]))
    depth = rng.uniform(0.1, 0.4)
    width = rng.uniform(max(0.01, 2 / (sampling_rate * period)), 0.05) * period
    spacing = period / count
    first = rng.uniform(0, spacing - width)
    truth |= {"per_cycle": count, "notch_depth": depth, "notch_width": width}
    place = np.mod(t - first, spacing)
    return depth * np.sign(carrier) * (place < width)


def _oscillation(rng, t, length, period, sampling_rate, truth):
    """A damped sine, 300 to 900 Hz and slow to decay as in the paper, or to 5 kHz and faster."""
    highest = min(5000.0, 0.4 * sampling_rate)
    if rng.random() < 0.5 or highest < 1000:
        rate, decay = rng.uniform(300.0, min(900.0, highest)), rng.uniform(0.008, 0.040)
    else:
        rate, decay = rng.uniform(900.0, highest), rng.uniform(0.001, 0.010)
    size = rng.uniform(0.1, 0.8)
    lasting = rng.uniform(0.5 * period, max(length / 3.33, 0.6 * period))
    onset = rng.uniform(0.5 * period, length - 0.5 * period)
    truth |= {"start": onset, "ring_frequency": rate, "decay": decay, "peak": size, "duration": lasting}
    angle = 2 * np.pi * rate * (t - onset) - rng.uniform(0, 2 * np.pi)
    inside = (t >= onset) & (t < onset + lasting)
    # Before the onset the exponential would overflow in long captures.
    return size * np.exp(-np.maximum(t - onset, 0.0) / decay) * np.sin(angle) * inside


def _impulse(rng, t, frequency, phase, length, period, truth):
    """An impulse of 1 ms that scales the voltage, as in the paper, or one that is added to it and decays."""
    size = rng.uniform(0.1, 1.0)
    while True:
        onset = rng.uniform(0.5 * period, length - 0.5 * period)
        end = np.sin(2 * np.pi * frequency * (onset + 0.001) - phase)
        if abs(end) > 0.5:
            break
    after = np.maximum(t - onset, 0.0)
    truth |= {"start": onset, "peak": size}
    if rng.random() < 0.5:
        lifted = np.exp(-344 * after) - np.exp(-750 * after)  # rises for the whole millisecond
        top = np.exp(-0.344) - np.exp(-0.750)
        envelope = np.abs(end) * size / top * lifted * (t < onset + 0.001)
        return envelope * np.sin(2 * np.pi * frequency * t - phase) / np.abs(end)
    rise, fall = rng.uniform(0.00002, 0.0001), rng.uniform(0.0003, 0.0008)
    summit = rise * fall / (fall - rise) * np.log(fall / rise)
    shape = np.exp(-after / fall) - np.exp(-after / rise)
    return rng.choice([-1.0, 1.0]) * size * shape / (np.exp(-summit / fall) - np.exp(-summit / rise))
