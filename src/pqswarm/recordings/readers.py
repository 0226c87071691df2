"""The one way into all formats."""

import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.recordings._files import partner, read_bytes
from pqswarm.recordings._pqdif_tags import SIGNATURE
from pqswarm.recordings._raw import MAX_BYTES, Options, RawRecording, finish
from pqswarm.recordings.recording import Recording, RecordingError

__all__ = ["FORMATS", "read", "read_all"]

FORMATS = ("comtrade", "pqdif", "csv", "npz")
"""Names of the formats that can be read."""

_SUFFIXES = {
    ".cfg": "comtrade",
    ".cff": "comtrade",
    ".dat": "comtrade",
    ".hdr": "comtrade",
    ".inf": "comtrade",
    ".pqd": "pqdif",
    ".pqdif": "pqdif",
    ".npz": "npz",
}
_Reader = Callable[[Path, Options], tuple[list[RawRecording], int]]


def read(
    path: str | Path,
    observation: int | None = None,
    *,
    format: str | None = None,  # noqa: A002
    sampling_rate: float | None = None,
    nominal_frequency: float | None = None,
    columns: Sequence[str | int] | None = None,
    units: str | Mapping[str, str] | None = None,
    time_column: str | int | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Recording:
    r"""Read a recording.

    The format is found from the content and the suffix. Files may come from strangers: what their headers claim is
    checked against their size before memory is taken, and nothing in them is executed or used as a path.

    Parameters
    ----------
    path : str or Path
        COMTRADE (``.cfg``, ``.dat``, ``.hdr`` or ``.inf``: the partners are found beside it; or ``.cff``), PQDIF
        (``.pqd``), a table of text (``.csv``, ``.txt``, ...), or ``.npz``.
    observation : int, optional
        Which one, from 0, if the file holds several (see :func:`read_all`). The default is the longest stretch at the
        high rate for COMTRADE, else the first.
    format : {"comtrade", "pqdif", "csv", "npz"}, optional
        If it should not be found out.
    sampling_rate : float, optional
        Instead of what the file says [Hz].
    nominal_frequency : float, optional
        Instead of what the file says [Hz].
    columns : sequence of str or int, optional
        Names or numbers (from 0) of the channels to take; all by default.
    units : str or mapping of str to str, optional
        Unit of all channels, or by their names, such as ``"kV"``, instead of what the file says.
    time_column : str or int, optional
        Name or number (from 0) of the time column of a table.
    delimiter, decimal : str, optional
        Separator and decimal sign of a table.
    encoding : str, optional
        Of text.
    max_bytes : int
        Limit of the samples of the file at 8 bytes each; files of more than four times this are not opened [byte].

    Returns
    -------
    Recording
        Samples in SI units; its notes say what had to be assumed.

    Raises
    ------
    RecordingError
        If the file cannot be read; the message names the file and the reason.

    Notes
    -----
    Limits, apart from `max_bytes`: 4096 channels; 100 stretches of a COMTRADE file at its high rate; 100 000 characters
    in a line of a table; a packed file (PQDIF, ``.npz``) may unpack to a hundred times its size, and 8 or 64 MB more
    (a `max_bytes` above the default lifts that too).
    Samples beyond 1e15 count as missing.

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
    options = Options(
        sampling_rate, nominal_frequency, columns, units, time_column, delimiter, decimal, encoding, max_bytes
    )
    recordings, best = _read(Path(path), format, options, observation)
    if observation is None:
        return recordings[best]
    return recordings[0]


def read_all(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    sampling_rate: float | None = None,
    nominal_frequency: float | None = None,
    columns: Sequence[str | int] | None = None,
    units: str | Mapping[str, str] | None = None,
    time_column: str | int | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> tuple[Recording, ...]:
    r"""Read all recordings of a file.

    A PQDIF file has one for each observation with waveforms, a COMTRADE file one for each stretch at its high rate,
    a file of RTE's database one for each record; others hold one.

    Parameters
    ----------
    path : str or Path
        As for :func:`read`, like all other parameters.
    format : {"comtrade", "pqdif", "csv", "npz"}, optional
        If it should not be found out.
    sampling_rate, nominal_frequency : float, optional
        Instead of what the file says [Hz].
    columns : sequence of str or int, optional
        Channels to take.
    units : str or mapping of str to str, optional
        Units instead of those of the file.
    time_column : str or int, optional
        Time column of a table.
    delimiter, decimal : str, optional
        Separator and decimal sign of a table.
    encoding : str, optional
        Of text.
    max_bytes : int
        Limit of the samples [byte].

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
    options = Options(
        sampling_rate, nominal_frequency, columns, units, time_column, delimiter, decimal, encoding, max_bytes
    )
    return tuple(_read(Path(path), format, options, None)[0])


def _read(path: Path, format_name: str | None, options: Options, wanted: int | None) -> tuple[list[Recording], int]:
    try:
        reader = _reader(format_name or _find_format(path))
        raws, best = reader(path, options)
        if wanted is not None:
            if not -len(raws) <= wanted < len(raws):
                raise RecordingError(f"holds {len(raws)} recordings: there is no number {wanted} (they count from 0).")
            raws, best = [raws[wanted]], 0
        return _finished(raws, best, options)
    except RecordingError as error:
        raise RecordingError(f"{path} {error}") from error
    except PqswarmError:
        raise
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError, struct.error, zlib.error) as error:
        # The fuzz tests count this as a failure of the reader; a user gets a message and the next file all the same.
        raise RecordingError(f"{path} is damaged in an unforeseen way ({type(error).__name__}: {error}).") from error


def _finished(raws: list[RawRecording], best: int, options: Options) -> tuple[list[Recording], int]:
    """The recordings that are usable; one bad one does not spoil the others."""
    finished: list[Recording] = []
    reasons: list[str] = []
    place = 0
    for n, raw in enumerate(raws):
        if n == best:
            place = len(finished)
        try:
            finished.append(finish(raw, options))
        except RecordingError as error:
            reasons.append(str(error))
    if not finished:
        raise RecordingError(reasons[0])
    return finished, min(place, len(finished) - 1)


def _reader(name: str) -> _Reader:
    """The reader of a format, imported when it is needed."""
    if name == "comtrade":
        from pqswarm.recordings.comtrade import read_comtrade

        return read_comtrade
    if name == "pqdif":
        from pqswarm.recordings.pqdif import read_pqdif

        return read_pqdif
    if name == "npz":
        from pqswarm.recordings.npz import read_npz

        return read_npz
    if name == "csv":
        from pqswarm.recordings.csv import read_csv

        return read_csv
    raise unknown_name("format of recordings", name, FORMATS)


def _find_format(path: Path) -> str:
    """The format by content where it has a signature, else by suffix."""
    suffix = path.suffix.casefold()
    head = _head(path)
    if head.startswith(SIGNATURE):
        return "pqdif"
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    known = _SUFFIXES.get(suffix, "csv")
    if known == "comtrade" and suffix in (".dat", ".hdr", ".inf") and partner(path, ".cfg") is None:
        return "csv" if suffix == ".dat" and b"\0" not in head else "comtrade"
    return known


def _head(path: Path) -> bytes:
    try:
        if not path.is_file():
            read_bytes(path, 0)  # says why not
        with path.open("rb") as file:
            return file.read(64)
    except (OSError, ValueError) as error:
        if isinstance(error, RecordingError):
            raise
        raise RecordingError(f"cannot be read: {error}.") from error
