"""The exact errors of naive Bayes: with kernel densities, normal densities, and counts."""

from collections.abc import Iterator
from functools import reduce
from itertools import pairwise
from math import log, pi, sqrt
from typing import Any, Unpack, cast

import numpy as np

from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.threads import effective_jobs
from pqswarm._base.typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import ClassificationEvaluator, ExactEvaluator, ExactOptions, SubsetError, check_memory
from pqswarm.evaluation.folds import CrossValidation, Folds
from pqswarm.evaluation.scaling import Scaling

_MEMORY = 2_000_000_000  # maximum bytes of the tables
_BLOCK_NUMBERS = 1024  # numbers of a feature per block of samples: a hundred features fit into the cache
_MASKS = 512  # maximum evaluated together
_DOUBTFUL = 2**24  # maximum number of doubtful samples
_TERMS = 2**21  # additions that justify another thread
LOWEST_LOG_DENSITY = log(5e-324)
"""Logarithm of the smallest positive double."""
_LOWEST_TERM = -1e30  # their sum is finite in single precision
_LOWEST_PRIOR = -3e38


def nb_class_blocks(
    column: FloatArray, folds: IntArray, labels: IntArray, n_classes: int
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return a column sorted within classes, each bracketed by -inf and inf; its folds; the start of each class."""
    order = np.lexsort((column, labels))
    starts = np.searchsorted(labels[order], np.arange(n_classes + 1)) + 2 * np.arange(n_classes + 1)
    values = np.empty(column.size + 2 * n_classes)
    value_folds = np.full(values.size, -2, dtype=np.int64)  # the brackets are in no fold, not even -1
    inside = np.arange(column.size) + 2 * labels[order] + 1
    values[inside] = column[order]
    value_folds[inside] = folds[order]
    values[starts[:-1]] = -np.inf
    values[starts[1:] - 1] = np.inf
    return values, value_folds, starts.astype(np.int64)


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


def kernel_nb_densities(
    hyperparameters: KernelNBHyperparameters,
    queries: FloatArray,
    query_folds: IntArray,
    values: FloatArray,
    value_folds: IntArray,
    starts: IntArray,
    log_counts: FloatArray,
) -> FloatArray:
    """Return the log density of each query and class by one feature, (m, classes); see ``kernel_nb_terms``.

    Densities below the smallest positive double become 0 if there is `underflow`; then they are mixed with a fraction
    `floor` of a uniform density on [0, 1].
    """
    from pqswarm.evaluation.exact.naive_bayes.kernels import kernel_nb_terms, mix_uniform_into_nb_densities

    terms = np.empty((queries.size, starts.size - 1))
    kernel_nb_terms(queries, query_folds, values, value_folds, starts, log_counts, hyperparameters.bandwidth, terms)
    if hyperparameters.underflow:
        terms[terms < LOWEST_LOG_DENSITY] = -np.inf
    if hyperparameters.floor:
        mix_uniform_into_nb_densities(terms.reshape(-1), hyperparameters.floor)
    return terms


class KernelNBEvaluator(ExactEvaluator):
    r"""The exact cross-validated error of naive Bayes with normal kernel densities.

    .. math:: p(x \mid c) = \frac{1}{N_c} \sum_{i \in c} \mathcal{N}(x; x_i, \sigma^2)

    for each feature, with empirical priors, in logarithms against underflow. Of scores equal to 1e-12 the smallest
    label wins. Predictions equal those of :class:`pqswarm.KernelNB`.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs, device
        See :class:`ExactEvaluator`.
    bandwidth : float, default=0.004
        :math:`\sigma`, in units of the scaled features.
    floor : float, default=0.0
        Fraction of a uniform density on [0, 1] in that of each class, which limits the evidence of one feature against
        a class; 0 to 0.5.
    underflow : bool, default=False
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
        self.hyperparameters = KernelNBHyperparameters(bandwidth=bandwidth, floor=floor, underflow=underflow)
        size = self.n_samples * self.n_features * self.classes.size
        check_memory(
            f"tables of {self.n_samples} samples x {self.n_features} features x {self.classes.size} classes",
            12 * size,  # in double and single precision
            "use fewer samples or features (the best by a filter), or Gaussian naive Bayes, which needs no table",
            _MEMORY,
        )
        self._class_counts = nb_class_weights(self)
        self.priors = nb_log_priors(self._class_counts)[folds.test_fold]
        # The log density of a kernel at its center; a uniform density is 1.
        self.highest = max(0.0, -log(self.hyperparameters.bandwidth * sqrt(2.0 * pi)))
        self.table = self._terms()
        if self.device == "cuda":
            from pqswarm.evaluation.exact.naive_bayes.cuda import KernelNBOnCuda

            self._gpu = KernelNBOnCuda(self)
        else:
            self._prepare_counting()

    def _terms(self) -> FloatArray:
        """Log-likelihood of each sample by class and feature, fitted to the other folds."""
        n_classes = self.classes.size
        fold = self.folds.test_fold
        table = np.empty((self.n_features, self.n_samples, n_classes))
        log_counts = portable_nb_log(self._class_counts)
        views = self.fold_views()
        queries_of = [test for _, test in self.folds.split()] if len(views) > 1 else [np.arange(self.n_samples)]

        def work(feature: int) -> None:
            for data, queries in zip(views, queries_of, strict=True):
                column = np.ascontiguousarray(data[:, feature])
                blocks = nb_class_blocks(column, fold, self.labels, n_classes)
                terms = kernel_nb_densities(self.hyperparameters, column[queries], fold[queries], *blocks, log_counts)
                table[feature, queries] = terms

        self.in_threads(work, range(self.n_features))
        return table

    def _prepare_counting(self) -> None:
        """Arrange the table for ``kernels.py``: (blocks, features and prior, classes, samples).

        It is in single precision, and the own class of each sample comes first.
        """
        n, n_classes = self.priors.shape
        by_fold = self.folds.by_fold
        starts = self.folds.test_fold * n_classes
        self._cells = np.array([starts, starts + self.labels])[:, by_fold]
        self._samples = samples = min(max(_BLOCK_NUMBERS // n_classes // 32, 1) * 32, -(-n // 8) * 8)
        full, rest = divmod(n, samples)
        blocks = np.zeros((-(-n // samples), self.n_features + 1, n_classes, samples), dtype=np.float32)
        own_first = np.tile(np.arange(n_classes), (n, 1))
        own_first[np.arange(n), self.labels] = 0
        own_first[:, 0] = self.labels
        rows = by_fold[:, np.newaxis]
        columns = own_first[by_fold]

        def work(feature: int) -> None:
            terms = np.maximum(self.table[feature], _LOWEST_TERM) if feature < self.n_features else self.priors
            terms = np.maximum(terms[rows, columns], _LOWEST_PRIOR)
            blocks[:full, feature] = terms[: n - rest].reshape(full, samples, n_classes).transpose(0, 2, 1)
            if rest:
                blocks[full, feature, :, :rest] = terms[n - rest :].T

        self.in_threads(work, range(self.n_features + 1))
        self._blocks = blocks

    def _count_on_cpu(self, masks: BoolArray) -> IntArray:
        counts = np.empty((len(masks), self.folds.n_folds), dtype=np.int64)
        for rows, errors, _ in self._count(masks, 0):
            counts[rows] = errors
        return counts

    def hits(self, masks: BoolArray, true: AnyArray, guessed: bool) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield rows of the masks, and how many of the `true` samples of each fold and class they find and guess."""
        for rows, _, hits in self._count(masks, 1 + guessed):
            hits += true.ravel()
            yield rows, hits.reshape(1 + guessed, -1, *true.shape)

    def _count(self, masks: BoolArray, n_hits: int) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield rows, their errors in each fold, and `n_hits` arrays of them by class."""
        order = _order_nb_masks(masks)
        step = min(_MASKS, max(1, _DOUBTFUL // len(self.data)))
        for first in range(0, len(masks), step):
            rows = order[first : first + step]
            yield rows, *self._counts_of(masks[rows], n_hits)

    def _counts_of(self, masks: BoolArray, n_hits: int) -> tuple[IntArray, IntArray]:
        """The counts of a limited number of masks, ordered by similarity."""
        from pqswarm.evaluation.exact.naive_bayes import kernels

        n = len(self.data)
        sizes = masks.sum(axis=1)
        parents, slots, starts, subsets = np.empty((4, 2 * len(masks)), dtype=np.int64)
        features = np.empty(sizes.sum(), dtype=np.int64)
        shared = kernels.plan_nb_table_sums(masks, parents, slots, starts, subsets, features)
        tree = (parents, slots, starts, subsets, features[: starts[shared[0]]], *shared)
        shape = (*self._blocks.shape[1:], n, 0, n)
        parts: list[tuple[IntArray, IntArray]] = []

        def work(span: tuple[int, int]) -> None:
            counts = np.zeros((len(masks), self.folds.n_folds), dtype=np.int64)
            hits = np.zeros((n_hits, len(masks), counts.shape[1] * self.classes.size), dtype=np.int64)
            doubtful = np.empty(len(masks) * (span[1] - span[0]) * self._samples, dtype=np.int32)
            table = self._blocks.reshape(-1)
            terms = (table, shape, span, self.folds.starts, sizes, self.highest, tree, self._cells)
            some = kernels.count_kernel_nb_errors(*terms, counts, hits, doubtful)
            if some:
                exact = (self.folds.by_fold, self.labels, self.folds.test_fold)
                kernels.count_doubtful_nb_errors(self.table, self.priors, masks, doubtful[:some], *exact, counts, hits)
            parts.append((counts, hits))

        blocks = -(-n // self._samples)
        jobs = min(effective_jobs(self.n_jobs), 1 + self._blocks[0, 0].size * blocks * len(tree[4]) // _TERMS)
        edges = [blocks * job // jobs for job in range(jobs + 1)]
        self.in_threads(work, list(pairwise(edges)))
        return reduce(lambda sums, other: (sums[0] + other[0], sums[1] + other[1]), parts)

    def _predict_on_cpu(self, masks: BoolArray) -> IntArray:
        from pqswarm.evaluation.exact.naive_bayes.kernels import decide_nb_exactly

        samples = np.arange(self.n_samples)
        return self._predict_rows(
            masks, lambda selected, row: decide_nb_exactly(self.table, self.priors, selected, samples, row)
        )


def _order_nb_masks(masks: BoolArray) -> IntArray:
    """An order in which neighboring masks share many features, the most frequent ones first."""
    often_first = np.argsort(masks.sum(axis=0), kind="stable")[::-1]
    packed = np.ascontiguousarray(np.packbits(masks[:, often_first], axis=1))
    return np.argsort(packed.view(f"S{packed.shape[1]}").ravel(), kind="stable")


def nb_class_weights(evaluator: ClassificationEvaluator, sample_weight: FloatArray | None = None) -> FloatArray:
    """Return the number, or the weight, of the training samples of each fold and class."""
    weights = np.ones(evaluator.n_samples) if sample_weight is None else sample_weight
    classes = range(evaluator.classes.size)  # one by one: sums have the bits of scikit-learn's
    trains = (train for train, _ in evaluator.folds.split())
    return np.array([[weights[train[evaluator.labels[train] == c]].sum() for c in classes] for train in trains])


def nb_log_priors(counts: FloatArray) -> FloatArray:
    """Return the log fraction of each class among the training samples of each fold, shape (folds, classes)."""
    return np.asarray(portable_nb_log(counts) - portable_nb_log(counts.sum(axis=1, keepdims=True)))


def portable_nb_log(values: FloatArray) -> FloatArray:
    """Return logarithms with the same bits on every processor; that of 0 is -inf."""
    from pqswarm._kernels.math import logarithms

    return np.asarray(logarithms(values.ravel()).reshape(values.shape))


class GaussianNBHyperparameters(Parameters):
    """Hyperparameters of Gaussian naive Bayes."""

    var_smoothing: float = parameter(
        "fraction of the largest variance of the selected features, added to all variances",
        default=1e-9,
        low=0.0,
        high=1e6,
    )


class GaussianNBEvaluator(ExactEvaluator):
    """The exact cross-validated error of scikit-learn's GaussianNB.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs, device
        See :class:`ExactEvaluator`.
    var_smoothing : float, default=1e-09
        As in GaussianNB: the fraction of the largest variance of the selected features that is added to all.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the samples in fitting; errors are counted without.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = GaussianNBEvaluator(X, y, Folds.stratified(y))
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.1)
    True
    """

    takes_splits = True

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        folds: CrossValidation,
        var_smoothing: float = 1e-9,
        sample_weight: FloatArray | None = None,
        **options: Unpack[ExactOptions],
    ) -> None:
        super().__init__(X, y, cast("Folds", folds), **options)
        self.sample_weight = sample_weight
        self.var_smoothing = GaussianNBHyperparameters(var_smoothing=var_smoothing).var_smoothing
        self._views = self.fold_views()
        self.columns = np.empty((self.n_features, folds.n_rows))  # tested, in the scale of their fold, in turn
        for fold in range(folds.n_folds):
            self.columns[:, folds.starts[fold] : folds.starts[fold + 1]] = self.fold_view(fold)[folds.test(fold)].T
        self._class_weights = nb_class_weights(self, sample_weight)
        self.log_priors = nb_log_priors(self._class_weights)
        self.moments = self._moments_of(slice(None))
        if self.device == "cuda":
            from pqswarm.evaluation.exact.naive_bayes.cuda import GaussianNBOnCuda

            self._gpu = GaussianNBOnCuda(self)

    def _moments_of(self, features: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means and variances of each fold's training samples, (folds, features, classes), and overall variances."""
        shape = (self.folds.n_folds, len(range(self.n_features)[features]), self.classes.size)
        means = np.full(shape, np.nan)
        variances = np.full(shape, np.nan)
        spread = np.empty(shape[:2])
        for fold, (train, _) in enumerate(self.folds.split()):
            data = np.ascontiguousarray(self.fold_view(fold)[train, features])
            spread[fold] = np.var(data, axis=0)
            for label in np.unique(self.labels[train]):
                own = self.labels[train] == label
                members = data[own]
                if self.sample_weight is None:
                    means[fold, :, label] = members.mean(axis=0)
                    variances[fold, :, label] = members.var(axis=0)
                elif np.isclose(self._class_weights[fold, label], 0.0):  # as in scikit-learn
                    means[fold, :, label] = variances[fold, :, label] = 0.0
                else:
                    weights = self.sample_weight[train[own]]
                    means[fold, :, label] = middle = np.average(members, axis=0, weights=weights)
                    variances[fold, :, label] = np.average(np.square(members - middle), axis=0, weights=weights)
        return means, variances, spread

    def _moments_for(
        self, selected: IntArray
    ) -> tuple[FloatArray, IntArray, tuple[FloatArray, FloatArray, FloatArray]]:
        """Columns, places in them, and moments; a single feature has its own: NumPy rounds sums of one differently."""
        if selected.size > 1:
            return self.columns, selected, self.moments
        column = slice(selected[0], selected[0] + 1)
        return self.columns[column], np.zeros(1, dtype=np.int64), self._moments_of(column)

    def estimator(self) -> object:
        """Return scikit-learn's classifier."""
        from sklearn.naive_bayes import GaussianNB

        return GaussianNB(var_smoothing=self.var_smoothing)

    def class_scores(self, selected: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the log of prior times density of each prediction and class, and zeros: bits are scikit-learn's."""
        return self._scores_of_folds(selected, np.arange(self.folds.n_folds)), np.zeros(self.folds.n_rows)

    def _scores_of_folds(self, selected: IntArray, folds: IntArray) -> FloatArray:
        """The scores of scikit-learn's models in some folds, from precomputed moments."""
        _, places, moments = self._moments_for(selected)
        scores = np.full((self.folds.n_rows, self.classes.size), -np.inf)
        for fold in folds.tolist():
            means, variances, spread = (moment[fold][places] for moment in moments)
            counts = self._class_weights[fold]
            seen = np.unique(self.labels[self.folds.train(fold)])
            model: Any = self.estimator()
            model.classes_ = seen
            model.class_prior_ = counts[seen] / counts.sum()
            model.theta_ = np.ascontiguousarray(means[:, seen].T)
            model.var_ = np.ascontiguousarray(variances[:, seen].T) + self.var_smoothing * spread.max()
            data = np.ascontiguousarray(self.fold_view(fold)[self.folds.test(fold)][:, selected])
            with np.errstate(all="ignore"):
                scores[self.folds.rows(fold)[:, np.newaxis], seen] = model._joint_log_likelihood(data)
        return scores

    def decide_as_scikit_learn(self, selected: IntArray, doubtful: IntArray, winners: IntArray) -> None:
        """Let scikit-learn decide about doubtful predictions, so that even its rounding is reproduced."""
        folds = np.unique(self.folds.row_folds[doubtful])
        winners[doubtful] = self._scores_of_folds(selected, folds)[doubtful].argmax(axis=1)

    def _predict_on_cpu(self, masks: BoolArray) -> IntArray:
        from pqswarm.evaluation.exact.naive_bayes.kernels import gaussian_nb_winners

        def predict(selected: IntArray, row: IntArray) -> None:
            columns, places, (means, variances, spread) = self._moments_for(selected)
            # A fraction of the largest variance of a selected feature, in each fold.
            smoothing = self.var_smoothing * spread[:, places].max(axis=1)
            winners = np.empty(self.folds.n_rows, dtype=np.int64)
            doubtful = np.ones(self.folds.n_rows, dtype=np.bool_)
            if (smoothing > 0).all():
                moments = (means, variances, smoothing, self.log_priors)
                gaussian_nb_winners(columns, self.folds.starts, places, *moments, winners, doubtful)
            row[self.folds.by_fold] = winners
            if doubtful.any():
                self.decide_as_scikit_learn(selected, self.folds.by_fold[doubtful], row)

        return self._predict_rows(masks, predict)


DISCRETE_MODELS = {"multinomial": "MultinomialNB", "complement": "ComplementNB", "bernoulli": "BernoulliNB"}
"""scikit-learn's classes by model."""


class DiscreteNBHyperparameters(Parameters):
    """Hyperparameters of naive Bayes for counts."""

    model: str = parameter(
        "counts of each class or of all others, or presence", default="multinomial", choices=tuple(DISCRETE_MODELS)
    )
    alpha: float = parameter("count added to each feature", default=1.0, low=1e-10, high=1e10)
    fit_prior: bool = parameter("whether classes have their frequency as prior", default=True)
    norm: bool = parameter("whether the weights of a class are normalized; complement", default=False)
    binarize: float = parameter("value above which a feature is present; bernoulli", default=0.0, low=0.0, high=1e300)

    def estimator(self) -> Any:
        """Return scikit-learn's classifier."""
        from sklearn import naive_bayes

        more: Any = {"complement": {"norm": self.norm}, "bernoulli": {"binarize": self.binarize}}.get(self.model, {})
        return getattr(naive_bayes, DISCRETE_MODELS[self.model])(alpha=self.alpha, fit_prior=self.fit_prior, **more)


class DiscreteNBEvaluator(ClassificationEvaluator):
    """The exact cross-validated error of scikit-learn's MultinomialNB, ComplementNB or BernoulliNB.

    The counts of a sparse matrix are computed once for each fold; a subset uses its part of them. The formulas are
    scikit-learn's own, so that even its rounding is reproduced.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n_samples, n_features)
        Counts or other numbers of at least 0; with "bernoulli" any. Sparse matrices need scaling "none".
    y, folds, scaling, n_jobs
        See :class:`ClassificationEvaluator`.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the samples in fitting; errors are counted without.
    **hyperparameters
        `model`, `alpha`, `fit_prior`, `norm` and `binarize`, as in scikit-learn.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from pqswarm.evaluation import Folds
    >>> X = csr_matrix([[2, 0, 1], [1, 0, 0], [0, 2, 0], [0, 1, 1]])
    >>> evaluator = DiscreteNBEvaluator(X, [0, 0, 1, 1], Folds([0, 1, 0, 1]), scaling="none")
    >>> evaluator.errors([[True, True, False], [False, False, True]]).tolist()
    [0.0, 0.5]
    """

    takes_splits = True

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        folds: Any,
        *,
        sample_weight: FloatArray | None = None,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
        **hyperparameters: Any,
    ) -> None:
        self._is_sparse = hasattr(X, "tocsr")
        super().__init__(X, y, folds, scaling=scaling, n_jobs=n_jobs)
        self.hyperparameters = DiscreteNBHyperparameters(**hyperparameters)
        self.sample_weight = sample_weight
        binary = self.hyperparameters.model == "bernoulli"
        coded = np.eye(self.classes.size)[self.labels]
        coded *= 1.0 if sample_weight is None else sample_weight[:, np.newaxis]
        self._parts = []
        self._refused = np.zeros((folds.n_folds, self.n_features), dtype=np.bool_)
        for fold, (train, test) in enumerate(folds.split()):
            data = self.fold_data(fold)
            seen = np.unique(self.labels[train])
            if binary:
                data = (data > self.hyperparameters.binarize).astype(np.float64)
            fitted = data[train]
            tested = data[test]
            own = np.ascontiguousarray(coded[train][:, seen])
            self._refused[fold] = not binary and np.asarray((fitted < 0).sum(axis=0)).ravel() > 0
            if self._is_sparse:
                fitted = np.ascontiguousarray((fitted.T @ own).T)
                tested = tested.tocsc()
            self._parts.append((seen, own, fitted, tested))

    def _checked_data(self, X: Any) -> Any:
        if not self._is_sparse:
            return super()._checked_data(X)
        data = X.tocsr().astype(np.float64)
        data.sum_duplicates()
        if self.scaling != "none" or not np.isfinite(data.data).all():
            raise PqswarmError("a sparse X must be finite, and needs scaling 'none'.")
        return data

    def fold_data(self, fold: int) -> Any:
        """Return the features scaled for the classifier that tests `fold`."""
        return self.data if self._is_sparse else super().fold_data(fold)

    def estimator(self) -> Any:
        """Return scikit-learn's classifier."""
        return self.hyperparameters.estimator()

    def refusal(self, mask: BoolArray | IntArray) -> str:
        """Return why the classifier refuses a subset; empty if it does not."""
        return "Negative values in data" if self._refused[:, mask].any() else ""

    def class_scores(self, selected: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the log of prior times likelihood of each prediction and class, and bounds on its rounding, none."""
        if reason := self.refusal(selected):
            raise SubsetError.of(self.estimator(), selected, ValueError(reason))
        scores = np.full((self.folds.n_rows, self.classes.size), -np.inf)
        for fold, (seen, own, fitted, tested) in enumerate(self._parts):
            model = self.estimator()
            model.classes_ = seen
            model.class_count_ = own.sum(axis=0)
            counts = np.take(fitted, selected, axis=1) if self._is_sparse else own.T @ fitted[:, selected]
            model.feature_count_ = counts
            model.feature_all_ = counts.sum(axis=0)
            with np.errstate(all="ignore"):
                model._update_feature_log_prob(model.alpha)
                model._update_class_log_prior()
                scores[self.folds.rows(fold)[:, np.newaxis], seen] = model._joint_log_likelihood(tested[:, selected])
        return scores, np.where(np.isnan(scores).any(axis=1), np.inf, 0.0)

    def _predict(self, masks: BoolArray) -> IntArray:
        return self._predict_rows(masks, lambda selected, row: self.class_scores(selected)[0].argmax(axis=1, out=row))
