"""The exact error of naive Bayes classifiers, with kernel densities or with normal ones."""

from functools import cache, cached_property
from math import log, log1p
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pqswarm._options import Parameters, option, parameters
from pqswarm._typing import BoolArray, FloatArray, IntArray
from pqswarm.evaluation.base import Evaluator, Scaling
from pqswarm.evaluation.folds import Folds

if TYPE_CHECKING:
    from pqswarm.evaluation._nb_cuda import GaussianNBOnCuda, KernelNBOnCuda

__all__ = [
    "GaussianNBEvaluator",
    "GaussianNBHyperparameters",
    "KernelNBEvaluator",
    "KernelNBHyperparameters",
    "class_blocks",
    "mix_uniform",
]

# A matrix product of so many masks and events is efficient, and its result stays in the cache.
_MASKS = 64
_EVENTS = 700
_BLAS_LOCK = Lock()  # the limit on BLAS threads is the process's, not the caller's


@cache
def _blas() -> Any:
    """The linear algebra library, whose own threads would get in the way of ours."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def class_blocks(
    column: FloatArray, folds: IntArray, labels: IntArray, n_classes: int
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return a column class by class, ascending, each between -inf and inf; its folds; where each class begins."""
    order = np.lexsort((column, labels))
    edges = np.searchsorted(labels[order], np.arange(n_classes + 1))
    starts = edges + 2 * np.arange(n_classes + 1)
    values = np.empty(column.size + 2 * n_classes)
    value_folds = np.full(values.size, -2, dtype=np.int64)  # the ends are in no fold, nor in "none"
    inside = np.arange(column.size) + 2 * labels[order] + 1
    values[inside] = column[order]
    value_folds[inside] = folds[order]
    values[starts[:-1]] = -np.inf
    values[starts[1:] - 1] = np.inf
    return values, value_folds, starts.astype(np.int64)


def mix_uniform(terms: FloatArray, floor: float) -> FloatArray:
    """Return log-densities mixed with a share `floor` of a uniform density on [0, 1]; unchanged if that is 0."""
    return np.asarray(np.logaddexp(terms + log1p(-floor), log(floor))) if floor else terms


@parameters
class KernelNBHyperparameters(Parameters):
    """Hyperparameters of naive Bayes with kernel densities."""

    bandwidth: float = option(
        default=0.004,
        meaning="standard deviation of the kernels, features scaled to [0, 1]",
        low=1e-30,
        high=1e30,
        symbol="sigma",
        was="width",
    )
    floor: float = option(
        default=0.0,
        meaning="share of a uniform density, which bounds how strongly one feature can speak against a class",
        low=0.0,
        high=0.5,
    )


class KernelNBEvaluator(Evaluator):
    r"""The cross-validated error of naive Bayes with normal kernel densities, exactly and fast.

    .. math:: p(x \mid c) = \frac{1}{N_c} \sum_{i \in c} \mathcal{N}(x; x_i, \sigma^2)

    for each feature, empirical priors, in logarithms, so that nothing underflows. Of equal scores (to 1e-12)
    the smallest label wins. It agrees with :class:`pqswarm.KernelNB`.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs, device
        See :class:`Evaluator`.
    bandwidth : float
        :math:`\sigma`, in units of the scaled features.
    floor : float
        Share of a uniform density on [0, 1] in that of each class, which bounds how strongly one feature can speak
        against a class; 0 to 0.5.
    width : float, optional
        The bandwidth, as it was called in earlier versions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = KernelNBEvaluator(X, y, Folds.stratified(y), bandwidth=0.05)
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.1)
    True
    """

    def __init__(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        folds: Folds,
        bandwidth: float = 0.004,
        floor: float = 0.0,
        *,
        width: float | None = None,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(X, y, folds, scaling=scaling, n_jobs=n_jobs, device=device)
        given = {"bandwidth": bandwidth, "floor": floor}
        checked = KernelNBHyperparameters.of(given if width is None else {"width": width, "floor": floor})
        self.bandwidth, self.floor = checked.bandwidth, checked.floor
        self.table = mix_uniform(self._terms(), self.floor)
        self.priors = _log_priors(self)[folds.test_fold]
        self.highest = max(0.0, float(self.table.max()))
        self.table32 = np.concatenate([np.maximum(self.table, -1e30), self.priors[np.newaxis]]).astype(np.float32)

    @cached_property
    def _cuda(self) -> "KernelNBOnCuda":
        from pqswarm.evaluation._nb_cuda import KernelNBOnCuda

        return KernelNBOnCuda(self)

    def _counts(self, masks: BoolArray) -> IntArray:
        return self._cuda.counts(masks)[0] if self.device == "cuda" else super()._counts(masks)

    def _terms(self) -> FloatArray:
        """Log-likelihood of every event under every class and feature, learnt from the other folds."""
        from pqswarm.evaluation._nb_kernels import kernel_terms

        n, n_classes, fold = len(self.data), self.classes.size, self.folds.test_fold
        table = np.empty((self.n_features, n, n_classes))
        log_counts = _log_counts(self)
        if self.scaling == "fold":
            views = [(self.fold_data(number), np.flatnonzero(fold == number)) for number in range(self.folds.n_folds)]
        else:
            views = [(self.fold_data(0), np.arange(n))]

        def work(feature: int) -> None:
            for data, queries in views:
                column = np.ascontiguousarray(data[:, feature])
                blocks = class_blocks(column, fold, self.labels, n_classes)
                terms = np.empty((queries.size, n_classes))
                kernel_terms(column[queries], fold[queries], *blocks, log_counts, self.bandwidth, terms)
                table[feature, queries] = terms

        self._in_threads(work, list(range(self.n_features)))
        return table

    def _likely_winners(self, masks: BoolArray) -> tuple[IntArray, BoolArray]:
        """Winners of all events by products of masks and table, and where single precision leaves them in doubt."""
        from pqswarm.evaluation._nb_kernels import decide

        n, n_classes = len(self.data), self.classes.size
        winners = np.empty((len(masks), n), dtype=np.int64)
        doubtful = np.empty((len(masks), n), dtype=np.bool_)
        weights = np.ones((len(masks), self.n_features + 1), dtype=np.float32)
        weights[:, :-1] = masks
        sizes = masks.sum(axis=1) + 1
        flat = self.table32.reshape(len(self.table32), -1)

        def work(block: tuple[int, int]) -> None:
            rows, events = slice(block[0], block[0] + _MASKS), slice(block[1], block[1] + _EVENTS)
            scores = weights[rows] @ flat[:, n_classes * events.start : n_classes * events.stop]
            decide(scores, sizes[rows], self.highest, n_classes, winners[rows, events], doubtful[rows, events])

        blocks = [(row, event) for row in range(0, len(masks), _MASKS) for event in range(0, n, _EVENTS)]
        with _BLAS_LOCK, _blas().limit(limits=1, user_api="blas"):
            self._in_threads(work, blocks)
        return winners, doubtful

    def _predict(self, masks: BoolArray) -> IntArray:
        from pqswarm.evaluation._nb_kernels import decide_exactly

        if self.device == "cuda":
            return np.asarray(self._cuda.counts(masks, predicted=True)[1])
        winners, doubtful = self._likely_winners(masks)
        for row in np.flatnonzero(doubtful.any(axis=1)):
            events = np.flatnonzero(doubtful[row])
            decide_exactly(self.table, self.priors, np.flatnonzero(masks[row]), events, winners[row])
        return winners


@parameters
class GaussianNBHyperparameters(Parameters):
    """Hyperparameters of naive Bayes with normal densities."""

    var_smoothing: float = option(
        default=1e-9,
        meaning="share of the largest variance of the selected features that is added to all variances",
        low=0.0,
        high=1e6,
    )


class GaussianNBEvaluator(Evaluator):
    """The cross-validated error of scikit-learn's GaussianNB, exactly and fast.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs, device
        See :class:`Evaluator`.
    var_smoothing : float
        As in GaussianNB: the share of the largest variance of the selected features that is added to all.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = GaussianNBEvaluator(X, y, Folds.stratified(y))
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.1)
    True
    """

    def __init__(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        folds: Folds,
        var_smoothing: float = 1e-9,
        *,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(X, y, folds, scaling=scaling, n_jobs=n_jobs, device=device)
        self.var_smoothing = GaussianNBHyperparameters(var_smoothing=var_smoothing).var_smoothing
        numbers = range(folds.n_folds)
        self._views = [self.fold_data(fold) for fold in (numbers if scaling == "fold" else [0])]
        self._by_fold = np.argsort(folds.test_fold, kind="stable")
        self.starts = np.concatenate([[0], np.cumsum(folds.sizes)])
        seen = np.empty_like(self.data)  # each event as its own fold scales it
        for fold, (_, test) in enumerate(folds.split()):
            seen[test] = self._view(fold)[test]
        self.columns = np.ascontiguousarray(seen[self._by_fold].T)
        self.log_priors = _log_priors(self)
        self.moments = self._moments_of(slice(None))

    @cached_property
    def _cuda(self) -> "GaussianNBOnCuda":
        from pqswarm.evaluation._nb_cuda import GaussianNBOnCuda

        return GaussianNBOnCuda(self)

    def _moments_of(self, features: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means and variances of each fold's training events, (folds, features, classes), and without classes."""
        width = len(range(self.n_features)[features])
        shape = (self.folds.n_folds, width, self.classes.size)
        means, variances, spread = np.full(shape, np.nan), np.full(shape, np.nan), np.empty(shape[:2])
        for fold, (train, _) in enumerate(self.folds.split()):
            data = np.ascontiguousarray(self._view(fold)[train, features])
            spread[fold] = np.var(data, axis=0)
            for label in np.unique(self.labels[train]):
                members = data[self.labels[train] == label]
                means[fold, :, label] = members.mean(axis=0)
                variances[fold, :, label] = members.var(axis=0)
        return means, variances, spread

    def _alone(self, feature: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The column and moments of a single feature: NumPy rounds sums over one column in another way."""
        column = slice(feature, feature + 1)
        return self.columns[column], *self._moments_of(column)

    def _view(self, fold: int) -> FloatArray:
        return self._views[fold if len(self._views) > 1 else 0]

    def _predict(self, masks: BoolArray) -> IntArray:
        if self.device == "cpu":
            return self._predict_here(masks)
        predicted = np.empty((len(masks), len(self.data)), dtype=np.int64)
        # Single features, and subsets without any variance, have rules of their own.
        spread = np.where(masks[:, np.newaxis], self.moments[2][np.newaxis], 0.0).max(axis=2)
        plain = (masks.sum(axis=1) > 1) & (self.var_smoothing * spread > 0).all(axis=1)
        if not plain.all():
            predicted[~plain] = self._predict_here(masks[~plain])
        if plain.any():
            winners, doubtful = self._cuda.winners(masks[plain])
            for row, own, doubt in zip(np.flatnonzero(plain), winners, doubtful, strict=True):
                predicted[row, self._by_fold] = own
                if doubt.any():
                    self._decide_as_scikit_learn(masks[row], self._by_fold[doubt], predicted[row])
        return predicted

    def _predict_here(self, masks: BoolArray) -> IntArray:
        """Predict on the processor."""
        from pqswarm.evaluation._nb_kernels import gaussian_winners

        predicted = np.empty((len(masks), len(self.data)), dtype=np.int64)

        def work(row: int) -> None:
            mask = masks[row]
            columns, selected, (means, variances, spread) = self.columns, np.flatnonzero(mask), self.moments
            if selected.size == 1:
                columns, means, variances, spread = self._alone(int(selected[0]))
                selected = np.zeros(1, dtype=np.int64)
            # A share of the largest variance of a selected feature, in each fold.
            smoothing = self.var_smoothing * spread[:, selected].max(axis=1)
            winners = np.empty(len(self.data), dtype=np.int64)
            doubtful = np.ones(len(self.data), dtype=np.bool_)
            if (smoothing > 0).all():
                gaussian_winners(
                    columns,
                    self.starts,
                    selected,
                    means,
                    variances,
                    smoothing,
                    self.log_priors,
                    winners,
                    doubtful,
                )
            predicted[row, self._by_fold] = winners
            if doubtful.any():
                self._decide_as_scikit_learn(mask, self._by_fold[doubtful], predicted[row])

        self._in_threads(work, list(range(len(masks))))
        return predicted

    def _decide_as_scikit_learn(self, mask: BoolArray, doubtful: IntArray, winners: IntArray) -> None:
        """Ask scikit-learn itself about the events in doubt, so that even its rounding is the same."""
        from sklearn.naive_bayes import GaussianNB

        for number in np.unique(self.folds.test_fold[doubtful]):
            train = self.folds.test_fold != number
            events = doubtful[self.folds.test_fold[doubtful] == number]
            data = self._view(int(number))[:, mask]
            with np.errstate(all="ignore"):
                model = GaussianNB(var_smoothing=self.var_smoothing).fit(data[train], self.labels[train])
                winners[events] = model.predict(data[events])


def _log_counts(evaluator: Evaluator) -> FloatArray:
    """Logarithm of the training events of each class without each fold; the last row is for all folds."""
    n_folds, n_classes = evaluator.folds.n_folds, evaluator.classes.size
    inside = np.zeros((n_folds + 1, n_classes))
    np.add.at(inside, (evaluator.folds.test_fold, evaluator.labels), 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(inside.sum(axis=0) - inside))


def _log_priors(evaluator: Evaluator) -> FloatArray:
    """Logarithm of the share of each class among the training events of each fold, shape (folds, classes)."""
    log_counts = _log_counts(evaluator)[:-1]
    return np.asarray(log_counts - np.log(np.exp(log_counts).sum(axis=1, keepdims=True)))
