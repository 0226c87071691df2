"""The paper's values: they are the printed ones, and stand in a report only where the plan asks for them."""

import re

import pytest
from scipy import stats
from tests.report.audit import audit_paper
from tests.report.studies import replanned, summary_of, tables
from tests.statistics.paper import PRINTED

from pqswarm.report import write_report
from pqswarm.report.paper import ABBREVIATIONS, EVENT_MODELS, INCONSISTENCIES, SEARCH_PARAMETERS, paper_overlay
from pqswarm.report.sections.algorithms import _PERFORMANCE
from pqswarm.study import load_plan


@pytest.fixture(scope="module")
def page(smoke_study):
    return (smoke_study / "report.html").read_text(encoding="utf-8")  # the command has written it


def test_inconsistencies_state_what_follows_from_the_printed_numbers():
    computed = audit_paper()
    assert len(INCONSISTENCIES) == len(computed) + 2  # and what the paper does not say
    for text, facts in zip(INCONSISTENCIES, computed, strict=False):
        assert not [fact for fact in facts if fact not in text]


def test_published_accuracies_fit_3411_events_and_not_3500():
    """Counted anew from the printed tables: multiples of 1/N in percent, rounded to two decimals."""
    lines = [PRINTED[kind][15:31:2] for kind in PRINTED]
    values = [float(text) for table in lines for line in table for text in line.split()]
    assert len(values) == 112
    fits = {n: sum(round(100 * round(v * n / 100) / n, 2) == v for v in values) for n in range(3000, 4001)}
    assert (fits[3500], fits[3411]) == (38, 103)
    assert max(fits, key=fits.get) == 3411
    assert stats.binomtest(fits[3500], 112, 0.35).pvalue > 0.5  # a multiple of 1/N lies within 0.005 by chance: N/10000
    assert stats.binomtest(fits[3411], 112, 0.3411, alternative="greater").pvalue < 1e-30
    told = next(text for text in INCONSISTENCIES if "3411" in text)
    assert f"{fits[3500]} are multiples of 1/3500" in told
    assert f"{fits[3411]} are multiples of 1/3411" in told


def test_tables_1_and_2_are_of_the_paper_plan():
    plan = load_plan("paper")
    assert set(EVENT_MODELS) == set(plan.dataset.class_names)
    assert {algorithm.algorithm for algorithm in plan.searched} - {"merit"} == set(SEARCH_PARAMETERS)
    assert {algorithm.title for algorithm in plan.searched} <= set(ABBREVIATIONS)


def cells(page, name):
    """The rows of a table of the page: text and class of each cell."""
    table = page[page.index(f'id="table-{name}"') :]
    table = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = re.findall(r"<tr.*?</tr>", table)
    return [
        re.findall(r"<t[hd](?: scope=\"row\")?(?: class=\"([^\"]*)\")?(?: data-value=\"[^\"]*\")?>(.*?)</t[hd]>", row)
        for row in rows
    ]


@pytest.mark.parametrize(("slug", "kind"), [("k-nn", "k-nn"), ("nb", "kernel-nb")])
def test_the_papers_values_stand_beside(page, slug, kind):
    lines = [line.split() for line in PRINTED[kind]]
    numbers = [[float(text) for text in line] for line in lines]
    rows = [[text for _, text in row] for row in cells(page, f"{slug}-performance")]
    assert [list(map(float, row[2:])) for row in rows if row[1] == "paper"] == numbers[:7]
    name = "k-NN" if slug == "k-nn" else "NB"
    rows = [[text for _, text in row] for row in cells(page, "friedman")]
    assert [list(map(float, row[3:11])) for row in rows if (row[0], row[2]) == (name, "paper")] == numbers[7:9]
    rows = [[text for _, text in row] for row in cells(page, f"{slug}-hommel")]
    printed = [[float(row[i]) for i in (2, 3, 4, 6, 7, 8)] for row in rows if row[1] == "paper"]
    assert printed == numbers[9:14]
    rows = [[text for _, text in row] for row in cells(page, "sffs")]
    assert [list(map(float, row[2:])) for row in rows if row[:2] == [name, "paper"]] == [numbers[14]]
    rows = [[text for _, text in row] for row in cells(page, f"{slug}-noise") if row[3][1] == "paper"]
    assert [row[1:2] + row[4:] for row in rows if row[2] == "Θ"] == lines[15:31:2]
    assert [row[4:] for row in rows if row[2] == "θ"] == lines[16:31:2]
    rows = [[text for _, text in row] for row in cells(page, f"{slug}-contrast") if row[1][1] == "paper"]
    assert [[float(text) for text in row[2:]] for row in rows] == numbers[31:]


def test_deviations_have_two_digits_as_printed():
    assert [format(value, _PERFORMANCE["sd_J"][1]) for value in (0.01, 0.0011)] == ["0.010", "0.0011"]


def test_negative_gains_are_marked_and_positive_contrasts_are_bold(page):
    rows = [row[4:] for row in cells(page, "nb-noise") if row[3][1] == "paper"]
    for row in rows:
        for kind, text in row:
            assert ("bad" in kind.split()) == text.startswith("-")
    assert sum("bad" in kind.split() for row in rows for kind, _ in row) == 11  # as many as the paper underlines
    rows = [row[2:] for row in cells(page, "nb-contrast") if row[1][1] == "paper"]
    assert sum("best" in kind.split() for row in rows for kind, _ in row) == 15


def test_without_the_plan_asking_for_it_the_paper_is_not_there(smoke_study, tmp_path, study, no_pictures):
    plain = replanned(smoke_study, tmp_path / "study", paper=False)
    for form in ("html", "md", "latex"):
        text = write_report(plain, form).read_text(encoding="utf-8")
        words = re.sub(
            r"<style>.*?</style>|<script>.*?</script>|base64,[^\"]*|<pre[^>]*>.*?</pre>", "", text, flags=re.DOTALL
        )
        words = re.sub(r"preset paper|paper = false|preset = .paper.", "", words)
        assert not re.search("paper|Hafiz|inconsistent|APV", words)
    bare = summary_of(plain)
    for with_paper, without in zip(study.classifiers, bare.classifiers, strict=True):
        shown = tables(bare, without)
        for name, table in tables(study, with_paper).items():
            if name in shown:
                ours = [row for row in table.rows if row.get("source") != "paper"]
                assert shown[name].rows == [{k: v for k, v in row.items() if k != "paper"} for row in ours]


def test_a_classifier_that_the_paper_does_not_have_is_left_alone():
    plan = load_plan("paper")
    other = plan.classifiers[0].model_copy(update={"kind": "gaussian-nb", "parameters": {}})
    assert not paper_overlay(plan.model_copy(update={"classifiers": (other,)}), other.name)
    assert not paper_overlay(plan.model_copy(update={"paper": False}), "k-NN")
