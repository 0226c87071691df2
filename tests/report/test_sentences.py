"""Sentences that must be true whatever was found: their facts, not their wording."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.studies import answer_for, says, tables

from pqswarm.evaluation import GridSearchResult
from pqswarm.report.document import compose
from pqswarm.report.overview import describe_dataset
from pqswarm.report.style import mark_of


def with_errors(records, errors):
    pairs = zip(records, errors, strict=True)
    return [replace(record, result=replace(record.result, error=error)) for record, error in pairs]


def test_the_leaders(study, knn):
    runs = knn.runs | {"GA": with_errors(knn.runs["GA"], [0.01, 0.01, 0.01])}
    answer = answer_for(study, knn, runs=runs, all_features=0.2)
    assert says(answer, "GA has the lowest mean error rate", "1.00 %", "all 99 features have 20.00 %")
    sizes = {title: np.mean([run.size for run in group]) for title, group in knn.runs.items()}
    smallest = min(sizes, key=lambda title: sizes[title])
    assert says(answer, smallest, "the smallest subsets", f"{sizes[smallest]:.1f}".removesuffix(".0"))
    improvement = tables(study, replace(knn, all_features=0.0))["performance"].rows[4]
    assert improvement["results"].endswith("PI [%]")
    assert improvement["GA"] is None


def test_leaders_that_are_equal(study, knn):
    tied = {title: with_errors(knn.runs[title], [0.1, 0.2, 0.3]) for title in ("GA", "2D-UPSO")}
    tied["GA"] = tied["GA"][::-1]
    runs = {title: with_errors(records, [0.5] * 3) for title, records in knn.runs.items()}
    answer = answer_for(study, knn, runs=runs | tied, sequential={}, held_out={})
    assert says(answer, "GA and 2D-UPSO have the lowest mean error rate", "20.00 %")


def test_a_single_run_with_a_lower_error_leads(study, knn):
    """An algorithm that runs once may do better than the best mean: no sentence may say otherwise."""
    (sffs,) = with_errors([knn.sequential["SFFS"]], [0.001])
    assert says(answer_for(study, knn, sequential={"SFFS": sffs}), "SFFS has the lowest mean error rate", "0.10 %")


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (0.1, {"beats": 3, "ties": 0, "loses": 0}),
        (0.2, {"beats": 2, "ties": 1, "loses": 0}),
        (0.3, {"beats": 1, "ties": 1, "loses": 1}),
    ],
)
def test_sequential_search_is_compared_with_each_run(study, knn, error, outcome):
    runs = knn.runs | {"2D-UPSO": with_errors([knn.best("2D-UPSO")] * 3, [0.2, 0.3 + 1e-16, 0.4])}
    (sffs,) = with_errors([knn.sequential["SFFS"]], [error])
    found = replace(knn, runs=runs, sequential={"SFFS": sffs})
    (row,) = [row for row in tables(study, found)["sequential-runs"].rows if row["algorithm"] == "2D-UPSO"]
    assert {key: row[key] for key in outcome} == outcome
    assert (row["evaluations"], row["each"]) == (sffs.result.n_evaluations, 120)


@pytest.mark.parametrize(
    ("accuracy", "robust"),
    [
        ({"2D-UPSO": [91.0, 81.5]}, {"2D-UPSO"}),
        ({"2D-UPSO": [90.0, 80.0]}, {"2D-UPSO"}),
        ({"2D-UPSO": [91.0, 79.0]}, set()),
        ({"2D-UPSO": [91.0, 79.0], "GA": [90.0, 80.0]}, {"GA"}),
        ({"2D-UPSO": [91.0, 81.0], "GA": [90.0, 80.0]}, {"2D-UPSO", "GA"}),
        ({"2D-UPSO": [89.0, 79.0], "GA": [89.0, 80.0]}, set()),
    ],
)
def test_robustness_in_cross_validation(study, knn, accuracy, robust):
    arrays = {title: np.array(values) for title, values in accuracy.items()}
    noise = replace(knn.noise, all_features=np.array([90.0, 80.0]), accuracy=arrays, held_out={})
    runs = {title: records for title, records in knn.runs.items() if title in accuracy}
    found = replace(knn, noise=noise, runs=runs, sequential={}, held_out={})
    rows = tables(study, found)["robust"].rows
    assert [row["algorithm"] for row in rows] == list(accuracy)
    assert {row["algorithm"] for row in rows if row["robust"]} == robust
    assert "held_out_robust" not in rows[0]


@pytest.mark.parametrize(
    ("gains", "conclusion"),
    [
        # Three sets, two levels. Half a 95 % interval is 4.303 standard errors.
        ([[1.0, 0.5], [1.1, 0.6], [1.2, 0.4]], "yes"),
        ([[1.0, -0.5], [1.1, -0.6], [1.2, -0.4]], "no"),
        ([[1.0, 0.5], [1.1, 0.6], [1.2, -0.4]], "inconclusive"),
        ([[0.0, 0.0]] * 3, "yes"),
        ([[1.0, 0.5]], None),
    ],
)
def test_robustness_on_held_out_events(study, knn, gains, conclusion):
    base = 80.0 + np.zeros_like(gains)
    new = {
        "all features": base,
        "2D-UPSO": base + gains,
        "GA": base - 1.0 + 0.01 * np.arange(len(gains))[:, np.newaxis],
    }
    old = {"2D-UPSO": np.array([91.0, 81.0]), "GA": np.array([90.0, 80.0])}
    noise = replace(knn.noise, all_features=np.array([90.0, 80.0]), accuracy=old, held_out=new)
    runs = {title: knn.runs[title] for title in old}
    found = replace(knn, noise=noise, runs=runs, sequential={}, held_out={})
    rows = {row["algorithm"]: row for row in tables(study, found)["robust"].rows}
    assert [row["robust"] for row in rows.values()] == [True, True]
    assert rows["2D-UPSO"].get("held_out_robust") == conclusion
    assert rows["GA"].get("held_out_robust") == (conclusion and "no")
    if conclusion:
        i = int(np.mean(gains, axis=0).argmin())
        assert rows["2D-UPSO"]["held_out_minimum"] == pytest.approx(np.mean(gains, axis=0)[i])


@pytest.mark.parametrize(
    ("held_out", "optimism", "interval"),
    [
        ([0.30, 0.32, 0.34], 0.10, (0.0503, 0.1497)),
        ([0.18, 0.26, 0.25], 0.01, (-0.0983, 0.1183)),
        ([0.30], 0.08, (None, None)),
    ],
)
def test_optimism(study, knn, held_out, optimism, interval):
    (best,) = with_errors([knn.best("2D-UPSO")], [0.2])
    errors = {"all features": np.full(len(held_out), 0.22), "2D-UPSO": np.array(held_out)}
    runs = knn.runs | {"2D-UPSO": [best] * 3}
    found = replace(knn, runs=runs, held_out=errors, all_features=0.2)
    (row,) = [row for row in tables(study, found)["held-out"].rows if row["subset"] == "2D-UPSO"]
    assert row["optimism"] == pytest.approx(optimism)
    assert (row["low"], row["high"]) == (interval if None in interval else pytest.approx(interval, abs=1e-4))
    assert (row["J"], row["held_out"]) == (pytest.approx(0.2), pytest.approx(np.mean(held_out)))


def test_hyperparameters(study, knn):
    points = (("manhattan", 1), ("manhattan", 3), ("cosine", 1))
    grid = GridSearchResult(("metric", "n_neighbors"), points, np.array([0.9, 0.8, 0.95]), (True, True, False))

    def drawing(found):
        (parts,) = [part for part in compose(replace(study, classifiers=[found])).stages if "invest" in part.heading]
        return next((each for each in parts.content.drawings if "grid" in each.name), None)

    shown = drawing(replace(knn, grid=grid))
    assert shown.caption.startswith("Figure 3a of the paper")
    text = shown.note
    assert says(text, "grid", "nearest neighbor by Manhattan distance")  # the best that it could use
    assert says(text, "3 nearest neighbors by Manhattan distance", "as the paper did")
    axis = shown.draw().axes[0]
    assert axis.get_legend_handles_labels()[1][:3] == ["manhattan", "cosine", "best"]
    marked = {mark_of(line).tips: line for line in axis.get_lines() if line.get_marker() in "Ds"}
    assert {tips: tuple(line.get_xydata()[0]) for tips, line in marked.items()} == {
        ("used here: 80.00 %",): (3, 80.0),
        ("the paper's: 80.00 %",): (3, 80.0),
    }
    other = drawing(replace(knn, grid=grid, classifier=type(knn.classifier)({"n_neighbors": 5})))
    assert says(other.note, "used 5 nearest", "the paper used 3 nearest")
    assert drawing(knn) is None


def test_the_description_of_the_data(study):
    described = describe_dataset(study)
    assert says(described, "140 events of 14 classes after IEEE 1159", "preset paper", "seed 0", "99 wavelet features")
    other = describe_dataset(replace(study, class_names=("red", "white"), feature_names=("ash", "hue"), n_events=178))
    assert says(other, "178 events of 2 classes", "2 features")
    assert says(other, "2 sets of 140 held-out events")
