"""Shrink the files of a finding: remove ever smaller pieces as long as the finding stays the same."""

import json
from pathlib import Path

from tests.fuzz.harness import try_again
from tests.fuzz.seeds import read_case, write_case

MOST_TRIALS = 2000


def minimise(folder, limits):
    """Write the small files into a folder beside the finding, and return it."""
    folder = Path(folder)
    about = json.loads((folder / "finding.json").read_text())
    small = folder.with_name(f"{folder.name}-small")
    files, trials = read_case(folder), 0

    def is_same(changed):
        nonlocal trials
        trials += 1
        write_case({**changed, "finding.json": json.dumps(about).encode()}, small)
        outcome = try_again(small, limits)
        return outcome.word == "finding" and outcome.place == about["place"]

    about["place"] = try_again(folder, limits).place
    for name in list(files):
        size = len(files[name])
        while size := size // 2:
            at = 0
            while at < len(files[name]) and trials < MOST_TRIALS:
                shorter = {**files, name: files[name][:at] + files[name][at + size :]}
                if is_same(shorter):
                    files = shorter
                else:
                    at += size
    write_case({**files, "finding.json": json.dumps(about, indent=1).encode()}, small)
    return small
