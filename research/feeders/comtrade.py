"""Write COMTRADE (1999 and 2013; ASCII, BINARY, BINARY32, FLOAT32) and read it again, for the checks."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np


def stamp(t):
    return t.strftime("%d/%m/%Y,%H:%M:%S.%f")


def write(stem, station, device, analog, digital, fs, lf, trigger, start, year=1999, form="BINARY"):
    """analog: dicts of name, phase, unit, codes (integers), a, b, low, high, primary, secondary, ps."""
    n = len(analog[0]["codes"])
    lines = [f"{station},{device},{year}", f"{len(analog) + len(digital)},{len(analog)}A,{len(digital)}D"]
    for k, c in enumerate(analog, 1):
        a, b = (c["a"], c["b"]) if form != "FLOAT32" else (1.0, 0.0)
        low, high = (c["low"], c["high"]) if form != "FLOAT32" else (-3.4028235e38, 3.4028235e38)
        ratio = f"{c['primary']:g},{c['secondary']:g},{c['ps']}"
        lines.append(f"{k},{c['name']},{c['phase']},,{c['unit']},{a:.9g},{b:.6g},0,{low:g},{high:g},{ratio}")
    lines += [f"{k},{name},,,0" for k, (name, _) in enumerate(digital, 1)]
    lines += [f"{lf:g}", "1", f"{fs:g},{n}", stamp(start), stamp(start + timedelta(seconds=trigger)), form, "1"]
    if year == 2013:
        lines += ["+1h00,+1h00", "0,0"]
    Path(f"{stem}.cfg").write_text("\r\n".join(lines) + "\r\n")
    tick = np.round(np.arange(n) * 1e6 / fs).astype(np.int64)
    bits = np.array([d for _, d in digital], dtype=np.uint16).reshape(len(digital), n)
    if form == "ASCII":
        cols = [np.arange(1, n + 1), tick, *[c["codes"] for c in analog], *bits]
        rows = (",".join(map(str, r)) for r in np.array(cols, dtype=np.int64).T.tolist())
        Path(f"{stem}.dat").write_text("\r\n".join(rows) + "\r\n")
        return
    value = {"BINARY": "<i2", "BINARY32": "<i4", "FLOAT32": "<f4"}[form]
    words = -(-len(digital) // 16)
    packed = np.zeros(n, [("n", "<u4"), ("t", "<u4"), ("a", value, (len(analog),)), ("d", "<u2", (words,))])
    packed["n"], packed["t"] = np.arange(1, n + 1), tick
    for k, c in enumerate(analog):
        packed["a"][:, k] = c["codes"] if form != "FLOAT32" else c["codes"] * c["a"] + c["b"]
    for k, d in enumerate(bits):
        packed["d"][:, k // 16] |= d << (k % 16)
    Path(f"{stem}.dat").write_bytes(packed.tobytes())


def read(stem):
    """Return names, units, time in s and values (channels x samples) in the units of the file."""
    lines = Path(f"{stem}.cfg").read_text().splitlines()
    na, nd = (int(x[:-1]) for x in lines[1].split(",")[1:3])
    rows = [x.split(",") for x in lines[2 : 2 + na]]
    rest = lines[2 + na + nd :]
    fs, n = (float(x) for x in rest[2].split(","))
    datetime.strptime(rest[3], "%d/%m/%Y,%H:%M:%S.%f")
    n, form = int(n), rest[5]
    if form == "ASCII":
        raw = np.loadtxt(f"{stem}.dat", delimiter=",").reshape(n, -1)[:, 2 : 2 + na].T
    else:
        value = {"BINARY": "<i2", "BINARY32": "<i4", "FLOAT32": "<f4"}[form]
        kind = [("n", "<u4"), ("t", "<u4"), ("a", value, (na,)), ("d", "<u2", (-(-nd // 16),))]
        raw = np.frombuffer(Path(f"{stem}.dat").read_bytes(), kind)
        if len(raw) != n:
            raise ValueError(f"{stem}.dat has {len(raw)} samples instead of {n}")
        raw = raw["a"].T.astype(float)
    a, b = (np.array([float(r[k]) for r in rows])[:, None] for k in (5, 6))
    return [r[1] for r in rows], [r[4] for r in rows], np.arange(n) / fs, raw * a + b
