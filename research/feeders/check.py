"""Read the records of a folder again, compare levels with the truth, and draw some of them.

python check.py FOLDER [--draw STEM ...] [--out FOLDER]
"""

import argparse
import json
import struct
import zlib
from pathlib import Path

import comtrade
import numpy as np

COLOURS = [(200, 30, 30), (20, 140, 40), (30, 60, 200), (120, 120, 120)]


def png(path, image):
    h, w, _ = image.shape
    raw = b"".join(b"\0" + row.tobytes() for row in image)

    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    head = struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
    )


def panel(image, top, height, rows, mark):
    """Draw each row as a curve: every column from the least to the largest of its samples."""
    width, size = image.shape[1], max(float(np.abs(rows).max()), 1e-12)
    image[top + height - 1], image[top + height // 2] = 0, 210
    image[top : top + height, int(mark * (width - 1))] = (255, 170, 0)
    for x, color in zip(rows, COLOURS * 3, strict=False):
        edges = np.linspace(0, len(x) - 1, width + 1)
        for k in range(width):
            a, b = edges[k], edges[k + 1]
            part = np.interp(np.linspace(a, b, max(3, int(b - a) + 1)), np.arange(len(x)), x)
            y = (top + height / 2 - part / size * 0.48 * height).astype(int)
            image[y.min() : y.max() + 1, k] = color


def draw(folder, stem, truth, out, span=None):
    _, units, t, x = comtrade.read(folder / stem)
    t0 = truth["t_event"] or 0.0
    keep = slice(None) if span is None else (t > t0 - span[0]) & (t < t0 + span[1])
    t, x = t[keep], x[:, keep]
    image = np.full((460, 1100, 3), 255, np.uint8)
    mark = np.clip((t0 - t[0]) / (t[-1] - t[0]), 0, 1)
    volts = np.array([u.endswith("V") for u in units])
    panel(image, 0, 230, x[volts], mark)
    if (~volts).any():
        panel(image, 230, 230, x[~volts], mark)
    png(out / f"{stem}.png", image)


def examine(folder, stem, truth):
    """Complaints about one record."""
    names, units, t, x = comtrade.read(folder / stem)
    bad = [] if np.isfinite(x).all() else ["not finite"]
    if len(set(names)) != len(names):
        bad.append("names twice")
    n = round(truth["fs"] / (50 if "50" in str(truth["un"]) else 55))
    first = np.sqrt((x[:3, : 2 * n] ** 2).mean(1)) * [1e3 if u == "kV" else 1 for u in units[:3]]
    if truth["nominal"] and not (0.85 < first.mean() / truth["nominal"] < 1.12):
        bad.append(f"level {first / truth['nominal']}")
    if truth["t_event"] is not None and not 0.03 < truth["t_event"] < t[-1]:
        bad.append(f"event at {truth['t_event']}")
    if truth["clear"] is not None and not (truth["t_event"] or 0) <= truth["clear"] <= t[-1]:
        bad.append(f"clearing at {truth['clear']}")
    if bool(truth["currents"]) != any(u.endswith("A") for u in units):
        bad.append("currents")
    return bad


def main():
    a = argparse.ArgumentParser()
    a.add_argument("folder", type=Path)
    a.add_argument("--draw", nargs="*", default=[])
    a.add_argument("--out", type=Path, default=Path())
    a.add_argument("--span", type=float, nargs=2)
    o = a.parse_args()
    truth = json.loads((o.folder / "truth.json").read_text())
    for stem in o.draw:
        draw(o.folder, stem, truth[stem], o.out, o.span)
    if o.draw:
        return
    found = {s: examine(o.folder, s, q) for s, q in truth.items()}
    for s, bad in found.items():
        if bad:
            print(s, *bad)
    print(f"{len(found)} records read, {sum(map(bool, found.values()))} with complaints")
    for kind in dict.fromkeys(q["kind"] for q in truth.values()):
        part = [q for q in truth.values() if q["kind"] == kind]
        dips, jumps = [q["dip"] for q in part], [q["jump"] for q in part]
        seen, amps, quiet = (sum(q[k] for q in part) for k in ("visible", "currents", "none_ok"))
        print(
            f"{kind:27s} n {len(part):3d}  visible {seen:3d}  evident {sum(q['evident'] for q in part):3d}"
            f"  currents {amps:3d}  none ok {quiet:3d}  jump {np.median(jumps):.2f}"
            f"  dip {min(dips):.3f} {np.median(dips):.3f} {max(dips):.3f}"
            f"  rise {max(q['rise'] for q in part):.2f}"
        )


if __name__ == "__main__":
    main()
