"""One worker against two on the same study, in one program, with identical results.

    python benchmarks/study.py [--runs 6] [--evaluations 1000]

Times include the searches and the start of the workers, but not data generation and compilation. Each round uses other
events, because a process caches the subsets that it has evaluated.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from figures import compare_seconds, others_running, show

from pqswarm.study import Store, read_plan, run_study

PLAN = """
runs = {runs}
max_evaluations = {evaluations}
baseline = "ga"
dataset = {{ preset = "paper", events_per_class = {events}, snr = [inf], seed = {seed} }}
folds = {{ number = 10 }}
algorithms = [{algorithms}]
[[classifiers]]
name = "k-NN"
kind = "k-nn"
grid_search = false
[[classifiers]]
name = "NB"
kind = "kernel-nb"
grid_search = false
[held_out]
events_per_class = 1
seeds = [1000]
"""
ALGORITHMS = ("ga", "aco", "bpso", "cbpso", "chbpso", "2d-upso")


def make_plan(runs, evaluations, events, seed):
    """Return a plan with the paper's searches and both classifiers; each seed gives events that no cache has seen."""
    algorithms = ", ".join(f'{{ algorithm = "{name}" }}' for name in ALGORITHMS)
    return read_plan(PLAN.format(runs=runs, evaluations=evaluations, events=events, seed=seed, algorithms=algorithms))


def searched(plan, jobs):
    """Return the seconds of the searches and their results."""
    times = []

    def progress(state):
        if state.stage == "searching":
            times.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        run_study(plan, folder, jobs=jobs, progress=progress)
        with Store(Path(folder)) as store:
            found = [(record.key, record.error, record.mask.tobytes()) for record in store.finished()]
    return times[-1] - times[0], found


def compare_workers(runs, evaluations, events, rounds):
    """Return the figure; different results are an error."""
    found = {}

    def search(jobs, turn):
        seconds, found[jobs, turn] = searched(make_plan(runs, evaluations, events, turn), jobs)
        return seconds

    for jobs in (1, 2):  # compiles everything
        searched(make_plan(1, 60, events, rounds), jobs)
    busy = others_running() >= 0.5
    figure = compare_seconds(
        "two workers",
        f"one worker / two workers, wall time of {2 * len(ALGORITHMS) * runs} searches, {14 * events} events",
        lambda turn: search(1, turn),
        lambda turn: search(2, turn),
        rounds=rounds,
    )
    if any(found[1, turn] != found[2, turn] for turn in range(rounds)):
        raise SystemExit("one worker and two workers found different subsets")
    return replace(figure, disturbed=busy or others_running() >= 0.5)


def figures():
    yield compare_workers(runs=2, evaluations=600, events=50, rounds=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--evaluations", type=int, default=1000)
    parser.add_argument("--events-per-class", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    show([compare_workers(given.runs, given.evaluations, given.events_per_class, given.rounds)])
    print("results identical")


if __name__ == "__main__":
    main()
