"""COMTRADE (IEEE C37.111): read ``.cfg`` with ``.dat``, or ``.cff``, of 1991 to 2013, and write the edition of 1999.

Data are ASCII, BINARY, BINARY32 or FLOAT32.
"""

import re
from base64 import b64decode
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pqswarm._base.checks import check_name
from pqswarm._base.files import write_atomically
from pqswarm._base.text import count_text, frequency_text
from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.recordings.files import COMPANIONS, LFS_POINTER, FileBytes, MemoryBytes, StoredBytes, find_partner
from pqswarm.recordings.recording import (
    MAX_CHANNELS,
    MAX_STATUS,
    Options,
    RawHeader,
    RawSource,
    Reader,
    Recording,
    RecordingError,
    RecordingSource,
    StatusChannel,
    find_status_changes,
    shift_time,
)
from pqswarm.recordings.stamps import find_rate_of_stamps
from pqswarm.recordings.text import (
    TextRows,
    date_from_text,
    decode_text,
    list_date_notes,
    number_from_text,
)

_KINDS = ("ASCII", "BINARY", "BINARY32", "FLOAT32")
_MAX_LINES = 1_100_000
_LONGEST_LINE = 20_000  # the standard has 999 999 channels at most; characters
_MAX_RATES = 10_000  # the standard has 999


@dataclass
class AnalogChannel(RawHeader):
    """A line of the configuration: value = `factor` x stored + `offset`, in `unit`."""

    factor: float
    offset: float
    primary: float
    secondary: float
    side: str

    @property
    def ratio(self) -> float:
        """From the values of the file to primary ones; 1 if it is not usable."""
        usable = 0 < self.primary < 1e9 and 1e-6 < self.secondary < 1e9
        return self.primary / self.secondary if self.side == "S" and usable else 1.0

    def scale(self, stored: FloatArray) -> FloatArray:
        """Primary values, in the unit of the file."""
        return (stored * self.factor + self.offset) * self.ratio


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


def parse_cfg(text: str) -> Configuration:
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
    n_analog, n_status = _comtrade_channel_counts(lines[1], len(lines))
    notes: list[str] = []
    revision = _comtrade_revision(first, lines[2], notes)
    analog = [_comtrade_analog_line(lines[2 + i], 3 + i) for i in range(n_analog)]
    numbered = {channel.phase for channel in analog if channel.phase.isdigit()}
    if len(numbered) < 2 or not numbered <= set("01234"):  # a running number, or constant
        for channel in analog:
            channel.phase = "" if channel.phase.isdigit() else channel.phase
    config = Configuration(revision, analog, n_status, notes=notes, station=next(filter(None, first[:2]), ""))
    config.status = [_comtrade_status_line(line) for line in lines[2 + n_analog :][: min(n_status, MAX_STATUS)]]
    if n_status > MAX_STATUS:
        notes.append(f"Of {n_status} status channels, the first {MAX_STATUS} are read.")
    rest = deque(lines[2 + n_analog + n_status :])
    while rest and rest[0].count(",") >= 3:
        rest.popleft()  # more channel lines than announced
    _parse_cfg_rest(rest, config)
    return config


def _comtrade_channel_counts(line: str, n_lines: int) -> tuple[int, int]:
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


def _comtrade_revision(first: list[str], channel_line: str, notes: list[str]) -> int:
    year = number_from_text(first[2]) if len(first) > 2 and first[2] else np.nan
    if np.isnan(year) and channel_line.count(",") >= 12:
        notes.append("The configuration has no year; its channel lines follow the 1999 edition.")
        return 1999
    return 2013 if year >= 2013 else 1999 if year > 1991 else 1991


def _comtrade_analog_line(line: str, n: int) -> AnalogChannel:
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
    return AnalogChannel(
        name=fields[1],
        unit=fields[4],
        phase=fields[2],
        factor=factor,
        offset=offset,
        primary=number_from_text(fields[10]),
        secondary=number_from_text(fields[11]),
        side=fields[12].upper()[:1],
    )


def _comtrade_status_line(line: str) -> tuple[str, int]:
    """Name and normal state; files of 1991 have no phase and no circuit before the state."""
    fields = [part.strip() for part in line.split(",")]
    while len(fields) > 3 and not fields[-1]:
        fields.pop()
    extra = max(len(fields) - 5, 0)  # commas in the name
    return " ".join(fields[1 : 2 + extra]), int(len(fields) > 2 and number_from_text(fields[-1], 0.0) == 1)


def _parse_cfg_rest(following: deque[str], config: Configuration) -> None:
    """Frequency, rates, dates, data format and time unit; any may be missing."""
    frequency = number_from_text(following.popleft() if following else "", 0.0)
    config.frequency = frequency if np.isfinite(frequency) else 0.0
    _take_comtrade_rates(following, config)
    _take_comtrade_dates(following, config)
    if not (following and _is_comtrade_data_kind(following[0])):
        config.notes.append("The configuration ends early: the format was detected from the data.")
        return
    config.kind = following.popleft().strip().upper()
    factor = number_from_text(following[0], 1.0) if following and following[0] else 1.0
    if 0 < factor < 1e9 and config.revision > 1991:
        config.time_unit *= factor


def _take_comtrade_rates(following: deque[str], config: Configuration) -> None:
    """The sampling rates; there may be more, or fewer, than announced."""
    announced = number_from_text(following.popleft() if following else "", 0.0)
    rates: list[tuple[float, int]] = []
    is_trusted = 1 <= announced <= len(following)
    while following and _is_comtrade_rate(following[0]):
        if len(rates) == _MAX_RATES:
            raise RecordingError(f"is damaged: its configuration has more than {_MAX_RATES} sampling rates.")
        rate, end = (number_from_text(part) for part in following.popleft().split(",")[:2])
        rates.append((rate, int(end)))
    config.rates = rates if is_trusted else []


def _take_comtrade_dates(following: deque[str], config: Configuration) -> None:
    """The time of the first sample, and the unit of the time stamps."""
    dates: list[str] = []
    while following and len(dates) < 2 and not _is_comtrade_data_kind(following[0]):
        dates.append(following.popleft())
    date, _, time = dates[0].partition(",") if dates else ("", "", "")
    config.start = date_from_text(date, time, month_first=config.revision == 1991)
    if config.start is None:
        config.notes.append("The time of the first sample is missing or malformed.")
    elif config.revision == 1991:  # later editions write the day first
        config.notes += list_date_notes(date, month_first=True)
    if any(re.search(r":\d+[.,]\d{7,}$", date.strip()) for date in dates):
        config.time_unit = 1e-9  # time stamps count nanoseconds where the dates have nine digits


def _is_comtrade_rate(line: str) -> bool:
    parts = line.split(",")
    return len(parts) >= 2 and all(np.isfinite(number_from_text(part)) for part in parts[:2])


def _is_comtrade_data_kind(line: str) -> bool:
    return line.strip().upper() in _KINDS


_TYPES = {"BINARY": "<i2", "BINARY32": "<i4", "FLOAT32": "<f4"}
_MISSING = {"ASCII": 99999, "BINARY": -32768, "BINARY32": -2147483648}
_NO_STAMP = 0xFFFFFFFF
_PIECE = 65536  # rows read at once
_CHUNK = 8_000_000  # bytes read at once
_PLACES = 16  # positions at which the row order of a long file is checked


@dataclass
class DatRows:
    """Rows of a ``.dat``.

    `fetch` takes the first row, the one after the last, and the numbers of channels; it returns stored values, with NaN
    for missing ones. `stamps` yields the time stamps of all rows in pieces, in the unit of the configuration. `missing`
    is the note on missing samples. `status` takes the first row and the one after the last; it returns a table, rows x
    status channels, of 0, 1, and -1 for unknown states.
    """

    kind: str
    n_rows: int
    fetch: Callable[[int, int, Sequence[int]], list[FloatArray]]
    stamps: Callable[[], Iterator[FloatArray]]
    missing: str
    notes: list[str]
    status: Callable[[int, int], AnyArray]


def open_dat(content: StoredBytes, config: Configuration) -> DatRows:
    """Open the content of a ``.dat`` as its ``.cfg`` describes it."""
    head = content.read(0, 200)
    if head.startswith(LFS_POINTER):
        raise RecordingError("has a .dat that is a Git LFS pointer, not the samples: run git lfs pull.")
    kind = config.kind or _sniff_dat_kind(content, head, config)
    notes: list[str] = []
    if kind != "ASCII" and _looks_like_ascii_dat(head):
        notes.append(f"The configuration says {kind}, but the data are ASCII.")
        kind = "ASCII"
    data = (
        _open_ascii_dat(content, config, notes) if kind == "ASCII" else _open_binary_dat(content, kind, config, notes)
    )
    if not data.n_rows:
        raise RecordingError("has no samples: its data hold no whole row.")
    return data


def _looks_like_ascii_dat(head: bytes) -> bool:
    return re.match(rb"\s*\d+\s*,\s*\d*\s*,[0-9eE+\-., \t\r\n]*$", head) is not None


def _sniff_dat_kind(content: StoredBytes, head: bytes, config: Configuration) -> str:
    if _looks_like_ascii_dat(head):
        return "ASCII"
    for kind in _TYPES:
        row = _dat_row_type(kind, len(config.analog), config.n_status)
        if content.size // row.itemsize > 1 and _dat_fraction_in_order(content, row) > 0.9:
            return kind
    return "BINARY"


def _dat_row_type(kind: str, n_analog: int, n_status: int) -> np.dtype[np.void]:
    words = -(-n_status // 16)
    return np.dtype([("n", "<u4"), ("t", "<u4"), ("values", _TYPES[kind], (n_analog,)), ("status", "<u2", (words,))])


def _read_dat_rows(content: StoredBytes, row: np.dtype[np.void], first: int, stop: int) -> AnyArray:
    return np.frombuffer(content.read(first * row.itemsize, stop * row.itemsize), row)


def _dat_fraction_in_order(content: StoredBytes, row: np.dtype[np.void]) -> float:
    """Fraction of rows whose number follows that of the previous row; long files are sampled."""
    count = content.size // row.itemsize
    length = min(count, _PIECE, max(_CHUNK // row.itemsize, 2 * _PLACES))
    if count > length:
        length = max(length // _PLACES, 2)
    places = np.unique(np.linspace(0, count - length, _PLACES).astype(np.int64)) if count > length else [0]
    follows = [
        np.diff(_read_dat_rows(content, row, int(at), int(at) + length)["n"].astype(np.int64)) == 1 for at in places
    ]
    return float(np.concatenate(follows).mean())


def _open_binary_dat(content: StoredBytes, kind: str, config: Configuration, notes: list[str]) -> DatRows:
    row = _dat_row_type(kind, len(config.analog), config.n_status)
    count, left = divmod(content.size, row.itemsize)
    if count > 2 and _dat_fraction_in_order(content, row) < 0.5:
        notes.append("The samples are not numbered in order: the data may be damaged.")
    if left:
        notes.append(f"{count_text(left, 'byte')} after the last whole row: ignored.")

    step = max(_CHUNK // row.itemsize, 1)

    def fetch(first: int, stop: int, channels: Sequence[int]) -> list[FloatArray]:
        columns = [np.empty(stop - first) for _ in channels]
        for begin in range(first, stop, step):
            end = min(begin + step, stop)
            rows = _read_dat_rows(content, row, begin, end)
            for i, column in zip(channels, columns, strict=True):
                stored = rows["values"][:, i]
                values = column[begin - first : end - first]
                with np.errstate(invalid="ignore"):
                    values[:] = stored
                # The 1991 edition marks missing values with FFFF, which is also -1, as in any sine near zero: ignored.
                if kind == "FLOAT32":
                    values[~(np.abs(values) < 1e30)] = np.nan
                elif config.revision > 1991:
                    values[stored == _MISSING[kind]] = np.nan
        return columns

    def stamps() -> Iterator[FloatArray]:
        for first in range(0, count, step):
            stored = _read_dat_rows(content, row, first, min(first + step, count))["t"]
            yield np.where(stored == _NO_STAMP, np.nan, stored)

    def status(first: int, stop: int) -> AnyArray:
        words = -(-len(config.status) // 16)
        pieces = [
            _read_dat_rows(content, row, at, min(at + step, stop))["status"][:, :words]
            for at in range(first, stop, step)
        ]
        stored = np.concatenate(pieces).view(np.uint8)
        return np.unpackbits(stored, axis=1, count=len(config.status), bitorder="little").view(np.int8)

    return DatRows(kind, count, fetch, stamps, "Samples marked as missing: {}.", notes, status)


def _open_ascii_dat(content: StoredBytes, config: Configuration, notes: list[str]) -> DatRows:
    rows = TextRows(content, ",", ".", "latin-1", minimum=len(config.analog) + 1)
    for _ in rows.index():
        pass
    if rows.n_short:
        notes.append(f"{count_text(rows.n_short, 'line')} of the data too short: ignored.")

    def fetch(first: int, stop: int, channels: Sequence[int]) -> list[FloatArray]:
        table = rows.table(first, stop, [i + 2 for i in channels])
        if config.revision > 1991:
            table[table == _MISSING["ASCII"]] = np.nan
        return [np.ascontiguousarray(column) for column in table.T]

    def stamps() -> Iterator[FloatArray]:
        for first in range(0, rows.n_rows, _PIECE):
            yield rows.table(first, min(first + _PIECE, rows.n_rows), [1])[:, 0]

    def status(first: int, stop: int) -> AnyArray:
        begin = len(config.analog) + 2
        table = rows.table(first, stop, range(begin, begin + len(config.status)))
        return np.where(np.isnan(table), -1, table != 0).astype(np.int8)

    return DatRows("ASCII", rows.n_rows, fetch, stamps, "Samples missing, or not numbers: {}.", notes, status)


_SECTION = re.compile(  # possessive: linear in the length of a line
    rb"^(?:\xef\xbb\xbf)?-{2,}+[ \t]*+file type[ \t]*+:?[ \t]*+([A-Z]++)[ \t]*+(?:[A-Z0-9]++[ \t]*+)*+"
    rb"(?::[ \t]*+\d++)?[ \t]*+-{2,}+[ \t]*+\r?\n",
    re.I | re.M,
)
_CFG_LIMIT = 20_000_000  # bytes
_CFF_HEAD = 1_000_000  # bytes that usually hold the configuration of a .cff
_SAME_RATE = 1.01  # segments whose rates differ less are joined: sampling follows the grid
_BASE64 = re.compile(rb"[A-Za-z0-9+/\s]+=*\s*")  # neither commas, as text has, nor zeros, as binary data have
_SHORTEST = 16  # minimum samples of a segment
_MAX_SEGMENTS = 100
_STATES = 4_000_000
_MAX_ROWS = 262_144  # states and rows read at once
_Section = tuple[float, range, int]
"""Rate [Hz], samples, and number of joined segments."""


def open_comtrade(path: Path, options: Options) -> list[RawSource]:
    """Open a recording by any of its files, ignoring case; of sections at the high rate the longest is the main one."""
    config_text, content, source = _open_cfg_and_dat(path, options)
    text, encoding = decode_text(config_text, options.encoding)
    config = parse_cfg(text)
    data = open_dat(content, config)
    notes = [] if encoding == "utf-8" else [f"The configuration was read as {encoding}."]
    notes += config.notes + data.notes + _notes_on_comtrade_ratios(config)
    sources = [
        RawSource(
            config.analog,
            rate,
            config.frequency,
            shift_time(config.start, seconds),
            source,
            f"COMTRADE {config.revision} {data.kind}",
            notes + more,
            station=config.station,
            n_samples=len(kept),
            fetch=partial(_fetch_comtrade, config, data, kept.start),
            missing=data.missing,
            status=partial(_find_comtrade_status, config, data, kept),
        )
        for rate, kept, seconds, more in _comtrade_segments(config, data, options.sampling_rate)
    ]
    max(sources, key=lambda one: one.n_samples).is_main = True
    if len(sources) > 1:
        for n, one in enumerate(sources):
            one.source = f"{source}, segment {n + 1}"
    return sources


def count_missing_comtrade_samples(path: Path) -> int:
    """Return how many samples the ``.dat`` of a ``.cfg`` lacks, as while it is being written; 0 if unknown."""
    try:
        text, content, _ = _open_cfg_and_dat(path, Options())
        config = parse_cfg(decode_text(text, None)[0])
        announced = max((last for _, last in config.rates), default=0)
        return max(announced - open_dat(content, config).n_rows, 0) if announced else 0
    except (OSError, ValueError):  # what cannot be read is not waited for
        return 0


def _open_cfg_and_dat(path: Path, options: Options) -> tuple[bytes, StoredBytes, str]:
    """Configuration, data, and the name of the file that represents both."""
    limit = 4 * options.max_bytes if options.whole else None
    if path.suffix.casefold() == ".cff":
        config, data = _split_cff(FileBytes.of(path, limit))
        if _BASE64.fullmatch(data.read(0, _CFF_HEAD)):
            options.check_samples(data.size // 8)
            return _decode_cff_section(config), MemoryBytes(_decode_cff_section(data.read_all())), path.name
        return _decode_cff_section(config), data, path.name
    config_path = path if path.suffix.casefold() == ".cfg" else find_partner(path, ".cfg")
    if config_path is None:
        raise RecordingError("has no matching .cfg file: a COMTRADE recording needs both.")
    config = FileBytes.of(config_path, _CFG_LIMIT, "no configuration is that long.").read_all()
    data_path = path if path.suffix.casefold() == ".dat" else find_partner(config_path, ".dat")
    if data_path is None:
        raise RecordingError("has no matching .dat file: a COMTRADE recording needs both.")
    return config, FileBytes.of(data_path, limit), config_path.name


def _split_cff(content: FileBytes) -> tuple[bytes, FileBytes]:
    """The configuration and the data of a ``.cff``."""
    for limit in (_CFF_HEAD, _CFG_LIMIT):
        head = content.read(0, limit)
        config = b""
        kind = ""
        start = 0
        for match in _SECTION.finditer(head):
            if kind == "CFG":
                config = head[start : match.start()]
            kind = match[1].decode("ascii").upper()
            start = match.end()
            if kind == "DAT":  # the last section; binary data may look like anything
                return config, content.after(start)
        if content.size <= limit:
            break
    raise RecordingError("is not a COMTRADE recording: it has no data section.")


def _decode_cff_section(section: bytes) -> bytes:
    """Return a section of a ``.cff``, decoded if it is in base64."""
    try:
        return b64decode(section) if _BASE64.fullmatch(section) else section
    except ValueError as error:
        raise RecordingError(f"is damaged: a section in base64 cannot be decoded ({error}).") from error


def _find_comtrade_status(config: Configuration, data: DatRows, kept: range) -> tuple[StatusChannel, ...]:
    """The status channels of a section."""
    if not config.status:
        return ()
    names, normal = zip(*config.status, strict=True)
    step = min(_STATES // len(config.status), _MAX_ROWS)
    return find_status_changes(
        lambda first, stop: data.status(kept.start + first, kept.start + stop), len(kept), step, names, normal
    )


def _fetch_comtrade(
    config: Configuration, data: DatRows, offset: int, first: int, stop: int, channels: Sequence[int]
) -> list[FloatArray]:
    """Part of a section, which starts at row `offset`, as primary values in the units of the file."""
    with np.errstate(over="ignore", invalid="ignore"):
        stored = data.fetch(offset + first, offset + stop, channels)
        return [config.analog[i].scale(values) for i, values in zip(channels, stored, strict=True)]


def _notes_on_comtrade_ratios(config: Configuration) -> list[str]:
    secondary = [f"{channel.ratio:g}" for channel in config.analog if channel.ratio != 1]
    unclear = [
        channel.name
        for channel in config.analog
        if channel.side == "S" and channel.ratio == 1 and channel.primary != channel.secondary
    ]
    notes = []
    if secondary:
        ratios = ", ".join(sorted(set(secondary), key=float)[:6])
        notes.append(
            f"{count_text(len(secondary), 'channel')} with secondary values: multiplied by the ratio ({ratios})."
        )
    if unclear:
        notes.append(
            f"{count_text(len(unclear), 'channel')} with secondary values without a usable ratio: left unchanged."
        )
    if config.revision == 1991 and not any(channel.side for channel in config.analog):
        notes.append("Files of the 1991 edition do not say whether values are primary: left unchanged.")
    return notes


def _comtrade_segments(
    config: Configuration, data: DatRows, given_rate: float | None
) -> list[tuple[float, range, float, list[str]]]:
    """Rate [Hz], samples, time from the first sample of the file [s], and notes of each section at the high rate."""
    n = data.n_rows
    if given_rate is not None:
        rate = config.rates[0][0] if len(config.rates) == 1 else 0.0
        return [(rate, range(n), 0.0, [])]
    groups = _group_comtrade_rates(config, n)
    if not groups:
        notes = ["The configuration gives no sampling rate: it was derived from the time stamps."]
        rate, kept, seconds = find_rate_of_stamps((piece * config.time_unit for piece in data.stamps()), notes)
        if not rate:
            raise RecordingError("gives no sampling rate, neither directly nor by time stamps; set sampling_rate.")
        return [(rate, range(kept.start, kept.stop), seconds, notes)]
    notes = _compare_dat_with_cfg(groups, config.rates[-1][1], n)
    chosen = _choose_comtrade_sections(groups, n, notes)
    if len(groups) > 1:
        parts = ", ".join(f"{len(kept)} at {frequency_text(rate)}" for rate, kept, _ in groups[:6])
        notes.append(f"The file has several rates ({parts}): each section at the high rate is a separate recording.")
    joined = "{} sections with rates that differ by less than 1 % were joined, at their mean of {}."
    return [
        (
            rate,
            kept,
            _seconds_before_comtrade_section(config, kept.start),
            notes + [joined.format(count, frequency_text(rate))] * (count > 1),
        )
        for rate, kept, count in chosen
    ]


def _compare_dat_with_cfg(groups: list[_Section], announced: int, n: int) -> list[str]:
    """Notes if the data have more rows than the configuration says, or fewer."""
    notes = []
    used = max(kept.stop for _, kept, _ in groups)
    if len(groups) == 1 and n > used:
        notes.append(f"The data have {count_text(n - used, 'row')} more than the configuration says: ignored.")
    if announced > n:
        notes.append(f"The configuration announces {announced:g} samples, the data have {n}.")
    return notes


def _choose_comtrade_sections(groups: list[_Section], n: int, notes: list[str]) -> list[_Section]:
    """The sections at the high rate, and of many the longest."""
    long = [group for group in groups if len(group[1]) >= min(_SHORTEST, n)]
    high = max(group[0] for group in long)
    chosen = [group for group in long if group[0] >= high / 2]
    if len(chosen) > _MAX_SEGMENTS:
        notes.append(f"The file has {len(chosen)} sections at the high rate: the {_MAX_SEGMENTS} longest are kept.")
        shortest = sorted((len(group[1]) for group in chosen), reverse=True)[_MAX_SEGMENTS - 1]
        chosen = [group for group in chosen if len(group[1]) >= shortest][:_MAX_SEGMENTS]
    return chosen


def _group_comtrade_rates(config: Configuration, n: int) -> list[_Section]:
    """Rate, samples and number of adjacent segments with almost equal rates; empty without a rate."""
    if not config.rates or any(not 0 < rate < 1e9 for rate, _ in config.rates):
        return []
    if len(config.rates) == 1 and config.rates[0][1] < 2:
        return [(config.rates[0][0], range(n), 1)]  # the last sample number is meaningless
    groups: list[list[tuple[float, int, int]]] = []
    first = 0
    low = np.inf
    high = 0.0
    for rate, last in config.rates:
        end = min(last, n)
        if end <= first:
            continue
        member = (rate, first, end)
        low, high = min(low, rate), max(high, rate)
        if groups and high <= _SAME_RATE * low:
            groups[-1].append(member)
        else:
            groups.append([member])
            low = high = rate
        first = end
    result = []
    for group in groups:
        begin, end = group[0][1], group[-1][2]
        seconds = sum((stop - start) / rate for rate, start, stop in group)
        rate = group[0][0] if len(group) == 1 else (end - begin) / seconds
        result.append((rate, range(begin, end), len(group)))
    return result if any(len(group[1]) >= min(_SHORTEST, n) for group in result) else []


def _seconds_before_comtrade_section(config: Configuration, sample: int) -> float:
    """Time from the first sample to another [s]."""
    ends = accumulate((min(last, sample) for _, last in config.rates), max, initial=0)
    return sum((end - first) / rate for (rate, _), (first, end) in zip(config.rates, pairwise(ends), strict=True))


def _is_comtrade(path: Path, head: bytes) -> bool:
    """Whether the file has a configuration next to it; a text ``.dat`` without one is a table."""
    suffix = path.suffix.casefold()
    if suffix not in COMPANIONS:
        return False
    return suffix != ".dat" or b"\0" in head or find_partner(path, ".cfg") is not None


COMTRADE = Reader("comtrade", (".cfg", ".cff"), recognizes=_is_comtrade, open=open_comtrade)


_RANGES = {"ASCII": 99998, "BINARY": 32767}
_LAST_STAMP = 4_294_967_294
_STRETCH = 262_144  # samples written at once


def write_comtrade(recording: RecordingSource, path: str | Path, encoding: str = "ASCII") -> Path:
    """Write a recording as COMTRADE 1999: a ``.cfg`` and a ``.dat`` next to it.

    Parameters
    ----------
    recording : RecordingSource
        The recording, which is read twice, in blocks. Missing samples get the marker of the standard. Status channels
        are also written.
    path : str or Path
        The files to write; the suffix is replaced.
    encoding : {"ASCII", "BINARY"}, default="ASCII"
        Format of the data. Samples are rounded to 1/199996 of a channel's range in ASCII, and to 1/65534 in BINARY.

    Returns
    -------
    Path
        The ``.cfg``.

    Examples
    --------
    >>> import tempfile
    >>> from pqswarm.recordings import Channel, read
    >>> recording = Recording((Channel("Ua", "V", "A", np.array([-2.0, 0.0, 2.0])),), 1000.0, 50.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read(write_comtrade(recording, f"{folder}/ramp.cfg", "BINARY")).channel("Ua").samples
    array([-2.,  0.,  2.])
    """
    check_name("encoding of COMTRADE data", encoding, _RANGES)
    path = Path(path)
    if not path.name:
        raise PqswarmError(f"{str(path)!r} is not a valid file name.")
    n_channels = len(recording.channels)
    status = recording.status
    scales = [_scale_of_dat_integers(low, high, _RANGES[encoding]) for low, high in _comtrade_channel_ranges(recording)]
    lines = [
        f"{_cfg_field_text(recording.station or 'pqswarm')[:64]},{_cfg_field_text(recording.source)[:64]},1999",
        f"{n_channels + len(status)},{n_channels}A,{len(status)}D",
    ]
    limit = _RANGES[encoding]
    for n, (channel, (factor, offset)) in enumerate(zip(recording.channels, scales, strict=True), 1):
        lines.append(
            f"{n},{_cfg_field_text(channel.name)[:64]},{_cfg_field_text(channel.phase)},,"
            f"{_cfg_field_text(channel.unit)},{factor!r},{offset!r},0,{-limit},{limit},1,1,P"
        )
    lines += [f"{n},{_cfg_field_text(one.name)[:64]},,,{one.normal}" for n, one in enumerate(status, 1)]
    multiplier = _dat_time_multiplier(recording.n_samples / recording.sampling_rate)
    start = recording.start or datetime(1970, 1, 1)
    began = f"{start:%d/%m/}{start.year:04d}{start:,%H:%M:%S.%f}"
    lines += [
        f"{recording.nominal_frequency:.12g}",
        "1",
        f"{recording.sampling_rate!r},{recording.n_samples}",
        began,
        began,
        encoding,
        f"{multiplier:g}",
    ]

    def write(file: BinaryIO) -> None:
        for first, part in _read_comtrade_stretches(recording):
            numbers = np.arange(first, first + part.n_samples)
            stamps = np.rint(numbers / recording.sampling_rate * 1e6 / multiplier).astype(np.int64)
            columns = [
                _encode_dat_samples(channel.samples, *scale, _MISSING[encoding])
                for channel, scale in zip(part.channels, scales, strict=True)
            ]
            states = [one.expand(first, first + part.n_samples) for one in status]
            file.write(
                (_write_ascii_dat if encoding == "ASCII" else _write_binary_dat)(numbers + 1, stamps, columns, states)
            )
        file.write(b"\x1a" if encoding == "ASCII" else b"")

    write_atomically(path.with_suffix(".dat"), write)
    return write_atomically(path.with_suffix(".cfg"), "\r\n".join(lines) + "\r\n")


def _read_comtrade_stretches(recording: RecordingSource) -> Iterator[tuple[int, Recording]]:
    for first in range(0, recording.n_samples, _STRETCH):
        yield first, recording.read(first, min(first + _STRETCH, recording.n_samples))


def _comtrade_channel_ranges(recording: RecordingSource) -> list[tuple[float, float]]:
    """Minimum and maximum sample of each channel; 0 if there is none."""
    ranges = [(np.inf, -np.inf)] * len(recording.channels)
    for _, part in _read_comtrade_stretches(recording):
        finite = [channel.samples[np.isfinite(channel.samples)] for channel in part.channels]
        ranges = [
            (min(low, float(x.min(initial=np.inf))), max(high, float(x.max(initial=-np.inf))))
            for (low, high), x in zip(ranges, finite, strict=True)
        ]
    return [one if one[0] <= one[1] else (0.0, 0.0) for one in ranges]


def _cfg_field_text(text: str) -> str:
    return re.sub(r"[,\x00-\x1f\x7f]+", " ", text).strip()


def _scale_of_dat_integers(low: float, high: float, limit: int) -> tuple[float, float]:
    """Factor and offset from integers up to `limit` to samples."""
    # The offset stays 0 for signals that swing about 0, whose zero is then exact.
    offset = 0.0 if low <= 0 <= high else (low + high) / 2
    reach = max(abs(low - offset), abs(high - offset))
    return (reach / limit if reach > 0 else 1.0), offset


def _encode_dat_samples(samples: FloatArray, factor: float, offset: float, missing: int) -> IntArray:
    return np.where(np.isfinite(samples), np.rint((samples - offset) / factor), missing).astype(np.int64)


def _dat_time_multiplier(duration: float) -> float:
    """The factor that keeps time stamps within 32 bits; their unit is that many microseconds."""
    multiplier = 1.0
    while duration * 1e6 / multiplier > _LAST_STAMP:
        multiplier *= 10
    return multiplier


def _write_ascii_dat(numbers: IntArray, stamps: IntArray, columns: list[IntArray], states: list[IntArray]) -> bytes:
    table = np.column_stack([numbers, stamps, *columns, *states])
    return "".join(",".join(map(str, row)) + "\r\n" for row in table.tolist()).encode("ascii")


def _write_binary_dat(numbers: IntArray, stamps: IntArray, columns: list[IntArray], states: list[IntArray]) -> bytes:
    rows = np.zeros(stamps.size, _dat_row_type("BINARY", len(columns), len(states)))
    rows["n"] = numbers
    rows["t"] = stamps
    rows["values"] = np.column_stack(columns)
    for i, bits in enumerate(states):
        rows["status"][:, i // 16] |= bits.astype(np.uint16) << (i % 16)
    return rows.tobytes()
