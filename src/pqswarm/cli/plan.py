"""``pqswarm plan``: show the built-in plans or check your own."""

from pathlib import Path
from typing import Annotated

import typer

from pqswarm.cli.command import Command, CommandGroup
from pqswarm.cli.options import Changes, PlanName, argument, check_no_folder, option

ENOUGH_RUNS = 4
"""For two separate samples the exact Mann-Whitney test gives p = 0.1 with 3 runs each, and p = 0.029 with 4."""

ENOUGH_DATASETS = 6
"""For paired results the exact Wilcoxon test gives p = 0.0625 with 5 data sets, and p = 0.031 with 6."""

app = typer.Typer(
    cls=CommandGroup, rich_markup_mode=None, no_args_is_help=True, help="Show the built-in plans or check your own."
)


@app.command(cls=Command)
def show(
    name: PlanName,
    specification: Annotated[
        str | None, option("NAME", "Print one specification of a multiverse: a plan, a file or a study folder.")
    ] = None,
) -> None:
    """Print a built-in plan, to edit.

    Example: pqswarm plan show paper > my-study.toml
    """
    from pqswarm.study import plan_text

    typer.echo(
        plan_text(name) if specification is None else _specification_text(name, specification),
        nl=specification is not None,
    )


def _specification_text(name: str, specification: str) -> str:
    from pqswarm.errors import PqswarmError, unknown_name
    from pqswarm.study import format_plan, load_plan, read_study

    plan = read_study(name).plan if Path(name).is_dir() else load_plan(name)
    if plan.multiverse is None:
        raise PqswarmError(f"{name} has no multiverse: leave --specification out.")
    specifications = {one.name: one for one in plan.multiverse.list_specifications()}
    if specification not in specifications:
        raise unknown_name("specification", specification, specifications)
    return format_plan(plan.plan_for(specifications[specification]))


@app.command(cls=Command)
def check(path: Annotated[Path, argument("FILE", "Plan file in TOML.")], changes: Changes = None) -> None:
    """Check a plan without running it.

    Example: pqswarm plan check my-study.toml
    """
    from pqswarm._base.text import count_text
    from pqswarm.study import load_plan
    from pqswarm.study.changes import parse_changes
    from pqswarm.study.data import read_own
    from pqswarm.study.plan_data import DatasetPlan

    check_no_folder(path, "a plan in TOML")
    plan = load_plan(path, parse_changes(changes or ()))
    cells = list(plan.cells().values())
    runs = sum(cell.n_runs for cell in cells)
    own = [read_own(cell) for cell in cells]
    sizes = [
        cell.dataset.n_events if isinstance(cell.dataset, DatasetPlan) else len(samples or ())
        for cell, samples in zip(cells, own, strict=True)
    ]
    budget = sum(len(cell.searched) * len(cell.classifiers) * cell.runs * cell.max_evaluations for cell in cells)
    numbers = (sum(sizes), len(plan.classifiers), len(plan.algorithms), runs, budget)
    words = ("event" if own[0] is None else "sample", "classifier", "algorithm", "run", "evaluation")
    once = " and ".join(algorithm.title for algorithm in plan.sequential)
    counts = ", ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in zip(numbers, words, strict=True))
    sets = f"{len(cells)} data sets, " if len(cells) > 1 else ""
    if plan.multiverse is not None:
        sets = f"{len(plan.multiverse.list_specifications())} specifications, {sets}"
    typer.echo(f"{path} is valid: {sets}{counts}{f' and those of {once}' if once else ''}.")
    if len(cells) > 1:
        if plan.multiverse is None and len(cells) < ENOUGH_DATASETS:
            typer.echo(
                f"With {len(cells)} data sets no difference can be significant at the 5 % level (Wilcoxon test): use "
                f"at least {ENOUGH_DATASETS}."
            )
        return
    if plan.runs < ENOUGH_RUNS and len(plan.searched) > 1:
        typer.echo(
            f"With {count_text(plan.runs, 'run')} per algorithm no difference between two algorithms can be "
            "significant at the 5 % level: use at least runs = "
            f"{ENOUGH_RUNS}{' (the paper has 40)' if plan.paper else ''}."
        )
