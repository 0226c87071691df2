"""``pqswarm archive``: query, export and check an archive."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from pqswarm._base.text import count_text, file_text
from pqswarm.cli.options import ANALYSIS_OPTIONS, Overwrite, argument, check_ending, check_range, check_writable, option
from pqswarm.cli.terminal import Command, CommandGroup, echo, name_options
from pqswarm.errors import PqswarmError, unknown_name

_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
_DECIMALS = {"point": ".", "comma": ","}

app = typer.Typer(
    cls=CommandGroup, rich_markup_mode=None, no_args_is_help=True, help="Query, export and check an archive."
)
Folder = Annotated[Path, argument("DIR", "Folder of the archive.")]
Separator = Annotated[str, option("NAME", "Separator of CSV: comma, semicolon or tab.")]
Decimal = Annotated[str, option("NAME", "Decimal mark of CSV: point or comma.")]


@app.command(cls=Command)
def query(
    folder: Folder,
    statement: Annotated[str, argument("SQL", "A statement that reads; see what there is with: SELECT * FROM rows.")],
    separator: Separator = "comma",
    decimal: Decimal = "point",
    seconds: Annotated[float, option("N", "Time in seconds after which the query is stopped.")] = 60.0,
) -> None:
    """Run a query in SQL and print its rows as CSV; nothing is written.

    Example: pqswarm archive query june.archive "SELECT station, date, type, magnitude, cause FROM rows"
    """
    import csv

    from pqswarm.identify import Archive
    from pqswarm.identify.archive.export import export_query, export_table_cell

    mark, sign = _read_csv_format(separator, decimal)
    check_range("--seconds", seconds, 1e-3, 1e6)
    with Archive(folder, read_only=True) as archive:
        writer = csv.writer(sys.stdout, delimiter=mark, lineterminator="\n")
        for row in export_query(archive, statement, seconds):
            writer.writerow([export_table_cell(value, sign) for value in row])


@app.command(cls=Command)
def export(
    folder: Folder,
    out: Annotated[Path, option("FILE", "File to write: .csv or .parquet.", "--out", "-o")] = Path("events.csv"),
    separator: Separator = "comma",
    decimal: Decimal = "point",
    overwrite: Overwrite = False,
) -> None:
    """Write all events with their corrections to a table.

    Example: pqswarm archive export june.archive --out events.csv --separator semicolon --decimal comma
    """
    from pqswarm.identify import Archive
    from pqswarm.identify.archive.export import export_archive

    mark, sign = _read_csv_format(separator, decimal)
    check_ending("--out", out, [".csv", ".parquet"])
    check_writable(out, overwrite)
    with Archive(folder, read_only=True) as archive:
        count = export_archive(archive, out, mark, sign)
    echo(f"wrote {file_text(out)}: {count_text(count, 'event')}")


@app.command(cls=Command)
def check(folder: Folder) -> None:
    """Check an archive: damage, missing files, failures, rejected events.

    All rows are compared with their digests and with each other. It cannot see whether recordings on disk have changed,
    nor the claims of processes that are analyzing.

    The exit code is 1 if the archive itself is damaged, 2 if it cannot be read.

    Example: pqswarm archive check june.archive
    """
    from pqswarm.identify import Archive
    from pqswarm.identify.archive.export import check_archive

    with Archive(folder, read_only=True) as archive:
        counts = archive.counts()
        problems = list(check_archive(archive))
    for is_damage, text in problems:
        echo(f"{'damage: ' if is_damage else ''}{name_options(text, ANALYSIS_OPTIONS)}")
    sizes = ", ".join(count_text(counts[f"{noun}s"], noun) for noun in ("file", "recording", "event"))
    echo(f"{file_text(folder)}: {sizes}; {counts['waiting']} waiting, {counts['failed']} failed")
    if any(is_damage for is_damage, _ in problems):
        raise typer.Exit(1)


def _read_csv_format(separator: str, decimal: str) -> tuple[str, str]:
    for name, given, known in (("--separator", separator, _SEPARATORS), ("--decimal", decimal, _DECIMALS)):
        if given not in known:
            raise unknown_name(name, given, known)
    if _SEPARATORS[separator] == _DECIMALS[decimal]:
        raise PqswarmError("--separator and --decimal are both a comma: choose --separator semicolon.")
    return _SEPARATORS[separator], _DECIMALS[decimal]
