"""One self-contained HTML file for many analyses: tables, indices, charts and figures."""

import base64
import gzip
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from itertools import pairwise
from math import inf, log10
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup, escape

from pqswarm import __version__
from pqswarm._base.text import count_text, frequency_text, voltage_text
from pqswarm._web import VIEWER, read_scripts, read_styles
from pqswarm.identify.analysis import Analysis, EventResult
from pqswarm.identify.archive.export import export_csv_table
from pqswarm.identify.rows import COLUMNS, duration_text, join_words, time_text
from pqswarm.identify.show import rows
from pqswarm.identify.show.page.listing import (
    MAX_FIGURES,
    ListedEvent,
    ListedRecording,
    count_listed_types,
    find_listed_recording,
    list_events,
    listing_headline,
    read_listed_waveforms,
)
from pqswarm.identify.show.rows import COLORS, row_color
from pqswarm.identify.tolerance import (
    AGGREGATION,
    ITIC,
    RMS,
    SEMI,
    SEMI_REQUIRED,
    ToleranceCurve,
    rank_event,
    tolerance_curve_point,
)
from pqswarm.measure.event import EVENT_TYPES
from pqswarm.report.section import Table

if TYPE_CHECKING:
    from pqswarm.recordings.recording import RecordingSource
_EPOCH = datetime(2000, 1, 1)
_LOW = ("sag", "interruption")
_HIGH = ("swell",)
_SARFI = [*(f"SARFI-{level}" for level in (90, 80, 70, 50, 10, 110, 120, 140)), "SARFI-ITIC", "SARFI-SEMI"]
_WIDTH, _HEIGHT = 600.0, 430.0
_LEFT = 62.0
_RIGHT = 16.0
_TOP = 14.0
_BOTTOM = 58.0
_TICKS = ((1e-4, "0.1 ms"), (1e-3, "1 ms"), (1e-2, "10 ms"), (0.1, "0.1 s"), (1.0, "1 s"), (10.0, "10 s"))
_MAX_POINTS = 1000
"""Points drawn, the worst ones; all are counted."""
_LONG_TICKS = ((60.0, "1 min"), (600.0, "10 min"), (3600.0, "1 h"))
_MAX_ROWS = 300
_MAX_PACKED = 50_000
_MAX_RECORDINGS = 1000
_MAX_SITES = 40
"""Rows as HTML, rows that the page can show, recordings with their facts, and sites."""
_SIZE = "\ue000"
"""Placeholder for the size of the page."""


def page_sarfi(rows: Sequence[ListedEvent], recordings: Sequence[ListedRecording] = ()) -> list[dict[str, Any]]:
    """Count the events of each site below or above each level: a row for each site, and one for all if several.

    Events of a site that start within a minute of the first count as one, with their minimum and maximum voltages. A
    site is a station, or a file if the station is unknown, and a three-phase system in it; those of `recordings`
    without events have zeros.
    """
    sites: dict[tuple[str, str], list[ListedEvent]] = {}
    for row in rows:
        if row.found.event.type in RMS:
            sites.setdefault((row.recording.site, row.found.event.system), []).append(row)
    quiet = {recording.site for recording in (*recordings, *(row.recording for row in rows))}
    quiet -= {station for station, _ in sites}
    sites |= {(station, ""): [] for station in quiet}
    table: list[dict[str, Any]] = []
    for site, events in sorted(sites.items()):
        groups = _aggregate_page_sarfi(events)
        table.append(
            {
                "site": ", ".join(filter(None, site)),
                "events": len(groups),
                **{name: _count_page_sarfi(groups, name) for name in _SARFI},
            }
        )
    if len(table) > 1:
        table.insert(0, {"site": "all sites", **{key: sum(row[key] for row in table) for key in ("events", *_SARFI)}})
    return table


def _aggregate_page_sarfi(rows: Iterable[ListedEvent]) -> list[list[ListedEvent]]:
    """Group events in time: across recordings if dated, else within a recording."""
    timed = []
    for row in rows:
        analysis = row.recording.analysis
        when = row.found.event.at(analysis.start)
        key = ("", "") if when is not None else (analysis.path, analysis.source)
        second = (when.replace(tzinfo=None) - _EPOCH).total_seconds() if when is not None else row.found.event.start
        timed.append((key, second, row))
    groups: list[list[ListedEvent]] = []
    first: tuple[tuple[str, str], float] = (("", ""), -inf)
    for key, second, row in sorted(timed, key=lambda one: one[:2]):
        if groups and key == first[0] and second - first[1] < AGGREGATION:
            groups[-1].append(row)
        else:
            groups.append([row])
            first = key, second
    return groups


def _count_page_sarfi(groups: list[list[ListedEvent]], name: str) -> int:
    level = name.partition("-")[2]
    low = [_page_event_points(group, _LOW) for group in groups]
    if level in ("ITIC", "SEMI"):
        curve = ITIC if level == "ITIC" else SEMI
        return sum(any(curve.place(u, t) == "below" for t, u in points) for points in low)
    bound = float(level)
    if bound < 100:
        return sum(any(u < bound for _, u in points) for points in low)
    return sum(any(u > bound for _, u in _page_event_points(group, _HIGH)) for group in groups)


def _page_event_points(rows: Iterable[ListedEvent], event_types: Sequence[str]) -> list[tuple[float, float]]:
    """Duration [s] and voltage [%] of the events of these types."""
    found = [row.found for row in rows if row.found.event.type in event_types]
    return [tolerance_curve_point(one.event) or (0.0, 100 * one.event.magnitude) for one in found]


@dataclass(frozen=True)
class PageCells:
    """A table of voltages (rows) and durations (columns): numbers of events, and of those too long for the table."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    longer: int


def _merge_page_dips(rows: Sequence[ListedEvent]) -> list[tuple[float, float]]:
    """Duration [s] and voltage [%] of dips: a sag that becomes an interruption, and a sag again, is one."""
    found: list[tuple[float, float]] = []
    before = None
    end = 0.0
    low = [row for row in rows if row.found.event.type in _LOW]
    for row in sorted(low, key=lambda one: (one.place, one.found.event.system, one.found.event.start)):
        ((length, voltage),) = _page_event_points([row], _LOW)
        place = (row.place, row.found.event.system)
        start = row.found.event.start
        if place == before and start <= end + 1 / row.found.event.nominal_frequency:
            first = end - found[-1][0]
            end = max(end, start + length)
            found[-1] = (end - first, min(voltage, found[-1][1]))
        else:
            found.append((length, voltage))
            before = place
            end = start + length
    return found


def count_page_dips(rows: Sequence[ListedEvent]) -> PageCells:
    """Count dips and interruptions in the cells of EN 50160:2010, Table 2 (after IEC 61000-2-8)."""
    levels = ((inf, 80.0), (80.0, 70.0), (70.0, 40.0), (40.0, 5.0), (5.0, -inf))
    names = ("90 > u ≥ 80", "80 > u ≥ 70", "70 > u ≥ 40", "40 > u ≥ 5", "5 > u")
    found = _merge_page_dips(rows)
    inside = [[length for length, voltage in found if low <= voltage < high] for high, low in levels]
    return _count_page_cells(names, inside, (0.2, 0.5, 1.0, 5.0, 60.0))


def count_page_swells(rows: Sequence[ListedEvent]) -> PageCells:
    """Count swells in the cells of EN 50160:2010, Table 3."""
    found = _page_event_points(rows, _HIGH)
    inside = [[length for length, voltage in found if (voltage >= 120) == high] for high in (True, False)]
    return _count_page_cells(("u ≥ 120", "120 > u > 110"), inside, (0.5, 5.0, 60.0))


def _count_page_cells(names: Sequence[str], durations: Sequence[Sequence[float]], ends: Sequence[float]) -> PageCells:
    """Durations [s] counted by interval; those shorter than 10 ms are in the first column."""
    columns = [f"{1000 * a:,g} to {1000 * b:,g}" for a, b in pairwise([0.01, *ends])]
    counts = tuple(
        (name, tuple(sum(a < value <= b for value in line) for a, b in pairwise([-inf, *ends])))
        for name, line in zip(names, durations, strict=True)
    )
    return PageCells(tuple(columns), counts, sum(value > ends[-1] for line in durations for value in line))


class _PageChartPoint(NamedTuple):
    """An event on a chart: what it is, its duration [s] and voltage [%], tip and link."""

    found: EventResult
    seconds: float
    percent: float
    tip: str
    link: str


@dataclass(frozen=True)
class PageChart:
    """A chart: name, caption, picture, numbers of events by place, the same as text, and a note on how to read it."""

    name: str
    caption: str
    picture: Markup
    places: dict[str, int]
    counts: str
    note: str


def draw_page_charts(events: Sequence[EventResult], tips: Sequence[str], links: Sequence[str]) -> list[PageChart]:
    """Draw the events that have a place on a curve on ITIC and SEMI F47; each has a text and a link."""
    shown = [
        _PageChartPoint(found, *place, *words)
        for found, *words in zip(events, tips, links, strict=True)
        if (place := tolerance_curve_point(found.event)) is not None
    ]
    dips = [one for one in shown if one.found.event.type in ("sag", "interruption")]
    itic, semi = (
        _PageChartAxes(rows, top, shortest) for rows, top, shortest in ((shown, 200.0, 1e-4), (dips, 100.0, 5e-3))
    )
    return [
        PageChart(
            "itic",
            ITIC.title,
            itic.draw(_page_itic_lines(itic), ITIC, shown),
            (places := _page_chart_places(ITIC, shown)),
            _page_chart_counts(
                places, "in the prohibited region", "in the no-damage region", "in the no-interruption region"
            ),
            "Residual or maximum Urms(1/2) against duration (IEC 61000-4-30). Transients above 100 % are placed at the "
            "peak voltage and their decay time (our choice). An arrow marks what the record cuts: it lasted longer.",
        ),
        PageChart(
            "semi-f47",
            SEMI.title,
            semi.draw(_page_semi_lines(semi), SEMI, dips),
            (places := _page_chart_places(SEMI, dips)),
            _page_chart_counts(places, "", "below the curve", "on or above it"),
            "Dips and interruptions. The solid line, from 50 ms on, is mandatory for semiconductor equipment; the "
            "dashed ones are recommended: 0 % for one cycle, 80 % up to 10 s, 90 % beyond. Events are counted against "
            "the solid line up to 1 s, then against the dashed ones.",
        ),
    ]


def _page_chart_places(curve: ToleranceCurve, rows: Sequence[_PageChartPoint]) -> dict[str, int]:
    found = [curve.place(row.percent, row.seconds) for row in rows]
    return {place: found.count(place) for place in ("above", "below", "inside")}


def _page_chart_counts(places: dict[str, int], above: str, below: str, inside: str) -> str:
    titles = {"above": above, "below": below, "inside": inside}
    counts = [f"{places[place]} {text}" for place, text in titles.items() if text]
    return f"{count_text(sum(places.values()), 'event')}: {join_words(counts)}."


class _PageChartAxes:
    """Duration (logarithmic) against percent of the reference."""

    def __init__(self, rows: Sequence[_PageChartPoint], top: float, shortest: float) -> None:
        longest = max([100.0, *(row.seconds for row in rows)])
        self.last = next((end for end in (100.0, 1000.0, 1e4) if longest <= end), 1e5)
        self.first = shortest
        self.top = top
        self.ticks = [*(tick for tick in _TICKS if tick[0] >= shortest), *(t for t in _LONG_TICKS if t[0] <= self.last)]

    def x(self, seconds: float) -> float:
        """Return the x coordinate of a duration [s], clipped to the axis."""
        fraction = log10(min(max(seconds, self.first), self.last) / self.first) / log10(self.last / self.first)
        return round(_LEFT + fraction * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, percent: float) -> float:
        """Return the y coordinate of a voltage [%], clipped to the axis."""
        fraction = min(max(percent, 0.0), self.top) / self.top
        return round(_HEIGHT - _BOTTOM - fraction * (_HEIGHT - _TOP - _BOTTOM), 1)

    def path(self, corners: Sequence[tuple[float, float]]) -> str:
        """Return a path through corners of duration and voltage."""
        return "M" + " L".join(f"{self.x(seconds)} {self.y(percent)}" for seconds, percent in corners)

    def draw(self, lines: list[str], curve: ToleranceCurve, rows: Sequence[_PageChartPoint]) -> Markup:
        """Return the whole picture."""
        label = f"{curve.title}: {count_text(len(rows), 'event')}, voltage against duration"
        shown = sorted(rows, key=lambda row: rank_event(row.found.event))[-_MAX_POINTS:]
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="group" '
            f'aria-label="{escape(label)}">',
            *self._grid(),
            *lines,
            *self._frame(),
            *map(self._point, shown),
            "</svg>",
        ]
        return Markup("\n".join(parts))  # noqa: S704 (its words are escaped)

    def _grid(self) -> list[str]:
        upright = "".join(f"M{self.x(seconds)} {_TOP:g}V{_HEIGHT - _BOTTOM:g}" for seconds, _ in self.ticks)
        level = "".join(f"M{_LEFT:g} {self.y(percent)}H{_WIDTH - _RIGHT:g}" for percent in self._levels())
        return [f'<path class="grid" d="{upright}{level}"/>']

    def _levels(self) -> range:
        return range(0, int(self.top) + 1, 50 if self.top > 100 else 20)

    def _frame(self) -> list[str]:
        bottom = _HEIGHT - _BOTTOM
        right = _WIDTH - _RIGHT
        durations = [
            f'<text x="{self.x(seconds)}" y="{bottom + 20:g}" text-anchor="middle">{text}</text>'
            for seconds, text in self.ticks
        ]
        voltages = [
            f'<text x="{_LEFT - 7:g}" y="{self.y(percent) + 5:g}" text-anchor="end">{percent} %</text>'
            for percent in self._levels()
        ]
        return [
            f'<path class="axis" d="M{_LEFT:g} {_TOP:g}V{bottom:g}H{right:g}"/>',
            *durations,
            *voltages,
            f'<text x="{(_LEFT + right) / 2:g}" y="{_HEIGHT - 12:g}" text-anchor="middle">duration</text>',
        ]

    def _point(self, row: _PageChartPoint) -> str:
        event_type = row.found.event.type
        x = self.x(row.seconds)
        y = self.y(row.percent)
        tip = escape(row.tip)
        is_cut = row.found.event.cut_start or row.found.event.cut_end
        longer = f'<path class="longer" d="M{x + 6:g} {y:g}h10m-4 -4l4 4l-4 4"/>' if is_cut else ""
        if row.percent > self.top:
            shape = f'<path d="M{x - 6:g} {y + 9:g}L{x + 6:g} {y + 9:g}L{x:g} {y - 2:g}Z"/>'
        elif event_type in RMS:
            shape = f'<circle cx="{x}" cy="{y}" r="5.5"/>'
        else:
            shape = f'<path d="M{x:g} {y - 7:g}L{x + 6:g} {y:g}L{x:g} {y + 7:g}L{x - 6:g} {y:g}Z"/>'
        return (
            f'<a href="{escape(row.link)}" class="point" data-type="{escape(event_type)}" '
            f'data-seconds="{row.seconds:.6g}" data-percent="{row.percent:.6g}" '
            f'fill="{row_color(row.found)}" aria-label="{tip}"><g class="mark"><title>{tip}</title>{shape}{longer}</g>'
            "</a>"
        )


def _page_curve_steps(axes: _PageChartAxes, curve: ToleranceCurve) -> list[tuple[float, float]]:
    """Corners of the lower curve, from where it leaves zero."""
    ends = [end for end, _ in curve.lower]
    steps = zip([axes.first, *ends], ends, (level for _, level in curve.lower), strict=False)
    corners = [(moment, level) for start, end, level in steps for moment in (start, min(end, axes.last))]
    return corners[1:] if corners[0][1] == 0 else corners


def _page_itic_lines(axes: _PageChartAxes) -> list[str]:
    upper = [(min(seconds, axes.last), percent) for seconds, percent in ITIC.upper if percent <= axes.top]
    lower = _page_curve_steps(axes, ITIC)
    above = [*upper, (axes.last, axes.top)]
    below = [*lower, (axes.last, 0.0), (axes.first, 0.0)]
    return [
        f'<path class="region bad" d="{axes.path(above)}Z"/>',
        f'<path class="region poor" d="{axes.path(below)}Z"/>',
        _page_chart_region(axes, 0.06, 168, "prohibited region"),
        _page_chart_region(axes, 1.6, 34, "no-damage region"),
        _page_chart_region(axes, 1.4e-4, 62, "no interruption", "start"),
        _page_chart_region(axes, 1.4e-4, 53, "in function", "start"),
        f'<path class="curve" d="{axes.path(upper)}"/>',
        f'<path class="curve" d="{axes.path(lower)}"/>',
    ]


def _page_semi_lines(axes: _PageChartAxes) -> list[str]:
    required = [corner for corner in _page_curve_steps(axes, SEMI) if corner[0] <= SEMI_REQUIRED]
    advised = [(SEMI_REQUIRED, 80.0), (10.0, 80.0), (10.0, 90.0), (axes.last, 90.0)]
    below = [*_page_curve_steps(axes, SEMI), (axes.last, 0.0), (axes.first, 0.0)]
    return [
        f'<path class="region poor" d="{axes.path(below)}Z"/>',
        _page_chart_region(axes, 0.25, 92, "must ride through"),
        _page_chart_region(axes, 1.6, 34, "below the curve"),
        f'<path class="curve" d="{axes.path(required)}"/>',
        f'<path class="curve advised" d="{axes.path(advised)}"/>',
        f'<path class="curve advised" d="{axes.path([(axes.first, 0.0), (0.02, 0.0), (0.02, 50.0)])}"/>',
    ]


def _page_chart_region(axes: _PageChartAxes, seconds: float, percent: float, text: str, anchor: str = "middle") -> str:
    return f'<text class="name" x="{axes.x(seconds)}" y="{axes.y(percent)}" text-anchor="{anchor}">{text}</text>'


def page_html(
    analyses: "Iterable[Analysis | ListedRecording]",
    failures: Sequence[str] = (),
    *,
    find: "Callable[[Analysis], RecordingSource | None]" = find_listed_recording,
) -> str:
    """Return one page about many recordings, which needs no network and is readable without scripts.

    Parameters
    ----------
    analyses : iterable of Analysis or ListedRecording
        Of many analyses, keep :meth:`ListedRecording.of` to save memory.
    failures : sequence of str, default=()
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
    waveforms = read_listed_waveforms(listed, find)
    figures = [_PageFigure(event, place, one.note) for place, one in enumerate(waveforms) for event in one.events]
    figures.sort(key=lambda figure: rank_event(figure.listed.found.event), reverse=True)
    worst = sorted(listed, key=lambda one: rank_event(one.found.event), reverse=True)[:_MAX_PACKED]
    drawn = {figure.listed.number for figure in figures}
    csv = export_csv_table(
        (row for one in kept for row in one.analysis.rows()),
        columns=[name for name in COLUMNS if name not in ("path", "caveats")],
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
        read_styles("colors.css"),
        _read_page_html_template("pqswarm.report", "report.css"),
        read_styles("tolerance.css"),
        read_styles("waves.css") if figures else "",
        _read_page_html_template("pqswarm.identify.show.page", "page.css"),
    ]
    tables = (
        _page_html_cell_table(
            "dips", "Dips and interruptions by residual voltage [%] and duration [ms]", count_page_dips(listed)
        ),
        _page_html_cell_table("swells", "Swells by voltage [%] and duration [ms]", count_page_swells(listed)),
    )
    text = environment.get_template(
        "page.html.jinja"
    ).render(
        style=Markup("".join(styles)),  # noqa: S704 (part of the package)
        scripts=[Markup(script) for script in scripts],  # noqa: S704 (part of the package)
        digests=[base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts],
        headline=listing_headline(listed, kept, len(failures)),
        types=[
            (event_type, EVENT_TYPES[event_type], COLORS[event_type], number)
            for event_type, number in count_listed_types(listed).items()
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
        charts=_page_html_charts(listed),
        sarfi=_page_html_sarfi_table(listed, kept),
        cells=[table for table in tables if table is not None],
        remarks=[f"{one.analysis.source or 'recording'}: {text}" for one in kept for text in one.analysis.remarks],
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


def _page_html_charts(events: Sequence[ListedEvent]) -> list[PageChart]:
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
    return draw_page_charts([one.found for one in events], tips, links) if events else []


@dataclass(frozen=True, eq=False)
class _PageFigure:
    """An event, the index of its waveforms, and a note."""

    listed: ListedEvent
    place: int
    note: str


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


def _page_html_sarfi_table(listed: Sequence[ListedEvent], recordings: Sequence[ListedRecording]) -> Table | None:
    table = page_sarfi(listed, recordings)
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


def _page_html_cell_table(name: str, caption: str, cells: PageCells) -> Table | None:
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
