"""Exact naive Bayes errors of many subsets at once, on an NVIDIA GPU.

Kernel naive Bayes: the scores of a batch are one matrix product in single precision; where its rounding leaves the
winner in doubt, the sums are made again in double precision, in the order of the features, as the processor does it.
Normal densities: sums in double precision; events in doubt are left to the processor, which asks scikit-learn.
"""

from typing import TYPE_CHECKING

import numpy as np

from pqswarm._typing import BoolArray, IntArray
from pqswarm.evaluation.cuda import chunks, cupy, pack_masks, source

if TYPE_CHECKING:
    from pqswarm.evaluation.naive_bayes import GaussianNBEvaluator, KernelNBEvaluator

__all__ = ["GaussianNBOnCuda", "KernelNBOnCuda"]

_THREADS = 256


class KernelNBOnCuda:
    """The GPU's part of a kernel naive Bayes evaluator.

    Parameters
    ----------
    evaluator : KernelNBEvaluator
        Whose counts to compute.
    """

    def __init__(self, evaluator: "KernelNBEvaluator") -> None:
        self._cp = cp = cupy()
        self._evaluator = evaluator
        self._table = cp.asarray(evaluator.table)
        self._priors = cp.asarray(evaluator.priors)
        self._table32 = cp.asarray(evaluator.table32.reshape(len(evaluator.table32), -1))
        self._folds = cp.asarray(evaluator.folds.test_fold.astype(np.int32))
        self._labels = cp.asarray(evaluator.labels.astype(np.int32))
        options = ("--std=c++14", f"-DMOST_CLASSES={evaluator.classes.size}")
        module = cp.RawModule(code=source("kernel_nb.cu"), options=options)
        self._decide, self._exactly = module.get_function("decide"), module.get_function("decide_exactly")
        self._blocks = 8 * cp.cuda.Device().attributes["MultiProcessorCount"]

    def counts(self, masks: BoolArray, predicted: bool = False) -> tuple[IntArray, IntArray | None]:
        """Return the misclassified events of each fold, and the predicted labels if they are wanted.

        Parameters
        ----------
        masks : ndarray of bool, shape (m, n_features)
            Subsets, none of them empty.
        predicted : bool
            Whether labels are wanted.

        Returns
        -------
        counts : ndarray of int64, shape (m, n_folds)
            Errors.
        labels : ndarray of int64, shape (m, n_events), or None
            Positions in `classes`.
        """
        n, n_folds = len(self._evaluator.data), self._evaluator.folds.n_folds
        counts = np.empty((len(masks), n_folds), dtype=np.int64)
        labels = np.empty((len(masks), n), dtype=np.int64) if predicted else None
        for part in chunks(len(masks), 4 * n * (self._evaluator.classes.size + 2)):
            found, named = self._part(masks[part], predicted)
            counts[part] = found
            if labels is not None and named is not None:
                labels[part] = named
        return counts, labels

    def _part(self, masks: BoolArray, predicted: bool) -> tuple[IntArray, IntArray | None]:
        cp, e, number = self._cp, self._evaluator, np.int32
        n, n_classes, n_folds = len(e.data), e.classes.size, e.folds.n_folds
        subsets = cp.asarray(masks)
        weights = cp.ones((len(masks), masks.shape[1] + 1), dtype=cp.float32)
        weights[:, :-1] = subsets
        scores = weights @ self._table32
        sizes = subsets.sum(axis=1, dtype=cp.int32)
        counts = cp.zeros((len(masks), n_folds), dtype=cp.int32)
        labels = cp.empty((len(masks), n), dtype=cp.int16) if predicted else None
        doubtful, n_doubtful = cp.empty(len(masks) * n, dtype=cp.int32), cp.zeros(1, dtype=cp.int32)
        shared = (self._folds, self._labels, number(n_folds), counts, labels if labels is not None else 0)
        self._decide(
            (-(-len(masks) * n // _THREADS),),
            (_THREADS,),
            (
                scores,
                sizes,
                np.float64(e.highest),
                number(n),
                number(n_classes),
                number(len(masks)),
                *shared,
                doubtful,
                n_doubtful,
            ),
        )
        self._exactly(
            (self._blocks,),
            (_THREADS,),
            (
                self._table,
                self._priors,
                subsets,
                number(masks.shape[1]),
                number(n),
                number(n_classes),
                *shared,
                doubtful,
                n_doubtful,
            ),
        )
        return cp.asnumpy(counts).astype(np.int64), None if labels is None else cp.asnumpy(labels).astype(np.int64)


class GaussianNBOnCuda:
    """The GPU's part of a Gaussian naive Bayes evaluator.

    Parameters
    ----------
    evaluator : GaussianNBEvaluator
        Whose winners to compute.
    """

    def __init__(self, evaluator: "GaussianNBEvaluator") -> None:
        self._cp = cp = cupy()
        self._evaluator = evaluator
        means, variances, _ = evaluator.moments
        self._columns = cp.asarray(evaluator.columns)
        self._means, self._variances = cp.asarray(means), cp.asarray(variances)
        self._log_priors = cp.asarray(evaluator.log_priors)
        sizes = np.diff(evaluator.starts)
        self._fold_of = cp.asarray(np.repeat(np.arange(sizes.size), sizes).astype(np.int32))
        module = cp.RawModule(code=source("gaussian_nb.cu"), options=("--std=c++14",))
        self._constants, self._winners = module.get_function("constants"), module.get_function("winners")

    def winners(self, masks: BoolArray) -> tuple[IntArray, BoolArray]:
        """Return the class of the largest score of each event, and where another one comes close.

        Parameters
        ----------
        masks : ndarray of bool, shape (m, n_features)
            Subsets of at least two features, whose smoothing is positive in each fold.

        Returns
        -------
        winners : ndarray of int64, shape (m, n_events)
            Positions in `classes`; events fold by fold.
        doubtful : ndarray of bool, shape (m, n_events)
            Where rounding could have its say.
        """
        n, n_classes = self._columns.shape[1], self._means.shape[2]
        n_folds = self._means.shape[0]
        winners = np.empty((len(masks), n), dtype=np.int64)
        doubtful = np.empty((len(masks), n), dtype=np.bool_)
        each = 4 * n + 8 * n_folds * n_classes * (masks.shape[1] + 2)
        for part in chunks(len(masks), each):
            winners[part], doubtful[part] = self._part(masks[part])
        return winners, doubtful

    def _part(self, masks: BoolArray) -> tuple[IntArray, BoolArray]:
        cp, number = self._cp, np.int32
        n_folds, n_features, n_classes = self._means.shape
        n, m = self._columns.shape[1], len(masks)
        spread = self._evaluator.moments[2]
        largest_spread = np.where(masks[:, np.newaxis], spread[np.newaxis], -np.inf).max(axis=2)
        smoothing = cp.asarray(self._evaluator.var_smoothing * largest_spread)
        packed, _, sizes = pack_masks(masks, np.zeros(masks.shape))
        selected, sizes, widest = cp.asarray(packed), cp.asarray(sizes), number(packed.shape[1])
        constant = cp.empty((m, n_folds, n_classes))
        largest = cp.empty_like(constant)
        weights = cp.empty((m, n_folds, packed.shape[1], n_classes))
        shape = (number(m), number(n_folds), number(n_features), number(n_classes))
        self._constants(
            (-(-constant.size // _THREADS),),
            (_THREADS,),
            (self._variances, smoothing, self._log_priors, selected, sizes, widest, *shape, constant, weights, largest),
        )
        winners, doubtful = cp.empty((m, n), dtype=cp.int16), cp.empty((m, n), dtype=cp.bool_)
        self._winners(
            (-(-m * n // _THREADS),),
            (_THREADS,),
            (
                self._columns,
                self._fold_of,
                self._means,
                constant,
                weights,
                largest,
                selected,
                sizes,
                widest,
                number(m),
                number(n),
                number(n_folds),
                number(n_features),
                number(n_classes),
                winners,
                doubtful,
            ),
        )
        return cp.asnumpy(winners).astype(np.int64), cp.asnumpy(doubtful)
