"""Cost of reading: against other readers, and whole files against blocks of 262,144 samples.

    python benchmarks/reading.py                # a minute of three voltages at 12.8 kHz
    python benchmarks/reading.py --minutes 10   # as in docs/results/performance.md

Whole files and blocks are read in separate processes: seconds are CPU time, including imports on first use; memory is
the maximum resident set.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from figures import Figure, compare, peak_memory, show

from pqswarm.recordings import read

RATE = 12_800
BLOCK = 262_144
PROGRAM = """
import resource, sys, time
from pqswarm.recordings import open_recordings, read
began, total = time.process_time(), 0
if sys.argv[2] == "whole":
    total = sum(float(channel.samples.sum()) for channel in read(sys.argv[1], max_bytes=10**12).channels)
else:
    (source,) = open_recordings(sys.argv[1])
    for first in range(0, source.n_samples, int(sys.argv[3])):
        part = source.read(first, first + int(sys.argv[3]))
        total += sum(float(channel.samples.sum()) for channel in part.channels)
print(time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
BLOCKS = """
import sys
from pqswarm.recordings import open_recordings
(source,) = open_recordings(sys.argv[1])
for first in range(0, source.n_samples, int(sys.argv[2])):
    source.read(first, first + int(sys.argv[2]))
"""


def write(folder, minutes):
    """Write one recording as COMTRADE BINARY and as a table; return the paths."""
    n = round(minutes * 60 * RATE)
    rng = np.random.default_rng(0)
    row = np.dtype([("n", "<u4"), ("t", "<u4"), ("values", "<i2", (3,))])
    config = ["here,recorder,1999", "3,3A,0D"]
    config += [f"{i},U{p},{p.upper()},,V,0.02,0,0,-32767,32767,1,1,P" for i, p in enumerate("abc", 1)]
    config += ["50", "1", f"{RATE},{n}", *["01/02/2026,03:04:05.000000"] * 2, "BINARY", "1"]
    Path(folder, "long.cfg").write_text("\n".join(config))
    with Path(folder, "long.dat").open("wb") as data, Path(folder, "long.csv").open("w") as table:
        table.write("time [s],Ua [V],Ub [V],Uc [V]\n")
        for first in range(0, n, BLOCK):
            count = np.arange(first, min(first + BLOCK, n))
            time = count / RATE
            volts = np.stack([325 * np.sin(2 * np.pi * (50 * time - k / 3)) for k in range(3)], axis=1)
            volts += rng.normal(0, 1, volts.shape)
            rows = np.zeros(count.size, row)
            rows["n"], rows["t"], rows["values"] = count + 1, np.rint(time * 1e6), np.rint(volts / 0.02)
            data.write(rows.tobytes())
            np.savetxt(table, np.column_stack([time, volts]), fmt=["%.7f", "%.3f", "%.3f", "%.3f"], delimiter=",")
    return [Path(folder, "long.cfg"), Path(folder, "long.csv")]


def cost_of(path, way):
    """Return CPU seconds and peak memory in MB of reading a file in a new process."""
    command = [sys.executable, "-c", PROGRAM, str(path), way, str(BLOCK)]
    seconds, megabytes = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(megabytes)


def figures(minutes=0.5):
    import comtrade
    import pandas

    with tempfile.TemporaryDirectory() as folder:
        config, table = write(folder, minutes)
        others = {
            "COMTRADE, against the comtrade package": (config, lambda _: comtrade.load(str(config))),
            "CSV, against numpy.loadtxt": (table, lambda _: np.loadtxt(table, delimiter=",", skiprows=1)),
            "CSV, against pandas.read_csv": (table, lambda _: pandas.read_csv(table)),
        }
        for name, (path, theirs) in others.items():
            said = f"the other reader / pqswarm.recordings.read, {60 * minutes:g} s of three voltages at 12.8 kHz"
            yield compare(name, said, theirs, lambda _, path=path: read(path), rounds=7)
        longer = write(folder, 1.0)
        for path in longer:
            said = "peak memory of reading a minute of three voltages in blocks"
            megabytes = peak_memory(BLOCKS, str(path), str(BLOCK))
            yield Figure(f"reading {path.suffix[1:]} in blocks, memory", said, megabytes, "MB", "lower")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0, help="length of the recording")
    arguments = parser.parse_args()
    show(figures())
    with tempfile.TemporaryDirectory() as folder:
        print(f"\n{arguments.minutes:g} minutes, three voltages, {RATE / 1000:g} kHz", flush=True)
        for path in write(folder, arguments.minutes):
            for way in ("whole", "blocks"):
                seconds, megabytes = cost_of(path, way)
                print(f"  {path.suffix[1:]:4} {way:10} {seconds:6.2f} s {megabytes:6.0f} MB", flush=True)


if __name__ == "__main__":
    main()
