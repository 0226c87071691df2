"""``pqswarm train``: train a model that identifies events."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqswarm.cli.options import EventsPerClass, Jobs, Overwrite, Preset, Seed, Stopped, check_writable, read_levels
from pqswarm.cli.progress import progress_bars
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pqswarm.identify import Check, Model

__all__ = ["train"]


def complete_classifier(incomplete: str) -> list[str]:
    """Classifiers that begin with what was typed."""
    from pqswarm.evaluation import CLASSIFIERS

    return [name for name in CLASSIFIERS if name.startswith(incomplete)]


def train(
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.")] = Path("model.npz"),
    preset: Preset = "field",
    classifier: Annotated[
        str,
        typer.Option(
            help="kernel-nb, k-nn, gaussian-nb, lda, qda, nearest-centroid, or one of another package.",
            autocompletion=complete_classifier,
        ),
    ] = "kernel-nb",
    subset: Annotated[
        Path | None, typer.Option(help="File with the names of the features to use, one a line.", show_default="all")
    ] = None,
    search: Annotated[bool, typer.Option("--search", help="Search for the best subset of features.")] = False,
    algorithm: Annotated[str, typer.Option(help="Of the search.")] = "2d-upso",
    evaluations: Annotated[int, typer.Option(help="Of the search, for each bandwidth.")] = 20_000,
    events_per_class: EventsPerClass = 400,
    snr: Annotated[
        str, typer.Option(help="Noise levels in dB, separated by commas, dealt out to the events in turn.")
    ] = "20,25,30,35,40,45,50,60,75",
    seed: Seed = 0,
    check: Annotated[
        bool, typer.Option("--check", help="Then judge 100 held-out events of each class at each of five noise levels.")
    ] = False,
    jobs: Jobs = -1,
    overwrite: Overwrite = False,
) -> None:
    """Train a model on generated events, for `pqswarm identify --model FILE`.

    The bundled model is made by: pqswarm train --search
    """
    from pqswarm.events import get_preset
    from pqswarm.identify import check_model
    from pqswarm.identify import train as train_model

    check_writable(out, overwrite)
    if evaluations < 1:
        raise PqswarmError(f"--evaluations must be at least 1, not {evaluations}.")
    names = None if subset is None else _read_names(subset)
    levels, chosen = read_levels(snr), get_preset(preset)
    try:
        with progress_bars() as show:
            model = train_model(
                chosen,
                events_per_class,
                classifier,
                names,
                algorithm if search else None,
                max_evaluations=evaluations,
                snr=levels,
                seed=seed,
                n_jobs=jobs,
                progress=show,
            )
            written = model.save(out)
            checks = check_model(model, n_jobs=jobs, preset=chosen, progress=show) if check else ()
    except KeyboardInterrupt:
        raise Stopped("stopped; nothing was written." if not out.exists() else f"stopped; {out} is written.") from None
    _report(model, written, checks)


def _read_names(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PqswarmError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}.") from error
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _report(model: "Model", written: Path, checks: "Sequence[Check]") -> None:
    widest = model.subsets[0]
    typer.echo(
        f"wrote {written}: {len(model.labels)} events of {len(model.class_names)} classes, "
        f"{len(widest.names)} features ({model.classifier.name}), cross-validated error rate "
        f"{100 * widest.error:.1f} %, {written.stat().st_size / 1e6:.2f} MB"
    )
    for check in checks:
        typer.echo(
            f"{check.snr:g} dB: {100 * check.accuracy:.1f} % of {check.confusion.sum()} held-out events right, "
            f"{100 * check.group_accuracy:.1f} % by group; mean confidence {100 * check.confidence:.1f} %"
        )
    for check in checks:
        if check.snr == 40:
            typer.echo(f"\nat 40 dB (rows: true class, columns: verdict)\n{check.table()}")
