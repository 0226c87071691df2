"""What is said of chance follows from the comparisons, and is no stronger."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.studies import chapter, replanned, says, tables

from pqswarm.errors import PqswarmError
from pqswarm.report import write_report
from pqswarm.report.sections.chance import conclusion_in_words, say_comparisons
from pqswarm.statistics import compare_runs


def runs_of(record, errors, sizes):
    masks = [np.arange(99) < size for size in sizes]
    pairs = zip(errors, masks, strict=True)
    return [replace(record, result=replace(record.result, error=error, mask=mask)) for error, mask in pairs]


@pytest.fixture
def made(knn):
    """Ten runs each: 2D-UPSO is like GA by error, below ACO, above BPSO; smaller than all but BPSO."""
    generator = np.random.default_rng(0)
    noise = generator.normal(0, 0.001, (4, 10))
    means = {"GA": (0.1, 40), "ACO": (0.2, 40), "BPSO": (0.05, 10), "2D-UPSO": (0.1, 20)}
    runs = {
        title: runs_of(knn.runs[title][0], error + noise[i], size + np.arange(10) % 5)
        for i, (title, (error, size)) in enumerate(means.items())
    }
    return replace(knn, runs=runs, sequential={}, held_out={}, noise=None)


def words_on(study, found, heading="Are the differences significant?"):
    parts = {part.heading: part.content.words for part in chapter(study, found).parts}
    return " ".join(parts.get(heading, ()))


def test_words_and_tables_agree(study, made):
    words = words_on(study, made)
    assert says(words, "error rate of 2D-UPSO", "lower than that of ACO", "higher than that of BPSO")
    assert says(words, "error rate of 2D-UPSO", "practically equal to that of GA")
    assert says(words, "number of features of 2D-UPSO", "lower than that of GA and ACO", "higher than that of BPSO")
    shown = tables(study, made)
    rows = {row["against"]: row for row in shown["unpaired-error"].rows if row["algorithm"] == "2D-UPSO"}
    assert rows["GA"]["conclusion"] == "practically equal within ±0.005"
    assert rows["ACO"]["conclusion"] == "lower error"
    assert rows["BPSO"]["conclusion"] == "higher error"
    best = [row["against"] for row in shown["unpaired-error"].rows if row["algorithm"] == "BPSO"]
    assert best == ["GA", "ACO", "2D-UPSO"]  # the best by average rank is another than the reference
    assert "2D-UPSO against every other" in shown["hommel"].caption
    assert "difference_lower,difference_upper" in shown["unpaired-error"].csv()
    assert says(shown["friedman"].note, "blocks", "arbitrary")


def test_control_and_pairs_of_the_plan(study, made):
    plan = study.plan.compared("ga", [("ACO", "ga"), ("bpso", "2d-upso")])
    other = replace(study, plan=plan)
    shown = tables(other, made)
    assert [row["algorithm"] for row in shown["unpaired-error"].rows] == ["GA"] * 3 + ["BPSO"] * 3
    assert [(row["algorithm"], row["against"]) for row in shown["pairs-size"].rows] == [
        ("ACO", "GA"),
        ("BPSO", "2D-UPSO"),
    ]
    assert says(words_on(other, made), "error rate of ACO is higher than that of GA")
    best = tables(replace(study, plan=plan.compared("best", ())), made)
    assert {row["algorithm"] for row in best["unpaired-error"].rows} == {"BPSO"}
    assert "pairs-error" not in best


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_runs_say_nothing(study, knn, n):
    few = {title: records[:n] for title, records in knn.runs.items()}
    found = replace(knn, runs=few)
    assert not {"unpaired-error", "friedman", "hommel"} & set(tables(study, found))
    assert not words_on(study, found)


def test_three_runs_are_said_to_be_too_few(study, knn):
    assert says(words_on(study, knn), "fewer than 4 runs", "no difference can be significant")
    alone = replace(knn, runs={"2D-UPSO": knn.runs["2D-UPSO"]}, held_out={})
    assert not words_on(study, alone)


def test_sentences_on_comparisons():
    same = compare_runs({"A": [1.0, 2.0, 3.0, 4.0], "B": [1.0, 2.0, 3.0, 4.0]}, control="A")
    assert say_comparisons("error", same) == "The error of A is not significantly different from that of B."
    apart = {name: [mean + i / 100 for i in range(5)] for name, mean in {"A": 2, "B": 1, "C": 3, "D": 3}.items()}
    sentence = say_comparisons("error", compare_runs(apart, control="A", margin=0.05))
    assert sentence == "The error of A is lower than that of C and D and higher than that of B."


def test_conclusions_say_no_more_than_is_shown():
    def conclusion(x, y, margin=0.05):
        return conclusion_in_words(*compare_runs({"A": x, "B": y}, control="A", margin=margin), "smaller", "larger")

    close = np.arange(20) / 1e4
    assert conclusion(1 + close, 1.003 + close) == "smaller, but within ±0.05"
    mixed = conclusion([1, 2, 3, 4, 5, 6, 7, 99], [8, 9, 10, 11, 12, 13, 14, 15])
    assert says(mixed, "smaller in most pairs of runs", "not on average")
    assert conclusion([1, 5, 3], [2, 4, 6]) == "inconclusive"


def test_report_with_another_control_and_pair(smoke_study, tmp_path):
    out = write_report(smoke_study, "md", tmp_path / "a.md", control="GA", pairs=[("aco", "BPSO")])
    text = out.read_text(encoding="utf-8")
    assert "GA against every other algorithm" in text
    assert text.count("Chosen pairs, all pairs of runs, with k-NN") == 2
    planned = replanned(smoke_study, tmp_path / "study", control="ga", comparisons=[["aco", "bpso"]])
    again = write_report(planned, "md", tmp_path / "b.md").read_text(encoding="utf-8")
    assert [line for line in again.splitlines() if line.startswith(("**", "The mean"))] == [
        line for line in text.splitlines() if line.startswith(("**", "The mean"))
    ]
    with pytest.raises(PqswarmError, match="unknown control 'chBSPO': did you mean 'chBPSO'"):
        write_report(smoke_study, "md", tmp_path / "c.md", control="chBSPO")
