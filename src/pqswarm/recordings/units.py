"""Units of channels, from what their file says, to SI.

Makers agree on little. The tables here hold what is common in Europe, America, China and Russia.
"""

import re
import unicodedata

from pqswarm.recordings.text import clean_name

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
_LETTERS = str.maketrans("ВвАакКмМГB", "VVAAkKmMGV")  # noqa: RUF001
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
    text = text.translate(_LETTERS)
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
    if _VOLTAGE.search(name):
        return "V"
    return "A" if _CURRENT.search(name) else ""


def is_summary(name: str) -> bool:
    """Whether a name, such as ``Vag Mag``, describes a magnitude, an angle or a mean rather than a waveform."""
    return _RMS.search(name) is not None
