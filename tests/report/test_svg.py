"""Figures as text inside a page: many share one, and it reads on light and on dark."""

import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from tests.report.drawn import all_figures, draw_figures

from pqswarm.errors import PqswarmError
from pqswarm.report import plot_convergence, plot_ranks, save_figure
from pqswarm.report.style import INK, mark
from pqswarm.report.svg import inline_svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def figures():
    return all_figures()


@pytest.fixture(scope="module")
def pages(figures):
    return {name: inline_svg(figure, f"{name} <&\"> '∞'", f"{name}-") for name, figure in figures.items()}


@pytest.mark.slow
def test_pages_are_well_formed_and_say_what_they_show(pages):
    for name, text in pages.items():
        root = ET.fromstring(text)
        assert root.tag == f"{SVG}svg"
        assert root.get("role") == "img"
        assert root.get("aria-label") == root[0].text == f"{name} <&\"> '∞'"
        assert root[0].tag == f"{SVG}title"
        assert root.get("width") is root.get("height") is None
        assert re.fullmatch(r"0 0 [\d.]+ [\d.]+", root.get("viewBox"))


def test_pages_take_the_colors_of_their_surroundings(pages):
    for name, text in pages.items():
        assert INK not in text
        assert "currentColor" in text
        assert not re.search(r"<path[^>]*fill: #ffffff", text), name
        assert not re.search("<style|<metadata|<!--|<[?!]|DejaVu|Matplotlib", text)
        words = [item.text for item in ET.fromstring(text).iter(f"{SVG}text")]
        assert len(words) > 6  # text is text
        black = [item for item in ET.fromstring(text).iter(f"{SVG}text") if "fill:" not in item.get("style")]
        assert not black


def test_figures_share_a_page(pages, figures):
    root = ET.fromstring(f"<div>{''.join(pages.values())}{inline_svg(figures['size'], 'again', 'b-')}</div>")
    ids = [item.get("id") for item in root.iter() if item.get("id")]
    assert len(ids) == len(set(ids))
    names = [value for item in root.iter() for key, value in item.items() if key.endswith("href")]
    names += re.findall(r"url\((#[^)]+)\)", "".join(pages.values()))
    assert len(names) > 100
    assert {name[1:] for name in names} <= set(ids)


def test_pages_are_small_and_stay_the_same(pages):
    again = {name: inline_svg(figure, f"{name} <&\"> '∞'", f"{name}-") for name, figure in draw_figures().items()}
    assert again == pages
    assert {name: len(text.encode()) for name, text in pages.items() if len(text.encode()) >= 120_000} == {}


def test_writing_a_page_leaves_the_figure_alone(tmp_path, figures):
    before = save_figure(figures["map"], tmp_path / "before.png").read_bytes()
    inline_svg(figures["map"], "map", "m-")
    assert save_figure(figures["map"], tmp_path / "after.png").read_bytes() == before


def test_words_that_look_like_svg_stay_words():
    name = f'id="x" url(#y) {INK} <b>'
    root = ET.fromstring(inline_svg(plot_ranks({name: 1.0, "b": 2.0}, 0.5), "t", "p-"))
    assert f"{name} (1.00)" in [item.text for item in root.iter(f"{SVG}text")]


def test_global_style_is_left_alone():
    before = dict(mpl.rcParams)
    for figure in (plot_ranks({"a": 1.0, "b": 2.0}, 0.5), plot_convergence({"GA": np.ones((1, 1))})):
        inline_svg(figure, "t", "p-")
    assert dict(mpl.rcParams) == before


def test_a_prefix_must_begin_an_id():
    with pytest.raises(PqswarmError, match="prefix '1'"):
        inline_svg(mpl.figure.Figure(), "t", "1")


def marked(*tips, series="a <b> & \"c\" 'd'"):
    figure = mpl.figure.Figure(figsize=(4, 3))
    axis = figure.subplots()
    axis.set(xlim=(0, 3), ylim=(0, 3))
    line = mark(axis.plot([1, 2, 9], [1, 2, 1], "o")[0], series, tips)
    return figure, line


def test_marks_have_a_series_and_words_where_their_points_are():
    figure, line = marked("one", "<two> & 'more'", "outside of the axes")
    root = ET.fromstring(inline_svg(figure, "t", "p-"))
    [group] = [item for item in root.iter(f"{SVG}g") if item.get("class") == "mark"]
    assert group.get("data-series") == "a <b> & \"c\" 'd'"
    circles = list(group.iter(f"{SVG}circle"))
    assert [circle[0].text for circle in circles] == ["one", "<two> & 'more'"]
    uses = [(float(use.get("x")), float(use.get("y"))) for use in group.iter(f"{SVG}use")]
    places = [(float(circle.get("cx")), float(circle.get("cy"))) for circle in circles]
    assert places == [pytest.approx(place, abs=0.06) for place in uses[:2]]
    assert line.get_gid() is None  # the figure is as it was


def test_a_mark_as_a_whole_has_one_title():
    root = ET.fromstring(inline_svg(marked("all of it", series="")[0], "t", "p-"))
    [group] = [item for item in root.iter(f"{SVG}g") if item.get("class") == "mark"]
    assert group.get("data-series") is None
    assert group[0].text == "all of it"
    assert not list(group.iter(f"{SVG}circle"))


def test_marks_of_scattered_points_lines_and_texts():
    figure = mpl.figure.Figure(figsize=(4, 3))
    axis = figure.subplots()
    mark(axis.scatter([1, 2], [1, 2]), "s", ["p", "q"])
    mark(axis.hlines([1, 2], 0, 2), "h", ["below", "above"])
    mark(axis.text(1, 1, "name"), "s")
    root = ET.fromstring(inline_svg(figure, "t", "p-"))
    groups = {item.get("class"): item for item in root.iter(f"{SVG}g") if "mark" in (item.get("class") or "")}
    assert set(groups) == {"mark", "mark label"}
    titles = [item.text for item in root.iter(f"{SVG}title")][1:]
    assert sorted(titles) == ["above", "below", "p", "q"]


def test_words_for_other_than_the_points_are_refused():
    with pytest.raises(PqswarmError, match="3 points, but 2 tooltips"):
        inline_svg(marked("one", "two")[0], "t", "p-")
