"""The kinds of captures: see KINDS.md."""

from math import pi, sqrt

import numpy as np
from network import PHASES
from solver import fire, open_at_zero

KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


# Faults


def feeder_fault(s, count, ground, clearing, resistance=None, neutral=None, **opening):
    """A fault on one feeder of a medium-voltage bus, opened by its breaker after `clearing` cycles."""
    s.open(clearing + s.u(6, 15), **opening)
    bus = s.medium(neutral)
    end, breaker = s.feeder(bus, s.u(0.3, 6))
    s.add_fault(end, count, s.begin, ground, resistance)
    s.trip(breaker, s.begin + clearing * s.cycle)
    return bus, end, breaker


@kind
def fault_one_phase(s):
    feeder_fault(s, 1, True, s.u(3, 15), neutral=s.pick("solid", "solid", ("ohms", s.u(5, 40))))


@kind
def fault_two_phases(s):
    feeder_fault(s, 2, False, s.u(3, 12))


@kind
def fault_two_phases_ground(s):
    """High-voltage line, distance protection."""
    clearing = s.pick(s.u(2.5, 6), s.u(15, 25))
    s.open(clearing + s.u(5, 12))
    bus = s.high()
    end, breaker = s.feeder(bus, s.u(3, 60), cable=False)
    s.add_fault(end, 2, s.begin, True, s.u(0.1, 4))
    s.trip(breaker, s.begin + clearing * s.cycle)


@kind
def fault_three_phases(s):
    """Medium voltage; in some records the current transformers saturate."""
    feeder_fault(s, 3, False, s.u(3, 10))
    s.saturates = s.rng.random() < 0.35


@kind
def fault_fuse(s):
    """Low voltage: a fuse limits the current by its arc, or interrupts at a zero."""
    s.open(s.u(8, 15), fine=True)
    bus = s.low()
    end, currents = s.net.line(bus, s.u(0.02, 0.12), s.vn, True)
    part = s.power * 0.003
    s.net.load(end, part, part * 0.3, s.vn)
    s.measure_currents(currents, 0.6)
    limit = s.pick(0.0, s.vn * s.u(0.9, 1.5))
    melted = s.begin + s.u(0.1, 0.5 if limit else 2.0) * s.cycle
    rest = s.vn * s.u(0.02, 0.06)
    count = s.pick(1, 1, 2, 3)
    switches = s.add_fault(end, count, s.begin, s.rng.random() < 0.6 or count == 1, s.u(0.002, 0.02))
    for arc in s.net.arcs:
        arc.volts = lambda t: rest + (limit * min(1.0, (t - melted) / 0.0007) if t > melted else 0.0)
        arc.amperes = max(arc.amperes, limit / 4)
    s.net.trip(melted + (0.0003 if limit else 0.0), switches.values())


@kind
def fault_through_transformer(s):
    """A fault at a higher voltage, recorded below one or two transformers."""
    clearing = s.pick(s.u(3, 7), s.u(10, 25))
    s.open(clearing + s.u(6, 12))
    from_high = s.rng.random() < 0.6
    bus = s.high() if from_high else s.medium()
    count, ground = s.pick((1, True), (1, True), (2, False), (2, True), (3, False))
    end, breaker = s.feeder(bus, s.u(2, 40) if from_high else s.u(0.5, 5), measured=False)
    s.add_fault(end, count, s.begin, ground)
    s.trip(breaker, s.begin + clearing * s.cycle)
    s.status = []
    source = s.vn
    levels = [s.pick(10e3, 20e3, 33e3), 400.0] if from_high else [s.pick(400.0, 690.0)]
    if from_high and s.rng.random() < 0.4:
        levels = levels[:1]
    for low in levels:
        size = s.power * s.u(0.02, 0.06) if low > 1000 else s.u(0.4e6, 2e6)
        group = "YNd" if low > 1000 and s.rng.random() < 0.4 else "Dyn"
        bus, currents = s.net.transformer(bus, source, low, size, s.u(0.05, 0.12), group=group, cores=False)
        s.net.cable_capacitance(bus, 50e-9)
        source, s.vn = low, low
        s.net.load(bus, size * s.u(0.2, 0.5), size * 0.15, low, grounded=low < 1000)
    if group == "YNd":
        s.net.branch(bus, [s.net.node()] * 3, np.eye(3) * 1e4, np.eye(3) * 1.0)
    s.watch(bus, currents)
    s.faulted_bus = False


@kind
def fault_evolving(s):
    clearing = s.u(6, 15)
    s.open(clearing + s.u(6, 12))
    bus = s.medium("solid")
    end, breaker = s.feeder(bus, s.u(0.3, 5))
    phases = s.choose_phases(s.pick(2, 3, 3))
    s.rng.shuffle(phases)
    switches = s.add_fault(end, len(phases), None, True, phases=phases)
    moment = s.begin
    for phase in phases:
        s.net.make(moment, [switches[phase]])
        moment += s.u(0.8, 2.5) * s.cycle
    s.phases = "".join(sorted(s.phases))
    s.trip(breaker, s.begin + clearing * s.cycle)


@kind
def fault_reclosing(s):
    """The breaker recloses after the arc is gone, or onto the fault."""
    clearing, dead = s.u(3, 7), s.u(15, 30)
    fails = s.rng.random() < 0.5
    s.open(clearing * 2 + dead + s.u(8, 15), slow=s.rng.random() < 0.5)
    bus = s.medium("solid")
    end, breaker = s.feeder(bus, s.u(0.5, 6), load=0.02, cable=False)
    switches = s.add_fault(end, s.pick(1, 1, 2, 3), s.begin)
    opened = s.begin + clearing * s.cycle
    s.trip(breaker, opened)
    closed = opened + dead * s.cycle
    s.net.make(closed, breaker, 0.002)
    if fails:
        s.net.trip(closed + s.u(3, 6) * s.cycle, breaker, 0.002)
        s.keeps_clear = False
    else:
        s.net.trip(opened + 3 * s.cycle, switches.values())


@kind
def fault_lockout(s):
    """Recorded behind the breaker that opens: a fault, then no voltage."""
    clearing = s.u(2.5, 10)
    s.open(clearing + s.u(10, 25))
    bus = s.medium("solid")
    after, breaker = s.net.breaker(bus)
    s.net.cable_capacitance(after, 0.2e-6)
    place, currents = s.net.meter(after)
    s.watch(place, currents)
    part = s.power * s.u(0.01, 0.04)
    s.net.load(place, part, part * 0.4, s.vn)
    end, _ = s.net.line(place, s.u(0.5, 6), s.vn)
    s.add_fault(end, s.pick(1, 2, 3), s.begin)
    s.trip(breaker, s.begin + clearing * s.cycle)


def compensated(s, tuned):
    """A network of cables whose star point is isolated, or grounded by a coil. Returns the bus and its capacitance."""
    s.has_currents = s.has_currents and s.rng.random() < 0.5
    total = s.u(2e-6, 12e-6)
    neutral = "isolated" if tuned is None else ("henry", 1 / (3 * (2 * pi * s.frequency) ** 2 * total * tuned))
    bus = s.medium(neutral, zero=1.0, surge=False)
    after, currents = s.net.meter(bus)
    own = total * s.u(0.05, 0.4)  # of the faulted feeder; the rest is that of the others
    s.net.cable_capacitance(after, own)
    s.net.cable_capacitance(bus, total - own)
    for node in after:
        s.net.resistor(node, -1, 40 / (total * 2 * pi * s.frequency))
    s.measure_currents(currents, 0.5)
    return after


@kind
def earth_fault_isolated(s, ohms=60):
    s.open(s.u(12, 40), fine=True)
    bus = compensated(s, None)
    switches = s.add_fault(bus, 1, s.begin, True, s.u(0.1, ohms))
    if s.rng.random() < 0.4:
        s.net.trip(s.begin + s.u(4, 15) * s.cycle, switches.values())
    else:
        s.keeps_clear = False
    s.more_events = ["transient", "unbalance"]


@kind
def earth_fault_compensated(s):
    """The arc goes out at a zero of its current; in some records it strikes again."""
    s.open(s.u(20, 50), fine=True)
    bus = compensated(s, s.u(0.9, 1.1))
    switches = s.add_fault(bus, 1, s.begin, True, s.u(1, 50))
    numbers = list(switches.values())
    moment = s.begin
    strikes = s.pick(1, 1, 3)
    for _ in range(strikes):
        s.net.make(moment, numbers)
        moment += s.u(1, 6) * s.cycle
        s.net.trip(moment, numbers)
        moment += s.u(1, 3) * s.cycle
    s.keeps_clear = strikes == 1
    s.more_events = ["transient", "unbalance"]


@kind
def fault_with_motors(s):
    """After the fault the motors of a plant accelerate again, and hold the voltage down."""
    clearing = s.u(5, 14)
    s.open(clearing + s.u(25, 60), slow=True)
    bus = s.medium("solid")
    end, breaker = s.feeder(bus, s.u(0.5, 3), measured=False)
    s.add_fault(end, s.pick(1, 2, 3, 3), s.begin, True, s.vn**2 / s.power * s.u(0.02, 0.2))
    s.trip(breaker, s.begin + clearing * s.cycle)
    size = s.u(2e6, 8e6)
    low = s.pick(3300.0, 690.0, 6000.0)
    plant, currents = s.net.transformer(bus, s.vn, low, size, s.u(0.06, 0.1), cores=False)
    s.vn = low
    s.net.cable_capacitance(plant, 0.1e-6)
    s.net.load(plant, size * 0.15, size * 0.05, low, grounded=True)
    for share in (s.u(0.2, 0.35), s.u(0.1, 0.2)):
        s.net.motor(plant, size * share, low, s.u(0.2, 0.7), 0.7, running=True)
    s.watch(plant, currents)
    s.faulted_bus = False


@kind
def fault_cut(s):
    """The capture begins, or ends, within the fault."""
    if s.rng.random() < 0.5:
        cut_start(s)
    else:
        cut_end(s)


def cut_start(s):
    within, before = s.u(1.5, 6), s.u(0.5, 3)
    s.open(within + s.u(6, 15))
    s.duration -= s.begin
    s.begin = -before * s.cycle
    s.lead = before * s.cycle + 0.03
    bus = s.medium()
    end, breaker = s.feeder(bus, s.u(0.3, 6))
    s.add_fault(end, s.pick(1, 2, 3), s.begin)
    s.trip(breaker, within * s.cycle)


def cut_end(s):
    s.open(s.u(1.5, 8))
    bus = s.medium()
    end, _ = s.feeder(bus, s.u(0.3, 6))
    s.add_fault(end, s.pick(1, 2, 3), s.begin)


@kind
def fault_generation(s):
    """The far end of the faulted line feeds the fault until it opens as well."""
    first, second = s.u(3, 7), s.u(4, 14)
    s.open(max(first, second) + s.u(6, 12))
    bus = s.medium("solid")
    angle = s.net.angle
    middle, breaker = s.feeder(bus, s.u(1, 6), load=0, cable=False, measured=True)
    far, _ = s.net.line(middle, s.u(1, 6), s.vn)
    local, other = s.net.breaker(far)
    size = s.power * s.u(0.05, 0.2)
    plant, flow = s.net.grid(
        s.vn * 1.02, size, ratio=20, neutral=s.pick("solid", "isolated"), angle=angle + s.u(0, 0.2)
    )
    tied, _ = s.net.meter(plant)
    for a, b in zip(local, tied, strict=True):
        s.net.resistor(a, b, 1e-3)
    s.net.load(local, size * 0.3, size * 0.1, s.vn)
    if s.rng.random() < 0.4:
        s.watch(local, flow)
    s.add_fault(middle, s.pick(1, 2, 3), s.begin)
    s.trip(breaker, s.begin + first * s.cycle)
    s.net.trip(s.begin + second * s.cycle, other, 0.002)


# Motors


def start_motor(s, cycles):
    s.cause = "motor start"
    s.open(cycles, slow=True)


@kind
def motor_direct(s):
    start_motor(s, s.u(30, 120))
    bus = s.low(s.u(4e6, 20e6)) if s.rng.random() < 0.5 else s.medium(zero=1.0)
    after, breaker = s.net.breaker(bus, False)
    end, currents = s.net.meter(after)
    s.measure_currents(currents, 0.4)
    s.net.motor(end, s.power * s.u(0.006, 0.035), s.vn, s.u(0.1, 0.6), s.u(0.2, 0.6), s.rng.random() < 0.7)
    s.net.make(s.begin, breaker, 0.001)


@kind
def motor_behind_transformer(s):
    """The start of a motor at lower voltage, recorded above its transformer."""
    start_motor(s, s.u(30, 100))
    bus = s.medium(power=s.u(60e6, 200e6))
    size = s.power * s.u(0.03, 0.08)
    top, currents = s.net.meter(bus)
    volts = s.pick(690.0, 3300.0)
    low, _ = s.net.transformer(top, s.vn, volts, size, cores=False)
    s.net.load(low, size * 0.2, size * 0.08, volts, grounded=True)
    after, breaker = s.net.breaker(low, False)
    s.net.motor(after, size * s.u(0.2, 0.45), volts, s.u(0.1, 0.4), s.u(0.2, 0.5))
    s.net.make(s.begin, breaker, 0.001)
    s.measure_currents(currents, 0.5)


@kind
def motor_reduced(s):
    """Star-delta, or thyristors that advance."""
    s.only_currents = True
    if s.rng.random() < 0.5:
        star_delta(s)
    else:
        soft_start(s)


def star_delta(s):
    start_motor(s, s.u(70, 120))
    bus = s.low(s.u(4e6, 12e6))
    before, currents = s.net.meter(bus)
    s.measure_currents(currents, 0.6)
    delta, main = s.net.breaker(before, False)
    star, first = s.net.breaker(before, False)
    motor = s.net.motor(delta, s.power * s.u(0.015, 0.04), s.vn, s.u(0.1, 0.25), s.u(0.1, 0.25), star_bus=star)
    s.net.make(s.begin, first)
    opened = s.begin + s.u(30, 50) * s.cycle
    s.net.trip(opened, first)
    joined = opened + s.u(0.03, 0.07)

    def reconnect(*_):
        motor.scale = 1.0
        motor.flux = motor.flux / sqrt(3) * np.exp(-1j * pi / 6)  # a winding is now between two phases

    s.net.at(joined, reconnect)
    s.net.make(joined, main)


def soft_start(s):
    """Thyristors that are fired earlier and earlier, by trains of pulses."""
    ramp = s.u(30, 70)
    start_motor(s, ramp + s.u(10, 30))
    bus = s.low(s.u(4e6, 12e6))
    angle = s.net.angle
    before, currents = s.net.meter(bus)
    s.measure_currents(currents, 0.6)
    after, thyristors = s.net.breaker(before, False)
    s.net.motor(after, s.power * s.u(0.02, 0.05), s.vn, s.u(0.06, 0.2), s.u(0.1, 0.3))
    first, last, end = s.u(80, 100), s.u(25, 45), s.begin + ramp * s.cycle
    for phase, number in enumerate(thyristors):
        s.net.switches[number].thyristors = True
        half = (phase * 2 * pi / 3 - pi / 2 - angle) % (2 * pi) / (2 * pi) * s.cycle - 10 * s.cycle
        sign = 1
        while half < end:
            delay = first + (last - first) * max(0.0, half - s.begin) / (end - s.begin)
            for pulse in range(int(delay), 165, 12):
                moment = half + pulse / 360 * s.cycle
                if s.begin < moment < end:
                    s.net.at(moment, fire(number, sign))
            half += s.cycle / 2
            sign = -sign
    s.more_events = ["notching", "harmonics", "transient"]

    def bypass(circuit, _):
        for number in thyristors:
            circuit.switches[number].thyristors = False
            circuit.switches[number].closed = True

    s.net.at(end, bypass)


@kind
def motor_several(s):
    start_motor(s, s.u(60, 140))
    bus = s.low(s.u(6e6, 20e6)) if s.rng.random() < 0.5 else s.medium(zero=1.0)
    before, currents = s.net.meter(bus)
    s.measure_currents(currents, 0.5)
    moment = s.begin
    for _ in range(s.pick(2, 2, 3)):
        after, breaker = s.net.breaker(before, False)
        s.net.motor(after, s.power * s.u(0.006, 0.02), s.vn, s.u(0.1, 0.4), s.u(0.2, 0.5))
        s.net.make(moment, breaker, 0.001)
        moment += s.pick(0.0, s.u(5, 25), s.u(5, 25)) * s.cycle


# Transformers


def energise(s, bus, part, loaded=0.0, spread=0.003):
    s.cause = "transformer energising"
    after, breaker = s.net.breaker(bus, False)
    end, currents = s.net.meter(after)
    s.measure_currents(currents, 0.5)
    remaining = s.u(0, 0.75)
    turn = s.u(0, 2 * pi)
    residual = [remaining * np.cos(turn - phase * 2 * pi / 3) for phase in range(3)]
    size = s.power * part
    low = s.pick(400.0, 3300.0) if s.vn < 50e3 else 20e3
    group = s.pick("Dyn", "Dyn", "YNd") if s.vn > 50e3 else "Dyn"
    bottom, _ = s.net.transformer(end, s.vn, low, size, s.u(0.05, 0.1), group=group, residual=residual)
    star = s.net.node()
    for node in bottom:
        s.net.resistor(node, star, low**2 / size * 2000)
    if loaded:
        s.net.load(bottom, size * loaded, size * loaded * s.u(0.2, 0.5), low, grounded=low < 1000)
    s.net.make(s.begin, breaker, spread)
    s.more_events = ["harmonics", "unbalance"]
    return bottom


@kind
def transformer_energised(s):
    """From residual flux; without load, or as a feeder comes back with its load."""
    if s.rng.random() < 0.6:
        transformer_without_load(s)
    else:
        transformer_loaded(s)


def transformer_without_load(s):
    s.open(s.u(15, 45))
    bus = s.high() if s.rng.random() < 0.3 else s.medium(zero=1.0)
    energise(s, bus, 0.015 * 10 ** s.u(0, 1))


def transformer_loaded(s):
    s.open(s.u(15, 40))
    bus = s.medium(zero=1.0)
    energise(s, bus, 0.015 * 10 ** s.u(0, 1), loaded=s.u(0.2, 0.6))
    s.also = ["load switching"]


@kind
def transformer_sympathetic(s):
    """The inrush saturates a transformer in service as well."""
    s.open(s.u(25, 50))
    bus = s.medium(zero=1.0, ratio=s.u(3, 8))
    size = s.power * s.u(0.04, 0.1)
    top, currents = s.net.meter(bus)
    low, _ = s.net.transformer(top, s.vn, 400.0, size, residual=(0, 0, 0))
    s.net.load(low, size * 0.2, size * 0.08, 400.0, grounded=True)
    energise(s, bus, s.u(0.05, 0.15))
    s.measure_currents(currents, 0.4)


# Capacitors


def capacitors(s, cycles, before=None):
    s.cause = "capacitor switching"
    s.open(cycles, before, fine=True)
    s.more_events = ["transient"]
    s.also = []


def close_bank(s, bus, vars_, spread=0.001, **bank):
    after, breaker = s.net.breaker(bus, False)
    currents = s.net.bank(after, vars_, s.vn, **bank)
    s.oscillation = s.frequency * sqrt(s.power / vars_)
    s.measure_currents(currents, 0.4)
    s.net.make(s.begin, breaker, spread)


@kind
def capacitor_isolated(s):
    """Poles close together, or up to half a cycle apart."""
    capacitors(s, s.u(5, 15))
    bus = s.medium()
    spread = s.pick(0.001, 0.001, 0.008)
    close_bank(s, bus, s.power * s.u(0.006, 0.04), spread, grounded=s.rng.random() < 0.5, quality=s.u(15, 50))


@kind
def capacitor_back_to_back(s):
    capacitors(s, s.u(5, 12))
    bus = s.medium()
    vars_ = s.power * s.u(0.01, 0.03)
    s.net.bank(bus, vars_ * s.u(0.7, 1.5), s.vn, inductance=s.u(20e-6, 100e-6), quality=10)
    close_bank(s, bus, vars_, inductance=s.u(20e-6, 100e-6), quality=10)
    s.oscillation = s.frequency * sqrt(s.power / (2 * vars_))


@kind
def capacitor_below(s):
    """Closed at medium voltage, recorded at low voltage, with capacitors there in some."""
    capacitors(s, s.u(5, 12))
    bus = s.medium()
    close_bank(s, bus, s.power * s.u(0.006, 0.04))
    size = s.u(0.4e6, 2e6)
    low, currents = s.net.transformer(bus, s.vn, 400.0, size, cores=False)
    s.vn = 400.0
    s.net.load(low, size * s.u(0.2, 0.6), size * 0.1, s.vn, grounded=True)
    if s.rng.random() < 0.5:
        s.net.bank(low, size * s.u(0.05, 0.2), s.vn, s.pick(0.07, 0.07, 0.0), inductance=1e-6)
    s.has_currents = s.has_currents and s.rng.random() < 0.3
    s.watch(low, currents)


@kind
def capacitor_detuned(s):
    """A step of a bank with reactors at low voltage."""
    capacitors(s, s.u(6, 15))
    bus = s.low(s.u(6e6, 20e6))
    reactor = s.pick(0.0567, 0.07, 0.14)
    close_bank(s, bus, s.power * s.u(0.003, 0.015), 0.002, reactor=reactor)
    s.oscillation = s.frequency / sqrt(reactor)
    s.also = ["load switching"]


@kind
def capacitor_first_cycle(s):
    """A meter that keeps less than a cycle before its trigger."""
    capacitors(s, s.u(5, 12), before=0.0)
    s.begin = s.u(0.2, 0.9) * s.cycle
    bus = s.medium()
    close_bank(s, bus, s.power * s.u(0.006, 0.04), s.pick(0.001, 0.006))


@kind
def capacitor_off(s):
    capacitors(s, s.u(6, 15))
    s.only_currents = True
    s.also = ["load switching"]
    s.more_events = []
    bus = s.medium()
    after, breaker = s.net.breaker(bus)
    currents = s.net.bank(after, s.power * s.u(0.006, 0.04), s.vn)
    s.measure_currents(currents, 0.4)
    s.net.trip(s.begin, breaker)


# Loads


def switch_load(s, bus, part, on, **load):
    s.cause = "load switching"
    after, breaker = s.net.breaker(bus, not on)
    end, currents = s.net.meter(after)
    s.measure_currents(currents, 0.3)
    watts = s.power * part
    s.net.load(end, watts, watts * s.u(0.1, 0.9), s.vn, **load)
    if on:
        s.net.make(s.begin, breaker, 0.002)
    else:
        s.net.trip(s.begin, breaker)


@kind
def load_step(s):
    """Resistance and inductance, on or off."""
    s.open(s.u(8, 30))
    bus = s.low() if s.rng.random() < 0.5 else s.medium()
    switch_load(s, bus, s.u(0.005, 0.05), s.rng.random() < 0.5)


@kind
def load_one_phase(s):
    """Between two phases, or a phase and neutral, at low voltage: welders, heaters, ovens."""
    s.open(s.u(8, 30))
    bus = s.low(s.u(3e6, 12e6))
    if s.rng.random() < 0.5:
        switch_load(s, bus, s.u(0.005, 0.03), True, phases=s.choose_phases(2), between=True)
    else:
        switch_load(s, bus, s.u(0.005, 0.03), True, phases=s.choose_phases(1), grounded=True)


@kind
def load_shedding(s):
    """A feeder with much of the load is opened."""
    s.open(s.u(10, 30))
    bus = s.medium()
    switch_load(s, bus, s.u(0.04, 0.12), False)
    s.status += [(s.pick("UFLS STEP 1", "CB OPEN", "52B"), 0, [(s.begin + s.u(0.0, 0.02), 1)])]


# Without a name


@kind
def lightning(s):
    """A surge on a line, without flashover."""
    s.open(s.u(5, 12), fine=True)
    bus = s.medium() if s.rng.random() < 0.6 else s.high()
    end, _ = s.feeder(bus, s.u(0.3, 4), cable=False)
    peak = s.vn * s.u(1, 5) / 300
    tail, front = s.u(50e-6, 200e-6), s.u(2e-6, 10e-6)
    phases = s.choose_phases(s.pick(1, 3))
    for node in end:
        s.net.resistor(node, -1, 3e4)
    for phase in phases:
        number = s.net.injection(end[phase], -1)

        def surge(t):
            late = np.maximum(t - s.begin, 0)
            return peak * (np.exp(-late / tail) - np.exp(-late / front)) * (t > s.begin)

        s.net.injected[number] = (surge, {})
    s.more_events = ["transient"]


def quiet(s, cycles=None, **grid):
    """A network in which nothing happens."""
    s.open(s.u(10, 40) if cycles is None else cycles)
    if s.rng.random() < 0.4:
        s.low(**grid)
    else:
        s.medium(**grid)


@kind
def spikes(s):
    """A few samples of disturbance in the wiring of the recorder."""
    quiet(s)

    def hook(scene, channels):
        for channel in channels[:3]:
            if scene.rng.random() < 0.6 or channel is channels[0]:
                first = int(scene.begin * scene.rate)
                size = scene.u(0.2, 1.3) * scene.pick(-1, 1) * scene.vn * sqrt(2 / 3)
                shape = np.array([1, -0.5, 0.2, -0.1])[: int(scene.rng.integers(1, 5))]
                channel.values[first : first + shape.size] += size * shape

    s.late_hooks.append(hook)
    s.more_events = ["transient"]
    s.none_ok = True
    s.caveat = None


@kind
def phase_jump(s):
    """Switching far away turns the voltage."""
    jump = s.pick(-1, 1) * s.u(6, 25) * pi / 180
    step = s.u(-0.015, 0.015)
    s.begin = 0.0

    def shift(t):
        return jump * np.clip((t - s.begin) / 0.001, 0, 1)

    quiet(s, shift=shift, scale=lambda t: 1 + step * (t > s.begin))
    s.more_events = ["transient", "frequency"]
    s.none_ok = True


@kind
def vt_fuse(s):
    """The fuse of one voltage transformer opens: its channel fades, the network is whole."""
    quiet(s)
    s.between = False
    phase = int(s.rng.integers(3))
    rest, fade = s.u(0.0, 0.3), s.u(0.001, 0.02)

    def hook(voltages):
        t = np.arange(voltages.shape[1]) / s.rate - s.begin
        voltages[phase] *= np.where(t > 0, rest + (1 - rest) * np.exp(-np.maximum(t, 0) / fade), 1.0)
        return voltages

    s.hooks.append(hook)
    s.more_events = ["sag", "interruption", "unbalance"]
    s.none_ok = True
    s.caveat = None


@kind
def tap_changer(s):
    step = s.pick(-1, 1) * s.u(0.0125, 0.025)
    ramp = s.u(0.02, 0.06)
    quiet(s, cycles=s.u(15, 40), scale=lambda t: 1 + step * np.clip((t - s.begin) / ramp, 0, 1))


@kind
def arc_furnace(s):
    """The voltage of three arcs wanders."""
    s.open(s.u(25, 70), fine=False)
    bus = s.medium(zero=1.0)
    size = s.power * s.u(0.006, 0.02)
    end, currents = s.net.meter(bus)
    low, _ = s.net.transformer(end, s.vn, 700.0, size, s.u(0.2, 0.35), cores=False)
    s.measure_currents(currents, 0.5)
    common = s.net.node()
    grid = np.arange(-0.2, s.duration + 0.1, s.cycle / 4)
    for node in low:
        wander = np.convolve(s.rng.normal(0, 1, grid.size), np.ones(5) / 5, "same")
        wander = np.clip(1 + 0.7 * wander, 0.1, 2.2) * s.u(130, 180)
        s.add_arc(node, common, lambda t, values=wander: float(np.interp(t, grid, values)), size / 700 * 0.3)
    s.begin = 0.0
    s.also = ["load switching"]
    s.more_events = ["flicker", "harmonics", "unbalance", "rapid voltage change", "transient"]
    s.none_ok = True


@kind
def inverter_trip(s):
    """A generator with inverters stops within milliseconds."""
    s.open(s.u(10, 30))
    bus = s.low() if s.rng.random() < 0.4 else s.medium()
    angle = s.net.angle
    end, currents = s.net.meter(bus)
    s.measure_currents(currents, 0.5)
    amperes = s.power * s.u(0.01, 0.05) / s.vn / sqrt(3) * sqrt(2)
    stop = s.u(0.0005, 0.006)
    for phase, node in enumerate(end):
        number = s.net.injection(node, -1)
        turn = angle - phase * 2 * pi / 3

        def current(t, turn=turn):
            return amperes * np.cos(s.net.omega * t + turn) * (1 - np.clip((t - s.begin) / stop, 0, 1))

        s.net.injected[number] = (current, {1: amperes * np.exp(1j * turn)})
    s.also = ["load switching"]


@kind
def ripple_control(s):
    """Telegrams at 175 to 1000 Hz."""
    hertz, size = s.pick(175, 216.67, 283.33, 317, 492, 1050), s.u(0.01, 0.04)
    pulses = [(s.u(0, 0.1) + 0.25 * number, s.u(0.08, 0.18)) for number in range(6)]

    def extra(t, phase):
        gate = sum(
            np.clip((t - first) / 0.01, 0, 1) * np.clip((first + long - t) / 0.01, 0, 1) for first, long in pulses
        )
        return size * gate * np.cos(2 * pi * hertz * t - phase * 2 * pi / 3)

    quiet(s, cycles=s.u(20, 50), extra=extra)
    s.more_events = ["harmonics", "transient", "flicker"]
    s.none_ok = True


@kind
def frequency_ramp(s):
    """Too much or too little generation: the frequency leaves its band."""
    deviation = s.pick(-1, 1) * s.u(0.8, 2.5)
    length = s.u(0.4, 1.2)

    def shift(t):
        late = np.clip(t - s.begin, 0, length)
        return 2 * pi * deviation * (late**2 / (2 * length) + np.maximum(t - s.begin - length, 0))

    quiet(s, cycles=(length + s.u(0.2, 0.6)) * s.frequency, shift=shift)
    s.more_events = ["frequency"]
    s.only_these_events = True
    s.none_ok = False


@kind
def island(s):
    """A plant leaves the grid and loses most of its load: voltage and frequency rise."""
    rise, speed, lag = s.u(0.04, 0.15), s.u(0.8, 3.0), s.u(0.1, 0.4)

    def later(t):
        return np.maximum(t - s.begin, 0)

    def shift(t):
        return 2 * pi * speed * (later(t) - lag * (1 - np.exp(-later(t) / lag)))

    s.open(s.u(30, 70))
    bus = s.medium(
        ("ohms", s.u(20, 100)),
        power=s.u(20e6, 80e6),
        shift=shift,
        scale=lambda t: 1 + rise * (1 - np.exp(-later(t) / lag)),
    )
    after, breaker = s.net.breaker(bus)
    watts = s.power * s.u(0.08, 0.15)
    s.net.load(after, watts, watts * 0.3, s.vn)
    s.trip(breaker, s.begin, 0.001)
    s.also = ["load switching"]
    s.more_events = ["frequency", "rapid voltage change"]
    s.none_ok = False


@kind
def ferroresonance(s):
    """A transformer without load stays connected by one or two poles, through a cable."""
    s.open(s.u(20, 50), fine=False)
    s.has_currents = s.has_currents and s.rng.random() < 0.5
    bus = s.medium("solid", zero=1.0)
    after, breaker = s.net.breaker(bus)
    size = s.u(0.1e6, 0.6e6)
    end, currents = s.net.meter(after)
    s.net.cable_capacitance(end, size / s.vn**2 / s.net.omega * s.u(0.012, 0.05))
    low, _ = s.net.transformer(end, s.vn, 400.0, size)
    star = s.net.node()
    for node in low:
        s.net.resistor(node, star, 400.0**2 / size * 2000)
    s.watch(end, currents)
    open_poles = s.choose_phases(s.pick(1, 2))
    for pole in open_poles:
        s.net.at(s.begin, open_at_zero(breaker[pole]))
    s.more_events = ["harmonics", "unbalance", "transient"]
    s.status += [(f"POLE {PHASES[pole]} OPEN", 0, [(s.begin + 0.02, 1)]) for pole in open_poles[:1]]


@kind
def dc_drift(s):
    """The zero of an amplifier wanders."""
    quiet(s, cycles=s.u(20, 60))

    def hook(scene, channels):
        crest = channels[0].full_scale / 2
        for channel in channels[: scene.pick(1, 3)]:
            t = np.arange(channel.values.size) / channel.values.size
            channel.values += crest * scene.u(0.02, 0.15) * scene.pick(-1, 1) * t ** scene.u(0.5, 2)

    s.late_hooks.append(hook)
    s.more_events = ["DC offset"]
    s.none_ok = True
    s.caveat = None


# Errors of the recorder


def broken(s, cycles=None):
    quiet(s, cycles)
    s.caveat, s.none_ok, s.only_these_events = True, True, True


def stretch(scene, low, high):
    first = int(scene.begin * scene.rate)
    return slice(first, first + max(4, int(scene.u(low, high) * scene.rate)))


@kind
def recorder_frozen(s):
    broken(s)

    def hook(scene, channels):
        part = stretch(scene, 0.015, 0.07)
        for channel in channels:
            channel.values[part] = channel.values[part.start]

    s.late_hooks.append(hook)


@kind
def recorder_lost(s):
    """Samples are missing, and the times do not say so."""
    broken(s)

    def hook(scene, channels):
        part = stretch(scene, 0.15 * scene.cycle, 0.85 * scene.cycle)
        for channel in channels:
            channel.values = np.delete(channel.values, part)

    s.late_hooks.append(hook)
    s.more_events = ["transient"]


@kind
def recorder_missing(s):
    """A stretch marked as missing, or filled with zeros."""
    broken(s)
    marked = s.rng.random() < 0.5

    def hook(scene, channels):
        part = stretch(scene, 0.01, 0.06)
        for channel in channels:
            if marked:
                channel.missing = np.zeros(channel.values.size, dtype=bool)
                channel.missing[part] = True
            else:
                channel.values[part] = 0.0

    s.late_hooks.append(hook)


@kind
def recorder_clipped(s):
    """The phases that rise in an earth fault pass the range of the converter."""
    earth_fault_isolated(s, 5)
    s.between = False
    s.caveat = s.clips = True

    def hook(scene, channels):
        for channel in channels[:3]:
            channel.full_scale = scene.vn * sqrt(2 / 3) * 1.3

    s.late_hooks.append(hook)


@kind
def recorder_swapped(s):
    """Two channels change places within the capture."""
    broken(s)

    def hook(scene, channels):
        first = int(scene.begin * scene.rate)
        a, b = scene.choose_phases(2)
        tail = channels[a].values[first:].copy()
        channels[a].values[first:] = channels[b].values[first:]
        channels[b].values[first:] = tail

    s.late_hooks.append(hook)
    s.more_events = ["transient"]


@kind
def recorder_clock(s):
    """A fault in a file whose rate is not the true one."""
    fault_two_phases(s)
    s.file_rate = s.rate * (1 + s.pick(-1, 1) * s.u(0.02, 0.04))
    s.caveat = None
    s.keeps_clear = False
    s.more_events = ["frequency"]


@kind
def spare_inputs(s):
    """A fault, with inputs that nothing is connected to."""
    feeder_fault(s, s.pick(1, 2, 3), True, s.u(3, 10))

    def hook(scene, channels):
        like = channels[0]
        for number in range(scene.pick(2, 3, 6)):
            noise = scene.rng.normal(0, like.full_scale * 2e-5, like.values.size)
            spare = type(like)(f"{scene.pick('SPARE', 'AIN', 'RES')} {number + 7}", "", "V", noise, like.full_scale)
            channels.append(spare)

    s.late_hooks.append(hook)
