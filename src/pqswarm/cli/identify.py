"""``pqswarm identify``: identify the events in recordings."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from errno import EPIPE
from functools import lru_cache
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqswarm._base.files import write_atomically
from pqswarm._base.text import count_text, file_text
from pqswarm.cli import analysis_options as analysis
from pqswarm.cli.command import name_options
from pqswarm.cli.options import Stopped, argument, check_ending, check_writable, option
from pqswarm.cli.terminal import echo
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.identify import Analysis, Failure
    from pqswarm.identify.show.page import ListedRecording
    from pqswarm.identify.show.sheet import SheetBook
    from pqswarm.recordings import RecordingSource, Site


def identify(
    files: Annotated[
        list[str], argument("FILES", "Recordings (COMTRADE, PQDIF, SEL, CSV, npz, mat, zip), or folders.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    csv: Annotated[Path | None, option("FILE", "Write one row per event as CSV.")] = None,
    html: Annotated[Path | None, option("FILE", "Write a self-contained page with all events.")] = None,
    pdf: Annotated[Path | None, option("FILE", "Write a one-page PDF summary per incident.")] = None,
    site: analysis.SiteFile = None,
    nominal: analysis.Nominal = None,
    reference: analysis.ReferenceChoice = None,
    channel: analysis.Channels = None,
    state: analysis.States = None,
    model: analysis.ModelFile = None,
    rate: analysis.Rate = None,
    frequency: analysis.Frequency = None,
    max_mb: analysis.MaxMegabytes = None,
    archive: Annotated[
        Path | None, option("DIR", "Keep the results in this archive; what is in it is not analysed again.")
    ] = None,
    reanalyze: Annotated[
        bool, typer.Option("--reanalyze", help="Analyze recordings again even if they are in the archive.")
    ] = False,
    jobs: Annotated[int, option("N", "Processes; -1 uses all cores.", "--jobs", "-j")] = 1,
    cluster: Annotated[
        str | None, option("ADDRESS", "Analyse on the Dask cluster of this scheduler, which sees the same files.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
) -> None:
    """Identify the events in recordings, one line per event.

    Rules (IEEE 1159, IEC 61000-4-30) detect and classify events; a trained model classifies them as well. A file
    that fails does not stop the others; the exit code is then 1.

    Example: pqswarm identify fault.cfg --html fault.html
    """
    from pqswarm._base.threads import effective_jobs
    from pqswarm.identify import Archive, find_recordings
    from pqswarm.identify.archive.backlog import identify_many

    for name in files if as_json else ():
        if name.lower().endswith(".json"):
            raise PqswarmError(f"--json prints to the standard output: omit {name!r}, or write > {name}.")
    if csv is not None:
        check_ending("--csv", csv, [".csv"])
    if html is not None:
        check_ending("--html", html, [".html", ".htm"])
    if pdf is not None:
        check_ending("--pdf", pdf, [".pdf"])
    wanted = [*filter(None, (csv, html, pdf))]
    read = {realpath(name) for name in (*files, model) if name is not None}
    for path in wanted:
        if realpath(path) in read:
            raise PqswarmError(f"{path} is an input: choose another output file.")
        check_writable(path, overwrite)
    if reanalyze and archive is None:
        raise PqswarmError("--reanalyze is for what is in an archive: add --archive, or omit it.")
    workers = 1 if cluster is not None else effective_jobs(jobs)
    if pdf is not None and (workers > 1 or cluster is not None):
        raise PqswarmError("--pdf needs the samples in this process: omit --jobs and --cluster.")
    options = analysis.read_analysis_options(site, model, channel, state, reference, nominal, rate, frequency, max_mb)
    paths, missing = find_recordings(files)
    results = _Results(as_json, keep=html is not None, table=csv is not None)
    sheets = _Sheets()
    finished, stopped = 0, False
    results.start()
    book = None if archive is None else Archive(archive)
    try:
        for failure in missing:
            results.fail(failure)
        for path, found, remark in identify_many(
            paths,
            options,
            model_path=model,
            archive=book,
            jobs=workers,
            cluster=cluster,
            again=reanalyze or pdf is not None,
            after=None if pdf is None else sheets.add,
        ):
            if results.unprinted and not wanted and book is None:
                break
            finished += 1
            if len(paths) > 1:
                said = f" ({remark})" if remark else ""
                echo(f"[{finished}/{len(paths)}] {file_text(path)}{said}", err=True)
            for one in found:
                results.add(one)
    except KeyboardInterrupt:
        stopped = True
    finally:
        if book is not None:
            book.close()
    results.end()
    find = _find_identified({file_text(path): path for path in paths}, options["site"], options["reading"])
    written = [*results.write(csv, html, find), *(sheets.write(pdf) if pdf is not None else ())]
    for path in written:
        echo(f"wrote {file_text(path)}", err=as_json)
    if stopped:
        raise Stopped(
            f"stopped after {finished} of {count_text(len(paths), 'file')}: {count_text(results.n_events, 'event')}, "
            f"{count_text(len(results.failures), 'failure')}"
            + (f"; written to {', '.join(map(file_text, written))}." if written else ".")
        )
    if results.unprinted and results.unprinted.errno != EPIPE:  # a closed pipe is not an error
        raise PqswarmError(f"the results cannot be printed: {results.unprinted.strerror or results.unprinted}.")
    if results.failures or results.unprinted:
        if results.failures and len(paths) > 1:
            echo(f"pqswarm: {count_text(len(results.failures), 'failure')} in {len(paths)} files, see above.", err=True)
        raise typer.Exit(1)


@dataclass
class _Results:
    """Results so far: printed at once; kept as far as they will be written."""

    as_json: bool
    keep: bool
    table: bool
    rows: list[dict[str, Any]] = field(default_factory=list)
    recordings: "list[ListedRecording]" = field(default_factory=list)
    failures: "list[Failure]" = field(default_factory=list)
    file: str = ""
    printed: set[str] = field(default_factory=set)
    n_events: int = 0
    n_recordings: int = 0
    unprinted: OSError | None = None

    def start(self) -> None:
        if self.as_json:
            self.print('{"recordings": [')

    def print(self, text: str) -> None:
        """Print a result; if that fails, files are still written."""
        self.unprinted = echo(text, nl=not self.as_json) or self.unprinted

    def add(self, found: "Analysis | Failure") -> None:
        from pqswarm.identify import Failure
        from pqswarm.identify.folder.batch import failure_of

        if isinstance(found, Failure):
            self.fail(found)
            return
        try:
            rows, text = self._describe(found)
        except Exception as error:  # noqa: BLE001 (any error is this recording's failure)
            self.fail(failure_of(error, found.path, found.source))
            return
        self.rows += rows if self.table else ()
        self.n_events += sum(row["type"] != "none" for row in rows)
        self.print(text)
        self.n_recordings += 1

    def _describe(self, found: "Analysis") -> tuple[list[dict[str, Any]], str]:
        """Rows and text of a verdict, which is kept for the page."""
        from pqswarm.identify.show.lines import json_text

        rows = found.rows()
        if self.as_json:
            text = ("," if self.n_recordings else "") + "\n" + json_text(found.as_dict(), indent=1)
        else:
            if found.path != self.file:
                self.file, self.printed = found.path, set()
            text = _text(found, rows, self.printed) + "\n"
        if self.keep:
            from pqswarm.identify.show.page import ListedRecording

            self.recordings.append(ListedRecording.of(found))
        return rows, text

    def fail(self, failure: "Failure") -> None:
        failure = replace(failure, reason=name_options(failure.reason, analysis.ANALYSIS_OPTIONS))
        self.failures.append(failure)
        echo(f"pqswarm: {failure}", err=True)

    def end(self) -> None:
        from pqswarm.identify.show.lines import json_text

        if self.as_json:
            self.print('\n], "failures": ' + json_text([one.as_dict() for one in self.failures], indent=1) + "}\n")

    def write(
        self, csv: Path | None, html: Path | None, find: "Callable[[Analysis], RecordingSource | None]"
    ) -> Iterator[Path]:
        if csv is not None:
            from pqswarm.identify.show.lines import csv_lines

            yield write_atomically(csv, csv_lines(self.rows))
        if html is not None:
            from pqswarm.identify.show.page import page_html

            reasons = [str(failure) for failure in self.failures]
            yield write_atomically(html, page_html(self.recordings, reasons, find=find))


def _text(verdict: "Analysis", rows: list[dict[str, Any]], printed: set[str]) -> str:
    """A heading, each incident with a line per event below it, the references, and notes not printed before."""
    from pqswarm._base.units import voltage_text
    from pqswarm.identify.show.lines import line_heading, text_lines
    from pqswarm.identify.show.rows import incident_lines

    references: dict[str, list[str]] = {}
    for one in verdict.references:
        references.setdefault(f"{voltage_text(one.volts)} ({one.source})", []).append(one.channel)
    ones = (
        list(references) if len(references) == 1 else [f"{', '.join(who)} {what}" for what, who in references.items()]
    )
    notes = [text for text in dict.fromkeys((*verdict.notes, *verdict.caveats)) if text not in printed]
    printed.update(notes)
    return "\n".join(
        [
            line_heading(rows[0]) if rows else verdict.source,
            *incident_lines(verdict, text_lines([row | {"cause": ""} for row in rows])),
            f"  1 pu: {'; '.join(ones)}; {verdict.frequency:.2f} Hz",
            *(f"  note: {name_options(text, analysis.ANALYSIS_OPTIONS)}" for text in notes),
        ]
    )


@dataclass
class _Sheets:
    """The sheets of all incidents, which need the recordings."""

    book: "SheetBook | None" = None

    def add(self, source: "RecordingSource", verdict: "Analysis") -> None:
        if verdict.incidents:
            from pqswarm.identify.show.sheet import SheetBook

            self.book = self.book or SheetBook()
            self.book.add(source, verdict, verdict.incidents)

    def write(self, path: Path) -> Iterator[Path]:
        """Write them, if there are any."""
        if self.book is not None:
            yield write_atomically(path, self.book.finish())
        else:
            echo(f"{file_text(path)} was not written: no disturbance was found.", err=True)


def _find_identified(
    paths: dict[str, Path], site: "Site | None", reading: dict[str, Any]
) -> "Callable[[Analysis], RecordingSource | None]":
    """Return a function that opens the recording of a verdict again for its figure; the last file stays open."""
    from pqswarm.identify.folder.batch import open_for_analysis
    from pqswarm.identify.show.page import match_waveform_recording

    @lru_cache(maxsize=1)
    def open_again(path: str) -> "tuple[RecordingSource, ...]":
        opened = open_for_analysis(paths[path], site, reading)
        return opened if site is None else tuple(map(site.apply, opened))

    return lambda verdict: match_waveform_recording(verdict, open_again(verdict.path))
