"""``pqswarm app``: recordings, studies and events in a browser."""

import os
import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from typing import Annotated

import typer

from pqswarm._base.files import read_regular
from pqswarm.cli.options import ArchiveFolder, ModelFile, SiteFile, argument, check_range, option
from pqswarm.errors import PqswarmError, how_to_install

_PASSWORD = "PQSWARM_APP_PASSWORD"  # noqa: S105 (the name of a variable)


def app(
    folder: Annotated[
        Path,
        argument("DIR", "Folder of recordings and studies; nothing is written there."),
    ] = Path(),
    port: Annotated[int, option("N", "Port to listen on.", show_default="the port used last")] = 0,
    host: Annotated[
        str, option("ADDRESS", "Address to listen on; if other machines can reach it, a password is needed.")
    ] = "127.0.0.1",
    password_file: Annotated[
        Path | None, option("FILE", "File with the password in its first line; else PQSWARM_APP_PASSWORD.")
    ] = None,
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Create a new token; existing links stop working.")
    ] = False,
    model: ModelFile = None,
    site: SiteFile = None,
    archive: ArchiveFolder = None,
    max_mb: Annotated[float, option("MB", "Maximum size of a file dropped on the page, in MB.")] = 500.0,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
) -> None:
    """Show recordings, studies and events in a browser.

    The server runs on this machine until Ctrl-C.

    Example: pqswarm app measurements
    """
    try:
        from pqswarm.app.access import is_loopback
        from pqswarm.app.server import serve
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("tornado"):
            raise
        raise PqswarmError(f"the workbench needs Tornado: {how_to_install('app')}.") from None
    from pqswarm.app.workbench import Workbench, workbench_state_folder
    from pqswarm.identify import load_model, load_site
    from pqswarm.identify.archive.files import default_archive

    check_range("--port", port, 0, 65535)
    check_range("--max-mb", max_mb, 1e-3, 1e6, "MB")
    if not folder.is_dir():
        raise PqswarmError(f"{folder} is not a folder.")
    password = choose_password(password_file, needed=not is_loopback(host))
    home = folder.resolve()
    place = default_archive(folder) if archive is None else archive.absolute()
    workbench = Workbench(
        folder=home,
        state=workbench_state_folder(home),
        archive=place,
        max_bytes=int(max_mb * 1e6),
        model=None if model is None else load_model(model),
        site=None if site is None else load_site(site),
    )

    with browser_opener(workbench.state) as open_address:

        def ready(address: str) -> None:
            typer.echo(f"pqswarm shows {home} (archive: {place}) at\n\n    {address}\n\nPress Ctrl-C to stop.")
            if not is_loopback(host):
                typer.echo("The connection is not encrypted: outside a trusted network use a TLS proxy or SSH.")
            if open_browser:
                open_address(address)

        serve(workbench, host=host, port=port, password=password, new_token=new_token, ready=ready)


def choose_password(path: Path | None, *, needed: bool) -> str:
    """Return the password of the file or the variable, or ask a person for a necessary one; never a command line's."""
    if path is None:
        given = os.environ.get(_PASSWORD, "")
        return (
            typer.prompt("Password for the browser", hide_input=True)
            if needed and not given and sys.stdin.isatty()
            else given
        )
    try:
        given = read_regular(path, 10_000).decode("utf-8").partition("\n")[0].removesuffix("\r")
    except (OSError, UnicodeError) as error:
        raise PqswarmError(f"--password-file {path} cannot be read: {error}.") from error
    if not given:
        raise PqswarmError(f"--password-file {path} has no password in its first line.")
    return given


@contextmanager
def browser_opener(folder: Path) -> Iterator[Callable[[str], None]]:
    """Yield a function that opens an address in the browser without showing it on a command line.

    The command lines of all processes are visible to all users, so the browser is given a file in `folder` that
    redirects to the address with the token. Only this user can read the file; it is removed at the end.
    """
    path = folder / f"open-{os.getpid()}.html"

    def open_address(address: str) -> None:
        with suppress(OSError, webbrowser.Error):  # without a browser, the printed address is enough
            path.unlink(missing_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write(
                    '<!DOCTYPE html>\n<meta charset="utf-8"><meta name="referrer" content="no-referrer">'
                    f'<title>pqswarm</title><meta http-equiv="refresh" content="0; url={escape(address)}">'
                )
            webbrowser.open(path.absolute().as_uri())

    try:
        yield open_address
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
