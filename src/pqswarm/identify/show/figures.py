"""Figures of events, waveforms, Urms(1/2) and currents over one time axis; and an A4 sheet per incident, as PDF.

Only the part shown of a recording is read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from io import BytesIO
from itertools import accumulate
from math import ceil, isfinite
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.textpath import text_to_path

from pqswarm import __version__
from pqswarm._base.text import count_text, frequency_text, scale_of, unit_text, voltage_text
from pqswarm._base.thinning import extreme_places
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis, EventResult, Reference, duration_text, magnitude_text, time_text
from pqswarm.identify.archive.picture import find_worst_cycle
from pqswarm.identify.show import rows
from pqswarm.identify.show.rows import COLORS, shown_interval
from pqswarm.identify.tolerance import ITIC, RMS, SEMI, tolerance_curve_point
from pqswarm.measure import Event, measure_at
from pqswarm.measure.incidents.stages import Incident
from pqswarm.measure.snapshot import ChannelSnapshot, Snapshot
from pqswarm.recordings.recording import ChannelHeader, RecordingSource
from pqswarm.report.style import FAINT, INK, STYLE

_CANDIDATES = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "Microsoft YaHei",
    "SimHei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Heiti SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Arial Unicode MS",
    "Noto Sans",
)
_FIRST = "DejaVu Sans"
"""Bundled with matplotlib; Latin, Greek and Cyrillic."""
_MISSING = "\ufffd"
_WIDE = 0x1100
"""Letters from here on are about twice as wide."""
_COLORS = ("#d1570a", "#0b6fd6", "#0f5132")
_DASHES: tuple[Any, Any, Any] = ("solid", "solid", (0, (6, 1.5)))
"""Colors and line styles of the phases A, B and C: A and C differ without colors, too."""
_PHASES = {"A": 0, "B": 1, "C": 2, "AB": 0, "BC": 1, "CA": 2}
_SHORT = 15.0
"""Records up to this length are shown whole [cycles]."""
_BUCKETS = 500
"""Intervals whose extremes are drawn, if there are more samples."""
_BLOCK = 1 << 18
"""Samples read at a time."""
_MAX_CURRENTS = 3
_WIDTH = 7.5
_LEFT = 0.72
_RIGHT = 1.85
_BOTTOM = 0.5
_GAP = 0.16  # inches
_LINE = 0.19  # inches


@cache
def figure_font_families() -> tuple[str, ...]:
    """Return the available fonts, in order of preference."""
    known = {font.name for font in fontManager.ttflist}
    return (_FIRST, *(name for name in _CANDIDATES if name in known))


@cache
def _figure_fonts_have(letter: str) -> bool:
    return any(
        get_font(findfont(FontProperties(family=name))).get_char_index(ord(letter)) for name in figure_font_families()
    )


def draw_figure_name(text: str, otherwise: str = "") -> str:
    """Return a text that the fonts can draw: unchanged, else `otherwise`, else with an ellipsis for missing letters."""
    letters = [letter if letter.isprintable() and _figure_fonts_have(letter) else "" for letter in text]
    if all(letters):
        return text
    if otherwise:
        return otherwise
    return re.sub(f"{_MISSING}+", "…", "".join(letter or _MISSING for letter in letters))


def shorten_figure_text(text: str, limit: int, *, keep: int = 0) -> str:
    """Return a text cut to the width of `limit` Latin letters, keeping its end to the width of `keep`."""
    text = " ".join(text.split())
    if _figure_font_width(text) <= limit:
        return text
    tail = _cut_to_figure_width(text[::-1], keep)[::-1]
    return f"{_cut_to_figure_width(text, limit - 1 - _figure_font_width(tail))}…{tail}"


def _figure_font_width(text: str) -> int:
    return sum(2 if ord(letter) >= _WIDE else 1 for letter in text)


def _cut_to_figure_width(text: str, limit: int) -> str:
    """The first letters of a text, up to a width."""
    widths = accumulate(_figure_font_width(letter) for letter in text)
    return "".join(letter for letter, width in zip(text, widths, strict=True) if width <= limit)


@dataclass(frozen=True, eq=False)
class _FigureLine:
    """A channel in a panel: name, color, line style, and samples as drawn."""

    name: str
    color: str
    dashes: Any
    time: FloatArray
    values: FloatArray


def plot_event(recording: RecordingSource, analysis: Analysis, event: EventResult | None = None) -> Figure:
    """Draw an event: waveforms, Urms(1/2) and currents over one time axis, with all events marked.

    Parameters
    ----------
    recording : Recording or RecordingSource
        The one that was analyzed; only the part shown is read.
    analysis : Analysis
        Its analysis, with the measurements.
    event : EventResult, default=None
        One of its events; by default the worst.

    Returns
    -------
    matplotlib.figure.Figure
        A panel of waveforms of the system of the event, one of Urms(1/2), and one of the three currents that vary
        most, if there are any. Time is from the start of the event.
    """
    chosen = event or analysis.main
    if chosen is None:
        raise PqswarmError(f"there is no event to draw: {analysis.no_event_reason}.")
    interval = _find_figure_interval(chosen.event, recording.n_samples / recording.sampling_rate)
    with mpl.rc_context({**STYLE, "font.family": list(figure_font_families())}):
        title = _figure_title(recording, analysis, chosen, *interval)
        top = 0.12 + _LINE * len(title) + (0.1 if title else 0.0)
        height = top + (4.4 if any(one.is_current for one in recording.channels) else 3.0) + _BOTTOM
        figure = Figure(figsize=(_WIDTH, height))
        draw_figure_panels(
            figure, recording, analysis, chosen, interval, (top, height - top - _BOTTOM), (_LEFT, _RIGHT)
        )
        if title:
            figure.text(0.1 / _WIDTH, 1 - 0.08 / height, "\n".join(title), va="top", fontsize=8.5).set_parse_math(False)
        return figure


def draw_figure_panels(
    figure: Figure,
    recording: RecordingSource,
    analysis: Analysis,
    chosen: EventResult,
    interval: tuple[float, float],
    place: tuple[float, float],
    margins: tuple[float, float],
) -> float:
    """Draw voltages, Urms(1/2) and currents of the system of an event in an interval [s]; return where they end.

    `place` is the distance from the top and the height at most, `margins` are left and right [inches].
    """
    (start, end) = interval
    event = chosen.event
    results = _choose_figure_references(analysis, event)
    currents = [place for place, channel in enumerate(recording.channels) if channel.is_current]
    read = _read_figure_samples(recording, [*(result.number for result in results), *currents], *interval, event.start)
    lines = []
    for i, (result, values) in enumerate(zip(results, read, strict=False)):
        name = draw_figure_name(result.channel, f"phase {result.phase}" if result.phase else f"channel {i + 1}")
        lines.append(_FigureLine(name, *figure_phase_style(result.phase, i), *values))
    flowing = _choose_figure_currents([recording.channels[i] for i in currents], read[len(results) :])
    weights = [1.25, 1.0, 1.0] if flowing else [1.25, 1.0]
    space = min(place[1], 1.9 * len(weights))
    each = (space - _GAP * (len(weights) - 1)) / sum(weights)
    axes = _lay_out_figure(figure, [each * weight for weight in weights], place[0], *margins)
    scale, unit = (1.0, "s") if end - start > 2 else (1000.0, "ms")
    _draw_figure_lines(axes[0], lines, scale, "V")
    _draw_figure_urms(axes[1], analysis, list(zip(results, lines, strict=True)), interval, event.start, scale)
    if flowing:
        _draw_figure_lines(axes[2], flowing, scale, "A")
    for axis in axes:
        _mark_figure_events(axis, analysis, event, results, interval, scale)
        axis.yaxis.label.set_fontsize(8)
        axis.tick_params(labelsize=8)
    axes[-1].set_xlim(scale * (start - event.start), scale * (end - event.start))
    axes[-1].set_xlabel(f"time from the start of the event [{unit}]")
    figure.align_ylabels(axes)
    return place[0] + space


def figure_phase_style(phase: str, place: int = 0) -> tuple[str, Any]:
    """Return color and line style of a phase, or of a channel by its place."""
    number = _PHASES.get(phase, place) % 3
    return _COLORS[number], _DASHES[number]


def _find_figure_interval(event: Event, length: float) -> tuple[float, float]:
    """Start and end of the interval shown [s]."""
    if length <= _SHORT / event.nominal_frequency:
        return 0.0, length
    start, end = shown_interval(event)
    return max(start, 0.0), min(end, length)


def _choose_figure_references(analysis: Analysis, event: Event) -> list[Reference]:
    """The channels of the system of an event."""
    own = next((one.system for one in analysis.references if one.channel == event.worst.channel), "")
    own = event.system if event.system in {one.system for one in analysis.references} else own
    return [one for one in analysis.references if one.system == own] or list(analysis.references)


def _read_figure_samples(
    recording: RecordingSource, places: Sequence[int], start: float, end: float, zero: float
) -> list[tuple[FloatArray, FloatArray]]:
    """Time from `zero` [s] and samples, read in blocks; of many samples, the extremes of each interval."""
    rate = recording.sampling_rate
    first, stop = max(round(start * rate), 0), min(round(end * rate), recording.n_samples)
    step = max(-(-(stop - first) // _BUCKETS), 1)
    cycle = rate / recording.nominal_frequency
    step = ceil(cycle) if 0.25 * cycle < step < cycle else step  # extremes of half a cycle would beat with the grid
    thin = step > 2
    block = max(_BLOCK // step, 1) * step if thin else max(stop - first, 1)
    times = []
    pieces = []
    for at in range(first, stop, block):
        read = recording.read(at, min(at + block, stop))
        samples = np.array([read.channels[place].samples for place in places], dtype=np.float64)
        moments = np.arange(at, at + samples.shape[1]) / rate - zero
        if thin:
            moments, samples = _thin_figure_samples(moments, samples, step)
        times.append(moments)
        pieces.append(samples)
    time = np.concatenate(times)
    return [(time, line) for line in np.concatenate(pieces, axis=1)]


def _thin_figure_samples(time: FloatArray, samples: FloatArray, step: int) -> tuple[FloatArray, FloatArray]:
    """The extremes of each interval of samples in order of time; NaN if there are none."""
    values = np.take_along_axis(samples, extreme_places(samples, step).reshape(len(samples), -1), axis=1)
    values[~np.isfinite(values)] = np.nan
    moments = np.repeat(time[::step], 2)
    moments[1::2] += 0.5 * step * (time[1] - time[0] if time.size > 1 else 0.0)
    return moments, values


def _choose_figure_currents(
    channels: Sequence[ChannelHeader],
    lines: Sequence[tuple[FloatArray, FloatArray]],
) -> list[_FigureLine]:
    """The feeder with the current that swings most; without phases, the three that swing most."""
    swings = [float(np.ptp(values[np.isfinite(values)])) if np.isfinite(values).any() else 0.0 for _, values in lines]
    phased = [i for i, channel in enumerate(channels) if channel.phase in _PHASES]
    order = sorted(phased or range(len(lines)), key=lambda i: -swings[i])
    chosen = order[:_MAX_CURRENTS]
    group: list[int] = []
    for i in phased:
        if channels[i].phase in [channels[other].phase for other in group]:  # another feeder begins
            group = []
        group.append(i)
        if order[0] in group:
            chosen = group
    found = []
    for place, i in enumerate(sorted(chosen)):
        channel = channels[i]
        name = draw_figure_name(channel.name, f"current {channel.phase or i + 1}")
        found.append(_FigureLine(name, *figure_phase_style(channel.phase, place), *lines[i]))
    return found if any(swings) else []


def _lay_out_figure(figure: Figure, heights: Sequence[float], top: float, left: float, right: float) -> list[Axes]:
    """Panels of those heights below each other, which share the axis of time; all sizes in inches."""
    width, total = map(float, figure.get_size_inches())
    axes: list[Axes] = []
    for height in heights:
        box = (left / width, 1 - (top + height) / total, 1 - (left + right) / width, height / total)
        axes.append(figure.add_axes(box, sharex=axes[0] if axes else None))
        top += height + _GAP
    for axis in axes[:-1]:
        axis.tick_params(labelbottom=False)
    return axes


def _draw_figure_lines(axis: Axes, lines: Sequence[_FigureLine], scale: float, unit: str) -> None:
    """Draw waveforms, in kV where they are kV, with a legend next to them."""
    finite = [line.values[np.isfinite(line.values)] for line in lines]
    factor, prefix = scale_of(max([float(np.abs(values).max(initial=0.0)) for values in finite], default=0.0))
    for line in lines:
        axis.plot(
            scale * line.time,
            line.values / factor,
            color=line.color,
            ls=line.dashes,
            lw=0.8,
            label=shorten_figure_text(line.name, 18, keep=5),
        )
    axis.set_ylabel(f"{'voltage' if unit == 'V' else 'current'} [{prefix}{unit}]")
    legend = axis.legend(loc="upper left", bbox_to_anchor=(1.005, 1.02), frameon=False, fontsize=8.2, handlelength=1.2)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _draw_figure_urms(
    axis: Axes,
    analysis: Analysis,
    shown: Sequence[tuple[Reference, _FigureLine]],
    window: tuple[float, float],
    zero: float,
    scale: float,
) -> None:
    if analysis.characterization is None:
        raise PqswarmError("the measurements of this analysis were dropped: analyze the recording again.")
    series = analysis.characterization.require_series()
    levels = analysis.thresholds
    urms = {one.number: line for one, line in zip(analysis.references, series.urms, strict=True)}
    moments = series.time
    inside = (moments >= window[0]) & (moments <= window[1])
    step = max(int(inside.sum()) // (2 * _BUCKETS), 1)
    time = scale * (moments[inside][::step] - zero)
    lowest, highest = 0.9, 1.1
    for result, line in shown:
        values = urms[result.number][inside][::step]
        axis.plot(
            time, values, color=line.color, ls=line.dashes, lw=1.1, marker="." if time.size < 60 else None, ms=3.5
        )
        known = values[np.isfinite(values)]
        lowest, highest = min([lowest, *known.tolist()]), max([highest, *known.tolist()])
    low, high = (0.0 if lowest < 0.6 else lowest - 0.03), min(highest + 0.03, 3.0)
    for level in (levels.interruption, levels.sag, levels.swell):
        if low <= level <= high:
            axis.axhline(level, color=FAINT, lw=0.8, ls="--")
            axis.annotate(f"{level:g}", (1.008, level), xycoords=("axes fraction", "data"), va="center", fontsize=8.2)
    axis.set_ylim(low, high)
    axis.set_ylabel("Urms(1/2) [pu]")


def _mark_figure_events(
    axis: Axes,
    analysis: Analysis,
    event: Event,
    results: Sequence[Reference],
    window: tuple[float, float],
    scale: float,
) -> None:
    """Shade the events of the channels shown, the selected one darker; transients are lines."""
    names = {result.channel for result in results}
    for one in (other.event for other in analysis.events):
        is_drawn = one.type in (*RMS, "transient", "rapid voltage change") and names & set(one.channels)
        if not is_drawn or one.end < window[0] or one.start > window[1]:
            continue
        start, end = (scale * (min(max(moment, window[0]), window[1]) - event.start) for moment in (one.start, one.end))
        if one.type == "transient":
            axis.axvline(start, color=COLORS[one.type], lw=1.0, ls=":")
        else:
            axis.axvspan(start, end, color=COLORS[one.type], alpha=0.16 if one is event else 0.07, lw=0)


def _figure_title(
    recording: RecordingSource, analysis: Analysis, chosen: EventResult, start: float, end: float
) -> list[str]:
    """Event, place and time, and the interval shown."""
    event = chosen.event
    lines = [", ".join(filter(None, [analysis.station, time_text(event.at(analysis.start))])), event.sentence]
    name = recording.source.replace("\\", "/").rsplit("/", 1)[-1] or "recording"
    rest = len(analysis.events) - 1
    lines.append(
        f"{name}: {frequency_text(recording.sampling_rate)}; {end - start:.3g} s from {start:.4g} s; "
        f"the event starts at {event.start:.6g} s" + (f"; {count_text(rest, 'other event')}" if rest > 0 else "")
    )
    return [shorten_figure_text(draw_figure_name(line), 112) for line in lines if line]


_A4_WIDTH = 8.27
_HEIGHT = 11.69
_MARGIN = 0.6  # inches: A4
_A4_RIGHT = _A4_WIDTH - _MARGIN
_SOFT = "#5b6776"
_MAX_ITEMS = 4
_MAX_ROWS = 8
_MOST_ITEMS = (10, 7, 5, 4, 3, 2)
_LEAST_PANELS = 2.6
"""Items of a list, fewer until this height [inches] is left for the panels."""
_DEAD = 0.01
"""A voltage below this [pu], or a current below this fraction of what it was, has no angle."""
_VOLTAGE_WORDS = {"sag": "Residual voltage", "interruption": "Residual voltage", "swell": "Maximum voltage"}


class SheetBook:
    """A PDF to which sheets are added; the same sheets give the same bytes."""

    def __init__(self) -> None:
        self._file = BytesIO()
        self._pages: Any = PdfPages(self._file, metadata={"CreationDate": None, "Creator": f"pqswarm {__version__}"})

    def add(self, recording: RecordingSource, analysis: Analysis, incidents: Sequence[Incident]) -> None:
        """Add a sheet for each of some incidents of a recording."""
        for incident in incidents:
            figure = draw_sheet(recording, analysis, incident)
            with mpl.rc_context({**STYLE, "font.family": list(figure_font_families())}):
                self._pages.savefig(figure)

    def finish(self) -> bytes:
        """Return the PDF; nothing can be added any more."""
        with mpl.rc_context(STYLE):  # fonts are written here
            self._pages.close()
        return self._file.getvalue()


def draw_sheet(recording: RecordingSource, analysis: Analysis, incident: Incident) -> Figure:
    """Draw the sheet of an incident: an A4 page, portrait. Of the recording only the part shown is read."""
    if analysis.characterization is None:
        raise PqswarmError("the measurements of this analysis were dropped: analyze the recording again.")
    main = analysis.events[incident.events[0]]
    with mpl.rc_context({**STYLE, "font.family": list(figure_font_families())}):
        page = _SheetPage(Figure(figsize=(_A4_WIDTH, _HEIGHT)))
        _draw_sheet_heading(page, analysis, incident, main)
        _draw_sheet_numbers(page, main)
        moments = _measure_sheet_moments(recording, analysis, incident, main.event)
        for most in _MOST_ITEMS:
            below = list(_sheet_texts(analysis, incident, most))
            used = sum(0.28 + 0.155 * len(lines) for _, lines in below) + (1.95 if moments else 0.0) + 1.25
            if _HEIGHT - page.y - used >= _LEAST_PANELS:
                break
        interval = _sheet_interval(analysis, incident)
        place = (page.y, _HEIGHT - page.y - used)
        page.y = draw_figure_panels(page.figure, recording, analysis, main, interval, place, (1.1, 2.05)) + 0.5
        if moments:
            _draw_sheet_moments(page, analysis, moments)
        for heading, lines in below:
            page.write(heading, size=9, weight="bold", step=0.19)
            for line in lines:
                page.write(line, size=8, step=0.155)
            page.y += 0.09
        _draw_sheet_footer(page, recording, analysis)
        return page.figure


@dataclass
class _SheetPage:
    """A page that is filled from the top; positions are in inches from its upper left corner."""

    figure: Figure
    y: float = _MARGIN

    def text(self, x: float, y: float, text: str, **style: Any) -> None:
        """Put a text, by its baseline."""
        style = {"fontsize": 8.5, "color": INK, **style}
        artist = self.figure.text(x / _A4_WIDTH, 1 - y / _HEIGHT, draw_figure_name(text), va="baseline", **style)
        artist.set_parse_math(False)

    def write(self, text: str, *, size: float, step: float, **style: Any) -> None:
        """Write a line at the left margin, below what is there."""
        self.y += step
        self.text(_MARGIN, self.y, text, fontsize=size, **style)

    def rule(self, y: float, x0: float = _MARGIN, x1: float = _A4_RIGHT) -> None:
        """Draw a horizontal line."""
        places = [x0 / _A4_WIDTH, x1 / _A4_WIDTH], [1 - y / _HEIGHT] * 2
        self.figure.add_artist(Line2D(*places, color=FAINT, lw=0.6))

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        """Add axes by their upper left corner."""
        return self.figure.add_axes((x / _A4_WIDTH, 1 - (y + height) / _HEIGHT, width / _A4_WIDTH, height / _HEIGHT))


@lru_cache(maxsize=4096)
def _sheet_text_width(text: str, size: float, *, is_bold: bool) -> float:
    """Width of a text as drawn [inches]."""
    font = FontProperties(family=list(figure_font_families()), size=size, weight="bold" if is_bold else "normal")
    return float(text_to_path.get_text_width_height_descent(draw_figure_name(text), font, ismath=False)[0]) / 72


def _fit_sheet_text(text: str, size: float, width: float, *, keep: int = 0, is_bold: bool = False) -> str:
    """A text shortened to a width [inches], keeping its end to the width of `keep` letters."""
    low, high = keep + 1, len(text) + 1
    if _sheet_text_width(text, size, is_bold=is_bold) <= width:
        return text
    while high - low > 1:  # letters that fit
        middle = (low + high) // 2
        fits = _sheet_text_width(shorten_figure_text(text, middle, keep=keep), size, is_bold=is_bold) <= width
        low, high = (middle, high) if fits else (low, middle)
    return shorten_figure_text(text, low, keep=keep)


def _wrap_sheet_text(text: str, size: float, width: float, n_lines: int, *, is_bold: bool = False) -> list[str]:
    """Break a text at spaces into lines of a width [inches]; the last one is shortened."""
    lines: list[str] = []
    rest = " ".join(text.split())
    while rest and len(lines) < n_lines:
        line = _fit_sheet_text(rest, size, width, is_bold=is_bold)
        if line != rest and len(lines) < n_lines - 1:
            place = rest.rfind(" ", 0, len(line))
            line = rest[:place] if place > 0 else line[:-1]
        lines.append(line)
        rest = rest[len(line) :].lstrip()
    return lines


def _draw_sheet_heading(page: _SheetPage, analysis: Analysis, incident: Incident, main: EventResult) -> None:
    """What happened, how sure that is or who corrected it, where and when."""
    title = incident.verdict if incident.has_cause else rows.event_sentence(main)
    top = page.y
    for line in _wrap_sheet_text(title[:1].upper() + title[1:], 15, _A4_RIGHT - _MARGIN - 0.2, 2, is_bold=True):
        page.y += 0.27
        page.text(_MARGIN + 0.18, page.y, line, fontsize=15, fontweight="bold")
    length = duration_text(incident.end - incident.start, analysis.nominal_frequency).partition(" (")[0]
    is_longer = incident.end - incident.start > 1.5 * main.event.duration > 0
    said = (analysis.station, rows.row_moment(main, analysis.start), f"{length} in all" if is_longer else "")
    for text, color in (("  ·  ".join(filter(None, said)), _SOFT), (incident.correction, INK)):
        for line in _wrap_sheet_text(text[:1].upper() + text[1:], 10, _A4_RIGHT - _MARGIN - 0.2, 2):
            page.y += 0.22
            page.text(_MARGIN + 0.18, page.y, line, fontsize=10, color=color)
    bar = (
        (_MARGIN / _A4_WIDTH, 1 - (page.y + 0.04) / _HEIGHT),
        0.06 / _A4_WIDTH,
        (page.y + 0.02 - top) / _HEIGHT,
    )
    page.figure.add_artist(Rectangle(*bar, color=rows.row_color(main), lw=0))
    page.y += 0.2


def _draw_sheet_numbers(page: _SheetPage, main: EventResult) -> None:
    """The main event in numbers, in volts and pu, with what 1 pu is."""
    event = main.event
    title = _VOLTAGE_WORDS.get(event.type, "Magnitude")
    cells = [(title, *magnitude_text(event).removesuffix(")").partition(" (")[::2])]
    if duration := rows.row_duration(main):
        title = "Duration, Urms(1/2)" if event.type in RMS else "Duration"
        cells.append((title, *duration.removesuffix(")").partition(" (")[::2]))
    phases, _, system = rows.row_phases(main).partition(" of ")
    title = f"{rows.row_title(main)}, type {event.sag_type}" if event.sag_type else rows.row_title(main)
    cells += [
        (title, phases, f"of {system}" if system else ""),
        ("1 pu", voltage_text(event.reference_volts), main.reference_source),
    ]
    if (point := tolerance_curve_point(event)) is not None:
        places = (curve.place(point[1], point[0]) for curve in (ITIC, SEMI))
        cells.append(("ITIC, SEMI F47", ", ".join(places), "the tolerance curves"))
    width = (_A4_RIGHT - _MARGIN) / len(cells)
    page.rule(page.y)
    for i, (title, large, small) in enumerate(cells):
        x = _MARGIN + i * width
        page.text(
            x,
            page.y + 0.19,
            _fit_sheet_text(title[:1].upper() + title[1:], 7.5, width - 0.1),
            fontsize=7.5,
            color=_SOFT,
        )
        size = next((one for one in (11.5, 10, 8.5) if _sheet_text_width(large, one, is_bold=True) < width - 0.1), 7.5)
        page.text(
            x, page.y + 0.4, _fit_sheet_text(large, size, width - 0.1, is_bold=True), fontsize=size, fontweight="bold"
        )
        page.text(x, page.y + 0.56, _fit_sheet_text(small, 7.5, width - 0.1), fontsize=7.5, color=_SOFT)
    page.y += 0.66
    page.rule(page.y)
    page.y += 0.12


def _sheet_interval(analysis: Analysis, incident: Incident) -> tuple[float, float]:
    """What is shown of an incident [s]: all of it with a margin, or the usual part of a steady one."""
    first = analysis.events[min(incident.events)].event
    if not incident.stages:
        start, end = rows.shown_interval(analysis.events[incident.events[0]].event)
    else:
        begin, last = min(incident.start, first.start), max(incident.end, incident.start)
        lead = max(3 / analysis.nominal_frequency, min(0.25 * (last - begin), 1.0))
        start, end = begin - lead, min(last + lead, begin - lead + rows.LONGEST_SHOWN)
    return max(start, 0.0), min(end, analysis.duration)


def _measure_sheet_moments(
    recording: RecordingSource, analysis: Analysis, incident: Incident, event: Event
) -> list[Snapshot]:
    """One cycle before the incident, and the worst one of its main event; empty if there is no such cycle."""
    worst = find_worst_cycle(analysis, event)
    if worst is None:
        return []
    cycle = 1 / analysis.frequency
    before = max(min(incident.start, event.start) - 0.5 * cycle, cycle)
    own = next(one.system for one in analysis.references if one.number == event.worst.number)
    dead = {part.number for part in event.parts if part.magnitude < _DEAD}
    # Angles are relative to the first.
    volts = sorted((one.number for one in analysis.references if one.system == own), key=dead.__contains__)
    amps = [i for i, one in enumerate(recording.channels) if one.is_current and one.phase]
    if len(amps) > 4:  # those of the feeder
        amps = [i for i in amps if incident.feeder and incident.feeder in recording.channels[i].name][:4]
    try:
        return [
            measure_at(recording, moment, frequency=analysis.frequency, channels=[*volts, *amps], side=side)
            for moment, side in ((before, "before"), (worst, "around"))
        ]
    except PqswarmError:  # less than a cycle
        return []


def _draw_sheet_moments(page: _SheetPage, analysis: Analysis, moments: Sequence[Snapshot]) -> None:
    """Two phasor diagrams, before and during, and their values in volts and pu."""
    top = page.y
    side = 1.6
    for i, (moment, title) in enumerate(zip(moments, ("Before", "During (worst cycle)"), strict=True)):
        x = _MARGIN + i * (side + 0.1)
        page.text(x, top + 0.12, title, fontsize=9, fontweight="bold")
        _draw_sheet_phasors(page.axes(x, top + 0.17, side, side), moment, analysis)
    volts = {one.channel: one.volts for one in analysis.references}
    x = _MARGIN + 2 * side + 0.3
    places = [_A4_RIGHT - width for width in (1.98, 1.49, 0.91, 0.42, 0)]
    y = top + 0.12
    for place, word in zip((*places[:4:2], places[4]), ("before", "during", "turned"), strict=True):
        page.text(place, y, word, fontsize=7.5, ha="right", color=_SOFT)
    for one, other in list(zip(*(moment.channels for moment in moments), strict=True))[:_MAX_ROWS]:
        y += 0.2
        page.rule(y - 0.135, x, _A4_RIGHT)
        page.text(
            x, y, _fit_sheet_text(draw_figure_name(one.name, one.phase), 8, places[0] - 0.55 - x, keep=3), fontsize=8
        )
        for i, value in enumerate((one, other)):
            text = "?" if value.rms is None else unit_text(value.rms, value.unit)
            page.text(places[2 * i], y, text, fontsize=8, ha="right")
            if value.rms is not None and volts.get(value.name, 0) > 0:
                page.text(places[2 * i + 1], y, f"{value.rms / volts[value.name]:.2f} pu", fontsize=8, ha="right")
        page.text(places[4], y, _sheet_angle_change(one, other), fontsize=8, ha="right")
    page.text(x, y + 0.2, "RMS of one cycle; angles relative to the first voltage", fontsize=7, color=_SOFT)
    page.y = max(top + 0.17 + side, y + 0.33) + 0.05


def _sheet_angle_change(before: ChannelSnapshot, during: ChannelSnapshot) -> str:
    """By how much the angle of a fundamental changes."""
    angles = [None if one.fundamental is None else one.fundamental.relative for one in (before, during)]
    if angles[0] is None or angles[1] is None or (during.rms or 0.0) < _DEAD * (before.rms or 0.0):
        return ""
    return f"{round((angles[1] - angles[0] + 180) % 360 - 180):+d}°"


def _draw_sheet_phasors(axis: Axes, moment: Snapshot, analysis: Analysis) -> None:
    """Voltages in pu, currents relative to the largest; the outer circle is 1 pu, or the largest voltage."""
    volts = {one.channel: one.volts for one in analysis.references}
    known = [(one, one.fundamental.rms, one.fundamental.relative) for one in moment.channels if one.fundamental]
    largest = max((rms for one, rms, _ in known if one.unit != "V"), default=0.0) or 1.0
    sizes = {}
    for one, rms, _ in known:
        base = volts.get(one.name, 0.0) if one.unit == "V" else largest / 0.6
        sizes[one.name] = rms / base if base > 0 else 0.0
    outer = max(1.0, *sizes.values())
    angle = np.linspace(0, 2 * np.pi, 181)
    for radius in (0.5, 1.0):
        axis.plot(radius * np.cos(angle), radius * np.sin(angle), color=FAINT, lw=0.5)
    for turn in np.arange(0, 360, 30):
        axis.plot([0, outer * np.cos(np.radians(turn))], [0, outer * np.sin(np.radians(turn))], color="#e4e8ec", lw=0.5)
    for place, (one, _, relative) in enumerate(known):
        turn = np.radians(0.0 if relative is None else relative)
        x, y = sizes[one.name] * np.cos(turn), sizes[one.name] * np.sin(turn)
        color, _ = figure_phase_style(one.phase, place)
        style = "solid" if one.unit == "V" else (0, (2, 1))
        arrow = {"arrowstyle": "-|>", "color": color, "lw": 1.4 if one.unit == "V" else 0.9, "ls": style}
        axis.annotate("", (x, y), (0, 0), arrowprops={**arrow, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 8})
        if np.hypot(x, y) < 0.12 * outer:
            continue  # its label would cover others
        name = ("U" if one.unit == "V" else "I") + (one.phase or str(place + 1))
        reach = 1 + 0.16 * outer / max(float(np.hypot(x, y)), 0.25 * outer)
        axis.text(x * reach, y * reach, name, fontsize=7, color=color, ha="center", va="center").set_parse_math(False)
    axis.set_xlim(-1.22 * outer, 1.22 * outer)
    axis.set_ylim(-1.22 * outer, 1.22 * outer)
    axis.set_aspect("equal")
    axis.axis("off")


def _sheet_texts(analysis: Analysis, incident: Incident, most: int) -> Iterator[tuple[str, list[str]]]:
    """Headings with their lines: notes, cause and evidence, stages, events; of a timeline at most some."""
    width = _A4_RIGHT - _MARGIN
    if analysis.remarks:
        yield "Notes", _list_on_sheet(analysis.remarks, width, min(most, _MAX_ITEMS))
    if incident.has_cause and incident.evidence:
        title = (
            f"Evidence ({incident.correction.rpartition('; ')[2]})"
            if incident.by_hand
            else f"Cause: {incident.verdict.removeprefix('cause ')}"
        )
        yield (
            _fit_sheet_text(title, 9, width, keep=8, is_bold=True),
            _list_on_sheet(incident.evidence, width, min(most // 2, _MAX_ITEMS)),
        )
    if incident.timeline:
        said = "" if incident.clearing_s is None else f": cleared in {1000 * incident.clearing_s:.0f} ms"
        yield f"Timeline{said}", _list_on_sheet(rows.timeline_lines(incident), width, most)
    elif len(incident.stages) > 1:
        lines = []
        for stage in incident.stages[:_MAX_ITEMS]:
            levels = ", ".join(f"{name} {level:.2f}" for name, level in stage.levels.items() if isfinite(level))
            shown = f"  ({levels} pu)" if levels else ""
            lines += _wrap_sheet_text(f"{stage.start:.3f} to {stage.end:.3f} s:  {stage.name}{shown}", 8, width, 1)
        rest = len(incident.stages) - _MAX_ITEMS
        yield (
            "Stages, from the first sample",
            [*lines, *([f"and {count_text(rest, 'more stage')}"] if rest > 0 else [])],
        )
    found = [analysis.events[i] for i in sorted(incident.events)]
    lines = []
    for one in found[:_MAX_ITEMS]:
        said = f"{rows.event_sentence(one)}; class {one.class_in_words}"
        said += f" ({one.correction})" if one.correction else ""
        lines += _wrap_sheet_text(f"{one.clock(analysis.start)}  {said}", 8, width, 2)
    rest = len(found) - _MAX_ITEMS
    yield ("Events" if len(found) > 1 else "Event"), [*lines, *([f"and {rest} more"] if rest > 0 else [])]


def _list_on_sheet(texts: Sequence[str], width: float, most: int) -> list[str]:
    """The first of some texts as items of a list, and how many there are besides."""
    lines = [line for text in texts[:most] for line in _wrap_sheet_text(f"•  {text}", 8, width, 2)]
    return [*lines, *([f"and {len(texts) - most} more"] if len(texts) > most else [])]


def _draw_sheet_footer(page: _SheetPage, recording: RecordingSource, analysis: Analysis) -> None:
    """The recording, and what made the sheet."""
    name = analysis.source.replace("\\", "/").rsplit("/", 1)[-1] or "recording"
    facts = f"{name}; {frequency_text(recording.sampling_rate)}; {analysis.frequency:.3f} Hz; {analysis.duration:.4g} s"
    y = _HEIGHT - 0.42
    page.rule(y - 0.16)
    page.text(_MARGIN, y, _fit_sheet_text(facts, 7, _A4_RIGHT - _MARGIN - 1, keep=30), fontsize=7, color=_SOFT)
    page.text(_A4_RIGHT, y, f"pqswarm {__version__}", fontsize=7, color=_SOFT, ha="right")
