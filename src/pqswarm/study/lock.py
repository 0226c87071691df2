"""The lock of a study's folder: only one process runs a study."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import ENOLCK, ENOSYS, EOPNOTSUPP
from os import major, minor
from pathlib import Path

from filelock import FileLock, Timeout

from pqswarm._base.files import file_identity
from pqswarm.errors import FileFormatError, PqswarmError

_NAME = "study.lock"
_LOCKS = Path("/proc/locks")


def is_locked(folder: Path) -> bool | None:
    """Return whether a process runs the study in a folder, by the locks that Linux lists; None if unknown."""
    path = folder / _NAME
    try:
        listed = _LOCKS.read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    try:
        status = path.stat()
    except OSError:
        return False
    holders = {words[-4] for line in listed.splitlines() if _names_lock(status.st_ino, words := line.split())}
    if not holders:
        return False
    place = f"{major(status.st_dev):02x}:{minor(status.st_dev):02x}:{status.st_ino}"
    if place in (words[-3] for line in listed.splitlines() if len(words := line.split()) >= 8):
        return True
    return any(_holds_lock(pid, path) for pid in holders)  # some file systems report other device numbers


def _names_lock(inode: int, words: list[str]) -> bool:
    """Whether a line lists a lock, not a waiting process, of the file with this inode."""
    return len(words) >= 8 and "->" not in words and words[-3].rpartition(":")[2] == str(inode)


def _holds_lock(pid: str, path: Path) -> bool:
    """Whether a process of the same user has a file open."""
    wanted = path.resolve()
    with suppress(OSError):
        for link in Path("/proc", pid, "fd").iterdir():
            with suppress(OSError):
                if link.readlink() == wanted:
                    return True
    return False


@contextmanager
def lock_folder(folder: Path) -> Iterator[Callable[[], None]]:
    """Keep other processes from running the study in a folder; yield a function that checks that the lock exists."""
    path = folder / _NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise PqswarmError(f"cannot use {folder} for a study: {path} is not a regular file: move it away.")
        is_new = not path.exists()
        lock = FileLock(path, fallback_to_soft=False)
        lock.acquire(blocking=False)
        held = file_identity(path)
    except Timeout:
        raise PqswarmError(f"another process is running the study in {folder}: wait until it ends.") from None
    except OSError as error:
        why = error.strerror or str(error)
        if error.errno in (ENOLCK, ENOSYS, EOPNOTSUPP):
            why = f"its file system cannot lock {path.name} ({why}): use a folder on a local disk"
        raise PqswarmError(f"cannot use {folder} for a study: {why}.") from None

    def check() -> None:
        if file_identity(path) != held:
            raise PqswarmError(
                f"{path} was removed while the study was running; it keeps other processes out. Results so far are "
                f"kept: run the same command again when no other process is running the study."
            )

    try:
        yield check
    except FileFormatError:  # the content of the folder is rejected, and left unchanged
        if is_new:
            with suppress(OSError):
                path.unlink()
        raise
    finally:
        lock.release()
