"""Studies on several data sets: the runs on each are those of a study on it alone; kills, processes and old files."""

import shutil
from contextlib import closing

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.report import write_report
from pqswarm.study import Store, format_plan, load_plan, read_plan, read_study, run_study
from pqswarm.study.findings import AllFeatures, Finished, HeldOut
from pqswarm.study.plan import change_plan
from pqswarm.study.progress import Follower
from tests.study.own_data import PLAN, flowers
from tests.study.studies import change_database, plan_toml, seeded_toml, tiny

SEEDS = (3, 4, 5)


def several():
    """A plan on three data sets; two runs of two searches with SFFS."""
    return read_plan(seeded_toml([*SEEDS], 40))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("several") / "study"
    run_study(several(), folder, jobs=1)
    return folder


def runs_of(folder, dataset=""):
    with Store(folder) as store:
        return {(r.key.classifier, r.key.algorithm, r.key.run): r for r in store.of(dataset).finished()}


def test_runs_on_one_data_set_are_those_of_a_study_on_it_alone(finished, tmp_path):
    plan = tiny(runs=2, max_evaluations=40)
    alone = plan.model_copy(update={"dataset": plan.dataset.model_copy(update={"seed": 4}), "held_out": None})
    run_study(alone, tmp_path / "alone", jobs=1)
    together, single = runs_of(finished, "seed 4"), runs_of(tmp_path / "alone")
    assert together.keys() == single.keys()
    for place, one in single.items():
        np.testing.assert_array_equal(one.mask, together[place].mask)
        assert (one.error, one.seed) == (together[place].error, together[place].seed)
    with Store(finished) as store, Store(tmp_path / "alone") as other:
        assert store.of("seed 4").find(AllFeatures, "NB").error == other.find(AllFeatures, "NB").error


def test_subsets_are_tested_on_the_other_data_sets(finished):
    with Store(finished) as store:
        seeds = [seed for seed in SEEDS if store.of("seed 4").find(HeldOut, "NB", np.inf, seed) is not None]
        assert store.of("seed 4").find(Finished) is not None
    assert seeds == [3, 5]
    assert sorted(path.name for path in (finished / "datasets").iterdir()) == [f"seed-{seed}.npz" for seed in SEEDS]


def test_followed_like_any_study(finished):
    with closing(Follower(finished)) as follower:
        status = follower.read_status()
    assert status.state == "finished"
    assert status.progress.runs_done == status.progress.runs_total == 3 * 2 * 5
    assert {stage.name: stage.done for stage in status.stages}["data"] == 3 * 2
    assert all(stage.done == stage.total for stage in status.stages)


def test_five_files_of_ones_own(tmp_path):
    text = PLAN.replace('[dataset]\nfile = "flowers.csv"\n', "")
    for i in range(5):
        (tmp_path / f"meadow {i}.csv").write_text(flowers(i))
        text = f'{text}[[datasets]]\nfile = "meadow {i}.csv"\n'
    (tmp_path / "plan.toml").write_text(text)
    plan = load_plan(tmp_path / "plan.toml")
    run_study(plan, tmp_path / "study", jobs=1)
    report = write_report(tmp_path / "study", "md").read_text(encoding="utf-8")
    assert "The unit of all tests is the data set (5)" in report
    assert "meadow 0, meadow 1, meadow 2, meadow 3 and meadow 4" in report
    assert "5 data sets of 48 samples each" in report
    assert "paper" not in report.lower()
    assert read_plan(format_plan(plan), folder=tmp_path).model_dump() == plan.model_dump()
    one = write_report(tmp_path / "study", "md", dataset="meadow 3").read_text(encoding="utf-8")
    assert "48 samples of 3 classes" in one


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[dataset]\nseeds = [1, 1]\n", "contains a seed twice"),
        ("[dataset]\nseed = 3\nseeds = [1, 2]\n", "seed and seeds are both given"),
        ("[dataset]\nseeds = []\n", "seeds"),
        ("[dataset]\nseeds = [1]\n[held_out]\ncross_dataset = true\n", "cross_dataset needs several dataset.seeds"),
        ("[dataset]\nseeds = [1, 2]\n[held_out]\nseeds = [2]\n", "held_out.seeds must not contain dataset.seed"),
        ("[dataset]\nseed = 3\n[[datasets]]\npreset = 'paper'\n", "dataset and datasets are both given"),
        ("[[datasets]]\n[[datasets]]\n", "the name 'paper' twice"),
        ("[[datasets]]\nname = 'a'\nseeds = [1, 2]\n", "give each of"),
        ("datasets = []\n", "datasets is empty"),
        ("[[datasets]]\nfile = 'a.csv'\n[[datasets]]\nname = 'b'\nfile = 'a.csv'\n", "the file 'a.csv' twice"),
    ],
)
def test_wrong_plans(text, message):
    rest = "".join(part for part in plan_toml().partition("[folds]")[1:])
    with pytest.raises(PqswarmError, match=message):
        read_plan(text + rest)


def test_a_report_names_the_data_sets_it_lacks(finished, tmp_path):
    half = shutil.copytree(finished, tmp_path / "half")
    change_database(half, "DELETE FROM runs WHERE dataset = 'seed 5' AND algorithm = 'ga'")
    text = write_report(half, "md").read_text(encoding="utf-8")
    assert "2 data sets of 40 events" in text
    assert "seed 5 is left out" in text
    tests = "DELETE FROM findings WHERE dataset = 'seed 4' AND kind IN ('StageTwo', 'HeldOut')"
    change_database(half, "DELETE FROM runs WHERE dataset = 'seed 4' AND algorithm = 'sffs'", tests)
    text = write_report(half, "md", pairs=[("ga", "2d-upso")]).read_text(encoding="utf-8")
    assert "Runs are missing on seed 4" in text
    assert "GA (mean" in text  # the chosen pair
    with pytest.raises(PqswarmError, match="data set 'seed 9'"):
        write_report(finished, "md", dataset="seed 9")


def test_keys_of_members_named_after_their_files():
    plan = {"datasets": [{"file": "a.csv"}, {"file": "x/b.csv"}, {"name": "c", "file": "d.csv"}]}
    changed = change_plan(plan, {"datasets.*.label": "cause", "datasets.b.file": "e.csv"})
    assert [one["label"] for one in changed["datasets"]] == ["cause"] * 3
    assert changed["datasets"][1]["file"] == "e.csv"
    with pytest.raises(PqswarmError, match="Known: a, b, c"):
        change_plan(plan, {"datasets.e.file": "a"})


def test_keys_of_presets_and_parameters():
    plan = {"runs": 40, "dataset": {"preset": "paper"}, "algorithms": [{"algorithm": "ga"}]}
    changed = change_plan(plan, {"runs": 5, "dataset.preset.bench.fraction": 0, "algorithms.ga.elites": 2})
    assert changed["dataset"] == {"preset": {"extends": "paper", "bench": {"fraction": 0}}}
    assert changed["algorithms"] == [{"algorithm": "ga", "parameters": {"elites": 2}}]


def test_runs_as_a_data_frame(finished):
    frame = read_study(finished).to_frame()
    assert list(frame["dataset"].unique()) == [f"seed {seed}" for seed in SEEDS]
    assert len(frame) == 3 * 2 * 5
    assert (frame["size"] == frame["features"].map(len)).all()
