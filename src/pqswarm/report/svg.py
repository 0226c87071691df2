"""Figures as inline SVG for a page, legible on light and dark backgrounds."""

import io
import re
from html import escape

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.report.style import INK, STYLE, mark_of

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_DROPPED = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_NO_TURN = re.compile(r' transform="rotate\(-?0 [^"]*"')
_PLACE = re.compile(r' (d|x|y|width|height|transform)="([^"]*)"')
_FRACTION = re.compile(r"-?\d+\.\d{3,}")
_FAMILY = re.compile(r"(font(?:-family)?: ?[^;\"]*?)'[^;\"]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_REACH = 6  # radius in points within which a mark shows its tooltip
_REFERENCE = re.compile(r'( id="|url\(#|href="#)')


def inline_svg(figure: Figure, title: str, prefix: str) -> str:
    """Return a figure as an ``<svg>`` element to stand inside an HTML page; the same figure gives the same text.

    The element has no size of its own and fills its container. Text stays text, in the reader's sans-serif fonts.
    :data:`pqswarm.report.style.INK` becomes ``currentColor``, and the background is transparent. The title is the
    text alternative. The prefix of all ids must differ between the figures of a page. Artists marked by
    :func:`pqswarm.report.style.mark` have the class ``mark``, their series as ``data-series`` and their
    tooltips as ``<title>``.
    """
    if not _PREFIX.fullmatch(prefix):
        raise PqswarmError(f"prefix {prefix!r} cannot start an id: use a letter, then letters, digits, '_' or '-'.")
    stream = io.StringIO()
    marked = [artist for artist in figure.findobj(include_self=False) if mark_of(artist) != mark_of(figure)]
    names = [artist.get_gid() for artist in marked]
    for number, artist in enumerate(marked):
        artist.set_gid(f"mark{number}")
    try:
        with mpl.rc_context({**STYLE, "svg.fonttype": "none"}):
            figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    finally:
        for artist, name in zip(marked, names, strict=True):
            artist.set_gid(name)
    view_box, _, rest = stream.getvalue().partition('viewBox="')[2].partition('"')
    body = rest[rest.index(">") + 1 : rest.rindex("</svg>")]
    # Tag by tag, so that the text between them is unchanged.
    body = _TAG.sub(lambda tag: _tidy_svg_tag(tag[0], prefix), _DROPPED.sub("", body))
    body = re.sub(r"\n\s*", "\n", body).replace("<defs>\n</defs>\n", "").lstrip("\n")
    for number, artist in enumerate(marked):
        body = body.replace(f'<g id="{prefix}mark{number}">', _open_svg_tag(artist, figure, f"{prefix}mark{number}"), 1)
    # matplotlib's rule for line ends, *{...}, would apply to the whole page: here it is inherited from the root.
    words = escape(" ".join(title.split()))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{view_box}" role="img" aria-label="{words}" font-family="sans-serif" '
        f'stroke-linejoin="round" stroke-linecap="butt">\n<title>{words}</title>\n{body}</svg>\n'
    )


def _open_svg_tag(artist: Artist, figure: Figure, name: str) -> str:
    """The opening tag of a marked artist's group, with tooltips for the artist or each of its points."""
    known = mark_of(artist)
    kinds = "mark label" if isinstance(artist, Text) else "mark"
    series = f' data-series="{_escape_svg_text(known.series)}"' if known.series else ""
    series += f' data-key="{_escape_svg_text(known.key)}"' if known.key else ""
    group = f'<g id="{name}" class="{kinds}"{series}'
    if len(known.tips) <= 1:
        return "".join([f"{group}>", *(f"<title>{_escape_svg_text(tip)}</title>" for tip in known.tips)])
    circles = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_REACH}"><title>{_escape_svg_text(tip)}</title></circle>'
        for tip, (x, y) in zip(known.tips, _places_in_svg(artist, figure, len(known.tips)), strict=True)
        if np.isfinite([x, y]).all()
    ]
    opened = f'{group} pointer-events="none">\n<g fill="none" pointer-events="all">'
    return "\n".join([opened, *circles, "</g>"])


def _places_in_svg(artist: Artist, figure: Figure, number: int) -> FloatArray:
    """The positions of the points of an artist, in SVG units; NaN if clipped."""
    points = np.empty((0, 2))
    transform = artist.get_transform()
    if isinstance(artist, Line2D):
        points = np.asarray(artist.get_xydata(), float)
    elif isinstance(artist, Collection):
        points = np.ma.filled(np.ma.asarray(artist.get_offsets(), float), np.nan)
        transform = artist.get_offset_transform()
        if len(points) != number:  # lines or areas: use their centers
            points = np.array([path.get_extents().get_points().mean(axis=0) for path in artist.get_paths()])
            transform = artist.get_transform()
    if len(points) != number:
        raise PqswarmError(f"a mark of a figure has {len(points)} points, but {number} tooltips.")
    places = np.asarray(transform.transform(points), float)
    if artist.axes is not None and artist.get_clip_on():
        box = artist.axes.bbox.padded(1.0)
        outside = (places < box.min).any(axis=1) | (places > box.max).any(axis=1)
        places[outside] = np.nan
    places *= 72 / figure.dpi
    return np.column_stack([places[:, 0], 72 * figure.get_figheight() - places[:, 1]])


def _escape_svg_text(text: str) -> str:
    """Escape text for an attribute or between tags."""
    return escape(_CONTROL.sub(" ", text))


def _tidy_svg_tag(tag: str, prefix: str) -> str:
    tag = _NO_TURN.sub("", tag)
    tag = _PLACE.sub(lambda match: f' {match[1]}="{_round_svg_numbers(match[2])}"', tag)
    tag = _FAMILY.sub(r"\1sans-serif", tag).replace("font-family: sans-serif; ", "")  # it is the root's
    return _REFERENCE.sub(rf"\g<1>{prefix}", tag.replace(INK, "currentColor"))


def _round_svg_numbers(numbers: str) -> str:
    """Round to two decimals: a hundredth of a point is invisible, and the text is half as long."""
    return _FRACTION.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), " ".join(numbers.split()))
