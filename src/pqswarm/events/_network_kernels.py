"""The three-phase network in the time domain: compiled code, arrays in, arrays out.

Every element is a series branch (electromotive force, switch, resistance, inductance that may saturate, capacitance)
of two nodes, or of four: a transformer. Nodal analysis as on the bench: the trapezoidal rule, and two half steps of
the backward Euler rule wherever a switch operates.
"""

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.math import cosine
from pqswarm.events._bench_kernels import invert

_LEAK = 1e-10  # conductance of each node to earth over the largest of the branches: no node floats
_CHOPPED = 0.01  # a switch that opens chops currents below this fraction of the highest one
_TURNS = np.array([1.0, -0.5 - 0.75**0.5 * 1j, -0.5 + 0.75**0.5 * 1j])  # from phase A to A, B and C


@njit(cache=True, nogil=True, error_model="numpy")
def simulate(first, last, warm_up, dt, omega, phasors, turns, n_nodes, wiring, factors, table, due, motor, meter):
    """Integrate from step `first` to `last`, after `warm_up` steps in which the voltage rises from 0.

    Returns 7 rows (voltages between pairs of nodes, currents of branches, speed of the motor) and when switches
    operated. Node `n_nodes` is earth. `phasors` of the source, phase x harmonic, turn by `turns` in a step. `wiring` of
    a branch: nodes, how many, and what drives it: a phase of the source, that of the motor plus 3, or -1. A closed
    switch opens at the zero of its current after the time when it is `due`, an open one closes at once. `motor`: first
    branch, rotor's resistance, inductance and coupling, moment of inertia, torque of the load at synchronous speed,
    speed, all in electrical radians. A motor that runs keeps its speed in the warm-up, and its load is what it drives.
    """
    n_branches = wiring.shape[0]
    resistance, elastance, unsaturated, saturated, knee = table[0], table[1], table[2], table[3], table[4]
    inductance = unsaturated.copy()
    state = np.zeros((8, n_branches))
    flux, offset, conductance, current = table[5], state[0], state[1], state[2]  # flux = inductance * current + offset
    induced, charge, history, peak = state[3], state[4], state[5], state[6]  # charge: voltage of the capacitance
    side, closed = state[7], table[6]  # of the curve of saturation
    cursor = np.zeros(n_branches, np.int64)
    crossing = np.ones(n_branches, np.bool_)
    admittance = np.zeros((n_nodes, n_nodes))
    impedance = np.zeros((n_nodes, n_nodes))
    v, injected, emf, emf_next = np.zeros(n_nodes + 1), np.zeros(n_nodes + 1), np.zeros(6), np.zeros(6)
    record = np.empty((7, last - first))
    operated = np.full(due.shape, np.inf)
    driving, rotor_resistance, rotor_inductance, coupling, inertia, load, speed = motor
    running = speed > 0.0
    decay = rotor_resistance / rotor_inductance
    rotor = slope = 0j

    switched = changed = True
    for step in range(first - warm_up, last):
        t = step * dt
        if step >= first:
            for k in range(3):
                record[k, step - first] = v[meter[0, k]] - v[meter[1, k]]
                record[3 + k, step - first] = current[meter[2, k]]
            record[6, step - first] = speed
        for b in range(n_branches):
            if t >= due[b, cursor[b]] and (crossing[b] or closed[b] == 0.0):
                closed[b] = 1.0 - closed[b]
                switched = changed = True
                operated[b, cursor[b]] = t
                cursor[b] += 1
                current[b] = induced[b] = 0.0
                if knee[b] == np.inf:
                    flux[b] = 0.0
            now = 0.0 if abs(flux[b]) <= knee[b] else np.sign(flux[b])
            if now != side[b]:
                side[b] = now
                changed = True
                inductance[b] = saturated[b] if now != 0.0 else unsaturated[b]
                offset[b] = now * knee[b] * (1.0 - saturated[b] / unsaturated[b])
        if changed:
            changed = False
            admittance[:] = 0.0
            for b in range(n_branches):
                g = closed[b] / (resistance[b] + 2.0 * inductance[b] / dt + 0.5 * dt * elastance[b])
                conductance[b] = g
                for i in range(wiring[b, 4]):
                    for j in range(wiring[b, 4]):
                        if wiring[b, i] < n_nodes and wiring[b, j] < n_nodes:
                            admittance[wiring[b, i], wiring[b, j]] += g * factors[b, i] * factors[b, j]
            leak = _LEAK * conductance.max()
            for i in range(n_nodes):
                admittance[i, i] += leak
            invert(admittance, impedance)

        ramp = 1.0
        if 2 * (first - step) > warm_up:
            ramp = 0.5 - 0.5 * cosine(2.0 * np.pi * (step - first + warm_up) / warm_up)
        for k in range(3):
            emf_next[k] = 0.0
            for h in range(turns.size):
                phasors[k, h] *= turns[h]
                emf_next[k] += ramp * phasors[k, h].imag
        if driving >= 0:
            stator = 0j
            for k in range(3):
                stator += 2.0 / 3.0 * current[driving + k] * _TURNS[k].conjugate()
            torque = 1.5 * coupling * (rotor.conjugate() * stator).imag
            rate = coupling * rotor_resistance * stator + (1j * speed - decay) * rotor
            rotor += dt * (1.5 * rate - 0.5 * slope)
            slope = rate
            relative = speed / omega
            if running and step < first:
                load += 0.1 * omega * dt * (torque / (relative * relative) - load)
            else:
                speed += dt / inertia * (torque - load * relative * abs(relative))
            for k in range(3):
                emf_next[3 + k] = -(coupling * (1j * speed - decay) * rotor * _TURNS[k]).real

        # One trapezoidal step; where a switch operated, two backward Euler half steps instead.
        rule = 0.0 if switched else 1.0
        for half in range(2 if switched else 1):
            early = 0.5 if switched and half == 0 else 0.0
            injected[:] = 0.0
            for b in range(n_branches):
                if closed[b] != 0.0:
                    drop = 2.0 / dt * (offset[b] - flux[b]) + charge[b]
                    drop += rule * (0.5 * dt * elastance[b] * current[b] - induced[b])
                    driver = wiring[b, 5]
                    if driver >= 0:
                        drop -= emf_next[driver] + early * (emf[driver] - emf_next[driver])
                    history[b] = drop
                    for i in range(wiring[b, 4]):
                        injected[wiring[b, i]] += conductance[b] * drop * factors[b, i]
            for i in range(n_nodes):
                v[i] = 0.0
                for j in range(n_nodes):
                    v[i] += impedance[i, j] * injected[j]
            for b in range(n_branches):
                if closed[b] != 0.0:
                    across = -history[b]
                    for i in range(wiring[b, 4]):
                        across += factors[b, i] * v[wiring[b, i]]
                    i_new = conductance[b] * across
                    flux_new = inductance[b] * i_new + offset[b]
                    induced[b] = 2.0 / dt * (flux_new - flux[b]) - rule * induced[b]
                    charge[b] += 0.5 * dt * elastance[b] * (i_new + rule * current[b])
                    peak[b] = max(peak[b], abs(i_new))
                    crossing[b] = current[b] * i_new <= 0.0 or abs(i_new) < _CHOPPED * peak[b]
                    current[b] = i_new
                    flux[b] = flux_new
        switched = False
        emf[:] = emf_next
    return record, operated
