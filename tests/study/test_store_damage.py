"""Damage of a store: whatever is hit, what is read was written, or is refused in one clear sentence."""

import hashlib
import io
import sqlite3
import zipfile
from collections import Counter
from contextlib import closing

import numpy as np
import pytest

from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.study import Store
from pqswarm.study.findings import AllFeatures, HeldOut
from pqswarm.study.records import packed_state, unpacked_state
from tests.study.samples import assert_same_record, assert_same_state, checkpoint, record

HELD_OUT = HeldOut("k-NN", {f"subset {i}": (i / 7,) for i in range(150)})


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    """The bytes of a store with runs, facts and checkpoints."""
    folder = tmp_path_factory.mktemp("healthy")
    with Store(folder, write=True) as store:
        store.put(AllFeatures("NB", 1 / 3), HELD_OUT)
        for run in range(40):
            store.finish(record(run))
        store.save_checkpoints([checkpoint(run) for run in range(40, 44)])
    assert not list(folder.glob("*-wal"))
    return (folder / "study.sqlite").read_bytes()


def foreign(path, version):
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE photos (name TEXT)")
        db.execute(f"PRAGMA user_version = {version}")


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE runs ADD COLUMN more GENERATED ALWAYS AS (hex(zeroblob(300000000 + run)))",
        "CREATE INDEX slow ON runs (hex(zeroblob(run)))",
        "ALTER TABLE runs RENAME COLUMN mask TO subset",
        "ALTER TABLE runs ADD COLUMN more TEXT",
        "ALTER TABLE findings RENAME COLUMN level TO decibels",
        "CREATE TABLE more (name TEXT)",
    ],
)
def test_a_study_with_another_schema_is_refused_and_left_alone(tmp_path, healthy, statement, write):
    path = tmp_path / "study.sqlite"
    path.write_bytes(healthy)
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = path.read_bytes()
    with pytest.raises(FileFormatError, match="not a pqswarm study"):
        Store(tmp_path, write=write)
    assert path.read_bytes() == before


def test_texts_of_any_size_are_not_read(tmp_path, healthy, monkeypatch):
    (tmp_path / "study.sqlite").write_bytes(healthy)
    with closing(sqlite3.connect(tmp_path / "study.sqlite")) as db, db:
        db.execute("UPDATE runs SET mask = hex(zeroblob(40000))")
    monkeypatch.setattr("pqswarm.study.store.MAX_SQLITE_BYTES", 50_000)
    with Store(tmp_path) as store, pytest.raises(FileFormatError, match="too big"):
        store.finished()


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize(
    "kind", ["truncated", "half", "header", "middle", "text", "foreign", "foreign of version 1", "foreign of version 2"]
)
def test_damaged_and_foreign_files_are_refused_and_left_alone(tmp_path, healthy, kind, write):
    path = tmp_path / "study.sqlite"
    if kind.startswith("foreign"):
        foreign(path, int(kind[-1]) if kind[-1].isdigit() else 0)
    else:
        damaged = {
            "truncated": healthy[:-4096],
            "half": healthy[: len(healthy) // 2 + 100],
            "header": b"\0" * 100 + healthy[100:],
            "middle": healthy[:4096] + np.random.default_rng(0).bytes(8192) + healthy[12288:],
            "text": b"These are the notes of somebody else.\n" * 50,
        }
        path.write_bytes(damaged[kind])
    before = path.read_bytes()
    with pytest.raises(FileFormatError, match=r"damaged .*(restore it|recover)|not a pqswarm study: move it away"):
        Store(tmp_path, write=write)
    assert path.read_bytes() == before


def test_random_damage_gives_clear_errors_only(tmp_path, healthy):
    """Whatever bytes are hit: what is read is either refused with an explanation or well formed."""
    rng, outcomes = np.random.default_rng(1), Counter()
    for _ in range(250):
        content = bytearray(healthy)
        for place in rng.integers(0, len(content), size=rng.integers(1, 30)):
            content[place] = rng.integers(0, 256)
        (tmp_path / "study.sqlite").write_bytes(content)
        for leftover in tmp_path.glob("*-*"):
            leftover.unlink()
        try:
            with Store(tmp_path, write=True) as store:
                records, checkpoints = store.finished(), store.checkpoints()
                held_out = store.find(HeldOut, "k-NN")
        except PqswarmError:  # nothing else
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        outcomes["lost"] += 4 - len(checkpoints)
        assert held_out is None or held_out.to_json() == HELD_OUT.to_json()
        for one in records:
            assert_same_record(one, record(one.key.run))
        for key, one in checkpoints.items():
            if key == checkpoint(key.run).key and 40 <= key.run < 44:
                assert_same_state(one.state, checkpoint(key.run).state)
    assert outcomes["refused"] > 20
    assert outcomes["read"] > 20
    assert outcomes["lost"] > 5


def test_a_damaged_checkpoint_is_ignored(tmp_path):
    with Store(tmp_path, write=True) as store:
        store.save_checkpoints([checkpoint(run) for run in range(7)])
        store.database.connection.execute("UPDATE checkpoints SET n_evaluations = 'many' WHERE run = 4")
        store.database.connection.execute("UPDATE checkpoints SET best_error = 'small' WHERE run = 5")
        store.database.connection.execute("UPDATE checkpoints SET seconds = 9e999 WHERE run = 6")
        store.database.connection.execute("UPDATE checkpoints SET state = x'00' WHERE run = 0")
        store.database.connection.execute(
            "UPDATE checkpoints SET state = substr(state, 1, length(state) - 9) WHERE run = 1"
        )
        store.database.connection.execute("UPDATE checkpoints SET state = 'text' WHERE run = 2")
    with Store(tmp_path) as store:
        assert [key.run for key in store.checkpoints()] == [3]


def test_every_change_of_a_checkpoint_is_noticed():
    good = packed_state(checkpoint().state)
    assert_same_state(unpacked_state(good), checkpoint().state)
    rng = np.random.default_rng(0)
    damaged = [good[: rng.integers(0, len(good))] for _ in range(50)] + [b"", b"\x80", good + b"x"]
    for _ in range(200):
        content = bytearray(good)
        content[rng.integers(0, len(good))] ^= int(rng.integers(1, 256))
        damaged.append(bytes(content))
    for data in damaged:
        with pytest.raises(FileFormatError, match="a checkpoint is damaged"):
            unpacked_state(data)


def test_checkpoints_of_strangers_are_ignored():
    """What has a digest, and yet is no state: other files, headers that would be evaluated, bombs."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("best.npy", b"\x93NUMPY\x01\x00v\x00{'descr': (" + b" " * 200)
    for content in (b"", b"text", file.getvalue()):
        data = hashlib.sha256(content).digest() + content
        with pytest.raises(FileFormatError, match="a checkpoint is damaged"):
            unpacked_state(data)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE runs SET mask = substr(mask, 1, 50) || 'x' || substr(mask, 52)",
        "UPDATE runs SET mask = replace(mask, '01', '10')",
        "UPDATE runs SET n_evaluations = n_evaluations + 1",
        "UPDATE runs SET search = 'ga'",
        "UPDATE runs SET front = '[]'",
        "UPDATE runs SET run = run + 1",
        "UPDATE runs SET improvements = replace(improvements, '17.0', '18.0')",
        "UPDATE runs SET seconds = seconds * 2",
        "UPDATE runs SET digest = ''",
        "UPDATE runs SET improvements = '[[1.0, 2.0], [3.0]]'",
        "UPDATE runs SET improvements = '[[1.0'",
        "UPDATE runs SET seed = 'seven'",
        "UPDATE runs SET error = 'small'",
        "UPDATE runs SET mask = x'3031'",
        "UPDATE findings SET value = '{'",
        "UPDATE findings SET value = replace(value, '0.25', '0.26')",
        "UPDATE findings SET value = CAST(x'ff22' AS TEXT)",
        "UPDATE findings SET value = x'00'",
    ],
)
def test_rows_that_cannot_be_what_was_written_are_refused(tmp_path, change):
    with Store(tmp_path, write=True) as store:
        store.finish(record())
        store.put(AllFeatures("k-NN", 0.25))
        store.database.connection.execute(change)
    with Store(tmp_path) as store, pytest.raises(FileFormatError, match=r"is damaged .*restore it from a copy"):
        _ = store.finished(), store.find(AllFeatures, "k-NN"), store.statuses()
