"""Files of relays, oscilloscopes and MATLAB, written by hand as their makers describe them."""

import struct
import zlib

import numpy as np
from tests.recordings.builders import RATE, waves

SEL_NAMES = "TRIP 52A * BFI * * * * IN101"
PER_CYCLE = 4


def with_checksum(line):
    """A line of a compressed report, with the sum of its characters."""
    return f'{line},"{sum((line + ",").encode()) & 0xFFFF:04X}"'


def relay_rows(n=64, per_cycle=PER_CYCLE):
    """IA, IB, IC [A], and VA, VB, VC [kV] that fall to half in the middle, divided by the square root of 2."""
    angles = 2 * np.pi * (np.arange(n)[:, None] / per_cycle - np.arange(3) / 3)
    fall = np.where(np.arange(n) < n // 2, 1.0, 0.5)[:, None]
    return np.round(np.hstack([100 * np.sin(angles), 12 * fall * np.sin(angles)]), 3)


def cev(rows=None, *, trigger=32, per_cycle=PER_CYCLE, end="\r\n", settings=True, header=True):
    """A compressed event report, as of an SEL-351."""
    rows = relay_rows() if rows is None else rows
    lines = ['"FID"', '"FID=SEL-351-R100-V-D970128"', '"MONTH","DAY","YEAR","HOUR","MIN","SEC","MSEC"']
    lines += ["4,22,2013,9,17,46,72", '"FREQ","SAM/CYC_A","SAM/CYC_D","NUM_OF_CYC","EVENT","IA"']
    lines += [f'59.9,{per_cycle},{per_cycle},16,"AG T",628.8'] if header else ['5,,,16,"AG T",628.8']
    lines += [f'"IA","IB","IC","VA(kV)","VB(kV)","VC(kV)","VDC","FREQ","TRIG","{SEL_NAMES}"']
    for n, row in enumerate(rows):
        sign = ">" if n == trigger else "*" if n == trigger + 1 else " "
        word = "C000" if n >= trigger else "4080"
        lines.append(",".join(f"{value:g}" for value in row) + f',125,59.9,"{sign}","{word}"')
    lines = [with_checksum(line) for line in lines]
    if settings:
        lines += [with_checksum('"SETTINGS"'), '"', "Global Settings", "RID     := NORTH 7   TID := X", '","1744"']
    return ("\2" + end.join(lines) + end + "\3").encode()


def eve(rows=None, *, trigger=32, per_cycle=PER_CYCLE, date="04/22/13", freq=True):
    """A plain event report, as of an SEL-351: analog columns by cycle, then those of protection elements."""
    rows = relay_rows() if rows is None else rows
    names = "    IA    IB    IC      VA    VB    VC   Vdc" + ("  Freq" if freq else "") + "  246A 246"
    lines = ["=>EVE", "", f"FEEDER 1                       Date: {date}    Time: 09:17:46.072", "STATION A", ""]
    lines += ["FID=SEL-351-R100-V-D970128                CID=1234", "", "                                  Out In"]
    lines += ["     Currents (Amps Pri)        Voltages (kV Pri)          1357 135", names]
    for n, row in enumerate(rows):
        if n % per_cycle == 0:
            lines.append(f"[{n // per_cycle + 1}]")
        sign = ">" if n == trigger else "*" if n == trigger + 1 else " "
        analog = "".join(f"{value:6.0f}" for value in row[:3]) + "".join(f"{value:6.1f}" for value in row[3:])
        lines.append(f"{analog}   125" + (" 59.90" if freq else "") + f"{sign}.... b..")
        if n == trigger + 2:
            lines.append("Circuit Breaker Open")
    lines += ["", "Protection and Contr Elements", "51    50", "P Q N P", "[1]", "1... ....", "....", ""]
    lines += [
        "Event: AG T  Location: 2.31  Frequency: 60.0",
        "RID   =FEEDER 1",
        "50P1P = 15.00 50P2P = 1.0 50P3P = 2.0",
    ]
    return "\r\n".join([*lines, "=>"]).encode()


def mat_element(kind, content, order="<"):
    """A data element: type, size, content, padding."""
    if kind not in (14, 15) and 0 < len(content) <= 4:
        return struct.pack(f"{order}I", len(content) << 16 | kind) + content.ljust(4, b"\0")
    padding = b"" if kind == 15 else b"\0" * (-len(content) % 8)
    return struct.pack(f"{order}II", kind, len(content)) + content + padding


def mat_matrix(name, array, order="<", class_=6, compress=True):
    array = np.atleast_2d(array)
    kind = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "f4": 7, "f8": 9}[array.dtype.str[1:]]
    body = mat_element(6, struct.pack(f"{order}II", class_, 0), order)
    body += mat_element(5, struct.pack(f"{order}{array.ndim}i", *array.shape), order)
    body += mat_element(1, name.encode(), order)
    body += mat_element(kind, array.astype(array.dtype.newbyteorder(order)).tobytes("F"), order)
    whole = mat_element(14, body, order)
    return mat_element(15, zlib.compress(whole), order) if compress else whole


def mat(variables, order="<", **how):
    head = b"MATLAB 5.0 MAT-file, Platform: PCWIN64".ljust(124) + struct.pack(f"{order}H", 0x0100)
    body = b"".join(mat_matrix(name, np.asarray(array), order, **how) for name, array in variables.items())
    return head + (b"IM" if order == "<" else b"MI") + body


def mat_seeds():
    three = waves()
    return [
        mat({"Ua": three[0], "Ub": three[1][:, None], "Fs": RATE}),
        mat({"time": np.arange(96) / RATE, "u": np.stack(three).T.astype("f4")}, compress=False),
        mat({"U1": np.rint(three[0]).astype("i2"), "sampling_rate": np.float64(RATE)}, order=">"),
    ]


def sel_seeds():
    return [
        {"case.cev": cev()},
        {"case.cev": cev(per_cycle=16, end="\r", settings=False)},
        {"case.eve": eve()},
        {"case.eve": eve(per_cycle=16, freq=False)},
    ]


def tektronix_blocks(n=96, units=("A", "Volts"), shift=0.0):
    """TDS shape with two channels: blocks side by side, each with its settings and time."""
    settings = [
        ("Record Length", str(n)),
        ("Sample Interval", f"{1 / RATE:.9e}"),
        ("Source", ""),
        ("Vertical Units", ""),
    ]
    settings += [("Horizontal Units", "s")] + [("", "")] * (n - 5)
    lines = []
    for i, (key, value) in enumerate(settings):
        blocks = []
        for k in range(2):
            own = {"Source": f"CH{k + 1}", "Vertical Units": units[k]}.get(key, value)
            blocks.append(f"{key},{own},,{i / RATE - 0.01 + k * shift:.9f},{waves(n)[k][i]:.5f},")
        lines.append(",".join(blocks))
    return "\n".join(lines)
