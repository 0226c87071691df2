"""Network parts: stations, lines, transformers, loads, machines, converters, faults."""

from types import SimpleNamespace

import numpy as np
from emt import seq


def source(c, bus, volts, mva, xr=None, k0=None, shift=0.0, quiet=1.0):
    z = volts**2 / (mva * 1e6)
    xr = xr or c.u(3, 14)
    x1 = z / np.hypot(1, 1 / xr)
    r1, k0 = x1 / xr, k0 or c.u(0.8, 2.5)
    return c.net.rl([0, 0, 0], bus, seq(r1, r1 * k0 * 1.4), seq(x1, x1 * k0) / c.w, c.emf(volts, shift, quiet=quiet))


def line(c, a, b, km, level, cable=None):
    """Coupled pi section; returns its series group."""
    cable = (c.p(0.5) and level == "MV" and km < 12) if cable is None else cable
    if level == "LV":
        r1, x1, cc, kr, kx = c.lu(0.08, 0.6), 0.075, 0.3e-6, 3.5, 3
    elif cable:
        r1, x1, cc, kr, kx = c.lu(0.06, 0.25), c.u(0.1, 0.14), c.u(0.2, 0.4) * 1e-6, 5, 2
    else:
        r1, x1, cc, kr, kx = (c.lu(0.15, 0.6) if level == "MV" else c.lu(0.04, 0.15)), c.u(0.33, 0.42), 9.5e-9, 2.2, 3.3
    g = c.net.rl(a, b, seq(r1, r1 * kr) * km, seq(x1, x1 * kx) * km / c.w)
    for p, q in zip(a, b, strict=False):  # losses at high frequency
        c.net.r(p, q, 40 * x1 * km)
    c0 = cc * (1.0 if cable else 0.55)
    for q in (a, b):
        c.net.c(q, 0, c0 * km / 2)
        if c0 < cc:
            c.net.c(q, [q[1], q[2], q[0]], (cc - c0) / 3 * km / 2)
    return g


def ct(c, a, small=1.0):
    """A current transformer's place: next bus behind a negligible impedance, and its group."""
    b = c.net.bus()
    z = c.un**2 / 1e9 * small
    return b, c.net.rl(a, b, z * 0.3, z / c.w)


def trafo(c, b1, b2, mva, u1, u2, uk, vec="Dyn", neutral=0, mag=True, lam=None, knee=None, tap=None, im=None):
    """Three single-phase units; neutral is the secondary star point (0 earthed, or a node). Returns secondary group."""
    net = c.net
    w1 = u1 if vec[0] == "D" else u1 / np.sqrt(3)
    w2 = u2 if vec[-1] == "d" else u2 / np.sqrt(3)
    zb1, zb2 = w1**2 / (mva * 1e6 / 3), w2**2 / (mva * 1e6 / 3)
    rr = c.u(0.006, 0.018) / (1 + (mva > 5) * 2)
    rot = c.pick(1, 2)
    s = net.bus()
    star = 0 if vec.startswith("YN") else net.bus(1)[0] if vec[0] == "Y" else None
    knee, im, air = knee or c.u(1.12, 1.28), im or c.lu(0.002, 0.012), c.u(0.2, 0.4)
    ends = []
    for k in range(3):
        m = net.bus(1)[0]
        back = b1[(k + rot) % 3] if star is None else star
        net.rl(b1[k], m, rr / 2 * zb1, uk / 2 * zb1 / c.w)
        if mag:
            net.coil(
                m,
                back,
                w1 * np.sqrt(2),
                c.w,
                im * np.sqrt(2) * w1 / zb1,
                knee,
                max(air - uk / 2, 0.08),
                zb1,
                lam and lam[k],
            )
            net.r(m, back, zb1 / 0.003)
        sb = neutral if vec[-1] == "n" else None
        t = s[k]
        net.ideal(m, back, t, s[(k + 1) % 3] if sb is None else sb, w1 / w2)
        if tap:
            q = net.bus(1)[0]
            net.ideal(m, back, q, t, w1 / w2 / tap[0])
            mid = net.bus(1)[0]
            net.switch(t, mid, [(tap[1] + 0.035, 0)], True, ron=1e-5 * zb2 + 1e-6)
            rt = net.bus(1)[0]
            net.r(rt, mid, zb2 * 0.03)
            net.switch(q, rt, [(tap[1], 1)], ron=1e-5 * zb2 + 1e-6)
            net.switch(q, mid, [(tap[1] + 0.06, 1)], ron=1e-5 * zb2 + 1e-6)
            t = mid
        ends.append(t)
    r2, l2 = rr / 2 * zb2, uk / 2 * zb2 / c.w
    return net.rl(ends, b2, r2, l2)


def load(c, bus, mva, pf=0.92, earth=None, volts=None, split=(1, 1, 1)):
    """Constant-impedance star load, RL in series; returns its group."""
    volts = volts or c.un
    n = 0 if (earth if earth is not None else c.level == "LV") else c.net.bus(1)[0]
    z = np.array([volts**2 / (mva * 1e6) / max(s, 1e-3) for s in split])
    return c.net.rl(bus, [n] * 3, np.diag(z * pf), np.diag(z * np.sqrt(1 - pf * pf)) / c.w + np.eye(3) * 1e-9)


def bank(c, bus, mvar, star=0, ohm=None, henry=None, volts=None, charge=True):
    """Capacitor bank behind an own inductance; returns the group of its leads."""
    volts = volts or c.un
    m = c.net.bus()
    z = volts**2 / (mvar * 1e6)
    g = c.net.rl(bus, m, ohm or z * 2e-3, henry or z * 2e-4 / c.w)
    c.net.c(m, star, 1 / (z * c.w))
    if charge:
        c.net.r(m, star, z * 2e4)
    return g


def station(c, level=None, ground=None, share=(0.2, 0.6), ssc=None, sn=None, mag=False, tap=None, quiet=1.0, uk=None):
    """Source, transformer and main bus. S.src: primary bus, S.B: main bus, S.inc: incoming currents, S.ssc in MVA."""
    s = SimpleNamespace(src=c.net.bus(), B=c.net.bus(), neutral=0)
    level, net = level or c.level, c.net
    if level == "HV":
        s.ssc = ssc or c.lu(900, 7000)
        km = c.u(8, 60)
        x = 0.38 * km
        z = c.un**2 / s.ssc / 1e6
        s.inc_src = source(c, s.src, c.un, s.ssc / max(1 - x / z, 0.35), k0=c.u(0.8, 2), quiet=quiet)
        s.inc = line(c, s.src, s.B, km, "HV", False)
        s.sn = s.ssc * c.u(0.02, 0.08)
        load(c, s.B, s.sn * c.u(*share), c.u(0.88, 0.98), earth=False)
        net.c(s.B, 0, c.lu(0.02, 0.3) * 1e-6)
        damper(c, s)
        return s
    if level == "LV":
        s.sn = sn or c.pick(0.16, 0.25, 0.4, 0.63, 0.8, 1.0, 1.6, 2.5)
        up = c.pick(10000.0, 20000.0, 13800.0)
        uk, us = uk or c.u(0.04, 0.06), c.lu(60, 350)
    else:
        s.sn = sn or c.lu(6, 45)
        up = c.pick(66000.0, 110000.0, 132000.0)
        uk, us = uk or c.u(0.08, 0.13), c.lu(900, 5000)
        s.ground = ground or c.pick("solid", "solid", "res")
        if s.ground != "solid":
            s.neutral = net.bus(1)[0]
            if s.ground == "res":
                net.r(s.neutral, 0, c.un / np.sqrt(3) / c.u(300, 1200))
    s.up = up
    s.inc_src = source(c, s.src, up, us, quiet=quiet)
    net.c(s.src, 0, 2e-9 * (10 if level == "LV" else 4))
    s.inc = trafo(c, s.src, s.B, s.sn, up, c.un, uk, "Dyn", s.neutral, mag=mag, tap=tap)
    s.ssc = 1 / (1 / us + uk / s.sn)
    if share:
        load(c, s.B, s.sn * c.u(*share), c.u(0.85, 0.98))
    stray = (0.02, 0.2) if level == "LV" else (0.05, 0.8)
    net.c(s.B, 0, c.lu(*stray) * 1e-6)
    damper(c, s)
    if level == "MV" and s.ground in ("iso", "coil"):
        net.r(s.B, 0, c.un**2 / c.lu(600, 3000))  # voltage transformers discharge what is trapped
    return s


def damper(c, s):
    """Damping of stray resonances, as many cables and loads have it; no path to earth."""
    q, n, zs = c.net.bus(), c.net.bus(1)[0], c.un**2 / s.ssc / 1e6
    c.net.rl(s.B, q, zs * 8, 1e-7)
    c.net.c(q, n, 1 / (c.w * zs * c.u(80, 300)))


FAULTS = {"lg": 1, "ll": 2, "llg": 2, "3p": 3}


def fault(c, bus, phases, earth, ohm, t, arc=0.0, off=None, kind=0, par=(0, 0, 0, 0, 0), re=0.0, lag=(0, 0, 0)):
    """Poles to a common point, with an arc voltage each (peak volts); returns the switches."""
    net = c.net
    m = net.bus(1)[0]
    net.r(m, 0, max(re, 1e-3)) if earth else None
    sw = []
    for j, p in enumerate(phases):
        k = "ABC".index(p)
        q = net.bus(1)[0]
        g = net.rl(bus[k], q, max(ohm, 2e-3 if c.level == "LV" else 0.02), 2e-7 if c.level == "LV" else 5e-6)
        if arc:
            long = arc * np.clip(1 + c.u(0, 3) * (c.t - t), 1, 3)
            net.device(4, g, [c.u(15, 60), 2e-4], [0], net.array(long))
        ops = [(t + lag[j], 1)] + ([(off, 0)] if off else [])
        sw.append(net.switch(q, m, [] if kind else ops, ron=1e-3, kind=kind, par=par))
    return sw


def feeder(c, s, km, ops=(), share=0.15, cable=None, level=None, ron=1e-3, spread=(0, 0, 0)):
    """Breaker, current transformer, line, end load. Returns end bus, current group, breaker poles."""
    a, g = ct(c, s.B)
    b, e = c.net.bus(), c.net.bus()
    br = c.net.breaker(a, b, list(ops), True, ron, spread)
    line(c, b, e, km, level or c.level, cable)
    if share:
        load(c, e, s.sn * share, c.u(0.85, 0.97))
    if c.level == "MV":
        c.net.r(e, 0, c.un**2 / c.lu(300, 2000))  # voltage transformers discharge an opened line
    return e, g, br


def km_for(c, s, rest, level=None):
    """Length of a feeder whose far-end fault leaves about `rest` of the voltage at the bus."""
    z = c.un**2 / s.ssc / 1e6 * rest / (1 - rest)
    k = level or c.level
    return min(z / {"LV": 0.35, "MV": 0.5, "HV": 0.4}[k], {"LV": 1.0, "MV": 35.0, "HV": 140.0}[k])


def motor(c, bus, kw, volts=None, h=None, slip=None, tload=0.5, ex=2, base=0.1, neutral=None, ends=None, pull=1.0):
    """Induction machine; slip None: at rest. Returns group and device; ends: open winding ends (delta values)."""
    volts = volts or c.un
    s = kw * 1e3 / 0.82
    zb = volts**2 / s * (3 if ends else 1)
    xm, xs, xl, rs, rr = c.u(2.4, 3.6), c.u(0.07, 0.1), c.u(0.07, 0.11), c.u(0.008, 0.02), c.u(0.012, 0.025) * pull
    ls, lr, lm = (xs + xm) * zb / c.w, (xl + xm) * zb / c.w, xm * zb / c.w
    pp = 2
    h = h or c.lu(0.15, 0.9)
    jj = 2 * h * s / (c.w / pp) ** 2
    tn = kw * 1e3 / (c.w / pp)
    n = ends or ([c.net.bus(1)[0]] * 3 if neutral is None else [neutral] * 3)
    g = c.net.rl(bus, n, rs * zb, ls - lm * lm / lr)
    w = 0.0 if slip is None else c.w * (1 - slip)
    d = c.net.device(1, g, [rr * zb, lm, lr, pp, jj, c.w, tn * tload, ex, c.u(1.0, 2.5), base], [0, 0, w])
    return g, d


def generator(c, bus, mva, power, volts=None, xd=0.22, h=None, d=8.0, droop=0.05, tg=0.4, k=15.0, ta=0.15, shift=0.0):
    """Synchronous machine with swing, governor and exciter; power in pu."""
    volts = volts or c.un
    zb = volts**2 / (mva * 1e6)
    g = c.net.rl([0, 0, 0], bus, seq(0.01, 0.02) * zb, seq(xd, xd * 0.5) * zb / c.w)
    pk = volts * np.sqrt(2 / 3)
    ref = pk * c.u(0.995, 1.015)
    state = [c.phase0 + shift, 1.0, power, pk * 1.05, ref]
    dev = c.net.device(
        2, g, [pk * 1.05, c.w, mva * 1e6, h or c.u(1, 4), d, droop, tg, k, ta, ref, power, c.t0 * 0.8], state
    )
    return g, dev


def inverter(c, bus, mva, p, q, volts=None):
    """Grid-following converter taking p + jq (W, var arrays; negative feeds in). Returns its group."""
    volts = volts or c.un
    zb = volts**2 / (mva * 1e6)
    n = c.net.bus(1)[0]
    lf = 0.15 * zb / c.w
    g = c.net.rl(bus, [n] * 3, 0.005 * zb, lf)
    en = c.net.array(p)
    c.net.array(q)
    pk = volts * np.sqrt(2 / 3)
    imax = 1.15 * mva * 1e6 / (1.5 * pk)
    c.net.device(3, g, [lf, 0.005 * zb, c.w, imax, 900.0, pk], [c.phase0, 0, pk, 0, 0], en)
    return g


def bridge(c, bus, fire=None, goff=1e-6, ron=None):
    """Six valves to a dc pair; fire(k) gives the times of valve k (None: diodes). Returns plus, minus."""
    plus, minus = c.net.bus(1)[0], c.net.bus(1)[0]
    ron = ron or c.un**2 / 1e9
    for k in range(3):
        for j, (a, b) in enumerate(((bus[k], plus), (minus, bus[k]))):
            ops = [(t, 1) for t in fire(k, j)] if fire else []
            c.net.switch(a, b, ops, ron=ron, goff=goff, kind=2 if fire else 1, par=(0, 1 / c.f / 4, 0, 0, 0))
    return plus, minus


def firing(c, k, j, alpha, shift=0.0, start=0.0):
    """Firing times of valve (phase k, side j) with delay alpha(t) in degrees after natural commutation."""
    a = c.angle() + shift - k * 2 * np.pi / 3 + np.pi / 2 - j * np.pi  # sine reference, rising zero at 0
    ph = (a - np.deg2rad(30 + alpha)) / (2 * np.pi)
    idx = np.flatnonzero(np.floor(ph[1:]) > np.floor(ph[:-1])) + 1
    return [t for t in idx * c.dt if t >= start]
