"""What happens in the networks: a function per kind of record simulates one occurrence with random parameters."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from grids import LETTERS, Site, Study, draw_study
from nodal import CLOSE, GROUND, INDUCTOR, MELT, OPEN, OPEN_NOW, PARK, Bus, Floats
from recorder import saturate, secondary


@dataclass
class Scene:
    """Voltages and currents at the recorder's inputs, a row per phase at the simulation's rate, and the truth.

    `cause` is the physical cause, `answer` the best answer in the program's vocabulary, `also` others that are not
    wrong. `shows` says what makes the cause visible: a change of the voltage, ringing, or nothing (a "slow
    change" has several explanations). `events` are types that are right as well as the measured ones.
    """

    study: Study
    volts: Floats
    amps: Floats | None
    cause: str
    answer: str = "unknown"
    also: tuple[str, ...] = ()
    shows: str = "nothing"
    phases: str = ""
    clear: float | None = None
    events: tuple[str, ...] = ()
    none_ok: bool = False
    caveat: bool | None = False
    defect: str = ""
    status: list[tuple[str, float, float]] = field(default_factory=list)
    line_to_line: bool = False
    snr: tuple[float, float] = (35, 65)


KINDS: dict[str, Callable[[np.random.Generator], Scene]] = {}


def kind(function: Callable[[np.random.Generator], Scene]) -> Callable[[np.random.Generator], Scene]:
    KINDS[function.__name__] = function
    return function


def maybe(rng: np.random.Generator, amps: Floats, share: float = 0.65) -> Floats | None:
    """Currents, in some share of the records."""
    return amps if rng.random() < share else None


# -- faults


@dataclass
class Feeder:
    """A bus with a metered feeder: its buses from the supply to the end, its ammeters and its breaker."""

    ideal: Bus
    bus: Bus
    head: Bus
    place: Bus
    end: Bus
    infeed: Bus
    outgoing: Bus
    breaker: Bus


def draw_feeder(
    s: Study, residual: float, *, zero: float | None = None, motors: float = 0.0, line_zero: float = 3.0
) -> Feeder:
    """A feeder on which a fault of three phases would leave `residual` at the bus."""
    rng, site, net = s.rng, s.site, s.net
    ideal, terminals = s.supply(zero=zero)
    bus, panel, head, place, end = (net.bus() for _ in range(5))
    infeed, outgoing = s.meter(terminals, bus), s.meter(bus, panel)
    breaker = s.breaker(panel, head, closed=True)
    s.background(bus, 0.1, 0.4)
    xr = {"lv": rng.uniform(0.4, 1.5), "mv": rng.uniform(0.8, 3), "hv": rng.uniform(4, 9)}[site.level]
    z1 = site.split(site.zs * residual / (1 - residual), xr)
    net.line(head, place, z1, (z1[0] * rng.uniform(1.5, line_zero), z1[1] * rng.uniform(2, line_zero)))
    z2 = site.split(site.zs * rng.uniform(0.05, 0.5), xr)
    net.line(place, end, z2, (2 * z2[0], 3 * z2[1]))
    s.capacitance(place, rng.uniform(0.001, 0.006))
    for p in head:
        # The voltage transformers discharge a line that is switched off.
        net.resistor(p, GROUND, site.z / rng.uniform(3e-4, 1e-3))
    power = site.rated * rng.uniform(0.15, 0.5)
    s.load(end, power * (1 - motors), rng.uniform(0.85, 0.98))
    if motors:
        s.motor(end, power * motors, running=True)
    return Feeder(ideal, bus, head, place, end, infeed, outgoing, breaker)


def draw_phases(rng: np.random.Generator, n: int) -> str:
    return "".join(sorted(rng.choice(list(LETTERS), n, replace=False)))


def clearing(rng: np.random.Generator, site: Site) -> float:
    """Time of a relay and its breaker."""
    cycles = (
        rng.uniform(2.2, 6) if site.level == "hv" else rng.choice([rng.uniform(3, 9), rng.uniform(8, 30)], p=[0.7, 0.3])
    )
    return float(cycles / site.f)


def relay_status(rng: np.random.Generator, start: float, trip: float, clear: float) -> list[tuple[str, float, float]]:
    """Pickup, trip and position of the breaker, in half of the records."""
    if rng.random() < 0.5:
        return []
    late = clear + rng.uniform(0.004, 0.012)
    return [("51 PICKUP", start + 0.008, late), ("TRIP", trip - 0.03, late + 0.05), ("CB OPEN", clear + 0.006, np.inf)]


def run_fault(
    rng: np.random.Generator,
    phases: str,
    ground: bool,
    *,
    levels: tuple[str, ...] = ("lv", "mv", "hv"),
    motors: float = 0.0,
    residual: tuple[float, float] = (0.1, 0.8),
    ohm: float | None = None,
    persists: bool = False,
    tail: tuple[float, float] = (4, 18),
    xr: float | None = None,
    burden: float = 0.0,
) -> Scene:
    s = draw_study(rng, levels)
    if xr:
        s.site = Site(s.site.level, s.site.vll, s.site.f, s.site.s_sc, xr, s.site.rated)
    site = s.site
    duration = clearing(rng, site)
    s.length = s.t0 + (rng.uniform(0.3, 0.9) * duration if persists else duration + rng.uniform(*tail) / site.f)
    grid = draw_feeder(s, rng.uniform(*residual), motors=motors)
    resistance = site.zs * rng.uniform(0, 0.15) if ohm is None else ohm * site.zs
    fault = s.fault(grid.place, phases, ground, resistance, rng.uniform(0, 0.06))
    for p in phases:
        s.at(s.t0, fault[p], CLOSE)
    trip = s.t0 + duration - rng.uniform(0, 0.4) / site.f
    own = rng.random() < 0.75
    opened = s.trip(grid.breaker, trip)
    sol = s.solve(s.wave(), [grid.bus, grid.head], [grid.infeed, grid.outgoing])
    poles = {p: opened[LETTERS.index(p)] for p in phases}
    clear = s.cleared(sol, sol.i(grid.outgoing), poles) if not persists else None
    line_side = rng.random() < 0.15 and not persists and ohm is None
    amps = sol.i(grid.outgoing if own else grid.infeed)
    if burden:
        amps = saturate(
            amps, s.dt, site.w, burden, rng.uniform(-0.6, 0.6), np.sqrt(2) * site.rated / (np.sqrt(3) * site.vll)
        )
    return Scene(
        s,
        sol.v(grid.head if line_side else grid.bus),
        amps if burden else maybe(rng, amps),
        "fault",
        "fault",
        shows="change",
        phases=phases + ("G" if ground else ""),
        clear=clear,
        status=relay_status(rng, s.t0, trip, clear) if clear else [],
    )


@kind
def fault_one_phase(rng: np.random.Generator) -> Scene:
    return run_fault(rng, draw_phases(rng, 1), True)


@kind
def fault_two_phases(rng: np.random.Generator) -> Scene:
    return run_fault(rng, draw_phases(rng, 2), False)


@kind
def fault_two_phases_ground(rng: np.random.Generator) -> Scene:
    return run_fault(rng, draw_phases(rng, 2), True)


@kind
def fault_three_phases(rng: np.random.Generator) -> Scene:
    return run_fault(rng, "ABC", bool(rng.random() < 0.5))


@kind
def fault_motors_reaccelerate(rng: np.random.Generator) -> Scene:
    n = int(rng.choice([2, 3, 3]))
    return run_fault_elsewhere(rng, draw_phases(rng, n), motors=True)


@kind
def fault_not_cleared_in_record(rng: np.random.Generator) -> Scene:
    n = int(rng.integers(1, 4))
    return run_fault(rng, draw_phases(rng, n), bool(n == 1 or rng.random() < 0.4), persists=True)


@kind
def fault_high_impedance(rng: np.random.Generator) -> Scene:
    return run_fault(rng, draw_phases(rng, 1), True, levels=("mv", "hv"), ohm=rng.uniform(3, 40), residual=(0.1, 0.5))


@kind
def fault_ct_saturation(rng: np.random.Generator) -> Scene:
    n = int(rng.choice([1, 2, 3]))
    return run_fault(
        rng,
        draw_phases(rng, n),
        n == 1,
        levels=("mv", "hv"),
        xr=rng.uniform(18, 40),
        burden=rng.uniform(0.7, 2.5),
        residual=(0.05, 0.5),
    )


def run_fault_elsewhere(rng: np.random.Generator, phases: str, *, motors: bool) -> Scene:
    """A fault on another feeder of the bus; the meter is on a feeder with motors, or on the supply."""
    s = draw_study(rng, ("lv", "mv"), preroll=0.7)
    site = s.site
    duration = rng.uniform(4, 12) / site.f
    s.length = s.t0 + duration + rng.uniform(0.5, 1.2)
    grid = draw_feeder(s, rng.uniform(0.25, 0.7))
    healthy, own = s.net.bus(), s.meter(grid.bus, grid_end := s.net.bus())
    z = site.split(site.zs * rng.uniform(0.2, 0.6), 2.0)
    s.net.line(grid_end, healthy, z, (3 * z[0], 3 * z[1]))
    power = site.rated * rng.uniform(0.3, 0.6)
    if motors:
        s.motor(healthy, power, running=True, h=rng.uniform(0.25, 0.6), load=rng.uniform(0.5, 0.8))
    s.load(healthy, 0.1 * power, 0.95)
    fault = s.fault(
        grid.place,
        phases,
        len(phases) == 2 and rng.random() < 0.4,
        site.zs * rng.uniform(0, 0.08),
        rng.uniform(0, 0.04),
    )
    for p in phases:
        s.at(s.t0, fault[p], CLOSE)
    opened = s.trip(grid.breaker, s.t0 + duration)
    infeed = rng.random() < 0.5
    sol = s.solve(s.wave(), [grid.bus], [grid.infeed, grid.outgoing, own])
    return Scene(
        s,
        sol.v(grid.bus),
        maybe(rng, sol.i(grid.infeed if infeed else own)),
        "fault",
        "fault",
        shows="change",
        phases=phases if infeed else "",
        clear=s.cleared(sol, sol.i(grid.outgoing), {p: opened[LETTERS.index(p)] for p in phases}),
    )


@kind
def fault_evolving(rng: np.random.Generator) -> Scene:
    s = draw_study(rng, ("mv", "hv"))
    site = s.site
    first = rng.uniform(1.5, 6) / site.f
    second = clearing(rng, site)
    s.length = s.t0 + first + second + rng.uniform(4, 15) / site.f
    grid = draw_feeder(s, rng.uniform(0.15, 0.7))
    final = draw_phases(rng, int(rng.choice([2, 3])))
    begin = str(rng.choice(list(final)))
    fault = s.fault(grid.place, final, True, site.zs * rng.uniform(0, 0.1), rng.uniform(0, 0.05))
    for p in final:
        s.at(s.t0 if p == begin else s.t0 + first + rng.uniform(0, 0.002), fault[p], CLOSE)
    opened = s.trip(grid.breaker, s.t0 + first + second)
    own = rng.random() < 0.75
    sol = s.solve(s.wave(), [grid.bus], [grid.infeed, grid.outgoing])
    clear = s.cleared(sol, sol.i(grid.outgoing), {p: opened[LETTERS.index(p)] for p in final})
    amps = maybe(rng, sol.i(grid.outgoing if own else grid.infeed))
    return Scene(
        s,
        sol.v(grid.bus),
        amps,
        "fault",
        "fault",
        shows="change",
        phases=final + "G",
        clear=clear,
        status=relay_status(rng, s.t0, clear, clear),
    )


def run_reclosing(rng: np.random.Generator, *, successful: bool) -> Scene:
    s = draw_study(rng, ("mv", "mv", "hv"), preroll=0.6)
    site = s.site
    duration = rng.uniform(2.5, 8) / site.f
    dead = rng.uniform(0.3, 0.9)
    again = rng.uniform(2.5, 8) / site.f
    s.length = s.t0 + duration + dead + again + rng.uniform(0.15, 0.4)
    grid = draw_feeder(s, rng.uniform(0.15, 0.75), motors=float(rng.choice([0.0, 0.3])))
    n = int(rng.choice([1, 1, 2, 3]))
    phases = draw_phases(rng, n)
    ground = n == 1 or rng.random() < 0.3
    fault = s.fault(grid.place, phases, bool(ground), site.zs * rng.uniform(0, 0.15), rng.uniform(0.01, 0.06))
    for p in phases:
        s.at(s.t0, fault[p], CLOSE)
    single = site.level == "hv" and n == 1 and rng.random() < 0.6
    poles = phases if single else LETTERS
    opened = s.trip(grid.breaker, s.t0 + duration, poles)
    closing = s.t0 + duration + dead
    if successful:
        for p in phases:
            s.at(closing - 0.6 * dead, fault[p], OPEN_NOW)
    s.close(tuple(grid.breaker[LETTERS.index(p)] for p in poles), closing)  # type: ignore[arg-type]
    if not successful:
        s.trip(grid.breaker, closing + again)
    own = rng.random() < 0.8
    sol = s.solve(s.wave(), [grid.bus, grid.head], [grid.infeed, grid.outgoing])
    clear = s.cleared(sol, sol.i(grid.outgoing), {p: opened[poles.index(p)] for p in phases})
    line_side = rng.random() < 0.45
    return Scene(
        s,
        sol.v(grid.head if line_side else grid.bus),
        maybe(rng, sol.i(grid.outgoing if own else grid.infeed)),
        "fault",
        "fault",
        shows="change",
        phases=phases + ("G" if ground else ""),
        clear=clear,
    )


@kind
def reclosing_successful(rng: np.random.Generator) -> Scene:
    return run_reclosing(rng, successful=True)


@kind
def reclosing_unsuccessful(rng: np.random.Generator) -> Scene:
    return run_reclosing(rng, successful=False)


@kind
def fault_cleared_by_fuse(rng: np.random.Generator) -> Scene:
    """An expulsion fuse interrupts at the next zero of the current, a current-limiting one forces it to zero."""
    s = draw_study(rng, ("lv", "mv"), slowest=2400)
    site = s.site
    s.length = s.t0 + rng.uniform(5, 20) / site.f
    grid = draw_feeder(s, rng.uniform(0.1, 0.6))
    n = int(rng.choice([1, 1, 2, 3]))
    phases = draw_phases(rng, n)
    ground = n == 1 or rng.random() < 0.5
    fault = s.fault(grid.place, phases, bool(ground), site.zs * rng.uniform(0, 0.1), rng.uniform(0, 0.04))
    limiting = rng.random() < 0.5
    opened = []
    for p in phases:
        s.at(s.t0, fault[p], CLOSE)
        melts = s.t0 + rng.uniform(0.12, 0.4) / site.f
        opened.append(s.at(melts, grid.breaker[LETTERS.index(p)], MELT if limiting else OPEN))
    own = rng.random() < 0.5
    sol = s.solve(s.wave(), [grid.bus], [grid.infeed, grid.outgoing])
    return Scene(
        s,
        sol.v(grid.bus),
        maybe(rng, sol.i(grid.outgoing if own else grid.infeed)),
        "fault",
        "fault",
        shows="change",
        phases=phases + ("G" if ground else ""),
        clear=s.cleared(sol, sol.i(grid.outgoing), dict(zip(phases, opened, strict=True))),
        events=("transient",),
    )


@kind
def fault_beyond_transformer(rng: np.random.Generator) -> Scene:
    """A fault on the high side of a Dy transformer, measured on its low side."""
    s = draw_study(rng, ("lv", "mv"))
    site = s.site
    duration = rng.uniform(3, 12) / site.f
    s.length = s.t0 + duration + rng.uniform(5, 18) / site.f
    net = s.net
    _, high = s.supply(scale=0.5)
    bus, low = net.bus(), net.bus()
    r, henry = site.split(0.5 * site.zs, site.xr)
    for k in range(3):
        row = {high[k]: 1 / np.sqrt(3), high[(k + 1) % 3]: -1 / np.sqrt(3), low[k]: -1.0}
        net.branch(INDUCTOR, row, r, henry)
    infeed = s.meter(low, bus)
    s.background(bus, 0.3, 0.8)
    s.capacitance(high, 0.02)
    n = int(rng.choice([1, 1, 2, 3]))
    phases = draw_phases(rng, n)
    residual = rng.uniform(0.1, 0.7)
    ground = bool(n == 1 or rng.random() < 0.3)
    fault = s.fault(high, phases, ground, 0.5 * site.zs * residual / (1 - residual), rng.uniform(0, 0.03))
    opened = []
    for p in phases:
        s.at(s.t0, fault[p], CLOSE)
        opened.append(s.at(s.t0 + duration + rng.uniform(0, 5e-4), fault[p], OPEN))
    sol = s.solve(s.wave(), [bus], [infeed])
    amps = maybe(rng, sol.i(infeed), 0.3)
    return Scene(
        s,
        sol.v(bus),
        amps,
        "fault",
        "fault",
        shows="change",
        clear=s.when(sol, opened),
        line_to_line=rng.random() < 0.4,
    )


def run_earth_fault(rng: np.random.Generator, *, partial: bool) -> Scene:
    """An earth fault in a network of isolated neutral; a resistive one displaces the neutral in part."""
    s = draw_study(rng, ("mv",))
    site = s.site
    duration = rng.uniform(5, 40) / site.f
    s.length = s.t0 + duration + rng.uniform(4, 15) / site.f
    _, terminals = s.supply(zero=np.inf)
    bus = s.net.bus()
    infeed = s.meter(terminals, bus)
    share = rng.uniform(0.01, 0.05)
    s.load(bus, site.rated * rng.uniform(0.3, 0.7), 0.95)
    s.capacitance(bus, share)
    for p in bus:
        # The voltage transformers discharge the network after the fault.
        s.net.resistor(p, GROUND, site.z / rng.uniform(1e-3, 3e-3))
    phase = draw_phases(rng, 1)
    reactance = site.z / (3 * share)
    ohm = reactance * rng.uniform(1.5, 8) if partial else reactance * rng.uniform(0.0, 0.15) + 0.5
    fault = s.fault(bus, phase, True, ohm, 0.0)
    s.at(s.t0, fault[phase], CLOSE)
    ends = rng.random() < 0.6
    opened = s.at(s.t0 + duration, fault[phase], OPEN) if ends else None
    sol = s.solve(s.wave(), [bus], [infeed])
    return Scene(
        s,
        sol.v(bus),
        maybe(rng, sol.i(infeed), 0.4),
        "fault",
        "fault",
        also=("unknown",) if partial else (),
        shows="nothing" if partial else "change",
        clear=s.when(sol, [opened]) if opened is not None and not partial else None,
        events=("unbalance", "transient"),
    )


@kind
def earth_fault_isolated_neutral(rng: np.random.Generator) -> Scene:
    return run_earth_fault(rng, partial=False)


@kind
def swell_earth_fault_elsewhere(rng: np.random.Generator) -> Scene:
    return run_earth_fault(rng, partial=True)


# -- motors and transformers


@kind
def motor_start_direct(rng: np.random.Generator) -> Scene:
    s = draw_study(rng, ("lv", "mv"), length=(1.2, 2.5))
    site = s.site
    _, terminals = s.supply()
    bus, panel, head, end = (s.net.bus() for _ in range(4))
    infeed, outgoing = s.meter(terminals, bus), s.meter(bus, panel)
    breaker = s.breaker(panel, head, closed=False)
    s.background(bus)
    z = site.split(site.zs * rng.uniform(0.05, 0.4), 1.0)
    s.net.line(head, end, z, (3 * z[0], 3 * z[1]))
    power = site.rated * rng.uniform(0.08, 0.35)
    machine = s.motor(end, power, running=False, h=rng.uniform(0.08, 0.35), load=rng.uniform(0.1, 0.6))
    s.close(breaker, s.t0)
    own = rng.random() < 0.6
    sol = s.solve(s.wave(), [bus], [infeed, outgoing])
    finished = sol.speed[machine, -1] > 0.93
    amps = maybe(rng, sol.i(outgoing if own else infeed))
    also = () if finished else ("load switching",)
    return Scene(
        s, sol.v(bus), amps, "motor start", "motor start", also=also, shows="change" if finished else "slow change"
    )


@kind
def motor_start_soft(rng: np.random.Generator) -> Scene:
    """Thyristors in series raise the motor's voltage within a second or two, then they are bypassed."""
    s = draw_study(rng, ("lv", "mv"), length=(2.0, 3.2), slowest=2400)
    site, net = s.site, s.net
    _, terminals = s.supply()
    bus, panel, end = net.bus(), net.bus(), net.bus()
    infeed, outgoing = s.meter(terminals, bus), s.meter(bus, panel)
    s.background(bus)
    for k, (p, q) in enumerate(zip(panel, end, strict=True)):
        net.diode(p, q, 1e-3 * site.z, 1e4 * site.z, 2 * k)
        net.diode(q, p, 1e-3 * site.z, 1e4 * site.z, 2 * k + 1)
        net.resistor(p, q, 2e3 * site.z)
    ramp = rng.uniform(0.6, 1.3)
    power = site.rated * rng.uniform(0.1, 0.35)
    s.motor(end, power, running=False, h=rng.uniform(0.06, 0.2), load=rng.uniform(0.05, 0.3))
    bypass = s.breaker(panel, end, closed=False)
    s.close(bypass, s.t0 + ramp + 0.3)
    known = s.wave()
    late = np.radians(rng.uniform(105, 135)) * np.clip(1 - (s.t - s.t0) / ramp, 0, 1)
    gates = np.zeros((s.steps, 6), bool)
    for k in range(3):
        for half in range(2):
            where = (s.angle - 2 * np.pi * k / 3 + np.pi / 2 - np.pi * half) % (2 * np.pi)
            gates[:, 2 * k + half] = (s.t >= s.t0) & (where > late) & (where < np.radians(175))
    sol = s.solve(known, [bus], [infeed, outgoing], gates)
    amps = maybe(rng, sol.i(outgoing if rng.random() < 0.6 else infeed))
    return Scene(
        s,
        sol.v(bus),
        amps,
        "motor start",
        "motor start",
        also=("load switching",),
        shows="change",
        events=("rapid voltage change", "harmonics", "notching"),
    )


def add_transformer(s: Study, head: Bus, breaker: Bus, power: float) -> None:
    """A transformer without load, with residual flux, its primary in star or delta."""
    rng, site, net = s.rng, s.site, s.net
    z = site.vll**2 / power
    inner = net.bus()
    r, henry = site.split(rng.uniform(0.03, 0.07) * z, rng.uniform(4, 12))
    for p, q in zip(head, inner, strict=True):
        net.coil(p, q, r, henry)
    delta = rng.random() < 0.5
    rated_flux = site.crest / site.w * (np.sqrt(3) if delta else 1)
    rated_amps = np.sqrt(2) * power / (np.sqrt(3) * site.vll) / (np.sqrt(3) if delta else 1)
    knee, air = rng.uniform(1.1, 1.25), rng.uniform(0.2, 0.45)
    flux = [rated_flux * x for x in (0.9, knee - 0.05, knee + 0.05, knee + 0.15, knee + 0.15 + 2 * air)]
    amps = [rated_amps * x for x in (0.002, 0.008, 0.06, 0.3, 2.3)]
    rest = rng.uniform(0.1, 0.75) * rng.choice([-1, 1])
    pattern = np.roll([rest, -rest * rng.uniform(0.2, 0.8), 0], rng.integers(3))
    pattern[pattern == 0] = -pattern.sum()
    for k in range(3):
        other = inner[(k + 1) % 3] if delta else GROUND
        row = {inner[k]: 1.0, other: -1.0} if delta else {inner[k]: 1.0}
        net.core(row, flux, amps, float(pattern[k]) * rated_flux, breaker[k])
        net.resistor(inner[k], other, z * (3 if delta else 1) / rng.uniform(0.001, 0.003))


def run_transformer(rng: np.random.Generator, *, currents: bool) -> Scene:
    s = draw_study(rng, ("mv", "mv", "hv", "lv"), length=(0.6, 2.0), slowest=1900)
    site = s.site
    _, terminals = s.supply()
    bus, panel, head = (s.net.bus() for _ in range(3))
    infeed, outgoing = s.meter(terminals, bus), s.meter(bus, panel)
    breaker = s.breaker(panel, head, closed=False)
    s.background(bus)
    s.capacitance(head, 0.0005)
    add_transformer(s, head, breaker, site.rated * rng.uniform(0.3, 1.1))
    s.close(breaker, s.t0, 2e-3)
    sol = s.solve(s.wave(), [bus], [infeed, outgoing])
    amps = sol.i(outgoing if rng.random() < 0.7 else infeed) if currents else None
    return Scene(
        s,
        sol.v(bus),
        amps,
        "transformer energising",
        "transformer energising",
        shows="change",
        events=("rapid voltage change", "harmonics", "unbalance"),
    )


@kind
def transformer_energising(rng: np.random.Generator) -> Scene:
    return run_transformer(rng, currents=True)


@kind
def transformer_energising_voltages_only(rng: np.random.Generator) -> Scene:
    return run_transformer(rng, currents=False)


# -- capacitors


def add_bank(s: Study, head: Bus, share: float, *, grounded: bool, reactor: float = 0.0) -> None:
    """A bank in star, of a power relative to the rated one, behind an inductance [H]."""
    site, net = s.site, s.net
    star = GROUND if grounded else net.node()
    for p in head:
        end = net.node()
        net.coil(p, end, s.rng.uniform(0.002, 0.01) * site.z, max(reactor, 1e-3 * site.zs / site.w))
        net.capacitor(end, star, 1e-4 * site.z, share / (site.z * site.w))


def run_capacitor(
    rng: np.random.Generator,
    *,
    beside: bool = False,
    pre: tuple[float, float] = (1.2, 10),
    distortion: float = 1.0,
    opening: bool = False,
) -> Scene:
    s = draw_study(
        rng,
        ("mv", "mv", "hv", "lv"),
        length=(0.25, 0.8),
        rate=300e3 if beside else 100e3,
        slowest=6000 if beside else 2900,
        pre=pre,
        preroll=0.12,
    )
    s.distortion = distortion
    site, net = s.site, s.net
    _, terminals = s.supply()
    bus, panel, head = (net.bus() for _ in range(3))
    infeed, outgoing = s.meter(terminals, bus), s.meter(bus, panel)
    breaker = s.breaker(panel, head, closed=opening)
    s.load(bus, site.rated * rng.uniform(0.05, 0.8), rng.uniform(0.9, 0.99))
    s.capacitance(bus, 0.002)
    share = rng.uniform(0.06, 0.35)
    grounded = bool(site.level == "hv" or rng.random() < 0.3)
    if beside:
        other = net.bus()
        s.meter(bus, other)
        add_bank(
            s,
            other,
            share * rng.uniform(0.7, 1.5),
            grounded=grounded,
            reactor=site.zs / site.w * rng.uniform(0.002, 0.015),
        )
        add_bank(s, head, share, grounded=grounded, reactor=site.zs / site.w * rng.uniform(0.002, 0.015))
    else:
        add_bank(s, head, share, grounded=grounded)
    if opening:
        for b in breaker:
            s.at(s.t0 + rng.uniform(0, 1e-3), b, OPEN)
    else:
        s.close(breaker, s.t0, rng.choice([1e-3, 4e-3]))
    own = rng.random() < 0.6
    sol = s.solve(s.wave(), [bus], [infeed, outgoing])
    amps = maybe(rng, sol.i(outgoing if own else infeed), 0.6)
    if opening:
        shows = "change" if amps is not None and own else "nothing"
        also: tuple[str, ...] = ("unknown", "load switching") if shows == "nothing" else ("unknown",)
        return Scene(s, sol.v(bus), amps, "capacitor switching", "capacitor switching", also, shows)
    return Scene(
        s, sol.v(bus), amps, "capacitor switching", "capacitor switching", shows="ringing", events=("transient",)
    )


@kind
def capacitor_energising(rng: np.random.Generator) -> Scene:
    return run_capacitor(rng)


@kind
def capacitor_back_to_back(rng: np.random.Generator) -> Scene:
    return run_capacitor(rng, beside=True)


@kind
def capacitor_first_cycle(rng: np.random.Generator) -> Scene:
    return run_capacitor(rng, pre=(0.15, 0.95))


@kind
def capacitor_on_distorted_bus(rng: np.random.Generator) -> Scene:
    return run_capacitor(rng, distortion=rng.uniform(3, 7))


@kind
def capacitor_deenergising(rng: np.random.Generator) -> Scene:
    return run_capacitor(rng, opening=True)


# -- loads


def run_load(rng: np.random.Generator, *, on: bool, off: bool) -> Scene:
    s = draw_study(rng, ("lv", "mv"), length=(0.4, 1.2))
    site, net = s.site, s.net
    _, terminals = s.supply()
    bus, panel, head, end = (net.bus() for _ in range(4))
    infeed, outgoing = s.meter(terminals, bus), s.meter(bus, panel)
    breaker = s.breaker(panel, head, closed=not on)
    s.background(bus, 0.1, 0.5)
    z = site.split(site.zs * rng.uniform(0.02, 0.3), 1.0)
    net.line(head, end, z, (3 * z[0], 3 * z[1]))
    power = site.s_sc * rng.uniform(0.02, 0.1)
    s.load(end, power, rng.uniform(0.75, 1.0) - 1e-3)
    poles = draw_phases(rng, 1) if site.level == "lv" and rng.random() < 0.3 else LETTERS
    if poles != LETTERS and not on:
        poles = LETTERS
    used: Bus = tuple(breaker[LETTERS.index(p)] for p in poles)  # type: ignore[assignment]
    if on:
        s.close(used, s.t0)
    duration = rng.uniform(4, 40) / site.f
    if off:
        opens = s.t0 + duration if on else s.t0
        for b in used:
            s.at(opens + rng.uniform(0, 5e-4), b, OPEN)
        if on:
            s.length = max(s.length, opens + rng.uniform(3, 10) / site.f)
    own = rng.random() < 0.6
    sol = s.solve(s.wave(), [bus], [infeed, outgoing])
    amps = maybe(rng, sol.i(outgoing if own else infeed), 0.6)
    shows = "slow change" if on and off and amps is None else "change"
    return Scene(s, sol.v(bus), amps, "load switching", "load switching", shows=shows)


@kind
def load_on(rng: np.random.Generator) -> Scene:
    return run_load(rng, on=True, off=False)


@kind
def load_off(rng: np.random.Generator) -> Scene:
    return run_load(rng, on=False, off=True)


@kind
def load_on_then_off(rng: np.random.Generator) -> Scene:
    return run_load(rng, on=True, off=True)


@kind
def load_rejection(rng: np.random.Generator) -> Scene:
    """A weak supply loses most of its load; the regulator takes the voltage back."""
    s = draw_study(rng, ("lv", "mv"), length=(0.6, 1.5))
    s.site = Site(
        s.site.level, s.site.vll, s.site.f, s.site.rated * rng.uniform(2.2, 4), rng.uniform(6, 15), s.site.rated
    )
    site = s.site
    _, terminals = s.supply()
    bus, panel, head = (s.net.bus() for _ in range(3))
    infeed, outgoing = s.meter(terminals, bus), s.meter(bus, panel)
    breaker = s.breaker(panel, head, closed=True)
    s.background(bus, 0.05, 0.2)
    s.load(head, site.rated * rng.uniform(0.4, 0.8), rng.uniform(0.75, 0.95))
    s.trip(breaker, s.t0)
    back = 1 - 0.1 * rng.uniform(0, 1) * np.clip((s.t - s.t0 - 0.1) / rng.uniform(0.3, 1.0), 0, 1)
    sol = s.solve(s.wave(magnitude=back), [bus], [infeed, outgoing])
    # The circuit is linear: the level of the source before the event is what the regulator made of it.
    volts = sol.v(bus)
    before = volts[:, : round(s.cycle / s.dt)]
    level = rng.uniform(0.97, 1.03) * site.vll / np.sqrt(3 * (before**2).mean())
    amps = maybe(rng, level * sol.i(outgoing if rng.random() < 0.5 else infeed), 0.6)
    shows = "change" if amps is not None else "slow change"
    return Scene(s, level * volts, amps, "load switching", "load switching", also=("unknown",), shows=shows)


# -- other events of the network


def plain(
    rng: np.random.Generator,
    *,
    levels: tuple[str, ...] = ("lv", "mv", "hv"),
    length: tuple[float, float] = (0.4, 1.0),
    source: Callable[[Study], Floats] | None = None,
    low: float = 0.1,
    high: float = 0.7,
    **options: float,
) -> tuple[Study, Floats, Floats]:
    """A bus with its loads, and nothing else unless the source does it: study, voltages, currents."""
    s = draw_study(rng, levels, length=length, **options)  # type: ignore[arg-type]
    _, terminals = s.supply()
    bus = s.net.bus()
    infeed = s.meter(terminals, bus)
    s.background(bus, low, high)
    known = s.wave() if source is None else source(s)
    sol = s.solve(known, [bus], [infeed])
    return s, sol.v(bus), sol.i(infeed)


@kind
def lightning(rng: np.random.Generator) -> Scene:
    """A surge enters from the lines, without a flashover: an impulse of current into the bus's capacitance."""
    s = draw_study(rng, ("mv", "hv"), length=(0.25, 0.7), rate=300e3, slowest=3900, preroll=0.12)
    site = s.site
    _, terminals = s.supply()
    bus = s.net.bus()
    infeed = s.meter(terminals, bus)
    s.load(bus, site.rated * rng.uniform(0.2, 0.8), 0.95)
    share = rng.uniform(5e-4, 6e-3)
    s.capacitance(bus, share)
    for p in bus:
        s.net.resistor(p, GROUND, rng.uniform(1.5, 8) * np.sqrt(site.zs * site.z / share))
    farad = share / (site.z * site.w)
    front, tail = rng.uniform(1e-6, 8e-6), rng.uniform(2e-5, 1e-4)
    since = np.clip(s.t - s.t0, 0, None)
    shape = np.where(s.t >= s.t0, np.exp(-since / tail) - np.exp(-since / front), 0.0)
    peak = rng.uniform(0.4, 2.0) * site.crest * farad / (tail - front) * rng.choice([-1, 1])
    induced = rng.random() < 0.5
    hit = int(rng.integers(3))
    for k, p in enumerate(bus):
        s.net.injections.append(
            (p, shape * peak * (rng.uniform(0.75, 1) if induced or k == hit else rng.uniform(0.1, 0.3)))
        )
    sol = s.solve(s.wave(), [bus], [infeed])
    return Scene(s, sol.v(bus), maybe(rng, sol.i(infeed), 0.4), "lightning", events=("transient",))


@kind
def tap_change(rng: np.random.Generator) -> Scene:
    """One or two steps of a tap changer, each by way of the mid position for some tens of milliseconds."""
    step = rng.choice([0.0125, 0.015, 0.0167, 0.018]) * rng.choice([-1, 1])
    two = rng.random() < 0.25

    def source(s: Study) -> Floats:
        middle = rng.uniform(0.03, 0.06)
        share = 0.5 * (s.t >= s.t0) + 0.5 * (s.t >= s.t0 + middle)
        if two:
            share = share + 0.5 * (s.t >= s.t0 + 0.35) + 0.5 * (s.t >= s.t0 + 0.35 + middle)
        return s.wave(magnitude=1 + step * share)

    s, volts, amps = plain(rng, levels=("mv", "hv"), length=(0.6, 1.2), source=source)
    return Scene(s, volts, maybe(rng, amps), "tap change")


@kind
def broken_neutral(rng: np.random.Generator) -> Scene:
    """The neutral of a low-voltage line breaks; single-phase loads of unequal power share the line-to-line voltages."""
    s = draw_study(rng, ("lv",), length=(0.5, 1.2))
    site, net = s.site, s.net
    _, terminals = s.supply()
    bus, neutral = net.bus(), net.node()
    infeed = s.meter(terminals, bus)
    link = net.switch(neutral, GROUND, True, 1e-3 * site.zs, rng.uniform(20, 400) * site.z)
    for p in bus:
        z = site.z * 3 / rng.uniform(0.2, 1.4)
        pf = rng.uniform(0.9, 0.99)
        net.coil(p, neutral, z * pf, z * np.sqrt(1 - pf**2) / site.w)
    s.at(s.t0, link, OPEN)
    sol = s.solve(s.wave(), [bus, (neutral,) * 3], [infeed])
    volts = sol.v(bus) - sol.v((neutral,) * 3)
    return Scene(s, volts, maybe(rng, sol.i(infeed), 0.5), "broken neutral", events=("unbalance", "transient"))


@kind
def energised_from_dead(rng: np.random.Generator) -> Scene:
    """The record starts on a dead line, which is then energised, in some records with a transformer."""
    s = draw_study(rng, ("lv", "mv", "hv"), length=(0.5, 1.2), pre=(2, 12))
    site = s.site
    _, terminals = s.supply()
    bus, panel, head = (s.net.bus() for _ in range(3))
    infeed, outgoing = s.meter(terminals, bus), s.meter(bus, panel)
    breaker = s.breaker(panel, head, closed=False)
    s.background(bus)
    s.background(head, 0.05, 0.4)
    with_transformer = rng.random() < 0.4
    if with_transformer:
        add_transformer(s, head, breaker, site.rated * rng.uniform(0.2, 0.6))
    s.close(breaker, s.t0)
    sol = s.solve(s.wave(), [head], [infeed, outgoing])
    also = ("transformer energising",) if with_transformer else ()
    amps = maybe(rng, sol.i(outgoing), 0.5)
    return Scene(s, sol.v(head), amps, "energising", also=also, events=("interruption",), caveat=None)


@kind
def supply_switched_off(rng: np.random.Generator) -> Scene:
    """A breaker opens without a fault and the line stays dead; motors hold the voltage for a while in some records."""
    s = draw_study(rng, ("lv", "mv"), length=(0.5, 1.5), preroll=0.6)
    site = s.site
    _, terminals = s.supply()
    bus, panel, head = (s.net.bus() for _ in range(3))
    s.meter(terminals, bus)
    outgoing = s.meter(bus, panel)
    breaker = s.breaker(panel, head, closed=True)
    s.background(bus)
    s.background(head, 0.1, 0.4)
    if rng.random() < 0.4:
        s.motor(head, site.rated * rng.uniform(0.1, 0.3), running=True)
    s.trip(breaker, s.t0)
    sol = s.solve(s.wave(), [head], [outgoing])
    return Scene(s, sol.v(head), maybe(rng, sol.i(outgoing)), "switched off", caveat=None)


@kind
def open_phase(rng: np.random.Generator) -> Scene:
    """One conductor of the supply breaks; the loads between phases and motors hold part of the voltage."""
    s = draw_study(rng, ("mv", "lv"), length=(0.5, 1.2), preroll=0.7)
    site = s.site
    _, terminals = s.supply()
    upstream, bus = s.net.bus(), s.net.bus()
    breaker = s.breaker(terminals, upstream, closed=True)
    infeed = s.meter(upstream, bus)
    s.load(bus, site.rated * rng.uniform(0.2, 0.5), 0.93, star=False)
    s.capacitance(bus, 0.01)
    if rng.random() < 0.6:
        s.motor(bus, site.rated * rng.uniform(0.1, 0.4), running=True)
    s.at(s.t0, breaker[int(rng.integers(3))], OPEN)
    sol = s.solve(s.wave(), [bus], [infeed])
    return Scene(s, sol.v(bus), maybe(rng, sol.i(infeed)), "open phase", also=("fault",), events=("unbalance",))


@kind
def island_frequency(rng: np.random.Generator) -> Scene:
    """An island whose load and generation differ: swing equation with a governor and a slow voltage regulator."""

    def source(s: Study) -> Floats:
        inertia, deficit = rng.uniform(2, 6), rng.uniform(0.15, 0.45) * rng.choice([-1, 1])
        droop, lag = rng.uniform(0.04, 0.1), rng.uniform(0.3, 1.0)
        speed = np.ones(s.steps)
        now, turbine = 1.0, 0.0
        for k, t in enumerate(s.t):
            if t > s.t0:
                turbine += s.dt / lag * ((1 - now) / droop - turbine)
                now += s.dt * (deficit + turbine - 1.5 * (now - 1)) / (2 * inertia)
            speed[k] = now
        level = 1 + rng.uniform(-0.3, 0.8) * (speed - 1)
        return s.wave(frequency=s.site.f * speed, magnitude=level)

    s, volts, amps = plain(rng, levels=("lv", "mv"), length=(1.2, 3.0), source=source)
    return Scene(s, volts, maybe(rng, amps, 0.5), "island", events=("frequency",), snr=(40, 65))


@kind
def ferroresonance(rng: np.random.Generator) -> Scene:
    """A bus section with voltage transformers is left on the grading capacitors of its open breaker."""
    for _ in range(15):
        s = draw_study(rng, ("hv",), length=(0.6, 1.2), slowest=2900)
        site, net = s.site, s.net
        _, terminals = s.supply()
        bus = net.bus()
        breaker = s.breaker(terminals, bus, closed=True)
        volts_rated, flux = site.vll / np.sqrt(3), site.crest / site.w
        magnetising = rng.uniform(2e-3, 6e-3) * rng.uniform(0.2, 0.5)
        grading, stray = rng.uniform(400e-12, 3000e-12), rng.uniform(100e-12, 1500e-12)
        for k, p in enumerate(bus):
            net.capacitor(terminals[k], p, 1000.0, grading)
            net.capacitor(p, GROUND, 1000.0, stray)
            net.resistor(p, GROUND, volts_rated**2 / rng.uniform(30, 300))
            knees = [flux * x for x in (1.0, 1.3, 1.5, 2.5)]
            net.core({p: 1.0}, knees, [magnetising * x for x in (1.0, 4.0, 60.0, 1200.0)], 0.0, -1)
        s.trip(breaker, s.t0)
        sol = s.solve(s.wave(), [bus], [])
        volts = sol.v(bus)
        late = volts[:, round((s.t0 + 0.2) / s.dt) :]
        # Else the section is dead, or only divides the voltage.
        if np.sqrt((late**2).mean(axis=1)).max() > 1.25 * volts_rated:
            break
    return Scene(s, volts, None, "ferroresonance", events=("harmonics", "unbalance", "transient"), caveat=None)


@kind
def arc_furnace(rng: np.random.Generator) -> Scene:
    """Three arcs behind a furnace transformer; their lengths wander, and now and then one goes out."""
    s = draw_study(rng, ("mv",), length=(1.0, 2.5), slowest=2900)
    site, net = s.site, s.net
    _, terminals = s.supply()
    bus = net.bus()
    infeed = s.meter(terminals, bus)
    s.background(bus, 0.05, 0.3)
    star = net.node()
    net.resistor(star, GROUND, 1e3 * site.z)
    power = site.rated * rng.uniform(0.3, 0.8)
    z = site.vll**2 / power * rng.uniform(0.35, 0.55)
    r, henry = site.split(z, rng.uniform(5, 10))
    slow = rng.uniform(0.05, 0.25)
    for p in bus:
        noise = np.cumsum(rng.standard_normal(s.steps)) * np.sqrt(s.dt)
        window = max(round(0.03 / s.dt), 1)
        total = np.cumsum(np.concatenate([np.zeros(window), noise]))
        wander = (total[window:] - total[:-window]) / window
        wander = slow * (wander - wander.mean()) / (wander.std() + 1e-9)
        arc = rng.uniform(0.3, 0.5) * np.clip(1 + wander, 0.2, 1.8)
        net.arc(p, star, r, henry, s.table(arc * site.crest), 0.02 * site.crest / z)
    sol = s.solve(s.wave(magnitude=1.03), [bus], [infeed])
    events = ("flicker", "rapid voltage change", "harmonics", "unbalance", "notching")
    return Scene(s, sol.v(bus), maybe(rng, sol.i(infeed)), "arc furnace", also=("load switching",), events=events)


@kind
def inverter_trip(rng: np.random.Generator) -> Scene:
    """An inverter at the end of a resistive line stops within two milliseconds."""
    s = draw_study(rng, ("lv", "mv"), length=(0.4, 1.0))
    site, net = s.site, s.net
    _, terminals = s.supply()
    bus, place = net.bus(), net.bus()
    outgoing = s.meter(terminals, bus)
    z = site.split(site.zs * rng.uniform(0.4, 1.5), rng.uniform(0.5, 1.5))
    net.line(bus, place, z, (3 * z[0], 3 * z[1]))
    s.background(place, 0.05, 0.4)
    known = s.wave()
    peak = np.sqrt(2) * site.rated * rng.uniform(0.2, 0.7) / (np.sqrt(3) * site.vll)
    gone = np.clip(1 - (s.t - s.t0) / rng.uniform(2e-4, 2e-3), 0, 1) * np.clip((s.t + s.preroll) / 0.06, 0, 1)
    lag = rng.uniform(-0.2, 0.3)
    for k, p in enumerate(place):
        angle = s.angle - 2 * np.pi * k / 3 + lag
        current = np.cos(angle) + 0.02 * np.cos(5 * angle) + 0.015 * np.cos(7 * angle)
        net.injections.append((p, peak * gone * current))
    sol = s.solve(known, [place], [outgoing])
    return Scene(s, sol.v(place), maybe(rng, sol.i(outgoing)), "generation trip", also=("load switching",))


@kind
def ripple_control(rng: np.random.Generator) -> Scene:
    """A telegram of audio-frequency pulses on the supply."""

    def source(s: Study) -> Floats:
        tone = rng.choice([175.0, 216.7, 283.3, 383.0, 492.0])
        bits = np.concatenate([[1], rng.integers(0, 2, 200)])
        length = rng.uniform(0.08, 0.4)
        number = np.clip((s.t - s.t0) // length, -1, 200).astype(int)
        keyed = np.where(s.t >= s.t0, bits[number], 0)
        rise = max(round(0.01 / s.dt), 1)
        keyed = np.convolve(keyed, np.ones(rise) / rise, "same")
        signal = rng.uniform(0.008, 0.03) * s.site.crest * keyed
        lags = 2 * np.pi * np.arange(3)[:, None] / 3
        known = s.wave()
        known += signal * np.cos(2 * np.pi * tone * s.t - lags)
        return known

    s, volts, amps = plain(rng, levels=("lv", "mv"), length=(0.8, 2.0), source=source)
    return Scene(s, volts, maybe(rng, amps, 0.4), "ripple control", events=("harmonics", "flicker", "transient"))


@kind
def phase_jump(rng: np.random.Generator) -> Scene:
    """A static switch transfers the bus to another source at another angle."""
    s = draw_study(rng, ("lv", "mv"), length=(0.4, 0.9))
    net = s.net
    _, end = s.supply()
    _, other = s.supply(scale=s.rng.uniform(0.8, 1.3))
    bus, middle = net.bus(), net.bus()
    one = s.breaker(end, middle, closed=True)
    two = s.breaker(other, middle, closed=False)
    infeed = s.meter(middle, bus)
    s.background(bus, 0.2, 0.8)
    s.trip(one, s.t0)
    s.close(two, s.t0 + rng.uniform(0.004, 0.009), 1e-4)
    known = s.wave()
    jump = np.radians(rng.uniform(10, 40)) * rng.choice([-1, 1])
    zero, alpha, beta = PARK @ known
    turned = np.array([zero, alpha * np.cos(jump) - beta * np.sin(jump), alpha * np.sin(jump) + beta * np.cos(jump)])
    rotated = PARK.T @ turned * rng.uniform(0.98, 1.02)
    sol = s.solve(np.vstack([known, rotated]), [bus], [infeed])
    return Scene(s, sol.v(bus), maybe(rng, sol.i(infeed), 0.5), "phase jump", events=("transient",))


# -- converters


def add_bridge(s: Study, bus: Bus, power: float, *, controlled: bool, reactor: float) -> tuple[int, int]:
    """A six-pulse bridge behind a reactor; its direct-current terminals."""
    site, net = s.site, s.net
    inner, plus, minus = net.bus(), net.node(), net.node()
    z = site.vll**2 / power
    for p, q in zip(bus, inner, strict=True):
        net.coil(p, q, 0.002 * z, max(reactor, 1e-3) * z / site.w)
        net.capacitor(q, GROUND, 0.3 * z, 2e-4 / (z * site.w))
    for k, q in enumerate(inner):
        net.diode(q, plus, 1e-3 * z, 2e3 * z, k if controlled else -1)
        net.diode(minus, q, 1e-3 * z, 2e3 * z, 3 + k if controlled else -1)
    net.resistor(plus, GROUND, 1e4 * z)
    net.resistor(minus, GROUND, 1e4 * z)
    return plus, minus


@kind
def converter_notching(rng: np.random.Generator) -> Scene:
    for _ in range(10):
        s = draw_study(rng, ("lv", "mv"), length=(0.4, 0.9), rate=80e3, slowest=3900, preroll=0.3)
        site, net = s.site, s.net
        _, terminals = s.supply()
        bus = net.bus()
        infeed = s.meter(terminals, bus)
        s.background(bus, 0.05, 0.3)
        power = site.rated * rng.uniform(0.3, 0.7)
        plus, minus = add_bridge(
            s, bus, power, controlled=True, reactor=site.zs / (site.vll**2 / power) * rng.uniform(0.5, 2.5)
        )
        alpha = np.radians(rng.uniform(20, 55))
        ohm = 1.8 * site.vll**2 / power * np.cos(alpha)
        net.coil(plus, minus, ohm, rng.uniform(1.5, 4) * ohm / site.w)
        known = s.wave()
        gates = np.zeros((s.steps, 6), bool)
        for k in range(3):
            for half in range(2):
                where = (s.angle - 2 * np.pi * k / 3 + np.pi / 3 - np.pi * half) % (2 * np.pi)
                gates[:, 3 * half + k] = (where > alpha) & (where < alpha + np.radians(100))
        sol = s.solve(known, [bus], [infeed], gates)
        volts, cycle = sol.v(bus), round(s.cycle / s.dt)
        if np.abs(volts[:, cycle:] - volts[:, :-cycle]).max() < 0.1 * site.crest:
            # Else the converter misfires, which no control would let go on.
            break
    amps = maybe(rng, sol.i(infeed))
    return Scene(s, volts, amps, "notching", events=("notching", "harmonics"))


@kind
def harmonic_load(rng: np.random.Generator) -> Scene:
    s = draw_study(rng, ("lv", "mv"), length=(0.4, 1.0), rate=80e3, slowest=1900, preroll=0.3)
    site, net = s.site, s.net
    _, terminals = s.supply()
    bus = net.bus()
    infeed = s.meter(terminals, bus)
    s.background(bus, 0.05, 0.3)
    power = site.rated * rng.uniform(0.15, 0.5)
    z = site.vll**2 / power
    plus, minus = add_bridge(s, bus, power, controlled=False, reactor=rng.uniform(0.02, 0.06))
    smooth = net.node()
    net.coil(plus, smooth, 1e-3 * z, rng.uniform(0.02, 0.2) * z / site.w)
    ohm = 1.8 * z
    net.resistor(smooth, minus, ohm)
    net.capacitor(smooth, minus, 1e-3 * z, rng.uniform(2, 8) / (ohm * site.w))
    sol = s.solve(s.wave(), [bus], [infeed])
    return Scene(s, sol.v(bus), maybe(rng, sol.i(infeed)), "harmonics", events=("harmonics",))


# -- the recorder and its transformers


@kind
def undisturbed(rng: np.random.Generator) -> Scene:
    s, volts, amps = plain(rng)
    return Scene(s, volts, maybe(rng, amps), "none")


def run_fuse(rng: np.random.Generator, *, gradual: bool) -> Scene:
    s, volts, amps = plain(rng, levels=("mv", "hv"), length=(0.6, 2.0) if gradual else (0.4, 1.0))
    volts = secondary(volts, s.t[s.skip :], s.t0, rng, gradual=gradual)
    return Scene(
        s, volts, maybe(rng, amps), "VT fuse", events=("sag", "interruption", "unbalance"), none_ok=True, caveat=None
    )


@kind
def vt_fuse_blown(rng: np.random.Generator) -> Scene:
    return run_fuse(rng, gradual=False)


@kind
def vt_fuse_gradual(rng: np.random.Generator) -> Scene:
    return run_fuse(rng, gradual=True)


def run_defect(rng: np.random.Generator, defect: str, caveat: bool | None = True) -> Scene:
    s, volts, amps = plain(rng)
    return Scene(s, volts, maybe(rng, amps), "recorder", defect=defect, none_ok=True, caveat=caveat)


@kind
def spike_one_phase(rng: np.random.Generator) -> Scene:
    scene = run_defect(rng, "spike", None)
    scene.events = ("transient",)
    return scene


@kind
def samples_frozen(rng: np.random.Generator) -> Scene:
    return run_defect(rng, "frozen")


@kind
def samples_lost(rng: np.random.Generator) -> Scene:
    return run_defect(rng, "lost")


@kind
def samples_marked_missing(rng: np.random.Generator) -> Scene:
    return run_defect(rng, "missing")


@kind
def channels_swapped(rng: np.random.Generator) -> Scene:
    return run_defect(rng, "swapped")


@kind
def clipped_swell(rng: np.random.Generator) -> Scene:
    """The voltage of a weak supply rises beyond the range of the converter."""
    rise, lasts = rng.uniform(0.25, 0.5), rng.uniform(5, 25)

    def source(s: Study) -> Floats:
        since = s.t - s.t0
        up = np.clip(since / 0.003, 0, 1) * np.clip((lasts / s.site.f - since) / 0.02, 0, 1)
        return s.wave(magnitude=1 + rise * up)

    s, volts, amps = plain(rng, length=(0.5, 1.0), source=source)
    s_amps = maybe(rng, amps, 0.4)
    return Scene(s, volts, s_amps, "overvoltage", also=("load switching",), defect="clipped", caveat=True)
