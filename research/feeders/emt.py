"""A small electromagnetic-transients solver: nodal analysis with the theta rule, four-terminal weighted branches.

A branch sees the voltage sum(w_k * v_k) over up to four nodes, so that an ideal transformer with leakage impedance
is one branch (weights 1, -1, -n, n).  Node -1 is earth.
"""

import math

import numpy as np
from numba import njit

R, RL, RC, SWITCH, SATURATION, ARC = range(6)
OPEN, CLOSE, SET = range(3)
THETA = 0.52


@njit(cache=True)
def _conductance(kind, p, st, dt):
    if kind == R:
        return 1 / p[0]
    if kind == RL:
        return THETA / (p[1] / dt + THETA * p[0])
    if kind == RC:
        return 1 / (p[0] + THETA * dt / p[1])
    if kind == SWITCH:
        return 1 / p[0] if st == 1 else 1 / p[1]
    if kind == SATURATION:
        return THETA * dt / (p[0] if st == 0 else p[1])
    return p[2] if st == 0 else p[1]


@njit(cache=True)
def _history(kind, p, st, dt, i, v, e, x):
    if kind == RL:
        return ((p[1] / dt - (1 - THETA) * p[0]) * i + (1 - THETA) * (v + e)) / (p[1] / dt + THETA * p[0])
    if kind == RC:
        return -(x + (1 - THETA) * dt / p[1] * i) / (p[0] + THETA * dt / p[1])
    if kind == SATURATION:
        flux = x + (1 - THETA) * dt * v
        if st == 0:
            return flux / p[0]
        return flux / p[1] - st * p[2] * (1 / p[1] - 1 / p[0])
    if kind == ARC and st != 0:
        return st * p[0] * (p[2] - p[1])
    return 0.0


@njit(cache=True)
def _invert(n, kind, nod, wt, g):
    y = np.zeros((n, n))
    for a in range(n):
        y[a, a] = 1e-9
    for b in range(len(kind)):
        for j in range(4):
            if nod[b, j] >= 0:
                for k in range(4):
                    if nod[b, k] >= 0:
                        y[nod[b, j], nod[b, k]] += g[b] * wt[b, j] * wt[b, k]
    return np.ascontiguousarray(np.linalg.inv(y))


@njit(cache=True)
def solve(n, steps, skip, dt, kind, nod, wt, par, src, emf, st, x, ev_t, ev_b, ev_a, ev_v, mot_b, mot_p, mot_w, watch):
    """Return node voltages wanted (watch >= 0) or branch currents (watch = -1 - branch), and the opening times."""
    m = len(kind)
    i, v, e, g, h = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)
    since, pend = np.zeros(m), np.zeros(m, np.int64)
    opened = np.full(m, np.nan)
    flux = np.zeros((len(mot_w), 2))
    out = np.zeros((steps - skip, len(watch)))
    y = np.zeros((n, n))
    volts, inj = np.zeros(n), np.zeros(n)
    dirty, nxt = True, 0
    for k in range(steps):
        t = (k - skip) * dt
        while nxt < len(ev_t) and ev_t[nxt] <= t:
            b = ev_b[nxt]
            if ev_a[nxt] == OPEN:
                pend[b] = 1
            elif ev_a[nxt] == SET:
                par[b, 0] = ev_v[nxt]
                dirty = dirty or kind[b] != ARC
            elif st[b] == 0 and (par[b, 2] != 2 or v[b] > 0):
                st[b], pend[b], since[b], dirty = 1, 0, t, True
            elif st[b] == 1:
                since[b] = t
            nxt += 1
        for _ in range(4):
            if dirty:
                for b in range(m):
                    g[b] = _conductance(kind[b], par[b], st[b], dt)
                y = _invert(n, kind, nod, wt, g)
                dirty = False
            inj[:] = 0
            for b in range(m):
                new = emf[k, src[b]] if src[b] >= 0 else e[b]
                h[b] = _history(kind[b], par[b], st[b], dt, i[b], v[b], e[b], x[b]) + g[b] * new
                for j in range(4):
                    if nod[b, j] >= 0:
                        inj[nod[b, j]] -= wt[b, j] * h[b]
            volts = y @ inj
            for b in range(m):
                if kind[b] == SATURATION or kind[b] == ARC:
                    u = 0.0
                    for j in range(4):
                        if nod[b, j] >= 0:
                            u += wt[b, j] * volts[nod[b, j]]
                    if kind[b] == SATURATION:
                        u = x[b] + dt * (THETA * u + (1 - THETA) * v[b])
                        limit = par[b, 2]
                    else:
                        limit = par[b, 0]
                    now = 1 if u > limit else (-1 if u < -limit else 0)
                    if now != st[b]:
                        st[b], dirty = now, True
            if not dirty:
                break
        for b in range(m):
            u = 0.0
            for j in range(4):
                if nod[b, j] >= 0:
                    u += wt[b, j] * volts[nod[b, j]]
            was, i[b] = i[b], g[b] * u + h[b]
            if kind[b] == RC:
                x[b] += dt / par[b, 1] * (THETA * i[b] + (1 - THETA) * was)
            elif kind[b] == SATURATION:
                x[b] += dt * (THETA * u + (1 - THETA) * v[b])
            elif kind[b] == SWITCH and st[b] == 1 and t > since[b] + 2.5 * dt:
                zero = was * i[b] <= 0 or abs(i[b]) <= par[b, 3]
                mode = par[b, 2]
                if (mode == 0 and pend[b] == 1 and zero) or (mode == 1 and zero) or (mode == 2 and i[b] <= 0):
                    st[b], pend[b], dirty, opened[b] = 0, 0, True, t
            v[b] = u
            if src[b] >= 0:
                e[b] = emf[k, src[b]]
        for q in range(len(mot_w)):
            b = mot_b[q]
            ia, ib = (2 * i[b[0]] - i[b[1]] - i[b[2]]) / 3, (i[b[1]] - i[b[2]]) / math.sqrt(3.0)
            rr, lr, lm, poles, inertia, t0, t2, w0 = mot_p[q]
            w, fa, fb = mot_w[q], flux[q, 0], flux[q, 1]
            torque = 1.5 * poles * lm / lr * (fa * ib - fb * ia)
            decay = math.exp(-rr / lr * dt)
            c, s = math.cos(w * dt) * decay, math.sin(w * dt) * decay
            flux[q, 0] = c * fa - s * fb + dt * rr * lm / lr * ia
            flux[q, 1] = s * fa + c * fb + dt * rr * lm / lr * ib
            ea, eb = -lm / lr * (flux[q, 0] - fa) / dt, -lm / lr * (flux[q, 1] - fb) / dt
            e[b[0]], e[b[1]], e[b[2]] = ea, -ea / 2 + math.sqrt(0.75) * eb, -ea / 2 - math.sqrt(0.75) * eb
            brake = t0 + t2 * (w / w0) ** 2
            mot_w[q] = max(w + dt * poles / inertia * (torque - brake), 0.0)
        if k >= skip:
            for a in range(len(watch)):
                out[k - skip, a] = volts[watch[a]] if watch[a] >= 0 else i[-1 - watch[a]]
    return out, opened


class Net:
    """The elements of a circuit; three-phase parts are lists of three."""

    def __init__(self):
        self.n, self.el, self.emf, self.events, self.motors = 0, [], [], [], []

    def nodes(self, count=3):
        self.n += count
        return list(range(self.n - count, self.n))

    def add(self, kind, a, b, p, src=-1, weights=(1.0, -1.0, 0.0, 0.0), more=(-1, -1), state=0, x=0.0):
        self.el.append((kind, (a, b, *more), weights, (*p, 0.0, 0.0, 0.0, 0.0)[:4], src, state, x))
        return len(self.el) - 1

    def rl(self, a, b, r, x_l, src=-1):
        """A series branch from R in ohm and L in henry, for node numbers or for lists of three."""
        if isinstance(a, list):
            b = b if isinstance(b, list) else [b] * len(a)
            src = src if isinstance(src, list) else [src] * len(a)
            return [self.rl(p, q, r, x_l, s) for p, q, s in zip(a, b, src, strict=True)]
        return self.add(RL, a, b, (r, x_l), src) if x_l > 0 else self.add(R, a, b, (r,), src)

    def rc(self, a, b, r, cap):
        if isinstance(a, list):
            return [self.rc(p, b[k] if isinstance(b, list) else b, r, cap) for k, p in enumerate(a)]
        return self.add(RC, a, b, (r, cap))

    def switch(self, a, b, closed=True, on=1e-3, mode=0, chop=0.0):
        if isinstance(a, list):
            b = b if isinstance(b, list) else [b] * len(a)
            return [self.switch(p, q, closed, on, mode, chop) for p, q in zip(a, b, strict=True)]
        return self.add(SWITCH, a, b, (on, 1e8, mode, chop), state=int(closed))

    def at(self, t, branches, action, value=0.0):
        for b in branches if isinstance(branches, (list, tuple)) else [branches]:
            self.events.append((t, b, action, value))

    def run(self, steps, skip, dt, watch):
        kind, nod, wt, par, src, st, x = (np.array(col) for col in zip(*self.el, strict=True))
        ev = sorted(self.events, key=lambda q: q[0])
        ev_t, ev_v = np.array([q[0] for q in ev], float), np.array([q[3] for q in ev], float)
        ev_b, ev_a = np.array([q[1] for q in ev], np.int64), np.array([q[2] for q in ev], np.int64)
        emf = np.ascontiguousarray(np.array(self.emf).T)
        mot_b = np.array([q[0] for q in self.motors], np.int64).reshape(-1, 3)
        mot_p = np.array([q[1] for q in self.motors], float).reshape(-1, 8)
        mot_w = np.array([q[2] for q in self.motors], float)
        numbers = (kind, nod, wt.astype(float), par.astype(float), src, emf, st, x.astype(float))
        return solve(self.n, steps, skip, dt, *numbers, ev_t, ev_b, ev_a, ev_v, mot_b, mot_p, mot_w, np.array(watch))
