"""The kinds of records: each function builds a circuit, lets it run and says what an engineer would sign."""

import math

import numpy as np
from case import (
    ARC,
    CAPACITOR,
    CLOSE,
    FAULT,
    LOAD,
    MOTOR,
    OPEN,
    RVC,
    TRANSFORMER,
    TRANSIENT,
    UNKNOWN,
    Case,
    smooth,
)

KINDS = {}
POWER = ["harmonics", "notching", "interharmonics"]


def kind(family):
    def keep(f):
        KINDS[f.__name__] = (f, family)
        return f

    return keep


# ---------------------------------------------------------------- faults


def grid(c, earthing=None, **more):
    """A bus with its load and two feeders; the meter is at the bus and on one feeder (or the incomer)."""
    bus = c.source(earthing, **more)
    inside = c.nodes()
    incomer = c.rl(bus, inside, 0.01 * c.rs, 0.01 * c.ls)
    c.load(inside)
    return inside, incomer


def fault_truth(c, sw, own, whole=True, note=""):
    """A fault is evident from a deep or unequal dip with sharp edges, or from the current of the metered feeder."""
    unequal = float(np.ptp(c.dips)) > 0.35 * c.dip
    seen = c.dip > 0.12 and (unequal or c.dip > 0.35) and whole
    current = c.has_i and own and c.i_ratio > 3 and c.dip > 0.04
    why = (
        f"dip {c.dip:.2f}, {'unequal' if unequal else 'equal'}, {'own feeder with current' if current else 'voltages'}"
    )
    also = [] if seen or current else [LOAD, MOTOR] if not unequal and not own else []
    return c.verdict(FAULT, seen or current, why + note, also=also, clear=c.cleared(sw) if whole else None)


def short_circuit(
    c, phases, earth, earthing=None, levels="lv mv mv hv", near=None, length=(0.4, 1.6), clear=None, rf=None
):
    c.plan(levels, length)
    if c.level == "mv" and earth and earthing is None:
        earthing = c.pick(["solid", "resistor"])
    bus, incomer = grid(c, earthing if c.level == "mv" else None)
    own, other = c.feeder(bus, near=near), c.feeder(bus, near=near)
    at_own = c.chance(0.55)
    faulted = own if at_own else other
    sw = c.fault(faulted, phases, earth, [c.t0] * len(phases), rf=rf)
    room = c.length - c.t0 - 3 * c.cycle
    high = {"lv": 20, "mv": 30, "hv": 7}[c.level]
    trip = c.t0 + min(room, c.cycle * (clear or c.lu(2.2, high)))
    c.at(trip, faulted["cb"], OPEN)
    c.status(trip - 2 * c.cycle if trip - c.t0 > 3 * c.cycle else trip - 0.5 * c.cycle, trip)
    total = at_own and c.chance(0.3)
    c.meter(bus, incomer if total else own["i"])
    c.phases = phases
    return faulted, sw, at_own


def plain_fault(c, phases, earth):
    place, _, own = short_circuit(c, phases, earth)
    c.simulate()
    picked = [b for p, b in zip("ABC", place["cb"], strict=True) if p in phases]
    if not own:
        c.phases = "" if c.has_i else phases
    return fault_truth(c, picked, own)


@kind("fault")
def fault_slg(c):
    return plain_fault(c, c.pick("ABC"), True)


@kind("fault")
def fault_ll(c):
    return plain_fault(c, c.pick(["AB", "BC", "AC"]), False)


@kind("fault")
def fault_llg(c):
    return plain_fault(c, c.pick(["AB", "BC", "AC"]), True)


@kind("fault")
def fault_lll(c):
    return plain_fault(c, "ABC", c.chance(0.5))


@kind("fault")
def fault_far(c):
    """A fault deep in a neighboring feeder or in another substation: a shallow dip without current of its own."""
    c.plan("mv mv hv", (0.4, 1.5))
    bus, _ = grid(c, c.pick(["solid", "resistor"]) if c.level == "mv" else None)
    own, other = c.feeder(bus), c.feeder(bus, d=0.95, near=c.lu(5, 30))
    phases = c.pick(["A", "B", "C", "AB", "BC", "AC", "ABC"])
    c.fault(other, phases, len(phases) == 1 or c.chance(0.5), [c.t0] * len(phases), rf=0.02 * c.z)
    c.at(c.t0 + min(c.lu(3, 25) * c.cycle, c.length - c.t0 - 3 * c.cycle), other["cb"], OPEN)
    c.meter(bus, own["i"])
    c.simulate()
    return fault_truth(c, [b for p, b in zip("ABC", other["cb"], strict=True) if p in phases], False)


@kind("fault")
def fault_beyond_transformer(c):
    """A fault at medium voltage, the meter at low voltage behind Dyn."""
    c.plan("mv", (0.4, 1.5))
    bus, _ = grid(c, c.pick(["resistor", "isolated", "coil"]))
    other = c.feeder(bus, near=c.lu(0.1, 1.5))
    ratio = c.un / (400 if c.fn == 50 else 480)
    low, _ = c.transformer(bus, ratio, c.u(0.1, 0.3), turn=c.pick([1, -1]))
    end = c.nodes()
    i = c.rl(low, end, 0.003 * c.z / ratio**2, 0.001 * c.ls / ratio**2)
    c.load(end, c.u(0.05, 0.2), star=-1)
    phases = c.pick(["AB", "BC", "AC", "ABC"])
    c.fault(other, phases, c.chance(0.5), [c.t0] * len(phases))
    c.at(c.t0 + min(c.lu(3, 25) * c.cycle, c.length - c.t0 - 3 * c.cycle), other["cb"], OPEN)
    c.meter(end, i)
    c.un, c.pp = c.un / ratio, c.chance(0.2)
    c.simulate()
    return fault_truth(c, [b for p, b in zip("ABC", other["cb"], strict=True) if p in phases], False)


@kind("fault")
def fault_fuse(c):
    """Fuses of a neighboring outgoing way clear in 0.4 to 2 cycles."""
    c.plan("lv lv mv", (0.25, 1.0), rates=(3200, 20000))
    bus, _ = grid(c, "solid")
    own, other = c.feeder(bus), c.feeder(bus, near=c.lu(0.05, 1))
    phases = c.pick(["A", "B", "C", "AB", "BC", "ABC"])
    c.fault(other, phases, len(phases) == 1, [c.t0] * len(phases))
    picked = [b for p, b in zip("ABC", other["cb"], strict=True) if p in phases]
    melt = c.lu(0.3, 1.6) * c.cycle
    for b in picked:
        c.at(c.t0 + melt, b, OPEN)
    c.meter(bus, own["i"])
    c.simulate()
    return fault_truth(c, picked, False)


@kind("fault")
def fault_evolving(c):
    """Phase to earth first, then a second and perhaps a third phase."""
    c.plan("mv mv hv", (0.5, 1.6))
    bus, _ = grid(c, c.pick(["solid", "resistor"]) if c.level == "mv" else None)
    own, other = c.feeder(bus, near=c.lu(0.2, 1.5)), c.feeder(bus)
    order = "".join(c.rng.permutation(list("ABC")))[: c.pick([2, 2, 3])]
    times = c.t0 + np.cumsum([0, *[c.u(0.8, 4) * c.cycle for _ in order[1:]]])
    at_own = c.chance(0.7)
    place = own if at_own else other
    c.fault(place, order, True, times)
    last = min(times[-1] + c.u(2, 8) * c.cycle, c.length - 3 * c.cycle)
    c.at(last, place["cb"], OPEN)
    c.status(times[0] + c.cycle, last)
    c.meter(bus, own["i"])
    c.phases = "".join(sorted(order)) if at_own else ""
    c.simulate()
    return fault_truth(c, [b for p, b in zip("ABC", place["cb"], strict=True) if p in order], at_own)


@kind("fault")
def fault_arc_high_impedance(c):
    """A conductor on dry ground: an arc of kilovolts, 5 to 30 A, hardly any dip; often never cleared."""
    c.plan("mv", (0.6, 3), rates=(3200, 12800), currents=0.8)
    bus, _ = grid(c, c.pick(["solid", "resistor"]))
    own = c.feeder(bus)
    peak = c.un * math.sqrt(2 / 3)
    amps = c.lu(5, 30)
    hot, low = c.nodes(2)
    ph = int(c.rng.integers(3))
    sw = c.switch(own["mid"][ph], hot, False, c.on)
    c.at(c.t0, sw, CLOSE)
    c.rl(hot, low, 0.5 * peak / amps, 1e-3)
    arc = c.add(ARC, low, -1, (0.3 * peak, 1 / (0.15 * peak / amps), 1e-6))
    for t in np.arange(c.t0, c.length, c.cycle / 2):
        c.at(float(t), arc, 2, peak * c.u(0.2, 0.55))
    c.meter(bus, own["i"])
    c.simulate()
    why = "the voltage stays; the current shows some arc harmonics at best"
    return c.verdict(
        FAULT, False, why, extra=[*POWER, "flicker", "unbalance", *TRANSIENT, *RVC], none_ok=True, also=[LOAD]
    )


@kind("fault")
def fault_earth_compensated(c):
    """Phase to earth without low neutral impedance: the phase goes down, the others rise to 1.73."""
    c.plan("mv", (0.5, 3), pp=0.25)
    bus, _ = grid(c, c.pick(["coil", "coil", "isolated"]))
    own, other = c.feeder(bus), c.feeder(bus)
    at_own = c.chance(0.5)
    ph = c.pick("ABC")
    place = own if at_own else other
    sw = c.fault(place, ph, True, [c.t0], rf=c.lu(0.5, 150))
    stays = c.chance(0.4)
    if not stays:
        c.at(c.t0 + (c.length - c.t0) * c.u(0.3, 0.8), place["cb"] if c.chance(0.5) else sw, OPEN)
    c.meter(bus, own["i"])
    c.simulate()
    gone = None if stays else c.cleared([*sw, place["cb"]["ABC".index(ph)]])
    c.phases = ph if not c.pp and at_own and c.has_i else ""
    seen = not c.pp and c.low < 0.6
    why = "one phase down and two up by 1.73: an earth fault" if seen else "phase-to-phase voltages do not see it"
    return c.verdict(
        FAULT,
        seen,
        why,
        clear=gone if seen else None,
        extra=TRANSIENT if c.jump > 0.03 else (),
        none_ok=None if seen else True,
    )


@kind("fault")
def fault_earth_intermittent(c):
    """A cable fault under a coil that strikes at the crest and goes out at the next zero of its current."""
    c.plan("mv", (0.6, 2), rates=(3200, 20000), dt=10e-6, pp=0.15)
    bus, _ = grid(c, "coil")
    own = c.feeder(bus, near=c.u(0.2, 1))
    ph = c.pick("ABC")
    sw = c.fault(own, ph, True, [c.t0], rf=c.lu(1, 20))
    t = c.t0
    while True:
        c.at(t + c.u(0.1, 0.9) * c.cycle, sw, OPEN)
        t += c.u(2, 8) * c.cycle
        if t > c.length - 4 * c.cycle:
            break
        c.at(t, sw, CLOSE)
    c.meter(bus, own["i"])
    c.simulate()
    seen = not c.pp and c.rise > 0.15
    why = "repeated strikes, neutral displaced between them" if seen else "phase-to-phase: transients only"
    return c.verdict(
        FAULT, seen, why, extra=TRANSIENT, none_ok=None if seen else c.jump < 0.1, also=[] if seen else [CAPACITOR]
    )


@kind("fault")
def fault_self_clearing(c):
    """An incipient splice fault: strikes near the crest, out at the first zero of the current."""
    c.plan("mv", (0.2, 0.8), rates=(3200, 20000))
    bus, _ = grid(c, c.pick(["solid", "resistor"]))
    own, other = c.feeder(bus, near=c.lu(0.2, 1.5)), c.feeder(bus)
    ph = int(c.rng.integers(3))
    at_own = c.chance(0.6)
    phase = (c.w * c.t0 + c.angle - 2 * math.pi * ph / 3) % math.pi
    c.t0 += (math.pi / 2 + c.u(-0.4, 0.4) - phase) % math.pi / c.w
    sw = c.fault(own if at_own else other, "ABC"[ph], True, [c.t0], rf=c.lu(0.2, 0.8) * c.z)
    c.at(c.t0 + 0.15 * c.cycle, sw, OPEN)
    c.meter(bus, own["i"])
    c.phases = "ABC"[ph] if at_own else ""
    c.simulate()
    seen = at_own and c.has_i and c.i_ratio > 2.5
    why = "a half wave of fault current on one phase" if seen else "a notch of half a cycle in a voltage"
    truth = c.verdict(FAULT, seen, why, extra=[*TRANSIENT, "notching"], clear=c.cleared(sw))
    return truth | {"none_ok": c.jump < 0.12}


@kind("fault")
def fault_reclosed(c):
    """Fault on the metered feeder, breaker opens, dead time, closes: the fault is gone."""
    return reclosing(c, False)


@kind("fault")
def fault_lockout(c):
    """Fault, open, closed onto the fault, open for good."""
    return reclosing(c, True)


def reclosing(c, lasts):
    c.plan("mv mv hv", (1.2, 3), rates=(1600, 12800))
    bus, incomer = grid(c, c.pick(["solid", "resistor"]) if c.level == "mv" else None)
    own = c.feeder(bus, near=c.lu(0.2, 1.5))
    phases = c.pick(["A", "B", "C", "AB", "BC", "AC", "ABC"])
    sw = c.fault(own, phases, len(phases) == 1 or c.chance(0.5), [c.t0] * len(phases))
    first = c.t0 + c.lu(2.5, 9) * c.cycle
    again = first + c.u(0.25, 0.6) * (c.length - first)
    c.at(first, own["cb"], OPEN)
    c.at(again, own["cb"], CLOSE)
    if lasts:
        c.at(min(again + c.lu(2.5, 9) * c.cycle, c.length - 2.5 * c.cycle), own["cb"], OPEN)
    else:
        c.at(first + 0.5 * (again - first), sw, OPEN)
    downstream = c.chance(0.45)
    c.meter(own["head"] if downstream else bus, own["i"] if downstream or c.chance(0.6) else incomer)
    c.status(first - c.cycle, first + c.cycle, [again])
    c.phases = phases
    c.simulate()
    t = c.cleared([b for p, b in zip("ABC", own["cb"], strict=True) if p in phases])
    truth = fault_truth(c, own["cb"], True, note=", reclosing" + (" downstream" if downstream else ""))
    return truth | {"clear": None if lasts else t}


@kind("fault")
def fault_with_motors(c):
    """Motors on the bus slow down and re-accelerate: the voltage returns late."""
    c.plan("lv mv", (1, 3), rates=(1600, 12800))
    bus, incomer = grid(c, "solid" if c.level == "lv" else "resistor")
    c.motor(bus, c.u(1, 3), inertia=c.u(0.15, 0.5))
    own, other = c.feeder(bus, near=0.6), c.feeder(bus, near=c.lu(0.1, 0.8))
    phases = c.pick(["AB", "BC", "ABC", "ABC"])
    c.fault(other, phases, False, [c.t0] * len(phases))
    c.at(c.t0 + c.u(5, 14) * c.cycle, other["cb"], OPEN)
    c.meter(bus, c.pick([incomer, own["i"]]))
    c.simulate()
    return fault_truth(c, [b for p, b in zip("ABC", other["cb"], strict=True) if p in phases], False)


@kind("fault")
def fault_cut_by_capture(c):
    """The capture ends before the fault is cleared."""
    c.plan("mv mv hv", (0.2, 0.5))
    bus, _ = grid(c, c.pick(["solid", "resistor"]) if c.level == "mv" else None)
    own = c.feeder(bus, near=c.lu(0.2, 1.5))
    phases = c.pick(["A", "B", "C", "AB", "BC", "AC", "ABC"])
    c.fault(own, phases, len(phases) == 1, [c.t0] * len(phases))
    c.meter(bus, own["i"])
    c.phases = phases
    c.simulate()
    truth = fault_truth(c, own["cb"], True, note=", no end in the record")
    return truth | {"clear": None, "also": [*truth["also"], *([LOAD] if phases == "ABC" and not c.has_i else [])]}


@kind("fault")
def fault_lightning_flashover(c):
    """A stroke near the bus, flashover of one or two phases, then an ordinary fault."""
    c.plan("mv hv", (0.3, 1), rates=(6400, 20000), dt=8e-6)
    bus, _ = grid(c, "solid")
    own = c.feeder(bus, near=c.lu(0.2, 1))
    phases = c.pick(["A", "B", "C", "AB", "BC", "AC"])
    stroke(c, bus, c.t0 - 60e-6, c.u(0.3, 1.0))
    c.fault(own, phases, True, [c.t0] * len(phases))
    c.at(c.t0 + c.lu(2.5, 8) * c.cycle, own["cb"], OPEN)
    c.meter(bus, own["i"])
    c.phases = phases
    c.simulate()
    return fault_truth(c, [b for p, b in zip("ABC", own["cb"], strict=True) if p in phases], True) | {"none_ok": False}


# ---------------------------------------------------------------- motors


def motor_size(c, low=0.03, high=0.17):
    dip = c.u(low, high)
    return dip / (1 - dip) * 0.2 * c.ssc / c.sref


def motor_truth(c, whole, note):
    big = c.has_i and float(c.i_max.min()) > 2 * float(c.i_pre.mean()) + 1e-9
    seen = (big and c.dip > 0.015) or (not c.has_i and c.dip > 0.05 and whole)
    also = [] if big else [LOAD]
    why = f"dip {c.dip:.3f} equal on three phases, {note}, {'current of a start' if big else 'voltages only'}"
    return c.verdict(MOTOR, seen, why, also=also)


@kind("motor")
def motor_direct(c):
    """An induction motor switched onto the bus: five times its current, lagging, until it has run up."""
    c.plan("lv mv", (1.5, 9), rates=(1600, 10000), dt=40e-6)
    bus, incomer = grid(c)
    end, sw = c.breaker(bus, False)
    h = c.lu(0.2, 1.5)
    br = c.motor(end, motor_size(c), False, inertia=h)
    c.at(c.t0, sw, CLOSE)
    c.meter(bus, br if c.chance(0.6) else incomer)
    c.simulate()
    back = float(c.rms(c.v)[:, -1].mean() / c.un_channel) > c.pre.mean() - 0.4 * c.dip
    return motor_truth(c, back, "run-up ends in the record" if back else "cut while it runs up")


@kind("motor")
def motor_star_delta(c):
    """Windings in star, then in delta after a pause of 40 to 100 ms."""
    c.plan("lv", (3, 10), rates=(1600, 6400), dt=40e-6)
    bus, incomer = grid(c)
    head, sw = c.breaker(bus, False)
    tail, star = c.nodes(), c.nodes(1)[0]
    c.rc(tail, -1, 5 * c.z, 1e-6)
    in_star = c.switch(tail, star, True, c.on)
    in_delta = c.switch(tail, [head[1], head[2], head[0]], False, c.on)
    c.motor(tail, motor_size(c, 0.06, 0.25), False, inertia=c.u(0.2, 0.5), starts=head, torque=0.25)
    swap = c.t0 + c.u(0.35, 0.6) * (c.length - c.t0)
    c.at(c.t0, sw, CLOSE)
    c.at(swap, in_star, OPEN)
    c.at(swap + c.u(0.04, 0.1), in_delta, CLOSE)
    c.meter(bus, c.probe(bus, sw) if c.chance(0.6) else incomer)
    c.simulate()
    return motor_truth(c, True, "two steps: star, then delta")


@kind("motor")
def motor_soft_starter(c):
    """Thyristors in the supply of the motor, the firing angle goes from 122 degrees down within seconds."""
    c.plan("lv lv mv", (3, 9), rates=(1600, 6400), dt=40e-6)
    bus, incomer = grid(c)
    end, sw = c.breaker(bus, False, mode=1)
    br = c.motor(end, motor_size(c, 0.05, 0.25), False, inertia=c.u(0.1, 0.35), torque=0.3)
    for k in range(3):
        c.rc(bus[k], end[k], 3 * c.z, 2e-4 * c.sref / (c.w * c.un**2))
    ramp = c.u(0.5, 0.85) * (c.length - c.t0)
    for k in range(3):
        zero = ((2 * math.pi * k / 3 - c.angle) / c.w) % (c.cycle / 2)
        for t in np.arange(zero, c.length, c.cycle / 2):
            done = (t - c.t0) / ramp
            delay = math.radians(122 - 50 * min(done, 1)) if done < 1 else 0
            if t > c.t0 and delay:
                c.at(t + delay / c.w, [sw[k], sw[(k + 1) % 3]], CLOSE)
    bypass = c.switch(bus, end, False, c.on)
    c.at(c.t0 + ramp, bypass, CLOSE)
    c.meter(bus, br if c.chance(0.7) else incomer)
    c.simulate()
    truth = motor_truth(c, True, "slow fall and rise with notches of the thyristors")
    extra = ["notching", *TRANSIENT, "harmonics"]
    truth |= {
        "visible": truth["visible"] and c.has_i,
        "events": [*truth["events"], *extra],
        "also": [*truth["also"], LOAD],
    }
    return truth | {"cause": MOTOR if truth["visible"] else UNKNOWN, "evident": truth["visible"]}


# ---------------------------------------------------------------- transformers


def inrush_truth(c, rated, note):
    peak = float(np.abs(c.i).max()) / rated if c.has_i else 0.0
    n = round(c.fs / c.f)
    k = int(c.t0 * c.fs) + n
    even = 0.0
    if c.has_i and k + 3 * n < c.i.shape[1]:
        s = np.abs(np.fft.rfft(c.i[:, k : k + 3 * n], axis=1))
        even = float((s[:, 6] / np.maximum(s[:, 3], 1e-9)).max())
    seen = (peak > 0.6 and even > 0.15) or (c.dip > 0.05 and float(np.ptp(c.dips)) > 0.02)
    why = f"{note}: peak {peak:.1f} of rated, 2nd harmonic {even:.2f}, dip {c.dip:.3f}"
    also = [] if c.has_i and seen else [LOAD, MOTOR] if c.dip < 0.04 else []
    return c.verdict(TRANSFORMER, seen, why, also=also, extra=["harmonics", *(TRANSIENT if c.jump > 0.03 else [])])


@kind("transformer")
def transformer_energising(c):
    """Saturable branches with remanence behind a leakage, three poles within 3 ms."""
    return inrush(c, None)


@kind("transformer")
def transformer_sympathetic(c):
    """The meter is on a transformer in service; its neighbor is energised over a resistive supply."""
    return inrush(c, c.u(2, 5))


def inrush(c, resistive):
    c.plan("lv mv mv hv", (0.5, 5), rates=(1600, 12800), currents=0.75)
    bus, incomer = grid(c, None if resistive is None else "solid", xr=resistive)
    size = c.lu(0.02, 0.12) * c.ssc / c.sref * (2 if resistive else 1)
    head, sw = c.breaker(bus, False)
    inner = c.nodes()
    br = c.rl(head, inner, 0.006 * c.un**2 / (size * c.sref), 0.05 * c.un**2 / (size * c.sref) / c.w)
    earthed = c.level == "hv" or c.chance(0.4)
    c.magnetising(inner, size, earthed, c.u(-0.75, 0.75))
    for b in sw:
        c.at(c.t0 + (c.u(0, 0.003) if b != sw[0] else 0), b, CLOSE)
    if resistive:
        near = c.nodes()
        own = c.rl(bus, near, 0.006 * c.z / size * 30, 0.05 * c.un**2 / (size * c.sref) / c.w)
        c.magnetising(near, size, earthed, 0.0)
        c.load(near, 0.2 * size)
    rated = size * c.sref / (math.sqrt(3) * c.un) * math.sqrt(2)
    c.meter(bus, (own if resistive else br) if c.chance(0.7) else incomer)
    c.simulate()
    return inrush_truth(c, rated, "current of the neighbor" if resistive else "inrush")


@kind("transformer")
def transformer_loaded(c):
    """A distribution transformer with its load is energised: inrush and a step of load."""
    c.plan("mv", (0.6, 3), rates=(3200, 12800), currents=0.8)
    bus, incomer = grid(c)
    size = c.lu(0.03, 0.1) * c.ssc / c.sref
    head, sw = c.breaker(bus, False)
    low, _ = c.transformer(head, 50, size)
    c.magnetising(head, size, False, c.u(-0.7, 0.7))
    c.load(low, size * c.u(0.1, 0.4), star=-1)
    c.at(c.t0, sw, CLOSE)
    c.meter(bus, c.probe(bus, sw) if c.chance(0.7) else incomer)
    c.simulate()
    truth = inrush_truth(c, size * c.sref / (math.sqrt(3) * c.un) * math.sqrt(2), "inrush with load")
    return truth | {"also": [*truth["also"], LOAD]}


# ---------------------------------------------------------------- capacitors


def bank(c, bus, q, damp=0.01, closed=False, chop=0.0, choke=2e-5):
    """A star of capacitors; returns the switch, the branch of its current and its own frequency."""
    cap = q * c.ssc / (c.w * c.un**2)
    mid, end, star = c.nodes(), c.nodes(), -1 if c.chance(0.3) and c.earthing == "solid" else c.nodes(1)[0]
    sw = c.switch(bus, mid, closed, c.on, 0, chop)
    br = c.rl(mid, end, damp * c.z, choke if choke > 1e-4 else choke * c.z)
    c.rc(end, star, 1e-3 * c.z, cap)
    return sw, br, c.f / math.sqrt(q)


def capacitor_truth(c, ring, note):
    sharp = c.fs > 3.5 * ring and c.jump > 0.08
    why = f"{note}: {ring:.0f} Hz at {c.fs} samples/s, jump {c.jump:.2f} pu"
    extra = [*TRANSIENT, "harmonics"]
    none_ok = not (c.fs > 5 * ring and c.jump > 0.15)
    return c.verdict(CAPACITOR, sharp, why, extra=extra, none_ok=none_ok, also=[] if sharp else [LOAD])


@kind("capacitor")
def capacitor_energising(c):
    """A bank closes onto the bus: voltage pulled towards zero, then 200 to 900 Hz against the source."""
    c.plan("lv mv mv hv", (0.2, 1.5), rates=(1600, 20000))
    bus, incomer = grid(c)
    sw, br, ring = bank(c, bus, c.lu(0.004, 0.04), c.lu(0.01, 0.2))
    for b in sw:
        c.at(c.t0 + (c.u(0, 0.006) if b != sw[0] else 0), b, CLOSE)
    c.meter(bus, br if c.chance(0.5) else incomer)
    c.simulate()
    return capacitor_truth(c, ring, "isolated bank")


@kind("capacitor")
def capacitor_back_to_back(c):
    """A second step beside one in service: kilohertz currents between them, slower ringing with the source."""
    c.plan("mv mv hv", (0.2, 0.8), rates=(6400, 20000), dt=5e-6)
    bus, incomer = grid(c)
    q = c.lu(0.006, 0.03)
    bank(c, bus, q, 0.004, closed=True, choke=0.004 / c.w)
    sw, br, ring = bank(c, bus, q * c.u(0.5, 1), 0.004, choke=0.004 / c.w)
    for b in sw:
        c.at(c.t0 + (c.u(0, 0.004) if b != sw[0] else 0), b, CLOSE)
    c.meter(bus, br if c.chance(0.5) else incomer)
    c.simulate()
    return capacitor_truth(c, ring / 1.4, "with a bank in service")


@kind("capacitor")
def capacitor_de_energising(c):
    """The bank opens at zeros of its current: a step down of the voltage without a transient."""
    c.plan("lv mv mv hv", (0.3, 1.5), currents=0.75)
    bus, incomer = grid(c)
    sw, br, _ = bank(c, bus, c.lu(0.008, 0.05), 0.01, closed=True)
    c.at(c.t0, sw, OPEN)
    bay = c.chance(0.6)
    c.meter(bus, br if bay else incomer)
    c.simulate()
    seen = c.has_i and bay and c.dip > 0.01
    why = "a leading current of the bay ends" if seen else "a small step down only"
    return c.verdict(
        CAPACITOR,
        seen,
        why,
        also=[LOAD] if not seen else [],
        none_ok=c.dip < 0.04,
        extra=TRANSIENT if c.jump > 0.05 else (),
    )


@kind("capacitor")
def capacitor_restrike(c):
    """A pole restrikes 0.3 to 0.5 cycles after opening, at up to twice the voltage, and rings out."""
    c.plan("mv mv hv", (0.2, 1), rates=(3200, 20000), dt=8e-6)
    bus, incomer = grid(c)
    q = c.lu(0.006, 0.03)
    sw, br, ring = bank(c, bus, q, c.lu(0.01, 0.05), closed=True)
    c.at(c.t0, sw, OPEN)
    again = c.t0 + c.u(0.5, 1.1) * c.cycle
    first, second = c.rng.permutation(sw)[:2]
    c.at(again, [int(first), int(second)], CLOSE)
    c.at(again + c.u(0.05, 0.6) * c.cycle, [int(first), int(second)], OPEN)
    c.meter(bus, br if c.chance(0.6) else incomer)
    c.t0, begin = again, c.t0
    c.simulate()
    truth = capacitor_truth(c, ring, "restrike of an opening bank")
    return truth | {"t_event": begin, "also": [*truth["also"], FAULT] if not c.has_i else truth["also"]}


# ---------------------------------------------------------------- loads


def load_truth(c, note):
    change = c.has_i and float(np.abs(c.i_max - c.i_pre).max() + np.abs(c.i_post - c.i_pre).max()) > 0.3 * float(
        c.i_pre.max()
    )
    seen = change and max(c.dip, c.rise) > 0.015
    why = f"{note}: step {max(c.dip, c.rise):.3f}, {'current steps with it' if change else 'no telling current'}"
    return c.verdict(LOAD, seen, why, also=[] if c.has_i else [MOTOR], extra=RVC, none_ok=max(c.dip, c.rise) < 0.04)


def step_load(c, times, length, low=0.015, high=0.09, closed=False, two=False, currents=0.65):
    c.plan("lv mv", length, rates=(1600, 12800), dt=30e-6, currents=currents)
    bus, incomer = grid(c)
    head, sw = c.breaker(bus, closed)
    probe = c.nodes()
    i = c.rl(head, probe, 1e-3 * c.z, 1e-8)
    pf = c.u(0.6, 0.99)
    size = c.u(low, high) / (1.1 - pf**2 + 0.15) * c.ssc / c.sref
    if two:
        a, b = c.rng.permutation(3)[:2]
        z = c.un**2 / (size * c.sref)
        c.rl(probe[int(a)], probe[int(b)], z * pf, z * math.sin(math.acos(pf)) / c.w)
    else:
        c.load(probe, size, pf)
    state = closed
    for t in times():
        c.at(t, sw, OPEN if state else CLOSE)
        state = not state
    c.meter(bus, i if c.chance(0.5) else incomer)
    c.simulate()


@kind("load")
def load_on(c):
    """A resistive-inductive load is switched on and stays."""
    step_load(c, lambda: [c.t0], (0.4, 3))
    return load_truth(c, "on")


@kind("load")
def load_off(c):
    """A load is switched off at zeros of its current."""
    step_load(c, lambda: [c.t0], (0.4, 3), closed=True)
    return load_truth(c, "off")


@kind("load")
def load_on_off(c):
    """Heating under a thermostat: on, off again after 0.2 to 3 s, perhaps again."""
    step_load(
        c, lambda: [c.t0 + k * (c.length - c.t0) * 0.22 * c.u(0.8, 1) for k in range(c.pick([2, 2, 4]))], (1.5, 9)
    )
    return load_truth(c, "on and off")


@kind("load")
def load_welding(c):
    """A spot welder between two phases, pulses of 4 to 20 cycles."""

    def pulses():
        t, out = c.t0, []
        while t < c.length - 0.1:
            out += [t, t + c.u(4, 20) * c.cycle]
            t = out[-1] + c.u(0.1, 0.7)
        return out

    step_load(c, pulses, (1, 6), 0.015, 0.05, two=True)
    truth = load_truth(c, "welding")
    return truth | {
        "events": [*truth["events"], "flicker"],
        "also": [*truth["also"], FAULT] if not c.has_i else truth["also"],
    }


@kind("load")
def inverter_trip(c):
    """Solar infeed stops within some milliseconds: a step down of the voltage, the incoming current grows."""
    c.plan("lv mv", (0.5, 3), rates=(1600, 12800), dt=30e-6)
    bus, incomer = grid(c)
    amps = c.u(0.02, 0.07) * c.ssc / (math.sqrt(3) * c.un) * 1.8
    stop = (1 - smooth((c.time - c.t0) / c.u(5e-4, 6e-3))) * smooth((c.time - c.time[0]) / 0.3)
    big = 1e4 * c.z
    for k in range(3):
        c.emf.append(-big * amps * math.sqrt(2) * stop * np.sin(c.w * c.time + c.angle - 2 * math.pi * k / 3))
        c.rl(bus[k], -1, big, 0, len(c.emf) - 1)
    c.meter(bus, incomer)
    c.simulate()
    why = "generation goes: as if load were switched on"
    return c.verdict("generation", False, why, also=[LOAD, "switching"], extra=RVC, none_ok=max(c.dip, c.rise) < 0.04)


@kind("load")
def flicker_arc_furnace(c):
    """Three arcs behind a furnace transformer; their voltage wanders from half cycle to half cycle."""
    c.plan("mv mv hv", (2, 10), rates=(1600, 6400), dt=40e-6)
    bus, incomer = grid(c)
    mid, star = c.nodes(), c.nodes(1)[0]
    size = c.lu(0.02, 0.05) * c.ssc
    z = c.un**2 / size
    br = c.rl(bus, mid, 0.05 * z, 0.5 * z / c.w)
    peak = c.un * math.sqrt(2 / 3)
    for k in range(3):
        arc = c.add(ARC, mid[k], star, (0.4 * peak, 1 / (0.05 * z), 1e-3 / z))
        wander = 0.0
        for t in np.arange(0, c.length, c.cycle / 2):
            wander = 0.93 * wander + c.rng.normal(0, 0.05)
            c.at(float(t), arc, 2, peak * float(np.clip(0.4 + wander + c.rng.normal(0, 0.04), 0.08, 0.85)))
    c.rl(star, -1, 1e4 * z, 0)
    c.meter(bus, br if c.chance(0.6) else incomer)
    c.simulate()
    why = "voltage wanders at random by percents; name of the load from the site, not from the record"
    return c.verdict(
        "arc furnace", False, why, also=[LOAD], extra=["flicker", *POWER, *RVC, "unbalance"], none_ok=True, t=False
    )


@kind("load")
def converter_notching(c):
    """A six-pulse thyristor bridge with choke and load; notches while two phases commutate."""
    c.plan("lv mv", (0.3, 1.5), rates=(6400, 20000), dt=12e-6)
    bus, incomer = grid(c)
    c.load(bus, 0.5)
    size = c.lu(0.04, 0.12) * c.ssc
    z = c.un**2 / size
    ac, (plus, minus, mid) = c.nodes(), c.nodes(3)
    br = c.rl(bus, ac, 1e-3 * c.z, c.u(0.15, 0.5) * c.ls)
    c.rc(ac, -1, 3 * c.z, 0.001 * c.sref / (c.w * c.un**2))
    c.rl(plus, mid, 0.02 * z, 2.0 * z / c.w)
    delay = math.radians(c.u(25, 60))
    c.rl(mid, minus, z * 1.3 * math.cos(delay), 0)
    c.rl(minus, -1, 1e4 * z, 0)
    begin = c.t0 if c.chance(0.3) else -0.4
    upper = [c.switch(a, plus, False, c.on, 2) for a in ac]
    lower = [c.switch(minus, a, False, c.on, 2) for a in ac]
    for k in range(3):
        for part, valves, partner in ((0, upper, lower), (math.pi, lower, upper)):
            zero = (math.pi / 6 + part + 2 * math.pi * k / 3 + delay - c.angle) / c.w
            first = math.ceil((begin - zero) * c.f)
            for t in np.arange(first, c.length * c.f + 2) * c.cycle + zero:
                c.at(float(t), valves[k], CLOSE)
                c.at(float(t) + 1e-5, partner[(k + 1) % 3], CLOSE)
    c.meter(bus, br if c.chance(0.5) else incomer)
    c.simulate()
    started = begin > 0
    why = "six notches a cycle" + (", the converter starts in the record" if started else " throughout")
    extra = [*POWER, *TRANSIENT, *RVC]
    none_ok = not started or c.dip < 0.04
    return c.verdict(
        "converter",
        False,
        why,
        also=[LOAD] if started else [],
        extra=extra,
        none_ok=none_ok,
        t=None if started else False,
    )


# ---------------------------------------------------------------- network


def still(c, **plan):
    """Nothing is switched: a feeder with its load behind the bus."""
    c.plan(**({"length": (0.3, 4)} | plan))


@kind("network")
def tap_changer(c):
    """Steps of 1 to 2 % some seconds apart; load follows the voltage."""
    c.plan("mv hv lv", (3, 10), rates=(1600, 6400), dt=40e-6)
    size, down = c.u(0.008, 0.02), c.chance(0.5)
    mag = np.ones_like(c.time)
    for t in np.arange(c.t0, c.length, c.u(1.5, 4))[: c.pick([1, 2, 4])]:
        mag += (-size if down else size) * smooth((c.time - t) / c.u(0.02, 0.08))
    bus, incomer = grid(c, mag=mag)
    c.meter(bus, incomer)
    c.simulate()
    why = "steps of equal size, current in proportion to voltage"
    also = [] if c.has_i else [LOAD]
    return c.verdict("voltage regulation", False, why, also=also, extra=RVC, none_ok=max(c.dip, c.rise) < 0.045)


@kind("network")
def voltage_ramp(c):
    """The supply falls or rises by 3 to 14 % over seconds, and stays or returns."""
    c.plan("lv mv hv", (3, 10), rates=(1600, 6400), dt=40e-6)
    size, width = c.u(0.03, 0.14) * (1 if c.chance(0.35) else -1), c.u(0.4, 0.8) * (c.length - c.t0)
    back = 0.0 if c.chance(0.6) else smooth((c.time - c.t0 - 0.6 * width) / (0.4 * width))
    bus, incomer = grid(c, mag=1 + size * (smooth((c.time - c.t0) / (0.5 * width)) - back))
    c.meter(bus, incomer)
    c.simulate()
    why = "no edge anywhere: regulation or slow loss of reactive power"
    return c.verdict("voltage regulation", False, why, extra=[*RVC, "undervoltage", "overvoltage"], none_ok=None)


@kind("network")
def interruption_planned(c):
    """A breaker opens upstream of the meter without any fault, perhaps closes again."""
    c.plan("lv mv", (0.8, 5), rates=(1600, 10000), dt=30e-6)
    bus, _ = grid(c)
    head, sw = c.breaker(bus)
    inside = c.nodes()
    i = c.rl(head, inside, 1e-3 * c.z, 1e-8)
    c.load(inside)
    spins = c.chance(0.4)
    if spins:
        c.motor(inside, c.u(0.2, 0.6), inertia=c.u(0.3, 1))
    c.at(c.t0, sw, OPEN)
    back = c.chance(0.5)
    if back:
        c.at(c.t0 + c.u(0.3, 0.8) * (c.length - c.t0), sw, CLOSE)
    c.status(c.t0 - 0.03, c.t0)
    c.meter(inside, i)
    c.simulate()
    why = "voltage and current end together, no fault current before" if c.has_i else "voltage ends from sound values"
    events = ["interruption", *(["sag"] if spins else [])]
    also = ["switching", *([TRANSFORMER, MOTOR] if back and spins else [])]
    return c.verdict("supply interruption", True, why, also=also, events=events, none_ok=False, caveat=None)


@kind("network")
def auto_transfer(c):
    """The incomer opens, a second source with another angle takes over after 40 to 600 ms."""
    c.plan("lv mv", (1, 4), rates=(1600, 12800), dt=30e-6)
    src = c.source()
    bus, sw = c.breaker(src)
    second = c.nodes()
    e = c.wave(c.u(0.99, 1.04), turn=math.radians(c.u(-30, 30)))
    c.rl(second, c.star, c.rs * c.u(0.8, 1.5), c.ls * c.u(0.8, 1.5), e)
    tie = c.switch(second, bus, False, c.on)
    inside = c.nodes()
    i = c.rl(bus, inside, 1e-3 * c.z, 1e-8)
    c.load(inside, 0.6)
    if c.chance(0.5):
        c.motor(inside, c.u(0.2, 0.6))
    c.at(c.t0, sw, OPEN)
    c.at(c.t0 + c.lu(0.04, 0.5), tie, CLOSE)
    c.meter(inside, i)
    c.simulate()
    why = "gap without fault current, another phase angle afterwards"
    extra = ["interruption", "sag", *TRANSIENT]
    return c.verdict(
        "network switching", False, why, also=["supply interruption", "interruption"], extra=extra, caveat=None
    )


@kind("network")
def phase_jump(c):
    """A parallel supply with another angle is closed or opened: the angle jumps, the voltage hardly."""
    c.plan("lv mv hv", (0.4, 2))
    bus = c.source()
    second = c.nodes()
    angle = math.radians(c.u(8, 35)) * (1 if c.chance(0.5) else -1)
    k = c.u(0.4, 1.2)
    c.rl(second, c.star, c.rs * k, c.ls * k, c.wave(c.u(1.0, 1.04), turn=angle))
    closes = c.chance(0.5)
    tie = c.switch(second, bus, not closes, c.on)
    inside = c.nodes()
    i = c.rl(bus, inside, 1e-3 * c.z, 1e-8)
    c.load(inside)
    c.at(c.t0, tie, CLOSE if closes else OPEN)
    c.meter(inside, i)
    c.simulate()
    why = "the angle of three phases jumps together"
    extra = [*TRANSIENT, *RVC, "phase jump", "phase angle jump"]
    return c.verdict("network switching", False, why, also=[LOAD] if not c.has_i else [], extra=extra, none_ok=True)


@kind("network")
def line_energising(c):
    """An unloaded cable or line of several sections is closed onto the bus."""
    c.plan("mv hv", (0.2, 1.2), rates=(4000, 20000), dt=6e-6)
    bus, incomer = grid(c)
    head, sw = c.breaker(bus, False)
    at, total = head, c.lu(0.1, 1.5)
    br = None
    for _ in range(4):
        at, part = c.line(at, total / 4, charge=c.lu(0.02, 0.15) / 2)
        br = br or part
    for b in sw:
        c.at(c.t0 + (c.u(0, 0.003) if b != sw[0] else 0), b, CLOSE)
    c.meter(bus, br if c.chance(0.4) else incomer)
    c.simulate()
    why = f"jump {c.jump:.2f}: as a small capacitor bank; which it was tells the plan of the station"
    return c.verdict(
        "line switching", False, why, also=[CAPACITOR, "switching"], extra=TRANSIENT, none_ok=c.jump < 0.15
    )


def drift(c, course, mag=1.0, note="", extra=(), also=()):
    """A supply whose frequency follows course (Hz above the first, over time)."""
    turn = 2 * math.pi * np.cumsum(course) * c.dt
    bus, incomer = grid(c, turn=turn, mag=mag)
    c.motor(bus, 0.3) if c.chance(0.3) else None
    c.meter(bus, incomer)
    c.simulate()
    far = float(np.abs(course[c.skip :] + c.f - c.fn).max())
    return c.verdict(
        "frequency",
        False,
        note,
        extra=["frequency", *extra],
        also=also,
        none_ok=far < 0.6,
        events=None if extra else [],
    )


@kind("network")
def frequency_ramp(c):
    """An interconnected network loses generation: 0.3 to 3 Hz within seconds at steady voltage."""
    c.plan("lv mv hv", (2, 10), rates=(1600, 6400), dt=40e-6)
    size = c.lu(0.4, 3) * (1 if c.chance(0.3) else -1)
    course = size * smooth((c.time - c.t0) / c.u(0.4, 0.95) / (c.length - c.t0))
    return drift(c, course, note="frequency runs away at constant voltage")


@kind("network")
def island_formed(c):
    """The grid is lost, a local machine carries on: frequency swings, the voltage settles elsewhere."""
    c.plan("lv mv", (2, 10), rates=(1600, 6400), dt=40e-6)
    t = np.maximum(c.time - c.t0, 0)
    slope, tau = c.u(0.5, 2.5) * (1 if c.chance(0.4) else -1), c.u(0.3, 1.5)
    course = slope * (1 - np.exp(-t / tau)) * (0.6 + 0.4 * np.cos(2 * math.pi * t / c.u(2, 6)))
    mag = 1 - c.u(0.01, 0.12) * np.exp(-t / c.u(0.2, 1)) * (t > 0) * smooth(t / 0.01)
    extra = ["sag", "swell", *RVC]
    return drift(
        c, course, mag, "frequency swings after a small step", extra=extra, also=["supply interruption", "switching"]
    )


@kind("network")
def load_rejection(c):
    """A generator loses its load: voltage and frequency rise, then its regulators act."""
    c.plan("lv mv", (2, 8), rates=(1600, 6400), dt=40e-6)
    t = np.maximum(c.time - c.t0, 0)
    course = c.u(1.0, 5) * (1 - np.exp(-t / c.u(0.5, 2)))
    mag = 1 + c.u(0.1, 0.3) * smooth(t / c.u(0.005, 0.05)) * np.exp(-t / c.u(0.7, 3))
    why = "voltage and frequency rise together: load lost by a generator"
    return drift(c, course, mag, why, extra=["swell", *RVC], also=[LOAD])


def stroke(c, bus, t, size, hit=None):
    """A surge current of 1-10/20-100 us into the bus, of such height that the voltage moves by size pu."""
    peak = c.un * math.sqrt(2 / 3) * size
    x = np.maximum(c.time - t, 0)
    shape = (np.exp(-x / c.u(3e-5, 1.2e-4)) - np.exp(-x / c.u(1e-6, 4e-6))) * (c.time > t)
    surge = c.z * 15
    for k in range(3):
        share = 1.0 if hit is None or k in hit else c.u(0.1, 0.3)
        c.emf.append(1e4 * c.z * share * peak / surge * shape * (-1 if size < 0 else 1))
        c.rl(bus[k], -1, 1e4 * c.z, 0, len(c.emf) - 1)
        c.rc(bus[k], -1, surge, 3e-5 / surge)


def arresters(c, nodes, level):
    """Surge arresters to earth, that conduct from level pu of the crest on."""
    for n in nodes:
        c.add(ARC, n, -1, (level * c.un * math.sqrt(2 / 3), 0.2 / c.z, 1e-4 * 1e-4 / c.z))


@kind("network")
def lightning_impulse(c):
    """An induced or conducted stroke without flashover: a unipolar pulse of microseconds, nothing afterwards."""
    c.plan("lv mv hv", (0.2, 0.8), rates=(8000, 20000), dt=4e-6)
    bus, incomer = grid(c)
    c.load(bus, 0.3)
    arresters(c, bus, c.u(2.0, 2.8))
    stroke(c, bus, c.t0, c.lu(0.3, 3) * (1 if c.chance(0.5) else -1), None if c.chance(0.6) else [0])
    c.meter(bus, incomer)
    c.simulate()
    why = f"a pulse of {c.jump:.2f} pu, no change of RMS"
    return c.verdict("lightning", c.jump > 0.3, why, also=["switching", UNKNOWN], extra=TRANSIENT, none_ok=c.jump < 0.2)


@kind("network")
def ferroresonance(c):
    """One or two poles of a cable with an unloaded transformer are open: its iron rings with the capacitance."""
    c.plan("mv", (0.8, 3), rates=(3200, 12800), dt=10e-6, pp=0.2)
    bus, _ = grid(c, "solid")
    head, sw = c.breaker(bus)
    size = c.lu(0.01, 0.03)
    i = c.nodes()
    br = c.rl(head, i, 0.02 * c.z, 0.1 * c.ls)
    c.rc(i, -1, 0.1 * c.z, c.u(0.05, 0.4) * size * c.sref / (c.w * c.un**2))
    c.magnetising(i, size, False, 0, sat=0.3)
    arresters(c, i, c.u(2.0, 2.8))
    order = [int(q) for q in c.rng.permutation(sw)]
    c.at(c.t0, order[: c.pick([1, 2])], OPEN)
    if c.chance(0.5):
        c.at(c.t0 + c.u(0.4, 0.8) * (c.length - c.t0), order, CLOSE)
    c.meter(i, br)
    c.simulate()
    why = f"distorted overvoltage of the open phases up to {c.high:.2f} pu"
    extra = [*TRANSIENT, *POWER, "unbalance", "sag", "swell", "interruption", *RVC]
    return c.verdict(
        "ferroresonance", False, why, also=[TRANSFORMER, "broken conductor", "open phase"], extra=extra, caveat=None
    )


@kind("network")
def broken_neutral(c):
    """The neutral of a low-voltage service opens: light phases rise, heavy ones fall, phase to phase nothing."""
    c.plan("lv", (0.4, 5), rates=(1600, 12800), dt=30e-6, pp=0.0)
    c.pp = False
    bus, _ = grid(c)
    inside, n = c.nodes(), c.nodes(1)[0]
    i = c.rl(bus, inside, 0.3 * c.rs, 0.1 * c.ls)
    sw = c.switch(n, -1, True, c.on)
    for k in range(3):
        z = c.un**2 / (c.sref * c.lu(0.04, 0.4))
        c.rl(inside[k], n, z, 0.1 * z / c.w)
    c.rl(n, -1, c.un**2 / c.sref * c.lu(8, 80), 0)
    c.at(c.t0, sw, OPEN)
    c.meter(inside, i, n)
    c.simulate()
    change = max(c.dip, c.rise)
    why = f"phases move apart by {change:.2f}, phase to phase they stay"
    return c.verdict(
        "broken neutral", change > 0.08, why, extra=["unbalance", *RVC], also=[LOAD] if change < 0.05 else [], t=None
    )


@kind("network")
def broken_conductor(c):
    """One phase of the feeder opens at a zero of its current; the meter is downstream, perhaps behind Dyn."""
    c.plan("mv", (0.4, 3), rates=(1600, 12800), dt=30e-6, pp=0.4)
    bus, _ = grid(c, "resistor")
    head, sw = c.breaker(bus)
    inside = c.nodes()
    i = c.rl(head, inside, 0.2 * c.rs, 0.2 * c.ls)
    c.rc(inside, -1, 0.1 * c.z, 0.002 * c.sref / (c.w * c.un**2))
    c.load(inside, c.u(0.1, 0.3))
    behind = c.chance(0.5)
    nodes, u = inside, c.un
    if behind:
        low, i = c.transformer(inside, c.un / 400, 0.4)
        c.load(low, c.u(0.05, 0.2), star=-1)
        nodes, u = low, 400
    c.at(c.t0, sw[int(c.rng.integers(3))], OPEN)
    c.meter(nodes, i)
    c.un = u
    c.simulate()
    why = "two phases lose half of their voltage for good, no fault current"
    extra = ["unbalance", "sag", "interruption", "swell"]
    return c.verdict("broken conductor", True, why, also=[FAULT], extra=extra, none_ok=False, caveat=None)


@kind("network")
def mains_signalling(c):
    """Ripple control: bursts of 175 to 1350 Hz of 1 to 4 % on three phases, nothing is wrong."""
    c.plan("lv mv", (1, 6), rates=(4000, 10000), dt=30e-6)
    bus, incomer = grid(c)
    f, size = c.pick([175, 183.3, 216.7, 316.7, 425, 1050]), c.u(0.01, 0.035)
    gate, t = np.zeros_like(c.time), c.t0
    while t < c.length:
        stop = t + c.u(0.2, 0.8)
        gate += smooth((c.time - t) / 0.01) - smooth((c.time - stop) / 0.01)
        t = stop + c.u(0.1, 0.6)
    for k in range(3):
        amps = size * c.un * math.sqrt(2 / 3) / (c.xs * f / c.f)
        c.emf.append(1e4 * c.z * amps * gate * np.sin(2 * math.pi * f * c.time - 2 * math.pi * k / 3))
        c.rl(bus[k], -1, 1e4 * c.z, 0, len(c.emf) - 1)
    c.meter(bus, incomer)
    c.simulate()
    why = "a signal of the utility, no disturbance"
    return c.verdict(
        "none", False, why, also=["mains signalling", "signalling"], extra=[*POWER, *TRANSIENT], none_ok=True
    )


@kind("none")
def harmonics_steady(c):
    """A distorted supply, 5 to 12 % throughout."""
    c.plan("lv mv", (0.3, 5))
    bus, incomer = grid(c, thd=c.u(0.055, 0.12))
    c.meter(bus, incomer)
    c.simulate()
    return c.verdict("none", False, "steady state", also=["harmonics"], extra=POWER, none_ok=True, t=False)


@kind("none")
def undisturbed(c):
    """A healthy supply; a manual or periodic capture."""
    c.plan("lv mv hv", (0.2, 10), rates=(1600, 20000), dt=40e-6)
    bus, incomer = grid(c)
    c.meter(bus, incomer)
    c.simulate()
    return c.verdict("none", False, "nothing happens", events=[], none_ok=True, t=False)


@kind("none")
def unbalance_steady(c):
    """A single-phase railway load pulls two phases down by 1 to 3 % throughout."""
    c.plan("mv hv", (0.3, 4))
    bus, incomer = grid(c)
    z = c.un**2 / (c.u(0.01, 0.03) * c.ssc)
    c.rl(bus[0], bus[1], 0.9 * z, 0.4 * z / c.w)
    c.meter(bus, incomer)
    c.simulate()
    return c.verdict("none", False, "steady state", extra=["unbalance"], events=[], none_ok=True, t=False)


# ---------------------------------------------------------------- instruments and recorders


def quiet(c, length=(0.3, 3), **plan):
    c.plan("lv mv hv", length, **plan)
    bus, incomer = grid(c)
    c.meter(bus, incomer)


@kind("recorder")
def vt_fuse(c):
    """A fuse of the voltage transformer blows: the channel is fed by its burdens from the other phases."""
    c.plan("mv hv", (0.4, 5), rates=(1600, 12800), dt=40e-6)
    bus, incomer = grid(c)
    c.meter(bus, incomer)
    pp, c.pp = c.pp, False
    c.simulate()
    ph, k = int(c.rng.integers(3)), int(c.t0 * c.fs)
    star, tie = 1.0, c.pick([0.0, c.lu(0.01, 1)])
    others = [q for q in range(3) if q != ph]
    left = (tie * c.v[others[0]] + tie * c.v[others[1]]) / (star + 2 * tie)
    fade = smooth((np.arange(c.v.shape[1]) - k) / (c.fs * c.lu(2e-4, 5e-3)))
    c.v[ph] = c.v[ph] * (1 - fade) + left * fade
    if pp:
        c.pp, c.un_channel = True, c.un
        c.v = np.array([c.v[0] - c.v[1], c.v[1] - c.v[2], c.v[2] - c.v[0]])
    c.stats()
    why = (
        "one voltage goes, the others and all currents do not move"
        if c.has_i
        else "one phase goes, the others do not move at all"
    )
    extra = ["sag", "interruption", "unbalance"]
    return c.verdict(
        "voltage transformer fuse", True, why, also=["recorder", "measurement"], extra=extra, none_ok=True, caveat=None
    )


def spoiled(
    c,
    how,
    note,
    also=(),
    caveat=True,
    extra=("sag", "swell", "interruption", *TRANSIENT, *RVC, "frequency", "DC offset"),
):
    c.simulate()
    c.spoil = how
    return c.verdict("recorder", False, note, also=also, extra=extra, none_ok=True, caveat=caveat)


@kind("recorder")
def recorder_frozen_all(c):
    """All channels stand still for 10 to 80 ms, then go on where the network is."""
    quiet(c)

    hold = c.u(0.01, 0.08)

    def held(rows):
        a = int(c.t0 * c.fs)
        for r in rows:
            r["codes"][a : a + int(hold * c.fs)] = r["codes"][a]

    return spoiled(c, held, "equal samples on every channel: the recorder")


@kind("recorder")
def recorder_frozen_one(c):
    """One voltage channel stands still for 20 ms up to the end."""
    quiet(c)
    hold, ch = c.pick([c.u(0.02, 0.2), 99]), int(c.rng.integers(3))

    def held(rows):
        a = int(c.t0 * c.fs)
        b = min(a + int(hold * c.fs), len(rows[ch]["codes"]))
        rows[ch]["codes"][a:b] = rows[ch]["codes"][a]

    return spoiled(c, held, "equal samples on one channel, currents undisturbed")


@kind("recorder")
def recorder_lost_samples(c):
    """3 to 60 ms are left out without a trace: the phase of all channels jumps."""
    quiet(c)
    gone = c.u(0.003, 0.06)

    def cut(rows):
        a = int(c.t0 * c.fs)
        for r in rows:
            r["codes"] = np.delete(r["codes"], slice(a, a + int(gone * c.fs)))

    note = "a jump of all voltages and currents by one time: lost samples, or a jump of the angle"
    return spoiled(c, cut, note, also=["network switching", "switching"], caveat=None)


@kind("recorder")
def recorder_clipped_voltage(c):
    """A temporary overvoltage beyond the range of the converter (load rejection far away, resonance)."""
    c.plan("lv mv", (0.4, 2), rates=(1600, 12800))
    t = np.maximum(c.time - c.t0, 0)
    size = c.u(0.25, 0.6)
    mag = 1 + size * (smooth(t / 0.005) - smooth((t - c.u(0.3, 0.7) * (c.length - c.t0)) / 0.01))
    bus, incomer = grid(c, mag=mag)
    c.meter(bus, incomer)
    c.simulate()
    c.clip_v = c.un_channel * math.sqrt(2) * (1 + size) * c.u(0.8, 0.93)
    why = "samples stand at full scale; what raised the voltage is not in the record"
    return c.verdict(
        "recorder",
        False,
        why,
        also=[LOAD, "frequency", "load rejection"],
        extra=["harmonics"],
        none_ok=False,
        caveat=True,
    )


@kind("recorder")
def recorder_clipped_current(c):
    """A fault on the metered feeder with currents beyond the range."""
    phases = c.pick(["A", "B", "AB", "BC", "ABC"])
    place, _, own = short_circuit(c, phases, len(phases) == 1, "solid", "mv hv", near=0.5)
    c.has_i = True
    c.ibranches = place["i"] if own else c.ibranches
    c.simulate()
    own_peak = float(np.abs(c.i).max())
    c.clip_i = own_peak * c.u(0.4, 0.8) if own else 0
    c.phases = phases if own else ""
    truth = fault_truth(c, [b for p, b in zip("ABC", place["cb"], strict=True) if p in phases], own)
    return truth | {"caveat": bool(own)}


@kind("recorder")
def recorder_spike(c):
    """One to three wrong samples on one channel (electromagnetic interference in the input)."""
    quiet(c)
    ch, width, size = int(c.rng.integers(3)), c.pick([1, 1, 2, 3]), c.u(0.3, 1.0) * (1 if c.chance(0.5) else -1)

    def hit(rows):
        a, r = int(c.t0 * c.fs), rows[ch]
        add = size * c.un_channel * math.sqrt(2) / (r["high"] and np.abs(c.v[ch]).max()) * np.abs(r["codes"]).max()
        r["codes"][a : a + width] = np.clip(r["codes"][a : a + width] + int(add), r["low"], r["high"])

    note = "samples of one channel only, no network does this"
    return spoiled(c, hit, note, caveat=None, extra=[*TRANSIENT, "notching"], also=["lightning", "switching"])


def build(name, seed):
    c = Case(name, seed)
    return c, KINDS[name][0](c) | {"family": KINDS[name][1], "seed": seed}
