"""Files from disk: sizes are looked at before memory is taken."""

import os
import stat
from itertools import islice
from pathlib import Path

from pqswarm.recordings.recording import RecordingError

__all__ = ["find_partner", "read_bytes"]

_FOLDER_LIMIT = 100_000  # names looked at in search of a partner file


def read_bytes(path: Path, limit: int, first: int | None = None) -> bytes:
    """Return the content of a regular file of at most `limit` bytes, or its first ones, whatever its size."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait forever
            raise RecordingError("is not a regular file.")
        with path.open("rb") as file:
            if first is not None:
                return file.read(first)
            size = os.fstat(file.fileno()).st_size
            if size > limit:
                raise RecordingError(
                    f"has {size / 1e6:.0f} MB, over the limit of {limit / 1e6:.0f} MB; max_bytes raises it."
                )
            return file.read(size)  # never the limit: that much would be taken at once
    except RecordingError:
        raise
    except FileNotFoundError:
        raise RecordingError("does not exist.") from None
    except OSError as error:
        raise RecordingError(f"cannot be read: {error.strerror or error}.") from error
    except ValueError as error:  # a name with a null byte
        raise RecordingError(f"cannot be read: {error}.") from error


def find_partner(path: Path, suffix: str) -> Path | None:
    """Return the file beside `path` with the same name and that suffix, whatever the case of both."""
    exact = path.with_suffix(suffix)
    if exact.is_file():
        return exact
    wanted = (path.stem.casefold(), suffix.casefold())
    try:
        for other in islice(path.parent.iterdir(), _FOLDER_LIMIT):
            if (other.stem.casefold(), other.suffix.casefold()) == wanted and other.is_file():
                return other
    except OSError:
        pass
    return None
