"""Means of several subsets in tables, figures and sentences of the report."""

import csv

import numpy as np
import pytest
from tests.conftest import made_once
from tests.report.studies import chapter, summary_of, tables
from tests.study.studies import FEW, plan_toml

from pqswarm.report import write_report
from pqswarm.report.document import compose
from pqswarm.report.sections.noise import plot_robustness
from pqswarm.report.summary import read_summary
from pqswarm.study import read_plan, run_study

MEANS = ["2D-UPSO, mean of 3", "GA, mean of 3"]
OVER_DATASETS = {"dataset.seeds": [1, 2], "held_out": {"cross_dataset": True}}


def make(tmp_path_factory, name, **changes):
    text = plan_toml(classes=FEW, max_evaluations=40, algorithms=("2d-upso", "ga"))
    plan = read_plan(text, changes={"subsets": 3} | changes)
    return made_once(tmp_path_factory, name, lambda folder: run_study(plan, folder, jobs=1))


@pytest.fixture(scope="session")
def averaged(tmp_path_factory):
    return make(tmp_path_factory, "averaged")


def test_tables_and_sentence(averaged):
    study = summary_of(averaged)
    for found in study.classifiers:
        shown = tables(study, found)
        assert [row["algorithm"] for row in shown["robust"].rows] == ["2D-UPSO", "GA", *MEANS]
        rows = [row for row in shown["noise"].rows if row["source"] != "paper"]
        for level, (row, gains) in enumerate(zip(rows[::2], rows[1::2], strict=True)):
            for mean in MEANS:
                accuracy = found.noise.accuracy[mean][level]
                assert (row[mean], gains[mean]) == (accuracy, pytest.approx(accuracy - row["all"]))
        rows = {row["subset"]: row for row in shown["held-out"].rows}
        for mean, title in zip(MEANS, ("2D-UPSO", "GA"), strict=True):
            assert rows[mean]["size"] == np.any([record.mask for record in found.runs[title]], axis=0).sum()
            assert rows[mean]["held_out"] == pytest.approx(found.held_out[mean].mean())
            assert (rows[mean]["J"], rows[mean]["increase"], rows[mean]["optimism"]) == (None, None, None)
        change = found.held_out[MEANS[0]] - found.held_out["2D-UPSO"]
        words = " ".join(word for part in chapter(study, found).parts for word in part.content.words)
        assert (
            "Averaging the classifiers of the 3 best subsets of 2D-UPSO changes the error rate on new data by " in words
        )
        assert f"lower on {(change < 0).sum()} and higher on {(change > 0).sum()} of 2 sets." in words
        assert words.count("mean of 3") == 0  # a mean is no best subset


def test_figure_and_csv(averaged, tmp_path):
    study = summary_of(averaged)
    noise = study.classifiers[0].noise
    figure = plot_robustness(noise.levels, noise.accuracy, noise.all_features, study.palette)
    assert {text.get_text() for axis in figure.axes for text in axis.texts} >= set(MEANS)
    out = write_report(averaged, "csv", tmp_path / "csv")
    with (out / "nb-held-out.csv").open(newline="", encoding="utf-8") as file:
        assert set(MEANS) <= {row["subset"] for row in csv.DictReader(file)}
    with (out / "nb-noise.csv").open(newline="", encoding="utf-8") as file:
        assert set(MEANS) <= set(next(csv.reader(file)))


def test_over_datasets(tmp_path_factory):
    study = read_summary(make(tmp_path_factory, "averaged-datasets", **OVER_DATASETS))
    for found, chapter_found in zip(study.classifiers, compose(study).chapters, strict=True):
        shown = {table.name: table for part in chapter_found.parts for table in part.content.tables}
        gains = [dataset.noise.gain(MEANS[0]) for dataset in found.datasets.values()]
        assert [row[MEANS[0]] for row in shown[f"{found.slug}-noise-over-datasets"].rows] == pytest.approx(
            np.mean(gains, axis=0)
        )
        rows = {row["subset"]: row for row in shown[f"{found.slug}-held-out"].rows}
        assert list(rows) == ["2D-UPSO", "GA", *MEANS, "all features"]
        errors = {
            title: np.array([dataset.held_out[title].mean() for dataset in found.datasets.values()]) for title in rows
        }
        assert {title: row["new"] for title, row in rows.items()} == pytest.approx(
            {title: each.mean() for title, each in errors.items()}
        )
        assert (rows[MEANS[0]]["J"], rows[MEANS[0]]["optimism_interval"]) == (None, None)
        change = errors[MEANS[0]] - errors["2D-UPSO"]
        words = " ".join(word for part in chapter_found.parts for word in part.content.words)
        assert f"the error rate on new data by {round(100 * change.mean(), 2) + 0.0:+.2f} percentage points" in words
        assert f"lower on {(change < 0).sum()} and higher on {(change > 0).sum()} of 2 data sets." in words
