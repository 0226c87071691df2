"""Files from disk: sizes are looked at before memory is taken."""

import os
import stat
from pathlib import Path

from pqswarm.recordings.recording import RecordingError

__all__ = ["find_partner", "read_bytes"]

_FOLDER_LIMIT = 100_000  # names looked at in search of a partner file


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the content of a regular file of at most `limit` bytes."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait forever
            raise RecordingError("is not a regular file.")
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size > limit:
                raise RecordingError(
                    f"has {status.st_size / 1e6:.0f} MB, over the limit of {limit / 1e6:.0f} MB; max_bytes raises it."
                )
            return file.read(status.st_size)  # never the limit: that much would be taken at once
    except FileNotFoundError:
        raise RecordingError("does not exist.") from None
    except OSError as error:
        raise RecordingError(f"cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        if isinstance(error, RecordingError):
            raise
        # a name with a null byte
        raise RecordingError(f"cannot be read: {error}.") from error


def find_partner(path: Path, suffix: str) -> Path | None:
    """Return the file beside `path` with the same name and that suffix, whatever the case of both."""
    exact = path.with_suffix(suffix)
    if exact.is_file():
        return exact
    wanted = (path.stem.casefold(), suffix.casefold())
    try:
        for n, other in enumerate(path.parent.iterdir()):
            if (other.stem.casefold(), other.suffix.casefold()) == wanted and other.is_file():
                return other
            if n > _FOLDER_LIMIT:
                break
    except OSError:
        return None
    return None
