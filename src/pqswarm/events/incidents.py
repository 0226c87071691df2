"""Incidents of known cause, drawn at random and simulated on the three-phase network.

What is drawn are impedances, loads, times and angles; depths, phase jumps, harmonics and sag types follow from them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, pi, sqrt

import numpy as np

from pqswarm._base.checks import check_name, check_number
from pqswarm._base.typing import FloatArray
from pqswarm.events.network import Element, Network

_VISIBLE = {"fault": 0.08, "transformer energising": 0.03}  # least change of the RMS of a cycle in one phase
_FAULTS = ("A", "B", "C", "A", "B", "C", "AB", "BC", "AC", "AB", "BC", "AC", "ABC", "ABC")
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
    place : str
        "downstream" if the metered current feeds the cause, else "upstream".
    stages : tuple of (float, str)
        When a fault struck or ended, or a switch operated [s], and what it was.
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
        self.rng, self.draw = rng, rng.uniform
        self.phases, self.grounded, self.place, self.bus = "", False, "downstream", "bus"
        self.metered: Element = ()
        self.start = duration * rng.uniform(0.15, 0.25)
        self.room = 0.95 * duration - self.start
        self.omega = 2 * pi * frequency
        self.network = Network(frequency=frequency)
        low = self.chance(0.3)
        self.nominal = 230.0 if low else rng.choice([11e3, 20e3, 33e3]).item() / sqrt(3)
        self.neutral = "earthed" if low else "star"
        self.base = 3 * self.nominal**2 / (0.25e6 if low else 15e6)  # impedance of 1 pu [ohm]
        z = self.base * rng.uniform(0.03, 0.12) * (1 / (rng.uniform(2, 5) if low else rng.uniform(5, 15)) + 1j)
        self.impedance, self.ohms, self.inductance = z, abs(z), z.imag / self.omega
        self.stray = 1 / ((2 * pi * rng.uniform(1200, 3000)) ** 2 * self.inductance)  # cables [F]
        self.discharge = (
            rng.uniform(0.02, 0.06) / self.stray
        )  # voltage transformers: all that earths an isolated neutral
        earthing = 0.0 if low else (0.0, rng.uniform(1, 6) * self.ohms, self.discharge / 3)[rng.integers(3)]
        self.solid = earthing == 0.0
        sizes = rng.uniform(0.2, 1.0, 4) / [5, 7, 11, 13]
        sizes *= thd / np.sqrt(np.sum(sizes**2))
        share = rng.uniform(0.4, 0.8)
        self.network.source(
            "grid", self.nominal * rng.uniform(0.98, 1.04), share * z, share * z * rng.uniform(0.8, 3.0),
            earthing=earthing,
            harmonics=[(k, a, rng.uniform(0, 2 * pi)) for k, a in zip([5, 7, 11, 13], sizes.tolist(), strict=True)],
            phase=rng.uniform(0, 2 * pi), frequency=frequency * (1 + rng.uniform(-0.002, 0.002)),
        )  # fmt: skip
        self.incoming = self.network.line("grid", "bus", (1 - share) * z)
        self.cable("bus", self.stray)
        self.load("bus", rng.uniform(0.1, 0.4))

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def cable(self, bus: str, farads: float) -> None:
        """Add a capacitance to earth that is damped as cables are."""
        self.network.shunt(bus, complex(0.4 * sqrt(self.inductance / farads)), capacitance=farads)

    def load(
        self, bus: str, power: float, factor: float = 0.95, on: Sequence[float] = (), open_: bool = False
    ) -> Element:
        """Add a load [pu]: a resistance, and in parallel the inductance that its power factor asks for."""
        base = self.base * (230.0 / self.nominal) ** 2 if bus == "low" else self.base
        neutral = "earthed" if bus == "low" else self.neutral
        parts = complex(base / (power * factor)), (0.1 + 1j) * base / (power * sqrt(1 - factor**2))
        one, other = (self.network.shunt(bus, z, connection=neutral, operations=on, open_=open_) for z in parts)
        return one + other

    def feeder(self, end: str, length: float, start: str = "bus", operations: Sequence[float] = ()) -> Element:
        """Add a line, its length in impedances of the source, with a load at its end."""
        z = length * self.ohms * (self.draw(0.2, 0.6) + 1j)
        line = self.network.line(start, end, z, z * self.draw(2, 4), operations=operations)
        self.cable(end, 0.2 * self.stray)
        self.load(end, self.draw(0.1, 0.4), self.draw(0.85, 0.98))
        return line

    def meter(self, *feeding: Element) -> None:
        """Meter one of the elements that feed the cause, among them the incoming one, or another feeder."""
        choices = [*feeding, self.incoming, self.feeder("meter", self.draw(0.1, 0.5))]
        number = self.rng.integers(len(choices))
        self.metered, self.place = choices[number], "upstream" if number == len(choices) - 1 else "downstream"


def _draw_fault(site: _Site) -> Switching:
    """A fault on a feeder, behind the breaker of the metered one, beyond a transformer, or upstream of the busbar."""
    network, draw, start = site.network, site.draw, site.start
    where = ("feeder", "behind", "transformer", "upstream")[site.rng.integers(4)]
    breaker, reclosing, lasting = site.chance(0.7), site.chance(0.4), site.chance(0.4)
    clearing = start + site.room * (draw(0.06, 0.15) if breaker and reclosing else draw(0.05, 0.4))
    operations, end = ([clearing], []) if breaker else ([], [clearing])
    if breaker and reclosing:  # if the fault does not last, its arc is gone before
        operations += [clearing + draw(0.3, 0.5) * site.room]
        operations += [operations[-1] + draw(0.06, 0.12) * site.room] * lasting
        end = [] if lasting else [clearing + 0.02]
    first = _FAULTS[site.rng.integers(len(_FAULTS))]
    site.grounded = len(first) == 1 or site.chance(0.4)
    arms = {arm: [start, *end] for arm in first + "G" * site.grounded}
    others = [arm for arm in "BCA" if arm not in first][: site.rng.integers(1, 3) * site.chance(0.25)]
    for i, arm in enumerate(others):  # it evolves
        arms[arm] = [start + (0.35 + 0.3 * i) * (clearing - start), *end]
    site.phases = "".join(sorted(arms)).rstrip("G")

    if where == "behind":
        feeder = site.feeder("near", draw(0.05, 0.3), operations=operations)
        site.feeder("far", draw(0.1, 1.5), "near")
        network.shunt("near", complex(site.discharge))
        site.bus, site.metered = "near", feeder
    else:
        feeder = site.feeder("far", draw(0.05, 1.5), "grid" if where == "upstream" else "bus", operations)
        site.meter(*[feeder] * (where == "feeder"))
    if where == "transformer":
        ratio = 230.0 / site.nominal
        z = draw(0.08, 0.16) * (0.15 + 1j) * site.base * ratio**2
        site.bus, site.metered = "low", network.transformer("bus", "low", ratio / sqrt(3), z)
        site.load("low", draw(0.1, 0.4))
        site.nominal = 230.0
    elif site.chance(0.35):  # motors that feed the fault and accelerate again after it
        z = site.base / draw(0.1, 0.4)
        network.motor(
            site.bus, stator=(0.02 + 0.1j) * z, rotor=(0.02 + 0.1j) * z, magnetising=3.0 * z,
            inertia=draw(0.3, 1.0) * 3 * site.nominal**2 / z, slip=draw(0.008, 0.018),
        )  # fmt: skip
    site.place = "upstream" if where in ("transformer", "upstream") else site.place
    fault = network.fault(
        "far", arms, resistance=site.ohms * draw(0.002, 0.1), earth_resistance=site.ohms * draw(0.01, 0.5)
    )
    switching: Switching = [(feeder, ["breaker opens", "breaker closes", "breaker opens"][: len(operations)])]
    switching += [(fault, ["", "fault ends"])] if end else []
    for time in {times[0] for times in arms.values()}:
        name = "".join(arm for arm in "ABCG" if arm in arms and arms[arm][0] <= time)
        switching += [
            (tuple(b for b, at in zip(fault, arms.values(), strict=True) if at[0] == time), [f"fault {name}"])
        ]
    return switching


def _draw_motor_start(site: _Site) -> Switching:
    """A motor at the busbar, started direct on line; its size follows from the dip at standstill."""
    dip, draw = site.draw(0.06, 0.3), site.draw
    rotor, stator = draw(0.025, 0.05) + 1j * draw(0.07, 0.1), 0.015 + 1j * draw(0.07, 0.1)
    z = site.ohms * (1 / dip - 1) / abs(rotor + stator)
    power = 3 * site.nominal**2 / z
    motor = site.network.motor(
        "bus", stator=stator * z, rotor=rotor * z, magnetising=draw(2.5, 4.0) * z, operations=[site.start],
        inertia=power * site.room * draw(0.1, 0.5) * (1 - dip) ** 2, load=power * draw(0.1, 0.5),
    )  # fmt: skip
    site.meter(motor)
    return [(motor, ["motor on"])]


def _draw_energising(site: _Site) -> Switching:
    """An unloaded transformer with residual flux; its size follows from the dip that its air core would cause."""
    draw = site.draw
    air = site.ohms * (1 / draw(0.08, 0.4) - 1)
    delta = not site.solid or site.chance(0.4)
    flux = sqrt(2) * site.nominal * (sqrt(3) if delta else 1.0) / site.omega
    rest = np.roll([1.0, -1.0, 0.0] if delta else [1.0, -0.5, -0.5], site.rng.integers(3)) * flux * draw(-0.75, 0.75)
    knee = flux * draw(1.1, 1.25)
    transformer = site.network.shunt(
        "bus", air * (1 / draw(15, 80) + 1j * draw(500, 1500)), connection="delta" if delta else "earthed",
        cores=[(knee, air / site.omega, float(r)) for r in rest], operations=[site.start], open_=True,
    )  # fmt: skip
    site.meter(*[transformer] * (not delta))
    return [(transformer, ["transformer on"])]


def _draw_capacitor(site: _Site) -> Switching:
    """A capacitor bank, alone or beside one that is in service; its size follows from the frequency of the ringing."""
    farads = 1 / ((2 * pi * site.draw(250, 900)) ** 2 * site.inductance)
    connection = ("earthed", "star")[site.rng.integers(2)]
    reactor = site.impedance.imag * (0.05 + 1j) * site.draw(0.02, 0.1)
    if site.chance(0.3):
        site.network.shunt("bus", reactor, connection=connection, capacitance=farads * site.draw(0.5, 2.0))
    times = site.start + site.draw(0, 0.003, (3, 1)) * site.chance(0.3)  # poles close together or not
    bank = site.network.shunt("bus", reactor, connection=connection, capacitance=farads, operations=times, open_=True)
    site.meter(bank)
    return [(bank, ["bank on"])]


def _draw_load_step(site: _Site) -> Switching:
    """A load that is switched on or off."""
    off = site.chance(0.5)
    power = site.draw(0.015, 0.1) * site.base / site.ohms
    load = site.load("bus", power, site.draw(0.3, 0.95), [site.start], not off)
    site.meter()
    return [(load, ["load off" if off else "load on"])]


_SCENARIOS: dict[str, Callable[[_Site], Switching]] = {
    "fault": _draw_fault,
    "motor start": _draw_motor_start,
    "transformer energising": _draw_energising,
    "capacitor switching": _draw_capacitor,
    "load switching": _draw_load_step,
}
INCIDENT_CAUSES: tuple[str, ...] = tuple(_SCENARIOS)
"""Causes of the incidents that :func:`draw_incident` simulates."""


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
    cause : str
        One of `INCIDENT_CAUSES`.
    rng : numpy.random.Generator
        The same state gives the same incident.
    sample_rate, duration, frequency : float
        Samples per second [Hz]; length, at least 0.5 s; nominal frequency [Hz], the actual one differs by up to 0.2 %.
    thd : float, optional
        Distortion of the source's voltage by harmonics of the orders 5 to 13; None draws it from 0.005 to 0.05.
    snr : float
        Nominal voltage over the recorder's noise [dB]; infinity for none.

    Returns
    -------
    SimulatedIncident
        Three voltages and three currents, and what caused them.

    Examples
    --------
    >>> import numpy as np
    >>> incident = draw_incident("motor start", np.random.default_rng(5))
    >>> incident.voltages.shape, incident.stages[0][1]
    ((3, 6400), 'motor on')
    """
    check_name("cause", cause, INCIDENT_CAUSES)
    check_number("duration", duration, 0.5, unit="s")
    while True:
        site = _Site(rng, duration, frequency, rng.uniform(0.005, 0.05) if thd is None else thd)
        switching = _SCENARIOS[cause](site)
        record = site.network.run(duration, sample_rate, site.bus, site.metered)
        cycle = round(sample_rate / frequency)
        cycles = record.voltages[:, : record.voltages.shape[1] // cycle * cycle].reshape(3, -1, cycle)
        rms = np.sqrt(np.mean(cycles**2, axis=2))
        if np.max(np.abs(rms / rms[:, :1] - 1.0)) >= _VISIBLE.get(cause, 0.0):
            break
    stages = set()
    for element, meanings in switching:
        for i, what in enumerate(meanings):
            time = float(np.max(record.operated[list(element), i]))  # of the last pole
            stages |= {(time, what)} if what and time < inf else set()
    noise = 10 ** (-snr / 20) * rng.standard_normal((2, *record.voltages.shape))
    size = np.sqrt(np.mean(record.currents[:, :cycle] ** 2))
    return SimulatedIncident(
        record.voltages + site.nominal * noise[0], record.currents + size * noise[1], sample_rate, frequency,
        site.nominal, cause, site.phases, site.grounded, site.place, tuple(sorted(stages)),
    )  # fmt: skip
