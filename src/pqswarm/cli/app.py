"""``pqswarm app``: recordings, studies and events in a browser."""

from pathlib import Path
from typing import Annotated

import typer

from pqswarm.cli.judging import ModelFile, SiteFile
from pqswarm.cli.options import check_no_folder
from pqswarm.errors import PqswarmError

__all__ = ["app"]


def app(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of recordings and studies; nothing is written there.")
    ] = Path(),
    port: Annotated[int, typer.Option(metavar="PORT", help="Port to listen at.", show_default="a free one")] = 0,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Address to listen at; one that other machines reach needs --password."),
    ] = "127.0.0.1",
    password: Annotated[
        str,
        typer.Option(
            metavar="WORD", envvar="PQSWARM_APP_PASSWORD", help="Asked for in the browser.", show_default="none"
        ),
    ] = "",
    model: ModelFile = None,
    site: SiteFile = None,
    corrections: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of corrected verdicts.", show_default="DIR.corrections.jsonl"),
    ] = None,
    max_mb: Annotated[
        float, typer.Option(metavar="MB", help="Largest file that can be dropped on the page, in MB.")
    ] = 500.0,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
) -> None:
    """Show recordings, studies and events in a browser.

    It runs on this machine, until Ctrl-C.

    Example: pqswarm app measurements
    """
    try:
        from pqswarm.app.server import serve
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("tornado"):
            raise
        raise PqswarmError("the page needs Tornado: pip install 'pqswarm[app]', or make app.") from None
    from pqswarm.app.browser import redirect_file
    from pqswarm.app.workbench import Workbench, state_folder
    from pqswarm.identify import corrections_path, load_model, load_site

    if not 0 <= port <= 65535:
        raise PqswarmError(f"--port must be 0 to 65535, not {port}.")
    if not 0 < max_mb < 1e6:
        raise PqswarmError(f"--max-mb must be above 0 and below 1,000,000, not {max_mb:g}.")
    if not folder.is_dir():
        raise PqswarmError(f"{folder} is not a folder.")
    if corrections is not None:
        check_no_folder(corrections, "--corrections the name of a file")
    home = folder.resolve()
    if corrections is None and home == home.parent:
        raise PqswarmError(f"there is nothing beside {home}: give the file of corrected verdicts by --corrections.")
    workbench = Workbench(
        folder=home,
        state=state_folder(home),
        corrections=corrections_path(folder) if corrections is None else corrections.absolute(),
        max_bytes=int(max_mb * 1e6),
        model=None if model is None else load_model(model),
        site=None if site is None else load_site(site),
    )

    with redirect_file(workbench.state) as redirect:

        def ready(address: str) -> None:
            typer.echo(f"pqswarm shows {home} at\n\n    {address}\n\nPress Ctrl-C to stop.")
            if open_browser:
                redirect.open(address)

        serve(workbench, host=host, port=port, password=password, ready=ready)
