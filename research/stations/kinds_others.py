"""Kinds of recordings: capacitors, loads, generators, networks, recorders, steady states."""

import numpy as np
from kinds_faults import dip, kind, letters, say
from nets import (
    bank,
    bridge,
    ct,
    fault,
    feeder,
    firing,
    generator,
    inverter,
    line,
    load,
    motor,
    source,
    station,
    trafo,
)
from scipy import signal


@kind(
    "capacitor_single capacitor_back_to_back capacitor_staged capacitor_preinsertion capacitor_restrike "
    "capacitor_off capacitor_magnified capacitor_lv_detuned capacitor_poles_apart"
)
def capacitors(c, k):
    mag, off = k == "capacitor_magnified", k in ("capacitor_off", "capacitor_restrike")
    level = "LV" if k[10:12] in ("lv", "ma") else c.pick("LV", "MV", "MV", "HV")
    b2b = k == "capacitor_back_to_back"
    c.setup(level, c.lu(0.15, 0.8), fs_min=9600 if b2b else 3200, dt=12e-6)
    s = station(c)
    t1 = c.wave_time(c.te)
    a, g = ct(c, s.B, 0.3)
    q = s.ssc * c.lu(0.01, 0.05)
    henry = None
    zs = c.un**2 / s.ssc / 1e6
    if level == "LV" and k == "capacitor_lv_detuned":
        henry = c.un**2 / q / 1e6 * c.pick(0.056, 0.07, 0.14) / c.w
    star = c.net.bus(1)[0] if c.p(0.5) and k != "capacitor_restrike" else 0
    sp = (0, c.u(0, 0.002), c.u(0, 0.002))
    steps = 1
    if k == "capacitor_poles_apart":
        sp = tuple(np.arange(3) / (6 * c.f) * c.pick(1, 2) + c.u(0, 1e-3))
    if b2b or k == "capacitor_staged":
        steps = c.pick(2, 3, 4) if k == "capacitor_staged" else 2
    ron, also = zs * 1e-3, ()
    for j in range(steps):
        b = c.net.bus()
        tj = t1 + (0 if b2b else j * c.u(0.06, 0.18))
        if mag:
            continue
        if b2b and j == 0:
            tj = 0.01
        if k == "capacitor_preinsertion":
            m = c.net.bus()
            c.net.r(m, b, zs * c.u(1, 4))
            c.net.breaker(a, m, [(t1, 1)], ron=ron, spread=sp)
            c.net.breaker(a, b, [(t1 + c.u(0.008, 0.02), 1)], ron=ron)
        elif off:
            for p in c.net.breaker(a, b, [(t1, 0)], True, ron, sp):
                if k == "capacitor_restrike" and p % 3 != 1:
                    x = c.un * np.sqrt(2 / 3)
                    par = (x * c.u(1.35, 1.95), c.pick(0, 0.004), t1, t1 + 0.05, c.pick(1, 1, 2))
                    c.net.switch(*c.net.sw[p][:2], [], ron=ron, kind=3, par=par)
        else:
            c.net.breaker(a, b, [(tj, 1)], ron=ron, spread=sp)
        bank(
            c,
            b,
            q * (c.u(0.5, 1.2) if steps > 1 else 1),
            star,
            ohm=zs * c.lu(0.01, 0.15),
            henry=henry or zs * c.u(0.003, 0.02) / c.w,
        )
    if mag:  # the utility's bank behind the transformer, the customer's own amplifies it
        m = c.net.bus()
        zu = c.un**2 / (s.sn * 1e6)
        bank(c, s.B, s.sn * c.u(0.08, 0.3), ohm=zu * 0.004)
        c.net.breaker(s.src, m, [(t1, 1)], ron=0.01, spread=sp)
        bank(c, m, c.lu(1.2, 8), 0, volts=s.up, ohm=0.3)
    c.run(s.B, g if c.p(0.6) and not mag else s.inc)
    d = dip(c)
    quiet = k in ("capacitor_off", "capacitor_preinsertion")
    also = ("load switching",) if off else ()
    if k == "capacitor_restrike":
        m = int(c.fs / c.f)
        struck = np.abs(c.v[:, m:] - c.v[:, :-m]).max() > 0.25 * c.un * np.sqrt(2 / 3)
        also, quiet = ("restrike",), not struck
    sure = (d > 0.012 and not (quiet and off), not quiet and c.fs >= 3200)
    say(
        c,
        "capacitor switching",
        sure,
        also=also,
        t_event=t1 - c.t0,
        transient=k != "capacitor_off",
        evident=(True, not quiet),
        rvc=d > 0.012,
    )
    return {}


@kind(
    "load_on load_off load_cycling load_welding load_single_phase load_rolling_mill load_ev_park "
    "load_arc_furnace load_converter_drive load_feeder_shed"
)
def loads(c, k):
    c.setup("LV" if k[5:7] in ("we", "si") else c.pick("LV", "LV", "MV"), c.lu(0.4, 3.0), dt=28e-6, fs_min=2000)
    s = station(c)
    t1 = c.wave_time(c.te)
    a, g = ct(c, s.B)
    d = c.lu(0.022, 0.13)
    mva = s.ssc * d
    b, ron = c.net.bus(), c.un**2 / s.ssc / 1e10
    after = c.end - t1
    kw, also, shape = {}, [], True
    if k in ("load_on", "load_off", "load_feeder_shed"):
        off = k != "load_on"
        c.net.breaker(a, b, [(t1, 0 if off else 1)], off, ron, spread=(0, c.u(0, 0.002), c.u(0, 0.002)))
        load(c, b, mva, c.pick(1.0, c.u(0.6, 0.99)))
        if k == "load_feeder_shed":
            motor(c, b, mva * 150, slip=0.012)
    elif k == "load_cycling":
        period, duty = after / c.u(1.5, 9), c.u(0.3, 0.7)
        ops = [(t1 + j * period + x, y) for j in range(9) for x, y in ((0, 1), (period * duty, 0))]
        c.net.breaker(a, b, ops, False, ron)
        load(c, b, mva, c.u(0.8, 1.0))
        kw = {"events": ("flicker",), "rvc": True}
    elif k == "load_welding":
        p, n = int(c.rng.integers(3)), c.pick(1, 2, 3, 5)
        m = c.net.bus(1)[0]
        z = c.un**2 / mva / 1e6
        c.net.rl(m, [a[(p + 1) % 3]], z * 0.6, z * 0.7 / c.w)
        period = after / n
        width = min(c.u(0.06, 0.3), period * 0.7)
        lag = c.u(0, 0.5) / c.f / 2
        ops = []
        for j in range(n):
            on, end = t1 + j * period, t1 + j * period + width
            while on < end:
                ops += [(on + lag, 1), (on + lag + 5e-4, 0)]
                on += 0.5 / c.f
        c.net.switch(a[p], m, ops, ron=ron)
        kw = {"events": ("flicker", "unbalance", "harmonics"), "rvc": True}
    elif k == "load_single_phase":
        p = int(c.rng.integers(3))
        w = [0.0, 0, 0]
        w[p] = 1.0
        c.net.breaker(a, b, [(t1, 1)] + ([(t1 + c.u(0.2, 0.8) * after, 0)] if c.p(0.4) else []), ron=ron)
        load(c, b, mva, c.u(0.7, 1.0), earth=True, split=w)
        kw = {"events": ("unbalance",), "rvc": True}
    elif k in ("load_rolling_mill", "load_ev_park"):
        x = np.zeros(c.n)
        if k == "load_ev_park":
            for _ in range(c.pick(6, 15, 40)):
                tj = t1 + c.u(0, 0.6) * after
                x += np.clip((c.t - tj) / c.u(0.05, 0.8), 0, 1)
        else:
            for j in range(c.pick(1, 2, 4)):
                tj = t1 + j * after / 4
                x += np.clip((c.t - tj) / c.u(0.05, 0.3), 0, 1) - 0.8 * np.clip((c.t - tj - after / 6) / 0.15, 0, 1)
        x = np.clip(x / x.max(), 0, None) * mva * 1e6
        inverter(
            c,
            a,
            mva * 1.3,
            x * (1 if k == "load_ev_park" else 0.8),
            x * c.u(0, 0.2) if k == "load_ev_park" else x * c.u(0.7, 1.2),
        )
        shape, kw = False, {"rvc": True, "events": ("flicker",) if k == "load_rolling_mill" else ()}
        also = ["motor start"] if k == "load_rolling_mill" else []
    elif k == "load_arc_furnace":
        x = c.net.bus()
        zf = c.un**2 / (mva * 1.4e6)
        c.net.rl(a, x, zf * 0.05, zf * 0.6 / c.w)
        n = c.net.bus(1)[0]
        c.net.breaker(x, b, [(t1, 1)], ron=ron)
        flow = signal.lfilter(*signal.butter(1, 2 * 8 * c.dt), c.rng.normal(0, 1, (3, c.n)) / np.sqrt(8 * c.dt * 3))
        for j in range(3):
            r = c.net.rl(b[j], n, zf * 0.02, zf * 0.01 / c.w)
            arc = c.un * 0.35 * np.clip(1 + 0.5 * flow[j], 0.1, 2.2) * np.clip((c.t - t1) / 0.3, 0.2, 1)
            c.net.device(4, r, [mva * 1e6 / c.un * 0.1, 3e-4], [0], c.net.array(arc))
        kw = {"events": ("flicker", "unbalance", "harmonics"), "rvc": True}
    else:  # six diodes, charged dc link, the dc load comes on
        plus, minus = bridge(c, a, goff=1 / (c.un**2 / mva / 1e6 * 300))
        m, o = c.net.bus(2)
        z = c.un**2 / mva / 1e6
        c.net.rl(plus, m, z * 0.003, z * 0.12 / c.w)
        c.net.c(m, minus, 0.03 / z * 2)
        c.net.r(m, minus, z * 60)
        c.net.switch(m, o, [(t1, 1)], ron=ron * 10)
        c.net.r(o, minus, z * 2)
        kw = {"events": ("harmonics", "notching"), "rvc": True}
    c.run(s.B, g if c.p(0.6) else s.inc)
    d = dip(c)
    if k == "load_arc_furnace":
        also = ["flicker", "arc furnace"]
    say(
        c,
        "load switching",
        (d > 0.015 and (shape or k == "load_ev_park"), False),
        also=also,
        t_event=t1 - c.t0,
        evident=(d > 0.012, False),
        **kw,
    )
    return {}


@kind("drive_precharge")
def precharge(c, _k):
    c.setup("LV", c.u(0.5, 1.5))
    s = station(c)
    t1 = c.te
    a, g = ct(c, s.B)
    b = c.net.bus()
    mva = s.ssc * c.lu(0.03, 0.1)
    z = c.un**2 / mva / 1e6
    c.net.breaker(a, b, [(t1, 1)], ron=z * 1e-4)
    plus, minus = bridge(c, b, goff=1 / z / 300)
    m, o = c.net.bus(2)
    c.net.switch(m, o, [(t1 + 0.3, 1)], ron=z * 1e-3)
    c.net.r(m, o, z * c.u(4, 12))
    c.net.rl(plus, m, z * 0.01, z * 0.06 / c.w)
    c.net.c(o, minus, 0.02 / z)
    c.net.r(o, minus, z * 200)
    for j in range(4):
        q = c.net.bus(1)[0]
        c.net.switch(o, q, [(t1 + 0.36 + 0.08 * j, 1)], ron=z * 1e-3)
        c.net.r(q, minus, z * 8)
    c.run(s.B, g)
    say(
        c,
        "drive start",
        False,
        also=("load switching", "motor start", "converter"),
        events=("harmonics",),
        transient=True,
        rvc=True,
    )
    return {}


@kind(
    "inverter_trips generator_trips generator_connects generator_out_of_step_closing tap_changer phase_jump "
    "loop_opens automatic_transfer planned_interruption islanding load_rejection frequency_ramp"
)
def networks(c, k):
    slow = k in ("islanding", "load_rejection", "frequency_ramp")
    gen = k.startswith("generator")
    lvl = "MV" if gen or slow or k == "tap_changer" else c.pick("LV", "MV")
    c.setup(lvl, c.u(1.5, 3.6) if slow else c.lu(0.4, 1.8), settle=0.8 if gen or slow else 0.2, dt=26e-6)
    t1 = c.wave_time(c.te)
    kw, also, vis, amps, at, cause = {}, [], False, None, None, k.replace("_", " ")
    ev = (True, False)
    if k == "frequency_ramp":  # one-machine response of the system to a lost infeed
        f, df, pm, out = 1.0, c.pick(-1, -1, 1) * c.u(0.06, 0.16), 0.0, np.ones(c.n)
        h, droop, tg = c.u(1.5, 4), c.u(0.05, 0.12), c.u(0.5, 2)
        for j in np.flatnonzero(c.t >= t1):
            f += c.dt / 2 / h * (df + pm - 1.2 * (f - 1))
            pm += c.dt / tg * (-(f - 1) / droop - pm)
            out[j] = f
        c.freq = c.freq * out
        ev = True
    if k == "phase_jump":
        c.jump[c.t >= t1] = 0.0
    if k in ("islanding", "load_rejection"):
        s = station(c, share=None)
        a, amps = ct(c, s.B)
        b = c.net.bus()
        isl, l1, l2 = k == "islanding", c.u(0.15, 0.3), c.u(0.3, 0.6)
        power, turn = (
            (c.u(0.4, 0.8), np.pi / 6 * (1 if c.net.xf[0][0][1] == s.src[1] else -1))
            if isl
            else (0.93 * l1 + 0.9 * l2, 0)
        )
        mva = s.sn * c.u(0.3, 0.6)
        opt = {
            "h": c.lu(0.8, 3),
            "tg": c.lu(0.3, 1.5),
            "k": c.u(2, 8),
            "ta": c.u(0.3, 0.8),
            "d": 2 if isl else 1,
            "droop": c.u(0.05, 0.2),
        }
        g, _dev = generator(c, b, mva, power, shift=turn + 0.15, **opt)
        load(c, b, mva * (power + c.pick(-1, 1) * c.u(0.06, 0.35) if isl else l1), 0.93)
        bk = c.net.breaker(a, b, [(t1, 0)], True, 1e-3)
        if k == "load_rejection":
            c.net.sw = [(*q[:2], [(0.0, 0)], *q[3:]) if j in bk else q for j, q in enumerate(c.net.sw)]
            x = c.net.bus()
            c.net.breaker(b, x, [(t1, 0)], True, 1e-3)
            load(c, x, mva * l2, 0.9)
        at, ev, kw, amps = b, True, {"rvc": True, "events": ("frequency",)}, g
        also = ["load switching"] if k == "load_rejection" else []
    else:
        s = station(c, tap=(c.pick(-1, 1) * c.u(0.0125, 0.025), t1) if k == "tap_changer" else None, quiet=1.0)
        at, amps = s.B, s.inc
    if k in ("inverter_trips",) or gen:
        a, amps = ct(c, s.B)
        b = c.net.bus()
        mva = s.ssc * c.u(0.05, 0.15)
        if gen:
            on = k != "generator_trips"
            c.net.breaker(a, b, [(t1, 1 if on else 0)], not on, 1e-3)
            turn = np.deg2rad(c.pick(-1, 1) * (c.u(4, 12) if k == "generator_connects" else c.u(35, 90))) if on else 0.2
            # the Dyn transformer turns the bus against the source by 30 degrees either way
            turn += np.pi / 6 * (1 if c.net.xf[1][0][1] == s.src[2] else -1)
            generator(c, b, mva, 0.02 if on else c.u(0.5, 0.9), shift=turn, h=2, k=10)
            load(c, b, mva * 0.01)
        else:
            c.net.breaker(a, b, [(t1, 0)], True, 1e-3)
            inverter(c, b, mva, -mva * 1e6 * c.u(0.6, 1.0) * np.ones(c.n), mva * 1e6 * c.u(-0.2, 0.2) * np.ones(c.n))
            load(c, b, mva * 0.02)
        also, kw = ["load switching"] if not on_closing(k) else [], {"rvc": True}
        ev = (True, False)
    if k in ("phase_jump", "loop_opens"):  # a second infeed of another angle is switched in or out
        r = c.net.bus()
        ang = np.deg2rad(c.pick(-1, 1) * c.u(8, 45))
        source(c, r, c.un, s.ssc * c.u(0.6, 4), shift=ang + np.pi / 6 * (1 if c.net.xf[0][0][1] == s.src[1] else -1))
        c.net.breaker(r, s.B, [(t1, 1 if k == "phase_jump" else 0)], k != "phase_jump", 1e-3)
        also, kw = ["load switching", "network switching"], {"rvc": True}
        kw["events"] = ("transient",)
        ev = (True, False)
    if k in ("automatic_transfer", "planned_interruption"):
        a, b = c.net.bus(), c.net.bus()
        _, amps = a, c.net.rl(s.B, a, 1e-6 * c.un, 1e-9 * c.un)
        gap = c.lu(0.02, 0.5) if k == "automatic_transfer" else 9
        c.net.breaker(a, b, [(t1, 0)], True, 1e-3)
        load(c, b, s.sn * c.u(0.1, 0.4))
        if c.p(0.6):
            motor(c, b, s.sn * c.u(40, 200), slip=0.01, h=c.lu(0.3, 1))
        if gap < 1:
            r = c.net.bus()
            source(c, r, c.un, s.ssc * c.u(0.6, 1.5), shift=np.pi / 6 + c.u(-0.2, 0.2))
            c.net.breaker(r, b, [(t1 + gap, 1)], False, 1e-3)
        at, ev, kw = b, True, {"rvc": True, "events": ("interruption", "sag")}
        also = ["interruption", "supply transfer"] if gap < 1 else ["interruption"]
        if gap < 1:
            kw["none_ok"] = False
    if k == "tap_changer":
        ev, kw, also = False, {"rvc": True}, ["load switching"]
    c.run(at, amps)
    if gen or k == "inverter_trips":
        ev = (dip(c) > 0.01, False)
    if k == "frequency_ramp":
        kw["events"] = ("frequency",)
        kw["rvc"] = True
    say(c, cause, vis, also=also, evident=ev, t_event=t1 - c.t0, **kw)
    return {"pp": 0.2}


def on_closing(k):
    return k in ("generator_connects", "generator_out_of_step_closing")


@kind("lightning_surge ferroresonance_vt ferroresonance_open_phase broken_neutral open_phase_mv vt_fuse")
def oddities(c, k):
    lv = k == "broken_neutral" or (k == "lightning_surge" and c.p(0.4))
    c.setup(
        "LV" if lv else "MV",
        c.lu(0.3, 1.6),
        fs_min=3200 if k == "lightning_surge" else 1600,
        dt=8e-6 if k == "lightning_surge" else 18e-6,
    )
    vt = k == "ferroresonance_vt"
    s = station(c, ground="iso" if vt or (k == "vt_fuse" and c.p(0.4)) else "solid", share=None if vt else (0.2, 0.5))
    t1 = c.wave_time(c.te)
    kw, also, at, amps, ev, cause = {}, [], s.B, s.inc, True, k.replace("_", " ")
    if k == "lightning_surge":
        e, g, _br = feeder(c, s, c.lu(0.1, 4), share=0.05, cable=False)
        i0, tau = c.lu(300, 2500) * (0.3 if lv else 1), c.lu(1.5e-5, 8e-5)
        since = np.maximum(c.t - t1, 0)
        x = np.exp(-since / tau) - np.exp(-since / 5e-6)
        share, sign = [(1, 0.25, 0.2), (1, 0.9, 0.95)][c.pick(0, 1)], c.pick(-1, 1)
        for j in range(3):
            c.net.inject(0, e[j], sign * i0 * share[j] * x)
        z = 60.0 if not lv else 8.0
        for q in (e, s.B):  # arresters, as resistors behind a gap
            for j in range(3):
                m = c.net.bus(1)[0]
                c.net.r(m, 0, z * 0.4)
                c.net.switch(q[j], m, [], kind=3, par=(c.un * np.sqrt(2 / 3) * (2.2 if lv else 1.9), 0, 0.02, 99, 4))
        cause, ev, amps, kw = "lightning", False, g, {"also": ("transient", "surge"), "transient": True}
    elif vt:
        c.net.c(s.B, 0, c.lu(0.02, 0.25) * 1e-6)
        pk = c.un * np.sqrt(2 / 3)
        b = c.net.bus()
        c.net.rl(s.B, b, c.lu(800, 4000), 1.0)
        for j in range(3):
            c.net.coil(b[j], 0, pk, c.w, pk / c.lu(1e6, 4e6), c.u(1.35, 1.7), 1.0, c.un**2 / 3 / 1e5 * c.lu(0.2, 1.0))
        typ = letters(c, 1)
        off = t1 + c.lu(0.03, 0.25)
        poles = fault(c, s.B, typ, True, 1.0, t1, off=off)
        also, kw, cause = ["fault", "earth fault"], {"rvc": True, "events": ("sag", "swell")}, "ferroresonance"
    elif k == "ferroresonance_open_phase":
        a, b, o = c.net.bus(), c.net.bus(), c.net.bus()
        amps = c.net.rl(s.B, a, 1e-3, 1e-6)
        p = int(c.rng.integers(3))
        for j in range(3):
            early = j == p or c.p(0.3)
            c.net.switch(a[j], b[j], [(t1, 0)] if early else [], True)
        at = c.net.bus()
        line(c, b, at, c.lu(0.2, 3), "MV", True)
        trafo(c, at, o, c.lu(0.16, 1.2), c.un, 400.0, 0.045, im=c.u(0.002, 0.006), knee=c.u(1.08, 1.2))
        c.net.r(o, 0, 400.0)
        also, cause, kw = (
            ["open phase", "broken conductor", "unbalance", "fault"],
            "ferroresonance",
            {"rvc": True, "events": ("swell", "sag", "unbalance")},
        )
    elif k == "broken_neutral":
        e, n = c.net.bus(), c.net.bus(1)[0]
        m = c.net.bus(1)[0]
        z = c.un**2 / s.ssc / 1e6
        amps = c.net.rl(s.B, e, z * 2, z / c.w)
        c.net.rl([n], [m], z * 2, z / c.w)
        c.net.switch(m, 0, [(t1, 2)], True, ron=z * 0.01)
        c.net.r(n, 0, z * c.lu(40, 2000))
        w = [c.u(0.2, 1.0) for _ in range(3)]
        sn = s.sn * 0.1
        zl = np.array([c.un**2 / sn / 1e6 / q for q in w])
        c.net.rl(e, [n] * 3, np.diag(zl * 0.97), np.diag(zl * 0.2) / c.w)
        at, kw, also = e + [n] * 3, {"rvc": True, "events": ("sag", "swell", "unbalance")}, ["neutral", "fault"]
    elif k == "open_phase_mv":
        a, b = ct(c, s.B)[0], c.net.bus()
        amps = len(c.net.grp) - 1
        p = int(c.rng.integers(3))
        for j in range(3):
            c.net.switch(a[j], b[j], [(t1, 0)] if j == p else [], True)
        o = c.net.bus()
        trafo(c, b, o, s.sn * 0.2, c.un, 400.0, 0.05, mag=False)
        load(c, o, s.sn * 0.1, volts=400.0, earth=True)
        line(c, b, c.net.bus(), 2.0, "MV", True)
        if c.p(0.5):
            motor(c, o, s.sn * 30, volts=400.0, slip=0.015)
        at = b if c.p(0.6) else o
        if at is o:
            c.un = 400.0
        also, kw, cause = (
            ["broken conductor", "open phase", "fault", "unbalance"],
            {"rvc": True, "events": ("unbalance",)},
            "broken conductor",
        )
    else:
        b, p, n = c.net.bus(), int(c.rng.integers(3)), c.net.bus(1)[0]
        for j in range(3):
            c.net.switch(s.B[j], b[j], [(t1, 2)] if j == p else [], True)
            c.net.r(b[j], 0, 2e6 * c.lu(0.3, 3))
            if c.p(0.5):
                c.net.r(b[j], b[(j + 1) % 3], 2e6 * c.lu(0.3, 3))
        at, cause, also, kw = (
            b,
            "voltage transformer fuse",
            ["recorder", "voltage transformer", "measurement"],
            {"events": ("sag", "interruption", "unbalance"), "caveat": None},
        )
        ev = (True, False)
    c.run(at, amps, ("s", poles) if vt else None)
    late = c.v[:, -int(0.1 * c.fs) :]
    if vt and np.abs(late.sum(axis=0)).max() < 0.3 * c.un:
        cause, kw["phases"], kw["clear"] = "fault", typ, c.clear_of(c.x)
        also, ev = ["ferroresonance", "earth fault"], True
    elif (
        k == "ferroresonance_open_phase"
        and np.abs(late).max() < 1.25 * c.un * np.sqrt(2 / 3)
        and (np.abs(c.v).max() < 1.7 * c.un * np.sqrt(2 / 3))
    ):
        cause, also = "broken conductor", [*also, "ferroresonance"]
    kw["also"] = tuple(also) + tuple(kw.get("also", ()))
    say(c, cause, cause == "fault", evident=ev, t_event=t1 - c.t0, **kw)
    if k == "vt_fuse" and dip(c) < 0.3:
        c.kw["evident"] = False
    return {"pp": 0}


# ---- the recorder's own faults and steady states
def frozen(c, v, i):
    a = int(c.pre * c.fs)
    b = a + int(c.u(0.02, 0.12) * c.fs)
    for x in [v] + ([i] if i is not None else []):
        x[:, a:b] = x[:, a : a + 1]
    return v, i, None


def lost(c, v, i):
    a, m = int(c.pre * c.fs), int(c.u(0.15, 0.85) / c.f * c.fs) + c.pick(0, 1, 2) * int(c.fs / c.f)
    v = np.delete(v, np.s_[a : a + m], axis=1)
    return v, None if i is None else np.delete(i, np.s_[a : a + m], axis=1), None


def spike(c, v, i):
    a, m = int(c.pre * c.fs), c.pick(1, 1, 2, 3)
    v[c.pick(0, 1, 2), a : a + m] += c.pick(-1, 1) * c.u(0.4, 1.6) * c.base * np.sqrt(2)
    return v, i, None


def swapped(c, v, i):
    a, (p, q) = int(c.pre * c.fs), c.pick((0, 1), (1, 2), (2, 0))
    v[[p, q], a:] = v[[q, p], a:]
    return v, i, None


def drift(c, v, i):
    x = np.clip((np.arange(v.shape[1]) / c.fs - c.pre) / c.u(0.05, 1.0), 0, 1)
    v += (np.array([[c.u(-1, 1)] for _ in range(3)]) * c.u(0.05, 0.3) + c.u(0.03, 0.1)) * c.base * x
    return v, i, None


def clipped(c, v, i):
    full = (
        c.base * np.sqrt(2) * c.u(0.75, 0.93) if c.kind == "recorder_clips" else c.base * np.sqrt(2) * c.u(1.02, 1.12)
    )
    return np.clip(v, -full, full), i, full


def dead_channel(c, v, i):
    v[c.pick(0, 1, 2)] *= 1e-3
    return v, i, None


@kind(
    "recorder_frozen recorder_lost_samples recorder_clips recorder_clips_swell recorder_spike recorder_swapped "
    "recorder_dc_drift recorder_dead_channel undisturbed steady_distortion steady_flicker steady_unbalance "
    "ripple_control notching_converter interharmonics"
)
def steady(c, k):
    swell = k == "recorder_clips_swell"
    level = "MV" if swell else c.pick("LV", "MV", "MV", "HV") if k[0] in "ru" else c.pick("LV", "MV")
    c.setup(level, c.lu(0.3, 2.5), fs_min=4800 if k[:3] == "not" else 1600)
    s = station(c, ground="iso" if swell else "solid")
    a, g = ct(c, s.B)
    t1, mva = c.te, s.ssc * c.u(0.05, 0.12)
    kw, fn, cause, also, ev = {"t_event": None}, None, k.replace("_", " "), [], False
    if c.p(0.5):
        load(c, a, s.sn * 0.1)
    tones = []
    pk = mva * 1e6 / c.un * np.sqrt(2 / 3)
    if k == "steady_distortion":
        tones = (
            [(5, 0.35, -1), (7, 0.2, 1), (11, 0.09, -1), (13, 0.07, 1), (17, 0.03, -1)]
            if c.p(0.7)
            else [(3, 0.35, 0), (5, 0.3, -1)]
        )
        kw.update(events=("harmonics",))
        cause, ev = "distortion", True
    elif k == "interharmonics":
        tones = [(h, c.u(0.1, 0.4) / h, 1) for h in (c.u(1.4, 8.6), c.u(2.2, 3.8))]
        kw.update(events=("harmonics", "flicker"))
    elif k == "ripple_control":
        tones = [(c.pick(167, 217, 283, 316.7, 425, 750, 1050) / c.f, 0.0, 1)]
    for h, m, sgn in tones:
        th = h * (c.angle() + c.u(0, 6)) if k != "ripple_control" else h * c.w * c.t
        gate = np.ones(c.n)
        if k == "ripple_control":
            m = c.u(0.012, 0.03) * s.ssc * 1e6 / c.un / h * np.sqrt(2 / 3) / pk
            gate = signal.lfilter(*signal.butter(1, 2 * 12 * c.dt), (c.t > t1) & (c.t < t1 + c.u(0.2, 1.0)))
        for j in range(3):
            c.net.inject(a[j], 0, m * pk * gate * np.cos(th - sgn * j * 2 * np.pi / 3))
    if k == "ripple_control":
        kw.update(events=("rapid voltage change", "transient", "harmonics"), none_ok=True, t_event=t1 - c.t0)
    elif k == "steady_flicker":
        x = (
            0.5 + 0.5 * np.sign(np.sin(2 * np.pi * c.u(1, 18) * c.t))
            if c.p(0.5)
            else 0.5 + 0.5 * np.sin(2 * np.pi * c.u(3, 15) * c.t)
        )
        inverter(c, a, mva, mva * 0.4e6 * x, mva * 0.5e6 * x)
        kw.update(events=("flicker", "rapid voltage change"), none_ok=True)
        also = ["load switching", "arc furnace", "flicker"]
    elif k == "steady_unbalance":
        load(c, a, mva * c.u(0.5, 2.0), 0.95, split=(1, c.u(0, 0.3), 0), earth=True)
        kw.update(events=("unbalance",))
    elif k == "notching_converter":
        m = c.net.bus()
        z = c.un**2 / mva / 1e6
        c.net.rl(a, m, z * 0.002, z * c.u(0.02, 0.06) / c.w)
        shift = np.pi / 6 * (1 if c.net.xf[0][0][1] == s.src[1] else -1)
        al = c.u(25, 70)
        plus, minus = bridge(c, m, lambda q, j: firing(c, q, j, al, shift), goff=1 / z / 200)
        c.net.rl([plus], [minus], z * 1.3 * max(np.cos(np.deg2rad(al)), 0.25), z * 2 / c.w)
        kw.update(events=("notching", "harmonics", "transient"))
        ev = True
    elif k == "undisturbed":
        cause = "none"
        also = ["unknown", "no event"]
    elif swell:  # an earth fault or a lost load lifts the voltage above what the input can take
        typ = letters(c, 1)
        poles = fault(c, a, typ, True, c.u(0.05, 2), t1, off=t1 + c.lu(0.08, 0.3))
        kw.update(t_event=t1 - c.t0, phases=typ, rvc=True, transient=True, events=("sag", "swell"))
        fn, cause, also = clipped, "fault", ["earth fault", "recorder"]
    elif k.startswith("recorder"):
        fn = {
            "fro": frozen,
            "los": lost,
            "cli": clipped,
            "spi": spike,
            "swa": swapped,
            "dc_": drift,
            "dea": dead_channel,
        }[k[9:12]]
        cause, also = "recorder", ["measurement", "unknown"]
        kw.update(
            caveat=True, events=("transient",), none_ok=True, t_event=None if k[9:12] in ("cli", "dea") else c.pre
        )
        if k[9:12] == "fro" or k[9:12] == "los":
            kw.update(events=("transient", "rapid voltage change", "sag", "swell", "harmonics"))
        if k[9:12] in ("spi", "dea", "los"):  # a network could do it too
            kw["caveat"] = None
        if k[9:12] == "dc_":
            kw.update(events=("DC offset", "rapid voltage change", "swell"))
        if k[9:12] == "cli":
            kw.update(events=("harmonics",))
        if k[9:12] == "dea":
            kw.update(events=("interruption", "sag", "unbalance"))
        ev = k[9:12] in ("fro", "cli", "dc_")
    c.run(s.B, g if k[:3] in ("ste", "not") else s.inc, ("s", poles) if swell else None)
    also = also if swell else [*also, "unknown", "none"]
    if swell:
        cl = c.clear_of(c.x)
        say(c, cause, True, also=also, clear=cl, caveat=True, **kw)
    else:
        say(c, cause, False, also=also, evident=ev, **kw)
    return {"distort": fn, "pp": 0 if fn else 0.2}
