"""What a fitted selector shows: figures, a notebook, progress and ready-made callbacks."""

import csv
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from pqswarm.errors import PqswarmError
from pqswarm.report import save_figure
from pqswarm.selector import CsvLog, EarlyStopping
from tests.selector.problems import WINE, quick


@pytest.fixture(scope="module")
def fitted():
    return quick(n_runs=3, scoring="f1_macro", max_evaluations=120).fit(*WINE)


def test_front(fitted):
    (axes,) = fitted.plot_front().axes
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [point.size for point in fitted.front_])
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [point.score for point in fitted.front_])
    assert str(fitted.n_features_) in axes.get_title(loc="left")
    assert axes.get_ylabel() == "f1 macro"


def test_history(fitted, tmp_path):
    figure = fitted.plot_history()
    assert len(figure.axes[0].lines) == 3
    assert figure.axes[0].lines[-1].get_ydata()[-1] == fitted.best_score_
    assert save_figure(figure, tmp_path / "history.png").stat().st_size > 10_000
    loss = quick(Ridge(), scoring="neg_mean_absolute_error", max_evaluations=20).fit(WINE[0], WINE[1] + 0.5)
    (axes,) = loss.plot_history().axes
    assert axes.get_ylabel() == "best neg mean absolute error"
    assert axes.lines[0].get_ydata()[-1] == pytest.approx(loss.best_score_)


def test_importance_counts_good_subsets(fitted):
    error = fitted.front_[-1].std / np.sqrt(5)
    fronts = [pair for run in fitted.history_ for pair in zip(run.front_masks, run.front_errors, strict=True)]
    good = np.array([mask for mask, loss in fronts if 1 - loss >= fitted.best_score_ - error])
    (axes,) = fitted.plot_importance().axes
    shown = {
        int(label.get_text()): bar.get_width() for label, bar in zip(axes.get_yticklabels(), axes.patches, strict=True)
    }
    assert shown == {place: value for place, value in enumerate(good.mean(axis=0)) if value}


def test_stability_is_of_runs_or_of_outer_training_sets(fitted):
    (axes,) = fitted.plot_stability().axes
    assert "of 3 runs" in axes.get_xlabel()
    assert sorted(bar.get_width() for bar in axes.patches) == sorted(
        fitted.selection_frequency_[fitted.selection_frequency_ > 0]
    )
    with pytest.raises(PqswarmError, match="use outer_cv, or n_runs of at least 2"):
        quick(max_evaluations=20).fit(*WINE).plot_stability()
    outer = quick(max_evaluations=20, outer_cv=3).fit(*WINE)
    assert "of 3 outer training sets" in outer.plot_stability().axes[0].get_xlabel()


def test_figures_are_drawn_into_given_axes(fitted):
    figure = Figure()
    for axes, name in zip(figure.subplots(2, 2).flat, ("front", "history", "importance", "stability"), strict=True):
        assert getattr(fitted, f"plot_{name}")(ax=axes) is figure
        assert axes.has_data()


@pytest.mark.parametrize("pandas", [True, False])
def test_notebooks_show_the_front(monkeypatch, fitted, pandas):
    if not pandas:
        monkeypatch.setitem(sys.modules, "pandas", None)
        assert not hasattr(fitted, "results_")
    for html in (fitted._repr_html_(), fitted._repr_mimebundle_()["text/html"]):
        assert html.count("<summary>") >= len(fitted.front_) + 1
        assert html.count("<circle") >= len(fitted.front_)
        assert f"<title>{fitted.front_[0].size}: {fitted.front_[0].score:.4g}" in html
        assert f"{fitted.best_score_:.4g} (selected)" in html
    assert "the front" not in quick()._repr_html_()
    assert "SwarmSelector" in make_pipeline(fitted, GaussianNB())._repr_html_()


def test_progress_prints_readably():
    seen = []
    selector = quick(callback=[seen.append], max_evaluations=60).fit(*WINE)
    last = seen[-1]
    assert last.score == selector.best_score_
    assert last.features == tuple(np.flatnonzero(selector.support_))
    assert last.elapsed > 0
    assert f"60 of 60 evaluations: score {last.score:.4g} with {last.size} features after 0." in str(last)
    assert str(last.features[0]) in str(last).partition("(")[2]


def test_ready_made_callbacks(tmp_path):
    log = CsvLog(tmp_path / "log.csv")
    reached = quick(callback=[log, EarlyStopping(score=0.9)], max_evaluations=600).fit(*WINE)
    assert reached.stop_reason_ == "callback"
    rows = list(csv.DictReader((tmp_path / "log.csv").read_text().splitlines()))
    assert float(rows[-1]["score"]) == reached.best_score_ >= 0.9
    assert all(float(row["score"]) < 0.9 for row in rows[:-1])
    assert rows[-1]["features"].split("; ") == [str(place) for place in np.flatnonzero(reached.support_)]
    idle = quick(callback=EarlyStopping(patience=60, tolerance=0.5), max_evaluations=600).fit(*WINE)
    assert idle.history_[0].n_evaluations == 90  # one batch, and two that did not raise the score by a half
    with pytest.raises(PqswarmError, match="give a score or a patience"):
        EarlyStopping()
