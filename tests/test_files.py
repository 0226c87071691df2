"""Files are written whole or not at all, and arrays are read without trust."""

import errno
import io
import os
import subprocess

import numpy as np
import pytest

from pqswarm._base import files as _files
from pqswarm._base.array_file import read_npy
from pqswarm._base.files import read_regular, write_atomically
from pqswarm.datasets import load_dataset, read_samples
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.events import load_preset
from pqswarm.identify import load_model
from pqswarm.statistics import read_results
from pqswarm.study import load_plan


def test_text_bytes_and_functions(tmp_path):
    assert write_atomically(tmp_path / "a" / "text.txt", "é\r\n").read_bytes() == "é\r\n".encode()
    assert write_atomically(str(tmp_path / "bytes"), b"\0\1").read_bytes() == b"\0\1"
    assert write_atomically(tmp_path / "made", lambda file: file.write(b"xyz")).read_bytes() == b"xyz"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "bytes", "made"]


@pytest.mark.parametrize("error", [OSError("full"), KeyboardInterrupt(), ValueError("mine")])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = write_atomically(tmp_path / "file", "old")

    def fail(file):
        file.write(b"half")
        raise error

    with pytest.raises(PqswarmError if isinstance(error, OSError) else type(error)):
        write_atomically(path, fail)
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("number", [None, errno.EINVAL, errno.EIO])
def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch, number):
    path, synced = write_atomically(tmp_path / "file", "old"), []

    def sync(file):
        synced.append((os.fstat(file).st_size, path.read_text()))
        if number is not None:
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", sync)
    if number == errno.EIO:  # the disk could not keep it
        with pytest.raises(PqswarmError, match=r"cannot write .*Input/output error"):
            write_atomically(path, "newer")
    else:  # done, or not offered
        write_atomically(path, "newer")
    assert synced == [(5, "old")]
    assert path.read_text() == ("old" if number == errno.EIO else "newer")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.name == "nt", reason="Windows does not tell who has ended")
def test_what_a_killed_process_left_of_a_file_goes_when_it_is_written_again(tmp_path):
    path, ended = tmp_path / "file", subprocess.Popen(["true"])
    ended.wait()
    left = []

    def leave(file):
        (part,) = tmp_path.iterdir()
        left.append(part.with_name(part.name.replace(f"-{os.getpid()}-", f"-{ended.pid}-")))  # of one that was killed
        left.append(part.with_name(part.name.replace(f"-{os.getpid()}-", f"-{os.getppid()}-")))  # of one at work
        left.append(part.with_name(f"{part.name}.of-another-file"))
        for one in left:
            one.touch()

    write_atomically(path, leave)
    assert {one.name for one in tmp_path.iterdir()} == {"file", *(one.name for one in left)}
    write_atomically(path, "again")
    assert {one.name for one in tmp_path.iterdir()} == {"file", *(one.name for one in left[1:])}


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PqswarmError, match="cannot write"):
        write_atomically(tmp_path / "file" / "inside", "")
    with pytest.raises(PqswarmError, match="is not the name of a file"):
        write_atomically("", "")


def test_links_are_replaced_and_files_obey_the_umask(tmp_path, monkeypatch):
    precious = write_atomically(tmp_path / "precious", "precious")
    (tmp_path / "report.html").symlink_to(precious)
    monkeypatch.setattr("secrets.token_hex", lambda n: "guessed")
    (tmp_path / f".report.html.{_files._machine_id_in_file_names()}-{os.getpid()}-guessed.part").symlink_to(precious)
    with pytest.raises(PqswarmError, match=r"cannot write .*report\.html: File exists"):
        write_atomically(tmp_path / "report.html", "new")
    before = os.umask(0o077)
    try:
        assert write_atomically(tmp_path / "report.html", "new").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)
    assert precious.read_text() == "precious"
    assert not (tmp_path / "report.html").is_symlink()


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_file_is_neither_read_nor_written(tmp_path, kind):
    path = tmp_path / "data.npz"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    for read in (load_dataset, read_samples, load_model, load_plan, load_preset):
        with pytest.raises(PqswarmError, match=r"cannot read .*data\.npz: (it is not a regular file|Is a directory)"):
            read(path)
    with pytest.raises(PqswarmError, match=r"data.npz(: it is not a regular file| is a folder)"):
        read_results(path)
    with pytest.raises(PqswarmError, match=r"cannot write .*data\.npz: it is (not a regular file|a folder)"):
        write_atomically(path, "new")
    assert [one.name for one in tmp_path.iterdir()] == ["data.npz"]


def test_a_limit_is_kept_before_memory_is_taken(tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(OSError, match="it is larger than 1 MB"):
        read_regular(tmp_path / "sparse", 10**6)


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("dtype", ["<f8", ">i2", "|u1", "<U3", "|b1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_come_back(dtype, order):
    array = np.asarray(np.arange(6).reshape(2, 3).astype(dtype), order=order)
    np.testing.assert_array_equal(read_npy(npy(array), "x"), array)


def test_anything_else_is_refused():
    for bad in (b"", b"\x93NUMPY", npy(np.zeros(3))[:-1], npy(np.array([{}]), allow_pickle=True)):
        with pytest.raises(FileFormatError, match="'x'"):
            read_npy(bad, "x")
    good = npy(np.zeros(3))
    for header in (b"{'descr': '<f8", b"(" * 40, b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'x'"):
        with pytest.raises(FileFormatError, match="'x'"):  # numpy's own reader evaluates it
            read_npy(good[:10] + header.ljust(len(good) - 34, b" ") + good[-24:], "x")
    for array in (np.zeros((1, 1, 1, 1)), np.zeros(2, "c16"), np.zeros(2, [("a", "f4")])):
        with pytest.raises(FileFormatError, match="'x'"):
            read_npy(npy(array), "x")
