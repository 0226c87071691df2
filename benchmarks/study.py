"""One worker against two on the same study, in one program, and that they find the same.

    python benchmarks/study.py [--runs 6]

Times are of the searches alone: the data are made and the kernels compiled before.
"""

import argparse
import tempfile
import time
from pathlib import Path

from pqswarm.study import Store, plan_text, read_plan, run_study


def searched(plan, jobs):
    """Seconds of searching, and what was found."""
    times = []

    def progress(state):
        if state.stage == "searching":
            times.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        run_study(plan, folder, jobs=jobs, progress=progress)
        with Store(Path(folder)) as store:
            found = [(record.key, record.error, record.mask.tobytes()) for record in store.finished()]
    return times[-1] - times[0], found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--evaluations", type=int, default=1000)
    given = parser.parse_args()
    text = (
        plan_text("quick")
        .replace("runs = 10", f"runs = {given.runs}")
        .replace("= 3000 ", f"= {given.evaluations} ")
        .replace("grid_search = true", "grid_search = false")
    )
    text = text.replace("events_per_class = 40 ", "events_per_class = 100 ").replace(
        "snr = [inf, 50, 45, 40, 35, 30, 25, 20]", "snr = [inf]"
    )
    plan = read_plan(text[: text.index('[[algorithms]]\nalgorithm = "sffs"')])
    searched(read_plan(plan_text("smoke")), 1)
    one, first = searched(plan, 1)
    two, second = searched(plan, 2)
    print(
        f"{len(first)} runs: one worker {one:.1f} s, two workers {two:.1f} s, ratio {one / two:.2f}; results "
        f"{'identical' if first == second else 'DIFFER'}"
    )


if __name__ == "__main__":
    main()
