"""The exact evaluators by definition: plain Python and NumPy that their tables and kernels must reproduce.

Linear models are defined for features that are not collinear; where they nearly are, or rounding could decide, the
result is that of scikit-learn, which then fits the fold.
"""

import math

import numpy as np


def knn_distances(test, train, metric):
    """Return the distances of test samples to training samples, (n_test, n_train); squared if Euclidean.

    Terms are added in the order of the features, in double precision: a tie is an equality of these sums.
    """
    total = np.zeros((len(test), len(train)))
    columns = np.ascontiguousarray(train.T)
    for start in range(0, len(test), 16):  # few rows at a time stay in the cache
        some = total[start : start + 16]
        rows = test[start : start + 16]
        for feature, column in enumerate(columns):
            difference = np.abs(rows[:, feature, np.newaxis] - column)
            if metric == "manhattan":
                some += difference
            elif metric == "euclidean":
                some += np.square(difference)
            else:  # Chebyshev
                np.maximum(some, difference, out=some)
    return total


def knn_neighbors(test, train, k, metric):
    """Return the k nearest training samples of each, of equals the first, and whether a tie decided which they are."""
    distances = knn_distances(test, train, metric)
    order = np.argsort(distances, axis=1, kind="stable")
    ascending = np.take_along_axis(distances, order, axis=1)
    tied = ascending[:, k - 1] == ascending[:, k] if len(train) > k else np.zeros(len(test), dtype=np.bool_)
    return order[:, :k], tied


def knn_labels(train, labels, test, k=3, metric="manhattan"):
    """Return the class of each test sample: the majority of its k neighbors, of equal votes the smallest label."""
    return knn_vote(labels, knn_neighbors(test, train, k, metric)[0])


def knn_vote(labels, neighbors):
    """Return the most frequent label of each row of neighbors; of equal votes the smallest label."""
    return np.array([np.bincount(labels[nearest]).argmax() for nearest in neighbors], dtype=np.int64)


def kernel_nb_labels(train, labels, test, bandwidth=0.004, floor=0.0, underflow=False):
    """Return the class of each test sample by kernel densities, with sums that are not rounded.

    The score of a class is its log prior plus the log density of each feature; a fraction `floor` of the density is
    uniform on [0, 1]. Scores equal to 1e-12 of the sum of the absolute terms are a tie: the smallest label wins.
    """
    return np.array(
        [_kernel_nb_label(train, labels, sample, bandwidth, floor, underflow) for sample in test], dtype=np.int64
    )


def _kernel_nb_label(train, labels, sample, bandwidth, floor, underflow):
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


def gaussian_nb_labels(train, labels, test, var_smoothing=1e-9):
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


def lda_labels(train, labels, test, shrinkage=0.0, ddof=0):
    """Return the class of each test sample by linear discriminant analysis.

    All classes share one covariance, that of the deviations from their class means; a fraction `shrinkage` of it is
    replaced by its mean variance. `ddof` degrees of freedom are subtracted per class: 1 for the svd solver of
    scikit-learn before 1.8.
    """
    classes, positions, counts = np.unique(labels, return_inverse=True, return_counts=True)
    means = np.stack([train[labels == label].mean(axis=0) for label in classes])
    deviations = train - means[positions]
    covariance = deviations.T @ deviations / (len(train) - ddof * len(classes))
    uniform = np.eye(len(covariance)) * np.trace(covariance) / len(covariance)
    slopes = np.linalg.solve((1 - shrinkage) * covariance + shrinkage * uniform, means.T)
    constants = np.log(counts / len(train)) - 0.5 * (means.T * slopes).sum(axis=0)
    return np.asarray(classes[np.argmax(test @ slopes + constants, axis=1)])


def linear_predictions(train, target, test, alpha=0.0, *, fit_intercept=True):
    """Return what linear regression predicts, or ridge regression with a penalty `alpha` on the squared coefficients.

    Examples
    --------
    >>> train, target = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> linear_predictions(train, target, np.array([[3.0]])).round(9).tolist()
    [7.0]
    """
    middle = train.mean(axis=0) if fit_intercept else np.zeros(train.shape[1])
    center = float(target.mean()) if fit_intercept else 0.0
    centered = train - middle
    penalized = np.vstack([centered, np.sqrt(alpha) * np.eye(train.shape[1])])
    right = np.concatenate([target - center, np.zeros(train.shape[1])])
    slopes = np.linalg.lstsq(penalized, right, rcond=None)[0]
    return np.asarray((test - middle) @ slopes + center)
