"""Benchmark figures: timing, printing, and comparison with the last release.

A benchmark with figures has a function `figures()` that yields them, mostly from `compare`.
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
    """A number that a code change may improve or worsen."""

    name: str
    compared: str
    """The two sides of the ratio, or the quantity."""
    value: float
    unit: str = "x"
    better: Literal["higher", "lower"] = "higher"
    spread: float = 0.0
    """Half the interquartile range of the rounds, relative to the value."""
    seconds: tuple[float, float] | None = None
    """Median seconds of their side and ours."""

    disturbed: bool = False
    """Whether other programs used the processors during a wall-time measurement."""
    tolerance: float | None = None
    """Its own tolerance, for numbers without noise."""

    def gain(self, before: float) -> float:
        """Return the improvement over an earlier value as a ratio; below 1 it is worse."""
        new, old = (self.value, before) if self.better == "higher" else (before, self.value)
        return new / old if old else (1.0 if new == old else math.inf)


def timed(call: Callable[[int], object], clock: Clock = CPU, minimum: float = 0.03) -> Callable[[int], float]:
    """Return a function of the round number that calls `call` with it and returns the seconds of one call.

    It is called twice beforehand, to compile and to find how many calls fill `minimum` seconds.
    """

    def seconds(turn: int, repeat: int) -> float:
        start = clock()
        for _ in range(repeat):
            call(turn)
        return (clock() - start) / repeat

    first = seconds(0, 1)
    repeat = 1 if first > 10 * minimum else max(1, min(1000, int(minimum / max(seconds(0, 1), 1e-6))))
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
    """Alternate both sides, which return their seconds; the figure is the median ratio of the rounds.

    The ratio is theirs / ours where higher is better (speed-up), ours / theirs where lower is better (cost). `factors`
    scale the times of both sides to the same amount of work.
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
    """Time two functions of the round number alternately, in this process: `compare_seconds`.

    CPU time of all threads is more reliable on a busy machine than wall time (`WALL`), which only parallel code needs.
    A wall-time figure records whether the machine was busy.
    """
    busy = clock is WALL and others_running() >= 0.5
    sides = timed(theirs, clock), timed(ours, clock)
    figure = compare_seconds(name, compared, *sides, rounds=rounds, better=better, factors=factors)
    return replace(figure, disturbed=busy or (clock is WALL and others_running() >= 0.5))


def others_running(samples: int = 10) -> float:
    """Return the mean number of runnable threads of other programs over a second; 0 if unknown."""
    try:
        counts = []
        for _ in range(samples):
            counts.append(int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0]) - 1)
            time.sleep(0.1)
    except OSError:
        return 0.0
    return statistics.mean(counts)


def peak_memory(program: str, *arguments: str) -> float:
    """Return the peak resident memory of a Python program in MB; without /proc at least that of this process."""
    report = """
import pathlib, resource
status = pathlib.Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
peaks = [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")]
print(peaks[0] if peaks else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
    command = [sys.executable, "-c", f"{program}\n{report}", *arguments]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def number(value: float) -> str:
    """Format a number with three digits."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def show(figures: Iterable[Figure]) -> list[Figure]:
    """Print figures as they arrive, under a heading for each comparison; return them."""
    shown, last = [], None
    for figure in figures:
        if figure.compared != last:
            print(f"\n{figure.compared}", flush=True)
            last = figure.compared
        both = "" if figure.seconds is None else "  ".join(f"{_duration(side):>9}" for side in figure.seconds)
        spread = f"+- {100 * figure.spread:.0f} %" if figure.spread else ""
        spread += "  disturbed: processors in use" if figure.disturbed else ""
        print(f"  {figure.name:48} {both:20}  {number(figure.value):>7} {figure.unit:2}  {spread}", flush=True)
        shown.append(figure)
    return shown


def machine() -> dict[str, str]:
    """Return processor and library versions, on which ratios depend; nothing identifies the machine."""
    names = ("numpy", "scipy", "scikit-learn", "numba")
    return {"processor": _processor(), "python": platform.python_version(), **{name: version(name) for name in names}}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    entries = dict(tuple(map(str.strip, line.split(":", 1))) for line in lines if ":" in line)
    flags = entries.get("flags", "")
    wide = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else ""
    return ", ".join(filter(None, (entries.get("model name", platform.machine()), wide)))


@dataclass(frozen=True)
class Row:
    """A figure with its value in the last release, if any."""

    benchmark: str
    figure: Figure
    released: float | None
    allowed: float
    """Allowed worsening, as a ratio minus one."""

    @property
    def gain(self) -> float:
        """Improvement over the last release as a ratio; below 1 it is worse."""
        return 1.0 if self.released is None else self.figure.gain(self.released)

    @property
    def is_regression(self) -> bool:
        """Whether it is worse by more than allowed."""
        return not self.figure.disturbed and self.gain * (1 + self.allowed) < 1

    @property
    def verdict(self) -> str:
        """The comparison in one word."""
        if self.released is None:
            return "new"
        if self.figure.disturbed:
            return "disturbed"
        worse, better = ("slower", "faster") if self.figure.unit == "x" else ("worse", "better")
        return worse if self.is_regression else better if self.gain > 1 + self.allowed else "same"


def against(benchmark: str, figures: Iterable[Figure], released: dict, tolerance: float) -> Iterator[Row]:
    """Compare figures with the recorded ones of their benchmark.

    The allowed worsening is the tolerance plus the recorded spread between runs.
    """
    recorded = released.get("benchmarks", {}).get(benchmark, {}).get("figures", {})
    for figure in figures:
        kept = recorded.get(figure.name, {})
        allowed = tolerance + kept.get("spread", 0.0) if figure.tolerance is None else figure.tolerance
        yield Row(benchmark, figure, kept.get("value"), allowed)
