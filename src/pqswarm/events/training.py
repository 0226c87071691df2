"""Events of many kinds as recorders of many rates see them: the training events of the bundled model.

A preset has one formula for each class. Here a class has several kinds: harmonics are those of six- and twelve-pulse
bridges, single-phase rectifiers, arc furnaces, triplens or single orders; sags have phase jumps, stages, slow
recoveries. Each event is a function of time, sampled by a recorder with or without an anti-aliasing filter; then noise
is added. Parameters that the recorder could not show, too fast or below the noise, are not drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf, pi
from typing import Any

import numpy as np

from pqswarm._base.checks import check_name
from pqswarm._base.random import stream
from pqswarm._base.typing import FloatArray
from pqswarm.events.classes import EVENT_CLASSES
from pqswarm.events.noise import add_noise

Envelope = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Maps time [s] to a factor of the amplitude and a jump of the phase [rad]."""

Deviation = Callable[[FloatArray, FloatArray, float], FloatArray]
"""Maps time [s], angle [rad] and amplitude [pu] of the fundamental to an added voltage [pu]."""

Spectrum = tuple[tuple[float, float, float], ...]
"""Order, size relative to the fundamental, and phase [rad] of each harmonic."""


@dataclass(frozen=True, eq=False)
class TrainingScene:
    """The setting of an event: actual frequency, rate and bandwidth `top` of the recorder [Hz], noise [pu]."""

    random: np.random.Generator
    frequency: float
    rate: float
    cycles: float
    top: float
    noise: float

    @property
    def length(self) -> float:
        """Length of the record [s]."""
        return self.cycles / self.frequency

    def between(self, low: float, high: float) -> float:
        """Draw a uniform number."""
        return float(self.random.uniform(low, high))

    def scaled(self, low: float, high: float) -> float:
        """Draw a log-uniform number."""
        return float(np.exp(self.random.uniform(np.log(low), np.log(max(low, high)))))

    def one_of(self, *options: str) -> str:
        """Draw one of the words."""
        return options[int(self.random.integers(len(options)))]

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return bool(self.random.random() < probability)

    def sign(self) -> float:
        """Draw -1 or 1."""
        return float(self.random.choice((-1, 1)))


def sum_harmonic_orders(angle: FloatArray, orders: Spectrum) -> FloatArray:
    """Sum of sines of multiples of an angle."""
    total = np.zeros(angle.size)
    for order, size, phase in orders:
        total += size * np.sin(order * angle + phase)
    return total


def _draw_training_window(scene: TrainingScene, lowest: float) -> tuple[float, float]:
    """Start and end [s] of a disturbance of at least that many cycles; some start before the record or outlast it."""
    space = scene.cycles - 1.0
    duration = scene.scaled(lowest, space) if scene.chance(0.5) else scene.between(min(lowest, space), space)
    start = scene.between(0.0, max(scene.cycles - duration, 0.0))
    if scene.chance(0.12):
        start = scene.cycles - duration  # lasts beyond the end
        duration += 100.0
    elif scene.chance(0.06):
        start = -1.0
        duration += 1.0
    return start / scene.frequency, (start + duration) / scene.frequency


def _within_window(t: FloatArray, start: float, end: float) -> FloatArray:
    return ((t > start) & (t <= end)).astype(np.float64)


def _decaying_shape(t: FloatArray, start: float, fall: float) -> FloatArray:
    return np.where(t > start, np.exp(-np.maximum(t - start, 0) / fall), 0.0)


def draw_dip(scene: TrainingScene, sign: int) -> tuple[str, Envelope]:
    """A sag (sign -1, residual 0.1 to 0.9) or a swell (sign 1, to 1.8)."""
    size = scene.between(0.1, 0.89) if sign < 0 else scene.between(0.1, 0.8)
    start, end = _draw_training_window(scene, 0.5)
    kind = "step" if scene.chance(0.5) else scene.one_of("phase jump", "stages", "slow recovery", "slow edges")
    angle = scene.between(-pi / 3, pi / 3) if kind == "phase jump" else 0.0
    second = start + (end - start) * scene.between(0.3, 0.7)
    factor = scene.between(0.3, 0.8)
    ramp = scene.between(0.2, 2.0) / scene.frequency
    fall = scene.scaled(2.0, 15.0) / scene.frequency

    def envelope(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        inside = _within_window(t, start, end)
        if kind == "stages":
            shape = np.where(t < second, 1.0, factor) * inside
        elif kind == "slow recovery":
            shape = _decaying_shape(t, start, fall)
        elif kind == "slow edges":
            shape = np.clip((t - start) / ramp, 0, 1) * np.clip(1 - (t - end) / ramp, 0, 1)
        else:
            shape = inside
        return 1 + sign * size * shape, angle * inside

    return kind, envelope


def draw_interruption(scene: TrainingScene) -> tuple[str, Envelope]:
    """Less than 0.1 pu for at least a cycle: abrupt, after a sag, or decaying."""
    kind = "step" if scene.chance(0.6) or scene.cycles < 5 else scene.one_of("after a sag", "dying away")
    start, end = _draw_training_window(scene, 1.0)
    residual = scene.between(0.0, 0.09) if scene.chance(0.7) else 0.0
    before = scene.between(1.0, 3.0) / scene.frequency
    level = scene.between(0.2, 0.8)
    fall = scene.between(0.2, 0.6) / scene.frequency
    if kind != "step":
        end = max(end, start + 2.5 / scene.frequency)

    def envelope(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        inside = _within_window(t, start, end)
        lost = np.full(t.size, residual)
        if kind == "after a sag":
            inside = _within_window(t, start - before, end)
            lost = np.where(t < start, level, residual)
        elif kind == "dying away":
            lost = residual + (1 - residual) * np.exp(-np.maximum(t - start, 0) / fall)
        return 1 - inside * (1 - lost), np.zeros(t.size)

    return kind, envelope


def draw_small_change(scene: TrainingScene) -> tuple[str, Envelope]:
    """A change of 2 to 10 %: a step, a dip or rise, a motor start, a slow change."""
    lowest = max(0.02, 4.0 * scene.noise * np.sqrt(2 * scene.frequency / scene.rate))
    size = scene.between(lowest, max(0.09, 1.2 * lowest)) * scene.sign()
    kind = scene.one_of("step", "dip or rise", "motor start", "slow change")
    start = scene.between(0.12, 0.88) * scene.length
    duration = scene.between(1.0, max(scene.cycles - 1.2, 1.0)) / scene.frequency
    begin = scene.between(0.0, max(scene.length - duration, 0.0))
    ramp = scene.between(0.5, 0.6 * scene.cycles) / scene.frequency
    fall = scene.scaled(2.0, 20.0) / scene.frequency

    def envelope(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        if kind == "step":
            shape = (t > start).astype(np.float64)
        elif kind == "dip or rise":
            shape = _within_window(t, begin, begin + duration)
        elif kind == "motor start":
            shape = _decaying_shape(t, start, fall)
        else:
            shape = np.clip((t - start) / ramp + 0.5, 0, 1)
        return 1 + size * shape, np.zeros(t.size)

    return kind, envelope


def draw_flicker(scene: TrainingScene) -> tuple[str, Envelope]:
    """A modulation of 1 to 25 Hz and up to 0.2 pu, for at least one period."""
    frequency = scene.between(max(min(1.2 / scene.length, 20.0), 1.0), 25.0)
    lowest = max(0.01, 3.5 * scene.noise * np.sqrt(2 * scene.frequency / scene.rate))
    depth = scene.scaled(lowest, max(0.2, 2 * lowest))
    kind = "sine" if scene.chance(0.7) else scene.one_of("square", "two sines", "furnace")
    phases = scene.random.uniform(0, 2 * pi, 4)
    speeds = np.array([1.0, *scene.random.uniform(0.6, 1.6, 3)]) * frequency
    weights = {"two sines": (0.7, 0.3, 0.0, 0.0), "furnace": (0.5, 0.2, 0.2, 0.1)}.get(kind, (1.0, 0.0, 0.0, 0.0))

    def envelope(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        wave = np.zeros(t.size)
        for weight, speed, phase in zip(weights, speeds, phases, strict=True):
            if weight:
                wave += weight * np.sin(2 * pi * speed * t + phase)
        return 1 + depth * (np.sign(wave) if kind == "square" else wave), np.zeros(t.size)

    return kind, envelope


def draw_spectrum(scene: TrainingScene) -> tuple[str, Spectrum]:
    """The harmonics of a typical source, at least 4 % within the bandwidth."""
    highest = scene.top / scene.frequency
    for _ in range(100):
        kind, sizes = _draw_harmonic_sizes(scene)
        spectrum = tuple((float(order), size) for order, size in sizes.items() if size > 0)
        seen = float(np.sqrt(sum(size**2 for order, size in spectrum if order < highest)))
        if 0.04 <= seen <= 0.45:
            break
    alike = scene.one_of("zero", "random", "random", "alternating")
    phases = {
        "zero": np.zeros(len(spectrum)),
        "random": scene.random.uniform(0, 2 * pi, len(spectrum)),
        "alternating": pi * (np.arange(len(spectrum)) % 2),
    }[alike]
    return kind, tuple((order, size, float(phase)) for (order, size), phase in zip(spectrum, phases, strict=True))


# Orders of a source, and the ranges of the size of the first one and of the power by which the others fall.
_FALLING: dict[str, tuple[tuple[int, ...], tuple[float, float], tuple[float, float]]] = {
    "six-pulse": ((5, 7, 11, 13, 17, 19, 23, 25), (0.03, 0.22), (0.5, 1.8)),
    "twelve-pulse": ((11, 13, 23, 25), (0.03, 0.15), (0.5, 1.5)),
    "single-phase": ((3, 5, 7, 9, 11, 13, 15), (0.03, 0.25), (0.7, 2.0)),
    "triplen": ((3, 9, 15), (0.04, 0.2), (0.8, 2.0)),
}


def _draw_harmonic_sizes(scene: TrainingScene) -> tuple[str, dict[int, float]]:
    kind = scene.one_of(
        "six-pulse", "twelve-pulse", "single-phase", "arc furnace", "triplen", "few orders", "one order"
    )

    def falling(orders: tuple[int, ...], first: float, power: float) -> dict[int, float]:
        return {k: first * (orders[0] / k) ** power * scene.between(0.7, 1.3) for k in orders}

    if kind in _FALLING:
        orders, first, power = _FALLING[kind]
        rest = falling((5, 7), scene.between(0.0, 0.02), 1.0) if kind == "twelve-pulse" else {}
        return kind, rest | falling(orders, scene.scaled(*first), scene.between(*power))
    if kind == "arc furnace":
        even = falling((2, 4, 6), scene.scaled(0.02, 0.1), 1.0)
        return kind, even | falling((3, 5, 7, 9), scene.scaled(0.03, 0.12), 1.0)
    if kind == "few orders":
        few = [k for k in (3, 5, 7, 11, 13) if scene.chance(0.5)] or [5]
        return kind, {k: scene.between(0.03, 0.2) for k in few}
    return kind, {int(scene.random.choice((2, 3, 5, 7, 11, 13))): scene.scaled(0.045, 0.2)}


def draw_notches(scene: TrainingScene) -> tuple[str, Deviation]:
    """Commutation notches, one to six per cycle, toward zero."""
    count = int(scene.random.choice((1, 2, 2, 3, 4, 6, 6)))
    per_cycle = scene.rate / scene.frequency
    width = scene.scaled(max(0.01, 1.3 / per_cycle), max(0.055, 2.5 / per_cycle))
    depth = scene.scaled(max(0.1, 2.0 * scene.noise / np.sqrt(scene.cycles)), 0.5)
    place = scene.between(0.0, 1.0 / count)
    kind = scene.one_of("rectangle", "rectangle", "ringing", "relative")
    shape = scene.one_of("steep", "steep", "slanted")

    def notches(t: FloatArray, angle: FloatArray, amplitude: float) -> FloatArray:  # noqa: ARG001
        turn = (angle / (2 * pi) - place) * count % 1.0 / count  # from the last notch [cycles]
        inside = (turn < width).astype(np.float64)
        if shape == "slanted":
            inside *= 1 - turn / width * 0.6
        wave = np.sin(angle)
        if kind == "relative":
            return np.asarray(-amplitude * min(1.6 * depth, 0.9) * wave * inside)
        cut = -depth * np.sign(wave) * inside
        if kind == "ringing":
            after = turn - width
            cut += np.where(after > 0, 0.4 * depth * np.exp(-after / width) * np.cos(pi * after / width), 0.0)
        return np.asarray(cut)

    return f"{kind}, {count} per cycle", notches


def draw_oscillation(scene: TrainingScene) -> tuple[str, Deviation]:
    """One or two damped oscillations within the bandwidth of the recorder."""
    bursts = []
    for _ in range(1 if scene.chance(0.85) else 2):
        frequency = scene.scaled(min(300.0, 0.7 * scene.top), min(0.85 * scene.top, 9000.0))
        fall = max(scene.scaled(0.0003, 0.04), 0.5 / frequency)
        onset = scene.between(0.02, 0.95) * scene.length
        left = min(fall, scene.length - onset)
        seen = scene.noise * np.sqrt(200.0 / (max(left, 1 / frequency) * scene.rate))
        size = scene.scaled(max(0.1, seen), max(2.0, 2 * seen)) * scene.sign()
        lasts = scene.between(0.5, 3.0) / scene.frequency if scene.chance(0.3) else 10.0
        bursts.append((frequency, fall, onset, size, lasts, scene.chance(0.4) * pi / 2))

    def burst(t: FloatArray, angle: FloatArray, amplitude: float) -> FloatArray:  # noqa: ARG001
        total = np.zeros(t.size)
        for frequency, fall, onset, size, lasts, phase in bursts:
            since = t - onset
            on = (since > 0) & (since < min(lasts, 40 * fall))
            total[on] += size * np.exp(-since[on] / fall) * np.sin(2 * pi * frequency * since[on] + phase)
        return total

    return "oscillation" if len(bursts) == 1 else "oscillations", burst


def draw_impulse(scene: TrainingScene) -> tuple[str, Deviation]:
    """A unipolar impulse within the bandwidth of the recorder: double exponential, half sine or rectangle."""
    kind = scene.one_of("double exponential", "double exponential", "half sine", "rectangle")
    width = scene.scaled(max(5e-5, 1.0 / scene.rate), max(2e-3, 2.0 / scene.rate))
    seen = scene.noise * np.sqrt(90.0 / max(width * scene.rate, 1.0))
    size = scene.scaled(max(0.1, seen), max(2.0, 2 * seen)) * scene.sign()
    onset = scene.between(0.03, 0.95) * scene.length
    rise = width * scene.between(0.02, 0.4)

    def impulse(t: FloatArray, angle: FloatArray, amplitude: float) -> FloatArray:  # noqa: ARG001
        since = np.maximum(t - onset, 0.0)
        if kind == "double exponential":
            peak = (rise / width) ** (rise / (width - rise)) * (1 - rise / width)
            near = np.minimum(since, 50 * width)
            return np.asarray(size * (np.exp(-near / width) - np.exp(-near / rise)) / peak)
        if kind == "half sine":
            return np.asarray(size * np.sin(pi * np.minimum(since / (2 * width), 1.0)))
        return np.asarray(size * ((t > onset) & (since <= width)))

    return kind, impulse


def draw_energizing(scene: TrainingScene) -> tuple[str, Envelope, Deviation]:
    """Transformer energizing: a sag with slow recovery and decaying even harmonics."""
    start = scene.between(0.05, 0.5) * scene.length
    depth = scene.between(0.12, 0.35)
    second = scene.between(0.08, 0.2)
    fall = scene.scaled(4.0, 25.0) / scene.frequency

    def envelope(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        return 1 - depth * _decaying_shape(t, start, fall), np.zeros(t.size)

    def magnetizing(t: FloatArray, angle: FloatArray, amplitude: float) -> FloatArray:
        orders = ((2.0, second, 0.3), (3.0, 0.5 * second, 0.6), (4.0, 0.25 * second, 0.9))
        return np.asarray(amplitude * _decaying_shape(t, start, fall) * sum_harmonic_orders(angle, orders))

    return "energising", envelope, magnetizing


_OVERSAMPLED = 4
_TAPS = 16
_CUSTOMARY = (
    8,
    10,
    12,
    16,
    20,
    24,
    32,
    40,
    48,
    64,
    80,
    96,
    100,
    128,
    160,
    192,
    200,
    256,
    320,
    400,
    512,
    640,
    1024,
    2000,
)
"""Common numbers of samples per cycle."""


@dataclass(frozen=True, eq=False)
class RecordedEvent:
    """An event as a recorder sees it."""

    signal: FloatArray  # voltage [pu of the nominal peak], shape (n,)
    sampling_rate: float  # [Hz]
    frequency: float  # the nominal one [Hz]
    label: str  # the event class
    kind: str  # the source of the disturbance, such as "twelve-pulse bridge"


def record_event(
    event_class: str,
    seed: int,
    bandwidth: tuple[float, float] = (200.0, 1000.0),
    snr: float = inf,
    *,
    rate: float | None = None,
    cycles: tuple[float, float] = (3.0, 30.0),
) -> RecordedEvent:
    """Draw an event of a class of :data:`TRAINING_CLASSES`, and the recorder that sees it.

    The bandwidth of the recorder, half its sampling rate, is drawn from `bandwidth` [multiples of the fundamental],
    unless its sampling `rate` [Hz] is given; the length of the record is drawn from `cycles`. `snr` is in dB.
    """
    check_name("event class", event_class, TRAINING_CLASSES)
    random = stream(seed, (11, EVENT_CLASSES[event_class].seed_word))
    nominal = float(random.choice((50.0, 60.0)))
    if rate is not None:
        bandwidth = (rate / (2 * nominal), rate / (2 * nominal) * 1.0001)
    low = 2 * bandwidth[0]
    high = 2 * bandwidth[1]
    customary = [value for value in _CUSTOMARY if low <= value < high]
    per_cycle = float(np.exp(random.uniform(np.log(low), np.log(high))))
    if customary and random.random() < 0.5:
        per_cycle = float(random.choice(customary[:3]))
    scene = TrainingScene(
        random=random,
        frequency=nominal * (1 + float(random.uniform(-0.01, 0.01)) * float(random.random() < 0.7)),
        rate=per_cycle * nominal if rate is None else rate,
        cycles=float(np.exp(random.uniform(np.log(cycles[0]), np.log(cycles[1])))),
        top=min(bandwidth[0], 200.0) * nominal,
        noise=0.0 if snr == inf else 0.707 * 10 ** (-snr / 20),
    )
    kind, voltage = _KINDS[event_class](scene)
    signal = _sample_voltage(voltage, scene, filtered=bandwidth[0] < 200 and random.random() < 0.5)
    if snr < inf:
        signal = add_noise(signal, snr, random)
    if random.random() < 0.2:
        step = 2.0 ** -float(random.integers(9, 15))
        signal = np.round(signal / step) * step
    return RecordedEvent(signal, scene.rate, nominal, event_class, kind)


Voltage = Callable[[FloatArray], FloatArray]
Drawn = tuple[str, Voltage]


def _sample_voltage(voltage: Voltage, scene: TrainingScene, filtered: bool) -> FloatArray:
    """Sample a voltage, with or without an anti-aliasing filter."""
    size = round(scene.length * scene.rate)
    if not filtered:
        return voltage(np.arange(size) / scene.rate)
    from scipy.signal import firwin, upfirdn

    more = _TAPS * _OVERSAMPLED
    fine = voltage((np.arange(-more, size * _OVERSAMPLED + more)) / (scene.rate * _OVERSAMPLED))
    edge = scene.between(0.8, 0.98) / _OVERSAMPLED
    low_pass = firwin(2 * more + 1, edge, window=("kaiser", 5.0))
    return np.asarray(upfirdn(low_pass, fine, down=_OVERSAMPLED)[2 * _TAPS : 2 * _TAPS + size], dtype=np.float64)


def _put_on_supply(
    scene: TrainingScene,
    kind: str,
    envelope: Envelope | None = None,
    spectrum: Spectrum = (),
    added: Deviation | None = None,
    offset: float | None = None,
) -> Drawn:
    """A supply within 10 % of nominal, some with background harmonics or a small offset, and the disturbance on it."""
    amplitude = 1.0 if scene.chance(0.3) else scene.between(0.9, 1.1)
    phase = scene.between(0, 2 * pi)
    orders: Spectrum = ((1.0, 1.0, 0.0), *spectrum)
    if scene.chance(0.5):
        sizes = scene.random.uniform(0, 0.03 / np.sqrt(5), 5).tolist()
        angles = scene.random.uniform(0, 2 * pi, 5).tolist()
        orders += tuple(zip((3.0, 5.0, 7.0, 11.0, 13.0), sizes, angles, strict=True))
    if offset is None:
        offset = scene.between(-0.004, 0.004) if scene.chance(0.2) else 0.0

    def voltage(t: FloatArray) -> FloatArray:
        angle = 2 * pi * scene.frequency * t + phase
        size: FloatArray | float = amplitude
        if envelope is not None:
            factor, jump = envelope(t)
            size = amplitude * factor
            angle = angle + jump
        wave = size * sum_harmonic_orders(angle, orders) + offset
        return wave if added is None else wave + added(t, angle, amplitude)

    return kind, voltage


def _draw_training_parts(
    envelope: Callable[[TrainingScene], tuple[str, Envelope]] | None = None,
    spectrum: Callable[[TrainingScene], tuple[str, Spectrum]] | None = None,
    added: Callable[[TrainingScene], tuple[str, Deviation]] | None = None,
) -> Callable[[TrainingScene], Drawn]:
    """A function that draws the given parts of a disturbance, in this order, and then the supply."""

    def draw(scene: TrainingScene) -> Drawn:
        kinds: list[str] = []
        parts: dict[str, Any] = {}
        for name, part in (("envelope", envelope), ("spectrum", spectrum), ("added", added)):
            if part is not None:
                kind, parts[name] = part(scene)
                kinds.append(kind)
        return _put_on_supply(scene, ", ".join(kinds) or "sine", **parts)

    return draw


def _draw_interruption_event(scene: TrainingScene) -> Drawn:
    kind, envelope = draw_interruption(scene)
    if EVENT_CLASSES["oscillatory_transient"].requirements.bandwidth * scene.frequency > scene.top or scene.chance(
        0.65
    ):
        return _put_on_supply(scene, kind, envelope)
    source, burst = draw_oscillation(scene)  # still an interruption
    return _put_on_supply(scene, f"{kind}, {source}", envelope, added=burst)


def _draw_sag_with_harmonics(scene: TrainingScene) -> Drawn:
    if scene.chance(0.15):
        kind, envelope, magnetizing = draw_energizing(scene)
        return _put_on_supply(scene, kind, envelope, added=magnetizing)
    return _draw_training_parts(_draw_sag, draw_spectrum)(scene)


_draw_sag = partial(draw_dip, sign=-1)
_draw_swell = partial(draw_dip, sign=1)
_KINDS: dict[str, Callable[[TrainingScene], Drawn]] = {
    "pure_sinusoid": _draw_training_parts(),
    "dc_offset": lambda scene: _put_on_supply(scene, "offset", offset=scene.scaled(0.012, 0.15) * scene.sign()),
    "sag": _draw_training_parts(_draw_sag),
    "swell": _draw_training_parts(_draw_swell),
    "interruption": _draw_interruption_event,
    "flicker": _draw_training_parts(draw_flicker),
    "notching": _draw_training_parts(added=draw_notches),
    "harmonics": _draw_training_parts(spectrum=draw_spectrum),
    "oscillatory_transient": _draw_training_parts(added=draw_oscillation),
    "sag_with_harmonics": _draw_sag_with_harmonics,
    "swell_with_harmonics": _draw_training_parts(_draw_swell, draw_spectrum),
    "flicker_with_harmonics": _draw_training_parts(draw_flicker, draw_spectrum),
    "sag_with_transient": _draw_training_parts(_draw_sag, added=draw_oscillation),
    "swell_with_transient": _draw_training_parts(_draw_swell, added=draw_oscillation),
    "impulsive_transient": _draw_training_parts(added=draw_impulse),
    "voltage_change": _draw_training_parts(draw_small_change),
}

TRAINING_CLASSES: tuple[str, ...] = tuple(_KINDS)
"""The classes of the paper's Table 1, then impulsive transients and rapid voltage changes."""
