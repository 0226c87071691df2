"""Your own data: a row of features and a label for each sample, of any field; from memory, CSV or npz.

Files are untrusted: everything is checked.
"""

import array as packed
import csv
import hashlib
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from pqswarm._base.array_file import DAMAGE, damage_text, read_npy, write_arrays
from pqswarm._base.checks import check_name
from pqswarm._base.files import read_regular, write_atomically
from pqswarm._base.random import checked_seed, stream
from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.errors import FileFormatError, PqswarmError, unknown_name

_LABELS = ("label", "class", "target")  # recognized names of the label column
_LARGEST = 1e100  # of a feature; sums of squares stay far from overflow
_MAX_CLASSES = 1000
_LONGEST = 200  # characters of a name
_AT_ONCE = 65536  # labels
MISSING = ("", "na", "n/a", "nan", "none", "null", "?", "-", "<na>")


@dataclass(frozen=True, eq=False)
class Samples:
    """Your own features and labels; see :meth:`of` and :func:`pqswarm.datasets.read_samples`.

    Attributes
    ----------
    features : ndarray of shape (n_samples, n_features)
        The features, finite numbers.
    y : ndarray of shape (n_samples,)
        Labels: positions in `class_names`.
    class_names, feature_names : tuple of str
        Names of classes and columns. Classes are sorted, as numbers if all are numbers.
    """

    features: FloatArray
    y: IntArray
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]

    def __len__(self) -> int:
        return self.y.size

    def __repr__(self) -> str:
        return f"<Samples: {len(self)} samples of {len(self.class_names)} classes, {len(self.feature_names)} features>"

    @classmethod
    def of(cls, data: Any, y: Any = None, *, label: str | None = None, source: str = "the data") -> "Samples":
        """Create samples from a pandas frame, or from a matrix and labels.

        Parameters
        ----------
        data : Samples, DataFrame, (X, y) or array_like of shape (n_samples, n_features)
            A frame has the labels in one of its columns, unless `y` is given. Features are named after the columns, or
            x0, x1, ... for a matrix.
        y : array_like of shape (n_samples,), default=None
            Labels: text, integers or booleans.
        label : str, default=None
            The label column; by default the one called label, class or target, else the last.
        source : str, default="the data"
            Name of the data in messages.

        Returns
        -------
        Samples
            Checked: no missing or infinite values, at least two classes.

        Examples
        --------
        >>> Samples.of([[1.0, 2.0], [1.5, 0.0], [3.0, 1.0]], ["red", "blue", "red"])
        <Samples: 3 samples of 2 classes, 2 features>
        """
        if isinstance(data, Samples):
            return data
        if isinstance(data, tuple | list) and y is None and len(data) == 2:
            data, y = data
        names = [str(name) for name in data.columns] if hasattr(data, "columns") else None
        if names is None:
            if y is None:
                raise PqswarmError(f"{source} has no labels: give a frame, or X and y.")
            return _samples_from_matrix(data, y, None, source)
        check_sample_column_names(names, source)
        columns = dict(zip(data.columns, names, strict=True))
        if y is None:
            chosen = sample_label_column(names, label, source)
            y = np.asarray(next(data[key] for key, name in columns.items() if name == chosen))
            columns = {key: name for key, name in columns.items() if name != chosen}
        if not columns:
            raise PqswarmError(f"{source} has only the label column and no features.")
        cells = np.empty((len(data), len(columns)), dtype=object)
        for i, key in enumerate(columns):
            cells[:, i] = np.asarray(data[key])
        return _samples_from_matrix(cells, y, tuple(columns.values()), source)

    def X(self, snr: float = inf) -> FloatArray:
        """Return the features; the only noise level is infinity [dB]."""
        if snr != inf:
            raise PqswarmError(f"your own samples have no noise level {snr!r} dB.")
        return self.features

    @cached_property
    def digest(self) -> str:
        """A digest of all features, labels and names."""
        digest = hashlib.sha256(repr((self.features.shape, self.class_names, self.feature_names)).encode())
        digest.update(np.ascontiguousarray(self.features, dtype="<f8").tobytes())
        digest.update(np.ascontiguousarray(self.y, dtype="<i8").tobytes())
        return digest.hexdigest()

    def split(self, fraction: float, seed: int) -> tuple["Samples", "Samples"]:
        """Split at random; the second part holds that fraction of each class, at least one sample.

        Examples
        --------
        >>> both = Samples.of(np.arange(20.0).reshape(-1, 1), [0] * 12 + [1] * 8).split(0.25, seed=0)
        >>> [np.bincount(part.y).tolist() for part in both]
        [[9, 6], [3, 2]]
        """
        generator = stream(checked_seed(seed), (1,))
        aside = np.zeros(len(self), dtype=np.bool_)
        for number in range(len(self.class_names)):
            mine = generator.permutation(np.flatnonzero(self.y == number))
            aside[mine[: max(1, round(fraction * mine.size))]] = True
        return self._part(~aside), self._part(aside)

    def _part(self, rows: AnyArray) -> "Samples":
        return Samples(self.features[rows], self.y[rows], self.class_names, self.feature_names)

    def arranged_like(self, other: "Samples", source: str) -> "Samples":
        """Return these samples with the columns and classes of another set, or raise an error if they do not match."""
        for mismatch, names, known, verb in (
            ("lacks the column", other.feature_names, self.feature_names, "have"),
            ("has the class", self.class_names, other.class_names, "lack"),
            ("has the column", self.feature_names, other.feature_names, "lack"),
        ):
            for name in names:
                if name not in known:
                    raise PqswarmError(f"{source} {mismatch} {name!r}, which the data of the study {verb}.")
        columns = [self.feature_names.index(name) for name in other.feature_names]
        places = np.array([other.class_names.index(name) for name in self.class_names], dtype=np.int64)
        features = np.ascontiguousarray(self.features[:, columns])
        return Samples(features, places[self.y], other.class_names, other.feature_names)

    def save(self, path: str | Path) -> Path:
        """Write the arrays X, y, feature_names and class_names to an npz file, atomically and without pickle."""
        arrays = {
            "X": self.features.astype("<f8"),
            "y": self.y.astype("<i8"),
            "feature_names": np.array(self.feature_names, dtype=np.str_),
            "class_names": np.array(self.class_names, dtype=np.str_),
        }
        return write_atomically(path, lambda file: write_arrays(file, arrays))


def sample_label_column(names: Sequence[str], label: str | None, source: str) -> str:
    """Return the label column: the given one, one with a usual name, or the last."""
    if label is not None:
        if label not in names:
            raise PqswarmError(f"{source}: {unknown_name('column of labels', label, names)}")
        return label
    called = [name for name in names if name.lower() in _LABELS]
    if len(called) > 1:
        raise PqswarmError(f"{source} has the columns {called[0]!r} and {called[1]!r}: choose one with label.")
    return called[0] if called else names[-1]


def check_sample_column_names(names: Sequence[str], source: str) -> None:
    """Raise an error if a name is missing, repeated or not printable."""
    first: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if not name.strip():
            raise PqswarmError(
                f"{source}: column {number} has no name: give it one, or leave it out (pandas: to_csv(index=False))."
            )
        if len(name) > _LONGEST or not name.isprintable():
            raise PqswarmError(
                f"{source}: the name of column {number} must be printable, at most {_LONGEST} characters."
            )
        if first.setdefault(name, number) != number:
            raise PqswarmError(
                f"{source}: columns {first[name]} and {number} are both called {name!r}: each needs a different name."
            )


def sample_cell_value(cell: Any) -> float:
    """Return a cell as a finite number, or raise an error with the reason and the remedy."""
    text = str(cell).strip()
    if text.lower() in MISSING:
        raise PqswarmError(
            "the value is missing: fill it in, for example with the median of its column, leave out the column "
            "(ignore), or all such rows (drop_missing)."
        )
    try:
        if isinstance(cell, complex) or "_" in text:
            raise ValueError
        value = float(cell)
    except (TypeError, ValueError):
        comma = " Numbers need a decimal point." if text.replace(",", "", 1).lstrip("+-").isdigit() else ""
        raise PqswarmError(
            f"{text[:40]!r} is not a number.{comma} Encode text as numbers, or leave the column out "
            f"(ignore); choose the label column with label."
        ) from None
    if not abs(value) <= _LARGEST:
        raise PqswarmError(f"{text[:40]} is not a finite number of at most {_LARGEST:g}.")
    return value


def assemble_samples(
    features: FloatArray, labels: Sequence[Any] | AnyArray, names: Sequence[str], source: str, row: Callable[[int], str]
) -> Samples:
    """Return samples from checked features and raw labels; `row` describes where a sample is."""
    met: dict[str, int] = {}
    order = np.empty(len(labels), dtype=np.int64)
    for i, value in enumerate(_iterate_sample_labels(labels)):
        try:
            order[i] = met.setdefault(_sample_label_text(value), len(met))
        except PqswarmError as error:
            raise PqswarmError(f"{source}, {row(i)}: {error}") from None
        if len(met) > _MAX_CLASSES:
            raise PqswarmError(
                f"{source} has more than {_MAX_CLASSES} different labels: choose the class column with label."
            )
    classes = sorted(met, key=_sample_class_order(met))
    if len(classes) < 2:
        raise PqswarmError(
            f"{source}: all {len(labels)} labels are {classes[0]!r}, but there must be at least two classes: choose "
            f"the label column with label."
        )
    places = np.empty(len(met), dtype=np.int64)
    places[[met[name] for name in classes]] = np.arange(len(classes))
    return Samples(np.ascontiguousarray(features), places[order], tuple(classes), tuple(names))


def _iterate_sample_labels(labels: Sequence[Any] | AnyArray) -> Iterator[Any]:
    """Labels as Python values; those of an array in parts, since they may take ten times its memory."""
    for first in range(0, len(labels), _AT_ONCE):
        some = labels[first : first + _AT_ONCE]
        yield from some.tolist() if isinstance(some, np.ndarray) else some


def _samples_from_matrix(X: Any, y: Any, names: tuple[str, ...] | None, source: str) -> Samples:
    """Samples from a matrix of anything that can be a number, and labels."""
    try:
        given = np.asarray(X)
        labels = np.asarray(y)
    except ValueError:
        raise PqswarmError(f"{source}: X must have rows of the same length.") from None
    if given.ndim != 2 or 0 in given.shape:
        raise PqswarmError(
            f"{source}: X must have a row for each sample and a column for each feature, not {given.shape}."
        )
    if labels.shape != (len(given),):
        raise PqswarmError(f"{source}: y must hold one label for each of the {len(given)} rows, not {labels.shape}.")
    names = names or tuple(f"x{i}" for i in range(given.shape[1]))
    features = np.empty(given.shape)
    if given.dtype.kind in "fiub":
        features[:] = given
    usable = np.abs(features) <= _LARGEST if given.dtype.kind in "fiub" else np.zeros(given.shape, dtype=np.bool_)
    for i, j in np.argwhere(~usable):
        try:
            features[i, j] = sample_cell_value(given[i, j])
        except PqswarmError as error:
            raise PqswarmError(f"{source}, row {i}, column {names[j]!r}: {error}") from None
    return assemble_samples(features, labels, names, source, lambda i: f"row {i}")


def _sample_label_text(value: Any) -> str:
    """Return a label as text."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip()
    if value is None or (isinstance(value, str) and text.lower() in MISSING) or value != value:
        raise PqswarmError("the label is missing: fill it in, or leave out the row.")
    if isinstance(value, float):
        raise PqswarmError(f"the label {text} is a measured value, not a class: choose the class column with label.")
    if len(text) > _LONGEST or not text.isprintable():
        raise PqswarmError(f"a label must be printable and have at most {_LONGEST} characters.")
    return text


def _sample_class_order(classes: Iterable[str]) -> Callable[[str], Any]:
    """Sort by value if all classes are numbers, else alphabetically."""
    try:
        values = {name: float(name) for name in classes}
    except ValueError:
        return lambda name: name
    return lambda name: (values[name], name)


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
    label : str, default=None
        The label column of a CSV file; by default the one called label, class or target, else the last.
    ignore : sequence of str, default=()
        Columns of a CSV file to leave out, such as an identifier.
    drop_missing : bool, default=False
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
        return _read_samples_npz(content, str(path))
    return _read_samples_csv(content, str(path), label, ignore, drop_missing)


def _read_samples_csv(
    content: bytes, source: str, label: str | None, ignore: Sequence[str], drop_missing: bool
) -> Samples:
    text = _samples_csv_text(content, source)
    delimiter = max(_DELIMITERS, key=text.split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    # Not lists of Python numbers, which take four times the memory.
    numbers = packed.array("d")
    labels = []
    lines = packed.array("q")
    try:
        names = [name.strip() for name in next(reader, [])]
        place, columns = _samples_csv_columns(names, source, label, ignore)
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
            numbers.extend(
                [_samples_csv_number(cells[i], delimiter, f"{source}, line {line}", names[i]) for i in columns]
            )
            if len(lines) * len(names) > _MAX_VALUES:
                raise PqswarmError(f"{source} has more than {_MAX_VALUES} values, more than is read.")
    except csv.Error as error:
        raise PqswarmError(f"{source}, line {reader.line_num}: this is not CSV: {error}.") from None
    if not lines:
        raise PqswarmError(f"{source} has a header but no {'complete ' if drop_missing else ''}rows.")
    kept = [names[i] for i in columns]
    features = np.frombuffer(numbers).reshape(len(lines), len(kept))
    return assemble_samples(features, labels, kept, source, lambda i: f"line {lines[i]}, column {names[place]!r}")


def _samples_csv_text(content: bytes, source: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PqswarmError(f"{source}, line {line}: this is not UTF-8 text: save it as CSV in UTF-8.") from None
    if "\0" in text:
        raise FileFormatError(f"{source} is not a CSV file: it holds binary data.")
    return text


def _samples_csv_columns(
    names: list[str], source: str, label: str | None, ignore: Sequence[str]
) -> tuple[int, list[int]]:
    """Places of the label and of the features."""
    if len(names) < 2:
        raise PqswarmError(f"{source} needs a header with the names of at least two columns, features and a label.")
    check_sample_column_names(names, source)
    for name in ignore:
        check_name(f"column to ignore in {source}", name, names)
    place = names.index(sample_label_column([name for name in names if name not in ignore], label, source))
    columns = [i for i, name in enumerate(names) if i != place and name not in ignore]
    if not columns:
        raise PqswarmError(f"{source} has only the label column and no features.")
    return place, columns


def _samples_csv_number(cell: str, delimiter: str, where: str, column: str) -> float:
    try:
        return sample_cell_value(cell.replace(",", ".") if delimiter != "," and "." not in cell else cell)
    except PqswarmError as error:
        raise PqswarmError(f"{where}, column {column!r}: {error}") from None


def _read_samples_npz(content: bytes, source: str) -> Samples:
    arrays = _unpack_samples_npz(content, source)
    for name in ("X", "y"):
        if name not in arrays:
            raise PqswarmError(f"{source} has no array {name!r}: it must hold X, the features, and y, the labels.")
    X = arrays["X"]
    y = arrays["y"]
    if "feature_names" in arrays and X.ndim == 2 and len(arrays["feature_names"]) != X.shape[1]:
        count = len(arrays["feature_names"])
        raise PqswarmError(f"{source}: feature_names has {count} names for {X.shape[1]} columns of X.")
    named = {name: _samples_texts(arrays[name], name, source) for name in _ARRAYS[2:] if name in arrays}
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
    if names is not None:
        check_sample_column_names(names, source)
    return _samples_from_matrix(X, y, None if names is None else tuple(names), source)


def _samples_texts(array: AnyArray, name: str, source: str) -> list[str]:
    if array.ndim != 1 or array.dtype.kind != "U":
        raise PqswarmError(f"{source}: {name} must be a list of texts.")
    if array.nbytes > _LONGEST_LIST:
        raise PqswarmError(f"{source}: {name} has more than {_LONGEST_LIST // 10**6} MB, more than is read.")
    return [str(text) for text in array]


def _unpack_samples_npz(content: bytes, source: str) -> dict[str, AnyArray]:
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
