"""COMTRADE (IEEE C37.111-1991, 1999, 2013): ``.cfg`` with ``.dat``, or ``.cff``; ASCII, BINARY, BINARY32, FLOAT32."""

import re
from base64 import b64decode
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from pqswarm._base.text import count_text, frequency_text
from pqswarm._base.typing import FloatArray
from pqswarm.recordings.comtrade.configuration import Configuration, parse_configuration
from pqswarm.recordings.comtrade.data import DataRows, open_rows
from pqswarm.recordings.files import COMPANIONS, FileBytes, find_partner
from pqswarm.recordings.reader import Options, RawHeader, RawSource, Reader
from pqswarm.recordings.recording import RecordingError, shift_time
from pqswarm.recordings.rows import MemoryBytes, StoredBytes
from pqswarm.recordings.stamps import find_rate_of_pieces
from pqswarm.recordings.status import StatusChannel, find_changes
from pqswarm.recordings.text import decode

_SECTION = re.compile(  # possessive: linear in the length of a line
    rb"^-{2,}+[ \t]*+file type[ \t]*+:?[ \t]*+([A-Z]++)[ \t]*+(?:[A-Z0-9]++[ \t]*+)*+(?::[ \t]*+\d++)?[ \t]*+"
    rb"-{2,}+[ \t]*+\r?\n",
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
    config_text, content, source = _open_contents(path, options)
    text, encoding = decode(config_text, options.encoding)
    config = parse_configuration(text)
    data = open_rows(content, config)
    notes = [] if encoding == "utf-8" else [f"The configuration was read as {encoding}."]
    notes += config.notes + data.notes
    channels, scales, scale_notes = _read_scales(config)
    notes += scale_notes
    sources = [
        RawSource(
            channels,
            rate,
            len(kept),
            _make_fetch(data, scales, kept.start),
            config.frequency,
            shift_time(config.start, seconds),
            source,
            f"COMTRADE {config.revision} {data.kind}",
            notes + more,
            station=config.station,
            missing=data.missing,
            status=_status_finder(config, data, kept),
        )
        for rate, kept, seconds, more in _segments(config, data, options.sampling_rate)
    ]
    max(sources, key=lambda one: one.n_samples).is_main = True
    if len(sources) > 1:
        for n, one in enumerate(sources):
            one.source = f"{source}, segment {n + 1}"
    return sources


def count_missing_samples(path: Path) -> int:
    """Return how many samples the ``.dat`` of a ``.cfg`` lacks, as while it is being written; 0 if unknown."""
    try:
        text, content, _ = _open_contents(path, Options())
        config = parse_configuration(decode(text, None)[0])
        announced = max((last for _, last in config.rates), default=0)
        return max(announced - open_rows(content, config).n_rows, 0) if announced else 0
    except (OSError, ValueError):  # what cannot be read is not waited for
        return 0


def _open_contents(path: Path, options: Options) -> tuple[bytes, StoredBytes, str]:
    """Configuration, data, and the name of the file that represents both."""
    limit = 4 * options.max_bytes if options.whole else None
    if path.suffix.casefold() == ".cff":
        config, data = _split_cff(FileBytes.of(path, limit))
        if _BASE64.fullmatch(data.read(0, _CFF_HEAD)):
            options.check_samples(data.size // 8)
            return _decode_base64(config), MemoryBytes(_decode_base64(data.read_all())), path.name
        return _decode_base64(config), data, path.name
    config_path = path if path.suffix.casefold() == ".cfg" else find_partner(path, ".cfg")
    if config_path is None:
        raise RecordingError("has no .cfg beside it: a COMTRADE recording needs both.")
    config = FileBytes.of(config_path, _CFG_LIMIT, "no configuration is that long.").read_all()
    data_path = path if path.suffix.casefold() == ".dat" else find_partner(config_path, ".dat")
    if data_path is None:
        raise RecordingError("has no .dat beside it: a COMTRADE recording needs both.")
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


def _decode_base64(section: bytes) -> bytes:
    """Return a section of a ``.cff``, decoded if it is in base64."""
    try:
        return b64decode(section) if _BASE64.fullmatch(section) else section
    except ValueError as error:
        raise RecordingError(f"is damaged: a section in base64 cannot be decoded ({error}).") from error


def _make_fetch(
    data: DataRows, scales: list[tuple[float, float, float]], offset: int
) -> Callable[[int, int, Sequence[int]], list[FloatArray]]:
    """Return a function that reads part of a segment, from row `offset`, as primary values in the units of the file."""

    def fetch(first: int, stop: int, channels: Sequence[int]) -> list[FloatArray]:
        with np.errstate(over="ignore", invalid="ignore"):
            return [
                (values * scales[i][0] + scales[i][1]) * scales[i][2]
                for i, values in zip(channels, data.fetch(offset + first, offset + stop, channels), strict=True)
            ]

    return fetch


def _status_finder(config: Configuration, data: DataRows, kept: range) -> Callable[[], tuple[StatusChannel, ...]]:
    """Return a function that finds the status channels of a segment."""

    def status() -> tuple[StatusChannel, ...]:
        if not config.status:
            return ()
        names, normal = zip(*config.status, strict=True)
        step = min(_STATES // len(config.status), _MAX_ROWS)
        return find_changes(
            lambda first, stop: data.status(kept.start + first, kept.start + stop), len(kept), step, names, normal
        )

    return status


def _read_scales(config: Configuration) -> tuple[list[RawHeader], list[tuple[float, float, float]], list[str]]:
    """The channels, and factor, offset and ratio from stored to primary values of each."""
    channels = []
    scales = []
    secondary = []
    unclear = []
    numbered = {channel.phase for channel in config.analog if channel.phase.isdigit()}
    believed = len(numbered) > 1 and numbered <= set("01234")  # else a running number, or constant
    for channel in config.analog:
        usable = 0 < channel.primary < 1e9 and 1e-6 < channel.secondary < 1e9
        ratio = channel.primary / channel.secondary if channel.side == "S" and usable else 1.0
        if ratio != 1:
            secondary.append(f"{ratio:g}")
        if channel.side == "S" and ratio == 1 and channel.primary != channel.secondary:
            unclear.append(channel.name)
        phase = channel.phase if believed or not channel.phase.isdigit() else ""
        channels.append(RawHeader(channel.name, channel.unit, phase))
        scales.append((channel.factor, channel.offset, ratio))
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
    return channels, scales, notes


def _segments(
    config: Configuration, data: DataRows, given_rate: float | None
) -> list[tuple[float, range, float, list[str]]]:
    """Rate [Hz], samples, time from the first sample of the file [s], and notes of each section at the high rate."""
    n = data.n_rows
    if given_rate is not None:
        rate = config.rates[0][0] if len(config.rates) == 1 else 0.0
        return [(rate, range(n), 0.0, [])]
    groups = _group_rates(config, n)
    if not groups:
        notes = ["The configuration gives no sampling rate: it was derived from the time stamps."]
        rate, kept, seconds = find_rate_of_pieces((piece * config.time_unit for piece in data.stamps()), notes)
        if not rate:
            raise RecordingError("gives no sampling rate, neither directly nor by time stamps; set sampling_rate.")
        return [(rate, range(kept.start, kept.stop), seconds, notes)]
    notes = _compare_lengths(groups, config.rates[-1][1], n)
    chosen = _choose_sections(groups, n, notes)
    if len(groups) > 1:
        parts = ", ".join(f"{len(kept)} at {frequency_text(rate)}" for rate, kept, _ in groups[:6])
        notes.append(f"The file has several rates ({parts}): each section at the high rate is a separate recording.")
    joined = "{} sections with rates that differ by less than 1 % were joined, at their mean of {}."
    return [
        (
            rate,
            kept,
            _seconds_before(config, kept.start),
            notes + [joined.format(count, frequency_text(rate))] * (count > 1),
        )
        for rate, kept, count in chosen
    ]


def _compare_lengths(groups: list[_Section], announced: int, n: int) -> list[str]:
    """Notes if the data have more rows than the configuration says, or fewer."""
    notes = []
    used = max(kept.stop for _, kept, _ in groups)
    if len(groups) == 1 and n > used:
        notes.append(f"The data have {count_text(n - used, 'row')} more than the configuration says: ignored.")
    if announced > n:
        notes.append(f"The configuration announces {announced:g} samples, the data have {n}.")
    return notes


def _choose_sections(groups: list[_Section], n: int, notes: list[str]) -> list[_Section]:
    """The sections at the high rate, and of many the longest."""
    long = [group for group in groups if len(group[1]) >= min(_SHORTEST, n)]
    high = max(group[0] for group in long)
    chosen = [group for group in long if group[0] >= high / 2]
    if len(chosen) > _MAX_SEGMENTS:
        notes.append(f"The file has {len(chosen)} sections at the high rate: the {_MAX_SEGMENTS} longest are kept.")
        shortest = sorted((len(group[1]) for group in chosen), reverse=True)[_MAX_SEGMENTS - 1]
        chosen = [group for group in chosen if len(group[1]) >= shortest][:_MAX_SEGMENTS]
    return chosen


def _group_rates(config: Configuration, n: int) -> list[_Section]:
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


def _seconds_before(config: Configuration, sample: int) -> float:
    """Time from the first sample to another [s]."""
    ends = accumulate((min(last, sample) for _, last in config.rates), max, initial=0)
    return sum((end - first) / rate for (rate, _), (first, end) in zip(config.rates, pairwise(ends), strict=True))


def _is_comtrade(path: Path, head: bytes) -> bool:
    """Whether the file has a configuration beside it; a text ``.dat`` without one is a table."""
    suffix = path.suffix.casefold()
    if suffix not in COMPANIONS:
        return False
    return suffix != ".dat" or b"\0" in head or find_partner(path, ".cfg") is not None


COMTRADE = Reader("comtrade", (".cfg", ".cff"), recognizes=_is_comtrade, open=open_comtrade)
