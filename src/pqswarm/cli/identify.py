"""``pqswarm identify``: say what happened in recordings."""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqswarm.cli.options import Stopped, check_writable
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.identify import Model, Verdict
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
    level = _read_reference(reference)
    chosen = default_model() if model is None else load_model(model)
    paths, failures = _find(files)
    options = _Options(chosen, channel, level, nominal, rate, frequency)
    verdicts: list[Verdict] = []
    try:
        for number, path in enumerate(paths, 1):
            if len(paths) > 1:
                _say_progress(number, len(paths), path)
            for recording, verdict, reason in options.judge(path):
                if recording is None or verdict is None:
                    failures.append(reason)
                    typer.echo(f"pqswarm: {reason}", err=True)
                    continue
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
        _write_summary(verdicts, failures, summary)
        typer.echo(f"wrote {summary}", err=as_json)
    if failures:
        raise typer.Exit(1)


class _Options:
    """How recordings are to be judged."""

    def __init__(
        self,
        model: "Model",
        channels: Sequence[str] | None,
        reference: str | float,
        nominal: float | None,
        rate: float | None,
        frequency: float | None,
    ) -> None:
        self.model, self.channels, self.reference, self.nominal = model, channels or None, reference, nominal
        self.rate, self.frequency = rate, frequency

    def judge(self, path: Path) -> "Iterator[tuple[Recording | None, Verdict | None, str]]":
        """Yield recording and verdict, or a reason, for each recording of a file."""
        from pqswarm.identify import identify as verdict_on
        from pqswarm.recordings import read_all

        try:
            recordings = read_all(path, sampling_rate=self.rate, nominal_frequency=self.frequency)
        except PqswarmError as error:
            yield None, None, _one_line(error)
            return
        for recording in recordings:
            try:
                verdict = verdict_on(
                    recording, self.model, self.channels, reference=self.reference, nominal_voltage=self.nominal
                )
            except PqswarmError as error:
                yield None, None, _named(recording.source or str(path), _one_line(error))
            else:
                yield recording, verdict, ""


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _named(source: str, reason: str) -> str:
    return reason if source in reason else f"{source}: {reason}"


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


def _say_progress(number: int, total: int, path: Path) -> None:
    print(f"[{number}/{total}] {path}", file=sys.stderr, flush=True)  # noqa: T201


def _draw(recording: "Recording", verdict: "Verdict", folder: Path, number: int, quiet: bool) -> None:
    from pqswarm.report.style import save_figure

    # Names in a file are a stranger's: only letters, digits, point and dash of the last part are used.
    name = re.sub(r"[^\w.-]+", "_", (verdict.source or "recording").replace("\\", "/").rsplit("/", 1)[-1]).strip("._")
    written = save_figure(verdict.plot(recording), folder / f"{number:03d}-{name[:80] or 'recording'}.png")
    typer.echo(f"drew {written}", err=quiet)


def _write_summary(verdicts: "Sequence[Verdict]", failures: Sequence[str], path: Path) -> None:
    from pqswarm.identify.summary import csv_text, html_text

    text = html_text(verdicts, failures) if path.suffix.lower() == ".html" else csv_text(verdicts)
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise PqswarmError(f"cannot write {path}: {error.strerror or error}.") from error
