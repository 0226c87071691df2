"""Probabilities that `identify` states against how often it is right, on events of another published model.

    python research/reliability.py --per-class 200 --jobs 16 --page docs/_static/reliability.svg

The events are those of tests/reference/disturbances.py, each with a sampling rate, noise, background distortion (none,
or a THD of 2 to 5 %) and a nominal voltage that is given or not, all at random. The constants of
`pqswarm.identify.classify` were fitted on such events of other seeds than the default one, which tests them.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/ is not part of the package

from tests.reference.disturbances import CLASSES, LABELS, make

from pqswarm.errors import PqswarmError
from pqswarm.identify import identify
from pqswarm.recordings import Channel, Recording

RATES, LEVELS, ORDERS = (1600.0, 3200.0, 6400.0, 12_800.0), (20.0, 30.0, 40.0, 60.0), np.array([3, 5, 7, 11, 13])


def draw_recording(name, number, seed):
    """A recording, its nominal voltage [V] or None, and the conditions: rate, noise, background, nominal given."""
    rng = np.random.default_rng([seed, CLASSES.index(name), number])
    rate = float(rng.choice(RATES[1:] if name == "notching" else RATES))  # notches are narrower than samples of 1.6 kHz
    snr, thd, nominal = (
        float(rng.choice(LEVELS)),
        float(rng.choice([0.0, rng.uniform(0.02, 0.05)])),
        bool(rng.integers(2)),
    )
    wave, _ = make(name, rng, sampling_rate=rate, snr=snr, nominal=230.0)
    t = np.arange(wave.size) / rate
    sizes = rng.uniform(0.2, 1.0, ORDERS.size) / ORDERS
    sizes *= thd / np.sqrt(np.sum(sizes**2))
    for order, size in zip(ORDERS, sizes, strict=True):
        if 50 * order < 0.45 * rate:
            wave = wave + 230 * np.sqrt(2) * size * np.sin(2 * np.pi * 50 * order * t + rng.uniform(0, 2 * np.pi))
    recording = Recording((Channel("U1", "V", "A", wave),), rate, 50.0)
    return recording, 230.0 if nominal else None, (rate, snr, thd > 0, nominal)


def try_event(name, number, seed):
    """Stated probability, whether right, and the conditions: rate, noise, background, nominal voltage given."""
    recording, nominal, conditions = draw_recording(name, number, seed)
    try:
        main = identify(recording, nominal_voltage=nominal).main
    except PqswarmError:
        return None
    if main is None or not main.label or not main.known:
        return None
    return main.probability, main.label in LABELS[name], *conditions


def calibration_error(stated, right, n_bins=10):
    """Mean distance of the stated probability from the fraction that is right, over bins."""
    bins = np.minimum((stated * n_bins).astype(int), n_bins - 1)
    return sum(
        np.mean(bins == k) * abs(stated[bins == k].mean() - right[bins == k].mean()) for k in range(n_bins) if k in bins
    )


def draw(stated, right, path):
    """Write the reliability diagram."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    bins = np.minimum((stated * 10).astype(int), 9)
    kept = [k for k in range(10) if np.sum(bins == k) >= 20]
    share = np.array([right[bins == k].mean() for k in kept])
    count = np.array([np.sum(bins == k) for k in kept])
    axes.plot([0, 1], [0, 1], color="#9299a1", linewidth=1)
    axes.errorbar([stated[bins == k].mean() for k in kept], share, 1.96 * np.sqrt(share * (1 - share) / count), fmt="o")
    axes.set(xlabel="stated probability", ylabel="fraction that is right", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-class", type=int, default=40, metavar="N")
    parser.add_argument("--seed", type=int, default=403)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--page", type=Path, help="SVG file to write.")
    given = parser.parse_args()
    names = [name for name in CLASSES for _ in range(given.per_class)]
    numbers = [k for _ in CLASSES for k in range(given.per_class)]
    with ProcessPoolExecutor(given.jobs) as pool:
        found = [
            one for one in pool.map(try_event, names, numbers, repeat(given.seed), chunksize=20) if one is not None
        ]
    table = np.array(found, dtype=float)
    stated, right = table[:, 0], table[:, 1]
    print(f"{len(table)} events, right {100 * right.mean():.1f} %, stated {100 * stated.mean():.1f} %")
    print("| condition | events | stated | right | calibration error |\n|---|---:|---:|---:|---:|")
    for title, column in (("rate [Hz]", 2), ("noise [dB]", 3), ("background THD 2 to 5 %", 4), ("nominal given", 5)):
        for value in np.unique(table[:, column]):
            own = table[:, column] == value
            error = calibration_error(stated[own], right[own])
            cells = f"{own.sum()} | {100 * stated[own].mean():.1f} | {100 * right[own].mean():.1f} | {100 * error:.1f}"
            print(f"| {title}: {value:g} | {cells} |")
    if given.page:
        draw(stated, right, given.page)
        np.savetxt(given.page.with_suffix(".csv"), table, fmt="%.4g", delimiter=",")


if __name__ == "__main__":
    main()
