"""What a channel is, from what its file says: units to SI, phases from fields and names.

Makers agree on little. The tables here hold what is common in Europe, America, China and Russia.
"""

import re
import unicodedata

__all__ = ["clean", "guess_unit", "phase_of", "si_unit", "split_unit"]

_NAME_LIMIT = 120  # characters

_PREFIXES = {"": 1.0, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_BASES = {"V": "V", "A": "A", "W": "W", "VA": "VA", "VAR": "var", "HZ": "Hz", "B": "V", "В": "V", "А": "A"}  # noqa: RUF001
_WORDS = {
    "volt": ("V", 1.0),
    "volts": ("V", 1.0),
    "kilovolt": ("V", 1e3),
    "kilovolts": ("V", 1e3),
    "millivolt": ("V", 1e-3),
    "millivolts": ("V", 1e-3),
    "amp": ("A", 1.0),
    "amps": ("A", 1.0),
    "ampere": ("A", 1.0),
    "amperes": ("A", 1.0),
    "kiloampere": ("A", 1e3),
    "kiloamperes": ("A", 1e3),
    "кв": ("V", 1e3),
    "ка": ("A", 1e3),
    "мв": ("V", 1e-3),
    "伏": ("V", 1.0),
    "千伏": ("V", 1e3),
    "安": ("A", 1.0),
    "千安": ("A", 1e3),
}
_SI = re.compile(r"([uµμmkKMG]?)(V|A|W|VA|VAR|var|Var|Hz|HZ|В|А)(?:[ _-]?(?:peak|pk|inst))?")  # noqa: RUF001

_LETTERS = {"A": "A", "B": "B", "C": "C", "1": "A", "2": "B", "3": "C", "R": "A", "S": "B", "T": "C"}
_PAIRS = {
    ("A", "B"): "AB",
    ("B", "A"): "AB",
    ("B", "C"): "BC",
    ("C", "B"): "BC",
    ("C", "A"): "CA",
    ("A", "C"): "CA",
}
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
    kept = "".join(" " if c in "\t\r\n" else c for c in text[:1000] if c in "\t\r\n" or _printable(c))
    return " ".join(kept.split())[:_NAME_LIMIT]


def _printable(character: str) -> bool:
    return unicodedata.category(character)[0] != "C"


def si_unit(text: str) -> tuple[str, float]:
    """Return the SI unit and the factor to it.

    Parameters
    ----------
    text : str
        The unit in the file.

    Returns
    -------
    tuple of (str, float)
        Unit without prefix, and what the samples are multiplied with; a strange unit stays as it is.

    Examples
    --------
    >>> si_unit("kV"), si_unit("mA"), si_unit("volt"), si_unit("deg")
    (('V', 1000.0), ('A', 0.001), ('V', 1.0), ('deg', 1.0))
    """
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
    """Split a column header into name and unit.

    Examples
    --------
    >>> split_unit("CH1[V]"), split_unit("Ua (kV)"), split_unit("U1"), split_unit("U1, kV")
    (('CH1', 'V'), ('Ua', 'kV'), ('U1', ''), ('U1', 'kV'))
    """
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
    """Return the unit that a name without unit suggests: ``"V"``, ``"A"`` or nothing.

    Examples
    --------
    >>> guess_unit("Ua"), guess_unit("I_L1"), guess_unit("Voltage A"), guess_unit("CH1")
    ('V', 'A', 'V', '')
    """
    if _VOLTAGE.search(name):
        return "V"
    if _CURRENT.search(name):
        return "A"
    return ""


def is_summary(name: str) -> bool:
    """Whether a name says that the channel is no waveform, but a magnitude, an angle or a mean.

    Examples
    --------
    >>> is_summary("SRC 1 Vag Mag"), is_summary("Image A")
    (True, False)
    """
    return _RMS.search(name) is not None


def phase_of(field: str, name: str) -> str:
    """Return the phase of a channel.

    Parameters
    ----------
    field : str
        What the file's own field says, may be empty. A bare number in it counts for less than the name: some makers
        write a running number there.
    name : str
        The channel's name.

    Returns
    -------
    str
        ``"A"``, ``"B"``, ``"C"``, ``"N"``, ``"AB"``, ``"BC"``, ``"CA"`` or empty. The sign of a reversed pair
        (``U21``) is not kept.

    Examples
    --------
    >>> [phase_of("", name) for name in ("Ua", "VB", "U3", "UL1", "Uab", "V1-2", "3U0", "LINE ULC", "F8-VN")]
    ['A', 'B', 'C', 'A', 'AB', 'AB', 'N', 'C', 'N']
    >>> phase_of("B", "channel 7"), phase_of("1", "Uc"), phase_of("1", "voltage")
    ('B', 'C', 'A')
    """
    field, name = clean(field).upper(), clean(name)
    told = _phase_of_field(field)
    if told and not field.isdigit():
        return told
    return _phase_of_name(name) or told


def _phase_of_field(field: str) -> str:
    if field in _LETTERS or field in ("L1", "L2", "L3"):
        return _LETTERS[field[-1]]
    if field in ("N", "G", "NG", "E", "0", "AN", "BN", "CN", "AG", "BG", "CG", "1N", "2N", "3N"):
        return _LETTERS.get(field[0], "N")
    if field == "AC":
        return ""  # most who write it mean alternating current
    letters = [_LETTERS[letter] for letter in re.sub(r"[L /_-]", "", field) if letter in _LETTERS]
    if len(field) in (2, 3, 4, 5) and len(letters) == 2 and re.fullmatch(r"L?[ABC123RST][ /_-]?L?[ABC123RST]", field):
        return _PAIRS.get((letters[0], letters[1]), "")
    return _phase_of_name(field)


def _phase_of_name(name: str) -> str:
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
    return _phase_of_letter(name)


def _phase_of_letter(name: str) -> str:
    """The phase of a name that is or ends with a lone capital: ``A``, ``Voltage B``."""
    match = re.search(r"(?:^|[ _.-])([ABCN])$", name)
    # Inputs of instruments have letters too.
    return "" if match is None or re.search(r"ch|input|probe|kanal", name, re.IGNORECASE) else match[1]
