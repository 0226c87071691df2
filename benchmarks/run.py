"""All short benchmarks in one table, next to the figures of the last release: `make bench`.

    python benchmarks/run.py                        # the table; exit code 1 on a regression
    python benchmarks/run.py --only evaluators      # a selection
    python benchmarks/run.py --record 0.2.0         # at a release: run everything three times and store the medians

A figure is a regression if it is worse by more than --tolerance plus the recorded spread between runs; its benchmark
is then run once more, and the better value counts. Ratios depend on processor and libraries: record the release on
your own machine (--released FILE) before you trust small changes there.
"""

import argparse
import datetime
import importlib
import json
import multiprocessing
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from figures import Figure, Row, against, machine, number, others_running, show

HERE = Path(__file__).parent
RELEASED = HERE / "released.json"


@dataclass(frozen=True)
class Benchmark:
    """A benchmark file of this folder."""

    name: str

    @property
    def command(self) -> str:
        """Command to run it separately."""
        return f"python benchmarks/{self.name}.py"

    def reason(self) -> str:
        """Return why it cannot run here; empty if it can."""
        return "needs an NVIDIA GPU and CuPy" if self.name == "gpu" and not has_gpu() else ""

    def figures(self) -> list[Figure]:
        """Run it in a separate process: the speed of memory allocation depends on a process's history."""
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            return pool.submit(show_figures, self.name).result()


def show_figures(name: str) -> list[Figure]:
    """Run the named benchmark and print its figures."""
    return show(importlib.import_module(name).figures())


def all_benchmarks() -> dict[str, Benchmark]:
    """Return the benchmarks of this folder by name."""
    names = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("figures", "run"))
    return {name: Benchmark(name) for name in names}


def has_gpu() -> bool:
    """Return whether CuPy finds a GPU."""
    try:
        import cupy

        return bool(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # noqa: BLE001 - CuPy raises its own errors without a driver
        return False


def load(path: Path) -> dict:
    """Return the recorded figures, or none without a file."""
    if not path.exists():
        return {"benchmarks": {}}
    try:
        released = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SystemExit(
            f"--released {path}: not a file of recorded figures ({error}); --record VERSION writes one"
        ) from None
    return released


def merge(runs: list[list[Figure]]) -> dict[str, dict]:
    """Return medians of several runs with their spread, the maximum relative deviation from the median.

    Disturbed figures are omitted.
    """
    kept = {}
    for figure in runs[0]:
        values = [one.value for run in runs for one in run if one.name == figure.name and not one.disturbed]
        if not values:
            continue
        middle = statistics.median(values)
        spread = max(abs(value / middle - 1) for value in values) if middle else 0.0
        kept[figure.name] = {"value": float(f"{middle:.4g}"), "unit": figure.unit, "spread": round(spread, 3)}
    return kept


def record(benchmark: Benchmark, version: str, times: int, path: Path) -> None:
    """Run a benchmark several times and add its figures to the file."""
    found = [benchmark.figures() for _ in range(times)]
    disturbed = sorted({figure.name for run in found for figure in run if figure.disturbed})
    if disturbed:
        print(f"\nomitted because other programs used the processors; record again: {'; '.join(disturbed)}")
    about = {"version": version, "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(), "runs": times}
    released = load(path)
    released["benchmarks"][benchmark.name] = {**about, "machine": machine(), "figures": merge(found)}
    path.write_text(json.dumps(released, indent=1) + "\n", encoding="utf-8")
    print(f"\n{benchmark.name}: wrote {path}", flush=True)


def measure(benchmark: Benchmark, released: dict, tolerance: float) -> list[Row]:
    """Run a benchmark, a second time on a regression, and return the better value of each figure."""
    rows = list(against(benchmark.name, benchmark.figures(), released, tolerance))
    if any(row.is_regression for row in rows):
        print(f"\n{benchmark.name} again, because a figure got worse:")
        again = {figure.name: figure for figure in benchmark.figures()}
        rows = [
            replace(row, figure=again[row.figure.name]) if again[row.figure.name].gain(row.figure.value) > 1 else row
            for row in rows
        ]
    return rows


def describe(benchmark: str, released: dict, measured: list[str]) -> list[str]:
    """Describe the recorded figures of a benchmark: version, differences of the machine, and missing figures."""
    if benchmark not in released["benchmarks"]:
        return [f"{benchmark}: no figures of the last release; --record VERSION stores them"]
    kept, here = released["benchmarks"][benchmark], machine()
    lines = [f"{benchmark}: last release {kept['version']}, measured {kept['date']}"]
    other = [
        f"{name} {then}, here {here.get(name)}" for name, then in kept["machine"].items() if here.get(name) != then
    ]
    lines += [f"  with {'; '.join(other)}: trust small changes less"] if other else []
    gone = [name for name in kept["figures"] if name not in measured]
    return lines + ([f"  no longer measured: {'; '.join(gone)}"] if gone else [])


def table(rows: list[Row]) -> str:
    """Return all figures as one table."""
    lines = [("benchmark", "figure", "last release", "now", "spread", "change", "")]
    for row in rows:
        then = "" if row.released is None else number(row.released)
        change = "" if row.released is None else f"{100 * (row.gain - 1):+.0f} %"
        spread = f"+-{100 * row.figure.spread:.0f} %" if row.figure.spread else ""
        now = f"{number(row.figure.value)} {row.figure.unit}"
        lines.append((row.benchmark, row.figure.name, then, now, spread, change, row.verdict))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    pads = (str.ljust, str.ljust, *(str.rjust,) * 4, str.ljust)
    padded = [[pad(cell, width) for pad, cell, width in zip(pads, line, widths, strict=True)] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in padded)


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks and return the exit code."""
    known = all_benchmarks()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=known, default=list(known), metavar="NAME")
    parser.add_argument("--record", metavar="VERSION", help="store the figures as those of this release")
    parser.add_argument("--times", type=int, default=3, help="runs over which --record takes medians")
    parser.add_argument("--tolerance", type=float, default=0.25, help="relative worsening allowed for a figure")
    parser.add_argument("--released", type=Path, default=RELEASED, help="file of recorded figures")
    given = parser.parse_args(arguments)
    chosen = [known[name] for name in given.only]
    skipped = {benchmark: benchmark.reason() for benchmark in chosen if benchmark.reason()}
    able = [benchmark for benchmark in chosen if benchmark not in skipped]
    if given.record:
        for benchmark in able:
            record(benchmark, given.record, given.times, given.released)
        return 0
    start = time.perf_counter()
    released, rows, notes, busy = load(given.released), [], [], []
    for benchmark in able:
        busy.append(others_running())
        try:
            rows += measure(benchmark, released, given.tolerance)
        except ImportError as error:
            skipped[benchmark] = f"{error}; pip install -c constraints.txt -e '.[dev]'"
            continue
        notes += describe(benchmark.name, released, [row.figure.name for row in rows])
    print(f"\n{table(rows)}\n")
    print("Change: + is better. Ratios (x) are measured in this run; the spread is over its rounds.")
    print(*notes, sep="\n")
    if max(busy, default=0) >= 0.5:
        print(f"Other programs used the processors ({max(busy):.0f} at a time): measure again on an idle machine.")
    for benchmark, reason in skipped.items():
        print(f"skipped: {benchmark.name} ({reason}): {benchmark.command}")
    print(f"{len(rows)} figures in {(time.perf_counter() - start) / 60:.1f} minutes")
    regressions = [row for row in rows if row.is_regression]
    if regressions:
        names = "; ".join(f"{row.figure.name} ({100 * (row.gain - 1):+.0f} %)" for row in regressions)
        print(f"Regressions since the last release: {names}.")
    else:
        print("No regressions since the last release.")
    return int(bool(regressions))


if __name__ == "__main__":
    sys.exit(main())
