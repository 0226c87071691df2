"""Three-phase recordings of known events, written from the literature to test event and cause detection from outside.

The generator knows nothing of any detector. It follows IEEE 1159 and 1564, IEC 61000-4-30, Bollen's "Understanding
Power Quality Problems", Greenwood's "Electrical Transients in Power Systems" and the CIGRE and CIRED literature on
capacitor switching, inrush, ferroresonance and earth faults in isolated networks. Each kind of record is a function
below; each record is a COMTRADE pair or a CSV table with a line of truth in ``truth.jsonl``.

    python generator.py FOLDER --seed 0 --records 5            # five records of each kind
    python generator.py FOLDER --kinds lightning,spike

Physics
-------
* `Circuit`: source (R, L, zero sequence), bus capacitance, loads, faulted feeder, two capacitor banks. Between
  switching instants the network is linear, so the solution is exact: a phasor for each harmonic and a sum of natural
  modes. Poles close at any instant and open at a zero of their current. DC offsets, recovery voltages, pole spread,
  back-to-back inrush, trapped charge and neutral shift follow from the circuit.
* `magnetise`: three-phase core with a saturating magnetising curve behind the source impedance (inrush).
* `motor_network`: induction motor of third order (transient EMF and slip) in positive sequence, with the
  negative-sequence impedance for unbalanced faults (start, re-acceleration).
* `ferroresonant`: saturating inductance fed through a capacitance after a pole has opened.
* Voltages are in pu: the nominal voltage has an RMS value of 1.

Truth
-----
One JSON object per record:

``kind``, ``file``, ``format``, ``rate``, ``frequency`` (nominal), ``true_frequency`` (as it appears in the file),
``nominal_volts`` (RMS of the voltage channels, primary), ``channels`` (phases of the voltage channels), ``length_s``
``events``
    Acceptable main events, one of which must be found: ``category`` (sag, swell, interruption, rapid voltage change,
    transient, flicker, frequency, dc offset), ``phases`` (must be named), ``phases_possible`` (may be named),
    ``magnitude`` [low, high] in pu of the nominal voltage (of a rapid voltage change: the change; None: not compared),
    ``starts`` (list of [low, high] in s).
``none_allowed``
    No event at all is right too (or the only right answer, if ``events`` is empty).
``rms_allowed``, ``other_allowed``
    RMS categories that truly occur; other categories that may be reported.
``start``, ``end``
    Inception and end of the event on the waveform [s], to the sample; None where it stays, is cut or has no sharp
    end.
``causes``, ``cause_visible``
    Physically true causes (``unknown`` is always honest and not listed); whether the record shows the cause (a fault:
    by a change above 10 %).
``stages``
    ``{"name", "time"}``: inception, evolves, cleared, opened, reclosed, ... [s].
``clearing_s``
    Times at which the fault current ended (last pole), in order.
``status``
    ``{"name", "on", "off"}`` of the status channels [s].
``caveat``
    What a self-check of the recorder must say: frozen, lost, missing, clipped, swapped, clock, dc, flat, vt fuse; or
    None.

Magnitudes come from the noise-free waveform by one-cycle RMS values refreshed every half cycle. The standard leaves
the phase of that grid to the meter, so 16 grids are tried: ``magnitude`` is the range of their answers, and a
category is certain if all of them give it with a margin of 0.008 pu, possible if one of them does within that margin.
Rapid voltage changes are certain from 3 %, possible from 1.5 %.

Simplified
----------
* One bus and one source: no traveling waves, no lines with distributed parameters, no frequency-dependent losses (a
  resistive part of the load damps the bus instead).
* Loads are constant impedances, except the motors of `motor_network`. Motors and the faults beside them are
  quasi-static in their voltage (no stator transients but the DC offset); their clearing is at once, not pole by pole.
* Transformers between fault and meter are ideal (connection only). Inrush has no hysteresis and no sympathetic
  interaction; there is no inrush when a line is reclosed.
* A broken neutral has resistive loads. Tap changer, load rejection, arc furnace, ripple control, frequency ramp and
  phase jump are prescribed amplitudes and angles; the furnace is a random modulation, not an arc model.
* Lightning is a double exponential with a reflection and an ideal arrester; the voltage transformer has no frequency
  response of its own.
* Anti-aliasing is a second-order filter; voltage transformers do not saturate, current transformers do in one kind
  only.
* Arcs are constant resistances, except in the current-limiting fuse (six steps).
"""

from __future__ import annotations

import argparse
import cmath
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray
PHASES = "ABC"
ROTATION = np.exp(-2j * np.pi * np.arange(3) / 3)  # angles of phases A, B, C in positive sequence
ONES = np.ones((3, 3))
EYE = np.eye(3)
CHOPPED = 4e-3  # pu, a current that every switch interrupts at once
MARGIN = 0.008  # pu beside a threshold where both answers are right


# ------------------------------------------------------------------------------------------------------------ the site


@dataclass
class Site:
    """What is drawn for a record before its event: network, recorder, file."""

    rng: np.random.Generator
    f0: float
    frequency: float
    rate: float
    n: int
    nominal: float  # RMS, phase to neutral [V], primary
    level: float
    thd: float
    snr: float
    bits: int
    amperes: float
    oversampling: int
    harmonics: dict[int, Array] = field(default_factory=dict)

    @property
    def omega(self) -> float:
        return 2 * math.pi * self.frequency

    @property
    def cycle(self) -> float:
        return 1 / self.frequency

    @property
    def length(self) -> float:
        return self.n / self.rate

    @property
    def padding(self) -> int:
        """Fine samples before the first one, for the memory of the anti-aliasing filter."""
        return 12 * self.oversampling

    @property
    def t(self) -> Array:
        """Fine time grid [s], from a little before the first sample."""
        return (np.arange(self.n * self.oversampling + self.padding) - self.padding) / (self.rate * self.oversampling)

    def sources(self) -> dict[int, Array]:
        """Phasors (peak) of the source voltage at each order, by phase."""
        return {1: self.harmonics[1], **{h: e for h, e in self.harmonics.items() if h > 1}}

    def waveform(self, angle: Array | None = None, amplitude: Array | float = 1.0) -> Array:
        """Undisturbed voltages on the fine grid; `angle` replaces omega * t, `amplitude` multiplies."""
        angle = self.omega * self.t if angle is None else angle
        out = np.zeros((3, angle.size))
        for h, e in self.harmonics.items():
            out += (e[:, None] * np.exp(1j * h * angle)[None]).real
        return out * amplitude

    def load_current(self, v: Array, size: float = 0.5) -> Array:
        """Current of a linear load at power factor 0.9 from the voltages (R and a quarter-cycle delay for X)."""
        shift = max(1, round(self.rate * self.oversampling / self.frequency / 4))
        lagged = np.concatenate([v[:, :1].repeat(shift, axis=1), v[:, :-shift]], axis=1)
        lagged[:, :shift] = -v[:, shift : 2 * shift]  # half-wave symmetry, for what precedes the grid
        return size * (0.9 * v + 0.43 * lagged)


def draw_site(
    rng: np.random.Generator,
    cycles: tuple[float, float] = (10, 40),
    *,
    min_rate: float = 1600,
    low_voltage: bool | None = None,
    f0: float | None = None,
    thd: tuple[float, float] = (0.01, 0.045),
) -> Site:
    """A network and a recorder at random."""
    f0 = f0 or float(rng.choice([50, 60]))
    if f0 == 60:
        rates = [1920, 3840, 4800, 5760, 7680, 9600, 12000]
    elif f0 == 50:
        rates = [1600, 3200, 4800, 5000, 6400, 9600, 10000, 12800]
    elif f0 > 100:
        rates = [12800]
    else:
        rates = [1600, 2000, 3200, 4000]
    rate = float(rng.choice([r for r in rates if r >= min_rate] or [max(rates)]))
    if low_voltage is None:
        low_voltage = bool(rng.random() < 0.25)
    line = float(rng.choice([400, 415, 690] if low_voltage else [6000, 10000, 11000, 20000, 33000, 66000, 110000]))
    if f0 == 60 and low_voltage:
        line = float(rng.choice([208, 480]))
    n = int(rng.uniform(*cycles) / f0 * rate)
    offset = rng.uniform(-0.2, 0.2) * min(1.0, f0 / 50)
    site = Site(
        rng,
        f0,
        f0 + offset,
        rate,
        n,
        line / math.sqrt(3),
        rng.uniform(0.975, 1.025),
        rng.uniform(*thd),
        rng.uniform(40, 60),
        int(rng.integers(12, 17)),
        float(10 ** rng.uniform(1.5, 3.2)),
        max(3, math.ceil(40000 / rate)),
    )
    unbalance = rng.uniform(0, 0.008) * cmath.exp(2j * math.pi * rng.random())
    peak = math.sqrt(2) * site.level * cmath.exp(2j * math.pi * rng.random())
    site.harmonics[1] = peak * (ROTATION + unbalance * ROTATION.conj())
    orders = {5: 1.0, 7: 0.6, 11: 0.3, 13: 0.2} | ({3: 0.4} if low_voltage else {})
    orders = {h: w * rng.uniform(0.4, 1) for h, w in orders.items() if h * f0 < 0.4 * rate}
    total = math.sqrt(sum(w * w for w in orders.values())) or 1.0
    for h, weight in orders.items():
        angle = 2 * math.pi * rng.random()
        site.harmonics[h] = (
            math.sqrt(2) * site.thd * weight / total * np.exp(1j * (angle - 2 * np.pi * h * np.arange(3) / 3))
        )
    return site


# --------------------------------------------------------------------------------------------------------- the circuit


@dataclass
class Segment:
    """Exact solution between two switching instants."""

    start: float
    end: float
    active: Array
    phasors: dict[int, Array]
    modes: Array
    vectors: Array
    weights: Array
    frozen: Array  # states that do not change (voltage of a bank without connection is among the modes)


class Circuit:
    """A bus with source, load, faulted feeder, switched load and two capacitor banks, in pu.

    States, three of each: ``s`` source current, ``v`` bus voltage, ``l`` load current, ``m`` current of the switched
    load, ``f`` current
    of the faulted feeder, ``c`` and ``C`` current and voltage of the first bank, ``d`` and ``D`` of the second.
    """

    GROUPS = "svlmfcCdD"
    SWITCHED = "smfcd"

    def __init__(
        self,
        site: Site,
        *,
        x: float,
        x_over_r: float,
        zero: tuple[float, float] = (1.0, 1.5),
        susceptance: float = 0.01,
    ):
        rng, w = site.rng, 2 * math.pi * site.f0
        self.site, self.omega0 = site, w
        self.index = {g: slice(3 * k, 3 * k + 3) for k, g in enumerate(self.GROUPS)}
        r = x / x_over_r
        self.x, self.r = x, r
        self.impedance: dict[str, tuple[Array, Array]] = {}  # resistance and inductance matrices of the current states
        self.impedance["s"] = (r * EYE + (zero[0] - 1) * r * ONES / 3, (x * EYE + (zero[1] - 1) * x * ONES / 3) / w)
        self.capacitance = {
            "v": susceptance * (1 + 0.01 * rng.standard_normal(3)) / w,
            "C": np.ones(3),
            "D": np.ones(3),
        }
        damping = rng.uniform(0.15, 0.35)  # resistive part of the loads, damps the bus
        earth = 0.03 * susceptance if zero[0] > 100 else damping
        self.conductance = damping * EYE + (earth - damping) * ONES / 3
        self.closed = {g: np.zeros(3, bool) for g in self.SWITCHED}
        self.closed["s"][:] = True
        self.schedule: list[tuple[float, Callable[[], None] | tuple[str, Array]]] = []
        self.segments: list[Segment] = []
        self.openings: list[tuple[float, str, int]] = []  # instant, group, pole
        self.load("l", rng.uniform(0.2, 0.6), rng.uniform(0.7, 0.95), grounded=False)
        for g in "mfcd":
            self.impedance[g] = (EYE, EYE / w)

    # -- elements

    def load(self, group: str, power: float, pf: float, *, grounded: bool, spread: float = 0.01) -> None:
        """A series R-L load of `power` pu."""
        z = 1 / power * cmath.exp(1j * math.acos(pf))
        unequal = 1 + spread * self.site.rng.standard_normal(3)
        neutral = 0.0 if grounded else 1e3
        self.impedance[group] = (np.diag(z.real * unequal) + neutral * ONES, np.diag(z.imag * unequal) / self.omega0)

    def feeder(self, z: complex, ground: float | None, arc: float = 0.0, phase_arc: Array | None = None) -> None:
        """Feeder of impedance `z` to a fault of resistance `arc` per phase; `ground` resistance to earth, None if
        clear of earth."""
        arcs = np.full(3, arc) if phase_arc is None else phase_arc
        resistance = np.diag(z.real + arcs) + (1e3 if ground is None else ground) * ONES
        self.impedance["f"] = (resistance, z.imag * EYE / self.omega0)

    def bank(
        self,
        group: str,
        power: float,
        *,
        reactance: float,
        resistance: float,
        grounded: bool,
    ) -> None:
        """A capacitor bank of `power` pu with series reactance and resistance; group ``c`` or ``d``."""
        rng = self.site.rng
        self.capacitance[group.upper()] = power * (1 + 0.003 * rng.standard_normal(3)) / self.omega0
        neutral = 0.0 if grounded else 50 / power
        self.impedance[group] = (resistance * EYE + neutral * ONES, reactance * EYE / self.omega0)

    # -- switching

    def at(self, time: float, change: Callable[[], None]) -> None:
        self.schedule.append((time, change))

    def close(self, group: str, times: Array | float, poles: Array | None = None) -> None:
        """Close poles at given instants."""
        times = np.broadcast_to(times, 3)
        for k in range(3):
            if poles is None or poles[k]:
                self.schedule.append((float(times[k]), lambda k=k: self.closed[group].__setitem__(k, True)))

    def open(self, group: str, time: float, poles: Array | None = None) -> None:
        """Open poles at the first current zero after `time`, each on its own."""
        self.schedule.append((time, (group, np.ones(3, bool) if poles is None else poles)))

    # -- solution

    def _matrices(self) -> tuple[Array, Array, Array, Array]:
        size, ix = 3 * len(self.GROUPS), self.index
        m, k, u = np.eye(size), np.zeros((size, size)), np.zeros((size, 3))
        v = ix["v"]
        for g in "slmfcd":
            resistance, inductance = self.impedance[g]
            m[ix[g], ix[g]] = inductance
            k[ix[g], ix[g]] = -resistance
            sign = -1 if g == "s" else 1
            k[ix[g], v] = sign * EYE
            k[v, ix[g]] = -sign * EYE
        u[ix["s"]] = EYE
        m[v, v] = np.diag(self.capacitance["v"])
        k[v, v] = -self.conductance
        for g in "cd":
            m[ix[g.upper()], ix[g.upper()]] = np.diag(self.capacitance[g.upper()])
            k[ix[g], ix[g.upper()]] = -EYE
            k[ix[g.upper()], ix[g]] = EYE
        active = np.ones(size, bool)
        for g in self.SWITCHED:
            active[ix[g]] = self.closed[g]
            if g in "cd":  # the voltage of a bank without connection stays
                active[ix[g.upper()]] = self.closed[g]
        keep = np.flatnonzero(active)
        return m[np.ix_(keep, keep)], k[np.ix_(keep, keep)], u[keep], keep

    def _segment(self, start: float, end: float, state: Array | None) -> Segment:
        m, k, u, keep = self._matrices()
        phasors = {h: np.linalg.solve(1j * h * self.site.omega * m - k, u @ e) for h, e in self.site.sources().items()}
        modes, vectors = np.linalg.eig(np.linalg.solve(m, k))
        if modes.real.max() > 1e-6 * abs(modes).max():
            raise ArithmeticError("the circuit is unstable")
        steady = sum((x * cmath.exp(1j * h * self.site.omega * start)).real for h, x in phasors.items())
        frozen = np.zeros(3 * len(self.GROUPS)) if state is None else state.copy()
        weights = np.zeros(keep.size, complex) if state is None else np.linalg.solve(vectors, state[keep] - steady)
        return Segment(start, end, keep, phasors, modes, vectors, weights, frozen)

    def _values(self, segment: Segment, t: Array, rows: Array) -> Array:
        """States `rows` at times `t` of a segment."""
        out = np.repeat(segment.frozen[rows, None], t.size, axis=1)
        where = {state: k for k, state in enumerate(segment.active)}
        mine = [(k, where[row]) for k, row in enumerate(rows) if row in where]
        switched = {3 * self.GROUPS.index(g) + k for g in self.SWITCHED for k in range(3)}
        for k, row in enumerate(rows):
            if row not in where and row in switched:
                out[k] = 0
        if not mine:
            return out
        target, source = (np.array(x) for x in zip(*mine, strict=True))
        block = np.zeros((target.size, t.size))
        for h, x in segment.phasors.items():
            block += (x[source, None] * np.exp(1j * h * self.site.omega * t)[None]).real
        tau = t - segment.start
        for k, mode in enumerate(segment.modes):
            if segment.weights[k] == 0:
                continue
            factor = segment.vectors[source, k] * segment.weights[k]
            if abs(factor).max() < 1e-9:
                continue
            reach = np.searchsorted(tau, -25 / mode.real) if mode.real < 0 else tau.size
            block[:, :reach] += (factor[:, None] * np.exp(mode * tau[:reach])[None]).real
        out[target] = block
        return out

    def solve(self) -> None:
        """Work through the schedule; exact instants of the openings are in `openings`."""
        end = self.site.length + 2 * self.site.cycle
        self._limit_harmonics()
        pending: dict[str, Array] = {}
        schedule = sorted(self.schedule, key=lambda item: item[0])
        now, state = 0.0, None
        everything = np.arange(3 * len(self.GROUPS))
        for _ in range(200):
            following = schedule[0][0] if schedule else end
            segment = self._segment(now, min(following, end), state)
            cut: tuple[float, str, int] | None = None
            if any(waiting.any() for waiting in pending.values()):
                horizon = min(segment.end, now + 3 * self.site.cycle)
                t = np.linspace(now, horizon, max(8, math.ceil((horizon - now) / self.site.cycle * 500)))
                for g, poles in pending.items():
                    for k in np.flatnonzero(poles & self.closed[g]):
                        current = self._values(segment, t, np.array([self.index[g].start + k]))[0]
                        flips = np.flatnonzero(current[2:] * current[1:-1] <= 0)
                        if abs(current).max() < CHOPPED:
                            moment = now
                        elif flips.size:
                            j = flips[0] + 1
                            step = current[j] - current[j + 1]
                            moment = t[j] + (t[j + 1] - t[j]) * (current[j] / step if step else 0)
                        else:
                            continue
                        if cut is None or moment < cut[0]:
                            cut = (float(moment), g, int(k))
            if cut:
                segment.end = cut[0]
            self.segments.append(segment)
            if segment.end >= end:
                return
            state = self._values(segment, np.array([segment.end]), everything)[:, 0]
            now = segment.end
            if cut:
                self.closed[cut[1]][cut[2]] = False
                pending[cut[1]][cut[2]] = False
                self.openings.append(cut)
                continue
            while schedule and schedule[0][0] <= now + 1e-12:
                change = schedule.pop(0)[1]
                if callable(change):
                    change()
                else:
                    pending[change[0]] = pending.get(change[0], np.zeros(3, bool)) | (
                        change[1] & self.closed[change[0]]
                    )
        raise ArithmeticError("too many switching instants")

    def _limit_harmonics(self) -> None:
        """Lower the harmonics of the source where a bank in service amplifies them beyond the background."""
        m, k, u, keep = self._matrices()
        bus = (keep >= 3) & (keep < 6)
        levels = {
            h: float(abs(np.linalg.solve(1j * h * self.site.omega * m - k, u @ e)[bus]).mean())
            for h, e in self.site.sources().items()
        }
        distortion = math.sqrt(sum(x * x for h, x in levels.items() if h > 1))
        if levels[1] > 0.3 and distortion > self.site.thd * levels[1]:
            for h in levels:
                if h > 1:
                    self.site.harmonics[h] = self.site.harmonics[h] * (self.site.thd * levels[1] / distortion)

    def last_opening(self, group: str, after: float = 0.0, before: float = math.inf) -> float:
        """Instant at which the last pole of `group` opened within an interval; infinite if none did."""
        return max((t for t, g, _ in self.openings if g == group and after < t < before), default=math.inf)

    def wave(self, group: str) -> Array:
        """Three states on the fine grid of the site."""
        t = self.site.t
        rows = np.arange(self.index[group].start, self.index[group].stop)
        out = np.zeros((3, t.size))
        scale = self.scale()
        for k, segment in enumerate(self.segments):
            low = 0 if k == 0 else np.searchsorted(t, segment.start)
            high = t.size if k == len(self.segments) - 1 else np.searchsorted(t, segment.end)
            if high > low:
                out[:, low:high] = self._values(segment, t[low:high], rows) * scale
        return out

    def undisturbed(self) -> Array:
        """Voltages as they would be without any switching."""
        return self._values(self.segments[0], self.site.t, np.arange(3, 6)) * self.scale()

    def scale(self) -> float:
        """Factor that brings the bus to the level of the site before the event (after it, if the record begins dead);
        the network is linear."""
        for segment in (self.segments[0], self.segments[-1]):
            where = np.flatnonzero((segment.active >= 3) & (segment.active < 6))
            level = float(abs(segment.phasors[1][where]).mean()) / math.sqrt(2)
            if level > 0.3:
                return self.site.level / level
        return 1.0


def network(site: Site, **options: Any) -> Circuit:
    """A circuit with a source drawn at random: 10 to 50 times the load, X/R 3 to 20, effectively earthed."""
    rng = site.rng
    options = {
        "x": 10 ** rng.uniform(-1.7, -1.0),
        "x_over_r": rng.uniform(3, 20),
        "zero": (rng.uniform(1, 3), rng.uniform(0.9, 3)),
    } | options
    options.setdefault("susceptance", rng.uniform(0.003, 0.02))
    return Circuit(site, **options)


# --------------------------------------------------------------------------------------- machines and saturating cores


def magnetise(
    site: Site,
    closing: float,
    *,
    x: float,
    x_over_r: float,
    air: float,
    knee: float,
    remanence: Array,
    delta: bool,
    copper: float,
) -> tuple[Array, Array]:
    """Voltages and line currents (fine grid) of a bus on which an unloaded transformer is energised at `closing`.

    Each limb has a piecewise linear magnetising curve: 200 pu below the `knee` (flux in pu of its peak), `air` pu
    above. The
    flux is integrated behind the source impedance (and `copper` resistance), Heun's method, 160 steps a cycle.
    """
    w0, w = 2 * math.pi * site.f0, site.omega
    h = 1 / (160 * site.f0)
    start = closing
    steps = math.ceil((site.length - start) / h) + 2
    t = start + h * np.arange(steps)
    e = np.zeros((3, steps))
    for order, phasor in site.harmonics.items():
        e += (phasor[:, None] * np.exp(1j * order * w * t)[None]).real
    if delta:
        e = e - np.roll(e, -1, axis=0)
        e /= math.sqrt(3)  # pu of the winding's own nominal voltage
    resistance = x / x_over_r
    peak = math.sqrt(2) / w0
    psi = [float(v) * peak for v in remanence]
    limit, low, high = knee * peak, w0 / 200, w0 / air  # slopes of current over flux, below and above the knee
    couple = 1.0 if delta else 0.0
    # the line current of a delta is a difference of two winding currents: its impedance acts as (3 I - J) / 3
    inductance = x / w0

    def rates(flux: list[float], volts: Array) -> tuple[list[float], list[float], list[float]]:
        current, slope = [0.0] * 3, [0.0] * 3
        for k in range(3):
            value = flux[k]
            if value > limit:
                current[k], slope[k] = low * limit + high * (value - limit), high
            elif value < -limit:
                current[k], slope[k] = -low * limit + high * (value + limit), high
            else:
                current[k], slope[k] = low * value, low
        mean_current = sum(current) / 3 * couple
        drive = [volts[k] - resistance * (current[k] - mean_current) - copper * current[k] for k in range(3)]
        divisor = [1 + inductance * slope[k] for k in range(3)]
        if couple:
            weight = sum(slope[k] * drive[k] / divisor[k] for k in range(3))
            common = weight / (1 - inductance / 3 * sum(slope[k] / divisor[k] for k in range(3))) * inductance / 3
        else:
            common = 0.0
        return [(drive[k] + common) / divisor[k] for k in range(3)], current, slope

    currents = np.zeros((3, steps))
    derivative = np.zeros((3, steps))
    columns = e.T.tolist()
    for k in range(steps):
        d1, current, slope = rates(psi, columns[k])
        for p in range(3):
            currents[p, k] = current[p]
            derivative[p, k] = slope[p] * d1[p]
        if k + 1 < steps:
            d2, _, _ = rates([psi[p] + h * d1[p] for p in range(3)], columns[k + 1])
            psi = [psi[p] + h / 2 * (d1[p] + d2[p]) for p in range(3)]
    if delta:
        currents, derivative = ((z - np.roll(z, 1, axis=0)) / math.sqrt(3) for z in (currents, derivative))
    fine = site.t
    v, i = site.waveform(), np.zeros((3, fine.size))
    on = fine >= start
    for p in range(3):
        i[p, on] = np.interp(fine[on], t, currents[p])
        v[p, on] -= resistance * i[p, on] + inductance * np.interp(fine[on], t, derivative[p])
    return v, i


def ferroresonant(site: Site, opening: float, phase: int) -> tuple[Array, Array]:
    """Voltages after the pole of one phase has opened and its transformer is fed through the capacitance to the other
    phases.

    Node of the open phase: (Cs + Cg) dv/dt = Cs d(e_b + e_c)/2 /dt ... - G v - i(psi), dpsi/dt = v, with a saturating
    i(psi).
    """
    rng = site.rng
    w0 = 2 * math.pi * site.f0
    ratio = rng.uniform(0.3, 0.55)  # Cs / (Cs + Cg)
    total = rng.uniform(0.1, 1.2)  # susceptance of Cs + Cg
    conductance = total * rng.uniform(0.01, 0.06)
    knee, air, low = rng.uniform(1.05, 1.25), rng.uniform(0.3, 0.8), rng.uniform(0.002, 0.02)
    peak = math.sqrt(2) / w0
    h = 1 / (512 * site.f0)
    steps = math.ceil((site.length - opening) / h) + 2
    t = opening + h * np.arange(steps)
    others = [k for k in range(3) if k != phase]
    drive = np.zeros(steps)
    v_open = psi = 0.0
    for order, phasor in site.harmonics.items():
        drive += sum((1j * order * site.omega * phasor[k] * np.exp(1j * order * site.omega * t)).real for k in others)
        v_open += float((phasor[phase] * cmath.exp(1j * order * site.omega * opening)).real)
        psi += float((phasor[phase] / (1j * order * site.omega) * cmath.exp(1j * order * site.omega * opening)).real)
    c = total / w0
    drive *= ratio * c
    limit = knee * peak
    out, values = v_open, []
    slope_low, slope_high = low * w0, w0 / air
    for force in drive.tolist():
        values.append(out)
        if psi > limit:
            current = slope_low * limit + slope_high * (psi - limit)
        elif psi < -limit:
            current = -slope_low * limit + slope_high * (psi + limit)
        else:
            current = slope_low * psi
        out = (out + h / c * (force - current)) / (1 + h / c * conductance)  # symplectic Euler: stable for oscillators
        psi += h * out
    v = site.waveform()
    on = site.t >= opening
    v[phase, on] = np.interp(site.t[on], t, np.array(values))
    i = site.load_current(v, size=0.15)
    i[phase, on] = 0
    return v, i


def motor_network(
    site: Site,
    *,
    x: float,
    x_over_r: float,
    motor: float,
    inertia: float,
    torque: float,
    start: float | None,
    fault: tuple[float, float, complex, str] | None,
    load: complex,
) -> tuple[Array, Array, Array]:
    """Bus voltages, currents of the incomer and the course of the slip with an induction motor of `motor` pu.

    `start`: instant of switching on, or None if it runs. `fault`: (inception, clearing, impedance, "ABC" or "BC"), as
    seen by quasi-static
    sequence networks. The DC offset of the starting current is added in closed form.
    """
    w0 = 2 * math.pi * site.f0
    zs = complex(x / x_over_r, x)
    rs, xm, xl, xr, rr = (p / motor for p in (0.02, 3.2, 0.1, 0.09, 0.025))
    x_open, x_short = xl + xm, xl + xm * xr / (xm + xr)
    t_open = (xr + xm) / (w0 * rr)
    z_short = complex(rs, x_short)
    h = 0.25 / 1000
    times = np.arange(-0.002, site.length + h, h)
    e_source = site.level

    def solve(emf: complex, connected: bool, faulted: bool) -> tuple[complex, complex, complex]:
        """Positive and negative sequence of the bus voltage, motor current."""
        y1 = 1 / zs + load + (1 / z_short if connected else 0)
        y2 = y1
        thevenin = (e_source / zs + (emf / z_short if connected else 0)) / y1
        v1, v2 = thevenin, 0j
        if faulted:
            zf = fault[2]
            if fault[3] == "ABC":
                v1 = thevenin * zf / (zf + 1 / y1)
            else:  # phases B and C: sequence networks in parallel
                current = thevenin / (1 / y1 + 1 / y2 + zf)
                v1, v2 = thevenin - current / y1, current / y2
        return v1, v2, (v1 - emf) / z_short if connected else 0j

    def advance(emf: complex, slip: float, current: complex, dt: float, load_torque: float) -> tuple[complex, float]:
        coefficient = -(1 / t_open + 1j * slip * w0)
        rest = 1j * (x_open - x_short) * current / t_open / coefficient
        emf = (emf + rest) * cmath.exp(coefficient * dt) - rest
        power = (emf * current.conjugate()).real / motor
        slip = min(1.0, max(1e-4, slip + dt / (2 * inertia) * (load_torque - power)))
        return emf, slip

    emf, slip, connected = 0j, 1.0, start is None
    for _ in range(3):  # a source voltage that gives the level of the site before the event
        if connected:  # find the running point
            if not emf:
                slip, emf = 0.01, complex(0.9, -0.1)
            for _ in range(1500):
                emf, slip = advance(emf, slip, solve(emf, True, False)[2], 1e-3, torque)
        e_source *= site.level / abs(solve(emf, connected, False)[0])
    v1, v2, im, slips = (np.zeros(times.size, complex) for _ in range(4))
    for k, now in enumerate(times):
        faulted = fault is not None and fault[0] <= now < fault[1]
        if not connected and start is not None and now >= start:
            connected = True
        v1[k], v2[k], im[k] = solve(emf, connected, faulted)
        slips[k] = slip
        if connected:
            emf, slip = advance(emf, slip, complex(im[k]), h, torque * (1 - slip) ** 2 if start is not None else torque)
    fine = site.t

    def envelope(z: Array) -> Array:
        """Linear between steps, but abrupt where the network switches."""
        k = np.clip(((fine - times[0]) / h).astype(int), 0, times.size - 2)
        fraction = np.clip((fine - times[k]) / h, 0, 1)
        jump = abs(z[k + 1] - z[k]) > 0.02
        return np.where(jump, z[k], z[k] + fraction * (z[k + 1] - z[k]))

    ref = site.harmonics[1][0] / abs(site.harmonics[1][0])
    turning = ref * np.exp(1j * site.omega * fine)
    positive, negative = envelope(v1), envelope(v2)
    total = envelope((e_source - v1) / zs)
    scale = abs(positive) / e_source
    v, i = np.zeros((3, fine.size)), np.zeros((3, fine.size))
    background = site.waveform() - (site.harmonics[1][:, None] * np.exp(1j * site.omega * fine)).real
    for p in range(3):
        v[p] = (
            math.sqrt(2) * ((positive * ROTATION[p] + negative * ROTATION[p].conj()) * turning).real
            + background[p] * scale
        )
        i[p] = math.sqrt(2) * ((total * ROTATION[p] - negative / zs * ROTATION[p].conj()) * turning).real
    decay = (x + x_short) / (w0 * (zs.real + rs))
    moment = start if start is not None else (fault[0] if fault else None)
    if moment is not None and 0 <= moment < site.length:  # DC offset: the current cannot jump
        j = np.searchsorted(fine, moment)
        tau = decay if start is not None else x / (w0 * zs.real)
        for p in range(3):
            offset = (i[p, j - 1] - i[p, min(j + 1, fine.size - 1)]) * np.exp(-(fine[j:] - fine[j]) / tau)
            if fault is not None and start is None:
                offset = np.where(fine[j:] < fault[1], offset, 0)
            i[p, j:] += offset
            v[p, j:] -= (zs.real - x / (w0 * tau)) * offset
    return v, i, np.interp(fine, times, slips.real)


# --------------------------------------------------------------------------------------------------- truth and records


def urms(v: Array, rate: float, frequency: float, ends: Array) -> Array:
    """RMS of the cycle before each of `ends` [s], channels in rows; window limits between samples are interpolated."""
    energy = np.concatenate([np.zeros((v.shape[0], 1)), np.cumsum(v * v, axis=1)], axis=1) / rate
    grid = np.arange(v.shape[1] + 1) / rate
    rows = [np.interp(ends, grid, row) - np.interp(ends - 1 / frequency, grid, row) for row in energy]
    return np.sqrt(np.maximum(np.array(rows) * frequency, 0))


def grids(rate: float, n: int, frequency: float, count: int = 16) -> list[Array]:
    """Ends of the windows of Urms(1/2), for `count` positions of the half-cycle grid."""
    half = 0.5 / frequency
    return [np.arange(2 * half + offset * half / count, n / rate + 1e-9, half) for offset in range(count)]


@dataclass
class Case:
    """A record before it is written: waveforms on the fine grid, and what is true of them."""

    site: Site
    v: Array
    i: Array | None = None
    start: float | None = None
    end: float | None = None
    starts: list[list[float]] = field(default_factory=list)
    category: str = "rms"  # or transient, flicker, frequency, dc offset, none: what is expected beside RMS events
    transient_phases: list[int] | None = None
    brief: bool = False  # below a cycle: a transient is a right name as well
    causes: tuple[str, ...] = ()
    visible: bool = True
    stages: list[tuple[str, float]] = field(default_factory=list)
    clearing: list[float] = field(default_factory=list)
    status: list[tuple[str, float, float | None]] = field(default_factory=list)
    caveat: str | None = None
    other: tuple[str, ...] = ()
    none_allowed: bool = False
    ignore_rms: bool = False  # recorder faults: the waveform in the file is not the voltage
    view: str = "phase"
    tamper: Callable[[Array, Array | None], tuple[Array, Array | None]] | None = None
    clip: float | None = None
    spare: int = 0
    one_channel: bool = False
    settings: dict[str, Any] = field(default_factory=dict)


def view_of(v: Array, view: str) -> tuple[Array, list[str], float]:
    """Voltages as connected: phases, phase to phase, behind a Dyn or Yyn transformer; names of phases, factor of the
    nominal voltage."""
    if view == "line":
        return (v - np.roll(v, -1, axis=0)) / math.sqrt(3), ["AB", "BC", "CA"], math.sqrt(3)
    if view == "dyn":
        return (v - np.roll(v, -1, axis=0)) / math.sqrt(3), ["A", "B", "C"], 1.0
    if view == "yyn":
        return v - v.mean(axis=0), ["A", "B", "C"], 1.0
    return v, ["A", "B", "C"], 1.0


def record(site: Site, fine: Array) -> Array:
    """Samples as a recorder takes them: second-order Butterworth filter at 0.35 of the rate, then decimation."""
    m = site.oversampling
    cutoff = 2 * math.pi * 0.35 * site.rate / math.sqrt(2)
    tau = np.arange(10 * m) / (site.rate * m)
    taps = np.exp(-cutoff * tau) * np.sin(cutoff * tau)
    taps /= taps.sum()
    windows = np.lib.stride_tricks.sliding_window_view(fine, taps.size, axis=1)
    first = site.padding - taps.size + 1
    return windows[:, first::m][:, : site.n] @ taps[::-1]


def rms_truth(v: Array, names: list[str], rate: float, frequency: float, start: float | None) -> dict[str, Any]:
    """Categories by Urms(1/2): certain and possible phases and ranges of the magnitude, over all positions of the
    grid."""
    rows = [urms(v, rate, frequency, ends) for ends in grids(rate, v.shape[1], frequency)]
    lows = np.array([r.min(axis=1) for r in rows])
    highs = np.array([r.max(axis=1) for r in rows])
    out: dict[str, Any] = {}

    def one(certain: Array, possible: Array, values: Array) -> dict[str, Any]:
        worst = values[:, certain if certain.any() else possible]
        return {
            "certain": [names[k] for k in np.flatnonzero(certain)],
            "possible": [names[k] for k in np.flatnonzero(possible)],
            "range": [float(worst.min()), float(worst.max())],
        }

    sag_certain, sag_possible = lows.max(axis=0) < 0.9 - MARGIN, lows.min(axis=0) < 0.9 + MARGIN
    if sag_possible.any():
        out["sag"] = one(sag_certain, sag_possible, lows)
        key = np.flatnonzero(sag_certain if sag_certain.any() else sag_possible)
        per_grid = lows[:, key].min(axis=1)
        out["sag"]["range"] = [float(per_grid.min()), float(per_grid.max())]
    swell_certain, swell_possible = highs.min(axis=0) > 1.1 + MARGIN, highs.max(axis=0) > 1.1 - MARGIN
    if swell_possible.any():
        out["swell"] = one(swell_certain, swell_possible, highs)
        key = np.flatnonzero(swell_certain if swell_certain.any() else swell_possible)
        per_grid = highs[:, key].max(axis=1)
        out["swell"]["range"] = [float(per_grid.min()), float(per_grid.max())]
    together = np.array([r.max(axis=0).min() for r in rows])
    if together.min() < 0.1 + MARGIN:
        lowest = [float(r.min()) for r in rows]
        out["interruption"] = {
            "certain": names if together.max() < 0.1 - MARGIN else [],
            "possible": names,
            "range": [min(lowest), max(lowest)],
        }
    ends = grids(rate, v.shape[1], frequency, 1)[0]
    level = rows[0]
    before = level[:, ends <= start] if start is not None and (ends <= start).any() else level[:, :1]
    change = level - before.mean(axis=1, keepdims=True)
    size = abs(change).max(axis=1)
    out["change"] = {
        "size": float(size.max()),
        "phases": [names[k] for k in np.flatnonzero(size > max(0.015, 0.5 * size.max()))],
        "range": sorted(
            [float(change[size.argmax(), -1]), float(change[size.argmax()][abs(change[size.argmax()]).argmax()])]
        ),
    }
    return out


def truth_of(case: Case, clean: Array, names: list[str]) -> dict[str, Any]:
    """Everything but the file's own data."""
    site = case.site
    found = rms_truth(clean, names, site.rate, site.frequency, case.start)
    starts = [list(pair) for pair in case.starts] or ([[case.start] * 2] if case.start is not None else [])
    events: list[dict[str, Any]] = []
    allowed: set[str] = set()

    def event(category: str, item: dict[str, Any], magnitude: list[float] | None) -> None:
        events.append(
            {
                "category": category,
                "phases": item["certain"],
                "phases_possible": item["possible"],
                "magnitude": [round(x, 4) for x in magnitude] if magnitude else None,
                "starts": starts,
            }
        )

    none_allowed = case.none_allowed
    if not case.ignore_rms:
        certain = [c for c in ("interruption", "sag", "swell") if c in found and found[c]["certain"]]
        possible = [c for c in ("interruption", "sag", "swell") if c in found]
        allowed |= set(possible)
        if "interruption" in certain:
            event("interruption", found["interruption"], found["interruption"]["range"])
        elif certain:
            for c in certain:
                event(c, found[c], found[c]["range"])
            if "interruption" in possible:
                event("interruption", found["interruption"], found["interruption"]["range"])
        else:
            for c in possible:
                event(c, found[c], found[c]["range"])
            change = found["change"]
            if change["size"] >= 0.015 and case.category in ("rms", "transient", "none", "flicker", "frequency"):
                allowed.add("rapid voltage change")
                if case.category == "rms":
                    item = {"certain": [], "possible": names}
                    event("rapid voltage change", item, change["range"])
                    none_allowed = none_allowed or (change["size"] < 0.03 and not possible)
            elif case.category == "rms" and not possible:
                none_allowed = True
    if case.brief:
        event("transient", {"certain": [], "possible": names}, None)
    if case.category not in ("rms", "none"):
        if case.category == "transient":
            worst = case.transient_phases if case.transient_phases is not None else []
            item = {
                "certain": [names[k] for k in worst if k < len(names)] if case.view in ("phase",) else [],
                "possible": names,
            }
        else:
            item = {"certain": [], "possible": names}
        event(case.category, item, None)
    return {
        "events": events,
        "none_allowed": bool(none_allowed or not events),
        "rms_allowed": sorted(allowed),
        "other_allowed": sorted({"transient", "unbalance", "harmonics", "dc offset", *case.other}),
        "start": None if case.start is None else round(case.start, 6),
        "end": None if case.end is None or case.end >= site.length else round(case.end, 6),
        "cut_end": bool(case.end is not None and case.end >= site.length),
        "causes": list(case.causes),
        "cause_visible": bool(
            case.visible and case.causes and ("fault" not in case.causes or found["change"]["size"] > 0.1)
        ),
        "stages": [{"name": n, "time": round(t, 6)} for n, t in case.stages if t < site.length],
        "clearing_s": [round(t, 6) for t in case.clearing if t < site.length],
        "status": [
            {"name": n, "on": round(a, 6), "off": None if b is None or b >= site.length else round(b, 6)}
            for n, a, b in case.status
            if a < site.length
        ],
        "caveat": case.caveat,
        "change_pu": round(found["change"]["size"], 4),
        "settings": {k: (round(x, 5) if isinstance(x, float) else x) for k, x in case.settings.items()},
    }


VOLTAGE_NAMES = {
    "phase": [
        ("UA", "UB", "UC"),
        ("VA", "VB", "VC"),
        ("U L1", "U L2", "U L3"),
        ("Va", "Vb", "Vc"),
        ("UL1", "UL2", "UL3"),
    ],
    "line": [("UAB", "UBC", "UCA"), ("VAB", "VBC", "VCA"), ("UL12", "UL23", "UL31")],
}
CURRENT_NAMES = [
    ("IA", "IB", "IC"),
    ("IA", "IB", "IC"),
    ("I L1", "I L2", "I L3"),
    ("Ia", "Ib", "Ic"),
    ("IL1", "IL2", "IL3"),
]


def write(case: Case, folder: Path, stem: str) -> dict[str, Any]:
    """Sample, quantise and write a record; its truth."""
    site, rng = case.site, case.site.rng
    clean, names, factor = view_of(record(site, case.v), case.view)
    current = None if case.i is None else record(site, case.i)
    if case.one_channel:
        clean, names, current = clean[:1], names[:1], None if current is None else current[:1]
    truth = truth_of(case, clean, names)
    if case.clip is not None:  # what a meter can measure lies between the clipped value and the true one
        seen = rms_truth(np.clip(clean, -case.clip, case.clip), names, site.rate, site.frequency, case.start).get(
            "swell"
        )
        for item in truth["events"]:
            if item["category"] == "swell":
                item["magnitude"][0] = round(min(item["magnitude"][0], seen["range"][0] if seen else 1.1), 4)
    noise = 10 ** (-site.snr / 20)
    v = clean + noise * rng.standard_normal(clean.shape)
    i = (
        None
        if current is None
        else current
        + noise * max(0.2, float(np.std(current[:, : current.shape[1] // 4 + 1]))) * rng.standard_normal(current.shape)
    )
    if case.tamper:
        v, i = case.tamper(v, i)
    n = v.shape[1]
    volts = site.nominal * factor
    scheme = int(rng.integers(len(VOLTAGE_NAMES["line" if case.view == "line" else "phase"])))
    labels = list(VOLTAGE_NAMES["line" if case.view == "line" else "phase"][scheme][: len(names)])
    full_v = case.clip or max(rng.uniform(2.2, 3.0) * math.sqrt(2), 1.1 * float(np.nanmax(abs(v))))
    channels: list[tuple[str, str, str, Array, float]] = [
        (label, phase, "V", row * volts, full_v * volts) for label, phase, row in zip(labels, names, v, strict=True)
    ]
    if i is not None:
        full_i = max(4.0, 1.3 * float(np.nanmax(abs(i)))) * site.amperes
        for label, phase, row in zip(CURRENT_NAMES[scheme if case.view != "line" else 0], "ABC", i, strict=False):
            channels.append((label, phase, "A", row * site.amperes, full_i))
    channels.extend(
        (f"U{k + 4} spare" if rng.random() < 0.5 else f"AI{k + 7}", "", "V", np.zeros(n), full_v * volts)
        for k in range(case.spare)
    )
    table = not case.status and not case.spare and case.clip is None and rng.random() < 0.2
    rate = site.rate
    truth = {
        "kind": "",
        "file": f"{stem}.csv" if table else f"{stem}.cfg",
        "rate": rate,
        "frequency": site.f0,
        "true_frequency": round(site.frequency, 4),
        "nominal_volts": round(volts, 3),
        "channels": names,
        "length_s": round(n / rate, 6),
    } | truth
    bits = site.bits
    top = 2 ** (bits - 1) - 1
    counts = []
    for _, _, _, row, full in channels:
        scaled = row / (full / top)
        counts.append(np.where(np.isnan(scaled), np.nan, np.clip(np.round(scaled), -top, top)))
    if table:
        truth["format"] = "CSV"
        write_table(folder / truth["file"], channels, counts, top, rate)
    else:
        styles = ["ASCII", "BINARY"] + (["BINARY32"] if bits == 16 else [])
        truth["format"] = str(rng.choice(styles))
        write_comtrade(folder / stem, site, channels, counts, top, rate, truth["format"], truth["status"], n, rng)
    return truth


def write_table(path: Path, channels: list[Any], counts: list[Array], top: int, rate: float) -> None:
    """A plain CSV file with a time column in seconds; missing samples are empty cells."""
    lines = ["Time [s]," + ",".join(f"{name} [{unit}]" for name, _, unit, _, _ in channels)]
    columns = [
        np.char.mod("%.6g", np.nan_to_num(c * (full / top)))
        for c, (_, _, _, _, full) in zip(counts, channels, strict=True)
    ]
    for column, c in zip(columns, counts, strict=True):
        column[np.isnan(c)] = ""
    times = np.char.mod("%.7f", np.arange(counts[0].size) / rate)
    lines += [",".join(row) for row in zip(times, *columns, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def write_comtrade(
    stem: Path,
    site: Site,
    channels: list[Any],
    counts: list[Array],
    top: int,
    rate: float,
    style: str,
    status: list[Any],
    n: int,
    rng: np.random.Generator,
) -> None:
    """A COMTRADE pair (1999, or 2013 for BINARY32). Secondary values carry the ratio of their transformers."""
    secondary = bool(rng.random() < 0.35) and site.nominal > 1000
    year = "2013" if style == "BINARY32" else "1999"
    lines = [
        f"Station {rng.integers(1, 99)},DFR-{rng.integers(1, 9)},{year}",
        f"{len(channels) + len(status)},{len(channels)}A,{len(status)}D",
    ]
    with_phase = rng.random() < 0.7
    for k, (name, phase, unit, _, full) in enumerate(channels, 1):
        ratio = (site.nominal * math.sqrt(3) / 100 if unit == "V" else site.amperes * 2) if secondary else 1
        step = full / top / ratio
        primary, flag = (f"{ratio:.6g}", "S") if secondary else ("1", "P")
        step = full / top / float(primary)
        lines.append(
            f"{k},{name},{phase if with_phase else ''},,{unit},{step:.10g},0,0,{-top},{top},{primary},1,{flag}"
        )
    digital = []
    for k, item in enumerate(status, 1):
        lines.append(f"{k},{item['name']},,,0")
        t = np.arange(n) / rate
        off = math.inf if item["off"] is None else item["off"]
        digital.append(((t >= item["on"] - 0.5 / rate) & (t < off - 0.5 / rate)).astype(int))
    day, month, hour, minute, second, micros = (
        int(rng.integers(*r)) for r in ((1, 28), (1, 13), (24,), (60,), (60,), (10**6,))
    )
    stamp = f"{day:02d}/{month:02d}/2026,{hour:02d}:{minute:02d}:{second:02d}.{micros:06d}"
    lines += [f"{site.f0:g}", "1", f"{rate:g},{n}", stamp, stamp, style, "1"]
    if year == "2013":
        lines += ["0,0", "0,0"]
    stem.with_suffix(".cfg").write_text("\r\n".join(lines) + "\r\n")
    micro = np.round(np.arange(n) / rate * 1e6).astype(np.int64)
    data = stem.with_suffix(".dat")
    if style == "ASCII":
        columns = [np.char.mod("%d", np.nan_to_num(c, nan=99999).astype(int)) for c in counts] + [
            np.char.mod("%d", d) for d in digital
        ]
        rows = zip(np.char.mod("%d", np.arange(1, n + 1)), np.char.mod("%d", micro), *columns, strict=True)
        data.write_text("\r\n".join(",".join(row) for row in rows) + "\r\n")
        return
    kind, missing = ("<i4", -(2**31)) if style == "BINARY32" else ("<i2", -32768)
    words = math.ceil(len(status) / 16)
    layout = np.dtype([("n", "<u4"), ("t", "<u4"), ("a", kind, (len(channels),)), ("d", "<u2", (words,))])
    block = np.zeros(n, layout)
    block["n"], block["t"] = np.arange(1, n + 1), micro
    for k, c in enumerate(counts):
        block["a"][:, k] = np.where(np.isnan(c), missing, np.nan_to_num(c)).astype(kind)
    for k, d in enumerate(digital):
        block["d"][:, k // 16] |= (d << (k % 16)).astype("<u2")
    data.write_bytes(block.tobytes())


# ----------------------------------------------------------------------------------------------------------- the kinds

KINDS: dict[str, Callable[[np.random.Generator], Case]] = {}


def kind(function: Callable[[np.random.Generator], Case]) -> Callable[[np.random.Generator], Case]:
    """Register a kind under the name of its function."""
    KINDS[function.__name__] = function
    return function


def moments(
    site: Site, cycles: tuple[float, float], *, early: float = 0.12, cut: float = 0.12, after: float = 2.0
) -> tuple[float, float]:
    """Inception and end of an event of that many cycles: mostly inside, sometimes in the first cycle or cut by the end
    of the record."""
    rng, one = site.rng, site.cycle
    duration = rng.uniform(*cycles) * one
    if rng.random() < cut:
        start = site.length - rng.uniform(0.35, 0.9) * min(duration, site.length - 3 * one)
        return max(start, 1.5 * one), math.inf
    duration = min(duration, site.length - (after + 1.5) * one)
    if rng.random() < early:
        start = rng.uniform(0.2, 0.95) * one
        return start, start + duration
    start = rng.uniform(2.0 * one, max(2.1 * one, site.length - duration - after * one))
    return start, start + duration


def protection(
    site: Site, start: float, cleared: float, *, reclosed: float | None = None
) -> list[tuple[str, float, float | None]]:
    """Status channels of a relay and its breaker around a fault."""
    rng, ms = site.rng, 1e-3
    duration = min(cleared, site.length) - start
    pickup = start + min(rng.uniform(4, 15) * ms, 0.3 * duration)
    out: list[tuple[str, float, float | None]] = [
        ("Pickup 51", pickup, cleared + rng.uniform(5, 15) * ms if math.isfinite(cleared) else None)
    ]
    if math.isfinite(cleared):
        trip = max(pickup + 1 * ms, cleared - rng.uniform(25, 60) * ms)
        out.append(("Trip", trip, cleared + rng.uniform(20, 60) * ms))
        out.append(("CB open", max(trip + 1 * ms, cleared - rng.uniform(2, 12) * ms), reclosed))
        if reclosed is not None:
            out.append(("Reclose", reclosed - rng.uniform(40, 80) * ms, reclosed + rng.uniform(5, 30) * ms))
    return [(name, a, b) for name, a, b in out if a >= 0]


def poles(text: str) -> Array:
    return np.array([p in text for p in PHASES])


def set_fault(circuit: Circuit, retained: float, ground: float | None) -> complex:
    """Feeder to the fault so that a three-phase fault would leave about `retained` pu."""
    rng = circuit.site.rng
    zs = abs(complex(circuit.r, circuit.x))
    zf = zs * retained / (1 - retained) * cmath.exp(1j * rng.uniform(0.9, 1.4))
    circuit.feeder(zf, None if ground is None else ground * zs, arc=rng.uniform(0, 0.06) * zs)
    return zf


def bus_fault(
    site: Site,
    phases: str,
    *,
    ground: float | None,
    retained: float,
    cycles: tuple[float, float] = (2, 10),
    view: str | None = None,
    currents: bool | None = None,
    status: bool | None = None,
    remote: bool = False,
    early: float = 0.12,
    cut: float = 0.12,
) -> Case:
    """A fault on a feeder of the bus (or, `remote`, elsewhere in the network), cleared pole by pole at current
    zeros."""
    rng = site.rng
    circuit = network(site)
    set_fault(circuit, retained, ground)
    start, end = moments(site, cycles, early=early, cut=cut)
    circuit.close("f", start, poles(phases))
    if math.isfinite(end):
        circuit.open("f", end)
    circuit.solve()
    cleared = circuit.last_opening("f")
    currents = rng.random() < 0.5 if currents is None else currents
    status = currents and rng.random() < 0.5 if status is None else status
    view = view or str(rng.choice(["phase", "phase", "phase", "line", "dyn", "yyn"]))
    current = circuit.wave("l" if remote else "s") if currents and (view in ("phase", "line")) else None
    case = Case(site, circuit.wave("v"), current, start, cleared, causes=("fault",), view=view)
    case.stages = [("inception", start), ("cleared", cleared)]
    case.clearing = [cleared]
    case.status = protection(site, start, cleared) if status else []
    case.settings = {
        "phases": phases,
        "ground": ground,
        "retained": retained,
        "x_over_r": circuit.x / circuit.r,
        "remote": remote,
    }
    return case


def faulted(rng: np.random.Generator, count: int) -> str:
    return "".join(sorted(rng.permutation(list(PHASES))[:count]))


@kind
def fault_one_phase(rng: np.random.Generator) -> Case:
    """Earth fault in an effectively earthed network, cleared."""
    return bus_fault(draw_site(rng), faulted(rng, 1), ground=rng.uniform(0, 0.3), retained=rng.uniform(0.05, 0.65))


@kind
def fault_two_phases(rng: np.random.Generator) -> Case:
    """Between two phases, with or without earth, cleared."""
    ground = rng.uniform(0, 0.3) if rng.random() < 0.4 else None
    return bus_fault(draw_site(rng), faulted(rng, 2), ground=ground, retained=rng.uniform(0.05, 0.65))


@kind
def fault_three_phases(rng: np.random.Generator) -> Case:
    ground = rng.uniform(0, 0.3) if rng.random() < 0.3 else None
    return bus_fault(draw_site(rng), PHASES, ground=ground, retained=rng.uniform(0.15, 0.8))


@kind
def fault_first_cycle(rng: np.random.Generator) -> Case:
    """Inception in the first cycle of the capture."""
    count = int(rng.integers(1, 4))
    ground = rng.uniform(0, 0.3) if count == 1 else None
    return bus_fault(draw_site(rng), faulted(rng, count), ground=ground, retained=rng.uniform(0.1, 0.6), early=1, cut=0)


@kind
def fault_cut(rng: np.random.Generator) -> Case:
    """The record ends inside the fault."""
    count = int(rng.integers(1, 4))
    ground = rng.uniform(0, 0.3) if count == 1 else None
    case = bus_fault(
        draw_site(rng),
        faulted(rng, count),
        ground=ground,
        retained=rng.uniform(0.1, 0.6),
        early=0,
        cut=1,
        cycles=(4, 10),
    )
    case.visible = case.i is not None
    return case


@kind
def fault_fuse(rng: np.random.Generator) -> Case:
    """Cleared by a fuse within about half a cycle: current-limiting (its arc voltage forces the current down) or
    expulsion (next zero)."""
    site = draw_site(rng, (8, 20), min_rate=3200)
    circuit = network(site)
    phases = faulted(rng, int(rng.integers(1, 3)))
    ground = rng.uniform(0, 0.2) if len(phases) == 1 else None
    zf = set_fault(circuit, rng.uniform(0.05, 0.35), ground)
    start, _ = moments(site, (1, 1), early=0.1, cut=0)
    circuit.close("f", start, poles(phases))
    limiting = bool(rng.random() < 0.5)
    if limiting:
        melt = start + rng.uniform(0.1, 0.2) * site.cycle
        size = abs(complex(circuit.r, circuit.x) + zf)
        earth = None if ground is None else ground * abs(complex(circuit.r, circuit.x))
        for k, factor in enumerate((0.7, 1.5, 3, 6, 12, 25)):
            circuit.at(melt + k * 0.02 * site.cycle, lambda factor=factor: circuit.feeder(zf, earth, arc=factor * size))
        circuit.at(melt + 0.12 * site.cycle, lambda: circuit.closed["f"].fill(False))  # what is left is chopped
    else:
        circuit.open("f", start + rng.uniform(0.15, 0.3) * site.cycle)
    circuit.solve()
    cleared = melt + 0.12 * site.cycle if limiting else circuit.last_opening("f")
    view = str(rng.choice(["phase", "phase", "line"]))
    case = Case(
        site,
        circuit.wave("v"),
        circuit.wave("s") if rng.random() < 0.6 else None,
        start,
        cleared,
        causes=("fault",),
        view=view,
    )
    case.stages, case.clearing = [("inception", start), ("cleared", cleared)], [cleared]
    case.brief = limiting
    case.settings = {"phases": phases, "limiting": limiting}
    return case


@kind
def fault_evolving(rng: np.random.Generator) -> Case:
    """One phase to earth, then a second, sometimes the third; cleared together."""
    site = draw_site(rng, (16, 40))
    circuit = network(site)
    set_fault(circuit, rng.uniform(0.05, 0.5), rng.uniform(0, 0.2))
    start, end = moments(site, (6, 12), early=0, cut=0)
    order = rng.permutation(3)
    joins = [start, start + rng.uniform(0.3, 0.45) * (end - start)]
    if rng.random() < 0.4:
        joins.append(start + rng.uniform(0.6, 0.75) * (end - start))
    times = np.full(3, math.inf)
    for k, moment in zip(order, joins, strict=False):
        times[k] = moment
    circuit.close("f", times, np.isfinite(times))
    circuit.open("f", end)
    circuit.solve()
    cleared = circuit.last_opening("f")
    case = Case(
        site, circuit.wave("v"), circuit.wave("s") if rng.random() < 0.6 else None, start, cleared, causes=("fault",)
    )
    case.stages = [("inception", start), *(("evolves", t) for t in joins[1:]), ("cleared", cleared)]
    case.clearing = [cleared]
    case.status = protection(site, start, cleared) if case.i is not None else []
    case.settings = {"phases": "".join(PHASES[k] for k in order[: len(joins)])}
    return case


def recloser(rng: np.random.Generator, success: bool | None) -> Case:
    """Recorder on the line side of a recloser: fault, open, dead, closed again (successfully, onto the fault, or not
    at all)."""
    site = draw_site(rng, (36, 60) if success is not None else (12, 30))
    circuit = network(site)
    phases = faulted(rng, int(rng.integers(1, 4)))
    ground = rng.uniform(0, 0.3) if len(phases) == 1 else None
    set_fault(circuit, rng.uniform(0.03, 0.4), ground)
    one = site.cycle
    start = rng.uniform(2, 4) * one
    trip = start + (rng.uniform(1, 2) if success is None else rng.uniform(2, 6)) * one
    circuit.close("f", start, poles(phases))
    circuit.open("s", trip)
    again, second = math.inf, math.inf
    if success is not None:
        again = trip + rng.uniform(12, 18) * one
        circuit.close("s", again + rng.uniform(0, 0.002, 3))
        if success:
            circuit.at(trip + 5 * one, lambda: circuit.closed["f"].fill(False))
        else:
            second = again + rng.uniform(2.5, 5) * one
            circuit.open("s", second)
    circuit.solve()
    first = circuit.last_opening("s", before=again)
    case = Case(
        site,
        circuit.wave("v"),
        circuit.wave("s") if rng.random() < 0.7 else None,
        start,
        again if success else math.inf,
        causes=("fault",),
    )
    case.starts = [[start, start], [first - one, first]]
    case.stages = [("inception", start), ("opened", first)]
    case.clearing = [first]
    case.status = protection(site, start, first, reclosed=again if math.isfinite(again) else None)
    if math.isfinite(again):
        case.stages.append(("reclosed", again))
    if success is False:
        last = circuit.last_opening("s", after=again)
        case.stages.append(("opened", last))
        case.clearing.append(last)
    case.view = str(rng.choice(["phase", "phase", "line"]))
    case.settings = {"phases": phases, "success": success}
    return case


@kind
def fault_reclosed(rng: np.random.Generator) -> Case:
    """Reclosing, successful."""
    return recloser(rng, True)


@kind
def fault_reclosed_onto(rng: np.random.Generator) -> Case:
    """Reclosing onto the fault, opened again."""
    return recloser(rng, False)


@kind
def fault_lockout(rng: np.random.Generator) -> Case:
    """A fault of one to two cycles, then dead until the end."""
    return recloser(rng, None)


@kind
def fault_two_sags(rng: np.random.Generator) -> Case:
    """The same fault twice, 40 to 60 ms apart."""
    site = draw_site(rng, (16, 40))
    circuit = network(site)
    count = int(rng.integers(1, 4))
    phases = faulted(rng, count)
    set_fault(circuit, rng.uniform(0.1, 0.6), rng.uniform(0, 0.3) if count == 1 else None)
    one = site.cycle
    start = rng.uniform(2.5, 4) * one
    end = start + rng.uniform(2, 4) * one
    circuit.close("f", start, poles(phases))
    circuit.open("f", end)
    again = end + one + rng.uniform(0.040, 0.060)
    circuit.close("f", again, poles(phases))
    circuit.open("f", again + rng.uniform(2, 3) * one)
    circuit.solve()
    first, last = circuit.last_opening("f", before=again), circuit.last_opening("f", after=again)
    case = Case(
        site, circuit.wave("v"), circuit.wave("s") if rng.random() < 0.5 else None, start, last, causes=("fault",)
    )
    case.starts = [[start, start], [again, again]]
    case.stages = [("inception", start), ("cleared", first), ("inception", again), ("cleared", last)]
    case.clearing = [first, last]
    return case


@kind
def fault_motors(rng: np.random.Generator) -> Case:
    """Fault (three or two phases) beside large motors, which draw their starting current after it: slow recovery."""
    for _ in range(20):
        site = draw_site(rng, (36, 60))
        start = rng.uniform(2.5, 6) * site.cycle
        end = start + rng.uniform(4, 9) * site.cycle
        x = rng.uniform(0.08, 0.16)
        zf = x * rng.uniform(0.1, 0.8) * cmath.exp(1j * rng.uniform(0.9, 1.3))
        phases = str(rng.choice(["ABC", "BC"]))
        v, i, slip = motor_network(
            site,
            x=x,
            x_over_r=rng.uniform(5, 15),
            motor=rng.uniform(0.5, 1.0),
            inertia=rng.uniform(0.12, 0.35),
            torque=rng.uniform(0.5, 0.8),
            start=None,
            fault=(start, end, zf, phases),
            load=rng.uniform(0.1, 0.3) * cmath.exp(-0.4j),
        )
        if slip.max() > 0.05 and slip[-1] < 0.8 * slip.max():
            break
    else:
        raise ArithmeticError("no case within the limits")
    case = Case(site, v, i if rng.random() < 0.6 else None, start, None, causes=("fault",))
    case.stages, case.clearing = [("inception", start), ("cleared", end)], [end]
    case.status = protection(site, start, end) if case.i is not None else []
    case.settings = {"phases": phases, "slip": float(slip.max())}
    return case


@kind
def fault_ct_saturation(rng: np.random.Generator) -> Case:
    """Close fault with a large DC offset; the current transformers saturate."""
    site = draw_site(rng, min_rate=3200)
    case = bus_fault(
        site,
        faulted(rng, int(rng.integers(1, 4))),
        ground=rng.uniform(0, 0.1),
        retained=rng.uniform(0.05, 0.3),
        view="phase",
        currents=True,
    )
    dt = 1 / (site.rate * site.oversampling)
    limit = (
        float(abs(case.i).max()) * rng.uniform(0.7, 1.2) / site.omega
    )  # enough for the alternating part, not for the offset
    out = np.zeros_like(case.i)
    for p in range(3):
        flux, row = 0.0, case.i[p].tolist()
        for k, value in enumerate(row):
            flux = (flux + value * dt) * (1 - 2 * dt)
            if abs(flux) > limit:
                flux = math.copysign(limit, flux)
            else:
                out[p, k] = value
    case.i = out
    return case


@kind
def fault_traction(rng: np.random.Generator) -> Case:
    """Contact line of 16.7 Hz: a short circuit, one channel."""
    site = draw_site(rng, (8, 20), f0=16.7, low_voltage=False)
    site.nominal = 15000.0
    case = bus_fault(
        site,
        "A",
        ground=0.0,
        retained=rng.uniform(0.1, 0.7),
        view="phase",
        currents=False,
        status=False,
        cycles=(1.5, 4),
    )
    case.one_channel = True
    return case


@kind
def fault_aircraft(rng: np.random.Generator) -> Case:
    """400 Hz, 115 V: a fault on one to three phases."""
    site = draw_site(rng, (20, 60), f0=400, low_voltage=True, thd=(0.005, 0.02))
    site.nominal = 115.0
    site.frequency = 400 + rng.uniform(-0.2, 0.2)
    count = int(rng.integers(1, 4))
    return bus_fault(
        site,
        faulted(rng, count),
        ground=0.1,
        retained=rng.uniform(0.1, 0.7),
        view="phase",
        status=False,
        cycles=(4, 14),
    )


@kind
def network_dip(rng: np.random.Generator) -> Case:
    """Fault far away in the network above: the voltage dips, the current of the feeder does not rise."""
    count = int(rng.integers(1, 4))
    ground = rng.uniform(0, 0.2) if count == 1 else None
    view = str(rng.choice(["phase", "dyn", "yyn", "line"]))
    site = draw_site(rng)
    case = bus_fault(
        site,
        faulted(rng, count),
        ground=ground,
        retained=rng.uniform(0.4, 0.8),
        view=view,
        currents=True,
        status=False,
        remote=True,
    )
    if view == "dyn":
        case.i = None
    return case


@kind
def earth_fault_isolated(rng: np.random.Generator) -> Case:
    """Earth fault in an isolated network: one phase falls, the others rise up to the line voltage."""
    site = draw_site(rng, (10, 40), low_voltage=False, min_rate=3200)
    x = 10 ** rng.uniform(-1.7, -1.2)
    x_over_r = rng.uniform(5, 15)
    circuit = network(
        site, x=x, x_over_r=x_over_r, zero=(2000 * x_over_r / x, 1.0), susceptance=rng.uniform(0.01, 0.05)
    )
    phase = faulted(rng, 1)
    susceptance = float(circuit.capacitance["v"].mean() * circuit.omega0)
    resistance = rng.uniform(0.0, 0.35) / (
        3 * susceptance
    )  # of the fault, beside the reactance of the three capacitances
    circuit.feeder(complex(0.02, 0.1), resistance)
    start, end = moments(site, (3, 20), early=0.1, cut=0.4)
    circuit.close("f", start, poles(phase))
    if math.isfinite(end):
        circuit.open("f", end)
    circuit.solve()
    cleared = circuit.last_opening("f")
    case = Case(
        site, circuit.wave("v"), circuit.wave("s") if rng.random() < 0.4 else None, start, cleared, causes=("fault",)
    )
    case.stages, case.clearing = (
        [("inception", start), ("cleared", cleared)],
        [cleared] if math.isfinite(cleared) else [],
    )
    case.settings = {"phase": phase, "resistance": resistance, "susceptance": susceptance}
    return case


@kind
def broken_neutral(rng: np.random.Generator) -> Case:
    """Low voltage, the neutral opens: unequal resistive loads divide the line voltage."""
    for _ in range(200):
        site = draw_site(rng, (10, 50), low_voltage=True)
        g = rng.dirichlet(np.full(3, 4.0))
        v = site.waveform()
        shift = (g[:, None] * v).sum(axis=0)
        start, _ = moments(site, (3, 10), early=0.08, cut=0)
        v = v - np.where(site.t >= start, 1.0, 0.0) * shift
        level = abs(site.harmonics[1] - (g * site.harmonics[1]).sum()) / math.sqrt(2)
        if level.max() > 1.13:
            break
    else:
        raise ArithmeticError("no case within the limits")
    i = 1.5 * g[:, None] * v if rng.random() < 0.5 else None
    return Case(
        site,
        v,
        i,
        start,
        math.inf,
        causes=("broken neutral",),
        settings={"levels": [round(float(x), 3) for x in level]},
    )


# -- capacitors


def capacitor(
    rng: np.random.Generator, *, first: bool = False, damped: bool = False, back_to_back: bool = False
) -> Case:
    """A bank is energised; poles close up to a few milliseconds apart."""
    for _ in range(50):
        site = draw_site(rng, (6, 30), min_rate=12000 if back_to_back else 4800)
        circuit = network(site, x=rng.uniform(0.03, 0.1))
        power = rng.uniform(0.1, 0.45)
        order = math.sqrt(1 / (power * circuit.x))
        if not 5.5 < order < 18:
            continue
        surge = math.sqrt(circuit.x / power)
        grounded = bool(rng.random() < 0.5)
        resistance = surge * (rng.uniform(0.5, 1.1) if damped else rng.uniform(0.005, 0.04))
        frequency = order * site.f0
        if back_to_back:
            frequency = rng.uniform(2000, 4800 if site.rate < 12500 else 5600)
            circuit.bank("d", power, reactance=0.0, resistance=0.01 * surge, grounded=grounded)
            share = rng.uniform(0.6, 1.2)
            both = power * share / (1 + share)
            loop = 1 / (both * (frequency / site.f0) ** 2)  # series reactance of both banks
            circuit.impedance["d"] = (circuit.impedance["d"][0], loop / 2 * EYE / circuit.omega0)
            circuit.closed["d"][:] = True
            circuit.bank(
                "c", power * share, reactance=loop / 2, resistance=0.05 * math.sqrt(loop / both), grounded=grounded
            )
        else:
            circuit.bank("c", power, reactance=1e-3, resistance=resistance, grounded=grounded)
        start = (
            rng.uniform(0.15, 0.95) * site.cycle
            if first
            else rng.uniform(1.5 * site.cycle, site.length - 2.5 * site.cycle)
        )
        spread = rng.uniform(0, 0.004, 3) if rng.random() < 0.5 else rng.uniform(0, 0.0007, 3)
        if rng.random() < 0.15:
            spread = rng.uniform(0, 0.008, 3)
        spread -= spread.min()
        circuit.close("c", start + spread)
        circuit.solve()
        v = circuit.wave("v")
        step = record(site, v) - record(site, circuit.undisturbed())
        near = slice(round(start * site.rate), round((start + 0.3 * site.cycle + spread.max()) * site.rate))
        size = abs(step[:, near]).max(axis=1) / math.sqrt(2)
        if size.max() > (0.12 if damped else 0.2):
            break
    else:
        raise ArithmeticError("no case within the limits")
    case = Case(
        site,
        v,
        circuit.wave("s") if rng.random() < 0.5 else None,
        start,
        None,
        causes=("capacitor switching",),
        category="transient",
    )
    moment = start + spread
    if not grounded:  # nothing flows until a second pole is closed
        start = float(np.sort(moment)[1])
    case.start = start
    case.starts = [[start, float(moment.max())]]
    case.transient_phases = [int(size.argmax())]
    case.settings = {
        "frequency": frequency,
        "peak": float(size.max()),
        "power": power,
        "spread_ms": float(spread.max() * 1e3),
        "grounded": grounded,
    }
    return case


@kind
def capacitor_on(rng: np.random.Generator) -> Case:
    return capacitor(rng)


@kind
def capacitor_first_cycle(rng: np.random.Generator) -> Case:
    """As meters with a short pre-trigger record it."""
    return capacitor(rng, first=True)


@kind
def capacitor_back_to_back(rng: np.random.Generator) -> Case:
    """A second bank beside one in service: 2 to 6 kHz."""
    return capacitor(rng, back_to_back=True)


@kind
def capacitor_damped(rng: np.random.Generator) -> Case:
    """With a pre-insertion resistor."""
    return capacitor(rng, damped=True)


@kind
def capacitor_restrike(rng: np.random.Generator) -> Case:
    """A bank is switched off; a pole restrikes near the maximum of its recovery voltage and interrupts again."""
    site = draw_site(rng, (8, 30), min_rate=4800)
    circuit = network(site, x=rng.uniform(0.03, 0.08))
    power = rng.uniform(0.15, 0.4)
    circuit.bank(
        "c", power, reactance=1e-3, resistance=rng.uniform(0.01, 0.05) * math.sqrt(circuit.x / power), grounded=True
    )
    circuit.closed["c"][:] = True
    off = rng.uniform(2 * site.cycle, site.length - 4 * site.cycle)
    circuit.open("c", off)
    probe = Circuit.__new__(Circuit)
    probe.__dict__.update(
        circuit.__dict__ | {"closed": {g: c.copy() for g, c in circuit.closed.items()}, "segments": [], "openings": []}
    )
    probe.solve()
    pole = int(rng.integers(3))
    interrupted = next(t for t, g, k in probe.openings if g == "c" and k == pole)
    strike = interrupted + rng.uniform(0.36, 0.5) * site.cycle
    circuit.close("c", strike, np.arange(3) == pole)
    circuit.open("c", strike + rng.uniform(0.2, 0.4) * site.cycle, np.arange(3) == pole)
    circuit.solve()
    case = Case(
        site,
        circuit.wave("v"),
        circuit.wave("s") if rng.random() < 0.5 else None,
        strike,
        None,
        causes=("capacitor switching",),
        category="transient",
    )
    case.starts = [[off, strike]]
    case.transient_phases = [pole]
    case.stages = [("opened", interrupted), ("restrike", strike)]
    return case


# -- transformers, motors, loads, generation


def transformer(rng: np.random.Generator, currents: bool) -> Case:
    """An unloaded transformer is energised: flux offset, second harmonic, unequal dips that recover slowly."""
    for _ in range(40):
        site = draw_site(rng, (20, 60))
        start = rng.uniform(1.5, 8) * site.cycle
        delta = bool(rng.random() < 0.5)
        residual = rng.uniform(0.4, 0.8)
        angle = 2 * math.pi * rng.random()
        remanence = residual * np.cos(angle - 2 * np.pi * np.arange(3) / 3)
        v, i = magnetise(
            site,
            start,
            x=rng.uniform(0.05, 0.14),
            x_over_r=rng.uniform(4, 15),
            air=rng.uniform(0.2, 0.45),
            knee=rng.uniform(1.12, 1.25),
            remanence=remanence,
            delta=delta,
            copper=rng.uniform(0.004, 0.012),
        )
        sampled = record(site, v)
        level = urms(sampled, site.rate, site.frequency, grids(site.rate, site.n, site.frequency, 1)[0])
        if level.min() < level[:, 0].min() - 0.045:
            break
    else:
        raise ArithmeticError("no case within the limits")
    i = i + site.load_current(v, size=rng.uniform(0.1, 0.4))
    case = Case(site, v, i if currents else None, start, None, causes=("transformer energising",), other=("flicker",))
    case.starts = [[start, start + 1.5 * site.cycle]]
    case.view = "phase" if currents else str(rng.choice(["phase", "line"]))
    case.settings = {"delta": delta, "lowest": float(level.min())}
    return case


@kind
def transformer_currents(rng: np.random.Generator) -> Case:
    return transformer(rng, True)


@kind
def transformer_voltages(rng: np.random.Generator) -> Case:
    """As before, without currents in the record."""
    return transformer(rng, False)


def motor(rng: np.random.Generator, complete: bool) -> Case:
    """A large induction motor is started directly."""
    for _ in range(40):
        site = draw_site(rng, (45, 60) if complete else (12, 40))
        start = rng.uniform(2, 8) * site.cycle if complete else rng.uniform(0.3, 0.6) * site.length
        x = rng.uniform(0.03, 0.1)
        v, i, slip = motor_network(
            site,
            x=x,
            x_over_r=rng.uniform(3, 12),
            motor=rng.uniform(0.25, 0.7),
            torque=rng.uniform(0.1, 0.5),
            inertia=rng.uniform(0.06, 0.2) if complete else rng.uniform(0.3, 1.0),
            start=start,
            fault=None,
            load=rng.uniform(0.1, 0.5) * cmath.exp(-0.4j),
        )
        if (slip[-1] < 0.05) if complete else (slip[-1] > 0.4):
            break
    else:
        raise ArithmeticError("no case within the limits")
    case = Case(
        site,
        v,
        i if rng.random() < 0.6 else None,
        start,
        None if complete else math.inf,
        causes=("motor start",),
        visible=complete,
    )
    case.starts = [[start, start + 1.0 * site.cycle]]
    case.view = str(rng.choice(["phase", "line"])) if case.i is None else "phase"
    case.settings = {"final_slip": float(slip[-1])}
    return case


@kind
def motor_start(rng: np.random.Generator) -> Case:
    """Complete: the motor is at speed before the record ends."""
    return motor(rng, True)


@kind
def motor_start_cut(rng: np.random.Generator) -> Case:
    """The record ends during the start."""
    return motor(rng, False)


def load_step(rng: np.random.Generator, power: float, on: bool) -> Case:
    """A load is switched, three-pole: on with a small spread, off at the zeros of its currents."""
    for _ in range(60):
        site = draw_site(rng, (10, 50))
        circuit = network(site, x=rng.uniform(0.04, 0.14), x_over_r=rng.uniform(2, 8))
        circuit.load("m", power, rng.uniform(0.6, 0.9), grounded=False)
        start = rng.uniform(2 * site.cycle, site.length - 3 * site.cycle)
        if on:
            spread = rng.uniform(0, 0.002, 3)
            circuit.close("m", start + spread - spread.min())
        else:
            circuit.closed["m"][:] = True
            circuit.open("m", start)
        circuit.solve()
        v = circuit.wave("v")
        sampled = record(site, v)
        ends = grids(site.rate, site.n, site.frequency, 1)[0]
        level = urms(sampled, site.rate, site.frequency, ends)
        change = abs(level[:, -1] - level[:, 0]).max()
        if 0.03 < change < 0.085 and level.max() < 1.09 and level.min() > 0.91:
            break
        power *= 1.15 if change <= 0.03 else 0.87
    else:
        raise ArithmeticError("no case within the limits")
    if not on:
        first = min((t for t, g, _ in circuit.openings if g == "m"), default=start)
        start = first
    case = Case(site, v, circuit.wave("s") if rng.random() < 0.6 else None, start, math.inf, causes=("load switching",))
    case.starts = [[start - 0.002, start + 0.5 * site.cycle]]
    case.settings = {"power": power, "change": float(change)}
    return case


@kind
def load_on(rng: np.random.Generator) -> Case:
    return load_step(rng, rng.uniform(0.4, 1.0), True)


@kind
def load_off(rng: np.random.Generator) -> Case:
    return load_step(rng, rng.uniform(0.4, 1.0), False)


@kind
def inverter_trip(rng: np.random.Generator) -> Case:
    """A large inverter or generator is disconnected: a step down that stays. It had supplied resistive loads, which
    the network now feeds."""
    for _ in range(60):
        site = draw_site(rng, (10, 50))
        circuit = network(site, x=rng.uniform(0.04, 0.14), x_over_r=rng.uniform(0.4, 1.5))
        start = rng.uniform(2 * site.cycle, site.length - 3 * site.cycle)
        power = rng.uniform(0.2, 0.7)
        circuit.at(
            start,
            lambda power=power, circuit=circuit: setattr(circuit, "conductance", circuit.conductance + power * EYE),
        )
        circuit.solve()
        v = circuit.wave("v")
        level = urms(record(site, v), site.rate, site.frequency, grids(site.rate, site.n, site.frequency, 1)[0])
        change = float(abs(level[:, -1] - level[:, 0]).max())
        if 0.03 < change < 0.085 and level.min() > 0.91:
            break
    else:
        raise ArithmeticError("no case within the limits")
    case = Case(
        site,
        v,
        circuit.wave("s") if rng.random() < 0.6 else None,
        start,
        math.inf,
        causes=("load switching", "generation trip"),
        visible=False,
    )
    case.starts = [[start, start + 0.5 * site.cycle]]
    case.settings = {"power": power, "change": change}
    return case


@kind
def tap_changer(rng: np.random.Generator) -> Case:
    """One step of 1.2 to 2.0 % on all phases, with a diverter resistor for some 40 ms."""
    site = draw_site(rng, (16, 60))
    size = rng.uniform(0.012, 0.020) * rng.choice([-1, 1])
    start = rng.uniform(3 * site.cycle, site.length - 6 * site.cycle)
    middle = rng.uniform(0.03, 0.05)
    amplitude = 1 + size * np.where(site.t < start, 0, np.where(site.t < start + middle, 0.5, 1.0))
    v = site.waveform(amplitude=amplitude)
    case = Case(
        site,
        v,
        site.load_current(v) if rng.random() < 0.5 else None,
        start,
        math.inf,
        causes=("tap changer",),
        visible=False,
        none_allowed=True,
    )
    case.starts = [[start, start + middle]]
    case.settings = {"step": float(size)}
    return case


# -- impulses, flicker, frequency, others


@kind
def lightning(rng: np.random.Generator) -> Case:
    """A surge induced on all phases alike, limited by arresters, with a reflection; no fault follows."""
    for _ in range(40):
        site = draw_site(rng, (6, 30), min_rate=6400)
        start = rng.uniform(0.2 * site.cycle, site.length - 2 * site.cycle)
        tail, front = rng.uniform(60e-6, 250e-6), rng.uniform(2e-6, 10e-6)
        tau = site.t - start
        surge = np.where(tau >= 0, np.exp(-np.maximum(tau, 0) / tail) - np.exp(-np.maximum(tau, 0) / front), 0)
        ring = rng.uniform(2500, 9000)
        reflected = np.where(tau >= 0, np.exp(-np.maximum(tau, 0) / (0.7 * tail)) * np.sin(2 * np.pi * ring * tau), 0)
        peaks = rng.uniform(1.0, 3.0) * rng.choice([-1, 1]) * rng.uniform(0.6, 1.0, 3)
        extra = peaks[:, None] * (surge + rng.uniform(0, 0.3) * reflected)
        limit = rng.uniform(2.2, 2.8)  # arresters
        quiet = site.waveform()
        v = np.clip(quiet + extra, -limit, limit)
        size = abs(record(site, v - quiet)).max(axis=1) / math.sqrt(2)
        if size.max() > 0.25:
            break
    else:
        raise ArithmeticError("no case within the limits")
    case = Case(
        site,
        v,
        site.load_current(quiet) if rng.random() < 0.5 else None,
        start,
        None,
        causes=("lightning",),
        visible=False,
        category="transient",
    )
    case.transient_phases = [int(size.argmax())]
    case.settings = {"peak": float(size.max())}
    return case


@kind
def spike(rng: np.random.Generator) -> Case:
    """Three samples on one phase."""
    site = draw_site(rng, (6, 30))
    k = int(rng.integers(round(0.3 * site.rate / site.f0), site.n - round(1.5 * site.rate / site.f0)))
    phase = int(rng.integers(3))
    shape = (
        np.array([rng.uniform(0.3, 0.8), 1.0, rng.uniform(-0.3, 0.8)])
        * rng.uniform(0.4, 1.6)
        * rng.choice([-1, 1])
        * math.sqrt(2)
    )

    def tamper(v: Array, i: Array | None) -> tuple[Array, Array | None]:
        v[phase, k : k + 3] += shape
        return v, i

    v = site.waveform()
    case = Case(
        site,
        v,
        None,
        k / site.rate,
        (k + 3) / site.rate,
        causes=("recorder",),
        visible=False,
        category="transient",
        tamper=tamper,
    )
    case.transient_phases = [phase]
    case.none_allowed = True
    case.i = site.load_current(v) if rng.random() < 0.5 else None
    return case


@kind
def arc_furnace(rng: np.random.Generator) -> Case:
    """Random arc currents of 0.5 to 25 Hz, a different course on each phase, with their harmonics."""
    site = draw_site(rng, (40, 60))
    t = site.t
    fluctuation = np.zeros((3, t.size))
    for f in np.linspace(1.5, 25, 30):
        fluctuation += (
            (rng.standard_normal((3, 1)) + 0.7 * rng.standard_normal())
            * np.sin(2 * np.pi * f * t + 2 * np.pi * rng.random((3, 1)))
            / (1 + (f / 9) ** 2)
        )
    fluctuation /= fluctuation.std()
    size = rng.uniform(0.006, 0.011)
    arc = 0.4 + 0.15 * fluctuation  # arc current in pu of its largest
    drop = size / 0.15 * arc
    v = site.waveform() * (1 - drop + drop.mean())
    angle = site.omega * t
    for h in (2, 3, 4, 5):
        v += (
            math.sqrt(2)
            * 0.004
            * arc
            * np.cos(h * (angle[None] - 2 * np.pi * np.arange(3)[:, None] / 3) + rng.uniform(0, 6.28, (3, 1)))
        )
    i = site.waveform() * (0.3 + arc) if rng.random() < 0.6 else None
    return Case(
        site,
        v,
        i,
        0.0,
        math.inf,
        causes=("arc furnace",),
        visible=False,
        category="flicker",
        starts=[[0.0, site.length]],
    )


@kind
def ferroresonance(rng: np.random.Generator) -> Case:
    """A pole opens; the transformer resonates with the capacitance of the open phase."""
    for _ in range(60):
        site = draw_site(rng, (20, 60), low_voltage=False, min_rate=3200)
        start = rng.uniform(2, 6) * site.cycle
        phase = int(rng.integers(3))
        v, i = ferroresonant(site, start, phase)
        sampled = record(site, v)
        level = urms(sampled, site.rate, site.frequency, grids(site.rate, site.n, site.frequency, 1)[0])[phase]
        late = level[level.size // 3 :]
        if 1.2 < late.mean() < 2.5:
            break
    else:
        raise ArithmeticError("no case within the limits")
    case = Case(
        site,
        v,
        i if rng.random() < 0.4 else None,
        start,
        math.inf,
        causes=("ferroresonance",),
        visible=False,
        other=("flicker", "harmonics", "notching"),
    )
    case.starts = [[start, start + 5 * site.cycle]]
    case.settings = {"mean_level": float(late.mean())}
    return case


@kind
def frequency_ramp(rng: np.random.Generator) -> Case:
    """The frequency leaves its band (down to 94 % or up to 104 %) at a steady voltage."""
    site = draw_site(rng, (40, 60))
    start = rng.uniform(2, 8) * site.cycle
    target = site.f0 * (rng.uniform(0.94, 0.97) if rng.random() < 0.5 else rng.uniform(1.03, 1.04))
    stop = rng.uniform(0.6, 1.0) * site.length
    f = np.interp(site.t, [start, stop], [site.frequency, target])
    angle = 2 * np.pi * np.cumsum(f) / (site.rate * site.oversampling)
    v = site.waveform(angle)
    crossing = start + (stop - start) * max(
        0.0, (0.01 * site.f0 - abs(site.frequency - site.f0)) / abs(target - site.frequency)
    )
    case = Case(
        site,
        v,
        site.load_current(v) if rng.random() < 0.4 else None,
        start,
        math.inf,
        causes=("frequency",),
        visible=False,
        category="frequency",
        ignore_rms=True,
    )
    case.starts = [[0.0, site.length]]
    case.stages = [("ramp begins", start), ("1 % deviation", crossing)]
    case.settings = {"target": target}
    return case


@kind
def load_rejection(rng: np.random.Generator) -> Case:
    """An island loses most of its load: voltage up at once (the drop behind the transient reactance is gone),
    frequency up by the swing equation."""
    site = draw_site(rng, (40, 60))
    start = rng.uniform(3, 10) * site.cycle
    rise, droop = rng.uniform(0.13, 0.25), rng.uniform(0.3, 1.2)
    surplus, inertia, governor = rng.uniform(0.3, 0.6), rng.uniform(1.5, 3), rng.uniform(0.3, 0.8)
    tau = np.maximum(site.t - start, 0)
    amplitude = 1 + np.where(
        site.t >= start, rise * (0.8 + 0.2 * (1 - np.exp(-tau / 0.1))) * np.exp(-tau / droop / 4), 0
    )
    f = site.frequency + site.f0 * surplus / (2 * inertia) * governor * (1 - np.exp(-tau / governor))
    angle = 2 * np.pi * np.cumsum(f) / (site.rate * site.oversampling)
    v = site.waveform(angle, amplitude)
    i = site.load_current(v) * np.where(site.t < start, 1.0, 1 - surplus) if rng.random() < 0.6 else None
    case = Case(
        site, v, i, start, math.inf, causes=("load rejection", "load switching"), visible=False, other=("frequency",)
    )
    case.starts = [[start, start + site.cycle]]
    case.settings = {"rise": rise, "highest_frequency": float(f[-1])}
    return case


@kind
def ripple_control(rng: np.random.Generator) -> Case:
    """A telegram of audio-frequency control, 1.5 to 3 %, on all phases."""
    site = draw_site(rng, (30, 60), min_rate=3200, thd=(0.01, 0.03))
    tone = float(rng.choice([167, 183.3, 216.7, 283.3, 317, 425, 1042]))
    level = rng.uniform(0.015, 0.03)
    gate = np.zeros(site.t.size)
    edge = rng.uniform(3, 6) * site.cycle
    first = edge
    while edge < site.length - 3 * site.cycle:
        width = rng.uniform(6, 12) * site.cycle
        gate += ((site.t >= edge) & (site.t < edge + width)).astype(float)
        edge += width + rng.uniform(4, 8) * site.cycle
    width = max(3, round(0.008 * site.rate * site.oversampling))
    gate = np.convolve(gate, np.hanning(width) / np.hanning(width).sum(), "same")
    v = site.waveform() + math.sqrt(2) * level * gate * np.sin(
        2 * np.pi * tone * site.t[None] - 2 * np.pi * np.arange(3)[:, None] / 3
    )
    case = Case(
        site,
        v,
        None,
        first,
        math.inf,
        causes=("ripple control",),
        visible=False,
        category="none",
        none_allowed=True,
        other=("harmonics", "flicker", "interharmonics"),
    )
    case.settings = {"tone": tone, "level": level}
    return case


@kind
def phase_jump(rng: np.random.Generator) -> Case:
    """Line switching turns the voltage by 10 to 40 degrees; its magnitude stays."""
    site = draw_site(rng, (10, 40))
    start = rng.uniform(2 * site.cycle, site.length - 3 * site.cycle)
    jump = math.radians(rng.uniform(10, 40)) * rng.choice([-1, 1])
    v = site.waveform(site.omega * site.t + np.where(site.t >= start, jump, 0))
    case = Case(
        site,
        v,
        site.load_current(v) if rng.random() < 0.4 else None,
        start,
        None,
        causes=("network switching",),
        visible=False,
        category="none",
        none_allowed=True,
    )
    case.other = ("frequency", "phase jump")
    case.settings = {"degrees": math.degrees(jump)}
    return case


@kind
def vt_fuse(rng: np.random.Generator) -> Case:
    """A fuse of a voltage transformer blows: one phase dead, the others untouched, currents unchanged."""
    site = draw_site(rng, (12, 60), low_voltage=False)
    start = rng.uniform(2 * site.cycle, site.length - 4 * site.cycle)
    phase = int(rng.integers(3))
    quiet = site.waveform()
    left = rng.uniform(0, 0.12)
    tau = np.maximum(site.t - start, 0)
    remaining = np.where(site.t < start, 1.0, left + (1 - left) * np.exp(-tau / rng.uniform(0.3e-3, 3e-3)))
    v = quiet.copy()
    v[phase] *= remaining
    i = site.load_current(quiet) if rng.random() < 0.7 else None
    case = Case(
        site, v, i, start, math.inf, causes=("vt fuse",), visible=i is not None, caveat="vt fuse", none_allowed=True
    )
    case.settings = {"phase": PHASES[phase], "left": left}
    return case


@kind
def energised(rng: np.random.Generator) -> Case:
    """The record begins without voltage; a breaker closes."""
    site = draw_site(rng, (12, 40))
    circuit = network(site)
    circuit.closed["s"][:] = False
    start = rng.uniform(3, 0.6 * site.length / site.cycle) * site.cycle
    spread = rng.uniform(0, 0.003, 3)
    circuit.close("s", start + spread - spread.min())
    circuit.solve()
    case = Case(
        site,
        circuit.wave("v"),
        circuit.wave("s") if rng.random() < 0.5 else None,
        0.0,
        start,
        causes=("energising", "transformer energising"),
        visible=False,
    )
    case.stages = [("energised", start)]
    case.starts = [[0.0, site.cycle]]
    return case


@kind
def quiet(rng: np.random.Generator) -> Case:
    """Nothing happens."""
    site = draw_site(rng, (8, 60))
    v = site.waveform()
    return Case(site, v, site.load_current(v) if rng.random() < 0.5 else None, category="none", none_allowed=True)


# -- faults of the recorder


def undisturbed(rng: np.random.Generator, **options: Any) -> Case:
    """A record of nothing, whose samples are then damaged."""
    site = draw_site(rng, (12, 50), **options)
    v = site.waveform()
    return Case(
        site,
        v,
        site.load_current(v) if rng.random() < 0.6 else None,
        category="none",
        none_allowed=True,
        ignore_rms=True,
        visible=False,
        causes=("recorder",),
    )


@kind
def recorder_frozen(rng: np.random.Generator) -> Case:
    """Every channel repeats one value for 20 to 60 ms."""
    case = undisturbed(rng)
    site = case.site
    count = round(rng.uniform(0.02, 0.06) * site.rate)
    first = int(rng.integers(round(2 * site.rate / site.f0), site.n - count - round(2 * site.rate / site.f0)))

    def tamper(v: Array, i: Array | None) -> tuple[Array, Array | None]:
        for rows in (v, i):
            if rows is not None:
                rows[:, first : first + count] = rows[:, first - 1 : first]
        return v, i

    case.tamper, case.caveat, case.start, case.end = tamper, "frozen", first / site.rate, (first + count) / site.rate
    return case


@kind
def recorder_lost(rng: np.random.Generator) -> Case:
    """Samples are lost, and the time stamps do not show it."""
    case = undisturbed(rng)
    site = case.site
    count = round(rng.uniform(0.1, 0.9) * site.rate / site.f0)
    first = int(rng.integers(round(2 * site.rate / site.f0), site.n - count - round(3 * site.rate / site.f0)))

    def tamper(v: Array, i: Array | None) -> tuple[Array, Array | None]:
        keep = np.r_[0:first, first + count : v.shape[1]]
        return v[:, keep], None if i is None else i[:, keep]

    case.tamper, case.caveat, case.start = tamper, "lost", first / site.rate
    case.other = ("phase jump", "frequency")
    return case


@kind
def recorder_missing(rng: np.random.Generator) -> Case:
    """Samples are marked as missing, away from a real fault (or in an undisturbed record)."""
    case = (
        undisturbed(rng)
        if rng.random() < 0.4
        else bus_fault(
            draw_site(rng, (24, 50)),
            faulted(rng, 1),
            ground=0.1,
            retained=rng.uniform(0.1, 0.6),
            view="phase",
            early=0,
            cut=0,
            cycles=(2, 6),
        )
    )
    site = case.site
    count = max(3, round(rng.uniform(0.002, 0.03) * site.rate))
    channels = np.arange(3) if rng.random() < 0.5 else rng.integers(0, 3, 1)
    options = np.arange(round(2 * site.rate / site.f0), site.n - count - round(2 * site.rate / site.f0))
    if case.clearing:
        begin, finish = (
            (case.start - 3 * site.cycle) * site.rate - count,
            (case.clearing[-1] + 3 * site.cycle) * site.rate,
        )
        away = options[(options < begin) | (options > finish)]
        options = away if away.size else options[-1:]
    first = int(rng.choice(options))

    def tamper(v: Array, i: Array | None) -> tuple[Array, Array | None]:
        v[channels, first : first + count] = np.nan
        return v, i

    case.tamper, case.caveat = tamper, "missing"
    if case.start is None:
        case.start = first / site.rate
    return case


@kind
def recorder_clipped(rng: np.random.Generator) -> Case:
    """A swell beyond the range of the converter: samples stand at the limits of the .cfg file."""
    for _ in range(40):
        case = earth_fault_isolated(rng) if rng.random() < 0.5 else load_rejection(rng)
        site = case.site
        sampled = record(site, case.v)
        peak = float(abs(sampled).max())
        clip = rng.uniform(0.72, 0.96) * float(np.quantile(abs(sampled), 0.995))
        if clip > 1.03 * math.sqrt(2) * site.level * (1 + site.thd) and peak > 1.04 * clip:
            break
    else:
        raise ArithmeticError("no case within the limits")
    case.clip, case.caveat = clip, "clipped"
    case.view = "phase"
    case.settings["clip"] = clip
    return case


@kind
def recorder_swapped(rng: np.random.Generator) -> Case:
    """Two voltage channels are exchanged from the middle of the record on."""
    case = undisturbed(rng)
    site = case.site
    first = int(rng.integers(round(3 * site.rate / site.f0), site.n - round(3 * site.rate / site.f0)))
    one, two = rng.permutation(3)[:2]

    def tamper(v: Array, i: Array | None) -> tuple[Array, Array | None]:
        v[[one, two], first:] = v[[two, one], first:]
        return v, i

    case.tamper, case.caveat, case.start = tamper, "swapped", first / site.rate
    case.other = ("phase jump",)
    return case


@kind
def recorder_clock(rng: np.random.Generator) -> Case:
    """The clock is wrong by 2 to 3 %: times in the file are stretched, a real fault is in it."""
    factor = 1 + rng.uniform(0.02, 0.03) * rng.choice([-1, 1])
    count = int(rng.integers(1, 4))
    case = bus_fault(
        draw_site(rng, (16, 40)),
        faulted(rng, count),
        ground=0.1 if count == 1 else None,
        retained=rng.uniform(0.1, 0.6),
        view="phase",
        early=0,
        cut=0,
    )
    site = case.site
    t = site.t
    for name in ("v", "i"):  # the recorder took its samples at rate / factor
        rows = getattr(case, name)
        if rows is not None:
            setattr(case, name, np.array([np.interp(t * factor, t, row) for row in rows]))
    # what happened at true time s appears at file time s / factor
    site.frequency *= factor
    if factor > 1:
        site.n = int(site.n / factor) - 2
        keep = site.n * site.oversampling + site.padding
        case.v = case.v[:, :keep]
        case.i = None if case.i is None else case.i[:, :keep]
    case.start = case.start / factor
    case.end = None if case.end is None else case.end / factor
    case.stages = [(name, moment / factor) for name, moment in case.stages]
    case.clearing = [moment / factor for moment in case.clearing]
    case.status = [(name, a / factor, None if b is None else b / factor) for name, a, b in case.status]
    case.caveat, case.other = "clock", ("frequency",)
    case.settings["clock"] = factor
    return case


@kind
def recorder_dc_drift(rng: np.random.Generator) -> Case:
    """The zero of the inputs drifts by 1.5 to 6 % of the peak voltage."""
    case = undisturbed(rng)
    site = case.site
    size = rng.uniform(0.015, 0.06) * math.sqrt(2) * rng.choice([-1, 1], 3) * (rng.random(3) < 0.7)
    size[int(rng.integers(3))] = 0.04 * math.sqrt(2)
    ramp = np.clip((site.t - rng.uniform(0, 0.5) * site.length) / (0.5 * site.length), 0, 1)
    case.v = case.v + size[:, None] * ramp
    case.caveat, case.category, case.starts = "dc", "dc offset", [[0.0, site.length]]
    return case


@kind
def recorder_flat_spare(rng: np.random.Generator) -> Case:
    """A fault beside spare inputs that are not connected."""
    count = int(rng.integers(1, 4))
    site = draw_site(rng)
    case = bus_fault(
        site, faulted(rng, count), ground=0.1 if count == 1 else None, retained=rng.uniform(0.1, 0.6), view="phase"
    )
    case.spare, case.caveat = int(rng.integers(1, 5)), "flat"
    return case


# ------------------------------------------------------------------------------------------------------------- running


def make(name: str, seed: int, number: int, folder: Path) -> dict[str, Any]:
    """Write record `number` of a kind; the same seed gives the same file. A case that cannot be solved is drawn
    again."""
    for attempt in range(20):
        rng = np.random.default_rng([seed, number, attempt, *name.encode()])
        try:
            case = KINDS[name](rng)
            stem = f"{name}-{seed}-{number}"
            truth = write(case, folder, stem)
        except (ArithmeticError, np.linalg.LinAlgError):
            continue
        return truth | {"kind": name, "seed": seed, "number": number, "attempt": attempt}
    raise RuntimeError(f"{name}: no case could be solved")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--records", type=int, default=1, help="of each kind")
    parser.add_argument("--kinds", help="names, separated by commas")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    names = options.kinds.split(",") if options.kinds else list(KINDS)
    with (options.folder / "truth.jsonl").open("w") as out:
        for name in names:
            for number in range(options.records):
                out.write(json.dumps(make(name, options.seed, number, options.folder)) + "\n")


if __name__ == "__main__":
    main()
