"""``pqswarm study``: run a study, or resume one."""

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqswarm.cli.options import Jobs, Stopped
from pqswarm.cli.plan import open_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from pqswarm.study import StudyProgress

__all__ = ["study"]

_PLAIN_EVERY = 15.0  # seconds between lines where no bar can be drawn


def study(
    plan: Annotated[str, typer.Argument(help="quick, paper, smoke, or the path of a plan in TOML.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder of the study; by default study-NAME.", show_default=False)
    ] = None,
    jobs: Jobs = -1,
    device: Annotated[str, typer.Option(help="Where to evaluate subsets: cpu or cuda.")] = "cpu",
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.5:8786.", show_default=False)
    ] = None,
) -> None:
    """Run a study: search, test, compare, and write a report.

    It can be stopped, or killed, at any moment: run the same command to resume it.

    Example: pqswarm study quick
    """
    from pqswarm.report import write_report
    from pqswarm.study import run_study

    chosen = open_plan(plan)
    folder = Path(f"study-{Path(plan).stem}") if out is None else out
    start = time.monotonic()
    try:
        display = _display()
        with display as show:
            run_study(chosen, folder, jobs=jobs, device=device, cluster=cluster, progress=show)
        written = write_report(folder, "html")
    except KeyboardInterrupt:
        given = {"--jobs": jobs if jobs != -1 else None, "--device": device if device != "cpu" else None}
        given["--cluster"] = cluster
        options = [part for name, value in given.items() if value is not None for part in (name, str(value))]
        again = shlex.join(["pqswarm", "study", plan, "--out", str(folder), *options])
        raise Stopped(f"stopped; what was found is kept. Resume with: {again}") from None
    if any(display.spent.values()):
        parts = ", ".join(f"{what} {_clock(seconds)}" for what, seconds in display.spent.items())
        typer.echo(f"time of all workers together: {parts}", err=True)
    typer.echo(f"done in {_clock(time.monotonic() - start)}; the report is {written.resolve()}")


class _display:  # noqa: N801 (used like a function)
    """Shows progress: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def __enter__(self) -> "Callable[[StudyProgress], None]":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        self._bar = None
        self._last = (-_PLAIN_EVERY, "")
        if console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[text]}"))
            self._bar = Progress(*columns, TimeElapsedColumn(), console=console)
            self._task = self._bar.add_task("", total=None, text="")
            self._bar.start()
        return self._show

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _show(self, progress: "StudyProgress") -> None:
        self.spent = progress.spent
        text = _in_words(progress)
        if self._bar is not None:
            self._bar.update(
                self._task,
                description=progress.stage,
                completed=progress.evaluations_done,
                total=progress.evaluations_total,
                text=text,
            )
            return
        now = time.monotonic()
        if now - self._last[0] >= _PLAIN_EVERY or progress.stage.partition(":")[0] != self._last[1].partition(":")[0]:
            typer.echo(f"{progress.stage}: {text}", err=True)
            self._last = (now, progress.stage)


def _in_words(progress: "StudyProgress") -> str:
    parts = [f"{progress.runs_done} of {progress.runs_total} runs"]
    if progress.rate > 0 and progress.evaluations_done < progress.evaluations_total:
        parts += [f"{progress.rate:,.0f} evaluations/s", f"{_clock(progress.seconds_left)} left"]
    parts += [f"{name} {error:.4f}" for name, error in progress.best.items()]
    return ", ".join(parts)


def _clock(seconds: float) -> str:
    """Return a time in words."""
    if seconds == float("inf"):
        return "unknown time"
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
