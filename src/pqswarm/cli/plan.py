"""``pqswarm plan``: look at plans, and check one's own."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pqswarm.study import StudyPlan

__all__ = ["app", "open_plan"]

app = typer.Typer(no_args_is_help=True, help="Look at study plans, and check one's own.")


@app.command()
def show(name: Annotated[str, typer.Argument(help="quick, paper or smoke.")]) -> None:
    """Print a plan that comes with pqswarm, to edit.

    Example: pqswarm plan show paper > my-study.toml
    """
    from pqswarm.study import plan_text

    typer.echo(plan_text(name), nl=False)


@app.command()
def check(path: Annotated[Path, typer.Argument(help="A plan in TOML.")]) -> None:
    """Check a plan without running it.

    Example: pqswarm plan check my-study.toml
    """
    plan = open_plan(path)
    searches = len(plan.searched) * len(plan.classifiers) * plan.runs
    once = " and ".join(algorithm.title for algorithm in plan.sequential)
    typer.echo(
        f"{path} is fine: {plan.dataset.n_events} events, "
        f"{len(plan.classifiers)} classifiers, {len(plan.algorithms)} algorithms, "
        f"{searches + len(plan.sequential) * len(plan.classifiers)} runs, {searches * plan.max_evaluations} evaluations"
        f"{f' and those of {once}' if once else ''}."
    )


def open_plan(given: str | Path) -> "StudyPlan":
    """Return a plan, and tell of keys in it that have new names."""
    from pqswarm.study import load_plan

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plan = load_plan(given)
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        typer.echo(f"pqswarm: {given}: {message}", err=True)
    return plan
