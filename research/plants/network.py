"""Three-phase parts of networks and plants, put into a circuit."""

from math import pi, sqrt

import numpy as np
from solver import Arc, Circuit, Core, Motor, close, open_at_zero

PHASES = "ABC"


class Network(Circuit):
    def __init__(self, rng, step, frequency):
        super().__init__(step, frequency)
        self.rng = rng
        self.omega = 2 * pi * frequency
        self.events = []

    def at(self, time, action):
        self.events.append((time, action))

    def grid(
        self,
        volts,
        power,
        ratio=10.0,
        zero=1.0,
        neutral="solid",
        harmonics=(),
        shift=None,
        scale=None,
        extra=None,
        angle=None,
        surge=True,
    ):
        """An EMF behind its impedance; `neutral` is solid, isolated, ("ohms", R) or ("henry", L)."""
        emf = self.bus()
        bus = self.bus()
        star = -1 if neutral == "solid" else self.node()
        if neutral == "isolated":
            self.resistor(star, -1, 1e6)
        elif neutral != "solid":
            kind, value = neutral
            if kind == "ohms":
                self.resistor(star, -1, value)
            else:
                self.branch([star], [-1], [[value * self.omega / 40]], [[value]])
        peak = volts * sqrt(2 / 3)
        angle = self.rng.uniform(0, 2 * pi) if angle is None else angle
        self.angle = angle
        for phase, node in enumerate(emf):
            number = self.source(node, star)
            turn = angle - phase * 2 * pi / 3

            def wave(t, turn=turn, phase=phase):
                total = self.omega * t + turn + (0 if shift is None else shift(t))
                value = np.cos(total)
                for order, size, lag in harmonics:
                    value = value + size * np.cos(order * total + lag)
                if scale is not None:
                    value = value * scale(t)
                if extra is not None:
                    value = value + extra(t, phase)
                return peak * value

            orders = {1: peak * np.exp(1j * turn)}
            orders |= {order: peak * size * np.exp(1j * (order * turn + lag)) for order, size, lag in harmonics}
            self.waves[number] = (wave, orders)
        x1 = volts**2 / power
        currents = self.coupled(emf, bus, x1 / ratio, x1, x1 * zero / ratio, x1 * zero)
        natural = 2 * pi * self.rng.uniform(2500, 7000)
        farads = self.omega / (x1 * natural**2) if surge else 2e-9
        for node in bus:
            self.capacitor(node, -1, farads)
            if surge:  # the surge impedance of all that is connected damps what switching leaves
                foot = self.node()
                self.resistor(node, foot, natural / self.omega * x1 * 1.2)
                self.capacitor(foot, -1, 3 * farads)
        return bus, currents

    def coupled(self, a, b, r1, x1, r0, x0):
        """A balanced three-phase impedance, of its sequence values in ohms."""
        own, mutual = np.eye(3), (np.ones((3, 3)) - np.eye(3))
        resistance = own * (r0 + 2 * r1) / 3 + mutual * (r0 - r1) / 3
        inductance = (own * (x0 + 2 * x1) / 3 + mutual * (x0 - x1) / 3) / self.omega
        return self.branch(a, b, resistance, inductance)

    def line(self, bus, kilometers, volts, cable=False):
        """A line of one pi section; returns its end and the currents at its beginning."""
        end = self.bus()
        if cable:
            r1, x1, r0, x0 = 0.15, 0.11, 0.7, 0.35
            c1, c0 = 0.3e-6, 0.3e-6
        elif volts > 60e3:
            r1, x1, r0, x0 = 0.06, 0.4, 0.25, 1.2
            c1, c0 = 9e-9, 6e-9
        else:
            r1, x1, r0, x0 = 0.25, 0.36, 0.45, 1.5
            c1, c0 = 10e-9, 5e-9
        values = [value * kilometers * self.frequency / 50 for value in (r1, x1, r0, x0)]
        currents = self.coupled(bus, end, values[0], values[1], values[2], values[3])
        for nodes in (bus, end):
            for phase in range(3):
                self.capacitor(nodes[phase], -1, c0 * kilometers / 2)
                if c1 > c0:
                    self.capacitor(nodes[phase], nodes[(phase + 1) % 3], (c1 - c0) / 3 * kilometers / 2)
        return end, currents

    def cable_capacitance(self, bus, farads):
        for node in bus:
            self.capacitor(node, -1, farads)

    def breaker(self, bus, closed=True):
        end = self.bus()
        numbers = [self.switch(a, b, closed) for a, b in zip(bus, end, strict=True)]
        for node in end:
            self.capacitor(node, -1, 1e-9)
        return end, numbers

    def meter(self, bus):
        """A short piece of bus whose currents can be measured."""
        end = self.bus()
        small = np.eye(3)
        return end, self.branch(bus, end, small * 1e-5, small * 1e-7)

    def transformer(self, bus, high, low, power, short=0.06, loss=0.01, group="Dyn", cores=True, residual=(0, 0, 0)):
        """From `bus` (high side) to a new bus; the star side is grounded when its letter is followed by n."""
        inner = self.bus()
        end = self.bus()
        delta_high = group[0] == "D"
        delta_low = "d" in group
        winding_high = high if delta_high else high / sqrt(3)
        winding_low = low if delta_low else low / sqrt(3)
        star_high = -1 if group.startswith("YN") else self.node()
        star_low = -1 if "yn" in group else self.node()
        knee = 1.2 * winding_high * sqrt(2) / self.omega
        base = winding_high**2 / (power / 3)
        for phase in range(3):
            ahead = (phase + 1) % 3
            p, q = (bus[phase], bus[ahead]) if delta_high else (bus[phase], star_high)
            s, t = (inner[phase], inner[ahead]) if delta_low else (inner[phase], star_low)
            self.ideal.append((p, q, s, t, winding_high / winding_low))
            self.resistor(p, q, base * 400)
            if cores:
                self.cores.append(
                    Core(p, q, base * 200 / self.omega, base * 0.3 / self.omega, knee, residual[phase] * knee / 1.2)
                )
        x = low**2 / power * short
        currents = self.coupled(inner, end, low**2 / power * loss, x, low**2 / power * loss, x)
        for node in end:
            self.capacitor(node, -1, 1e-9)
        return end, currents

    def load(self, bus, watts, vars_, volts, grounded=False, phases=(0, 1, 2), between=False):
        """Resistance and inductance in series, in star, or between two phases."""
        star = -1 if grounded else self.node()
        ends = [(bus[phase], star) for phase in phases]
        if between:
            ends = [(bus[phases[0]], bus[phases[1]])]
        impedance = volts**2 / complex(watts, -vars_)
        for a, b in ends:
            self.resistor(a, b, abs(impedance) * 15)
            self.branch([a], [b], [[impedance.real]], [[impedance.imag / self.omega]])

    def bank(self, bus, vars_, volts, reactor=0.0, grounded=False, inductance=20e-6, quality=30.0):
        """Capacitors in star behind their reactor (a share of their impedance) or stray inductance."""
        farads = vars_ / volts**2 / self.omega
        henry = reactor / (self.omega**2 * farads) if reactor else inductance
        star = -1 if grounded else self.node()
        nodes = self.bus()
        own = np.eye(3)
        resistance = sqrt(henry / farads) / quality
        currents = self.branch(bus, nodes, own * resistance, own * henry)
        for node in nodes:
            self.capacitor(node, star, farads)
            self.resistor(node, star, 300 / (self.omega * farads))
        return currents

    def motor(self, bus, power, volts, inertia, load, fan=True, running=False, star_bus=None):
        """An induction motor; with `star_bus`, it can run with its windings in star on that bus."""
        rng = self.rng
        base = volts**2 / power
        x, xm = rng.uniform(0.075, 0.11), rng.uniform(2.8, 4.0)
        rs, rr = rng.uniform(0.01, 0.025), rng.uniform(0.012, 0.025)
        lm, ls = xm * base / self.omega, (xm + x) * base / self.omega
        transient = ls - lm**2 / ls
        resistance = base * (rs + rr * (lm / ls) ** 2)
        groups, inputs = [], []
        own = np.eye(3)
        for nodes, factor in ((bus, 1.0), (star_bus, 3.0)):
            if nodes is None:
                continue
            star = self.node()
            inner = self.bus()
            inputs.append([self.source(node, star) for node in inner])
            for number in inputs[-1]:
                self.waves[number] = (np.zeros_like, {})
            groups.append(self.branch(nodes, inner, own * resistance * factor, own * transient * factor))
        machine = Motor(
            branches=groups,
            inputs=inputs,
            rs=rs * base,
            ls=ls,
            lm=lm,
            lr=ls,
            rr=rr * base,
            deep_bar=rng.uniform(0.8, 2.0),
            inertia=2 * inertia * power / self.omega**2,
            rated_torque=power / self.omega,
            load=load,
            fan=fan,
            synchronous=self.omega,
            speed=self.omega * (1 - 0.7 * rr) if running else 0.0,
        )
        if star_bus is not None:
            machine.scale = 3.0
        self.motors.append(machine)
        return machine

    def fault(self, bus, phases, ground=True, ohms=0.0, ground_ohms=1e-3, arc_volts=None, amperes=200.0):
        """Switches that make a fault, by phase; the last grounds it. Their currents are probed."""
        common = self.node()
        numbers = {}
        for phase in phases:
            foot = self.node()
            numbers[phase] = self.switch(bus[phase], foot, False)
            if arc_volts is None:
                self.resistor(foot, common, max(ohms, 1e-3))
            else:
                middle = self.node()
                current = self.branch([foot], [middle], [[max(ohms, 1e-3)]], [[2e-6]])
                number = self.source(middle, common)
                self.waves[number] = (np.zeros_like, {})
                self.arcs.append(Arc(current[0], number, arc_volts, amperes))
        earth = self.node()
        ground_switch = self.switch(common, earth, ground)
        self.resistor(earth, -1, ground_ohms)
        return numbers, ground_switch

    def trip(self, time, breaker, spread=0.0):
        """Open the poles of a breaker, each at its own zero of current."""
        for number in breaker:
            self.at(time + self.rng.uniform(0, spread), open_at_zero(number))

    def make(self, time, breaker, spread=0.0):
        for number in breaker:
            self.at(time + (self.rng.uniform(0, spread) if spread else 0.0), close(number))
