"""One self-contained HTML file for many analyses."""

import base64
import gzip
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from pqswarm import __version__
from pqswarm._base.text import count_text, frequency_text, voltage_text
from pqswarm._web import VIEWER, read_scripts, read_styles
from pqswarm.identify.rows import COLUMNS
from pqswarm.identify.show import rows
from pqswarm.identify.show.colors import COLORS
from pqswarm.identify.show.lines import csv_lines
from pqswarm.identify.show.page.charts import Chart, draw_charts
from pqswarm.identify.show.page.indices import (
    Cells,
    count_dips_for_indices,
    count_swells_for_indices,
    sarfi,
)
from pqswarm.identify.show.page.listing import (
    MAX_FIGURES,
    ListedEvent,
    ListedRecording,
    count_types,
    list_events,
    listing_headline,
)
from pqswarm.identify.show.page.waveforms import Waveforms, find_waveform_recording, read_waveforms
from pqswarm.identify.tolerance import AGGREGATION, rank_event
from pqswarm.identify.words import duration_text, time_text
from pqswarm.measure.event import EVENT_TYPES

if TYPE_CHECKING:
    from pqswarm.identify.analysis import Analysis
    from pqswarm.recordings.recording import RecordingSource
    from pqswarm.report.section import Table

_MAX_ROWS = 300
_MAX_PACKED = 50_000
_MAX_RECORDINGS = 1000
_MAX_SITES = 40
"""Rows as HTML, rows that the page can show, recordings with their facts, and sites."""
_SIZE = "\ue000"
"""Placeholder for the size of the page."""


def page_html(
    analyses: "Iterable[Analysis | ListedRecording]",
    failures: Sequence[str] = (),
    *,
    find: "Callable[[Analysis], RecordingSource | None]" = find_waveform_recording,
) -> str:
    """Return one page about many recordings, which needs no network and is readable without scripts.

    Parameters
    ----------
    analyses : iterable of Analysis or ListedRecording
        Of many analyses, keep :meth:`ListedRecording.of` to save memory.
    failures : sequence of str
        Why other recordings have no analysis, a sentence each.
    find : callable, optional
        Returns the recording of an analysis, or None; by default the file is opened again.

    Returns
    -------
    str
        HTML, with the waveforms of at most 20 events (4.5 MB).

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> from pqswarm.identify import identify
    >>> from pqswarm.recordings import Channel, Recording
    >>> event = generate("sag", seed=3, depth=0.38, start=0.2, duration=0.15)
    >>> analysis = identify(Recording((Channel("U2", "V", "B", 325 * event.signal),), 25_000, 50))
    >>> "1 event in 1 recording" in page_html([analysis], ["lost.cfg cannot be read."])
    True
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader

    kept = [one if isinstance(one, ListedRecording) else ListedRecording.of(one) for one in analyses]
    listed = list_events(kept)
    waveforms = read_waveforms(listed, find)
    figures = _list_figures(waveforms)
    worst = sorted(listed, key=lambda one: rank_event(one.found.event), reverse=True)[:_MAX_PACKED]
    drawn = {figure.listed.number for figure in figures}
    csv = csv_lines(
        (row for one in kept for row in one.analysis.rows()),
        [name for name in COLUMNS if name not in ("path", "caveats")],
    )
    packed = sorted(worst, key=lambda one: one.number) if len(worst) > _MAX_ROWS else []
    shown = sorted(worst[:_MAX_ROWS], key=lambda one: one.number)
    loader = ChoiceLoader([PackageLoader("pqswarm.identify.show.page"), PackageLoader("pqswarm.report")])
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"bind": _bind_page_html_units, "keep": _keep_page_html_together, "pack": _pack_page_html}
    scripts = [
        read_scripts(*VIEWER) if figures else read_scripts("draw.js"),
        _read_page_html_template("pqswarm.report", "report.js"),
        _read_page_html_template("pqswarm.identify.show.page", "page.js"),
    ]
    styles = [
        read_styles("colours.css"),
        _read_page_html_template("pqswarm.report", "report.css"),
        read_styles("tolerance.css"),
        read_styles("waves.css") if figures else "",
        _read_page_html_template("pqswarm.identify.show.page", "page.css"),
    ]
    text = environment.get_template(
        "page.html.jinja"
    ).render(
        style=Markup("".join(styles)),  # noqa: S704 (part of the package)
        scripts=[Markup(script) for script in scripts],  # noqa: S704 (part of the package)
        digests=[base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts],
        headline=listing_headline(listed, kept, len(failures)),
        types=[
            (event_type, EVENT_TYPES[event_type], COLORS[event_type], number)
            for event_type, number in count_types(listed).items()
        ],
        show=rows,
        rows=shown,
        n_events=len(listed),
        csv=csv,
        packed=packed,
        figures=figures,
        waveforms=[one.json for one in waveforms],
        drawn=drawn,
        figures_note=_page_html_figures_note(len(figures), len(listed)),
        charts=_charts(listed),
        sarfi=_page_html_sarfi_table(listed, kept),
        cells=_page_html_cell_tables(listed),
        recordings=[_describe_for_page_html(one.analysis) for one in kept[:_MAX_RECORDINGS]],
        n_recordings=len(kept),
        n_described=min(len(kept), _MAX_RECORDINGS),
        failures=list(failures),
        version=__version__,
        size=_SIZE,
    )
    written = text.encode("utf-8", "replace")  # file names may hold bytes that are not text
    before, _, after = written.decode("utf-8").rpartition(_SIZE)
    return f"{before}{max(len(written) / 1e6, 0.1):.1f} MB{after}"


def _pack_page_html(text: str) -> str:
    """Return a text as base64 of gzip: a script unpacks it."""
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), mtime=0)).decode("ascii")


def _read_page_html_template(package: str, name: str) -> str:
    return (files(package) / "templates" / name).read_text(encoding="utf-8")


def _bind_page_html_units(text: str) -> str:
    """Keep a number and its unit on one line."""
    return (
        text.replace(" %", "\u00a0%").replace(" pu", "\u00a0pu").replace(" kV", "\u00a0kV").replace(" ms", "\u00a0ms")
    )


def _keep_page_html_together(text: str) -> str:
    """Break lines only before a bracket."""
    return text.replace(" ", "\u00a0").replace("\u00a0(", " (")


def _charts(events: Sequence[ListedEvent]) -> list[Chart]:
    tips = []
    for one in events:
        analysis = one.recording.analysis
        words = (
            f"{one.number}: {rows.event_sentence(one.found)}",
            rows.row_moment(one.found, analysis.start),
            analysis.station,
        )
        tips.append(", ".join(filter(None, words)))
    links = [f"#event-{one.number}" for one in events]
    return draw_charts([one.found for one in events], tips, links) if events else []


@dataclass(frozen=True, eq=False)
class _Figure:
    """An event, the index of its waveforms, and a note."""

    listed: ListedEvent
    place: int
    note: str


def _list_figures(waveforms: Sequence[Waveforms]) -> list[_Figure]:
    """One figure for each event, worst first."""
    figures = [_Figure(event, place, one.note) for place, one in enumerate(waveforms) for event in one.events]
    return sorted(figures, key=lambda figure: rank_event(figure.listed.found.event), reverse=True)


def _page_html_figures_note(number: int, events: int) -> str:
    if not number:
        return ""
    which = (
        "One figure per event."
        if number == events
        else f"Figures of {number} of the {events} events, the worst of each recording first (at most {MAX_FIGURES})."
    )
    return (
        f"{which} Each shows the whole recording, the surroundings of the event and its cycles, reduced to what a "
        "screen can show. Click into a figure, then zoom with the wheel, move the cursors, or press ? for help."
    )


def _page_html_sarfi_table(listed: Sequence[ListedEvent], recordings: Sequence[ListedRecording]) -> "Table | None":
    from pqswarm.report.section import Table

    table = sarfi(listed, recordings)
    if not table:
        return None
    length = duration_text(sum(one.analysis.duration for one in recordings), 50.0).partition(" (")[0] or "no time"
    note = (
        f"Number of events in these recordings ({length} in all), not per month or year: recorders "
        "store only what triggers them, so the observation time is unknown. After IEEE 1564: SARFI-X counts dips and "
        "interruptions with a residual voltage below X %, and for X above 100 swells above X %; SARFI-ITIC and "
        "SARFI-SEMI count those below the lower curves. Events of all phases by Urms(1/2); events of a site within "
        f"{AGGREGATION:g} s of the first count as one."
    )
    if len(table) > _MAX_SITES:
        note += f" The first {_MAX_SITES - 1} of {len(table) - 1} sites are listed."
    return Table("sarfi", "SARFI", table[:_MAX_SITES], note=note)


def _page_html_cell_tables(listed: Sequence[ListedEvent]) -> "list[Table]":
    tables = [
        _page_html_cell_table(
            "dips", "Dips and interruptions by residual voltage [%] and duration [ms]", count_dips_for_indices(listed)
        ),
        _page_html_cell_table("swells", "Swells by voltage [%] and duration [ms]", count_swells_for_indices(listed)),
    ]
    return [table for table in tables if table is not None]


def _page_html_cell_table(name: str, caption: str, cells: Cells) -> "Table | None":
    from pqswarm.report.section import Table

    if not cells.longer and not any(sum(numbers) for _, numbers in cells.rows):
        return None
    rows = [{"u": level, **dict(zip(cells.columns, numbers, strict=True))} for level, numbers in cells.rows]
    note = (
        "Cells of EN 50160:2010, after IEC 61000-2-8; limits belong to the shorter duration. Events shorter than 10 ms "
        "are in the first column."
    )
    if cells.longer:
        note += f" Longer than a minute, in no cell: {cells.longer}."
    return Table(name, caption, rows, columns={"u": ("u [%]", "")}, note=note)


def _describe_for_page_html(analysis: "Analysis") -> dict[str, Any]:
    """Facts about a recording, and what was assumed."""
    references = [f"{one.channel} {voltage_text(one.volts)} ({one.source})" for one in analysis.references]
    facts = [
        ("Station", analysis.station),
        ("First sample", time_text(analysis.start)),
        ("File", analysis.path),
        ("Length", duration_text(analysis.duration, analysis.nominal_frequency)),
        ("Sampling rate", frequency_text(analysis.sampling_rate)),
        ("Frequency", f"{analysis.frequency:.3f} Hz (nominal {analysis.nominal_frequency:g} Hz)"),
        ("1 pu", "; ".join(references)),
    ]
    return {
        "name": analysis.source or "recording",
        "events": count_text(len(analysis.events), "event") if analysis.events else analysis.no_event_reason,
        "facts": [(name, text) for name, text in facts if text],
        "notes": [*analysis.notes, *analysis.caveats],
    }
