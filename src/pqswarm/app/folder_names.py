"""Texts for the page do not tell where on this machine the folders are."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["FolderNames"]


class FolderNames:
    """Takes the names of some folders out of texts, where a path begins; a file system's root is left alone.

    Parameters
    ----------
    folders : iterable of Path
        Whose names are not told; what a path has after one of them stays.

    Examples
    --------
    >>> names = FolderNames([Path("/"), Path("/data")])
    >>> names.hide("/data/day/sag.cfg: http://example.org/data/ says 3 V//m, not /d/x")
    'day/sag.cfg: http://example.org/data/ says 3 V//m, not /d/x'
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        given = [path for path in folders if path.is_absolute()]
        names = {str(path) + os.sep for path in (*given, *(path.resolve() for path in given)) if path != path.parent}
        longest_first = sorted(names, key=lambda name: (-len(name), name))
        self._begin = re.compile(rf"(?<![\w./\\-])(?:{'|'.join(map(re.escape, longest_first))})" if names else "(?!)")

    def hide(self, text: str) -> str:
        """Return a text without them."""
        return self._begin.sub("", text)
