"""The lock of a study's folder: one process at a time runs a study."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import ENOLCK, ENOSYS
from pathlib import Path

from filelock import FileLock, Timeout

from pqswarm.errors import FileFormatError, PqswarmError

__all__ = ["lock_folder"]


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep other processes from running the study in a folder, which is made if it is not there.

    The lock ends with the process, however that ends.
    """
    path = folder / "study.lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise PqswarmError(f"cannot use {folder} for a study: {path} is not a plain file: move it away.")
        is_new = not path.exists()
        lock = FileLock(path, fallback_to_soft=False)
        lock.acquire(blocking=False)
    except Timeout:
        raise PqswarmError(f"another process is running the study in {folder}: wait until it ends.") from None
    except OSError as error:
        why = error.strerror or str(error)
        if error.errno in (ENOLCK, ENOSYS):
            why = f"its file system cannot lock {path.name} ({why}): use a folder on a local disk"
        raise PqswarmError(f"cannot use {folder} for a study: {why}.") from None
    try:
        yield
    except FileFormatError:  # what lies in the folder is refused, and left as it was
        if is_new:
            with suppress(OSError):
                path.unlink()
        raise
    finally:
        lock.release()
