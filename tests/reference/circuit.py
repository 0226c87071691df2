"""One phase of the laboratory bench (no rectifier), by a general solver of differential equations."""

import itertools

import numpy as np
from scipy.integrate import solve_ivp


def phase_voltage(t, *, inductance, resistance, load, fault=np.inf, span=(np.inf, np.inf), bank=None, f0=50.0):
    """Voltage at the coupling point at the times `t`; `bank` is (C, R, trapped voltage, closing time)."""
    closing = np.inf if bank is None else bank[3]
    edges = sorted({t[0], *(edge for edge in (*span, closing) if t[0] < edge < t[-1]), t[-1]})
    state = None
    voltage = np.empty_like(t)
    for first, last in itertools.pairwise(edges):
        middle = 0.5 * (first + last)
        conductance = 1 / load + (1 / fault if span[0] <= middle < span[1] else 0.0)
        closed = middle >= closing
        if state is None:
            z = resistance + 2j * np.pi * f0 * inductance + 1 / conductance
            current = (1 / z) * np.exp(2j * np.pi * f0 * first)
            state = np.array([current.imag, 0.0 if bank is None else bank[2]])

        def terminal(i, v_c, closed=closed, conductance=conductance):
            if closed:
                return (i + v_c / bank[1]) / (conductance + 1 / bank[1])
            return i / conductance

        def slope(time, x, closed=closed, terminal=terminal):
            v = terminal(*x)
            di = (np.sin(2 * np.pi * f0 * time) - resistance * x[0] - v) / inductance
            return [di, (v - x[1]) / (bank[1] * bank[0]) if closed else 0.0]

        inside = (t >= first) & (t <= last)
        times = np.unique(np.concatenate([t[inside], [last]]))
        solution = solve_ivp(slope, (first, last), state, "LSODA", times, rtol=1e-9, atol=1e-12, max_step=2e-5)
        voltage[inside] = terminal(*solution.y[:, np.isin(times, t[inside])])
        state = solution.y[:, -1]
    return voltage
