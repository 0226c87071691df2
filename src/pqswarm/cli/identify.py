"""``pqswarm identify``: say what happened in recordings."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqswarm._files import write_atomically
from pqswarm.cli.judging import (
    Channels,
    Frequency,
    MaxMegabytes,
    ModelFile,
    Nominal,
    Rate,
    ReferenceChoice,
    SiteFile,
    count,
    name_options,
    read_judging,
)
from pqswarm.cli.options import Stopped, check_writable
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.identify import Failure, Verdict
    from pqswarm.recordings import RecordingSource

__all__ = ["identify"]


def identify(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES", help="Recordings (COMTRADE, PQDIF, CSV, npz), or folders of them."),
    ],
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print everything as JSON.")] = False,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a row per event as CSV.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with all events, to forward.")] = None,
    steady: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write steady quantities per 10/12 cycles and 10 minutes (.csv or .npz)."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="DIR", help="Draw a figure of each recording into it.")] = None,
    site: SiteFile = None,
    nominal: Nominal = None,
    reference: ReferenceChoice = None,
    channel: Channels = None,
    model: ModelFile = None,
    rate: Rate = None,
    frequency: Frequency = None,
    max_mb: MaxMegabytes = None,
    summary: Annotated[Path | None, typer.Option(metavar="FILE", help="Old name of --csv and --html.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", metavar="", help="Replace files that exist.")] = False,
) -> None:
    """Say what happened in recordings, a line per event: by the rules of IEEE 1159, and by a trained model.

    One bad file does not stop the others; the exit code is 1 if any failed.

    Example: pqswarm identify fault.cfg --html fault.html
    """
    from pqswarm.identify import find_recordings, identify_file

    if summary is not None:
        csv, html = _read_summary(summary, csv, html)
    for path in filter(None, (csv, html, steady)):
        check_writable(path, overwrite)
    if steady is not None and steady.suffix.lower() not in (".csv", ".npz"):
        raise PqswarmError(f"--steady must end in .csv or .npz, not {steady.name!r}.")
    judging = read_judging(
        site=site,
        model=model,
        channel=channel,
        reference=reference,
        nominal=nominal,
        rate=rate,
        frequency=frequency,
        max_mb=max_mb,
    )
    paths, missing = find_recordings(files)
    done = _Done(as_json, keep=html is not None)
    artist = _Artist(plot, steady, html is not None, overwrite, as_json)
    finished, stopped = 0, False
    done.begin()
    try:
        for failure in missing:
            done.fail(failure)
        for path in paths:
            if len(paths) > 1:
                typer.echo(f"[{finished + 1}/{len(paths)}] {path}", err=True)
            for found in identify_file(path, **judging, after=artist.after):
                done.add(found)
            finished += 1
    except KeyboardInterrupt:
        stopped = True
    done.end()
    written = list(done.write(csv, html, artist.find))
    for path in written:
        typer.echo(f"wrote {path}", err=as_json)
    if stopped:
        raise Stopped(
            f"stopped after {finished} of {count(len(paths), 'file')}: {count(done.n_events, 'event')}, "
            f"{count(len(done.failures), 'failure')}"
            + (f"; {', '.join(map(str, written))} holds them." if written else ".")
        )
    if done.failures:
        if len(paths) > 1:
            typer.echo(f"pqswarm: {count(len(done.failures), 'failure')} in {len(paths)} files, see above.", err=True)
        raise typer.Exit(1)


def _read_summary(summary: Path, csv: Path | None, html: Path | None) -> tuple[Path | None, Path | None]:
    """What ``--summary`` meant in earlier versions."""
    from pqswarm._options import warn_renamed

    warn_renamed("--summary", "--csv or --html")
    if summary.suffix.lower() == ".csv":
        return csv or summary, html
    if summary.suffix.lower() == ".html":
        return csv, html or summary
    raise PqswarmError(f"--summary must end in .csv or .html, not {summary.name!r}.")


@dataclass
class _Done:
    """What was found so far: printed at once, and as much of it kept as will be written."""

    as_json: bool
    keep: bool
    rows: list[dict[str, Any]] = field(default_factory=list)
    verdicts: "list[Verdict]" = field(default_factory=list)
    failures: "list[Failure]" = field(default_factory=list)
    file: str = ""
    said: set[str] = field(default_factory=set)
    n_events: int = 0
    n_recordings: int = 0

    def begin(self) -> None:
        if self.as_json:
            typer.echo('{"recordings": [', nl=False)

    def add(self, found: "Verdict | Failure") -> None:
        from pqswarm.identify import Failure
        from pqswarm.identify.lines import json_text

        if isinstance(found, Failure):
            self.fail(found)
            return
        rows = found.rows()
        self.rows += rows
        self.n_events += sum(row["kind"] != "none" for row in rows)
        if self.keep:
            self.verdicts.append(found)
        if self.as_json:
            typer.echo(("," if self.n_recordings else "") + "\n" + json_text(found.as_dict(), indent=1), nl=False)
        else:
            if found.path != self.file:
                self.file, self.said = found.path, set()
            typer.echo(_text(found, rows, self.said) + "\n")
        self.n_recordings += 1

    def fail(self, failure: "Failure") -> None:
        failure = replace(failure, reason=name_options(failure.reason))
        self.failures.append(failure)
        typer.echo(f"pqswarm: {failure}", err=True)

    def end(self) -> None:
        from pqswarm.identify.lines import json_text

        if self.as_json:
            typer.echo('\n], "failures": ' + json_text([one.as_dict() for one in self.failures], indent=1) + "}")

    def write(
        self, csv: Path | None, html: Path | None, find: "Callable[[Verdict], RecordingSource | None]"
    ) -> Iterator[Path]:
        if csv is not None:
            from pqswarm.identify.lines import csv_lines

            yield write_atomically(csv, csv_lines(self.rows))
        if html is not None:
            from pqswarm.identify.page import page_html

            reasons = [str(failure) for failure in self.failures]
            yield write_atomically(html, page_html(self.verdicts, reasons, find=find))


def _text(verdict: "Verdict", rows: list[dict[str, Any]], said: set[str]) -> str:
    """A heading, a line per event, what 1 pu is, and the notes that were not said before."""
    from pqswarm.identify.lines import heading, text_lines
    from pqswarm.identify.words import voltage_text

    found = verdict.characterisation
    references: dict[str, list[str]] = {}
    for one in found.channels:
        references.setdefault(f"{voltage_text(one.reference)} ({one.reference_source})", []).append(one.name)
    ones = (
        list(references) if len(references) == 1 else [f"{', '.join(who)} {what}" for what, who in references.items()]
    )
    notes = [text for text in dict.fromkeys((*verdict.notes, *verdict.caveats)) if text not in said]
    said.update(notes)
    return "\n".join(
        [
            heading(rows[0]) if rows else verdict.source,
            *(f"  {line}" for line in text_lines(rows)),
            f"  1 pu: {'; '.join(ones)}; {found.frequency:.2f} Hz",
            *(f"  note: {name_options(text)}" for text in notes),
        ]
    )


@dataclass
class _Artist:
    """Writes what needs the recording itself: figures and steady quantities."""

    figures: Path | None
    steady: Path | None
    keep: bool
    overwrite: bool
    quiet: bool
    number: int = 0
    sources: "dict[int, RecordingSource]" = field(default_factory=dict)

    def after(self, source: "RecordingSource", verdict: "Verdict") -> None:
        from pqswarm.recordings import Recording

        self.number += 1
        if self.keep and not isinstance(source, Recording):  # its samples are in the file
            self.sources[id(verdict)] = source
        if self.figures is not None:
            self._draw(source, verdict, self.figures)
        if self.steady is not None:
            self._write_steady(verdict, self.steady)

    def find(self, verdict: "Verdict") -> "RecordingSource | None":
        """The recording of a verdict, as it was read; what was in memory is read again."""
        from pqswarm.identify.page import find_recording

        return self.sources.get(id(verdict)) or find_recording(verdict)

    def _draw(self, source: "RecordingSource", verdict: "Verdict", folder: Path) -> None:
        from pqswarm.report.style import save_figure

        # Names in a file are a stranger's: only letters, digits, point and dash of the last part are used.
        last = (verdict.source or "recording").replace("\\", "/").rsplit("/", 1)[-1]
        name = re.sub(r"[^\w.-]+", "_", last).strip("._")[:80] or "recording"
        written = save_figure(verdict.plot(source), folder / f"{self.number:03d}-{name}.png")
        typer.echo(f"drew {written}", err=self.quiet)

    def _write_steady(self, verdict: "Verdict", path: Path) -> None:
        series = verdict.characterisation.steady
        if not series.n_windows:
            raise PqswarmError("has no steady quantities: it is too short for them.")
        if self.number > 1:  # the first recording gets the name, others a number
            path = path.with_stem(f"{path.stem}-{self.number}")
            check_writable(path, self.overwrite)
        series.write(path)
        typer.echo(f"wrote {path}", err=self.quiet)
