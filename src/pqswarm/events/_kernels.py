"""The test bench in the time domain: compiled code, arrays in, arrays out.

Nodal analysis with the trapezoidal rule. Around every change of topology (a diode, the fault, the
bank) one step is replaced by two half steps of the backward Euler rule, which have the same nodal
matrix and remove the oscillation that the trapezoidal rule would show there (critical damping
adjustment, J. R. Marti and J. Lin, IEEE Trans. Power Systems 4 (1989) 394-402).
"""

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.lanes import LANES
from pqswarm._kernels.math import cosine, exponential, make_normal, sine
from pqswarm._kernels.sums import squared_distance

_DIODE_ON = 100.0  # [S]
_DIODE_OFF = 1e-6  # [S]


@njit(cache=True, nogil=True)
def invert_bench_matrix(matrix, inverse):
    """Gauss-Jordan elimination of a small matrix with dominant diagonal; `matrix` is destroyed."""
    n = matrix.shape[0]
    inverse[:, :] = np.eye(n)
    for k in range(n):
        scale = 1.0 / matrix[k, k]
        matrix[k] *= scale
        inverse[k] *= scale
        for i in range(n):
            if i != k:
                factor = matrix[i, k]
                for j in range(n):
                    matrix[i, j] -= factor * matrix[k, j]
                    inverse[i, j] -= factor * inverse[k, j]


@njit(cache=True, nogil=True)
def _bench_impedance(branch, shunt, dc, diodes, scratch, inverse):
    """Nodal impedance matrix of the nodes a, b, c, plus, minus; bit 2k is the upper diode of phase k."""
    scratch[:, :] = 0.0
    for k in range(3):
        upper = _DIODE_ON if diodes >> (2 * k) & 1 else _DIODE_OFF
        lower = _DIODE_ON if diodes >> (2 * k + 1) & 1 else _DIODE_OFF
        scratch[k, k] = branch + shunt[k] + upper + lower
        scratch[k, 3] = scratch[3, k] = -upper
        scratch[k, 4] = scratch[4, k] = -lower
        scratch[3, 3] += upper
        scratch[4, 4] += lower
    scratch[3, 3] += dc
    scratch[4, 4] += dc
    scratch[3, 4] -= dc
    scratch[4, 3] -= dc
    invert_bench_matrix(scratch, inverse)


@njit(cache=True, nogil=True)
def _diode_states(v):
    """The diodes that conduct at the node voltages `v`: a diode is on while its voltage is positive."""
    state = 0
    for k in range(3):
        if v[k] - v[3] > 0.0:
            state |= 1 << (2 * k)
        if v[4] - v[k] > 0.0:
            state |= 1 << (2 * k + 1)
    return state


@njit(cache=True, nogil=True)
def simulate_bench(
    n_samples,
    oversampling,
    warm_up,
    dt,
    angular_frequency,
    orders,
    amplitudes,
    phases,
    source_resistance,
    source_inductance,
    load_conductance,
    dc_conductance,
    capacitance,
    capacitor_resistance,
    trapped_voltage,
    closing_time,
    fault_conductance,
    fault_time,
    clearing_time,
):
    """Integrate the bench; return phase voltages and source currents, each of shape (3, n_samples).

    The record starts at t = 0, after `warm_up` steps. `dc_conductance` 0 leaves the rectifier out; times of infinity
    leave the bank or the fault out. The fault clears at the first zero of its current after `clearing_time`.
    """
    voltages = np.empty((3, n_samples))
    currents = np.empty((3, n_samples))
    rectifier = dc_conductance > 0.0

    reactance = 2.0 * source_inductance / dt
    branch = 1.0 / (source_resistance + reactance)
    recall = branch * (reactance - source_resistance)
    elastance = dt / (2.0 * capacitance)
    bank = 1.0 / (capacitor_resistance + elastance)

    n_orders = orders.size
    phasors = np.empty((3, n_orders), np.complex128)
    turns = np.empty(n_orders, np.complex128)
    for h in range(n_orders):
        step = orders[h] * angular_frequency * dt
        turns[h] = complex(cosine(step), sine(step))
        for k in range(3):
            angle = phases[h] - orders[h] * 2.0 * np.pi * k / 3.0 - warm_up * step
            phasors[k, h] = complex(amplitudes[h] * cosine(angle), amplitudes[h] * sine(angle))

    emf = phasors.imag.sum(axis=1)
    emf_next = np.zeros(3)
    emf_middle = np.zeros(3)
    v = np.zeros(5)
    v_try = np.zeros(5)
    injected = np.zeros(3)
    i_source = np.zeros(3)
    i_bank = np.zeros(3)
    v_bank = np.array([trapped_voltage, -0.5 * trapped_voltage, -0.5 * trapped_voltage])
    shunt = np.full(3, load_conductance)
    scratch = np.empty((5, 5))
    impedance = np.empty((5, 5))
    diodes = 0
    if rectifier:
        _bench_impedance(branch, shunt, dc_conductance, diodes, scratch, impedance)
    closed = False
    faulted = False
    fault_done = False
    cleared = False

    total = warm_up + (n_samples - 1) * oversampling + 1
    for step in range(total):
        t = (step - warm_up) * dt  # the state is that of time t
        if step >= warm_up and (step - warm_up) % oversampling == 0:
            sample = (step - warm_up) // oversampling
            voltages[:, sample] = v[:3]
            currents[:, sample] = i_source

        switched = cleared
        cleared = False
        if not closed and t >= closing_time:
            closed = True
            switched = True
            shunt += bank
        if not faulted and not fault_done and t >= fault_time:
            faulted = True
            switched = True
            shunt[0] += fault_conductance
        for k in range(3):
            emf_next[k] = 0.0
            for h in range(n_orders):
                phasors[k, h] *= turns[h]
                emf_next[k] += phasors[k, h].imag
            emf_middle[k] = 0.5 * (emf[k] + emf_next[k])
        if switched and rectifier:
            _bench_impedance(branch, shunt, dc_conductance, diodes, scratch, impedance)

        # One trapezoidal step; where the topology changes, two backward Euler half steps instead.
        half_steps = 2 if switched else 0
        while True:
            if half_steps == 0:
                for k in range(3):
                    injected[k] = branch * (emf_next[k] + emf[k] - v[k]) + recall * i_source[k]
                    if closed:
                        injected[k] += bank * (v_bank[k] + elastance * i_bank[k])
            else:
                for k in range(3):
                    drive = emf_middle[k] if half_steps == 2 else emf_next[k]
                    injected[k] = branch * (drive + reactance * i_source[k])
                    if closed:
                        injected[k] += bank * v_bank[k]
            changed = False
            if rectifier:
                for _ in range(12):
                    for i in range(5):
                        v_try[i] = (
                            impedance[i, 0] * injected[0]
                            + impedance[i, 1] * injected[1]
                            + impedance[i, 2] * injected[2]
                        )
                    state = _diode_states(v_try)
                    if state == diodes:
                        break
                    diodes = state
                    changed = True
                    _bench_impedance(branch, shunt, dc_conductance, diodes, scratch, impedance)
            else:
                for k in range(3):
                    v_try[k] = injected[k] / (branch + shunt[k])
            if changed and half_steps == 0:
                half_steps = 2
                continue
            for k in range(3):
                if half_steps == 0:
                    i_new = branch * (emf_next[k] - v_try[k] + emf[k] - v[k]) + recall * i_source[k]
                    i_source[k] = i_new
                    if closed:
                        i_new = bank * (v_try[k] - v_bank[k] - elastance * i_bank[k])
                        v_bank[k] += elastance * (i_bank[k] + i_new)
                        i_bank[k] = i_new
                else:
                    drive = emf_middle[k] if half_steps == 2 else emf_next[k]
                    i_source[k] = branch * (drive - v_try[k] + reactance * i_source[k])
                    if closed:
                        i_bank[k] = bank * (v_try[k] - v_bank[k])
                        v_bank[k] += elastance * i_bank[k]
            crossing = v[0] * v_try[0] <= 0.0
            v[:] = v_try
            if half_steps <= 1:
                break
            half_steps = 1

        if faulted and t >= clearing_time and crossing:
            faulted = False
            fault_done = True
            cleared = True
            shunt[0] -= fault_conductance
        emf[:] = emf_next
    return voltages, currents


@njit(cache=True, nogil=True, error_model="numpy")
def add_noise_of_power(signal, log_ratio, noise):
    """Turn uniform numbers of [0, 1), `noise`, into the `signal`, float64[n], with normal noise.

    Its power over the signal's is the exponential of `log_ratio`. `noise` is of an even length, n or n + 1.
    """
    make_normal(noise)
    n = signal.size
    sums = np.empty(LANES)
    zeros = np.zeros(n)
    wanted = squared_distance(signal, zeros, sums) * exponential(log_ratio)
    factor = np.sqrt(wanted / squared_distance(noise[:n], zeros, sums))
    for i in range(n):
        noise[i] = noise[i] * factor + signal[i]
