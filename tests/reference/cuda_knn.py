"""What the CUDA kernels of k-NN do, in plain NumPy: the same steps and bounds, one mask at a time."""

import numpy as np

from pqswarm.evaluation.exact.knn.cuda import knn_cuda_grid, knn_cuda_pivots

UNIT = 2.0**-24


def added(columns, others, metric):
    """Distances of columns, (q, n), to others, (q, n) or (q, m, 1), feature by feature; squares if Euclidean."""
    total = None
    for a, b in zip(columns, others, strict=True):
        d = np.abs(a - b)
        d = d * d if metric == 1 else d
        total = d if total is None else np.maximum(total, d) if metric == 2 else total + d
    return total


def scale_features(mask, exponents, metric):
    """Factors that bring the features to a common scale, and the floor and growth of single precision's errors."""
    chosen = exponents[mask]
    factors = np.ldexp(1.0, np.maximum(chosen - chosen.max(), -200))
    size = {0: factors.sum(), 1: np.sqrt((factors**2).sum()), 2: 1.0}[metric]
    return factors.astype(np.float32), 1.1 * 3 * UNIT * size + 1e-30, 1.1 * UNIT * (chosen.size + 4)


def error_limit(distance, floor, growth, metric):
    """The largest single-precision distance that may be as small as this one in truth; squares if Euclidean."""
    root = np.sqrt(distance) if metric == 1 else distance
    root = (root * (1 + 2 * growth) + 2 * floor) * (1 + 8 * UNIT)
    return root * root if metric == 1 else root


def on_grid(near, view, metric):
    """Levels of the coordinates, (q, n), and how far each event is from its point of the grid."""
    span, step, levels = knn_cuda_grid(view.columns, metric)
    level = np.clip(np.rint((near + span) * (np.float32(1) / step)), 0, levels)
    blur = added(near, level * step - span, metric)
    blur = np.sqrt(blur) if metric == 1 else blur
    return (
        level.astype(np.int64),
        blur * np.float32(1.001) + (1 if metric == 2 else len(near)) * np.float32(4.8e-7),
        step,
    )


def predictions(evaluator, mask, guesses=12):
    """Predicted labels under one mask, and the shares of pairs in the windows and past the filter."""
    view, metric, k = evaluator.views[0], evaluator.metric_number, evaluator.n_neighbors
    n, folds, labels = len(evaluator.data), evaluator.folds.test_fold, evaluator.labels
    factors, floor, growth = scale_features(mask, view.exponents, metric)
    near = view.columns[mask] * factors[:, None]
    level, blur, step = on_grid(near, view, metric)
    single = added(near[:, None, :], near[:, :, None], metric)
    grid = added(level[:, None, :], level[:, :, None], metric)
    everything = (
        scale_features(np.ones(len(view.columns), dtype=bool), view.exponents, metric)[0][:, None] * view.columns
    )
    whole = added(everything[:, None, :], everything[:, :, None], metric)
    others = folds[:, None] != folds[None, :]
    guessed = np.argsort(np.where(others, whole, np.inf), axis=1)[:, :guesses]

    known = np.take_along_axis(np.where(others, single, np.inf), guessed, axis=1)
    reach = error_limit(np.sort(known, axis=1)[:, k - 1].astype(float), floor, growth, metric)
    far = np.sqrt(reach) * (1 + 4 * UNIT) if metric == 1 else reach
    if metric == 2:
        keys = near[near.var(axis=1).argmax()]
    else:
        options = [np.sqrt(single[p]) if metric == 1 else single[p] for p in knn_cuda_pivots(view.data)]
        keys = max(options, key=lambda option: option.astype(np.float64).var())
    around = far + 2 * (floor + growth * np.abs(keys).max())
    window = np.abs(keys[None, :] - keys[:, None]) <= around[:, None]
    limit = (far + 2 * floor + blur + blur.max()) / step
    limit = (limit * limit if metric == 1 else limit) * (1 + 1e-5) + 1e-3
    passed = window & others & (grid <= np.floor(limit)[:, None])

    result = np.empty(n, dtype=int)
    for event in range(n):
        found = np.flatnonzero(passed[event] & (single[event] <= reach[event]))
        kth = np.sort(single[event, found])[k - 1].astype(float)
        found = found[single[event, found] <= error_limit(kth, floor, growth, metric)]
        if found.size > k:
            exact = added(view.data[found][:, mask].T, view.data[event, mask][:, None], metric)
            found = found[np.lexsort((found, exact))[:k]]
        result[event] = np.bincount(labels[found]).argmax()
    return result, float(window.mean()), float(passed.mean())
