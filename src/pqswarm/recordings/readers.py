"""Read recordings of any supported format."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pqswarm._base.registry import Registry
from pqswarm._base.text import count_text, file_text
from pqswarm.errors import PqswarmError
from pqswarm.recordings.comtrade import COMTRADE
from pqswarm.recordings.files import LFS_POINTER, FileBytes, naming_file
from pqswarm.recordings.mat import MAT
from pqswarm.recordings.npz import NPZ
from pqswarm.recordings.pqdif import PQDIF
from pqswarm.recordings.recording import Options, Reader, Recording, RecordingError, RecordingSource
from pqswarm.recordings.sel import SEL
from pqswarm.recordings.source import FileSource, normalize_source
from pqswarm.recordings.table import TABLE
from pqswarm.recordings.zipped import ZIP

_OURS = (PQDIF, NPZ, MAT, COMTRADE, SEL, ZIP, TABLE)  # in the order in which they are asked for their content
_HEAD = 4096  # bytes

READERS: Registry[Reader] = Registry("format of recordings", Reader, _OURS, group="pqswarm.readers")
"""The supported formats by name, plugins included."""


def read(
    path: str | Path,
    observation: int | None = None,
    *,
    format: str | None = None,  # noqa: A002
    **options: Any,
) -> Recording:
    r"""Read a recording.

    The format is detected from the content and the suffix. Files are untrusted: what headers claim is checked against
    the size of the file before memory is allocated, and nothing in them is executed or used as a path.

    Parameters
    ----------
    path : str or Path
        COMTRADE (``.cfg``, ``.dat``, ``.hdr`` or ``.inf``: the partners are found beside it; or ``.cff``), PQDIF
        (``.pqd``), an event report of an SEL relay (``.cev``, ``.eve``), a text table (``.csv``, ``.txt``, ...),
        ``.npz``, MATLAB (``.mat``), a ``.zip`` with such files, or a format of a plugin (see :data:`READERS`).
    observation : int, optional
        Number of the recording, from 0, if the file holds several (see :func:`read_all`). The default is the longest
        section at the high rate for COMTRADE, else the first.
    format : str, optional
        Name of a reader (``"comtrade"``, ``"pqdif"``, ``"sel"``, ``"csv"``, ``"npz"``, ``"mat"``, ``"zip"``) if it
        should not be detected.
    **options
        Overrides and limits: see :class:`Options`.

    Returns
    -------
    Recording
        Samples in SI units; its notes list assumptions.

    Raises
    ------
    RecordingError
        If the file cannot be read; the message names the file and the reason.

    Notes
    -----
    Limits, apart from `max_bytes`: 4096 channels; 100 sections of a COMTRADE file at its high rate; 100 000 characters
    in a line of a table; a packed file (PQDIF, ``.npz``, ``.mat``, ``.zip``) may unpack to a hundred times its size
    plus 8 or 64 MB (a `max_bytes` above the default lifts this too). Samples beyond 1e15 count as missing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "short.csv")
    ...     _ = path.write_text("t [ms];Ua [kV]\n0;0,0\n0,5;1,5\n1;2,5\n")
    ...     recording = read(path)
    >>> recording.sampling_rate, recording.channel("Ua").samples
    (2000.0, array([   0., 1500., 2500.]))
    """
    sources, main = _open_with_reader(Path(path), format, Options.of({**options, "whole": True}), observation)
    return sources[main].read()


def read_all(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    **options: Any,
) -> tuple[Recording, ...]:
    r"""Read all recordings of a file.

    A PQDIF file has one for each observation with waveforms, a COMTRADE file one for each section at its high rate,
    a file of RTE's database one for each record, an archive those of its files; other formats hold one.

    Parameters
    ----------
    path, format, **options
        As for :func:`read`.

    Returns
    -------
    tuple of Recording
        In the order of the file, at least one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "short.txt")
    ...     _ = path.write_text("Ua,Ub\n0,1\n1,0\n0,1\n")
    ...     [len(recording.channels) for recording in read_all(path, sampling_rate=6400)]
    [2]
    """
    sources, _ = _open_with_reader(Path(path), format, Options.of({**options, "whole": True}), None)
    return tuple(source.read() for source in sources)


def open_recordings(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    **options: Any,
) -> tuple[RecordingSource, ...]:
    r"""Open all recordings of a file; samples stay in the file if the format allows it.

    COMTRADE files and text tables of any size are read on demand; other formats are read as a whole.

    Parameters
    ----------
    path, format, **options
        As for :func:`read`.

    Returns
    -------
    tuple of RecordingSource
        In the order of the file, at least one. Their notes describe how the file was read; notes on samples, such as
        how many are missing, are those of the recordings that ``read`` returns.

    Notes
    -----
    Several threads may read from a source. No file is kept open: if it changes or vanishes, reading raises a
    :class:`RecordingError`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "short.csv")
    ...     _ = path.write_text("t [ms];Ua [kV]\n0;0,0\n0,5;1,5\n1;2,5\n")
    ...     (source,) = open_recordings(path)
    ...     source.n_samples, source.read(1, 3).channel("Ua").samples
    (3, array([1500., 2500.]))
    """
    return tuple(_open_with_reader(Path(path), format, Options.of(options), None)[0])


def _open_with_reader(
    path: Path, format_name: str | None, options: Options, wanted: int | None
) -> tuple[list[FileSource], int]:
    """The usable recordings of a file, and the position of the main one."""
    with naming_file(path):
        reader = find_reader(path) if format_name is None else READERS.find(format_name)
        raws = reader.sources(path, options)
        if wanted is not None:
            if not -len(raws) <= wanted < len(raws):
                raise RecordingError(
                    f"holds {count_text(len(raws), 'recording')}: there is no number {wanted} (counted from 0)."
                )
            raws = [raws[wanted]]
        if options.whole:
            options.check_samples(sum(len(raw.channels) * raw.n_samples for raw in raws))
        sources: list[FileSource] = []
        reasons: list[tuple[str, str]] = []
        main = 0
        for raw in raws:
            raw.source = file_text(raw.source or path.name)
            raw.format = raw.format or reader.name
            if raw.is_main:
                main = len(sources)
            try:
                sources.append(normalize_source(raw, options, str(path)))
            except RecordingError as error:  # the others may be usable
                reasons.append((raw.source, str(error)))
        if not sources:
            raise RecordingError(reasons[0][1] if reasons else "holds no recordings.")
        if reasons:
            note = f"{len(reasons)} of the {len(raws)} recordings of this file cannot be used: {' '.join(reasons[0])}"
            sources = [replace(source, notes=(*source.notes, note)) for source in sources]
        return sources, min(main, len(sources) - 1)


def list_suffixes() -> set[str]:
    """Return the suffixes of all formats."""
    return {suffix for reader in _all_readers() for suffix in reader.suffixes}


def find_reader(path: Path) -> Reader:
    """Return the reader that recognises the content, else that of the suffix, else that of tables."""
    head = FileBytes.of(path).read(0, _HEAD)
    if head.startswith(LFS_POINTER):
        raise RecordingError("is a Git LFS pointer, not the recording: run git lfs pull.")
    readers = list(_all_readers())
    certain = (reader for reader in readers if reader.recognizes(path, head))
    by_suffix = (reader for reader in readers if path.suffix.casefold() in reader.suffixes)
    return next(certain, None) or next(by_suffix, TABLE)


def _all_readers() -> Iterator[Reader]:
    """Readers, plugins first; one that cannot be loaded is skipped."""
    for name in READERS:
        if name not in [reader.name for reader in _OURS]:
            try:
                yield READERS[name]
            except PqswarmError as error:
                warnings.warn(str(error), RuntimeWarning, stacklevel=2)
    yield from _OURS
