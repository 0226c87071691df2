"""Write captures of fault recorders, with what is true of them.

python research/plants/generate.py FOLDER --first SEED --count N --jobs J [--kinds a,b]
"""

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from kinds import KINDS
from recorder import write
from scene import Scene


def make(kind, seed, folder):
    """Write one record; returns its name and truth."""
    scene = Scene(kind, seed)
    KINDS[kind](scene)
    capture, truth = scene.capture()
    name = f"{kind}_{seed}"
    write(Path(folder) / name, capture, scene.rng)
    return name, truth


def make_one(folder, job):
    return make(*job, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, required=True, help="first seed")
    parser.add_argument("--count", type=int, required=True, help="records of each kind")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kinds", help="names, separated by commas")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    kinds = options.kinds.split(",") if options.kinds else list(KINDS)
    jobs = [(kind, options.first + number) for kind in kinds for number in range(options.count)]
    if options.jobs > 1:
        with ProcessPoolExecutor(options.jobs) as pool:
            truth = dict(pool.map(partial(make_one, options.folder), jobs, chunksize=4))
    else:
        truth = dict(make(*job, options.folder) for job in jobs)
    (options.folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")


if __name__ == "__main__":
    main()
