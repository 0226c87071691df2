"""Generate the paper's 3500 events with features: pqswarm against plain NumPy + PyWavelets on one thread.

Both sides use the same parameters and must produce the same features. The plain side has no circuit
simulator, so the comparison excludes the laboratory bench, which is timed separately.

    python benchmarks/dataset.py [--events-per-class 250] [--repeat 3]
    python benchmarks/dataset.py --stages  # CPU time of each stage on one thread
"""

import argparse
import resource
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pywt

from pqswarm.datasets import make_dataset
from pqswarm.datasets.dataset import event_specs
from pqswarm.events import NOISE_LEVELS, PRESETS, add_noise, noise_stream
from pqswarm.features import decompose, extend, extract


def plain_waves(t, w, p):
    """Compute the formulas of Table 1 in plain NumPy."""
    u = lambda x: np.where(x > 0, 1.0, 0.0)  # noqa: E731
    sine = np.sin(w * t)
    wave = sine
    if "h5" in p:
        rest = {k: p[f"h{k}"] for k in (5, 7, 11, 13)}
        first = np.sqrt(1 - sum(d**2 for d in rest.values()))
        wave = first * sine + sum(d * np.sin(k * w * t) for k, d in rest.items())
    if "start" in p:
        size = -p["depth"] if "depth" in p else p["rise"]
        wave = (1 + size * (u(t - p["start"]) - u(t - (p["start"] + p["duration"])))) * wave
    if "flicker_depth" in p:
        wave = (1 + p["flicker_depth"] * np.sin(2 * np.pi * p["flicker_frequency"] * t)) * wave
    if "notch_depth" in p:
        period = 2 * np.pi / w
        notches = sum(
            u(t - (p["notch_position"] + n * period)) - u(t - (p["notch_position"] + p["notch_width"] + n * period))
            for n in range(30)
        )
        wave = wave - np.sign(sine) * p["notch_depth"] * notches
    if "transient_onset" in p:
        after = t - p["transient_onset"]
        ring = np.sin(2 * np.pi * p["transient_frequency"] * t)
        wave = wave + u(after) * p["transient_amplitude"] * np.exp(-p["transient_damping"] * after * u(after)) * ring
    return p["amplitude"] * wave + p.get("offset", 0.0)


def plain_functions(c, products=False):
    """Compute the eleven functions in plain NumPy; `products` writes powers as products, which is faster."""
    n, energy, mean = c.size, np.sum(c**2), np.mean(c)
    d = c - mean
    variance = np.sum(d**2) / (n - 1)
    sigma = np.sqrt(variance)
    p = c**2 / energy
    p = p[p > 0]
    return [
        c.min(),
        c.max(),
        np.median(c),
        energy,
        mean,
        -np.sum(p * np.log(p)),
        np.sum(d * d * d if products else d**3) / ((n - 1) * sigma**3),
        sigma,
        np.mean(np.abs(d)),
        variance,
        np.sum((d * d) ** 2 if products else d**4) / ((n - 1) * sigma**4),
    ]


def plain_dataset(parameters, products=False):
    """Return the features of all events, computed in sequence."""
    rows = []
    for p in parameters:
        t = np.arange(15000) / 25000
        coefficients = pywt.wavedec(plain_waves(t, 2 * np.pi * 50, p), "sym6", mode="symmetric", level=8)
        rows.append([f for c in coefficients[::-1] for f in plain_functions(c, products)])
    return np.array(rows)


def best_of(repeat, call):
    """Return the shortest wall time of `repeat` calls in seconds, and the last result."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return min(times), result


def figures(count=100, share=10):
    """Figures for run.py: fewer events, alternating sides, the plain one on a fraction of the events."""
    from figures import WALL, Figure, compare, peak_memory

    infinity, models_only = float("inf"), replace(PRESETS["paper"], bench={})
    made = make_dataset(count, snr=infinity, preset=models_only)
    drawn = [
        {name: value for name, value in zip(made.parameter_names, row, strict=True) if np.isfinite(value)}
        for row in made.parameters[::share]
    ]

    def models(_, n_jobs=1):
        return make_dataset(count, snr=infinity, preset=models_only, n_jobs=n_jobs)

    said = f"plain NumPy + PyWavelets, models without noise / pqswarm, one thread, {14 * count} events"
    for name, ours, rounds in (
        ("models only", models, 7),
        ("a tenth from the bench", lambda _: make_dataset(count, snr=infinity, n_jobs=1), 5),
        ("bench, eight noise levels", lambda _: make_dataset(count, n_jobs=1), 3),
    ):
        yield compare(
            f"data set, {name}", said, lambda _: plain_dataset(drawn), ours, rounds=rounds, factors=(share, 1)
        )
    said = f"plain, with powers as products / pqswarm, one thread, {14 * count} events"
    yield compare(
        "data set, powers as products", said, lambda _: plain_dataset(drawn, True), models, factors=(share, 1)
    )
    said = f"one thread / two threads, wall time, {14 * count} events"
    yield compare("data set, two threads", said, models, lambda _: models(0, 2), clock=WALL)
    peak = peak_memory("from pqswarm.datasets import make_dataset; make_dataset(100)")
    yield Figure("data set, peak memory", "peak memory, 1400 events, eight noise levels", peak, "MB", "lower")


def print_stages(preset, repeat):
    """Print the CPU time of each stage per call, and the total per event, in ms; the best of `repeat`."""

    def shortest(call, items):
        times = []
        for _ in range(repeat):
            start = time.process_time()
            results = [call(item) for item in items]
            times.append(time.process_time() - start)
        return results, min(times) / len(items) * 1e3

    make_dataset(1, preset=preset)  # compiled code is loaded here
    orders = event_specs(PRESETS[preset], 10, seed=0)
    events = {}
    for source in ("model", "bench"):
        chosen = [order for order in orders if order.source == source]
        events[source], spent = shortest(lambda order: order.make(PRESETS[preset]), chosen)
        print(f"  wave, {source:20s} {spent:8.3f}")
    some = events["model"][::5] + events["bench"][::5]
    noisy, spent = shortest(lambda event: add_noise(event.signal, 30.0, noise_stream(event.seed, 30.0)), some)
    print(f"  noise, one level           {spent:8.3f}")
    given = [(signal, event.sampling_rate, event.frequency) for signal, event in zip(noisy, some, strict=True)]
    windows, spent = shortest(lambda signal: extend(*signal), given)
    print(f"  extension                  {spent:8.3f}")
    alike = [window for window in windows if window.size == windows[0].size]
    rate, frequency = some[0].sampling_rate, some[0].frequency
    rows = [np.stack([alike[(i + j) % len(alike)] for j in range(8)]) for i in range(8)]
    _, bands = shortest(lambda block: decompose(block, 8), rows)
    _, spent = shortest(lambda block: extract(block, rate, frequency, {"level": 8}), rows)
    print(f"  wavelet transform          {bands / 8:8.3f}   (to arrays of bands)")
    print(f"  transform and functions    {spent / 8:8.3f}")
    for levels in (NOISE_LEVELS, float("inf")):
        _, spent = shortest(lambda snr: make_dataset(5, snr=snr, preset=preset, n_jobs=1), [levels])
        print(f"  an event at {np.size(levels)} level(s)      {spent / 70:8.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events-per-class", type=int, default=250)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--stages", action="store_true", help="only print the time of each stage")
    options = parser.parse_args()
    if options.stages:
        for preset in ("paper", "field"):
            print(f"preset {preset}: CPU time of one thread [ms]")
            print_stages(preset, options.repeat)
        return
    if options.memory:
        make_dataset(options.events_per_class)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return

    count, infinity = options.events_per_class, float("inf")
    models_only = replace(PRESETS["paper"], bench={})
    warm = make_dataset(1, snr=infinity, preset=models_only)  # compiled code is loaded here
    ours, dataset = best_of(options.repeat, lambda: make_dataset(count, snr=infinity, preset=models_only, n_jobs=2))
    one, _ = best_of(options.repeat, lambda: make_dataset(count, snr=infinity, preset=models_only, n_jobs=1))
    drawn = [
        {name: value for name, value in zip(dataset.parameter_names, row, strict=True) if np.isfinite(value)}
        for row in dataset.parameters
    ]
    plain, features = best_of(max(1, options.repeat - 1), lambda: plain_dataset(drawn))
    products, _ = best_of(1, lambda: plain_dataset(drawn, products=True))
    scale = np.abs(features).max(axis=0)
    worst = float((np.abs(dataset.X() - features) / scale).max())
    full, _ = best_of(1, lambda: make_dataset(count, n_jobs=2))
    bench, _ = best_of(options.repeat, lambda: make_dataset(count, snr=infinity, n_jobs=2))
    command = [sys.executable, __file__, "--memory", "--events-per-class", str(count)]
    peak = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    n = len(dataset)
    print(f"{n} events of 15000 samples, {len(warm.feature_names)} features, models of Table 1, no noise")
    print(f"  plain NumPy + PyWavelets, one thread  {plain:8.2f} s   {plain / n * 1e3:6.2f} ms/event")
    print(f"  pqswarm, one thread                   {one:8.2f} s   {one / n * 1e3:6.2f} ms/event   {plain / one:5.1f}x")
    print(
        f"  pqswarm, two threads                  {ours:8.2f} s   {ours / n * 1e3:6.2f} ms/event   {plain / ours:5.1f}x"
    )
    print(
        f"  plain, with powers written as products {products:8.2f} s   {products / n * 1e3:6.2f} ms/event"
        f"   (pqswarm on two threads: {products / ours:.1f}x)"
    )
    print(f"  maximum difference of a feature, relative to its maximum: {worst:.1e}")
    print(f"with a tenth from the laboratory bench, two threads: {bench:.2f} s ({plain / bench:.1f}x)")
    print(f"the eight noise levels of the paper, two threads: {full:.2f} s, peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
