"""Incidents of known cause, drawn at random and simulated on the three-phase network.

What is drawn are impedances, loads, times and angles; depths, phase jumps, harmonics and sag types follow from them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, pi, sqrt

import numpy as np

from pqswarm._base.checks import check_name, check_number
from pqswarm._base.typing import FloatArray

from .circuit import Element, Network

_VISIBLE = {"fault": 0.08, "transformer energising": 0.03}  # least change of the RMS of a cycle in one phase
Switching = list[tuple[Element, Sequence[str]]]  # elements, and what each operation of their switches means


@dataclass(frozen=True, eq=False)
class SimulatedIncident:
    """An incident as a meter recorded it, and what caused it.

    Attributes
    ----------
    voltages, currents : ndarray of shape (3, n)
        Voltages of the phases to earth [V], currents of the metered element [A].
    sample_rate, frequency, nominal : float
        Samples per second [Hz], nominal frequency [Hz], nominal RMS voltage of a phase [V].
    cause, phases, grounded : str, str, bool
        One of `INCIDENT_CAUSES`; the phases of a fault when it has evolved, such as "AC", and whether it is to earth.
    place, stages : str, tuple of (float, str)
        "downstream" if the metered current feeds the cause, else "upstream"; when what happened in the network [s].
    """

    voltages: FloatArray
    currents: FloatArray
    sample_rate: float
    frequency: float
    nominal: float
    cause: str
    phases: str
    grounded: bool
    place: str
    stages: tuple[tuple[float, str], ...]


class _Site:
    """A source, and a busbar with a load, at low (250 kVA) or medium voltage (15 MVA); a scenario adds the rest."""

    def __init__(self, rng: np.random.Generator, duration: float, frequency: float, thd: float) -> None:
        self.bus, self.phases, self.grounded, self.place = "bus", "", False, "downstream"
        self.rng, self.network, self.omega = rng, Network(frequency=frequency), 2 * pi * frequency
        draw, low = rng.uniform, rng.random() < 0.3
        self.start = duration * draw(0.15, 0.25)
        self.room = 0.95 * duration - self.start
        self.nominal = 230.0 if low else float(rng.choice([11e3, 20e3, 33e3])) / sqrt(3)
        self.neutral, self.base = "earthed" if low else "star", 3 * self.nominal**2 / (0.25e6 if low else 15e6)
        z = self.base * draw(0.03, 0.12) * (1 / (draw(2, 5) if low else draw(5, 15)) + 1j)
        self.ohms, self.inductance, share = abs(z), z.imag / self.omega, draw(0.4, 0.8)
        self.cables = 1 / ((2 * pi * draw(1200, 3000)) ** 2 * self.inductance)  # [F]
        self.discharge = draw(0.02, 0.06) / self.cables  # voltage transformers [ohm] discharge them
        earthing = 0.0 if low else (0.0, draw(1, 6) * self.ohms, self.discharge / 3)[rng.integers(3)]
        self.solid, orders = earthing == 0.0, [5, 7, 11, 13]
        sizes = draw(0.2, 1.0, 4) / orders
        self.network.source(
            "grid",
            self.nominal * draw(0.98, 1.04),
            share * z,
            share * z * draw(0.8, 3.0),
            earthing=earthing,
            harmonics=list(zip(orders, thd * sizes / np.sqrt(np.sum(sizes**2)), draw(0, 2 * pi, 4), strict=True)),
            phase=draw(0, 2 * pi),
            frequency=frequency * (1 + draw(-0.002, 0.002)),
        )
        self.metered = self.incoming = self.network.line("grid", "bus", (1 - share) * z)
        self.load("bus", draw(0.1, 0.4), 0.95, self.cables)

    def load(
        self, bus: str, power: float, factor: float, farads: float, due: Sequence[float] = (), open_: bool = False
    ) -> Element:
        """Add a load [pu], a resistance and an inductance in parallel, and cables."""
        self.network.shunt(bus, complex(0.4 * sqrt(self.inductance / farads)), capacitance=farads)
        base, star = (self.base * (230 / self.nominal) ** 2, "earthed") if bus == "low" else (self.base, self.neutral)
        parts = base / (power * factor) + 0j, (0.1 + 1j) * base / (power * sqrt(1 - factor**2))
        return sum((self.network.shunt(bus, z, connection=star, operations=due, open_=open_) for z in parts), ())

    def feeder(self, end: str, length: float, start: str = "bus", operations: Sequence[float] = ()) -> Element:
        """Add a line, its length in impedances of the source, with a load at its end."""
        z = length * self.ohms * (self.rng.uniform(0.2, 0.6) + 1j)
        line = self.network.line(start, end, z, z * self.rng.uniform(2, 4), operations=operations)
        self.load(end, self.rng.uniform(0.1, 0.4), self.rng.uniform(0.85, 0.98), 0.2 * self.cables)
        return line

    def meter(self, *feeding: Element) -> None:
        """Meter another feeder, the incoming line or one of the elements that feed the cause."""
        choices = [self.feeder("meter", self.rng.uniform(0.1, 0.5)), self.incoming, *feeding]
        number = self.rng.integers(len(choices))
        self.metered, self.place = choices[number], "downstream" if number else "upstream"


def _draw_fault(site: _Site) -> Switching:
    """A fault on a feeder, behind the breaker of the metered one, beyond a transformer, or upstream of the busbar."""
    network, rng, draw, start = site.network, site.rng, site.rng.uniform, site.start
    where = ("feeder", "behind", "transformer", "upstream")[rng.integers(4)]
    breaker, recloses, lasts, grounded, evolves, motors = (rng.random(6) < [0.7, 0.4, 0.4, 0.4, 0.25, 0.35]).tolist()
    clearing = start + site.room * (draw(0.06, 0.15) if breaker and recloses else draw(0.05, 0.4))
    operations, end = ([clearing], []) if breaker else ([], [clearing])
    if breaker and recloses:  # the arc of a fault that does not last is gone before
        operations.append(clearing + draw(0.3, 0.5) * site.room)
        operations += [operations[-1] + draw(0.06, 0.12) * site.room] * lasts
        end = [clearing + 0.02] * (not lasts)
    first = str(rng.choice(["A", "B", "C", "AB", "BC", "AC", "ABC"]))
    site.grounded = grounded or len(first) == 1
    others = [arm for arm in "BCA" if arm not in first][: rng.integers(1, 3) * evolves]
    struck = dict.fromkeys(first + "G" * site.grounded, start)
    struck |= {arm: start + (0.35 + 0.3 * i) * (clearing - start) for i, arm in enumerate(others)}
    site.phases = "".join(sorted(struck)).rstrip("G")

    if where == "behind":
        feeder = site.metered = site.feeder("near", draw(0.05, 0.3), "bus", operations)
        site.feeder("far", draw(0.1, 1.5), "near")
        network.shunt("near", site.discharge + 0j)
        site.bus = "near"
    else:
        feeder = site.feeder("far", draw(0.05, 1.5), "grid" if where == "upstream" else "bus", operations)
        site.meter(*[feeder] * (where == "feeder"))
    if where == "transformer":
        ratio = 230.0 / site.nominal
        z = draw(0.08, 0.16) * (0.15 + 1j) * site.base * ratio**2
        site.bus, site.metered = "low", network.transformer("bus", "low", ratio / sqrt(3), z)
        site.load("low", draw(0.1, 0.4), 0.9, site.cables)
        site.nominal = 230.0
    elif motors:  # they feed the fault and accelerate again after it
        z, power = (0.02 + 0.1j) * site.base / (size := draw(0.1, 0.4)), size * 3 * site.nominal**2 / site.base
        energy, slip = power * draw(0.3, 1.0), draw(0.008, 0.018)
        network.motor(site.bus, stator=z, rotor=z, magnetising=30 * z.imag, inertia=energy, slip=slip)
    site.place = "upstream" if where in ("transformer", "upstream") else site.place
    arms = {arm: [time, *end] for arm, time in struck.items()}
    ohms, earth = site.ohms * draw(0.002, 0.1), site.ohms * draw(0.01, 0.5)
    fault = network.fault("far", arms, resistance=ohms, earth_resistance=earth)
    switching: Switching = [(feeder, ["breaker opens", "breaker closes", "breaker opens"][: len(operations)])]
    switching += [(fault, ["", "fault ends"])] * len(end)
    for branch, time in zip(fault, struck.values(), strict=True):
        switching.append(((branch,), ["fault " + "".join(arm for arm in "ABCG" if struck.get(arm, inf) <= time)]))
    return switching


def _draw_motor_start(site: _Site) -> Switching:
    """A motor at the busbar, started direct on line; its size follows from the dip at standstill."""
    draw, dip = site.rng.uniform, site.rng.uniform(0.06, 0.3)
    rotor, stator = draw(0.025, 0.05) + 1j * draw(0.07, 0.1), 0.015 + 1j * draw(0.07, 0.1)
    z = site.ohms * (1 / dip - 1) / abs(rotor + stator)
    power = 3 * site.nominal**2 / z
    motor = site.network.motor(
        "bus",
        stator=stator * z,
        rotor=rotor * z,
        magnetising=draw(2.5, 4.0) * z,
        operations=[site.start],
        inertia=power * site.room * draw(0.1, 0.5) * (1 - dip) ** 2,
        load=power * draw(0.1, 0.5),
    )
    site.meter(motor)
    return [(motor, ["motor on"])]


def _draw_energising(site: _Site) -> Switching:
    """An unloaded transformer with residual flux; its size follows from the dip that its air core would cause."""
    draw, delta = site.rng.uniform, not site.solid or site.rng.random() < 0.4
    air, flux = site.ohms * (1 / draw(0.08, 0.4) - 1), sqrt(6 if delta else 2) * site.nominal / site.omega
    knee = flux * draw(1.1, 1.25)
    rest = np.roll([1.0, -1.0, 0.0] if delta else [1.0, -0.5, -0.5], site.rng.integers(3)) * flux * draw(-0.75, 0.75)
    transformer = site.network.shunt(
        "bus",
        air * (1 / draw(15, 80) + 1j * draw(500, 1500)),
        connection="delta" if delta else "earthed",
        cores=[(knee, air / site.omega, r) for r in rest.tolist()],
        operations=[site.start],
        open_=True,
    )
    site.meter(*[transformer] * (not delta))
    return [(transformer, ["transformer on"])]


def _draw_capacitor(site: _Site) -> Switching:
    """A capacitor bank, alone or beside one that is in service; its size follows from the frequency of the ringing."""
    draw, star = site.rng.uniform, ("earthed", "star")[site.rng.integers(2)]
    farads = 1 / ((2 * pi * draw(250, 900)) ** 2 * site.inductance)
    reactor = site.omega * site.inductance * (0.05 + 1j) * draw(0.02, 0.1)
    if site.rng.random() < 0.3:
        site.network.shunt("bus", reactor, connection=star, capacitance=farads * draw(0.5, 2.0))
    times = site.start + draw(0, 0.003, (3, 1)) * (site.rng.random() < 0.3)
    bank = site.network.shunt("bus", reactor, connection=star, capacitance=farads, operations=times, open_=True)
    site.meter(bank)
    return [(bank, ["bank on"])]


def _draw_load_step(site: _Site) -> Switching:
    """A load that is switched on or off."""
    on, power = bool(site.rng.integers(2)), site.rng.uniform(0.015, 0.1) * site.base / site.ohms
    load = site.load("bus", power, site.rng.uniform(0.3, 0.95), 0.1 * site.cables, [site.start], on)
    site.meter()
    return [(load, ["load on" if on else "load off"])]


INCIDENT_CAUSES = ("fault", "motor start", "transformer energising", "capacitor switching", "load switching")
_SCENARIOS = (_draw_fault, _draw_motor_start, _draw_energising, _draw_capacitor, _draw_load_step)


def draw_incident(
    cause: str,
    rng: np.random.Generator,
    *,
    sample_rate: float = 6400.0,
    duration: float = 1.0,
    frequency: float = 50.0,
    thd: float | None = None,
    snr: float = 50.0,
) -> SimulatedIncident:
    """Draw an incident of a cause and simulate it.

    Parameters
    ----------
    cause, rng : str, numpy.random.Generator
        One of `INCIDENT_CAUSES`; the same state of `rng` gives the same incident.
    sample_rate, duration, frequency : float
        Samples per second [Hz]; length, at least 0.5 s; nominal frequency [Hz], the actual one differs by up to 0.2 %.
    thd, snr : float
        Distortion of the source by harmonics of the orders 5 to 13, drawn from 0.005 to 0.05 if None; nominal voltage
        over the recorder's noise [dB].

    Returns
    -------
    SimulatedIncident
        Three voltages and three currents, and what caused them.

    Examples
    --------
    >>> incident = draw_incident("motor start", np.random.default_rng(5))
    >>> incident.voltages.shape, incident.stages[0][1]
    ((3, 6400), 'motor on')
    """
    scenario = _SCENARIOS[INCIDENT_CAUSES.index(check_name("cause", cause, INCIDENT_CAUSES))]
    check_number("duration", duration, 0.5, unit="s")
    change = -inf
    while change < _VISIBLE.get(cause, 0.0):
        site = _Site(rng, duration, frequency, rng.uniform(0.005, 0.05) if thd is None else thd)
        switching = scenario(site)
        voltages, currents, _, operated = site.network.run(duration, sample_rate, site.bus, site.metered)
        cycle = round(sample_rate / frequency)
        rms = np.sqrt(np.mean(voltages[:, : voltages.shape[1] // cycle * cycle].reshape(3, -1, cycle) ** 2, axis=2))
        change = float(np.max(np.abs(rms / rms[:, :1] - 1.0)))
    poles = [(operated[list(element), i], what) for element, meanings in switching for i, what in enumerate(meanings)]
    stages = sorted({(float(times.max()), what) for times, what in poles if what and times.max() < inf})
    noise = 10 ** (-snr / 20) * rng.standard_normal((2, *voltages.shape))
    currents += np.sqrt(np.mean(currents[:, :cycle] ** 2)) * noise[1]
    return SimulatedIncident(
        voltages + site.nominal * noise[0],
        currents,
        sample_rate,
        frequency,
        site.nominal,
        cause,
        site.phases,
        site.grounded,
        site.place,
        tuple(stages),
    )
