"""Two studies in one report."""

from dataclasses import replace
from math import inf

import pytest
from scipy.stats import mannwhitneyu
from tests.report.studies import replanned, summary_of
from typer.testing import CliRunner

from pqswarm.cli.main import app
from pqswarm.errors import PqswarmError
from pqswarm.report.comparison import compare_studies


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
    document = compare_studies(study, changed, ("one", "two"))
    rows = {(row["classifier"], row["algorithm"]): row for row in document.tables[0].rows}
    assert len(rows) == 2 * 6
    ga, bpso = rows["k-NN", "GA"], rows["k-NN", "BPSO"]
    assert ga["error change"] == pytest.approx(10.0)
    first = study.classifiers[0].errors("GA")
    p = mannwhitneyu(first, first + 0.1).pvalue
    assert p <= ga["error p"] <= 6 * p
    assert (bpso["error change"], bpso["error p"], bpso["size p"]) == (0.0, 1.0, 1.0)
    words = " ".join([*document.opening.answer, *document.opening.words])
    assert "different events" in words
    assert "k-NN: all features have an error rate of 35.71 % in one and 35.71 % in two" in words
    (plans,) = document.parts[0].content.tables
    assert plans.rows == [{"key": "dataset.seed", "first": "0", "second": "7"}]
    assert [plans.heading(key) for key in plans.keys] == ["Key", "one", "two"]
    numbers = [[item.number for item in items] for items in (document.tables, document.drawings)]
    assert numbers == [list(range(1, len(items) + 1)) for items in numbers]


@pytest.mark.slow
def test_the_command_compares(smoke_study, other, tmp_path):
    out = tmp_path / "both.html"
    result = CliRunner().invoke(app, ["report", str(smoke_study), str(other), "--out", str(out)])
    assert result.exit_code == 0, result.output
    text = out.read_text(encoding="utf-8")
    assert 'id="figure-size"' in text
    assert text.count('class="drawing') == 3
    result = CliRunner().invoke(app, ["report", str(other), str(smoke_study), "--format", "md"])
    assert result.exit_code == 0, result.output
    assert (other / f"beside-{smoke_study.name}.md").read_text(encoding="utf-8").startswith("# other and ")


def test_studies_that_share_nothing(study, tiny):
    with pytest.raises(PqswarmError, match="no classifier of the same name"):
        compare_studies(study, tiny, ("one", "two"))
