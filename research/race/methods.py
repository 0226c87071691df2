"""The methods of the race: each takes data, estimator, folds, seed and a time limit, and returns a feature mask.

A method that predicts by itself leaves its fitted model in `Task.model`; of the others, the estimator is fitted to the
features.

Every method is run with its defaults where they work on all data; what differs is here. At the time limit a method
returns its best subset so far, in one of two ways: it stops by itself (`stops`), or `TimeIsUp` is raised in it, and
`Task.kept` is returned: what it would have returned then, at first all features.
"""

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFECV, SequentialFeatureSelector, f_classif, f_regression
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

from race.process import TimeIsUp

SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500)  # candidate sizes of filters
KEPT = 10  # features of a filter whose size there was no time to choose
PRICES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # inverse penalties of L1


@dataclass
class Task:
    """Input of a method. `kept` is the mask it returns if the time is up; `model` predicts, if it is not None."""

    X: np.ndarray
    y: np.ndarray
    estimator: Any
    cv: Any
    seed: int
    regression: bool = False
    limit: float = np.inf
    began: float = field(default_factory=time.process_time)
    kept: Any = None
    model: Any = None

    def keep(self, features):
        mask = np.zeros(self.X.shape[1], dtype=bool)
        mask[features] = True
        self.kept = mask
        return mask

    def is_over(self, share=1.0):
        return time.process_time() - self.began >= share * self.limit

    @property
    def scoring(self):
        return "r2" if self.regression else "accuracy"

    def forest(self, **options):
        kind = RandomForestRegressor if self.regression else RandomForestClassifier
        return kind(random_state=self.seed, n_jobs=1, **options)


@dataclass(frozen=True)
class Method:
    """`select(task)` returns a mask; `own` if it does not depend on the estimator; `stops` if it heeds the limit."""

    title: str
    select: Callable
    distribution: str
    module: str = ""
    own: bool = False
    stops: bool = False
    warm_up: bool = False

    def prepare(self, task):
        """Import and compile, before the clock starts."""
        if self.module:
            importlib.import_module(self.module)
        if self.warm_up:
            rng = np.random.default_rng(0)
            X, y = rng.normal(size=(60, 5)), np.arange(60) % 2
            self.select(replace(task, X=X, y=y.astype(float) if task.regression else y))

    def run(self, task):
        """Return the mask, and whether the time was up."""
        task.keep(slice(None))
        task.began = time.process_time()
        try:
            return np.asarray(self.select(task), dtype=bool), task.is_over()
        except TimeIsUp:
            return task.kept, True

    @property
    def version(self):
        """Installed version, or None."""
        try:
            return metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return None


def all_features(task):
    return task.keep(slice(None))


def swarm(**options):
    """Return a SwarmSelector with these options, which predicts with the features of all its subsets."""

    def select(task):
        from pqswarm import SwarmSelector

        # What follows the searches takes a third of their time, unless they were stopped.
        limits = {"n_jobs": 1, "random_state": task.seed, "callbacks": lambda _: task.is_over(3 / 4)}
        task.model = SwarmSelector(task.estimator, cv=task.cv, **limits, **options).fit(task.X, task.y)
        return task.model.union_

    return select


def forest(task):
    task.model = task.forest(n_estimators=500).fit(task.X, task.y)
    return task.kept


def sequential(task):
    class Kept(SequentialFeatureSelector):
        def _get_best_new_feature_score(self, estimator, X, y, cv, current_mask, **params):
            if current_mask.any():
                task.keep(current_mask)
            return super()._get_best_new_feature_score(estimator, X, y, cv, current_mask, **params)

    # With fewer than a thousand samples any gain in accuracy exceeds tol: it stops when nothing helps.
    selector = Kept(task.estimator, n_features_to_select="auto", tol=1e-3, cv=task.cv, n_jobs=1)
    return selector.fit(task.X, task.y).support_


def floating(task):
    from mlxtend.feature_selection import SequentialFeatureSelector as Floating

    most = min(15, task.X.shape[1])
    selector = Floating(task.estimator, (1, most), floating=True, scoring=task.scoring, cv=task.cv, n_jobs=1)
    selector.fit(task.X, task.y)
    if selector.interrupted_:
        if selector.subsets_:
            selector.finalize_fit()
            task.keep(list(selector.k_feature_idx_))
        raise TimeIsUp
    return task.keep(list(selector.k_feature_idx_))


def eliminated(task):
    # Neither classifier of the race has weights: logistic regression ranks and scores instead.
    ranking = clone(task.estimator)[-1] if task.regression else LogisticRegression()
    X = StandardScaler().fit_transform(task.X)
    return RFECV(ranking, step=0.1, cv=task.cv, n_jobs=1).fit(X, task.y).support_


def boruta(task):
    from boruta import BorutaPy

    class Stopping(BorutaPy):
        @property
        def max_iter(self):
            return 0 if task.is_over() else self._most

        @max_iter.setter
        def max_iter(self, value):
            self._most = value

    selector = Stopping(task.forest(max_depth=5), n_estimators="auto", max_iter=100, random_state=task.seed)
    selector.fit(task.X, task.y)
    mask = selector.support_ if selector.support_.any() else selector.support_weak_
    return mask if mask.any() else task.kept


def genetic(task):
    from sklearn_genetic import GAFeatureSelectionCV
    from sklearn_genetic.callbacks.base import BaseCallback

    class Stop(BaseCallback):
        def on_step(self, *_):
            return task.is_over()

    selector = GAFeatureSelectionCV(task.estimator, cv=task.cv, scoring=task.scoring, n_jobs=1, verbose=False)
    return selector.fit(task.X, task.y, callbacks=Stop()).support_


def mafese(task):
    from mafese import MhaSelector
    from mealpy.utils.termination import Termination

    class Stop(Termination):
        def should_terminate(self, *_):
            return task.is_over()

    selector = MhaSelector(
        "regression" if task.regression else "classification",
        obj_name="R2" if task.regression else "AS",
        estimator=task.estimator,
        optimizer="BaseGA",
        optimizer_paras={"epoch": 10_000, "pop_size": 30},
        termination=Stop(max_epoch=10_000),
        seed=task.seed,
        verbose=False,
    )
    selector.fit(task.X, task.y)
    return selector.selected_feature_masks


def ranked(rank, most=SIZES[-1]):
    """Return a filter that ranks inside each fold, takes the best size (the smallest of equals), and ranks on all."""

    def select(task):
        sizes = [size for size in SIZES if size <= min(most, task.X.shape[1])]
        whole = rank(task, task.X, task.y, sizes[-1])
        task.keep(whole[:KEPT])
        scores = np.zeros(len(sizes))
        for train, test in task.cv.split(task.X, task.y):
            order = rank(task, task.X[train], task.y[train], sizes[-1])
            for i, size in enumerate(sizes):
                scores[i] += cross_val_score(task.estimator, task.X[:, order[:size]], task.y, cv=[(train, test)]).mean()
        return task.keep(whole[: sizes[int(np.argmax(scores))]])

    return select


def by_f(task, X, y, most):
    values = (f_regression if task.regression else f_classif)(X, y)[0]
    return np.argsort(-np.nan_to_num(values, nan=-1.0), kind="stable")[:most]


def by_mrmr(task, X, y, most):
    import mrmr
    import pandas as pd

    rank = mrmr.mrmr_regression if task.regression else mrmr.mrmr_classif
    return np.array(rank(pd.DataFrame(X), pd.Series(y), K=most, n_jobs=1, show_progress=False))


def l1(task):
    """Take the features with a weight in L1 logistic regression, one class against the rest; or in the lasso."""

    def chosen(X, y, price):
        X = StandardScaler().fit_transform(X)
        if task.regression:
            return Lasso(0.1 * y.std() / price / len(y) ** 0.5).fit(X, y).coef_ != 0
        labels = np.unique(y)
        mask = np.zeros(X.shape[1], dtype=bool)
        for label in labels[1:] if labels.size == 2 else labels:
            one = LogisticRegression(l1_ratio=1, solver="liblinear", C=price, random_state=task.seed)
            mask |= one.fit(X, y == label).coef_[0] != 0
        return mask

    best = -np.inf
    for price in PRICES:
        scores = []
        for train, test in task.cv.split(task.X, task.y):
            mask = chosen(task.X[train], task.y[train], price)
            if mask.any():
                scores.append(cross_val_score(task.estimator, task.X[:, mask], task.y, cv=[(train, test)]).mean())
        whole = chosen(task.X, task.y, price)
        if whole.any() and len(scores) == task.cv.get_n_splits() and np.mean(scores) > best:
            best = np.mean(scores)
            task.keep(whole)
    return task.kept


OURS = "swarm"
METHODS = {
    "all": Method("all features", all_features, "scikit-learn", own=True),
    OURS: Method("**SwarmSelector**", swarm(), "pqswarm", stops=True, warm_up=True),
    "unlimited": Method("SwarmSelector, no limit", swarm(max_features=None), "pqswarm", stops=True, warm_up=True),
    "umda": Method("UMDA, one subset", swarm(algorithm="umda", n_subsets=1), "pqswarm", stops=True, warm_up=True),
    "forest": Method("random forest, all features", forest, "scikit-learn", own=True),
    "sfs": Method("scikit-learn SequentialFeatureSelector", sequential, "scikit-learn"),
    "rfecv": Method("scikit-learn RFECV", eliminated, "scikit-learn", own=True),
    "kbest": Method("scikit-learn SelectKBest, F", ranked(by_f), "scikit-learn"),
    "l1": Method("scikit-learn L1", l1, "scikit-learn"),
    "sffs": Method("mlxtend, floating", floating, "mlxtend", "mlxtend.feature_selection"),
    "ga": Method("sklearn-genetic-opt", genetic, "sklearn-genetic-opt", "sklearn_genetic", stops=True),
    "mafese": Method("MAFESE, genetic", mafese, "mafese", "mafese", stops=True),
    "mrmr": Method("mRMR (mrmr-selection)", ranked(by_mrmr, most=30), "mrmr-selection", "mrmr"),
    "boruta": Method("Boruta", boruta, "Boruta", "boruta", own=True, stops=True),
}
