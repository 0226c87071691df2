"""The networks around a recorder: a supply, a bus with its background, faults, and the time base of a study."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from nodal import CLOSE, GROUND, OPEN, Bus, Floats, Net, Solution

LEVELS: dict[str, list[tuple[float, int]]] = {
    "lv": [(400.0, 50), (480.0, 60)],
    "mv": [(10e3, 50), (20e3, 50), (33e3, 50), (12.47e3, 60)],
    "hv": [(110e3, 50), (220e3, 50), (138e3, 60)],
}
RATES = {50: [1600, 2000, 3200, 4000, 5000, 6400, 10000, 12800], 60: [1920, 2400, 3840, 4800, 5760, 7680, 11520]}
LETTERS = "ABC"


@dataclass(frozen=True)
class Site:
    """Where the recorder is; `s_sc` is the short-circuit power, `rated` that of the bus's supply."""

    level: str
    vll: float
    f: int
    s_sc: float
    xr: float
    rated: float

    @property
    def crest(self) -> float:
        return float(self.vll * np.sqrt(2 / 3))

    @property
    def w(self) -> float:
        return 2 * np.pi * self.f

    @property
    def z(self) -> float:
        """Impedance of the rated power."""
        return self.vll**2 / self.rated

    @property
    def zs(self) -> float:
        """Impedance of the supply."""
        return self.vll**2 / self.s_sc

    def split(self, z: float, xr: float) -> tuple[float, float]:
        """Resistance and inductance of an impedance."""
        r = z / np.sqrt(1 + xr**2)
        return r, r * xr / self.w


def draw_site(rng: np.random.Generator, levels: Sequence[str]) -> Site:
    level = str(rng.choice(list(levels)))
    vll, f = LEVELS[level][rng.integers(len(LEVELS[level]))]
    if level == "lv":
        rated = rng.choice([0.25e6, 0.4e6, 0.63e6, 1e6, 1.6e6])
        return Site(level, vll, f, rated / rng.uniform(0.045, 0.075), rng.uniform(2, 6), rated)
    if level == "mv":
        rated = rng.choice([10e6, 16e6, 25e6, 40e6])
        return Site(level, vll, f, rated / rng.uniform(0.11, 0.2), rng.uniform(6, 25), rated)
    rated = rng.choice([60e6, 100e6, 200e6]) * (2 if vll > 200e3 else 1)
    return Site(level, vll, f, rated * rng.uniform(8, 30), rng.uniform(6, 20), rated)


@dataclass
class Study:
    """One network, its time base, and the recorder's place in it; times of the record count from its first sample."""

    rng: np.random.Generator
    site: Site
    fs: int
    oversampling: int
    t0: float
    length: float
    preroll: float
    net: Net = field(default_factory=Net)
    tables: list[Floats] = field(default_factory=list)
    distortion: float = 1.0
    angle: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def dt(self) -> float:
        return 1 / (self.fs * self.oversampling)

    @property
    def skip(self) -> int:
        return round(self.preroll / self.dt)

    @property
    def steps(self) -> int:
        return self.skip + round(self.length * self.fs) * self.oversampling

    @property
    def t(self) -> Floats:
        """Times of the steps, from the first sample of the record."""
        return (np.arange(self.steps) - self.skip) * self.dt

    @property
    def cycle(self) -> float:
        return 1 / self.site.f

    def at(self, time: float, branch: int, action: int) -> int:
        return self.net.at(time + self.skip * self.dt, branch, action)

    def when(self, solution: Solution, operations: Sequence[int]) -> float:
        """The last of some operations, in the time of the record."""
        return float(np.max(solution.operated[list(operations)])) - self.skip * self.dt

    def cleared(self, solution: Solution, amps: Floats, operations: dict[str, int]) -> float:
        """When a fault's current ends: a pole that opens later and carries the load only does not count."""
        order = sorted((self.when(solution, [k]), p) for p, k in operations.items())
        end = previous = order[0][0]
        for time, p in order[1:]:
            current = np.abs(amps[LETTERS.index(p)])
            between = current[round((previous + 3e-4) / self.dt) : round(time / self.dt)]
            crest = current[round(self.t0 / self.dt) : round(order[0][0] / self.dt)].max()
            if len(between) and between.max() > 0.3 * crest:
                end = time
            previous = time
        return end

    # -- sources

    def wave(
        self, frequency: Floats | float | None = None, magnitude: Floats | float = 1.0, shift: Floats | float = 0.0
    ) -> Floats:
        """Voltages of a supply with its everyday imperfections: level, frequency, unbalance, harmonics, slow drift."""
        rng, t = self.rng, self.t
        if frequency is None:
            frequency = self.site.f * (1 + 0.0006 * rng.standard_normal())
        angle = 2 * np.pi * np.cumsum(np.broadcast_to(frequency, t.shape)) * self.dt + shift + rng.uniform(0, 2 * np.pi)
        self.angle = angle
        ramp = np.clip((t + self.preroll) / (3 * self.cycle), 0, 1)
        low, high = (1.0, 1.05) if self.site.level == "mv" else (0.98, 1.035)
        level = rng.uniform(low, high) * (1 + 0.001 * np.sin(2 * np.pi * rng.uniform(0.1, 1) * t)) * ramp * magnitude
        negative = rng.uniform(0, 0.006) * np.exp(1j * rng.uniform(0, 2 * np.pi))
        harmonics = {
            h: self.distortion * rng.exponential(s) for h, s in ((5, 0.006), (7, 0.004), (11, 0.002), (13, 0.0015))
        }
        phases = {h: rng.uniform(0, 2 * np.pi) for h in harmonics}
        out = np.empty((3, len(t)))
        for k in range(3):
            lag = -2 * np.pi * k / 3
            u = np.cos(angle + lag) + np.real(negative * np.exp(1j * (angle - lag)))
            for h, a in harmonics.items():
                u += a * np.cos(h * (angle + lag) + phases[h])
            out[k] = self.site.crest * level * u
        return out

    def table(self, values: Floats | float) -> int:
        self.tables.append(np.broadcast_to(np.asarray(values, float), (self.steps,)).copy())
        return len(self.tables) - 1

    # -- parts

    def supply(self, *, zero: float | None = None, scale: float = 1.0) -> tuple[Bus, Bus]:
        """A source behind its impedance: its ideal bus and its terminals; `zero` is Z0 / Z1, infinite if isolated."""
        net, site = self.net, self.site
        ideal = (net.known(), net.known(), net.known())
        terminals = net.bus()
        z1 = site.split(site.zs * scale, site.xr)
        ratio = zero if zero is not None else self.rng.uniform(0.8, 2.5)
        z0 = (3e4 * site.z, 1.0 / site.w) if np.isinf(ratio) else (z1[0] * ratio, z1[1] * ratio)
        net.line(ideal, terminals, z1, z0)
        return ideal, terminals

    def meter(self, a: Bus, b: Bus) -> Bus:
        """Ammeters between two buses."""
        return tuple(self.net.resistor(p, q, 1e-4 * self.site.z) for p, q in zip(a, b, strict=True))  # type: ignore[return-value]

    def breaker(self, a: Bus, b: Bus, *, closed: bool) -> Bus:
        return self.net.switches(a, b, closed, 1e-4 * self.site.z, 3e5 * self.site.z)

    def capacitance(self, bus: Bus, share: float) -> None:
        """Cables and lines to ground, of a charging power relative to the rated one, with losses."""
        farad = share / (self.site.z * self.site.w)
        for p in bus:
            self.net.capacitor(p, GROUND, 0.05 * self.site.z, farad)

    def load(self, bus: Bus, s: float, pf: float, *, star: bool | None = None) -> None:
        """A constant impedance of power s: half of its active power is in parallel, which damps as loads do."""
        star = self.site.level == "lv" if star is None else star
        z = self.site.vll**2 / s * (1 if star else 3)
        real, reactive = pf / 2, np.sqrt(1 - pf**2)
        square = real**2 + reactive**2
        r, x = z * real / square, z * reactive / square
        for k, p in enumerate(bus):
            end = GROUND if star else bus[(k + 1) % 3]
            unequal = self.rng.uniform(0.97, 1.03)
            self.net.coil(p, end, r * unequal, max(x, 0.02 * z) * unequal / self.site.w)
            self.net.resistor(p, end, z / real * unequal)

    def background(self, bus: Bus, low: float = 0.1, high: float = 0.5) -> None:
        """Other feeders on a bus."""
        self.load(bus, self.site.rated * self.rng.uniform(low, high), self.rng.uniform(0.88, 0.99))
        self.capacitance(bus, {"lv": 0.003, "mv": 0.012, "hv": 0.04}[self.site.level] * self.rng.uniform(0.5, 2))

    def motor(self, bus: Bus, s: float, *, running: bool, h: float | None = None, load: float | None = None) -> int:
        rng = self.rng
        pu = {
            "rs": rng.uniform(0.008, 0.02),
            "xs": rng.uniform(0.07, 0.12),
            "xm": rng.uniform(2.5, 4),
            "rr": rng.uniform(0.008, 0.018),
            "start": rng.uniform(0.03, 0.06),
            "h": rng.uniform(0.2, 0.6) if h is None else h,
            "load": rng.uniform(0.5, 0.85) if load is None else load,
            "quadratic": rng.choice([0.0, 0.5, 0.9]) if running else 0.9,
        }
        return self.net.motor(bus, self.site.vll, s, self.site.f, pu, running)

    def fault(self, bus: Bus, phases: str, ground: bool, ohm: float, arc: float = 0.0) -> dict[str, int]:
        """A fault that is not yet there: its switches by phase, and G for the connection to ground."""
        net, site = self.net, self.site
        star = net.node()
        table = self.table(arc * site.crest)
        henry = 0.02 * site.zs / site.w
        smooth = max(8 * arc * site.crest * self.dt / (site.zs / site.w), 0.01 * site.crest / site.zs)
        found = {}
        for p in phases:
            end = net.node()
            found[p] = net.switch(bus[LETTERS.index(p)], end, False, 1e-4 * site.z, 3e5 * site.z)
            net.arc(end, star, max(ohm, 1e-3 * site.zs), henry, table, smooth)
        found["G"] = net.switch(star, GROUND, ground, 1e-3 * site.zs, 3e5 * site.z)
        return found

    def trip(self, breaker: Bus, time: float, poles: str = LETTERS) -> list[int]:
        """Each pole opens at the next zero of its current after its contacts part, which is not at the same time."""
        return [self.at(time + self.rng.uniform(0, 5e-4), breaker[LETTERS.index(p)], OPEN) for p in poles]

    def close(self, breaker: Bus, time: float, spread: float = 1.5e-3) -> list[int]:
        return [self.at(time + self.rng.uniform(0, spread), b, CLOSE) for b in breaker]

    # -- solution

    def solve(
        self, known: Floats, buses: Sequence[Bus], meters: Sequence[Bus], gates: np.ndarray | None = None
    ) -> Solution:
        return self.net.solve(
            known,
            self.dt,
            sorted({n for bus in buses for n in bus}),
            sorted({b for meter in meters for b in meter}),
            tables=np.array(self.tables) if self.tables else None,
            gates=gates,
            skip=self.skip,
        )


def draw_study(
    rng: np.random.Generator,
    levels: Sequence[str] = ("lv", "mv", "hv"),
    *,
    length: tuple[float, float] = (0.4, 1.0),
    rate: float = 80e3,
    slowest: float = 1500,
    pre: tuple[float, float] = (1.2, 10),
    preroll: float = 0.25,
) -> Study:
    """A site, a sampling rate, and an event `pre` cycles after the first sample of a record of some length [s]."""
    site = draw_site(rng, levels)
    fs = int(rng.choice([x for x in RATES[site.f] if x >= slowest]))
    t0 = rng.uniform(*pre) / site.f
    seconds = max(rng.uniform(*length), t0 + 6 / site.f)
    return Study(rng, site, fs, int(np.ceil(rate / fs)), t0, seconds, preroll)
