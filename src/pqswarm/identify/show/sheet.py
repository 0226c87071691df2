"""One A4 sheet per incident, to forward: waveforms, Urms(1/2), phasors, numbers, cause and evidence, as PDF."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from math import isfinite
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.textpath import text_to_path

from pqswarm import __version__
from pqswarm._base.text import count_text, frequency_text, unit_text, voltage_text
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis, EventResult
from pqswarm.identify.archive.picture import find_worst_cycle
from pqswarm.identify.rows import duration_text, magnitude_text
from pqswarm.identify.show import rows
from pqswarm.identify.show.figures import (
    draw_figure_name,
    draw_figure_panels,
    figure_font_families,
    figure_phase_style,
    shorten_to_font_width,
)
from pqswarm.identify.tolerance import ITIC, RMS, SEMI, tolerance_curve_point
from pqswarm.measure import Event, measure_at
from pqswarm.measure.incidents.stages import Incident
from pqswarm.measure.snapshot import ChannelSnapshot, Snapshot
from pqswarm.recordings.recording import RecordingSource
from pqswarm.report.style import FAINT, INK, STYLE

_WIDTH = 8.27
_HEIGHT = 11.69
_MARGIN = 0.6  # inches: A4
_RIGHT = _WIDTH - _MARGIN
_SOFT = "#5b6776"
_MAX_EVENTS = 4
_MAX_STAGES = 4
_MAX_ITEMS = 4
_MAX_OPERATIONS = 10
_MAX_ROWS = 8
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
        page = _SheetPage(Figure(figsize=(_WIDTH, _HEIGHT)))
        _draw_sheet_heading(page, analysis, incident, main)
        _draw_sheet_numbers(page, main)
        moments = _measure_sheet_moments(recording, analysis, incident, main.event)
        below = list(_sheet_texts(analysis, incident))
        used = sum(0.28 + 0.155 * len(lines) for _, lines in below) + (1.95 if moments else 0.0) + 1.25
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
        artist = self.figure.text(x / _WIDTH, 1 - y / _HEIGHT, draw_figure_name(text), va="baseline", **style)
        artist.set_parse_math(False)

    def write(self, text: str, *, size: float, step: float, **style: Any) -> None:
        """Write a line at the left margin, below what is there."""
        self.y += step
        self.text(_MARGIN, self.y, text, fontsize=size, **style)

    def rule(self, y: float, x0: float = _MARGIN, x1: float = _RIGHT) -> None:
        """Draw a horizontal line."""
        places = [x0 / _WIDTH, x1 / _WIDTH], [1 - y / _HEIGHT] * 2
        self.figure.add_artist(Line2D(*places, color=FAINT, lw=0.6))

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        """Add axes by their upper left corner."""
        return self.figure.add_axes((x / _WIDTH, 1 - (y + height) / _HEIGHT, width / _WIDTH, height / _HEIGHT))


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
        fits = _sheet_text_width(shorten_to_font_width(text, middle, keep=keep), size, is_bold=is_bold) <= width
        low, high = (middle, high) if fits else (low, middle)
    return shorten_to_font_width(text, low, keep=keep)


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
    for line in _wrap_sheet_text(title[:1].upper() + title[1:], 15, _RIGHT - _MARGIN - 0.2, 2, is_bold=True):
        page.y += 0.27
        page.text(_MARGIN + 0.18, page.y, line, fontsize=15, fontweight="bold")
    length = duration_text(incident.end - incident.start, analysis.nominal_frequency).partition(" (")[0]
    is_longer = incident.end - incident.start > 1.5 * main.event.duration > 0
    said = (analysis.station, rows.row_moment(main, analysis.start), f"{length} in all" if is_longer else "")
    for text, color in (("  ·  ".join(filter(None, said)), _SOFT), (incident.correction, INK)):
        for line in _wrap_sheet_text(text[:1].upper() + text[1:], 10, _RIGHT - _MARGIN - 0.2, 2):
            page.y += 0.22
            page.text(_MARGIN + 0.18, page.y, line, fontsize=10, color=color)
    bar = (_MARGIN / _WIDTH, 1 - (page.y + 0.04) / _HEIGHT), 0.06 / _WIDTH, (page.y + 0.02 - top) / _HEIGHT
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
    width = (_RIGHT - _MARGIN) / len(cells)
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
    right = _RIGHT
    places = [right - 1.98, right - 1.49, right - 0.91, right - 0.42, right]
    y = top + 0.12
    for place, word in zip((*places[:4:2], places[4]), ("before", "during", "turned"), strict=True):
        page.text(place, y, word, fontsize=7.5, ha="right", color=_SOFT)
    for one, other in list(zip(*(moment.channels for moment in moments), strict=True))[:_MAX_ROWS]:
        y += 0.2
        page.rule(y - 0.135, x, right)
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


def _sheet_texts(analysis: Analysis, incident: Incident) -> Iterator[tuple[str, list[str]]]:
    """Headings with their lines: notes, cause and evidence, stages, events."""
    width = _RIGHT - _MARGIN
    if analysis.remarks:
        yield "Notes", _list_on_sheet(analysis.remarks, width)
    if incident.has_cause and incident.evidence:
        title = f"Cause: {incident.verdict.removeprefix('cause ')}"
        title = f"Evidence ({incident.correction.rpartition('; ')[2]})" if incident.by_hand else title
        yield _fit_sheet_text(title, 9, width, keep=8, is_bold=True), _list_on_sheet(incident.evidence, width)
    plain = incident.as_dict()
    if operations := plain.get("timeline", ()):
        clearing = plain.get("clearing_s")
        said = "" if clearing is None else f": cleared in {1000 * clearing:.0f} ms"
        texts = [f"{one['time']:.4f} s  {one['what']} ({one['source']})" for one in operations]
        yield f"Timeline{said}", _list_on_sheet(texts, width, _MAX_OPERATIONS)
    elif len(incident.stages) > 1:
        lines = []
        for stage in incident.stages[:_MAX_STAGES]:
            levels = ", ".join(f"{name} {level:.2f}" for name, level in stage.levels.items() if isfinite(level))
            text = f"{stage.start:.3f} to {stage.end:.3f} s:  {stage.name}" + (f"  ({levels} pu)" if levels else "")
            lines += _wrap_sheet_text(text, 8, width, 1)
        rest = len(incident.stages) - _MAX_STAGES
        yield (
            "Stages, from the first sample",
            [*lines, *([f"and {count_text(rest, 'more stage')}"] if rest > 0 else [])],
        )
    found = [analysis.events[i] for i in sorted(incident.events)]
    lines = []
    for one in found[:_MAX_EVENTS]:
        said = f"{rows.event_sentence(one)}; class {one.class_in_words}"
        said += f" ({one.correction})" if one.correction else ""
        lines += _wrap_sheet_text(f"{one.clock(analysis.start)}  {said}", 8, width, 2)
    rest = len(found) - _MAX_EVENTS
    yield ("Events" if len(found) > 1 else "Event"), [*lines, *([f"and {rest} more"] if rest > 0 else [])]


def _list_on_sheet(texts: Sequence[str], width: float, most: int = _MAX_ITEMS) -> list[str]:
    """The first of some texts as items of a list, and how many there are besides."""
    lines = [line for text in texts[:most] for line in _wrap_sheet_text(f"•  {text}", 8, width, 2)]
    return [*lines, *([f"and {len(texts) - most} more"] if len(texts) > most else [])]


def _draw_sheet_footer(page: _SheetPage, recording: RecordingSource, analysis: Analysis) -> None:
    """The recording, and what made the sheet."""
    name = analysis.source.replace("\\", "/").rsplit("/", 1)[-1] or "recording"
    facts = f"{name}; {frequency_text(recording.sampling_rate)}; {analysis.frequency:.3f} Hz; {analysis.duration:.4g} s"
    y = _HEIGHT - 0.42
    page.rule(y - 0.16)
    page.text(_MARGIN, y, _fit_sheet_text(facts, 7, _RIGHT - _MARGIN - 1, keep=30), fontsize=7, color=_SOFT)
    page.text(_RIGHT, y, f"pqswarm {__version__}", fontsize=7, color=_SOFT, ha="right")
