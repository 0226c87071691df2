"""Recordings in ``.npz`` archives: the layout of pqswarm, a plain one for your own scripts, and that of RTE.

The layout of pqswarm (written by :func:`write_npz`, opened by ``numpy.load`` too) has the arrays ``samples`` of shape
(n_channels, n_samples) in SI units, ``names``, ``units``, ``phases``, and the scalars ``sampling_rate``,
``nominal_frequency``, ``start`` (ISO 8601, or empty), ``source``, ``format``, ``station``, ``notes`` (a list) and
``pqswarm_recording`` (the version of the layout, 1).

The plain layout has one array for each channel, all of one length (or of shape (n_channels, n_samples)), named like a
column of a table (``Ua [kV]``), and ``sampling_rate`` (or ``fs``) as a scalar, or ``time`` in seconds as one more
array; ``nominal_frequency`` (or ``f0``) may be given.

The layout of RTE's digital fault recording database has one array ``DATA_S*`` of shape (n_records, 6, n_samples):
three voltages and three currents at 6400 Hz, in counts of 18.31055 V and 4.314 A.

Nothing is unpickled.
"""

import io
import re
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from pqswarm._base.archive import DAMAGE, damage_text, read_npy, write_arrays
from pqswarm._base.files import write_atomically
from pqswarm._base.text import count_text
from pqswarm._base.typing import AnyArray
from pqswarm.errors import FileFormatError
from pqswarm.recordings.files import FileBytes
from pqswarm.recordings.reader import MAX_CHANNELS, Options, RawChannel, RawRecording, Reader
from pqswarm.recordings.recording import Recording, RecordingError
from pqswarm.recordings.stamps import find_rate_of_stamps
from pqswarm.recordings.units import split_unit

_VERSION = 1
_MEMBERS = 10_000
_LONGEST_TEXT = 500  # characters of a name or a note
_RATE_NAMES = ("sampling_rate", "fs", "sample_rate", "rate")
_FREQUENCY_NAMES = ("nominal_frequency", "f0", "frequency")
_TIME_NAMES = ("time", "t", "tout")
_RTE_NAME = re.compile(r"DATA_S\d+")
_RTE_SHORTEST = 1000  # samples; the records of the database have 21000
_RTE_RATE, _RTE_FREQUENCY, _RTE_VOLTS, _RTE_AMPERES = 6400.0, 50.0, 18.31055, 4.314


def read_npz(path: Path, options: Options) -> list[RawRecording]:
    """Read the recordings of an archive."""
    arrays = _unpack_arrays(FileBytes.of(path, 4 * options.max_bytes).read_all(), options)
    if "pqswarm_recording" in arrays:
        return [_read_own_layout(arrays, path.name)]
    rte = [name for name in arrays if _RTE_NAME.fullmatch(name)]
    if len(arrays) == 1 and rte and _is_rte(arrays[rte[0]]):
        return _read_rte_layout(arrays[rte[0]], path.name)
    return [read_plain_layout(arrays, path.name)]


def write_npz(recording: Recording, path: str | Path) -> Path:
    """Write a recording as an ``.npz`` archive, without loss.

    Parameters
    ----------
    recording : Recording
        The recording.
    path : str or Path
        The file to write.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pqswarm.recordings import Channel, read
    >>> recording = Recording((Channel("Ua", "V", "A", np.zeros(100)),), 6400.0, 50.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read(write_npz(recording, f"{folder}/flat.npz")).channel("Ua").samples.size
    100
    """
    arrays: dict[str, AnyArray] = {
        "pqswarm_recording": np.array(_VERSION),
        "samples": np.stack([channel.samples for channel in recording.channels]),
        "names": np.array([channel.name for channel in recording.channels], str),
        "units": np.array([channel.unit for channel in recording.channels], str),
        "phases": np.array([channel.phase for channel in recording.channels], str),
        "sampling_rate": np.array(recording.sampling_rate, float),
        "nominal_frequency": np.array(recording.nominal_frequency, float),
        "start": np.array("" if recording.start is None else recording.start.isoformat()),
        "source": np.array(recording.source),
        "format": np.array(recording.format),
        "station": np.array(recording.station),
        "notes": np.array(recording.notes, str),
    }
    return write_atomically(path, lambda file: write_arrays(file, arrays, compression=zipfile.ZIP_DEFLATED))


def _unpack_arrays(content: bytes, options: Options) -> dict[str, AnyArray]:
    """All arrays of an archive; sizes are checked before anything is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            if not members:
                raise RecordingError("holds no arrays.")
            total = sum(info.file_size for info in members)
            # Deflate compresses 1 : 1032 at most, so a larger claim is false.
            if len(members) > _MEMBERS or total > 1032 * len(content) + 1000:
                raise RecordingError("is damaged: it claims more than it can hold.")
            # Measurements compress far less: a small file does not get the memory of a large one.
            limits = replace(options, max_bytes=options.unpacked_limit(len(content), 64_000_000))
            limits.check_samples(total // 8)
            arrays: dict[str, AnyArray] = {}
            n_values = 0
            for info in members:
                name = info.filename[:100]
                if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise RecordingError(f"compresses {name!r} by a method that .npz archives do not use.")
                arrays[info.filename[:-4]] = array = read_npy(archive.read(info), name)
                n_values += array.size
                limits.check_samples(n_values)  # a value of one byte grows to eight
            return arrays
    except FileFormatError:
        raise
    except (*DAMAGE, OSError) as error:
        raise RecordingError(f"is damaged, or is not an .npz archive ({damage_text(error)}).") from error


def _npz_scalar(arrays: Mapping[str, AnyArray], names: tuple[str, ...]) -> float:
    folded = {name.casefold(): array for name, array in arrays.items()}
    for name in names:
        array = folded.get(name)
        if array is not None and array.size == 1 and array.dtype.kind in "fiu":
            value = float(array.reshape(-1)[0])
            return value if np.isfinite(value) else 0.0
    return 0.0


def _texts_of(arrays: Mapping[str, AnyArray], name: str, most: int = MAX_CHANNELS + 1) -> list[str]:
    """The first texts of an array, each cut to the length that is shown."""
    array = arrays.get(name)
    if array is None or array.dtype.kind != "U":
        return []
    # NumPy refuses invalid code points: replace them first
    points = np.ascontiguousarray(array).reshape(-1).view(array.dtype.byteorder.replace("=", "<") + "u4")
    table = points.reshape(array.size, array.dtype.itemsize // 4)[:most, :_LONGEST_TEXT]
    valid = (table < 0xD800) | ((table > 0xDFFF) & (table < 0x110000))
    rows = np.where(valid, table, 0xFFFD)
    return ["".join(map(chr, row)).rstrip("\0") for row in rows.tolist()]


def _text_of(arrays: Mapping[str, AnyArray], name: str) -> str:
    return next(iter(_texts_of(arrays, name, 1)), "")


def _read_own_layout(arrays: Mapping[str, Any], source: str) -> RawRecording:
    version = _npz_scalar(arrays, ("pqswarm_recording",))
    if version != _VERSION:
        raise RecordingError(f"has version {version:g} of pqswarm's layout; this pqswarm reads version {_VERSION}.")
    samples = arrays.get("samples")
    names, units, phases = (_texts_of(arrays, name) for name in ("names", "units", "phases"))
    if samples is None or samples.ndim != 2 or samples.dtype.kind != "f" or not len(names) == len(samples) > 0:
        raise RecordingError("is damaged: its samples and names do not match.")
    if not len(units) == len(phases) == len(names):
        raise RecordingError("is damaged: its names, units and phases do not match.")
    started = _text_of(arrays, "start")
    start = None
    with suppress(ValueError):
        start = datetime.fromisoformat(started[:40]) if started else None
    channels = [RawChannel(*parts) for parts in zip(names, units, phases, _npz_floats(samples), strict=True)]
    return RawRecording(
        channels,
        _npz_scalar(arrays, ("sampling_rate",)),
        _npz_scalar(arrays, ("nominal_frequency",)),
        start,
        _text_of(arrays, "source") or source,
        _text_of(arrays, "format") or "npz",
        _texts_of(arrays, "notes", 100),
        station=_text_of(arrays, "station"),
    )


def _npz_floats(array: AnyArray) -> AnyArray:
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(np.float64)


def _is_rte(array: AnyArray) -> bool:
    return (
        array.ndim == 3
        and array.shape[1] == 6
        and array.shape[0] > 0
        and array.shape[2] >= _RTE_SHORTEST
        and array.dtype.kind in "fi"
        and array.dtype.itemsize >= 2
        and bool((np.abs(array) <= 32768).all() and (array == np.round(array)).all())
    )


def _read_rte_layout(array: AnyArray, source: str) -> list[RawRecording]:
    names = ("Va", "Vb", "Vc", "Ia", "Ib", "Ic")
    notes = ["Recognised by its shape as a file of RTE fault recorders: counts of 18.31055 V and 4.314 A, 6400 Hz."]
    recordings = []
    for n, record in enumerate(array, 1):
        counts = zip(names, "VVVAAA", (_RTE_VOLTS,) * 3 + (_RTE_AMPERES,) * 3, _npz_floats(record), strict=True)
        channels = [RawChannel(name, unit, name[1].upper(), row * factor) for name, unit, factor, row in counts]
        about = f"{source}, record {n}", "npz (RTE)", list(notes)
        recordings.append(RawRecording(channels, _RTE_RATE, _RTE_FREQUENCY, None, *about))
    return recordings


def read_plain_layout(arrays: Mapping[str, AnyArray], source: str, kind: str = "npz") -> RawRecording:
    """Read arrays in the plain layout; `kind` is the format of their file."""
    signals = {
        # There are fewer channels than samples: a tall array has channels in columns.
        name: array.T if array.ndim == 2 and array.shape[0] > array.shape[1] else array
        for name, array in arrays.items()
        if array.ndim in (1, 2) and array.size > 1 and array.dtype.kind in "fiu"
    }
    notes: list[str] = []
    rate, kept = _npz_scalar(arrays, _RATE_NAMES), None
    time = next((name for name, one in signals.items() if name.casefold() in _TIME_NAMES and one.ndim == 1), None)
    if time is not None:
        times = _npz_floats(signals.pop(time))
        signals = {name: array for name, array in signals.items() if array.shape[-1] == times.size}
        if not rate:
            rate, kept = find_rate_of_stamps(times, notes)
    channels = []
    for name, array in signals.items():
        rows = _npz_floats(array).reshape(-1, array.shape[-1])
        label, unit = split_unit(name)
        for n, row in enumerate(rows[:_MEMBERS]):
            samples = row if kept is None else row[kept]
            channels.append(RawChannel(label if len(rows) == 1 else f"{label} {n + 1}", unit, "", samples))
    if not channels:
        raise RecordingError("holds no arrays of samples.")
    longest = max(channel.samples.size for channel in channels)
    left = sum(channel.samples.size != longest for channel in channels)
    if left:
        notes.append(f"{count_text(left, 'array')} shorter than the longest: ignored.")
    channels = [channel for channel in channels if channel.samples.size == longest]
    return RawRecording(channels, rate, _npz_scalar(arrays, _FREQUENCY_NAMES), None, source, kind, notes)


NPZ = Reader("npz", (".npz",), read_npz, lambda path, head: path.suffix.casefold() == ".npz" and head.startswith(b"PK"))
