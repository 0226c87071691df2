"""Events on tolerance curves: magnitude against duration, as inline SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import NamedTuple

from markupsafe import Markup, escape

from pqswarm._base.text import count_text
from pqswarm.identify.analysis import EventResult
from pqswarm.identify.show.rows import row_color
from pqswarm.identify.tolerance import ITIC, RMS, SEMI, SEMI_REQUIRED, Curve, curve_point, rank_event
from pqswarm.identify.words import join_words

_WIDTH, _HEIGHT = 600.0, 430.0
_LEFT = 62.0
_RIGHT = 16.0
_TOP = 14.0
_BOTTOM = 58.0
_TICKS = ((1e-4, "0.1 ms"), (1e-3, "1 ms"), (1e-2, "10 ms"), (0.1, "0.1 s"), (1.0, "1 s"), (10.0, "10 s"))
_MAX_POINTS = 1000
"""Points drawn, the worst ones; all are counted."""

_LONG_TICKS = ((60.0, "1 min"), (600.0, "10 min"), (3600.0, "1 h"))


class _ChartPoint(NamedTuple):
    """An event on a chart: what it is, its duration [s] and voltage [%], tip and link."""

    found: EventResult
    seconds: float
    percent: float
    tip: str
    link: str


@dataclass(frozen=True)
class Chart:
    """A chart: name, caption, picture, numbers of events by place, the same as text, and a note on how to read it."""

    name: str
    caption: str
    picture: Markup
    places: dict[str, int]
    counts: str
    note: str


def draw_charts(events: Sequence[EventResult], tips: Sequence[str], links: Sequence[str]) -> list[Chart]:
    """Draw the events that have a place on a curve on ITIC and SEMI F47; each has a text and a link."""
    shown = [
        _ChartPoint(found, *place, *words)
        for found, *words in zip(events, tips, links, strict=True)
        if (place := curve_point(found.event)) is not None
    ]
    dips = [one for one in shown if one.found.event.type in ("sag", "interruption")]
    itic, semi = (_Axes(rows, top, shortest) for rows, top, shortest in ((shown, 200.0, 1e-4), (dips, 100.0, 5e-3)))
    return [
        Chart(
            "itic",
            ITIC.title,
            itic.draw(_itic_lines(itic), ITIC, shown),
            (places := _chart_places(ITIC, shown)),
            _chart_counts(
                places, "in the prohibited region", "in the no-damage region", "in the no-interruption region"
            ),
            "Residual or maximum Urms(1/2) against duration (IEC 61000-4-30). Transients above 100 % are placed at the "
            "peak voltage and their decay time (our choice).",
        ),
        Chart(
            "semi-f47",
            SEMI.title,
            semi.draw(_semi_lines(semi), SEMI, dips),
            (places := _chart_places(SEMI, dips)),
            _chart_counts(places, "", "below the curve", "on or above it"),
            "Dips and interruptions. The solid line is mandatory for semiconductor equipment, the dashed ones are "
            "recommended: 0 % for one cycle, 80 % up to 10 s, 90 % beyond. Events are counted against the solid line "
            "up to 1 s, then against the dashed ones.",
        ),
    ]


def _chart_places(curve: Curve, rows: Sequence[_ChartPoint]) -> dict[str, int]:
    found = [curve.place(row.percent, row.seconds) for row in rows]
    return {place: found.count(place) for place in ("above", "below", "inside")}


def _chart_counts(places: dict[str, int], above: str, below: str, inside: str) -> str:
    titles = {"above": above, "below": below, "inside": inside}
    counts = [f"{places[place]} {text}" for place, text in titles.items() if text]
    return f"{count_text(sum(places.values()), 'event')}: {join_words(counts)}."


class _Axes:
    """Duration (logarithmic) against percent of the reference."""

    def __init__(self, rows: Sequence[_ChartPoint], top: float, shortest: float) -> None:
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

    def draw(self, lines: list[str], curve: Curve, rows: Sequence[_ChartPoint]) -> Markup:
        """Return the whole picture."""
        label = f"{curve.title}: {count_text(len(rows), 'event')}, voltage against duration"
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="group" '
            f'aria-label="{escape(label)}">',
            *self._grid(),
            *lines,
            *self._frame(),
            *(self._point(row) for row in sorted(rows, key=lambda row: rank_event(row.found.event))[-_MAX_POINTS:]),
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
        parts = [f'<path class="axis" d="M{_LEFT:g} {_TOP:g}V{bottom:g}H{right:g}"/>']
        for seconds, text in self.ticks:
            parts.append(f'<text x="{self.x(seconds)}" y="{bottom + 20:g}" text-anchor="middle">{text}</text>')
        for percent in self._levels():
            y = self.y(percent) + 5
            parts.append(f'<text x="{_LEFT - 7:g}" y="{y:g}" text-anchor="end">{percent} %</text>')
        middle = (_LEFT + right) / 2
        parts.append(f'<text x="{middle:g}" y="{_HEIGHT - 12:g}" text-anchor="middle">duration</text>')
        return parts

    def _point(self, row: _ChartPoint) -> str:
        event_type = row.found.event.type
        seconds = row.seconds
        percent = row.percent
        x = self.x(seconds)
        y = self.y(percent)
        tip = escape(row.tip)
        if percent > self.top:
            shape = f'<path d="M{x - 6:g} {y + 9:g}L{x + 6:g} {y + 9:g}L{x:g} {y - 2:g}Z"/>'
        elif event_type in RMS:
            shape = f'<circle cx="{x}" cy="{y}" r="5.5"/>'
        else:
            shape = f'<path d="M{x:g} {y - 7:g}L{x + 6:g} {y:g}L{x:g} {y + 7:g}L{x - 6:g} {y:g}Z"/>'
        return (
            f'<a href="{escape(row.link)}" class="point" data-type="{escape(event_type)}" data-seconds="{seconds:.6g}" '
            f'data-percent="{percent:.6g}" fill="{row_color(row.found)}" aria-label="{tip}">'
            f'<g class="mark"><title>{tip}</title>{shape}</g></a>'
        )


def _steps(axes: _Axes, curve: Curve) -> list[tuple[float, float]]:
    """Corners of the lower curve."""
    corners = []
    start = axes.first
    for end, level in curve.lower:
        corners += [(start, level), (min(end, axes.last), level)]
        start = end
    return corners


def _itic_lines(axes: _Axes) -> list[str]:
    upper = [(min(seconds, axes.last), percent) for seconds, percent in ITIC.upper if percent <= axes.top]
    lower = _steps(axes, ITIC)
    above = [*upper, (axes.last, axes.top)]
    below = [*lower, (axes.last, 0.0), (axes.first, 0.0)]
    return [
        f'<path class="region bad" d="{axes.path(above)}Z"/>',
        f'<path class="region poor" d="{axes.path(below)}Z"/>',
        _region(axes, 0.06, 168, "prohibited region"),
        _region(axes, 1.6, 34, "no-damage region"),
        _region(axes, 1.4e-4, 62, "no interruption", "start"),
        _region(axes, 1.4e-4, 53, "in function", "start"),
        f'<path class="curve" d="{axes.path(upper)}"/>',
        f'<path class="curve" d="{axes.path(lower)}"/>',
    ]


def _semi_lines(axes: _Axes) -> list[str]:
    required = [corner for corner in _steps(axes, SEMI) if corner[0] <= SEMI_REQUIRED]
    advised = [(SEMI_REQUIRED, 80.0), (10.0, 80.0), (10.0, 90.0), (axes.last, 90.0)]
    below = [*_steps(axes, SEMI), (axes.last, 0.0), (axes.first, 0.0)]
    return [
        f'<path class="region poor" d="{axes.path(below)}Z"/>',
        _region(axes, 0.006, 60, "must ride through", "start"),
        _region(axes, 1.6, 34, "below the curve"),
        f'<path class="curve" d="{axes.path(required)}"/>',
        f'<path class="curve advised" d="{axes.path(advised)}"/>',
        f'<path class="curve advised" d="{axes.path([(axes.first, 0.0), (0.02, 0.0), (0.02, 50.0)])}"/>',
    ]


def _region(axes: _Axes, seconds: float, percent: float, text: str, anchor: str = "middle") -> str:
    return f'<text class="name" x="{axes.x(seconds)}" y="{axes.y(percent)}" text-anchor="{anchor}">{text}</text>'
