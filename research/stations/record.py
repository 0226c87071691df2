"""What a recorder does to solved waveforms, how it writes them, and what may rightly be said of them."""

import struct
import zlib
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from emt import Net
from scipy import signal

FIVE = ("fault", "motor start", "transformer energising", "capacitor switching", "load switching")
UN = {
    "LV": {50: [400, 400, 400, 690, 415], 60: [480, 208, 600, 380, 480]},
    "MV": {50: [6600, 10000, 11000, 15000, 20000, 22000, 30000, 33000], 60: [4160, 12470, 13200, 13800, 24900, 34500]},
    "HV": {50: [66000, 110000, 132000, 220000], 60: [69000, 115000, 138000, 220000]},
}
FS = {
    50: [1600, 2000, 2400, 3200, 4000, 4800, 5000, 6400, 8000, 9600, 10000, 12800, 16000, 20000],
    60: [1920, 2000, 3840, 4800, 5000, 7680, 8000, 9600, 10000, 15360, 16000, 20000],
}
NAMES = [  # voltages, currents, residual voltage, residual current, phase field
    ("VA VB VC", "IA IB IC", "VN", "IN", "A B C"),
    ("Va Vb Vc", "Ia Ib Ic", "3V0", "3I0", "a b c"),
    ("UL1 UL2 UL3", "IL1 IL2 IL3", "UE", "IE", "L1 L2 L3"),
    ("U1 U2 U3", "I1 I2 I3", "U0", "I0", "1 2 3"),
    ("VAN VBN VCN", "IA IB IC", "VNG", "IG", "A B C"),
    ("V1 V2 V3", "I1 I2 I3", "V4", "I4", "  "),
    ("UR US UT", "IR IS IT", "3U0", "3I0", "R S T"),
    ("VR VY VB", "IR IY IB", "VN", "IN", "R Y B"),
    ("Ua Ub Uc", "Ia Ib Ic", "Un", "In", "A B C"),
    ("BUS1_VA BUS1_VB BUS1_VC", "F03_IA F03_IB F03_IC", "BUS1_3V0", "F03_3I0", "A B C"),
    ("u_L1N u_L2N u_L3N", "i_L1 i_L2 i_L3", "u_N", "i_N", "L1 L2 L3"),
    ("Line VA-G:Line VB-G:Line VC-G", "Line IA:Line IB:Line IC", "Line VN", "Line IN", "A B C"),
    ("F5-VA F5-VB F5-VC", "F1-IA F2-IB F3-IC", "F8-VX", "F4-IG", "A B C"),
    ("Tension L1:Tension L2:Tension L3", "Courant L1:Courant L2:Courant L3", "Tension N", "Courant N", "L1 L2 L3"),
    ("U_A U_B U_C", "I_A I_B I_C", "U_N", "I_N", "  "),
]
PAIRS = [
    ("VAB VBC VCA", "AB BC CA"),
    ("U12 U23 U31", "12 23 31"),
    ("UL12 UL23 UL31", "L12 L23 L31"),
    ("Uab Ubc Uca", "AB BC CA"),
    ("V1-2:V2-3:V3-1", "  "),
    ("VRS VST VTR", "RS ST TR"),
]


def split(text):
    return text.split(":") if ":" in text else (text.split() if text.strip() else ["", "", ""])


class Case:
    """One recording: draws the recorder, holds the circuit, turns its solution into files and truth."""

    def __init__(self, kind, seed):
        self.kind, self.seed = kind, seed
        self.rng = np.random.default_rng([seed, zlib.crc32(kind.encode())])
        self.kw = {}

    def u(self, a, b):
        return float(self.rng.uniform(a, b))

    def lu(self, a, b):
        return float(np.exp(self.rng.uniform(np.log(a), np.log(b))))

    def pick(self, *a):
        return a[int(self.rng.integers(len(a)))]

    def p(self, chance):
        return bool(self.rng.random() < chance)

    def setup(
        self, level, need, f=None, fs_min=1600, fs_max=20000, tail=(0.1, 0.8), pre=(2, 20), settle=0.16, dt=22e-6
    ):
        """need: seconds after the event that belong to it."""
        self.level = level
        self.f = f or self.pick(50, 50, 60)
        self.w = 2 * np.pi * self.f
        self.un = self.pick(*UN[level][50 if self.f == 50 else 60])
        rates = [x for x in FS[50 if self.f == 50 else 60] if fs_min <= x <= fs_max]
        self.fs = self.pick(*rates)
        self.pre = self.u(*pre) / self.f
        self.dur = min(max(self.pre + need + self.u(*tail), 0.3), 5.0)
        self.step = int(np.ceil(1 / (self.fs * dt)))
        self.dt = 1 / (self.fs * self.step)
        self.t0 = round(settle * self.fs) / self.fs
        self.te = self.t0 + self.pre
        self.end = self.t0 + self.dur
        self.n = round(self.end / self.dt)
        self.t = np.arange(self.n) * self.dt
        self.net = Net(self.dt, self.n)
        self.currents = self.p(0.73)
        self.freq = np.full(self.n, self.f * (1 + self.u(-8e-4, 8e-4)))
        self.phase0 = self.u(0, 2 * np.pi)
        self.mag = np.ones((3, self.n))
        self.jump = np.zeros(self.n)
        return self

    def angle(self):
        return self.phase0 + 2 * np.pi * np.cumsum(self.freq) * self.dt + self.jump

    def emf(self, volts, shift=0.0, quiet=1.0):
        """Three peak phase voltages with background harmonics and unbalance."""
        th = self.angle() + shift
        neg = self.u(0, 0.011) * quiet * np.exp(1j * self.u(0, 6.28))
        hs = [(5, 0.018), (7, 0.012), (11, 0.006), (13, 0.005), (3, 0.004)]
        hs = [(h, self.u(0, a) * quiet, self.u(0, 6.28)) for h, a in hs]
        out, rise = [], np.clip(self.t / 0.08, 0, 1) ** 2  # no inrush of what is connected from the start
        for k in range(3):
            a = th - k * 2 * np.pi / 3
            x = np.cos(a) + np.real(neg * np.exp(1j * (th + k * 2 * np.pi / 3)))
            for h, m, q in hs:
                x += m * np.cos(h * a + q)
            out.append(-volts * np.sqrt(2 / 3) * rise * self.mag[k] * x)
        return out

    def wave_time(self, t, deg=None):
        """The first instant after t at which phase A of the source stands at `deg` (random if None)."""
        want = self.u(0, 2 * np.pi) if deg is None else np.deg2rad(deg)
        k = int(t / self.dt)
        return t + ((want - self.angle()[k]) % (2 * np.pi)) / (2 * np.pi * self.freq[k])

    # ---- from the solution to the file
    def run(self, volts, amps=None, extra=None):
        """volts: three nodes (or six for differences); amps: branch group. Leaves self.v, self.i, self.x."""
        net = self.net
        sv = net.watch("v", volts)
        si = net.watch("i", amps) if amps is not None else None
        sx = net.watch(*extra) if extra else None
        out = net.solve()
        if not np.isfinite(out).all() or np.abs(out[sv]).max() > 4.5 * self.un:
            raise FloatingPointError(f"{self.kind} {self.seed}: solution left its bounds")
        self.x = out[sx] if sx else None
        b, a = signal.butter(3, min(0.8 * self.step**-1 * 1.0, 0.99))
        keep = slice(round(self.t0 * self.fs) * self.step, None, self.step)

        def take(y):
            return signal.lfilter(b, a, y, axis=1)[:, keep] if self.step > 1 else y[:, keep]

        v = out[sv]
        self.v = take(v[:3] - v[3:] if len(v) == 6 else v)
        self.i = take(out[si]) if si is not None else None
        ref = np.std(self.v[:, : max(int(self.pre * self.fs) - 2, 2)], axis=1) / self.un * np.sqrt(3)
        if self.kind[:3] != "ste" and not (ref.min() > 0.93 and ref.max() < 1.07):
            raise FloatingPointError(f"{self.kind} {self.seed}: stands at {ref} before the event")
        return out

    def clear_of(self, cur):
        """Time after the first sample at which the last of these currents ends; None: to the end, or never."""
        top = np.abs(cur).max()
        on = np.flatnonzero(np.abs(cur).max(axis=0) > max(0.01 * top, 1e-3))
        last = (on[-1] + 1) * self.dt - self.t0 if len(on) else None
        return None if last is None or top < 1e-3 or last > self.dur - 3e-3 or last < 0 else round(last, 5)

    def deliver(self, folder, pp=0.2, residual=0.3, distort=None, pair_base=False):
        """Write the files; returns the truth. distort(case, v, i) may change the samples as a recorder's defect."""
        kw, rng = self.kw, self.rng
        v, i = self.v.copy(), self.i if self.currents and self.i is not None else None
        self.currents = i is not None
        pairs = pair_base or self.p(pp)
        if pairs:
            v = np.array([v[0] - v[1], v[1] - v[2], v[2] - v[0]]) if not pair_base else v
        base = self.un if pairs else self.un / np.sqrt(3)
        self.base, self.pairs = base, pairs
        clip = None
        names = self.pick(*NAMES)
        vn, inn, ph = split(names[0]), split(names[1]), split(names[4]) if self.p(0.7) else ["", "", ""]
        vph = ph
        if pairs:
            pn = self.pick(*PAIRS)
            vn, vph = split(pn[0]), split(pn[1]) if ph[0] else ["", "", ""]
        snr = self.u(45, 75)
        v = v + rng.normal(0, base * 10 ** (-snr / 20), v.shape)
        if i is not None:
            ref = max(np.sqrt(np.mean(i[:, : i.shape[1] // 8] ** 2)), 0.02 * np.abs(i).max())
            i = i + rng.normal(0, ref * 10 ** (-snr / 20), i.shape)
        if distort:
            v, i, clip = distort(self, v, i)
        truth = self.truth_of(v)
        rows, data = [], []
        for k in range(3):
            rows.append((vn[k], vph[k], "V"))
            data.append(v[k])
        if not pairs and self.p(residual):
            rows.append((names[2], "N" if ph[0] else "", "V"))
            data.append(v.sum(axis=0) / (1 if "3" in names[2] else 3))
        if i is not None:
            for k in range(3):
                rows.append((inn[k], ph[k], "A"))
                data.append(i[k])
            if self.p(residual):
                rows.append((names[3], "N" if ph[0] else "", "A"))
                data.append(i.sum(axis=0))
            if self.p(0.2):  # currents first
                m = sum(r[2] == "V" for r in rows)
                rows, data = rows[m:] + rows[:m], data[m:] + data[:m]
        secondary = self.p(0.1) and self.level != "LV" and not kw.get("primary")
        self.write(Path(folder), rows, data, clip, secondary)
        if secondary:
            truth["nominal"] = None
        return truth

    def write(self, folder, rows, data, clip, secondary):
        stem, f = f"{self.kind}_{self.seed}", self.f
        rev = self.pick("1999", "1999", "2013")
        form = (
            self.pick("ASCII", "BINARY", "BINARY")
            if rev == "1999"
            else self.pick("ASCII", "BINARY", "BINARY32", "FLOAT32")
        )
        bits = self.pick(12, 14, 16, 16)
        vt = (1.0, 1.0) if self.level == "LV" else (self.un, self.pick(100.0, 110.0) if f != 60 else 120.0)
        if self.level != "LV" and self.p(0.4):
            vt = (vt[0] / np.sqrt(3), vt[1] / np.sqrt(3))
        amax = max([np.abs(d).max() for r, d in zip(rows, data, strict=False) if r[2] == "A"] + [1e-9])
        ct = next((p for p in (50, 100, 200, 400, 600, 1000, 2000, 4000) if p * 20 > amax), 10000)
        ct = (float(ct), self.pick(1.0, 5.0))
        big = {"V": self.p(0.4) and self.level != "LV" and not secondary, "A": self.p(0.12) and not secondary}
        nd = self.pick(0, 0, 2, 4, 8)
        kv = self.u(1.35, 2.6)
        raw, lines, cc = [], [], ""
        for k, ((name, ph, unit), d) in enumerate(zip(rows, data, strict=False)):
            ratio = vt if unit == "V" else ct
            d = d * (ratio[1] / ratio[0] if secondary else 1e-3 if big[unit] else 1.0)
            scale = ratio[1] / ratio[0] if secondary else 1e-3 if big[unit] else 1.0
            if unit == "V":
                full = max(kv * self.base * np.sqrt(2) * scale, 1.04 * np.abs(d).max())
                full = clip * scale if clip else full
            else:
                full = 1.05 * np.abs(d).max() * (1 + 0.4 * kv) + 1e-6
            top = 2 ** (bits - 1) - 1
            label = ("k" if big[unit] else "") + unit
            q = np.clip(np.round(d / full * top), -top, top)
            a, lo, hi = full / top, -top - self.seed % 2, top
            if form == "BINARY" and bits < 16 and self.seed % 3 == 0:  # left-justified words
                q, a, lo, hi = q * 2 ** (16 - bits), a / 2 ** (16 - bits), -32767, 32767
            if form == "FLOAT32":
                q, a, lo, hi = (q * a).astype(np.float32), 1.0, -3.4e38, 3.4e38
            raw.append(q)
            ps = "S" if secondary else "P"
            cc = self.pick("", "BUS 1", "FDR 3") if k == 0 else cc
            lines.append(
                f"{k + 1},{name},{ph},{cc},{label},{a:.9g},0,0,{lo:.7g},{hi:.7g},{ratio[0]:.6g},{ratio[1]:.6g},{ps}"
            )
        n = raw[0].size
        start = datetime(2020 + self.seed % 6, 1 + self.seed % 12, 1 + self.seed % 27, 3, 5, 7, 123000)
        start += timedelta(seconds=self.u(0, 80000))
        trig = start + timedelta(seconds=self.pre if self.seed % 5 else 0)
        fmt = "%d/%m/%Y,%H:%M:%S.%f"
        place = self.pick("SUBSTATION", "Plant North", "UW 12", "S/S 7", "")
        head = [f"{place},{self.pick('REC01', 'PQ-4', 'DFR', '101')},{rev}"]
        head += [f"{len(rows) + nd},{len(rows)}A,{nd}D", *lines]
        dig = ",,,0" if self.seed % 2 else ",,,1"
        head += [f"{k + 1},{self.pick('TRIG', 'CB52', 'START', 'SPARE')} {k + 1}{dig}" for k in range(nd)]
        head += [f"{f:g}", "1", f"{self.fs},{n}", start.strftime(fmt), trig.strftime(fmt), form, "1"]
        head += ["0,0", "B,3"] if rev == "2013" else []
        (folder / f"{stem}.cfg").write_bytes(("\r\n".join(head) + "\r\n").encode("latin-1"))
        us = np.round(np.arange(n) / self.fs * 1e6).astype(np.int64)
        dg = np.zeros((n, nd), np.int64)
        if nd:
            dg[int(self.pre * self.fs) :, 0] = 1
        if form == "ASCII":
            r = np.array(raw, np.int64).T
            text = "\r\n".join(",".join(map(str, [k + 1, us[k], *r[k], *dg[k]])) for k in range(n))
            (folder / f"{stem}.dat").write_text(text + "\r\n", newline="")
            return
        code = {"BINARY": "h", "BINARY32": "i", "FLOAT32": "f"}[form]
        words = sum(dg[:, k] << k for k in range(nd)) if nd else None
        out = bytearray()
        pack = struct.Struct("<II" + code * len(raw) + ("H" if nd else ""))
        conv = float if form == "FLOAT32" else int
        for k in range(n):
            out += pack.pack(k + 1, int(us[k]), *(conv(r[k]) for r in raw), *([int(words[k])] if nd else []))
        (folder / f"{stem}.dat").write_bytes(bytes(out))

    # ---- truth
    def truth_of(self, v):
        """Event types that may be reported, from the recorded voltages, and the words of the kind."""
        kw = self.kw
        m = measure(v, self.fs, self.f, self.base, self.pre)
        ev, must = set(kw.get("events", ())), False
        lo, hi, ref = m["low"], m["high"], m["ref"]
        for r in (1.0, ref):
            if lo < 0.91 * r:
                ev.add("sag")
            if hi > 1.09 * r:
                ev.add("swell")
            must |= (m["low2"] < 0.89 * r and m["high2"] < 5) or m["high2"] > 1.11 * r
        if lo < 0.11:
            ev.add("interruption")
        if m["change"] > 0.01 and not (ev & {"sag", "swell", "interruption"}):
            ev.add("rapid voltage change")
        if m["stays"] > 0.015 or kw.get("rvc"):
            ev.add("rapid voltage change")
        must |= m["change"] > 0.031
        if m["burst"] > 0.05 or kw.get("transient"):
            ev.add("transient")
        must |= m["burst"] > 0.15
        level = m["df"] < 0.012  # else the two below measure the frequency
        if m["thd"] > 0.045 and level:
            ev.add("harmonics")
        must |= m["thd"] > 0.085 and level
        if m["unb"] > 0.018 and level:
            ev.add("unbalance")
        must |= m["unb"] > 0.032 and level
        if m["df"] > 0.009:
            ev.add("frequency")
        must |= m["df"] > 0.011
        if m["dc"] > 0.009:
            ev.add("DC offset")
        vis = kw["visible"]
        vis = vis if isinstance(vis, bool) else vis[0] if self.currents else vis[1]
        shown = kw.get("evident", vis)
        shown = shown if isinstance(shown, bool) else shown[0] if self.currents else shown[1]
        cause = kw["cause"]
        if self.pairs and not self.currents and m["change"] < 0.03 and m["burst"] < 0.1:
            vis = shown = False  # what happens to earth does not show between phases
        self.levels = m
        te = kw.get("t_event", self.pre)
        none_ok = kw.get("none_ok", not must)
        return {
            "kind": self.kind,
            "true_cause": cause,
            "cause": cause,
            "visible": bool(vis and cause in FIVE),
            "evident": bool(shown),
            "also": sorted(kw.get("also", ())),
            "events": sorted(ev),
            "none_ok": bool(none_ok),
            "nominal": self.un,
            "currents": self.currents,
            "phases": kw.get("phases"),
            "clear": kw.get("clear"),
            "caveat": kw.get("caveat", False),
            "t_event": None if te is None else round(float(te), 5),
            "levels": {k: round(float(x), 4) for k, x in m.items()},
            "note": kw.get("note", ""),
            "pairs": self.pairs,
            "f": self.f,
            "fs": self.fs,
        }


def measure(v, fs, f, base, pre):
    """Own Urms over one cycle (sliding and every half cycle), residuals, distortion, unbalance, frequency."""
    n = max(round(fs / f), 8)
    v = np.nan_to_num(v)
    cs = np.cumsum(np.concatenate([np.zeros((3, 1)), v * v], axis=1), axis=1)
    u = np.sqrt(np.maximum(cs[:, n:] - cs[:, :-n], 0) / n) / base
    h = u[:, :: max(n // 2, 1)]
    k = max(min(int(pre * fs) - n, u.shape[1]), 1)
    r = np.median(u[:, :k], axis=1)
    last = np.median(u[:, -max(3 * n, 1) :], axis=1)
    m = {"low": u.min(), "high": u.max(), "low2": h.min(axis=1).min(), "high2": h.max(), "ref": np.median(r)}
    m["change"] = np.abs(u - r[:, None]).max() if k > 1 else np.ptp(u, axis=1).max()
    m["stays"] = np.abs(last - r).max()
    res = v[:, n:] - v[:, :-n]
    m["burst"] = 0.0
    if fs > 1900:
        b, a = signal.butter(4, min(9 * f, 0.8 * fs / 2) / (fs / 2), "high")
        hp = signal.filtfilt(b, a, res, axis=1)
        q = max(n // 8, 1)
        m["burst"] = np.abs(hp[:, q:-q]).max() / (base * np.sqrt(2))
    z = np.exp(-2j * np.pi * f / fs * np.arange(v.shape[1]))
    ph = np.array([np.convolve(x * z, np.ones(n) / n, "valid")[:: max(n // 4, 1)] for x in v])
    c1 = np.abs(ph) * np.sqrt(2) / base
    ur = u[:, :: max(n // 4, 1)][:, : c1.shape[1]]
    c1 = c1[:, : ur.shape[1]]
    d = np.sqrt(np.maximum(ur**2 - c1**2, 0)) / np.maximum(ur, 0.2)
    w = min(12, d.shape[1])
    smooth = np.array([signal.medfilt(x, 2 * (w // 2) + 1) for x in d])
    m["thd"] = smooth[:, w // 2 : -(w // 2) or None].max() if d.shape[1] > 2 * w else np.median(d)
    al = np.exp(2j * np.pi / 3)
    p1 = ph[0] + al * ph[1] + al**2 * ph[2]
    p2 = ph[0] + al**2 * ph[1] + al * ph[2]
    ub = np.minimum(np.abs(p2), np.abs(p1)) / np.maximum(np.maximum(np.abs(p1), np.abs(p2)), 1e-9)
    ub[np.abs(p1) + np.abs(p2) < 0.3 * base] = 0
    m["unb"] = np.sort(ub)[-max(ub.size // 5, min(40, ub.size))]
    pos = p1 if np.abs(p1).mean() > np.abs(p2).mean() else np.conj(p2)
    g = np.unwrap(np.angle(pos))
    ok = np.abs(pos) > 0.6 * base
    span = 40
    df = (
        np.abs(g[span:] - g[:-span]) / (2 * np.pi * span * max(n // 4, 1) / fs) / f
        if g.size > span + 2
        else np.zeros(1)
    )
    df = df[ok[span:] & ok[:-span]] if g.size > span + 2 else df
    m["df"] = np.sort(df)[-max(df.size // 10, 1)] if df.size else 0.0
    m["dc"] = np.abs(np.array([x[len(x) // 5 :].mean() for x in v])).max() / base
    return m
