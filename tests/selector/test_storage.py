"""Resuming a search from its file."""

import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import zipfile
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from pqswarm._base.array_file import read_npy
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.selector import EarlyStopping, plan, storage
from pqswarm.selector.storage import open_storage
from tests.selector.problems import WINE, assert_same, quick
from tests.waiting import Clock

X, y = WINE


@pytest.fixture(autouse=True)
def few_evaluations_are_enough(monkeypatch):
    monkeypatch.setattr(plan, "_ENOUGH", 1)


class Stop(Exception):
    pass


def stopping_after(batches):
    def callback(progress):
        calls.append(1)
        if len(calls) == batches:
            raise Stop

    calls = []
    return callback


@pytest.mark.parametrize("algorithm", ["2d-upso", "ga", "sffs"])
@pytest.mark.parametrize("n_subsets", [1, 2])
def test_resumes_unchanged(tmp_path, algorithm, n_subsets):
    options = {"algorithm": algorithm, "n_subsets": n_subsets, "storage": tmp_path / "wine.npz"}
    whole = quick(**(options | {"storage": None})).fit(*WINE)
    for _ in range(20):
        try:
            selector = quick(**options, callbacks=stopping_after(2)).fit(*WINE)
            break
        except Stop:
            pass
    assert_same(selector, whole)
    assert_same(quick(**options).fit(*WINE), whole)
    assert [path.name for path in tmp_path.iterdir()] == ["wine.npz"]


@pytest.mark.parametrize("limit", ["auto", None])
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=2)])
def test_an_ensemble_resumed_at_random_moments_is_the_same(tmp_path, limit, estimator):
    rng = np.random.default_rng(4)
    options = {"n_subsets": 3, "max_features": limit, "algorithm": "merit", "max_evaluations": 90, "cv": 3}
    whole = quick(estimator, **options).fit(*WINE)
    file = tmp_path / "wine.npz"
    for _ in range(20):
        stop = int(rng.integers(1, 90))
        timer = EarlyStopping(max_time=float(rng.uniform(0.01, 0.3)))
        kinds = [lambda progress, stop=stop: progress.n_evaluations >= stop, timer]
        quick(estimator, storage=file, callbacks=kinds[rng.integers(2)], **options).fit(*WINE)
    assert_same(quick(estimator, storage=file, **options).fit(*WINE), whole)


def test_a_larger_budget_of_an_ensemble(tmp_path):
    options = {"n_subsets": 2, "storage": tmp_path / "wine.npz"}
    free = {"max_features": None} | options
    quick(**free, max_evaluations=60).fit(*WINE)
    more = quick(**free, max_evaluations=120).fit(*WINE)
    assert_same(more, quick(**(free | {"storage": None}), max_evaluations=120).fit(*WINE))
    with pytest.raises(PqswarmError, match="of a search of 60 evaluations: set max_evaluations to at least that times"):
        quick(**free, max_evaluations=90).fit(*WINE)
    options["storage"].unlink()
    quick(**options, max_evaluations=120, callbacks=lambda progress: progress.n_evaluations >= 40).fit(*WINE)
    more = quick(**options, max_evaluations=160).fit(*WINE)  # the second phase had not begun
    assert_same(more, quick(**(options | {"storage": None}), max_evaluations=160).fit(*WINE))
    with pytest.raises(PqswarmError, match=r"second phase, .* has begun: set max_evaluations as before"):
        quick(**options, max_evaluations=300).fit(*WINE)


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path, members, method=zipfile.ZIP_DEFLATED):
    """Write an archive anew, with valid checksums."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@contextmanager
def short_messages():
    """Errors have a message of one short line."""
    try:
        yield
    except PqswarmError as error:
        text = str(error)
        if not text.isprintable() or len(text) >= 500:
            raise AssertionError(text) from error
        raise


def test_damage_by_hand_is_refused(tmp_path):
    file = tmp_path / "wine.npz"
    options = {"n_subsets": 2, "max_evaluations": 120, "storage": file}
    whole = quick(**options).fit(*WINE)
    members = members_of(file)
    rng = np.random.default_rng(0)

    def flipped(content):
        place = int(rng.integers(len(content)))
        return content[:place] + bytes([content[place] ^ (1 << int(rng.integers(8)))]) + content[place + 1 :]

    changes = [flipped, flipped, lambda content: content[:-3], lambda content: content.replace(b",)", b", ")]
    changes += [lambda content: content.replace(b"(20,)", b"(2, 10)"), lambda content: content.replace(b"(", b"[(")]
    for name, content in members.items():
        for changed in {change(content) for change in changes} - {content}:
            write_members(file, members | {name: changed})
            with suppress(PqswarmError), short_messages():
                assert_same(quick(**options).fit(*WINE), whole)  # such as another white space
    manifest = members["manifest.json"].replace(b'"2d-upso"', b'"\\u001b[2J' + b"x" * 5000 + b'"')
    write_members(file, members | {"manifest.json": manifest})
    with pytest.raises(PqswarmError), short_messages():
        quick(**options).fit(*WINE)


def test_a_larger_budget_resumes_and_a_smaller_one_is_refused(tmp_path):
    file = str(tmp_path / "wine.npz")
    quick(storage=file, max_evaluations=71).fit(*WINE)
    calls = []
    more = quick(storage=file, callbacks=lambda progress: calls.append(progress.n_evaluations)).fit(*WINE)
    assert_same(more, quick().fit(*WINE))
    assert calls[0] > 71
    with pytest.raises(PqswarmError, match="of a search of 200 evaluations: set max_evaluations to at least that"):
        quick(storage=file, max_evaluations=100).fit(*WINE)


def test_other_searches_are_refused(tmp_path):
    file = tmp_path / "wine.npz"
    quick(storage=file, max_evaluations=30).fit(X, y)
    content = file.read_bytes()
    for options, message in (
        (
            {"estimator": KNeighborsClassifier(3)},
            r"different estimator: GaussianNB\(.*\) before, KNeighborsClassifier\(.*",
        ),
        ({"algorithm": "ga"}, "different algorithm: 2d-upso before, ga now"),
        ({"algorithm": ("2d-upso", {"swarm_size": 20})}, "different parameters"),
        ({"n_features_to_select": 4}, "different parameters"),
        ({"cv": 4}, "different cross-validation"),
        ({"cv": StratifiedKFold(5, shuffle=True)}, "different cross-validation"),
        ({"scoring": "f1_macro"}, "different scoring"),
        ({"random_state": 1}, "different random_state"),
        ({"prefilter": None}, "different prefilter"),
        ({"n_subsets": 2}, "different max_features"),
        ({"constraints": {"fixed": [0]}}, "different constraints"),
    ):
        with pytest.raises(PqswarmError, match=rf"wine\.npz is of another search with {message}.*: delete that file"):
            quick(**({"storage": file, "max_evaluations": 30} | options)).fit(X, y)
    for A, b in ((X + 1, y), (X, y[::-1])):
        with pytest.raises(PqswarmError, match="different data"):
            quick(storage=file, max_evaluations=30).fit(A, b)
    assert file.read_bytes() == content


def test_without_a_random_state_that_of_the_file_is_used(tmp_path):
    file = tmp_path / "wine.npz"
    one = quick(storage=file, random_state=None).fit(*WINE)
    assert_same(quick(storage=file, random_state=None).fit(*WINE), one)


def test_foreign_files_are_refused_and_not_changed(tmp_path):
    file = tmp_path / "wine.npz"
    quick(storage=file, max_evaluations=30).fit(*WINE)
    good = file.read_bytes()
    for bad in (b"", b"no archive", good[: len(good) // 2], good.replace(b"pqswarm-selector", b"pqswarm-selektor")):
        if bad == good:
            continue
        file.write_bytes(bad)
        with pytest.raises(FileFormatError, match=r"wine\.npz"):
            quick(storage=file).fit(*WINE)
        assert file.read_bytes() == bad
    np.savez(file, X=np.arange(3))
    with pytest.raises(FileFormatError, match="not a SwarmSelector file"):
        quick(storage=file).fit(*WINE)


def test_one_process_at_a_time(tmp_path):
    file = tmp_path / "wine.npz"
    with open_storage(file), pytest.raises(PqswarmError, match=r"another process is using .*wine\.npz"):
        quick(storage=file).fit(*WINE)
    (tmp_path / "folder").mkdir()
    with pytest.raises(PqswarmError, match="cannot"):
        quick(storage=tmp_path / "folder").fit(*WINE)


@pytest.mark.slow
def test_a_killed_process_is_resumed(tmp_path):
    file = tmp_path / "wine.npz"
    program = """
        import sys, time
        from pqswarm.selector import storage
        from tests.selector.problems import WINE, quick
        storage._PAUSE = storage._PAUSES = 0.0
        def wait(progress):
            if progress.n_evaluations >= 60:
                print("now", flush=True)
                time.sleep(60)
        quick(storage=sys.argv[1], callbacks=wait).fit(*WINE)
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(file)], stdout=subprocess.PIPE, env=os.environ
    )
    try:
        assert child.stdout.readline().strip() == b"now"
    finally:
        child.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        child.wait()
        child.stdout.close()
    began = []
    resumed = quick(storage=file, callbacks=lambda progress: began.append(progress.n_evaluations)).fit(*WINE)
    assert began[0] >= 60
    assert_same(resumed, quick().fit(*WINE))


def test_saves_at_intervals(tmp_path, monkeypatch):
    file, seen = tmp_path / "wine.npz", []
    clock = Clock(monkeypatch, "selector.storage")

    def look(progress):
        seen.append(file.exists())
        clock.sleep(2.4)

    quick(storage=file, callbacks=look).fit(*WINE)
    assert seen == [False] * 3 + [True] * 4  # after five seconds
    file.unlink()
    seen.clear()
    monkeypatch.setattr(storage, "_PAUSE", 0.0)
    monkeypatch.setattr(storage, "_PAUSES", 0.0)
    quick(storage=file, callbacks=lambda progress: seen.append(file.read_bytes())).fit(*WINE)
    assert len(set(seen)) == len(seen) > 1


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(PqswarmError, match=r"in a folder that does not exist: create .*nowhere"):
        quick(storage=tmp_path / "nowhere" / "wine.npz").fit(*WINE)
    assert not list(tmp_path.iterdir())


def test_clones_that_share_a_file_are_told_why(tmp_path):
    selector = quick(storage=tmp_path / "wine.npz", max_evaluations=20).fit(*WINE)
    with pytest.raises(PqswarmError, match=r"different data .*clones, as in GridSearchCV.* storage=None"):
        clone(selector).fit(X[::2], y[::2])


def stored_again(path, **changes):
    """Write the members anew, some of them changed, with a digest that fits them."""
    members = members_of(path) | changes
    manifest = json.loads(members["manifest.json"])
    arrays = {name.removesuffix(".npy"): read_npy(members[name], name) for name in members if name.endswith(".npy")}
    manifest["digest"] = storage._digest_of_file(manifest["identity"], arrays)
    write_members(path, members | {"manifest.json": json.dumps(manifest)})


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def test_members_that_no_search_has_are_refused(tmp_path):
    file = tmp_path / "wine.npz"
    options = {"max_evaluations": 120, "storage": file}
    quick(**options).fit(*WINE)
    good = members_of(file)
    stored_again(file, **{"x.run.y.npy": npy(np.zeros(1))})
    with pytest.raises(FileFormatError, match="is damaged or not a SwarmSelector file"):
        quick(**options).fit(*WINE)
    letters = np.frombuffer(b"\xff\xff\xff\x7f", "<U1")
    write_members(file, good | {"0.run.search.identity.npy": npy(letters)})
    with pytest.raises(FileFormatError, match="is damaged or not a SwarmSelector file"):
        quick(**options).fit(*WINE)


def test_no_more_is_unpacked_than_a_search_can_have(tmp_path, monkeypatch):
    file = tmp_path / "wine.npz"
    quick(storage=file).fit(*WINE)
    monkeypatch.setattr(storage, "_MAX_UNPACKED", 1_000_000)
    quick(storage=file).fit(*WINE)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0.run.bomb.npy", npy(np.zeros(1_000_000)))
    read = []
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *given: read.append(given))
    with pytest.raises(FileFormatError, match="is damaged or not"):
        quick(storage=file).fit(*WINE)
    assert not read


def test_only_methods_that_are_limited_unpack(tmp_path):
    """The directory entry does not limit what the others unpack to."""
    file = tmp_path / "wine.npz"
    quick(storage=file).fit(*WINE)
    write_members(file, members_of(file), zipfile.ZIP_LZMA)
    with pytest.raises(FileFormatError, match="is damaged or not"):
        quick(storage=file).fit(*WINE)
