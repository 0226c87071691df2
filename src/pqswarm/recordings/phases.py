"""Phases of channels, from phase fields and channel names."""

import re

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


def find_phase(field: str, name: str) -> str:
    """Return the phase of a channel, from the file's own field and its name: A, B, C, N, AB, BC, CA or empty.

    The name takes precedence over a bare number in the field, where some vendors write a running number. The sign of a
    reversed pair (``U21``) is lost.
    """
    field = clean_name(field).upper()
    name = clean_name(name)
    phase = _phase_from_field(field)
    if phase and not field.isdigit():
        return phase
    return _phase_from_name(name) or phase


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
