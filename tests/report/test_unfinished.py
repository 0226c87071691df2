"""Studies that are not finished, small, or damaged."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.studies import NO_SFFS, STAGE_TWO, changed, chapter, replanned, summary_of, tables

from pqswarm.errors import PqswarmError
from pqswarm.report.overview import describe_dataset
from pqswarm.study import Store
from pqswarm.study.findings import StageTwo


def test_an_unfinished_study_counts_the_runs_that_all_algorithms_have(smoke_study, tmp_path):
    lost = "DELETE FROM runs WHERE classifier = 'k-NN' AND algorithm = '{}' AND run = {}"
    path = changed(smoke_study, tmp_path / "study", STAGE_TWO, NO_SFFS, lost.format("ga", 1), lost.format("2d-upso", 2))
    study = summary_of(path)
    first, second = study.classifiers
    assert (first.n_runs, second.n_runs) == (1, 3)
    assert {record.key.run for records in first.runs.values() for record in records} == {0}
    text = describe_dataset(study)
    assert "not finished (k-NN: 1 of 3 runs)" in text
    assert "runs that all algorithms have finished" in text
    assert "with noise are still pending for k-NN and NB" in text
    assert "were then tested" not in text
    assert first.noise is None
    assert not {"noise", "robust", "contrast", "held-out", "sequential-runs"} & set(tables(study, second))
    assert all("robust" not in sentence for sentence in chapter(study, second).answer)


def test_a_classifier_without_runs_is_named(smoke_study, tmp_path):
    study = summary_of(changed(smoke_study, tmp_path / "study", "DELETE FROM runs WHERE classifier = 'NB'"))
    assert [found.name for found in study.classifiers] == ["k-NN"]
    assert "NB: no run" in describe_dataset(study)


def test_a_study_without_finished_runs_is_refused(smoke_study, tmp_path):
    with pytest.raises(PqswarmError, match="no finished run of every algorithm yet"):
        summary_of(changed(smoke_study, tmp_path / "some", "DELETE FROM runs WHERE algorithm = 'ga'"))
    with pytest.raises(PqswarmError, match="no finished run of every algorithm yet"):
        summary_of(changed(smoke_study, tmp_path / "all", "DELETE FROM runs"))
    with pytest.raises(PqswarmError, match="has not started"):
        summary_of(changed(smoke_study, tmp_path / "none", "DELETE FROM findings"))


def test_one_run_of_own_algorithms_without_noise_and_sffs(tiny):
    found = tiny.classifiers[0]
    shown = tables(tiny, found)
    assert list(found.runs) == ["my swarm+", "GA"]
    assert list(shown) == ["performance", "fronts", "features", "confusions", "held-out"]
    _, deviation, *_ = shown["performance"].rows
    assert deviation["results"] == "J(·): SD"
    assert deviation["my swarm+"] is deviation["GA"] is None
    assert "SFFS" not in describe_dataset(tiny)
    assert "one run of 30 evaluations" in describe_dataset(tiny)
    assert "level" not in describe_dataset(tiny)
    sentences = " ".join(chapter(tiny, found).answer)
    assert "robust" not in sentences  # nothing was tested with noise


@pytest.mark.parametrize("finding", ["Events", "AllFeatures", "Hyperparameters"])
def test_findings_that_are_missing_are_damage(smoke_study, tmp_path, finding):
    path = changed(smoke_study, tmp_path / "study", f"DELETE FROM findings WHERE kind = '{finding}'")
    with pytest.raises(PqswarmError, match="is damaged"):
        summary_of(path)


def test_findings_that_do_not_fit_together_are_damage(smoke_study, tmp_path):
    path = changed(smoke_study, tmp_path / "study", "DELETE FROM findings WHERE kind = 'StageTwo' AND level = 'inf'")
    with Store(path, write=True) as store:
        kept = store.find(StageTwo, "k-NN", 30.0)
        store.put(*(replace(kept, classifier=name, level=np.inf, accuracy={"ga": (3.0,)}) for name in ("k-NN", "NB")))
    with pytest.raises(PqswarmError, match="is damaged"):
        summary_of(path)
    with pytest.raises(PqswarmError, match="plan"):
        summary_of(replanned(smoke_study, tmp_path / "plan", runs="many"))


def test_equal_counts_of_errors_are_ties_whatever_their_last_bit(study):
    found = next(found for found in study.classifiers if found.name == "NB")
    runs = {
        title: [
            replace(record, result=replace(record.result, error=0.3 + 5e-17 * (i + 1) * (title == "GA")))
            for i, record in enumerate(records)
        ]
        for title, records in found.runs.items()
    }
    ranks = tables(study, replace(found, runs=runs))["friedman"].rows[0]
    assert {ranks[title] for title in runs} == {3.5}
