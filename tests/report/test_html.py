"""The report as one sound HTML page that needs nothing else."""

import html
import re
import tomllib

import pytest
from matplotlib.figure import Figure
from tests.fuzz.outputs import check_html
from tests.pages import Page
from tests.report.studies import IN_PAPER, NO_SFFS, SHOWN, STAGE_TWO, TABLES, TINY, changed

from pqswarm.report import ClassifierSection, Content, Drawing, Table, write_report
from pqswarm.report.document import compose
from pqswarm.report.html import html_report
from pqswarm.study import read_plan


@pytest.fixture(scope="module")
def page(hostile):
    return (hostile / "report.html").read_text(encoding="utf-8")


def parse(text):
    """A page whose tags are nested."""
    page = Page(text)
    assert page.faults == []
    return page


def test_the_page_needs_nothing_else(page):
    parsed = parse(page)
    check_html(page, "report")
    (script,) = parsed.scripts
    assert not [word for word in ("innerHTML", "eval", "fetch(", "XMLHttpRequest", "import(") if word in script]
    assert "document.write" not in script
    assert script.count("\n") < 310
    assert "default-src 'none'" in parsed.of("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    ids = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"\S+", name) for name in ids)
    for tag, attributes in parsed.tags:
        for name, value in attributes.items():
            if name in ("src", "href", "xlink:href", "action", "poster", "srcset", "data"):
                assert value.startswith(("#", "data:")), (tag, value)
                assert not value.startswith("#") or value[1:] in ids, value
    assert set(re.findall(r"url\(([^)]*)\)", page)) <= {f"#{name}" for name in ids}
    assert "@import" not in page
    assert set(re.findall(r"https?://[^\s\"'<>]*", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_text_is_escaped(page):
    assert html.escape(SHOWN) in page or html.escape(SHOWN).replace("&quot;", "&#34;") in page
    assert page.count("<script") == 1
    assert "".join(parse(page).texts).count(SHOWN) == 2  # in the head and as the heading


def test_what_sections_say_is_escaped(study, monkeypatch):
    table = Table("a", 'x & "y" <z>', [{"a<b": "<i>", "n": -1.0}], note="<b>")
    drawing = Drawing("d", '"<u>', "<s>", lambda: Figure(figsize=(1, 1)))
    content = Content(["<q>"], ["<q>"], [drawing], [table], {"<q>": "<q>"}, ["<q>"])
    hostile = ClassifierSection("hostile", "<q>", lambda study, found: content)
    monkeypatch.setattr("pqswarm.report.document.REGISTRY", {"hostile": hostile})
    page = parse(html_report(compose(study)))
    assert not {tag for tag, _ in page.tags} & {"i", "b", "z", "u", "s", "q"}
    assert "".join(page.texts).count("<q>") == 2 * 7  # the heading is in the contents too


def test_the_plan_in_the_page_is_the_plan(page, study):
    text = html.unescape(re.search(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)[1])
    assert read_plan(text) == study.plan.model_copy(update={"title": SHOWN})
    assert tomllib.loads(text)["title"] == SHOWN


def test_all_figures_are_there_each_with_words(page):
    found = r'<figure class="drawing (?:one|two)"[^>]*><figcaption>Figure (\d+)\. (.*?)</figcaption>(.*?)</figure>'
    numbered = re.findall(found, page, re.DOTALL)
    assert [int(number) for number, *_ in numbered] == list(range(1, len(numbered) + 1))
    assert numbered[0][1] == "Error rate on new data, best subset of each algorithm"
    for _, caption, drawing in numbered[1:]:
        assert len(re.findall(r"<svg |<img ", drawing)) == 1 + ('class="narrow"' in drawing), caption
        assert len(re.search(r'<p class="note">(.*?)</p>', drawing)[1]) > 40, caption


def test_all_tables_are_there_and_the_answer_comes_first(page):
    for slug in ("k-nn", "nb"):
        for name in TABLES:
            assert page.count(f'id="table-{slug}-{name}"') == 1
    numbers = [int(number) for number in re.findall(r"<figcaption>Table (\d+)\. ", page)]
    assert numbers == list(range(1, 2 * (len(TABLES) - len(IN_PAPER)) + 2))
    assert page.count('class="answer"') == 2
    places = [
        "<h1>",
        'class="found"',
        'id="figure-overview"',
        'id="table-claims"',
        'class="limits"',
        "<nav",
        'class="answer"',
    ]
    found = [page.index(place) for place in places]
    assert found == sorted(found)


def test_reports_are_the_same_each_time(hostile, tmp_path):
    """So are pages, as another process writes them: see the tests of the command."""
    for form in ("md", "latex"):
        folders = [tmp_path / form / str(i) for i in range(2)]
        for folder in folders:
            folder.mkdir(parents=True)
        first, second = (write_report(hostile, form, folder / "report").read_bytes() for folder in folders)
        assert first == second


def test_a_study_of_own_algorithms_and_names_that_look_alike(tiny_folder, no_pictures):
    text = write_report(tiny_folder).read_text(encoding="utf-8")
    parsed = parse(text)
    ids = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {"table-a-b-performance", "table-a-b-2-performance"} <= set(ids)
    assert "has the lowest " in text or "No algorithm does better" in text
    assert "the nearest neighbor by Euclidean distance" in text
    assert "Probability that a run" not in text
    assert "inconsistent" not in text  # the plan does not ask for the paper
    assert "robust" not in text  # there was no noise
    plan = html.unescape(re.search(r"<pre[^>]*>(.*?)</pre>", text, re.DOTALL)[1])
    assert read_plan(plan) == read_plan(TINY)


def test_an_unfinished_study_has_a_report(smoke_study, tmp_path, no_pictures):
    path = changed(smoke_study, tmp_path / "study", STAGE_TWO, NO_SFFS, "DELETE FROM runs WHERE run > 0")
    text = write_report(path).read_text(encoding="utf-8")
    words = "".join(parse(text).texts)
    assert "The study is not finished (k-NN: 1 of 3 runs; NB: 1 of 3 runs)" in words
    assert "The tests of the best subsets with noise are still pending for k-NN and NB." in words
    assert 'id="table-k-nn-robust"' not in text
    assert not re.search(r"\b(nan|None)\b", words)
