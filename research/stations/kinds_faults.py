"""Kinds of recordings: faults, motors, transformers."""

import numpy as np
from nets import bank, ct, fault, feeder, inverter, km_for, line, load, motor, source, station, trafo

KINDS = {}


def kind(names):
    def add(fn):
        KINDS.update((n, fn) for n in names.split())
        return fn

    return add


def letters(c, n):
    k = int(c.rng.integers(3))
    return {1: "ABC"[k], 2: ("AB", "BC", "CA")[k], 3: "ABC"}[n]


def dip(c):
    """Largest change of the one-cycle RMS of any phase, in pu of the level before."""
    n = int(c.fs / c.f)
    u = np.sqrt(np.array([np.convolve(x * x, np.ones(n) / n, "valid") for x in c.v]))
    return float(np.abs(u / np.median(u[:, : max(int(c.pre * c.fs) - n, 1)], axis=1)[:, None] - 1).max())


def recovers(c):
    """Has the voltage of phase A come back by 40 % of its dip at the end of the record?"""
    n = int(c.fs / c.f)
    u = np.sqrt(np.convolve(c.v[0] ** 2, np.ones(n) / n, "valid"))
    ref = np.median(u[: max(int(c.pre * c.fs) - n, 1)])
    return ref - u[-n:].mean() < 0.6 * (ref - u.min())


def say(c, cause, visible, **kw):
    c.kw.update(cause=cause, visible=visible, **kw)


def seen(c, cause, least=0.03, **kw):
    """Signed with currents from 1 %, on voltages alone from `least`."""
    d = dip(c)
    say(c, cause, (d > 0.01, d > least), **kw)


@kind(
    "fault_lg fault_ll fault_llg fault_3p fault_evolve fault_twice fault_cut_end fault_cut_start "
    "fault_ct_saturates fault_motors fault_converter_park fault_at_zero_deg"
)
def line_fault(c, k):
    lasts = c.lu(0.03, 0.5)
    cut = k == "fault_cut_end"
    gap = c.lu(0.08, 0.9) if k == "fault_twice" else 0.0
    more = 1.2 if k == "fault_motors" else 0.0
    c.setup(
        c.pick("MV") if k == "fault_motors" else c.pick("LV", "MV", "MV", "HV"),
        lasts * 2 + gap + more,
        settle=0.6 if more else 0.16,
    )
    if cut:
        c.dur = max(c.pre + lasts * 0.7, 0.3)
    s = station(c)
    n = {"lg": 1, "ll": 2, "ot": 2, "3p": 3, "vo": 1}.get(k[6:8], c.pick(1, 1, 2, 3))
    typ, earth = letters(c, n), n == 1 or k == "fault_llg" or c.p(0.4)
    rest = c.lu(0.06, 0.8) if k != "fault_motors" else c.u(0.1, 0.5)
    ohm = c.un**2 / s.ssc / 1e6 * c.pick(0.02, c.lu(0.02, 0.6))
    t1 = c.wave_time(c.te, c.pick(0, 90) if k == "fault_at_zero_deg" else None)
    ops = [(t1 + lasts, 0)] if not cut else []
    side = c.p(0.5)
    if gap:
        ops = [(t1 + 2 * lasts + gap, 0)] if c.p(0.5) else []
    e, g, _br = feeder(c, s, km_for(c, s, rest), ops, share=c.u(0.0, 0.25) + 0.001)
    lag = (0, c.u(0.01, lasts * 0.7), c.u(0.01, lasts * 0.8)) if k == "fault_evolve" else (0, 0, 0)
    if k == "fault_evolve":
        typ = c.pick("ABC", "AB", "BC", "CAB", "BCA")
    poles = fault(
        c,
        e,
        typ,
        earth or k == "fault_evolve",
        ohm,
        t1,
        arc=c.pick(0, c.u(0.01, 0.05)) * c.un,
        off=t1 + lasts if gap else None if cut else t1 + lasts + 0.015,
        lag=lag,
    )
    if gap:
        poles += fault(c, e, typ, earth, ohm, t1 + lasts + gap, off=None if ops else t1 + 2 * lasts + gap)
    if k == "fault_motors":
        for _ in range(c.pick(1, 2, 3)):
            kw = s.sn * 1e3 * c.u(0.12, 0.3)
            motor(c, s.B, kw, slip=0.008, tload=c.u(0.5, 0.9), h=c.u(0.3, 0.8), ex=c.pick(0, 2), base=0.3, pull=1.6)
    if k == "fault_converter_park":
        inverter(c, s.B, s.sn * 0.5, -s.sn * 1e6 * c.u(0.1, 0.4) * np.ones(c.n), np.zeros(c.n))
    c.run(s.B, g if side or k == "fault_ct_saturates" else s.inc, ("s", poles))
    c.currents = c.currents or k == "fault_ct_saturates"
    seen(
        c,
        "fault",
        0.04,
        phases="".join(sorted(set(typ))),
        clear=c.clear_of(c.x),
        t_event=t1 - c.t0,
        caveat=None if k == "fault_ct_saturates" else False,
    )
    if k == "fault_cut_start":  # the capture begins while the fault is on
        j = int((t1 - c.t0 + lasts * c.u(0.3, 0.7)) * c.fs)
        c.v, c.i, c.pre = c.v[:, j:], c.i[:, j:], min(c.pre, lasts * 0.3)
        cl = c.kw["clear"]
        c.kw.update(clear=cl and round(cl - j / c.fs, 5), t_event=0.0, note="starts within the fault")
    return {"distort": saturate if k == "fault_ct_saturates" else None}


def saturate(c, v, i):
    """Secondary current of a CT whose core has a sharp knee: flux from the burden voltage, excess is lost."""
    out = np.zeros_like(i)
    peak = np.abs(i).max()
    knee = peak / (2 * np.pi * c.f) * c.u(0.25, 0.9)
    for k in range(3):
        lam, lm = c.u(-0.5, 0.5) * knee, 0.0
        for j, x in enumerate(i[k]):
            lam += (x - lm) / c.fs
            lm = (lam - np.sign(lam) * knee) * 2 * np.pi * c.f * 9 if abs(lam) > knee else lam * 0.2
            lm = np.clip(lm, min(0, x), max(0, x)) if lm * x > 0 else 0.0
            out[k, j] = x - lm
    return v, out, None


@kind("fault_behind_dyn fault_transmission_two_ends")
def far_fault(c, k):
    lasts = c.lu(0.05, 0.35)
    hv = k != "fault_behind_dyn"
    c.setup("HV" if hv else c.pick("LV", "MV"), lasts * 1.6)
    n = c.pick(1, 2, 2, 3)
    typ = letters(c, n)
    t1 = c.wave_time(c.te)
    if not hv:
        s = station(c)
        level, _up = ("MV", s.up) if c.level == "LV" else ("HV", s.up)
        a, far = c.net.bus(), c.net.bus()
        c.net.breaker(s.src, a, [(t1 + lasts, 0)], True, ron=2e-3)
        line(c, a, far, c.lu(1, 15) if level == "MV" else c.lu(4, 60), level, False)
        poles = fault(c, far, typ, n == 1 or c.p(0.3), 0.3, t1)
        c.run(s.B, s.inc, ("s", poles))
        seen(c, "fault", 0.04, clear=c.clear_of(c.x), phases=typ if n == 3 else None, note="phases are those upstream")
        return {}
    s = station(c)
    km, z = c.u(30, 120), c.u(0.2, 0.8)
    a, f, b, r = (c.net.bus() for _ in range(4))
    c.net.breaker(s.B, a, [(t1 + lasts * (1 if c.p(0.5) else 0.4), 0)], True)
    c.net.breaker(r, b, [(t1 + lasts, 0)], True)
    line(c, a, f, km * z, "HV", False)
    line(c, f, b, km * (1 - z), "HV", False)
    source(c, r, c.un, s.ssc * c.u(0.3, 1.5), shift=c.u(-0.12, 0.12))
    poles = fault(c, f, typ, n == 1 or c.p(0.5), c.u(0.5, 8), t1)
    c.run(s.B, s.inc, ("s", poles))
    seen(c, "fault", 0.04, phases=typ, clear=c.clear_of(c.x), rvc=True)
    return {}


@kind(
    "fault_fuse fault_self_clears fault_intermittent_earth fault_earth_isolated fault_earth_compensated "
    "fault_cross_country fault_high_impedance"
)
def special(c, k):
    iso = k in ("fault_intermittent_earth", "fault_earth_isolated", "fault_earth_compensated", "fault_cross_country")
    c.setup(
        "MV" if iso or k[6] in "sh" else c.pick("LV", "MV"),
        c.lu(0.2, 1.0),
        fs_min=3200 if k[6:8] in ("in", "se") else 1600,
    )
    comp = k == "fault_earth_compensated" or (iso and c.p(0.4))
    s = station(c, ground="coil" if comp else "iso") if iso else station(c, ground="solid")
    t1, pk = c.wave_time(c.te), c.un * np.sqrt(2 / 3)
    if iso:
        cap = c.lu(4, 60) * 0.25e-6  # km of cable elsewhere
        c.net.c(s.B, 0, cap)
        if comp:
            l0 = 1 / (3 * cap * c.w**2) / c.u(0.85, 1.12)
            c.net.rl(s.neutral, 0, l0 * c.w * 0.03, l0)
        c.net.r(s.neutral, 0, 40 / (3 * c.w * cap))
    typ = letters(c, 1)
    lasts = c.lu(0.05, 0.7)
    n_op = {"fault_fuse": [], "fault_earth_compensated": []}.get(k, [(t1 + lasts, 0)])
    e, g, _br = feeder(
        c, s, km_for(c, s, c.lu(0.08, 0.6)) if not iso else c.lu(1, 12), n_op, cable=(iso and c.p(0.6)) or None
    )
    kw = {}
    if k == "fault_fuse":
        typ = letters(c, c.pick(1, 2, 3))
        m, sw = c.net.bus(1)[0], []
        isc = s.ssc * 1e6 / c.un / np.sqrt(3)
        for _j, p in enumerate(typ):
            q, d, h = c.net.bus(3)
            i = c.net.switch(q, d, [], True)
            z = c.un**2 / s.ssc / 1e6
            b = c.net.rl(e["ABC".index(p)], q, z * 0.01, z * 0.01 / c.w)
            c.net.device(5, b, [isc**2 * c.lu(1e-3, 0.03), pk * c.u(1.4, 2.0), i, isc * 0.02], [0, 0, 0])
            c.net.rl(d, h, z * 0.01, z * 0.01 / c.w)
            sw.append(c.net.switch(h, m, [(t1, 1)]))
        c.net.r(m, 0, c.pick(1e-3, 1e5) if len(typ) > 1 else 1e-3)
        poles = sw
        kw = {"transient": True, "rvc": True, "also": ("fuse",)}
    elif k == "fault_self_clears":
        poles = fault(
            c,
            e,
            typ,
            True,
            c.u(0.2, 3),
            t1,
            arc=0.03 * c.un,
            kind=3,
            par=(pk * c.u(0.6, 0.95), c.pick(0.003, 0.003, 0.012), t1, c.end, c.pick(1, 1, 2, 3)),
        )
        kw = {"transient": True}
    elif k == "fault_intermittent_earth":
        par = (pk * c.u(0.6, 0.95), c.pick(0, 0.002, 0.004), t1, t1 + lasts, c.pick(4, 10, 40))
        poles = fault(c, e, typ, True, c.u(0.5, 8), t1, kind=3, par=par)
        kw = {"transient": True}
    elif k == "fault_cross_country":
        b = "ABC".replace(typ, "")[int(c.rng.integers(2))]
        e2, _g2, _br2 = feeder(c, s, c.lu(1, 12), [])
        poles = fault(c, e2, typ, True, c.u(0.3, 3), t1, re=1)
        poles += fault(c, e, b, True, c.u(0.3, 3), t1 + lasts * c.u(0.2, 0.7), re=1)
        typ, kw = "".join(sorted(typ + b)), {"rvc": True}
    elif k == "fault_high_impedance":
        poles = fault(
            c, e, typ, True, c.un / np.sqrt(3) / c.lu(100, 1500), t1, arc=c.u(0.05, 0.25) * c.un, off=t1 + lasts + 0.015
        )
    else:
        poles = fault(
            c, e, typ, True, c.pick(c.u(0.3, 5), c.lu(5, 150)), t1, arc=c.pick(0, 0.02) * c.un, off=t1 + lasts + 0.015
        )
    if k == "fault_earth_compensated":  # half of them go out by themselves
        off = [(t1 + lasts, 0)] if c.p(0.6) else []
        for p in poles:
            c.net.sw[p] = (*c.net.sw[p][:2], [(t1, 1), *off], *c.net.sw[p][3:])
    c.run(s.B, g, ("s", poles))
    d = dip(c)
    ok = d > (0.06 if iso else 0.03)
    first = np.abs(c.x).max(axis=0) > 1e-3
    te = np.argmax(first) * c.dt - c.t0 if first.any() else c.pre
    cl = c.clear_of(c.x) if k != "fault_cross_country" else None  # one of the two stays on
    if k == "fault_high_impedance":
        kw = {"also": ("load switching",)}
        ok = d > 0.08
    small = k in ("fault_intermittent_earth", "fault_self_clears") and d < 0.1
    say(c, "fault", (ok, ok and not small), phases=typ, clear=cl, t_event=te, **kw)
    if small:
        c.kw["also"] = ("restrike", "transient", "earth fault")
    if iso and k != "fault_cross_country":
        c.kw["none_ok"] = True
    return {"pp": 0 if iso else 0.2}


@kind("fault_recloses fault_lockout fault_trips_own_feeder lightning_flashover fault_broken_conductor")
def sequence(c, k):
    lasts, dead = c.lu(0.03, 0.25), c.lu(0.25, 1.2)
    shots = c.pick(1, 2) if k == "fault_lockout" else 1
    broken = k == "fault_broken_conductor"
    c.setup("MV", (lasts + dead) * shots + lasts + 0.1 + 0.3 * broken, dt=25e-6, settle=0.45)
    s = station(c, ground="solid")
    first = c.wave_time(c.te)
    t1 = first + broken * c.u(0.03, 0.3)
    own = k == "fault_trips_own_feeder" or (k == "fault_lockout" and c.p(0.5)) or (k == "fault_recloses" and c.p(0.3))
    ops, t = [(t1 + lasts, 0)], t1 + lasts
    if k in ("fault_recloses", "fault_lockout"):
        for _ in range(shots):
            ops += [(t + dead, 1)] + ([(t + dead + lasts, 0)] if k == "fault_lockout" else [])
            t += dead + lasts
    typ = letters(c, c.pick(1, 1, 2, 3))
    e, g, _br = feeder(c, s, km_for(c, s, c.lu(0.15, 0.7)), ops, share=c.u(0.1, 0.3))
    if own:
        motor(c, e, s.sn * c.u(20, 120), slip=0.01, h=0.4)
    off = t1 + lasts + 0.02 if k != "fault_lockout" else None
    kw = {}
    if k == "lightning_flashover":
        i0, tau = c.lu(2e3, 12e3), c.lu(2e-5, 8e-5)
        since = np.maximum(c.t - t1, 0)
        c.net.inject(0, e["ABC".index(typ[0])], i0 * (np.exp(-since / tau) - np.exp(-since / 4e-6)))
        kw = {"transient": True, "also": ("lightning",)}
    if broken:  # it opens first and falls to earth later, on the load side
        p = "ABC".index(typ[0])
        typ = "ABC"[p]
        m = c.net.bus()
        for j in range(3):
            c.net.switch(e[j], m[j], [(first, 0)] if j == p else [], True)
        load(c, m, s.sn * c.u(0.1, 0.3))
        off, e = t1 + lasts + 0.1, e if c.p(0.5) else m
        kw = {"rvc": True}
    poles = fault(c, e, typ, True, c.u(0.05, 2), t1, off=off, arc=c.pick(0, 0.03 * c.un) if off else 0)
    at = e if own else s.B
    c.run(at, g, ("s", poles))
    if own and k != "fault_recloses":
        kw["also"] = ("interruption",)
    seen(c, "fault", 0.04, phases=typ, clear=c.clear_of(c.x), t_event=first - c.t0, **{"rvc": True, **kw})
    return {}


# ---- motors
@kind("motor_direct motor_star_delta motor_soft_starter motor_two_in_turn motor_stalls motor_behind_transformer")
def motors(c, k):
    star = k == "motor_star_delta"
    c.setup(c.pick("LV", "LV", "MV"), c.lu(0.7, 3.4), dt=28e-6)
    s = station(c)
    a, g = ct(c, s.B)
    d = c.lu(0.035, 0.22)
    kw = d / (1 - d) * s.ssc * 1e3 / 5.6 * 0.82
    z = c.un**2 / kw / 1e3
    h = (c.end - c.te) * c.u(0.1, 0.25)
    t1 = c.wave_time(c.te)
    stop = k == "motor_stalls"
    opt = {"h": h, "tload": c.u(0.2, 0.6) if not stop else 3.0, "base": 0.1 if not stop else 1.0, "pull": c.u(1.0, 1.8)}
    ron = z * 1e-4
    bus = a
    if k == "motor_behind_transformer":
        bus, v2 = c.net.bus(), c.pick(690.0, 400.0)
        trafo(c, a, bus, kw / 900, c.un, v2, 0.06, mag=False)
    elif k == "motor_two_in_turn":
        b = c.net.bus()
        c.net.breaker(a, b, [(t1 + c.u(0.3, 0.5) * (c.end - c.te), 1)], ron=ron)
        motor(c, b, kw * c.u(0.4, 1.0), **opt)
    b = c.net.bus()
    trip = [(c.end - c.u(0.1, 0.5) * (c.end - t1), 0)] if stop else []
    if star:
        x, n = c.net.bus(), c.net.bus(1)[0]
        tc = t1 + (c.end - t1) * c.u(0.45, 0.75)
        motor(c, b, kw * 2.2, h=h * 0.3, tload=c.u(0.02, 0.12), base=0.1, pull=1.8, ends=x)
        for j in range(3):
            c.net.switch(x[j], n, [(tc, 0)], True, ron=ron)
            c.net.switch(x[j], b[(j + 1) % 3], [(tc + c.lu(0.03, 0.09), 1)], ron=ron)
        c.net.r(n, 0, 1e6)
    if k == "motor_soft_starter":
        ramp, al0 = c.u(0.35, 0.75) * (c.end - t1), c.u(95, 118)
        th = c.angle() - np.pi * 2 / 3 * np.arange(3)[:, None] + np.pi / 2
        ind = c.net.bus()
        motor(c, ind, kw * 1.5, h=h * 0.4, tload=0.15, pull=1.8)
        for j in range(3):
            for side in (0, 1):
                al = np.clip(al0 - (al0 - 40) * (c.t - t1) / ramp, 40, 120)
                ph = (th[j] - side * np.pi - np.deg2rad(al)) / 2 / np.pi
                at = np.flatnonzero(np.floor(ph[1:]) > np.floor(ph[:-1])) * c.dt
                pq = (a[j], ind[j]) if side == 0 else (ind[j], a[j])
                c.net.switch(
                    *pq, [(q, 1) for q in at if q > t1], ron=ron, goff=1 / z / 500, kind=2, par=(0, 0.28 / c.f, 0, 0, 0)
                )
            c.net.switch(a[j], ind[j], [(t1 + ramp * 1.05, 1)], ron=ron)
    else:
        c.net.breaker(bus, b, [(t1, 1), *trip], ron=ron)
        if not star:
            motor(c, b, kw, volts=v2 if k == "motor_behind_transformer" else None, **opt)
    if c.p(0.3):
        motor(c, s.B, kw * 0.5, slip=0.012, h=0.4)
    c.run(s.B, g if c.p(0.6) else s.inc)
    also = {"motor_soft_starter": ("load switching",), "motor_stalls": ("fault", "load switching")}.get(k, ())
    soft = k == "motor_soft_starter"
    done = recovers(c)
    also = also if done else (*also, "load switching")
    seen(
        c,
        "motor start",
        9 if soft or stop else 0.04,
        also=also,
        rvc=True,
        events=("harmonics",) if soft else (),
        t_event=t1 - c.t0,
    )
    if not done:  # the start outlasts the record: it could be any load of a poor power factor
        c.kw["visible"] = False
    return {}


# ---- transformers
@kind(
    "transformer_single transformer_sympathetic transformer_with_load transformer_resonant "
    "transformer_after_fault transformer_several transformer_prestrike_poles"
)
def transformers(c, k):
    c.setup(c.pick("LV", "MV", "MV", "HV") if k[12:14] in ("si", "pr") else "MV", c.lu(0.4, 2.5), fs_min=1920)
    s = station(c, share=(0.1, 0.35) if k == "transformer_resonant" else (0.2, 0.6))
    t1 = c.wave_time(c.te)
    a, g = ct(c, s.B)
    size = min(s.ssc * c.lu(0.025, 0.1), s.sn * (0.9 if c.level != "HV" else 6))
    low = 400.0 if c.level != "HV" else 20000.0
    r = c.u(0.3, 0.8) * c.pick(-1, 1)
    x = c.u(0.2, 0.8)
    f3 = np.roll([r, -r * x, -r * (1 - x)], int(c.rng.integers(3)))
    kw = {}
    if k == "transformer_resonant":
        m = c.net.bus()
        q = s.ssc / c.u(2.2, 4.6) ** 2
        zc = c.un**2 / q / 1e6
        c.net.rl(s.B, m, zc * 0.01, zc * 1e-4 / c.w)
        c.net.c(m, c.net.bus(1)[0] if c.p(0.5) else 0, 1 / zc / c.w)
        kw = {"rvc": True, "events": ("swell", "harmonics")}
    if k == "transformer_sympathetic":
        b = c.net.bus()
        trafo(c, s.B, b, size, c.un, low, 0.06, im=0.004)
        load(c, b, size * 0.2, volts=low)
        c.net.r(s.B, c.net.bus(), 1e9)
    n = c.pick(2, 3, 4) if k == "transformer_several" else 1
    for j in range(n):
        b, o = c.net.bus(), c.net.bus()
        tj = t1 + j * c.lu(0.04, 0.3)
        sp = (
            (0, c.u(0, 0.009), c.u(0, 0.009))
            if k == "transformer_prestrike_poles"
            else (0, c.u(0, 0.002), c.u(0, 0.002))
        )
        if k == "transformer_after_fault":
            c.net.breaker(a, b, [], True)
        else:
            c.net.breaker(a, b, [(tj, 1)], spread=sp)
        vec = "Dyn" if c.level != "HV" else "YNyn"
        at = None if k == "transformer_after_fault" else [(tj, y) for y in f3 * (1 if j == 0 else 0.5)]
        trafo(
            c,
            b,
            o,
            size / n**0.5 * (1.6 if k == "transformer_after_fault" else 1),
            c.un,
            low,
            c.u(0.05, 0.1),
            vec,
            lam=at,
        )
        if k in ("transformer_with_load", "transformer_after_fault"):
            load(c, o, size * c.u(0.2, 0.8), volts=low)
            if c.p(0.5) and k == "transformer_with_load":
                bank(c, o, size * 0.1, volts=low)
        else:
            c.net.r(o, 0, low**2 / size / 1e6 * 2e3)
    if k == "transformer_after_fault":  # the voltage returns and saturates what hangs on the bus
        lasts = c.lu(0.06, 0.3)
        e, _g2, _br = feeder(c, s, km_for(c, s, c.u(0.03, 0.2)), [(t1 + lasts, 0)], cable=False)
        typ = letters(c, c.pick(2, 3, 3))
        poles = fault(c, e, typ, True, 0.05, t1)
        c.run(s.B, g, ("s", poles))
        seen(c, "fault", 0.04, phases=typ, clear=c.clear_of(c.x), t_event=t1 - c.t0, rvc=True)
        return {}
    c.run(s.B, g if c.p(0.65) else s.inc)
    if k == "transformer_with_load":
        kw["also"] = ("load switching",)
    seen(c, "transformer energising", 0.035, t_event=t1 - c.t0, **{"rvc": True, **kw})
    if k == "transformer_with_load":
        c.kw["visible"] = (c.kw["visible"][0], False)
    return {}
