"""Opens the page in the browser of who started the server."""

import os
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path

__all__ = ["redirect_file"]


@contextmanager
def redirect_file(folder: Path) -> Iterator["Redirect"]:
    """Give what opens an address that has a token in it; its file is removed at the end.

    Parameters
    ----------
    folder : Path
        Where the file lies, for this user alone.
    """
    redirect = Redirect(folder / f"open-{os.getpid()}.html")
    try:
        yield redirect
    finally:
        with suppress(OSError):
            redirect.path.unlink(missing_ok=True)


class Redirect:
    """A file that leads a browser to an address: all users see the command lines of all processes, but not the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, redirect_file(Path(folder)) as redirect:
    ...     redirect.write("http://127.0.0.1:1/?token=a&b")
    ...     redirect.path.read_text().endswith('url=http://127.0.0.1:1/?token=a&amp;b">')
    True
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, address: str) -> None:
        """Write the file."""
        self.path.unlink(missing_ok=True)
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(
                '<!DOCTYPE html>\n<meta charset="utf-8"><meta name="referrer" content="no-referrer">'
                f'<title>pqswarm</title><meta http-equiv="refresh" content="0; url={escape(address)}">'
            )

    def open(self, address: str) -> None:
        """Open an address in the browser; who has none opens what was printed."""
        with suppress(OSError, webbrowser.Error):
            self.write(address)
            webbrowser.open(self.path.absolute().as_uri())
