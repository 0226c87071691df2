"""Hostile files against everything that reads files: ``python -m tests.fuzz --seconds 3600``.

A finding is a folder with the file, the seed and a sentence; ``--again FOLDER`` runs it once more. The exit code is 1
if there was any.
"""

import argparse
import json
import os
import sys
from pathlib import Path

FOLLOWED = ["pqswarm.recordings", "pqswarm.measure", "pqswarm.identify", "pqswarm.study", "pqswarm._base.array_file"]
"""Packages whose code guides the mutations, except compiled code."""

MANY = 10**12
COMPILED = ["pqswarm.recordings._text_kernels"]


def main():
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):  # threads do not survive a fork
        os.environ.setdefault(f"{name}_NUM_THREADS", "1")
    if "--guided" in sys.argv:  # before the traced packages are imported
        try:
            import atheris
        except ImportError:
            sys.exit("--guided needs atheris, which there is for Linux: pip install 'pqswarm[fuzz]'.")
        with atheris.instrument_imports(include=FOLLOWED, exclude=COMPILED):
            from tests.fuzz.guided import GuidedCampaign as Campaign
    else:
        from tests.fuzz.harness import Campaign
    from tests.fuzz.harness import Limits, minimize, try_again
    from tests.fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, help="wall-clock time; an hour unless --files is given")
    parser.add_argument("--files", type=int, help="number of files")
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--target", choices=TARGETS, action="append", help="default: all")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), metavar="FOLDER")
    parser.add_argument("--samples", type=Path, metavar="FOLDER", help="recordings to damage instead of small ones")
    parser.add_argument("--again", type=Path, nargs="+", metavar="FOLDER", help="repeat these cases")
    parser.add_argument("--minimize", type=Path, metavar="FOLDER", help="minimize the files of a finding")
    parser.add_argument("--guided", action="store_true", help="let new lines of code guide the mutations (atheris)")
    given = parser.parse_args()
    limits = Limits()
    if given.minimize:
        sys.stdout.write(f"{minimize(given.minimize, limits)}\n")
        return 0
    if given.again:
        outcomes = [try_again(folder, limits) for folder in given.again]
        for folder, outcome in zip(given.again, outcomes, strict=True):
            sys.stdout.write(f"{folder}: {outcome.word} {outcome.sentence}\n{outcome.trace}")
        return int(any(outcome.word == "finding" for outcome in outcomes))
    campaign = Campaign(
        seed=given.seed,
        first=given.first,
        files=given.files or MANY,
        seconds=given.seconds or (MANY if given.files else 3600.0),
        workers=given.workers,
        targets=tuple(given.target or TARGETS),
        findings=given.findings,
        samples=given.samples,
    )
    figures = campaign.run()
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    return int(bool(figures["findings"]))


if __name__ == "__main__":
    sys.exit(main())
