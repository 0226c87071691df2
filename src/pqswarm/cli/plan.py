"""``pqswarm plan``: look at plans, and check one's own."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

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
    from pqswarm.study import load_plan

    plan = load_plan(path)
    searches = len(plan.searched) * len(plan.classifiers) * plan.runs
    once = len(plan.sequential) * len(plan.classifiers)
    typer.echo(
        f"{path} is fine: {14 * plan.dataset.events_per_class} events, {len(plan.classifiers)} classifiers, "
        f"{len(plan.algorithms)} algorithms, {searches + once} runs, {searches * plan.max_evaluations} evaluations"
        f"{' and those of SFFS' if once else ''}."
    )
