"""One HTML file of many verdicts, which needs nothing else."""

import base64
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from pqswarm._web import VIEWER, read_scripts, read_styles
from pqswarm.identify.show.curves import COLOURS
from pqswarm.identify.show.lines import csv_lines
from pqswarm.identify.show.page.charts import draw_charts
from pqswarm.identify.show.page.en50160 import judge_en50160
from pqswarm.identify.show.page.indices import AGGREGATION, Cells, count_dips, count_swells, sarfi
from pqswarm.identify.show.page.rows import count_kinds, headline, list_rows, seconds_of
from pqswarm.identify.show.page.waveforms import MOST_FIGURES, Waveforms, find_recording, read_waveforms
from pqswarm.identify.show.words import count_text, duration_text, frequency_text, time_text, voltage_text
from pqswarm.identify.verdict import COLUMNS
from pqswarm.measure.event import KINDS

if TYPE_CHECKING:
    from pqswarm.identify.show.page.rows import Row
    from pqswarm.identify.verdict import Verdict
    from pqswarm.recordings.recording import RecordingSource
    from pqswarm.report.tables import Table

__all__ = ["page_html"]

_MOST_ROWS, _MOST_RECORDINGS, _MOST_SITES = 3000, 1000, 40
_SIZE = "\ue000"
"""Stands for the size of the page in its last line, until that is known."""


def page_html(
    verdicts: "Iterable[Verdict]",
    failures: Sequence[str] = (),
    *,
    find: "Callable[[Verdict], RecordingSource | None]" = find_recording,
) -> str:
    """Return one page about many recordings, fit to forward: it opens without a network, and reads without its script.

    Parameters
    ----------
    verdicts : iterable of Verdict
        What was found.
    failures : sequence of str
        Why other recordings have no verdict, one sentence each.
    find : callable, optional
        Returns the recording of a verdict, for its figure, or None; by default the file is opened again.

    Returns
    -------
    str
        HTML, with the waveforms of at most 20 events: 4.5 MB of them at most.

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> from pqswarm.identify import identify
    >>> from pqswarm.recordings import Channel, Recording
    >>> event = generate("sag", seed=3, depth=0.38, start=0.2, duration=0.15)
    >>> verdict = identify(Recording((Channel("U2", "V", "B", 325 * event.signal),), 25_000, 50))
    >>> "1 event in 1 recording" in page_html([verdict], ["lost.cfg cannot be read."])
    True
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader

    kept = list(verdicts)
    rows = list_rows(kept)
    events = [row for row in rows if row.event.kind != "none"]
    waveforms = read_waveforms(rows, find)
    figures = _list_figures(waveforms)
    shown = sorted(sorted(rows, key=lambda row: row.severity, reverse=True)[:_MOST_ROWS], key=lambda row: row.number)
    loader = ChoiceLoader([PackageLoader("pqswarm.identify.show.page"), PackageLoader("pqswarm.report")])
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"bind": _bind, "keep": _keep}
    viewer = read_scripts(*VIEWER) if figures else ""
    scripts = [_template("pqswarm.report", "report.js"), viewer, _template("pqswarm.identify.show.page", "page.js")]
    scripts = [script for script in scripts if script]
    styles = [read_styles("colours.css"), _template("pqswarm.report", "report.css"), read_styles("tolerance.css")]
    styles += [read_styles("waves.css") if figures else "", _template("pqswarm.identify.show.page", "page.css")]
    text = environment.get_template("page.html.jinja").render(
        style=_ours("".join(styles)),
        scripts=[_ours(script) for script in scripts],
        digests=[base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts],
        headline=headline(rows, len(kept), len(failures)),
        kinds=[(kind, KINDS[kind], COLOURS[kind], number) for kind, number in count_kinds(rows).items()],
        rows=shown,
        n_left_out=len(rows) - len(shown),
        csv=csv_lines(
            (row for verdict in kept[:_MOST_RECORDINGS] for row in verdict.rows()),
            [name for name in COLUMNS if name not in ("path", "caveats")],
        ),
        figures=figures,
        waveforms=[one.json for one in waveforms],
        drawn={figure.row.number for figure in figures},
        figures_note=_figures_note(len(figures), len(events)),
        charts=draw_charts(events) if events else [],
        sarfi=_sarfi_table(rows, kept),
        cells=_cell_tables(rows),
        en50160=_en50160_table(kept),
        length=_length_text(kept),
        recordings=[_describe(verdict) for verdict in kept[:_MOST_RECORDINGS]],
        n_recordings=len(kept),
        n_described=min(len(kept), _MOST_RECORDINGS),
        failures=list(failures),
        version=_version(),
        size=_SIZE,
    )
    written = text.encode("utf-8", "replace")  # names of files may be no text at all
    before, _, after = written.decode("utf-8").rpartition(_SIZE)
    return f"{before}{max(len(written) / 1e6, 0.1):.1f} MB{after}"


def _template(package: str, name: str) -> str:
    return (files(package) / "templates" / name).read_text(encoding="utf-8")


def _ours(text: str) -> Markup:
    return Markup(text)  # noqa: S704 (a file of ours)


def _bind(text: str) -> str:
    """Keep a number and its unit on one line."""
    return (
        text.replace(" %", "\u00a0%").replace(" pu", "\u00a0pu").replace(" kV", "\u00a0kV").replace(" ms", "\u00a0ms")
    )


def _keep(text: str) -> str:
    """Break a line before a bracket only."""
    return text.replace(" ", "\u00a0").replace("\u00a0(", " (")


def _version() -> str:
    from pqswarm import __version__

    return __version__


def _length_text(verdicts: "Sequence[Verdict]") -> str:
    return duration_text(sum(seconds_of(verdict) for verdict in verdicts), 50.0).partition(" (")[0] or "no time"


@dataclass(frozen=True, eq=False)
class _Figure:
    """An event, the place of its recording among the waveforms, and what is to be said of them."""

    row: "Row"
    place: int
    note: str


def _list_figures(waveforms: Sequence[Waveforms]) -> list[_Figure]:
    """One figure for each event, worst first."""
    figures = [_Figure(row, place, one.note) for place, one in enumerate(waveforms) for row in one.rows]
    return sorted(figures, key=lambda figure: figure.row.severity, reverse=True)


def _figures_note(number: int, events: int) -> str:
    if not number:
        return ""
    which = (
        "A figure of each event."
        if number == events
        else f"Figures of {number} of the {events} events, the worst of each recording first; a page has at most "
        f"{MOST_FIGURES}."
    )
    return (
        f"{which} Each holds the whole recording, the "
        "surroundings of the event and its cycles, thinned to the least and greatest values that a screen can show: "
        "click into one, then zoom with the wheel, move its cursors, or press ? for its keys."
    )


def _sarfi_table(rows: "Sequence[Row]", verdicts: "Sequence[Verdict]") -> "Table | None":
    from pqswarm.report.tables import Table

    table = sarfi(rows)
    if not table:
        return None
    note = (
        f"Numbers of events per these recordings, which last {_length_text(verdicts)} together, not per month or year: "
        "recorders keep what triggers them, so the time that was watched is not known. After IEEE 1564: SARFI-X counts "
        "dips and interruptions with a residual voltage below X %, for X above 100 swells above X %; SARFI-ITIC and "
        "SARFI-SEMI those below the lower curves. Events of all phases by Urms(1/2); those of a site within "
        f"{AGGREGATION:g} s of the first count as one."
    )
    if len(table) > _MOST_SITES:
        note += f" The first {_MOST_SITES - 1} of {len(table) - 1} sites are listed."
    return Table("sarfi", "SARFI", table[:_MOST_SITES], note=note)


def _cell_tables(rows: "Sequence[Row]") -> "list[Table]":
    tables = [
        _cell_table("dips", "Dips and interruptions by residual voltage [%] and duration [ms]", count_dips(rows)),
        _cell_table("swells", "Swells by voltage [%] and duration [ms]", count_swells(rows)),
    ]
    return [table for table in tables if table is not None]


def _cell_table(name: str, caption: str, cells: Cells) -> "Table | None":
    from pqswarm.report.tables import Table

    if not cells.longer and not any(sum(numbers) for _, numbers in cells.rows):
        return None
    rows = [{"u": level, **dict(zip(cells.columns, numbers, strict=True))} for level, numbers in cells.rows]
    note = (
        "Cells of EN 50160:2010, after IEC 61000-2-8; a bound belongs to the shorter. Shorter than 10 ms: first column."
    )
    if cells.longer:
        note += f" Longer than a minute, and in no cell: {cells.longer}."
    return Table(name, caption, rows, columns={"u": ("u [%]", "")}, note=note)


def _en50160_table(verdicts: "Sequence[Verdict]") -> "Table | None":
    from pqswarm.report.tables import Table

    rows = judge_en50160(verdicts)
    if not rows:
        return None
    note = (
        "Limits for low and medium voltage, of EN 50160:2010; values of ten minutes, of the worst channel, or of all "
        "where all must be inside. Nothing is "
        "said to be met by less than the time that is asked for. Frequencies are means of ten minutes, not of 10 s."
    )
    return Table("en50160", "EN 50160", rows[: 7 * _MOST_SITES], note=note, verdicts=("verdict",))


def _describe(verdict: "Verdict") -> dict[str, Any]:
    """What is known of a recording, and what was assumed."""
    found = verdict.characterisation
    references = [f"{one.name} {voltage_text(one.reference)} ({one.reference_source})" for one in found.channels]
    facts = [
        ("Station", verdict.station),
        ("First sample", time_text(verdict.start)),
        ("File", verdict.path),
        ("Length", duration_text(seconds_of(verdict), found.nominal_frequency)),
        ("Sampling rate", frequency_text(found.sampling_rate)),
        ("Frequency", f"{found.frequency:.3f} Hz (nominal {found.nominal_frequency:g} Hz)"),
        ("1 pu", "; ".join(references)),
    ]
    count = sum(one.event.kind != "none" for one in verdict.events)
    return {
        "name": verdict.source or "recording",
        "events": count_text(count, "event"),
        "facts": [(name, text) for name, text in facts if text],
        "notes": [*verdict.notes, *verdict.caveats],
    }
