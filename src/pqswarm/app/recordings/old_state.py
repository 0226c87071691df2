"""What is kept for nobody any more: uploads of browsers that did not return, and verdicts that nobody looked at."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["remove_old", "touch"]

_DAYS = 30
"""After so many days without use, uploads and verdicts are removed."""
_DAY = 86_400.0


def touch(path: Path) -> None:
    """Note that a file or folder is used; once a day is enough."""
    with suppress(OSError):
        if time.time() - path.stat().st_mtime > _DAY:
            os.utime(path)


def remove_old(state: Path) -> None:
    """Remove uploads of visitors, and verdicts, that were not used for 30 days.

    Parameters
    ----------
    state : Path
        Where the server keeps them.
    """
    for kind in ("uploads", "verdicts"):
        with suppress(OSError):
            for path in sorted((state / kind).iterdir()):
                with suppress(OSError):
                    if time.time() - path.lstat().st_mtime < _DAYS * _DAY or path.is_symlink():
                        continue
                    if path.is_dir() and not path.name.startswith("."):
                        shutil.rmtree(path)
                    elif path.is_file():
                        path.unlink()
