"""Figures of benchmarks: how they are timed, shown, and compared with those of the last release.

A benchmark with figures has a function `figures()` that yields them, most of them made by `compare`.
"""

import math
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Literal

Clock = Callable[[], float]
CPU: Clock = time.process_time
WALL: Clock = time.perf_counter


@dataclass(frozen=True)
class Figure:
    """A number that a change of the code may make better or worse."""

    name: str
    compared: str
    """What is divided by what, or what is counted."""
    value: float
    unit: str = "x"
    better: Literal["higher", "lower"] = "higher"
    spread: float = 0.0
    """Half the range that holds the middle half of the rounds, relative to the value."""
    seconds: tuple[float, float] | None = None
    """Of the other side and of ours, medians."""

    disturbed: bool = False
    """Whether others used the processors meanwhile, which time that passes cannot bear."""
    tolerance: float | None = None
    """By how much it may get worse, where that is not the tolerance of all: numbers without noise."""

    def gain(self, before: float) -> float:
        """How many times as good as an earlier value of it; below 1 it is worse."""
        new, old = (self.value, before) if self.better == "higher" else (before, self.value)
        return new / old if old else (1.0 if new == old else math.inf)


def timed(call: Callable[[int], object], clock: Clock = CPU, least: float = 0.03) -> Callable[[int], float]:
    """Return a function of the number of a round that calls `call` with it and returns the seconds of one call.

    It is called twice beforehand, for what is compiled on first use, and to find how many calls fill `least` seconds.
    """

    def seconds(turn: int, repeat: int) -> float:
        start = clock()
        for _ in range(repeat):
            call(turn)
        return (clock() - start) / repeat

    first = seconds(0, 1)
    repeat = 1 if first > 10 * least else max(1, min(1000, int(least / max(seconds(0, 1), 1e-6))))
    return lambda turn: seconds(turn, repeat)


def compare_seconds(
    name: str,
    compared: str,
    theirs: Callable[[int], float],
    ours: Callable[[int], float],
    *,
    rounds: int = 7,
    better: Literal["higher", "lower"] = "higher",
    factors: tuple[float, float] = (1.0, 1.0),
) -> Figure:
    """Take both sides in turn, each of which returns its seconds; the figure is the median of the ratios of the rounds.

    The ratio is theirs / ours where higher is better (so many times as fast), ours / theirs where lower is better (so
    many times the cost). `factors` make the times of theirs and ours those of the same amount of work.
    """
    taken = []
    for turn in range(rounds):
        spent = {side: side(turn) for side in ((theirs, ours) if turn % 2 == 0 else (ours, theirs))}
        taken.append((spent[theirs] * factors[0], spent[ours] * factors[1]))
    ratios = [a / b if better == "higher" else b / a for a, b in taken]
    value = statistics.median(ratios)
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive") if rounds > 1 else (value,) * 3
    medians = (statistics.median(a for a, _ in taken), statistics.median(b for _, b in taken))
    return Figure(name, compared, value, "x", better, (high - low) / 2 / value, medians)


def compare(
    name: str,
    compared: str,
    theirs: Callable[[int], object],
    ours: Callable[[int], object],
    *,
    rounds: int = 7,
    better: Literal["higher", "lower"] = "higher",
    clock: Clock = CPU,
    factors: tuple[float, float] = (1.0, 1.0),
) -> Figure:
    """Time two functions of the number of the round in turn, in this process: `compare_seconds`.

    Processor time, of all threads, says more on a busy machine than the time that passes, `WALL`, which only what runs
    beside each other needs. A figure of the latter says whether the machine was busy.
    """
    busy = clock is WALL and others_running() >= 0.5
    sides = timed(theirs, clock), timed(ours, clock)
    figure = compare_seconds(name, compared, *sides, rounds=rounds, better=better, factors=factors)
    return replace(figure, disturbed=busy or (clock is WALL and others_running() >= 0.5))


def others_running(samples: int = 10) -> float:
    """How many threads of other programs want a processor, on average of a second; 0 where the system does not say."""
    try:
        counts = []
        for _ in range(samples):
            counts.append(int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0]) - 1)
            time.sleep(0.1)
    except OSError:
        return 0.0
    return statistics.mean(counts)


def peak_memory(program: str, *arguments: str) -> float:
    """Peak of the resident memory [MB] of a Python program; without /proc at least that of this process."""
    tell = """
import pathlib, resource
status = pathlib.Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
peaks = [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")]
print(peaks[0] if peaks else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
    command = [sys.executable, "-c", f"{program}\n{tell}", *arguments]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def number(value: float) -> str:
    """Three digits."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def show(figures: Iterable[Figure]) -> list[Figure]:
    """Print figures as they come, under a line that says what is compared; return them."""
    shown, last = [], None
    for figure in figures:
        if figure.compared != last:
            print(f"\n{figure.compared}", flush=True)
            last = figure.compared
        both = "" if figure.seconds is None else "  ".join(f"{_duration(side):>9}" for side in figure.seconds)
        spread = f"+- {100 * figure.spread:.0f} %" if figure.spread else ""
        spread += "  disturbed: others use the processors" if figure.disturbed else ""
        print(f"  {figure.name:48} {both:20}  {number(figure.value):>7} {figure.unit:2}  {spread}", flush=True)
        shown.append(figure)
    return shown


def machine() -> dict[str, str]:
    """What ratios depend on besides the code: processor and versions, nothing that names the machine."""
    names = ("numpy", "scipy", "scikit-learn", "numba")
    return {"processor": _processor(), "python": platform.python_version(), **{name: version(name) for name in names}}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    told = dict(tuple(map(str.strip, line.split(":", 1))) for line in lines if ":" in line)
    wide = "AVX-512" if "avx512f" in told.get("flags", "") else "AVX2" if "avx2" in told.get("flags", "") else ""
    return ", ".join(filter(None, (told.get("model name", platform.machine()), wide)))


@dataclass(frozen=True)
class Row:
    """A figure beside that of the last release, None where that had none."""

    benchmark: str
    figure: Figure
    released: float | None
    allowed: float
    """It may take so much more, as a ratio minus one."""

    @property
    def gain(self) -> float:
        """How many times as good as in the last release; below 1 it is worse."""
        return 1.0 if self.released is None else self.figure.gain(self.released)

    @property
    def is_regression(self) -> bool:
        """Whether it is worse by more than is allowed."""
        return not self.figure.disturbed and self.gain * (1 + self.allowed) < 1

    @property
    def verdict(self) -> str:
        """One word."""
        if self.released is None:
            return "new"
        if self.figure.disturbed:
            return "disturbed"
        worse, better = ("slower", "faster") if self.figure.unit == "x" else ("worse", "better")
        return worse if self.is_regression else better if self.gain > 1 + self.allowed else "same"


def against(benchmark: str, figures: Iterable[Figure], released: dict, tolerance: float) -> Iterator[Row]:
    """Lay figures beside the recorded ones of their benchmark.

    What is allowed is the tolerance, and the spread that the recording saw between its runs.
    """
    recorded = released.get("benchmarks", {}).get(benchmark, {}).get("figures", {})
    for figure in figures:
        kept = recorded.get(figure.name, {})
        allowed = tolerance + kept.get("spread", 0.0) if figure.tolerance is None else figure.tolerance
        yield Row(benchmark, figure, kept.get("value"), allowed)
