"""Many files: each has analyses or a reason."""

import json
import shutil
import zipfile
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.app.recordings import three_phases, write_pair

import pqswarm.identify
from pqswarm._base.text import json_text
from pqswarm.datasets import Samples, make_dataset
from pqswarm.errors import PqswarmError
from pqswarm.identify import COLUMNS, Analysis, Archive, Failure, find_recordings, identify_file, load_site
from pqswarm.identify.archive import analyzer
from pqswarm.identify.archive.export import export_csv_table
from pqswarm.identify.folder import batch
from pqswarm.identify.folder.batch import is_ours, scan
from pqswarm.identify.show.rows import line_heading, text_lines
from pqswarm.recordings import Channel, Site, write_comtrade
from pqswarm.study.worker import InlineExecutor, WorkerPool

SAG = {"seconds": 0.5, "sag": (0.2, 0.3)}


@pytest.fixture
def folder(tmp_path):
    for name in ("one", "two"):
        write_pair(tmp_path / name / "fault.cfg", **SAG)
    return tmp_path


def test_pairs_and_folders_are_found_once(folder):
    (folder / "two/alone.dat").write_bytes(b"x")
    (folder / "two/upper.CSV").write_text("x")
    (folder / "truth.csv").write_text("file,type,phases,start\n")
    (folder / "rows.csv").write_text(export_csv_table([]))
    for name in ("two/.hidden.csv", "README.txt", "two/requirements.txt", "two/dev-requirements.txt", "LICENSE.txt"):
        (folder / name).write_text("x\n")
    found, failures = find_recordings([folder, folder / "one/fault.dat", folder / "two/alone.dat", folder / "none.cfg"])
    names = [path.relative_to(folder).as_posix() for path in found]
    assert names == ["one/fault.cfg", "two/fault.cfg", "two/upper.CSV", "two/alone.dat", "none.cfg"]
    assert failures == []
    (folder / "empty").mkdir()
    assert "contains no recordings" in str(find_recordings([folder / "empty"])[1][0])


@pytest.mark.slow
def test_files_of_one_name_are_told_apart(folder, small):
    found = [one for path in find_recordings([folder])[0] for one in identify_file(path, model=small)]
    rows = [row for one in found for row in one.rows()]
    assert [row["path"] for row in rows] == [str(folder / "one/fault.cfg"), str(folder / "two/fault.cfg")]
    assert {row["source"] for row in rows} == {"fault.cfg"}
    assert rows[0]["type"] == "sag"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PqswarmError("something is wrong."), "something is wrong."),
        (ZeroDivisionError("division by zero"), "could not be analyzed: ZeroDivisionError: division by zero."),
        (MemoryError(), "needs more memory than is available."),
        (RecursionError("too deep"), "could not be analyzed: RecursionError: too deep."),
        (AssertionError(), "could not be analyzed: AssertionError."),
    ],
)
@pytest.mark.parametrize("place", ["open_recordings", "identify"])
def test_whatever_goes_wrong_is_the_files_failure(error, reason, place, folder, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(batch, place, fail)
    path = folder / "one/fault.cfg"
    (found,) = identify_file(path)
    assert found == Failure(str(path), "" if place == "open_recordings" else "fault.cfg", reason)
    assert str(found) == f"{path}: {reason}"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_the_user_may_interrupt(error, folder, monkeypatch):
    def stop(*_, **__):
        raise error

    monkeypatch.setattr(batch, "identify", stop)
    with pytest.raises(error):
        list(identify_file(folder / "one/fault.cfg"))


def test_progress_is_told_and_may_end_the_work(folder, small):
    told = []
    (analysis,) = identify_file(folder / "one/fault.cfg", model=small, progress=lambda *now: told.append(now))
    total = told[0][1]
    assert isinstance(analysis, Analysis)
    assert told[-1] == (total, total)

    def cancel(done, total):
        raise ValueError("the page was closed")

    with pytest.raises(ValueError, match="the page was closed"):
        list(identify_file(folder / "one/fault.cfg", model=small, progress=cancel))


def test_logs_of_rms_and_odd_times_are_failures_or_verdicts(tmp_path, small):
    """What once ended a whole batch with a traceback."""
    t = np.arange(400)
    wave = 325 * np.sin(2 * np.pi * 50 * t / 6400)
    slow = "\n".join(f"{k / 50},{230 + k % 3}" for k in t)
    micro = "\n".join(f"{k * 156.25},{u:.3f}" for k, u in zip(t, wave, strict=True))
    for name, text in (("rms.csv", f"time [s],U [V]\n{slow}\n"), ("micro.csv", f"time [us],U [V]\n{micro}\n")):
        (tmp_path / name).write_text(text)
    found = [one for path in find_recordings([tmp_path])[0] for one in identify_file(path, model=small)]
    assert len(found) == 2
    assert all(isinstance(one, Analysis | Failure) for one in found)


def test_a_failed_figure_does_not_cost_the_verdict(folder, small):
    def draw(source, analysis):
        raise OSError("disk full")

    analysis, failure = identify_file(folder / "one/fault.cfg", model=small, after=draw)
    assert analysis.rows()[0]["type"] == "sag"
    assert "disk full" in failure.reason


def test_a_site_file_comes_first_and_what_is_given_before_it(folder, small):
    site = Site.read(
        'station = "Nord"\nreference = "nominal"\nnominal_voltage = { line_to_line = 40000 }\n'
        '[channels."U*"]\nratio = 100\n[channels.UC]\nignore = true\n[thresholds]\nsag = 0.4'
    )
    (analysis,) = identify_file(folder / "one/fault.cfg", model=small, site=site)
    assert [one.name for one in analysis.characterization.channels] == ["UA", "UB"]
    assert analysis.characterization.channels[0].reference == pytest.approx(40e3 / np.sqrt(3))
    assert analysis.station == "Nord"
    assert not [row for row in analysis.rows() if row["type"] == "sag"]
    (analysis,) = identify_file(
        folder / "one/fault.cfg", model=small, site=site, thresholds={}, nominal_voltage=22e3, reference="nominal"
    )
    assert analysis.characterization.channels[0].reference == 22e3
    assert analysis.rows()[0]["type"] == "sag"


def test_systems_of_a_site_are_those_of_the_events(tmp_path, small):
    """Two systems whose channels lie crosswise, so that their order does not tell."""
    made = three_phases(**SAG)
    a, b, c, _ = made.channels
    crosswise = [("X1", a), ("Y1", b), ("X2", b), ("Y2", c), ("X3", c), ("Y3", b)]
    channels = tuple(Channel(name, "V", "ABC"[k // 2], one.samples) for k, (name, one) in enumerate(crosswise))
    write_comtrade(replace(made, channels=channels), tmp_path / "two.cfg")
    site = Site.read('[channels."X*"]\nsystem = "bar X"\n[channels."Y*"]\nsystem = "bar Y"')
    (analysis,) = identify_file(tmp_path / "two.cfg", model=small, site=site)
    assert [one.system for one in analysis.characterization.channels] == ["bar X", "bar Y"] * 3
    # The voltages of bar Y are no three-phase system, which is its unbalance.
    assert [(row["type"], row["system"], row["phases"]) for row in analysis.rows()] == [
        ("unbalance", "bar Y", "A B C"),
        ("sag", "bar X", "A"),
    ]


def test_thresholds_of_a_site_are_checked_at_once(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text("[thresholds]\nsga = 0.8\n")
    with pytest.raises(PqswarmError, match=r"site\.toml: thresholds: .*did you mean 'sag'"):
        load_site(path)


def test_lines_of_text_csv_and_json(folder, small):
    (analysis,) = identify_file(folder / "one/fault.cfg", model=small)
    rows = [dict(row, date="2026-03-02", time="10:15:30.412") for row in analysis.rows()]
    line = text_lines(rows)[0]
    assert line.startswith("2026-03-02 10:15:30.412  instantaneous sag (type Ba)  A  0.50 pu (115 V)  1")
    assert f"({rows[0]['cycles']:.1f} cycles)" in line
    assert line_heading(analysis).endswith("fault.cfg")
    assert export_csv_table(rows, columns=COLUMNS).splitlines()[0] == ",".join(COLUMNS)
    odd = {"a": float("inf"), "b": [np.float64(2.5), (np.int64(3),)], "c": {"d": float("nan")}}
    assert json.loads(json_text(odd)) == {"a": None, "b": [2.5, [3]], "c": {"d": None}}
    assert json.loads(json_text(analysis.as_dict()), parse_constant=pytest.fail)


def test_what_is_not_known_has_no_words():
    row = dict.fromkeys(COLUMNS, "") | {"type": "transient", "magnitude": None, "unit": "pu", "volts": None}
    (line,) = text_lines([row | {"duration_s": None, "cycles": None, "offset_s": None}])
    assert line == "+0.000 s  transient"


def test_data_sets_and_models_are_no_recordings(tmp_path):
    data = make_dataset(1, snr=40)
    data.save(tmp_path / "dataset.npz")
    Samples.of(data.features[0], data.y).save(tmp_path / "study.npz")
    shutil.copy(Path(pqswarm.identify.__file__).with_name("default.npz"), tmp_path / "model.npz")
    wave = np.cos(2 * np.pi * 50 * np.arange(3200) / 6400)
    np.savez(tmp_path / "recording.npz", U=wave, fs=6400.0)
    with zipfile.ZipFile(tmp_path / "theirs.npz", "w") as file:
        file.writestr("manifest.json", "{}")
    assert {one.name for one in scan(tmp_path) if not is_ours(one.parts[0])} == {"recording.npz", "theirs.npz"}


def test_the_death_of_a_worker_stops_no_other_file(folder, monkeypatch):
    """Files "two" end their worker, each time or once; those of a pool that died are analyzed again."""
    write_pair(folder / "three.cfg", **SAG, residual=0.4)
    begun = []

    class Dying(InlineExecutor):
        dead = False

        def submit(self, fn, /, *args, **kwargs):
            begun.append(Path(args[-1]).parent.name)
            self.dead = self.dead or ("two" in begun[-1] and begun.count("two") <= deaths)
            if self.dead:
                raise BrokenProcessPool("a worker died")
            return super().submit(fn, *args, **kwargs)

    @contextmanager
    def pool(*_):
        yield WorkerPool(Dying, 2, 1.0)

    monkeypatch.setattr("pqswarm.study.worker.worker_pool", pool)
    paths = [folder / name for name in ("one/fault.cfg", "two/fault.cfg", "three.cfg")]
    write_pair(paths[1], **SAG, residual=0.6)
    for deaths, reasons in ((1, []), (9, ["ended its worker twice: is there enough memory?"])):
        begun.clear()
        with Archive(folder / f"archive{deaths}") as archive:
            found = list(analyzer.identify_many(paths, {}, archive=archive, jobs=2))
            assert [path for path, _, _ in found] == paths
            assert [one.reason for _, (one,), _ in found if isinstance(one, Failure)] == reasons
            counts = archive.counts()
            assert (counts["recordings"], counts["waiting"]) == (3 - len(reasons), len(reasons))
