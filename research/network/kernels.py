"""The three-phase network in the time domain: compiled code, arrays in, arrays out.

Every element is a series branch: electromotive force, switch, resistance, inductance that may saturate, capacitance.
Nodal analysis as on the bench: trapezoidal rule, and two backward Euler half steps wherever a switch operates.
"""

import numpy as np

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.math import cosine
from pqswarm.events._kernels import invert_bench_matrix

_LEAK = 1e-10  # conductance of each node to earth over the largest of the branches: no node floats
_CHOPPED = 0.01  # a switch that opens chops currents below this fraction of the highest one
_TURNS = np.array([1.0, -0.5 - 0.75**0.5 * 1j, -0.5 + 0.75**0.5 * 1j])  # from phase A to A, B and C


@njit(cache=True, nogil=True, error_model="numpy")
def simulate(first, last, warm_up, dt, omega, phasors, turns, n_nodes, wiring, factors, due, branches, motor, meter):
    """Integrate from step `first` to `last`, after `warm_up` steps in which the voltage rises from 0.

    Returns 7 rows (voltages between pairs of nodes, currents of branches, speed of the motor) and when switches
    operated. Node `n_nodes` is earth. `wiring` of a branch: four nodes, how many it has, and what drives it: a phase of
    the source, that of the motor plus 3, or -1. A closed switch opens at the zero of its current after it is `due`, an
    open one closes at once. A motor that runs keeps its speed in the warm-up, and its load is what it drives then.
    """
    # flux = inductance * current + offset; charge is the voltage of the capacitance, side that of the saturation curve
    resistance, elastance, unsaturated, saturated, knee, flux, closed, inductance = branches[:8]
    offset, conductance, current, induced, charge, history, peak, side, crossing = branches[8:]
    driving, rotor_resistance, rotor_inductance, coupling, inertia, load, speed = motor
    cursor = np.zeros(closed.size, np.int64)
    admittance, impedance = np.zeros((n_nodes, n_nodes)), np.zeros((n_nodes, n_nodes))
    v, injected, emf, emf_next = np.zeros(n_nodes + 1), np.zeros(n_nodes + 1), np.zeros(6), np.zeros(6)
    record, operated = np.zeros((7, last - first)), np.full(due.shape, np.inf)
    running, decay = speed > 0.0, rotor_resistance / rotor_inductance
    rotor = slope = 0j

    switched = changed = True
    for step in range(first - warm_up, last):
        t = step * dt
        if step >= first:
            for k in range(3):
                record[k, step - first] = v[meter[k, 0]] - v[meter[k, 1]]
                record[3 + k, step - first] = current[meter[k, 2]]
            record[6, step - first] = speed
        for b in range(closed.size):
            if t >= due[b, cursor[b]] and crossing[b] >= closed[b]:
                closed[b] = 1.0 - closed[b]
                switched = changed = True
                operated[b, cursor[b]] = t
                cursor[b] += 1
                current[b] = induced[b] = 0.0
                flux[b] = 0.0 if knee[b] == np.inf else flux[b]
            now = 0.0 if abs(flux[b]) <= knee[b] else flux[b] / abs(flux[b])
            if now != side[b]:
                side[b] = now
                changed = True
                inductance[b] = saturated[b] if now != 0.0 else unsaturated[b]
                offset[b] = now * knee[b] * (1.0 - saturated[b] / unsaturated[b])
        if changed:
            changed, largest = False, 0.0
            admittance[:] = 0.0
            for b in range(closed.size):
                g = closed[b] / (resistance[b] + 2.0 * inductance[b] / dt + 0.5 * dt * elastance[b])
                conductance[b] = g
                largest = max(largest, g)
                for i in range(wiring[b, 4]):
                    for j in range(wiring[b, 4]):
                        if wiring[b, i] < n_nodes and wiring[b, j] < n_nodes:
                            admittance[wiring[b, i], wiring[b, j]] += g * factors[b, i] * factors[b, j]
            for i in range(n_nodes):
                admittance[i, i] += _LEAK * largest
            invert_bench_matrix(admittance, impedance)

        ramp = 0.5 - 0.5 * cosine(np.pi * min(1.0, 2.0 * (step - first + warm_up) / warm_up))
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
            for b in range(closed.size):
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
            for b in range(closed.size):
                if closed[b] != 0.0:
                    across = -history[b]
                    for i in range(wiring[b, 4]):
                        across += factors[b, i] * v[wiring[b, i]]
                    i_new = conductance[b] * across
                    flux_new = inductance[b] * i_new + offset[b]
                    induced[b] = 2.0 / dt * (flux_new - flux[b]) - rule * induced[b]
                    charge[b] += 0.5 * dt * elastance[b] * (i_new + rule * current[b])
                    peak[b] = max(peak[b], abs(i_new))
                    crossing[b] = 1.0 if current[b] * i_new <= 0.0 or abs(i_new) < _CHOPPED * peak[b] else 0.0
                    current[b] = i_new
                    flux[b] = flux_new
        switched = False
        emf[:] = emf_next
    return record, operated
