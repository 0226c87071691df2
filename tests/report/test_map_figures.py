"""Figures made of cells: maps of features and confusion matrices; and lists of features."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from tests.report.drawn import MANY, assert_legible, confusion, lines_of

from pqswarm.evaluation import GridSearchResult
from pqswarm.events import PRESETS
from pqswarm.features import FUNCTIONS, band_edges, band_names
from pqswarm.report import Palette
from pqswarm.report.sections.confusion import plot_confusion
from pqswarm.report.sections.features import plot_feature_map, plot_feature_maps, plot_selected_features
from pqswarm.report.sections.how import plot_hyperparameter_grid
from pqswarm.report.style import BAND, INK, LOSS, WAVE, mark_of


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


def test_the_grid_is_drawn_in_the_colours_of_the_report_with_its_lines_named():
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
