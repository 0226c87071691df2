"""Units of channels, from what their file says, to SI.

Makers agree on little. The tables here hold what is common in Europe, America, China and Russia.
"""

import re
import unicodedata

__all__ = ["clean", "guess_unit", "is_summary", "si_unit", "split_unit"]

_NAME_LIMIT = 120  # characters

_PREFIXES = {"": 1.0, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_BASES = {"V": "V", "A": "A", "W": "W", "VA": "VA", "VAR": "var", "HZ": "Hz", "B": "V", "В": "V", "А": "A"}  # noqa: RUF001
_WORDS = {
    word: (unit, factor)
    for words, unit, factor in (
        ("volt volts 伏", "V", 1.0),
        ("kilovolt kilovolts кв 千伏", "V", 1e3),
        ("millivolt millivolts мв", "V", 1e-3),
        ("amp amps ampere amperes 安", "A", 1.0),
        ("kiloampere kiloamperes ка 千安", "A", 1e3),
    )
    for word in words.split()
}
_SI = re.compile(r"([uµμmkKMG]?)(V|A|W|VA|VAR|var|Var|Hz|HZ|В|А)(?:[ _-]?(?:peak|pk|inst))?")  # noqa: RUF001

_RMS = re.compile(r"(?<![A-Za-z])(?:mag|magnitude|rms|eff|ang|angle|avg|mean)(?![A-Za-z])", re.IGNORECASE)
_OF_PHASE = r"[ _]?(?:L?[ABCNRST0-4]{1,2})?[NGE]?(?![A-Za-z0-9])"
_VOLTAGE = re.compile(rf"(?<![A-Za-z])[34]?[UV]{_OF_PHASE}|volt|spannung|tension", re.IGNORECASE)
_CURRENT = re.compile(rf"(?<![A-Za-z])[34]?I{_OF_PHASE}|current|strom|courant|amp", re.IGNORECASE)
_UNIT_AT_END = re.compile(r"^(.*?)\s*(?:\[([^\[\]]{0,12})\]|\(([^()]{0,12})\)|[/,]\s*([^\W\d_]{1,3}))\s*$")


def clean(text: str) -> str:
    r"""Make a name safe to show: no control characters, no more than 120 characters.

    Examples
    --------
    >>> clean("  Ua\x1b[31m ")
    'Ua[31m'
    """
    kept = "".join(
        " " if c in "\t\r\n" else c for c in text[:1000] if c in "\t\r\n" or unicodedata.category(c)[0] != "C"
    )
    return " ".join(kept.split())[:_NAME_LIMIT]


def si_unit(text: str) -> tuple[str, float]:
    """Return the SI unit and the factor to it; a strange unit stays as it is."""
    text = clean(text)
    word = _WORDS.get(text.casefold())
    if word is not None:
        return word
    match = _SI.fullmatch(text)
    if match is None:
        match = _SI.fullmatch(text.upper()) if text in ("v", "a") else _SI.fullmatch(text[:1] + text[1:].upper())
    if match is None:
        return text, 1.0
    return _BASES[match[2].upper()], _PREFIXES[match[1]]


def split_unit(header: str) -> tuple[str, str]:
    """Split a column header, such as ``Ua (kV)``, into name and unit."""
    header = clean(header)
    match = _UNIT_AT_END.match(header)
    if match is None:
        return header, ""
    if match[4] is not None:
        known = si_unit(match[4])[0] != match[4] or match[4] in ("V", "A", "s", "ms", "us")
        return (match[1], match[4]) if known else (header, "")
    unit = match[2] if match[2] is not None else match[3]
    return match[1] or header, unit.strip()


def guess_unit(name: str) -> str:
    """Return the unit that a name without unit suggests: ``"V"``, ``"A"`` or nothing."""
    if _VOLTAGE.search(name):
        return "V"
    return "A" if _CURRENT.search(name) else ""


def is_summary(name: str) -> bool:
    """Whether a name says that the channel is not a waveform, but a magnitude, an angle or a mean.

    Examples
    --------
    >>> is_summary("SRC 1 Vag Mag"), is_summary("Image A")
    (True, False)
    """
    return _RMS.search(name) is not None
