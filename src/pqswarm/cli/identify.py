"""``pqswarm identify``: say what happened in recordings."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from errno import EPIPE
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqswarm._base.files import write_atomically
from pqswarm._base.text import count_text, file_text
from pqswarm.cli.analysis_options import (
    ANALYSIS_OPTIONS,
    Channels,
    Frequency,
    MaxMegabytes,
    ModelFile,
    Nominal,
    Rate,
    ReferenceChoice,
    SiteFile,
    read_analysis_options,
)
from pqswarm.cli.command import name_options
from pqswarm.cli.options import Stopped, check_ending, check_folder, check_writable
from pqswarm.cli.terminal import echo
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.identify import Failure, Verdict
    from pqswarm.identify.show.page import PageRecording
    from pqswarm.recordings import RecordingSource, Site

__all__ = ["identify"]


def identify(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILES", help="Recordings (COMTRADE, PQDIF, CSV, npz), or folders of them."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
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
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
) -> None:
    """Say what happened in recordings, a line per event.

    By the rules of IEEE 1159, and by a trained model. One bad file does not stop the others; the exit code is 1 if any
    failed.

    Example: pqswarm identify fault.cfg --html fault.html
    """
    from pqswarm.identify import find_recordings, identify_file

    for name in files if as_json else ():
        if name.lower().endswith(".json"):
            raise PqswarmError(f"--json takes no file, it prints: leave {name!r} out, or write > {name}.")
    if steady is not None:
        check_ending("--steady", steady, [".csv", ".npz"])
    if csv is not None:
        check_ending("--csv", csv, [".csv"])
    if html is not None:
        check_ending("--html", html, [".html", ".htm"])
    if plot is not None:
        check_folder(plot, "--plot")
    wanted = [*filter(None, (csv, html, *(_steady_files(steady).values() if steady is not None else ())))]
    if len(set(map(realpath, wanted))) < len(wanted):
        raise PqswarmError("--csv, --html and --steady must name different files.")
    read = {realpath(name) for name in (*files, model) if name is not None}
    for path in wanted:
        if realpath(path) in read:
            raise PqswarmError(f"{path} is read: give the file to write another name.")
        check_writable(path, overwrite)
    options = read_analysis_options(
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
    done = _Done(as_json, keep=html is not None, table=csv is not None)
    artist = _Artist(plot, steady, overwrite, as_json)
    finished, stopped = 0, False
    done.begin()
    try:
        for failure in missing:
            done.fail(failure)
        for path in paths:
            if done.unprinted and not wanted and plot is None:
                break
            if len(paths) > 1:
                echo(f"[{finished + 1}/{len(paths)}] {file_text(path)}", err=True)
            for found in identify_file(path, **options, after=artist.after):
                done.add(found)
            finished += 1
    except KeyboardInterrupt:
        stopped = True
    done.end()
    finder = _Finder({file_text(path): path for path in paths}, options["site"], options["reading"])
    written = list(done.write(csv, html, finder.find))
    for path in written:
        echo(f"wrote {file_text(path)}", err=as_json)
    if stopped:
        raise Stopped(
            f"stopped after {finished} of {count_text(len(paths), 'file')}: {count_text(done.n_events, 'event')}, "
            f"{count_text(len(done.failures), 'failure')}"
            + (f"; {', '.join(map(file_text, written))} holds them." if written else ".")
        )
    if done.unprinted and done.unprinted.errno != EPIPE:  # nobody who reads no further has to be told
        raise PqswarmError(f"what was found cannot be printed: {done.unprinted.strerror or done.unprinted}.")
    if done.failures or done.unprinted:
        if done.failures and len(paths) > 1:
            echo(f"pqswarm: {count_text(len(done.failures), 'failure')} in {len(paths)} files, see above.", err=True)
        raise typer.Exit(1)


@dataclass
class _Done:
    """What was found so far: printed at once, and as much of it kept as will be written."""

    as_json: bool
    keep: bool
    table: bool
    rows: list[dict[str, Any]] = field(default_factory=list)
    recordings: "list[PageRecording]" = field(default_factory=list)
    failures: "list[Failure]" = field(default_factory=list)
    file: str = ""
    said: set[str] = field(default_factory=set)
    n_events: int = 0
    n_recordings: int = 0
    unprinted: OSError | None = None

    def begin(self) -> None:
        if self.as_json:
            self.print('{"recordings": [')

    def print(self, text: str) -> None:
        """Print what was found; where that is not possible, the files are written all the same."""
        self.unprinted = echo(text, nl=not self.as_json) or self.unprinted

    def add(self, found: "Verdict | Failure") -> None:
        from pqswarm.identify import Failure
        from pqswarm.identify.folder.batch import explain

        if isinstance(found, Failure):
            self.fail(found)
            return
        try:
            rows, text = self._describe(found)
        except Exception as error:  # noqa: BLE001 (whatever happens, it is this recording's failure)
            self.fail(explain(error, found.path, found.source))
            return
        self.rows += rows if self.table else ()
        self.n_events += sum(row["kind"] != "none" for row in rows)
        self.print(text)
        self.n_recordings += 1

    def _describe(self, found: "Verdict") -> tuple[list[dict[str, Any]], str]:
        """Rows and text of a verdict, which is kept if it will be shown."""
        from pqswarm.identify.show.lines import json_text

        rows = found.rows()
        if self.as_json:
            text = ("," if self.n_recordings else "") + "\n" + json_text(_as_dict(found), indent=1)
        else:
            if found.path != self.file:
                self.file, self.said = found.path, set()
            text = _text(found, rows, self.said) + "\n"
        if self.keep:
            from pqswarm.identify.show.page import PageRecording

            self.recordings.append(PageRecording.of(found))
        return rows, text

    def fail(self, failure: "Failure") -> None:
        failure = replace(failure, reason=name_options(failure.reason, ANALYSIS_OPTIONS))
        self.failures.append(failure)
        echo(f"pqswarm: {failure}", err=True)

    def end(self) -> None:
        from pqswarm.identify.show.lines import json_text

        if self.as_json:
            self.print('\n], "failures": ' + json_text([one.as_dict() for one in self.failures], indent=1) + "}\n")

    def write(
        self, csv: Path | None, html: Path | None, find: "Callable[[Verdict], RecordingSource | None]"
    ) -> Iterator[Path]:
        if csv is not None:
            from pqswarm.identify.show.lines import csv_lines

            yield write_atomically(csv, csv_lines(self.rows))
        if html is not None:
            from pqswarm.identify.show.page import page_html

            reasons = [str(failure) for failure in self.failures]
            yield write_atomically(html, page_html(self.recordings, reasons, find=find))


def _as_dict(verdict: "Verdict") -> dict[str, Any]:
    """The verdict, and the measurements behind it."""
    found = verdict.characterisation
    return {**verdict.as_dict(), "characterisation": None if found is None else found.as_dict()}


def _text(verdict: "Verdict", rows: list[dict[str, Any]], said: set[str]) -> str:
    """A heading, a line per event, what 1 pu is, and the notes that were not said before."""
    from pqswarm.identify.show.lines import heading, text_lines
    from pqswarm.identify.show.words import voltage_text

    references: dict[str, list[str]] = {}
    for one in verdict.references:
        references.setdefault(f"{voltage_text(one.volts)} ({one.source})", []).append(one.channel)
    ones = (
        list(references) if len(references) == 1 else [f"{', '.join(who)} {what}" for what, who in references.items()]
    )
    notes = [text for text in dict.fromkeys((*verdict.notes, *verdict.caveats)) if text not in said]
    said.update(notes)
    return "\n".join(
        [
            heading(rows[0]) if rows else verdict.source,
            *(f"  {line}" for line in text_lines(rows)),
            f"  1 pu: {'; '.join(ones)}; {verdict.frequency:.2f} Hz",
            *(f"  note: {name_options(text, ANALYSIS_OPTIONS)}" for text in notes),
        ]
    )


@dataclass
class _Artist:
    """Writes what needs the recording itself: figures and steady quantities."""

    figures: Path | None
    steady: Path | None
    overwrite: bool
    quiet: bool
    number: int = 0

    def after(self, source: "RecordingSource", verdict: "Verdict") -> None:
        self.number += 1
        if self.figures is not None:
            self._draw(source, verdict, self.figures)
        if self.steady is not None:
            self._write_steady(verdict, self.steady)

    def _draw(self, source: "RecordingSource", verdict: "Verdict", folder: Path) -> None:
        from pqswarm.report.style import save_figure

        # Names in a file are a stranger's: only letters, digits, point and dash of the last part are used.
        last = (verdict.source or "recording").replace("\\", "/").rsplit("/", 1)[-1]
        name = re.sub(r"[^\w.-]+", "_", last).strip("._")[:80] or "recording"
        path = folder / f"{self.number:03d}-{name}.png"
        check_writable(path, self.overwrite)
        written = save_figure(verdict.plot(source), path)
        echo(f"drew {file_text(written)}", err=self.quiet)

    def _write_steady(self, verdict: "Verdict", path: Path) -> None:
        found = verdict.characterisation
        series = None if found is None else found.require_series().steady
        if series is None or not series.n_windows:
            raise PqswarmError("has no steady quantities: it is too short for them.")
        number = f"-{self.number}" if self.number > 1 else ""  # the first recording gets the name, others a number
        for per, one in _steady_files(path.with_stem(f"{path.stem}{number}")).items():
            if number:
                check_writable(one, self.overwrite)
            series.write(one, per=per, start=verdict.start)
            echo(f"wrote {file_text(one)}", err=self.quiet)


def _steady_files(path: Path) -> dict[str, Path]:
    """The files of a recording by what a row stands for; an .npz holds both."""
    if path.suffix.lower() == ".npz":
        return {"window": path}
    return {"window": path, "10 min": path.with_stem(f"{path.stem}-10min")}


@dataclass
class _Finder:
    """Opens recordings again for their figures, as they were opened to be judged; the last file stays open."""

    paths: dict[str, Path]
    site: "Site | None"
    reading: dict[str, Any]
    last: str = ""
    sources: "tuple[RecordingSource, ...]" = ()

    def find(self, verdict: "Verdict") -> "RecordingSource | None":
        """The recording of a verdict; None if it is not there any more."""
        from pqswarm.identify.folder.batch import open_for_analysis
        from pqswarm.identify.show.page import match_recording

        if verdict.path != self.last:
            self.last, self.sources = verdict.path, ()
            opened = open_for_analysis(self.paths[verdict.path], self.site, self.reading)
            self.sources = opened if self.site is None else tuple(map(self.site.apply, opened))
        return match_recording(verdict, self.sources)
