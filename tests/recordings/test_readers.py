"""The way in: formats found by content and suffix, files that are none, light imports."""

import gzip
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.recordings import builders
from tests.reference import pqdif

from pqswarm.errors import PqswarmError
from pqswarm.recordings import RecordingError, open_recordings, read, read_all
from pqswarm.recordings.files import FileBytes
from pqswarm.recordings.table import TABLE


def test_formats(save):
    first, second, third, *_ = builders.csv_seeds()
    contents = dict.fromkeys(("a.pqd", "b.bin"), pqdif.example()[0])
    contents |= dict.fromkeys(("c.npz", "d"), builders.npz_seeds()[0])
    contents |= {"e.csv": first, "f.txt": second, "g.dat": first, "h.asc": third}
    for name, content in contents.items():
        assert read(str(save(content, name))).n_samples == 96
    path = save(contents["a.pqd"], "a.pqd")
    with pytest.raises(PqswarmError, match="unknown format"):
        read(path, format="mp3")
    with pytest.raises(RecordingError, match="not a text table"):
        read(path, format="csv")


def test_recordings_that_cannot_be_used_are_named(save, monkeypatch):
    def find_two(_):
        def sources(path, options):
            (whole,) = TABLE.sources(path, options)
            return [whole, replace(whole, source="a.csv, part 2", n_samples=0)]

        return SimpleNamespace(name="two", sources=sources)

    monkeypatch.setattr("pqswarm.recordings.readers.find_reader", find_two)
    (source,) = open_recordings(save(builders.csv_seeds()[0], "a.csv"))
    assert "1 of the 2 recordings of this file cannot be used: a.csv, part 2 " in source.notes[-1]


def test_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    reasons = {"no.csv": "not exist", "a\0b.csv": "cannot be read"}
    reasons |= dict.fromkeys(("pipe.csv", ".", "/dev/zero"), "regular")
    for name, reason in reasons.items():
        with pytest.raises(RecordingError, match=reason):
            read_all(tmp_path / name)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system makes up no files here")
def test_files_without_a_size_are_empty():
    """Reading them might never end, as that of the kernel's messages."""
    assert FileBytes.of(Path("/proc/self/status")).read(0, 10) == b""


def test_large_files_are_not_opened(tmp_path):
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(3 * 10**9)  # sparse
    with pytest.raises(RecordingError, match="over the limit of 2048 MB"):
        read(path)


def test_names_lead_nowhere(tmp_path):
    (tmp_path / "x").mkdir()
    config, data = builders.comtrade_seeds()[0]
    (tmp_path / "x" / "case.cfg").write_bytes(config.replace(b"station,device", b"../../case.dat,../case.dat"))
    (tmp_path / "case.dat").write_bytes(data)
    with pytest.raises(RecordingError, match=r"no matching \.dat file"):
        read(tmp_path / "x" / "case.cfg")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.h5", b"\x89HDF\r\n\x1a\n" + bytes(50), "an HDF5 file.*export"),
        ("a.tdms", b"TDSm\x0e\0\0\0" + bytes(50), "TDMS.*export"),
        ("a.wav", b"RIFF\xec\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0" + bytes(200), "a WAV file.*npz"),
        ("a.npy", builders.npz_members({"x": np.zeros(5)})["x.npy"], r"\.npy.*npz"),
        ("a.parquet", b"PAR1\x15\x04" + bytes(50), "Parquet.*CSV"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(50), "Excel.*CSV"),
        ("a.csv.gz", gzip.compress(b"0,0\n" * 9, mtime=0), "packed file.*unpack"),
        ("a.pdf", b"%PDF-1.7\n", "document"),
        ("a.xml", b'\xef\xbb\xbf<?xml version="1.0"?>\n<comtrade/>', r"COMTRADE file in XML.*\.cfg with \.dat"),
        ("a.html", b"\n<!DOCTYPE html><html>", "HTML.*export"),
        ("a.json", b'{"u": [1, 2, 3]}', "JSON.*export"),
        ("a.bin", b"\1\2\3" + bytes(50), "supported format.*export"),
        ("a.csv", b"%PDF-1.7\n", "document"),
    ],
)
def test_kinds(save, name, content, reason):
    with pytest.raises(RecordingError, match=rf"{name} is .*{reason}"):
        read(save(content, name))


@pytest.mark.parametrize("suffix", ["cfg", "cff", "pqd", "csv", "npz", "mat", "cev", "zip", "dat"])
def test_pointers_of_git_lfs(save, suffix):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    with pytest.raises(RecordingError, match=rf"case\.{suffix} is a Git LFS pointer, not the recording: run git lfs"):
        read(save(pointer, f"case.{suffix}"))
    save(pointer, "half.dat")
    with pytest.raises(RecordingError, match=r"half\.cfg has a \.dat that is a Git LFS pointer"):
        read(save(builders.comtrade_seeds()[0][0], "half.cfg"))


@pytest.mark.parametrize("first", ["PAR1", "RIFF", "TDSm", "BZh9", "Obj"])
def test_columns_may_have_any_name(save, first):
    path = save(f"{first},U\n" + "".join(f"{n / 1000},{n % 9}\n" for n in range(50)), "a.csv")
    assert read(path).channels[-1].name == "U"
