"""The exact error of naive Bayes for counts and for binary features, also of sparse data."""

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.options import Parameters, option, parameters
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import ClassificationEvaluator, EvaluatorOptions, SubsetError
from pqswarm.evaluation.exact.naive_bayes.evaluator import fold_class_weights
from pqswarm.evaluation.folds import CrossValidation
from pqswarm.evaluation.memory import check_memory
from pqswarm.evaluation.refit import refit_fold

DISCRETE_MODELS = {"multinomial": "MultinomialNB", "complement": "ComplementNB", "bernoulli": "BernoulliNB"}
"""scikit-learn's classes by model."""

_ROUNDING = 4e-16  # of a score, relative to its terms


@parameters
class DiscreteNBHyperparameters(Parameters):
    """Hyperparameters of naive Bayes for counts."""

    model: str = option(
        "counts of each class or of all others, or presence", default="multinomial", choices=tuple(DISCRETE_MODELS)
    )
    alpha: float = option("count added to each feature", default=1.0, low=1e-10, high=1e10)
    fit_prior: bool = option("whether classes have their frequency as prior", default=True)
    norm: bool = option("whether the weights of a class are normalised; complement", default=False)
    binarize: float = option("value above which a feature is present; bernoulli", default=0.0, low=0.0, high=1e300)


class DiscreteNBEvaluator(ClassificationEvaluator):
    """The exact cross-validated error of scikit-learn's MultinomialNB, ComplementNB or BernoulliNB.

    The counts of all features are computed once for each fold and class; a subset uses its part of them. Only the
    non-zero values of the selected features are visited. scikit-learn fits the folds in which rounding could decide.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n_events, n_features)
        Counts or other numbers of at least 0; with "bernoulli" any. Sparse matrices need scaling "none".
    y, folds, scaling, n_jobs
        See :class:`ClassificationEvaluator`.
    model, alpha, fit_prior, norm, binarize
        See :class:`DiscreteNBHyperparameters`; as in scikit-learn.
    sample_weight : ndarray of shape (n_events,), optional
        Weights of the events in fitting; errors are counted without.

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
        self, X: ArrayLike, y: ArrayLike, folds: CrossValidation, model: str = "multinomial", alpha: float = 1.0,
        fit_prior: bool = True, norm: bool = False, binarize: float = 0.0, sample_weight: FloatArray | None = None,
        **options: Unpack[EvaluatorOptions],
    ) -> None:  # fmt: skip
        from scipy.sparse import csr_matrix, issparse, vstack

        self._is_sparse = issparse(X)
        super().__init__(X, y, folds, **options)  # type: ignore[arg-type]
        own = {"model": model, "alpha": alpha, "fit_prior": fit_prior, "norm": norm, "binarize": binarize}
        self.hyperparameters = DiscreteNBHyperparameters(**own)  # type: ignore[arg-type]
        self.sample_weight = sample_weight
        n_classes, shape = self.classes.size, (folds.n_folds, self.classes.size, self.n_features)
        check_memory(f"counts of {shape[2]} features by fold and class", 8 * int(np.prod(shape)), "use fewer features")
        self._totals = np.empty(shape)
        self._refused = np.zeros((folds.n_folds, self.n_features), dtype=np.bool_)
        coded = np.eye(n_classes)[self.labels] * (1.0 if sample_weight is None else sample_weight[:, np.newaxis])
        tested = []
        for fold, (train, test) in enumerate(folds.split()):
            data = csr_matrix(self.fold_data(fold))
            if model == "bernoulli":
                data = (data > binarize).astype(np.float64)
            self._totals[fold] = (data[train].T @ coded[train]).T
            self._refused[fold] = model != "bernoulli" and (data[train].min(axis=0).toarray().ravel() < 0)
            tested.append(data[test])
        places = np.argsort(np.concatenate([folds.rows(fold) for fold in range(folds.n_folds)]))
        self._tested = vstack(tested).tocsr()[places].tocsc()
        self._present = None if self._is_sparse else self._tested.toarray() != 0
        self._sizes = fold_class_weights(self, sample_weight)
        seen = fold_class_weights(self) > 0
        with np.errstate(divide="ignore"):
            priors = np.log(self._sizes) - np.log(self._sizes.sum(axis=1, keepdims=True))
        if model == "complement":
            priors = np.zeros(seen.shape)
        elif not fit_prior:
            priors = np.tile(-np.log(seen.sum(axis=1, keepdims=True)), n_classes)
        self._priors = np.where(seen, priors, -np.inf)

    def _checked_data(self, X: Any) -> Any:
        if not self._is_sparse:
            return super()._checked_data(X)
        if self.scaling != "none":
            raise PqswarmError(f"a sparse X needs scaling 'none', not {self.scaling!r}.")
        found = X.tocsr().astype(np.float64)
        found.sum_duplicates()
        if not np.isfinite(found.data).all():
            raise PqswarmError("X must be finite, but has NaN or infinite values.")
        return found

    def fold_data(self, fold: int) -> Any:
        """Return the features scaled for the classifier that tests `fold`."""
        return self.data if self._is_sparse else super().fold_data(fold)

    def estimator(self) -> Any:
        """Return scikit-learn's classifier."""
        return make_discrete_estimator(self.hyperparameters)

    def class_scores(self, selected: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the log of prior times likelihood of each prediction and class, and bounds on its rounding."""
        from pqswarm.evaluation.exact.naive_bayes.kernels import add_discrete_terms

        if self._refused[:, selected].any():
            raise SubsetError.of(self.estimator(), selected, ValueError("negative values"))
        own, counts = self.hyperparameters, np.take(self._totals, selected, axis=2)
        constants, error = self._priors, 0.0
        if own.model == "multinomial":
            smoothed = counts + own.alpha
            terms = np.log(smoothed) - np.log(smoothed.sum(axis=2, keepdims=True))
        elif own.model == "complement":
            others = counts.sum(axis=1, keepdims=True) + own.alpha - counts
            logged = np.log(others / others.sum(axis=2, keepdims=True))
            with np.errstate(invalid="ignore"):  # of one feature
                terms = logged / logged.sum(axis=2, keepdims=True) if own.norm else -logged
        else:
            present = np.log(counts + own.alpha) - np.log(self._sizes + 2.0 * own.alpha)[:, :, np.newaxis]
            absent = np.log(1.0 - np.exp(present))
            terms, constants = present - absent, constants + absent.sum(axis=2)
            error = float(np.abs(absent).sum(axis=2).max() + selected.size * (self._sizes.max() / own.alpha + 1.0))
        scores = np.zeros((self._tested.shape[0], self.classes.size))
        table, folds = self._tested, self.folds.row_folds
        weights = np.ascontiguousarray(terms.transpose(0, 2, 1))
        add_discrete_terms(table.indptr, table.indices, table.data, selected, folds, weights, scores)
        sizes = np.abs(scores).max(axis=1) + error + 1.0 + np.abs(self._priors[self._priors > -np.inf]).max()
        # Sums over sparse rows have the order, and so the bits, of scikit-learn's; BLAS has another for dense ones.
        errors = 0.0 if self._is_sparse else _ROUNDING * (selected.size + 10.0) * sizes
        return scores + constants[folds], np.where(np.isnan(sizes), np.inf, errors)

    def _predict(self, masks: BoolArray) -> IntArray:
        predicted = np.empty((len(masks), self.folds.sizes.sum()), dtype=np.int64)

        def work(row: int) -> None:
            selected = np.flatnonzero(masks[row])
            try:
                scores, errors = self.class_scores(selected)
                best = scores.argmax(axis=1)
                gaps = scores[np.arange(best.size), best][:, np.newaxis] - scores
                near = gaps <= 2.0 * errors[:, np.newaxis]
                same = np.True_ if self._present is None else ~self._present[:, selected].any(axis=1)
                doubtful = np.where(same, (near & (gaps > 0)).any(axis=1), near.sum(axis=1) > 1)
                for fold in np.unique(self.folds.row_folds[doubtful]).tolist():
                    best[self.folds.rows(fold)] = refit_fold(self, fold, selected)
                predicted[row] = best
            except SubsetError:
                predicted[row] = -1

        self.in_threads(work, list(range(len(masks))))
        return predicted


def make_discrete_estimator(hyperparameters: DiscreteNBHyperparameters) -> Any:
    """Return scikit-learn's classifier with these hyperparameters."""
    from sklearn import naive_bayes

    own = hyperparameters
    more = {"complement": {"norm": own.norm}, "bernoulli": {"binarize": own.binarize}}.get(own.model, {})
    return getattr(naive_bayes, DISCRETE_MODELS[own.model])(alpha=own.alpha, fit_prior=own.fit_prior, **more)
