"""Exports identical to the last byte on any machine, in any locale and with any library version.

python -m tests.torture.settings FOLDER PLAN JOBS RECORDING... writes them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.old_libraries import OLD_LIBRARIES
from tests.torture.forks import ONE_THREAD
from tests.torture.outcomes import digest, names

ROOT = Path(__file__).parents[2]

# Jobs and environment; compiling for another processor takes a minute more, once.
SETTINGS = {
    "one process": (1, {}),
    "two processes, C, Kathmandu": (2, {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LC_ALL": "C"}),
    "three processes, Turkish, Newfoundland": (
        3,
        {"PYTHONHASHSEED": "20231", "TZ": "America/St_Johns", "LANG": "tr_TR.UTF-8", "PYTHONUTF8": "0"},
    ),
    "old libraries, one thread": (1, OLD_LIBRARIES | {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"}),
    "other BLAS, four threads": (2, {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "4"}),
    "any processor of the family": (1, {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}),
}


def export(folder, plan, jobs, recordings):
    """Write all exports: data, tables of a study, analyses, tests."""
    from pqswarm.cli.main import app
    from pqswarm.study import load_plan, run_study

    def command(*arguments):
        app([*map(str, arguments)], standalone_mode=False)

    study, out = folder / "study", folder / "exports"
    run_study(load_plan(plan), study, jobs=jobs)
    command("report", study, "--format", "csv", "--out", out / "tables")
    command("report", study, "--format", "latex", "--out", out / "tables.tex")
    command("compare", out / "tables" / "runs.csv", "--classifier", "k-NN", "--format", "json", "--out", out / "c.json")
    command("identify", *recordings, "--csv", out / "events.csv")
    command("dataset", "--out", out / "d.npz", "--csv", out / "d.csv", "--events-per-class", 2, "--jobs", jobs)
    (study / "dataset.npz").rename(out / "dataset.npz")


def compare_settings(chosen, folder, prepared, digests, tally):
    """Export with several settings and compare, also with the digests of another machine if given."""
    plain = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    plain["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [plain.get("PYTHONPATH")])])
    first = json.loads(digests.read_text()) if digests and digests.exists() else None
    if first:
        tally.add("exports of another machine compared", len(first))
    recordings = [part for parts in prepared["recordings"] for part in parts if part.suffix == ".cfg"]
    for number, name in enumerate(chosen):
        jobs, changes = SETTINGS[name]
        place = folder / str(number)
        arguments = [place, prepared["plan.toml"], jobs, *(path.name for path in recordings)]  # which tables name
        run = subprocess.run(
            [sys.executable, "-m", "tests.torture.settings", *map(str, arguments)],
            cwd=recordings[0].parent,
            env=plain | changes,
            capture_output=True,
            text=True,
            check=False,
        )
        if not tally.check("wrong endings", run.returncode == 0, f"{name}: {run.stderr[-900:]}"):
            continue
        found = {one: digest(place / "exports" / one) for one in sorted(names(place / "exports"))}
        if first is None:
            first = found
            if digests:
                digests.write_text(json.dumps(found, indent=1))
        different = [one for one in first if found.get(one) != first[one]]
        tally.check("differences", not different and len(found) == len(first), f"{name}: {different}")
        tally.add("settings")
        tally.add("exports compared", len(found))


if __name__ == "__main__":
    export(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:])
