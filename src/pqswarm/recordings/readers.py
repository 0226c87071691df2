"""Read recordings of any supported format, also from ``.zip`` archives, as they are mailed.

An archive is unpacked to a temporary folder, and read whole. Names in it are never used as paths: members get numbers,
the same one for the files of a COMTRADE recording.
"""

import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from pqswarm._base.array_file import DAMAGE, damage_text
from pqswarm._base.files import open_regular, opening_only_inside
from pqswarm._base.registry import Registry
from pqswarm._base.text import count_text, file_text
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.recordings.arrays import MAT, NPZ
from pqswarm.recordings.comtrade import COMTRADE
from pqswarm.recordings.files import COMPANIONS, LFS_POINTER, FileBytes, is_document, naming_file
from pqswarm.recordings.pqdif import PQDIF
from pqswarm.recordings.recording import Options, RawSource, Reader, Recording, RecordingError, RecordingSource
from pqswarm.recordings.sel import SEL
from pqswarm.recordings.source import FileSource, normalize_source
from pqswarm.recordings.table import TABLE
from pqswarm.recordings.text import clean_name

_HEAD = 4096  # bytes
_MAX_MEMBERS = 1000
_XML = ".xml"  # COMTRADE in XML, perhaps: unpacked if there is nothing else, to say why it is not read


def open_zip(path: Path, options: Options) -> list[RawSource]:
    """Read the recordings of an archive into memory; archives inside are not opened."""
    suffixes = list_suffixes()
    sources: list[RawSource] = []
    reasons: list[str] = []
    with TemporaryDirectory() as folder:
        try:
            with open_regular(path) as file, zipfile.ZipFile(file) as archive:
                members = archive.namelist()
                if {"[Content_Types].xml", "mimetype"} & set(members):
                    raise RecordingError("is a spreadsheet or another office file: save the sheet with samples as CSV.")
                if any(name.endswith(".npy") for name in members):
                    return NPZ.sources(path, options)
                limit = options.unpacked_limit(path.stat().st_size, 64_000_000)
                unpacked = _unpack_zip_members(archive, limit, Path(folder), suffixes)
        except FileFormatError:
            raise
        except DAMAGE as error:
            raise RecordingError(f"is damaged, or is not a .zip archive ({damage_text(error)}).") from error
        with opening_only_inside(Path(folder)):  # also where only the folder of the archive may be read
            for target, name in unpacked.items():
                try:
                    reader = find_reader(target)
                    if reader is ZIP:
                        raise RecordingError("is an archive: unpack it first.")
                    for raw in reader.sources(target, replace(options, whole=True)):
                        options.check_samples(sum(len(one.channels) * one.n_samples for one in [*sources, raw]))
                        place = raw.source.removeprefix(target.name) if raw.source.startswith(target.name) else ""
                        raw.source = f"{path.name}, {name}{place}"
                        raw.format = raw.format or reader.name
                        sources.append(_keep_zipped_in_memory(raw))
                except FileFormatError as error:
                    reasons.append(f"{name} {error}")
    if not sources:
        reason = reasons[0] if reasons else f"its files do not end in {', '.join(sorted(suffixes))}."
        raise RecordingError(f"holds no recording that can be read: {reason}")
    for one in sources if reasons else ():
        one.notes.append(f"{count_text(len(reasons), 'file')} of the archive cannot be read: {reasons[0]}")
    return sources


def _unpack_zip_members(archive: zipfile.ZipFile, limit: int, folder: Path, suffixes: set[str]) -> dict[Path, str]:
    """Unpack what may be a recording; return its files, each with the name of its member."""
    members = [(info, PurePosixPath(info.filename.replace("\\", "/"))) for info in archive.infolist()]
    chosen = [
        (info, inside)
        for info, inside in members
        if inside.suffix.casefold() in suffixes.union(COMPANIONS)
        and not ("__MACOSX" in inside.parts or is_document(inside.name))
    ]
    chosen = chosen or [member for member in members if member[1].suffix.casefold() == _XML]
    total = sum(info.file_size for info, _ in chosen)
    if len(chosen) > _MAX_MEMBERS or total > limit:
        held = f"{count_text(len(chosen), 'file')} of {total / 1e6:.0f} MB"
        allowed = f"{_MAX_MEMBERS} files of {limit / 1e6:.0f} MB"
        raise RecordingError(f"holds {held}, over the limit of {allowed}: unpack it, and name the folder.")
    if any(info.compress_size > archive.start_dir for info, _ in chosen):  # as much would be allocated
        raise RecordingError("is damaged: it claims more than it can hold.")
    if any(info.flag_bits & 1 or info.compress_type not in (0, zipfile.ZIP_DEFLATED) for info, _ in chosen):
        raise RecordingError("is encrypted, or packed by an unusual method: unpack it first.")
    numbers: dict[str, int] = {}
    unpacked: dict[Path, str] = {}
    for info, inside in chosen:
        number = numbers.setdefault(str(inside.with_suffix("")).casefold(), len(numbers))
        target = folder / f"{number}{inside.suffix.casefold()}"
        target.write_bytes(archive.read(info))
        unpacked[target] = clean_name(inside.name)
    return {target: name for target, name in unpacked.items() if target.suffix in {*suffixes, _XML}}


def _keep_zipped_in_memory(raw: RawSource) -> RawSource:
    """Return a source that does not need its file."""
    samples = raw.fetch(0, raw.n_samples, range(len(raw.channels)))
    states = tuple(raw.status())
    raw.fetch = lambda first, stop, channels: [samples[i][first:stop] for i in channels]
    raw.status = lambda: states
    return raw


ZIP = Reader("zip", (".zip",), recognizes=lambda path, head: head.startswith(b"PK\x03\x04"), open=open_zip)  # noqa: ARG005
_OURS = (PQDIF, NPZ, MAT, COMTRADE, SEL, ZIP, TABLE)  # in the order in which they are asked for their content

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
        COMTRADE (``.cfg``, ``.dat``, ``.hdr`` or ``.inf``: the partners are found next to it; or ``.cff``), PQDIF
        (``.pqd``), an event report of an SEL relay (``.cev``, ``.eve``), a text table (``.csv``, ``.txt``, ...),
        ``.npz``, MATLAB (``.mat``), a ``.zip`` with such files, or a format of a plugin (see :data:`READERS`).
    observation : int, default=None
        Number of the recording, from 0, if the file holds several (see :func:`read_all`). The default is the longest
        section at the high rate for COMTRADE, else the first.
    format : str, default=None
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
    """Return the reader that recognizes the content, else that of the suffix, else that of tables."""
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
