"""Sentences that must be true whatever was found."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.studies import chapter, tables, told

from pqswarm.evaluation import GridSearchResult
from pqswarm.report.document import describe_study
from pqswarm.report.sections.held_out import stability_content


def with_errors(records, errors):
    pairs = zip(records, errors, strict=True)
    return [replace(record, result=replace(record.result, error=error)) for record, error in pairs]


def test_words_when_nothing_beats_all_features(study, knn):
    assert "does better than all features" in told(study, knn, all_features=0.0)
    assert tables(study, replace(knn, all_features=0.0))["performance"].rows[0]["PI"] is None


def test_words_when_another_algorithm_is_best(study, knn):
    runs = knn.runs | {"GA": with_errors(knn.runs["GA"], [0.01, 0.01, 0.01])}
    expected = "GA has the lowest mean error rate of the algorithms that run 3 times: 1.00 %, against"
    assert told(study, knn, runs=runs).startswith(expected)


def test_words_when_all_are_equal(study, knn):
    same = {title: with_errors(records, [0.1] * 3) for title, records in knn.runs.items()}
    smallest = min(same, key=lambda title: np.mean([r.size for r in same[title]]))
    sentences = told(study, knn, runs=same, all_features=0.2)
    assert sentences.startswith("GA, ACO, BPSO, CBPSO, chBPSO and 2D-UPSO all have the lowest mean error rate")
    assert f"(50 % lower). {smallest} selects " in sentences
    assert "The smallest subsets" not in sentences


def test_words_rank_only_what_they_compare(study, knn):
    """An algorithm that runs once may do better than the best mean: no sentence may say otherwise."""
    one_run = {title: records[:1] for title, records in knn.runs.items()}
    assert " has the lowest error rate of the algorithms other than SFFS: " in told(study, knn, runs=one_run)
    assert told(study, knn, all_features=0.0).startswith("None of the algorithms that run 3 times does better")
    small = [replace(r, result=replace(r.result, mask=np.eye(99, dtype=bool)[0])) for r in knn.runs["GA"]]
    runs = knn.runs | {"GA": with_errors(small, [0.9] * 3)}
    assert "The smallest subsets of the algorithms that run 3 times come from GA: 1 " in told(study, knn, runs=runs)
    many = replace(study, plan=study.plan.model_copy(update={"algorithms": study.plan.searched}))
    knn = replace(knn, sequential={}, held_out={})
    alone = told(many, knn, runs=runs)
    assert " has the lowest mean error rate: " in alone
    assert "The smallest subsets come from GA" in alone
    assert told(many, knn, all_features=0.0).startswith("No algorithm does better than all")


def test_words_when_means_are_equal(study, knn):
    tied = {title: with_errors(knn.runs[title], [0.1, 0.2, 0.3]) for title in ("GA", "2D-UPSO")}
    tied["GA"] = tied["GA"][::-1]
    runs = {title: with_errors(records, [0.5] * 3) for title, records in knn.runs.items()}
    sentences = told(study, knn, runs=runs | tied, all_features=0.6)
    assert sentences.startswith(
        "GA and 2D-UPSO both have the lowest mean error rate of the algorithms that run 3 times"
    )


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (0.1, "beats 3, ties 0 and loses to 0 of the 3 runs"),
        (0.2, "beats 2, ties 1 and loses to 0 of the 3 runs"),
        (0.3, "beats 1, ties 1 and loses to 1 of the 3 runs"),
    ],
)
def test_words_on_sequential_search(study, knn, error, words):
    runs = knn.runs | {"2D-UPSO": with_errors([knn.best("2D-UPSO")] * 3, [0.2, 0.3 + 1e-16, 0.4])}
    size, sffs = knn.best("2D-UPSO").size, knn.sequential["SFFS"]
    sffs = replace(sffs, result=replace(sffs.result, error=error))
    apart = {0.1: "10.00 percentage points more", 0.2: "the same", 0.3: "10.00 percentage points less"}[error]
    expected = (
        f"One run of SFFS, told the size of the best subset of 2D-UPSO, has an error rate of {100 * error:.2f} % with "
        f"{size} features after {sffs.result.n_evaluations} evaluations, and {words} of 2D-UPSO with 120 evaluations "
        f"each; the best of the 3, 360 evaluations together, has 20.00 % with {size} features, {apart}."
    )
    assert expected in told(study, knn, runs=runs, sequential={"SFFS": sffs})
    one = {title: records[:1] for title, records in runs.items()}
    verb = {0.1: "beats", 0.2: "ties", 0.3: "loses to"}[error]
    expected = f"{verb} the one run of 2D-UPSO with 120 evaluations; that run has 20.00 % with {size} features, {apart}"
    assert expected in told(study, knn, runs=one, sequential={"SFFS": sffs})


@pytest.mark.parametrize(
    ("parameters", "words", "told_by"),
    [
        ({}, "told the size of the best subset of 2D-UPSO,", "2D-UPSO"),
        ({"size": 4}, "told the size by the plan,", "the plan"),
        ({"size": "all"}, "told no size,", None),
    ],
)
def test_words_say_who_told_the_size(study, knn, parameters, words, told_by):
    sffs = study.plan.algorithm("sffs").model_copy(update={"parameters": parameters})
    planned = replace(study, plan=study.plan.model_copy(update={"algorithms": (*study.plan.searched, sffs)}))
    assert f"One run of SFFS, {words} has an error rate of" in told(planned, knn)
    assert [row["told"] for row in tables(planned, knn)["sequential"].rows] == [told_by, "2D-UPSO"]  # ours, the paper's


@pytest.mark.parametrize(
    ("accuracy", "words"),
    [
        ({"2D-UPSO": [91.0, 81.5]}, "at every noise level it is more accurate than all features, by 1.00 to 1.50"),
        ({"2D-UPSO": [91.0, 80.0]}, "never less accurate than all features, by 0.00 to 1.00"),
        (
            {"2D-UPSO": [90.0, 80.0]},
            "is robust in cross-validation: at every noise level it is exactly as accurate as all features.",
        ),
        (
            {"2D-UPSO": [91.0, 79.0]},
            "is not robust in cross-validation: it is less accurate than all features by 1.00 at 30 dB [",
        ),
        ({"2D-UPSO": [91.0, 79.0], "GA": [90.0, 80.0]}, "points]. Robust is the best of GA."),
        (
            {"2D-UPSO": [89.0, 79.0], "GA": [89.0, 80.0]},
            "by 1.00 at ∞ dB and 1.00 at 30 dB [percentage points]. Nor is",
        ),
        ({"2D-UPSO": [91.0, 81.0], "GA": [89.0, 80.0]}, "points. No other is."),
    ],
)
def test_words_on_noise(study, knn, accuracy, words):
    arrays = {title: np.array(values) for title, values in accuracy.items()}
    noise = replace(knn.noise, all_features=np.array([90.0, 80.0]), accuracy=arrays, held_out={})
    runs = {title: records for title, records in knn.runs.items() if title in accuracy}
    found = replace(knn, noise=noise, runs=runs, sequential={}, held_out={})
    assert words in told(study, found)
    robust = all(ours >= whole for ours, whole in zip(accuracy["2D-UPSO"], (90.0, 80.0), strict=True))
    assert chapter(study, found).numbers["robust to noise"] == ("yes" if robust else "no")


@pytest.mark.parametrize(
    ("gains", "words", "verdict"),
    [
        # Three sets, two levels. Half a 95 % interval is 4.303 standard errors.
        ([[1.0, 0.5], [1.1, 0.6], [1.2, 0.4]], "gain over all features is 0.50 percentage points, at 30 dB", "yes"),
        ([[1.0, 0.5], [1.1, 0.6], [1.2, 0.4]], "(95 % t interval 0.25 to 0.75): it is robust there.", "yes"),
        ([[1.0, -0.5], [1.1, -0.6], [1.2, -0.4]], "(95 % t interval -0.75 to -0.25): it is not robust there.", "no"),
        ([[1.0, 0.5], [1.1, 0.6], [1.2, -0.4]], "whether it is robust cannot be told.", "cannot be told"),
        (
            [[0.0, 0.0]] * 3,
            "0.00 percentage points, at ∞ dB (95 % t interval 0.00 to 0.00): it is robust there.",
            "yes",
        ),
        ([[1.0, 0.5]], "is robust in cross-validation", "yes"),
    ],
)
def test_words_on_noise_with_held_out_events(study, knn, gains, words, verdict):
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
    said = told(study, found)
    assert words in said
    assert ("Of the best of the others, not robust: GA." in said) == (len(gains) > 1)
    assert chapter(study, found).numbers["robust to noise"] == verdict


@pytest.mark.parametrize(
    ("held_out", "words"),
    [
        (
            [0.30, 0.32, 0.34],
            "(95 % t interval over the 3 sets: 5.03 to 14.97): more than chance explains, optimism of",
        ),
        (
            [0.18, 0.26, 0.25],
            "net loss, is 1.00 percentage points (95 % t interval over the 3 sets: -9.83 to 11.83): chance",
        ),
        (
            [0.10, 0.12, 0.14],
            "net loss, is -10.00 percentage points (95 % t interval over the 3 sets: -14.97 to -5.03): not",
        ),
        (
            [0.30],
            "It loses 10.00 percentage points, all features, which nobody selected, 2.00. What it loses more than",
        ),
        ([0.30], "is 8.00 percentage points, from one set, without an interval."),
    ],
)
def test_words_on_optimism(study, knn, held_out, words):
    (best,) = with_errors([knn.best("2D-UPSO")], [0.2])
    errors = {"all features": np.full(len(held_out), 0.22), "2D-UPSO": np.array(held_out)}
    runs = knn.runs | {"2D-UPSO": [best] * 3}
    assert words in told(study, knn, runs=runs, held_out=errors, all_features=0.2)


def test_words_on_stability(study, knn):
    everything, none = np.eye(99, dtype=bool)[:3], np.eye(99, dtype=bool)[[5, 5, 5]]
    assert stability_words(study, knn, {"2D-UPSO": everything, "GA": none}) == (
        "Over its runs 2D-UPSO selects with a stability of -0.01: less than GA, by intervals that do not overlap."
    )
    assert "more than GA" in stability_words(study, knn, {"2D-UPSO": none, "GA": everything})
    assert stability_words(study, knn, {"2D-UPSO": none}).endswith("with a stability of 1.00.")


def stability_words(study, knn, masks):
    runs = {
        title: [replace(r, result=replace(r.result, mask=m)) for r, m in zip(knn.runs[title], chosen, strict=True)]
        for title, chosen in masks.items()
    }
    return " ".join(stability_content(study, replace(knn, runs=runs)).words)


def test_words_on_hyperparameters(study, knn):
    points = (("manhattan", 1), ("manhattan", 3), ("cosine", 1))
    grid = GridSearchResult(("metric", "n_neighbors"), points, np.array([0.9, 0.8, 0.95]), (True, True, False))
    parts = {part.heading: part.content for part in chapter(study, replace(knn, grid=grid)).parts}
    content = parts["How were the hyperparameters chosen?"]
    assert content.words == [
        "The best of the grid is the nearest neighbour by Manhattan distance. This study used 3 nearest neighbours by "
        "Manhattan distance, as the paper did."
    ]
    axis = content.drawings[0].draw().axes[0]
    assert axis.get_legend_handles_labels()[1] == ["manhattan", "cosine", "best"]
    other = replace(knn, grid=grid, classifier=type(knn.classifier)({"n_neighbors": 5}))
    words = " ".join(word for part in chapter(study, other).parts for word in part.content.words)
    assert "used 5 nearest neighbours by Manhattan distance, the paper 3 nearest" in words
    assert "How were the hyperparameters chosen?" not in {part.heading for part in chapter(study, knn).parts}


def test_what_is_said_of_the_data_is_true_of_it(study):
    assert "140 events of 14 IEEE 1159 classes (preset paper, seed 0), with 99 wavelet features" in describe_study(
        study
    )
    other = describe_study(replace(study, class_names=("red", "white"), feature_names=("ash", "hue"), n_events=178))
    assert "178 events of 2 classes (" in other
    assert "with 2 features each" in other
    assert "on 2 sets of 140 held-out events" in other
