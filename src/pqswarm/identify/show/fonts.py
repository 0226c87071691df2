"""Names in any script in figures: fonts of this machine, and a substitute for missing letters."""

import re
from functools import cache
from itertools import accumulate

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


@cache
def font_families() -> tuple[str, ...]:
    """Return the available fonts, in order of preference."""
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    return (_FIRST, *(name for name in _CANDIDATES if name in known))


@cache
def _fonts_have(letter: str) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return any(get_font(findfont(FontProperties(family=name))).get_char_index(ord(letter)) for name in font_families())


def draw_name(text: str, otherwise: str = "") -> str:
    """Return a text that the fonts can draw: unchanged, else `otherwise`, else with an ellipsis for missing letters."""
    letters = [letter if letter.isprintable() and _fonts_have(letter) else "" for letter in text]
    if all(letters):
        return text
    if otherwise:
        return otherwise
    shown = "".join(letter or _MISSING for letter in letters)
    return re.sub(f"{_MISSING}+", "…", shown)


def shorten_to_font_width(text: str, limit: int, *, keep: int = 0) -> str:
    """Return a text cut to the width of `limit` Latin letters, keeping its end to the width of `keep`."""
    text = " ".join(text.split())
    if _font_width(text) <= limit:
        return text
    tail = _cut_to_font_width(text[::-1], keep)[::-1]
    return f"{_cut_to_font_width(text, limit - 1 - _font_width(tail))}…{tail}"


def _font_width(text: str) -> int:
    return sum(2 if ord(letter) >= _WIDE else 1 for letter in text)


def _cut_to_font_width(text: str, limit: int) -> str:
    """The first letters of a text, up to a width."""
    widths = accumulate(_font_width(letter) for letter in text)
    return "".join(letter for letter, width in zip(text, widths, strict=True) if width <= limit)
