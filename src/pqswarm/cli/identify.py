"""``pqswarm identify``: say what happened in recordings."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqswarm._files import write_atomically
from pqswarm.cli.options import Stopped, check_writable
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.identify import Verdict
    from pqswarm.recordings import Recording

__all__ = ["identify"]

_SUMMARIES = (".csv", ".html")


def identify(
    files: Annotated[list[Path], typer.Argument(help="Recordings (COMTRADE, PQDIF, CSV, npz), or folders of them.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Folder to draw a figure of each recording into.")] = None,
    channel: Annotated[
        list[str] | None, typer.Option("--channel", "-c", help="Name or phase of a channel to look at; repeatable.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="A model of `pqswarm train`.", show_default="the bundled one")
    ] = None,
    reference: Annotated[
        str, typer.Option(help="What 1 pu is: auto, nominal, pre-event, or a voltage in volts (RMS).")
    ] = "auto",
    nominal: Annotated[float | None, typer.Option(help="Nominal voltage as measured, in volts (RMS).")] = None,
    rate: Annotated[float | None, typer.Option(help="Sampling rate in Hz, instead of what the file says.")] = None,
    frequency: Annotated[float | None, typer.Option(help="Nominal frequency in Hz, likewise.")] = None,
    summary: Annotated[Path | None, typer.Option(help="Write a row per channel to a .csv or .html file.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the summary if it exists.")] = False,
) -> None:
    """Say what happened in recordings: by the rules of IEEE 1159, and by a trained model.

    One bad file does not stop the others; the exit code is 1 if any failed.

    Example: pqswarm identify fault.cfg --plot figures
    """
    from pqswarm.identify import default_model, load_model

    if summary is not None:
        if summary.suffix.lower() not in _SUMMARIES:
            raise PqswarmError(f"--summary must end in {' or '.join(_SUMMARIES)}, not {summary.name!r}.")
        check_writable(summary, overwrite)
    judging = {
        "model": default_model() if model is None else load_model(model),
        "channels": channel or None,
        "reference": _read_reference(reference),
        "nominal_voltage": nominal,
    }
    paths, failures = _find(files)
    verdicts: list[Verdict] = []
    try:
        for number, path in enumerate(paths, 1):
            if len(paths) > 1:
                typer.echo(f"[{number}/{len(paths)}] {path}", err=True)
            for found in _judge(path, {"sampling_rate": rate, "nominal_frequency": frequency}, judging):
                if isinstance(found, str):
                    failures.append(found)
                    typer.echo(f"pqswarm: {found}", err=True)
                    continue
                recording, verdict = found
                verdicts.append(verdict)
                if not as_json:
                    typer.echo(verdict.text() + "\n")
                if plot is not None:
                    _draw(recording, verdict, plot, len(verdicts), as_json)
    except KeyboardInterrupt:
        raise Stopped(f"stopped after {len(verdicts)} recordings.") from None
    if as_json:
        import json

        content = {"recordings": [verdict.as_dict() for verdict in verdicts], "failures": failures}
        typer.echo(json.dumps(content, indent=1, ensure_ascii=False))
    if summary is not None:
        from pqswarm.identify.page import page_html
        from pqswarm.identify.summary import csv_text

        as_page = summary.suffix.lower() == ".html"
        write_atomically(summary, page_html(verdicts, failures) if as_page else csv_text(verdicts))
        typer.echo(f"wrote {summary}", err=as_json)
    if failures:
        raise typer.Exit(1)


def _judge(path: Path, reading: dict[str, Any], judging: dict[str, Any]) -> "Iterator[tuple[Recording, Verdict] | str]":
    """Yield recording and verdict, or why there is none, for each recording of a file."""
    from pqswarm.identify import identify as judge
    from pqswarm.recordings import read_all

    try:
        recordings = read_all(path, **reading)
    except PqswarmError as error:
        yield " ".join(str(error).split())
        return
    for recording in recordings:
        try:
            yield recording, judge(recording, **judging)
        except PqswarmError as error:
            reason, source = " ".join(str(error).split()), recording.source or str(path)
            yield reason if source in reason else f"{source}: {reason}"


def _read_reference(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _find(files: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Recordings in the order given; those of a folder by name. What is missing is told at once."""
    from pqswarm.recordings import READERS

    paths: list[Path] = []
    failures: list[str] = []
    suffixes = tuple(suffix for reader in READERS.values() for suffix in reader.suffixes)
    for path in files:
        if not path.is_dir():
            paths.append(path)
            continue
        inside = sorted(one for one in path.rglob("*") if one.suffix.lower() in suffixes and one.is_file())
        if not inside:
            failures.append(f"{path} has no recordings ({', '.join(suffixes)}).")
            typer.echo(f"pqswarm: {failures[-1]}", err=True)
        paths += inside
    return list(dict.fromkeys(paths)), failures


def _draw(recording: "Recording", verdict: "Verdict", folder: Path, number: int, quiet: bool) -> None:
    from pqswarm.report.style import save_figure

    # Names in a file are a stranger's: only letters, digits, point and dash of the last part are used.
    name = re.sub(r"[^\w.-]+", "_", (verdict.source or "recording").replace("\\", "/").rsplit("/", 1)[-1]).strip("._")
    written = save_figure(verdict.plot(recording), folder / f"{number:03d}-{name[:80] or 'recording'}.png")
    typer.echo(f"drew {written}", err=quiet)
