"""Data sets on disk: one zip archive of ``.npy`` arrays and a JSON manifest, readable without pickle.

``numpy.load`` opens the arrays too. The same data set always gives the same bytes.
"""

import hashlib
import io
import json
import os
import zipfile
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from pqswarm.datasets.dataset import Dataset
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.events import EVENT_CLASSES, PARAMETERS, RECORD, SOURCES, check_snr
from pqswarm.features import FUNCTIONS, feature_names

if TYPE_CHECKING:
    from pqswarm._typing import AnyArray

__all__ = ["load", "save"]

_FORMAT = "pqswarm dataset"
_FORMAT_VERSION = 1
_MANIFEST = "manifest.json"
_MANIFEST_LIMIT = 4_000_000  # bytes
_ARRAYS = {"features": "<f8", "y": "<i8", "source": "<i8", "seeds": "<i8", "record": "<f8", "parameters": "<f8"}
_EPOCH = (1980, 1, 1, 0, 0, 0)


def save(dataset: Dataset, path: str | Path) -> Path:
    """Write a data set; see :meth:`pqswarm.datasets.Dataset.save`."""
    path = Path(path)
    if not path.name:
        raise PqswarmError(f"{str(path)!r} is no name of a file to write.")
    members = {name: _npy_bytes(np.asarray(getattr(dataset, name), dtype)) for name, dtype in _ARRAYS.items()}
    manifest = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "version": dataset.version,
        "seed": dataset.seed,
        "preset": dataset.preset,
        "snr": ["inf" if level == inf else level for level in dataset.snr],
        "class_names": dataset.class_names,
        "feature_names": dataset.feature_names,
        "parameter_names": dataset.parameter_names,
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
    }
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(zipfile.ZipInfo(_MANIFEST, _EPOCH), json.dumps(manifest, indent=1))
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), content)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise PqswarmError(f"cannot write {path}: {error.strerror or error}.") from error
    return path


def load(path: str | Path) -> Dataset:
    """Read a data set that :meth:`Dataset.save` wrote, checking everything on the way.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Dataset
        The data set.

    Raises
    ------
    FileFormatError
        If the file is damaged, or is no data set of pqswarm.

    Examples
    --------
    >>> import tempfile
    >>> from pqswarm.datasets import make_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(make_dataset(1, snr=40).save(f"{folder}/small.npz"))
    <Dataset: 14 events of 14 classes, 99 features, SNR 40 dB, preset 'paper', seed 0>
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _read_manifest(archive)
            arrays = {name: _read_array(archive, name, dtype, manifest["sha256"]) for name, dtype in _ARRAYS.items()}
            return _assemble(manifest, arrays)
    except FileNotFoundError as error:
        raise PqswarmError(f"there is no file {path}; `pqswarm dataset --out {path}` would make one.") from error
    except OSError as error:
        raise PqswarmError(f"cannot read {path}: {error.strerror or error}.") from error
    except FileFormatError as error:
        raise FileFormatError(f"{path} {error}") from error
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise FileFormatError(f"{path} is damaged, or is no data set of pqswarm: {error}") from error


def _npy_bytes(array: "AnyArray") -> bytes:
    buffer = io.BytesIO()
    npy.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _member(archive: zipfile.ZipFile, name: str, limit: int | None = None) -> bytes:
    """The content of a member that is stored uncompressed, so that it cannot be larger than the file."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise FileFormatError(f"is no data set of pqswarm: it has no {name}.") from None
    if info.compress_type != zipfile.ZIP_STORED or (limit is not None and info.file_size > limit):
        raise FileFormatError(f"is no data set of pqswarm: {name} is not stored as pqswarm does.")
    return archive.read(info)


def _read_manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        manifest = json.loads(_member(archive, _MANIFEST, _MANIFEST_LIMIT))
    except (ValueError, RecursionError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"is damaged: its manifest is not readable ({error}).") from error
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise FileFormatError("is no data set of pqswarm: its manifest says otherwise.")
    if manifest.get("format_version") != _FORMAT_VERSION:
        raise FileFormatError(
            f"has format version {manifest.get('format_version')!r}, this pqswarm reads version {_FORMAT_VERSION}: "
            f"make it again with `pqswarm dataset`, or use the pqswarm that wrote it."
        )
    expected = {
        "version": str,
        "seed": int,
        "preset": dict,
        "snr": list,
        "class_names": list,
        "feature_names": list,
        "parameter_names": list,
        "sha256": dict,
    }
    for key, kind in expected.items():
        if not isinstance(manifest.get(key), kind):
            raise FileFormatError(f"is damaged: its manifest has no proper {key!r}.")
    for key in ("class_names", "feature_names", "parameter_names"):
        if not all(isinstance(name, str) for name in manifest[key]):
            raise FileFormatError(f"is damaged: the {key!r} of its manifest are not all text.")
    if not isinstance(manifest["preset"].get("name"), str):
        raise FileFormatError("is damaged: the preset of its manifest has no name.")
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
    return np.frombuffer(content, dtype, offset=buffer.tell()).reshape(shape).astype(dtype[1:])


def _assemble(manifest: dict[str, Any], arrays: "dict[str, AnyArray]") -> Dataset:
    try:
        snr = tuple(check_snr(inf if level == "inf" else level) for level in manifest["snr"])
    except PqswarmError:
        raise FileFormatError("is damaged: its noise levels are not numbers.") from None
    if len(set(snr)) < len(snr):
        raise FileFormatError("is damaged: a noise level appears twice.")
    level = len(manifest["feature_names"]) // len(FUNCTIONS) - 1
    if tuple(manifest["feature_names"]) != feature_names(level):
        raise FileFormatError("is damaged, or is from another pqswarm: its features have other names.")
    for kind, known in (("class_names", EVENT_CLASSES), ("parameter_names", PARAMETERS)):
        strangers = [name for name in manifest[kind] if name not in known]
        if strangers or len(set(manifest[kind])) < len(manifest[kind]):
            raise FileFormatError(f"is damaged, or is from another pqswarm: unknown {kind} {strangers[:3]}.")
    n = arrays["y"].size
    shapes = {
        "features": (len(snr), n, len(manifest["feature_names"])),
        "y": (n,),
        "source": (n,),
        "seeds": (n,),
        "record": (n, 3),
        "parameters": (n, len(manifest["parameter_names"])),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise FileFormatError(f"is damaged: {name!r} has shape {arrays[name].shape}, not {shape}.")
    for name, limit in (("y", len(manifest["class_names"])), ("source", len(SOURCES))):
        if n and not (arrays[name].min() >= 0 and arrays[name].max() < limit):
            raise FileFormatError(f"is damaged: {name!r} has values outside 0 to {limit - 1}.")
    if not np.isfinite(arrays["features"]).all():
        raise FileFormatError("is damaged: it holds features that are not finite.")
    for names, values in ((RECORD, arrays["record"]), (manifest["parameter_names"], arrays["parameters"])):
        for name, column in zip(names, values.T, strict=True):
            given = column[~np.isnan(column)] if values is arrays["parameters"] else column
            if not ((given >= PARAMETERS[name].low) & (given <= PARAMETERS[name].high)).all():
                raise FileFormatError(f"is damaged: it holds impossible values of {name}.")
    return Dataset(
        **arrays,
        snr=snr,
        class_names=tuple(manifest["class_names"]),
        feature_names=tuple(manifest["feature_names"]),
        parameter_names=tuple(manifest["parameter_names"]),
        seed=manifest["seed"],
        preset=manifest["preset"],
        version=manifest["version"],
    )
