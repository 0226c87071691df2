"""``pqswarm plan``: show the built-in plans or check your own."""

from pathlib import Path
from typing import Annotated

import typer

from pqswarm.cli.command import Command, CommandGroup
from pqswarm.cli.options import check_no_folder

__all__ = ["app"]

ENOUGH_RUNS = 4
"""For two separate samples the exact Mann-Whitney test gives p = 0.1 with 3 runs each, and p = 0.029 with 4."""

app = typer.Typer(
    cls=CommandGroup, rich_markup_mode=None, no_args_is_help=True, help="Show the built-in plans or check your own."
)


@app.command(cls=Command)
def show(name: Annotated[str, typer.Argument(metavar="PLAN", help="quick, paper, paper-stepped or smoke.")]) -> None:
    """Print a built-in plan, to edit.

    Example: pqswarm plan show paper > my-study.toml
    """
    from pqswarm.study import plan_text

    typer.echo(plan_text(name), nl=False)


@app.command(cls=Command)
def check(path: Annotated[Path, typer.Argument(metavar="FILE", help="Plan file in TOML.")]) -> None:
    """Check a plan without running it.

    Example: pqswarm plan check my-study.toml
    """
    from pqswarm._base.text import count_text
    from pqswarm.study import load_plan
    from pqswarm.study.data import read_own
    from pqswarm.study.plan import DatasetPlan

    check_no_folder(path, "a plan in TOML")
    plan = load_plan(path)
    searches = len(plan.searched) * len(plan.classifiers) * plan.runs
    runs = searches + len(plan.sequential) * len(plan.classifiers)
    samples = read_own(plan)
    numbers = (
        plan.dataset.n_events if isinstance(plan.dataset, DatasetPlan) else len(samples or ()),
        len(plan.classifiers),
        len(plan.algorithms),
        runs,
        searches * plan.max_evaluations,
    )
    words = ("event" if samples is None else "sample", "classifier", "algorithm", "run", "evaluation")
    once = " and ".join(algorithm.title for algorithm in plan.sequential)
    counts = ", ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in zip(numbers, words, strict=True))
    typer.echo(f"{path} is valid: {counts}{f' and those of {once}' if once else ''}.")
    if plan.runs < ENOUGH_RUNS and len(plan.searched) > 1:
        typer.echo(
            f"With {count_text(plan.runs, 'run')} per algorithm no difference between two algorithms can be "
            f"significant at the 5 % level: use at least runs = {ENOUGH_RUNS} (the paper has 40)."
        )
