"""Time-domain circuit solver: nodal equations with the theta rule, three-phase elements, switches, machines.

Node 0 is earth. Every series branch obeys va - vb - e = R i + L di/dt with i from a to b.
"""

import numpy as np
from numba import njit

TH = 0.56  # 0.5 trapezoidal, 1 backward Euler; a little damping kills numerical oscillation
CACHE = 192


@njit(cache=True)
def _matrix(dt, th, n, nn, ra, rb, rg, ga, gb, gs, geq, ca, cb, cc, la, lb, lp, seg, sa, sb, sgon, sgoff, st, xn, xr):
    a = np.zeros((n + 1, n + 1))
    for k in range(1, nn + 1):
        a[k, k] += 1e-9
    for k in range(len(ra)):
        _stamp(a, ra[k], rb[k], rg[k])
    for k in range(len(gs)):
        for p in range(gs[k]):
            for q in range(gs[k]):
                g = geq[k, p, q]
                a[ga[k, p], ga[k, q]] += g
                a[gb[k, p], gb[k, q]] += g
                a[ga[k, p], gb[k, q]] -= g
                a[gb[k, p], ga[k, q]] -= g
    for k in range(len(ca)):
        _stamp(a, ca[k], cb[k], cc[k] / (th * dt))
    for k in range(len(la)):
        _stamp(a, la[k], lb[k], dt * th / lp[k, 2 + seg[k]])
    for k in range(len(sa)):
        _stamp(a, sa[k], sb[k], sgon[k] if st[k] else sgoff[k])
    for k in range(len(xr)):
        c = nn + 1 + k
        for q in range(4):
            s = (1.0, -1.0, -xr[k], xr[k])[q]
            a[xn[k, q], c] += s
            a[c, xn[k, q]] += s
    out = np.zeros((n + 1, n + 1))
    out[1:, 1:] = np.linalg.inv(a[1:, 1:])
    return out


@njit(cache=True)
def _stamp(a, p, q, g):
    a[p, p] += g
    a[q, q] += g
    a[p, q] -= g
    a[q, p] -= g


@njit(cache=True)
def _device(kind, b, par, x, e, i, v, ga, gb, em, en, n, dt, st, pend):
    """One step of a machine, converter, arc or fuse; sets the branch voltages e[b], e[b + 1], e[b + 2]."""
    s3 = np.sqrt(3.0)
    if kind == 4:  # arc: amplitude from an array, tanh characteristic with a thermal lag
        x[0] += dt / max(par[1], dt) * (np.tanh(i[b, 0] / par[0]) - x[0])
        e[b, 0] = em[en, n] * x[0]
        return
    if kind == 5:  # current-limiting fuse: melts at par[0] A2s, then an arc voltage par[1]; switch par[2] opens at zero
        if x[1] == 0.0:
            x[0] += dt * i[b, 0] * i[b, 0]
            if x[0] > par[0]:
                x[1] = 1.0
        elif x[1] < 3.0:
            x[2] = min(x[2] + dt / 2e-4, 1.0)
            if x[1] == 1.0:
                pend[int(par[2])] = 1
                x[1] = 2.0
            e[b, 0] = par[1] * x[2] * np.tanh(i[b, 0] / par[3])
            if st[int(par[2])] == 0:
                x[1] = 3.0
                e[b, 0] = 0.0
        return
    ia = (2 * i[b, 0] - i[b, 1] - i[b, 2]) / 3
    ib = (i[b, 1] - i[b, 2]) / s3
    ea = 0.0
    eb = 0.0
    if kind == 1:  # induction machine: Rr, Lm, Lr, pole pairs, J, w0, Tload, exponent, deep bar
        rr, lm, lr, pp, jj, w0, tl, ex, db = par[0], par[1], par[2], par[3], par[4], par[5], par[6], par[7], par[8]
        sl = min(abs(1 - x[2] / w0), 1.0)
        rr = rr * (1 + db * np.sqrt(sl))
        fa = -rr / lr * x[0] + rr * lm / lr * ia - x[2] * x[1]
        fb = -rr / lr * x[1] + rr * lm / lr * ib + x[2] * x[0]
        ea = lm / lr * fa
        eb = lm / lr * fb
        te = 1.5 * pp * lm / lr * (x[0] * ib - x[1] * ia)
        x[0] += dt * fa
        x[1] += dt * fb
        w = x[2] / w0
        t = tl * (par[9] + (1 - par[9]) * abs(w) ** ex)
        dw = dt * (te - t) / jj * pp
        x[2] += dw
        if x[2] < 0 and te < t:
            x[2] = 0.0
        x[3] = te
    elif kind == 2:  # synchronous machine, constant flux behind a reactance, governor and exciter
        # E0, w0, S, H, D, droop, Tg, K, Ta, Vref(peak), P, D holds from; state: angle, w(pu), Pm, E, filtered v
        ea = x[3] * np.cos(x[0])
        eb = x[3] * np.sin(x[0])
        pe = 1.5 * (ea * ia + eb * ib) / par[2]
        k1 = (2 * v[gb[b, 0]] - v[gb[b, 1]] - v[gb[b, 2]]) / 3
        k2 = (v[gb[b, 1]] - v[gb[b, 2]]) / s3
        x[4] += dt / 0.02 * (np.sqrt(k1 * k1 + k2 * k2) - x[4])
        x[1] += dt / (2 * par[3]) * (x[2] - pe - (par[4] if n * dt > par[11] else 60.0) * (x[1] - 1))
        x[2] += dt / par[6] * (par[10] - (x[1] - 1) / par[5] - x[2])
        ref = par[0] + par[7] * (par[9] - x[4])
        x[3] += dt / par[8] * (min(max(ref, 0.2 * par[0]), 2.2 * par[0]) - x[3])
        x[0] += dt * x[1] * par[1]
        ea = -ea
        eb = -eb
    elif kind == 3:  # grid-following converter: L, R, w0, Imax(peak), bandwidth; P(t), Q(t) from arrays
        k1 = (2 * v[ga[b, 0]] - v[ga[b, 1]] - v[ga[b, 2]]) / 3
        k2 = (v[ga[b, 1]] - v[ga[b, 2]]) / s3
        x[3] += dt / 1e-4 * (k1 - x[3])
        x[4] += dt / 1e-4 * (k2 - x[4])
        c, s = np.cos(x[0]), np.sin(x[0])
        vd = c * k1 + s * k2
        vq = -s * k1 + c * k2
        x[1] += dt * 2000.0 * vq / par[5]
        x[0] += dt * (par[2] + x[1] + 90.0 * vq / par[5])
        x[2] += dt / 0.01 * (vd - x[2])
        u = max(x[2], 0.3 * par[5])
        p1, q1 = em[en, n] / (1.5 * u), -em[en + 1, n] / (1.5 * u)
        m = np.sqrt(p1 * p1 + q1 * q1)
        if m > par[3]:
            p1, q1 = p1 * par[3] / m, q1 * par[3] / m
        ra, rb = c * p1 - s * q1, s * p1 + c * q1
        ea = x[3] - par[1] * ia - par[0] * (par[4] * (ra - ia) - par[2] * rb)
        eb = x[4] - par[1] * ib - par[0] * (par[4] * (rb - ib) + par[2] * ra)
    e[b, 0] = ea
    e[b, 1] = -0.5 * ea + s3 / 2 * eb
    e[b, 2] = -0.5 * ea - s3 / 2 * eb


@njit(cache=True)
def _run(
    nst,
    dt,
    th,
    nn,
    ra,
    rb,
    rg,
    ga,
    gb,
    gs,
    geq,
    gh,
    gm,
    ge,
    em,
    ca,
    cb,
    cc,
    la,
    lb,
    lp,
    lset,
    lval,
    sa,
    sb,
    sgon,
    sgoff,
    st,
    skind,
    spar,
    opt,
    opa,
    xn,
    xr,
    dk,
    db,
    dp,
    dx,
    den,
    ja,
    jb,
    je,
    mk,
    mi,
    mp,
):
    n = nn + len(xr)
    ng, nc, nl, ns = len(gs), len(ca), len(la), len(sa)
    v = np.zeros(n + 1)
    gi = np.zeros((ng, 3))
    e0 = np.zeros((ng, 3))
    e1 = np.zeros((ng, 3))
    ih = np.zeros((ng, 3))
    gv = np.zeros((ng, 3))
    ci = np.zeros(nc)
    cv = np.zeros(nc)
    lam = np.zeros(nl)
    lv = np.zeros(nl)
    li = np.zeros(nl)
    seg = np.zeros(nl, np.int64)
    pend = np.zeros(ns, np.int64)
    ptr = np.zeros(ns, np.int64)
    gate = np.zeros(ns) - 1.0
    si = np.zeros(ns)
    cnt = np.zeros(ns)
    ton = np.zeros(ns) - 1.0
    keys = np.zeros(CACHE, np.int64) - 1
    mats = np.zeros((CACHE, n + 1, n + 1))
    nk = 0
    cur = -1
    out = np.zeros((len(mk), nst))
    dirty = True
    rhs = np.zeros(n + 1)
    for m in range(nst):
        t = m * dt
        for k in range(ns):
            while ptr[k] < opt.shape[1] and opt[k, ptr[k]] <= t:
                if opa[k, ptr[k]] == 1:
                    if skind[k] == 2:
                        gate[k] = t + spar[k, 1]
                    else:
                        dirty = dirty or st[k] == 0
                        st[k] = 1
                        pend[k] = 0
                        ton[k] = t
                elif opa[k, ptr[k]] == 0:
                    pend[k] = 1
                else:  # forced opening, whatever the current
                    dirty = dirty or st[k] == 1
                    st[k] = 0
                    pend[k] = 0
                ptr[k] += 1
            vs = v[sa[k]] - v[sb[k]]
            if st[k]:
                i0 = si[k]
                i1 = vs * sgon[k]
                si[k] = i1
                if skind[k] == 1 or skind[k] == 2:
                    if i1 < 0:
                        st[k] = 0
                        dirty = True
                elif pend[k] and (i0 * i1 <= 0 or abs(i1) <= 0.5 * abs(i1 - i0)) and t - ton[k] > spar[k, 1]:
                    st[k] = 0
                    dirty = True
            else:
                si[k] = 0.0
                if (skind[k] == 1 and vs > 0) or (skind[k] == 2 and vs > 0 and gate[k] >= t):
                    st[k] = 1
                    dirty = True
                elif (
                    skind[k] == 3
                    and t >= spar[k, 2]
                    and t <= spar[k, 3]
                    and cnt[k] < spar[k, 4]
                    and abs(vs) > spar[k, 0]
                ):
                    st[k] = 1  # flashover or restrike; goes out at a current zero after spar[k, 1]
                    pend[k] = 1
                    ton[k] = t
                    cnt[k] += 1
                    dirty = True
        for k in range(nl):
            if lset[k] == m:
                lam[k] = lval[k]
            al = abs(lam[k])
            s = 0 if al < lp[k, 0] else (1 if al < lp[k, 1] else 2)
            if s != seg[k]:
                seg[k] = s
                dirty = True
        if dirty:
            key = 0
            for k in range(ns):
                key = key * 2 + st[k]
            for k in range(nl):
                key = key * 3 + seg[k]
            cur = -1
            for k in range(min(nk, CACHE)):
                if keys[k] == key:
                    cur = k
            if cur < 0:
                cur = nk % CACHE
                nk += 1
                keys[cur] = key
                mats[cur] = _matrix(
                    dt,
                    th,
                    n,
                    nn,
                    ra,
                    rb,
                    rg,
                    ga,
                    gb,
                    gs,
                    geq,
                    ca,
                    cb,
                    cc,
                    la,
                    lb,
                    lp,
                    seg,
                    sa,
                    sb,
                    sgon,
                    sgoff,
                    st,
                    xn,
                    xr,
                )
            dirty = False
        for k in range(ng):
            for p in range(gs[k]):
                e0[k, p] = e1[k, p]
                if ge[k, p] >= 0:
                    e1[k, p] = em[ge[k, p], m]
        for k in range(len(dk)):
            _device(dk[k], db[k], dp[k], dx[k], e1, gi, v, ga, gb, em, den[k], m, dt, st, pend)
        rhs[:] = 0.0
        for k in range(ng):
            for p in range(gs[k]):
                h = 0.0
                for q in range(gs[k]):
                    h += gh[k, p, q] * gi[k, q] + gm[k, p, q] * ((1 - th) * (gv[k, q] - e0[k, q]) - th * e1[k, q])
                ih[k, p] = h
                rhs[ga[k, p]] -= h
                rhs[gb[k, p]] += h
        for k in range(nc):
            h = -cc[k] / (th * dt) * cv[k] - (1 - th) / th * ci[k]
            rhs[ca[k]] -= h
            rhs[cb[k]] += h
        for k in range(nl):
            s = seg[k]
            li[k] = (lam[k] + dt * (1 - th) * lv[k] - np.sign(lam[k]) * lp[k, 5 + s]) / lp[k, 2 + s]
            rhs[la[k]] -= li[k]
            rhs[lb[k]] += li[k]
        for k in range(len(ja)):
            h = em[je[k], m]
            rhs[ja[k]] -= h
            rhs[jb[k]] += h
        rhs[0] = 0.0
        a = mats[cur]
        for p in range(1, n + 1):
            h = 0.0
            for q in range(1, nn + 1):
                h += a[p, q] * rhs[q]
            v[p] = h
        v[0] = 0.0
        for k in range(ng):
            for p in range(gs[k]):
                gv[k, p] = v[ga[k, p]] - v[gb[k, p]]
            for p in range(gs[k]):
                h = ih[k, p]
                for q in range(gs[k]):
                    h += geq[k, p, q] * gv[k, q]
                gi[k, p] = h
        for k in range(nc):
            h = v[ca[k]] - v[cb[k]]
            ci[k] = cc[k] / (th * dt) * (h - cv[k]) - (1 - th) / th * ci[k]
            cv[k] = h
        for k in range(nl):
            h = v[la[k]] - v[lb[k]]
            li[k] += dt * th / lp[k, 2 + seg[k]] * h
            lam[k] += dt * (th * h + (1 - th) * lv[k])
            lv[k] = h
        for k in range(len(mk)):
            if mk[k] == 0:
                out[k, m] = v[mi[k]]
            elif mk[k] == 1:
                out[k, m] = gi[mi[k], mp[k]]
            elif mk[k] == 2:
                out[k, m] = dx[mi[k], mp[k]]
            else:
                out[k, m] = (v[sa[mi[k]]] - v[sb[mi[k]]]) * sgon[mi[k]] if st[mi[k]] else 0.0
    return out


def seq(one, zero):
    """Phase matrix of a positive- and a zero-sequence value."""
    return np.eye(3) * one + np.ones((3, 3)) * (zero - one) / 3


class Net:
    """A circuit under construction; buses are lists of three node numbers."""

    def __init__(self, dt, nst):
        self.dt, self.nst, self.n = dt, nst, 0
        self.res, self.grp, self.cap, self.sat, self.sw, self.xf, self.dev, self.inj = [], [], [], [], [], [], [], []
        self.arr, self.mon = [], []

    def bus(self, k=3):
        self.n += k
        return list(range(self.n - k + 1, self.n + 1))

    def array(self, x):
        self.arr.append(np.broadcast_to(np.asarray(x, float), self.nst))
        return len(self.arr) - 1

    def r(self, a, b, ohm):
        for p, q in zip(np.atleast_1d(a), np.broadcast_to(b, np.atleast_1d(a).shape), strict=False):
            self.res.append((p, q, 1 / ohm))

    def c(self, a, b, farad):
        for p, q in zip(np.atleast_1d(a), np.broadcast_to(b, np.atleast_1d(a).shape), strict=False):
            self.cap.append((p, q, farad))

    def rl(self, a, b, r, x, e=None):
        """Series branch (one or three coupled) with optional voltage arrays; x in henry. Returns its number."""
        a = np.atleast_1d(a)
        b = np.broadcast_to(b, a.shape)
        k = len(a)
        r, x = (np.asarray(m, float) if np.ndim(m) else np.eye(k) * m for m in (r, x))
        idx = [-1] * 3 if e is None else [self.array(p) for p in e] + [-1] * (3 - k)
        self.grp.append((a, b, r, x, idx))
        return len(self.grp) - 1

    def coil(self, a, b, volts, w, i_mag, knee=1.2, air=0.3, z_base=1.0, lam=None):
        """Saturable inductance for a sinusoid of peak `volts`; air-core inductance in pu of z_base."""
        base = volts / w
        l0 = base / i_mag
        l1 = min(z_base * air / w * 6, l0 * 0.5)
        l2 = min(z_base * air / w, l0 * 0.2)
        k1, k2 = (knee - 0.06) * base, (knee + 0.05) * base
        i1 = k1 / l0
        i2 = i1 + (k2 - k1) / l1
        at, value = lam if lam else (-1.0, 0.0)
        self.sat.append(
            (a, b, (k1, k2, l0, l1, l2, 0.0, k1 - l1 * i1, k2 - l2 * i2), round(at / self.dt), value * base)
        )

    def switch(self, a, b, ops, closed=False, ron=1e-3, goff=1e-9, kind=0, par=(0, 0, 0, 0, 0)):
        """One pole; ops is [(time, 1 close / 0 open at current zero / 2 open now)]."""
        self.sw.append((a, b, sorted(ops), closed, 1 / ron, goff, kind, par))
        return len(self.sw) - 1

    def breaker(self, a, b, ops, closed=False, ron=1e-3, spread=(0, 0, 0), goff=1e-9):
        """Three poles with own delays; returns the switch numbers."""
        return [self.switch(a[k], b[k], [(t + spread[k], o) for t, o in ops], closed, ron, goff) for k in range(len(a))]

    def ideal(self, p1, p2, s1, s2, ratio):
        self.xf.append(((p1, p2, s1, s2), ratio))

    def device(self, kind, branch, par, state, en=0):
        self.dev.append((kind, branch, list(par) + [0] * (12 - len(par)), list(state) + [0] * (6 - len(state)), en))
        return len(self.dev) - 1

    def inject(self, a, b, x):
        self.inj.append((a, b, self.array(x)))

    def watch(self, kind, items, pole=None):
        """Record node voltages 'v', branch currents 'i' (three of a group), states 'x' or switch currents 's'."""
        start = len(self.mon)
        if kind == "v":
            self.mon += [(0, k, 0) for k in items]
        elif kind == "i":
            self.mon += [(1, items, k) for k in range(len(self.grp[items][0]))]
        elif kind == "x":
            self.mon += [(2, items, pole)]
        else:
            self.mon += [(3, k, 0) for k in items]
        return slice(start, len(self.mon))

    def solve(self):
        dt, th = self.dt, TH
        ng = len(self.grp)
        ga, gb, ge = (np.zeros((max(ng, 1), 3), np.int64) for _ in range(3))
        gs = np.array([len(g[0]) for g in self.grp], np.int64)
        geq, gh, gm = (np.zeros((ng, 3, 3)) for _ in range(3))
        for k, (a, b, r, x, e) in enumerate(self.grp):
            s = len(a)
            ga[k, :s], gb[k, :s], ge[k] = a, b, e
            m = np.linalg.inv(x / dt + th * r)
            geq[k, :s, :s], gh[k, :s, :s], gm[k, :s, :s] = th * m, m @ (x / dt - (1 - th) * r), m
        f, i8 = np.float64, np.int64

        def col(rows, j, t, shape=None):
            return (
                np.array([q[j] for q in rows], t).reshape(-1)
                if shape is None
                else np.array([q[j] for q in rows], t).reshape(len(rows), shape)
            )

        nop = max([len(s[2]) for s in self.sw] + [1])
        opt = np.full((len(self.sw), nop), 1e9)
        opa = np.zeros((len(self.sw), nop), i8)
        for k, s in enumerate(self.sw):
            for j, (t, o) in enumerate(s[2]):
                opt[k, j], opa[k, j] = t, o
        em = np.ascontiguousarray(np.array(self.arr if self.arr else [np.zeros(self.nst)]))
        mon = np.array(self.mon, i8)
        return _run(
            self.nst,
            dt,
            th,
            self.n,
            col(self.res, 0, i8),
            col(self.res, 1, i8),
            col(self.res, 2, f),
            ga,
            gb,
            gs,
            geq,
            gh,
            gm,
            ge,
            em,
            col(self.cap, 0, i8),
            col(self.cap, 1, i8),
            col(self.cap, 2, f),
            col(self.sat, 0, i8),
            col(self.sat, 1, i8),
            col(self.sat, 2, f, 8),
            col(self.sat, 3, i8),
            col(self.sat, 4, f),
            col(self.sw, 0, i8),
            col(self.sw, 1, i8),
            col(self.sw, 4, f),
            col(self.sw, 5, f),
            col(self.sw, 3, i8),
            col(self.sw, 6, i8),
            col(self.sw, 7, f, 5),
            opt,
            opa,
            col(self.xf, 0, i8, 4),
            col(self.xf, 1, f),
            col(self.dev, 0, i8),
            col(self.dev, 1, i8),
            col(self.dev, 2, f, 12),
            col(self.dev, 3, f, 6),
            col(self.dev, 4, i8),
            col(self.inj, 0, i8),
            col(self.inj, 1, i8),
            col(self.inj, 2, i8),
            mon[:, 0],
            mon[:, 1],
            mon[:, 2],
        )
