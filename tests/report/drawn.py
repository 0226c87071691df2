"""Figures of invented studies; what is written in them, whether it is legible, and which lines belong to a series."""

import itertools
from functools import cache
from math import inf

import numpy as np

from pqswarm.events import PRESETS
from pqswarm.features import FUNCTIONS, band_edges, band_names
from pqswarm.report import Palette, plot_convergence, plot_error_against_size, plot_ranks
from pqswarm.report.sections.confusion import plot_confusion
from pqswarm.report.sections.features import plot_feature_map
from pqswarm.report.sections.noise import plot_robustness
from pqswarm.report.style import mark_of

PAPER = ["GA", "ACO", "BPSO", "CBPSO", "chBPSO", "2D-UPSO"]
MANY = [*PAPER, "SFFS", "MERIT", "UMDA", "GA-sparse", "my ∞ own", "x$y$ _<&z>"]
PALETTE = Palette(PAPER, baseline="2D-UPSO")
LEVELS = [inf, 50, 45, 40, 35, 30, 25, 20]


def curves(titles=PAPER, n_runs=5, n_evaluations=1000):
    random = np.random.default_rng(0)
    ends = np.linspace(0.09, 0.06, len(titles))
    time = np.arange(n_evaluations) / n_evaluations
    return {
        title: np.minimum.accumulate(
            end + 0.08 * np.exp(-8 * time) + random.exponential(0.01, (n_runs, n_evaluations)), axis=1
        )
        for title, end in zip(titles, ends, strict=True)
    }


def points(titles=PAPER, n_runs=10):
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


def draw_figures():
    """One figure of each kind."""
    frequency = np.random.default_rng(0).integers(0, 41, (9, 11)) / 40
    rows, base = accuracy()
    return {
        "convergence": plot_convergence(curves(), None, PALETTE),
        "size": plot_error_against_size(points(), (99, 0.104), PALETTE),
        "robustness": plot_robustness(LEVELS, rows, base, PALETTE),
        "map": plot_feature_map(frequency, band_names(8), list(FUNCTIONS), band_edges(25_000, 8)),
        "ranks": plot_ranks(dict(zip(PAPER, [5.4, 4.6, 3.3, 3.1, 3.4, 1.2], strict=True)), 1.19, PALETTE),
        "confusion": plot_confusion(confusion(40), confusion(10), PRESETS["paper"].classes),
    }


all_figures = cache(draw_figures)  # for tests that only look at them


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
    """No two texts overlap, and none leaves the figure; turned ones are left to the eye. Returns the texts."""
    found = boxes(figure)
    upright = {text: box for text, box in found.items() if text.get_rotation() == 0}
    for (one, a), (two, b) in itertools.combinations(upright.items(), 2):
        shared = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(shared) < 0.5, (one.get_text(), two.get_text())
    page = figure.bbox.padded(1)
    for text, box in found.items():
        assert page.contains(box.x0, box.y0), text.get_text()
        assert page.contains(box.x1, box.y1), text.get_text()
    return list(found)


def lines_of(axis, title):
    return [line for line in axis.lines if mark_of(line).series == title]
