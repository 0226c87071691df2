"""What is said of chance follows from the comparisons, and is no stronger."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.sayings import says
from tests.report.studies import answer_for, chapter, replanned, tables

from pqswarm.errors import PqswarmError
from pqswarm.report import Palette, write_report
from pqswarm.report.sections.chance import (
    conclusion_in_words,
    plot_superiority,
    say_chance_of_error,
    say_chance_of_size,
    say_friedman,
)
from pqswarm.report.style import mark_of
from pqswarm.statistics import compare_runs, friedman


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


def test_answers_and_tables_agree(study, made):
    answer = answer_for(study, made)
    assert says(answer, "10 runs", "error rate of 2D-UPSO", "lower than that of ACO", "higher than that of BPSO")
    assert says(answer, "error rate of 2D-UPSO", "practically equal to that of GA", "within 5 %", "equivalence test")
    assert says(answer, "2D-UPSO selects fewer features than GA and ACO", "52 %", "fewer in all pairs of runs")
    assert says(answer, "more features than BPSO", "183 %", "more in all pairs of runs")
    shown = tables(study, made)
    rows = {row["against"]: row for row in shown["unpaired-error"].rows if row["algorithm"] == "2D-UPSO"}
    assert rows["GA"]["conclusion"] == "practically equal within ±0.005"
    assert rows["ACO"]["conclusion"] == "lower error"
    assert rows["BPSO"]["conclusion"] == "higher error"
    best = [row["against"] for row in shown["unpaired-error"].rows if row["algorithm"] == "BPSO"]
    assert best == ["GA", "ACO", "2D-UPSO"]  # the best by average rank is another than the reference
    assert "2D-UPSO against every other" in shown["hommel"].caption
    assert "difference_lower,difference_upper" in shown["unpaired-error"].csv()
    words = [word for part in chapter(study, made).parts for word in part.content.words]
    assert says(" ".join(words), "Friedman test", "blocks", "arbitrary")


def test_control_and_pairs_of_the_plan(study, made):
    plan = study.plan.compared("ga", [("ACO", "ga"), ("bpso", "2d-upso")])
    other = replace(study, plan=plan)
    shown = tables(other, made)
    assert [row["algorithm"] for row in shown["unpaired-error"].rows] == ["GA"] * 3 + ["BPSO"] * 3
    assert [(row["algorithm"], row["against"]) for row in shown["pairs-size"].rows] == [
        ("ACO", "GA"),
        ("BPSO", "2D-UPSO"),
    ]
    answer = answer_for(other, made)
    assert says(answer, "10 runs", "error rate of ACO is higher than that of GA", "Mann-Whitney test")
    best = tables(replace(study, plan=plan.compared("best", ())), made)
    assert {row["algorithm"] for row in best["unpaired-error"].rows} == {"BPSO"}
    assert "pairs-error" not in best


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_runs_say_nothing(study, knn, n):
    few = {title: records[:n] for title, records in knn.runs.items()}
    found = replace(knn, runs=few)
    assert not {"unpaired-error", "friedman", "hommel"} & set(tables(study, found))
    assert "Over " not in answer_for(study, knn, runs=few)


def test_three_runs_are_said_to_be_too_few(study, knn):
    assert says(answer_for(study, knn), "3 runs", "no difference in error rates can be significant", "at least 4 runs")
    alone = {"2D-UPSO": knn.runs["2D-UPSO"]}
    assert "Over " not in answer_for(study, knn, runs=alone, held_out={})


def test_sentences_on_comparisons():
    def compared(**values):
        return compare_runs(values, control="A", margin=0.05)

    same = compared(A=[1.0, 2.0, 3.0, 4.0], B=[1.0, 2.0, 3.0, 4.0])
    assert says(
        say_chance_of_error(same, 0.05), "4 runs", "error rate of A does not differ significantly", "of B", "p = 1.0"
    )
    assert says(say_chance_of_size(same), "4 runs", "sizes of A do not differ significantly", "of B", "p = 1.0")
    apart = {name: [mean + i / 100 for i in range(5)] for name, mean in {"A": 1, "B": 2, "C": 3, "D": 3}.items()}
    sentence = say_chance_of_error(compared(**apart), 0.05)
    assert says(sentence, "5 runs", "A is lower than that of each of the others", "Mann-Whitney test", "p ≤ 0.0079")
    most = compare_runs({"A": [1, 2, 3, 4, 5, 9], "B": [8, 9, 10, 11, 12, 13]}, control="A")
    assert most[0].conclusion == "better"
    assert says(say_chance_of_size(most), "A", "B", "fewer in 95.8 % of the pairs of runs")  # 34.5 of 36, rounded down


def test_conclusions_say_no_more_than_is_shown():
    def conclusion(x, y, margin=0.05):
        return conclusion_in_words(*compare_runs({"A": x, "B": y}, control="A", margin=margin), "smaller", "larger")

    close = np.arange(20) / 1e4
    assert conclusion(1 + close, 1.003 + close) == "smaller, but within ±0.05"
    mixed = conclusion([1, 2, 3, 4, 5, 6, 7, 99], [8, 9, 10, 11, 12, 13, 14, 15])
    assert says(mixed, "smaller in most pairs of runs", "not on average")
    assert conclusion([1, 5, 3], [2, 4, 6]) == "inconclusive"


def test_sentences_on_the_friedman_test():
    def say(errors, names, control):
        return say_friedman(friedman(np.array(errors, dtype=float), names=names), control)

    assert says(say([[0, 1, 2]] * 40, list("ABC"), "A"), "A is significantly lower than that of B and C")
    middle = say([[0, 1, 2]] * 40, list("ABC"), "B")
    assert says(middle, "B is significantly lower than that of C", "significantly higher than that of A")
    level = say([[0, 0.5, 2], [0.5, 0, 2]] * 20 + [[0, 1, 2]], list("ABC"), "A")
    assert says(level, "significantly lower than that of C", "not significantly different from that of B")
    assert says(say([[0, 1], [1, 0]], ["A", "B"], "A"), "do not differ significantly")


def test_report_with_another_control_and_pair(smoke_study, tmp_path):
    out = write_report(smoke_study, "md", tmp_path / "a.md", control="GA", pairs=[("aco", "BPSO")])
    text = out.read_text(encoding="utf-8")
    assert "GA against every other algorithm" in text
    assert text.count("Chosen pairs, all pairs of runs, with k-NN") == 2
    planned = replanned(smoke_study, tmp_path / "study", control="ga", comparisons=[["aco", "bpso"]])
    again = write_report(planned, "md", tmp_path / "b.md").read_text(encoding="utf-8")
    assert [line for line in again.splitlines() if line.startswith(("**", "- Over"))] == [
        line for line in text.splitlines() if line.startswith(("**", "- Over"))
    ]
    with pytest.raises(PqswarmError, match="unknown control 'chBSPO': did you mean 'chBPSO'"):
        write_report(smoke_study, "md", tmp_path / "c.md", control="chBSPO")


def test_figure_of_superiority():
    values = {"2D-UPSO": [1, 2, 3, 4], "GA": [5, 6, 7, 8], "ACO": [2, 3, 5, 6]}
    comparisons = compare_runs(values, control="2D-UPSO")
    figure = plot_superiority({"error": comparisons, "size": comparisons}, Palette(values))
    left, right = figure.axes
    assert [label.get_text() for label in right.get_yticklabels()] == ["", ""]
    dots = [line for line in left.lines if line.get_marker() not in ("None", "", None)]
    assert [dot.get_xdata()[0] for dot in dots] == [1.0, comparisons[1].superiority.estimate]
    assert mark_of(dots[0]).series == "GA"
    assert mark_of(dots[0]).tips[0].startswith("2D-UPSO against GA: 1.000 (0.")
