"""Causes of three-phase events: what `identify` says of events whose cause is known (`three_phase/`).

    python research/causes.py                                        # a first look: seed 7, 6.4 kHz
    python research/causes.py --per-kind 2 --wrong                   # quick, with each wrong event
    python research/causes.py --seed 1000 --rate 1600 3200 6400 12800 --background distorted noisy --nominal both

The events come from the literature and share no code with the package. Seeds 0 to 999 are for development; use those
from 1000 on only for the final figures, and do not change rules after looking at them.

Right causes are counted per kind; "unknown" counts as not right, and is also listed alone. Rows are incidents per
record; a record without any counts as one row. Phases are those below 0.9 pu, where phases within 0.02 of it count
either way. Bollen's type is compared exactly and by family: E and G are forms of C, F of D. The calibration error is
the mean distance of the stated probability from the fraction right, over ten bins; "chance" is what a perfect
calibration gives with that many events.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from three_phase import BACKGROUNDS, ThreePhaseEvent, draw_suite

from pqswarm.identify import identify
from pqswarm.recordings import Channel, Recording

RATES = (1600, 3200, 6400, 12_800)
BELOW = ("sag", "interruption")
STEADY = ("harmonics", "notching", "flicker", "DC offset", "unbalance")
FAMILY = {"E": "C", "G": "C", "F": "D"}
BINS = 10


class NoIncidentsError(Exception):
    """The installed version does not report incidents."""


@dataclass(frozen=True)
class Answer:
    """What was said of an event, compared with the truth; None where there is nothing to compare."""

    kind: str
    rate: float
    background: str
    nominal: bool
    thd: float
    snr: float
    currents: bool
    right: bool
    said: str
    probability: float | None
    rows: int
    phases: bool | None
    exact_type: bool | None
    family: bool | None
    stages: bool | None
    seconds: float
    text: str


def recording_of(event: ThreePhaseEvent, name: str) -> Recording:
    """The event as a recording in memory."""
    channels = [Channel(f"U{p}", "V", p, wave) for p, wave in zip("ABC", event.voltages, strict=True)]
    if event.currents is not None:
        channels += [Channel(f"I{p}", "A", p, wave) for p, wave in zip("ABC", event.currents, strict=True)]
    return Recording(tuple(channels), event.sampling_rate, 50.0, source=name)


def answer(kind: str, background: str, event: ThreePhaseEvent, *, nominal: bool) -> Answer:
    """Analyze an event and compare."""
    recording = recording_of(event, kind)
    began = time.process_time()
    plain = identify(recording, nominal_voltage=event.nominal if nominal else None).as_dict()
    seconds = time.process_time() - began
    if "incidents" not in plain:
        raise NoIncidentsError
    incidents = [one | {"events": [plain["events"][i] for i in one["events"]]} for one in plain["incidents"]]
    main = incidents[0] if incidents else {"cause": "none", "probability": None, "stages": [], "events": []}
    happened = [one for one in incidents if any(e["type"] not in STEADY for e in one["events"])]
    truth = event.truth
    said = main["cause"] if happened else "none"
    right = said == truth.cause if truth.cause else not happened
    typed = truth.cause == "fault" and not any(stage.name == "interruption" for stage in truth.stages)
    told = said_type(main["events"]) if typed else ""
    stage = truth.type_stage if typed else None
    expected = stage.bollen + stage.symmetrical.lower() if stage else ""
    return Answer(
        kind=kind,
        rate=event.sampling_rate,
        background=background,
        nominal=nominal,
        thd=event.thd,
        snr=event.snr,
        currents=event.currents is not None,
        right=right,
        said=said,
        probability=main["probability"] if happened else None,
        rows=len(incidents),
        phases=compare_phases(event, main["events"], nominal=nominal),
        exact_type=told == expected if typed else None,
        family=family(told) == family(expected) if typed else None,
        stages=disturbed_stages(main["stages"]) == len(truth.stages) if truth.cause == "fault" else None,
        seconds=seconds,
        text=f"{truth.kind} {expected}: {said} {main['probability'] or 0:.2f} {told}; "
        + " | ".join(e["sentence"] for e in main["events"]),
    )


def disturbed_stages(stages: list[dict]) -> int:
    """Number of stages without a last one in which the voltages are back."""
    levels = stages[-1].get("levels", {}).values() if stages else ()
    return len(stages) - (bool(levels) and all(0.9 <= level <= 1.1 for level in levels))


def said_type(events: Iterable[dict]) -> str:
    """Type of the deepest sag of an incident that has one."""
    typed = [event for event in events if event["sag_type"]]
    return min(typed, key=lambda event: event["magnitude"])["sag_type"] if typed else ""


def family(bollen: str) -> str:
    """The type with its symmetrical phase, where variants of one type count as one."""
    return FAMILY.get(bollen[:1], bollen[:1]) + bollen[1:]


def compare_phases(event: ThreePhaseEvent, events: Iterable[dict], *, nominal: bool) -> bool | None:
    """Whether the phases below 0.9 pu are those of the truth; None if there is none, or for ringing."""
    if event.truth.cause in (None, "capacitor switching", "load switching"):
        return None
    below, near = event.truth.below(nominal=nominal, margin=0.02)
    said = {phase for one in events if one["type"] in BELOW for phase in one["phases"]}
    return set(below) <= said <= set(below + near)


def ask(given: argparse.Namespace) -> Iterator[Answer]:
    """All answers, in order of seed, background, rate and kind."""
    known = {"given": (True,), "unknown": (False,), "both": (False, True)}[given.nominal]
    for seed in given.seed:
        for background in given.background:
            for rate in given.rate:
                for kind, event in draw_suite(seed, rate, background, given.per_kind):
                    for nominal in known:
                        yield answer(kind, background, event, nominal=nominal)


def percent(values: Iterable[bool | None]) -> str:
    """Fraction of True among what is not None."""
    kept = [value for value in values if value is not None]
    return f"{100 * np.mean(kept):6.1f}" if kept else "     -"


def print_table(title: str, answers: list[Answer], key: Callable[[Answer], object]) -> None:
    """One line for each value of a key."""
    groups = defaultdict(list)
    for one in answers:
        groups[key(one)].append(one)
    head = ("n", "cause", "unknown", "rows", "phases", "type", "family", "stages")
    print(f"\n{title:34}" + "".join(f"{name:>9}" for name in head))
    for name, some in (*groups.items(), ("all", answers)):
        cells = (
            f"{len(some)}",
            percent(one.right for one in some),
            percent(one.said == "unknown" for one in some),
            f"{np.mean([max(one.rows, 1) for one in some]):.2f}",
            *(percent(getattr(one, field) for one in some) for field in ("phases", "exact_type", "family", "stages")),
        )
        print(f"{name!s:34}" + "".join(f"{cell:>9}" for cell in cells))


def bin_of(probability: float) -> int:
    """Bin of a stated probability."""
    return min(int(probability * BINS), BINS - 1)


def calibration_error(stated: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Expected calibration error over equal bins of the stated probability, and its mean if all are calibrated."""
    bins = np.array([bin_of(one) for one in stated])
    members = [bins == b for b in range(BINS)]
    gaps = [abs(stated[own].sum() - right[own].sum()) for own in members]
    chance = [np.sqrt(2 / np.pi * (stated[own] * (1 - stated[own])).sum()) for own in members]
    return float(sum(gaps) / stated.size), float(sum(chance) / stated.size)


def print_reliability(answers: list[Answer]) -> None:
    """Stated probability against the fraction right: by probability, then by condition."""
    kept = [one for one in answers if one.probability is not None and one.said != "unknown"]
    if not kept:
        print("\nreliability: no stated probabilities")
        return
    conditions: dict[str, Callable[[Answer], str]] = {
        "stated": lambda one: "{} % to {} %".format(*(10 * (bin_of(one.probability) + k) for k in (0, 1))),
        "sampling rate": lambda one: f"{one.rate / 1000:g} kHz",
        "noise": lambda one: "below 37 dB" if one.snr < 37 else "37 to 50 dB" if one.snr < 50 else "50 dB and above",
        "THD": lambda one: "below 2 %" if one.thd < 0.02 else "3 to 5 %",
        "nominal voltage": lambda one: "given" if one.nominal else "not given",
        "currents": lambda one: "with" if one.currents else "without",
        "cell": lambda one: (
            f"{one.rate / 1000:g} kHz, {one.background}, nominal {'given' if one.nominal else 'not given'}"
        ),
    }
    print(f"\n{'reliability':52}{'n':>6}{'stated':>9}{'right':>9}{'error':>9}{'chance':>9}")
    for title, key in conditions.items():
        groups = defaultdict(list)
        for one in kept:
            groups[key(one)].append((one.probability, one.right))
        for name, pairs in sorted(groups.items()) if title == "stated" else groups.items():
            stated, right = np.array(pairs, float).T
            numbers = 100 * np.array([stated.mean(), right.mean(), *calibration_error(stated, right)])
            print(f"{title + ', ' + name:52}{stated.size:6}" + "".join(f"{number:9.1f}" for number in numbers))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, nargs="+", default=[7], help="1000 and above for the final figures")
    parser.add_argument("--rate", type=int, nargs="+", choices=RATES, default=[6400], metavar="HZ")
    parser.add_argument("--background", nargs="+", choices=tuple(BACKGROUNDS), default=["distorted"])
    parser.add_argument("--nominal", choices=("given", "unknown", "both"), default="unknown")
    parser.add_argument("--per-kind", type=int, metavar="N", help="at most that many events of each kind")
    parser.add_argument("--wrong", action="store_true", help="also print each event with a wrong answer")
    given = parser.parse_args()
    try:
        answers = list(ask(given))
    except NoIncidentsError:
        parser.exit(2, 'This version of pqswarm reports no incidents: Analysis.as_dict() has no key "incidents".\n')
    print_table("kind", answers, lambda one: one.kind)
    print_table("condition", answers, lambda one: f"{one.rate / 1000:g} kHz, {one.background}")
    print_reliability(answers)
    print(f"\nCPU time of identify: {1000 * np.mean([one.seconds for one in answers]):.0f} ms per record")
    if given.wrong:
        print()
        for one in answers:
            if not one.right or False in (one.phases, one.family):
                print(f"{one.rate / 1000:g} kHz, {one.background}: {one.text}")


if __name__ == "__main__":
    main()
