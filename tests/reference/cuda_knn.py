"""The walk of the CUDA kernel over sorted tiles, in plain NumPy: the same steps and bounds, one event at a time."""

import numpy as np

from pqswarm.evaluation._knn_cuda import error_floors, mask_scales

UNIT = 2.0**-24


def distances32(a, rows, metric):
    """Single-precision distances (squares if Euclidean), added up feature by feature."""
    total = np.zeros(len(rows), dtype=np.float32)
    for f in range(a.size):
        d = np.abs(rows[:, f] - a[f])
        total = np.maximum(total, d) if metric == 2 else total + (d * d if metric == 1 else d)
    return total


def distances_of_all(rows, metric):
    """The same of all rows to all rows, which are the same bits."""
    total = np.zeros((len(rows), len(rows)), dtype=np.float32)
    for column in rows.T:
        d = np.abs(column[None, :] - column[:, None])
        total = np.maximum(total, d) if metric == 2 else total + (d * d if metric == 1 else d)
    return total


def distances64(a, rows, metric):
    total = np.zeros(len(rows))
    for f in range(a.size):
        d = np.abs(rows[:, f] - a[f])
        total = np.maximum(total, d) if metric == 2 else total + (d * d if metric == 1 else d)
    return total


def with_error(distance, floor, growth, metric):
    distance = float(distance)
    if metric == 1:
        root = np.sqrt(distance)
        root += 2 * (floor + growth * root)
        value = root * root * (1 + 8 * UNIT)
    else:
        value = (distance + 2 * (floor + growth * distance)) * (1 + 8 * UNIT)
    return np.nextafter(np.float32(value), np.float32(np.inf))


def predictions(evaluator, mask, side=16, slots=12):
    """Predicted labels under one mask, how many tiles were computed, and how many lists overflowed."""
    view, metric, k = evaluator.views[0], evaluator.metric_number, evaluator.n_neighbors
    n = len(evaluator.data)
    folds, labels = evaluator.folds.test_fold, evaluator.labels
    masks = mask[None]
    scales = mask_scales(masks, view.exponents)
    floor, selected = error_floors(masks, scales, metric)[0], np.flatnonzero(mask)
    growth = 1.1 * UNIT * (selected.size + 4)
    near = (view.columns[selected] * scales[0, selected, None].astype(np.float32)).T
    single = distances_of_all(near, metric)
    if metric == 2:
        keys = near[:, near.var(axis=0).argmax()]
    else:
        options = [single[p] for p in evaluator.pivots[:4]]
        options = [np.sqrt(option) for option in options] if metric == 1 else options
        keys = max(options, key=lambda option: option.astype(np.float64).var())
    order = np.argsort(keys, kind="stable")
    keys = keys[order].astype(np.float64)
    key_error = 2 * (floor + growth * np.abs(keys[[0, -1]]).max())
    tiles = [order[start : start + side] for start in range(0, n, side)]
    result, computed, overflows = np.empty(n, dtype=int), 0, 0
    for number, tile in enumerate(tiles):
        low, high = keys[number * side], keys[min(n, number * side + side) - 1]
        state = {event: (np.float32(np.inf), []) for event in tile}
        left, right, current, reach = number - 1, number + 1, number, np.inf
        while current is not None:
            to_left = low - keys[min(n, left * side + side) - 1] if left >= 0 else np.inf
            to_right = keys[right * side] - high if right < len(tiles) else np.inf
            following = None
            if (left >= 0 or right < len(tiles)) and min(to_left, to_right) <= reach + key_error:
                go_left = left >= 0 and (right >= len(tiles) or to_left <= to_right)
                following = left if go_left else right
                left, right = (left - 1, right) if go_left else (left, right + 1)
            computed += 1
            for event in tile:
                limit, found = state[event]
                if limit is None:
                    continue
                others = tiles[current][folds[tiles[current]] != folds[event]]
                for d, other in zip(single[event, others], others, strict=True):
                    if d <= limit:
                        found.append((d, other))
                if len(found) > k:
                    kth = np.sort([d for d, _ in found])[k - 1]
                    limit = min(limit, with_error(kth, floor, growth, metric))
                    found = [(d, other) for d, other in found if d <= limit]
                elif len(found) == k:
                    limit = min(limit, with_error(max(d for d, _ in found), floor, growth, metric))
                if len(found) > slots:
                    limit, found, overflows = None, [], overflows + 1
                state[event] = (limit, found)
            limits = [limit for limit, _ in state.values() if limit is not None]
            reach = float(max(limits, default=0.0))
            reach = np.sqrt(reach) * (1 + 4 * UNIT) if metric == 1 else reach
            current = following
        for event in tile:
            limit, found = state[event]
            candidates = np.array([other for _, other in found], dtype=int)
            if limit is None or candidates.size < k:
                candidates = np.flatnonzero(folds != folds[event])
            exact = distances64(view.data[event, selected], view.data[candidates][:, selected], metric)
            nearest = candidates[np.lexsort((candidates, exact))[:k]]
            votes = np.bincount(labels[nearest])
            result[event] = votes.argmax()
    return result, computed / len(tiles) ** 2, overflows
