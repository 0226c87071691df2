"""Accuracy of `identify` on events of another published model (tests/reference/disturbances.py): rules and model.

    python benchmarks/identify_accuracy.py --per-class 50
    python benchmarks/identify_accuracy.py --per-class 50 --only rules

In each cell: exact class / group [%]. Without noise where no SNR is given.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from figures import Figure

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/ is not part of the package

from tests.reference.disturbances import CLASSES, GROUP, LABELS, make, make_sine

from pqswarm.events import class_type
from pqswarm.identify import identify
from pqswarm.identify.agreement import event_rule
from pqswarm.identify.tolerance import rank_event
from pqswarm.measure import characterize
from pqswarm.recordings import Channel, Recording

CONDITIONS = {
    "12.8 kHz, 40 dB": {"sampling_rate": 12_800.0, "snr": 40.0},
    "12.8 kHz, 30 dB": {"sampling_rate": 12_800.0, "snr": 30.0},
    "12.8 kHz": {"sampling_rate": 12_800.0},
    "6.4 kHz, 40 dB": {"sampling_rate": 6400.0, "snr": 40.0},
    "3.2 kHz, 40 dB": {"sampling_rate": 3200.0, "snr": 40.0},
    "12.8 kHz, 20 dB": {"sampling_rate": 12_800.0, "snr": 20.0},
    "12.8 kHz, 40 dB, THD 3 to 5 %": {"sampling_rate": 12_800.0, "snr": 40.0, "background": True},
    "60 Hz, 7.68 kHz, 40 dB": {"sampling_rate": 7680.0, "frequency": 60.0, "snr": 40.0},
}
RATES = np.geomspace(1000.0, 100_000.0, 40).round(-1)
LEVELS = (20.0, 30.0, 40.0, None)
NOMINAL = 230.0


def classify(wave, sampling_rate, frequency, nominal, sides):
    """Class of each side, "rules" or "model", for one voltage [V]."""
    recording = Recording((Channel("U1", "V", "A", wave),), sampling_rate, frequency)
    if sides == ["rules"]:
        events = characterize(recording, nominal_voltage=nominal).events
        return {"rules": event_rule(max(events, key=rank_event), events) if events else "pure_sinusoid"}
    main = identify(recording, nominal_voltage=nominal).main
    if main is None:
        return {"rules": "pure_sinusoid", "model": "pure_sinusoid"}
    return {"rules": main.rule_label, "model": main.label or "none"}


def background(rng, n, sampling_rate, frequency=50.0, **_):
    """Harmonics of the supply [V], with a THD of 3 to 5 %."""
    orders = np.array([3, 5, 7, 11, 13])
    sizes = rng.uniform(0.2, 1.0, orders.size) / orders
    sizes *= rng.uniform(0.03, 0.05) / np.sqrt(np.sum(sizes**2))
    angle = 2 * np.pi * frequency / sampling_rate * np.arange(n) * orders[:, None] + rng.uniform(0, 2 * np.pi, (5, 1))
    return NOMINAL * np.sqrt(2) * (sizes[:, None] * np.sin(angle)).sum(axis=0)


def try_events(per_class, seed, nominal, sides, conditions):
    """Share of exact classes and of groups: {side: array (classes, conditions, 2)}; and what was said instead."""
    shares = {side: np.zeros((len(CLASSES), len(conditions), 2)) for side in sides}
    wrong = {side: {} for side in sides}
    for j, (title, condition) in enumerate(conditions.items()):
        for i, name in enumerate(CLASSES):
            rng = np.random.default_rng([seed, i])  # the same events in all conditions, as far as these allow
            for _ in range(per_class):
                given = {key: value for key, value in condition.items() if key != "background"}
                wave, _ = make(name, rng, nominal=NOMINAL, **given)
                wave = wave + background(rng, wave.size, **given) if "background" in condition else wave
                said = classify(wave, condition["sampling_rate"], condition.get("frequency", 50.0), nominal, sides)
                for side in sides:
                    label = said[side]
                    shares[side][i, j] += (label in LABELS[name], class_type(label) == GROUP[name])
                    if class_type(label) != GROUP[name]:
                        case = (title, name, label)
                        wrong[side][case] = wrong[side].get(case, 0) + 1
    return {side: 100 * table / per_class for side, table in shares.items()}, wrong


def try_sines(repeats, seed, sides):
    """Share [%] of sines in which each side sees no disturbance: {side: array (rates, levels)}."""
    quiet = {side: np.zeros((RATES.size, len(LEVELS))) for side in sides}
    for i, rate in enumerate(RATES.tolist()):
        for j, snr in enumerate(LEVELS):
            rng = np.random.default_rng([seed, i, j])
            for _ in range(repeats):
                said = classify(make_sine(rng, sampling_rate=rate, snr=snr), rate, 50.0, NOMINAL, sides)
                for side in sides:
                    quiet[side][i, j] += 100 / repeats * (said[side] == "pure_sinusoid")
    return quiet


def figures(per_class=3, condition="12.8 kHz, 40 dB"):
    """Shares of a few events, always the same ones: shows which ones are classified differently."""
    shares, _ = try_events(per_class, 0, NOMINAL, ["rules", "model"], {condition: CONDITIONS[condition]})
    for side, table in shares.items():
        for what, value in zip(("exact class", "group"), table.mean(axis=(0, 1)), strict=True):
            said = f"share of {per_class * len(CLASSES)} events with the right class, {condition}"
            yield Figure(f"identify, {side}, {what}", said, float(value), "%", tolerance=0.01)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-class", type=int, default=20, metavar="N", help="events of each class, and sines")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("rules",), help="without the model, which is faster")
    parser.add_argument("--condition", action="append", choices=tuple(CONDITIONS), help="by default all")
    parser.add_argument("--no-sines", action="store_true", help="without the pure sines")
    parser.add_argument("--wrong", action="store_true", help="also print what was said instead of the right group")
    given = parser.parse_args()
    sides = [given.only] if given.only else ["rules", "model"]
    conditions = {name: CONDITIONS[name] for name in given.condition or CONDITIONS}
    for nominal in (NOMINAL, None):
        shares, wrong = try_events(given.per_class, given.seed, nominal, sides, conditions)
        for side, table in shares.items():
            print(f"\n{side}, nominal voltage {'not ' * (nominal is None)}given: exact / group [%]")
            print(" " * 24 + "".join(f"{name:>24}" for name in conditions))
            for name, row in zip((*CLASSES, "all"), (*table, table.mean(axis=0)), strict=True):
                print(f"{name:24}" + "".join(f"{exact:16.1f} / {group:5.1f}" for exact, group in row))
            for case, count in sorted(wrong[side].items()) if given.wrong else ():
                print(f"    {count:4} x {', '.join(case)}")
    if not given.no_sines:
        for side, table in try_sines(max(given.per_class // 5, 1), given.seed, sides).items():
            print(f"\n{side}, pure sines at {RATES.size} rates from 1 to 100 kHz: no disturbance [%]")
            for snr, column in zip(LEVELS, table.T, strict=True):
                worst = ", ".join(f"{RATES[k]:.0f} Hz ({column[k]:.0f})" for k in np.flatnonzero(column < 98))
                level = "no noise" if snr is None else f"{snr:g} dB"
                print(f"  {level:9} {column.mean():5.1f}   below 98 %: {worst or '-'}")


if __name__ == "__main__":
    main()
