"""Records with known truth, from simulated circuits: 50 kinds of events and of none.

python generate.py FOLDER [--first SEED] [--count N] [--kinds NAME ...] [--jobs N]

Every record is a COMTRADE pair; truth.json says of each what ../circuits/score.py asks. A record depends on its kind
and its seed only.
"""

import argparse
import json
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from measuring import distortion, leaves_band, measure
from recorder import record
from scenes import KINDS, Scene

RMS = {"sag", "swell", "interruption", "frequency"}


def visible(scene: Scene, change: float, ringing: float) -> bool:
    """Whether the waveforms show the cause to somebody who knows all about networks."""
    if scene.shows == "change":
        return change >= (0.03 if scene.amps is None else 0.02)
    return scene.shows == "ringing" and bool(ringing >= max(0.08, 5 * 10 ** (-scene.snr[0] / 20)))


def make(kind: str, seed: int, folder: Path) -> tuple[str, dict[str, object]]:
    """Write one record; its name and truth."""
    for attempt in range(10):
        rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), attempt])
        scene = KINDS[kind](rng)
        s, site = scene.study, scene.study.site
        stem = f"{kind}-{seed}"
        clean, delay = record(scene, folder / stem, rng)
        nominal = site.vll if scene.line_to_line else site.vll / np.sqrt(3)
        if not np.isfinite(clean).all() or np.abs(clean).max() > 30 * nominal:
            raise ArithmeticError(f"{stem}: the simulation diverged")
        found = measure(clean, s.fs, site.f, nominal, s.t0 + delay)
        # A network whose motors stand still or that is loaded too much is no place for a record.
        if found.before > 0.91 or scene.cause == "energising":
            break
    else:
        raise ArithmeticError(f"{stem}: no network with a normal voltage")
    may, must = found.types | set(scene.events), set(found.must)
    thd = distortion(clean, s.fs, site.f)
    if thd > 0.045:
        may.add("harmonics")
        if thd > 0.08 and {"harmonics", "notching"} & set(scene.events):
            must.add("harmonics")
    if "frequency" in scene.events and leaves_band(clean, s.fs, site.f):
        must.add("frequency")
    if scene.shows == "ringing" and found.ringing > 0.3:
        must.add("transient")
    elif must & RMS:
        # Beside a dip, other types may be found, but not instead of it.
        may &= RMS | set(scene.events)
    shown = visible(scene, found.change, found.ringing)
    clear = scene.clear + delay if scene.clear is not None and shown else None
    return stem, {
        "kind": kind,
        "true_cause": scene.cause,
        "cause": scene.answer if shown else "unknown",
        "also": list(scene.also),
        "visible": shown,
        "events": sorted(may),
        "none_ok": bool(scene.none_ok or not must),
        "nominal": round(float(nominal), 3),
        "caveat": scene.caveat,
        "phases": scene.phases if shown else "",
        "currents": scene.amps is not None,
        "clear": None if clear is None else round(clear, 6),
        "start": round(s.t0 + delay, 6),
        "rate": s.fs,
        "frequency": site.f,
        "change": round(found.change, 4),
        "ringing": round(found.ringing, 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=3000, help="first seed")
    parser.add_argument("--count", type=int, default=20, help="records of each kind")
    parser.add_argument(
        "--kinds", nargs="+", choices=list(KINDS), default=list(KINDS), metavar="KIND", help="some of the kinds"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    work = [(kind, seed) for kind in options.kinds for seed in range(options.first, options.first + options.count)]
    kinds, seeds = zip(*work, strict=True) if work else ((), ())
    folders = [options.folder] * len(work)
    if options.jobs > 1:
        with ProcessPoolExecutor(options.jobs) as pool:
            truth = dict(pool.map(make, kinds, seeds, folders, chunksize=4))
    else:
        truth = dict(map(make, kinds, seeds, folders))
    (options.folder / "truth.json").write_text(json.dumps(truth, indent=1), encoding="utf-8")
    print(f"{len(truth)} records of {len(options.kinds)} kinds in {options.folder}")


if __name__ == "__main__":
    main()
