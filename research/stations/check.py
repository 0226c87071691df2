"""Read the files back with a parser of its own, compare with the truth, plot each kind: check.py FOLDER [--plot]."""

import json
import sys
from pathlib import Path

import numpy as np


def read(stem):
    rows = [x.split(",") for x in Path(f"{stem}.cfg").read_text("latin-1").splitlines()]
    na, nd = int(rows[1][1][:-1]), int(rows[1][2][:-1])
    ch, r = rows[2 : 2 + na], rows[2 + na + nd :]
    fs, n, form = float(r[2][0]), int(r[2][1]), r[5][0]
    if form == "ASCII":
        q = np.genfromtxt(f"{stem}.dat", delimiter=",")[:, 2 : 2 + na].T
    else:
        t = {"BINARY": "<i2", "BINARY32": "<i4", "FLOAT32": "<f4"}[form]
        d = np.dtype([("k", "<u4", 2), ("a", t, na), ("d", "<u2", -(-nd // 16))])
        q = np.fromfile(f"{stem}.dat", d)["a"].T.astype(float)
    if q.shape[1] != n:
        raise SystemExit(f"{stem}: {q.shape[1]} samples instead of {n}")
    x = q * np.array([[float(c[5])] for c in ch]) + np.array([[float(c[6])] for c in ch])
    for k, c in enumerate(ch):
        x[k] *= (1e3 if c[4][0] == "k" else 1) * (float(c[10]) / float(c[11]) if c[12] == "S" else 1)
    return [(c[1], c[4][-1]) for c in ch], x, fs


def main():
    folder = Path(sys.argv[1])
    truth = json.loads((folder / "truth.json").read_text())
    for stem, t in truth.items():
        ch, x, fs = read(folder / stem)
        m = " ".join(f"{k} {x:.3f}" for k, x in t["levels"].items())
        word = " ".join(f"{k[:3]} {t[k]}" for k in ("visible", "evident", "none_ok", "clear", "phases", "t_event"))
        print(f"{stem:34s} {t['true_cause']:22s} {word} | {m} | {','.join(t['events'])}")
    if "--plot" in sys.argv:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        stems = list(truth)
        for page in range(0, len(stems), 12):
            fig, ax = plt.subplots(6, 4, figsize=(26, 20))
            for q, stem in enumerate(stems[page : page + 12]):
                ch, x, fs = read(folder / stem)
                time = np.arange(x.shape[1]) / fs
                for col, unit in enumerate("VA"):
                    a = ax[q // 2, 2 * (q % 2) + col]
                    for (name, u), y in zip(ch, x, strict=False):
                        if u == unit:
                            a.plot(time, y, lw=0.5, label=name)
                    a.set_title(f"{stem} {unit} {truth[stem]['true_cause']} clear {truth[stem]['clear']}", fontsize=8)
                    a.tick_params(labelsize=6)
                    if truth[stem]["t_event"] is not None:
                        a.axvline(truth[stem]["t_event"], c="k", lw=0.4)
                    if truth[stem]["clear"] is not None:
                        a.axvline(truth[stem]["clear"], c="r", lw=0.4)
            fig.tight_layout()
            fig.savefig(folder / f"page{page // 12:02d}.png", dpi=50)
            plt.close(fig)


if __name__ == "__main__":
    main()
