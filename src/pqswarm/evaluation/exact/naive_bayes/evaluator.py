"""The exact error of kernel naive Bayes."""

from collections.abc import Iterator
from functools import reduce
from itertools import pairwise
from math import log, pi, sqrt
from typing import Unpack

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.threads import effective_jobs
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.evaluation.base import ClassificationEvaluator
from pqswarm.evaluation.devices import ExactEvaluator, ExactOptions
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.memory import check_memory

_MEMORY = 2_000_000_000  # maximum bytes of the tables
_BLOCK_NUMBERS = 1024  # numbers of a feature per block of samples: a hundred features fit into the cache
_MASKS = 512  # maximum evaluated together
_DOUBTFUL = 2**24  # maximum number of doubtful samples
_TERMS = 2**21  # additions that justify another thread
LOWEST_LOG_DENSITY = log(5e-324)
"""Logarithm of the smallest positive double."""
_LOWEST_TERM = -1e30  # their sum is finite in single precision
_LOWEST_PRIOR = -3e38


def class_blocks(
    column: FloatArray, folds: IntArray, labels: IntArray, n_classes: int
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return a column sorted within classes, each bracketed by -inf and inf; its folds; the start of each class."""
    order = np.lexsort((column, labels))
    edges = np.searchsorted(labels[order], np.arange(n_classes + 1))
    starts = edges + 2 * np.arange(n_classes + 1)
    values = np.empty(column.size + 2 * n_classes)
    value_folds = np.full(values.size, -2, dtype=np.int64)  # the brackets are in no fold, not even -1
    inside = np.arange(column.size) + 2 * labels[order] + 1
    values[inside] = column[order]
    value_folds[inside] = folds[order]
    values[starts[:-1]] = -np.inf
    values[starts[1:] - 1] = np.inf
    return values, value_folds, starts.astype(np.int64)


def limit_nb_densities(terms: FloatArray, floor: float, underflow: bool) -> FloatArray:
    """Return log densities mixed with a fraction `floor` of a uniform density on [0, 1].

    Before that, densities below the smallest positive double become 0 if there is `underflow`.
    """
    from pqswarm.evaluation.exact.naive_bayes import kernels as _nb_kernels

    if underflow:
        terms = np.where(terms < LOWEST_LOG_DENSITY, -np.inf, terms)
    if floor:
        terms = terms.copy(order="C")
        _nb_kernels.mix_uniform_in_place(terms.reshape(-1), floor)
    return terms


class KernelNBHyperparameters(Parameters):
    """Hyperparameters of naive Bayes with kernel densities."""

    bandwidth: float = parameter(
        "standard deviation of the kernels, features scaled to [0, 1]",
        default=0.004,
        low=1e-30,
        high=1e30,
        symbol="sigma",
    )
    floor: float = parameter(
        "fraction of a uniform density, which limits the evidence of one feature against a class",
        default=0.0,
        low=0.0,
        high=0.5,
    )
    underflow: bool = parameter(
        "whether densities below the smallest positive double count as zero, as without logarithms", default=False
    )


class KernelNBEvaluator(ExactEvaluator):
    r"""The exact cross-validated error of naive Bayes with normal kernel densities.

    .. math:: p(x \mid c) = \frac{1}{N_c} \sum_{i \in c} \mathcal{N}(x; x_i, \sigma^2)

    for each feature, with empirical priors, in logarithms against underflow. Of scores equal to 1e-12 the smallest
    label wins. Predictions equal those of :class:`pqswarm.KernelNB`.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs, device
        See :class:`ExactEvaluator`.
    bandwidth : float
        :math:`\sigma`, in units of the scaled features.
    floor : float
        Fraction of a uniform density on [0, 1] in that of each class, which limits the evidence of one feature against
        a class; 0 to 0.5.
    underflow : bool
        Whether densities below the smallest positive double count as zero, as in programs without logarithms. Then one
        feature can rule out a class, and if all are ruled out, the smallest label wins.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = KernelNBEvaluator(X, y, Folds.stratified(y), bandwidth=0.05)
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.1)
    True
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        folds: Folds,
        bandwidth: float = 0.004,
        floor: float = 0.0,
        underflow: bool = False,
        **options: Unpack[ExactOptions],
    ) -> None:
        super().__init__(X, y, folds, **options)
        checked = KernelNBHyperparameters(bandwidth=bandwidth, floor=floor, underflow=underflow)
        self.bandwidth = checked.bandwidth
        self.floor = checked.floor
        self.underflow = checked.underflow
        size = self.n_samples * self.n_features * self.classes.size
        check_memory(
            f"tables of {self.n_samples} samples x {self.n_features} features x {self.classes.size} classes",
            12 * size,  # in double and single precision
            "use fewer samples or features (the best by a filter), or Gaussian naive Bayes, which needs no table",
            _MEMORY,
        )
        self._class_counts = fold_class_weights(self)
        self.priors = fold_log_priors(self._class_counts)[folds.test_fold]
        # The log density of a kernel at its centre; a uniform density is 1.
        self.highest = max(0.0, -log(self.bandwidth * sqrt(2.0 * pi)))
        self.table = self._terms()
        if self.device == "cuda":
            from pqswarm.evaluation.exact.naive_bayes.cuda import KernelNBOnCuda

            self._gpu = KernelNBOnCuda(self)
        else:
            self._prepare_counting()

    @property
    def table32(self) -> npt.NDArray[np.float32]:
        """The table in single precision, with terms of at least -1e30, followed by the priors."""
        table = np.empty((self.n_features + 1, *self.priors.shape), dtype=np.float32)
        np.maximum(self.table, -1e30, out=table[:-1], casting="same_kind")
        table[-1] = self.priors
        return table

    def _terms(self) -> FloatArray:
        """Log-likelihood of each sample by class and feature, fitted to the other folds."""
        from pqswarm.evaluation.exact.naive_bayes.kernels import kernel_terms

        n = len(self.data)
        n_classes = self.classes.size
        fold = self.folds.test_fold
        table = np.empty((self.n_features, n, n_classes))
        log_counts = portable_nb_log(self._class_counts)
        views = self.fold_views()
        queries_of = [test for _, test in self.folds.split()] if len(views) > 1 else [np.arange(n)]

        def work(feature: int) -> None:
            for data, queries in zip(views, queries_of, strict=True):
                column = np.ascontiguousarray(data[:, feature])
                blocks = class_blocks(column, fold, self.labels, n_classes)
                terms = np.empty((queries.size, n_classes))
                kernel_terms(column[queries], fold[queries], *blocks, log_counts, self.bandwidth, terms)
                table[feature, queries] = limit_nb_densities(terms, self.floor, self.underflow)

        self.in_threads(work, range(self.n_features))
        return table

    def _prepare_counting(self) -> None:
        """Arrange the table for ``count_kernels.py``: (blocks, features and prior, classes, samples).

        It is in single precision, and the own class of each sample comes first.
        """
        n, n_classes = self.priors.shape
        self._by_fold = np.argsort(self.folds.test_fold, kind="stable")
        starts = self.folds.test_fold * n_classes
        self._cells = np.array([starts, starts + self.labels])[:, self._by_fold]
        self._fold_starts = np.concatenate([[0], np.cumsum(self.folds.sizes)])
        self._samples = samples = min(max(_BLOCK_NUMBERS // n_classes // 32, 1) * 32, -(-n // 8) * 8)
        full, rest = divmod(n, samples)
        blocks = np.zeros((-(-n // samples), self.n_features + 1, n_classes, samples), dtype=np.float32)
        own_first = np.tile(np.arange(n_classes), (n, 1))
        own_first[np.arange(n), self.labels] = 0
        own_first[:, 0] = self.labels
        rows = self._by_fold[:, np.newaxis]
        columns = own_first[self._by_fold]

        def work(feature: int) -> None:
            terms = np.maximum(self.table[feature], _LOWEST_TERM) if feature < self.n_features else self.priors
            terms = np.maximum(terms[rows, columns], _LOWEST_PRIOR)
            blocks[:full, feature] = terms[: n - rest].reshape(full, samples, n_classes).transpose(0, 2, 1)
            if rest:
                blocks[full, feature, :, :rest] = terms[n - rest :].T

        self.in_threads(work, range(self.n_features + 1))
        self._blocks = blocks

    def _count_on_cpu(self, masks: BoolArray, folds: range) -> IntArray:
        counts = np.empty((len(masks), len(folds)), dtype=np.int64)
        for rows, errors, _ in self._count(masks, folds, 0):
            counts[rows] = errors[:, folds.start : folds.stop]
        return counts

    def hits(self, masks: BoolArray, true: AnyArray, guessed: bool) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield rows of the masks, and how many of the `true` samples of each fold and class they find and guess."""
        for rows, _, hits in self._count(masks, range(len(true)), 1 + guessed):
            hits += true.ravel()
            yield rows, hits.reshape(1 + guessed, -1, *true.shape)

    def _count(self, masks: BoolArray, folds: range, n_hits: int) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield rows, their errors in consecutive folds, and `n_hits` arrays of them by class."""
        order = _order_nb_evaluator_masks(masks)
        step = min(_MASKS, max(1, _DOUBTFUL // len(self.data)))
        for first in range(0, len(masks), step):
            rows = order[first : first + step]
            yield rows, *self._counts_of(masks[rows], folds, n_hits)

    def _counts_of(self, masks: BoolArray, folds: range, n_hits: int) -> tuple[IntArray, IntArray]:
        """The counts of a limited number of masks, ordered by similarity; those of other folds are 0."""
        from pqswarm.evaluation.exact.naive_bayes import count_kernels as kernels

        n = len(self.data)
        sizes = masks.sum(axis=1)
        parents, slots, starts, subsets = np.empty((4, 2 * len(masks)), dtype=np.int64)
        features = np.empty(sizes.sum(), dtype=np.int64)
        shared = kernels.plan_nb_table_sums(masks, parents, slots, starts, subsets, features)
        tree = (parents, slots, starts, subsets, features[: starts[shared[0]]], *shared)
        first = int(self._fold_starts[folds.start])
        last = int(self._fold_starts[folds.stop])
        shape = (*self._blocks.shape[1:], n, first, last)
        parts: list[tuple[IntArray, IntArray]] = []

        def work(span: tuple[int, int]) -> None:
            counts = np.zeros((len(masks), self.folds.n_folds), dtype=np.int64)
            hits = np.zeros((n_hits, len(masks), counts.shape[1] * self.classes.size), dtype=np.int64)
            doubtful = np.empty(len(masks) * (span[1] - span[0]) * self._samples, dtype=np.int32)
            table = self._blocks.reshape(-1)
            terms = (table, shape, span, self._fold_starts, sizes, self.highest, tree, self._cells)
            some = kernels.count_subset_errors(*terms, counts, hits, doubtful)
            if some:
                exact = (self._by_fold, self.labels, self.folds.test_fold)
                kernels.count_doubtful(self.table, self.priors, masks, doubtful[:some], *exact, counts, hits)
            parts.append((counts, hits))

        blocks = range(first // self._samples, -(-last // self._samples))
        jobs = min(effective_jobs(self.n_jobs), 1 + self._blocks[0, 0].size * len(blocks) * len(tree[4]) // _TERMS)
        edges = [blocks.start + len(blocks) * job // jobs for job in range(jobs + 1)]
        self.in_threads(work, list(pairwise(edges)))
        return reduce(lambda sums, other: (sums[0] + other[0], sums[1] + other[1]), parts)

    def _predict_on_cpu(self, masks: BoolArray, folds: range) -> IntArray:  # noqa: ARG002
        from pqswarm.evaluation.exact.naive_bayes.kernels import decide_exactly

        winners = np.empty((len(masks), len(self.data)), dtype=np.int64)
        samples = np.arange(len(self.data))

        def work(row: int) -> None:
            decide_exactly(self.table, self.priors, np.flatnonzero(masks[row]), samples, winners[row])

        self.in_threads(work, range(len(masks)))
        return winners


def _order_nb_evaluator_masks(masks: BoolArray) -> IntArray:
    """An order in which neighbouring masks share many features, the most frequent ones first."""
    often_first = np.argsort(masks.sum(axis=0), kind="stable")[::-1]
    packed = np.ascontiguousarray(np.packbits(masks[:, often_first], axis=1))
    return np.argsort(packed.view(f"S{packed.shape[1]}").ravel(), kind="stable")


def fold_class_weights(evaluator: ClassificationEvaluator, sample_weight: FloatArray | None = None) -> FloatArray:
    """Return the number, or the weight, of the training samples of each fold and class."""
    weights = np.ones(evaluator.n_samples) if sample_weight is None else sample_weight
    classes = range(evaluator.classes.size)  # one by one: sums have the bits of scikit-learn's
    trains = (train for train, _ in evaluator.folds.split())
    return np.array([[weights[train[evaluator.labels[train] == c]].sum() for c in classes] for train in trains])


def fold_log_priors(counts: FloatArray) -> FloatArray:
    """Return the log fraction of each class among the training samples of each fold, shape (folds, classes)."""
    return np.asarray(portable_nb_log(counts) - portable_nb_log(counts.sum(axis=1, keepdims=True)))


def portable_nb_log(values: FloatArray) -> FloatArray:
    """Return logarithms with the same bits on every processor; that of 0 is -inf."""
    from pqswarm._kernels.math import logarithms

    return np.asarray(logarithms(values.ravel()).reshape(values.shape))
