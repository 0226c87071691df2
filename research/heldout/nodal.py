"""A small electromagnetic transients program: nodal analysis of branches with companion models, solved in fixed steps.

A branch joins any number of nodes by coefficients, so a phase, a sequence mode and a winding are the same to the
solver. Branches are resistances (switches, diodes), series RL with a source, series RC, and saturable inductances of
linear segments. The rule of integration is the trapezoidal one with slight damping. Breakers open at a zero of their
current.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Bus = tuple[int, int, int]

GROUND = -1
RESISTOR, INDUCTOR, CAPACITOR, CORE, DIODE = range(5)
CLOSE, OPEN, OPEN_NOW, MELT = range(4)
THETA = 0.54
"""Weight of the new value in an integration step: 0.5 is the trapezoidal rule, more damps."""

PARK = np.array(
    [
        [1 / np.sqrt(3)] * 3,
        [2 / np.sqrt(6), -1 / np.sqrt(6), -1 / np.sqrt(6)],
        [0.0, 1 / np.sqrt(2), -1 / np.sqrt(2)],
    ]
)
"""Power-invariant transform of phases into modes 0, alpha, beta."""


@dataclass
class Solution:
    """Voltages of nodes and currents of branches, one column per step, and when each operation took place."""

    nodes: dict[int, int]
    branches: dict[int, int]
    volts: Floats
    amps: Floats
    operated: Floats
    speed: Floats

    def v(self, bus: Bus) -> Floats:
        return self.volts[[self.nodes[n] for n in bus]]

    def i(self, branches: Bus) -> Floats:
        return self.amps[[self.branches[b] for b in branches]]


@dataclass
class Net:
    """A network under construction; nodes and branches are numbers."""

    n_nodes: int = 0
    n_known: int = 0
    rows: list[dict[int, float]] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    r: list[float] = field(default_factory=list)
    x: list[float] = field(default_factory=list)
    off: list[float] = field(default_factory=list)
    closed: list[bool] = field(default_factory=list)
    gate: list[int] = field(default_factory=list)
    knees: dict[int, tuple[list[float], list[float], float, int]] = field(default_factory=dict)
    arcs: list[tuple[int, int, float]] = field(default_factory=list)
    motors: list[tuple[float, ...]] = field(default_factory=list)
    operations: list[tuple[float, int, int]] = field(default_factory=list)
    injections: list[tuple[int, Floats]] = field(default_factory=list)

    def node(self) -> int:
        self.n_nodes += 1
        return self.n_nodes - 1

    def bus(self) -> Bus:
        return self.node(), self.node(), self.node()

    def known(self) -> int:
        """A node whose voltage is given."""
        self.n_known += 1
        return -1 - self.n_known

    def branch(self, kind: int, row: dict[int, float], r: float, x: float = 0.0) -> int:
        self.kind.append(kind)
        self.rows.append({k: c for k, c in row.items() if k != GROUND and c})
        self.r.append(r)
        self.x.append(x)
        self.off.append(r)
        self.closed.append(True)
        self.gate.append(-1)
        return len(self.kind) - 1

    def resistor(self, a: int, b: int, ohm: float) -> int:
        return self.branch(RESISTOR, {a: 1.0, b: -1.0}, ohm)

    def coil(self, a: int, b: int, ohm: float, henry: float) -> int:
        return self.branch(INDUCTOR, {a: 1.0, b: -1.0}, ohm, henry)

    def capacitor(self, a: int, b: int, ohm: float, farad: float) -> int:
        return self.branch(CAPACITOR, {a: 1.0, b: -1.0}, ohm, farad)

    def switch(self, a: int, b: int, closed: bool, on: float, off: float) -> int:
        k = self.branch(RESISTOR, {a: 1.0, b: -1.0}, on)
        self.off[k], self.closed[k] = off, closed
        return k

    def switches(self, a: Bus, b: Bus, closed: bool, on: float, off: float) -> Bus:
        return tuple(self.switch(p, q, closed, on, off) for p, q in zip(a, b, strict=True))  # type: ignore[return-value]

    def diode(self, a: int, b: int, on: float, off: float, gate: int = -1) -> int:
        """A diode from a to b, or with a gate a thyristor."""
        k = self.branch(DIODE, {a: 1.0, b: -1.0}, on)
        self.off[k], self.closed[k], self.gate[k] = off, False, gate
        return k

    def line(self, a: Bus, b: Bus, z1: tuple[float, float], z0: tuple[float, float]) -> None:
        """Three coupled phases, as modes; z1 and z0 are resistance and inductance."""
        for mode, (r, henry) in enumerate((z0, z1, z1)):
            row = {p: PARK[mode, k] for k, p in enumerate(a)} | {q: -PARK[mode, k] for k, q in enumerate(b)}
            self.branch(INDUCTOR, row, r, henry)

    def core(self, row: dict[int, float], flux: list[float], amps: list[float], residual: float, waits: int) -> int:
        """A core through the points (flux, amps); its flux is held until branch `waits` closes (-1: not)."""
        k = self.branch(CORE, row, 0.0, flux[0] / amps[0])
        self.knees[k] = (flux, amps, residual, waits)
        return k

    def arc(self, a: int, b: int, ohm: float, henry: float, table: int, smooth: float) -> int:
        """An arc: a voltage against its current, of the magnitude given by an injection table."""
        k = self.coil(a, b, ohm, henry)
        self.arcs.append((k, table, smooth))
        return k

    def motor(self, bus: Bus, vll: float, s: float, frequency: float, pu: dict[str, float], running: bool) -> int:
        """An induction machine of power s; pu: rs, xs, xm, rr, start (resistance at standstill), h, load, quadratic."""
        z, w = vll**2 / s, 2 * np.pi * frequency
        lm, lr = pu["xm"] * z / w, (pu["xm"] + pu["xs"]) * z / w
        ls = lr
        leak = ls - lm**2 / lr
        pair = []
        for mode in (1, 2):
            row = {n: PARK[mode, k] for k, n in enumerate(bus)}
            pair.append(self.branch(INDUCTOR, row, pu["rs"] * z, leak))
        torque = s / w
        inertia = 2 * pu["h"] * s / w**2
        start = 1.0 - pu["rr"] * pu["load"] if running else 0.0
        self.motors.append(
            (*pair, lm, lr, pu["rr"] * z, pu["start"] * z, w, inertia, pu["load"] * torque, pu["quadratic"], start * w)
        )
        return len(self.motors) - 1

    def at(self, time: float, branch: int, action: int) -> int:
        """An operation at a time of the simulation; its number, for `Solution.operated`."""
        self.operations.append((time, branch, action))
        return len(self.operations) - 1

    def solve(
        self,
        known: Floats,
        dt: float,
        nodes: list[int],
        branches: list[int],
        *,
        tables: Floats | None = None,
        gates: NDArray[np.bool_] | None = None,
        skip: int = 0,
    ) -> Solution:
        """Simulate as many steps as `known` has columns and keep those after the first `skip`."""
        n, nb = self.n_nodes, len(self.kind)
        ptr, col, val = [0], [], []
        for row in self.rows:
            for k, c in row.items():
                col.append(k if k >= 0 else n + (-2 - k))
                val.append(c)
            ptr.append(len(col))
        flux, amps = np.zeros((nb, 8)), np.zeros((nb, 8))
        residual, waits, segments = np.zeros(nb), np.full(nb, -1), np.zeros(nb, np.int64)
        for k, (f, a, rest, wait) in self.knees.items():
            segments[k] = len(f)
            flux[k, : len(f)], amps[k, : len(f)], residual[k], waits[k] = f, a, rest, wait
        order = sorted(range(len(self.operations)), key=lambda k: self.operations[k][0])
        ops = np.array([self.operations[k] for k in order] or np.zeros((0, 3)), float)
        where = np.array([node for node, _ in self.injections], np.int64)
        injected = np.array([x for _, x in self.injections]) if self.injections else np.zeros((0, 1))
        motors = np.array(self.motors) if self.motors else np.zeros((0, 11))
        arcs = np.array(self.arcs) if self.arcs else np.zeros((0, 3))
        volts, currents, done, speed = _run(
            n,
            np.array(ptr),
            np.array(col),
            np.array(val, float),
            np.array(self.kind),
            np.array(self.r, float),
            np.array(self.x, float),
            np.array(self.off, float),
            np.array(self.closed),
            np.array(self.gate),
            flux,
            amps,
            residual,
            waits,
            segments,
            ops,
            where,
            injected,
            motors,
            arcs,
            np.zeros((1, 1)) if tables is None else tables,
            np.zeros((1, 1), np.bool_) if gates is None else gates,
            np.ascontiguousarray(known.T),
            dt,
            np.array(nodes, np.int64),
            np.array(branches, np.int64),
            skip,
        )
        operated = np.full(len(ops), np.nan)
        operated[order] = done
        return Solution(
            {k: j for j, k in enumerate(nodes)},
            {k: j for j, k in enumerate(branches)},
            volts,
            currents,
            operated,
            speed,
        )


@njit(cache=True)
def _run(  # type: ignore[no-untyped-def]
    n,
    ptr,
    col,
    val,
    kind,
    r,
    x,
    off,
    closed,
    gate,
    flux,
    amps,
    residual,
    waits,
    segments,
    ops,
    where,
    injected,
    motors,
    arcs,
    tables,
    gates,
    known,
    dt,
    out_nodes,
    out_branches,
    skip,
):
    steps, nk = known.shape
    nb = len(kind)
    g, h = np.zeros(nb), np.zeros(nb)
    i, v, emf, state = np.zeros(nb), np.zeros(nb), np.zeros(nb), np.zeros(nb)
    segment = np.zeros(nb, np.int64)
    melting = np.zeros(nb, np.bool_)
    opening = np.full(nb, -1)
    done = np.full(len(ops), np.nan)
    held = np.zeros(nb, np.bool_)
    for b in range(nb):
        if kind[b] == 3:
            state[b] = residual[b]
            held[b] = waits[b] >= 0
    e = np.zeros(n + nk)
    rhs = np.zeros(n)
    inverse = np.zeros((n, n))
    g_known = np.zeros((n, nk))
    volts = np.zeros((len(out_nodes), steps - skip))
    currents = np.zeros((len(out_branches), steps - skip))
    speed = np.zeros((len(motors), steps - skip))
    psi, omega = np.zeros((len(motors), 2)), np.zeros(len(motors))
    for m in range(len(motors)):
        omega[m] = motors[m, 10]
    next_op = 0
    stale = True
    for b in range(nb):
        if kind[b] == 1:
            g[b] = THETA * dt / x[b] / (1 + THETA * dt * r[b] / x[b])
        elif kind[b] == 2:
            g[b] = 1 / (r[b] + THETA * dt / x[b])
        elif kind[b] == 3:
            g[b] = 0.0 if held[b] else THETA * dt / x[b]
        else:
            g[b] = 1 / r[b] if closed[b] else 1 / off[b]
    for step in range(steps):
        now = step * dt
        while next_op < len(ops) and ops[next_op, 0] <= now:
            b, action = int(ops[next_op, 1]), int(ops[next_op, 2])
            if action == 0:
                g[b] = 1 / r[b]
                opening[b] = -1
                melting[b] = False
                done[next_op] = now
                stale = True
                for c in range(nb):
                    if held[c] and waits[c] == b:
                        held[c] = False
                        g[c] = THETA * dt / x[c]
            elif action == 1:
                opening[b] = next_op
            elif action == 2:
                g[b] = 1 / off[b]
                done[next_op] = now
                stale = True
            else:
                melting[b] = True
                opening[b] = next_op
            next_op += 1
        for b in range(nb):
            if melting[b]:
                if g[b] > 1 / off[b]:
                    g[b] = max(g[b] * (1 - dt / 6e-4), 1 / off[b])
                    stale = True
                else:
                    melting[b] = False
        if stale:
            full = np.zeros((n, n + nk))
            for b in range(nb):
                for p in range(ptr[b], ptr[b + 1]):
                    if col[p] < n:
                        for q in range(ptr[b], ptr[b + 1]):
                            full[col[p], col[q]] += g[b] * val[p] * val[q]
            for k in range(n):
                full[k, k] += 1e-10
            inverse = np.linalg.inv(full[:, :n].copy())
            g_known = full[:, n:].copy()
            stale = False
        for k in range(n):
            rhs[k] = 0.0
        for k in range(nk):
            e[n + k] = known[step, k]
            for j in range(n):
                rhs[j] -= g_known[j, k] * e[n + k]
        for k in range(len(where)):
            rhs[where[k]] += injected[k, step]
        for b in range(nb):
            if kind[b] == 1:
                a = dt / x[b]
                h[b] = (i[b] * (1 - (1 - THETA) * a * r[b]) + a * ((1 - THETA) * v[b] - emf[b])) / (
                    1 + THETA * a * r[b]
                )
            elif kind[b] == 2:
                h[b] = -g[b] * (state[b] + dt / x[b] * (1 - THETA) * i[b])
            elif kind[b] == 3 and not held[b]:
                s = segment[b]
                low = 0.0 if s == 0 else flux[b, s - 1]
                base = 0.0 if s == 0 else amps[b, s - 1]
                slope = (flux[b, s] - low) / (amps[b, s] - base)
                sign = 1.0 if state[b] >= 0 else -1.0
                h[b] = sign * base + (state[b] + (1 - THETA) * dt * v[b] - sign * low) / slope
            else:
                continue
            for p in range(ptr[b], ptr[b + 1]):
                if col[p] < n:
                    rhs[col[p]] -= val[p] * h[b]
        for k in range(n):
            total = 0.0
            for j in range(n):
                total += inverse[k, j] * rhs[j]
            e[k] = total
        for b in range(nb):
            u = 0.0
            for p in range(ptr[b], ptr[b + 1]):
                u += val[p] * e[col[p]]
            if kind[b] == 1:
                v[b], i[b] = u, g[b] * u + h[b]
            elif kind[b] == 2:
                new = g[b] * u + h[b]
                state[b] += dt / x[b] * (THETA * new + (1 - THETA) * i[b])
                v[b], i[b] = u, new
            elif kind[b] == 3:
                if held[b]:
                    continue
                i[b] = g[b] * u + h[b]
                state[b] += dt * (THETA * u + (1 - THETA) * v[b])
                v[b] = u
                s = 0
                while s < segments[b] - 1 and abs(state[b]) > flux[b, s]:
                    s += 1
                if s != segment[b]:
                    segment[b] = s
                    low = 0.0 if s == 0 else flux[b, s - 1]
                    base = 0.0 if s == 0 else amps[b, s - 1]
                    g[b] = THETA * dt * (amps[b, s] - base) / (flux[b, s] - low)
                    stale = True
            else:
                new = g[b] * u
                v[b] = u
                if kind[b] == 4:
                    on = g[b] > 2 / off[b]
                    fired = gate[b] < 0 or gates[step, gate[b]]
                    if on and new < 0:
                        g[b] = 1 / off[b]
                        stale = True
                    elif not on and u > 0 and fired:
                        g[b] = 1 / r[b]
                        stale = True
                elif opening[b] >= 0 and (new * i[b] <= 0 or g[b] <= 1 / off[b]):
                    g[b] = 1 / off[b]
                    melting[b] = False
                    done[opening[b]] = now
                    opening[b] = -1
                    stale = True
                i[b] = new
        for k in range(len(arcs)):
            b = int(arcs[k, 0])
            emf[b] = tables[int(arcs[k, 1]), step] * np.tanh(i[b] / arcs[k, 2])
        for m in range(len(motors)):
            a, c = int(motors[m, 0]), int(motors[m, 1])
            lm, lr, w = motors[m, 2], motors[m, 3], motors[m, 6]
            slip = min(max(1 - omega[m] / w, 0.0), 1.0)
            rr = motors[m, 4] + (motors[m, 5] - motors[m, 4]) * slip
            da = -rr / lr * psi[m, 0] + rr * lm / lr * i[a] - omega[m] * psi[m, 1]
            dc = -rr / lr * psi[m, 1] + rr * lm / lr * i[c] + omega[m] * psi[m, 0]
            torque = lm / lr * (psi[m, 0] * i[c] - psi[m, 1] * i[a])
            share = motors[m, 9]
            load = motors[m, 8] * ((1 - share) * min(omega[m] / (0.02 * w), 1.0) + share * (omega[m] / w) ** 2)
            psi[m, 0] += dt * da
            psi[m, 1] += dt * dc
            if now > 0.5 * skip * dt:
                # Until then, the electrical transients of the beginning settle.
                omega[m] = max(omega[m] + dt * (torque - load) / motors[m, 7], 0.0)
            emf[a], emf[c] = lm / lr * da, lm / lr * dc
            if step >= skip:
                speed[m, step - skip] = omega[m] / w
        if step >= skip:
            for k in range(len(out_nodes)):
                volts[k, step - skip] = e[out_nodes[k]]
            for k in range(len(out_branches)):
                currents[k, step - skip] = i[out_branches[k]]
    return volts, currents, done, speed
