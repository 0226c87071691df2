"""Several studies in one report."""

from dataclasses import replace
from math import inf

import pytest
from scipy.stats import mannwhitneyu, wilcoxon
from tests.cli.running import run
from tests.report.studies import replanned, says, summary_of

from pqswarm.errors import PqswarmError
from pqswarm.report.comparison import compare_studies
from pqswarm.report.document import compose
from pqswarm.report.summary import StudySummary


@pytest.fixture(scope="module")
def other(smoke_study, tmp_path_factory):
    """The same study, said to be of other events."""
    path = tmp_path_factory.mktemp("other") / "other"
    dataset = {"preset": "paper", "events_per_class": 10, "snr": [inf, 30.0], "seed": 7}
    return replanned(smoke_study, path, dataset=dataset)


def test_means_stand_side_by_side_with_a_test(study, other):
    again = summary_of(other)
    found = again.classifiers[0]
    worse = [replace(r, result=replace(r.result, error=r.error + 0.1)) for r in found.runs["GA"]]
    changed = replace(again, classifiers=[replace(found, runs=found.runs | {"GA": worse}), again.classifiers[1]])
    document = compare_studies({"one": StudySummary.of(study), "two": StudySummary.of(changed)})
    rows = {(row["classifier"], row["algorithm"]): row for row in document.tables[0].rows}
    assert len(rows) == 2 * 7
    ga, bpso = rows["k-NN", "GA"], rows["k-NN", "BPSO"]
    assert ga["error change two"] == pytest.approx(10.0)
    first = study.classifiers[0].errors("GA")
    p = mannwhitneyu(first, first + 0.1).pvalue
    assert p <= ga["error p two"] <= 6 * p
    assert (bpso["error change two"], bpso["error p two"], bpso["size p two"]) == (0.0, 1.0, 1.0)
    assert rows["NB", "All features"]["error one"] == pytest.approx(100 * study.classifiers[1].all_features)
    words = " ".join([*document.overview.answer, *document.overview.words])
    assert "different events" in words
    assert "k-NN: all features have an error rate of 40.00 % in one and 40.00 % in two" in words
    (plans,) = document.parts[0].content.tables
    assert plans.rows == [{"key": "dataset.seed", "in one": "0", "in two": "7"}]
    assert [plans.heading(key) for key in plans.keys] == ["Key", "one", "two"]
    numbers = [[item.number for item in items] for items in (document.tables, document.drawings)]
    assert numbers == [list(range(1, len(items) + 1)) for items in numbers]


@pytest.mark.slow
def test_the_command_compares(smoke_study, other, tmp_path):
    out = tmp_path / "both.html"
    run("report", smoke_study, other, "--out", out)
    text = out.read_text(encoding="utf-8")
    assert 'id="figure-errors"' in text
    assert text.count('class="drawing') == 1
    run("report", other, smoke_study, "--format", "md")
    assert (other / f"beside-{smoke_study.name}.md").read_text(encoding="utf-8").startswith("# other and ")


def several(study, shifts, gain=0.0, digest="", runs_of="GA"):
    """A study on several data sets, each with the runs of one; the errors of each shifted, those of GA once more."""

    def shifted(found, shift):
        runs = {
            title: [
                replace(r, result=replace(r.result, error=r.error + shift + gain * (title == runs_of))) for r in records
            ]
            for title, records in found.runs.items()
        }
        return replace(found, runs=runs)

    members = {
        f"seed {i}": replace(study, digest=f"{digest}{i}", classifiers=[shifted(c, shift) for c in study.classifiers])
        for i, shift in enumerate(shifts)
    }
    return StudySummary(study.plan, study.about, members)


def test_several_studies_on_several_data_sets(study):
    shifts = [0.01 * i**2 for i in range(8)]
    bases, gains = several(study, shifts), [0.02, 0.05]
    better = [several(study, [s + 0.001 * i * (-1) ** i for i, s in enumerate(shifts)], -gain) for gain in gains]
    elsewhere = several(study, shifts[:6], -0.3, digest="other ")
    document = compare_studies({"one": bases, "two": better[0], "three": better[1], "four": elsewhere})
    rows = {(row["classifier"], row["algorithm"]): row for row in document.tables[0].rows}
    means = [one.classifiers[1].means("error", "GA") for one in (bases, *better, elsewhere)]
    row = rows["NB", "GA"]
    assert [row[f"error {name}"] for name in ("one", "two", "three", "four")] == pytest.approx(
        [100 * float(mean.mean()) for mean in means]
    )
    for i, name in ((1, "two"), (2, "three")):  # the same data sets: paired
        p = wilcoxon(means[0], means[i]).pvalue
        assert p <= row[f"error p {name}"] <= 7 * p
    p = mannwhitneyu(means[0], means[3], method="exact").pvalue
    assert p <= row["error p four"] <= 7 * p
    note = document.tables[0].note
    assert "8 in one, 8 in two, 8 in three and 6 in four" in note
    assert "Wilcoxon signed-rank and Mann-Whitney test between a study and one" in note
    assert len(document.drawings[0].draw().axes) == 2 * 4
    assert "different events" in document.overview.words[0]


def test_the_leader_in_words(study):
    few = [0.001 * i for i in range(8)]
    ahead = several(study, few, -0.3)
    mean = 100 * ahead.classifiers[1].mean("error", "GA")
    answer = compose(ahead).chapters[1].answer
    assert says(answer[0], "GA has the lowest mean error rate", f"{mean:.2f} %", "all 99 features")
    runs = {title: c.runs["GA"] for c in study.classifiers[1:] for title in c.runs}
    same = [replace(study.classifiers[1], runs=runs, sequential={}, noise=None, held_out={})]
    equal = compose(several(replace(study, classifiers=same), few)).chapters[0].answer
    assert says(equal[0], "GA, ACO, BPSO, CBPSO, chBPSO and 2D-UPSO have the lowest mean error rate")


def test_studies_that_share_nothing(study, tiny):
    with pytest.raises(PqswarmError, match="no classifier of the same name"):
        compare_studies({"one": StudySummary.of(study), "two": StudySummary.of(tiny)})
