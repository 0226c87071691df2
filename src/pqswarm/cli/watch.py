"""``pqswarm watch``: analyze each new recording of a folder once."""

import hashlib
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqswarm._base.text import count_text, file_text
from pqswarm.cli.options import (
    ANALYSIS_OPTIONS,
    ArchiveFolder,
    Channels,
    Frequency,
    MaxMegabytes,
    ModelFile,
    Nominal,
    Rate,
    ReferenceChoice,
    SiteFile,
    States,
    Stopped,
    argument,
    check_range,
    option,
    read_analysis_options,
)
from pqswarm.cli.terminal import name_options
from pqswarm.errors import PqswarmError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pqswarm.identify.folder.watch import Receiver


def watch(
    folder: Annotated[Path, argument("DIR", "Folder to watch, including subfolders.")],
    webhook: Annotated[str | None, option("URL", "Post each event as JSON to this address.")] = None,
    local_webhook: Annotated[
        bool, typer.Option("--local-webhook", help="Allow a webhook on this machine or in a private network.")
    ] = False,
    jsonl: Annotated[Path | None, option("FILE", "Append a line of JSON per event.", dir_okay=False)] = None,
    once: Annotated[bool, typer.Option("--once", help="Process existing files and exit (for cron).")] = False,
    interval: Annotated[float, option("SECONDS", "Time between two scans of the folder.")] = 5.0,
    settle: Annotated[float, option("SECONDS", "Time without changes after which a file is analyzed.")] = 2.0,
    timeout: Annotated[float, option("SECONDS", "Timeout of one post to the webhook.")] = 10.0,
    archive: ArchiveFolder = None,
    site: SiteFile = None,
    nominal: Nominal = None,
    reference: ReferenceChoice = None,
    channel: Channels = None,
    state: States = None,
    model: ModelFile = None,
    rate: Rate = None,
    frequency: Frequency = None,
    max_mb: MaxMegabytes = None,
) -> None:
    """Watch a folder and analyze each new recording once.

    Each event is printed or delivered as a line of JSON. An archive holds the analyzed files and their events, also
    for `pqswarm app`. Stop the command at any time and rerun it to resume: no event is lost or duplicated.

    Example: pqswarm watch incoming --site north.toml --jsonl events.jsonl
    """
    from filelock import FileLock, Timeout

    from pqswarm.identify import Archive
    from pqswarm.identify.archive.analyzer import ArchiveAnalyzer
    from pqswarm.identify.archive.files import default_archive
    from pqswarm.identify.folder.watch import Watcher

    if not folder.is_dir():
        raise PqswarmError(f"{folder} is not a folder.")
    check_range("--interval", interval, 0.01, 1e6, "seconds")
    check_range("--settle", settle, 0.0, 1e6, "seconds")
    check_range("--timeout", timeout, 0.1, 1e6, "seconds")
    receivers = _watch_receivers(webhook, jsonl, timeout, local_webhook)
    options = read_analysis_options(site, model, channel, state, reference, nominal, rate, frequency, max_mb)
    home = default_archive(folder) if archive is None else archive
    place = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    try:
        with Archive(home) as book, FileLock(book.folder / f"watch-{place}.lock", 0, fallback_to_soft=False):
            watcher = Watcher(
                folder,
                book,
                lambda path: ArchiveAnalyzer(options, book.sites()).analyze(path),  # a site may be edited meanwhile
                receivers,
                settle=settle,
                say=_print_watch_message,
            )
            with _stop_watching_on_sigterm():
                try:
                    if not once:
                        watcher.run(interval)
                    delivered = watcher.run_once()
                except KeyboardInterrupt:
                    analyzed = count_text(watcher.n_analyzed, "file")
                    state_text = f"stopped; {analyzed} analyzed, the archive {file_text(home)} is complete"
                    if once:
                        raise Stopped(f"{state_text}, but not all files were seen: the next run resumes.") from None
                    _print_watch_message(f"{state_text}.")
                    return
    except Timeout:
        raise PqswarmError(
            f"another process watches {folder} with the archive {home}: stop it, or omit this."
        ) from None
    except OSError as error:
        raise PqswarmError(
            f"cannot watch with the archive {home}: {os.fsdecode(error.filename or folder)}: {error.strerror or error}."
        ) from error
    if not delivered:
        _print_watch_message("some files could not be analyzed, or some events not delivered: the next run retries.")
        raise typer.Exit(1)


def _print_watch_message(text: str) -> None:
    typer.echo(f"pqswarm: {name_options(text, ANALYSIS_OPTIONS)}", err=True)


def _watch_receivers(webhook: str | None, jsonl: Path | None, timeout: float, is_local: bool) -> "list[Receiver]":
    """The requested receivers, or the standard output."""
    from pqswarm.identify.folder.watch import JsonLines, StreamReceiver, Webhook

    receivers: list[Receiver] = []
    if webhook is not None:
        receivers.append(Webhook(webhook, timeout, is_local=is_local))
    if jsonl is not None:
        receivers.append(JsonLines(jsonl))
    return receivers or [StreamReceiver(sys.stdout)]


@contextmanager
def _stop_watching_on_sigterm() -> "Iterator[None]":
    """Treat SIGTERM as Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
