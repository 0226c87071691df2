"""The multiverse: designs, specifications, kills, and a report whose numbers are counted again."""

import csv
import hashlib
from collections import Counter
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.report import write_report
from pqswarm.report.summary import read_summary
from pqswarm.study import format_plan, load_plan, plan_text, read_plan, read_study, run_study
from pqswarm.study import scheduler as scheduling
from pqswarm.study.plan import MultiversePlan
from pqswarm.study.plan_file import restore_plan
from tests.cli.running import refused, run
from tests.study.studies import contents, multiverse_toml, stop_study, two_specifications_toml

CHOICES = {f"c{i}": {"one": {}, "two": {}} for i in range(6)} | {
    f"d{i}": {name: {} for name in "abcd"} for i in range(2)
}


def small():
    return read_plan(multiverse_toml())


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("multiverse") / "study"
    run_study(small(), folder, jobs=1)
    return folder


def test_what_was_written_down_before_the_first_run_is_not_edited():
    """Changes are added with their date; the words and the search of the first run stay."""
    start, _, rest = plan_text("multiverse").partition("# Written down before the first run")
    written = rest.partition("\n#\n# 2026-11-17, ")[0]
    assert start
    assert "MOSAIC has a lower error than 2D-UPSO" in written
    assert hashlib.sha256(written.encode()).hexdigest().startswith("6b306e81578565c1")


@pytest.mark.parametrize("specifications", [32, 64])
def test_in_an_array_every_two_choices_meet_equally_often(specifications):
    plan = MultiversePlan(choices=CHOICES, specifications=specifications, seed=5)
    chosen = [specification.chosen for specification in plan.list_specifications()]
    assert len(chosen) == specifications
    for one, other in combinations(CHOICES, 2):
        met = Counter((row[one], row[other]) for row in chosen)
        assert set(met) == set(product(CHOICES[one], CHOICES[other]))
        assert len(set(met.values())) == 1


def test_the_smallest_array_that_has_room():
    plan = MultiversePlan(choices={name: CHOICES[name] for name in ("c0", "c1", "c2")})
    assert len(plan.list_specifications()) == 4
    assert len(MultiversePlan(choices=CHOICES).list_specifications()) == 16  # 6 + 2 x 3 columns of 15


def test_the_other_designs():
    three = {"a": {"1": {}, "2": {}, "3": {}}, "b": {"x": {}, "y": {}}}
    full = [tuple(one.chosen.values()) for one in MultiversePlan(choices=three, design="full").list_specifications()]
    assert full == list(product("123", "xy"))
    single = [
        tuple(r.chosen.values()) for r in MultiversePlan(choices=three, design="one-at-a-time").list_specifications()
    ]
    assert single == [("1", "x"), ("2", "x"), ("3", "x"), ("1", "y")]
    drawn = [
        MultiversePlan(choices=three, design="random", specifications=5, seed=s).list_specifications()
        for s in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len({tuple(one.chosen.values()) for one in drawn[0]}) == 5


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("design = 'array'\nchoices.runs = [1, 2, 3]", "choices of 2 or 4 alternatives, not 3"),
        ("specifications = 48\nchoices.runs = [1, 2]", "a power of two, at least 4, not 48"),
        ("specifications = 2\nchoices.runs = [1, 2]\nchoices.seed = [1, 2]", "at least 4, not 2"),
        ("design = 'random'\nspecifications = 9\nchoices.runs = [1, 2]", "only 2 combinations"),
        ("design = 'full'\nspecifications = 4\nchoices.runs = [1, 2]", "a full design has 2: remove it"),
        ("choices.runs = [1, 1]", "runs contains an alternative twice"),
        ("choices.runs = [1]", "runs needs at least two alternatives"),
        ("choices.runs = 3", "runs must be a list of values, or a table of alternatives"),
        ("choices.rums = [1, 2]", "specification r1"),
        ("choices.runs = [1, 0]", "specification r2 ({'runs': 0}): runs must be greater than or equal to 1"),
        ("choices.algorithms.ga.name = ['ga', 'GA']", "algorithms must have the same names in all specifications"),
        ("choices.runs = [1, 2]\nmarked.mine = { rums = '2' }", "unknown choice of marked.mine 'rums'"),
        ("choices.runs = [1, 2]\nmarked.mine = { runs = '3' }", "unknown alternative of marked.mine.runs '3'"),
        ("choices.runs = [1, 2]\nmarked.r2 = {}", "r2 is the name of a specification of the design"),
    ],
)  # fmt: skip
def test_wrong_plans(block, message):
    with pytest.raises(PqswarmError) as caught:
        read_plan(multiverse_toml(f"[multiverse]\n{block}"))
    assert message in str(caught.value)


def test_held_out_data_are_refused():
    text = multiverse_toml().replace("[folds]", "[held_out]\nseeds = [7]\n\n[folds]")
    with pytest.raises(PqswarmError, match="tested with noise, not on held-out data: remove it"):
        read_plan(text)


def test_plans_come_back_from_text_and_from_the_store():
    for plan in (small(), load_plan("multiverse")):
        assert read_plan(format_plan(plan)) == plan == restore_plan(plan.model_dump())


def test_no_reading_changes_another():
    """A preset given as a table is shared by specifications; one that removes its bench leaves it to the others."""
    cells = load_plan("multiverse").cells()
    shares = Counter()
    for specification in load_plan("multiverse").multiverse.list_specifications():
        preset = cells[f"{specification.name}, seed 13"].dataset.whole_preset
        shares[specification.chosen["bench"], preset.bench_fraction == 0] += 1
    assert shares == {("none", True): 32, ("with", False): 34}


def test_the_command_runs_one_reading_whose_cells_are_those_of_the_multiverse(finished, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(multiverse_toml())
    assert "unknown specification 'r9'" in refused("study", "small.toml", "--reading", "r9")
    none = refused("study", "smoke", "--specification", "r1")
    assert "the plan has no multiverse, so it has no specification 'r1'" in none
    run("study", "small.toml", "--specification", "r2", "--jobs", "1")
    whole, alone = contents(finished), contents(tmp_path / "study-small-r2")
    assert alone["runs"] == {
        replace(key, dataset=key.dataset.partition(", ")[2]): one
        for key, one in whole["runs"].items()
        if key.dataset.startswith("r2, ")
    }
    for (dataset, *place), found in alone["findings"].items():
        assert whole["findings"][f"r2, {dataset}", *place] == found
    assert {place[1] for place in alone["findings"]} >= {"StageTwo", "AllFeatures"}
    assert not (finished / "datasets").exists()  # events are generated again if need be


def test_files_of_all_runs(finished, tmp_path):
    """Each subset and its accuracies can be found by reading, data set and seed."""
    out = write_report(finished, "csv", tmp_path / "csv")
    texts = ((out / f"{name}.csv").read_text().splitlines() for name in ("runs", "stage-two"))
    runs, tested = (list(csv.DictReader(lines)) for lines in texts)
    assert not (out / "held-out.csv").exists()
    plan = small()
    assert len(runs) == 5 * 2 * 2 * (2 * 2 + 1)
    assert {(row["specification"], row["dataset"], row["dataset_seed"]) for row in runs} == {
        (specification.name, f"seed {seed}", str(seed))
        for specification in plan.multiverse.list_specifications()
        for seed in (1, 2)
    }
    assert {row["seed"] for row in runs if row["algorithm"] == "GA" and row["classifier"] == "NB"} == {
        str(plan.run_seed("NB", "ga", run)) for run in (0, 1)
    }
    assert all(len(row["features"].split()) == int(row["size"]) for row in runs)
    assert len(tested) == 5 * 2 * 2 * 2 * (2 * 2 + 1 + 2)
    # Without noise, stage II has the folds of stage I: a subset has the error that its search found.
    key = ("specification", "dataset", "classifier", "algorithm", "run")
    errors = {tuple(row[name] for name in key): float(row["error"]) for row in runs}
    checked = 0
    for row in tested:
        place = tuple(row[name] for name in key)
        if row["snr"] == "inf" and place in errors:
            assert float(row["accuracy"]) == pytest.approx(100 * (1 - errors[place]), abs=1e-10)
            checked += 1
    assert checked == len(runs)


def test_interruptions_and_processes_change_nothing(tmp_path, monkeypatch):
    class Killed(Exception):
        pass

    plan = read_plan(two_specifications_toml())
    run_study(plan, tmp_path / "whole", jobs=1)

    monkeypatch.setattr(scheduling, "_FIRST_SLICE", 0.0)
    number = iter(range(100_000))

    def die(progress):
        if next(number) % 23 == 22:
            raise Killed

    interrupted = 0
    while interrupted < 100:
        try:
            run_study(plan, tmp_path / "killed", jobs=1, progress=die)
            break
        except Killed:
            interrupted += 1
    assert 0 < interrupted < 100
    run_study(plan, tmp_path / "processes", jobs=2)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole") == contents(tmp_path / "processes")
    tested = [place for place in contents(tmp_path / "killed")["findings"] if place[1] == "StageTwo"]
    assert len(tested) == 2 * 2 * 2 * 2  # specifications, data sets, classifiers, levels
    texts = [write_report(tmp_path / name, "csv", tmp_path / f"{name}-csv") for name in ("whole", "killed")]
    for path in texts[0].iterdir():
        assert path.read_bytes() == (texts[1] / path.name).read_bytes(), path.name


def test_the_report_counts_right(finished, tmp_path):
    frame = read_study(finished).to_frame()
    frame = frame[(frame["classifier"] == "NB") & frame["specification"].str.match(r"r\d")]
    errors = frame.groupby(["specification", "algorithm"])["error"].mean().unstack()
    lowest = (errors["2D-UPSO"] < errors["GA"] - 1e-12).mean()
    table = write_report(finished, "csv", tmp_path / "csv") / "claims.csv"
    rows = [line.split(",") for line in table.read_text().splitlines()]
    told = float(rows[1][rows[0].index("fraction NB")])
    assert told == pytest.approx(100 * lowest)
    page = write_report(finished, "html", tmp_path / "page.html").read_text()
    for specification in small().multiverse.list_specifications():
        assert f'data-key="{specification.name}"' in page
        assert f'id="specification-{specification.name}"' in page


def test_claims_on_noise_are_counted_in_the_specifications(finished, tmp_path):
    """Of two algorithms, estimated from two levels: the contrast is the mean of the differences at both."""
    out = write_report(finished, "csv", tmp_path / "csv")
    runs, tested, claims = (
        list(csv.DictReader((out / f"{name}.csv").read_text().splitlines())) for name in ("runs", "stage-two", "claims")
    )
    key = ("specification", "dataset", "algorithm", "run")
    rows = [row for row in tested if row["classifier"] == "NB"]
    accuracy = {(*(row[name] for name in key), row["snr"]): float(row["accuracy"]) for row in rows}
    levels = sorted({row["snr"] for row in rows})
    readings = [each.name for each in small().multiverse.list_specifications() if not each.marked]

    def mean_of_best(reading, algorithm):
        values = []
        for dataset in ("seed 1", "seed 2"):
            place = (reading, dataset, algorithm, "NB")
            found = [r for r in runs if (*(r[name] for name in key[:3]), r["classifier"]) == place]
            best = min(found, key=lambda r: (round(float(r["error"]), 12), int(r["size"]), int(r["run"])))
            values.append([accuracy[reading, dataset, algorithm, best["run"], level] for level in levels])
        return np.mean(values, axis=0)

    gaps = [mean_of_best(reading, "2D-UPSO") - mean_of_best(reading, "GA") for reading in readings]
    told = {row["claim"]: (row["fraction NB"], row["chance NB"]) for row in claims}
    assert len(levels) == 2
    fraction, chance = map(float, told["All contrasts of 2D-UPSO are positive"])
    assert (fraction, chance) == pytest.approx((100 * np.mean([gap.mean() > 1e-9 for gap in gaps]), 50))
    fraction = float(told["2D-UPSO gains most at every noise level"][0])
    assert fraction == pytest.approx(100 * np.mean([(gap > -1e-9).all() for gap in gaps]))


def test_a_report_on_some_of_the_specifications(finished, tmp_path):
    choice, (name, *_) = next((c, list(names)) for c, names in small().multiverse.choices.items())
    kept = [one.name for one in small().multiverse.list_specifications() if one.chosen[choice] == name]
    where = f"{choice.rpartition('.')[2]}={name}"
    run("report", finished, "--where", where, "--format", "csv", "--out", tmp_path / "part")
    lines = (tmp_path / "part" / "runs.csv").read_text().splitlines()
    assert list(dict.fromkeys(line.partition(",")[0] for line in lines[1:])) == kept
    assert not (tmp_path / "part" / "nb-choices.csv").exists()  # what is left of a design is not balanced
    for where, message in (({"color": "red"}, "unknown choice of --where 'color'"), ({choice: "x"}, "'x'")):
        with pytest.raises(PqswarmError, match=message):
            write_report(finished, where=where)


def test_effects_are_logarithms_of_ratios_of_means(finished):
    found = read_summary(finished).classifiers[1]
    assert (found.name, found.rivals) == ("NB", ["GA"])
    frame = read_study(finished).to_frame()
    mine = frame[(frame["classifier"] == "NB") & (frame["specification"] == "r2") & (frame["dataset"] == "seed 2")]
    means = mine.groupby("algorithm")["error"].mean()
    assert found.effects("error")[1, 1] == pytest.approx(np.log(means["2D-UPSO"] / means["GA"]))


@pytest.mark.parametrize(("runs", "told"), [(82, "The study is not finished"), (5, "fewer than two finished")])
def test_an_unfinished_multiverse_shows_its_finished_specifications(tmp_path, runs, told):
    stop_study(small(), tmp_path / "study", lambda progress: progress.runs_done >= runs)
    try:
        text = write_report(tmp_path / "study", "md").read_text()
    except PqswarmError as error:
        text = str(error)
    assert told in text


def test_plan_commands(finished):
    shown = run("plan", "show", finished, "--specification", "r2")
    specification = next(one for one in small().multiverse.list_specifications() if one.name == "r2")
    assert read_plan(shown.stdout) == small().plan_for(specification)
