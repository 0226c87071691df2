"""When a search ends: by a limit, by Ctrl-C, by itself; and the warning before it starts."""

import signal
import threading
import warnings

import numpy as np
import pytest
from joblib import cpu_count, parallel_config
from sklearn.naive_bayes import GaussianNB

from pqswarm.evaluation import EvaluatorChoice
from pqswarm.search import BPSO
from pqswarm.selector import EarlyStopping
from pqswarm.selector.task import threads_of_task
from tests.selector.problems import WINE, assert_same, quick
from tests.waiting import Clock

AT_ONCE = EarlyStopping(max_time=1e-9)
LATE = EarlyStopping(max_time=1000)


@pytest.fixture(autouse=True)
def interrupts():
    """Ctrl-C as a program has it from Python: a command that ran here before handles it in its own way."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


def test_time_stops_after_one_evaluation_and_not_before():
    selector = quick(callbacks=AT_ONCE, algorithm=("2d-upso", {"swarm_size": 25})).fit(*WINE)
    assert selector.stop_reason_ == "max_time"
    assert selector.history_.n_evaluations == 1
    assert not selector.interrupted_
    assert quick(callbacks=LATE).fit(*WINE).stop_reason_ == "max_evaluations"


def test_time_lets_a_search_reach_the_required_size():
    selector = quick(algorithm="sffs", callbacks=AT_ONCE, n_features_to_select=4).fit(*WINE)
    assert selector.n_features_ == 4
    assert selector.stop_reason_ in ("max_time", "finished")


def test_reasons_to_stop():
    assert quick().fit(*WINE).stop_reason_ == "max_evaluations"
    assert quick(callbacks=lambda progress: True).fit(*WINE).stop_reason_ == "callback"
    assert quick(algorithm="sffs", max_evaluations=1000).fit(*WINE).stop_reason_ == "finished"


def press(key=signal.SIGINT):
    signal.raise_signal(key)


def test_ctrl_c_between_batches_keeps_the_best():
    def callback(progress):
        if progress.n_evaluations >= 90:
            press()

    with pytest.warns(UserWarning, match="interrupted: the best of 90 evaluations is kept"):
        selector = quick(callbacks=callback).fit(*WINE)
    assert selector.interrupted_
    assert selector.stop_reason_ == "interrupted"
    assert_same(selector, quick(max_evaluations=90).fit(*WINE))
    assert np.isnan([point.std for point in selector.front_]).all()
    assert selector.transform(WINE[0]).shape[1] == selector.n_features_
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class Pressing(GaussianNB):
    """Ctrl-C comes while it is fitted for the n-th time."""

    left = 0

    def fit(self, X, y):
        type(self).left -= 1
        if type(self).left == 0:
            press()
        return super().fit(X, y)


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_inside_an_evaluation_keeps_those_before(jobs):
    Pressing.left = 5 * 40
    with pytest.warns(UserWarning, match="interrupted"):
        selector = quick(Pressing(), n_jobs=jobs, callbacks=LATE).fit(*WINE)
    done = selector.history_.n_evaluations
    assert 1 <= done < 40
    assert_same(selector, quick(max_evaluations=done).fit(*WINE))


@pytest.mark.parametrize("fit", [1, 3, 6])
def test_ctrl_c_in_the_first_batch_fits_the_selector(fit):
    Pressing.left = fit
    with pytest.warns(UserWarning, match="interrupted: the best of 1 evaluation"):
        selector = quick(Pressing(), callbacks=LATE).fit(*WINE)
    assert_same(selector, quick(max_evaluations=1).fit(*WINE))
    assert selector.predict(WINE[0]).shape == (178,)


class PressingTwice(GaussianNB):
    """Ctrl-C comes twice while it is fitted for the first time."""

    def fit(self, X, y):
        press()
        press()
        return super().fit(X, y)


def test_a_second_ctrl_c_before_any_evaluation_is_raised():
    with pytest.raises(KeyboardInterrupt):
        quick(PressingTwice(), callbacks=LATE).fit(*WINE)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def sleeping(sleep):
    """A classifier each of whose fits takes 10 ms by calling `sleep`."""

    class Sleeping(GaussianNB):
        def fit(self, X, y):
            sleep(0.01)
            return super().fit(X, y)

    return Sleeping()


def test_time_stops_within_one_evaluation(monkeypatch):
    clock = Clock(monkeypatch, "selector.search_loop", "selector.selection")
    began = clock.now
    selector = quick(sleeping(clock.sleep), callbacks=EarlyStopping(max_time=0.5), max_evaluations=6000).fit(*WINE)
    assert selector.stop_reason_ == "max_time"
    assert 0.5 < clock.now - began < 0.5 + 0.01 * (1 + 5 + 1) + 1e-9  # the check before, one evaluation, the refit
    assert selector.history_.n_evaluations > 3


def test_ctrl_c_after_the_search_skips_the_spread():
    Pressing.left = 5 * 31  # thirty subsets were evaluated, now the front's are, fold by fold
    with pytest.warns(UserWarning, match="the best of 30 evaluations is kept"):
        selector = quick(Pressing(), max_evaluations=30, callbacks=LATE).fit(*WINE)
    assert selector.interrupted_
    assert np.isnan([point.std for point in selector.front_]).all()
    assert_same(selector, quick(max_evaluations=30).fit(*WINE))


class Halfway(BPSO):
    """Ctrl-C comes while it learns."""

    name = "halfway"
    learnt = 0

    def _learn(self, masks, errors):
        type(self).learnt += 1
        if self.learnt == 3:
            press()
        super()._learn(masks, errors)


def test_ctrl_c_while_a_search_learns_waits_until_it_has_learnt(tmp_path):
    with pytest.warns(UserWarning, match="interrupted"):
        selector = quick(algorithm=Halfway, storage=tmp_path / "wine.npz").fit(*WINE)
    assert selector.history_.n_evaluations == 90
    assert_same(selector.fit(*WINE), quick(algorithm="bpso").fit(*WINE))


def test_other_threads_get_no_signals():
    found = []
    thread = threading.Thread(target=lambda: found.append(quick().fit(*WINE)))
    thread.start()
    thread.join()
    assert_same(found[0], quick().fit(*WINE))


def test_a_slow_search_warns(monkeypatch):
    monkeypatch.setattr(EvaluatorChoice, "seconds_per_subset", 0.5)
    words = r"about 150 s \(2 minutes\): 300 evaluations at 0.5 s each.*max_time.*max_evaluations.*faster estimator"
    with pytest.warns(UserWarning, match=words) as caught:
        quick(max_evaluations=300).fit(*WINE)
    assert caught[0].filename == __file__
    with warnings.catch_warnings(action="error"):
        quick(max_evaluations=119).fit(*WINE)
        quick(callbacks=LATE).fit(*WINE)
        quick(callbacks=lambda progress: None).fit(*WINE)


def test_subsets_that_are_quick_in_batches_do_not_warn(monkeypatch):
    monkeypatch.setattr(EvaluatorChoice, "seconds_per_subset", 0.04)  # as if alone each took so long
    with warnings.catch_warnings(action="error"):
        quick(max_evaluations=2000).fit(*WINE)


def test_the_cost_is_measured_by_few_subsets(monkeypatch):
    calls = []
    plain = GaussianNB.fit
    monkeypatch.setattr(GaussianNB, "fit", lambda self, X, y: calls.append(1) or plain(self, X, y))
    quick(GaussianNB(priors=[0.3, 0.3, 0.4]), max_evaluations=1).fit(*WINE)
    # All features in one fold, three subsets measured, one evaluated, once more by fold, and refitted.
    assert len(calls) <= 1 + 5 * (3 + 1 + 1) + 1


def test_jobs_are_those_of_scikit_learn():
    assert threads_of_task(None) == 1
    assert threads_of_task(3) == 3
    with parallel_config(backend="threading", n_jobs=2):
        assert threads_of_task(None) == 2
    assert threads_of_task(-1) == cpu_count()
