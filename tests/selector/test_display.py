"""What a fitted selector shows: its front, tables, figures, a notebook, progress and ready-made callbacks."""

import pickle
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import ShuffleSplit, cross_val_score
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


X, y = WINE


@pytest.fixture(scope="module")
def sequential():
    return quick(algorithm="sffs", max_evaluations=400).fit(*WINE)


def test_front_holds_scores_of_scikit_learn(sequential):
    assert len(sequential.front_) > 2
    for point in sequential.front_:
        scores = cross_val_score(GaussianNB(), X[:, point.support], y, cv=5)
        assert point.score == pytest.approx(scores.mean())
        assert point.std == pytest.approx(scores.std(ddof=1))
        assert point.size == point.support.sum()
    for one, other in pairwise(sequential.front_):
        assert one.size < other.size
        assert one.score < other.score
    np.testing.assert_array_equal(sequential.front_[-1].support, sequential.support_)


def test_one_standard_error():
    X, y = load_breast_cancer(return_X_y=True)
    selector = quick(algorithm="sffs", max_evaluations=400, n_features_to_select="1se").fit(X, y)
    best = selector.front_[-1]
    scores = cross_val_score(GaussianNB(), X[:, best.support], y, cv=5)
    allowed = scores.mean() - scores.std(ddof=1) / np.sqrt(5)
    expected = next(point for point in selector.front_ if point.score >= allowed)
    assert selector.n_features_ == expected.size < best.size
    assert selector.best_score_ == expected.score
    hasty = quick(
        algorithm="sffs", max_evaluations=400, n_features_to_select="1se", callbacks=EarlyStopping(max_time=1e-9)
    ).fit(X, y)
    assert np.isfinite([point.std for point in hasty.front_]).tolist() == [False] * (len(hasty.front_) - 1) + [True]


def test_one_split_has_no_standard_error():
    with pytest.raises(PqswarmError, match="n_features_to_select='1se' needs at least two splits"):
        quick(cv=ShuffleSplit(1, random_state=0), n_features_to_select="1se", max_evaluations=30).fit(*WINE)


def test_select(sequential):
    largest = max((point for point in sequential.front_ if point.size <= 3), key=lambda point: point.size)
    np.testing.assert_array_equal(sequential.select(size=3), largest.support)
    np.testing.assert_array_equal(sequential.select(13), sequential.support_)
    with pytest.raises(PqswarmError, match="size must be an integer of at least 1"):
        sequential.select(0)
    sequential.select(13)[:] = False
    assert sequential.support_.any()


def test_frame():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = quick(algorithm="ga").fit(X, y)
    frame = selector.results_
    front = frame[frame.kind == "front"]
    assert front["size"].tolist() == [point.size for point in selector.front_]
    assert front.features.tolist()[-1] == tuple(X.columns[selector.support_]) == front[front.selected].features.item()
    assert frame.selected.sum() == 1
    steps = frame[frame.kind == "improvement"]
    np.testing.assert_array_equal(steps.evaluations, selector.history_.improvements[:, 0] + 1)
    np.testing.assert_allclose(1 - steps.score, selector.history_.improvements[:, 1])
    assert steps.features.tolist()[-1] == tuple(X.columns[selector.history_.mask])
    assert frame.evaluations.dtype == "Int64"


def test_frame_of_a_loss_has_negative_scores():
    X, y = load_diabetes(return_X_y=True)
    selector = quick(LinearRegression(), scoring="neg_mean_absolute_error", max_evaluations=30).fit(X, y)
    assert (selector.results_.score < 0).all()
    assert selector.results_.score.max() == pytest.approx(selector.best_score_)


def test_frame_without_pandas(monkeypatch, sequential):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PqswarmError, match="install pandas"):
        _ = sequential.results_


def test_pickles_without_its_callback():
    selector = quick(callbacks=lambda progress: None).fit(X, y)
    other = pickle.loads(pickle.dumps(selector))
    assert other.callbacks is None
    assert selector.callbacks is not None
    assert clone(selector).callbacks is selector.callbacks
    np.testing.assert_array_equal(other.transform(X), selector.transform(X))
    assert isinstance(other.results_, pd.DataFrame)
