"""Sentences that must be true whatever was found: their facts, not their wording."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.sayings import says
from tests.report.studies import answer_for, chapter, tables

from pqswarm.evaluation import GridSearchResult
from pqswarm.report.document import compose
from pqswarm.report.overview import describe_dataset
from pqswarm.report.sections.held_out import stability_content
from pqswarm.report.style import mark_of


def with_errors(records, errors):
    pairs = zip(records, errors, strict=True)
    return [replace(record, result=replace(record.result, error=error)) for record, error in pairs]


def with_masks(records, masks):
    return [replace(r, result=replace(r.result, mask=mask)) for r, mask in zip(records, masks, strict=True)]


def test_when_nothing_beats_all_features(study, knn):
    assert says(
        answer_for(study, knn, all_features=0.0), "None of the algorithms with 3 runs", "better than all features"
    )
    improvement = tables(study, replace(knn, all_features=0.0))["performance"].rows[4]
    assert improvement["results"].endswith("PI [%]")
    assert improvement["GA"] is None


def test_when_another_algorithm_is_best(study, knn):
    runs = knn.runs | {"GA": with_errors(knn.runs["GA"], [0.01, 0.01, 0.01])}
    assert says(answer_for(study, knn, runs=runs), "GA", "lowest mean error rate", "with 3 runs", "1.00 %")


def test_when_all_are_equal(study, knn):
    same = {title: with_errors(records, [0.1] * 3) for title, records in knn.runs.items()}
    smallest = min(same, key=lambda title: np.mean([r.size for r in same[title]]))
    answer = answer_for(study, knn, runs=same, all_features=0.2)
    assert says(answer, "GA, ACO, BPSO, CBPSO, chBPSO and 2D-UPSO all have the lowest mean error rate", "50 % lower")
    assert says(answer, f"{smallest} selects")
    assert "smallest subsets" not in answer


def test_single_runs_are_not_ranked_among_means(study, knn):
    """An algorithm that runs once may do better than the best mean: no sentence may say otherwise."""
    one_run = {title: records[:1] for title, records in knn.runs.items()}
    assert says(answer_for(study, knn, runs=one_run), "lowest error rate of the algorithms other than SFFS")
    small = with_masks(knn.runs["GA"], [np.eye(99, dtype=bool)[0]] * 3)
    runs = knn.runs | {"GA": with_errors(small, [0.9] * 3)}
    assert says(answer_for(study, knn, runs=runs), "GA", "smallest subsets of the algorithms with 3 runs", "1 features")
    many = replace(study, plan=study.plan.model_copy(update={"algorithms": study.plan.searched}))
    knn = replace(knn, sequential={}, held_out={})
    alone = answer_for(many, knn, runs=runs)
    assert says(alone, "lowest mean error rate:")
    assert says(alone, "GA finds the smallest subsets:")
    assert says(answer_for(many, knn, all_features=0.0), "No algorithm does better than all features")


def test_when_means_are_equal(study, knn):
    tied = {title: with_errors(knn.runs[title], [0.1, 0.2, 0.3]) for title in ("GA", "2D-UPSO")}
    tied["GA"] = tied["GA"][::-1]
    runs = {title: with_errors(records, [0.5] * 3) for title, records in knn.runs.items()}
    answer = answer_for(study, knn, runs=runs | tied, all_features=0.6)
    assert says(answer, "GA and 2D-UPSO both have the lowest mean error rate", "with 3 runs")


@pytest.mark.parametrize(
    ("error", "outcome", "verb", "apart"),
    [
        (0.1, ("beats all 3",), "beats", "10.00 percentage points higher"),
        (0.2, ("beats 2", "ties with 1"), "ties with", "the same"),
        (0.3, ("beats 1", "ties with 1", "loses to 1"), "loses to", "10.00 percentage points lower"),
    ],
)
def test_sequential_search_is_compared_with_each_run_and_the_best(study, knn, error, outcome, verb, apart):
    runs = knn.runs | {"2D-UPSO": with_errors([knn.best("2D-UPSO")] * 3, [0.2, 0.3 + 1e-16, 0.4])}
    size, sffs = knn.best("2D-UPSO").size, knn.sequential["SFFS"]
    sffs = replace(sffs, result=replace(sffs.result, error=error))
    answer = answer_for(study, knn, runs=runs, sequential={"SFFS": sffs})
    spent = f"{sffs.result.n_evaluations} evaluations"
    assert says(answer, "SFFS", "size of 2D-UPSO's best subset", f"{100 * error:.2f} %", f"{size} features", spent)
    assert says(answer, "3 runs of 2D-UPSO", "120 evaluations each", *outcome)
    assert says(answer, "360 evaluations in total", "20.00 %", f"{size} features", apart)
    one = {title: records[:1] for title, records in runs.items()}
    answer = answer_for(study, knn, runs=one, sequential={"SFFS": sffs})
    assert says(answer, f"It {verb} the single run of 2D-UPSO", "120 evaluations", "20.00 %", apart)


@pytest.mark.parametrize(
    ("parameters", "words", "given_by"),
    [
        ({}, "given the size of 2D-UPSO's best subset", "2D-UPSO"),
        ({"size": 4}, "given the size by the plan", "the plan"),
        ({"size": "all"}, "no size given", None),
    ],
)
def test_the_source_of_the_size_is_named(study, knn, parameters, words, given_by):
    sffs = study.plan.algorithm("sffs").model_copy(update={"parameters": parameters})
    planned = replace(study, plan=study.plan.model_copy(update={"algorithms": (*study.plan.searched, sffs)}))
    assert says(answer_for(planned, knn), "SFFS", words)
    sources = [row["given_by"] for row in tables(planned, knn)["sequential"].rows]
    assert sources == [given_by]


@pytest.mark.parametrize(
    ("accuracy", "robust", "facts"),
    [
        ({"2D-UPSO": [91.0, 81.5]}, True, ["is robust", "more accurate", "1.00 to 1.50 percentage points"]),
        ({"2D-UPSO": [91.0, 80.0]}, True, ["is robust", "never less accurate", "0.00 to 1.00 percentage points"]),
        ({"2D-UPSO": [90.0, 80.0]}, True, ["is robust", "exactly as accurate as all features"]),
        ({"2D-UPSO": [91.0, 79.0]}, False, ["not robust", "less accurate", "1.00 (30 dB) percentage points"]),
        ({"2D-UPSO": [91.0, 79.0], "GA": [90.0, 80.0]}, False, ["best subset of GA is robust"]),
        ({"2D-UPSO": [91.0, 81.0], "GA": [90.0, 80.0]}, True, ["So is the best subset of GA"]),
        ({"2D-UPSO": [89.0, 79.0], "GA": [89.0, 80.0]}, False, ["not robust", "1.00 (∞ dB) and 1.00 (30 dB)"]),
        ({"2D-UPSO": [89.0, 79.0], "GA": [89.0, 80.0]}, False, ["Neither is any other"]),
        ({"2D-UPSO": [91.0, 81.0], "GA": [89.0, 80.0]}, True, ["No other best subset is"]),
    ],
)
def test_robustness_in_cross_validation(study, knn, accuracy, robust, facts):
    arrays = {title: np.array(values) for title, values in accuracy.items()}
    noise = replace(knn.noise, all_features=np.array([90.0, 80.0]), accuracy=arrays, held_out={})
    runs = {title: records for title, records in knn.runs.items() if title in accuracy}
    found = replace(knn, noise=noise, runs=runs, sequential={}, held_out={})
    assert says(answer_for(study, found), *facts)
    assert chapter(study, found).numbers["robust to noise"] == ("yes" if robust else "no")


@pytest.mark.parametrize(
    ("gains", "facts", "conclusion"),
    [
        # Three sets, two levels. Half a 95 % interval is 4.303 standard errors.
        ([[1.0, 0.5], [1.1, 0.6], [1.2, 0.4]], ["0.50", "30 dB", "0.25 to 0.75", "it is robust"], "yes"),
        ([[1.0, -0.5], [1.1, -0.6], [1.2, -0.4]], ["-0.75 to -0.25", "it is not robust"], "no"),
        ([[1.0, 0.5], [1.1, 0.6], [1.2, -0.4]], ["30 dB", "inconclusive"], "inconclusive"),
        ([[0.0, 0.0]] * 3, ["0.00 percentage points", "∞ dB", "0.00 to 0.00", "it is robust"], "yes"),
        ([[1.0, 0.5]], ["is robust in cross-validation"], "yes"),
    ],
)
def test_robustness_on_held_out_events(study, knn, gains, facts, conclusion):
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
    answer = answer_for(study, found)
    assert says(answer, *facts)
    assert says(answer, "other algorithms", "not robust (GA)") == (len(gains) > 1)
    assert chapter(study, found).numbers["robust to noise"] == conclusion


@pytest.mark.parametrize(
    ("held_out", "facts"),
    [
        ([0.30, 0.32, 0.34], ["10.00 percentage points", "3 sets", "5.03 to 14.97", "): significant"]),
        ([0.18, 0.26, 0.25], ["1.00 percentage points", "-9.83 to 11.83", "not significant"]),
        ([0.10, 0.12, 0.14], ["-10.00 percentage points", "-14.97 to -5.03", "not optimistic"]),
        ([0.30], ["+10.00 percentage points", "all features", "+2.00"]),
        ([0.30], ["8.00 percentage points", "one set, no interval"]),
    ],
)
def test_optimism(study, knn, held_out, facts):
    (best,) = with_errors([knn.best("2D-UPSO")], [0.2])
    errors = {"all features": np.full(len(held_out), 0.22), "2D-UPSO": np.array(held_out)}
    runs = knn.runs | {"2D-UPSO": [best] * 3}
    answer = answer_for(study, knn, runs=runs, held_out=errors, all_features=0.2)
    assert any(all(fact in sentence for fact in facts) for sentence in answer.split(". "))


def test_stability(study, knn):
    different, same = np.eye(99, dtype=bool)[:3], np.eye(99, dtype=bool)[[5, 5, 5]]

    def words(**masks):
        runs = {title: with_masks(knn.runs[title], chosen) for title, chosen in masks.items()}
        return " ".join(stability_content(study, replace(knn, runs=runs)).words)

    assert says(words(**{"2D-UPSO": different, "GA": same}), "2D-UPSO", "-0.01", "lower than that of GA")
    assert says(words(**{"2D-UPSO": same, "GA": different}), "1.00", "higher than that of GA")
    alone = words(**{"2D-UPSO": same})
    assert "1.00" in alone
    assert "than that of" not in alone


def test_hyperparameters(study, knn):
    points = (("manhattan", 1), ("manhattan", 3), ("cosine", 1))
    grid = GridSearchResult(("metric", "n_neighbors"), points, np.array([0.9, 0.8, 0.95]), (True, True, False))

    def drawing(found):
        (parts,) = [part for part in compose(replace(study, classifiers=[found])).stages if "invest" in part.heading]
        return next((each for each in parts.content.drawings if "grid" in each.name), None)

    shown = drawing(replace(knn, grid=grid))
    assert shown.caption.startswith("Figure 3a of the paper")
    text = shown.note
    assert says(text, "grid", "nearest neighbour by Manhattan distance")  # the best that it could use
    assert says(text, "3 nearest neighbours by Manhattan distance", "as the paper did")
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
