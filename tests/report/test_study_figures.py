"""Figures of a study: the data they show, maps, matrices and lists, and that names never overlap."""

from dataclasses import replace
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from scipy import stats
from tests.report.drawn import (
    LEVELS,
    MANY,
    PALETTE,
    accuracy,
    all_figures,
    assert_legible,
    confusion,
    curves,
    lines_of,
    points,
)

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import GridSearchResult
from pqswarm.events import PRESETS
from pqswarm.features import FUNCTIONS, band_edges, band_names
from pqswarm.report import Palette, plot_convergence, plot_error_against_size, plot_ranks, write_figures
from pqswarm.report.document import compose
from pqswarm.report.overview import new_data_panel, plot_new_data
from pqswarm.report.runs import convergence_curves, run_evaluation_grid
from pqswarm.report.sections.chance import rank_groups
from pqswarm.report.sections.confusion import plot_confusion
from pqswarm.report.sections.features import plot_feature_map, plot_feature_maps, plot_selected_features
from pqswarm.report.sections.how import plot_hyperparameter_grid
from pqswarm.report.sections.noise import plot_robustness
from pqswarm.report.style import BAND, GREY, INK, LOSS, NARROW, WAVE, mark_of
from pqswarm.report.summary import StudySummary
from pqswarm.search import SearchResult
from pqswarm.study import RunKey, RunRecord


def texts(axis):
    return [text.get_text() for text in axis.texts]


def marked(axis, title, length):
    """The line of a series that has so many points."""
    return next(line for line in lines_of(axis, title) if len(line.get_xdata()) == length)


@pytest.fixture(scope="module")
def convergence():
    return all_figures()["convergence"].axes[0], curves()


@pytest.mark.parametrize("titles", [["GA"], MANY], ids=len)
def test_names_never_overlap(titles):
    rows, base = accuracy(titles)
    assert_legible(plot_convergence(curves(titles, 3, 200)))
    assert_legible(plot_error_against_size(points(titles, 5), (99, 0.08)))
    assert_legible(plot_robustness(LEVELS, rows, base, Palette(rows)))
    assert_legible(plot_ranks({title: 1.0 + i for i, title in enumerate(titles)}, 2.5))


def test_names_never_overlap_where_all_are_equal():
    base = accuracy()[1]
    assert_legible(plot_convergence(dict.fromkeys(MANY, np.full((2, 50), 0.1)), narrow=True))
    assert_legible(plot_robustness(LEVELS, dict.fromkeys(MANY, base), base, Palette(MANY)))
    assert_legible(plot_ranks(dict.fromkeys(MANY, (len(MANY) + 1) / 2), 0.0))


def test_many_names_fit_a_phone():
    assert_legible(plot_convergence(curves(MANY, 3, 200), narrow=True))
    assert_legible(plot_error_against_size(points(MANY, 3), (99, 0.08), narrow=True))


@pytest.mark.slow
def test_no_text_of_the_usual_figures_overlaps():
    for figure in all_figures().values():
        assert_legible(figure)


def test_convergence_shows_the_medians_and_the_quartiles_of_the_final_errors(convergence):
    axis, data = convergence
    best = min(curve.min() for curve in data.values())
    for title, curve in data.items():
        lines = [line for line in lines_of(axis, title) if line.get_transform() == axis.transData]
        main = max(lines, key=lambda line: len(line.get_xdata()))
        after = main.get_xdata().astype(int)
        assert after[-1] == 1000
        assert main.get_ydata() == pytest.approx(100 * (np.percentile(curve, 50, axis=0)[after - 1] - best))
        assert main.get_color() == PALETTE.color(title)
        low, middle, high = 100 * (np.percentile(curve[:, -1], [25, 50, 75]) - best)
        ends = [line.get_ydata().tolist() for line in lines if line.get_xdata()[0] > 1000]
        assert any(values == pytest.approx([low, high]) for values in ends)
        assert any(values == pytest.approx([middle]) for values in ends)
        assert f"{100 * np.median(curve[:, -1]):.2f} %" in mark_of(main).tips[0]
    assert f"{100 * best:.2f} %" in axis.get_ylabel()
    assert "found" in axis.get_ylabel()


def test_scales_show_the_end_of_the_search(convergence):
    axis, _ = convergence
    (budget,) = [line for line in axis.lines if line.get_color() == INK]
    assert list(budget.get_xdata()) == [1000, 1000]
    assert "1000" in [label.get_text() for label in axis.get_xticklabels()]
    assert axis.get_xlim()[0] < 20  # the start is cut off, but little of it
    ends = axis.transAxes.inverted().transform(axis.transData.transform([(1000, gap) for gap in (0.1, 1.0)]))
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
    tips = [tip for line in lines_of(axis, "short") for tip in mark_of(line).tips]
    assert all("17.52 %" in tip and "100 evaluations" in tip for tip in tips)


def test_a_curve_at_some_evaluations_is_that_of_all_of_them():
    data, grid = curves(n_runs=2, n_evaluations=6000), run_evaluation_grid(6000)
    every = plot_convergence(data, None, PALETTE, best=0.05).axes[0]
    some = plot_convergence({t: c[:, grid - 1] for t, c in data.items()}, grid, PALETTE, best=0.05).axes[0]
    assert len(grid) <= 150
    assert every.get_ylim() == some.get_ylim()
    for one, two in zip(every.lines, some.lines, strict=True):
        assert np.array_equal(one.get_xydata(), two.get_xydata())


def test_the_reference_of_the_plan_is_emphasized():
    rows, base = accuracy(["mine", "GA", "2D-UPSO"])
    figures = [
        plot_convergence(curves(list(rows), 3, 50), None, Palette(rows, "mine")),
        plot_robustness(LEVELS, rows, base, Palette(rows, "mine")),
        plot_ranks({title: 1.0 + i for i, title in enumerate(rows)}, 1.0, Palette(rows, "mine")),
    ]
    for figure in figures:
        bold = {text.get_text() for axis in figure.axes for text in axis.texts if text.get_fontweight() == "bold"}
        assert {text.removesuffix(" (1.00)") for text in bold} == {"mine"}


def test_only_points_without_change_are_left_out_and_infinite_errors_are_not_drawn():
    flat = plot_convergence({"GA": np.array([[0.5, 0.5, 0.5, 0.2, 0.2, 0.2]])}).axes[0]
    line = marked(flat, "GA", 3)
    assert line.get_xdata().tolist() == [1, 4, 6]
    assert line.get_ydata() == pytest.approx([30, 0, 0])
    curve = np.array([[inf, inf, 0.3, 0.1], [inf, 0.4, 0.2, 0.1], [inf, 0.2, 0.2, 0.1]])
    axis = plot_convergence({"GA": curve}).axes[0]
    line = marked(axis, "GA", 3)
    assert line.get_xdata().tolist() == [2, 3, 4]
    assert line.get_ydata() == pytest.approx([30, 10, 0])
    assert all(np.isfinite(line.get_xydata()).all() for line in axis.lines)


def test_every_run_is_a_point():
    data = points()
    axis = plot_error_against_size(data, (99, 0.104), PALETTE, numbers=range(1, 11)).axes[0]
    for title, (sizes, errors) in data.items():
        line = marked(axis, title, 10)
        assert np.array_equal(line.get_xydata(), np.transpose([sizes, 100 * errors]))
        tips = mark_of(line).tips
        assert len(tips) == 10
        assert all(fact in tips[6] for fact in (title, "run 7", f"{100 * errors[6]:.2f} %", f"{sizes[6]} features"))
    whole = next(line for line in axis.lines if line.get_color() == GREY)
    assert whole.get_ydata() == pytest.approx([10.4, 10.4])
    assert sorted(texts(axis)) == sorted([*data, "All 99 features"])
    assert axis.get_ylim()[1] > 10.4


def test_a_single_run_is_a_ring_and_a_front_is_a_line():
    data = {"GA": ([10, 12], [0.1, 0.2]), "SFFS": ([10], [0.1])}
    fronts = {"SFFS": ([1, 5, 10, 99], [0.8, 0.3, 0.1, 0.4])}
    axis = plot_error_against_size(data, None, fronts=fronts).axes[0]
    ring, line = (next(one for one in lines_of(axis, "SFFS") if len(one.get_xdata()) == n) for n in (1, 4))
    assert ring.get_markerfacecolor() == "none"  # it hides no other point
    assert line.get_xydata() == pytest.approx(np.array([[1, 80], [5, 30], [10, 10], [99, 40]]))
    assert all(fact in mark_of(line).tips[1] for fact in ("SFFS", "5 features", "30.00 %"))
    assert axis.get_ylim()[1] < 30  # the limits are those of the runs


def circled(axis):
    return [line for line in axis.lines if line.get_markeredgecolor() == LOSS]


def test_losses_are_marked():
    base = np.array([95.0, 90.0, 85.0])
    rows = {"GA": np.array([96.0, 89.5, 84.0]), "2D-UPSO": np.array([99.0, 95.0, 85.0])}
    upper, lower = plot_robustness([inf, 30, 20.5], rows, base, PALETTE).axes
    assert [label.get_text() for label in lower.get_xticklabels()] == ["∞ dB", "30", "20.5"]
    (rings,) = circled(lower)
    assert rings.get_xydata().tolist() == [[1, -0.5], [2, -1.0]]
    assert not circled(upper)
    assert marked(lower, "2D-UPSO", 3).get_ydata().tolist() == [4.0, 5.0, 0.0]
    gains = plot_robustness([inf, 20], {"GA": [96.0, 90.0]}, [95.0, 90.0], Palette(["GA"])).axes[1]
    assert not circled(gains)
    assert not gains.patches


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
        line = next(line for line in lines_of(lower, "GA") if mark_of(line).tips)
        assert line.get_ydata() == pytest.approx([2.0, -2.1])
        ends = [item for item in lower.collections if mark_of(item).series == "GA"]
        mean, half = np.array([2.0, -2.1]), np.array([1.0, 0.1]) * stats.t.ppf(0.975, 2) / np.sqrt(3)
        segments = np.array(ends[0].get_segments())
        assert segments[:, :, 1] == pytest.approx(np.transpose([mean - half, mean + half]))
        (rings,) = circled(lower)
        assert rings.get_ydata() == pytest.approx([-2.1])  # below zero with the whole interval
        assert all(fact in mark_of(line).tips[1] for fact in ("GA", "20 dB", "-2.10", "-2.35 to -1.85"))
        assert {mark_of(item).series for item in upper.lines} >= {"GA", "2D-UPSO", "All features"}


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


def test_bars_join_the_groups_each_on_its_own_row():
    figure = plot_ranks(dict(zip("abcdef", [1.2, 3.1, 3.3, 3.4, 4.5, 5.6], strict=True)), 1.19)
    lines = figure.axes[0].lines
    (ruled,) = [line for line in lines if len(line.get_xdata()) == 4]
    inch = np.ptp(ruled.get_xdata()) / 1.19
    start = ruled.get_xdata()[0]
    thick = max(line.get_linewidth() for line in lines)
    bars = [line for line in lines if line.get_linewidth() == thick]
    ends = [np.round(1 + (line.get_xdata() + np.array([0.05, -0.05]) - start) / inch, 9).tolist() for line in bars]
    assert ends == [[3.1, 3.4], [3.4, 4.5], [4.5, 5.6]]
    assert len({float(bar.get_ydata()[0]) for bar in bars}) == len(bars)
    assert {line.get_color() for line in lines} == {INK}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot_convergence({}), "curves is empty"),
        (lambda: plot_convergence({"GA": np.ones(3)}), r"'GA'.*\(3,\)"),
        (lambda: plot_convergence({"GA": np.full((2, 3), inf)}), "'GA'.*finite"),
        (lambda: plot_convergence({"GA": np.full((2, 3), np.nan)}), "'GA'.*numbers"),
        (lambda: plot_convergence({"GA": np.ones((2, 3))}, [1, 2]), r"'GA'.*\(2, 3\)"),
        (lambda: plot_error_against_size({}, None), "points is empty"),
        (lambda: plot_error_against_size({"GA": ([1, 2], [0.1])}, None), "points of 'GA'"),
        (lambda: plot_ranks({}, 1.0), "mean_ranks is empty"),
        (lambda: plot_ranks({"GA": 1.0}, -1.0), "not negative"),
        (lambda: plot_ranks({"GB": 1.0}, 1.0, PALETTE), "unknown algorithm 'GB'"),
    ],
)
def test_what_cannot_be_drawn_is_named(call, message):
    with pytest.raises(PqswarmError, match=message):
        call()


@pytest.mark.slow
def test_figures_of_a_study_can_be_had_alone(study, smoke_study, tmp_path, monkeypatch):
    drawings = {drawing.name: drawing for drawing in compose(study).drawings}
    names = {"algorithms-convergence", "algorithms-size"}
    names |= {"features", "features-others", "noise", "confusion"}
    whole = {"events", "overview", "investigation-framework", "investigation-bench"}
    assert set(drawings) == {f"{slug}-{name}" for slug in ("k-nn", "nb") for name in names} | whole
    few = [drawings["k-nn-noise"], replace(drawings["nb-noise"], narrow=None)]  # the others take longer
    monkeypatch.setattr("pqswarm.report.study_report.compose_report", lambda folders: SimpleNamespace(drawings=few))
    written = write_figures(smoke_study, tmp_path / "new", "png")
    assert {path.name for path in written} == {f"{drawing.name}.png" for drawing in few}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)
    again = write_figures(smoke_study, tmp_path / "again", "pdf", column=True)
    for path, drawing in zip(write_figures(smoke_study, tmp_path, "pdf", column=True), few, strict=True):
        page = path.read_bytes()
        width = "252" if drawing.narrow else "515.52"  # 3.5 and 7.16 inches of 72 points
        assert f"/MediaBox [ 0 0 {width} ".encode() in page
        assert b"/FontFile2" in page  # TrueType
        assert b"/Type3" not in page
        assert page == again[few.index(drawing)].read_bytes()


@pytest.mark.slow
def test_narrow_figures_are_legible_and_have_no_small_text(study):
    """On a screen of 390 px, where a figure is about 355 px wide, no letters are smaller than 8 px."""
    drawings = [drawing for drawing in compose(study).drawings if drawing.narrow]
    assert {"overview", "k-nn-algorithms-size", "nb-confusion", "k-nn-features", "events"} <= {d.name for d in drawings}
    for figure in [drawing.narrow() for drawing in drawings if not drawing.name.startswith("nb-")]:
        assert figure.get_figwidth() == NARROW
        assert min(text.get_fontsize() for text in assert_legible(figure)) * 355 / (72 * NARROW) > 8


def test_the_overview_has_a_panel_for_each_classifier(study):
    panels = {each.name: new_data_panel(each) for each in StudySummary.of(study).classifiers}
    figure = plot_new_data(panels, study.palette)
    assert [axis.get_title(loc="left") for axis in figure.axes] == [found.name for found in study.classifiers]
    for axis, found in zip(figure.axes, study.classifiers, strict=True):
        dots = {mark_of(line).tips: float(line.get_xdata()[0]) for line in axis.lines if mark_of(line).tips}
        for title in found.groups:
            best = found.best(title).error
            new = float(found.held_out[title].mean())
            assert dots[f"{title}, in the search: {100 * best:.2f} %",] == pytest.approx(100 * best)
            assert dots[f"{title}, on new data: {100 * new:.2f} %",] == pytest.approx(100 * new)
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


def test_feature_map_writes_percentages_where_selected():
    frequency = np.zeros((9, 11))
    frequency[0, 0], frequency[3, 4], frequency[8, 10] = 1.0, 0.025, 0.001
    figure = plot_feature_map(frequency, band_names(8), list(FUNCTIONS), band_edges(25_000, 8))
    axis = figure.axes[0]
    assert {text.get_position(): text.get_text() for text in axis.texts} == {(0, 0): "100", (4, 3): "3", (10, 8): "<1"}
    assert len(axis.patches) == 3
    assert axis.texts[0].get_color() == "#ffffff"
    assert axis.texts[1].get_color() == INK
    assert axis.yaxis_inverted()
    assert [label.get_text() for label in axis.get_xticklabels()][-3:] == ["Mean deviation", "Variance", "Kurtosis"]
    rows = [label.get_text() for label in axis.get_yticklabels()]
    assert (rows[0], rows[3], rows[-1]) == ("D1  6.25 to 12.5 kHz", "D4  781 Hz to 1.56 kHz", "A8  below 49 Hz")
    assert mark_of(axis.patches[1]).tips == ("D4 mean: selected in 3 % of the runs",)
    plain = plot_feature_map(frequency, band_names(8), list(FUNCTIONS)).axes[0]
    assert [label.get_text() for label in plain.get_yticklabels()] == list(band_names(8))


def test_every_algorithm_has_a_map():
    shares = {title: np.full((9, 11), i / 10) for i, title in enumerate(MANY[:7])}
    figure = plot_feature_maps(shares, band_names(8), FUNCTIONS, band_edges(25_000, 8))
    assert [axis.get_title(loc="left") for axis in figure.axes] == MANY[:7]
    assert [len(axis.patches) for axis in figure.axes] == [0] + [99] * 6
    assert figure.axes[3].patches[0].get_alpha() < figure.axes[6].patches[0].get_alpha()
    assert_legible(figure)


def test_features_that_are_no_bands_are_listed():
    names = [f"feature {i}" for i in range(40)]
    shares = {"GA": np.linspace(0.5, 1, 40), "mine": np.linspace(1, 0, 40), "SFFS": np.zeros(40)}
    for narrow in (False, True):
        axis = plot_selected_features(shares, names, Palette(shares, "mine"), narrow=narrow).axes[0]
        assert [label.get_text() for label in axis.get_yticklabels()] == names[:20]
        assert [bar.get_width() for bar in axis.patches] == pytest.approx(100 * shares["mine"][:20])
        assert mark_of(axis.patches[0]).tips == ("mine: feature 0 in 100 % of the runs",)
        (line,) = lines_of(axis, "GA")
        assert line.get_xdata() == pytest.approx(100 * shares["GA"][:20])
        assert_legible(axis.figure)
    few = plot_selected_features(
        {"GA": np.array([1.0, 0.0])}, ["a name that is far too long for a phone", "b"], Palette(["GA"]), narrow=True
    )
    assert [label.get_text() for label in few.axes[0].get_yticklabels()] == ["a name th…or a phone"]


def test_confusion_tells_errors_from_hits():
    left, right = plot_confusion(confusion(40), confusion(10), PRESETS["paper"].classes).axes
    assert left.get_title(loc="left") == "All features: 43 of 2843 misclassified (1.51 %)"
    assert right.get_title(loc="left") == "Selected features: 13 of 2813 misclassified (0.462 %)"
    cells = {
        text.get_position(): (text.get_text(), patch) for text, patch in zip(left.texts, left.patches, strict=False)
    }
    assert len(cells) == len(left.patches) == 16
    assert cells[9, 2][0] == "40"  # row sag, column sag with harmonics: (x, y)
    assert mark_of(cells[9, 2][1]).tips == ("Sag misclassified as Sag with harmonics: 40 of 240",)
    reds = {place for place, (_, patch) in cells.items() if patch.get_facecolor()[:3] == to_rgb(LOSS)}
    assert reds == {(9, 2), (2, 9)}
    assert cells[9, 2][1].get_alpha() == 1.0 > cells[2, 9][1].get_alpha() > cells[0, 0][1].get_alpha() - 0.1
    same_scale = next(p for t, p in zip(right.texts, right.patches, strict=False) if t.get_text() == "10")
    assert same_scale.get_alpha() == 0.4
    assert left.get_yticklabels()[9].get_text() == "Sag with harmonics"


def test_confusion_tells_recall_and_precision():
    matrix = np.array([[995, 5, 0], [0, 10, 10], [0, 0, 0]])
    for narrow in (False, True):
        axis = plot_confusion(matrix, matrix, ["a", "b", "c"], narrow=narrow).axes[0]
        beside = [text.get_text() for text in axis.texts if text.get_position()[0] == 3]
        below = [text.get_text() for text in axis.texts if text.get_position()[1] == 3]
        assert beside == ["99", "50", "–"]  # noqa: RUF001 (a dash); 995 of 1000 are not all
        assert below == ["100", "67", "0"]
        assert axis.get_xticklabels()[3].get_text() == "recall [%]"
        assert axis.get_yticklabels()[3].get_text() == "precision [%]"


def test_confusion_without_errors_or_events():
    titles = [a.get_title(loc="left") for a in plot_confusion(np.eye(2, dtype=int), np.zeros((2, 2), int), "ab").axes]
    assert titles == ["All features: 0 of 2 misclassified (0.00 %)", "Selected features: 0 of 0 misclassified (0.00 %)"]


def test_the_grid_is_drawn_in_the_colors_of_the_report_with_its_lines_named():
    points = tuple((metric, k) for metric in ("manhattan", "cosine") for k in (1, 3))
    grid = GridSearchResult(
        ("metric", "n_neighbors"), points, np.array([0.8, 0.7, 0.9, 0.6]), (True, True, False, False)
    )
    for narrow in (False, True):
        axis = plot_hyperparameter_grid(grid, narrow=narrow).axes[0]
        first, second, ring, *_ = axis.lines
        assert [first.get_color(), second.get_color()] == [WAVE, BAND]
        assert mark_of(second).tips == ("cosine, neighbors 1: 90.00 %", "cosine, neighbors 3: 60.00 %")
        assert mark_of(ring).tips == ("best: 80.00 %",)  # of those that can be used
        assert [text.get_text() for text in axis.texts] == ["manhattan", "cosine"]
        assert axis.get_legend() is None
        assert_legible(axis.figure)


@pytest.mark.parametrize("narrow", [False, True])
def test_values_on_a_logarithmic_scale_are_written_out(narrow):
    """The exponents of 10^-3 would be a third smaller than the least text that can be read on a phone."""
    points = tuple((value,) for value in (0.0001, 0.001, 0.01, 0.1))
    grid = GridSearchResult(("bandwidth",), points, np.array([0.6, 0.8, 0.7, 0.5]), (True,) * 4)
    axis = plot_hyperparameter_grid(grid, narrow=narrow).axes[0]
    axis.figure.draw_without_rendering()
    low, high = axis.get_xlim()
    told = [tick.label1.get_text() for tick in axis.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert told == ["0.0001", "0.001", "0.01", "0.1"]
    assert_legible(axis.figure)
