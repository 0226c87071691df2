"""Sentences that must be true whatever was found."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.studies import chapter, tables, told

from pqswarm.evaluation import GridSearchResult
from pqswarm.report.document import describe_study


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
    plan = study.plan.model_copy(update={"algorithms": study.plan.searched})
    alone = told(replace(study, plan=plan), knn, runs=runs)
    assert " has the lowest mean error rate: " in alone
    assert "The smallest subsets come from GA" in alone
    assert told(replace(study, plan=plan), knn, all_features=0.0).startswith("No algorithm does better than all")


def test_words_when_means_are_equal(study, knn):
    tied = {title: with_errors(knn.runs[title], [0.1, 0.2, 0.3]) for title in ("GA", "2D-UPSO")}
    tied["GA"] = tied["GA"][::-1]
    runs = {title: with_errors(records, [0.5] * 3) for title, records in knn.runs.items()}
    sentences = told(study, knn, runs=runs | tied, all_features=0.6)
    assert sentences.startswith(
        "GA and 2D-UPSO both have the lowest mean error rate of the algorithms that run 3 times"
    )


@pytest.mark.parametrize(("error", "word"), [(0.1, "lower than"), (0.2, "equal to"), (0.3, "higher than")])
def test_words_on_sequential_search(study, knn, error, word):
    (best,) = with_errors([knn.best("2D-UPSO")], [0.2])
    runs = knn.runs | {"2D-UPSO": [best] * 3}
    sffs = replace(knn.sequential["SFFS"], result=replace(best.result, error=error))
    sentences = told(study, knn, runs=runs, sequential={"SFFS": sffs})
    expected = f"at the same {best.size} features has an error rate of {100 * error:.2f} %, {word} that of the best"
    assert expected in sentences
    bigger = replace(sffs, result=replace(sffs.result, mask=np.ones(99, dtype=bool)))
    assert "SFFS with 99 features" in told(study, knn, runs=runs, sequential={"SFFS": bigger})


@pytest.mark.parametrize(
    ("accuracy", "words"),
    [
        ({"2D-UPSO": [91.0, 81.5]}, "at every noise level it is more accurate than all features, by 1.00 to 1.50"),
        ({"2D-UPSO": [91.0, 80.0]}, "never less accurate than all features, by 0.00 to 1.00"),
        ({"2D-UPSO": [90.0, 80.0]}, "is robust: at every noise level it is exactly as accurate as all features."),
        ({"2D-UPSO": [91.0, 79.0]}, "is not robust: it is less accurate than all features by 1.00 at 30 dB ["),
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
    noise = replace(knn.noise, all_features=np.array([90.0, 80.0]), accuracy=arrays)
    runs = {title: records for title, records in knn.runs.items() if title in accuracy}
    found = replace(knn, noise=noise, runs=runs, sequential={}, held_out={})
    assert words in told(study, found)
    robust = all(ours >= whole for ours, whole in zip(accuracy["2D-UPSO"], (90.0, 80.0), strict=True))
    assert chapter(study, found).numbers["robust to noise"] == ("yes" if robust else "no")


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
    assert "on 20 held-out events" in other
