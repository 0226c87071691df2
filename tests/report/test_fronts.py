"""The section on fronts: the least error with at most so many features."""

from dataclasses import replace
from statistics import median

import pytest

from pqswarm.report.sections.algorithms import fronts_content

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
