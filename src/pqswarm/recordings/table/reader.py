"""Tables of text: a time column or a given rate, and one column for each channel.

Separators, decimal comma, header rows (HIOKI MEMORY HiCORDER, Tektronix, Rigol, Keysight, Siglent and plain ones),
units and the time column are found out, and the notes of the recording say what was understood; arguments of
:func:`pqswarm.recordings.read` override it.
"""

from datetime import datetime
from pathlib import Path

import numpy as np

from pqswarm._files import write_atomically
from pqswarm._typing import FloatArray
from pqswarm.recordings.files import read_bytes
from pqswarm.recordings.reader import Options, RawChannel, RawRecording, Reader
from pqswarm.recordings.recording import Recording, RecordingError
from pqswarm.recordings.stamps import find_rate
from pqswarm.recordings.table.layout import Layout, find_layout
from pqswarm.recordings.text import decode, numbers, shift, split, stamp

__all__ = ["TABLE", "write_csv"]


def read_table(path: Path, options: Options) -> list[RawRecording]:
    """Read a table of text, which holds one recording."""
    content = read_bytes(path, 4 * options.max_bytes)
    if b"\0" in content[:10_000] and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise RecordingError("is not a table of text.")
    text, encoding = decode(content, options.encoding)
    lines = [line for line in text.replace("\r", "\n").replace("\0", "").split("\n") if line.strip(" \t\x1a")]
    if len(lines) < 2:
        raise RecordingError("is not a recording: it has fewer than two lines.")
    layout = find_layout(lines, options)
    rows = lines[layout.first_row :]
    options.check_samples(len(rows) * (len(layout.columns) + 1))
    notes = ([] if encoding == "utf-8" else [f"The text was read as {encoding}."]) + layout.notes
    table = _table(rows, layout)
    n_bad = int(np.isnan(table).any(axis=1).sum())
    if n_bad:
        notes.append(f"{n_bad} rows lack a number in some channel.")
    rate, kept, start = _time(rows, layout, options, notes)
    channels = [
        RawChannel(name, unit, "", table[kept, i])
        for i, (name, unit) in enumerate(zip(layout.names, layout.units, strict=True))
    ]
    return [RawRecording(channels, rate, layout.frequency, start, path.name, "CSV", notes)]


def write_csv(recording: Recording, path: str | Path) -> Path:
    r"""Write a recording as a table: ``time [s]`` and one column for each channel, with its unit.

    Parameters
    ----------
    recording : Recording
        The recording. Missing samples become empty fields.
    path : str or Path
        The file to write.

    Returns
    -------
    Path
        The file.

    Notes
    -----
    Phases, the nominal frequency and the start are not written; a reader finds them from names and samples.

    Examples
    --------
    >>> import tempfile
    >>> from pqswarm.recordings import Channel
    >>> recording = Recording((Channel("Ua", "V", "A", np.array([0.0, 1.5])),), 1000.0, 50.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_csv(recording, f"{folder}/short.csv").read_text().replace("\r", ""))
    time [s],Ua [V]
    0,0
    0.001,1.5
    <BLANKLINE>
    """
    header = ["time [s]"]
    header += [f"{channel.name} [{channel.unit}]" if channel.unit else channel.name for channel in recording.channels]
    lines = [",".join(_quote(text) for text in header)]
    columns = [channel.samples.tolist() for channel in recording.channels]
    for n, row in enumerate(zip(*columns, strict=True)):
        fields = ["" if value != value else f"{value:.12g}" for value in row]
        lines.append(f"{n / recording.sampling_rate:.12g},{','.join(fields)}")
    return write_atomically(path, "\r\n".join([*lines, ""]))


def _quote(text: str) -> str:
    text = text.replace('"', "'").replace("\n", " ").replace("\r", " ")
    return f'"{text}"' if set(text) & set(",;\t") else text


def _table(rows: list[str], layout: Layout) -> FloatArray:
    """The channels' values, one row for each line."""
    if layout.decimal == layout.delimiter or any('"' in row for row in rows[:50]):
        rows = ["\t".join(split(row, layout.delimiter)) for row in rows]
        return numbers(rows, "\t", layout.columns, layout.decimal)
    delimiter = None if layout.delimiter == " " else layout.delimiter
    if any(delimiter + delimiter in row.replace(" ", "") for row in rows[:50]) if delimiter else False:
        rows = ["\t".join(field if field.strip() else "nan" for field in row.split(delimiter)) for row in rows]
        delimiter = "\t"
    return numbers(rows, delimiter, layout.columns, layout.decimal)


def _time(rows: list[str], layout: Layout, options: Options, notes: list[str]) -> tuple[float, slice, datetime | None]:
    """Rate [Hz], rows to keep, and time of the first of them."""
    everything = slice(0, len(rows))
    trigger = stamp(layout.trigger) if layout.trigger else None
    if layout.time_column is None or layout.time_kind == "index":
        if layout.rate:
            notes.append(f"The sampling rate of {layout.rate:g} Hz is from the header.")
        elif options.sampling_rate is None:
            why = "counts samples" if layout.time_kind == "index" else "is missing"
            raise RecordingError(f"does not say its sampling rate: a time column {why}; give it as sampling_rate.")
        return layout.rate, everything, None
    start: datetime | None = None
    if layout.time_kind == "stamp":
        times, start = _stamps(rows, layout)
    else:
        only = Layout(layout.delimiter, layout.decimal, columns=[layout.time_column])
        times = _table(rows, only)[:, 0] * layout.time_unit
        start = shift(trigger, float(times[0]))
    finite = np.isfinite(times)
    if finite.sum() < 2:
        raise RecordingError("does not say its sampling rate: its time column holds no times.")
    if not finite.all():
        # Rows without a time are kept: they are samples, and their place tells their time.
        index = np.flatnonzero(finite)
        times = np.interp(np.arange(times.size), index, times[index])
        notes.append(f"{int((~finite).sum())} rows have no time: it was interpolated.")
    if options.sampling_rate is not None:
        return find_rate(times, [])[0], everything, start
    rate, kept = find_rate(times, notes)
    if layout.rate and rate and abs(layout.rate / rate - 1) < 0.01:
        rate = layout.rate  # the header is more exact than rounded time stamps
    elif not rate:
        rate = layout.rate
    if start is not None and kept.start:
        start = shift(start, float(times[kept.start] - times[0]))
    return rate, kept, start


def _stamps(rows: list[str], layout: Layout) -> tuple[FloatArray, datetime | None]:
    """Times from the first row [s], and its date if it has one."""
    column = layout.time_column or 0
    moments: list[datetime | None] = []
    dated = True
    for row in rows:
        fields = split(row, layout.delimiter)
        text = fields[column] if column < len(fields) else ""
        found = stamp(text)
        if found is None:
            dated = False
            found = stamp("2000-01-01", text) if ":" in text else None
        moments.append(found)
    first = next((one for one in moments if one is not None), None)
    if first is None:
        return np.full(len(rows), np.nan), None
    times = np.array([np.nan if one is None else (one - first).total_seconds() for one in moments])
    return times, first if dated else None


TABLE = Reader("csv", (".csv", ".txt"), read_table)
