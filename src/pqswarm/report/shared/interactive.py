"""Series and tooltips of the artists of a figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from matplotlib.artist import Artist

_Artist = TypeVar("_Artist", bound=Artist)
_ATTRIBUTE = "_pqswarm_mark"


@dataclass(frozen=True)
class SeriesMark:
    """The series of an artist, empty for none, its tooltips: none, one for the artist, or one per point, and a key."""

    series: str = ""
    tips: tuple[str, ...] = ()
    key: str = ""


def mark(artist: _Artist, series: str = "", tips: Sequence[str] = (), key: str = "") -> _Artist:
    """Set series and tooltips of an artist on a page, and the key of a specification, and return the artist."""
    setattr(artist, _ATTRIBUTE, SeriesMark(series, tuple(tips), key))
    return artist


def mark_of(artist: Artist) -> SeriesMark:
    """Return the series and tooltips that :func:`mark` set."""
    series_mark = getattr(artist, _ATTRIBUTE, SeriesMark())
    assert isinstance(series_mark, SeriesMark)  # noqa: S101
    return series_mark
