"""python generate.py FOLDER --first SEED --count N --jobs J [--kinds a,b]: recordings of known cause and truth.json."""

import argparse
import json
import traceback
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import kinds_others  # noqa: F401
from kinds_faults import KINDS
from record import Case


def one(job):
    folder, name, seed = job
    for attempt in range(15):
        c = Case(name, seed)
        if attempt:
            c.rng = type(c.rng)(type(c.rng.bit_generator)([seed, attempt, len(name)]))
        try:
            truth = c.deliver(folder, **(KINDS[name](c, name) or {}))
            return f"{name}_{seed}", truth, None
        except FloatingPointError:
            why = traceback.format_exc(limit=1)
    return f"{name}_{seed}", None, why


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("folder")
    ap.add_argument("--first", type=int, default=1)
    ap.add_argument("--count", type=int, default=20)
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--kinds", default="")
    a = ap.parse_args()
    Path(a.folder).mkdir(parents=True, exist_ok=True)
    names = a.kinds.split(",") if a.kinds else list(KINDS)
    jobs = [(a.folder, n, s) for n in names for s in range(a.first, a.first + a.count)]
    truth = {}
    with ProcessPoolExecutor(a.jobs) as pool:
        for stem, t, error in pool.map(one, jobs, chunksize=2):
            if error:
                print(stem, error, flush=True)
            else:
                truth[stem] = t
    (Path(a.folder) / "truth.json").write_text(json.dumps(truth, indent=1, default=float))
    print(len(truth), "of", len(jobs), "records;", len(names), "kinds")


if __name__ == "__main__":
    main()
