"""The paper's values: they are the printed ones, and stand in a report only where the plan asks for them."""

import html
import re

import numpy as np
import pytest
from scipy import stats
from tests.report.studies import replanned, summary_of, tables

from pqswarm.report import write_report
from pqswarm.report.paper import ALGORITHMS, INCONSISTENCIES, paper_overlay
from pqswarm.study import load_plan

# The tables of the paper, line by line as they are printed. Search performance (mean, SD and PI of J, mean, SD and Xi
# of the size, overall score); Friedman of J and size; Hommel's table; SFFS; Theta(U), Theta and theta at eight noise
# levels; contrast estimation.
PRINTED = {
    "k-nn": """
        0.0161 0.0147 0.00552 0.00558 0.0094 0.0044
        1.1e-3 1.3e-3 4.6e-4 5.3e-4 7.6e-4 1.1e-3
        53.1 57.1 83.9 83.7 72.5 87.0
        47.6 45.7 39.8 38.7 41.1 20.9
        5.0 5.3 4.3 4.9 4.4 7.0
        52.0 53.9 59.8 60.9 58.5 78.9
        0.3096 0.2719 0.0892 0.0879 0.1571 0.0399
        5.9 5.2 2.3 2.4 4.0 1.3 182.66 1.23E-10
        5.2 4.9 3.3 2.9 3.7 1.0 130.25 7.95E-11
        10.88 1.49E-27 0.0100 10.07 7.51E-24 0.0100
        9.20 3.47E-20 0.0125 9.17 4.58E-20 0.0125
        2.42 1.55E-02 0.0500 5.32 1.04E-07 0.0250
        2.60 9.33E-03 0.0250 4.60 4.19E-06 0.0500
        6.45 1.09E-10 0.0167 6.33 2.38E-10 0.0167
        10 0.0056 0.0029
        96.57 98.39 98.65 99.47 99.50 99.21 99.68
        1.82 2.08 2.90 2.93 2.64 3.11
        94.82 96.78 97.51 97.83 97.51 97.54 98.86
        1.96 2.69 3.02 2.69 2.72 4.04
        94.61 95.98 97.30 97.48 97.24 96.95 98.77
        1.38 2.70 2.87 2.64 2.35 4.16
        93.55 95.40 96.31 96.86 96.45 95.95 98.48
        1.85 2.76 3.31 2.91 2.41 4.93
        92.55 94.40 95.48 96.13 95.51 95.04 97.86
        1.84 2.93 3.57 2.96 2.49 5.30
        91.86 93.70 94.34 94.58 94.28 93.79 96.34
        1.85 2.49 2.72 2.43 1.93 4.48
        89.56 91.23 90.30 91.38 91.59 91.29 93.84
        1.67 0.73 1.82 2.02 1.73 4.28
        85.46 86.04 86.13 86.66 86.45 86.45 88.48
        0.59 0.67 1.20 0.99 1.00 3.02
        0 -0.6658 -1.078 -0.8050 -0.5517 -2.759
        0.6658 0 -0.4125 -0.1392 0.1142 -2.093
        1.078 0.4125 0 0.2733 0.5267 -1.681
        0.8050 0.1392 -0.2733 0 0.2533 -1.954
        0.5517 -0.1142 -0.5267 -0.2533 0 -2.208
        2.759 2.093 1.681 1.954 2.208 0
    """,
    "kernel-nb": """
        0.0136 0.0128 0.00663 0.00652 0.0095 0.0061
        7.7e-4 8.5e-4 1.1e-3 3.3e-4 5.9e-4 2.5e-4
        31.8 35.6 66.7 67.3 52.4 69.4
        49.3 49.0 43.0 43.8 46.3 37.0
        3.8 4.8 4.2 3.8 4.0 4.4
        50.3 50.6 56.6 55.8 53.3 62.6
        0.2707 0.2546 0.1156 0.1156 0.1776 0.0913
        5.7 5.3 2.3 2.5 4.0 1.2 181.58 8.16E-11
        4.9 4.8 2.9 3.2 3.9 1.3 101.06 9.26E-11
        10.79 3.97E-27 0.0100 8.46 2.76E-17 0.0100
        9.71 2.70E-22 0.0125 8.25 1.62E-16 0.0125
        2.69 7.16E-03 0.0500 3.71 2.11E-04 0.0500
        3.08 2.09E-03 0.0250 4.48 7.39E-06 0.0250
        6.54 5.99E-11 0.0167 6.13 9.04E-10 0.0167
        30 0.0070 0.0056
        98.01 98.77 98.74 99.38 99.36 99.09 99.44
        0.76 0.73 1.38 1.35 1.08 1.43
        97.30 97.63 97.54 97.92 97.95 97.60 98.04
        0.32 0.23 0.62 0.64 0.29 0.73
        97.04 97.36 97.16 97.45 97.39 97.39 97.45
        0.32 0.12 0.41 0.35 0.35 0.41
        96.34 96.45 96.75 96.66 96.51 96.48 96.95
        0.12 0.41 0.32 0.18 0.15 0.62
        95.66 95.54 95.72 95.84 95.34 95.60 96.36
        -0.12 0.06 0.18 -0.32 -0.06 0.70
        94.28 94.78 94.05 94.58 93.72 93.99 95.10
        0.50 -0.24 0.29 -0.56 -0.30 0.82
        92.67 92.58 92.29 92.52 92.11 92.35 93.87
        -0.09 -0.38 -0.15 -0.56 -0.32 1.20
        89.62 89.94 89.68 90.15 89.77 90.00 91.41
        0.32 0.06 0.53 0.14 0.38 1.79
        0 0.0925 -0.2042 0.1025 0.0017 -0.6025
        -0.0925 0 -0.2967 0.01 -0.0908 -0.6950
        0.2042 0.2967 0 0.3067 0.2058 -0.3983
        -0.1025 -0.01 -0.3067 0 -0.1008 -0.7050
        -0.0017 0.0908 -0.2058 0.1008 0 -0.6042
        0.6025 0.6950 0.3983 0.7050 0.6042 0
    """,
}


@pytest.fixture(scope="module")
def page(smoke_study):
    return (smoke_study / "report.html").read_text(encoding="utf-8")  # the command has written it


@pytest.fixture(params=["k-NN", "NB"])
def overlay(request):
    return paper_overlay(load_plan("paper"), request.param)


def test_published_values_fit_together_as_far_as_they_do(overlay):
    def column(key):
        return np.array([overlay.performance[name][key] for name in ALGORITHMS])

    for _, whole, accuracy, gain in overlay.noise:
        assert np.abs(np.array([*accuracy.values()]) - whole - [*gain.values()]).max() < 0.0101
    assert np.abs(100 * (1 - column("mean_J") / overlay.all_features) - column("PI")).max() < 0.2
    assert np.abs(100 * (1 - column("mean_size") / 99) - column("Xi")).max() < 0.2
    contrast = np.array([[*row.values()] for row in overlay.contrast.values()])
    assert np.array_equal(contrast, -contrast.T)
    for rows in overlay.posthoc.values():
        z, p = (np.array([row[key] for row in rows.values()]) for key in ("z", "p"))
        assert np.abs(stats.norm.isf(p / 2) - z).max() < 0.006
    for ranks in overlay.ranks.values():
        true = stats.chi2.sf(ranks["chi2"], 5)
        assert ranks["p"] / true > 1e9  # the first inconsistency
        assert f"{true:.1e}" in INCONSISTENCIES[0]
    assert [level for level, *_ in overlay.noise] == [np.inf, 50, 45, 40, 35, 30, 25, 20]


def test_published_accuracies_fit_3411_events_and_not_3500():
    """Counted anew from the printed tables: multiples of 1/N in percent, rounded to two decimals."""
    lines = [PRINTED[kind].split("\n")[16:32:2] for kind in PRINTED]
    values = [float(text) for table in lines for line in table for text in line.split()]
    assert len(values) == 112
    fits = {n: sum(round(100 * round(v * n / 100) / n, 2) == v for v in values) for n in range(3000, 4001)}
    assert (fits[3500], fits[3411]) == (38, 103)
    assert max(fits, key=fits.get) == 3411
    assert stats.binomtest(fits[3500], 112, 0.35).pvalue > 0.5  # a multiple of 1/N lies within 0.005 by chance: N/10000
    assert stats.binomtest(fits[3411], 112, 0.3411, alternative="greater").pvalue < 1e-30
    told = next(text for text in INCONSISTENCIES if "3411" in text)
    assert f"{fits[3500]} ({fits[3500] / 1.12:.0f} %) are multiples of 1/3500" in told
    assert f"{fits[3411]} ({fits[3411] / 1.12:.0f} %) are multiples of 1/3411" in told


def test_the_error_of_all_features_is_the_printed_one():
    plan = load_plan("paper")
    assert [paper_overlay(plan, name).all_features for name in ("k-NN", "NB")] == [0.0343, 0.0199]


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
    lines = [line.split() for line in PRINTED[kind].strip().splitlines()]
    numbers = [[float(text) for text in line] for line in lines]
    rows = [[text for _, text in row] for row in cells(page, f"{slug}-performance")]
    printed = [list(map(float, row[2:])) for row in rows if row[1] == "paper"]
    expected = [list(column) for column in zip(*numbers[:7], strict=True)]
    assert [row[:6] for row in printed] == [row[:6] for row in expected]
    # The overall score is shown per run; the paper sums it over 40.
    assert [row[6] for row in printed] == pytest.approx([row[6] / 40 for row in expected], abs=5.1e-6)
    rows = [[text for _, text in row] for row in cells(page, f"{slug}-friedman")]
    assert [list(map(float, row[2:10])) for row in rows if row[1] == "paper"] == numbers[7:9]
    for place, name in ((0, "posthoc-error"), (3, "posthoc-size")):
        rows = [[text for _, text in row] for row in cells(page, f"{slug}-{name}")]
        printed = [[float(row[i]) for i in (3, 4, 6)] for row in rows if row[1] == "paper"]
        assert printed == [line[place : place + 3] for line in numbers[9:14]]
    (row,) = [[text for _, text in row] for row in cells(page, f"{slug}-sequential") if row[1][1] == "paper"]
    assert [float(row[i]) for i in (3, 4, 8)] == numbers[14]
    rows = cells(page, f"{slug}-noise-paper")
    assert [[text for _, text in row[1:2] + row[2::2]] for row in rows] == lines[15:31:2]
    assert [[text for _, text in row[3::2]] for row in rows] == lines[16:31:2]
    rows = cells(page, f"{slug}-contrast-paper")
    assert [[float(text) for _, text in row[1:]] for row in rows] == numbers[31:]


def test_negative_gains_are_marked(page):
    for row in cells(page, "nb-noise-paper"):
        for kind, text in row[3::2]:
            assert ("bad" in kind.split()) == text.startswith("-")
    marked = [text for row in cells(page, "nb-noise-paper") for kind, text in row if "bad" in kind.split()]
    assert len(marked) == 11  # as many as the paper underlines


def test_without_the_plan_asking_for_it_the_paper_is_not_there(smoke_study, tmp_path, study, no_pictures):
    plain = replanned(smoke_study, tmp_path / "study", paper=False)
    for form in ("html", "md", "latex"):
        text = write_report(plain, form).read_text(encoding="utf-8")
        words = re.sub(
            r"<style>.*?</style>|<script>.*?</script>|base64,[^\"]*|<pre>.*?</pre>", "", text, flags=re.DOTALL
        )
        words = re.sub(r"preset paper|paper = false|preset = .paper.", "", words)
        assert not re.search("paper|Hafiz|inconsistent|APV", words)
    bare = summary_of(plain)
    for with_paper, without in zip(study.classifiers, bare.classifiers, strict=True):
        shown = tables(bare, without)
        for name, table in tables(study, with_paper).items():
            if not name.endswith("-paper"):
                ours = [row for row in table.rows if row.get("source") != "paper"]
                assert shown[name].rows == [{k: v for k, v in row.items() if k != "paper"} for row in ours]


def test_a_classifier_that_the_paper_does_not_have_is_left_alone():
    plan = load_plan("paper")
    other = plan.classifiers[0].model_copy(update={"kind": "gaussian-nb", "parameters": {}})
    assert not paper_overlay(plan.model_copy(update={"classifiers": (other,)}), other.name)
    assert not paper_overlay(plan.model_copy(update={"paper": False}), "k-NN")


def test_the_inconsistencies_are_told(page):
    for text in INCONSISTENCIES:
        assert html.escape(text, quote=False) in page.replace("&#39;", "'").replace("\u00a0", " ")
