"""``pqswarm identify``: identify the events in recordings."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from errno import EPIPE
from functools import lru_cache
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqswarm._base.files import write_atomically
from pqswarm._base.text import count_text, file_text, json_text, voltage_text
from pqswarm.cli.options import (
    ANALYSIS_OPTIONS,
    Channels,
    Frequency,
    MaxMegabytes,
    ModelFile,
    Nominal,
    Rate,
    ReferenceChoice,
    SiteFile,
    States,
    Stopped,
    argument,
    check_ending,
    check_writable,
    option,
    read_analysis_options,
)
from pqswarm.cli.terminal import echo, name_options
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from pqswarm.identify import Analysis, Failure
    from pqswarm.identify.show.figures import SheetBook
    from pqswarm.identify.show.page import ListedRecording
    from pqswarm.recordings import RecordingSource, Site


def identify(
    files: Annotated[
        list[str], argument("FILES", "Recordings (COMTRADE, PQDIF, SEL, CSV, npz, mat, zip), or folders.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    csv: Annotated[Path | None, option("FILE", "Write one row per event as CSV.")] = None,
    html: Annotated[Path | None, option("FILE", "Write a self-contained page with all events.")] = None,
    pdf: Annotated[Path | None, option("FILE", "Write a one-page PDF summary per incident.")] = None,
    site: SiteFile = None,
    nominal: Nominal = None,
    reference: ReferenceChoice = None,
    channel: Channels = None,
    state: States = None,
    model: ModelFile = None,
    rate: Rate = None,
    frequency: Frequency = None,
    frequency_band: Annotated[
        tuple[float, float] | None,
        option("LOW HIGH", "Frequencies in Hz between which there is no event.", show_default="1 % about nominal"),
    ] = None,
    max_mb: MaxMegabytes = None,
    archive: Annotated[
        Path | None, option("DIR", "Keep the results in this archive; what is in it is not analyzed again.")
    ] = None,
    reanalyze: Annotated[
        bool, typer.Option("--reanalyze", help="Analyze recordings again even if they are in the archive.")
    ] = False,
    jobs: Annotated[int, option("N", "Processes; -1 uses all cores.", "--jobs", "-j")] = 1,
    cluster: Annotated[
        str | None, option("ADDRESS", "Analyze on the Dask cluster of this scheduler, which sees the same files.")
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
    from pqswarm.identify.archive.analyzer import identify_many
    from pqswarm.measure import Thresholds

    for name in files if as_json else ():
        if name.lower().endswith(".json"):
            raise PqswarmError(f"--json prints to the standard output: omit {name!r}, or write > {name}.")
    given = {"--csv": csv, "--html": html, "--pdf": pdf}
    outputs = _check_identify_outputs(given, [*files, *filter(None, [model])], overwrite)
    if reanalyze and archive is None:
        raise PqswarmError("--reanalyze is for what is in an archive: add --archive, or omit it.")
    workers = 1 if cluster is not None else effective_jobs(jobs)
    if pdf is not None and (workers > 1 or cluster is not None):
        raise PqswarmError("--pdf needs the samples in this process: omit --jobs and --cluster.")
    options = read_analysis_options(site, model, channel, state, reference, nominal, rate, frequency, max_mb)
    if frequency_band is not None:
        low, high = frequency_band
        known = {} if options["site"] is None else options["site"].thresholds
        band = {"lowest_frequency": low, "highest_frequency": high}
        options["thresholds"] = Thresholds.of({**known, **band})
    paths, missing = find_recordings(files)
    results = _IdentifyResults(as_json, outputs, paths)
    results.start(missing)
    is_stopped = False
    with nullcontext() if archive is None else Archive(archive) as open_archive:
        try:
            for path, file_results, remark in identify_many(
                paths,
                options,
                model_path=model,
                archive=open_archive,
                jobs=workers,
                cluster=cluster,
                again=reanalyze or pdf is not None,
                after=None if pdf is None else results.add_sheets,
            ):
                if results.unprinted and not outputs and open_archive is None:
                    break
                results.add_file(path, file_results, remark)
        except KeyboardInterrupt:
            is_stopped = True
    results.end()
    written = list(results.write(options["site"], options["reading"]))
    for path in written:
        echo(f"wrote {file_text(path)}", err=as_json)
    results.exit(is_stopped, written)


def _check_identify_outputs(
    given: dict[str, Path | None], inputs: Iterable[str | Path], overwrite: bool
) -> dict[str, Path]:
    """Return the files to write, by option; raise an error, before any work, if one cannot be written."""
    outputs = {name: path for name, path in given.items() if path is not None}
    for name, path in outputs.items():
        check_ending(name, path, [".html", ".htm"] if name == "--html" else [f".{name[2:]}"])
    read = {realpath(path) for path in inputs}
    for path in outputs.values():
        if realpath(path) in read:
            raise PqswarmError(f"{path} is an input: choose another output file.")
        check_writable(path, overwrite)
    return outputs


@dataclass
class _IdentifyResults:
    """Results so far: printed at once; kept as far as they will be written."""

    as_json: bool
    outputs: dict[str, Path]  # by option
    paths: list[Path]
    rows: list[dict[str, Any]] = field(default_factory=list)
    recordings: "list[ListedRecording]" = field(default_factory=list)
    sheets: "SheetBook | None" = None
    failures: "list[Failure]" = field(default_factory=list)
    printed: set[str] = field(default_factory=set)  # notes of this file
    n_files: int = 0
    n_events: int = 0
    n_recordings: int = 0
    unprinted: OSError | None = None

    def start(self, missing: "Iterable[Failure]") -> None:
        if self.as_json:
            self.print('{"recordings": [')
        for failure in missing:
            self.fail(failure)

    def print(self, text: str) -> None:
        """Print a result; if that fails, files are still written."""
        self.unprinted = echo(text, nl=not self.as_json) or self.unprinted

    def add_file(self, path: Path, file_results: "Iterable[Analysis | Failure]", remark: str) -> None:
        """Add the recordings of a file."""
        self.n_files += 1
        self.printed.clear()
        if len(self.paths) > 1:
            remark = f" ({remark})" if remark else ""
            echo(f"[{self.n_files}/{len(self.paths)}] {file_text(path)}{remark}", err=True)
        for result in file_results:
            self._add(result)

    def _add(self, result: "Analysis | Failure") -> None:
        from pqswarm.identify import Failure
        from pqswarm.identify.folder.batch import recording_failure

        if isinstance(result, Failure):
            self.fail(result)
            return
        try:
            rows, text = self._describe(result)
        except Exception as error:  # noqa: BLE001 (any error is this recording's failure)
            self.fail(recording_failure(error, result.path, result.source))
            return
        self.rows += rows if "--csv" in self.outputs else ()
        self.n_events += len(rows)
        self.print(text)
        self.n_recordings += 1

    def _describe(self, analysis: "Analysis") -> tuple[list[dict[str, Any]], str]:
        """Rows and text of an analysis, which is kept for the page."""
        rows = analysis.rows()
        if self.as_json:
            text = ("," if self.n_recordings else "") + "\n" + json_text(analysis.as_dict(), indent=1)
        else:
            text = _identified_text(analysis, rows, self.printed) + "\n"
        if "--html" in self.outputs:
            from pqswarm.identify.show.page import ListedRecording

            self.recordings.append(ListedRecording.of(analysis))
        return rows, text

    def add_sheets(self, source: "RecordingSource", analysis: "Analysis") -> None:
        """Add a sheet for each incident, which needs the recording."""
        if analysis.incidents:
            from pqswarm.identify.show.figures import SheetBook

            self.sheets = self.sheets or SheetBook()
            self.sheets.add(source, analysis, analysis.incidents)

    def fail(self, failure: "Failure") -> None:
        failure = replace(failure, reason=name_options(failure.reason, ANALYSIS_OPTIONS))
        self.failures.append(failure)
        echo(f"pqswarm: {failure}", err=True)

    def end(self) -> None:
        if self.as_json:
            failures = [failure.as_dict() for failure in self.failures]
            self.print('\n], "failures": ' + json_text(failures, indent=1) + "}\n")

    def write(self, site: "Site | None", reading: dict[str, Any]) -> Iterator[Path]:
        """Write the files; the page opens recordings again for its figures."""
        if "--csv" in self.outputs:
            from pqswarm.identify import COLUMNS
            from pqswarm.identify.archive.export import export_csv_table

            yield write_atomically(self.outputs["--csv"], export_csv_table(self.rows, columns=COLUMNS))
        if "--html" in self.outputs:
            from pqswarm.identify.show.page import page_html

            reasons = [str(failure) for failure in self.failures]
            find = _reopen_identified({file_text(path): path for path in self.paths}, site, reading)
            yield write_atomically(self.outputs["--html"], page_html(self.recordings, reasons, find=find))
        if self.sheets is not None:
            yield write_atomically(self.outputs["--pdf"], self.sheets.finish())
        elif "--pdf" in self.outputs:
            echo(f"{file_text(self.outputs['--pdf'])} was not written: no disturbance was found.", err=True)

    def exit(self, is_stopped: bool, written: list[Path]) -> None:
        """Exit with a message and a code, unless all went well."""
        n_files = len(self.paths)
        failures = count_text(len(self.failures), "failure")
        if is_stopped:
            kept = f"; written to {', '.join(map(file_text, written))}" if written else ""
            raise Stopped(
                f"stopped after {self.n_files} of {count_text(n_files, 'file')}: {count_text(self.n_events, 'event')}, "
                f"{failures}{kept}."
            )
        if self.unprinted and self.unprinted.errno != EPIPE:  # a closed pipe is not an error
            raise PqswarmError(f"the results cannot be printed: {self.unprinted.strerror or self.unprinted}.")
        if self.failures and n_files > 1:
            echo(f"pqswarm: {failures} in {n_files} files, see above.", err=True)
        if self.failures or self.unprinted:
            raise typer.Exit(1)


def _identified_text(analysis: "Analysis", rows: list[dict[str, Any]], printed: set[str]) -> str:
    """A heading, each incident with a line per event below it, the references, and notes not printed before."""
    from pqswarm.identify.show.rows import line_heading, text_lines

    channels: dict[str, list[str]] = {}
    for reference in analysis.references:
        text = f"{voltage_text(reference.volts)} ({reference.source})"
        channels.setdefault(text, []).append(reference.channel)
    references = list(channels)
    if len(channels) > 1:
        references = [f"{', '.join(names)} {text}" for text, names in channels.items()]
    notes = [text for text in dict.fromkeys((*analysis.notes, *analysis.caveats)) if text not in printed]
    printed.update(notes)
    lines = [line_heading(analysis), *analysis.incident_lines(text_lines([row | {"cause": ""} for row in rows]))]
    lines.append(f"  1 pu: {'; '.join(references)}; {analysis.frequency:.2f} Hz")
    lines += [f"  note: {name_options(text, ANALYSIS_OPTIONS)}" for text in notes]
    return "\n".join(lines)


def _reopen_identified(
    paths: dict[str, Path], site: "Site | None", reading: dict[str, Any]
) -> "Callable[[Analysis], RecordingSource | None]":
    """Return a function that opens the recording of an analysis again for its figure; the last file stays open."""
    from pqswarm.identify.folder.batch import open_for_analysis
    from pqswarm.identify.show.page import match_listed_recording

    @lru_cache(maxsize=1)
    def open_again(path: str) -> "tuple[RecordingSource, ...]":
        opened = open_for_analysis(paths[path], site, reading)
        return opened if site is None else tuple(map(site.apply, opened))

    return lambda analysis: match_listed_recording(analysis, open_again(analysis.path))
