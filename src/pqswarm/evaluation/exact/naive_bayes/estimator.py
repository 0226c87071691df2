"""Kernel naive Bayes as a scikit-learn classifier."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.evaluation.exact.naive_bayes.evaluator import (
    KernelNBHyperparameters,
    kernel_nb_densities,
    nb_class_blocks,
    nb_log_priors,
    portable_nb_log,
)


class KernelNB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Naive Bayes with normal kernel densities.

    .. math:: p(x \mid c) = \frac{1}{N_c} \sum_{i \in c} \mathcal{N}(x; x_i, \sigma^2)

    for each feature, with empirical priors. Logarithms (log-sum-exp) prevent underflow at any distance from the
    training samples. Of scores equal to 1e-12 the smallest label wins. The bandwidth is in units of the features:
    scale them first, to [0, 1] for the paper's 0.004.

    Parameters
    ----------
    bandwidth : float, default=0.004
        :math:`\sigma`, the standard deviation of the kernels.
    floor : float, default=0.0
        Fraction of a uniform density on [0, 1] in that of each class, which limits the evidence of one feature against
        a class; 0 to 0.5.
    underflow : bool, default=False
        Whether densities below the smallest positive double count as zero, as in programs without logarithms.

    Attributes
    ----------
    classes_, class_log_prior_ : ndarray of shape (n_classes,)
        The sorted labels; log fraction of each class.
    n_features_in_ : int
        Number of features in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> X, y = load_iris(return_X_y=True)
    >>> make_pipeline(MinMaxScaler(), KernelNB(bandwidth=0.05)).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(self, bandwidth: float = 0.004, floor: float = 0.0, underflow: bool = False) -> None:
        self.bandwidth = bandwidth
        self.floor = floor
        self.underflow = underflow

    def checked_hyperparameters(self) -> KernelNBHyperparameters:
        """Return the checked hyperparameters."""
        return KernelNBHyperparameters(bandwidth=self.bandwidth, floor=self.floor, underflow=self.underflow)

    def fit(self, X: Any, y: Any) -> "KernelNB":
        """Fit to training samples, shape (n, n_features), and their labels, (n,)."""
        self._checked = self.checked_hyperparameters()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        counts = np.bincount(labels).astype(np.float64)[np.newaxis]
        self._log_counts = portable_nb_log(counts)
        self.class_log_prior_ = nb_log_priors(counts)[0]
        folds = np.zeros(len(X), dtype=np.int64)
        self._blocks: list[tuple[FloatArray, IntArray, IntArray]] = [
            nb_class_blocks(np.ascontiguousarray(column), folds, labels, self.classes_.size) for column in X.T
        ]
        return self

    def _terms(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Log-likelihoods of each feature, (n_features, n, n_classes), and log priors, (n, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        terms = np.empty((X.shape[1], len(X), self.classes_.size))
        no_fold = np.full(len(X), -1, dtype=np.int64)
        for feature, blocks in enumerate(self._blocks):
            column = np.ascontiguousarray(X[:, feature])
            terms[feature] = kernel_nb_densities(self._checked, column, no_fold, *blocks, self._log_counts)
        return terms, np.tile(self.class_log_prior_, (len(X), 1))

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable label of each sample."""
        from pqswarm.evaluation.exact.naive_bayes.kernels import decide_nb_exactly

        terms, priors = self._terms(X)
        winners = np.empty(len(priors), dtype=np.int64)
        decide_nb_exactly(terms, priors, np.arange(len(terms)), np.arange(len(priors)), winners)
        return np.asarray(self.classes_[winners])

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithm of prior times likelihood, (n, n_classes), in the order of `classes_`."""
        terms, scores = self._terms(X)
        for term in terms:  # in the order of the features, as in `predict`
            scores += term
        return scores

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the log probability, at least -708, of each class, (n, n_classes), in the order of `classes_`."""
        from scipy.special import logsumexp

        scores = self.predict_joint_log_proba(X)
        scores -= scores.max(axis=1, keepdims=True)  # first: far away, the sum would lose the differences
        smallest = np.log(np.finfo(np.float64).tiny)
        return np.asarray(np.maximum(scores - logsumexp(scores, axis=1, keepdims=True), smallest))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, (n, n_classes), in the order of `classes_`."""
        return np.exp(self.predict_log_proba(X))
