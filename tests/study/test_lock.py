"""The lock: one process at a time, whatever lies in its place."""

import errno
import os
import subprocess

import pytest

from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.study import Store, run_study
from pqswarm.study.store import lock_study
from tests.study.studies import plan_toml, start_command, tiny
from tests.waiting import wait_until


@pytest.mark.slow
def test_a_second_process_is_refused_until_the_first_is_dead(tmp_path):
    (tmp_path / "plan.toml").write_text(plan_toml(max_evaluations=1_000_000))
    folder = tmp_path / "study"
    first = start_command("study", tmp_path / "plan.toml", "--out", folder, "--jobs", 1, stderr=subprocess.DEVNULL)
    try:
        wait_until((folder / "dataset.npz").exists, "the study has started")
        with pytest.raises(PqswarmError) as caught:
            run_study(tiny(), folder, jobs=1)
        assert str(caught.value) == f"another process is running the study in {folder}: wait until it ends."
        assert first.poll() is None
    finally:
        first.kill()
        first.wait()
    with pytest.raises(PqswarmError, match="max_evaluations: 150 in the plan, 1000000 in the study"):
        run_study(tiny(), folder, jobs=1)


def test_it_is_held_once_and_given_back(tmp_path):
    folder = tmp_path / "new" / "study"
    for _ in range(2):
        said = f"another process is running the study in {folder}: wait until it ends"
        with lock_study(folder), pytest.raises(PqswarmError, match=said), lock_study(folder):
            pytest.fail("it was held twice")
    with pytest.raises(ZeroDivisionError), lock_study(folder):
        _ = 1 / 0
    with lock_study(folder):
        pass


def test_files_of_others_are_neither_followed_nor_emptied(tmp_path):
    folder, precious = tmp_path / "study", tmp_path / "precious"
    folder.mkdir()
    precious.write_text("precious")
    lock = folder / "study.lock"
    lock.symlink_to(precious)
    with pytest.raises(
        PqswarmError, match=r"cannot use .*study for a study: .*study.lock is not a regular file: move it"
    ):
        run_study(tiny(), folder, jobs=1)
    lock.unlink()
    lock.symlink_to(tmp_path / "absent")
    with pytest.raises(PqswarmError, match="is not a regular file"), lock_study(folder):
        pass
    assert not (tmp_path / "absent").exists()
    lock.unlink()
    os.link(precious, lock)
    with lock_study(folder):
        pass
    assert precious.read_text() == "precious"


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_it_does_not_hang_on_a_pipe(tmp_path, kind):
    os.mkfifo(tmp_path / "study.lock") if kind == "pipe" else (tmp_path / "study.lock").mkdir()
    with pytest.raises(PqswarmError, match=r"study.lock is not a regular file"), lock_study(tmp_path):
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_said_to_be_one(tmp_path, monkeypatch, number):
    def fail(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", fail)
    with pytest.raises(PqswarmError) as caught, lock_study(tmp_path):
        pass
    assert str(caught.value) == (
        f"cannot use {tmp_path} for a study: its file system cannot lock study.lock ({os.strerror(number)}): use a "
        f"folder on a local disk."
    )


def test_other_failures_are_named(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(PqswarmError, match=r"cannot use .*file for a study: File exists\."),
        lock_study(tmp_path / "file"),
    ):
        pass


@pytest.mark.parametrize("name", ["study.lock", "study.sqlite"])
@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_study_that_loses_its_files_stops_at_once(tmp_path, name, how):
    """Else it would compute to the end and lose all of it, or run beside a second process."""
    told = []

    def lose(progress):
        told.append(progress.stage)
        if progress.stage == "searching":
            (tmp_path / name).unlink()
            if how == "replaced":
                (tmp_path / name).touch()

    with pytest.raises(PqswarmError, match=rf"{name} was removed.* while the study was running"):
        run_study(tiny(algorithms=("2d-upso",)), tmp_path, jobs=1, progress=lose)
    assert told.count("searching") == 1
    assert told[-1] == "searching"


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder"])
def test_the_store_follows_no_links_and_waits_for_no_pipe(tmp_path, kind, ending):
    folder, precious = tmp_path / "study", tmp_path / "precious"
    with Store(folder, write=True):
        pass
    precious.write_text("precious")
    path = folder / f"study.sqlite{ending}"
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(precious if kind == "link" else tmp_path / "absent")
    with pytest.raises(FileFormatError, match=r"study\.sqlite.* is not a regular file: move it away"):
        Store(folder, write=True)
    assert precious.read_text() == "precious"
    assert not (tmp_path / "absent").exists()
