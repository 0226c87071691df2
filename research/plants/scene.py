"""One capture: the network, the place of the recorder, what happens, and what is true."""

from zlib import crc32

import numpy as np
from network import PHASES, Network
from recorder import Capture, make_channels, sample, saturate_current_transformer
from solver import Arc
from truth import events_of, is_visible, measure

SLOW_RATES = [1000, 1200, 1600, 2000, 3200, 4000, 4800]
RATES = [1000, 1600, 2000, 3200, 3840, 4800, 5000, 6400, 7680, 9600, 10000, 12800, 15360, 20000, 25600]
LOW = {50: (400, 400, 690), 60: (480, 480, 600)}
MEDIUM = {50: (6000, 10000, 11000, 15000, 20000, 22000, 33000), 60: (4160, 12470, 13800, 23000, 34500)}
HIGH = {50: (66e3, 110e3, 132e3, 220e3), 60: (69e3, 115e3, 138e3, 230e3)}


class Scene:
    def __init__(self, kind, seed):
        self.kind, self.seed = kind, seed
        self.rng = np.random.default_rng([seed, crc32(kind.encode())])
        self.frequency = int(self.rng.choice([50, 50, 60]))
        self.cycle = 1 / self.frequency
        self.currents, self.has_currents = None, self.rng.random() < 0.6
        self.between = self.rng.random() < 0.25
        self.cause, self.also, self.phases = "unknown", [], ""
        self.more_events, self.none_ok, self.caveat = [], None, False
        self.only_currents, self.only_these_events, self.oscillation = False, False, 0.0
        self.fault_switches, self.keeps_clear, self.faulted_bus = [], True, True
        self.hooks, self.late_hooks, self.status = [], [], []
        self.saturates, self.clips = False, False
        self.file_rate = 0.0
        self.lead = 0.06
        self.begin = 0.0

    def u(self, low, high):
        return float(self.rng.uniform(low, high))

    def pick(self, *choices):
        return choices[int(self.rng.integers(len(choices)))]

    def open(self, cycles, before=None, slow=False, fine=False):
        """Choose sampling and length; `cycles` after the event and `before` it."""
        rng = self.rng
        self.rate = float(rng.choice(SLOW_RATES if slow else RATES))
        wanted = 80e-6 if slow else 25e-6 if fine else 45e-6
        self.every = max(1, int(np.ceil(1 / (self.rate * wanted) - 0.2)))
        self.step = 1 / (self.rate * self.every)
        before = self.u(2, 10) if before is None else before
        self.begin = before * self.cycle + self.u(0, 1) * self.cycle
        self.duration = self.begin + cycles * self.cycle
        self.net = Network(rng, self.step, self.frequency)

    def background(self, size=1.0):
        return [(order, self.u(0.0005, 0.015) * size * self.u(0, 1), self.u(0, 6.28)) for order in (5, 7, 11, 13)]

    def low(self, power=None, **grid):
        self.vn = float(self.pick(*LOW[self.frequency]))
        self.power = power or self.u(6e6, 35e6)
        grid.setdefault("ratio", self.u(2, 6))
        return self._source(grid, self.background(1.5))

    def medium(self, neutral=None, power=None, zero=None, **grid):
        self.vn = float(self.pick(*MEDIUM[self.frequency]))
        self.power = power or self.vn / 1e3 * self.u(8e6, 28e6)
        if neutral is None:
            neutral = self.pick("solid", "solid", ("ohms", self.vn / np.sqrt(3) / self.u(300, 1200)))
        return self._source({"neutral": neutral, "zero": zero or self.u(0.7, 2), "ratio": self.u(6, 20)} | grid)

    def high(self, **grid):
        self.vn = float(self.pick(*HIGH[self.frequency]))
        self.power = self.vn / 1e3 * self.u(12e6, 45e6)
        return self._source({"zero": self.u(0.7, 2.2), "ratio": self.u(8, 25)} | grid, self.background(0.5))

    def _source(self, grid, harmonics=None):
        harmonics = self.background() if harmonics is None else harmonics
        actual = self.vn * self.u(0.98, 1.05)
        bus, currents = self.net.grid(actual, self.power, harmonics=harmonics, **grid)
        self.watch(bus, currents)
        part = self.power * self.u(0.015, 0.06)
        self.net.load(bus, part, part * self.u(0.15, 0.6), self.vn, grounded=self.vn < 1000)
        return bus

    def watch(self, bus, currents=None):
        """Where the recorder is connected."""
        self.bus = bus
        self.currents = currents if currents is not None else self.currents

    def measure_currents(self, currents, chance):
        if self.rng.random() < chance:
            self.currents = currents

    def feeder(self, bus, kilometers, measured=None, closed=True, load=0.01, cable=None):
        """Breaker and line, with a load at its end; returns the end and the breaker's poles."""
        after, breaker = self.net.breaker(bus, closed)
        cable = self.rng.random() < 0.3 if cable is None else cable
        end, currents = self.net.line(after, kilometers, self.vn, cable)
        if load:
            part = self.power * load * self.u(0.5, 1.5)
            self.net.load(end, part, part * self.u(0.2, 0.6), self.vn)
        self.measure_currents(currents, 0.7 if measured is None else float(measured))
        return end, breaker

    def choose_phases(self, count):
        first = int(self.rng.integers(3))
        return sorted((first + step) % 3 for step in range(count))

    def add_fault(self, bus, count, time, ground=True, severity=None, phases=None, arc=None):
        """A fault on `count` phases at `time`, of some resistance and arc; returns its switches by phase."""
        phases = self.choose_phases(count) if phases is None else phases
        ohms = severity if severity is not None else self.vn**2 / self.power * self.u(0.02, 0.5)
        volts = self.vn * self.u(0.005, 0.05) if arc is None else arc
        peak = self.power / self.vn * 0.8
        ground_ohms = self.u(0.05, 0.5) * self.vn**2 / self.power if ground else 1e-3
        switches, earth = self.net.fault(
            bus, phases, ground, ohms, ground_ohms, lambda _t, volts=volts: volts, max(peak * 0.15, volts / 20)
        )
        if time is not None:
            self.net.make(time, switches.values())
        self.fault_switches += [*switches.values(), earth]
        self.phases = "".join(PHASES[phase] for phase in phases)
        self.cause = "fault"
        return switches

    def add_arc(self, node, common, volts, amperes):
        middle = self.net.node()
        current = self.net.branch([node], [middle], [[2e-4]], [[5e-7]])
        number = self.net.source(middle, common)
        self.net.waves[number] = (np.zeros_like, {})
        self.net.arcs.append(Arc(current[0], number, volts, amperes))

    def trip(self, breaker, at, spread=0.002):
        self.net.trip(at, breaker, spread)
        if self.rng.random() < 0.5:
            early = at - self.u(0.02, 0.05)
            self.status += [
                (self.pick("TRIP", "50/51 TRIP", "GEN.TRIP", "21 OP"), 0, [(early, 1), (at + 0.1, 0)]),
                (self.pick("52A", "CB CLOSED", "Q0 ON"), 1, [(at + self.u(0.002, 0.02), 0)]),
            ]

    def simulate(self):
        net = self.net
        probes = [net.probe_voltage(node) for node in self.bus]
        flows = [net.probe_branch(number) for number in self.currents] if self.has_currents and self.currents else None
        steps = int(np.ceil(self.lead / self.step / self.every)) * self.every
        times, found = net.run(-steps * self.step, self.duration, net.events)
        self.true_times = times
        self.fault_current = found[:, [net.switch_probes[number] for number in self.fault_switches]]
        voltages = found[:, probes].T
        currents = None if flows is None else found[:, flows].T
        if self.saturates and currents is not None:
            limit = np.abs(currents).max() / (2 * np.pi * self.frequency) * self.u(0.7, 1.5)
            currents = np.array([saturate_current_transformer(values, self.step, limit) for values in currents])
        voltages = sample(voltages, self.every, steps)
        currents = None if currents is None else sample(currents, self.every, steps)
        return voltages, currents

    def clearing(self):
        """When the last current of the fault ended, if it did within the capture."""
        if not self.fault_switches or not self.keeps_clear:
            return None
        size = np.abs(self.fault_current).max(axis=1)
        flowing = np.flatnonzero(size > 0.03 * size.max())
        end = float(self.true_times[flowing[-1]])
        is_over = end < self.duration - 0.25 * self.cycle
        return end if is_over and end > 0 else None

    def capture(self):
        voltages, currents = self.simulate()
        for hook in self.hooks:
            voltages = hook(voltages)
        crest = self.vn * np.sqrt(2 / 3)
        channels = make_channels(self.rng, voltages, currents, crest, self.between)
        measured = np.array([channel.values for channel in channels[:3]])
        flows = np.array([channel.values for channel in channels[3:6]]) if currents is not None else None
        nominal = self.vn if self.between else self.vn / np.sqrt(3)
        facts = measure(self, measured, flows, nominal)
        visible = bool(is_visible(self.cause, facts, self))
        events, none_ok = events_of(facts, self)
        self.clear = self.clearing()
        truth = {
            "kind": self.kind,
            "seed": self.seed,
            "true_cause": self.cause,
            "cause": self.cause if visible else "unknown",
            "also": [*self.also, *(["load switching"] if self.cause == "motor start" and not visible else [])],
            "visible": visible,
            "events": events,
            "none_ok": none_ok,
            "nominal": round(nominal, 3),
            "phases": self.phases if currents is not None and self.faulted_bus else "",
            "currents": currents is not None,
            "clear": None if self.clear is None else round(self.clear, 6),
            "caveat": self.caveat,
            "between": self.between,
            "frequency": self.frequency,
            "rate": self.rate,
            "begin": round(self.begin, 6),
            "facts": {name: value if value is None else round(value, 4) for name, value in facts.items()},
        }
        for hook in self.late_hooks:
            hook(self, channels)
        for channel in channels:
            if not self.clips:
                channel.full_scale = max(channel.full_scale, np.abs(channel.values).max() * 1.02)
        result = Capture(self.rate, self.frequency, channels, self.status, self.file_rate, self.begin)
        return result, truth
