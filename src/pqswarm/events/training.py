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
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._base.random import stream
from pqswarm._base.typing import FloatArray
from pqswarm.errors import unknown_name
from pqswarm.events.classes import EVENT_CLASSES
from pqswarm.events.noise import add_noise
from pqswarm.events.training_parts import (
    Deviation,
    Envelope,
    Scene,
    Spectrum,
    draw_dip,
    draw_energising,
    draw_flicker,
    draw_impulse,
    draw_interruption,
    draw_notches,
    draw_oscillation,
    draw_small_change,
    draw_spectrum,
    sum_orders,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    if event_class not in TRAINING_CLASSES:
        raise unknown_name("event class", event_class, TRAINING_CLASSES)
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
    scene = Scene(
        random=random,
        frequency=nominal * (1 + float(random.uniform(-0.01, 0.01)) * float(random.random() < 0.7)),
        rate=per_cycle * nominal if rate is None else rate,
        cycles=float(np.exp(random.uniform(np.log(cycles[0]), np.log(cycles[1])))),
        top=min(bandwidth[0], 200.0) * nominal,
        noise=0.0 if snr == inf else 0.707 * 10 ** (-snr / 20),
    )
    kind, voltage = _KINDS[event_class](scene)
    signal = _sample(voltage, scene, filtered=bandwidth[0] < 200 and random.random() < 0.5)
    if snr < inf:
        signal = add_noise(signal, snr, random)
    if random.random() < 0.2:
        step = 2.0 ** -float(random.integers(9, 15))
        signal = np.round(signal / step) * step
    return RecordedEvent(signal, scene.rate, nominal, event_class, kind)


Voltage = Callable[[FloatArray], FloatArray]
Drawn = tuple[str, Voltage]


def _sample(voltage: Voltage, scene: Scene, filtered: bool) -> FloatArray:
    """Sample a voltage, with or without an anti-aliasing filter."""
    size = round(scene.length * scene.rate)
    if not filtered:
        return voltage(np.arange(size) / scene.rate)
    from scipy.signal import firwin, upfirdn

    more = _TAPS * _OVERSAMPLED
    fine = voltage((np.arange(-more, size * _OVERSAMPLED + more)) / (scene.rate * _OVERSAMPLED))
    edge = float(scene.random.uniform(0.8, 0.98)) / _OVERSAMPLED
    low_pass = firwin(2 * more + 1, edge, window=("kaiser", 5.0))
    return np.asarray(upfirdn(low_pass, fine, down=_OVERSAMPLED)[2 * _TAPS : 2 * _TAPS + size], dtype=np.float64)


def _on_supply(
    scene: Scene,
    kind: str,
    envelope: Envelope | None = None,
    spectrum: tuple[tuple[float, float, float], ...] = (),
    added: Deviation | None = None,
    offset: float | None = None,
) -> Drawn:
    """A supply within 10 % of nominal, some with background harmonics or a small offset, and the disturbance on it."""
    random = scene.random
    amplitude = 1.0 if random.random() < 0.3 else float(random.uniform(0.9, 1.1))
    phase = float(random.uniform(0, 2 * pi))
    background: tuple[tuple[float, float, float], ...] = ()
    if random.random() < 0.5:
        sizes = random.uniform(0, 0.03 / np.sqrt(5), 5)
        background = tuple(
            (float(order), float(size), float(angle))
            for order, size, angle in zip((3, 5, 7, 11, 13), sizes, random.uniform(0, 2 * pi, 5), strict=True)
        )
    if offset is None:
        offset = float(random.uniform(-0.004, 0.004)) if random.random() < 0.2 else 0.0
    orders = ((1.0, 1.0, 0.0), *spectrum, *background)

    def voltage(t: FloatArray) -> FloatArray:
        angle = 2 * pi * scene.frequency * t + phase
        size: FloatArray | float = amplitude
        if envelope is not None:
            factor, jump = envelope(t)
            size = amplitude * factor
            angle = angle + jump
        wave = size * sum_orders(angle, orders) + offset
        return wave if added is None else wave + added(t, angle, amplitude)

    return kind, voltage


def _made_of(
    envelope: Callable[[Scene], tuple[str, Envelope]] | None = None,
    spectrum: Callable[[Scene], tuple[str, Spectrum]] | None = None,
    added: Callable[[Scene], tuple[str, Deviation]] | None = None,
) -> Callable[[Scene], Drawn]:
    """A function that draws the given parts of a disturbance, in this order, and then the supply."""

    def draw(scene: Scene) -> Drawn:
        kinds: list[str] = []
        parts: dict[str, Any] = {}
        for name, part in (("envelope", envelope), ("spectrum", spectrum), ("added", added)):
            if part is not None:
                kind, parts[name] = part(scene)
                kinds.append(kind)
        return _on_supply(scene, ", ".join(kinds) or "sine", **parts)

    return draw


def _dc_offset(scene: Scene) -> Drawn:
    size = float(np.exp(scene.random.uniform(np.log(0.012), np.log(0.15))))
    return _on_supply(scene, "offset", offset=size * float(scene.random.choice((-1, 1))))


def _interruption(scene: Scene) -> Drawn:
    kind, envelope = draw_interruption(scene)
    if EVENT_CLASSES["oscillatory_transient"].requirements.bandwidth * scene.frequency > scene.top or scene.chance(
        0.65
    ):
        return _on_supply(scene, kind, envelope)
    source, burst = draw_oscillation(scene)  # still an interruption
    return _on_supply(scene, f"{kind}, {source}", envelope, added=burst)


def _sag_with_harmonics(scene: Scene) -> Drawn:
    if scene.random.random() < 0.15:
        kind, envelope, magnetising = draw_energising(scene)
        return _on_supply(scene, kind, envelope, added=magnetising)
    return _made_of(_draw_sag, draw_spectrum)(scene)


_draw_sag = partial(draw_dip, sign=-1)
_draw_swell = partial(draw_dip, sign=1)
_KINDS: "Mapping[str, Callable[[Scene], Drawn]]" = {
    "pure_sinusoid": _made_of(),
    "dc_offset": _dc_offset,
    "sag": _made_of(_draw_sag),
    "swell": _made_of(_draw_swell),
    "interruption": _interruption,
    "flicker": _made_of(draw_flicker),
    "notching": _made_of(added=draw_notches),
    "harmonics": _made_of(spectrum=draw_spectrum),
    "oscillatory_transient": _made_of(added=draw_oscillation),
    "sag_with_harmonics": _sag_with_harmonics,
    "swell_with_harmonics": _made_of(_draw_swell, draw_spectrum),
    "flicker_with_harmonics": _made_of(draw_flicker, draw_spectrum),
    "sag_with_transient": _made_of(_draw_sag, added=draw_oscillation),
    "swell_with_transient": _made_of(_draw_swell, added=draw_oscillation),
    "impulsive_transient": _made_of(added=draw_impulse),
    "voltage_change": _made_of(draw_small_change),
}

TRAINING_CLASSES: tuple[str, ...] = tuple(_KINDS)
"""The classes of the paper's Table 1, then impulsive transients and rapid voltage changes."""
