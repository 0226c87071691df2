"""Figures of a study: what they hold, that names never overlap, and that many can live in one page."""

import itertools
import re
import xml.etree.ElementTree as ET
from math import inf

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from pqswarm.report.outcome_figures import plot_confusion, plot_feature_map, plot_ranks, rank_groups
from pqswarm.report.study_figures import plot_convergence, plot_error_against_size, plot_robustness

from pqswarm.errors import PqswarmError
from pqswarm.events import EVENT_CLASSES
from pqswarm.features import FUNCTIONS, band_names
from pqswarm.report.style import FAINT, INK, LOSS, colour_of, in_words, marker_of, save_figure, spread
from pqswarm.report.svg import inline_svg

PAPER = ["GA", "ACO", "BPSO", "CBPSO", "chBPSO", "2D-UPSO"]
MANY = [*PAPER, "SFFS", "2D-CLPSO", "2D-GPSO", "2D-LPSO", "my ∞ own", "x$y$ _<&z>"]
LEVELS = [inf, 50, 45, 40, 35, 30, 25, 20]
SVG = "{http://www.w3.org/2000/svg}"


def curves(titles=PAPER, n_runs=40, n_evaluations=6000):
    random = np.random.default_rng(0)
    ends = np.linspace(0.09, 0.06, len(titles))
    time = np.arange(n_evaluations) / n_evaluations
    return {
        title: np.minimum.accumulate(
            end + 0.08 * np.exp(-8 * time) + random.exponential(0.01, (n_runs, n_evaluations)), axis=1
        )
        for title, end in zip(titles, ends, strict=True)
    }


def points(titles=PAPER, n_runs=40):
    random = np.random.default_rng(0)
    return {t: (random.integers(12, 50, n_runs), random.normal(0.08, 0.005, n_runs)) for t in titles}


def accuracy(titles=PAPER):
    random = np.random.default_rng(0)
    base = np.linspace(96, 85, len(LEVELS))
    return {t: base + random.normal(1.0, 0.7, len(LEVELS)) for t in titles}, base


def confusion(errors):
    matrix = np.diag(np.full(14, 200))
    matrix[2, 9], matrix[9, 2] = errors, 3
    return matrix


def all_figures():
    frequency = np.random.default_rng(0).integers(0, 41, (9, 11)) / 40
    rows, base = accuracy()
    return {
        "convergence": plot_convergence(curves()),
        "size": plot_error_against_size(points(), (99, 0.104)),
        "robustness": plot_robustness(LEVELS, rows, base),
        "map": plot_feature_map(frequency, band_names(8), list(FUNCTIONS)),
        "ranks": plot_ranks(dict(zip(PAPER, [5.4, 4.6, 3.3, 3.1, 3.4, 1.2], strict=True)), 1.19),
        "confusion": plot_confusion(confusion(40), confusion(10), EVENT_CLASSES),
    }


@pytest.fixture(scope="module")
def figures():
    return all_figures()


@pytest.fixture(scope="module")
def pages(figures):
    return {name: inline_svg(figure, f"{name} <&\"> '∞'", f"{name}-") for name, figure in figures.items()}


def boxes(figure):
    figure.draw_without_rendering()
    found = []
    for axis in figure.axes:
        ticks = []
        for ruler in (axis.xaxis, axis.yaxis) if axis.axison else ():
            low, high = sorted(ruler.get_view_interval())
            ticks += [tick.label1 for tick in ruler.get_major_ticks() if low <= tick.get_loc() <= high]
        found += [t for t in [*axis.texts, *ticks, axis.xaxis.label, axis.yaxis.label] if t.get_text()]
        found += [t for t in (axis._left_title,) if t.get_text()]
    return {text: text.get_window_extent() for text in found if text.get_visible()}


def assert_legible(figure):
    """No two texts overlap, and none leaves the figure; turned ones are left to the eye."""
    upright = {text: box for text, box in boxes(figure).items() if text.get_rotation() == 0}
    for (one, a), (two, b) in itertools.combinations(upright.items(), 2):
        shared = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(shared) < 0.5, (one.get_text(), two.get_text())
    for text, box in boxes(figure).items():
        assert figure.bbox.padded(1).contains(box.x0, box.y0), text.get_text()
        assert figure.bbox.padded(1).contains(box.x1, box.y1), text.get_text()


def end_labels(axis):
    return [text.get_text() for text in sorted(axis.texts, key=lambda text: -text.get_position()[1])]


@pytest.mark.parametrize("titles", [["GA"], PAPER[-2:], PAPER, MANY], ids=len)
def test_names_never_overlap(titles):
    rows, base = accuracy(titles)
    assert_legible(plot_convergence(curves(titles, 3, 200)))
    assert_legible(plot_convergence(dict.fromkeys(titles, np.full((2, 50), 0.1))))
    assert_legible(plot_error_against_size(points(titles, 5), (99, 0.08)))
    assert_legible(plot_robustness(LEVELS, rows, base))
    assert_legible(plot_robustness(LEVELS, dict.fromkeys(titles, base), base))
    assert_legible(plot_ranks({title: 1.0 + i for i, title in enumerate(titles)}, 2.5))
    assert_legible(plot_ranks(dict.fromkeys(titles, (len(titles) + 1) / 2), 0.0))


def test_no_text_of_the_usual_figures_overlaps(figures):
    for figure in figures.values():
        assert_legible(figure)


def test_convergence_shows_percentiles_of_the_runs():
    data = curves()
    figure = plot_convergence(data)
    axis = figure.axes[0]
    for title, curve in data.items():
        line = next(item for item in axis.lines if item.get_color() == colour_of(title))
        after = line.get_xdata().astype(int)
        assert after[-1] == 6000
        assert len(after) <= 160
        assert np.array_equal(line.get_ydata(), np.percentile(curve, 50, axis=0)[after - 1])
        colour = (*to_rgb(colour_of(title)), 0.22 if title == "2D-UPSO" else 0.12)
        (band,) = [item for item in axis.collections if tuple(item.get_facecolor()[0]) == pytest.approx(colour)]
        drawn = {(round(x), float(y)) for x, y in band.get_paths()[0].vertices}
        for share in (10, 90):
            values = np.percentile(curve, share, axis=0)
            assert {(x, values[x - 1]) for x in after} <= drawn
    assert end_labels(axis) == PAPER  # the least error lowest


def test_steps_are_only_left_out_where_nothing_changes():
    curve = np.array([[0.5, 0.5, 0.5, 0.2, 0.2, 0.2]])
    line = plot_convergence({"GA": curve}).axes[0].lines[0]
    assert line.get_drawstyle() == "steps-post"
    assert line.get_xdata().tolist() == [1, 4, 6]
    assert line.get_ydata().tolist() == [0.5, 0.2, 0.2]
    assert line.axes.get_title(loc="left") == ""  # one run has no band to explain


def test_infinite_errors_at_the_start_are_not_drawn():
    curve = np.array([[inf, inf, 0.3, 0.1], [inf, 0.4, 0.2, 0.1], [inf, 0.2, 0.2, 0.1]])
    axis = plot_convergence({"GA": curve}).axes[0]
    assert axis.lines[0].get_xdata().tolist() == [2, 3, 4]
    assert axis.lines[0].get_ydata().tolist() == [0.4, 0.2, 0.1]
    assert axis.collections[0].get_paths()[0].vertices[:, 0].min() == 3
    assert np.isfinite(axis.collections[0].get_paths()[0].vertices).all()


def test_final_errors_lie_within_the_limits_and_early_stops_are_carried_on():
    data = curves() | {"SFFS": np.linspace(0.9, 0.07, 3000)[np.newaxis]}
    axis = plot_convergence(data).axes[0]
    low, high = axis.get_ylim()
    finals = [np.percentile(curve[:, -1], [10, 90]) for curve in data.values()]
    assert low < np.min(finals) < np.max(finals) < high < 0.2
    dotted = [line for line in axis.lines if line.get_linestyle() == ":" and line.get_color() == colour_of("SFFS")]
    assert dotted[0].get_xdata() == pytest.approx([0.5, 1.0])
    assert "SFFS" in end_labels(axis)


def test_every_run_is_a_point():
    data = points()
    figure = plot_error_against_size(data, (99, 0.104))
    lines = figure.axes[0].lines
    for title, (sizes, errors) in data.items():
        line = next(item for item in lines if item.get_color() == colour_of(title))
        assert line.get_marker() == marker_of(title)
        assert np.array_equal(line.get_xdata(), sizes)
        assert np.array_equal(line.get_ydata(), errors)
    reference = next(item for item in lines if item.get_color() == colour_of("All features"))
    assert list(reference.get_ydata()) == [0.104, 0.104]
    assert end_labels(figure.axes[0])[0] == "All 99 features"
    assert figure.axes[0].get_ylim()[1] > 0.104
    assert len(plot_error_against_size(data, None).axes[0].texts) == len(data)


def test_losses_are_marked():
    base = np.array([95.0, 90.0, 85.0])
    rows = {"GA": np.array([96.0, 89.5, 84.0]), "2D-UPSO": np.array([99.0, 95.0, 85.0])}
    upper, lower = plot_robustness([inf, 30, 20.5], rows, base).axes
    assert [label.get_text() for label in lower.get_xticklabels()] == ["∞ dB", "30", "20.5"]
    (rings,) = [line for line in lower.lines if line.get_markeredgecolor() == LOSS]
    assert list(zip(rings.get_xdata(), rings.get_ydata(), strict=True)) == [(1, -0.5), (2, -1.0)]
    (ground,) = [patch for patch in lower.patches if patch.get_facecolor()[:3] == to_rgb(LOSS)]
    assert ground.get_y() + ground.get_height() == 0.0
    hero = next(line for line in lower.lines if line.get_color() == colour_of("2D-UPSO"))
    assert hero.get_ydata().tolist() == [4.0, 5.0, 0.0]
    assert not [line for line in upper.lines if line.get_markeredgecolor() == LOSS]


def test_nothing_is_marked_without_losses():
    lower = plot_robustness([inf, 20], {"GA": [96.0, 90.0]}, [95.0, 90.0]).axes[1]
    assert not lower.patches
    assert lower.get_title(loc="left") == ""


def test_groups_worked_by_hand():
    # 1.2 differs from all; 3.1 to 3.4 and 3.4 to 4.5 hold together; 5.6 is with 4.5, 1.1 apart, but 2.2 from 3.4.
    ranks = [1.2, 3.1, 3.3, 3.4, 4.5, 5.6]
    assert rank_groups(ranks, 1.19) == [(1, 3), (3, 4), (4, 5)]
    assert rank_groups(ranks, 1.25) == [(1, 4 - 1), (2, 4), (4, 5)]
    assert rank_groups(ranks, 9.0) == [(0, 5)]
    assert rank_groups(ranks, 0.0) == []
    assert rank_groups([1.5, 1.5], 0.5) == [(0, 1)]
    assert rank_groups([1.0, 2.0], 1.0) == []  # Demšar: at least the critical difference apart is different
    assert rank_groups([1.0], 1.0) == []


def test_bars_join_the_groups_and_do_not_touch():
    figure = plot_ranks(dict(zip("abcdef", [1.2, 3.1, 3.3, 3.4, 4.5, 5.6], strict=True)), 1.19)
    lines = figure.axes[0].lines
    (ruled,) = [line for line in lines if len(line.get_xdata()) == 4]
    inch = np.ptp(ruled.get_xdata()) / 1.19
    start = ruled.get_xdata()[0]
    bars = [line for line in lines if line.get_linewidth() == 3.2]
    ends = [np.round(1 + (line.get_xdata() + np.array([0.05, -0.05]) - start) / inch, 9).tolist() for line in bars]
    assert ends == [[3.1, 3.4], [3.4, 4.5], [4.5, 5.6]]
    for one, two in itertools.combinations(bars, 2):
        apart = one.get_ydata()[0] != two.get_ydata()[0]
        assert apart or max(one.get_xdata()[0], two.get_xdata()[0]) > min(one.get_xdata()[1], two.get_xdata()[1])


def test_feature_map_writes_percentages_where_selected():
    frequency = np.zeros((9, 11))
    frequency[0, 0], frequency[3, 4], frequency[8, 10] = 1.0, 0.025, 0.001
    figure = plot_feature_map(frequency, band_names(8), list(FUNCTIONS))
    axis = figure.axes[0]
    assert {text.get_position(): text.get_text() for text in axis.texts} == {(0, 0): "100", (4, 3): "3", (10, 8): "<1"}
    assert len(axis.patches) == 3
    assert axis.texts[0].get_color() == "#ffffff"
    assert axis.texts[1].get_color() == INK
    assert axis.yaxis_inverted()
    assert [label.get_text() for label in axis.get_xticklabels()][-3:] == ["Mean deviation", "Variance", "Kurtosis"]


def luminance(rgb):
    rgb = np.asarray(rgb)
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def contrast(one, two):
    bright, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("page", ["#ffffff", "#14171c"])
def test_figures_in_cells_are_legible_on_light_and_dark_pages(page):
    ink = {"#ffffff": INK, "#14171c": "#e6e8eb"}[page]
    shares = np.linspace(0.01, 1, 99).reshape(9, 11)
    counts = np.arange(196).reshape(14, 14)
    maps = plot_feature_map(shares, band_names(8), list(FUNCTIONS)), plot_confusion(counts, counts, EVENT_CLASSES)
    for axis in [axis for figure in maps for axis in figure.axes]:
        for patch, text in zip(axis.patches, axis.texts, strict=True):
            *rgb, opacity = patch.get_facecolor()
            if tuple(rgb) == to_rgb(FAINT):
                continue  # the diagonal is meant to be faint
            cell = opacity * np.array(rgb) + (1 - opacity) * np.array(to_rgb(page))
            words = to_rgb(ink if text.get_color() == INK else text.get_color())
            assert contrast(cell, words) > 3.9


@pytest.mark.parametrize("title", [*MANY, "All features"])
def test_colours_show_on_light_and_dark_pages(title):
    assert contrast(to_rgb(colour_of(title)), (1, 1, 1)) > 2.3
    assert contrast(to_rgb(colour_of(title)), to_rgb("#14171c")) > 3.3


def test_colours_differ_for_the_colour_blind():
    # Machado et al. 2009, severity 1: protanopia and deuteranopia, in linear RGB; distances in CIELAB.
    views = [
        np.eye(3),
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ]
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    rgb = np.array([to_rgb(colour_of(title)) for title in [*PAPER, "SFFS", "All features"]])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    for view in views:
        xyz = np.cbrt(np.clip(linear @ np.transpose(view), 0, 1) @ to_xyz.T / [0.9505, 1, 1.089])
        lab = np.stack([116 * xyz[:, 1], 500 * (xyz[:, 0] - xyz[:, 1]), 200 * (xyz[:, 1] - xyz[:, 2])], axis=1)
        assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(lab, 2)) > 15


def test_confusion_tells_errors_from_hits():
    left, right = plot_confusion(confusion(40), confusion(10), EVENT_CLASSES).axes
    assert left.get_title(loc="left") == "All features: 43 of 2843 wrong (1.51 %)"
    assert right.get_title(loc="left") == "Selected features: 13 of 2813 wrong (0.462 %)"
    cells = {
        text.get_position(): (text.get_text(), patch) for text, patch in zip(left.texts, left.patches, strict=True)
    }
    assert len(cells) == 16
    assert cells[9, 2][0] == "40"  # row sag, column sag with harmonics: (x, y)
    reds = {place for place, (_, patch) in cells.items() if patch.get_facecolor()[:3] == to_rgb(LOSS)}
    assert reds == {(9, 2), (2, 9)}
    assert cells[9, 2][1].get_alpha() == 1.0 > cells[2, 9][1].get_alpha() > cells[0, 0][1].get_alpha() - 0.1
    same_scale = next(p for t, p in zip(right.texts, right.patches, strict=True) if t.get_text() == "10")
    assert same_scale.get_alpha() == 0.4
    assert left.get_yticklabels()[9].get_text() == "Sag with harmonics"


def test_confusion_without_errors_or_events():
    titles = [a.get_title(loc="left") for a in plot_confusion(np.eye(2, dtype=int), np.zeros((2, 2), int), "ab").axes]
    assert titles == ["All features: 0 of 2 wrong (0.00 %)", "Selected features: 0 of 0 wrong (0.00 %)"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot_convergence({}), "curves is empty"),
        (lambda: plot_convergence({"GA": np.ones(3)}), r"shape \(3,\)"),
        (lambda: plot_convergence({"GA": np.full((2, 3), inf)}), "'GA' must hold numbers"),
        (lambda: plot_convergence({"GA": np.full((2, 3), np.nan)}), "'GA' must hold numbers"),
        (lambda: plot_error_against_size({}, None), "points is empty"),
        (lambda: plot_error_against_size({"GA": ([1, 2], [0.1])}, None), "points of 'GA'"),
        (lambda: plot_robustness([inf], {"GA": [1.0, 2.0]}, [1.0]), "'GA' must be one finite number for each of 1"),
        (lambda: plot_robustness([inf], {}, [1.0]), "accuracy is empty"),
        (lambda: plot_ranks({}, 1.0), "mean_ranks is empty"),
        (lambda: plot_ranks({"GA": 1.0}, -1.0), "not negative"),
        (lambda: plot_feature_map(np.ones((2, 2)), ["D1"], ["energy"]), "1 bands by 1 functions"),
        (lambda: plot_feature_map(np.full((1, 1), 40.0), ["D1"], ["energy"]), "shares from 0 to 1"),
        (lambda: plot_confusion(np.ones((2, 2)), np.ones((3, 3)), ["a", "b"]), "selected features must hold 2 x 2"),
        (lambda: inline_svg(mpl.figure.Figure(), "t", "1"), "prefix '1'"),
    ],
)
def test_what_cannot_be_drawn_is_named(call, message):
    with pytest.raises(PqswarmError, match=message):
        call()


def test_spread_moves_as_little_as_it_must():
    assert spread([0.1, 0.9], 0.2) == pytest.approx([0.1, 0.9])
    assert spread([0.5, 0.5], 0.2) == pytest.approx([0.4, 0.6])
    assert spread([1.0, 1.0, 1.0], 0.1) == pytest.approx([0.8, 0.9, 1.0])
    assert np.diff(np.sort(spread([0.5] * 20, 0.1))).min() == pytest.approx(0.1)


def test_names_of_algorithms_keep_their_colours():
    assert len({colour_of(title) for title in MANY[:10]}) == 10
    assert colour_of("∞") == colour_of("∞") != colour_of("2D-UPSO")
    assert in_words("") == ""


def test_pages_are_well_formed_and_say_what_they_show(pages):
    for name, text in pages.items():
        root = ET.fromstring(text)
        assert root.tag == f"{SVG}svg"
        assert root.get("role") == "img"
        assert root.get("aria-label") == root[0].text == f"{name} <&\"> '∞'"
        assert root[0].tag == f"{SVG}title"
        assert root.get("width") is root.get("height") is None
        assert re.fullmatch(r"0 0 [\d.]+ [\d.]+", root.get("viewBox"))


def test_pages_take_the_colours_of_their_surroundings(pages):
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
    again = {name: inline_svg(figure, f"{name} <&\"> '∞'", f"{name}-") for name, figure in all_figures().items()}
    assert again == pages
    assert {name: len(text.encode()) for name, text in pages.items() if len(text.encode()) >= 60_000} == {}


def test_writing_a_page_leaves_the_figure_alone(tmp_path, figures):
    before = save_figure(figures["map"], tmp_path / "before.png").read_bytes()
    inline_svg(figures["map"], "map", "m-")
    assert save_figure(figures["map"], tmp_path / "after.png").read_bytes() == before


def test_steps_in_short_draw_the_same_line():
    figure = plot_convergence({"GA": np.array([[0.11, 0.11, 0.105, 0.105, 0.1]])})
    text = inline_svg(figure, "steps", "s-")
    colour = colour_of("GA")
    path = re.search(rf'<path d="([^"]+)" clip-path[^>]*stroke: {colour}', text)[1]
    assert re.fullmatch(r"M \S+ \S+( [HV] \S+)+", path)
    place, found = np.array([0.0, 0.0]), []
    for command, *numbers in re.findall(r"([MHV]) (\S+)(?: ([-\d.]+))?", path):
        if command == "M":
            place = np.array([float(number) for number in numbers])
        else:
            place[int(command == "V")] = float(numbers[0])
        found.append(place.copy())
    axis = figure.axes[0]
    expected = axis.transData.transform([(1, 0.11), (3, 0.11), (3, 0.105), (5, 0.105), (5, 0.1)]) * 72 / figure.dpi
    expected[:, 1] = figure.get_figheight() * 72 - expected[:, 1]
    assert np.array(found) == pytest.approx(expected, abs=0.02)


def test_words_that_look_like_svg_stay_words():
    name = f'id="x" url(#y) {INK} <b>'
    root = ET.fromstring(inline_svg(plot_ranks({name: 1.0, "b": 2.0}, 0.5), "t", "p-"))
    assert f"{name} (1.00)" in [item.text for item in root.iter(f"{SVG}text")]


def test_global_style_is_left_alone():
    before = dict(mpl.rcParams)
    for figure in (plot_ranks({"a": 1.0, "b": 2.0}, 0.5), plot_convergence({"GA": np.ones((1, 1))})):
        inline_svg(figure, "t", "p-")
    assert dict(mpl.rcParams) == before
