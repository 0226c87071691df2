"""Steady-state quantities: the flickermeter on the tables of IEC 61000-4-15, and the cost of ten minutes; one process.

    python benchmarks/steady.py            # CPU time of ten minutes of three phases, against one FFT per window
    python benchmarks/steady.py --tables   # every row of tables 1, 2 and 5

Their ranges are in docs/results/flickermeter.csv.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from figures import compare, show

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/ is not part of the package

from tests.measure.test_flickermeter import TABLES, greatest_sensation, severity

from pqswarm.measure.steady import SteadyMeter
from pqswarm.recordings.recording import ChannelHeader


def tables():
    """Print Pst and Pinst of each table; the nominal value is 1."""
    for place, rows in TABLES["severity"].items():
        found = [severity(*lamp_of(place), float(per_minute), change) for per_minute, change in rows.items()]
        print(f"table 5, {place}: Pst", *(f"{value:.3f}" for value in found))
    for name, table in (("1", "sines"), ("2", "rectangles")):
        for place, rows in TABLES[table].items():
            found = [
                greatest_sensation(*lamp_of(place), float(hertz), change, rectangular=table == "rectangles")
                for hertz, change in rows.items()
            ]
            print(f"table {name}, {place}: {len(found)} rows, Pinst {min(found):.3f} to {max(found):.3f}")


def lamp_of(place):
    """Voltage of the lamp and frequency of the carrier, such as of "230 V, 50 Hz"."""
    lamp, carrier = (int(part.split()[0]) for part in place.split(", "))
    return lamp, carrier


def figures(rate=12_800.0, seconds=60):
    """Figures at frequencies with fast and slow FFT lengths."""
    for frequency in (50.0, 50.02):
        t = np.arange(round(seconds * rate)) / rate
        volts = 325 * np.sin(2 * np.pi * (frequency * t - np.arange(3)[:, None] / 3))
        volts += np.random.default_rng(0).normal(0, 2.3, volts.shape)
        length = round(10 * rate / frequency)
        table = volts[:, : t.size // length * length].reshape(3, -1, length)

        def measure(_, volts=volts, frequency=frequency):
            meter = SteadyMeter(rate, 50, frequency, [ChannelHeader(f"U{phase}", "V", phase) for phase in "ABC"])
            for first in range(0, volts.shape[1], 262_144):
                meter.feed(volts[:, first : first + 262_144])
            meter.finish()

        def transform(_, table=table):
            for window in range(table.shape[1]):
                np.fft.rfft(table[:, window])

        yield compare(
            f"steady-state quantities, {frequency:.2f} Hz",
            f"all steady-state quantities of three phases, {seconds} s at 12.8 kHz / one FFT per window",
            transform,
            measure,
            better="lower",
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", action="store_true")
    tables() if parser.parse_args().tables else show(figures(seconds=600))
