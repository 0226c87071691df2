"""The exact error of naive Bayes with kernel densities."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pqswarm._options import Parameters, option, parameters
from pqswarm._threads import one_blas_thread
from pqswarm._typing import BoolArray, FloatArray, IntArray
from pqswarm.evaluation.backend import Backend, ExactEvaluator
from pqswarm.evaluation.base import ClassificationEvaluator, Scaling
from pqswarm.evaluation.folds import Folds

__all__ = [
    *("KernelNBEvaluator", "KernelNBHyperparameters", "KernelNBOnCpu"),
    *("class_blocks", "log_priors", "mix_uniform", "portable_log"),
]

# A matrix product of so many masks and events is efficient, and its result stays in the cache.
_MASKS = 64
_EVENTS = 700


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
    from pqswarm.evaluation import _nb_kernels

    if floor:
        terms = terms.copy()
        _nb_kernels.mix_uniform(terms, floor)
    return terms


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

    @classmethod
    def of_arguments(cls, bandwidth: Any, floor: Any, width: Any) -> Self:
        """Return them from the arguments of a class that still takes a `width`, None if it is not given."""
        new = {} if width is not None and bandwidth == cls.bandwidth else {"bandwidth": bandwidth}
        return cls.of({**new, **({} if width is None else {"width": width}), "floor": floor})


class KernelNBEvaluator(ExactEvaluator):
    r"""The cross-validated error of naive Bayes with normal kernel densities, exactly and fast.

    .. math:: p(x \mid c) = \frac{1}{N_c} \sum_{i \in c} \mathcal{N}(x; x_i, \sigma^2)

    for each feature, empirical priors, in logarithms, so that nothing underflows. Of equal scores (to 1e-12)
    the smallest label wins. It agrees with :class:`pqswarm.KernelNB`.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs, device
        See :class:`ExactEvaluator`.
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
        checked = KernelNBHyperparameters.of_arguments(bandwidth, floor, width)
        self.bandwidth, self.floor = checked.bandwidth, checked.floor
        self.table = mix_uniform(self._terms(), self.floor)
        self.priors = log_priors(self)[folds.test_fold]
        self.highest = max(0.0, float(self.table.max()))
        self.table32 = np.concatenate([np.maximum(self.table, -1e30), self.priors[np.newaxis]]).astype(np.float32)
        self._backend = KernelNBOnCpu(self)
        if device == "cuda":
            from pqswarm.evaluation._nb_cuda import KernelNBOnCuda

            self._backend = KernelNBOnCuda(self)

    def _terms(self) -> FloatArray:
        """Log-likelihood of every event under every class and feature, learnt from the other folds."""
        from pqswarm.evaluation._nb_kernels import kernel_terms

        n, n_classes, fold = len(self.data), self.classes.size, self.folds.test_fold
        table = np.empty((self.n_features, n, n_classes))
        log_counts = _log_counts(self)
        views = self.fold_views()
        queries_of = [test for _, test in self.folds.split()] if len(views) > 1 else [np.arange(n)]

        def work(feature: int) -> None:
            for data, queries in zip(views, queries_of, strict=True):
                column = np.ascontiguousarray(data[:, feature])
                blocks = class_blocks(column, fold, self.labels, n_classes)
                terms = np.empty((queries.size, n_classes))
                kernel_terms(column[queries], fold[queries], *blocks, log_counts, self.bandwidth, terms)
                table[feature, queries] = terms

        self.in_threads(work, list(range(self.n_features)))
        return table


class KernelNBOnCpu(Backend[KernelNBEvaluator]):
    """The CPU's part of a kernel naive Bayes evaluator: products of masks and tables, then ``_nb_kernels.py``."""

    def _likely_winners(self, masks: BoolArray) -> tuple[IntArray, BoolArray]:
        """Winners of all events by products of masks and table, and where single precision leaves them in doubt."""
        from pqswarm.evaluation._nb_kernels import decide

        e, n, n_classes = self.evaluator, len(self.evaluator.data), self.evaluator.classes.size
        winners = np.empty((len(masks), n), dtype=np.int64)
        doubtful = np.empty((len(masks), n), dtype=np.bool_)
        weights = np.ones((len(masks), e.n_features + 1), dtype=np.float32)
        weights[:, :-1] = masks
        sizes = masks.sum(axis=1) + 1
        flat = e.table32.reshape(len(e.table32), -1)

        def work(block: tuple[int, int]) -> None:
            rows, events = slice(block[0], block[0] + _MASKS), slice(block[1], block[1] + _EVENTS)
            scores = weights[rows] @ flat[:, n_classes * events.start : n_classes * events.stop]
            decide(scores, sizes[rows], e.highest, n_classes, winners[rows, events], doubtful[rows, events])

        blocks = [(row, event) for row in range(0, len(masks), _MASKS) for event in range(0, n, _EVENTS)]
        with one_blas_thread():
            e.in_threads(work, blocks)
        return winners, doubtful

    def predict(self, masks: BoolArray) -> IntArray:
        """Return the labels of every event for each mask; see :class:`Backend`."""
        from pqswarm.evaluation._nb_kernels import decide_exactly

        e = self.evaluator
        winners, doubtful = self._likely_winners(masks)
        for row in np.flatnonzero(doubtful.any(axis=1)):
            events = np.flatnonzero(doubtful[row])
            decide_exactly(e.table, e.priors, np.flatnonzero(masks[row]), events, winners[row])
        return winners


def _log_counts(evaluator: ClassificationEvaluator) -> FloatArray:
    """Logarithm of the training events of each class without each fold; the last row is for all folds."""
    return portable_log(_counts(evaluator))


def _counts(evaluator: ClassificationEvaluator) -> FloatArray:
    """Training events of each class without each fold; the last row is for all folds."""
    n_folds, n_classes = evaluator.folds.n_folds, evaluator.classes.size
    inside = np.zeros((n_folds + 1, n_classes))
    np.add.at(inside, (evaluator.folds.test_fold, evaluator.labels), 1.0)
    return np.asarray(inside.sum(axis=0) - inside)


def log_priors(evaluator: ClassificationEvaluator) -> FloatArray:
    """Logarithm of the share of each class among the training events of each fold, shape (folds, classes)."""
    counts = _counts(evaluator)[:-1]
    return np.asarray(portable_log(counts) - portable_log(counts.sum(axis=1, keepdims=True)))


def portable_log(values: FloatArray) -> FloatArray:
    """Return the logarithms, which are the same on every processor; that of 0 is -inf."""
    from pqswarm._math_kernels import logarithms

    return np.asarray(logarithms(values.ravel()).reshape(values.shape))
