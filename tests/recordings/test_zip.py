"""Archives with recordings: members are bounded, and their names are not paths."""

import struct
import zipfile

import pytest
from tests.recordings import builders
from tests.recordings.builders import zipped
from tests.recordings.vendor_files import cev

from pqswarm._base.files import opening_only_inside
from pqswarm.recordings import RecordingError, open_recordings, read, read_all

CONFIG, DATA = builders.comtrade_seeds()[10]  # with status channels
TABLE = builders.csv_seeds()[0].encode()


NAME = "mail.zip"


def test_a_mailed_pair(save, tmp_path):
    (tmp_path / "fault.cfg").write_bytes(CONFIG)
    (tmp_path / "fault.dat").write_bytes(DATA)
    plain = read(tmp_path / "fault.cfg")
    path = save({"a/Fault.CFG": CONFIG, "a/FAULT.dat": DATA, "README.txt": b"hello\n", "__MACOSX/a/._F.cfg": b"\0"})
    (source,) = open_recordings(path)
    path.unlink()  # samples and states are in memory
    recording = source.read()
    assert recording.source == "mail.zip, Fault.CFG"
    assert recording.notes == plain.notes
    assert [one.samples.tolist() for one in recording.channels] == [one.samples.tolist() for one in plain.channels]
    assert [one.changes for one in recording.status] == [one.changes for one in plain.status]


def test_where_only_one_folder_may_be_read(save, tmp_path):
    path = save({"fault.cfg": CONFIG, "fault.dat": DATA})
    with opening_only_inside(tmp_path):
        assert read(path).source == "mail.zip, fault.cfg"
    (tmp_path / "other").mkdir()
    with opening_only_inside(tmp_path / "other"), pytest.raises((OSError, RecordingError)):
        read(path)


def test_several_files(save):
    members = {
        "b.csv": TABLE,
        "x/a.cev": cev(),
        "y/a.npz": zipped(builders.npz_seeds()[0]),
        "bad.csv": b"x\ny\n",
    }
    found = read_all(save(members))
    assert [(one.source, one.n_samples) for one in found] == [
        ("mail.zip, b.csv", 96),
        ("mail.zip, a.cev", 64),
        ("mail.zip, a.npz", 96),
    ]
    for one in found:
        assert any("1 file of the archive cannot be read: bad.csv is not" in note for note in one.notes)


def test_names_are_not_paths(save, tmp_path):
    names = ["../../up.csv", "/etc/absolute.csv", "C:\\windows\\drive.csv", "a/../b.csv"]
    before = set(tmp_path.rglob("*"))
    path = save(dict.fromkeys(names, TABLE))
    assert len(read_all(path)) == len(names)
    assert set(tmp_path.rglob("*")) - before == {path}


def flag_encrypted(content):
    content = bytearray(content)
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", content, content.index(signature) + at, 1)
    return bytes(content)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({}, "damaged|holds no recording"),
        ({"notes.md": b"hello"}, r"do not end in .*\.cev, .*\.cfg"),
        ({"inner.zip": zipped({"b.csv": TABLE})}, r"inner\.zip is an archive: unpack it first"),
        ({"inner.csv": zipped({"b.csv": TABLE})}, r"inner\.csv is an archive: unpack it first"),
        (
            {"fault.xml": b"<?xml?><Comtrade>", "a.md": b"hello"},
            r"fault\.xml is a COMTRADE file in XML.*\.cfg with \.dat",
        ),
        ({"a.cfg": CONFIG}, r"a\.cfg has no matching \.dat file"),
        ({"xl/workbook.xml": b"", "[Content_Types].xml": b""}, "office file: save the sheet.* as CSV"),
        ({f"{n}.csv": b"" for n in range(1001)}, "1,001 files of 0 MB, over the limit of 1000 files.*unpack it"),
        (zipped({"a.csv": TABLE})[:200], "damaged"),
        (flag_encrypted(zipped({"a.csv": TABLE}, zipfile.ZIP_STORED)), "encrypted"),
    ],
)
def test_archives_without_recordings(save, members, reason):
    with pytest.raises(RecordingError, match=rf"mail\.zip.*{reason}"):
        read(save(members))


def test_bombs_are_not_unpacked(save):
    with pytest.raises(RecordingError, match="1 file of 4 MB, over the limit of 1000 files of 2 MB"):
        read(save({"a.csv": b"0,0\n" * 1_000_000}), max_bytes=2_000_000)
    with pytest.raises(RecordingError, match="unusual method"):
        read(save(zipped({"a.csv": TABLE}, zipfile.ZIP_LZMA)))
    damaged = bytearray(zipped({"a.csv": TABLE}, zipfile.ZIP_STORED))
    struct.pack_into("<I", damaged, damaged.index(b"PK\x01\x02") + 20, 2**31 - 1)  # its packed size
    with pytest.raises(RecordingError, match="more than it can hold"):
        read(save(bytes(damaged)))
