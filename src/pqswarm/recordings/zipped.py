"""Recordings in ``.zip`` archives, as they are mailed: unpacked to a temporary folder, and read whole.

Names in the archive are never used as paths: members get numbers, the same one for the files of a COMTRADE recording.
"""

import zipfile
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from pqswarm._base.array_file import DAMAGE, damage_text
from pqswarm._base.files import open_regular, opening_only_inside
from pqswarm._base.text import count_text
from pqswarm.errors import FileFormatError
from pqswarm.recordings.files import COMPANIONS, is_document
from pqswarm.recordings.npz import NPZ
from pqswarm.recordings.recording import Options, RawSource, Reader, RecordingError
from pqswarm.recordings.text import clean_name

_MAX_MEMBERS = 1000
_XML = ".xml"  # COMTRADE in XML, perhaps: unpacked if there is nothing else, to say why it is not read


def open_zip(path: Path, options: Options) -> list[RawSource]:
    """Read the recordings of an archive into memory; archives inside are not opened."""
    from pqswarm.recordings.readers import find_reader, list_suffixes

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
