"""Studies of data of one's own: from files and frames, resumed, and what is refused."""

import io
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from pqswarm.cli.study import check
from pqswarm.datasets import Samples, read_samples
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.study import format_plan, load_plan, plan_text, read_plan, run_study
from pqswarm.study.findings import About, AllFeatures, Events, HeldOut, Hyperparameters, StageTwo
from pqswarm.study.plan_file import restore_plan
from tests.conftest import made_once
from tests.study.own_data import NAMES, PLAN, SHARE, flowers, own_plan
from tests.study.studies import contents, find


@pytest.fixture(scope="session")
def plans(tmp_path_factory):
    """A folder with the finished study of a plan with a fraction held out, and the plan; only to be read."""

    def make(folder):
        run_study(own_plan(folder, SHARE), folder / "study", jobs=1)

    return made_once(tmp_path_factory, "own-study", make)


@pytest.fixture
def copied(plans, tmp_path):
    return shutil.copytree(plans, tmp_path / "copy")


def test_the_searches_see_what_is_not_held_out(plans):
    data = read_samples(plans / "flowers.csv")
    seen, aside = data.split(0.25, 0)
    about = find(plans / "study", Events)
    assert (about.count, about.held_out, about.digest) == (36, 12, data.digest)
    assert about.feature_names == NAMES
    assert about.class_names == ("setosa", "versicolor", "virginica")
    k = find(plans / "study", Hyperparameters, "k-NN").settings
    model = make_pipeline(MinMaxScaler(), KNeighborsClassifier(**k)).fit(seen.features, seen.y)
    found = find(plans / "study", HeldOut, "k-NN", np.inf, 0)
    assert found.errors["all features"] == pytest.approx([1 - model.score(aside.features, aside.y)])
    assert set(found.errors) == {"all features", "2d-upso", "ga", "sffs", "one standard error"}
    assert find(plans / "study", StageTwo, "k-NN", np.inf).before.sum() == 36
    assert read_samples(plans / "study" / "dataset.npz").digest == data.digest


def test_it_is_resumed_without_the_file_and_refused_with_another(copied):
    plan, study = load_plan(copied / "plan.toml"), copied / "study"
    before, rows = contents(study), (copied / "flowers.csv").read_text()
    (copied / "flowers.csv").write_text(rows.replace("setosa", "setose"))
    with pytest.raises(PqswarmError, match=r"flowers\.csv does not hold the data this study started with .*npz"):
        run_study(plan, study, jobs=1)
    (copied / "flowers.csv").unlink()
    run_study(plan, study, jobs=1)
    assert contents(study) == before
    data = Samples.of(pd.read_csv(io.StringIO(flowers(seed=1))))
    data.save(study / "dataset.npz")
    with pytest.raises(FileFormatError, match=r"dataset\.npz is damaged: it does not hold the data"):
        run_study(plan, study, jobs=1)
    (study / "dataset.npz").unlink()
    with pytest.raises(PqswarmError, match=r"neither .*flowers\.csv nor its copy .*dataset\.npz exists: restore one"):
        run_study(plan, study, jobs=1)
    (copied / "flowers.csv").write_text(rows)
    run_study(plan, study, jobs=1)
    assert contents(study) == before
    assert (study / "dataset.npz").exists()


def test_a_frame_gives_the_same_study(plans, tmp_path):
    frame = pd.read_csv(plans / "flowers.csv")
    plan = read_plan(PLAN.replace("flowers.csv", "dataset.npz") + SHARE)
    run_study(plan, tmp_path / "study", jobs=1, data=frame)
    ours, theirs = contents(tmp_path / "study"), contents(plans / "study")
    assert (ours["runs"], ours["findings"]) == (theirs["runs"], theirs["findings"])
    kept = restore_plan(find(tmp_path / "study", About).plan)
    assert kept.dataset.file == "dataset.npz"
    # The plan that the report prints, put into the folder of the study, is that study.
    (tmp_path / "study" / "again.toml").write_text(format_plan(kept))
    run_study(load_plan(tmp_path / "study" / "again.toml"), tmp_path / "study", jobs=1)
    assert contents(tmp_path / "study") == ours


def test_a_plan_for_given_data_need_not_speak_of_data(tmp_path):
    plan = read_plan(PLAN.replace('[dataset]\nfile = "flowers.csv"\n', "").replace("runs = 2", "runs = 1"))
    data = Samples.of(pd.read_csv(io.StringIO(flowers())))
    run_study(plan, tmp_path / "study", jobs=1, data=(data.features, data.y))
    kept = restore_plan(find(tmp_path / "study", About).plan)
    assert (kept.dataset.file, kept.held_out, kept.title) == ("dataset.npz", None, "Feature selection")
    assert find(tmp_path / "study", Events).feature_names == ("x0", "x1", "x2", "x3", "x4", "x5")


def test_data_beside_a_plan_of_others(tmp_path):
    with pytest.raises(
        PqswarmError, match=r"data are given, but the plan describes others:[^$]*preset applies to generated"
    ):
        run_study(load_plan("smoke"), tmp_path / "study", data=pd.read_csv(io.StringIO(flowers())))
    assert not (tmp_path / "study").exists()


def test_what_is_searched_is_not_held_out(tmp_path):
    plan = own_plan(tmp_path, '[held_out]\nfile = "test.csv"\n', "runs = 2", "runs = 1")
    shutil.copy(plan.dataset.path, tmp_path / "test.csv")
    with pytest.raises(PqswarmError, match=r"test.csv is searched, so it cannot be held out"):
        run_study(plan, tmp_path / "study", jobs=1)


def test_another_file_is_held_out(tmp_path):
    plan = own_plan(tmp_path, '[held_out]\nfile = "test.csv"\n', "runs = 2", "runs = 1")
    with pytest.raises(PqswarmError, match=r"there is no data file .*test\.csv"):
        run_study(plan, tmp_path / "study", jobs=1)
    (tmp_path / "test.csv").write_text(flowers(seed=2, each=5))
    run_study(plan, tmp_path / "study", jobs=1)
    about = find(tmp_path / "study", Events)
    assert (about.count, about.held_out) == (48, 15)
    assert find(tmp_path / "study", AllFeatures, "k-NN").error < 0.3
    (tmp_path / "test.csv").write_text(flowers(seed=3, each=5))
    with pytest.raises(PqswarmError, match=r"test\.csv does not hold the data this study started with"):
        run_study(plan, tmp_path / "study", jobs=1)


def test_plan_check_reads_the_data(tmp_path, capsys):
    own_plan(tmp_path, SHARE)
    check(tmp_path / "plan.toml")
    assert (
        "plan.toml is valid: 36 samples, 1 classifier, 3 algorithms, 5 runs, 160 evaluations" in capsys.readouterr().out
    )
    (tmp_path / "flowers.csv").write_text(flowers() + "1,2,3,4,5,,setosa\n")
    with pytest.raises(PqswarmError, match=r"flowers\.csv, line 50, column 'dust': the value is missing"):
        check(tmp_path / "plan.toml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "number = 3",
            "number = 13",
            "class 'setosa' of flowers.csv has 12 rows that are not held out, fewer than the 13",
        ),
        ('"ga"', '"ga"\nparameters = { size = 7 }', "size of ga is 7, but there are only 6 features"),
        ('.csv"', '.csv"\nlabel = "dew"', r"column 'species': 'setosa' is not a number"),
        ('.csv"', '.csv"\nlabel = "specie"', r"unknown column of labels 'specie': did you mean 'species'\?"),
    ],
)
def test_data_that_do_not_fit_the_plan(tmp_path, old, new, message):
    with pytest.raises(PqswarmError, match=message):
        run_study(own_plan(tmp_path, SHARE, old, new), tmp_path / "study", jobs=1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('.csv"', '.csv"\npreset = "paper"', "dataset: preset applies to generated events"),
        ('.csv"', '.csv"\nseed = 1', "dataset: seed applies to generated events"),
        ('.csv"', '.csv"\nlable = "a"', "dataset: unknown key 'lable': did you mean 'label'?"),
        ("file =", "fil =", "dataset.fil: unknown key; did you mean 'file'"),
        ("runs = 2", "runs = 2\npaper = true", "paper: .* remove it"),
        ("[folds]", "[held_out]\nseeds = [1]\n[folds]", "held_out: .* by file or by fraction"),
        ("[folds]", '[held_out]\nfraction = 0.2\nfile = "a"\n[folds]', "held_out: give file or fraction, not both"),
        ("[folds]", "[held_out]\nfraction = 1.0\n[folds]", "held_out.fraction: must be less than 1"),
        (
            "[folds]",
            "[held_out]\nfraction = 0.2\nevents_per_class = 3\n[folds]",
            "held_out: events_per_class applies to gener",
        ),
        ('file = "flowers.csv"', "[held_out]\nfraction = 0.2", "held_out: file and fraction need .* dataset.file"),
    ],
)
def test_plans_that_make_no_sense(old, new, message):
    assert old in PLAN
    with pytest.raises(PqswarmError, match=message):
        read_plan(PLAN.replace(old, new, 1))


def test_a_plan_of_own_data_comes_back_whole():
    plan = read_plan(PLAN + SHARE)
    assert restore_plan(plan.model_dump()) == read_plan(format_plan(plan)) == plan
    other = read_plan(PLAN.replace("flowers.csv", "elsewhere/same.csv") + SHARE)
    assert plan.differences(other) == []  # what counts is in the file
    assert read_plan(PLAN).differences(plan)
    assert read_plan(PLAN).held_out is None
    assert read_plan(plan_text("smoke")).differences(plan)
