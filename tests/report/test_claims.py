"""The conclusions on the paper's claims: each rule, on runs that are made up, and on the reference runs."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import false_discovery_control, mannwhitneyu
from tests.report.sayings import says

from pqswarm.report.claims import FAILS, HOLDS, UNKNOWN, check_claims, claim_p_values, claims_table
from pqswarm.report.overview import overview_limits, overview_of_dataset

HERO = "2D-UPSO"
LEAST_ERROR, LEAST_SIZE, DIFFERS, SFFS, NOISE, LEVEL = range(6)


def remade(study, errors, sizes, runs=40, evaluations=6000, **changes):
    """A study of the paper's size whose runs end as told: a mean error and a mean size by title."""
    random = np.random.default_rng(0)
    found = study.classifiers[0]
    groups = {}
    for title in found.runs:
        kept = found.runs[title][0]
        groups[title] = []
        for i in range(runs):
            size = int(sizes.get(title, 45) + i % 3)
            error = errors.get(title, 0.1) + float(random.normal(0, 1e-3))
            mask = np.arange(99) < size
            result = replace(kept.result, mask=mask, error=error)
            groups[title].append(replace(kept, key=replace(kept.key, run=i), result=result))
    found = replace(found, runs=groups, **changes)
    plan = study.plan.model_copy(update={"runs": runs, "max_evaluations": evaluations})
    return replace(study, plan=plan, n_events=3500, classifiers=[found]), found


def conclusions(study, found):
    return [claim.conclusion for claim in check_claims(study, found)]


def test_a_study_like_the_paper_holds(study):
    big, found = remade(study, {HERO: 0.05}, {HERO: 15}, all_features=0.0343)
    noise = replace(
        found.noise,
        levels=tuple(level for level, *_ in found.paper.noise),
        all_features=np.full(8, 90.0),
        accuracy={title: np.full(8, 91.0) for title in found.runs},
    )
    best = min(found.runs[HERO], key=lambda record: record.error)
    sffs = found.sequential["SFFS"]
    sffs = replace(sffs, result=replace(sffs.result, mask=best.mask, error=0.2))
    found = replace(found, noise=noise, sequential={"SFFS": sffs})
    assert conclusions(big, found) == [HOLDS] * 6
    worse = replace(noise, accuracy=noise.accuracy | {HERO: np.r_[np.full(7, 91.0), 80.0]})
    assert conclusions(big, replace(found, noise=worse))[NOISE] == FAILS
    little = replace(noise, accuracy=noise.accuracy | {HERO: np.r_[np.full(7, 91.0), 89.9]})
    assert conclusions(big, replace(found, noise=little))[NOISE] == UNKNOWN
    better = replace(sffs, result=replace(sffs.result, error=0.01))
    assert conclusions(big, replace(found, sequential={"SFFS": better}))[SFFS] == FAILS
    assert conclusions(big, replace(found, sequential={}))[SFFS] == UNKNOWN
    assert conclusions(big, replace(found, all_features=0.1))[LEVEL] == FAILS
    assert conclusions(replace(big, n_events=140), replace(found, all_features=0.3))[LEVEL] == UNKNOWN


def test_a_rival_that_is_ahead(study):
    big, found = remade(study, {"BPSO": 0.05, HERO: 0.06}, {"BPSO": 15, HERO: 30})
    assert conclusions(big, found)[:3] == [FAILS, FAILS, FAILS]
    small, found = remade(study, {"BPSO": 0.05, HERO: 0.06}, {"BPSO": 15, HERO: 30}, evaluations=3000)
    assert conclusions(small, found)[:3] == [UNKNOWN] * 3  # half the paper's evaluations do not refute it


def test_a_rival_that_is_level(study):
    big, found = remade(study, {"BPSO": 0.05, HERO: 0.05}, {"BPSO": 15, HERO: 15})
    assert conclusions(big, found)[:3] == [UNKNOWN, UNKNOWN, FAILS]  # the paper's test, with its runs, sees nothing
    few, found = remade(study, {"BPSO": 0.05, HERO: 0.05}, {"BPSO": 15, HERO: 15}, runs=8)
    assert conclusions(few, found)[:3] == [UNKNOWN] * 3


def test_the_smoke_study_tells_nothing_about_the_paper(study):
    table = claims_table(study)
    assert {row[key] for row in table.rows for key in table.conclusions} == {UNKNOWN}
    assert says(table.note, "3500 events", "40 runs", "6000 evaluations", "inconclusive")
    limits = overview_limits(study)
    assert says(limits, "One misclassified event", "0.71 percentage points")  # of 140
    assert says(limits, "paper's 6000 evaluations")
    assert says(limits, "3 runs of 120 evaluations", "140 events", "at least 4 runs")
    big, _ = remade(study, {HERO: 0.05}, {HERO: 15})
    assert says(overview_limits(big), "40 runs of 6000 evaluations", "k-NN", "80 % power")


@pytest.mark.slow
def test_without_the_paper_the_first_table_has_the_means(tiny):
    assert claims_table(tiny) is None
    table = overview_of_dataset(tiny).tables[0]
    assert table.name == "means"
    assert [row["algorithm"] for row in table.rows] == list(tiny.classifiers[0].runs)
    assert table.rows[0]["error a b"] == pytest.approx(100 * tiny.classifiers[0].errors("my swarm+").mean())
    assert says(overview_limits(tiny), "one run", "another run")


def test_adjusted_p_agrees_with_scipy_and_bounds():
    """Hommel's adjustment lies between Benjamini and Hochberg's and Bonferroni's."""
    random = np.random.default_rng(1)
    values = {name: random.normal(i / 2, 1, 12) for i, name in enumerate("abcd")}
    raw = np.array([mannwhitneyu(values[name], values["a"], method="exact").pvalue for name in "bcd"])
    found = np.array(list(claim_p_values(values, "a").values()))
    assert (found >= false_discovery_control(raw) - 1e-12).all()
    assert (found <= 3 * raw + 1e-12).all()
    assert claim_p_values({"a": np.ones(3), "b": np.ones(3)}, "a") == {"b": 1.0}


def test_means_of_the_reference_runs():
    """The runs that are published: 2D-UPSO's mean with k-NN is level with BPSO's, and its subsets are smaller."""
    path = Path(__file__).parents[2] / "docs" / "results" / "paper-runs.csv"
    with path.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["classifier"] == "k-NN"]
    for column, level in (("error", {"BPSO", "CBPSO"}), ("size", set())):
        groups = {}
        for row in rows:
            groups.setdefault(row["algorithm"], []).append(float(row[column]))
        p = claim_p_values({title: np.array(values) for title, values in groups.items() if len(values) > 1}, HERO)
        assert {title for title, value in p.items() if value > 0.05} == level
