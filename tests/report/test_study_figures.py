"""Figures of a study: what they hold, and that names never overlap."""

import itertools
from math import inf

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from scipy import stats
from tests.report.drawn import LEVELS, MANY, PALETTE, PAPER, accuracy, all_figures, confusion, curves, points

from pqswarm.errors import PqswarmError
from pqswarm.events import EVENT_CLASSES
from pqswarm.features import FUNCTIONS, band_names
from pqswarm.report import (
    Palette,
    plot_confusion,
    plot_convergence,
    plot_error_against_size,
    plot_feature_map,
    plot_ranks,
    plot_robustness,
    study_figures,
    write_figures,
)
from pqswarm.report.comparison_figures import rank_groups
from pqswarm.report.interactive import mark_of
from pqswarm.report.sections.algorithms import evaluation_grid
from pqswarm.report.style import GREY, INK, LOSS


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


@pytest.fixture(scope="module")
def figures():
    return all_figures()


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
    figure = plot_convergence(data, None, PALETTE)
    axis = figure.axes[0]
    for title, curve in data.items():
        line = next(item for item in axis.lines if item.get_color() == PALETTE.colour(title))
        after = line.get_xdata().astype(int)
        assert after[-1] == 6000
        assert len(after) <= 160
        assert np.array_equal(line.get_ydata(), np.percentile(curve, 50, axis=0)[after - 1])
        colour = (*to_rgb(PALETTE.colour(title)), 0.22 if title == "2D-UPSO" else 0.12)
        (band,) = [item for item in axis.collections if tuple(item.get_facecolor()[0]) == pytest.approx(colour)]
        drawn = {(round(x), float(y)) for x, y in band.get_paths()[0].vertices}
        for share in (10, 90):
            values = np.percentile(curve, share, axis=0)
            assert {(x, values[x - 1]) for x in after} <= drawn
    assert end_labels(axis) == PAPER  # the least error lowest


def test_a_curve_at_some_evaluations_is_that_of_all_of_them():
    data, grid = curves(n_runs=5), evaluation_grid(6000)
    every = plot_convergence(data, None, PALETTE).axes[0]
    some = plot_convergence({title: curve[:, grid - 1] for title, curve in data.items()}, grid, PALETTE).axes[0]
    assert len(grid) <= 150
    assert every.get_ylim() == some.get_ylim()
    for one, two in zip(every.lines, some.lines, strict=True):
        assert np.array_equal(one.get_xydata(), two.get_xydata())


def test_what_is_emphasised_is_the_reference_of_the_plan():
    rows, base = accuracy(["mine", "GA", "2D-UPSO"])
    figures = [
        plot_convergence(curves(list(rows), 3, 50), None, Palette(rows, "mine")),
        plot_error_against_size(points(list(rows)), None, Palette(rows, "mine")),
        plot_robustness(LEVELS, rows, base, Palette(rows, "mine")),
        plot_ranks({title: 1.0 + i for i, title in enumerate(rows)}, 1.0, Palette(rows, "mine")),
    ]
    for figure in figures:
        bold = {text.get_text() for axis in figure.axes for text in axis.texts if text.get_fontweight() == "bold"}
        assert {text.removesuffix(" (1.00)") for text in bold} == {"mine"}
    plain = plot_convergence(curves(list(rows), 3, 50)).axes[0]
    assert not [text for text in plain.texts if text.get_fontweight() == "bold"]


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
    colour = Palette(data).colour("SFFS")
    dotted = [line for line in axis.lines if line.get_linestyle() == ":" and line.get_color() == colour]
    assert dotted[0].get_xdata() == pytest.approx([0.5, 1.0])
    assert "SFFS" in end_labels(axis)


def test_every_run_is_a_point():
    data = points()
    figure = plot_error_against_size(data, (99, 0.104), PALETTE)
    lines = figure.axes[0].lines
    for title, (sizes, errors) in data.items():
        line = next(item for item in lines if item.get_color() == PALETTE.colour(title))
        assert line.get_marker() == PALETTE.marker(title)
        assert np.array_equal(line.get_xdata(), sizes)
        assert np.array_equal(line.get_ydata(), errors)
    reference = next(item for item in lines if item.get_color() == GREY)
    assert list(reference.get_ydata()) == [0.104, 0.104]
    assert end_labels(figure.axes[0])[0] == "All 99 features"
    assert figure.axes[0].get_ylim()[1] > 0.104
    assert len(plot_error_against_size(data, None).axes[0].texts) == len(data)


def test_losses_are_marked():
    base = np.array([95.0, 90.0, 85.0])
    rows = {"GA": np.array([96.0, 89.5, 84.0]), "2D-UPSO": np.array([99.0, 95.0, 85.0])}
    upper, lower = plot_robustness([inf, 30, 20.5], rows, base, PALETTE).axes
    assert [label.get_text() for label in lower.get_xticklabels()] == ["∞ dB", "30", "20.5"]
    (rings,) = [line for line in lower.lines if line.get_markeredgecolor() == LOSS]
    assert list(zip(rings.get_xdata(), rings.get_ydata(), strict=True)) == [(1, -0.5), (2, -1.0)]
    (ground,) = [patch for patch in lower.patches if patch.get_facecolor()[:3] == to_rgb(LOSS)]
    assert ground.get_y() + ground.get_height() == 0.0
    hero = next(line for line in lower.lines if line.get_color() == PALETTE.colour("2D-UPSO"))
    assert hero.get_ydata().tolist() == [4.0, 5.0, 0.0]
    assert not [line for line in upper.lines if line.get_markeredgecolor() == LOSS]


def test_several_sets_are_drawn_as_means_with_intervals():
    base = np.array([[95.0, 85.0], [95.0, 86.0], [95.0, 87.0]])
    rows = {
        "GA": base + np.array([[1.0, -2.0], [2.0, -2.1], [3.0, -2.2]]),
        "2D-UPSO": base + np.array([[3.0, 0.1], [3.0, 0.0], [3.0, -0.1]]),
    }
    for narrow in (False, True):
        figure = plot_robustness([inf, 20], rows, base, PALETTE, narrow=narrow)
        assert_legible(figure)
        upper, lower = figure.axes
        line = next(line for line in lower.lines if line.get_color() == PALETTE.colour("GA"))
        assert line.get_ydata() == pytest.approx([2.0, -2.1])
        ends = [item for item in lower.collections if mark_of(item).series == "GA"]
        mean, half = np.array([2.0, -2.1]), np.array([1.0, 0.1]) * stats.t.ppf(0.975, 2) / np.sqrt(3)
        segments = np.array(ends[0].get_segments())
        assert segments[:, :, 1] == pytest.approx(np.transpose([mean - half, mean + half]))
        (rings,) = [item for item in lower.lines if item.get_markeredgecolor() == LOSS]
        assert rings.get_ydata() == pytest.approx([-2.1])  # below zero with the whole interval
        assert mark_of(line).tips[1] == "GA, 20 dB: -2.10 percentage points (95 % interval -2.35 to -1.85)"
        assert {mark_of(item).series for item in upper.lines} >= {"GA", "2D-UPSO", "All features"}
    assert figure.get_figwidth() < 5


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


def test_confusion_tells_errors_from_hits():
    left, right = plot_confusion(confusion(40), confusion(10), EVENT_CLASSES).axes
    assert left.get_title(loc="left") == "All features: 43 of 2843 misclassified (1.51 %)"
    assert right.get_title(loc="left") == "Selected features: 13 of 2813 misclassified (0.462 %)"
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
    assert titles == ["All features: 0 of 2 misclassified (0.00 %)", "Selected features: 0 of 0 misclassified (0.00 %)"]


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
        (lambda: plot_robustness([inf], {"GA": [[1.0], [2.0]]}, [1.0]), "'GA' must be of as many sets as that of all"),
        (lambda: plot_ranks({}, 1.0), "mean_ranks is empty"),
        (lambda: plot_ranks({"GA": 1.0}, -1.0), "not negative"),
        (lambda: plot_feature_map(np.ones((2, 2)), ["D1"], ["energy"]), "1 bands by 1 functions"),
        (lambda: plot_feature_map(np.full((1, 1), 40.0), ["D1"], ["energy"]), "shares from 0 to 1"),
        (lambda: plot_confusion(np.ones((2, 2)), np.ones((3, 3)), ["a", "b"]), "selected features must hold 2 x 2"),
        (lambda: plot_convergence({"GA": np.ones((2, 3))}, [1, 2]), r"shape \(2, 3\)"),
        (lambda: plot_ranks({"GB": 1.0}, 1.0, PALETTE), "unknown algorithm 'GB'"),
    ],
)
def test_what_cannot_be_drawn_is_named(call, message):
    with pytest.raises(PqswarmError, match=message):
        call()


def test_figures_of_a_study_can_be_had_alone(smoke_study, tmp_path):
    drawn = study_figures(smoke_study)
    names = {"algorithms-convergence", "algorithms-size", "chance-ranks-error", "chance-ranks-size"}
    names |= {"chance-superiority"}
    names |= {"features", "noise", "confusion"}
    assert set(drawn) == {f"{slug}-{name}" for slug in ("k-nn", "nb") for name in names} | {"events"}
    bold = [text.get_text() for text in drawn["k-nn-noise"].axes[0].texts if text.get_fontweight() == "bold"]
    assert bold == ["2D-UPSO"]
    written = write_figures(smoke_study, tmp_path / "new", "png")
    assert {path.name for path in written} == {f"{name}.png" for name in drawn}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)
    with pytest.raises(PqswarmError, match="unknown format of figures 'html'"):
        write_figures(smoke_study, tmp_path, "html")
