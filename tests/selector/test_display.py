"""What a fitted selector shows: figures, a notebook, progress and ready-made callbacks."""

import sys

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from pqswarm.errors import PqswarmError
from pqswarm.selector import EarlyStopping
from tests.selector.problems import WINE, quick


@pytest.fixture(scope="module")
def fitted():
    return quick(scoring="f1_macro", max_evaluations=120).fit(*WINE)


def test_front(fitted):
    pytest.importorskip("matplotlib")
    (axes,) = fitted.plot_front().axes
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [point.size for point in fitted.front_])
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [point.score for point in fitted.front_])
    assert str(fitted.n_features_) in axes.get_title()
    assert axes.get_ylabel() == "f1 macro"


def test_history(fitted, tmp_path):
    pytest.importorskip("matplotlib")
    figure = fitted.plot_history()
    assert figure.axes[0].lines[-1].get_ydata()[-1] == fitted.best_score_
    figure.savefig(tmp_path / "history.png")
    assert (tmp_path / "history.png").stat().st_size > 10_000
    loss = quick(Ridge(), scoring="neg_mean_absolute_error", max_evaluations=20).fit(WINE[0], WINE[1] + 0.5)
    (axes,) = loss.plot_history().axes
    assert axes.get_ylabel() == "best neg mean absolute error"
    assert axes.lines[0].get_ydata()[-1] == pytest.approx(loss.best_score_)


def test_importance_counts_good_subsets(fitted):
    pytest.importorskip("matplotlib")
    allowed = fitted.best_score_ - fitted.front_[-1].std / np.sqrt(5)
    good = np.array([point.support for point in fitted.front_ if point.score >= allowed])
    (axes,) = fitted.plot_importance().axes
    shown = {
        int(label.get_text()): bar.get_width() for label, bar in zip(axes.get_yticklabels(), axes.patches, strict=True)
    }
    assert shown == {place: value for place, value in enumerate(good.mean(axis=0)) if value}


def test_figures_are_drawn_into_given_axes(fitted):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    for axes, name in zip(figure.subplots(3), ("front", "history", "importance"), strict=True):
        assert getattr(fitted, f"plot_{name}")(ax=axes) is figure
        assert axes.has_data()


def test_figures_say_that_matplotlib_is_missing(monkeypatch, fitted):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PqswarmError, match="figures need matplotlib: pip install matplotlib"):
        fitted.plot_front()


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
    selector = quick(callbacks=[seen.append], max_evaluations=60).fit(*WINE)
    last = seen[-1]
    assert last.score == selector.best_score_
    assert last.features == tuple(np.flatnonzero(selector.support_))
    assert last.elapsed > 0
    assert f"60 of 60 evaluations: score {last.score:.4g} with {last.size} features after 0." in str(last)
    assert str(last.features[0]) in str(last).partition("(")[2]


def test_early_stopping():
    scores = []
    callbacks = [lambda progress: scores.append(progress.score), EarlyStopping(score=0.9)]
    reached = quick(callbacks=callbacks, max_evaluations=600).fit(*WINE)
    assert reached.stop_reason_ == "callback"
    assert reached.best_score_ == scores[-1] >= 0.9
    assert all(score < 0.9 for score in scores[:-1])
    idle = quick(callbacks=EarlyStopping(patience=60, tolerance=0.5), max_evaluations=600).fit(*WINE)
    assert idle.history_.n_evaluations == 90  # one batch, and two that did not raise the score by a half
    for wrong, message in (({}, "give a score, a patience"), ({"max_time": 0}, "max_time must be a positive number")):
        with pytest.raises(PqswarmError, match=message):
            EarlyStopping(**wrong)
