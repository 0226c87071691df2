"""The figure of an event: waveforms, Urms(1/2) and currents over one time axis; only the part shown is read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import ceil
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pqswarm._base.text import count_text, frequency_text, scale_of
from pqswarm._base.thinning import extreme_places
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.identify.analysis import Analysis, EventResult, Reference
from pqswarm.identify.rows import time_text
from pqswarm.identify.show.rows import COLORS, shown_interval
from pqswarm.identify.tolerance import RMS
from pqswarm.measure import Event
from pqswarm.recordings.recording import ChannelHeader, RecordingSource
from pqswarm.report.style import FAINT, STYLE

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
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    return (_FIRST, *(name for name in _CANDIDATES if name in known))


@cache
def _figure_fonts_have(letter: str) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

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


def shorten_to_font_width(text: str, limit: int, *, keep: int = 0) -> str:
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
            label=shorten_to_font_width(line.name, 18, keep=5),
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
    return [shorten_to_font_width(draw_figure_name(line), 112) for line in lines if line]
