"""Names in any script in figures: fonts that this machine has, and what to write where none has the letters."""

import re
from functools import cache
from itertools import accumulate

__all__ = ["draw_name", "families", "shorten"]

_CANDIDATES = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN"),
    *("Microsoft YaHei", "SimHei", "PingFang SC", "Hiragino Sans GB", "Heiti SC", "WenQuanYi Micro Hei"),
    *("WenQuanYi Zen Hei", "Droid Sans Fallback", "Arial Unicode MS", "Noto Sans"),
)
_FIRST = "DejaVu Sans"
"""Comes with matplotlib; it has Latin, Greek and Cyrillic letters."""

_MISSING = "\ufffd"
_WIDE = 0x1100
"""From here on letters are about twice as wide."""


@cache
def families() -> tuple[str, ...]:
    """Return the fonts to draw with, the first that has a letter first; only such as this machine has."""
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    return (_FIRST, *(name for name in _CANDIDATES if name in known))


@cache
def _has(letter: str) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return any(get_font(findfont(FontProperties(family=name))).get_char_index(ord(letter)) for name in families())


def draw_name(text: str, otherwise: str = "") -> str:
    r"""Return a text that the fonts can draw: as it is, else `otherwise`, else with three points for what is missing.

    Examples
    --------
    >>> draw_name("шина 1"), draw_name("\U000f0000 1", "phase A"), draw_name("bus \U000f0000\U000f0001 1")
    ('шина 1', 'phase A', 'bus … 1')
    """
    letters = [letter if letter.isprintable() and _has(letter) else "" for letter in text]
    if all(letters):
        return text
    if otherwise:
        return otherwise
    shown = "".join(letter or _MISSING for letter in letters)
    return re.sub(f"{_MISSING}+", "…", shown)


def shorten(text: str, most: int, *, keep: int = 0) -> str:
    """Return a text cut to a width of so many Latin letters; its last letters, of a width of `keep`, stay.

    Examples
    --------
    >>> shorten("220kV busbar I, voltage A", 12), shorten("220kV busbar I, voltage A", 12, keep=3)
    ('220kV busba…', '220kV bu…e A')
    >>> shorten("220kV母线I电压", 10)
    '220kV母线…'
    """
    text = " ".join(text.split())
    if _width(text) <= most:
        return text
    tail = _begin(text[::-1], keep)[::-1]
    return f"{_begin(text, most - 1 - _width(tail))}…{tail}"


def _width(text: str) -> int:
    return sum(2 if ord(letter) >= _WIDE else 1 for letter in text)


def _begin(text: str, most: int) -> str:
    """The first letters of a text, as many as have room."""
    widths = accumulate(_width(letter) for letter in text)
    return "".join(letter for letter, width in zip(text, widths, strict=True) if width <= most)
