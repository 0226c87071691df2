"""Archives of arrays: two layouts, and archives that want too much."""

import io
import pickle
import zipfile

import numpy as np
import pytest
from tests.recordings.builders import RATE, npz_members, npz_seeds, waves, zipped

from pqswarm.recordings import RecordingError, read, read_all

NAME = "case.npz"


def test_layouts(save):
    plain, timed, rte = npz_seeds()
    recording = read(save(plain))
    assert [(c.name, c.unit) for c in recording.channels] == [("Ua", "V"), ("Ub", "V")]
    assert (recording.sampling_rate, recording.nominal_frequency) == (RATE, 50)
    np.testing.assert_allclose(recording.channels[0].samples, waves()[0])
    recording = read(save(timed))
    assert recording.sampling_rate == RATE
    assert [c.name for c in recording.channels] == ["u 1", "u 2", "u 3"]
    records = read_all(save(rte))
    assert len(records) == 2
    assert records[0].sampling_rate == 6400
    assert [(c.name, c.unit, c.phase) for c in records[1].channels][::3] == [("Va", "V", "A"), ("Ia", "A", "A")]
    np.testing.assert_allclose(records[0].channels[1].samples, np.rint(waves(1000)[1]) * 18.31055)
    assert any("RTE" in note for note in records[0].notes)


def test_rte_is_not_guessed(save):
    halves = np.stack([waves(1000) + waves(1000)]) + 0.5
    with pytest.raises(RecordingError, match="no arrays of samples"):
        read(save(npz_members({"DATA_S1": halves})))


def test_tall_arrays_and_odd_lengths(save):
    recording = read(save(npz_members({"u": np.stack(waves()).T, "fs": RATE, "other": np.arange(5.0)})))
    assert len(recording.channels) == 3
    assert any("shorter" in note for note in recording.notes)
    with pytest.raises(RecordingError, match="sampling_rate"):
        read(save(npz_members({"u": waves()[0]})))


def lying_header(shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header + b"\0" * 80


def pickled():
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], object), allow_pickle=True)
    return zipped({"u.npy": buffer.getvalue(), "w.npy": pickle.dumps(print)})


def claiming_archive():
    content = bytearray(zipped({"u.npy": b"\0" * 1000}))
    at = content.rfind(b"PK\x01\x02")
    content[at + 24 : at + 28] = (2**32 - 2).to_bytes(4, "little")
    return bytes(content)


ATTACKS = {
    "pickle": pickled,
    "header": lambda: zipped({"u.npy": lying_header("(10000000000,)")}),
    "negative": lambda: zipped({"u.npy": lying_header("(-10,)")}),
    "nested": lambda: zipped({"u.npy": lying_header("(" * 3000)}),
    "bomb": lambda: zipped({"u.npy": b"\0" * 600_000_000}, level=1),
    "claim": claiming_archive,
    "lzma": lambda: zipped({"u.npy": b"\0" * 1_000_000}, zipfile.ZIP_LZMA),
    "empty": lambda: zipped({}),
    "path": lambda: zipped({"../../etc/cron.d/x": b"x"}),
    "zip": lambda: b"PK\x03\x04" + b"\0" * 50,
}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("pickle", "not an array of plain"),
        ("header", "not as long"),
        ("negative", "not an array of plain"),
        ("nested", "not an array of plain"),
        ("bomb", "limit"),
        ("claim", "claims"),
        ("lzma", "packs|claims"),
        ("empty", "no arrays|not an .npz"),
        ("path", "no arrays"),
        ("zip", "damaged"),
    ],
)
def test_attacks(check_attack, name, reason):
    check_attack(ATTACKS[name](), reason)


def test_names_are_cleaned(save):
    arrays = {"\x1b[1mA": waves()[0], "U" * 5000: waves()[1], "fs": RATE}
    assert [c.name for c in read(save(npz_members(arrays))).channels] == ["[1mA", "U" * 120]
