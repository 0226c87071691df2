"""The section on fronts: the least error with at most so many features."""

from dataclasses import replace
from statistics import median

import numpy as np
import pytest
from tests.report.legibility import assert_legible, lines_of, mark_of

from pqswarm.report import Palette
from pqswarm.report.sections.algorithms import fronts_content, plot_fronts

INF = float("inf")


def without_fronts(record):
    return replace(record, result=replace(record.result, front_masks=None, front_errors=None))


def test_the_table_holds_medians_of_what_runs_met(study, knn):
    (table,) = fronts_content(study, knn).tables
    groups = knn.runs | {title: [record] for title, record in knn.sequential.items()}
    assert [row["algorithm"] for row in table.rows] == list(groups)
    for row in table.rows:
        for key, value in list(row.items())[1:]:
            most = int(key.removeprefix("J_"))
            least = [
                min(
                    (e for m, e in zip(r.result.front_masks, r.result.front_errors, strict=True) if m.sum() <= most),
                    default=INF,
                )
                for r in groups[row["algorithm"]]
            ]
            assert (INF if value is None else value) == pytest.approx(median(least))
    last = next(row[table.keys[-1]] for row in table.rows if row["algorithm"] == knn.baseline)
    assert last == pytest.approx(median(knn.errors(knn.baseline)))


def test_the_words_name_the_smallest_subset_that_does_as_well_as_all(study, knn):
    (words,) = fronts_content(study, knn).words
    records = [record for group in knn.runs.values() for record in group] + list(knn.sequential.values())
    sizes = [
        mask.sum()
        for record in records
        for mask, error in zip(record.result.front_masks, record.result.front_errors, strict=True)
        if error <= knn.all_features
    ]
    assert f"has {min(sizes)} feature" in words
    assert fronts_content(study, replace(knn, all_features=0.0)).words[0].startswith("No run found a subset")


def test_runs_of_earlier_versions_have_no_fronts_to_show(study, knn):
    runs = {title: [without_fronts(record) for record in group] for title, group in knn.runs.items()}
    sequential = {title: without_fronts(record) for title, record in knn.sequential.items()}
    assert not fronts_content(study, replace(knn, runs=runs, sequential=sequential)).shown
    (table,) = fronts_content(study, replace(knn, runs=runs)).tables
    assert [row["algorithm"] for row in table.rows] == list(sequential)


@pytest.mark.parametrize("narrow", [False, True])
def test_the_figure_draws_medians_as_steps(narrow):
    attained = {
        "GA": np.array([[INF, 0.3, 0.2, 0.2], [0.5, 0.1, 0.1, 0.1], [INF, 0.4, 0.3, 0.3]]),
        "B": np.full((1, 4), 0.15),
    }
    axis = plot_fronts(attained, (4, 0.25), Palette(attained), narrow=narrow).axes[0]
    assert_legible(axis.figure)
    steps, dots, *_ = lines_of(axis, "GA")
    assert dots.get_xydata() == pytest.approx(np.array([[2, 30], [3, 20]]))
    assert steps.get_drawstyle() == "steps-post"
    assert steps.get_xydata()[:2] == pytest.approx(dots.get_xydata())
    assert list(mark_of(dots).tips) == [
        "GA with at most 2 features: error 30.00 %",
        "GA with at most 3 features: error 20.00 %",
    ]
    assert list(mark_of(steps).tips) == ["GA, median of 3 runs: error 20.00 % with at most 3 features"]
    assert list(mark_of(lines_of(axis, "B")[0]).tips) == ["B, one run: error 15.00 % with at most 1 feature"]
