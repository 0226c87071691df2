"""A study folder of the first schema: its report can still be written, and it is not resumed."""

import json
import shutil
import sqlite3
from contextlib import closing
from math import inf
from pathlib import Path

import pytest

from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.report import write_report
from pqswarm.study import Store, best_of, format_plan, read_plan, run_study
from pqswarm.study.findings import (
    About,
    AllFeatures,
    Events,
    Finished,
    Grid,
    HeldOut,
    Hyperparameters,
    OneStandardError,
    ProblemDigest,
    StageTwo,
)
from pqswarm.study.planfile import restore_plan
from pqswarm.study.records import mask_text
from tests.study.studies import tiny

OLD = Path(__file__).parent / "data" / "schema-1"


@pytest.fixture
def old(tmp_path):
    return shutil.copytree(OLD, tmp_path / "old")


def rows(folder, statement):
    with closing(sqlite3.connect(folder / "study.sqlite")) as db:
        return db.execute(statement).fetchall()


def test_runs_and_findings_are_those_that_were_kept(old):
    before = (old / "study.sqlite").read_bytes()
    facts = {name: json.loads(value) for name, value in rows(OLD, "SELECT name, value FROM facts")}
    with Store(old) as store:
        kept = rows(OLD, "SELECT classifier, algorithm, run, seed, error, mask, n_evaluations, improvements FROM runs")
        found = []
        for run in store.finished():
            steps = json.dumps(run.result.improvements.tolist())
            key, size = vars(run.key).values(), run.result.n_evaluations
            found.append((*key, str(run.seed), run.error, mask_text(run.mask), size, steps))
        assert sorted(found) == sorted(kept)
        assert {r.key.algorithm: r.result.algorithm for r in store.finished()} == {
            "2d-upso": "2d-upso",
            "small ga": "ga",
            "sffs": "sffs",
        }
        assert best_of(store.finished()).size > 1
        assert store.find(Events).digest == facts["events"]["digest"]
        assert store.find(Finished).at == facts["finished"]
        assert store.find(About).began == facts["began"]
        grid = store.find(Grid, "NB").result
        assert grid.accuracies.tolist() == facts["grid/NB"]["accuracies"]
        assert (grid.names, grid.best) == (("bandwidth",), {"bandwidth": grid.points[grid.accuracies.argmax()][0]})
        assert store.find(Grid, "k-NN") is None
        assert store.find(Hyperparameters, "NB").settings == {"bandwidth": 0.004}
        assert store.find(Hyperparameters, "k-NN").settings == {"n_neighbors": 3, "metric": "manhattan"}
        for name in ("k-NN", "NB"):
            assert store.find(AllFeatures, name).error == facts[f"J(U)/{name}"]
            assert store.find(ProblemDigest, name).digest == facts[f"problem/{name}"]
            assert store.find(HeldOut, name).errors == facts[f"fresh/{name}"]
            smaller = store.find(OneStandardError, name)
            assert facts[f"one-se/{name}"] == {
                "mask": mask_text(smaller.mask),
                "error": smaller.error,
                "standard_error": smaller.standard_error,
            }
            for level in (inf, 30.0):
                stage, kept = store.find(StageTwo, name, level), facts[f"stage2/{name}/{level:g}"]
                assert stage.accuracy == kept["accuracy"]
                assert (stage.before is None) == ("before" not in kept)
            stage = store.find(StageTwo, name, inf)
            assert (stage.before.tolist(), stage.after.tolist()) == tuple(
                facts[f"stage2/{name}/inf"][key] for key in ("before", "after")
            )
        with pytest.raises(PqswarmError, match="cannot be written"):
            store.put(Finished(1.0))
    assert (old / "study.sqlite").read_bytes() == before


def test_its_plan_is_read_in_the_words_of_today(old):
    with Store(old) as store:
        plan = restore_plan(store.find(About).plan)
    assert plan.title == "A study of the first schema"
    assert plan.paper
    assert plan.held_out.seeds == (1,)
    assert [c.parameters for c in plan.classifiers] == [
        {"n_neighbors": 3, "metric": "manhattan"},
        {"bandwidth": 0.004, "floor": 0.0},
    ]
    assert [a.title for a in plan.algorithms] == ["2D-UPSO", "small ga", "SFFS"]
    assert read_plan(format_plan(plan)) == plan


def test_a_report_can_be_written(old):
    text = write_report(old, "md").read_text()
    assert text.startswith("# A study of the first schema")
    assert "small ga" in text


def test_it_is_not_resumed(old):
    before = (old / "study.sqlite").read_bytes()
    with pytest.raises(FileFormatError) as caught:
        run_study(tiny(), old, jobs=1)
    assert str(caught.value) == (
        f"{old}/study.sqlite is of an older pqswarm (schema 1): its report can be written, but to resume it use that "
        f"version, or begin anew in another folder."
    )
    assert (old / "study.sqlite").read_bytes() == before
    assert not (old / "study.lock").exists()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE facts SET value = '{' WHERE name = 'plan'",
        "UPDATE facts SET value = '3' WHERE name = 'one-se/NB'",
        "UPDATE facts SET value = '{}' WHERE name = 'stage2/NB/inf'",
        "DELETE FROM facts WHERE name = 'machine'",
        "UPDATE runs SET size = size + 1",
        "UPDATE runs SET mask = substr(mask, 1, 50) || 'x' || substr(mask, 52)",
        "UPDATE runs SET improvements = '[[1.0'",
        "UPDATE runs SET algorithm = 'nobody' || run WHERE algorithm = 'sffs'",
    ],
)
def test_damage_is_said(old, change):
    with closing(sqlite3.connect(old / "study.sqlite", isolation_level=None)) as db:
        db.execute(change)
    with pytest.raises(FileFormatError, match=r"is damaged .*restore it from a copy"):
        Store(old)


def test_one_that_has_just_begun(old):
    with closing(sqlite3.connect(old / "study.sqlite", isolation_level=None)) as db:
        db.execute("DELETE FROM facts")
        db.execute("DELETE FROM runs")
    with Store(old) as store:
        assert store.find(About) is None
        assert store.finished() == []
        assert store.checkpoints() == {}
