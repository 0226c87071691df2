"""Models on disk: one zip archive of ``.npy`` arrays and a JSON manifest, readable without pickle.

The same model always gives the same bytes. A file may come from a stranger: everything is checked.
"""

import hashlib
import io
import json
import os
import struct
import zipfile
import zlib
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.events import EVENT_CLASSES
from pqswarm.identify.model import Model, Subset
from pqswarm.identify.prepare import FEATURES, uppers

if TYPE_CHECKING:
    from pqswarm._typing import AnyArray

__all__ = ["load_model", "save"]

_FORMAT = "pqswarm model"
_FORMAT_VERSION = 1
_MANIFEST = "manifest.json"
_LIMIT = 200_000_000  # bytes of a file
_MANIFEST_LIMIT = 1_000_000
_ARRAYS = {"codes": "<u2", "labels": "|u1", "knots": "<f4"}
_EPOCH = (1980, 1, 1, 0, 0, 0)
_RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "nb": {"width": (1e-6, 10.0), "floor": (1e-9, 0.5)},
    "knn": {"n_neighbors": (1, 15), "voters": (1, 1000)},
}


def save(model: Model, path: str | Path) -> Path:
    """Write a model; see :meth:`pqswarm.identify.Model.save`."""
    path = Path(path)
    if not path.name:
        raise PqswarmError(f"{str(path)!r} is no name of a file to write.")
    members = {name: _npy_bytes(np.asarray(getattr(model, name), dtype)) for name, dtype in _ARRAYS.items()}
    manifest = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "class_names": model.class_names,
        "feature_names": model.feature_names,
        "subsets": [vars(subset) for subset in model.subsets],
        "classifier": model.classifier,
        "hyperparameters": dict(model.hyperparameters),
        "origin": dict(model.origin),
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
    }
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(zipfile.ZipInfo(_MANIFEST, _EPOCH), json.dumps(manifest, indent=1, allow_nan=False))
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), content)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise PqswarmError(f"cannot write {path}: {error.strerror or error}.") from error
    return path


def load_model(path: str | Path) -> Model:
    """Read a model that :meth:`Model.save` wrote, checking everything on the way.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    FileFormatError
        If the file is damaged, or is no model of pqswarm.

    Examples
    --------
    >>> import tempfile
    >>> from pqswarm.identify import train
    >>> model = train(events_per_class=10, subset=["rms.minimum", "rms.maximum"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_model(model.save(f"{folder}/small.npz"))
    <Model: nb, 140 events of 14 classes, preset 'field', seed 0>
    """
    path = Path(path)
    try:
        if path.stat().st_size > _LIMIT:
            raise FileFormatError(f"is no model of pqswarm: it is larger than {_LIMIT} bytes.")
        with zipfile.ZipFile(path) as archive:
            manifest = _read_manifest(archive)
            arrays = {name: _read_array(archive, name, dtype, manifest["sha256"]) for name, dtype in _ARRAYS.items()}
        return _assemble(manifest, arrays)
    except FileNotFoundError as error:
        raise PqswarmError(f"there is no file {path}; `pqswarm train --out {path}` would make one.") from error
    except FileFormatError as error:
        raise FileFormatError(f"{path} {error}") from error
    except PqswarmError:
        raise
    except OSError as error:
        raise PqswarmError(f"cannot read {path}: {error.strerror or error}.") from error
    except (
        *(zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError),
        *(LookupError, OverflowError, struct.error, zlib.error),
    ) as error:
        raise FileFormatError(f"{path} is damaged, or is no model of pqswarm: {error}") from error


def _npy_bytes(array: "AnyArray") -> bytes:
    buffer = io.BytesIO()
    npy.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _member(archive: zipfile.ZipFile, name: str, limit: int = _LIMIT) -> bytes:
    """The content of a member that is stored uncompressed, so that it cannot be larger than the file."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise FileFormatError(f"is no model of pqswarm: it has no {name}.") from None
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > limit or info.file_size != info.compress_size:
        raise FileFormatError(f"is no model of pqswarm: {name} is not stored as pqswarm does.")
    return archive.read(info)


def _read_manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        manifest = json.loads(_member(archive, _MANIFEST, _MANIFEST_LIMIT))
    except (ValueError, RecursionError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"is damaged: its manifest is not readable ({error}).") from error
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise FileFormatError("is no model of pqswarm: its manifest says otherwise.")
    if manifest.get("format_version") != _FORMAT_VERSION:
        raise FileFormatError(
            f"has format version {manifest.get('format_version')!r}, this pqswarm reads version {_FORMAT_VERSION}: "
            f"make it again with `pqswarm train`, or use the pqswarm that wrote it."
        )
    expected = {
        "class_names": list,
        "feature_names": list,
        "subsets": list,
        "classifier": str,
        "hyperparameters": dict,
        "origin": dict,
        "sha256": dict,
    }
    for key, kind in expected.items():
        if not isinstance(manifest.get(key), kind):
            raise FileFormatError(f"is damaged: its manifest has no proper {key!r}.")
    return manifest


def _read_array(archive: zipfile.ZipFile, name: str, dtype: str, checksums: dict[str, Any]) -> "AnyArray":
    content = _member(archive, f"{name}.npy")
    if hashlib.sha256(content).hexdigest() != checksums.get(name):
        raise FileFormatError(f"is damaged: the checksum of {name!r} does not match its manifest.")
    buffer = io.BytesIO(content)
    try:
        npy.read_magic(buffer)
        shape, fortran, found = npy.read_array_header_1_0(buffer)
    except ValueError as error:
        raise FileFormatError(f"is damaged: {name!r} is no array ({error}).") from error
    size = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize
    if found != np.dtype(dtype) or fortran or len(content) - buffer.tell() != size:
        raise FileFormatError(f"is damaged: {name!r} is not an array of the expected type and size.")
    return np.frombuffer(content, dtype, offset=buffer.tell()).reshape(shape)


def _names(given: Any, known: tuple[str, ...], what: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not given or not all(isinstance(name, str) for name in given):
        raise FileFormatError(f"is damaged: its {what} are not names.")
    strangers = [name for name in given if name not in known]
    if strangers or len(set(given)) < len(given):
        raise FileFormatError(f"is damaged, or is from another pqswarm: unknown or repeated {what} {strangers[:3]}.")
    return tuple(given)


def _number(given: Any, low: float, high: float, what: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not low <= given <= high:
        raise FileFormatError(f"is damaged: its {what} is no number from {low:g} to {high:g}.")
    return given


def _subset(given: Any, kept: tuple[str, ...]) -> Subset:
    if not isinstance(given, dict):
        raise FileFormatError("is damaged: a subset is no record.")
    names = _names(given.get("names"), kept, "features of a subset")
    highest = _number(given.get("highest"), 0.0, 1e6, "bandwidth")
    limit = dict(zip(FEATURES, uppers().tolist(), strict=True))
    if any(limit[name] > highest for name in names):
        raise FileFormatError("is damaged: a subset has features beyond its bandwidth.")
    return Subset(
        highest=float(highest),
        names=names,
        temperature=float(_number(given.get("temperature"), 1e-3, 1e3, "temperature")),
        error=float(_number(given.get("error"), 0.0, 1.0, "error")),
    )


def _assemble(manifest: dict[str, Any], arrays: "dict[str, AnyArray]") -> Model:
    class_names = _names(manifest["class_names"], EVENT_CLASSES, "classes")
    if class_names != EVENT_CLASSES:
        raise FileFormatError("is damaged, or is from another pqswarm: it does not know all classes.")
    feature_names = _names(manifest["feature_names"], FEATURES, "features")
    if not manifest["subsets"] or len(manifest["subsets"]) > len(FEATURES):
        raise FileFormatError("is damaged: it has no subsets of features.")
    subsets = tuple(_subset(given, feature_names) for given in manifest["subsets"])
    ranges = _RANGES.get(manifest["classifier"])
    if ranges is None or set(manifest["hyperparameters"]) != set(ranges):
        raise FileFormatError("is damaged, or is from another pqswarm: its classifier is not known.")
    chosen = {name: _number(manifest["hyperparameters"][name], *limits, name) for name, limits in ranges.items()}
    codes, labels, knots = arrays["codes"], arrays["labels"], arrays["knots"].astype(np.float64)
    if labels.ndim != 1 or codes.shape != (labels.size, len(feature_names)) or not labels.size:
        raise FileFormatError("is damaged: its events, labels and features do not fit together.")
    if knots.ndim != 2 or knots.shape[0] != len(feature_names) or knots.shape[1] < 2:
        raise FileFormatError("is damaged: its scaling does not fit its features.")
    if not (np.isfinite(knots).all() and (np.diff(knots, axis=1) >= 0).all()):
        raise FileFormatError("is damaged: its scaling is not ascending.")
    if set(labels.tolist()) != set(range(len(class_names))):
        raise FileFormatError("is damaged: its labels are not those of its classes.")
    origin = manifest["origin"]
    if not all(
        isinstance(value, str | list) or (isinstance(value, int | float) and isfinite(value))
        for value in origin.values()
    ):
        raise FileFormatError("is damaged: its origin is not plain.")
    return Model(
        codes=codes,
        labels=labels.astype(np.int64),
        knots=knots,
        class_names=class_names,
        feature_names=feature_names,
        subsets=subsets,
        classifier=manifest["classifier"],
        hyperparameters=chosen,
        origin=origin,
    )
