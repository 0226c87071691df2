"""Results of others: a CSV file with one column per algorithm and one row per run or data set."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from pqswarm._typing import FloatArray
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.statistics._checks import frozen

__all__ = ["Results", "read_results"]

_SIZE_LIMIT = 100_000_000  # bytes
# Numbers below these headings are no results, in the first column.
_LABEL_HEADINGS = {"", "block", "data set", "dataset", "fold", "id", "index", "row", "run", "seed", "snr"}


@dataclass(frozen=True, eq=False)
class Results:
    """Results of several algorithms on the same runs or data sets.

    Attributes
    ----------
    names : tuple of str
        Names of the algorithms.
    values : ndarray of shape (n_blocks, n_algorithms)
        Results.
    labels : tuple of str
        Names of the rows; empty if the file has none.
    """

    names: tuple[str, ...]
    values: FloatArray
    labels: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)


def read_results(path: str | Path) -> Results:
    r"""Read a CSV file of results.

    The first line holds the names of the algorithms; each further line the result of each of them in one run or on
    one data set. A first column that has no heading, holds no numbers, or is headed ``run``, ``seed``, ``fold``,
    ``data set``, ``snr``, ``id``, ``index``, ``row`` or ``block`` holds names of the rows. Cells are separated by
    commas, tabs or semicolons; with semicolons the decimal sign may be a comma. Empty lines are passed over.

    Parameters
    ----------
    path : str or Path
        File, in UTF-8.

    Returns
    -------
    Results
        At least two rows and two algorithms, all numbers finite.

    Raises
    ------
    PqswarmError
        If there is no such file, or a cell cannot be used; the message says which.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "errors.csv")
    ...     _ = file.write_text("run,GA,BPSO\n1,0.051,0.044\n2,0.055,0.047\n")
    ...     results = read_results(file)
    >>> results.names, results.values.tolist(), results.labels
    (('GA', 'BPSO'), [[0.051, 0.044], [0.055, 0.047]], ('1', '2'))
    """
    path = Path(path)
    separator, lines = _lines(path, _text(path))
    if not lines:
        raise FileFormatError(f"{path} is empty: its first line must name the algorithms.")
    (_, header), *body = lines
    names = [" ".join(name.split()) for name in header]
    for number, cells in body:
        if len(cells) != len(names):
            raise FileFormatError(
                f"{path}, line {number}: {_count(len(cells), 'cell')}, but the first line has {len(names)}."
            )
    labelled = names[0].casefold().replace("_", " ") in _LABEL_HEADINGS or (
        bool(body) and all(_number(cells[0], separator) is None for _, cells in body)
    )
    first = 1 if labelled else 0
    _check_names(path, names[first:])
    if len(body) < 2:
        raise FileFormatError(f"{path} has {_count(len(body), 'row')} of results: at least two are needed.")
    values = np.empty((len(body), len(names) - first))
    for row, (number, cells) in enumerate(body):
        for column in range(first, len(names)):
            value = _number(cells[column], separator)
            if value is None or not isfinite(value):
                raise FileFormatError(
                    f"{path}, line {number}, column {names[column]!r}: {_fault(cells[column], value)}."
                )
            values[row, column - first] = value
    return Results(
        tuple(names[first:]), frozen(values), tuple(cells[0].strip() for _, cells in body) if labelled else ()
    )


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_SIZE_LIMIT + 1)
    except FileNotFoundError:
        raise PqswarmError(f"there is no file {path}.") from None
    except IsADirectoryError:
        raise PqswarmError(f"{path} is a folder: give a CSV file of results.") from None
    except OSError as error:
        raise PqswarmError(f"cannot read {path}: {error.strerror or error}.") from error
    if len(content) > _SIZE_LIMIT:
        raise FileFormatError(f"{path} is larger than {_SIZE_LIMIT // 1_000_000} MB: is it a CSV file of results?")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise FileFormatError(f"{path} is not a text file in UTF-8: save it as CSV in that encoding.")
    return text


def _lines(path: Path, text: str) -> tuple[str, list[tuple[int, list[str]]]]:
    """Return the separator, and the number and the cells of each line that is not empty."""
    number = 1
    try:
        separator = _separator(next((line for line in text.splitlines() if line.strip()), ""))
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
        lines = []
        for cells in reader:
            number = reader.line_num
            if any(cell.strip() for cell in cells):
                lines.append((number, cells))
    except csv.Error as error:
        raise FileFormatError(f"{path}, after line {number}: {error}.") from None
    return separator, lines


def _separator(line: str) -> str:
    """Return what cuts the line into most cells; of equals what is rarest in names."""
    return max("\t;,", key=lambda separator: len(next(csv.reader([line], delimiter=separator), [])))


def _number(cell: str, separator: str) -> float | None:
    text = cell.strip()
    if separator == ";" and text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _check_names(path: Path, names: Sequence[str]) -> None:
    if len(names) < 2:
        raise FileFormatError(
            f"{path} has {_count(len(names), 'column')} of results: at least two are needed, separated by commas, tabs "
            f"or semicolons."
        )
    if all(_number(name, ",") is not None for name in names):
        raise FileFormatError(f"{path}: the first line must name the algorithms, not {names[0]!r}.")
    for number, name in enumerate(names, start=1):
        if not name:
            raise FileFormatError(f"{path}: column {number} of the results has no name in the first line.")
        if not name.isprintable():
            raise FileFormatError(f"{path}: the name {name[:40]!r} in the first line has characters without a shape.")
        if name in names[: number - 1]:
            raise FileFormatError(f"{path}: the name {name!r} is there more than once in the first line.")


def _fault(cell: str, value: float | None) -> str:
    if not cell.strip():
        return "the cell is empty; leave that row out, or repeat the run that failed"
    shown = cell.strip()[:40]
    return f"{shown!r} is not a number" if value is None else f"{shown!r} is not a finite number; leave that row out"


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
