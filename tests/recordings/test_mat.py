"""MATLAB files, with SciPy as the oracle."""

import struct
import zlib

import numpy as np
import pytest
from tests.memory import memory_below
from tests.recordings.builders import RATE, waves
from tests.recordings.vendor_files import mat, mat_element, mat_seeds

from pqswarm.recordings import RecordingError, read

NAME = "case.mat"


@pytest.mark.parametrize("compress", [False, True])
def test_files_of_scipy(tmp_path, compress):
    from scipy.io import savemat

    three, path = waves(), tmp_path / "case.mat"
    arrays = {"Ua": three[0], "Ub": three[1].astype("f4"), "Uc": np.rint(three[2]).astype("i2"), "fs": RATE}
    odd = {"note": "text", "box": np.array([1, "a"], object), "z": np.ones(3) * 1j, "s": {"a": 1}, "one": 1.0}
    savemat(path, arrays | odd, do_compression=compress)
    recording = read(path)
    assert (recording.sampling_rate, recording.format) == (RATE, "MATLAB")
    assert [one.name for one in recording.channels] == ["Ua", "Ub", "Uc"]
    for channel, name in zip(recording.channels, arrays, strict=False):
        np.testing.assert_array_equal(channel.samples, arrays[name].astype(float))


@pytest.mark.parametrize("n", range(3))
def test_layouts(save, n):
    recording = read(save(mat_seeds()[n]))
    assert (recording.sampling_rate, recording.n_samples) == (RATE, 96)
    np.testing.assert_allclose(recording.channels[0].samples, waves()[0], atol=0.5)
    assert len(recording.channels) == (2, 3, 1)[n]


def test_no_rate(save):
    path = save(mat({"i": waves()[0]}))
    with pytest.raises(RecordingError, match="set sampling_rate"):
        read(path)
    assert read(path, sampling_rate=RATE).channels[0].unit == "A"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"MATLAB 7.3 MAT-file".ljust(126) + b"IM" + bytes(384) + b"\x89HDF\r\n\x1a\n", r"7\.3 file \(HDF5\).*-v7"),
        (b"\0\0\0\0" + bytes(200), "-v7"),
        (mat({"s": waves()[0]}, class_=2), r"no arrays of real numbers \('s'\)"),
        (mat({"u": waves()[0]}, compress=False)[:-8], "longer than the file"),
        (mat({"u": waves()[0]})[:-8], "longer than the file"),
        (mat({})[:128] + mat_element(15, b"not packed"), "cannot be unpacked"),
        (mat({"u": waves()[0]}, compress=False).replace(struct.pack("<ii", 1, 96), struct.pack("<ii", 1, 97)), "size"),
        (mat({"u": waves()[0]}, compress=False).replace(struct.pack("<ii", 1, 96), struct.pack("<ii", 1, -96)), "size"),
    ],
)
def test_no_recordings(save, content, reason):
    with pytest.raises(RecordingError, match=rf"case\.mat.*{reason}"):
        read(save(content))


def test_claims_are_not_believed(save):
    """SciPy allocates 4 GB for the first of these."""
    whole = bytearray(mat({"u": waves()[0]}, compress=False)[128:])
    struct.pack_into("<I", whole, bytes(whole).find(struct.pack("<II", 9, 768)) + 4, 0xFFFFFFF0)
    liar = mat({})[:128] + mat_element(15, zlib.compress(bytes(whole)))
    bomb = mat({"u": np.zeros(1_000_000)})
    for content, reason in ((liar, "longer than"), (bomb, "over the limit")):
        path = save(content)
        with memory_below(3e6), pytest.raises(RecordingError, match=reason):
            read(path, max_bytes=500_000)
