"""Naive Bayes by definition: plain Python and NumPy that the tables and kernels of this package must reproduce."""

import math

import numpy as np

from pqswarm._base.typing import FloatArray, IntArray


def kernel_nb_labels(
    train: FloatArray,
    labels: IntArray,
    test: FloatArray,
    bandwidth: float = 0.004,
    floor: float = 0.0,
    underflow: bool = False,
) -> IntArray:
    """Return the class of each test sample by kernel densities, with sums that are not rounded.

    The score of a class is its log prior plus the log density of each feature; a fraction `floor` of the density is
    uniform on [0, 1]. Scores equal to 1e-12 of the sum of the absolute terms are a tie: the smallest label wins.
    """
    return np.array(
        [_kernel_nb_label(train, labels, sample, bandwidth, floor, underflow) for sample in test], dtype=np.int64
    )


def _kernel_nb_label(
    train: FloatArray, labels: IntArray, sample: FloatArray, bandwidth: float, floor: float, underflow: bool
) -> int:
    scores = []
    sizes = []
    for label in range(int(labels.max()) + 1):
        members = train[labels == label]
        if not len(members):
            scores.append(-math.inf)
            sizes.append(0.0)
            continue
        terms = [math.log(len(members) / len(train))]
        for value, column in zip(sample, members.T, strict=True):
            powers = [0.5 * ((value - center) / bandwidth) ** 2 for center in column]
            lowest = min(powers)
            density = math.fsum(math.exp(lowest - power) for power in powers) / len(members)
            term = math.log(density) - lowest - math.log(bandwidth * math.sqrt(2 * math.pi))
            if underflow and term < math.log(5e-324):
                term = -math.inf
            terms.append(math.log((1 - floor) * math.exp(term) + floor) if floor else term)
        scores.append(math.fsum(terms))
        sizes.append(math.fsum(map(abs, terms)))
    best = int(np.argmax(scores))
    return next(c for c, score in enumerate(scores) if score >= scores[best] - 1e-12 * (1 + sizes[best]))


def gaussian_nb_labels(train: FloatArray, labels: IntArray, test: FloatArray, var_smoothing: float = 1e-9) -> IntArray:
    """Return the class of each test sample by normal densities; `var_smoothing` is as in scikit-learn's GaussianNB."""
    classes = np.unique(labels)
    smoothing = var_smoothing * train.var(axis=0).max()
    scores = []
    for label in classes:
        members = train[labels == label]
        variance = members.var(axis=0) + smoothing
        squares = np.square(test - members.mean(axis=0)) / variance
        prior = math.log(len(members) / len(train))
        scores.append(prior - 0.5 * (np.log(2 * np.pi * variance).sum() + squares.sum(axis=1)))
    return np.asarray(classes[np.argmax(scores, axis=0)])
