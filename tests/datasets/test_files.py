"""Data sets on disk: round trip, damage, foreign files."""

import io
import json
import zipfile
from functools import cache
from math import inf

import numpy as np
import pytest

from pqswarm.datasets import load_dataset, make_dataset
from pqswarm.errors import FileFormatError, PqswarmError


@cache
def small():
    return make_dataset(2, snr=(inf, 20.0), preset="field", seed=5)


@pytest.fixture
def path(tmp_path):
    return small().save(tmp_path / "deep" / "folder" / "data.npz")


def parts(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, contents, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_round_trip(path):
    again = load_dataset(path)
    for name in ("features", "y", "source", "seeds", "record", "parameters"):
        assert getattr(again, name).tobytes() == getattr(small(), name).tobytes()
        assert getattr(again, name).dtype == getattr(small(), name).dtype
    for name in ("snr", "class_names", "feature_names", "parameter_names", "seed", "version"):
        assert getattr(again, name) == getattr(small(), name)
    assert again.preset == json.loads(json.dumps(small().preset))
    assert again.event(3).signal.tobytes() == small().event(3).signal.tobytes()


def test_same_data_set_same_bytes(tmp_path):
    first = small().save(tmp_path / "a.npz").read_bytes()
    again = make_dataset(2, snr=(inf, 20.0), preset="field", seed=5, n_jobs=1).save(tmp_path / "b.npz").read_bytes()
    assert first == again == load_dataset(tmp_path / "a.npz").save(tmp_path / "c.npz").read_bytes()


def test_manifest_says_what_it_is(path):
    manifest = json.loads(parts(path)["manifest.json"])
    assert manifest["format"] == "pqswarm dataset"
    assert manifest["seed"] == 5
    assert manifest["preset"]["name"] == "field"
    assert manifest["preset"]["common"]["snr"] == {"range": "Uniform", "low": 30.0, "high": 60.0, "unit": ""}


def test_numpy_reads_it_without_pickle(path):
    with np.load(path, allow_pickle=False) as archive:
        assert np.array_equal(archive["features"], small().features)


def test_every_flipped_byte_is_noticed_or_harmless(path):
    """Flip bytes all over the file: never a wrong data set, never anything but our own error."""
    original = path.read_bytes()
    for place in np.linspace(0, len(original) - 1, 300).astype(int):
        damaged = bytearray(original)
        damaged[place] ^= 0x55
        path.write_bytes(bytes(damaged))
        try:
            again = load_dataset(path)
        except PqswarmError:
            continue
        assert again.features.tobytes() == small().features.tobytes()


@pytest.mark.parametrize("keep", [0, 10, 1000, 0.5, 0.99])
def test_cut_files(path, keep):
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content)) if isinstance(keep, float) else keep])
    with pytest.raises(FileFormatError, match="is damaged, or is not a pqswarm data set"):
        load_dataset(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "something else"}, "its manifest names another format"),
        ({"format_version": 99}, "has format version 99, this pqswarm reads version 1"),
        ({"snr": 3}, "no proper 'snr'"),
        ({"snr": ["loud", 3]}, "noise levels are not numbers"),
        ({"snr": ["inf"]}, r"'features' has shape \(2, 28, 99\)"),
        ({"snr": ["inf", float("nan")]}, "noise levels are not numbers"),
        ({"snr": ["inf", "30"]}, "noise levels are not numbers"),
        ({"snr": ["inf", 10**400]}, "noise levels are not numbers"),
        ({"snr": ["inf", "inf"]}, "a noise level appears twice"),
        ({"class_names": ["sag"]}, "'y' has values outside 0 to 0"),
        ({"class_names": ["storm", "storm"]}, "'class_names' of its manifest are not distinct names"),
        ({"class_names": ["\x1b[31msag"]}, "'class_names' of its manifest are not distinct names"),
        ({"class_names": ["s" * 61]}, "'class_names' of its manifest are not distinct names"),
        ({"feature_names": ["a"] * 99}, "its features have other names"),
        ({"class_names": [1, 2]}, "not distinct names"),
        ({"parameter_names": ["color"]}, "'parameters' has shape"),
        ({"parameter_names": ["Color"]}, "'parameter_names' of its manifest are not distinct names"),
        ({"preset": {}}, "has no name"),
        ({"feature_options": {"wavelet": "coif9"}}, "unknown wavelet of features 'coif9'"),
        ({"feature_options": 3}, "parameters must be a mapping of names to values, not 3"),
    ],
)
def test_manifests_that_lie(path, changes, message):
    manifest = json.loads(parts(path)["manifest.json"])
    rewrite(path, parts(path) | {"manifest.json": json.dumps(manifest | changes)})
    with pytest.raises(FileFormatError, match=message):
        load_dataset(path)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("y", np.array([object()]), "'y' is not an array of plain numbers"),
        ("y", np.zeros(28, np.int32), "'y' is not an array of the expected type"),
        ("y", np.full(28, 99), "'y' has values outside 0 to 13"),
        ("source", np.full(28, -1), "'source' has values outside 0 to 1"),
        ("features", np.full((2, 28, 99), np.nan), "not finite"),
        ("features", np.asfortranarray(np.zeros((2, 28, 99))), "'features' is not an array of the expected"),
        ("record", np.zeros((28, 4)), "'record' has shape"),
        ("record", np.full((28, 3), 1e15), "impossible values of sampling_rate"),
        ("record", np.full((28, 3), np.nan), "impossible values of sampling_rate"),
        ("parameters", lambda: np.full(small().parameters.shape, np.inf), "impossible values of amplitude"),
    ],
)
def test_arrays_that_lie(path, name, array, message):
    rewrite(path, parts(path) | {f"{name}.npy": npy(array() if callable(array) else array)})
    with pytest.raises(FileFormatError, match=message):
        load_dataset(path)


def test_compressed_members_are_refused(path):
    rewrite(path, parts(path), zipfile.ZIP_DEFLATED)
    with pytest.raises(FileFormatError, match="is compressed or too large"):
        load_dataset(path)


def test_foreign_files(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    with pytest.raises(FileFormatError, match=r"notes.txt is damaged, or is not a pqswarm data set"):
        load_dataset(text)
    foreign = tmp_path / "foreign.npz"
    np.savez(foreign, x=np.zeros(3))
    with pytest.raises(FileFormatError, match=r"foreign.npz is not a pqswarm data set: it has no manifest.json"):
        load_dataset(foreign)
    broken = tmp_path / "broken.npz"
    rewrite(broken, {"manifest.json": "{not json"})
    with pytest.raises(FileFormatError, match="its manifest is not readable"):
        load_dataset(broken)
    with pytest.raises(PqswarmError, match=r"there is no file .*none.npz: `pqswarm dataset --out"):
        load_dataset(tmp_path / "none.npz")
    with pytest.raises(PqswarmError, match="cannot read"):
        load_dataset(tmp_path)


def test_a_failed_write_leaves_the_old_file_alone(path, monkeypatch):
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(PqswarmError, match="No space left on device"):
        small().save(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_csv(tmp_path):
    rows = small().write_csv(tmp_path / "data.csv", 20.0).read_text().splitlines()
    assert len(rows) == 29
    names = rows[0].split(",")
    assert names[:6] == ["class", "source", "seed", "sampling_rate", "frequency", "cycles"]
    assert tuple(names[-99:]) == small().feature_names
    last = rows[-1].split(",")
    assert last[0] == "swell_with_transient"
    assert [float(cell) for cell in last[-99:]] == small().X(20.0)[-1].tolist()
    assert last[names.index("depth")] == ""
