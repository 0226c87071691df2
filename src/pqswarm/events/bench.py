"""The test bench of the paper as a circuit in the time domain.

The paper took about a tenth of its events from a laboratory. This is its test bench::

    source e_k -- R_s -- L_s --+-- coupling point k (recorded) --+-- load R
     (k = a, b, c)             |                                 |
                               +-- bridge of six diodes -- R_dc  +-- capacitor bank C, closed on command
                               |
                               +-- fault resistance to ground (phase a only)

It makes the harmonics of a three-phase uncontrolled rectifier (orders 6k +- 1), the transient of a
switched capacitor bank, and the sag of a single-line-to-ground fault, alone or together.
"""

from dataclasses import dataclass
from math import ceil, inf, pi, sqrt

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.events.models import Grid


@dataclass(frozen=True, eq=False)
class BenchRecord:
    """What the bench's recorder saw.

    Attributes
    ----------
    voltages, currents : ndarray of shape (3, n)
        Phase voltages at the coupling point [pu]; currents out of the source [pu/ohm].
    """

    voltages: FloatArray
    currents: FloatArray


def run_bench(
    n_samples: int,
    sampling_rate: float,
    *,
    source_inductance: float,
    source_x_over_r: float,
    load_resistance: float,
    rectifier_ratio: float = inf,
    capacitance: float | None = None,
    capacitor_resistance: float = 0.003,
    trapped_voltage: float = 0.0,
    switching_angle: float = pi / 2,
    transient_onset: float = 0.0,
    fault_ratio: float | None = None,
    start: float = 0.0,
    duration: float = 0.0,
    grid: Grid | None = None,
    nominal_frequency: float = 50.0,
    oversampling: int = 4,
) -> BenchRecord:
    """Simulate the bench and record it.

    Parameters
    ----------
    n_samples : int
        Length of the record.
    sampling_rate : float
        Samples per second of the record [Hz].
    nominal_frequency : float, default=50.0
        Frequency at which the reactances are defined [Hz].
    source_inductance, source_x_over_r, load_resistance : float
        As in :data:`PARAMETERS`, which has the units.
    capacitor_resistance : float, default=0.003
        Likewise.
    trapped_voltage : float, default=0.0
        Likewise.
    rectifier_ratio : float, default=inf
        Likewise; infinity disconnects the rectifier.
    capacitance, fault_ratio : float, default=None
        Likewise; None leaves out the bank or the fault.
    switching_angle : float, default=pi / 2
        The bank closes when phase a first passes this angle [rad] after the onset.
    transient_onset : float, default=0.0
        Onset [s].
    start, duration : float, default=0.0
        Start and minimum duration of the fault [s]: it clears at the next zero of its current.
    grid : Grid, default=None
        The source's voltage behind the impedance.
    oversampling : int, default=4
        Integration steps per sample.

    Returns
    -------
    BenchRecord
        Voltages and currents of the three phases.

    Examples
    --------
    The residual voltage of a fault follows from the divider of fault and source impedance:

    >>> record = run_bench(5000, 25_000, source_inductance=0.5e-3, source_x_over_r=2.0,
    ...                    load_resistance=1e6, fault_ratio=1.0, start=0.0, duration=1.0)
    >>> residual = np.sqrt(2 * np.mean(record.voltages[0, 2500:] ** 2))
    >>> bool(abs(residual - 1 / abs(1 + (1 + 2j) / 5**0.5)) < 1e-3)
    True
    """
    from pqswarm.events._kernels import simulate_bench

    grid = grid or Grid()
    reactance = 2 * pi * nominal_frequency * source_inductance
    resistance = reactance / source_x_over_r
    harmonics = ((1, 1.0, 0.0), *grid.background)
    orders = np.array([k for k, _, _ in harmonics], dtype=np.float64)
    amplitudes = grid.amplitude * np.array([size for _, size, _ in harmonics], dtype=np.float64)
    phases = np.array([k * grid.phase + phase for k, _, phase in harmonics], dtype=np.float64)

    closing_time = inf
    if capacitance is not None:
        first = (switching_angle - grid.phase) / (2 * pi)  # in cycles
        turns = ceil(transient_onset * grid.frequency - first)
        closing_time = (first + turns) / grid.frequency
    fault_conductance = 0.0
    if fault_ratio is not None:
        fault_conductance = 1.0 / (fault_ratio * sqrt(resistance * resistance + reactance * reactance))

    dt = 1.0 / (sampling_rate * oversampling)
    voltages, currents = simulate_bench(
        n_samples,
        oversampling,
        ceil(2 * sampling_rate * oversampling / nominal_frequency),
        dt,
        2 * pi * grid.frequency,
        orders,
        amplitudes,
        phases,
        resistance,
        source_inductance,
        1.0 / load_resistance,
        0.0 if rectifier_ratio == inf else 1.0 / (rectifier_ratio * reactance),
        1.0 if capacitance is None else capacitance,
        capacitor_resistance,
        trapped_voltage,
        closing_time,
        fault_conductance,
        inf if fault_ratio is None else start,
        start + duration,
    )
    return BenchRecord(voltages, currents)
