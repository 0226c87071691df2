"""Colors, contrast and places of labels; and that the style stands alone."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from tests.report.drawn import MANY

from pqswarm.errors import PqswarmError
from pqswarm.events import PRESETS
from pqswarm.features import FUNCTIONS, band_names
from pqswarm.report import Palette
from pqswarm.report.sections.confusion import plot_confusion
from pqswarm.report.sections.features import plot_feature_map
from pqswarm.report.style import COLORS, FAINT, GREY, INK, spread_line_labels


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
    maps = (
        plot_feature_map(shares, band_names(8), list(FUNCTIONS)),
        plot_confusion(counts, counts, PRESETS["paper"].classes),
    )
    for axis in [axis for figure in maps for axis in figure.axes]:
        for patch, text in zip(axis.patches, axis.texts, strict=False):  # others stand beside the cells
            *rgb, opacity = patch.get_facecolor()
            if tuple(rgb) == to_rgb(FAINT):
                continue  # the diagonal is meant to be faint
            cell = opacity * np.array(rgb) + (1 - opacity) * np.array(to_rgb(page))
            words = to_rgb(ink if text.get_color() == INK else text.get_color())
            assert contrast(cell, words) > 3.9


OWN = [f"algorithm {i}" for i in range(60)]


@pytest.mark.parametrize("color", [GREY, *map(Palette(MANY).color, MANY)])
def test_colors_show_on_light_and_dark_pages(color):
    assert contrast(to_rgb(color), (1, 1, 1)) > 2.3
    assert contrast(to_rgb(color), to_rgb("#14171c")) > 3.3


def test_algorithms_look_the_same_in_every_report():
    one = Palette(["GA", "ACO", "BPSO", "2D-UPSO", "SFFS"], "2D-UPSO")
    other = Palette(["2D-UPSO", "SFFS", "mine", "BPSO", "yours", "ACO"], "2D-UPSO")
    for title in ("2D-UPSO", "SFFS", "BPSO", "ACO"):
        assert (one.color(title), one.marker(title)) == (other.color(title), other.marker(title))
    looks = {(other.color(title), other.marker(title)) for title in ("2D-UPSO", "SFFS", "mine", "BPSO", "yours", "ACO")}
    assert len(looks) == 6


def test_colors_differ_for_the_color_blind():
    # Machado et al. 2009, severity 1: protanopia and deuteranopia, in linear RGB; distances in CIELAB.
    views = [
        np.eye(3),
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ]
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    colors = [GREY, *map(Palette(MANY).color, MANY)]
    assert len(set(colors)) == 13
    rgb = np.array([to_rgb(color) for color in colors])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    for view in views:
        xyz = np.cbrt(np.clip(linear @ np.transpose(view), 0, 1) @ to_xyz.T / [0.9505, 1, 1.089])
        lab = np.stack([116 * xyz[:, 1], 500 * (xyz[:, 0] - xyz[:, 1]), 200 * (xyz[:, 1] - xyz[:, 2])], axis=1)
        assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(lab, 2)) > 15
        blue = colors.index(COLORS[0])  # of the paper's algorithm
        assert min(np.linalg.norm(lab[blue] - other) for other in np.delete(lab, blue, axis=0)) > 24


def test_spread_moves_as_little_as_it_must():
    assert spread_line_labels([0.1, 0.9], 0.2) == pytest.approx([0.1, 0.9])
    assert spread_line_labels([0.5, 0.5], 0.2) == pytest.approx([0.4, 0.6])
    assert spread_line_labels([1.0, 1.0, 1.0], 0.1) == pytest.approx([0.8, 0.9, 1.0])
    assert np.diff(np.sort(spread_line_labels([0.5] * 20, 0.1))).min() == pytest.approx(0.1)


def test_all_looks_of_a_study_differ():
    for titles in (MANY, OWN, ["Annealing", "GA 2", "NSGA-II"], [*MANY, *OWN]):
        palette = Palette(titles)
        assert len({(palette.color(title), palette.marker(title)) for title in titles}) == len(titles)
        lines = {(palette.color(title), palette.line(title)["ls"]) for title in titles[:34]}
        assert len(lines) == len(titles[:34])
        assert len({palette.color(title) for title in titles[:12]} | {GREY}) == len(titles[:12]) + 1
        assert len({palette.marker(title) for title in titles[:11]}) == len(titles[:11])


def test_colors_of_other_algorithms_go_by_order():
    def looks(titles, baseline=None):
        palette = Palette(titles, baseline)
        return [(palette.color(title), palette.marker(title), palette.line(title)["ls"]) for title in titles]

    assert looks(OWN[:12]) == looks(OWN[:12][::-1])
    assert len(set(looks(MANY))) == len(MANY)
    assert looks(["a", "b", "c"])[0] == looks(["b", "a", "c"], "a")[1] == ("#0b6fd6", "o", "-")
    assert looks(["a", "b", "c"])[1:] == looks(["b", "c", "a"], "a")[:2]
    assert sum(look[:2] == ("#0b6fd6", "o") for look in looks(OWN, OWN[40])) == 1


def test_the_reference_lies_on_top_and_strangers_have_no_look():
    assert Palette(["a", "b", "c"], "b").drawn(["a", "b", "c"]) == ["a", "c", "b"]
    with pytest.raises(PqswarmError, match="unknown algorithm 'GB'"):
        Palette(["GA"]).color("GB")


def test_the_style_stands_alone():
    """Whoever draws a conclusion needs neither a study nor what schedules one."""
    program = "import sys, pqswarm.report.style; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    ours = {name for name in loaded if name.startswith("pqswarm.")}
    helpers = {"pqswarm._base", "pqswarm._base.text", "pqswarm._base.typing", "pqswarm.errors"}
    assert ours == {*helpers, "pqswarm.report", "pqswarm.report.style"}
    assert not loaded & {"joblib", "filelock", "sqlite3", "pydantic", "sklearn", "numba"}


def test_the_package_has_all_that_it_says_and_no_more():
    import pqswarm.report as package

    assert set(dir(package)) == set(package.__all__)
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'plot_everything'"):
        package.plot_everything  # noqa: B018
