"""A small electromagnetic-transient solver (trapezoidal rule, backward Euler for two steps after switching).

Branches a -> b with u = v_a - v_b + e; i_n = G u_n + h. Elements: coupled R-L with EMF, R, C, switches that open at a current
zero, two-slope saturable inductors. Everything in per unit of phase voltage and current (RMS); inductance in pu seconds.
"""  # noqa: E501

import numpy as np


class Net:
    def __init__(self):
        self.names, self.a, self.b = {}, [], []
        self.blocks, self.switches, self.sats, self.emf = [], [], [], []

    def node(self, name):
        return -1 if name in ("0", 0, None) else self.names.setdefault(name, len(self.names))

    def _branch(self, a, b):
        self.a.append(self.node(a))
        self.b.append(self.node(b))
        return len(self.a) - 1

    def rl(self, a, b, r, l, emf=None):  # noqa: E741
        """Coupled R-L between lists of nodes; emf(t) -> (len(t), m)."""
        k = [self._branch(x, y) for x, y in zip(a, b, strict=False)]
        m = len(k)
        r = np.eye(m) * r if np.ndim(r) == 0 else np.asarray(r)
        l = np.eye(m) * l if np.ndim(l) == 0 else np.asarray(l)  # noqa: E741
        self.blocks.append(("rl", k, r, l))
        if emf is not None:
            self.emf.append((k, emf))
        return k

    def res(self, a, b, r):
        k = self._branch(a, b)
        self.blocks.append(("r", [k], r, None))
        return k

    def cap(self, a, b, c):
        k = self._branch(a, b)
        self.blocks.append(("c", [k], c, None))
        return k

    def switch(self, a, b, closed, changes=(), ron=1e-5, roff=1e6, chop=False):
        """changes: (time, closed); an opening waits for a current zero unless chop."""
        k = self._branch(a, b)
        self.switches.append(
            {"k": k, "closed": closed, "todo": sorted(changes), "ron": ron, "roff": roff, "chop": chop, "log": []}
        )
        return self.switches[-1]

    def sat(self, a, b, l1, l2, knee, lam0=0.0):
        k = self._branch(a, b)
        self.sats.append({"k": k, "l1": l1, "l2": l2, "knee": knee, "lam": lam0})
        return self.sats[-1]

    def run(self, dt, t0, t1, hook=None):
        n = round((t1 - t0) / dt) + 1
        t = t0 + dt * np.arange(n)
        nb, nn = len(self.a), len(self.names)
        inc = np.zeros((nb, nn))
        for k in range(nb):
            if self.a[k] >= 0:
                inc[k, self.a[k]] = 1
            if self.b[k] >= 0:
                inc[k, self.b[k]] = -1
        forced = np.zeros((n, nb))
        for k, f in self.emf:
            forced[:, k] += f(t)
        sw, sats, cache = self.switches, self.sats, {}
        sk = np.array([s["k"] for s in sats], dtype=int)
        inv1 = np.array([1 / s["l1"] for s in sats])
        inv2 = np.array([1 / s["l2"] for s in sats])
        knee = np.array([s["knee"] for s in sats])
        lam = np.array([s["lam"] for s in sats], dtype=float)
        seg = np.zeros(len(sats), dtype=int)

        def build(states, segs, be):
            g, p, q = np.zeros((nb, nb)), np.zeros((nb, nb)), np.zeros((nb, nb))
            for kind, k, x, y in self.blocks:
                ix = np.ix_(k, k)
                if kind == "rl":
                    f = 1 / dt if be else 2 / dt
                    gg = np.linalg.inv(f * y + x)
                    g[ix] = gg
                    p[ix] = 0 if be else gg
                    q[ix] = gg @ (f * y) if be else gg @ (f * y - x)
                elif kind == "r":
                    g[k[0], k[0]] = 1 / x
                else:
                    g[k[0], k[0]] = x / dt if be else 2 * x / dt
                    p[k[0], k[0]] = -g[k[0], k[0]]
                    q[k[0], k[0]] = 0 if be else -1
            for s, closed in zip(sw, states, strict=False):
                g[s["k"], s["k"]] = 1 / (s["ron"] if closed else s["roff"])
            for j, s in enumerate(segs):
                g[sk[j], sk[j]] = (dt if be else dt / 2) * (inv2[j] if s else inv1[j])
            y = inc.T @ g @ inc + 1e-9 * np.eye(nn)
            return g, p, q, -inc @ np.linalg.solve(y, inc.T), -np.linalg.solve(y, inc.T)

        u, i = np.zeros(nb), np.zeros(nb)
        vout, iout = np.zeros((n, nn)), np.zeros((n, nb))
        be = 2
        states = tuple(s["closed"] for s in sw)
        pending = [False] * len(sw)
        nextt = min([s["todo"][0][0] for s in sw if s["todo"]], default=np.inf)
        extra = np.zeros(nb)
        mats = build(states, tuple(seg), True)
        key = None
        anyp = False
        for m in range(n):
            changed = False
            if t[m] >= nextt:
                for j, s in enumerate(sw):
                    while s["todo"] and s["todo"][0][0] <= t[m]:
                        _, closed = s["todo"].pop(0)
                        if closed:
                            pending[j] = False
                            if not s["closed"]:
                                s["closed"] = True
                                s["log"].append((t[m], True))
                                changed = True
                        elif s["closed"]:
                            pending[j] = True
                nextt = min([s["todo"][0][0] for s in sw if s["todo"]], default=np.inf)
                anyp = any(pending)
            if anyp:
                for j, s in enumerate(sw):
                    if pending[j]:
                        now, before = i[s["k"]], iout[m - 2, s["k"]] if m > 1 else i[s["k"]]
                        if s["chop"] or now * before <= 0 or abs(now) < 1e-7:
                            pending[j], s["closed"] = False, False
                            s["log"].append((t[m], False))
                            changed = True
                anyp = any(pending)
            if changed:
                states = tuple(s["closed"] for s in sw)
                be = 2
            newkey = (states, tuple(seg), be > 0)
            if newkey != key:
                key = newkey
                if key not in cache:
                    cache[key] = build(*key)
                mats = cache[key]
            g, p, q, am, mv = mats
            if hook is not None:
                hook(m, t[m], dt, i, extra)
            e = forced[m] + extra
            h = p @ u + q @ i
            if len(sats):
                il = np.where(seg, inv2, inv1)
                off = seg * knee * (inv1 - inv2)
                h[sk] = off + (lam + (0 if be else dt / 2) * u[sk]) * il
            w = g @ e + h
            un = am @ w + e
            i = g @ un + h
            if len(sats):
                lam = lam + (dt * un[sk] if be else dt / 2 * (un[sk] + u[sk]))
                seg = np.where(lam > knee, 1, np.where(lam < -knee, -1, 0))
            u = un
            be -= be > 0
            vout[m] = mv @ w
            iout[m] = i
        self.t, self.v, self.i = t, vout, iout
        return t

    def volts(self, names):
        return np.stack([self.v[:, self.names[x]] for x in names], 1)


class Motor:
    """Fifth-order induction machine in stationary coordinates: voltage behind the transient inductance; own base s of the net's base."""  # noqa: E501

    def __init__(self, net, nodes, star, w0, s, h, load, rs=0.012, rr=0.02, ll=0.09, lm=3.2, speed=0.0, exponent=2.0):
        ls = lr = (ll + lm) / w0 / s
        self.lm, self.lr = lm / w0 / s, lr
        self.lp = ls - self.lm**2 / lr
        self.rr, self.w0, self.h, self.s, self.load, self.exponent = rr / s, w0, h, s, load, exponent
        self.k = net.rl(nodes, [star] * 3, rs / s, self.lp)
        self.psi, self.speed, self.trace = 0j, speed, []

    def hook(self, m, t, dt, i, extra):  # noqa: ARG002
        ia, ib, ic = i[self.k]
        cur = 2 / 3 * (ia - 0.5 * ib - 0.5 * ic) + 1j * (ib - ic) / np.sqrt(3)
        wr = self.speed * self.w0
        d = -(self.rr / self.lr) * self.psi + (self.lm * self.rr / self.lr) * cur + 1j * wr * self.psi
        self.psi = self.psi * np.exp((-(self.rr / self.lr) + 1j * wr) * dt) + (self.lm * self.rr / self.lr) * cur * dt
        e = (self.lm / self.lr) * d
        torque = self.w0 * (self.lm / self.lr) * (np.conj(self.psi) * cur).imag / 2 / self.s
        self.speed += (
            dt / (2 * self.h) * (torque - self.load * max(self.speed, 0) ** self.exponent * (self.speed > 1e-4))
        )
        self.speed = max(self.speed, 0.0)
        self.trace.append(self.speed)
        extra[self.k] = -np.array(
            [e.real, -0.5 * e.real + np.sqrt(3) / 2 * e.imag, -0.5 * e.real - np.sqrt(3) / 2 * e.imag]
        )
