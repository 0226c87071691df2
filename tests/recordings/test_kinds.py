"""Files that are not read are refused by their kind, with a remedy."""

import gzip
import io
import wave

import numpy as np
import pytest

from pqswarm.recordings import RecordingError, read


def sound():
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(200))
    return buffer.getvalue()


def single_array():
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(5))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.h5", b"\x89HDF\r\n\x1a\n" + bytes(50), "an HDF5 file.*export"),
        ("a.tdms", b"TDSm\x0e\0\0\0" + bytes(50), "TDMS.*export"),
        ("a.wav", sound(), "a WAV file.*npz"),
        ("a.npy", single_array(), r"\.npy.*npz"),
        ("a.parquet", b"PAR1\x15\x04" + bytes(50), "Parquet.*CSV"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(50), "Excel.*CSV"),
        ("a.csv.gz", gzip.compress(b"0,0\n" * 9, mtime=0), "packed file.*unpack"),
        ("a.pdf", b"%PDF-1.7\n", "document"),
        ("a.xml", b'\xef\xbb\xbf<?xml version="1.0"?>\n<comtrade/>', r"COMTRADE file in XML.*\.cfg with \.dat"),
        ("a.html", b"\n<!DOCTYPE html><html>", "HTML.*export"),
        ("a.json", b'{"u": [1, 2, 3]}', "JSON.*export"),
        ("a.bin", b"\1\2\3" + bytes(50), "unknown.*export"),
        ("a.csv", b"%PDF-1.7\n", "document"),
    ],
)
def test_kinds(tmp_path, name, content, reason):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RecordingError, match=rf"{name} is .*{reason}"):
        read(tmp_path / name)


@pytest.mark.parametrize("first", ["PAR1", "RIFF", "TDSm", "BZh9", "Obj"])
def test_columns_may_have_any_name(tmp_path, first):
    (tmp_path / "a.csv").write_text(f"{first},U\n" + "".join(f"{n / 1000},{n % 9}\n" for n in range(50)))
    assert read(tmp_path / "a.csv").channels[-1].name == "U"
