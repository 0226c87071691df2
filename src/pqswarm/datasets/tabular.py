"""Read your own data from CSV and npz files. Files are untrusted: everything is checked."""

import array as packed
import csv
import io
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pqswarm._base.array_file import DAMAGE, damage_text, read_npy
from pqswarm._base.files import read_regular
from pqswarm._base.typing import AnyArray
from pqswarm.datasets.samples import (
    MISSING,
    Samples,
    assemble_samples,
    check_sample_column_names,
    sample_cell_value,
    sample_label_column,
)
from pqswarm.errors import FileFormatError, PqswarmError, unknown_name

_LARGEST_FILE = 500_000_000  # bytes
_MAX_VALUES = 100_000_000
_LONGEST_LIST = 100_000_000  # bytes of names
_ARRAYS = ("X", "y", "feature_names", "class_names")
_DELIMITERS = ",;\t"


def read_samples(
    path: str | Path, label: str | None = None, *, ignore: Sequence[str] = (), drop_missing: bool = False
) -> Samples:
    r"""Read your own data: a CSV file with a header, or an npz file.

    Parameters
    ----------
    path : str or Path
        A CSV file, separated by commas, semicolons or tabs, has a row of names, then a row of numbers for each sample,
        with a label in one column; with semicolons or tabs, decimal commas are read too. An npz file has the arrays X,
        of shape (n_samples, n_features), and y; optional are feature_names, and class_names, in which y then holds
        positions. Nothing is unpickled.
    label : str, optional
        The label column of a CSV file; by default the one called label, class or target, else the last.
    ignore : sequence of str
        Columns of a CSV file to leave out, such as an identifier.
    drop_missing : bool
        Whether to leave out rows of a CSV file with missing values; otherwise these are an error.

    Returns
    -------
    Samples
        Checked: no missing or infinite values, at least two classes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flowers.csv"
    ...     _ = path.write_text("length,width,species\n5.1,3.5,setosa\n7.0,3.2,versicolor\n")
    ...     read_samples(path)
    <Samples: 2 samples of 2 classes, 2 features>
    """
    path = Path(path)
    try:
        content = read_regular(path, _LARGEST_FILE)
    except FileNotFoundError:
        raise PqswarmError(f"there is no data file {path}: check its name and folder.") from None
    except OSError as error:
        raise PqswarmError(f"cannot read {path}: {error.strerror or error}.") from None
    if content.startswith(b"PK") or path.suffix.lower() == ".npz":
        if label is not None or ignore or drop_missing:
            raise PqswarmError(f"{path} has arrays, not columns: leave label, ignore and drop_missing out.")
        return _read_npz(content, str(path))
    return _read_csv(content, str(path), label, ignore, drop_missing)


def _read_csv(content: bytes, source: str, label: str | None, ignore: Sequence[str], drop_missing: bool) -> Samples:
    text = _csv_text(content, source)
    delimiter = max(_DELIMITERS, key=text.split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    # Not lists of Python numbers, which take four times the memory.
    numbers = packed.array("d")
    labels = []
    lines = packed.array("q")
    try:
        names = [name.strip() for name in next(reader, [])]
        place, columns = _csv_columns(names, source, label, ignore)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            line = reader.line_num
            if len(cells) != len(names):
                raise PqswarmError(
                    f"{source}, line {line}: there are {len(cells)} cells, but {len(names)} columns in the header."
                )
            if drop_missing and any(cells[i].strip().lower() in MISSING for i in (place, *columns)):
                continue
            labels.append(cells[place].strip())
            lines.append(line)
            numbers.extend([_cell_number(cells[i], delimiter, f"{source}, line {line}", names[i]) for i in columns])
            if len(lines) * len(names) > _MAX_VALUES:
                raise PqswarmError(f"{source} has more than {_MAX_VALUES} values, more than is read.")
    except csv.Error as error:
        raise PqswarmError(f"{source}, line {reader.line_num}: this is not CSV: {error}.") from None
    if not lines:
        raise PqswarmError(f"{source} has a header but no {'complete ' if drop_missing else ''}rows.")
    kept = [names[i] for i in columns]
    features = np.frombuffer(numbers).reshape(len(lines), len(kept))
    return assemble_samples(features, labels, kept, source, lambda i: f"line {lines[i]}, column {names[place]!r}")


def _csv_text(content: bytes, source: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PqswarmError(f"{source}, line {line}: this is not UTF-8 text: save it as CSV in UTF-8.") from None
    if "\0" in text:
        raise FileFormatError(f"{source} is not a CSV file: it holds binary data.")
    return text


def _csv_columns(names: list[str], source: str, label: str | None, ignore: Sequence[str]) -> tuple[int, list[int]]:
    """Places of the label and of the features."""
    if len(names) < 2:
        raise PqswarmError(f"{source} needs a header with the names of at least two columns, features and a label.")
    check_sample_column_names(names, source)
    for name in ignore:
        if name not in names:
            raise unknown_name(f"column to ignore in {source}", name, names)
    place = names.index(sample_label_column([name for name in names if name not in ignore], label, source))
    columns = [i for i, name in enumerate(names) if i != place and name not in ignore]
    if not columns:
        raise PqswarmError(f"{source} has only the label column and no features.")
    return place, columns


def _cell_number(cell: str, delimiter: str, where: str, column: str) -> float:
    try:
        return sample_cell_value(cell.replace(",", ".") if delimiter != "," and "." not in cell else cell)
    except PqswarmError as error:
        raise PqswarmError(f"{where}, column {column!r}: {error}") from None


def _read_npz(content: bytes, source: str) -> Samples:
    arrays = _known_tabular_arrays(content, source)
    _check_tabular_code_points(arrays, source)
    for name in ("X", "y"):
        if name not in arrays:
            raise PqswarmError(f"{source} has no array {name!r}: it must hold X, the features, and y, the labels.")
    X = arrays["X"]
    y = arrays["y"]
    if "feature_names" in arrays and X.ndim == 2 and len(arrays["feature_names"]) != X.shape[1]:
        count = len(arrays["feature_names"])
        raise PqswarmError(f"{source}: feature_names has {count} names for {X.shape[1]} columns of X.")
    named = {name: _tabular_texts(arrays[name], name, source) for name in _ARRAYS[2:] if name in arrays}
    if X.dtype.kind not in "fiub":
        raise PqswarmError(f"{source}: X must hold numbers, not text.")
    classes = named.get("class_names")
    if classes is not None:
        if y.dtype.kind not in "iu" or (y.size and not (y.min() >= 0 and y.max() < len(classes))):
            raise PqswarmError(f"{source}: y must hold positions in class_names, 0 to {len(classes) - 1}.")
        y = np.array(classes)[y.astype(np.int64)]
    if y.dtype.kind == "S":
        y = np.char.decode(y, "utf-8", "replace")
    names = named.get("feature_names")
    samples = Samples.of(X, y, source=source)
    if names is None:
        return samples
    check_sample_column_names(names, source)
    return Samples(samples.features, samples.y, samples.class_names, tuple(names))


def _check_tabular_code_points(arrays: dict[str, AnyArray], source: str) -> None:
    """Refuse code points that do not exist, from which Python cannot make a string."""
    for name, array in arrays.items():
        if array.dtype.kind == "U":
            letters = np.ascontiguousarray(array).reshape(-1).view(f"{array.dtype.str[0]}u4")
            if letters.max(initial=0) > sys.maxunicode:
                raise FileFormatError(f"{source} is damaged: {name!r} holds characters that do not exist.")


def _tabular_texts(array: AnyArray, name: str, source: str) -> list[str]:
    if array.ndim != 1 or array.dtype.kind != "U":
        raise PqswarmError(f"{source}: {name} must be a list of texts.")
    if array.nbytes > _LONGEST_LIST:
        raise PqswarmError(f"{source}: {name} has more than {_LONGEST_LIST // 10**6} MB, more than is read.")
    return [str(text) for text in array]


def _known_tabular_arrays(content: bytes, source: str) -> dict[str, AnyArray]:
    """The known arrays of an archive; sizes are checked before anything is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            unknown = next((name for name in members if name not in _ARRAYS), None)
            if unknown is not None:
                raise PqswarmError(f"{source}: {unknown_name('array', unknown[:100], _ARRAYS)}")
            # Deflate compresses 1 : 1032 at most, so a larger claim is false.
            total = sum(info.file_size for info in members.values())
            if total > min(8 * _MAX_VALUES, 1032 * len(content) + 1000):
                raise FileFormatError(f"{source} claims to hold {total} bytes, more than is read.")
            arrays = {name: read_npy(archive.read(info), name) for name, info in members.items()}
            if any(array.size > _MAX_VALUES for array in arrays.values()):
                raise FileFormatError(f"{source} has more than {_MAX_VALUES} values, more than is read.")
            return arrays
    except FileFormatError as error:
        message = str(error)
        remedy = (
            " Labels of Python objects are saved as text: y.astype(str)." if "plain numbers or text" in message else ""
        )
        raise FileFormatError(message if message.startswith(source) else f"{source} {message}{remedy}") from None
    except PqswarmError:
        raise
    except DAMAGE as error:
        raise FileFormatError(f"{source} is damaged, or is not an npz file: {damage_text(error)}.") from None
