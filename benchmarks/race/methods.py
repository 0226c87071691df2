"""The methods of the race: each takes data, estimator, folds and seed, and returns a feature mask.

`prepare` imports and compiles before the clock starts. Where a method has no default that works on all data, the value
here is our choice and is listed in docs/peers.md.
"""

import importlib
from dataclasses import dataclass, replace
from importlib import metadata

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFECV, SequentialFeatureSelector, f_classif, mutual_info_classif
from sklearn.model_selection import cross_val_score

from race.data import Counted, estimator

SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500)  # candidate sizes of filters


@dataclass(frozen=True)
class Task:
    """Input of a method: training data, name of the estimator, folds, seed."""

    X: np.ndarray
    y: np.ndarray
    estimator: str
    cv: object
    seed: int

    @property
    def counted(self):
        """The estimator, with counted fits."""
        return estimator(self.estimator, counted=True)


@dataclass(frozen=True)
class Method:
    """`select(task)` returns a mask, or (mask, evaluations) if the fits do not determine them.

    `fits` is the number of fits per evaluation: by default the number of folds; 0 if not meaningful.
    """

    title: str
    select: object
    distribution: str
    module: str = ""
    fits: int = -1
    warm_up: bool = False

    def prepare(self, task):
        if self.module:
            importlib.import_module(self.module)
        if self.warm_up:
            rng = np.random.default_rng(0)
            X, y = rng.normal(size=(60, 5)), np.arange(60) % 2
            self.select(replace(task, X=X, y=y))

    @property
    def version(self):
        """Installed version, or None."""
        try:
            return metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return None

    def evaluations(self, n_folds):
        """Return the evaluations that correspond to the fits so far, or None."""
        per = n_folds if self.fits < 0 else self.fits
        return round(Counted.fits / per) if per else None


def all_features(task):
    return np.ones(task.X.shape[1], dtype=bool)


def swarm(**options):
    def select(task):
        from pqswarm import SwarmSelector

        plain = estimator(task.estimator)
        selector = SwarmSelector(plain, cv=task.cv, n_jobs=1, random_state=task.seed, **options).fit(task.X, task.y)
        return selector.support_, sum(result.n_evaluations for result in selector.history_)

    return select


def sequential(task):
    # With fewer than a thousand samples any gain in accuracy exceeds tol: it stops when nothing helps.
    selector = SequentialFeatureSelector(task.counted, n_features_to_select="auto", tol=1e-3, cv=task.cv, n_jobs=1)
    return selector.fit(task.X, task.y).get_support()


def floating(task):
    from mlxtend.feature_selection import SequentialFeatureSelector as Floating

    most = min(15, task.X.shape[1])
    selector = Floating(task.counted, (1, most), floating=True, scoring="accuracy", cv=task.cv, n_jobs=1)
    return mask_of(task, selector.fit(task.X, task.y).k_feature_idx_)


def eliminated(task):
    # The estimators of the race have no importances: a forest ranks and scores.
    forest = RandomForestClassifier(50, random_state=task.seed, n_jobs=1)
    return RFECV(forest, step=0.1, cv=task.cv, n_jobs=1).fit(task.X, task.y).support_


def boruta(task):
    from boruta import BorutaPy

    forest = RandomForestClassifier(max_depth=5, random_state=task.seed, n_jobs=1)
    selector = BorutaPy(forest, n_estimators="auto", max_iter=50, random_state=task.seed).fit(task.X, task.y)
    return selector.support_ if selector.support_.any() else selector.support_weak_


def genetic(task):
    from sklearn_genetic import GAFeatureSelectionCV

    selector = GAFeatureSelectionCV(task.counted, cv=task.cv, scoring="accuracy", n_jobs=1, verbose=False)
    return np.asarray(selector.fit(task.X, task.y).support_, dtype=bool)


def mafese(task):
    from mafese import MhaSelector

    selector = MhaSelector(
        "classification",
        obj_name="AS",
        estimator=task.counted,
        optimizer="BaseGA",
        optimizer_paras={"epoch": 33, "pop_size": 30},
        seed=task.seed,
        verbose=False,
    )
    selector.fit(task.X, task.y)
    return np.asarray(selector.selected_feature_masks, dtype=bool)


def ranked(rank, most=SIZES[-1]):
    """Return a filter that ranks inside each fold, takes the best size (the smallest of equals), and ranks on all."""

    def select(task):
        sizes = [size for size in SIZES if size <= min(most, task.X.shape[1])]
        scores = np.zeros(len(sizes))
        for train, test in task.cv.split(task.X, task.y):
            order = rank(task.X[train], task.y[train], sizes[-1], task.seed)
            for i, size in enumerate(sizes):
                split = [(train, test)]
                scores[i] += cross_val_score(task.counted, task.X[:, order[:size]], task.y, cv=split).mean()
        best = sizes[int(np.argmax(scores))]
        return mask_of(task, rank(task.X, task.y, sizes[-1], task.seed)[:best])

    return select


def by_f(X, y, most, _seed):
    return np.argsort(-np.nan_to_num(f_classif(X, y)[0], nan=-1.0), kind="stable")[:most]


def by_mutual_information(X, y, most, seed):
    return np.argsort(-mutual_info_classif(X, y, random_state=seed), kind="stable")[:most]


def by_mrmr(X, y, most, _seed):
    import pandas as pd
    from mrmr import mrmr_classif

    return np.array(mrmr_classif(pd.DataFrame(X), pd.Series(y), K=most, n_jobs=1, show_progress=False))


def mask_of(task, features):
    mask = np.zeros(task.X.shape[1], dtype=bool)
    mask[list(features)] = True
    return mask


METHODS = {
    "all": Method("all features", all_features, "scikit-learn", fits=0),
    "swarm": Method("**SwarmSelector**", swarm(), "pqswarm", warm_up=True),
    "swarm-1000": Method("**SwarmSelector**, 1000 evaluations", swarm(max_evaluations=1000), "pqswarm", warm_up=True),
    "swarm-1se": Method('**SwarmSelector**, `rule="1se"`', swarm(rule="1se"), "pqswarm", warm_up=True),
    "swarm-2d-upso": Method("**SwarmSelector**, 2D-UPSO", swarm(algorithm="2d-upso"), "pqswarm", warm_up=True),
    "sfs": Method("scikit-learn SequentialFeatureSelector", sequential, "scikit-learn"),
    "rfecv": Method("scikit-learn RFECV, forest", eliminated, "scikit-learn", fits=0),
    "kbest-f": Method("scikit-learn SelectKBest, F", ranked(by_f), "scikit-learn"),
    "kbest-mi": Method("scikit-learn SelectKBest, MI", ranked(by_mutual_information), "scikit-learn"),
    "sffs": Method("mlxtend, floating", floating, "mlxtend", "mlxtend.feature_selection"),
    "ga": Method("sklearn-genetic-opt", genetic, "sklearn-genetic-opt", "sklearn_genetic"),
    "mafese": Method("MAFESE, genetic", mafese, "mafese", "mafese", fits=1),
    "mrmr": Method("mRMR (mrmr-selection)", ranked(by_mrmr, most=30), "mrmr-selection", "mrmr"),
    "boruta": Method("Boruta", boruta, "Boruta", "boruta", fits=0),
}
