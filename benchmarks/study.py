"""One worker against two on the same study, in one program, and that they find the same.

    python benchmarks/study.py [--runs 6] [--evaluations 1000]

Times are of the searches alone, with the start of the workers: the data are made and the kernels compiled before. Each
round has other events, because a process remembers the subsets that it has evaluated.
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
reference = "ga"
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
    """A plan of the paper's swarms and both its classifiers; a seed has events that no memory of subsets knows."""
    algorithms = ", ".join(f'{{ algorithm = "{name}" }}' for name in ALGORITHMS)
    return read_plan(PLAN.format(runs=runs, evaluations=evaluations, events=events, seed=seed, algorithms=algorithms))


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


def compare_workers(runs, evaluations, events, rounds):
    """The figure; results that differ are an error."""
    found = {}

    def search(jobs, turn):
        seconds, found[jobs, turn] = searched(make_plan(runs, evaluations, events, turn), jobs)
        return seconds

    for jobs in (1, 2):  # what is compiled is compiled
        searched(make_plan(1, 60, events, rounds), jobs)
    busy = others_running() >= 0.5
    figure = compare_seconds(
        "two workers",
        f"one worker / two workers, time that passes in {2 * len(ALGORITHMS) * runs} searches, {14 * events} events",
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
