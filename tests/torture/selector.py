"""Signals to SwarmSelector at random moments: ``python -m tests.torture.selector --signals 50``.

Each fit keeps its progress in a file. It is disturbed by SIGKILL, SIGTERM or SIGINT at a random moment of its duration,
several times if the draw says so, and fitted again until it ends. The subset, its score and the number of evaluations
must be those of an undisturbed fit, and no other file may be left. The number of threads differs from start to start.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from pqswarm import SwarmSelector
from pqswarm.selector import storage

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def fit(path, n_jobs):
    """Fit a selector with a file; its result as text, or nothing if it was stopped."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 24))
    y = (X[:, 2] + X[:, 5] - X[:, 11] + 0.5 * rng.normal(size=240) > 0).astype(int)
    model = SwarmSelector(KNeighborsClassifier(3), max_evaluations=4000, random_state=0, storage=path, n_jobs=n_jobs)
    model.fit(X, y)
    if "interrupt" in model.stop_reason_.lower() or "stopped" in model.stop_reason_.lower():
        return ""
    return json.dumps([model.get_support().tolist(), model.best_score_, model.n_evaluations_, model.stop_reason_])


def begin(path, out, n_jobs):
    """Fit in a forked process, which writes its result to a file; its number."""
    child = os.fork()
    if not child:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                result = fit(path, n_jobs)
            except Exception as error:  # noqa: BLE001 (told by the parent)
                result = f"failed: {error!r}"
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            Path(out).write_text(result, encoding="utf-8")
        finally:
            os._exit(0)  # also if the signal comes before or after the fit
    return child


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--signals", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    sent = ended = different = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        storage._PAUSE = storage._PAUSES = 0.0  # saves after each batch, so that every fit has something to resume
        fit(folder / "warm.npz", 1)
        start = time.monotonic()
        expected = fit(folder / "whole.npz", 1)
        duration = time.monotonic() - start
        while sent < given.signals:
            place = folder / f"fit{ended}"
            place.mkdir()
            result = ""
            while not result:
                child = begin(place / "fit.npz", folder / "out", draw.choice((1, 2)))
                if sent < given.signals and draw.random() < 0.8:
                    time.sleep(draw.uniform(0, duration))
                    os.kill(child, draw.choice(SIGNALS))
                    sent += 1
                os.waitpid(child, 0)
                out = folder / "out"
                result = out.read_text(encoding="utf-8") if out.exists() else ""
                out.unlink(missing_ok=True)
            ended += 1
            left = {path.name for path in place.iterdir()} - {"fit.npz"}
            if result != expected or left:
                different += 1
                sys.stdout.write(f"fit {ended}: {result[:200]}, not {expected[:200]}; left behind: {left}\n")
    sys.stdout.write(f"{sent} signals to {ended} fits of {duration:.2f} s: {different} different\n")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
