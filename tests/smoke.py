"""Try what users do, in a minute, with the packages of this environment: ``python tests/smoke.py FOLDER [STEP...]``.

It needs nothing but pqswarm, prints ``{"step": ..., "problem": ...}`` per line, where an empty problem means that all
is well, and ends with a digest of the results, which are the same in all environments.
"""

import contextlib
import csv
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import traceback
import urllib.request
from pathlib import Path

TINY = ["runs=1", "max_evaluations=40", "dataset.snr=[inf]", "held_out.seeds=[1]"]
PATIENCE = 120.0  # seconds in which the workbench must answer


def pqswarm(*arguments):
    """The output of a command, which must succeed without a warning."""
    from pqswarm.cli.main import main

    told, said = io.StringIO(), io.StringIO()
    sys.argv = ["pqswarm", *map(str, arguments)]
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    if code or "warning:" in said.getvalue():
        raise RuntimeError(f"pqswarm {' '.join(sys.argv[1:3])}: exit code {code}: {said.getvalue().strip()[-300:]}")
    return told.getvalue()


def help_of_all():
    """Every command explains itself, and its options are written in small letters."""
    from typer.main import get_command

    from pqswarm.cli.main import app

    def visit(command, path):
        text = pqswarm(*path, "--help")
        for name in (name for parameter in command.params for name in getattr(parameter, "opts", ())):
            if name.startswith("--") and (name != name.lower() or name not in text):
                raise RuntimeError(f"{' '.join(path)} {name} is not an option of the help")
        for name, each in getattr(command, "commands", {}).items():
            visit(each, (*path, name))

    visit(get_command(app), ())
    if "--device" not in pqswarm("study", "--help"):
        raise RuntimeError("study has no option --device")


def study(more=(), folder="study"):
    """A small study with its report and the tables; the digest of its runs."""
    changes = [part for change in TINY for part in ("--set", change)]
    pqswarm("study", "smoke", "--out", folder, "--jobs", 1, "--device", "cpu", *changes, *more)
    pqswarm("report", folder, "--format", "csv")
    if Path(folder, "report.html").stat().st_size < 100_000:
        raise RuntimeError("the report is too short")
    with Path(folder, "report-csv", "runs.csv").open(encoding="utf-8", newline="") as file:
        rows = [{key: row[key] for key in row if "second" not in key} for row in csv.DictReader(file)]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:8]


def identify():
    """A recording with its page, summary, table and archive."""
    pqswarm("make-samples", "samples")
    files = [part for kind in ("html", "pdf", "csv") for part in (f"--{kind}", f"sag.{kind}")]
    if "sag" not in pqswarm("identify", "samples/sag.cfg", *files, "--archive", "archive"):
        raise RuntimeError("no sag was found")
    pqswarm("archive", "check", "archive")
    if not Path("sag.pdf").read_bytes().startswith(b"%PDF"):
        raise RuntimeError("sag.pdf is no PDF")
    with Path("sag.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["type"], row["sentence"]) for row in csv.DictReader(file)]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:8]


def parquet():
    """The archive as Parquet."""
    pqswarm("archive", "export", "archive", "--out", "events.parquet")


def app():
    """The workbench answers with its page."""
    command = [sys.executable, "-m", "pqswarm", "app", "samples", "--no-open", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            signal.alarm(int(PATIENCE))
            address = next(line.strip() for line in server.stdout if line.startswith("    http"))
            with urllib.request.urlopen(address.partition("#")[0], timeout=PATIENCE) as answer:
                if b"pqswarm" not in answer.read():
                    raise RuntimeError("the page is not that of the workbench")
            signal.alarm(0)
        finally:
            server.send_signal(signal.SIGINT)


def selector():
    """SwarmSelector selects, and its result is the same everywhere."""
    import numpy as np
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from pqswarm import SwarmSelector

    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 8))
    y = (X[:, 2] + X[:, 5] > 0).astype(int)
    model = SwarmSelector(KNeighborsClassifier(3), max_evaluations=60, random_state=0)
    make_pipeline(StandardScaler(), model, KNeighborsClassifier(3)).fit(X, y)
    if not model.get_support()[[2, 5]].all():
        raise RuntimeError("the two features were not found")
    return hashlib.sha256(model.get_support().tobytes()).hexdigest()[:8]


def cluster():
    """The same study on a Dask cluster."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as dask:
        if study(("--cluster", dask.scheduler_address), "cluster") != study():
            raise RuntimeError("the cluster has other results")


STEPS = {each.__name__: each for each in (help_of_all, study, identify, parquet, app, selector, cluster)}


def main():
    folder, *chosen = sys.argv[1:]
    os.chdir(folder)
    digests = []
    for name in chosen or STEPS:
        problem = ""
        try:
            digests.append(STEPS[name]() or "")
        except Exception as error:  # noqa: BLE001 (any is a result)
            traceback.print_exc()
            problem = f"{type(error).__name__}: {error}"
        print(json.dumps({"step": name, "problem": problem}), flush=True)
    print(json.dumps({"digest": " ".join(filter(None, digests))}))


if __name__ == "__main__":
    main()
