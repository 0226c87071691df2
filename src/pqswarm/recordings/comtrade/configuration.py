"""The configuration of a COMTRADE recording (IEEE C37.111): what a ``.cfg`` says, read with tolerance.

The ``comtrade`` package of David Parrini is the oracle of the tests. It is not used here, because it allocates the
memory that a header claims before it checks the data, fails on malformed dates and short lines, and treats -1 in binary
files of 1991 as missing.
"""

import re
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from pqswarm.recordings.reader import MAX_CHANNELS
from pqswarm.recordings.recording import RecordingError
from pqswarm.recordings.status import MAX_STATUS
from pqswarm.recordings.text import date_from_text, list_date_notes, number_from_text

_KINDS = ("ASCII", "BINARY", "BINARY32", "FLOAT32")
_MAX_LINES = 1_100_000
_LONGEST_LINE = 20_000  # the standard has 999 999 channels at most; characters
_MAX_RATES = 10_000  # the standard has 999


@dataclass(frozen=True)
class AnalogChannel:
    """A line of the configuration: value = `factor` x stored + `offset`, in `unit`."""

    name: str
    phase: str
    unit: str
    factor: float
    offset: float
    primary: float
    secondary: float
    side: str


@dataclass
class Configuration:
    """The content of a ``.cfg``.

    `frequency` is the nominal frequency [Hz], 0 if missing; `rates` are sampling rates [Hz], each with its last
    sample number, empty if time stamps decide; `kind` is the data format, empty if missing; `time_unit` is that of the
    time stamps [s]; `station` is the station, or else the recorder; `status` are names and normal states of the first
    4096 of the `n_status` status channels.
    """

    revision: int
    analog: list[AnalogChannel]
    n_status: int
    frequency: float = 0.0
    rates: list[tuple[float, int]] = field(default_factory=list)
    start: datetime | None = None
    kind: str = ""
    time_unit: float = 1e-6
    notes: list[str] = field(default_factory=list)
    station: str = ""
    status: list[tuple[str, int]] = field(default_factory=list)


def parse_configuration(text: str) -> Configuration:
    """Parse the text of a ``.cfg``."""
    text = text.lstrip()
    if text.count("\n") > _MAX_LINES:
        raise RecordingError(f"is not a COMTRADE configuration: it has more than {_MAX_LINES} lines.")
    lines = [line.strip(" \t\r\0\x1a") for line in text.split("\n")]
    if len(lines) < 3:
        raise RecordingError("is not a COMTRADE configuration: it has fewer than three lines.")
    if max(map(len, lines)) > _LONGEST_LINE:
        raise RecordingError(f"is not a COMTRADE configuration: it has lines of more than {_LONGEST_LINE} characters.")
    first = [part.strip() for part in lines[0].split(",")]
    n_analog, n_status = _channel_counts(lines[1], len(lines))
    notes: list[str] = []
    revision = _revision(first, lines[2], notes)
    analog = [_analog(lines[2 + i], 3 + i) for i in range(n_analog)]
    config = Configuration(revision, analog, n_status, notes=notes, station=next(filter(None, first[:2]), ""))
    config.status = [_status_line(line) for line in lines[2 + n_analog :][: min(n_status, MAX_STATUS)]]
    if n_status > MAX_STATUS:
        notes.append(f"Of {n_status} status channels, the first {MAX_STATUS} are read.")
    rest = deque(lines[2 + n_analog + n_status :])
    while rest and rest[0].count(",") >= 3:
        rest.popleft()  # more channel lines than announced
    _parse_rest(rest, config)
    return config


def _channel_counts(line: str, n_lines: int) -> tuple[int, int]:
    """The numbers of analog and status channels; there must be as many lines."""
    counts = {letter.upper(): int(count) for count, letter in re.findall(r"(\d{1,7})\s*([AaDd])", line)}
    if "A" not in counts:
        raise RecordingError("is not a COMTRADE configuration: its second line does not count the analog channels.")
    analog = counts["A"]
    status = counts.get("D", 0)
    if not analog:
        raise RecordingError("has no analog channels, only status channels.")
    if analog > MAX_CHANNELS:
        raise RecordingError(f"announces {analog} analog channels; at most {MAX_CHANNELS} are read.")
    if 2 + analog + status > n_lines:
        raise RecordingError(
            f"is damaged: its configuration announces {analog} analog and {status} status channels but has "
            f"{n_lines} lines."
        )
    return analog, status


def _revision(first: list[str], channel_line: str, notes: list[str]) -> int:
    year = number_from_text(first[2]) if len(first) > 2 and first[2] else np.nan
    if np.isnan(year):
        if channel_line.count(",") >= 12:
            notes.append("The configuration has no year; its channel lines follow the 1999 edition.")
            return 1999
        return 1991
    if year <= 1991:
        return 1991
    return 2013 if year >= 2013 else 1999


def _analog(line: str, n: int) -> AnalogChannel:
    fields = [part.strip() for part in line.split(",")]
    while len(fields) > 13 and not fields[-1]:
        fields.pop()
    if len(fields) > 13:  # commas in the name
        extra = len(fields) - 13
        fields[1 : 2 + extra] = [" ".join(fields[1 : 2 + extra])]
    if len(fields) < 6:
        raise RecordingError(f"is damaged: line {n} of its configuration is not an analog channel.")
    fields += [""] * (13 - len(fields))
    factor = number_from_text(fields[5])
    offset = number_from_text(fields[6], 0.0)
    if not (np.isfinite(factor) and np.isfinite(offset)):
        raise RecordingError(f"is damaged: line {n} of its configuration has no multiplier.")
    primary = number_from_text(fields[10])
    secondary = number_from_text(fields[11])
    side = fields[12].upper()[:1]
    return AnalogChannel(fields[1], fields[2], fields[4], factor, offset, primary, secondary, side)


def _status_line(line: str) -> tuple[str, int]:
    """Name and normal state; files of 1991 have no phase and no circuit before the state."""
    fields = [part.strip() for part in line.split(",")]
    while len(fields) > 3 and not fields[-1]:
        fields.pop()
    extra = max(len(fields) - 5, 0)  # commas in the name
    return " ".join(fields[1 : 2 + extra]), int(len(fields) > 2 and number_from_text(fields[-1], 0.0) == 1)


def _parse_rest(following: deque[str], config: Configuration) -> None:
    """Frequency, rates, dates, data format and time unit; any may be missing."""
    frequency = number_from_text(following.popleft() if following else "", 0.0)
    config.frequency = frequency if np.isfinite(frequency) else 0.0
    _take_rates(following, config)
    _take_dates(following, config)
    if not (following and _is_kind(following[0])):
        config.notes.append("The configuration ends early: the format was detected from the data.")
        return
    config.kind = following.popleft().strip().upper()
    factor = number_from_text(following[0], 1.0) if following and following[0] else 1.0
    if 0 < factor < 1e9 and config.revision > 1991:
        config.time_unit *= factor


def _take_rates(following: deque[str], config: Configuration) -> None:
    """The sampling rates; there may be more, or fewer, than announced."""
    announced = number_from_text(following.popleft() if following else "", 0.0)
    rates: list[tuple[float, int]] = []
    is_trusted = 1 <= announced <= len(following)
    while following and _is_rate(following[0]):
        if len(rates) == _MAX_RATES:
            raise RecordingError(f"is damaged: its configuration has more than {_MAX_RATES} sampling rates.")
        rate, end = (number_from_text(part) for part in following.popleft().split(",")[:2])
        rates.append((rate, int(end)))
    config.rates = rates if is_trusted else []


def _take_dates(following: deque[str], config: Configuration) -> None:
    """The time of the first sample, and the unit of the time stamps."""
    dates: list[str] = []
    while following and len(dates) < 2 and not _is_kind(following[0]):
        dates.append(following.popleft())
    date, _, time = dates[0].partition(",") if dates else ("", "", "")
    config.start = date_from_text(date, time, month_first=config.revision == 1991)
    if config.start is None:
        config.notes.append("The time of the first sample is missing or malformed.")
    elif config.revision == 1991:  # later editions write the day first
        config.notes += list_date_notes(date, month_first=True)
    if any(re.search(r":\d+[.,]\d{7,}$", date.strip()) for date in dates):
        config.time_unit = 1e-9  # time stamps count nanoseconds where the dates have nine digits


def _is_rate(line: str) -> bool:
    parts = line.split(",")
    return len(parts) >= 2 and all(np.isfinite(number_from_text(part)) for part in parts[:2])


def _is_kind(line: str) -> bool:
    return line.strip().upper() in _KINDS
