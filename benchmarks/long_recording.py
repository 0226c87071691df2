"""A long recording, made and analyzed: CPU time, memory, and whether every disturbance was found with the right class.

python benchmarks/long_recording.py --minutes 10
python benchmarks/long_recording.py --minutes 10 --format csv
"""

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from figures import Figure, compare

CLASSES = {
    "sag": ("sag", "sag_with_harmonics", "sag_with_transient"),
    "swell": ("swell", "swell_with_harmonics", "swell_with_transient"),
    "interruption": ("interruption",),
    "transient": ("oscillatory_transient", "impulsive_transient"),
    "rapid voltage change": ("voltage_change",),
    "harmonics": ("harmonics",),
    "notching": ("notching",),
    "flicker": ("flicker",),
    "unbalance": ("",),
}
LATE = {"unbalance": 2.0}
"""Seconds by which the begin may differ, 0.5 unless named here; unbalance comes on slowly."""


def unlike(found: list, truth: list[dict[str, str]]) -> tuple[list[str], list[str]]:
    """Disturbances that were not found with the right class, and events that nothing stands for, in words."""
    found, missed = list(found), []
    for row in truth:
        near = [
            one
            for one in found
            if one.event.type == row["type"] and abs(one.event.start - float(row["start"])) < LATE.get(row["type"], 0.5)
        ]
        right = [one for one in near if one.label in CLASSES[row["type"]]]
        if not right:
            missed.append(f"{row['type']} at {row['start']} s: {[one.text() for one in near] or 'not found'}")
        else:
            found.remove(right[0])
    return missed, [one.text() for one in found]


def analyze(path: Path, truth: list[dict[str, str]]) -> bool:
    from pqswarm.identify import default_model, identify_file

    default_model()
    begin = time.process_time()
    (analysis,) = identify_file(path, model=default_model())
    used = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    missed, others = unlike(analysis.events, truth)
    print(f"{path.name}: {used:.1f} s of CPU, peak memory {peak:.0f} MB")
    print(f"{len(truth) - len(missed)} of {len(truth)} disturbances found with the right class, {len(others)} others")
    for text in (*missed, *others):
        print("  ", text)
    return not missed and not others


def make_samples(folder: Path, minutes: float, seed: int = 0) -> list[dict[str, str]]:
    """Write a long recording, long.cfg, and return the disturbances in it."""
    command = [sys.executable, "-m", "pqswarm", "sample", str(folder), "--seed", str(seed), "--minutes", str(minutes)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return truth_of(folder)


def truth_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "truth.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["file"] == "long.cfg"]


def figures() -> Iterator[Figure]:
    from pqswarm.identify import default_model, identify_file
    from pqswarm.recordings import read

    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder, "samples")
        truth = make_samples(samples, minutes=2)
        path, model = samples / "long.cfg", default_model()
        recording = read(path)
        waves = np.stack([channel.samples for channel in recording.channels if channel.unit == "V"])
        length = round(recording.sampling_rate / 5)

        def transform(_: int) -> None:
            for first in range(0, waves.shape[1] - length + 1, length):
                np.fft.rfft(waves[:, first : first + length])

        found = []

        def identify(_: int) -> None:
            (analysis,) = identify_file(path, model=model)
            found[:] = analysis.events

        said = "identify_file, two minutes of three voltages / one FFT of each window of ten cycles"
        yield compare("identify, two minutes", said, transform, identify, rounds=3, better="lower")
        missed, others = unlike(found, truth)
        said = "share of the disturbances of two minutes with the right class, others counted as wrong"
        right = 100 * (len(truth) - len(missed)) / (len(truth) + len(others))
        yield Figure("identify, disturbances found", said, right, "%", tolerance=0.01)


def write_table(config: Path, path: Path) -> None:
    """Write a recording as a table, a stretch at a time."""
    from pqswarm.recordings import open_recordings

    (source,) = open_recordings(config)
    with path.open("w") as file:
        file.write("time [s]," + ",".join(f"{one.name} [V]" for one in source.channels) + "\n")
        for first in range(0, source.n_samples, 100_000):
            part = source.read(first, first + 100_000)
            time_axis = (first + np.arange(part.n_samples)) / source.sampling_rate
            np.savetxt(file, np.column_stack([time_axis, *(c.samples for c in part.channels)]), "%.7g", ",")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--format", choices=("comtrade", "csv"), default="comtrade")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--analyze", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.analyze is not None:  # in a process of its own, whose memory is measured
        name = "long.csv" if options.format == "csv" else "long.cfg"
        sys.exit(not analyze(options.analyze / name, truth_of(options.analyze)))
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder, "samples")
        make_samples(samples, options.minutes, options.seed)
        if options.format == "csv":
            write_table(samples / "long.cfg", samples / "long.csv")
        again = [sys.executable, __file__, "--format", options.format, "--analyze", str(samples)]
        sys.exit(subprocess.run(again, check=False).returncode)


if __name__ == "__main__":
    main()
