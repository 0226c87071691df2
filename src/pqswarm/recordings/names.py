"""Phases and SI units of channels, from what their file says.

Makers agree on little. The tables here hold what is common in Europe, America, China, India and Russia.
"""

import re
import unicodedata
from collections.abc import Sequence

from pqswarm.recordings.text import clean_name

_LETTERS = {"A": "A", "B": "B", "C": "C", "1": "A", "2": "B", "3": "C", "R": "A", "S": "B", "T": "C"}
_PAIRS = {order: pair for pair in ("AB", "BC", "CA") for order in ((pair[0], pair[1]), (pair[1], pair[0]))}
_START, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
# A pair needs a quantity (Uab, V12, VRS) or two clear conductors (L1-L2, A-B). "VAC" is a kind of voltage, not C to A.
_PAIR = re.compile(
    rf"{_START}(?:[UVI][ _]?(?!AC{_END})([ABC])[/-]?([ABC])|[UVI][ _]?L?([123])[/-]?L?([123])"
    rf"|[UVI][ _]?([RST])[-/]?([RST])|L([123])[ _/-]?L([123])|([ABC])[-/]([ABC])){_END}",
    re.IGNORECASE,
)
_NEUTRAL = re.compile(
    rf"{_START}(?:[34]?[UVI][ _]?(?:L?N[GE]?[0-9]?|0|o|4|G|E|EN|res(?:idual)?)|[34][UVI][0o]?|neutral|residual"
    rf"|zero[ _-]?seq\w*){_END}",
    re.IGNORECASE,
)
_SINGLE = re.compile(
    rf"{_START}(?:[UVIE][ _]?L?([ABC123])[NGE]?|[UVI][ _]?([RST])|L([123])[NE]?"
    rf"|(?:phase|phs|ph|voltage|current)[ ._-]*L?([ABC123])"
    rf"|([ABC])[ ._-]?(?:phase|phs|ph|相)){_END}",
    re.IGNORECASE,
)


_COLORS = {"R": "A", "Y": "B", "B": "C"}
_COLOR = re.compile(
    rf"{_START}(?:[UVIE][ _]?|(?:phase|phs|ph|voltage|current)[ ._-]*)?([RYB])(?:[NGE]|[ ._-]?(?:phase|phs|ph))?{_END}",
    re.IGNORECASE,
)
_COLOR_PAIR = re.compile(rf"{_START}(?:[UVI][ _]?)?([RYB])[ /-]?([RYB]){_END}", re.IGNORECASE)


def find_phases(channels: Sequence[tuple[str, str]]) -> list[str]:
    """Return the phases of the channels of a file, given as field and name; of red, yellow and blue, B is phase C."""
    by_color = [_phase_from_color(field) or _phase_from_color(name) for field, name in channels]
    has_colors = {"A", "B"} <= set("".join(by_color))  # an R and a Y
    return [
        color if color and has_colors else find_phase(field, name)
        for color, (field, name) in zip(by_color, channels, strict=True)
    ]


def _phase_from_color(text: str) -> str:
    text = clean_name(text)
    pair = _COLOR_PAIR.search(text)
    if pair is not None:
        return _PAIRS.get((_COLORS[pair[1].upper()], _COLORS[pair[2].upper()]), "")
    single = _COLOR.search(text)
    return "" if single is None else _COLORS[single[1].upper()]


def find_phase(field: str, name: str) -> str:
    """Return the phase of a channel, from the file's own field and its name: A, B, C, N, AB, BC, CA or empty.

    The name takes precedence over a bare number in the field, where some vendors write a running number. The sign of a
    reversed pair (``U21``) is lost.
    """
    field = clean_name(field).upper()
    name = clean_name(name)
    phase = _phase_from_field(field)
    return phase if phase and not field.isdigit() else _phase_from_name(name) or phase


def _phase_from_field(field: str) -> str:
    if field in _LETTERS or field in ("L1", "L2", "L3"):
        return _LETTERS[field[-1]]
    if field in ("N", "G", "NG", "E", "0", "AN", "BN", "CN", "AG", "BG", "CG", "1N", "2N", "3N"):
        return _LETTERS.get(field[0], "N")
    if field == "AC":
        return ""  # usually alternating current
    letters = [_LETTERS[letter] for letter in re.sub(r"[L /_-]", "", field) if letter in _LETTERS]
    if len(field) in (2, 3, 4, 5) and len(letters) == 2 and re.fullmatch(r"L?[ABC123RST][ /_-]?L?[ABC123RST]", field):
        return _PAIRS.get((letters[0], letters[1]), "")
    return _phase_from_name(field)


def _phase_from_name(name: str) -> str:
    match = _PAIR.search(name)
    if match is not None:
        first, second = (_LETTERS[group.upper()] for group in match.groups() if group is not None)
        if first != second:
            return _PAIRS[first, second]
    match = _SINGLE.search(name)
    if match is not None:
        return _LETTERS[next(group for group in match.groups() if group is not None).upper()]
    if _NEUTRAL.search(name) is not None:
        return "N"
    match = re.search(r"(?:^|[ _.-])([ABCN])$", name)  # a single capital; inputs of instruments are also named so
    return "" if match is None or re.search(r"ch|input|probe|kanal", name, re.IGNORECASE) else match[1]


_PREFIXES = {"": 1.0, "u": 1e-6, "μ": 1e-6, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_BASES = {"V": "V", "A": "A", "W": "W", "VA": "VA", "VAR": "var", "HZ": "Hz"}
_WORDS = {
    word: unit
    for words, unit in (
        ("volt volts voltio voltios вольт вольты 伏 伏特", "V"),
        ("kilovolt kilovolts киловольт 千伏", "kV"),
        ("millivolt millivolts милливольт 毫伏", "mV"),
        ("amp amps ampere amperes ampère ampères amperio amperios ампер амперы 安 安培", "A"),
        ("kiloampere kiloamperes килоампер 千安", "kA"),
        ("milliampere milliamperes миллиампер 毫安", "mA"),
    )
    for word in words.split()
}
_CYRILLIC = (("Вт", "W"), ("вт", "W"), ("вар", "var"), ("Гц", "Hz"), ("гц", "Hz"))
_LATIN = str.maketrans("ВвАакКмМГB", "VVAAkKmMGV")  # noqa: RUF001
_SI = re.compile(r"([uμmkKMG]?)(V|A|W|VA|VAR|var|Var|Hz|HZ)")
_KIND = re.compile(
    r"[ _.-]*(?:\(\s*)?"
    r"(rms|eff|ef|tr\.?ms|peak|pk|inst\w*|ac|dc|~|pri\w*|sec\w*|l-?[nleg]|ph(?:ase)?-?\w*)?\s*\)?",
    re.IGNORECASE,
)

_RMS = re.compile(
    r"(?<![A-Za-z])[UVI]?(?:mag|magnitude|rms|eff|ang|angle|avg|average|mean|min|max|minimum|maximum|thd)(?![A-Za-z])",
    re.IGNORECASE,
)
_OF_PHASE = r"[ _]?(?:L?[ABCNRST0-4]{1,2})?[NGE]?(?![A-Za-z0-9])"
_VOLTAGE = re.compile(rf"(?<![A-Za-z])[34]?[UV]{_OF_PHASE}|volt|spannung|tension", re.IGNORECASE)
_CURRENT = re.compile(rf"(?<![A-Za-z])[34]?I{_OF_PHASE}|current|strom|courant|amp", re.IGNORECASE)
_UNIT_AT_END = re.compile(r"^(.*?)\s*(?:\[([^\[\]]{0,12})\]|\(([^()]{0,12})\)|[/,]\s*([^\W\d_]{1,3}))\s*$")


def si_unit(text: str) -> tuple[str, float]:
    """Return the SI unit and the factor to it; an unknown unit is returned unchanged.

    Other alphabets and languages, and additions to volts and amperes, are understood; RMS values have a separate unit.
    Of two units, such as ``V/kV``, the first counts.
    """
    text = clean_name(text)
    plain = unicodedata.normalize("NFKC", text)
    exact = _plain_unit(plain)
    if exact is not None:
        return exact
    first, slash, second = plain.partition("/")
    if slash:
        one = _plain_unit(first.strip())
        other = _plain_unit(second.strip())
        return one if one is not None and other is not None and one[0] == other[0] else (text, 1.0)
    match = re.match(r"[^\W\d_]+", plain)
    for end in range(match.end(), 0, -1) if match else ():
        unit = _plain_unit(plain[:end])
        kind = _KIND.fullmatch(plain, end)
        if unit is not None and unit[0] in ("V", "A") and kind is not None:
            summary = (kind[1] or "").casefold().startswith(("rms", "ef", "tr"))
            return (f"{unit[0]} rms", unit[1]) if summary else unit
    return text, 1.0


def _plain_unit(text: str) -> tuple[str, float] | None:
    """A unit and its factor, without additions."""
    text = _WORDS.get(text.casefold(), text)
    for word, latin in _CYRILLIC:
        text = text.replace(word, latin)
    text = text.translate(_LATIN)
    match = _SI.fullmatch(text) or _SI.fullmatch(text.upper() if len(text) == 1 else text[:1] + text[1:].upper())
    return None if match is None else (_BASES[match[2].upper()], _PREFIXES[match[1]])


def split_unit(header: str) -> tuple[str, str]:
    """Split a column header, such as ``Ua (kV)``, into name and unit."""
    header = clean_name(header)
    match = _UNIT_AT_END.match(header)
    if match is None:
        return header, ""
    if match[4] is not None:
        known = si_unit(match[4])[0] != match[4] or match[4] in ("V", "A", "s", "ms", "us")
        return (match[1], match[4]) if known else (header, "")
    unit = match[2] if match[2] is not None else match[3]
    return match[1] or header, unit.strip()


def guess_unit(name: str) -> str:
    """Return the unit that a name suggests: ``"V"``, ``"A"`` or an empty string."""
    return "V" if _VOLTAGE.search(name) else "A" if _CURRENT.search(name) else ""


def is_summary(name: str) -> bool:
    """Whether a name, such as ``Vag Mag``, describes a magnitude, an angle or a mean rather than a waveform."""
    return _RMS.search(name) is not None
