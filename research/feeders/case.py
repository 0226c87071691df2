"""One simulated record: the plan of a capture, the supply, its parts, what the recorder keeps, and the truth."""

import math
from datetime import datetime, timedelta

import comtrade
import numpy as np
from emt import ARC, CLOSE, OPEN, RL, SATURATION, Net, R
from scipy.signal import butter, sosfiltfilt

LEVELS = {
    "lv": {50: [400, 400, 400, 690], 60: [208, 480, 480, 600]},
    "mv": {
        50: [6e3, 10e3, 11e3, 15e3, 20e3, 20e3, 22e3, 30e3, 33e3],
        60: [4160, 12.47e3, 13.2e3, 13.8e3, 25e3, 34.5e3],
    },
    "hv": {50: [66e3, 110e3, 110e3, 132e3, 150e3], 60: [69e3, 115e3, 138e3]},
}
FAULT_LEVEL = {"lv": (4e6, 30e6), "mv": (6e7, 6e8), "hv": (8e8, 8e9)}
RATES = [1600, 1920, 2400, 3200, 3840, 4000, 4800, 5000, 6400, 7680, 8000, 10000, 12800, 15360, 16000, 20000]
PAIRS = [(0, 1), (1, 2), (2, 0)]
# Voltage names phase to earth, phase to phase, residual; current names, residual; phase fields; first letters
NAMES = [
    ("VA VB VC", "VAB VBC VCA", "VN", "IA IB IC", "IN", "ABC"),
    ("Va Vb Vc", "Vab Vbc Vca", "3V0", "Ia Ib Ic", "3I0", "ABC"),
    ("UL1 UL2 UL3", "UL12 UL23 UL31", "U0", "IL1 IL2 IL3", "I0", "123"),
    ("U L1-E,U L2-E,U L3-E", "U L1-L2,U L2-L3,U L3-L1", "U en", "I L1,I L2,I L3", "I E", "123"),
    ("uL1E uL2E uL3E", "uL12 uL23 uL31", "uE", "iL1 iL2 iL3", "iE", "123"),
    ("V_R V_Y V_B", "V_RY V_YB V_BR", "V_RES", "I_R I_Y I_B", "I_RES", "RYB"),
    ("UR US UT", "URS UST UTR", "3U0", "IR IS IT", "3I0", "RST"),
    ("U1 U2 U3", "U12 U23 U31", "Ures", "I1 I2 I3", "Ires", "123"),
    (
        "Bus 1 VAN,Bus 1 VBN,Bus 1 VCN",
        "Bus 1 VAB,Bus 1 VBC,Bus 1 VCA",
        "Bus 1 3V0",
        "Fdr IA,Fdr IB,Fdr IC",
        "Fdr IN",
        "",
    ),
    ("LINE_VA LINE_VB LINE_VC", "LINE_VAB LINE_VBC LINE_VCA", "LINE_VN", "LINE_IA LINE_IB LINE_IC", "LINE_IN", "ABC"),
]
DEVICES = ["7SA522", "REF615", "SEL-451", "PQI-DA", "DFR 9", "P543", "D60", "PQube3", "BEN6000", "Nexus 1500"]
TRIP = [("87L/21 TRIP", "52a"), ("Relay PICKUP", "CB CLOSED"), ("50/51 Trip", "52A CB1"), ("Prot.TRIP", "Q0 closed")]
STARTS = ["TRIG", "Waveform trigger", "PQ trigger", "EXT. IN 1"]

# Names of causes: as CAUSES.md spells them; beyond the first five the program's own spelling was not shown to me, so
# all likely ones are accepted.
FAULT, MOTOR, TRANSFORMER = "fault", "motor start", "transformer energising"
CAPACITOR, LOAD, UNKNOWN = "capacitor switching", "load switching", "unknown"
SPELLINGS = {
    "voltage transformer fuse": ["VT fuse", "vt fuse", "VT fuse blown", "blown VT fuse", "instrument transformer"],
    "broken neutral": ["open neutral", "lost neutral", "neutral lost"],
    "broken conductor": ["open phase", "open conductor", "open-conductor", "phase lost"],
    "recorder": ["recorder fault", "recorder error", "measurement error", "measuring error", "recording error"],
    "lightning": ["lightning impulse", "lightning stroke", "lightning surge", "surge"],
    "supply interruption": ["interruption", "breaker opening", "supply opened", "supply lost", "disconnection"],
    "network switching": ["switching", "network reconfiguration", "supply switching", "transfer", "source transfer"],
    "line switching": ["line energising", "cable energising", "switching"],
    "frequency": ["frequency deviation", "frequency change", "generation", "island", "islanding", "load rejection"],
    "ferroresonance": [],
    "voltage regulation": ["tap changer", "tap change", "voltage regulator", "regulation"],
    "converter": ["rectifier", "power electronics", "notching", "harmonic load", "harmonics", "distortion"],
    "arc furnace": ["fluctuating load", "flicker", "flicker source"],
    "generation": ["generation trip", "inverter trip", "generator trip"],
    "none": ["no event", "undisturbed", ""],
}
TRANSIENT = ["transient", "impulsive transient", "oscillatory transient"]
RVC = ["rapid voltage change"]


def smooth(x):
    x = np.clip(x, 0, 1)
    return x * x * (3 - 2 * x)


class Case(Net):
    def __init__(self, name, seed):
        super().__init__()
        self.name, self.rng = name, np.random.default_rng([seed, *name.encode()])
        self.watch, self.digital, self.currents, self.clip_v, self.clip_i, self.spoil = [], [], None, 0, 0, None
        self.neutral, self.phases = None, ""

    def u(self, low, high):
        return float(self.rng.uniform(low, high))

    def lu(self, low, high):
        return math.exp(self.u(math.log(low), math.log(high)))

    def chance(self, p):
        return bool(self.rng.random() < p)

    def pick(self, options):
        return options[int(self.rng.integers(len(options)))]

    def plan(
        self, levels="lv mv hv", length=(0.4, 1.5), rates=(1600, 20000), dt=20e-6, currents=0.65, pp=0.3, lead=None
    ):
        """Draw nominal values and the capture; the event is due at self.t0 (seconds after the first sample)."""
        self.fn = self.pick([50, 50, 50, 60, 60])
        self.level = self.pick(levels.split())
        self.un = self.pick(LEVELS[self.level][self.fn])
        self.f = self.fn + (self.u(-0.2, 0.2) if self.chance(0.3) else self.u(-0.03, 0.03))
        self.w, self.cycle = 2 * math.pi * self.f, 1 / self.f
        self.length = self.lu(*length)
        fit = [r for r in RATES if rates[0] <= r <= rates[1] and r * self.length <= 64000] or [rates[0]]
        self.fs = self.pick(fit)
        self.over = max(1, math.ceil(1 / (self.fs * dt)))
        self.dt = 1 / (self.fs * self.over)
        cycles = self.length * self.f
        self.t0 = self.cycle * (lead if lead else self.u(2.05, max(2.1, min(12, 0.35 * cycles))))
        self.pp = self.chance(pp) if self.level != "lv" else self.chance(0.1)
        self.has_i = self.chance(currents)
        self.skip = int(self.u(0.55, 0.6) / self.dt)
        self.steps = self.skip + int(self.length * self.fs) * self.over
        self.time = (np.arange(self.steps) - self.skip) * self.dt
        self.on = 1e-3 if self.level != "lv" else 1e-4
        return self

    def wave(self, level=1.0, mag=1.0, turn=0.0, distortion=True):
        """Three EMFs (phase to neutral, V) with background harmonics and unbalance, risen slowly before the record."""
        rng, theta = self.rng, self.w * self.time + turn + self.angle
        ramp = smooth((self.time - self.time[0]) / 0.3) * mag * level * self.un * math.sqrt(2 / 3)
        first = len(self.emf)
        ratio = self.harmonics if distortion else {}
        for k in range(3):
            shift = -2 * math.pi * k / 3
            s = (1 + self.unbalance[k]) * np.sin(theta + shift)
            for order, (size, angle) in ratio.items():
                s += size * (1 + 0.1 * rng.standard_normal()) * np.sin(order * (theta + shift) + angle)
            self.emf.append(-ramp * s)
        return [first, first + 1, first + 2]

    def source(self, earthing=None, mag=1.0, turn=0.0, ssc=None, xr=None, thd=None):
        """The supply behind its short-circuit impedance; returns the bus."""
        low, high = FAULT_LEVEL[self.level]
        self.ssc = ssc or self.lu(low, high) * (self.un / 2e4 if self.level == "mv" else 1) ** 0.5
        self.z = self.un**2 / self.ssc
        xr = xr or (self.u(1, 4) if self.level == "lv" else self.u(5, 15))
        self.rs, self.xs = self.z / math.hypot(1, xr), self.z * xr / math.hypot(1, xr)
        self.ls = self.xs / self.w
        self.sref = self.ssc / self.u(18, 45)
        self.angle = self.u(0, 2 * math.pi)
        total = self.lu(0.003, 0.025) if thd is None else thd
        part = {h: self.rng.random() * s for h, s in ((3, 0.3), (5, 1), (7, 0.7), (11, 0.35), (13, 0.25))}
        norm = total / math.hypot(*part.values())
        self.harmonics = {h: (p * norm, self.u(0, 6.28)) for h, p in part.items()}
        unbalance = self.rng.standard_normal(3) * self.lu(0.0005, 0.004)
        self.unbalance = np.clip(unbalance, -0.012, 0.012)
        options = {"lv": ["solid"], "mv": ["solid", "resistor", "resistor", "coil", "isolated"], "hv": ["solid"]}
        self.earthing = earthing or self.pick(options[self.level])
        e = self.wave(self.u(1.0, 1.045), mag, turn)
        self.star, bus = self.nodes(1)[0], self.nodes()
        self.rl(bus, self.star, self.rs, self.ls, e)
        self.rl(bus, self.star, self.u(15, 40) * self.xs, 0, e)  # losses at high frequency
        self.c0 = 0
        if self.earthing == "solid":
            self.rl(self.star, -1, 0.1 * self.rs, self.ls * self.u(0.0, 0.6))
        elif self.earthing == "resistor":
            self.rl(self.star, -1, self.un / 1.732 / self.lu(150, 1000), 1e-5)
        else:
            amps = min(self.lu(10, 120), self.ssc / 200 / self.un * 1.732)
            self.c0 = amps / (3 * self.w * self.un / 1.732)
            self.rc(bus, -1, 0.5, self.c0)
            if self.earthing == "coil":
                coil = 1 / (3 * self.w**2 * self.c0) / self.u(1.02, 1.15)
                self.rl(self.star, -1, 0.03 * self.w * coil, coil)
            else:
                self.rl(self.star, -1, self.un * 2, 0)
        if not self.c0:
            self.rc(bus, -1, 0.5, 0.0005 * self.sref / (self.w * self.un**2))
        return bus

    def load(self, bus, size=None, pf=None, star=None, skew=0.0):
        """Series R-L star, floating above low voltage; size as a share of the reference power."""
        s = (self.u(0.2, 0.7) if size is None else size) * self.sref
        pf = pf or self.u(0.85, 0.99)
        z = self.un_at(bus) ** 2 / s
        if star is None:
            star = -1 if self.level == "lv" and bus is not None else self.nodes(1)[0]
        scale = [1 + skew * q for q in self.rng.uniform(-1, 1, 3)]
        return [
            self.rl(b, star, z * pf * q, z * math.sin(math.acos(pf)) * q / self.w)
            for b, q in zip(bus, scale, strict=True)
        ]

    def un_at(self, bus):
        return getattr(self, "volts", {}).get(bus[0], self.un)

    def line(self, bus, factor, rx=None, charge=None):
        """A section whose impedance is factor times that of the source; returns its far end and its branches."""
        z, rx = self.z * factor, rx or self.u(0.2, 1.0)
        x = z / math.hypot(1, rx)
        end = self.nodes()
        br = self.rl(bus, end, x * rx, x / self.w)
        cap = (charge if charge is not None else self.lu(0.001, 0.01)) * self.sref / (self.w * self.un**2)
        self.rc(end, -1, 0.02 * self.z + 0.1 * x, cap)
        return end, br

    def breaker(self, bus, closed=True, mode=0):
        end = self.nodes()
        if not closed:
            self.rc(end, -1, 0.1 * self.z, 1e-5 * self.sref / (self.w * self.un**2))
        sw = self.switch(bus, end, closed, self.on, mode)
        return end, sw

    def feeder(self, bus, d=None, near=None, load=None):
        """Breaker, line, fault place, line, load."""
        d = self.u(0.1, 0.9) if d is None else d
        total = self.lu(0.3, 4) if near is None else near
        head, cb = self.breaker(bus)
        mid, first = self.line(head, total * d)
        end, _ = self.line(mid, total * (1 - d))
        self.load(end, load)
        return {"cb": cb, "i": first, "mid": mid, "end": end, "z": self.z * total * d, "head": head}

    def fault(self, place, phases, earth, times, rf=None, zone=None):
        """Close phases of a place on one another (and earth) at the times; zone: impedance of the way in ohm."""
        joint = self.nodes(1)[0]
        rf = self.z * self.lu(0.01, 0.3) if rf is None else rf
        sw = []
        for ph, t in zip(phases, times, strict=True):
            hot = self.nodes(1)[0]
            sw.append(self.switch(place["mid"]["ABC".index(ph)], hot, False, self.on))
            self.add(R, hot, joint, (rf,))
            self.at(t, sw[-1], CLOSE)
        if earth:
            z0 = 0.6 * (place["z"] if zone is None else zone)
            self.rl(joint, -1, 0.3 * z0 + rf, z0 / self.w)
        return sw

    def transformer(self, bus, ratio, size, uk=None, turn=1):
        """Dyn, as three ideal windings behind the leakage; returns the star terminals (neutral earthed)."""
        low, s, un = self.nodes(), size * self.sref, self.un
        z = un**2 / s * (uk or self.u(0.04, 0.1))
        n = math.sqrt(3) * ratio
        br = []
        for k, (p, q) in enumerate(PAIRS if turn == 1 else [(0, 2), (1, 0), (2, 1)]):
            part = (3 * z * 0.12, 3 * z / self.w)
            br.append(self.add(RL, bus[p], bus[q], part, weights=(1.0, -1.0, -n, n), more=(low[k], -1)))
        self.volts = getattr(self, "volts", {}) | {low[0]: un / ratio}
        return low, br

    def magnetising(self, bus, size, earthed=False, remanence=0.0, sat=None):
        """Saturable branches of an unloaded transformer, from phase to star (earthed) or from phase to phase."""
        s = size * self.sref
        rated = self.un * math.sqrt(2) / self.w / (math.sqrt(3) if earthed else 1)
        zb = self.un**2 / s * (1 if earthed else 3)
        knee, sat = self.u(1.1, 1.22) * rated, (sat or self.u(0.2, 0.38)) * zb / self.w
        rest = np.roll(np.array([1, -0.95, -0.05]) * remanence, int(self.rng.integers(3))) * rated
        out = []
        for k, (p, q) in enumerate(PAIRS):
            end = -1 if earthed else bus[q]
            out.append(self.add(SATURATION, bus[p], end, (zb / self.w / 0.006, sat, knee), x=float(rest[k])))
            self.add(R, bus[p], end, (zb / 0.002,))
        return out

    def motor(self, ends, size, running=True, inertia=None, starts=None, un=None, torque=None):
        """An induction motor on three pairs of terminals; returns its winding branches."""
        s, un = size * self.sref, un or self.un
        zb, lag = un**2 / s * (3 if starts else 1), self.u(0.07, 0.1)  # windings in delta: three times that of a star
        rs, rr, lm = 0.015, self.u(0.018, 0.035), 3.0
        lr = lm + lag
        leak = lag + lm * lag / lr
        br = [
            self.rl(a, b, rs * zb, leak * zb / self.w)
            for a, b in zip(starts or ends, ends if starts else [self.nodes(1)[0]] * 3, strict=True)
        ]
        w, h = self.w, inertia or self.u(0.3, 1.0)
        t = torque if torque is not None else self.u(0.4, 0.8)
        tb = s / w
        par = (rr * zb, lr * zb / w, lm * zb / w, 1.0, 2 * h * s / w**2, 0.05 * tb, t * tb, w)
        self.motors.append((br, par, w * 0.985 if running else 0.0))
        return br

    def probe(self, bus, parts):
        """Feed these branches from the bus over measuring branches."""
        nodes = self.nodes()
        for n, b in zip(nodes, parts, strict=True):
            shape, (_, *others), *rest = self.el[b]
            self.el[b] = (shape, (n, *others), *rest)
        return self.rl(bus, nodes, 1e-4 * self.z, 1e-7)

    def meter(self, nodes, branches=None, neutral=None):
        self.vnodes, self.ibranches, self.neutral = nodes, branches, neutral
        self.has_i = self.has_i and branches is not None

    def simulate(self, u=None):
        """Run, filter as a recorder does, keep the channels and what they measure."""
        watch = [*self.vnodes, *([self.neutral] if self.neutral is not None else [])]
        watch += [-1 - b for b in self.ibranches] if self.has_i else []
        raw, self.opened = self.run(self.steps, self.skip, self.dt, watch)
        if not np.isfinite(raw).all():
            raise ArithmeticError("not finite")
        if self.over > 1:
            raw = sosfiltfilt(butter(3, 0.42 * self.fs, fs=1 / self.dt, output="sos"), raw, axis=0, padlen=100)
        raw = raw[:: self.over].T
        v, rest = raw[:3], raw[3:]
        if self.neutral is not None:
            v, rest = v - rest[0], rest[1:]
        self.residual = v.sum(0)
        self.un_channel = (u or self.un) / (1 if self.pp else math.sqrt(3))
        self.v = v if not self.pp else np.array([v[p] - v[q] for p, q in PAIRS])
        self.i = rest if self.has_i else np.zeros((0, v.shape[1]))
        self.t = np.arange(v.shape[1]) / self.fs
        self.stats()

    def rms(self, x):
        """RMS of one cycle, ending at each sample."""
        n = round(self.fs / self.f)
        s = np.cumsum(np.pad(x**2, ((0, 0), (1, 0))), axis=1)
        return np.sqrt(np.maximum(s[:, n:] - s[:, :-n], 0) / n)

    def stats(self):
        n, k0 = round(self.fs / self.f), int(self.t0 * self.fs)
        r = self.rms(self.v) / self.un_channel
        self.pre = r[:, : max(2, k0 - n - 1)].mean(1)
        self.low, self.high, self.post = r.min(), r.max(), r[:, -1]
        after = r[:, max(k0 - n, 0) :]
        self.dip = float((self.pre - after.min(1)).max())
        self.dips = self.pre - after.min(1)
        self.rise = float((after.max(1) - self.pre).max())
        self.step = float(np.abs(self.post - self.pre).max())
        self.dead = bool((r.max(0) < 0.09).any())
        self.relative = (float((r / self.pre[:, None]).min()), float((r / self.pre[:, None]).max()))
        width = int(min(max(0.006, 0.3 * self.cycle), 0.02) * self.fs) + 2
        a = slice(max(k0 - 2, n), k0 + width)
        old = self.v[:, a.start - n : a.stop - n]
        new = self.v[:, a]
        m = min(old.shape[1], new.shape[1])
        self.jump = float(np.abs(new[:, :m] - old[:, :m]).max() / (self.un_channel * math.sqrt(2)))
        if self.has_i:
            ri = self.rms(self.i)
            self.i_pre, self.i_max, self.i_post = ri[:, : max(2, k0 - n - 1)].mean(1), ri.max(1), ri[:, -1]
            self.i_ratio = float((self.i_max / (self.i_pre + 1e-3 * self.i_max.max())).max())

    def verdict(
        self, cause, visible, why, also=(), extra=(), none_ok=None, events=None, clear=None, caveat=False, t=None
    ):
        """The truth: what happened, what an engineer would sign, which events may be reported."""
        named = cause in (FAULT, MOTOR, TRANSFORMER, CAPACITOR, LOAD)
        spellings = [cause, *SPELLINGS.get(cause, [])]
        lows, highs = (self.low, self.relative[0]), (self.high, self.relative[1])
        ok, change = [], max(self.dip, self.rise)
        if min(lows) < 0.905:
            ok.append("sag")
        if min(lows) < 0.115:
            ok.append("interruption")
        if max(highs) > 1.095:
            ok.append("swell")
        sure = max(lows) < 0.89 or min(highs) > 1.115
        if not sure and change > 0.015:
            ok += RVC
        if events is not None:
            ok = list(events)
        caveat = None if self.dead and caveat is False else caveat
        allowed = list(dict.fromkeys([*ok, *extra]))
        quiet = not sure and change < 0.04 if none_ok is None else none_ok
        return {
            "kind": self.name,
            "true_cause": cause,
            "cause": cause if named and visible else UNKNOWN,
            "also": [*dict.fromkeys([*also, *spellings])],
            "visible": bool(visible and named),
            "evident": bool(visible),
            "why": why,
            "events": allowed,
            "none_ok": bool(quiet),
            "caveat": caveat,
            "phases": self.phases,
            "currents": bool(self.has_i),
            "t_event": None if t is False else (self.t0 if t is None else t),
            "clear": None if clear is None or not np.isfinite(clear) else float(clear),
            "nominal": float(round(self.un_channel, 1)),
            "un": self.un,
            "fs": self.fs,
            "length": self.length,
            "dip": round(self.dip, 4),
            "rise": round(self.rise, 4),
            "jump": round(self.jump, 4),
            "channels": "pp" if self.pp else "pe",
        }

    def cleared(self, branches):
        t = self.opened[branches]
        return float(np.nanmax(t)) if np.isfinite(t).any() else None

    def status(self, trip=None, opens=None, closes=()):
        """Status channels of a relay: trip command and breaker position."""
        if not self.chance(0.45):
            return
        n = int(self.length * self.fs)
        t = np.arange(n) / self.fs
        command, position = np.zeros(n, int), np.ones(n, int)
        if trip is not None:
            command[(t >= trip) & (t < trip + 0.15)] = 1
            position[t >= (opens or trip + 0.05)] = 0
            for q in closes:
                position[t >= q] = 1
        self.digital = list(zip(self.pick(TRIP), (command, position), strict=True))

    def save(self, stem, truth):
        """Transducers, noise, quantisation, names and files."""
        n = self.v.shape[1]
        names = self.pick(NAMES)
        split = [s.split(",") if "," in s else s.split(" ") for s in names[:4]]
        bits, snr = self.pick([12, 12, 14, 16, 16, 16]), self.u(30, 70)
        unit = 1e3 if self.un > 1e3 and self.chance(0.4) else 1.0
        secondary = self.un > 1e3 and self.chance(0.08)
        vs = self.pick([100, 110, 115, 120]) / math.sqrt(3) if self.un > 1e3 else self.un_channel
        vp = self.un / math.sqrt(3) if self.un > 1e3 else self.un_channel
        if secondary:
            unit, truth["nominal"] = vp / vs, None
        rows = []
        peak_v = self.un_channel * math.sqrt(2)
        span = max(peak_v * self.u(1.5, 3.0), np.abs(self.v).max() * 1.05) if not self.clip_v else self.clip_v
        fields = self.phase_fields(names[5])
        residual = self.chance(0.15) and not self.pp and self.neutral is None and not self.clip_v
        v = list(self.v) + ([self.residual] if residual else [])
        labels = split[1 if self.pp else 0] + ([names[2]] if residual else [])
        for k, x in enumerate(v):
            wide = max(span, np.abs(x).max() * 1.05) if k == 3 else span
            noise = peak_v / math.sqrt(2) * 10 ** (-snr / 20)
            text = ("V" if unit != 1e3 else "kV") if not secondary else "V"
            rows.append(
                self.digitise(
                    x, noise, wide, bits, labels[k], fields[0][k] if k < 3 else "N", text, unit, (vp, vs), secondary
                )
            )
        if self.has_i:
            wanted = np.abs(self.i).max() * 1.1
            rated = self.pick([1, 1, 5])
            typical = self.sref / (math.sqrt(3) * self.un) * self.u(1, 2)
            primary = float(f"{max(typical, 5 * rated):.1g}")
            span_i = (
                max(primary * math.sqrt(2) * self.pick([2, 20, 20, 40]), wanted) if not self.clip_i else self.clip_i
            )
            ratio_i = primary / rated if secondary else 1.0
            own = self.rms(self.i)[:, 0].mean() or wanted / 10
            i = list(self.i) + ([self.i.sum(0)] if self.chance(0.2) and not self.clip_i else [])
            for k, x in enumerate(i):
                noise = max(own, 1e-4 * span_i) * 10 ** (-snr / 20)
                label = (split[3] + [names[4]])[k]
                rows.append(
                    self.digitise(
                        x,
                        noise,
                        span_i,
                        bits,
                        label,
                        fields[1][k] if k < 3 else "N",
                        "A",
                        ratio_i,
                        (primary, rated),
                        secondary,
                    )
                )
        if self.spoil:
            self.spoil(rows)
        n = len(rows[0]["codes"])
        if not self.digital and self.chance(0.25):
            trigger = (np.arange(n) / self.fs >= self.t0).astype(int)
            self.digital = [(self.pick(STARTS), trigger)]
        rng = self.rng
        start = datetime(2019 + int(rng.integers(7)), 1 + int(rng.integers(12)), 1 + int(rng.integers(28)))
        start += timedelta(microseconds=int(rng.integers(86_000_000_000)))
        year = self.pick([1999, 1999, 2013])
        form = self.pick(["ASCII", "BINARY", "BINARY", *(["BINARY32", "FLOAT32"] if year == 2013 else [])])
        if n > 40000 and form == "ASCII":
            form = "BINARY"
        station, device = (
            self.pick(["SUB NORTH", "UW Mitte", "Station 12", "T1-HV", "MCC 4", "Plant_A"]),
            self.pick(DEVICES),
        )
        comtrade.write(stem, station, device, rows, self.digital, self.fs, self.fn, self.t0, start, year, form)
        return truth | {"form": form, "year": year, "bits": bits, "snr_db": round(snr, 1), "secondary": secondary}

    def phase_fields(self, letters):
        if not letters or self.chance(0.2):
            return ["", "", ""], ["", "", ""]
        sign = ["L1", "L2", "L3"] if letters == "123" else list(letters)
        pairs = [
            (sign[p] + sign[q]).replace("L1L2", "L12").replace("L2L3", "L23").replace("L3L1", "L31") for p, q in PAIRS
        ]
        return (pairs if self.pp else sign), sign

    def digitise(self, x, noise, span, bits, name, phase, unit, scale, ratio, secondary):
        """Codes of a converter of this many bits over +-span, with offset and gain errors of a transducer."""
        x = (
            x * (1 + self.rng.normal(0, 0.001))
            + self.rng.normal(0, 2e-4) * span
            + noise * self.rng.standard_normal(len(x))
        )
        top = 2 ** (bits - 1) - 1
        a = span / top
        codes = np.clip(np.round(x / a), -top, top).astype(np.int64)
        primary, second = ratio
        ps = "S" if secondary else "P"
        return {
            "name": name, "phase": phase, "unit": unit, "codes": codes, "a": a / scale, "b": 0.0, "low": -top,
            "high": top, "primary": round(primary, 3), "secondary": round(second, 3), "ps": ps,
        }  # fmt: skip


__all__ = ["ARC", "CLOSE", "OPEN", "Case"]
