"""A three-phase network in the time domain: the laboratory bench, grown to lines, transformers, a motor and breakers.

What its meter sees follows from the circuit alone. Impedances are those of a phase at the nominal frequency [ohm]. A
busbar has three phases; a line's zero-sequence impedance gives the busbar at its end an earth of its own.
"""

from collections.abc import Mapping, Sequence
from math import ceil, inf, pi, sqrt
from typing import NamedTuple

import numpy as np

from pqswarm._base.checks import check_name, check_positive
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError

Element = tuple[int, ...]  # its branches, one per phase
Core = tuple[float, float, float]  # flux at the knee [V s], inductance beyond it [H], residual flux [V s]
Times = Sequence[float] | FloatArray
_FINE = 32_000.0  # least steps per second
_REACH = 6  # samples on either side that the recorder's low-pass sees
_WARM_UP = 12  # cycles before the record


class NetworkRecord(NamedTuple):
    """Voltages to earth [V], currents [A], speed of the motor [pu], and when the switch of each branch operated [s]."""

    voltages: FloatArray
    currents: FloatArray
    speed: FloatArray
    operated: FloatArray


class Network:
    """A network: each method adds an element and returns its branches; :meth:`run` simulates and records.

    `frequency` is the nominal one [Hz]. `operations` are the times [s] when the switch of an element changes, for all
    poles or a row per pole. It closes at once and opens at the next zero of its current.

    Examples
    --------
    A fault of phase A to earth beyond a line with the impedance of the source halves the voltage of phase A:

    >>> network = Network()
    >>> source = network.source("bus", 230.0, 0.1j, 0.1j)
    >>> feeder = network.line("bus", "end", 0.1j)
    >>> fault = network.fault("end", {"A": [0.1], "G": [0.1]}, resistance=1e-4)
    >>> record = network.run(0.3, 6400.0, "bus", feeder)
    >>> np.sqrt(np.mean(record.voltages[:, -640:] ** 2, axis=1)).round(-1)
    array([120., 230., 230.])
    """

    def __init__(self, *, frequency: float = 50.0) -> None:
        self._omega = self._actual = 2 * pi * check_positive("frequency", frequency, unit="Hz")
        self._nodes = {"earth": -1}
        self._branches: list[tuple[list[int], list[float], list[float], list[float]]] = []
        self._harmonics: list[tuple[float, float, float]] = []
        self._motor = (-1, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0)  # first branch; in electrical radians, as the kernel takes it

    def _branch(
        self,
        ends: dict[str, float],
        z: complex,
        due: Times = (),
        open_: bool = False,
        capacitance: float = inf,
        core: Core | None = None,
        driver: int = -1,
    ) -> int:
        """Add a series branch; `ends` are its nodes, and with which factor its voltage has theirs."""
        nodes = [self._nodes.setdefault(name, len(self._nodes) - 1) for name in ends]
        inductance = z.imag / self._omega
        knee, saturated, flux = core or (inf, inductance, 0.0)
        values = [z.real, 1 / capacitance, inductance, saturated, knee, flux, 1.0 - open_, inductance, *[0.0] * 8, 1.0]
        wiring = [*nodes, *[-1] * (4 - len(nodes)), len(nodes), driver]
        self._branches.append((wiring, [*ends.values(), 0.0, 0.0][:4], [*map(float, due), inf], values))
        return len(self._branches) - 1

    def _earth(self, bus: str) -> str:
        return f"{bus}.earth" if f"{bus}.earth" in self._nodes else "earth"

    def source(
        self,
        bus: str,
        voltage: float,
        z1: complex,
        z0: complex,
        *,
        earthing: complex = 0.0,
        phase: float = 0.0,
        harmonics: Sequence[tuple[int, float, float]] = (),
        frequency: float | None = None,
    ) -> Element:
        """Add the source: a voltage [V, phase to neutral] behind impedances of positive and zero sequence.

        `earthing` is the impedance of its neutral to earth. `harmonics` are order, fraction of the fundamental and
        phase [rad]; `frequency` is the actual one [Hz].
        """
        if self._harmonics:
            raise PqswarmError("A network has one source: leave out the second.")
        peak = sqrt(2) * voltage
        self._harmonics = [(1, peak, phase), *((k, peak * size, k * phase + angle) for k, size, angle in harmonics)]
        self._actual = self._omega if frequency is None else 2 * pi * frequency
        self._branch({"earth": 1, "neutral": -1}, (z0 - z1) / 3 + earthing + 1e-4 * abs(z1))
        return tuple(self._branch({"neutral": 1, f"{bus}.{k}": -1}, z1, driver=k) for k in range(3))

    def line(self, start: str, end: str, z1: complex, z0: complex | None = None, *, operations: Times = ()) -> Element:
        """Add a line with a closed breaker at its start; without `z0` its earth has no impedance."""
        if z0 is not None:
            self._branch({f"{end}.earth": 1, self._earth(start): -1}, (z0 - z1) / 3)
        return tuple(self._branch({f"{start}.{k}": 1, f"{end}.{k}": -1}, z1, operations) for k in range(3))

    def shunt(
        self,
        bus: str,
        impedance: complex,
        *,
        connection: str = "earthed",
        capacitance: float = inf,
        cores: Sequence[Core] = (),
        operations: Times = (),
        open_: bool = False,
    ) -> Element:
        """Add a load, a capacitor bank (`capacitance` [F]) or an unloaded transformer, at first `open_` or closed.

        `connection` is "earthed" (star with earthed neutral), "star" or "delta". `cores` of a transformer are per
        phase the flux at the knee of saturation [V s], the inductance beyond it [H] and the residual flux [V s].
        """
        check_name("connection", connection, ("earthed", "star", "delta"))
        common = self._earth(bus) if connection == "earthed" else f"star {len(self._branches)}"
        far = [f"{bus}.{(k + 1) % 3}" if connection == "delta" else common for k in range(3)]
        due = np.broadcast_to(operations, (3, np.shape(operations)[-1]))
        return tuple(
            self._branch(
                {f"{bus}.{k}": 1, far[k]: -1}, impedance, due[k], open_, capacitance, cores[k] if cores else None
            )
            for k in range(3)
        )

    def transformer(self, start: str, end: str, ratio: float, impedance: complex) -> Element:
        """Add a transformer Dyn with `ratio` of secondary to primary turns and its `impedance` at the secondary."""
        ends = [{f"{start}.{k}": ratio, f"{start}.{(k + 1) % 3}": -ratio, f"{end}.{k}": -1.0} for k in range(3)]
        return tuple(self._branch(end, impedance) for end in ends)

    def fault(
        self, bus: str, arms: Mapping[str, Sequence[float]], *, resistance: float, earth_resistance: float = 1e-4
    ) -> Element:
        """Add a fault: a star of arms from "A", "B", "C" and "G" (earth), each with the times it strikes and ends."""
        star = f"fault {len(self._branches)}"
        ends = {"A": f"{bus}.0", "B": f"{bus}.1", "C": f"{bus}.2", "G": self._earth(bus)}
        ohms = {"G": earth_resistance + 0j}
        names = [check_name("arm of a fault", arm, ends) for arm in arms]
        return tuple(self._branch({ends[k]: 1, star: -1}, ohms.get(k, resistance + 0j), arms[k], True) for k in names)

    def motor(
        self,
        bus: str,
        *,
        stator: complex,
        rotor: complex,
        magnetising: float,
        inertia: float,
        load: float = 0.0,
        slip: float | None = None,
        operations: Times = (),
    ) -> Element:
        """Add an induction motor (fifth order, single cage, floating neutral); it stands unless it has a `slip`.

        `stator` and `rotor` are resistance and leakage reactance, `magnetising` is a reactance. `inertia` is the energy
        at synchronous speed [J], `load` the power there [W]; its torque grows with the square of the speed.
        """
        if self._motor[0] >= 0:
            raise PqswarmError("A network has one motor: combine several into one.")
        coupling = magnetising / (rotor.imag + magnetising)
        inner = stator + 1j * magnetising * (1 - coupling) + coupling**2 * rotor.real
        speed = 0.0 if slip is None else (1 - slip) * self._actual
        moment, inductance = 2 * inertia / self._omega**2, (rotor.imag + magnetising) / self._omega
        self._motor = (len(self._branches), rotor.real, inductance, coupling, moment, load / self._omega, speed)
        ends = [{f"{bus}.{k}": 1.0, "motor": -1.0} for k in range(3)]
        return tuple(self._branch(end, inner, operations, slip is None, driver=3 + k) for k, end in enumerate(ends))

    def run(self, duration: float, sample_rate: float, bus: str, metered: Element) -> NetworkRecord:
        """Simulate `duration` [s] from the steady state on; record a busbar and an element at `sample_rate` [Hz]."""
        from pqswarm._kernels.math import cosine, sine

        from .kernels import simulate

        if not self._harmonics:
            raise PqswarmError("The network has no source: add one with source().")
        check_name("busbar", bus, [name[:-2] for name in self._nodes if name.endswith(".0")])
        ratio = ceil(_FINE / check_positive("sample_rate", sample_rate, unit="Hz"))
        dt, reach = 1.0 / (ratio * sample_rate), _REACH * ratio
        span = (round(check_positive("duration", duration, unit="s") * sample_rate) - 1) * ratio + 1
        warm_up = round(_WARM_UP * 2 * pi / self._omega / dt)
        orders, peaks, phases = np.array(self._harmonics).T
        angles = phases - orders * (self._actual * dt * (warm_up + reach) + 2 * pi / 3 * np.arange(3)[:, None])
        turn = np.vectorize(lambda angle: complex(cosine(angle), sine(angle)), otypes=[np.complex128])
        wiring, factors, due, values = zip(*self._branches, strict=True)
        padded = [times + [inf] * (max(map(len, due)) - len(times)) for times in due]
        earth = len(self._nodes) - 1  # the kernel's number of it, and that of the other nodes
        nodes = np.where(np.array(wiring) == -1, [*[earth] * 4, 0, -1], wiring)
        meter = [(self._nodes[f"{bus}.{k}"], self._nodes[self._earth(bus)] % (earth + 1), metered[k]) for k in range(3)]
        fine, operated = simulate(
            -reach,
            span + reach,
            warm_up,
            dt,
            self._actual,
            peaks * turn(angles),
            turn(orders * self._actual * dt),
            earth,
            nodes,
            np.array(factors),
            np.array(padded),
            tuple(np.array(values).T.copy()),
            self._motor,
            np.array(meter),
        )
        # The recorder's low-pass: a windowed sinc that passes 0.8 of its band.
        taps = np.array([0.5 + 0.5 * cosine(pi * lag / (reach + 1)) for lag in range(-reach, reach + 1)])
        taps *= [sine(x) / x if x else 1.0 for x in 0.8 * pi / ratio * np.arange(-reach, reach + 1)]
        coarse = sum(tap * fine[:, i : i + span : ratio] for i, tap in enumerate(taps / taps.sum()))
        return NetworkRecord(coarse[:3], coarse[3:6], coarse[6] / self._actual, operated)
