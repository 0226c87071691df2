"""``pqswarm study``: run or resume a study; ``pqswarm plan``: show the built-in plans or check your own."""

import shlex
import time
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqswarm._base.text import count_text
from pqswarm.cli.options import Changes, Jobs, PlanName, Stopped, argument, option
from pqswarm.cli.terminal import Command, CommandGroup, echo
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

    from pqswarm.study import StudyProgress


_PLAIN_EVERY = 15.0  # seconds between lines where no bar can be drawn


def study(
    plan: PlanName,
    out: Annotated[
        Path | None, option("DIR", "Folder of the study.", "--out", "-o", show_default="study-PLAN", file_okay=False)
    ] = None,
    jobs: Jobs = -1,
    device: Annotated[str, option("NAME", "Where to evaluate subsets: cpu or cuda.")] = "cpu",
    cluster: Annotated[
        str | None, option("ADDRESS", "Address of a Dask scheduler, such as tcp://10.0.0.5:8786.")
    ] = None,
    changes: Changes = None,
    specification: Annotated[
        str | None,
        option(
            "NAME",
            "Run one specification of a multiverse, such as r07.",
            "--specification",
            "--reading",
            show_default="all",
        ),
    ] = None,
) -> None:
    """Run a study and write its report.

    Stop it at any time; rerun the same command to resume.

    Example: pqswarm study quick
    """
    from pqswarm.report import write_report
    from pqswarm.study import load_plan, run_study
    from pqswarm.study.plan import parse_changes
    from pqswarm.study.store import FILE_NAME

    chosen = load_plan(plan, parse_changes(changes or ()))
    if specification is not None:
        chosen = chosen.plan_for(chosen.named_specification(specification))
    name = "-".join(filter(None, ["study", Path(plan).stem, specification]))
    folder = Path(name) if out is None else out
    if not (folder / FILE_NAME).exists():  # otherwise the study has a copy
        of_data = (chosen.dataset, *chosen.datasets, chosen.held_out)
        for path in filter(None, (getattr(part, "path", None) for part in of_data)):
            if not path.is_file():
                raise PqswarmError(f"there is no data file {path}: check its name and folder.")
    start = time.monotonic()
    last: list[StudyProgress] = []  # the latest
    try:
        with _show_study_progress() as show:

            def follow(progress: "StudyProgress") -> None:
                last[:] = [progress]
                show(progress)

            run_study(chosen, folder, jobs=jobs, device=device, cluster=cluster, progress=follow)
            show(replace(last[-1], stage="writing the report"))
            written = write_report(folder, "html")
            show(replace(last[-1], stage="done", fraction=1.0))
    except (KeyboardInterrupt, SystemError) as error:
        if not _is_study_interrupt(error):
            raise
        given = {
            "--jobs": jobs if jobs != -1 else None,
            "--device": device if device != "cpu" else None,
            "--cluster": cluster,
            "--specification": specification,
        }
        options = [part for name, value in given.items() if value is not None for part in (name, str(value))]
        options += [part for change in changes or () for part in ("--set", change)]
        again = shlex.join(["pqswarm", "study", plan, "--out", str(folder), *options])
        raise Stopped(f"stopped; results so far are kept. Resume with: {again}") from None
    echo(f"done in {_study_duration_text(time.monotonic() - start)}; the report is {written.resolve()}")


@contextmanager
def _show_study_progress() -> "Iterator[Callable[[StudyProgress], None]]":
    """Show progress: a bar on a terminal, otherwise occasional lines."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    console = Console(stderr=True)
    if console.is_terminal:

        class TwoLines(Progress):
            """The bar with the stage, and below it the details, since 80 columns do not fit both."""

            words = ""

            def get_renderables(self) -> "Iterator[RenderableType]":
                yield from super().get_renderables()
                yield Text(self.words, no_wrap=True, overflow="ellipsis")

        columns = (TextColumn("{task.description}"), BarColumn(bar_width=None), TimeElapsedColumn())
        with TwoLines(*columns, console=console, expand=True) as bar:
            task = bar.add_task("", total=None)

            def update(progress: "StudyProgress") -> None:
                bar.words = _study_progress_text(progress)
                bar.update(task, description=progress.stage, completed=progress.fraction, total=1.0)

            yield update
        return
    last = -_PLAIN_EVERY
    stage = ""

    def write(progress: "StudyProgress") -> None:
        nonlocal last, stage
        now = time.monotonic()
        if now - last >= _PLAIN_EVERY or progress.stage.partition(":")[0] != stage.partition(":")[0]:
            echo(f"{progress.stage}: {_study_progress_text(progress)}", err=True)
            last = now
            stage = progress.stage

    yield write


def _study_progress_text(progress: "StudyProgress") -> str:
    parts = [f"{progress.runs_done} of {progress.runs_total} runs"]
    if progress.rate > 0 and progress.evaluations_done < progress.evaluations_total:
        parts.append(f"{progress.rate:,.0f} evaluations/s")
    if progress.fraction < 1.0 and progress.seconds_left < inf:
        parts.append(f"{_study_duration_text(progress.seconds_left)} left")
    parts += [f"{name} {run.error:.4f}" for name, run in progress.best.items()]
    return ", ".join(parts)


def _is_study_interrupt(error: BaseException | None) -> bool:
    """Whether an error was caused by Ctrl-C, which Numba turns into a SystemError while it loads code."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _study_duration_text(seconds: float) -> str:
    """Return a duration as text."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


ENOUGH_RUNS = 4
"""For two separate samples the exact Mann-Whitney test gives p = 0.1 with 3 runs each, and p = 0.029 with 4."""

ENOUGH_DATASETS = 6
"""For paired results the exact Wilcoxon test gives p = 0.0625 with 5 data sets, and p = 0.031 with 6."""

plan_commands = typer.Typer(
    cls=CommandGroup, rich_markup_mode=None, no_args_is_help=True, help="Show the built-in plans or check your own."
)


@plan_commands.command(cls=Command)
def show(
    name: PlanName,
    specification: Annotated[
        str | None,
        option(
            "NAME",
            "Print one specification of a multiverse: of a plan, a file or a folder.",
            "--specification",
            "--reading",
        ),
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
    from pqswarm.study import PLANS, format_plan, load_plan, read_study

    is_folder = name not in PLANS and Path(name).is_dir()
    plan = read_study(name).plan if is_folder else load_plan(name)
    return format_plan(plan.plan_for(plan.named_specification(specification)))


@plan_commands.command(cls=Command)
def check(
    path: Annotated[Path, argument("FILE", "Plan file in TOML.", dir_okay=False)], changes: Changes = None
) -> None:
    """Check a plan without running it.

    Example: pqswarm plan check my-study.toml
    """
    from pqswarm.study import load_plan
    from pqswarm.study.plan import DatasetPlan, parse_changes
    from pqswarm.study.run import read_own_data, time_estimators

    plan = load_plan(path, parse_changes(changes or ()))
    cells = list(plan.cells().values())
    runs = sum(cell.n_runs for cell in cells)
    own = [read_own_data(cell) for cell in cells]
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
    for name, seconds in (time_estimators(plan, own[0]) if own[0] is not None else {}).items():
        total = _study_duration_text(seconds * budget / len(plan.classifiers))
        typer.echo(f"{name}: about {seconds:.2g} s per subset, {total} for its evaluations on one core.")
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
