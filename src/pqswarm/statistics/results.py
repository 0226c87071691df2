"""Read results from CSV: one column per algorithm and one row per run or data set, or one row per run."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

import numpy as np

from pqswarm._base.files import read_regular
from pqswarm._base.text import count_text
from pqswarm._base.typing import FloatArray
from pqswarm.errors import FileFormatError, PqswarmError, unknown_name
from pqswarm.statistics._checks import frozen

_SIZE_LIMIT = 100_000_000  # bytes
# Headings of a first column that holds row names, not results.
_BLOCK_HEADINGS = {"block", "data set", "dataset", "fold", "snr"}
_LABEL_HEADINGS = _BLOCK_HEADINGS | {"", "id", "index", "row", "run", "seed"}


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
        Row names; empty if the file has none.
    blocks : bool
        Whether the results of a row are paired: of one data set or fold.
    left_out : tuple of str
        Algorithms with a single run, if others have several.
    samples : mapping of str to tuple of ndarray
        With `blocks`, the results of the runs of each algorithm in each block; `values` are their means.
    """

    names: tuple[str, ...]
    values: FloatArray
    labels: tuple[str, ...] = ()
    blocks: bool = False
    left_out: tuple[str, ...] = ()
    samples: Mapping[str, tuple[FloatArray, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.values)


def read_results(path: str | Path, *, column: str = "error", classifier: str | None = None) -> Results:
    r"""Read a CSV file of results.

    The first line names the algorithms; each further line holds their results in one run or on one data set. A first
    column without heading, without numbers, or headed ``run``, ``seed``, ``fold``, ``data set``, ``snr``, ``id``,
    ``index``, ``row`` or ``block`` holds row names. Cells are separated by commas, tabs or semicolons; with semicolons
    the decimal separator may be a comma. Empty lines are ignored.

    A file with a column ``algorithm``, such as the ``runs.csv`` of a study, has one line per run. Its results are in
    the column `column`; the column ``run``, if present, numbers the runs. Runs that not all algorithms have are left
    out, as are algorithms with a single run. Columns ``dataset``, ``block``, ``fold`` and ``snr`` say which results
    belong together, whatever the order of the lines: every algorithm then needs a result in each block, and several
    runs in a block count by their mean.

    Parameters
    ----------
    path : str or Path
        File, in UTF-8.
    column : str, default="error"
        Heading of the results in a file with one line per run.
    classifier : str, default=None
        Use only the lines of this classifier; needed if there are several.

    Returns
    -------
    Results
        At least two rows and two algorithms, all values finite.

    Raises
    ------
    PqswarmError
        If the file does not exist or a cell is invalid; the message says which.

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
    file = _ResultFile(Path(path))
    if "algorithm" in file.headings and {"run", column.casefold()} & set(file.headings):
        if column.casefold() not in file.headings:
            raise unknown_name("column of results", column, file.names)
        return _results_by_run(file, column.casefold(), classifier)
    if classifier is not None:
        raise PqswarmError(f"{path} has one column per algorithm: there is no classifier to choose.")
    return _results_by_column(file)


class _ResultFile:
    """The cells of a file: names and headings, which are the names in lower case, and numbered lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.separator, lines = _results_csv_lines(path, _read_results_text(path))
        if not lines:
            raise FileFormatError(f"{path} is empty: its first line must name the algorithms.")
        (_, header), *self.lines = lines
        self.names = [" ".join(name.split()) for name in header]
        self.headings = [name.casefold() for name in self.names]
        for number, cells in self.lines:
            if len(cells) != len(header):
                raise FileFormatError(
                    f"{path}, line {number}: {count_text(len(cells), 'cell')}, but the first line has {len(header)}."
                )

    def result(self, number: int, cells: list[str], place: int, name: str) -> float:
        """The result in a cell of a line, which must be a finite number."""
        value = _result_cell_number(cells[place], self.separator)
        if value is None or not isfinite(value):
            shown = cells[place].strip()[:40]
            fault = f"{shown!r} is not a finite number" if shown else "the cell is empty"
            raise FileFormatError(
                f"{self.path}, line {number}, column {name!r}: {fault}; remove that row, or repeat the failed run."
            )
        return value

    def blocks(self, places: Iterable[int]) -> list[int]:
        """Which of the columns say which results belong together: the data set, if there is one."""
        plain = {i: self.headings[i].replace("_", " ") for i in places}
        blocks = [i for i, heading in plain.items() if heading in _BLOCK_HEADINGS]
        return [i for i in blocks if plain[i] in ("dataset", "data set")] or blocks


def _join_result_cells(cells: Sequence[str], places: Iterable[int]) -> str:
    return ", ".join(cells[i].strip() for i in places)


def _results_by_column(file: _ResultFile) -> Results:
    """The results of a file with one column per algorithm."""
    labels = [i for i, heading in enumerate(file.headings) if heading.replace("_", " ") in _LABEL_HEADINGS - {""}]
    has_no_numbers = bool(file.lines) and all(
        _result_cell_number(cells[0], file.separator) is None for _, cells in file.lines
    )
    if 0 not in labels and (not file.names[0] or has_no_numbers):
        labels.insert(0, 0)
    columns = [i for i in range(len(file.names)) if i not in labels]
    names = [file.names[i] for i in columns]
    _check_result_names(file.path, names)
    n_rows = len(file.lines)
    if n_rows < 2:
        raise FileFormatError(f"{file.path} has {count_text(n_rows, 'row')} of results: at least two are needed.")
    values = np.array([[file.result(number, cells, i, file.names[i]) for i in columns] for number, cells in file.lines])
    grouping = file.blocks(labels)
    if not grouping:
        texts = [_join_result_cells(cells, labels) for _, cells in file.lines] if labels else []
        return Results(tuple(names), frozen(values), tuple(texts))
    blocks: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    for (_, cells), row in zip(file.lines, values.tolist(), strict=True):
        for name, value in zip(names, row, strict=True):
            blocks[name].setdefault(_join_result_cells(cells, grouping), []).append(value)
    return _paired_results(file.path, blocks)


def _result_lines_of_classifier(file: _ResultFile, classifier: str | None) -> list[tuple[int, list[str]]]:
    """The lines of one classifier, which must be given if there are several."""
    if "classifier" not in file.headings:
        return file.lines
    place = file.headings.index("classifier")
    known = list(dict.fromkeys(cells[place].strip() for _, cells in file.lines))
    if classifier is None and len(known) > 1:
        raise PqswarmError(f"{file.path} holds runs with {', '.join(known)}: choose one with --classifier.")
    if classifier is not None and classifier not in known:
        raise unknown_name("classifier", classifier, known)
    return [(number, cells) for number, cells in file.lines if classifier in (None, cells[place].strip())]


def _results_by_run(file: _ResultFile, column: str, classifier: str | None) -> Results:
    """The results of a file with one line per run."""
    labels = [i for i, each in enumerate(file.headings) if each.replace("_", " ") in _BLOCK_HEADINGS | {"run"}]
    grouping = file.blocks(range(len(file.headings)))
    algorithm_place = file.headings.index("algorithm")
    runs: dict[str, dict[str, float]] = {}
    blocks: dict[str, dict[str, list[float]]] = {}
    for number, cells in _result_lines_of_classifier(file, classifier):
        name = cells[algorithm_place].strip()
        results = runs.setdefault(name, {})
        run = _join_result_cells(cells, labels) if labels else str(len(results))
        value = file.result(number, cells, file.headings.index(column), column)
        if run in results:
            what = f"the result of {name!r} in {run!r}" if grouping else f"run {run} of this algorithm"
            raise FileFormatError(f"{file.path}, line {number}: {what} occurs twice.")
        results[run] = value
        blocks.setdefault(name, {}).setdefault(_join_result_cells(cells, grouping), []).append(value)
    return _paired_results(file.path, blocks) if grouping else _results_of_shared_runs(file.path, runs)


def _results_of_shared_runs(path: Path, runs: Mapping[str, Mapping[str, float]]) -> Results:
    """The results by algorithm and run: of the runs that all algorithms have that ran more than once."""
    repeated = {name: results for name, results in runs.items() if len(results) > 1}
    _check_result_letters(path, runs)
    _check_result_names(path, list(repeated))
    shared = [run for run in next(iter(repeated.values())) if all(run in results for results in repeated.values())]
    if len(shared) < 2:
        raise FileFormatError(f"{path} has {count_text(len(shared), 'run')} common to all algorithms: two are needed.")
    values = np.array([[results[run] for results in repeated.values()] for run in shared])
    left_out = tuple(name for name in runs if name not in repeated)
    return Results(tuple(repeated), frozen(values), tuple(shared), left_out=left_out)


def _paired_results(path: Path, blocks: Mapping[str, Mapping[str, Sequence[float]]]) -> Results:
    """The results by algorithm and block, each block with results of every algorithm."""
    _check_result_names(path, list(blocks))
    labels = list(dict.fromkeys(label for results in blocks.values() for label in results))
    for name, results in blocks.items():
        missing = [label for label in labels if label not in results]
        if missing:
            raise FileFormatError(
                f"{path}: {name!r} has no result in {missing[0]!r}, where others have one: every algorithm needs a "
                f"result in each block. Add it, or remove the block."
            )
    if len(labels) < 2:
        raise FileFormatError(f"{path} has results in one block, {labels[0]!r}: at least two are needed.")
    samples = {name: tuple(np.sort(np.array(results[label])) for label in labels) for name, results in blocks.items()}
    values = np.array([[runs.mean() for runs in sample] for sample in samples.values()]).T
    return Results(tuple(blocks), frozen(values), tuple(labels), blocks=True, samples=samples)


def _read_results_text(path: Path) -> str:
    try:
        text = read_regular(path, _SIZE_LIMIT).decode("utf-8-sig")
    except FileNotFoundError:
        raise PqswarmError(f"there is no file {path}.") from None
    except IsADirectoryError:
        raise PqswarmError(f"{path} is a folder: give a CSV file of results.") from None
    except OSError as error:
        raise PqswarmError(f"cannot read {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise FileFormatError(f"{path} is not a text file in UTF-8: save it as CSV in that encoding.")
    return text


def _results_csv_lines(path: Path, text: str) -> tuple[str, list[tuple[int, list[str]]]]:
    """Return the separator, and number and cells of each non-empty line."""
    number = 1
    try:
        first = next((line for line in text.splitlines() if line.strip()), "")
        # The separator that gives the most cells; of equals the one rarest in names.
        separator = max("\t;,", key=lambda one: len(next(csv.reader([first], delimiter=one), [])))
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
        lines = []
        for cells in reader:
            number = reader.line_num
            if any(cell.strip() for cell in cells):
                lines.append((number, cells))
    except csv.Error as error:
        raise FileFormatError(f"{path}, after line {number}: {error}.") from None
    return separator, lines


def _result_cell_number(cell: str, separator: str) -> float | None:
    text = cell.strip()
    if separator == ";" and text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _check_result_names(path: Path, names: Sequence[str]) -> None:
    if len(names) < 2:
        raise FileFormatError(
            f"{path} has {count_text(len(names), 'column')} of results: at least two are needed, one per algorithm, "
            f"or one line per run with the columns algorithm and error."
        )
    if all(_result_cell_number(name, ",") is not None for name in names):
        raise FileFormatError(f"{path}: the first line must name the algorithms, not {names[0]!r}.")
    _check_result_letters(path, names)
    for number, name in enumerate(names, start=1):
        if not name:
            raise FileFormatError(f"{path}: column {number} of the results has no name in the first line.")
        if name in names[: number - 1]:
            raise FileFormatError(f"{path}: the name {name!r} occurs more than once in the first line.")


def _check_result_letters(path: Path, names: Iterable[str]) -> None:
    """Reject names with control characters."""
    for name in names:
        if not name.isprintable():
            raise FileFormatError(f"{path}: the name {name[:40]!r} of an algorithm contains unprintable characters.")
