"""Three-phase records with known causes, from simulated circuits.

python generate.py FOLDER [--first SEED] [--count 20] [--kinds NAME ...] [--jobs 1]
"""

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from kinds import KINDS, build


def one(job):
    folder, name, seed = job
    case, truth = build(name, seed)
    stem = f"{name}_{seed:04d}"
    return stem, case.save(folder / stem, truth)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("folder", type=Path)
    a.add_argument("--first", type=int, default=1)
    a.add_argument("--count", type=int, default=20)
    a.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    a.add_argument("--jobs", type=int, default=1)
    o = a.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    jobs = [(o.folder, name, o.first + k) for name in o.kinds for k in range(o.count)]
    if o.jobs > 1:
        with ProcessPoolExecutor(o.jobs) as pool:
            truth = dict(pool.map(one, jobs, chunksize=4))
    else:
        truth = dict(map(one, jobs))
    (o.folder / "truth.json").write_text(json.dumps(truth, indent=1))
    print(f"{len(truth)} records of {len(o.kinds)} kinds in {o.folder}")


if __name__ == "__main__":
    main()
