"""Independent power-quality recordings: COMTRADE files with truth.json. 65 kinds, simulated from circuits.

python research/circuits/generate.py OUT --first 1000 --count 12
"""

import argparse
import json
import zlib
from pathlib import Path

import numpy as np
from emt import Motor, Net

S2, S3 = np.sqrt(2), np.sqrt(3)
PH = "ABC"
KINDS = {}


def kind(f):
    KINDS[f.__name__] = f
    return f


# ---------------------------------------------------------------- parameters of a record
# (file value of the phase-to-neutral nominal, unit, volts per unit, primary, secondary, PS, I nominal in file, I unit, primary I, secondary I)  # noqa: E501
NOMINALS_50 = [
    (100 / S3, "V", 1, 20000, 100, "S", 1.0, "A", 400, 1),
    (110 / S3, "V", 1, 110000, 110, "S", 5.0, "A", 600, 5),
    (110.0, "V", 1, 1, 1, "S", 5.0, "A", 1, 1),
    (230.0, "V", 1, 1, 1, "P", 160.0, "A", 1, 1),
    (20 / S3, "kV", 1e3, 20000, 100, "P", 300.0, "A", 400, 1),
    (11 / S3, "kV", 1e3, 11000, 110, "P", 250.0, "A", 300, 5),
    (110 / S3, "kV", 1e3, 110000, 110, "P", 0.5, "kA", 600, 1),
]
NOMINALS_60 = [
    (115 / S3, "V", 1, 34500, 115, "S", 5.0, "A", 600, 5),
    (120.0, "V", 1, 1, 1, "P", 100.0, "A", 1, 1),
    (12.47 / S3, "kV", 1e3, 12470, 120, "P", 200.0, "A", 400, 5),
    (34500 / S3, "V", 1, 34500, 115, "P", 400.0, "A", 600, 5),
]
LV_50, LV_60 = [NOMINALS_50[3]], [NOMINALS_60[1]]
NAMES = [
    (("VA", "VB", "VC"), ("IA", "IB", "IC"), "IN", ("A", "B", "C")),
    (("VA", "VB", "VC"), ("IA", "IB", "IC"), "IG", ("A", "B", "C")),
    (("UL1", "UL2", "UL3"), ("IL1", "IL2", "IL3"), "IE", ("L1", "L2", "L3")),
    (("Ua", "Ub", "Uc"), ("Ia", "Ib", "Ic"), "3I0", ("A", "B", "C")),
    (("Van", "Vbn", "Vcn"), ("Ia", "Ib", "Ic"), "In", ("A", "B", "C")),
    (("BUS1 VA", "BUS1 VB", "BUS1 VC"), ("F3 IA", "F3 IB", "F3 IC"), "F3 IN", ("", "", "")),
    (("U L1", "U L2", "U L3"), ("I L1", "I L2", "I L3"), "I N", ("L1", "L2", "L3")),
]


class P:
    """Random choices of one record; every kind may override them."""

    def __init__(self, name, seed):
        self.name, self.seed = name, seed
        self.rng = r = np.random.default_rng([zlib.crc32(name.encode()), seed])
        self.f0 = 50 if r.random() < 0.65 else 60
        self.w0 = 2 * np.pi * self.f0
        self.spc = int(r.choice([32, 64, 64, 96, 128, 128, 256]))
        self.cycles_pre = float(r.uniform(1.2, 20)) if r.random() < 0.6 else float(r.uniform(2, 8))
        self.cycles_post = float(r.uniform(8, 20))
        self.snr = float(r.uniform(40, 65))
        self.nominals = NOMINALS_50 if self.f0 == 50 else NOMINALS_60
        self.naming = NAMES[r.integers(len(NAMES))]
        self.currents = bool(r.random() < 0.75)
        self.neutral = bool(r.random() < 0.4)
        self.ll = False
        self.status = bool(r.random() < 0.4)
        self.binary = bool(r.random() < 0.6)
        self.level = float(r.uniform(0.975, 1.025))
        self.h5, self.h7 = (
            (float(r.uniform(0.002, 0.02)), float(r.uniform(0.001, 0.012))) if r.random() < 0.6 else (0.0, 0.0)
        )
        self.ph5, self.ph7 = r.uniform(0, 2 * np.pi, 2)
        self.phi = float(r.uniform(0, 2 * np.pi))
        self.df = float(r.normal(0, 0.02))
        self.unb = float(r.uniform(0, 0.008))
        self.unbph = float(r.uniform(0, 2 * np.pi))
        self.warm = 8.0
        self.dtmax = 45e-6
        self.full_v, self.full_i = float(r.uniform(2.2, 3.5)), float(r.uniform(20, 40))

    def go(self):
        """Fix the times, after a kind has made its choices."""
        self.fs = self.f0 * self.spc
        self.k = max(1, int(np.ceil(1 / self.fs / self.dtmax)))
        self.dt = 1 / (self.fs * self.k)
        self.tp = self.cycles_pre / self.f0 + self.rng.uniform(0, 1) / self.f0
        self.end = self.tp + self.cycles_post / self.f0
        self.t0 = -round(self.warm / self.f0 / self.dt) * self.dt
        self.end = round(self.end / self.dt) * self.dt
        return self

    def phase(self, t):
        return 2 * np.pi * (self.f0 + self.df) * t + self.phi

    def emf(self, mag=1.0, phase=None, level=None):
        phase = phase or self.phase

        def f(t):
            x = np.clip((t - self.t0) * self.f0 / 3, 0, 1)
            ramp = 0.5 - 0.5 * np.cos(np.pi * x)
            m = ramp * mag * (level(t) if level else 1)
            th = phase(t)
            out = np.empty((len(t), 3))
            for j in range(3):
                a = th - j * 2 * np.pi / 3
                out[:, j] = np.sin(a) + self.unb * np.sin(th + j * 2 * np.pi / 3 + self.unbph)
                out[:, j] += self.h5 * np.sin(5 * a + self.ph5) + self.h7 * np.sin(7 * a + self.ph7)
            return S2 * m[:, None] * out

        return f

    def u(self, a, b):
        return float(self.rng.uniform(a, b))


def z3(z1, z0, w0):
    def m(a, b):
        return np.eye(3) * a + (np.ones((3, 3))) * ((b - a) / 3)

    return m(z1.real, z0.real), m(z1.imag, z0.imag) / w0


def zc(mag, xr):
    return mag * (1 + 1j * xr) / np.hypot(1, xr)


def n3(x):
    return [x + "a", x + "b", x + "c"]


def grid(p, zs=None, earth="solid", load=None, z0=None, share=None):
    """Source - u - b (measured bus) - f (measured feeder with load). Returns net and branch numbers of the feeder."""
    n = Net()
    zs = zs or p.u(0.04, 0.1)
    p.zs = zs
    xr = p.u(4, 14)
    share = p.u(0.5, 0.8) if share is None else share
    z0 = p.u(0.8, 2.5) if z0 is None else z0
    zero = "0" if earth == "solid" else "nn"
    n.rl([zero] * 3, n3("u"), *z3(zc(zs * share, xr), zc(zs * share, xr) * z0, p.w0), emf=p.emf(1 + 0.5 * zs))
    n.rl(n3("u"), n3("b"), *z3(zc(zs * (1 - share), xr), zc(zs * (1 - share), xr) * z0, p.w0))
    zl = zc(p.u(0.005, 0.02), p.u(0.8, 2))
    p.feeder = n.rl(n3("b"), n3("f"), *z3(zl, zl * p.u(2, 3.5), p.w0))
    load = load if load is not None else p.u(0.3, 0.9)
    ang = np.arccos(p.u(0.85, 0.98))
    zld = np.exp(1j * ang) / load
    n.rl(n3("f"), ["0" if earth == "solid" and p.rng.random() < 0.5 else "ls"] * 3, zld.real, zld.imag / p.w0)
    return n


def out(p, n, node="b", i=None, **truth):
    t = n.run(p.dt, p.t0, p.end, hook=truth.pop("hook", None))
    return dict(t=t, v=n.volts(n3(node)), i=n.i[:, p.feeder if i is None else i], **truth)


def opened(sw, which=range(3)):
    return [t for j in which for t, c in sw[j]["log"] if not c]


def add_fault(p, n, at, script, rf, zf, changes, y="y", breaker=True, z0f=None):
    """A feeder with breaker, impedance zf and fault switches. script: [(time, 'AG')]. changes: of the breaker poles."""
    poles = []
    if breaker:
        poles = [n.switch(a, b, True, list(changes)) for a, b in zip(n3(at), n3(y), strict=False)]
    else:
        y = at
    n.rl(n3(y), n3("g"), *z3(zf, zf * (z0f or p.u(1.5, 3)), p.w0))
    sw = {}
    for ph in "abc":  # a path that keeps idle nodes defined
        n.res("g" + ph, "0", 1e4)
    for t, what in script:
        phases = [x for x in what if x in PH]
        if "G" in what:
            for x in phases:
                if x not in sw:
                    sw[x] = n.switch("g" + x.lower(), "0", False, [(t, True)], ron=rf)
        elif len(phases) == 2:
            sw[what] = n.switch("g" + phases[0].lower(), "g" + phases[1].lower(), False, [(t, True)], ron=rf)
        else:
            for x in phases:
                sw[x + "s"] = n.switch("g" + x.lower(), "gs", False, [(t, True)], ron=rf)
    return poles, sw


def pick(p, what):
    """'1G', '2', '2G', '3' -> phases."""
    c = p.rng.permutation(list(PH))
    k = int(what[0])
    return "".join(sorted(c[:k])) + ("G" if "G" in what else "")


def plain_fault(p, what, where, cyc=(2, 12), residual=(0.05, 0.8), **kw):
    dur = p.u(*cyc) / p.f0
    p.cycles_post = dur * p.f0 + p.u(5, 14)
    p.status = p.rng.random() < 0.5
    p.go()
    n = grid(p, **kw)
    ph = pick(p, what)
    res = p.u(*residual)
    base = p.zs if where != "u" else p.zs * 0.65
    zf = zc(base * res / (1 - res), p.u(0.8, 5))
    at = {"down": "f", "par": "b", "u": "u"}[where]
    poles, _ = add_fault(p, n, at, [(p.tp, ph)], p.u(1e-4, 0.01), zf, [(p.tp + dur, False)])
    r = out(p, n)
    r.update(
        cause="fault",
        phases=ph,
        start=p.tp,
        clear=max(opened(poles, [PH.index(x) for x in ph if x in PH])),
        fault=where,
    )
    p.trips = [
        ("50/51 PICKUP", [(p.tp + 0.008, 1), (r["clear"] + 0.012, 0)]),
        ("TRIP", [(p.tp + max(dur - 0.03, 0.01), 1), (r["clear"] + 0.03, 0)]),
    ]
    return r


# ---------------------------------------------------------------- faults
@kind
def fault_slg_down(p):
    return plain_fault(p, "1G", "down")


@kind
def fault_ll_down(p):
    return plain_fault(p, "2", "down")


@kind
def fault_llg_down(p):
    return plain_fault(p, "2G", "down")


@kind
def fault_3ph_down(p):
    return plain_fault(p, "3", "down")


@kind
def fault_slg_parallel(p):
    return plain_fault(p, "1G", "par")


@kind
def fault_ll_upstream(p):
    return plain_fault(p, "2", "u", residual=(0.2, 0.8))


@kind
def fault_3ph_upstream(p):
    p.currents = False
    return plain_fault(p, "3", "u", residual=(0.2, 0.85))


@kind
def fault_line_voltages(p):
    p.ll = True
    r = plain_fault(
        p, str(p.rng.choice(["1G", "2", "2G", "3"])), str(p.rng.choice(["down", "par"])), residual=(0.05, 0.6)
    )
    if not p.currents or r["fault"] != "down":  # not to be read from line-to-line voltages
        r["phases"] = None
    return r


def delta_wye(p, r, times=1):
    for _ in range(times):
        r["v"] = (r["v"] - np.roll(r["v"], -1, 1)) / S3
    pf = np.arccos(p.u(0.85, 0.97))
    load = p.u(0.3, 0.9)
    r["i"] = impedance_current(p, r["v"], np.cos(pf) / load, np.sin(pf) / load)
    r["phases"] = None
    return r


def impedance_current(p, v, rr, x):
    m = len(v)
    f = np.fft.rfftfreq(2 * m, p.dt)
    pad = np.concatenate([v, v[::-1]])
    return np.fft.irfft(np.fft.rfft(pad, axis=0) / (rr + 1j * x * f / p.f0)[:, None], axis=0)[:m]


@kind
def fault_dyn_slg(p):
    p.nominals = LV_50 if p.f0 == 50 else LV_60
    return delta_wye(p, plain_fault(p, "1G", "u", residual=(0.05, 0.6)))


@kind
def fault_dyn_ll(p):
    p.nominals = LV_50 if p.f0 == 50 else LV_60
    return delta_wye(p, plain_fault(p, "2", "u", residual=(0.05, 0.6)))


@kind
def fault_dyn_llg(p):
    return delta_wye(p, plain_fault(p, "2G", "u", residual=(0.05, 0.6)), times=int(p.rng.integers(1, 3)))


@kind
def fault_evolving(p):
    d = [p.u(1.5, 5) / p.f0 for _ in range(2)]
    p.cycles_post = sum(d) * p.f0 + p.u(6, 12)
    p.go()
    n = grid(p)
    c = list(p.rng.permutation(list(PH)))
    second = "".join(sorted(c[:2])) + "G" if p.rng.random() < 0.6 else "ABCG"
    res = p.u(0.05, 0.6)
    zf = zc(p.zs * res / (1 - res), p.u(1, 5))
    at = str(p.rng.choice(["f", "b"]))
    script = [(p.tp, c[0] + "G"), (p.tp + d[0], second)]
    poles, _ = add_fault(p, n, at, script, p.u(1e-4, 0.01), zf, [(p.tp + sum(d), False)])
    r = out(p, n)
    r.update(
        cause="fault",
        phases=second.replace("ABCG", "ABC"),
        start=p.tp,
        clear=max(opened(poles, [PH.index(x) for x in second if x in PH])),
    )
    return r


@kind
def fault_selfclearing(p):
    p.cycles_post = p.u(6, 15)
    p.spc = int(p.rng.choice([64, 128, 256]))
    p.go()
    n = grid(p)
    x = str(p.rng.choice(list(PH)))
    # insulation breaks down near the crest of its voltage (Kojovic and Williams 2000)
    j = PH.index(x)
    th = (p.phase(p.tp) - j * 2 * np.pi / 3) % np.pi
    p.tp += ((np.pi / 2 + p.u(-0.6, 0.3) - th) % np.pi) / p.w0
    res = p.u(0.2, 0.7)
    _poles, _sw = add_fault(p, n, "f", [], 0, zc(p.zs * res / (1 - res), p.u(0.8, 3)), [])
    s = n.switch("g" + x.lower(), "0", False, [(p.tp, True), (p.tp + 1e-3, False)], ron=p.u(0.005, 0.03))
    r = out(p, n)
    r.update(
        cause="fault",
        phases=x + "G",
        start=p.tp,
        clear=opened([s], [0])[0],
        extra=["transient", "sag", "rapid voltage change", "swell"],
        strict=True,
    )
    return r


@kind
def fault_fuse(p):
    """Current-limiting fuse: melts within half a cycle, its arc voltage drives the current to zero."""
    p.cycles_post = p.u(6, 15)
    p.spc = int(p.rng.choice([64, 128, 256]))
    p.dtmax = 12e-6
    p.go()
    n = grid(p)
    x = str(p.rng.choice(list(PH)))
    k = x.lower()
    res = p.u(0.1, 0.6)
    limiting = p.rng.random() < 0.5
    melt = p.u(0.002, 0.006) if limiting else p.u(0.008, 0.03)
    arc = p.zs * (p.u(2.5, 5) if limiting else p.u(0.2, 0.6))
    n.switch("f" + k, "y" + k, True, [(p.tp + melt, False)], chop=True)
    n.res("f" + k, "z" + k, arc)
    z = n.switch("z" + k, "y" + k, True, [(p.tp + melt + 2e-4, False)])
    zz = zc(p.zs * res / (1 - res), p.u(0.6, 3))
    n.rl(["y" + k], ["g" + k], zz.real, zz.imag / p.w0)
    n.res("g" + k, "0", 1e4)
    n.switch("g" + k, "0", False, [(p.tp, True)], ron=p.u(1e-4, 0.01))
    n.cap("b" + k, "0", 2e-3 / p.w0)
    r = out(p, n)
    r.update(
        cause="fault",
        phases=x + "G",
        start=p.tp,
        clear=opened([z], [0])[0],
        extra=["transient", "sag", "rapid voltage change", "swell"],
        strict=True,
    )
    return r


@kind
def fault_recloser_bus(p):
    """A recloser on a feeder: the bus sees two or three dips."""
    shots = int(p.rng.integers(2, 4))
    p.spc = int(p.rng.choice([32, 64, 128]))
    ok = p.rng.random() < 0.5
    t, changes, plan = 0.0, [], []
    for s in range(shots):
        d = p.u(2, 8) / p.f0
        plan.append((t, t + d))
        changes.append((t + d, False))
        t += d
        if s < shots - 1 or ok:
            t += p.u(0.25, 0.7)
            changes.append((t, True))
    p.cycles_post = t * p.f0 + p.u(6, 12)
    p.go()
    n = grid(p)
    ph = pick(p, str(p.rng.choice(["1G", "2", "2G", "3"])))
    res = p.u(0.1, 0.7)
    at = str(p.rng.choice(["f", "b"]))
    zf = zc(p.zs * res / (1 - res), p.u(1, 5))
    poles, _sw = add_fault(p, n, at, [(p.tp, ph)], p.u(1e-4, 0.01), zf, [(p.tp + a, b) for a, b in changes])
    if ok:  # the arc is extinct when the last reclosing takes place
        for s in n.switches:
            if s not in poles:
                s["todo"].append((p.tp + plan[-1][1] + 0.1, False))
                s["todo"].sort()
    r = out(p, n)
    idx = [PH.index(x) for x in ph if x in PH]
    first = [x for x in opened(poles, idx) if x < p.tp + plan[0][1] + 0.05]
    r.update(cause="fault", phases=ph, start=p.tp, clear=max(first))
    return r


def line_side(p, reclose, ph, pre=None, dead=(0.3, 0.6)):  # noqa: ARG001
    """Voltage behind the breaker: fault, trip, dead, perhaps reclosing."""
    d = p.u(1.5, 6) / p.f0
    p.status = True
    gap = p.u(*dead)
    changes = [(d, False)] + ([(d + gap, True)] if reclose else [])
    p.cycles_post = (d + (gap + 0.2 if reclose else p.u(0.1, 0.4))) * p.f0
    p.go()
    n = Net()
    zs, xr = p.u(0.04, 0.1), p.u(4, 14)
    z0 = p.u(0.8, 2.5)
    n.rl(["0"] * 3, n3("u"), *z3(zc(zs, xr), zc(zs, xr) * z0, p.w0), emf=p.emf(1 + zs / 2))
    poles = [
        n.switch(a, b, True, [(p.tp + a_, b_) for a_, b_ in changes]) for a, b in zip(n3("u"), n3("b"), strict=False)
    ]
    zl = zc(p.u(0.01, 0.06), p.u(0.8, 3))
    p.feeder = n.rl(n3("b"), n3("f"), *z3(zl, zl * 2.5, p.w0))
    zld = np.exp(0.3j) / p.u(0.3, 0.9)
    n.rl(n3("f"), ["0"] * 3, zld.real, zld.imag / p.w0)
    for x in [x for x in ph if x in PH]:
        ch = [(p.tp, True)] + ([(p.tp + d + 0.1, False)] if reclose else [])
        n.switch("f" + x.lower(), "0", False, ch, ron=p.u(1e-4, 0.02))
    r = out(p, n)
    idx = [PH.index(x) for x in ph if x in PH]
    clear = max(x for x in opened(poles, idx) if x < p.tp + d + 0.05)
    p.trips = [
        ("PROT TRIP", [(p.tp + max(0.01, d - 0.04), 1), (clear + 0.02, 0)]),
        ("CB CLOSED", [(0, 1), (clear + 0.003, 0)] + ([(p.tp + d + gap, 1)] if reclose else [])),
    ]
    r.update(cause="fault", phases=ph.replace("ABCG", "ABC"), start=p.tp, clear=clear)
    return r


@kind
def fault_recloser_line(p):
    p.spc = int(p.rng.choice([32, 64, 128]))
    return line_side(p, True, pick(p, str(p.rng.choice(["1G", "2G", "3G"]))))


@kind
def fault_recloser_short(p):
    p.cycles_pre = p.u(1.2, 3)
    p.spc = int(p.rng.choice([32, 64, 128]))
    return line_side(p, False, pick(p, str(p.rng.choice(["1G", "2G", "3G"]))))


@kind
def fault_cut(p):
    """The record ends inside the fault."""
    p.cycles_post = p.u(3, 9)
    p.go()
    n = grid(p)
    ph = pick(p, str(p.rng.choice(["1G", "2", "2G", "3"])))
    res = p.u(0.05, 0.7)
    add_fault(
        p, n, str(p.rng.choice(["f", "b"])), [(p.tp, ph)], p.u(1e-4, 0.01), zc(p.zs * res / (1 - res), p.u(1, 5)), []
    )
    r = out(p, n)
    r.update(cause="fault", phases=ph, start=p.tp, clear=None)
    return r


@kind
def fault_reacceleration(p):
    """Induction motors slow down during a three-phase or two-phase fault and hold the voltage down afterwards (Bollen 4.8)."""  # noqa: E501
    d = p.u(4, 14) / p.f0
    p.cycles_post = d * p.f0 + p.u(30, 60)
    p.spc = int(p.rng.choice([32, 64, 96]))
    p.warm = 40
    p.dtmax = 80e-6
    p.go()
    n = grid(p, zs=p.u(0.08, 0.15), load=0.25)
    mot = Motor(n, n3("f"), "ms", p.w0, p.u(0.6, 1.1), p.u(0.25, 0.7), p.u(0.6, 0.85), speed=0.98)
    ph = pick(p, str(p.rng.choice(["3", "3", "2", "2G"])))
    res = p.u(0.1, 0.5)
    at = str(p.rng.choice(["u", "b"]))
    poles, _ = add_fault(
        p, n, at, [(p.tp, ph)], p.u(1e-4, 0.01), zc(p.zs * res / (1 - res), p.u(1, 5)), [(p.tp + d, False)]
    )
    r = out(p, n, hook=mot.hook)
    r.update(cause="fault", phases=ph, start=p.tp, clear=max(opened(poles, [PH.index(x) for x in ph if x in PH])))
    return r


def isolated(p, rf, tuned=None, dur=None):
    """Isolated or resonant-earthed system: capacitances to earth, coil with a little resistance."""
    p.nominals = [x for x in p.nominals if x[0] not in (230.0, 120.0)]
    p.dtmax = 30e-6
    p.go()
    n = grid(p, earth="isolated")
    b = p.u(0.01, 0.04)  # susceptance per phase, pu
    for x in "abc":
        n.cap("b" + x, "0", b / p.w0)
        n.res("b" + x, "0", 1 / (0.03 * b))
    if tuned:
        n.rl(["nn"], ["0"], 0.02 / (3 * b), tuned / (3 * b) / p.w0)
    else:
        n.res("nn", "0", 3e4)
    x = str(p.rng.choice(list(PH)))
    s = n.switch("b" + x.lower(), "0", False, [(p.tp, True)] + ([(p.tp + dur, False)] if dur else []), ron=rf / (3 * b))
    r = out(p, n)
    log = opened([s], [0])
    r.update(cause="fault", phases=x + "G", start=p.tp, clear=log[0] if log else None)
    return r


@kind
def fault_isolated(p):
    p.cycles_post = p.u(10, 25)
    r = isolated(p, p.u(0.005, 0.15), None if p.rng.random() < 0.6 else p.u(0.9, 1.1))
    r.update(extra=["sag", "swell", "transient"])
    return r


@kind
def swell_earth_fault_elsewhere(p):
    """Earth fault through resistance of the order of the capacitive reactance: one phase rises most, the others change little."""  # noqa: E501
    p.cycles_post = p.u(10, 25)
    r = isolated(p, p.u(1.5, 5))
    r.update(visible=False)
    return r


@kind
def fault_ct_saturation(p):
    p.currents = True
    r = plain_fault(p, str(p.rng.choice(["1G", "3"])), "down", residual=(0.05, 0.4))
    peak = np.abs(r["i"]).max()
    lam_k = p.u(0.5, 0.9) * peak / p.w0
    lam = np.zeros(3)
    i = r["i"].copy()
    for m in range(len(i)):  # flux of a resistive burden; the secondary collapses beyond the knee
        new = lam + i[m] * p.dt
        over = np.abs(new) > lam_k
        i[m] = np.where(over & (np.sign(new) == np.sign(i[m])), 0.05 * i[m], i[m])
        lam = np.clip(new, -lam_k, lam_k)
    r["i"] = i
    return r


@kind
def fault_high_impedance(p):
    """An arcing conductor on dry ground: 5 to 20 % of the load current, irregular; nothing in the voltage."""
    p.cycles_post = p.u(20, 40)
    p.currents = True
    p.go()
    n = grid(p, zs=0.03)
    r = out(p, n)
    t = r["t"]
    j = int(p.rng.integers(3))
    on = t > p.tp
    env = np.repeat(p.rng.uniform(0.2, 1, int((t[-1] - t[0]) * 2 * p.f0) + 2), 1)
    e = env[((t - t[0]) * 2 * p.f0).astype(int)]
    v = r["v"][:, j]
    arc = np.sign(v) * np.maximum(np.abs(v) - 0.4, 0) * e * p.u(0.05, 0.2)
    r["i"] = r["i"].copy()
    r["i"][:, j] += on * arc
    r.update(cause="fault", phases=PH[j] + "G", visible=False, start=p.tp, clear=None)
    return r


@kind
def lightning_flashover(p):
    """An impulse and, from then on, an earth fault until the breaker opens."""
    p.dtmax = 10e-6
    p.spc = int(p.rng.choice([64, 128, 256]))
    r = plain_fault(p, "1G", str(p.rng.choice(["down", "par"])), residual=(0.05, 0.6), cyc=(3, 8))
    r["v"] = r["v"] + impulse(p, r["t"], p.tp, p.u(0.4, 1.5))[:, None] * p.rng.uniform(0.5, 1, 3)
    r["extra"] = ["transient"]
    return r


# ---------------------------------------------------------------- motors, transformers
def motor_net(p, length, cut=False):
    p.dtmax = 80e-6
    p.spc = int(p.rng.choice([32, 64, 96]))
    p.cycles_post = length * p.f0
    p.go()
    n = grid(p, zs=p.u(0.04, 0.1), load=p.u(0.2, 0.5))
    s = p.u(0.25, 0.6)
    for a, b in zip(n3("f"), n3("m"), strict=False):
        n.switch(a, b, False, [(p.tp, True)])
        n.res(b, "0", 3e3)
    h = p.u(0.8, 2.5) if cut else p.u(0.2, 0.6)
    mot = Motor(n, n3("m"), "ms", p.w0, s, h, p.u(0.2, 0.6), rr=p.u(0.02, 0.04))
    r = out(p, n, hook=mot.hook)
    r.update(cause="motor start", start=p.tp, phases="ABC", final=mot.speed)
    return r


@kind
def motor_start(p):
    p.currents = True
    return motor_net(p, p.u(1.6, 2.6))


@kind
def motor_start_voltages(p):
    p.currents = False
    return motor_net(p, p.u(1.6, 2.6))


@kind
def motor_start_cut(p):
    r = motor_net(p, p.u(0.2, 0.4), cut=True)
    r["visible"] = False
    return r


def bank(p, n, at, s, tag, closing=None, resid=True, yn=True):
    """Three saturable units of rating s. closing: pole times."""
    w0 = p.w0
    z = 0.06 / s
    if closing is not None:
        for x, y, t in zip(n3(at), n3(tag), closing, strict=False):
            n.switch(x, y, False, [(t, True)])
        at = tag
    k = n.rl(n3(at), n3(tag + "i"), p.u(0.008, 0.02) / s, z * 0.5 / w0)
    lam1 = S2 / w0
    res = p.rng.uniform(0.2, 0.75) * np.cos(p.u(0, 2 * np.pi) - np.arange(3) * 2 * np.pi / 3) if resid else np.zeros(3)
    for j, x in enumerate(n3(tag + "i")):
        star = "0" if yn else tag + "n"
        n.sat(x, star, 1 / 0.004 / s / w0, p.u(0.15, 0.25) / s / w0, 1.18 * lam1, res[j] * lam1 * (1 if resid else 0))
        n.res(x, star, 1 / 0.003 / s)
    return k


def inrush_net(p, length):
    p.spc = int(p.rng.choice([32, 64, 128]))
    p.cycles_post = length * p.f0
    p.go()
    n = grid(p, zs=p.u(0.05, 0.1))
    s = p.u(0.6, 2.0)
    k = bank(p, n, "b", s, "t", closing=p.tp + np.sort(p.rng.uniform(0, 0.004, 3)))
    if p.rng.random() < 0.5:
        p.feeder = k
    else:
        p.feeder = [0, 1, 2]  # the incoming supply
    r = out(p, n)
    r.update(cause="transformer energising", start=p.tp, phases="ABC", extra=["harmonics"])
    return r


@kind
def inrush(p):
    p.currents = True
    return inrush_net(p, p.u(0.6, 1.4))


@kind
def inrush_voltages(p):
    p.currents = False
    return inrush_net(p, p.u(0.6, 1.4))


@kind
def inrush_short_capture(p):
    p.cycles_pre = p.u(1.2, 3)
    return inrush_net(p, p.u(0.12, 0.22))


@kind
def inrush_sympathetic(p):
    """The record is taken in the feeder of a transformer already in service; another one beside it is energised (Bronzeado 1995)."""  # noqa: E501
    p.currents = True
    p.spc = int(p.rng.choice([32, 64]))
    p.cycles_post = p.u(0.8, 1.4) * p.f0
    p.go()
    n = grid(p, zs=p.u(0.06, 0.12), load=0.2)
    k = bank(p, n, "b", p.u(0.8, 1.5), "s", resid=False)
    bank(p, n, "b", p.u(1.0, 2.0), "t", closing=p.tp + np.sort(p.rng.uniform(0, 0.004, 3)))
    p.feeder = k
    r = out(p, n)
    r["i"] = r["i"] + impedance_current(p, r["v"], 2.0, 0.8)  # its load
    r.update(cause="transformer energising", start=p.tp, phases="ABC", extra=["harmonics"], sympathetic=True)
    return r


# ---------------------------------------------------------------- capacitors
def cap_bank(p, n, at, q, tag, closed, changes, yn, lser=0.0006):
    star = "0" if yn else tag + "n"
    sw, k = [], []
    for j, (x, y) in enumerate(zip(n3(at), n3(tag), strict=False)):
        k += n.rl([x], [y + "0"], lser * 0.02, lser / p.w0)
        sw.append(n.switch(y + "0", y, closed, changes[j]))
        n.cap(y, star, q / p.w0)
        n.res(y, star, 500.0)
    return sw, k


def cap_net(p, f_low=280, f_high=900, damp=None):  # noqa: ARG001
    n = grid(p, zs=p.u(0.05, 0.1))
    f = p.u(f_low, f_high)
    p.q = min((p.f0 / f) ** 2 / p.zs, 0.5)
    n.res("ba", "bs", 6.0), n.res("bb", "bs", 6.0), n.res("bc", "bs", 6.0)  # nearby load damps
    return n


def poles(p):
    return p.tp + np.concatenate([[0], np.sort(p.rng.uniform(0.0, 0.009, 2))])[p.rng.permutation(3)]


@kind
def cap_energise(p):
    p.spc = int(p.rng.choice([64, 128, 256]))
    p.dtmax = 20e-6
    p.go()
    n = cap_net(p)
    cl = poles(p)
    _, _k = cap_bank(p, n, "b", p.q, "c", False, [[(t, True)] for t in cl], p.rng.random() < 0.6)
    p.feeder = [0, 1, 2] if p.rng.random() < 0.5 else p.feeder
    r = out(p, n)
    r.update(
        cause="capacitor switching",
        start=p.tp,
        phases="ABC",
        extra=["transient", "rapid voltage change", "swell"],
        need=True,
    )
    return r


@kind
def cap_first_cycle(p):
    p.cycles_pre = 0.0
    p.spc = int(p.rng.choice([64, 128, 256]))
    p.dtmax = 20e-6
    p.go()
    p.tp = p.u(0.35, 0.95) / p.f0
    n = cap_net(p)
    _, _k = cap_bank(p, n, "b", p.q, "c", False, [[(t, True)] for t in poles(p)], p.rng.random() < 0.6)
    r = out(p, n)
    r.update(
        cause="capacitor switching",
        start=p.tp,
        phases="ABC",
        extra=["transient", "rapid voltage change", "swell"],
        need=True,
    )
    return r


@kind
def cap_back_to_back(p):
    p.spc = int(p.rng.choice([128, 256]))
    p.dtmax = 6e-6
    p.go()
    n = cap_net(p, 280, 600)
    lser = p.u(0.0008, 0.003)
    cap_bank(p, n, "b", p.q, "d", True, [[]] * 3, True, lser)
    cap_bank(p, n, "b", p.q * p.u(0.6, 1), "c", False, [[(t, True)] for t in poles(p)], True, lser)
    r = out(p, n)
    r.update(
        cause="capacitor switching",
        start=p.tp,
        phases="ABC",
        extra=["transient", "rapid voltage change", "swell"],
        need=True,
    )
    return r


@kind
def cap_deenergise(p):
    """Opens at current zeros: no ringing, a step down, the bank's current goes to zero."""
    p.spc = int(p.rng.choice([64, 128]))
    p.dtmax = 20e-6
    p.go()
    n = cap_net(p, 280, 420)
    _, k = cap_bank(p, n, "b", p.q, "c", True, [[(p.tp, False)]] * 3, True)
    p.feeder = k
    r = out(p, n)
    r.update(
        cause="capacitor switching",
        start=p.tp,
        phases="ABC",
        extra=["transient", "rapid voltage change"],
        bank_current=True,
    )
    return r


@kind
def cap_restrike(p):
    p.spc = int(p.rng.choice([64, 128, 256]))
    p.dtmax = 12e-6
    p.go()
    n = cap_net(p)
    j = int(p.rng.integers(3))
    # current zero of phase j = crest of its voltage; restrike 7 to 10 ms later, when the pole sees nearly 2 pu
    th = (p.phase(p.tp) - j * 2 * np.pi / 3) % np.pi
    p.tp += ((np.pi / 2 - 0.25 - th) % np.pi) / p.w0
    back = p.tp + 0.25 / p.w0 + p.u(0.35, 0.5) / p.f0
    ch = [[(p.tp, False)] for _ in range(3)]
    ch[j] = [(p.tp, False), (back, True), (back + p.u(0.3, 0.6) / p.f0, False)]
    _, k = cap_bank(p, n, "b", p.q, "c", True, ch, True)
    p.feeder = k if p.rng.random() < 0.5 else p.feeder
    r = out(p, n)
    r.update(
        cause="capacitor switching",
        start=back,
        phases=PH[j],
        extra=["transient", "swell", "rapid voltage change"],
        need=True,
    )
    return r


# ---------------------------------------------------------------- impulses
def impulse(p, t, at, size, tail=None):
    tail = tail or p.u(40e-6, 200e-6)
    front = tail / p.u(8, 20)
    x = np.maximum(t - at, 0)
    y = np.exp(-x / tail) - np.exp(-x / front)
    y[t < at] = 0
    return p.rng.choice([-1, 1]) * size * S2 * y / max(y.max(), 1e-9)


def steady(p, cyc=None, zs=0.04, phase=None, level=None, **kw):  # noqa: ARG001
    """An undisturbed feeder: no circuit needed. Voltages of the source, currents of a load impedance."""
    if cyc:
        p.cycles_post = cyc
    p.go()
    t = p.t0 + p.dt * np.arange(round((p.end - p.t0) / p.dt) + 1)
    v = p.emf(phase=phase, level=level)(t)
    pf, load = np.arccos(p.u(0.85, 0.98)), p.u(0.3, 0.9)
    return dict(
        t=t,
        v=v,
        i=impedance_current(p, v, np.cos(pf) / load, np.sin(pf) / load),
        cause="unknown",
        start=p.tp,
        phases=None,
        **kw,
    )


@kind
def lightning_impulse(p):
    p.spc = int(p.rng.choice([128, 256]))
    p.dtmax = 5e-6
    r = steady(p)
    y = impulse(p, r["t"], p.tp, p.u(0.8, 2.5))
    ring = np.maximum(r["t"] - p.tp, 0)
    y = y + (r["t"] > p.tp) * 0.2 * np.abs(y).max() * np.sin(2 * np.pi * p.u(4e3, 9e3) * ring) * np.exp(
        -ring / p.u(1e-4, 4e-4)
    )
    r["v"] = r["v"] + y[:, None] * p.rng.uniform(0.5, 1, 3)
    r.update(extra=["transient"], need=True)
    return r


@kind
def spike_one_phase(p):
    p.spc = int(p.rng.choice([64, 128, 256]))
    p.snr = p.u(48, 65)
    r = steady(p)
    j, m, size = int(p.rng.integers(3)), int(p.rng.integers(1, 4)), p.u(0.35, 1.5) * S2 * p.rng.choice([-1, 1])

    def post(v, i, bad):
        k = int(p.tp * p.fs)
        v[k : k + m, j] += size
        return v, i, bad

    r.update(extra=["transient"], need=True, post=post)
    return r


# ---------------------------------------------------------------- loads
def load_net(p, dv, changes, phases="abc", zs=None):
    """A load of power factor 0.6 to 0.9 that makes a drop dv at the bus."""
    p.go()
    n = grid(p, zs=zs or p.u(0.08, 0.14), load=p.u(0.2, 0.5))
    ang = np.arccos(p.u(0.6, 0.9))
    size = dv / p.zs / max(np.sin(ang), 0.35)
    z = np.exp(1j * ang) / size
    for x in phases:
        n.switch("f" + x, "w" + x, changes[0][1] is False, [(p.tp + a, b) for a, b in changes])
    if len(phases) == 3:
        n.rl(["w" + x for x in phases], ["ws"] * 3, z.real, z.imag / p.w0)
    else:
        n.rl(["wa"], ["wb"], 2 * z.real, 2 * z.imag / p.w0) if phases == "ab" else n.rl(
            ["w" + phases], ["0"], z.real, z.imag / p.w0
        )
    for x in phases:
        n.res("w" + x, "0", 1e4)
    r = out(p, n)
    r.update(cause="load switching", start=p.tp, phases=None)
    return r


@kind
def load_on(p):
    p.currents = p.rng.random() < 0.8
    return load_net(p, p.u(0.03, 0.07), [(0, True)])


@kind
def load_off(p):
    p.currents = p.rng.random() < 0.8
    return load_net(p, p.u(0.03, 0.07), [(0, False)])


@kind
def load_on_off(p):
    p.currents = p.rng.random() < 0.8
    d = p.u(5, 15)
    p.cycles_post = d + p.u(6, 12)
    return load_net(p, p.u(0.03, 0.07), [(0, True), (d / p.f0, False)])


@kind
def load_welder(p):
    """Spot welder between two phases: 4 to 10 cycles on, several times."""
    p.spc = int(p.rng.choice([32, 64, 128]))
    p.currents = p.rng.random() < 0.8
    ch, t = [], 0.0
    for _ in range(int(p.rng.integers(4, 8))):
        ch.append((t, True))
        t += p.u(4, 10) / p.f0
        ch.append((t, False))
        t += p.u(8, 16) / p.f0
    p.cycles_post = t * p.f0 + 3
    r = load_net(p, p.u(0.03, 0.06), ch, "ab")
    r["extra"] = ["flicker", "rapid voltage change"]  # repeated dips are a fluctuation as well
    return r


@kind
def load_rejection(p):
    """An island or a long radial feeder loses most of its load; the machines speed up."""
    p.cycles_post = p.u(25, 60)
    p.spc = int(p.rng.choice([32, 64, 96]))
    p.go()
    n = Net()
    rise = p.u(0, 2.0)  # Hz
    acc = p.u(1, 6)
    base = p.phase

    def phase(t):
        x = np.maximum(t - p.tp, 0)
        tau = max(rise / acc, 0.05)
        return base(t) + 2 * np.pi * rise * (x - tau * (1 - np.exp(-x / tau)))

    zs = p.u(0.22, 0.4)
    load = p.u(0.75, 1.0)
    n.rl(["0"] * 3, n3("b"), *z3(zc(zs, 12), zc(zs, 12), p.w0), emf=p.emf(1.25, phase))
    zl = 0.01 + 0.01j
    p.feeder = n.rl(n3("b"), n3("f"), zl.real, zl.imag / p.w0)
    z = np.exp(0.55j) / load
    for x in "abc":
        n.switch("f" + x, "w" + x, True, [(p.tp, False)])
        n.res("f" + x, "fs", p.u(8, 20))
        n.cap("b" + x, "0", 0.02 / p.w0)
    n.rl(["wa", "wb", "wc"], ["ws"] * 3, z.real, z.imag / p.w0)
    r = out(p, n)
    r.update(cause="load switching", phases=None, start=p.tp, extra=["frequency"], rejection=True)
    return r


@kind
def broken_neutral(p):
    p.nominals = LV_50 if p.f0 == 50 else LV_60
    p.dtmax = 30e-6
    p.go()
    n = Net()
    n.rl(["0"] * 3, n3("b"), 0.03, 0.03 / p.w0, emf=p.emf(1.02))
    p.feeder = n.rl(n3("b"), n3("f"), 0.01, 0.004 / p.w0)
    loads = np.sort(p.rng.uniform(0.1, 1.0, 3))
    loads[2] = max(loads[2], 2.2 * loads[0])
    for x, y in zip("abc", p.rng.permutation(loads), strict=False):
        n.rl(["f" + x], ["ns"], 0.95 / y, 0.3 / y / p.w0)
    n.switch("ns", "nx", True, [(p.tp, False)])
    n.rl(["nx"], ["0"], 0.02, 0.01 / p.w0)
    n.res("ns", "0", p.u(5, 60))
    t = n.run(p.dt, p.t0, p.end)
    v = n.volts(n3("f")) - n.volts(["ns"])
    return {"t": t, "v": v, "i": n.i[:, p.feeder], "cause": "unknown", "phases": None, "start": p.tp, "lv": True}


@kind
def vt_fuse(p):
    p.nominals = [x for x in p.nominals if x[3] > 1]
    r = steady(p, cyc=p.u(10, 25))
    j = int(p.rng.integers(3))
    left = p.u(0.0, 0.25)
    tau = p.u(0.0005, 0.02)
    g = np.where(r["t"] < p.tp, 1, left + (1 - left) * np.exp(-np.maximum(r["t"] - p.tp, 0) / tau))
    r["v"] = r["v"].copy()
    r["v"][:, j] *= g
    return r


@kind
def supply_opened(p):
    """A breaker upstream opens without a fault: running motors hold up a decaying voltage of falling frequency."""
    p.cycles_post = p.u(15, 40)
    p.spc = int(p.rng.choice([32, 64, 96]))
    p.warm = 40
    p.dtmax = 80e-6
    p.go()
    n = Net()
    n.rl(["0"] * 3, n3("u"), 0.006, 0.06 / p.w0, emf=p.emf(1.02))
    for a, b in zip(n3("u"), n3("b"), strict=False):
        n.switch(a, b, True, [(p.tp, False)])
        n.res(b, "0", 200)
    p.feeder = n.rl(n3("b"), n3("f"), 0.01, 0.008 / p.w0)
    z = np.exp(0.3j) / p.u(0.3, 0.8)
    n.rl(n3("f"), ["ls"] * 3, z.real, z.imag / p.w0)
    mot = Motor(n, n3("f"), "ms", p.w0, p.u(0.1, 0.5), p.u(0.2, 0.8), p.u(0.5, 0.8), speed=0.98)
    r = out(p, n, hook=mot.hook)
    r.update(cause="unknown", phases=None, start=p.tp, extra=["interruption", "sag", "frequency"])
    return r


# ---------------------------------------------------------------- steady disturbances
def slow_noise(p, t, lo, hi, cut=(0.5, 25)):  # noqa: ARG001
    f = np.fft.rfftfreq(len(t), p.dt)
    x = np.fft.rfft(p.rng.standard_normal(len(t)))
    x[(f < cut[0]) | (f > cut[1])] = 0
    x /= np.maximum(f, cut[0]) ** 0.5
    y = np.fft.irfft(x, len(t))
    return y / y.std()


@kind
def arc_furnace(p):
    p.spc = int(p.rng.choice([32, 64, 128]))
    r = steady(p, cyc=p.u(1.2, 3.0) * p.f0)
    t = r["t"]
    d, amp = p.u(0.006, 0.02), slow_noise(p, t, 0, 0)
    cur = np.empty_like(r["i"])
    for j in range(3):
        m = d * (0.7 * amp + 0.7 * slow_noise(p, t, 0, 0))
        th = p.phase(t) - j * 2 * np.pi / 3
        r["v"][:, j] *= 1 - np.clip(m, -0.06, 0.06)
        r["v"][:, j] += S2 * d * (0.3 * np.sin(2 * th + 1) + 0.5 * np.sin(3 * th))
        cur[:, j] = r["i"][:, j] * np.clip(1 + m / d * 0.3, 0.05, 3)
    r["i"] = cur
    r.update(extra=["flicker", "rapid voltage change"], flicker=True)
    return r


@kind
def notching(p):
    """Six-pulse thyristor bridge with line reactors: two deep and four shallow notches per cycle (Mohan; IEEE 519)."""
    p.spc = int(p.rng.choice([128, 256]))
    p.dtmax = 8e-6
    p.h5 = p.h7 = 0
    r = steady(p, cyc=p.u(10, 20))
    depth, alpha, mu = p.u(0.25, 0.7), np.radians(p.u(15, 70)), np.radians(p.u(4, 12))
    th = p.phase(r["t"])
    v = r["v"].copy()
    for j in range(6):  # commutation at phase crossings + alpha; between phases of a pair
        start = np.pi / 6 + alpha + j * np.pi / 3
        x, y = [(0, 2), (1, 2), (1, 0), (2, 0), (2, 1), (0, 1)][j]
        a = (th - start) % (2 * np.pi)
        on = a < mu
        mid = (r["v"][:, x] + r["v"][:, y]) / 2
        for q in (x, y):
            v[on, q] += depth * (mid[on] - r["v"][on, q])
        np.exp(-a / 0.03) * np.sin(2 * np.pi * a * p.u(60, 110) / (2 * np.pi)) * (a < 0.3)
    r["v"] = v
    load = p.u(0.3, 0.8)
    for j in range(3):
        a = (th - j * 2 * np.pi / 3 - alpha) % (2 * np.pi)

        def sq(q):
            return np.clip((q - np.pi / 6) / mu, 0, 1) - np.clip((q - 5 * np.pi / 6) / mu, 0, 1)

        r["i"][:, j] = load * S2 * (sq(a) - sq((a - np.pi) % (2 * np.pi)))
    r.update(extra=["notching", "harmonics", "transient"], need=True)
    return r


@kind
def harmonics_six_pulse(p):
    p.spc = int(p.rng.choice([64, 128, 256]))
    p.h5 = p.h7 = 0
    r = steady(p, cyc=p.u(10, 30))
    th = p.phase(r["t"])
    h = np.array([5, 7, 11, 13])
    a = np.array([1 / x * x for x in h]) * np.array([1, p.u(0.5, 0.8), p.u(0.2, 0.5), p.u(0.15, 0.4)])
    a = a / np.hypot.reduce(a) * p.u(0.062, 0.12)
    ph = p.rng.uniform(0, 2 * np.pi, 4)
    for j in range(3):
        for k in range(4):
            x = h[k] * (th - j * 2 * np.pi / 3)
            r["v"][:, j] += S2 * a[k] * np.sin(x + ph[k])
            r["i"][:, j] += 0.5 * S2 / h[k] * np.sin(x + ph[k] + np.pi / 2)
    r.update(extra=["harmonics"], need=True)
    return r


@kind
def ferroresonance(p):
    """A breaker with grading capacitors opens on a bus with inductive voltage transformers (Jacobson 2003; CIGRE TB 569)."""  # noqa: E501
    p.currents = False
    p.nominals = [x for x in p.nominals if x[0] not in (230.0, 120.0)]
    p.cycles_post = p.u(15, 30)
    p.spc = int(p.rng.choice([64, 128]))
    p.go()
    for _ in range(40):
        n = Net()
        n.rl(["0"] * 3, n3("u"), 0.01, 0.05 / p.w0, emf=p.emf(1.0))
        g, q, loss, l2 = p.u(0.55, 0.85), 10 ** p.u(-1.8, -0.8), p.u(100, 400), p.u(0.4, 2.5)
        for a, b in zip(n3("u"), n3("b"), strict=False):
            n.switch(a, b, True, [(p.tp, False)])
            n.cap(a, b, g * q / p.w0)
            n.cap(b, "0", (1 - g) * q / p.w0)
            n.rl([b], [b + "i"], 0.05, 0.02 / p.w0)
            n.sat(b + "i", "0", 1 / 0.01 / p.w0, l2 / p.w0, 1.15 * S2 / p.w0)
            n.res(b + "i", "0", loss)
        p.feeder = [0, 1, 2]
        r = out(p, n)
        x = r["v"][r["t"] > p.tp + 6 / p.f0]
        if 1.16 < np.sqrt(np.mean(x**2, 0)).max() < 2.2:
            break
    r.update(cause="unknown", phases=None, start=p.tp, extra=["swell", "harmonics", "transient", "sag"], need=True)
    return r


# ---------------------------------------------------------------- frequency, phase, control
def ramp(p, lo, hi, rates):
    p.spc = int(p.rng.choice([32, 64, 128]))
    p.df = p.u(-0.05, 0.05)
    aim, rate = p.u(lo, hi) * p.rng.choice([-1, 1]), p.u(*rates)
    t1 = abs(aim - p.df) / rate
    base = p.df
    r = steady(
        p,
        cyc=(t1 + p.u(0.6, 1.0)) * p.f0,
        phase=lambda t: (
            p.phi
            + 2
            * np.pi
            * (
                (p.f0 + base) * t
                + np.sign(aim - base)
                * rate
                * np.where(t < p.tp, 0, np.where(t < p.tp + t1, (t - p.tp) ** 2 / 2, t1**2 / 2 + t1 * (t - p.tp - t1)))
            )
        ),
    )
    return r, aim


@kind
def frequency_within(p):
    r, _ = ramp(p, 0.15, 0.38 * p.f0 / 50, (0.2, 0.6))
    r["rms"] = False
    return r


@kind
def frequency_outside(p):
    r, _aim = ramp(p, 0.8, 2.2, (0.8, 3))
    r.update(extra=["frequency"], need=True, rms=False)
    return r


@kind
def phase_jump(p):
    """The supply is changed over to another line: the angle moves, the size does not."""
    a = np.radians(p.u(8, 35)) * p.rng.choice([-1, 1])
    r = steady(p, phase=lambda t: p.phase(t) + a / (1 + np.exp(-np.clip((t - p.tp) / 2e-4, -50, 50))))
    r.update(extra=["transient", "rapid voltage change"], caveat=None, rms=False)
    return r


@kind
def ripple_control(p):
    p.spc = int(p.rng.choice([64, 128, 256]))
    p.h5 = p.h7 = 0
    r = steady(p, cyc=p.u(1.0, 2.0) * p.f0)
    f = float(p.rng.choice([175, 183.3, 216.7, 283.3, 317, 425, 492, 1050]))
    gate, t = np.zeros(len(r["t"])), p.tp
    while t < p.end:
        d = p.u(0.15, 0.35)
        gate[(r["t"] > t) & (r["t"] < t + d)] = 1
        t += d + p.u(0.1, 0.4)
    k = int(0.015 / p.dt)
    gate = np.convolve(gate, np.ones(k) / k, "same")
    r["v"] = r["v"] + (S2 * p.u(0.01, 0.035) * gate * np.sin(2 * np.pi * f * r["t"]))[:, None]
    r.update(extra=["harmonics", "transient", "rapid voltage change"], rms=False, ripple=True)
    return r


@kind
def tap_changer(p):
    """Resistor type: through the middle position, 40 to 60 ms between the two halves."""
    d, gap = p.u(0.010, 0.0245) * p.rng.choice([-1, 1]), p.u(0.02, 0.06)
    return steady(
        p,
        cyc=p.u(15, 30),
        level=lambda t: (
            1
            + d
            / 2
            * (
                1 / (1 + np.exp(-np.clip((t - p.tp) / 2e-3, -50, 50)))
                + 1 / (1 + np.exp(-np.clip((t - p.tp - gap) / 2e-3, -50, 50)))
            )
        ),
    )


@kind
def undisturbed(p):
    return steady(p, rms=False)


@kind
def undisturbed_distorted(p):
    p.h5, p.h7, p.unb = p.u(0.02, 0.033), p.u(0.01, 0.022), p.u(0.006, 0.015)
    return steady(p, rms=False)


# ---------------------------------------------------------------- faults of the recorder
@kind
def rec_frozen(p):
    r = steady(p)
    n = int(p.u(0.3, 3) * p.spc)

    def post(v, i, bad):
        k = int(p.tp * p.fs)
        v[k : k + n] = v[k]
        i[k : k + n] = i[k]
        return v, i, bad

    r.update(post=post, caveat=True, rms=False, exact=True)
    return r


@kind
def rec_lost(p):
    r = steady(p, cyc=p.u(10, 20))
    n = int(p.spc * (p.rng.integers(0, 3) + p.u(0.08, 0.92)))

    def post(v, i, bad):
        k = int(p.tp * p.fs)
        keep = np.r_[0:k, k + n : len(v)]
        return v[keep], i[keep], bad[keep]

    r.update(post=post, caveat=True, rms=False, extra=["transient", "rapid voltage change"])
    return r


@kind
def rec_missing(p):
    p.binary = True
    faulty = p.rng.random() < 0.5
    r = plain_fault(p, "1G", "down", cyc=(4, 10)) if faulty else steady(p)
    gaps = [(p.u(0.05, 0.9) * p.end, p.u(0.002, 0.03)) for _ in range(int(p.rng.integers(1, 3)))]
    if faulty:  # not over the edges of the fault
        gaps = [(max(p.end - 0.06, r["clear"] + 0.02), 0.015)]

    def post(v, i, bad):
        for a, d in gaps:
            bad[int(a * p.fs) : int((a + d) * p.fs)] = True
        return v, i, bad

    r.update(post=post, caveat=True, rms=faulty)
    return r


@kind
def rec_clipped(p):
    p.full_v = p.u(1.12, 1.25)
    p.nominals = [x for x in p.nominals if x[0] not in (230.0, 120.0)]
    p.cycles_post = p.u(10, 20)
    r = isolated(p, p.u(0.005, 0.05), dur=None)
    r.update(caveat=True, extra=["sag", "swell", "transient", "harmonics"])
    return r


@kind
def rec_swapped(p):
    r = steady(p)
    x, y = p.rng.permutation(3)[:2]

    def post(v, i, bad):
        k = int(p.tp * p.fs)
        v[k:, [x, y]] = v[k:, [y, x]]
        return v, i, bad

    r.update(post=post, caveat=True, rms=False, extra=["transient"])
    return r


@kind
def rec_clock(p):
    e = p.u(0.012, 0.03) * p.rng.choice([-1, 1])
    r = steady(p, cyc=p.u(20, 40))
    r.update(caveat=True, rms=False, extra=["frequency"], none_ok=True, rate_error=e)
    return r


@kind
def rec_dead_spares(p):
    r = plain_fault(p, "1G", "down") if p.rng.random() < 0.5 else steady(p)
    r.update(spares=True, caveat=None, rms=r["cause"] == "fault")
    return r


@kind
def rec_begins_dead(p):
    p.cycles_pre = p.u(2, 8)
    p.go()
    n = Net()
    n.rl(["0"] * 3, n3("u"), 0.006, 0.06 / p.w0, emf=p.emf(1.02))
    at = p.tp + np.sort(p.rng.uniform(0, 0.004, 3))
    for a, b, t in zip(n3("u"), n3("b"), at, strict=False):
        n.switch(a, b, False, [(t, True)])
        n.res(b, "0", 100)
    p.feeder = n.rl(n3("b"), ["ls"] * 3, 1.5, 0.5 / p.w0)
    r = out(p, n)
    r.update(
        cause="unknown",
        phases=None,
        start=p.tp,
        extra=["interruption", "sag", "transient", "rapid voltage change", "swell"],
        none_ok=True,
        dead=True,
    )
    return r


# ---------------------------------------------------------------- recorder, truth, files
def anti_alias(x, dt, fs):
    """Second-order Butterworth at 0.4 fs, its delay at the fundamental removed."""
    n = len(x)
    f = np.fft.rfftfreq(2 * n, dt)
    s = 1j * f / (0.4 * fs)
    h = 1 / (s**2 + S2 * s + 1) * np.exp(1j * 2 * np.pi * f * S2 / (2 * np.pi * 0.4 * fs))
    return np.fft.irfft(np.fft.rfft(np.concatenate([x, x[::-1]]), axis=0) * h[:, None], axis=0)[:n]


def urms(v, spc):
    c = np.cumsum(np.vstack([np.zeros(v.shape[1]), v**2]), 0)
    k = np.arange(0, len(v) - spc + 1, spc // 2)
    return np.sqrt((c[k + spc] - c[k]) / spc)


def rms_types(r, refs):
    """(certain, possible) types by Urms(1/2), over the given references for 1 pu (each of phase values)."""
    sure, floor, maybe = None, None, set()
    for ref in refs:
        x = r / ref
        s = set()
        for lim, what, f in ((0.9, "sag", -1), (1.1, "swell", 1)):
            e = x.min() if f < 0 else x.max()
            if f * (e - lim) > 0.008:
                s.add(what)
            if f * (e - lim) > -0.008:
                maybe.add(what)
        m = x.max(1).min()
        if m < 0.092:
            s.add("interruption")
        if m < 0.108:
            maybe |= {"interruption", "sag"}
        d = np.abs(x - x[0]).max() if len(x) else 0
        if not s and d > 0.03:
            s.add("rapid voltage change")
        if d > 0.014:
            maybe.add("rapid voltage change")
        rms = s & {"sag", "swell", "interruption"}
        sure = s if sure is None else (sure & s) or ({"change"} if sure and s else set())
        floor = rms if floor is None else floor & rms
    if floor:  # a sag for every reference: a rapid voltage change alone would not do
        maybe.discard("rapid voltage change")
    return sure, maybe


def record(name, seed, folder):
    p = P(name, seed)
    p.trips = []
    r = KINDS[name](p)
    t, v, i = r["t"], r["v"], r["i"]
    first = round(-t[0] / p.dt)
    v, i = anti_alias(v, p.dt, p.fs)[first :: p.k], anti_alias(i, p.dt, p.fs)[first :: p.k]
    # the measured bus is at its usual level before the event
    r0 = urms(v[: max(p.spc, int(p.tp * p.fs) - 2)][:], p.spc)
    scale = 1.0 if r.get("dead") or not len(r0) or name == "cap_first_cycle" else p.level / r0[0].mean()
    v, i = v * scale, i * scale
    if p.ll:
        v = (v - np.roll(v, -1, 1)) / S3
    in_ = i.sum(1)
    clean = v.copy()
    bad = np.zeros(len(v), bool)
    # truth of the events
    x = urms(clean, p.spc)
    pre = x[0]
    extra = set(r.get("extra", []))
    if r.get("rms", True):
        sure, maybe = rms_types(x, [1.0] if r.get("dead") else [1.0, pre.mean(), pre])
    else:
        sure, maybe = set(), set()
    if r.get("flicker") or r.get("strict"):
        sure = set()
    none_ok = r.get("none_ok", not sure and not r.get("need", False))
    dev = np.abs(clean[p.spc :] - clean[: -p.spc]).max() / S2 if len(clean) > p.spc else 0
    if r.get("strict"):
        none_ok = dev < 0.12
    events = sorted((sure | maybe | extra) - {"change"})
    dip = float(1 - (x / pre).min()) if not r.get("dead") else 0.0
    change = float(np.abs(x / pre - 1).max()) if not r.get("dead") else 0.0
    ir = urms(i, p.spc)
    ratio = float((ir / np.maximum(ir[0], 0.02)).max())
    visible = r.get("visible")
    cause = r["cause"]
    cur = p.currents
    if visible is None:
        if cause == "fault":
            visible = dip >= 0.10 or bool(cur and ratio > 2 and dip >= 0.03) or bool(change > 0.25)
            if r.get("strict"):
                visible = bool(cur and ratio > 1.8 and dip > 0.04)
        elif cause == "motor start":
            visible = dip >= 0.03
        elif cause == "transformer energising":
            visible = dip >= 0.03 and (cur or len(x) > 12)
        elif cause == "capacitor switching":
            visible = bool(cur) if r.get("bank_current") else True
            if r.get("bank_current") and change < 0.02:
                visible = False
        elif cause == "load switching":
            visible = bool(cur and change >= 0.022)
        else:
            visible = False
    if (
        "transient" in extra
        and cause in ("capacitor switching", "unknown")
        and r.get("need")
        and "post" not in r
        and name not in ("notching", "ferroresonance")
    ) and dev < 0.12:  # the recorder's filter or a closing near a voltage zero left little of it
        none_ok = True
        visible = visible and dev > 0.08
    if name == "frequency_outside":
        none_ok = False
    also = ["unknown"] if cause != "unknown" else []
    if name == "arc_furnace":
        also = ["load switching"]
    # sample level: recorder faults, noise
    if r.get("post"):
        v, i, bad = r["post"](v.copy(), i.copy(), bad)
        in_ = i.sum(1)
        if not r.get("caveat"):
            clean = v
    sig = 10 ** (-p.snr / 20)
    rng = np.random.default_rng([zlib.crc32(name.encode()), seed, 7])
    if not r.get("exact"):
        v = v + sig * rng.standard_normal(v.shape)
        i = i + sig * rng.standard_normal(i.shape)
    else:  # frozen: the noise is frozen as well
        nz, ni = sig * rng.standard_normal(v.shape), sig * rng.standard_normal(i.shape)
        k = np.flatnonzero((np.diff(v, axis=0) == 0).all(1))
        v, i = v + nz, i + ni
        for q in k:
            v[q + 1], i[q + 1] = v[q], i[q]
    in_ = i.sum(1) if r.get("exact") else in_ + sig * rng.standard_normal(len(in_))
    nom = p.nominals[p.rng.integers(len(p.nominals))]
    chans = []
    vn, inames, nname, phases = p.naming
    vfile = nom[0] * (S3 if p.ll else 1)
    if p.ll:
        vn = [["VAB", "VBC", "VCA"], ["UL12", "UL23", "UL31"]]["L1" in phases]
        vph = ["AB", "BC", "CA"] if "L1" not in phases else ["L12", "L23", "L31"]
    else:
        vph = phases
    for j in range(3):
        chans.append((vn[j], vph[j], nom[1], v[:, j] * vfile, p.full_v * S2 * vfile, nom[3], nom[4], nom[5]))  # noqa: PERF401
    if cur:
        for j in range(3):
            chans.append(  # noqa: PERF401
                (inames[j], phases[j], nom[7], i[:, j] * nom[6], p.full_i * S2 * nom[6], nom[8], nom[9], nom[5])
            )
        if p.neutral:
            chans.append(
                (nname, "N" if phases[0] else "", nom[7], in_ * nom[6], p.full_i * S2 * nom[6], nom[8], nom[9], nom[5])
            )
    if r.get("spares"):
        other = p.rng.random() < 0.5
        for j in range(3):
            chans.append(  # noqa: PERF401
                (
                    f"V{j + 4}" if other else ("VA2", "VB2", "VC2")[j],
                    ("A", "B", "C")[j],
                    nom[1],
                    2e-4 * vfile * rng.standard_normal(len(v)),
                    p.full_v * S2 * vfile,
                    nom[3],
                    nom[4],
                    nom[5],
                )
            )
    status = []
    if p.status:
        for nm, ch in p.trips or [("CB CLOSED", [(0, 1)]), ("TRIP", [])]:
            y = np.zeros(len(v), int)
            for a, s in sorted(ch):
                y[max(0, int(np.ceil(a * p.fs))) :] = s
            status.append((nm, y))
    fs_file = p.fs * (1 + r.get("rate_error", 0.0))
    stem = f"{name}_{seed:04d}"
    clipped = write_comtrade(folder / stem, stem, p, chans, status, bad, fs_file)
    caveat = r.get("caveat", False)
    caveat = None if clipped and caveat is False else caveat
    clear = r.get("clear")
    return stem, {
        "kind": name,
        "seed": seed,
        "events": events,
        "none_ok": bool(none_ok) or not events,
        "cause": cause if visible or cause == "unknown" else "unknown",
        "true_cause": cause,
        "also": sorted(set(also + ([cause] if not visible else []))) if cause != "unknown" else also,
        "visible": bool(visible) and cause != "unknown",
        "phases": r.get("phases") if cause == "fault" else None,
        "start": None if r.get("start") is None else round(float(r["start"]), 5),
        "clear": None if clear is None else round(float(clear), 5),
        "caveat": caveat,
        "nominal": round(vfile * nom[2] * (nom[3] / nom[4] if nom[5] == "S" else 1), 1),
        "frequency": p.f0,
        "currents": cur,
        "spc": p.spc,
        "dip": round(dip, 4),
        "change": round(change, 4),
        "current_ratio": round(ratio, 2),
        "deviation": round(float(dev), 3),
        "snr": round(p.snr, 1),
        "line_to_line": p.ll,
    }


def write_comtrade(path, station, p, chans, status, bad, fs):
    n = len(bad)
    lines = [
        f"GEN5 {station},{p.rng.integers(1, 900)},1999",
        f"{len(chans) + len(status)},{len(chans)}A,{len(status)}D",
    ]
    data, clipped = [], False
    for k, (nm, ph, unit, x, full, prim, sec, ps) in enumerate(chans):
        a = float(f"{full / 32767:.8g}")
        q = np.clip(np.round(x / a), -32767, 32767).astype(np.int64)
        clipped = clipped or bool((np.abs(q) == 32767).any())
        q[bad] = -32768
        data.append(q)
        lines.append(f"{k + 1},{nm},{ph},,{unit},{a:.8g},0,0,-32767,32767,{prim},{sec},{ps}")
    for k, (nm, _) in enumerate(status):
        lines.append(f"{k + 1},{nm},,,{0}")
    day = f"{1 + p.rng.integers(28):02d}/{1 + p.rng.integers(12):02d}/{2015 + p.rng.integers(10)},{p.rng.integers(24):02d}:{p.rng.integers(60):02d}:"  # noqa: E501
    s0 = p.rng.uniform(0, 50)
    lines += [
        f"{p.f0}",
        "1",
        f"{fs:.6f},{n}",
        f"{day}{s0:09.6f}",
        f"{day}{s0 + min(p.tp, 9):09.6f}",
        "BINARY" if p.binary else "ASCII",
        "1",
    ]
    path.with_suffix(".cfg").write_bytes(("\r\n".join(lines) + "\r\n").encode("ascii"))
    stamp = np.round(np.arange(n) / fs * 1e6).astype(np.int64)
    if p.binary:
        words = (len(status) + 15) // 16
        rec = np.zeros(
            n,
            dtype=np.dtype([("n", "<i4"), ("t", "<i4"), ("a", "<i2", (len(chans),)), ("d", "<u2", (words,))])
            if words
            else np.dtype([("n", "<i4"), ("t", "<i4"), ("a", "<i2", (len(chans),))]),
        )
        rec["n"], rec["t"] = np.arange(1, n + 1), stamp
        rec["a"] = np.stack(data, 1)
        for k, (_, y) in enumerate(status):
            rec["d"][:, k // 16] |= (y << (k % 16)).astype("<u2")
        path.with_suffix(".dat").write_bytes(rec.tobytes())
    else:
        table = np.column_stack([np.arange(1, n + 1), stamp, *data, *[y for _, y in status]])
        path.with_suffix(".dat").write_bytes(
            ("\r\n".join(",".join(map(str, row)) for row in table.tolist()) + "\r\n").encode("ascii")
        )
    return clipped


def main():
    a = argparse.ArgumentParser()
    a.add_argument("out", type=Path)
    a.add_argument("--seeds", type=int, nargs="+", default=[1], help="seeds; or use --count")
    a.add_argument("--first", type=int)
    a.add_argument("--count", type=int)
    a.add_argument("--kinds")
    o = a.parse_args()
    seeds = range(o.first or 1, (o.first or 1) + o.count) if o.count else o.seeds
    o.out.mkdir(parents=True, exist_ok=True)
    file = o.out / "truth.json"
    truth = json.loads(file.read_text()) if file.exists() else {}
    for name in o.kinds.split(",") if o.kinds else KINDS:
        for s in seeds:
            stem, tr = record(name, s, o.out)
            truth[stem] = tr
    file.write_text(json.dumps(truth, indent=1))
    print(len(truth), "records,", len(KINDS), "kinds")


if __name__ == "__main__":
    main()
