"""The classifiers by their definitions, slow and obvious."""

import math

import numpy as np


def scaled(data, train, scaling):
    """Min-max scaling by all events, by the training events, or not at all."""
    if scaling == "none":
        return data
    fitted = data if scaling == "once" else data[train]
    low, high = fitted.min(axis=0), fitted.max(axis=0)
    return (data - low) / np.where(high > low, high - low, 1.0)


def distances(a, b, metric):
    """All distances of the rows of a to those of b, terms added one by one in double precision."""
    total = np.zeros((len(a), len(b)))
    columns = np.ascontiguousarray(b.T)
    for start in range(0, len(a), 16):  # few rows at a time stay in the cache
        some, near = total[start : start + 16], a[start : start + 16]
        d = np.empty_like(some)
        for f, column in enumerate(columns):
            np.abs(np.subtract(near[:, f, None], column, out=d), out=d)
            if metric == "manhattan":
                some += d
            elif metric == "euclidean":
                some += np.square(d, out=d)
            else:
                np.maximum(some, d, out=some)
    return total


def knn_predictions(data, y, splits, k, metric, scaling="none"):
    """k-NN: equal distances to the lower index, equal votes to the smallest label; and where a tie decided."""
    classes, labels = np.unique(y, return_inverse=True)
    predicted = np.empty(len(y), dtype=int)
    tied = np.zeros(len(y), dtype=bool)
    for train, test in splits:
        x = scaled(data, train, scaling)
        d = distances(x[test], x[train], metric)
        places = np.minimum([k - 1, k], d.shape[1] - 1)
        kth, following = np.partition(d, places, axis=1)[:, places].T
        tied[test] = (kth == following) & (d.shape[1] > k)
        for i, event in enumerate(test):
            near = np.flatnonzero(d[i] <= kth[i])
            nearest = near[np.argsort(d[i, near], kind="stable")[:k]]
            predicted[event] = np.bincount(labels[train[nearest]]).argmax()
    return classes[predicted], tied


def kernel_nb_predictions(data, y, splits, width, scaling="none"):
    """Kernel naive Bayes, sums without rounding; scores within 1e-12 are equal, the smallest label wins."""
    classes, labels = np.unique(y, return_inverse=True)
    predicted = np.zeros(len(y), dtype=int)
    for train, test in splits:
        x = scaled(data, train, scaling)
        for event in test:
            scores, sizes = [], []
            for c in range(len(classes)):
                members = train[labels[train] == c]
                if not members.size:
                    scores.append(-math.inf)
                    sizes.append(0.0)
                    continue
                terms = [math.log(members.size / train.size)]
                for f in range(data.shape[1]):
                    powers = [0.5 * ((x[event, f] - x[i, f]) / width) ** 2 for i in members]
                    least = min(powers)
                    density = math.fsum(math.exp(least - power) for power in powers) / members.size
                    terms.append(math.log(density) - least - math.log(width * math.sqrt(2 * math.pi)))
                scores.append(math.fsum(terms))
                sizes.append(math.fsum(map(abs, terms)))
            best = max(range(len(classes)), key=lambda c: scores[c])
            equal = [c for c in range(len(classes)) if scores[c] >= scores[best] - 1e-12 * (1 + sizes[best])]
            predicted[event] = equal[0]
    return classes[predicted]
