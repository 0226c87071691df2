"""Try what users of one feature selector expect of another, side by side: python research/habits.py (extra bench).

Each habit is a small problem. A selector that solves it says "yes", one that refuses or lacks the option says why not.
"""

import argparse
import inspect
import os
import signal
import threading
import time
import warnings

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ShuffleSplit
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from pqswarm import SwarmSelector
from pqswarm.selector import EarlyStopping

warnings.simplefilter("ignore")
X, y = load_wine(return_X_y=True)
RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(0.5, (120, 8))
SPAM = (COUNTS[:, :2].sum(axis=1) > 1).astype(int)
FRAME = pd.DataFrame({"number": RNG.normal(size=80), "text": ["a", "b"] * 40, "other": RNG.normal(size=80)})
ENCODED = make_pipeline(make_column_transformer((OneHotEncoder(), ["text"]), remainder="drop"), LogisticRegression())


def pqswarm(estimator, **options):
    return SwarmSelector(estimator, **({"max_evaluations": 30, "random_state": 0, "cv": 3} | options))


def mlxtend(estimator, **options):
    from mlxtend.feature_selection import SequentialFeatureSelector as Selector

    return Selector(estimator, **({"k_features": (1, 3), "cv": 3} | options))


def sklearn_sfs(estimator, **options):
    return SequentialFeatureSelector(estimator, **({"n_features_to_select": 2, "cv": 3} | options))


def sklearn_rfecv(estimator, **options):
    return RFECV(DecisionTreeClassifier() if isinstance(estimator, GaussianNB) else estimator, **({"cv": 3} | options))


def genetic_opt(estimator, **options):
    from sklearn_genetic import GAFeatureSelectionCV

    return GAFeatureSelectionCV(
        estimator, **({"cv": 3, "population_size": 5, "generations": 2, "verbose": False} | options)
    )


def boruta(estimator, **options):  # noqa: ARG001
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    return BorutaPy(RandomForestClassifier(10, max_depth=3), max_iter=5, **options)


TOOLS = (pqswarm, mlxtend, sklearn_sfs, sklearn_rfecv, genetic_opt, boruta)


def support(selector, n):
    """The selected features as a mask, whatever the tool calls them."""
    for name in ("support_", "k_feature_idx_", "best_features_"):
        if hasattr(selector, name):
            found = np.asarray(getattr(selector, name))
            return found if found.dtype == bool else np.isin(np.arange(n), found)
    raise AttributeError("no selected features")


def options_of(make, *names):
    """The first of some options that a tool's constructor has."""
    known = inspect.signature(type(make(GaussianNB())).__init__).parameters
    found = next((name for name in names if name in known), None)
    if found is None:
        raise LookupError(f"no option {' or '.join(names)}")
    return found


def stays(make):
    name = options_of(make, "fixed_features", "constraints")
    selector = make(GaussianNB(), **{name: {"fixed": [5]} if make is pqswarm else (5,)}).fit(X, y)
    return bool(support(selector, 13)[5])


def groups(make):
    name = options_of(make, "feature_groups", "constraints")
    given = [[0, 1], [2], [3, 4, 5], [6, 7, 8, 9, 10, 11, 12]]
    options = {"constraints": {"groups": given}} if make is pqswarm else {name: given}
    found = support(make(GaussianNB(), **options, **({"k_features": 2} if make is mlxtend else {})).fit(X, y), 13)
    return all(len(set(found[group])) == 1 for group in given)


def sparse(make):
    return support(make(MultinomialNB()).fit(csr_matrix(COUNTS), SPAM), 8).any()


def several_targets(make):
    return support(make(Ridge()).fit(X, np.column_stack([y, X[:, 0]])), 13).any()


def categories(make):
    target = (FRAME["text"] == "a").astype(int)
    options = {"fixed_features": ["text"]} if make is mlxtend else {}
    if make is pqswarm:
        options = {"constraints": {"fixed": ["text"]}}
    return support(make(ENCODED, **options).fit(FRAME, target), 3)[1]


def several_scores(make):
    scores = {"accuracy": "accuracy", "f1_macro": "f1_macro"}
    refit = {"refit": "accuracy"} if make is genetic_opt else {}
    return bool(make(GaussianNB(), scoring=scores, **refit).fit(X, y))


def splits(make):
    selector = make(GaussianNB()).fit(X, y)
    found = getattr(selector, "cv_results_", None) or getattr(selector, "subsets_", None)
    return "split0_test_score" in found or any("cv_scores" in one for one in found.values())


def predicts(make):
    return len(make(GaussianNB()).fit(X, y).predict(X)) == len(y)


def shuffled_splits(make):
    return (
        support(make(GaussianNB(), cv=ShuffleSplit(3, random_state=0)).fit(X, y), 13).any()
        if make is not pqswarm
        else support(SwarmSelector(GaussianNB(), cv=ShuffleSplit(3), max_evaluations=30).fit(X, y), 13).any()
    )


def weights(make):
    selector = make(GaussianNB())
    selector.fit(X, y, sample_weight=np.linspace(1, 2, len(y)))
    return True


def callbacks(make):
    seen = []
    if make is genetic_opt:
        from sklearn_genetic.callbacks import ProgressBar

        make(GaussianNB()).fit(X, y, callbacks=[ProgressBar()])
        return True
    name = options_of(make, "callback", "callbacks")
    make(GaussianNB(), **{name: [seen.append]}).fit(X, y)
    return bool(seen)


class Slow(GaussianNB):
    """A classifier that takes 20 ms."""

    def fit(self, X, y, sample_weight=None):
        time.sleep(0.02)
        return super().fit(X, y, sample_weight)


def time_limit(make):
    began = time.monotonic()
    if make is genetic_opt:
        from sklearn_genetic.callbacks import TimerStopping

        selector = make(Slow(), population_size=20, generations=40)
        selector.fit(X, y, callbacks=[TimerStopping(total_seconds=2)])
    elif make is pqswarm:
        make(Slow(), callbacks=EarlyStopping(max_time=2.0), max_evaluations=10_000).fit(X, y)
    else:
        make(Slow(), **{options_of(make, "max_time"): 2.0}).fit(X, y)
    took = time.monotonic() - began
    return f"yes: 2 s asked, {took:.1f} s taken"


def interrupt(make):
    options = {"max_evaluations": 10_000} if make is pqswarm else {}
    if make is genetic_opt:
        options = {"population_size": 20, "generations": 40}
    if make in (mlxtend,):
        options = {"k_features": (1, 13)}
    selector = make(Slow(), **options)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        selector.fit(X, y)
    except KeyboardInterrupt:
        return "no: KeyboardInterrupt"
    return bool(support(selector, 13).any())


HABITS = {
    "features that stay": stays,
    "groups of features": groups,
    "sparse matrix": sparse,
    "several targets": several_targets,
    "frame with text or categories": categories,
    "several scores": several_scores,
    "scores of each split": splits,
    "predict": predicts,
    "shuffled splits": shuffled_splits,
    "sample weights": weights,
    "list of callbacks": callbacks,
    "time limit": time_limit,
    "Ctrl-C keeps the best": interrupt,
}


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print("| |", " | ".join(tool.__name__ for tool in TOOLS), "|")
    print("|---" * (len(TOOLS) + 1) + "|")
    for habit, work in HABITS.items():
        cells = []
        for tool in TOOLS:
            try:
                answer = work(tool)
                cells.append(answer if isinstance(answer, str) else "yes" if answer else "no")
            except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - of any package
                cells.append(f"no: {type(error).__name__}: {' '.join(str(error).split())[:60]}")
        print(f"| {habit} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
