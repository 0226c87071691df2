"""Data and estimators of the race."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def power_quality(_seed):
    from pqswarm.datasets import make_dataset

    data = make_dataset(50, float("inf"), 0)
    return data.X(), data.y


def some_digits(seed):
    X, y = load_digits(return_X_y=True)
    kept = train_test_split(np.arange(len(y)), train_size=600, stratify=y, random_state=seed)[0]
    return X[kept], y[kept]


def made(n_samples, n_features, n_informative):
    def make(seed):
        return make_classification(
            n_samples, n_features, n_informative=n_informative, n_redundant=0, shuffle=False, random_state=seed
        )

    return make


@dataclass(frozen=True)
class Data:
    """`make(seed)` returns (X, y); in synthetic data the first `informative` features are informative."""

    title: str
    make: object
    informative: int = 0

    def split(self, seed):
        """Return the split of a seed into training and test samples (30 %)."""
        X, y = self.make(seed)
        labels = np.unique(y, return_inverse=True)[1]  # some peers need integers
        return train_test_split(np.ascontiguousarray(X), labels, test_size=0.3, stratify=labels, random_state=seed)


DATA = {
    "wine": Data("wine, 178 x 13", lambda _: load_wine(return_X_y=True)),
    "cancer": Data("breast cancer, 569 x 30", lambda _: load_breast_cancer(return_X_y=True)),
    "digits": Data("digits, 600 x 64", some_digits),
    "pq": Data("power quality, 700 x 99", power_quality),
    "wide-500": Data("synthetic, 600 x 500, 20 informative", made(600, 500, 20), 20),
    "wide-5000": Data("synthetic, 100 x 5000, 5 informative", made(100, 5000, 5), 5),
}
# Default races, limited to half an hour.
RACED = {
    "wine": ("knn", "nb"),
    "cancer": ("knn", "nb"),
    "pq": ("knn", "nb"),
    "wide-500": ("knn",),
    "wide-5000": ("nb",),
}


class Counted:
    """Mixin that counts the fits of all its estimators in this process."""

    fits = 0

    def fit(self, *args, **kwargs):
        Counted.fits += 1
        return super().fit(*args, **kwargs)


class CountedKNN(Counted, KNeighborsClassifier):
    pass


class CountedNB(Counted, GaussianNB):
    pass


ESTIMATORS = {"knn": "k-NN", "nb": "Gaussian NB"}


def estimator(name, counted=False):
    """Return 5-NN on standardised features, or Gaussian naive Bayes."""
    if name == "nb":
        return CountedNB() if counted else GaussianNB()
    return make_pipeline(StandardScaler(), CountedKNN() if counted else KNeighborsClassifier())
