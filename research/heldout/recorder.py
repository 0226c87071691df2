"""The recorder and the transformers before it: saturation, fuses, filters, noise, defects, and files in COMTRADE."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from nodal import Floats
from numba import njit
from scipy.signal import butter, firwin, group_delay, oaconvolve, sosfilt, sosfilt_zi

if TYPE_CHECKING:
    from scenes import Scene


@njit(cache=True)
def _saturate(amps, dt, w, limit, remanence, rated):  # type: ignore[no-untyped-def]
    out = np.empty_like(amps)
    knee = limit * rated / w
    flux = remanence * knee
    for k in range(len(amps)):
        x = flux / knee
        magnetising = rated * (0.005 * x + 0.05 * x**15)
        out[k] = amps[k] - magnetising
        flux = min(max(flux + dt * out[k], -1.6 * knee), 1.6 * knee)
    return out


def saturate(amps: Floats, dt: float, w: float, burden: float, remanence: float, rated: float) -> Floats:
    """What current transformers give whose core saturates at 8 / burden times the rated crest value, without offset."""
    return np.array(
        [_saturate(x, dt, w, 8.0 / burden, remanence * (1 if k == 0 else -0.5), rated) for k, x in enumerate(amps)]
    )


def secondary(volts: Floats, t: Floats, t0: float, rng: np.random.Generator, *, gradual: bool) -> Floats:
    """Secondary voltages when the fuse of one transformer blows: its burdens share what is left."""
    phase = int(rng.integers(3))
    if gradual:
        lasts = rng.uniform(0.2, 0.8) * (t[-1] - t0)
        share = np.clip((t - t0) / lasts, 0, 1)
        wander = 1 + rng.uniform(0, 0.15) * np.sin(2 * np.pi * rng.uniform(2, 12) * (t - t0) + rng.uniform(0, 6)) * (
            share > 0
        )
        fuse = 1e-3 * 10 ** (share * rng.uniform(3, 4.5)) * wander
    else:
        fuse = 1e-3 * 10 ** (np.clip((t - t0) / rng.uniform(5e-4, 6e-3), 0, 1) * 7)
    neutral, between = 1.0, rng.uniform(0.0, 0.5)
    others = [k for k in range(3) if k != phase]
    out = volts.copy()
    blown = volts[phase] / fuse + between * (volts[others[0]] + volts[others[1]])
    out[phase] = blown / (1 / fuse + neutral + 2 * between)
    return out


def sample(
    x: Floats, every: int, rate: float, fs: int, design: tuple[bool, float, int], f: float
) -> tuple[Floats, float]:
    """Filter against aliases and keep every n-th sample: the samples, and by how much the filter delays them [s]."""
    linear, edge, order = design
    cut = edge * fs
    if linear:
        taps = firwin(8 * every + 1, cut, fs=rate, window=("kaiser", 5.0))
        half = len(taps) // 2
        padded = np.pad(x, ((0, 0), (half, half)), "edge")
        return oaconvolve(padded, taps[None, :], "valid", axes=1)[:, ::every], 0.0
    sos = butter(order, cut, fs=rate, output="sos")
    initial = sosfilt_zi(sos)[:, None, :] * x[None, :, :1]
    y, _ = sosfilt(sos, x, axis=1, zi=initial)
    b, a = butter(order, cut, fs=rate)
    delay = float(group_delay((b, a), [f], fs=rate)[1][0]) / rate
    return y[:, ::every], delay


def spike(rng: np.random.Generator) -> Floats:
    """A pulse of a few samples, of one or both signs, of crest 1."""
    n = int(rng.integers(1, 5))
    shape: Floats = np.exp(-np.arange(n) / rng.uniform(0.5, 2)) * rng.choice(
        [1.0, -1.0], n if rng.random() < 0.3 else 1
    )
    shape /= np.abs(shape).max()
    return shape


def spoil(x: Floats, defect: str, start: int, fs: int, f: int, crest: float, rng: np.random.Generator) -> Floats:
    """Samples of all voltages (and currents below them) after a defect of the recorder at sample `start`."""
    cycle = fs / f
    if defect == "spike":
        pulse = spike(rng) * rng.uniform(0.15, 1.5) * crest * rng.choice([-1, 1])
        x[rng.integers(3), start : start + len(pulse)] += pulse[: x.shape[1] - start]
    elif defect == "frozen":
        stop = start + round(rng.uniform(0.4, 4) * cycle)
        x[:, start:stop] = x[:, start : start + 1]
    elif defect == "lost":
        # Not by chance a whole number of cycles, which nobody could see.
        n = round((rng.integers(0, 3) + rng.uniform(0.1, 0.9)) * cycle)
        x = np.delete(x, np.arange(start, start + n), axis=1)
    elif defect == "swapped":
        order = np.arange(len(x))
        a, b = rng.choice(3, 2, replace=False)
        order[[a, b]] = order[[b, a]]
        x[:, start:] = x[order, start:]
    return x


@dataclass(frozen=True)
class Channel:
    name: str
    phase: str
    unit: str
    lsb: float
    limit: int
    ratio: tuple[float, float]


NAMES = [
    (["UA", "UB", "UC"], ["IA", "IB", "IC"]),
    (["VAN", "VBN", "VCN"], ["IA", "IB", "IC"]),
    (["U L1", "U L2", "U L3"], ["I L1", "I L2", "I L3"]),
    (["Va", "Vb", "Vc"], ["Ia", "Ib", "Ic"]),
    (["BUS1 VA", "BUS1 VB", "BUS1 VC"], ["FDR IA", "FDR IB", "FDR IC"]),
]


def write_comtrade(
    path: Path,
    channels: list[Channel],
    counts: np.ndarray,
    status: list[tuple[str, np.ndarray]],
    fs: int,
    f: int,
    start: str,
    trigger: str,
    *,
    ascii_data: bool,
    station: str,
) -> None:
    """Counts of the converter (rows are channels) as a .cfg and a .dat of the edition of 1999."""
    n = counts.shape[1]
    lines = [f"{station},REC-7,1999", f"{len(channels) + len(status)},{len(channels)}A,{len(status)}D"]
    for k, c in enumerate(channels, 1):
        low = -c.limit
        lines.append(
            f"{k},{c.name},{c.phase},,{c.unit},{c.lsb:.9E},0,0,{low},{c.limit},{c.ratio[0]:.6g},{c.ratio[1]:.6g},P"
        )
    lines += [f"{k},{name},,,0" for k, (name, _) in enumerate(status, 1)]
    lines += [str(f), "1", f"{fs},{n}", start, trigger, "ASCII" if ascii_data else "BINARY", "1"]
    path.with_suffix(".cfg").write_text("\r\n".join(lines) + "\r\n", encoding="ascii", newline="")
    times = np.round(np.arange(n) * 1e6 / fs).astype(np.int64)
    if ascii_data:
        table = np.vstack([np.arange(1, n + 1), times, counts, *[x for _, x in status]]).T.astype(np.int64)
        text = "\r\n".join(",".join(map(str, row)) for row in table.tolist())
        path.with_suffix(".dat").write_text(text + "\r\n", encoding="ascii", newline="")
        return
    words = (len(status) + 15) // 16
    raw = np.zeros(n, dtype=[("n", "<i4"), ("t", "<i4"), ("a", "<i2", (len(channels),)), ("d", "<u2", (words,))])
    raw["n"], raw["t"], raw["a"] = np.arange(1, n + 1), times, counts.T
    for k, (_, x) in enumerate(status):
        raw["d"][:, k // 16] |= (x.astype(np.uint16) << (k % 16)).astype(np.uint16)
    path.with_suffix(".dat").write_bytes(raw.tobytes())


def record(scene: "Scene", path: Path, rng: np.random.Generator) -> tuple[Floats, float]:
    """Write what the recorder makes of a scene; its voltages without noise and defects, the delay of its filter [s]."""
    s, site = scene.study, scene.study.site
    every, rate = s.oversampling, s.fs * s.oversampling
    kind_of_filter = (bool(rng.random() < 0.5), rng.uniform(0.36, 0.45), int(rng.integers(2, 5)))
    rows = scene.volts
    if scene.line_to_line:
        rows = rows - np.roll(rows, -1, axis=0)
    if scene.amps is not None:
        rows = np.vstack([rows, scene.amps])
    rows, delay = sample(rows, every, rate, s.fs, kind_of_filter, site.f)
    clean = rows[:3].copy()
    crest = site.crest * (np.sqrt(3) if scene.line_to_line else 1)
    rated_amps = np.sqrt(2) * site.rated / (np.sqrt(3) * site.vll)
    scale = np.array([crest] * 3 + [rated_amps] * (len(rows) - 3))[:, None]
    snr = rng.uniform(*scene.snr)
    rows = rows + rng.standard_normal(rows.shape) * scale / np.sqrt(2) * 10 ** (-snr / 20)
    start = round((s.t0 + delay) * s.fs)
    rows = spoil(rows, scene.defect, start, s.fs, site.f, crest, rng)
    n = rows.shape[1]

    bits = int(rng.choice([12, 14, 16]))
    limit = 2 ** (bits - 1) - 1
    wide = rng.uniform(1.8, 2.6)
    peak = np.abs(rows).max(axis=1)
    spans = [max(crest * wide, 1.15 * peak[:3].max())] * 3
    if scene.defect == "clipped":
        spans = [crest * rng.uniform(1.08, 1.2)] * 3
    if len(rows) > 3:
        spans += [max(rated_amps * rng.choice([10, 20, 40]), 1.2 * peak[3:].max())] * 3
    names = NAMES[rng.integers(len(NAMES))]
    kilo = bool(site.vll > 1e3 and rng.random() < 0.5)
    phases = ["AB", "BC", "CA"] if scene.line_to_line else ["A", "B", "C"]
    volt_names = [f"U{p}" for p in phases] if scene.line_to_line else names[0]
    vt = (1.0, 1.0) if site.level == "lv" else (site.vll / np.sqrt(3), 100 / np.sqrt(3))
    ct = (float(10 ** np.ceil(np.log10(rated_amps))), 1.0)
    channels = []
    for k, span in enumerate(spans):
        unit = ("kV" if kilo else "V") if k < 3 else "A"
        name = volt_names[k] if k < 3 else names[1][k - 3]
        lsb = span / limit / (1e3 if unit == "kV" else 1)
        channels.append(Channel(name, phases[k] if k < 3 else "ABC"[k - 3], unit, lsb, limit, vt if k < 3 else ct))
    counts = np.clip(np.round(rows * limit / np.array(spans)[:, None]), -limit, limit).astype(np.int64)
    if scene.defect == "missing":
        stop = start + round(rng.uniform(0.3, 4) * s.fs / site.f)
        counts[:, start:stop] = -32768
    t = np.arange(n) / s.fs
    status = [(name, ((t >= on) & (t < off)).astype(np.int64)) for name, on, off in scene.status]
    day = f"{rng.integers(1, 29):02d}/{rng.integers(1, 13):02d}/{rng.integers(2008, 2025)}"
    second = rng.uniform(0, 50)
    clock = f"{day},{rng.integers(24):02d}:{rng.integers(60):02d}:"
    write_comtrade(
        path,
        channels,
        counts,
        status,
        s.fs,
        site.f,
        f"{clock}{second:09.6f}",
        f"{clock}{second + s.t0:09.6f}",
        ascii_data=bool(scene.defect != "missing" and rng.random() < 0.3),
        station=str(rng.choice(["NORTH 110", "ALDER ST", "HARBOUR", "PLANT 2", "SS-14"])),
    )
    return clean, delay
