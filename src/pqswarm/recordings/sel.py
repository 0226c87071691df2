"""Event reports of SEL relays, compressed (command CEV) and plain (EVE).

Values are instantaneous ones divided by the square root of 2: two of them, a quarter of a cycle apart, give the RMS
value. Samples follow the frequency of the grid; the nominal one gives the rate. The date is that of the row with ``>``.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from pqswarm._base.text import count_text
from pqswarm._base.typing import FloatArray
from pqswarm.recordings.files import FileBytes
from pqswarm.recordings.names import guess_unit, si_unit, split_unit
from pqswarm.recordings.recording import (
    MAX_STATUS,
    Options,
    RawChannel,
    RawRecording,
    RawSource,
    Reader,
    RecordingError,
    StatusChannel,
    find_status_changes,
    shift_time,
)
from pqswarm.recordings.text import date_from_text, decode_text, list_date_notes, number_from_text, split_fields

_LIMIT = 16_000_000  # bytes
_HEADER_LINES = 100
_MAX_REPORTS = 100
_NUMBER = r"[-+]?+\d++(?:\.\d*+)?+"
_DATE = re.compile(r"(.*)Date:\s{0,20}(\S{1,20})\s{1,40}Time:\s{0,20}(\S{1,20})")
_CYCLE = re.compile(r"\s*\[(\d{1,4})\]\s*")
_QUANTITY = re.compile(r"(?:3?I|V)[A-Z0-9]*|FREQ", re.IGNORECASE)
_UNIT = re.compile(r"(Current|Voltage)s?\s{0,5}\((\w{1,10})")
_SETTING = re.compile(r"\b(RID|NFREQ|FNOM)\s{0,10}:?=\s{0,10}(\S[^\n]{0,100})")
_NO_WAVES = ("VDC", "V1MEM")


def open_sel(path: Path, options: Options) -> list[RawSource]:
    """Open the reports of a file."""
    content = FileBytes.of(path, _LIMIT, "no event report is that long.").read_all()
    text, _ = decode_text(content.translate(None, b"\0\2\3"), options.encoding)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    start = re.search('"FID"|"MONTH"', text)
    sources = [_open_compressed_sel(text[start.start() :], options)] if start else list(_open_plain_sel(text, options))
    if not sources:
        raise RecordingError("is not an event report: it has no currents or voltages by cycle, from [1] on.")
    for n, one in enumerate(sources if len(sources) > 1 else ()):
        one.source = f"{path.name}, report {n + 1}"
    return sources


def _open_compressed_sel(text: str, options: Options) -> RawSource:
    """Lines of names, each followed by one of values; names of columns; rows with checksums; settings."""
    lines = text.split("\n")
    first = next((n for n, line in enumerate(lines[:_HEADER_LINES]) if '"TRIG"' in line), 0)
    columns = split_fields(lines[first], ",")
    at = columns.index("TRIG") if "TRIG" in columns else 0
    rows: list[list[str]] = []
    n_wrong = 0
    for line in lines[first + 1 :] if at else ():
        if line.startswith('"'):  # the settings
            break
        fields = split_fields(line, ",")
        if len(fields) > at + 1:
            rows.append(fields)
            body, _, check = line.rpartition(",")
            n_wrong += f"{sum(f'{body},'.encode('latin-1', 'replace')) & 0xFFFF:04X}" != check.strip(' "')
    if not rows:
        raise RecordingError("is not a compressed event report: it has no column TRIG, or no rows of samples.")
    header = _read_sel_settings(text)
    for names, values in pairwise(split_fields(line, ",") for line in lines[:first]):
        header.update(zip(names, values, strict=False))
    header["DATE"] = f"{header['MONTH']}/{header['DAY']}/{header['YEAR']}"
    header["TIME"] = f"{header['HOUR']}:{header['MIN']}:{header['SEC']}.{header['MSEC']:0>3}"
    notes = [f"{count_text(n_wrong, 'row')} with a wrong checksum: the file may be damaged."] * (n_wrong > 0)
    notes += ["These are secondary values: a site file can give the ratio."] * (header["PRIM_VAL"] == "NO")
    table = np.array([[number_from_text(value) for value in row[:at]] for row in rows])
    source = _sel_source(header, columns[:at], table, [row[at] for row in rows], options, notes)
    bits = columns[at + 1].split()[:MAX_STATUS] if len(columns) > at + 2 else []
    source.status = lambda: _sel_status(bits, [row[at + 1] for row in rows])
    return source


def _open_plain_sel(text: str, options: Options) -> Iterator[RawSource]:
    """A date, names of columns, and rows by cycle, ``[1]`` to ``[15]``; then ``[1]`` again, with status columns."""
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines) if (mark := _CYCLE.fullmatch(line)) and int(mark[1]) == 1]
    for first, end in pairwise([*starts[: 2 * _MAX_REPORTS], len(lines)]):
        above = [line for line in lines[max(0, first - 30) : first] if line.strip()]
        labels = _plain_sel_labels(above)
        row = re.compile(rf"\s*+({_NUMBER}(?:(?:\s++|(?=[-+])){_NUMBER}){{{len(labels) - 1}}})\s?+([>*]?)")
        rows: list[list[float]] = []
        signs = []
        cycles = []
        for line in lines[first:end] if labels else ():
            if _CYCLE.fullmatch(line):
                cycles.append(len(rows))
            elif match := row.match(line):
                rows.append([float(value) for value in re.findall(_NUMBER, match[1])])
                signs.append(match[2])
            elif line.lstrip().startswith("Event"):
                break
        if rows:
            date = next((match for line in reversed(above) if (match := _DATE.match(line))), None)
            header = _read_sel_settings("\n".join(lines[first:]))
            header |= {"RID": date[1].strip(), "DATE": date[2], "TIME": date[3]} if date else {}
            header["SAM/CYC_A"] = f"{np.median(np.diff([*cycles, len(rows)]))}"
            table = np.array(rows)
            measured = table[:, [label.upper() == "FREQ" for label in labels]]
            header["FREQ"] = f"{np.median(measured)}" if measured.size else ""
            notes = list_date_notes(header["DATE"], month_first=True)
            yield _sel_source(header, labels, table, signs, options, notes)


def _plain_sel_labels(above: list[str]) -> list[str]:
    """The analog columns named in the last line above the rows, with the units given over them."""
    units = dict(_UNIT.findall("\n".join(above[-6:])))
    labels: list[str] = []
    for name in above[-1].split() if units else []:
        if not _QUANTITY.fullmatch(name):
            break
        unit = units.get({"V": "Voltage", "F": ""}.get(name[0].upper(), "Current"), "")
        labels.append(f"{name}({unit})" if unit else name)
    return labels


def _read_sel_settings(text: str) -> defaultdict[str, str]:
    """Name of the relay and nominal frequency, among the settings after the rows; others are empty."""
    settings = {{"FNOM": "NFREQ"}.get(name, name): value.split("  ")[0] for name, value in _SETTING.findall(text)}
    return defaultdict(str, settings)


def _sel_source(
    header: defaultdict[str, str],
    labels: Sequence[str],
    table: FloatArray,
    signs: Sequence[str],
    options: Options,
    notes: list[str],
) -> RawSource:
    """Return a report with instantaneous values; `signs` mark the rows of the trigger and of the largest current."""
    channels = []
    for label, values in zip(labels, table.T, strict=True):
        name, unit = split_unit(label)
        if si_unit(unit or guess_unit(name))[0] in ("V", "A") and name.upper() not in _NO_WAVES:
            channels.append(RawChannel(name, unit, "", values * np.sqrt(2)))
    if not channels:
        raise RecordingError("is an event report without currents and voltages.")
    notes.append("Event reports hold values divided by the square root of 2: multiplied by it.")
    per_cycle, measured, nominal = (number_from_text(header[name], 0.0) for name in ("SAM/CYC_A", "FREQ", "NFREQ"))
    if not (nominal or options.nominal_frequency or measured):
        notes.append("The report does not give the frequency: 60 Hz is assumed.")
    nominal = nominal or options.nominal_frequency or (50.0 if 45 < measured < 55 else 60.0)
    rate = per_cycle * nominal
    if measured not in (0, nominal):
        notes.append(f"The relay samples by the grid's frequency, {measured:g} Hz: times are those of {nominal:g} Hz.")
    start = date_from_text(header["DATE"], header["TIME"], month_first=True)
    trigger = next((n for sign in ">*" for n, text in enumerate(signs) if sign in text), 0)  # * hides >
    start = shift_time(start, -trigger / rate) if rate else start
    recording = RawRecording(channels, rate, nominal, start, format="SEL event report", notes=notes)
    recording.station = header["RID"]
    return recording.as_source()


def _sel_status(bits: list[str], words: list[str]) -> tuple[StatusChannel, ...]:
    """The status channels of a compressed report: a hexadecimal digit holds four, the first one highest."""
    used = [n for n, name in enumerate(bits) if name != "*"]
    table = np.full((len(words), len(bits)), -1, np.int8)
    for row, word in zip(table, words, strict=True):
        if re.fullmatch(r"(?:[0-9A-Fa-f]{2})+", word):
            known = np.unpackbits(np.frombuffer(bytes.fromhex(word), np.uint8))[: row.size]
            row[: known.size] = known
    names = [bits[n] for n in used]
    shown = table[:, used]
    return find_status_changes(lambda first, stop: shown[first:stop], len(table), len(table), names, [0] * len(used))


def _is_sel(path: Path, head: bytes) -> bool:  # noqa: ARG001
    """Whether the file starts like an event report of a relay."""
    text = head.lstrip(b"\2 \r\n")
    return text.startswith((b'"FID"', b'"MONTH","DAY","YEAR"')) or (b"FID=SEL" in text and b"Date:" in text)


SEL = Reader("sel", (".cev", ".eve"), recognizes=_is_sel, open=open_sel)
