"""Figures of a study: what they hold, and that names never overlap."""

import itertools
from math import inf

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from scipy import stats
from tests.report.drawn import LEVELS, MANY, PALETTE, PAPER, accuracy, all_figures, curves, points
from tests.report.legibility import assert_legible, boxes, lines_of

from pqswarm.errors import PqswarmError
from pqswarm.report import (
    Palette,
    plot_boxes,
    plot_confusion,
    plot_convergence,
    plot_error_against_size,
    plot_feature_map,
    plot_feature_maps,
    plot_overview,
    plot_ranks,
    plot_robustness,
    plot_selected_features,
    study_figures,
    write_figures,
)
from pqswarm.report.document import compose
from pqswarm.report.section import Drawing
from pqswarm.report.sections.chance.ranks import rank_groups
from pqswarm.report.shared.curves import convergence_curves, evaluation_grid
from pqswarm.report.shared.interactive import mark_of
from pqswarm.report.style import GREY, INK, LOSS, NARROW
from pqswarm.search import SearchResult
from pqswarm.study import RunKey, RunRecord


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


def test_many_names_fit_a_phone():
    assert_legible(plot_convergence(curves(MANY, 3, 200), narrow=True))
    assert_legible(plot_error_against_size(points(MANY, 3), (99, 0.08), narrow=True))
    assert_legible(plot_boxes(points(MANY, 3), (99, 0.08), narrow=True))


@pytest.mark.slow
def test_no_text_of_the_usual_figures_overlaps(figures):
    for figure in figures.values():
        assert_legible(figure)


def test_convergence_shows_the_medians_and_what_half_of_the_runs_end_with():
    data = curves()
    axis = plot_convergence(data, None, PALETTE).axes[0]
    best = min(curve.min() for curve in data.values())
    for title, curve in data.items():
        line, _, bar, dot, *_ = lines_of(axis, title)
        after = line.get_xdata().astype(int)
        assert line.get_color() == PALETTE.colour(title)
        assert after[-1] == 6000
        assert len(after) <= 160
        assert line.get_ydata() == pytest.approx(100 * (np.percentile(curve, 50, axis=0)[after - 1] - best))
        low, middle, high = 100 * (np.percentile(curve[:, -1], [25, 50, 75]) - best)
        assert bar.get_ydata() == pytest.approx([low, high])
        assert dot.get_ydata() == pytest.approx([middle])
        assert 6000 < bar.get_xdata()[0] == dot.get_xdata()[0] < axis.get_xlim()[1]
        assert f"{title}: median error {100 * np.median(curve[:, -1]):.2f} %" in mark_of(line).tips[0]
    assert [name for name in end_labels(axis) if name != "budget"] == PAPER  # the least error lowest
    assert f"{100 * best:.2f} %" in axis.get_ylabel()
    assert "lowest error rate found" in axis.get_ylabel()
    assert "lowest error rate known" in plot_convergence(data, best=0.05, known=True).axes[0].get_ylabel()


def test_scales_show_the_contest():
    axis = plot_convergence(curves(), None, PALETTE).axes[0]
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "symlog")
    assert axis.get_xlim()[0] == 30  # a two-hundredth of the budget
    ticks = [label.get_text() for label in axis.get_xticklabels()]
    assert ticks == ["50", "100", "200", "500", "1000", "2000", "6000"]
    (budget,) = [line for line in axis.lines if line.get_color() == INK]
    assert list(budget.get_xdata()) == [6000, 6000]
    ends = axis.transAxes.inverted().transform(axis.transData.transform([(6000, text) for text in (0.1, 1.0)]))
    assert np.ptp(ends[:, 1]) > 0.2  # errors that differ by one percentage point are far apart


def test_a_run_may_end_before_or_after_the_budget():
    curve = np.linspace(0.2, 0.1, 400)[np.newaxis]
    data = {"GA": curve, "short": curve[:, :100], "long": np.linspace(0.3, 0.15, 1000)[np.newaxis]}
    axis = plot_convergence(data, budget=400).axes[0]
    assert axis.get_xlim()[1] > 1000
    (budget,) = [line for line in axis.lines if line.get_color() == INK]
    assert budget.get_xdata()[0] == 400
    for title, end in (("short", 100), ("GA", 400)):
        dotted = [line for line in lines_of(axis, title) if line.get_linestyle() == ":"]
        assert list(dotted[0].get_xdata()) == [end, 1000]
    assert "short, one run: error 17.52 % after 100 evaluations" in mark_of(lines_of(axis, "short")[0]).tips


def test_a_curve_at_some_evaluations_is_that_of_all_of_them():
    data, grid = curves(n_runs=5), evaluation_grid(6000)
    every = plot_convergence(data, None, PALETTE, best=0.05).axes[0]
    some = plot_convergence({t: c[:, grid - 1] for t, c in data.items()}, grid, PALETTE, best=0.05).axes[0]
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
    assert line.get_ydata() == pytest.approx([30, 0, 0])


def test_infinite_errors_at_the_start_are_not_drawn():
    curve = np.array([[inf, inf, 0.3, 0.1], [inf, 0.4, 0.2, 0.1], [inf, 0.2, 0.2, 0.1]])
    axis = plot_convergence({"GA": curve}).axes[0]
    assert axis.lines[0].get_xdata().tolist() == [2, 3, 4]
    assert axis.lines[0].get_ydata() == pytest.approx([30, 10, 0])
    assert all(np.isfinite(line.get_xydata()).all() for line in axis.lines)


def test_every_run_is_a_point():
    data = points()
    figure = plot_error_against_size(data, (99, 0.104), PALETTE, numbers=range(1, 41))
    lines = figure.axes[0].lines
    for title, (sizes, errors) in data.items():
        line = next(item for item in lines if item.get_color() == PALETTE.colour(title))
        assert line.get_marker() == PALETTE.marker(title)
        assert np.array_equal(line.get_xdata(), sizes)
        assert np.array_equal(line.get_ydata(), 100 * errors)
        tips = mark_of(line).tips
        assert tips[6] == f"{title}, run 7: error {100 * errors[6]:.2f} %, {sizes[6]} features"
        assert len(tips) == 40
    reference = next(item for item in lines if item.get_color() == GREY)
    assert reference.get_ydata() == pytest.approx([10.4, 10.4])
    assert end_labels(figure.axes[0])[0] == "All 99 features"
    assert figure.axes[0].get_ylim()[1] > 10.4
    assert len(plot_error_against_size(data, None).axes[0].texts) == len(data)


def test_a_single_run_hides_nothing_and_a_front_is_a_line():
    data = {"GA": ([10, 12], [0.1, 0.2]), "SFFS": ([10], [0.1])}
    fronts = {"SFFS": ([1, 5, 10, 99], [0.8, 0.3, 0.1, 0.4])}
    axis = plot_error_against_size(data, None, fronts=fronts).axes[0]
    point, *_ = lines_of(axis, "GA")
    ring, line, *_ = lines_of(axis, "SFFS")
    assert (ring.get_xydata() == point.get_xydata()[0]).all()
    assert ring.get_markerfacecolor() == "none"
    assert ring.get_markersize() > point.get_markersize()
    assert ring.get_zorder() > point.get_zorder()
    assert line.get_xydata() == pytest.approx(np.array([[1, 80], [5, 30], [10, 10], [99, 40]]))
    assert mark_of(line).tips[1] == "SFFS at 5 features: error 30.00 %"
    assert axis.get_ylim()[1] < 30  # what the runs did sets the limits


def test_boxes_hold_quartiles_and_all_runs():
    data = points(PAPER, 8) | {"SFFS": ([11], [0.05])}
    left, right = plot_boxes(data, (99, 0.104), numbers=range(8)).axes
    titles = [label.get_text() for label in left.get_yticklabels()]
    assert titles == sorted(data, key=lambda title: np.median(data[title][1]))
    for axis, column, scale in ((left, 1, 100), (right, 0, 1)):
        for row, title in enumerate(titles):
            values = scale * np.asarray(data[title][column])
            dots = lines_of(axis, title)[-1]
            assert np.array_equal(dots.get_xdata(), values)
            assert np.abs(dots.get_ydata() - row).max() < 0.3
            assert len(mark_of(dots).tips) == len(values)
            boxes = [patch for patch in axis.patches if mark_of(patch).series == title]
            assert len(boxes) == (title != "SFFS")
            for box in boxes:
                ends = box.get_x(), box.get_x() + box.get_width()
                assert ends == pytest.approx(np.percentile(values, [25, 75]))
    assert [line.get_xdata()[0] for line in left.lines if line.get_color() == GREY] == pytest.approx([10.4])


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot_convergence({}), "curves is empty"),
        (lambda: plot_convergence({"GA": np.ones(3)}), r"shape \(3,\)"),
        (lambda: plot_convergence({"GA": np.full((2, 3), inf)}), "'GA' must hold numbers"),
        (lambda: plot_convergence({"GA": np.full((2, 3), np.nan)}), "'GA' must hold numbers"),
        (lambda: plot_error_against_size({}, None), "points is empty"),
        (lambda: plot_error_against_size({"GA": ([1, 2], [0.1])}, None), "points of 'GA'"),
        (lambda: plot_boxes({}), "points is empty"),
        (lambda: plot_feature_maps({}, ["D1"], ["energy"]), "frequencies is empty"),
        (lambda: plot_selected_features({}, ["a"]), "frequencies is empty"),
        (lambda: plot_selected_features({"GA": [2.0]}, ["a"]), "shares from 0 to 1"),
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


@pytest.mark.slow
def test_figures_of_a_study_can_be_had_alone(smoke_study, tmp_path, monkeypatch):
    drawn = study_figures(smoke_study)
    names = {"algorithms-convergence", "algorithms-size", "algorithms-boxes", "chance-ranks-error", "chance-ranks-size"}
    names |= {"chance-superiority", "fronts", "features", "features-others", "noise", "confusion"}
    assert set(drawn) == {f"{slug}-{name}" for slug in ("k-nn", "nb") for name in names} | {"events", "overview"}
    bold = [text.get_text() for text in drawn["k-nn-noise"].axes[0].texts if text.get_fontweight() == "bold"]
    assert bold == ["2D-UPSO"]
    # They need not be drawn again: as PDF the command writes them from the study. Those of NB are like those of k-NN.
    drawn = {name: figure for name, figure in drawn.items() if not name.startswith("nb-")}
    ready = [Drawing(name, "", "", lambda figure=figure: figure) for name, figure in drawn.items()]
    monkeypatch.setattr("pqswarm.report.study_report._drawings", lambda folder, second: ready)
    written = write_figures(smoke_study, tmp_path / "new", "png")
    assert {path.name for path in written} == {f"{name}.png" for name in drawn}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)
    with pytest.raises(PqswarmError, match="unknown format of figures 'html'"):
        write_figures(smoke_study, tmp_path, "html")


@pytest.mark.slow
def test_narrow_figures_are_legible_and_have_no_small_text(study):
    """On a screen of 390 px, where a figure is about 355 px wide, no letters are smaller than 8 px."""
    drawings = [drawing for drawing in compose(study).drawings if drawing.narrow]
    assert {"k-nn-algorithms-size", "nb-confusion", "k-nn-features", "events"} <= {d.name for d in drawings}
    figures = [drawing.narrow() for drawing in drawings if not drawing.name.startswith("nb-")]
    for figure in [*figures, plot_overview(study, narrow=True)]:
        assert figure.get_figwidth() == NARROW
        assert_legible(figure)
        assert min(text.get_fontsize() for text in boxes(figure)) * 355 / (72 * NARROW) > 8


def test_the_overview_has_a_panel_for_each_classifier(study):
    figure = plot_overview(study)
    assert [axis.get_title(loc="left") for axis in figure.axes] == [found.name for found in study.classifiers]
    for axis, found in zip(figure.axes, study.classifiers, strict=True):
        for title in found.runs:
            assert np.array_equal(lines_of(axis, title)[0].get_xdata(), found.sizes(title))
    assert_legible(figure)


def test_curves_of_long_runs_take_little_memory():
    """Ten million evaluations of 240 runs each would be 19 GB, evaluation by evaluation."""
    mask, steps = np.ones(99, dtype=bool), np.array([[0.0, 0.5, 99.0], [9e6, 0.25, 99.0]])
    result = SearchResult("ga", mask, 0.25, 10_000_000, steps)
    runs = [RunRecord(RunKey("NB", "ga", run), run, result, 1.0) for run in range(240)]
    found = convergence_curves({"GA": runs}, 10_000_000)["GA"]
    assert found.nbytes < 1e6
    assert (found[:, 0] == 0.5).all()
    assert (found[:, -1] == 0.25).all()
