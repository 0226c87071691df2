"""The exact error of naive Bayes for counts and for binary features, also of sparse data."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import ClassificationEvaluator, SubsetError
from pqswarm.evaluation.scaling import Scaling

DISCRETE_MODELS = {"multinomial": "MultinomialNB", "complement": "ComplementNB", "bernoulli": "BernoulliNB"}
"""scikit-learn's classes by model."""


class DiscreteNBHyperparameters(Parameters):
    """Hyperparameters of naive Bayes for counts."""

    model: str = parameter(
        "counts of each class or of all others, or presence", default="multinomial", choices=tuple(DISCRETE_MODELS)
    )
    alpha: float = parameter("count added to each feature", default=1.0, low=1e-10, high=1e10)
    fit_prior: bool = parameter("whether classes have their frequency as prior", default=True)
    norm: bool = parameter("whether the weights of a class are normalised; complement", default=False)
    binarize: float = parameter("value above which a feature is present; bernoulli", default=0.0, low=0.0, high=1e300)


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
    sample_weight : ndarray of shape (n_samples,), optional
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
        return make_discrete_estimator(self.hyperparameters)

    def class_scores(self, selected: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the log of prior times likelihood of each prediction and class, and bounds on its rounding, none."""
        if self._refused[:, selected].any():
            raise SubsetError.of(self.estimator(), selected, ValueError("Negative values in data"))
        scores = np.full((int(self.folds.sizes.sum()), self.classes.size), -np.inf)
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

    def _predict(self, masks: BoolArray, folds: range | None = None) -> IntArray:  # noqa: ARG002
        predicted = np.empty((len(masks), self.folds.sizes.sum()), dtype=np.int64)

        def work(row: int) -> None:
            try:
                predicted[row] = self.class_scores(np.flatnonzero(masks[row]))[0].argmax(axis=1)
            except SubsetError:
                predicted[row] = -1

        self.in_threads(work, range(len(masks)))
        return predicted


def make_discrete_estimator(hyperparameters: DiscreteNBHyperparameters) -> Any:
    """Return scikit-learn's classifier with these hyperparameters."""
    from sklearn import naive_bayes

    own = hyperparameters
    more: Any = {"complement": {"norm": own.norm}, "bernoulli": {"binarize": own.binarize}}.get(own.model, {})
    return getattr(naive_bayes, DISCRETE_MODELS[own.model])(alpha=own.alpha, fit_prior=own.fit_prior, **more)
