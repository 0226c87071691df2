"""``pqswarm train``: train a model that classifies events."""

from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqswarm._base.files import read_regular
from pqswarm._base.text import count_text, unit_text
from pqswarm.cli.options import (
    Jobs,
    Overwrite,
    Seed,
    check_ending,
    check_range,
    check_writable,
    complete_names,
    complete_preset,
    option,
    read_levels,
)
from pqswarm.cli.terminal import progress_bars
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pqswarm.identify import Model, ModelCheck
    from pqswarm.identify.training import Progress

_MAX_LIST = 1_000_000  # bytes of a file of names
_RATES = (12_800.0, 25_000.0, 6400.0, 3200.0, 1600.0, 1000.0)


def train(
    out: Annotated[Path, option("FILE", "File to write, in npz format.", "--out", "-o")] = Path("model.npz"),
    preset: Annotated[
        str,
        option(
            "NAME",
            "training, paper, paper-grid, paper-printed, field, field-extended, or a TOML file.",
            autocompletion=complete_preset,
        ),
    ] = "training",
    classifier: Annotated[
        str,
        option(
            "NAME",
            "kernel-nb, k-nn, gaussian-nb, lda, or one of a plugin.",
            autocompletion=complete_names("pqswarm.evaluation", "CLASSIFIERS"),
        ),
    ] = "kernel-nb",
    subset: Annotated[
        Path | None, option("FILE", "File with the names of the features to use, one per line.", show_default="all")
    ] = None,
    search: Annotated[
        bool | None,
        typer.Option(
            "--search/--no-search", help="Search for the best subset of features.", show_default="with training"
        ),
    ] = None,
    algorithm: Annotated[str, option("NAME", "Algorithm of the search.")] = "merit",
    evaluations: Annotated[int, option("N", "Subsets evaluated by the search, for each bandwidth.")] = 5000,
    events_per_class: Annotated[int, option("N", "Events of each class; with training, for each bandwidth.")] = 150,
    snr: Annotated[
        str, option("DB,...", "Noise levels in dB, separated by commas, assigned to the events in turn.")
    ] = "20,inf,25,40,30,60,35,inf,50",
    archive: Annotated[
        list[Path] | None,
        option("DIR", "Archive with corrected events to learn from; repeatable.", show_default="none"),
    ] = None,
    site: Annotated[
        Path | None,
        option("FILE", "Site file of corrected recordings whose station has none in the archive.", show_default="none"),
    ] = None,
    seed: Seed = 0,
    check: Annotated[
        bool, typer.Option("--check", help="Then test 50 held-out events of each class by noise level and by rate.")
    ] = False,
    jobs: Jobs = -1,
    overwrite: Overwrite = False,
) -> None:
    """Train a model on generated events.

    Use it: pqswarm identify recordings --model model.npz

    Train a model like the bundled one: pqswarm train

    Learn from corrected events: pqswarm train --archive june.archive
    """
    from pqswarm.identify import load_site
    from pqswarm.identify import train as train_model

    check_ending("--out", out, [".npz"])
    check_writable(out, overwrite)
    check_range("--evaluations", evaluations, 1, 1e9)
    if site is not None and not archive:
        raise PqswarmError("--site is for corrected recordings: add --archive, or omit it.")
    place = None if site is None else load_site(site)
    names = None if subset is None else _read_train_features(subset)
    levels = read_levels(snr)
    with progress_bars() as show:
        model = train_model(
            preset,
            events_per_class,
            classifier,
            names,
            algorithm if (preset == "training" if search is None else search) else None,
            max_evaluations=evaluations,
            snr=levels,
            corrections=archive or None,
            site=place,
            seed=seed,
            n_jobs=jobs,
            progress=show,
        )
        written = model.save(out)
    with progress_bars(f"{written} is written") as show:
        checks = _check_trained_model(model, preset, jobs, show) if check else {}
    _report_trained_model(model, written, checks)


def _read_train_features(path: Path) -> list[str]:
    try:
        text = read_regular(path, _MAX_LIST).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PqswarmError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}.") from error
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _check_trained_model(model: "Model", preset: str, jobs: int, show: "Progress") -> "dict[str, ModelCheck]":
    """Held-out events by noise level, at 12.8 kHz, and by rate, at 40 dB."""
    from pqswarm.identify import check_model

    levels = (20.0, 30.0, 40.0, 50.0, inf)
    checks = check_model(model, 50, levels, n_jobs=jobs, preset=preset, rate=_RATES[0], progress=show)
    by_noise = {f"{level:g} dB, {_RATES[0]:g} Hz": one for level, one in zip(levels, checks, strict=True)}
    by_rate = {
        f"40 dB, {rate:g} Hz": check_model(model, 50, [40.0], n_jobs=jobs, preset=preset, rate=rate, progress=show)[0]
        for rate in _RATES[1:]
    }
    return {**by_noise, **by_rate}


def _report_trained_model(model: "Model", written: Path, checks: "Mapping[str, ModelCheck]") -> None:
    widest = model.subsets[0]
    typer.echo(
        f"wrote {written}: {len(model.tables[0].labels)} events of {len(model.class_names)} classes, "
        f"{len(widest.names)} features ({model.classifier.name}), cross-validated error rate "
        f"{100 * widest.error:.1f} %, {unit_text(written.stat().st_size, 'B')}"
    )
    if "corrections" in model.origin:
        used = model.origin["corrections"]
        followed = model.origin["corrections_followed"]
        typer.echo(f"{count_text(used, 'corrected event')} learned, {followed} classified as corrected")
    for title, check in checks.items():
        typer.echo(
            f"{title}: {100 * check.accuracy:.1f} % of {check.n_events} held-out events correct, "
            f"{100 * check.type_accuracy:.1f} % by type; mean confidence {100 * check.confidence:.1f} %"
        )
    for title, check in checks.items():
        if title.startswith("40 dB, 12800"):
            typer.echo(f"\nat {title} (rows: true class, columns: predicted class)\n{check.table()}")
