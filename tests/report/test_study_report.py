"""The report of a study: the paper's values in it, one sound HTML page, Markdown, LaTeX and CSV."""

import csv
import html
import io
import re
import shutil
import sqlite3
import tomllib
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import stats

from pqswarm.errors import PqswarmError
from pqswarm.report import write_report
from pqswarm.report.published import ALGORITHMS, INCONSISTENCIES, LEVELS, PUBLISHED
from pqswarm.report.study_tables import classifier_tables
from pqswarm.report.summary import summarize
from pqswarm.report.tables import Table
from pqswarm.study import Store, run_study
from pqswarm.study.plan import plan_text, read_plan

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


@pytest.mark.parametrize(("kind", "all_features"), [("k-nn", 0.0343), ("kernel-nb", 0.0199)])
def test_published_values_are_those_of_the_paper(kind, all_features):
    lines = [tuple(map(float, line.split())) for line in PRINTED[kind].strip().splitlines()]
    p = PUBLISHED[kind]
    performance = (p.mean_error, p.sd_error, p.improvement, p.mean_size, p.sd_size, p.reduction, p.score)
    assert list(performance) == lines[:7]
    assert [(*p.ranks_error, p.chi2[0], p.p_value[0]), (*p.ranks_size, p.chi2[1], p.p_value[1])] == lines[7:9]
    columns = (p.z_error, p.p_error, p.limit_error, p.z_size, p.p_size, p.limit_size)
    assert list(zip(*columns, strict=True)) == lines[9:14]
    assert p.sffs == lines[14]
    noise = [(whole, *row) for whole, row in zip(p.accuracy_all, p.accuracy, strict=True)]
    assert noise == lines[15:31:2]
    assert list(p.gain) == lines[16:31:2]
    assert list(p.contrast) == lines[31:]
    assert p.all_features == all_features
    assert list(LEVELS) == [np.inf, 50, 45, 40, 35, 30, 25, 20]
    assert list(ALGORITHMS) == ["GA", "ACO", "BPSO", "CBPSO", "chBPSO", "2D-UPSO"]


@pytest.mark.parametrize("kind", PUBLISHED)
def test_published_values_fit_together_as_far_as_they_do(kind):
    p = PUBLISHED[kind]
    whole = np.array(p.accuracy_all)[:, np.newaxis]
    assert np.abs(np.array(p.accuracy) - whole - p.gain).max() < 0.0101
    assert np.abs(100 * (1 - np.array(p.mean_error) / p.all_features) - p.improvement).max() < 0.2
    assert np.abs(100 * (1 - np.array(p.mean_size) / 99) - p.reduction).max() < 0.2
    assert np.array_equal(p.contrast, -np.transpose(p.contrast))
    for z, values in ((p.z_error, p.p_error), (p.z_size, p.p_size)):
        assert np.abs(stats.norm.isf(np.array(values) / 2) - z).max() < 0.006
    for chi2, printed in zip(p.chi2, p.p_value, strict=True):
        true = stats.chi2.sf(chi2, 5)
        assert printed / true > 1e9  # the first inconsistency
        assert f"{true:.1e}" in INCONSISTENCIES[0]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "smoke"  # the other tests of the report use it as well
    run_study(read_plan(plan_text("smoke").replace("grid_search = false", "grid_search = true")), path, jobs=1)
    return path


@pytest.fixture(scope="module")
def study(folder):
    with Store(folder) as store:
        return summarize(store)


@pytest.fixture(scope="module")
def hostile(folder, tmp_path_factory):
    """The same study under a title that no one should trust."""
    path = tmp_path_factory.mktemp("hostile") / "study"
    shutil.copytree(folder, path)
    with Store(path, write=True) as store:
        store.put_fact("title", TITLE)
    return path


TITLE = '<script>alert(1)</script> & "quotes" | *stars* _lines_ \\x\nand 100 % {braces} $5 #1'


@pytest.fixture(scope="module")
def page(hostile):
    return write_report(hostile).read_text(encoding="utf-8")


class Page(HTMLParser):
    """Reads a page, and complains about tags that are not nested."""

    EMPTY = ("meta", "link", "img", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        assert len(attributes) == len(dict(attributes))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)


@pytest.fixture(scope="module")
def parsed(page):
    return Page(page)


def test_the_page_needs_nothing_else(page, parsed):
    assert not {tag for tag, _ in parsed.tags} & {"script", "iframe", "object", "embed", "base", "form"}
    ids = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"\S+", name) for name in ids)
    for tag, attributes in parsed.tags:
        for name, value in attributes.items():
            if name in ("src", "href", "xlink:href", "action", "poster", "srcset", "data"):
                assert value.startswith(("#", "data:")), (tag, value)
                assert not value.startswith("#") or value[1:] in ids, value
            assert not name.startswith("on")
    assert set(re.findall(r"url\(([^)]*)\)", page)) <= {f"#{name}" for name in ids}
    assert "@import" not in page
    assert set(re.findall(r"https?://[^\s\"'<>]*", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_the_checks_can_fail():
    for text in ("<div><p></div></p>", "<div>", "</p>"):
        with pytest.raises(AssertionError):
            Page(text)


def test_text_is_escaped(page, parsed):
    assert html.escape(TITLE) in page or html.escape(TITLE).replace("&quot;", "&#34;") in page
    assert "<script" not in page
    assert "".join(parsed.words).count(TITLE) == 2  # in the head and as the heading
    quoted = Table("a", 'x & "y" <z>', [{"a<b": "<i>", "n": -1.0}], note="<b>").html()
    assert not {tag for tag, _ in Page(quoted).tags} & {"i", "b", "z"}


def test_the_plan_in_the_page_is_the_plan(page, study):
    text = html.unescape(re.search(r"<pre>(.*?)</pre>", page, re.DOTALL)[1])
    assert read_plan(text) == study.plan.model_copy(update={"title": TITLE})
    assert tomllib.loads(text)["title"] == TITLE


FIGURES = (
    "Least error so far against evaluations",
    "Error against number of features, one mark for each run",
    "Average ranks by error",
    "Average ranks by number of features",
    "In how many of its runs 2D-UPSO chose each feature [%]",
    "Accuracy of the best subsets against noise",
    "Who is taken for whom: all features, and the best subset of 2D-UPSO",
    "Accuracy of all features for other hyperparameters",
)
TABLES = ("performance", "friedman", "posthoc-error", "posthoc-size", "sffs", "noise", "noise-paper")
TABLES += ("contrast", "contrast-paper", "robust", "fresh", "stability", "features")


def test_all_figures_are_there_each_with_words(page):
    drawings = re.findall(r'<figure class="drawing"><figcaption>(.*?)</figcaption>(.*?)</figure>', page, re.DOTALL)
    captions = [html.unescape(caption) for caption, _ in drawings]
    assert captions == [*FIGURES, *FIGURES, "The 14 event classes"]
    for caption, drawing in drawings:
        assert len(re.findall(r"<svg |<img ", drawing)) == 1, caption
        assert len(re.search(r'<p class="note">(.*?)</p>', drawing)[1]) > 40, caption
    assert "critical difference" in drawings[2][1]
    assert "gain θ" in drawings[5][1]


def test_all_tables_are_there_and_the_answer_comes_first(page):
    for slug in ("k-nn", "nb"):
        for name in TABLES:
            assert page.count(f'id="table-{slug}-{name}"') == 1
    first = page.index("<table>")
    answers = [found.start() for found in re.finditer('class="answer"', page)]
    assert len(answers) == 2
    assert max(answers) < first
    assert page.index("makes the fewest errors") < first
    for text in INCONSISTENCIES:
        assert html.escape(text, quote=False).replace("'", "&#39;") in page or html.escape(text, quote=False) in page


def cells(page, name):
    """The rows of a table of the page: text and class of each cell."""
    table = page[page.index(f'id="table-{name}"') :]
    table = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = re.findall(r"<tr.*?</tr>", table)
    return [re.findall(r"<t[hd](?: scope=\"row\")?(?: class=\"([^\"]*)\")?>(.*?)</t[hd]>", row) for row in rows]


@pytest.mark.parametrize(("slug", "kind"), [("k-nn", "k-nn"), ("nb", "kernel-nb")])
def test_the_papers_values_stand_beside(page, slug, kind):
    lines = [line.split() for line in PRINTED[kind].strip().splitlines()]
    numbers = [[float(text) for text in line] for line in lines]
    rows = [[text for _, text in row] for row in cells(page, f"{slug}-performance")]
    printed = [list(map(float, row[2:])) for row in rows if row[1] == "paper"]
    assert printed == [list(column) for column in zip(*numbers[:7], strict=True)]
    rows = [[text for _, text in row] for row in cells(page, f"{slug}-friedman")]
    assert [list(map(float, row[2:10])) for row in rows if row[1] == "paper"] == numbers[7:9]
    for place, name in ((0, "posthoc-error"), (3, "posthoc-size")):
        rows = [[text for _, text in row] for row in cells(page, f"{slug}-{name}")]
        printed = [[float(row[i]) for i in (3, 4, 6)] for row in rows if row[1] == "paper"]
        assert printed == [line[place : place + 3] for line in numbers[9:14]]
    (row,) = [[text for _, text in row] for row in cells(page, f"{slug}-sffs") if row[1][1] == "paper"]
    assert [float(row[i]) for i in (2, 3, 6)] == numbers[14]
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


def test_reports_are_the_same_each_time(hostile, page, tmp_path):
    assert write_report(hostile, out=tmp_path / "again.html").read_text(encoding="utf-8") == page
    for form in ("md", "latex"):
        first, second = (write_report(hostile, form, tmp_path / f"{form}{i}").read_bytes() for i in range(2))
        assert first == second


def test_markdown(hostile, tmp_path, study):
    text = write_report(hostile, "md", tmp_path / "report.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0].startswith(r"# \<script\>alert(1)\</script\> \& ")
    assert [line for line in lines if line.startswith("#")][1:4:2] == [
        "## k-NN",
        "## What does not fit together in the paper, or is left open",
    ]
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(blocks) == 2 * len(TABLES)
    for block in blocks:
        head, rule, *body = block.splitlines()
        assert body
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in (head, rule, *body)} == {head.count("|")}
        assert re.fullmatch(r"\|(---:?\|)+", rule)
    assert "*-0.12*" in text
    assert all(
        caption in text for table in classifier_tables(study.classifiers[1]).values() for caption in [table.caption]
    )


def test_latex(hostile, tmp_path):
    text = write_report(hostile, "latex", tmp_path / "report.tex").read_text(encoding="utf-8")
    open_now = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            open_now.append(name)
        else:
            assert open_now.pop() == name
    assert open_now == []
    assert text.count(r"\begin{table}") == 2 * len(TABLES)
    depth = 0
    for mark in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if mark == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert text.isascii()
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
    for tabular in re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", text, re.DOTALL):
        columns, body = tabular
        for line in body.splitlines():
            if line.endswith(r"\\"):
                assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1
    assert not re.search(r"(?<!\\)[%#]", text.partition("\n")[2])
    assert r"mean\_deviation" in text
    assert r"\underline{$-$0.12}" in text
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels))


def test_csv_holds_all_digits(folder, study, tmp_path):
    out = write_report(folder, "csv", tmp_path / "csv")
    assert {path.name for path in out.iterdir()} == {"runs.csv"} | {
        f"{found.slug}-{name}.csv" for found in study.classifiers for name in TABLES
    }
    for found in study.classifiers:
        for name, table in classifier_tables(found).items():
            rows = list(csv.DictReader(io.StringIO((out / f"{found.slug}-{name}.csv").read_text(encoding="utf-8"))))
            assert len(rows) == len(table.rows)
            for row, expected in zip(rows, table.rows, strict=True):
                for key, value in expected.items():
                    if isinstance(value, float):
                        assert float(row[key]) == value
                    else:
                        assert row[key] == ("" if value is None else str(value))
    with Store(folder) as store:
        records = {(r.key.classifier, r.key.algorithm, r.key.run): r for r in store.finished()}
    names = {algorithm.title: algorithm.name for algorithm in study.plan.algorithms}
    rows = list(csv.DictReader(io.StringIO((out / "runs.csv").read_text(encoding="utf-8"))))
    assert len(rows) == len(records) == 2 * (6 * 3 + 1)
    for row in rows:
        record = records[row["classifier"], names[row["algorithm"]], int(row["run"])]
        assert float(row["error"]) == record.error
        assert int(row["seed"]) == record.seed
        assert [int(i) for i in row["features"].split()] == record.selected.tolist()
        assert int(row["size"]) == record.size


TINY = """
title = "Own names"
runs = 1
max_evaluations = 30
reference = "my swarm+"
dataset = { events_per_class = 10, snr = [inf] }
fresh = { events_per_class = 2 }
folds = { number = 2 }
classifiers = [
    { name = "a b", kind = "kernel-nb", width = 0.01, grid_search = false },
    { name = "A-B", kind = "k-nn", n_neighbors = 1, metric = "euclidean", grid_search = false },
]
algorithms = [{ name = "my swarm+", algorithm = "2d-upso", parameters = { swarm_size = 10 } }]
"""


def test_a_study_of_one_own_algorithm_and_names_that_look_alike(tmp_path):
    run_study(read_plan(TINY), tmp_path / "study", jobs=1)
    text = write_report(tmp_path / "study").read_text(encoding="utf-8")
    parsed = Page(text)
    ids = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {"table-a-b-performance", "table-a-b-2-performance"} <= set(ids)
    assert "my swarm+ makes fewer errors than all features" in text or "No algorithm does better" in text
    assert "1 neighbour by Euclidean distance" in text
    assert "Average ranks" not in text
    assert text.count("<dd>not tested</dd>") == 2  # there was no noise
    for form in ("md", "latex", "csv"):
        write_report(tmp_path / "study", form)
    plan = html.unescape(re.search(r"<pre>(.*?)</pre>", text, re.DOTALL)[1])
    assert read_plan(plan) == read_plan(TINY)


def test_an_unfinished_study_has_a_report(folder, tmp_path):
    path = tmp_path / "study"
    shutil.copytree(folder, path)
    with sqlite3.connect(path / "study.sqlite") as db:
        db.execute("DELETE FROM facts WHERE name LIKE 'stage2/%' OR name LIKE 'fresh/%' OR name LIKE 'one-se/%'")
        db.execute("DELETE FROM runs WHERE algorithm = 'sffs' OR run > 0")
    db.close()
    text = write_report(path).read_text(encoding="utf-8")
    words = "".join(Page(text).words)
    assert "The study is not finished (k-NN: 1 of 3 runs; NB: 1 of 3 runs)" in words
    assert "The tests of the best subsets with noise are still to come for k-NN and NB." in words
    assert text.count("<dd>not tested</dd>") == 2
    assert not re.search(r"\b(nan|None)\b", words)


def test_a_failed_write_leaves_what_was_there(folder, tmp_path, monkeypatch):
    out = tmp_path / "report.md"
    out.write_text("what was there")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(PqswarmError, match=r"cannot write .*report\.md: No space left on device"):
        write_report(folder, "md", out)
    assert out.read_text() == "what was there"
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]
