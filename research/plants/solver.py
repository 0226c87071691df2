"""Circuits in the time domain: modified nodal equations, integrated by the theta method.

Between two switchings a circuit is linear, so a step is one product of a matrix with the vector of states and inputs.
The matrices are kept per topology: which switches are closed, and which iron cores are saturated. Machines and arcs are
voltage sources whose value follows from the currents of the step before; an inductance before them keeps that stable.
"""

import cmath
from dataclasses import dataclass, field
from math import pi, tanh

import numpy as np

THETA = 0.55  # 0.5 is the trapezoidal rule; a little more damps the oscillation between steps that a switch leaves
TURN = cmath.exp(2j * pi / 3)
CLOSED, OPEN, LEAK = 1e4, 1e-9, 1e-8  # S


@dataclass
class Switch:
    a: int
    b: int
    closed: bool
    opening: bool = False  # waits for the next zero of its current
    thyristors: bool = False  # opens at every zero of its current


@dataclass
class Core:
    """Magnetizing inductance of one winding: two straight pieces."""

    a: int
    b: int
    linear: float
    saturated: float
    knee: float
    residual: float = 0.0


@dataclass
class Motor:
    """Induction machine: the voltage behind its transient reactance, seen from the stator."""

    branches: list
    inputs: list
    rs: float
    ls: float
    lm: float
    lr: float
    rr: float
    deep_bar: float
    inertia: float
    rated_torque: float
    load: float
    fan: bool
    synchronous: float
    speed: float = 0.0
    flux: complex = 0j
    scale: float = 1.0
    probes: list = field(default_factory=list)

    def resistance(self):
        slip = min(1.0, abs(1.0 - self.speed / self.synchronous))
        return self.rr * (1.0 + self.deep_bar * slip) * self.scale

    def step(self, currents, step):
        current = (currents[0] + TURN * currents[1] + TURN.conjugate() * currents[2]) * (2.0 / 3.0)
        lm, lr = self.lm * self.scale, self.lr * self.scale
        rr = self.resistance()
        torque = 1.5 * lm / lr * (self.flux.conjugate() * current).imag
        pole = complex(-rr / lr, self.speed)
        turn = cmath.exp(pole * step)
        self.flux = self.flux * turn + rr * lm / lr * current * step
        share = self.speed / self.synchronous
        demand = self.rated_torque * self.load * (share * share if self.fan else 1.0)
        if share < 0.02 and torque < demand:
            torque = demand
        self.speed += (torque - demand) / self.inertia * step
        emf = lm / lr * (pole * self.flux + (rr - self.rr * self.scale) * lm / lr * current)
        return emf.real, (emf * TURN.conjugate()).real, (emf * TURN).real

    def impedance(self, omega):
        """The EMF of steady state per ampere of stator current."""
        rr = self.resistance()
        flux = rr * self.lm / self.lr / (1j * (omega - self.speed) + rr / self.lr)
        return self.lm / self.lr * (complex(-rr / self.lr, self.speed) * flux + (rr - self.rr) * self.lm / self.lr)

    def settle(self, omega, current):
        """Flux and load of steady state, of the phasor of the current in phase A at time zero."""
        rr = self.resistance()
        self.flux = rr * self.lm / self.lr / (1j * (omega - self.speed) + rr / self.lr) * current
        share = self.speed / self.synchronous
        torque = 1.5 * self.lm / self.lr * (self.flux.conjugate() * current).imag
        self.load = torque / self.rated_torque / (share * share if self.fan else 1.0)


@dataclass
class Arc:
    branch: int
    input: int
    volts: object  # of time
    amperes: float
    probe: int = 0


class Circuit:
    def __init__(self, step, frequency):
        self.step = step
        self.frequency = frequency
        self.n_nodes = 0
        self.resistors, self.branches, self.capacitors = [], [], []
        self.sources, self.injections, self.ideal = [], [], []
        self.switches, self.cores, self.motors, self.arcs = [], [], [], []
        self.waves, self.injected = {}, {}
        self.probes = []
        self.topologies = {}

    def node(self):
        self.n_nodes += 1
        return self.n_nodes - 1

    def bus(self):
        return [self.node() for _ in range(3)]

    def resistor(self, a, b, ohms):
        self.resistors.append((a, b, 1.0 / ohms))

    def branch(self, a, b, resistance, inductance):
        """Coupled resistances and inductances between the nodes a and b; returns the numbers of their currents."""
        first = sum(len(item[0]) for item in self.branches)
        self.branches.append((list(a), list(b), np.atleast_2d(resistance), np.atleast_2d(inductance)))
        return list(range(first, first + len(a)))

    def capacitor(self, a, b, farads):
        self.capacitors.append((a, b, farads))

    def source(self, a, b):
        self.sources.append((a, b))
        return len(self.sources) - 1

    def injection(self, a, b):
        """A current from b to a."""
        self.injections.append((a, b))
        return len(self.injections) - 1

    def switch(self, a, b, closed):
        self.switches.append(Switch(a, b, closed))
        return len(self.switches) - 1

    def probe_voltage(self, a, b=-1):
        self.probes.append(("voltage", a, b))
        return len(self.probes) - 1

    def probe_branch(self, number):
        self.probes.append(("branch", number, 0))
        return len(self.probes) - 1

    def probe_switch(self, number):
        self.probes.append(("switch", number, 0))
        return len(self.probes) - 1

    def _prepare(self):
        self.n_branches = sum(len(item[0]) for item in self.branches)
        self.first_source = self.n_nodes + self.n_branches
        self.first_ideal = self.first_source + len(self.sources)
        self.n_unknowns = self.first_ideal + len(self.ideal)
        self.n_states = self.n_branches + len(self.capacitors) + len(self.cores)
        self.n_inputs = len(self.sources) + len(self.injections) + len(self.cores)
        for motor in self.motors:
            motor.probes = [[self.probe_branch(number) for number in group] for group in motor.branches]
        for arc in self.arcs:
            arc.probe = self.probe_branch(arc.branch)
        self.switch_probes = [self.probe_switch(number) for number in range(len(self.switches))]

    @staticmethod
    def _stamp(matrix, row, a, b, value):
        if a >= 0:
            matrix[row, a] += value
        if b >= 0:
            matrix[row, b] -= value

    @classmethod
    def _conductance(cls, matrix, a, b, value):
        if a >= 0:
            cls._stamp(matrix, a, a, b, value)
        if b >= 0:
            cls._stamp(matrix, b, b, a, value)

    def _build(self, saturated):
        """The matrix from states and inputs to next states and probes, of the present switches."""
        step, size = self.step, self.n_unknowns
        matrix = np.zeros((size, size))
        from_states = np.zeros((size, self.n_states))
        from_inputs = np.zeros((size, self.n_inputs))
        next_unknowns = np.zeros((self.n_states, size))
        next_states = np.zeros((self.n_states, self.n_states))
        for number in range(self.n_nodes):
            matrix[number, number] += LEAK
        for a, b, conductance in self.resistors:
            self._conductance(matrix, a, b, conductance)
        for item in self.switches:
            self._conductance(matrix, item.a, item.b, CLOSED if item.closed else OPEN)
        state = 0
        for starts, ends, resistance, inductance in self.branches:
            columns = self.n_nodes + state + np.arange(len(starts))
            matrix[np.ix_(columns, columns)] = -(THETA * resistance + inductance / step)
            states = state + np.arange(len(starts))
            next_unknowns[np.ix_(states, columns)] = (1 - THETA) * resistance - inductance / step
            for a, b, column in zip(starts, ends, columns, strict=True):
                self._stamp(matrix.T, column, a, b, 1.0)
                self._stamp(matrix, column, a, b, THETA)
                from_states[column, state] = 1.0
                self._stamp(next_unknowns, state, a, b, -(1 - THETA))
                state += 1
        ratio = (1 - THETA) / THETA
        for a, b, farads in self.capacitors:
            conductance = farads / (step * THETA)
            self._conductance(matrix, a, b, conductance)
            self._stamp(from_states.T, state, a, b, 1.0)
            self._stamp(next_unknowns, state, a, b, conductance * (1 + ratio))
            next_states[state, state] = -ratio
            state += 1
        first_core = len(self.sources) + len(self.injections)
        for number, core in enumerate(self.cores):
            inductance = core.saturated if saturated[number] else core.linear
            self._conductance(matrix, core.a, core.b, step * THETA / inductance)
            self._stamp(from_states.T, state, core.a, core.b, -1.0 / inductance)
            self._stamp(from_inputs.T, first_core + number, core.a, core.b, 1.0 / inductance)
            self._stamp(next_unknowns, state, core.a, core.b, step)
            next_states[state, state] = 1.0
            state += 1
        for number, (a, b) in enumerate(self.sources):
            self._stamp(matrix.T, self.first_source + number, a, b, 1.0)
            self._stamp(matrix, self.first_source + number, a, b, 1.0)
            from_inputs[self.first_source + number, number] = 1.0
        for number, (a, b) in enumerate(self.injections):
            self._stamp(from_inputs.T, len(self.sources) + number, a, b, 1.0)
        for number, (p, q, s, t, turns) in enumerate(self.ideal):
            row = self.first_ideal + number
            self._stamp(matrix, row, p, q, 1.0)
            self._stamp(matrix, row, s, t, -turns)
            self._stamp(matrix.T, row, p, q, 1.0)
            self._stamp(matrix.T, row, s, t, -turns)
        unknowns = np.linalg.solve(matrix, np.hstack([from_states, from_inputs]))
        following = next_unknowns @ unknowns
        following[:, : self.n_states] += next_states
        seen = np.zeros((len(self.probes), size))
        for row, (kind, number, other) in enumerate(self.probes):
            if kind == "voltage":
                self._stamp(seen, row, number, other, 1.0)
            elif kind == "branch":
                seen[row, self.n_nodes + number] = 1.0
            else:
                item = self.switches[number]
                self._stamp(seen, row, item.a, item.b, CLOSED if item.closed else OPEN)
        return np.vstack([following, seen @ unknowns])

    def _matrix(self, saturated):
        key = (tuple(item.closed for item in self.switches), saturated.tobytes())
        if key not in self.topologies:
            self.topologies[key] = self._build(saturated)
        return self.topologies[key]

    def _steady_state(self, time, phasors):
        """States one step before `time`: of each order of harmonics, motors by their impedance at the fundamental."""
        matrix = self._matrix(np.zeros(len(self.cores), dtype=bool))
        n = self.n_states
        states = np.zeros(n)
        for order in sorted({1, *(order for wave in phasors.values() for order in wave)}):
            omega = 2 * pi * self.frequency * order
            turn = cmath.exp(1j * omega * self.step)
            inputs = np.zeros(self.n_inputs, complex)
            for number, wave in phasors.items():
                inputs[number] = wave.get(order, 0.0)
            transfer = np.linalg.solve(np.eye(n) - matrix[:n, :n] / turn, matrix[:n, n:])
            if order == 1:
                running = [motor for motor in self.motors if motor.speed > 0]
                columns = [number for motor in running for number in motor.inputs[0]]
                rows = [n + probe for motor in running for probe in motor.probes[0]]
                if running:
                    currents = matrix[rows][:, :n] @ transfer / turn + matrix[rows][:, n:]
                    diagonal = np.repeat([motor.impedance(omega) for motor in running], 3)
                    found = np.linalg.solve(np.eye(len(rows)) - currents[:, columns] * diagonal, currents @ inputs)
                    inputs[columns] = diagonal * found
                    back = cmath.exp(1j * omega * (time - self.step))
                    for number, motor in enumerate(running):
                        motor.settle(omega, found[3 * number] * back)
            states += ((transfer @ inputs) * cmath.exp(1j * omega * (time - self.step))).real
        for number, core in enumerate(self.cores):
            states[self.n_branches + len(self.capacitors) + number] += core.residual
        return states

    def run(self, start, duration, events):
        """Simulate; `events` are (time, action). Returns times and probes."""
        self._prepare()
        n_steps = round((duration - start) / self.step)
        times = start + np.arange(n_steps) * self.step
        inputs = np.zeros((n_steps, self.n_inputs))
        phasors = {}
        for number, (wave, orders) in self.waves.items():
            inputs[:, number] = wave(times)
            phasors[number] = orders
        for number, (wave, orders) in self.injected.items():
            inputs[:, len(self.sources) + number] = wave(times)
            phasors[len(self.sources) + number] = orders
        n = self.n_states
        knees = np.array([core.knee for core in self.cores])
        offsets = np.array([core.knee * (1 - core.saturated / core.linear) for core in self.cores])
        first_core_state = n - len(self.cores)
        first_core_input = self.n_inputs - len(self.cores)
        saturated = np.zeros(len(self.cores), dtype=bool)
        signs = np.zeros(len(self.cores))
        last = saturated.tobytes()
        vector = np.zeros(n + self.n_inputs)
        vector[:n] = self._steady_state(start, phasors)
        matrix = self._matrix(saturated)
        found = np.zeros((n_steps, len(self.probes)))
        queue = sorted(events, key=lambda event: event[0])
        watched = []
        for k in range(n_steps):
            while queue and queue[0][0] <= times[k]:
                queue.pop(0)[1](self, found[k - 1])
                matrix = self._matrix(saturated)
                watched = [(i, s) for i, s in enumerate(self.switches) if s.closed and (s.opening or s.thyristors)]
            vector[n:] = inputs[k]
            if k:
                before = found[k - 1]
                for motor in self.motors:
                    total = [0.0, 0.0, 0.0]
                    for group in motor.probes:
                        total = [value + before[probe] for value, probe in zip(total, group, strict=True)]
                    emf = motor.step(total, self.step)
                    for group in motor.inputs:
                        vector[n + group[0]], vector[n + group[1]], vector[n + group[2]] = emf
                for arc in self.arcs:
                    vector[n + arc.input] = arc.volts(times[k]) * tanh(before[arc.probe] / arc.amperes)
            if len(signs):
                vector[n + first_core_input :] = signs * offsets
            after = matrix @ vector
            vector[:n] = after[:n]
            found[k] = after[n:]
            if watched and k:
                changed = False
                for number, item in watched:
                    probe = self.switch_probes[number]
                    now, change = found[k, probe], found[k, probe] - found[k - 1, probe]
                    if now * (now - change) <= 0 or (now * (now + change) < 0 and abs(now) < abs(change) / 2):
                        item.closed = False
                        item.opening = False
                        changed = True
                if changed:
                    matrix = self._matrix(saturated)
                    watched = [(i, s) for i, s in watched if s.closed]
            if len(signs):
                flux = vector[first_core_state:n]
                now = np.abs(flux) > knees
                if now.tobytes() != last:
                    saturated = now
                    last = now.tobytes()
                    signs = np.sign(flux) * now
                    matrix = self._matrix(saturated)
        return times, found


def close(*numbers):
    def action(circuit, _):
        for number in numbers:
            circuit.switches[number].closed = True
            circuit.switches[number].opening = False

    return action


def fire(number, sign):
    """A pulse to one of two thyristors, which conducts if its voltage is forward."""

    def action(circuit, before):
        item = circuit.switches[number]
        if not item.closed and before[circuit.switch_probes[number]] * sign > 0:
            item.closed = True

    return action


def open_at_zero(*numbers):
    def action(circuit, _):
        for number in numbers:
            circuit.switches[number].opening = circuit.switches[number].closed

    return action
