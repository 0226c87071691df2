"""A fault recorder: instrument transformers, filter, converter, names, and files in COMTRADE."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
from scipy.signal import butter, sosfilt, sosfilt_zi

STYLES = [
    ("VA VB VC", "VAB VBC VCA", "IA IB IC", "A B C"),
    ("UL1 UL2 UL3", "UL12 UL23 UL31", "IL1 IL2 IL3", "L1 L2 L3"),
    ("U1 U2 U3", "U12 U23 U31", "I1 I2 I3", "1 2 3"),
    ("VR VS VT", "VRS VST VTR", "IR IS IT", "R S T"),
    ("Ua Ub Uc", "Uab Ubc Uca", "Ia Ib Ic", "A B C"),
    ("V_R V_Y V_B", "V_RY V_YB V_BR", "I_R I_Y I_B", "R Y B"),
    ("BUS1-Va BUS1-Vb BUS1-Vc", "BUS1-Vab BUS1-Vbc BUS1-Vca", "FDR7-Ia FDR7-Ib FDR7-Ic", "A B C"),
    ("Q01:U_L1 Q01:U_L2 Q01:U_L3", "Q01:U_L12 Q01:U_L23 Q01:U_L31", "Q01:I_L1 Q01:I_L2 Q01:I_L3", "L1 L2 L3"),
    ("Va Vb Vc", "Vab Vbc Vca", "Ia Ib Ic", "  "),
]
STATIONS = "North Substation|SE-2|UW Hafen|Mill 3 MCC|PQ Meter 14|DFR-0412|Plant B incomer|Feeder 7|SUBST. LA PAZ|K11"
PAIRS = ((0, 1), (1, 2), (2, 0))


@dataclass
class Channel:
    name: str
    phase: str
    unit: str
    values: np.ndarray
    full_scale: float
    primary: float = 1.0
    secondary: float = 1.0
    side: str = "P"
    missing: np.ndarray | None = None


@dataclass
class Capture:
    rate: float
    frequency: float
    channels: list
    status: list = field(default_factory=list)  # (name, normal state, [(time, state), ...])
    file_rate: float = 0.0
    trigger: float = 0.0


def sample(values, every, skip):
    """Filter against aliases and keep each `every`-th sample."""
    if every > 1:
        sos = butter(3, 0.8 / every, output="sos")
        start = sosfilt_zi(sos)[:, None, :] * values[None, :, :1]
        values = sosfilt(sos, values, axis=1, zi=start)[0]
    return values[:, skip::every].copy()


def saturate_current_transformer(current, step, limit):
    """The secondary current of a core whose flux (the integral of the burden's voltage) cannot pass `limit`."""
    flux, out = 0.0, np.empty_like(current)
    for k, value in enumerate(current):
        flux += value * step
        if abs(flux) > limit:
            over = abs(flux) - limit
            flux = limit * (1 if flux > 0 else -1)
            out[k] = value * max(0.0, 1 - over / (abs(value) * step + 1e-30))
        else:
            out[k] = value
        flux *= 1 - step / 0.5
    return out


def make_channels(rng, voltages, currents, crest, between, has_noise=True):
    """Channels with the names, units, scaling and noise of some make of recorder."""
    style = [text.split(" ") for text in STYLES[rng.integers(len(STYLES))]]
    names = style[1] if between else style[0]
    phases = style[3]
    if between:
        phases = ["".join(dict.fromkeys(phases[a] + phases[b])) for a, b in PAIRS]
        voltages = np.array([voltages[a] - voltages[b] for a, b in PAIRS])
        crest = crest * np.sqrt(3)
    noise = 10 ** (-rng.uniform(48, 78) / 20) * has_noise
    kilo = crest > 2000 and rng.random() < 0.5
    secondary = crest > 2000 and rng.random() < 0.35
    ratio = round(crest / np.sqrt(2) / 100) if secondary else 1
    out = []
    headroom = rng.uniform(1.6, 3.0)
    for number in range(3):
        values = voltages[number] * (1 + rng.normal(0, 0.002))
        values = values + rng.normal(0, crest * noise, values.size)
        out.append(Channel(names[number], phases[number].strip(), "V", values, crest * headroom))
        if secondary:
            out[-1].primary, out[-1].secondary, out[-1].side = ratio, 1.0, "S"
        elif kilo:
            out[-1].unit = "kV"
    if currents is not None:
        top = max(np.abs(currents).max() * rng.uniform(1.1, 2.5), 5.0)
        kilo = top > 5000 and rng.random() < 0.4
        ratio = float(rng.choice([20, 60, 120, 200, 400]))
        secondary = rng.random() < 0.3
        for number in range(3):
            values = currents[number] + rng.normal(0, top * max(noise / 8, 2e-5), currents[number].size)
            out.append(Channel(style[2][number], style[3][number].strip(), "A", values, top))
            if secondary:
                out[-1].primary, out[-1].secondary, out[-1].side = ratio, 1.0, "S"
            elif kilo:
                out[-1].unit = "kA"
    return out


def quantize(channel, bits):
    """Whole numbers of the converter, with their factor and offset; a missing sample is the lowest number."""
    scale = {"kV": 1e3, "kA": 1e3}.get(channel.unit, 1.0)
    if channel.side == "S":
        scale = channel.primary / channel.secondary
    top = 2 ** (bits - 1) - 1
    factor = channel.full_scale / scale / top
    numbers = np.clip(np.round(channel.values / scale / factor), -top, top).astype(np.int32)
    if channel.missing is not None:
        numbers[channel.missing] = -(2**15)
    return numbers, factor, top


def write(path, capture, rng):
    """NAME.cfg and NAME.dat."""
    bits = int(rng.choice([12, 14, 16, 16]))
    has_missing = any(channel.missing is not None for channel in capture.channels)
    size = capture.channels[0].values.size
    kind = "ASCII" if rng.random() < 0.25 and size < 20000 and not has_missing else "BINARY"
    edition = rng.choice(["1999", "1999", "2013"])
    rate = capture.file_rate or capture.rate
    start = datetime(2015, 1, 1) + timedelta(seconds=float(rng.integers(0, 9 * 365 * 86400)) + rng.random())
    trigger = start + timedelta(seconds=max(0.0, capture.trigger))
    lines = [f"{rng.choice(STATIONS.split('|'))},{rng.integers(1, 999)},{edition}"]
    lines.append(f"{len(capture.channels) + len(capture.status)},{len(capture.channels)}A,{len(capture.status)}D")
    columns = []
    for number, channel in enumerate(capture.channels, 1):
        values, factor, top = quantize(channel, bits)
        columns.append(values)
        lines.append(
            f"{number},{channel.name},{channel.phase},,{channel.unit},{factor:.9g},0,0,{-top},{top},"
            f"{channel.primary:g},{channel.secondary:g},{channel.side}"
        )
    for number, (name, normal, _) in enumerate(capture.status, 1):
        lines.append(f"{number},{name},,,{normal}")
    lines += [f"{capture.frequency:g}", "1", f"{rate:.9g},{size}"]
    lines += [moment.strftime("%d/%m/%Y,%H:%M:%S.%f") for moment in (start, trigger)]
    lines += [kind, "1"]
    if edition == "2013":
        lines += ["0,0", "0,0"]
    path.with_suffix(".cfg").write_bytes(("\r\n".join(lines) + "\r\n").encode())
    analog = np.array(columns).T
    times = np.arange(size)
    digital = np.zeros((size, len(capture.status)), dtype=np.uint16)
    for column, (_, normal, changes) in enumerate(capture.status):
        digital[:, column] = normal
        for moment, state in changes:
            digital[times >= moment * capture.rate, column] = state
    stamps = np.round(times * 1e6 / rate).astype(np.int64)
    if kind == "ASCII":
        table = np.column_stack([times + 1, stamps, analog, digital])
        text = "\r\n".join(",".join(map(str, row)) for row in table.tolist())
        path.with_suffix(".dat").write_bytes((text + "\r\n").encode())
        return
    n_words = (len(capture.status) + 15) // 16
    words = np.zeros((size, n_words), dtype="<u2")
    for column in range(len(capture.status)):
        words[:, column // 16] |= digital[:, column] << (column % 16)
    row = [("n", "<u4"), ("t", "<u4"), ("a", "<i2", (analog.shape[1],)), ("d", "<u2", (n_words,))]
    table = np.zeros(size, dtype=row if n_words else row[:3])
    table["n"], table["t"], table["a"] = times + 1, stamps, analog
    if n_words:
        table["d"] = words
    path.with_suffix(".dat").write_bytes(table.tobytes())
