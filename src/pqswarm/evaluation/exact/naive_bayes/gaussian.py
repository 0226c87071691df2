"""The exact error of Gaussian naive Bayes."""

from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.parameters import Parameters, parameter
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.evaluation.devices import ExactEvaluator, ExactOptions
from pqswarm.evaluation.exact.naive_bayes.evaluator import fold_class_weights, fold_log_priors
from pqswarm.evaluation.folds import CrossValidation, Folds


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
    var_smoothing : float
        As in GaussianNB: the fraction of the largest variance of the selected features that is added to all.
    sample_weight : ndarray of shape (n_samples,), optional
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
        self.by_fold = np.argsort(folds.row_folds, kind="stable")
        self.starts = np.concatenate([[0], np.cumsum(folds.sizes)])
        self.columns = np.empty((self.n_features, self.by_fold.size))  # tested, in the scale of their fold, in turn
        for fold in range(folds.n_folds):
            self.columns[:, self.starts[fold] : self.starts[fold + 1]] = self._view(fold)[folds.test(fold)].T
        self._class_weights = fold_class_weights(self, sample_weight)
        self.log_priors = fold_log_priors(self._class_weights)
        self.moments = self._moments_of(slice(None))
        if self.device == "cuda":
            from pqswarm.evaluation.exact.naive_bayes.cuda import GaussianNBOnCuda

            self._gpu = GaussianNBOnCuda(self)

    def _moments_of(self, features: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means and variances of each fold's training samples, (folds, features, classes), and overall variances."""
        width = len(range(self.n_features)[features])
        shape = (self.folds.n_folds, width, self.classes.size)
        means = np.full(shape, np.nan)
        variances = np.full(shape, np.nan)
        spread = np.empty(shape[:2])
        for fold, (train, _) in enumerate(self.folds.split()):
            data = np.ascontiguousarray(self._view(fold)[train, features])
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

    def single(self, feature: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The column and moments of a single feature: NumPy rounds sums over one column differently."""
        column = slice(feature, feature + 1)
        return self.columns[column], *self._moments_of(column)

    def estimator(self) -> object:
        """Return scikit-learn's classifier."""
        from sklearn.naive_bayes import GaussianNB

        return GaussianNB(var_smoothing=self.var_smoothing)

    def class_scores(self, selected: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the log of prior times density of each prediction and class, and zeros: bits are scikit-learn's."""
        return self._scores_of_folds(selected, np.arange(self.folds.n_folds)), np.zeros(self.by_fold.size)

    def _scores_of_folds(self, selected: IntArray, folds: IntArray) -> FloatArray:
        """The scores of scikit-learn's models in some folds, from precomputed moments."""
        single = selected.size == 1
        moments = self._moments_of(slice(selected[0], selected[0] + 1)) if single else self.moments
        columns = np.zeros(1, dtype=np.int64) if single else selected
        scores = np.full((self.by_fold.size, self.classes.size), -np.inf)
        for fold in folds.tolist():
            means, variances, spread = (moment[fold][columns] for moment in moments)
            counts = self._class_weights[fold]
            seen = np.unique(self.labels[self.folds.train(fold)])
            model: Any = self.estimator()
            model.classes_ = seen
            model.class_prior_ = counts[seen] / counts.sum()
            model.theta_ = np.ascontiguousarray(means[:, seen].T)
            model.var_ = np.ascontiguousarray(variances[:, seen].T) + self.var_smoothing * spread.max()
            data = np.ascontiguousarray(self._view(fold)[self.folds.test(fold)][:, selected])
            with np.errstate(all="ignore"):
                scores[self.folds.rows(fold)[:, np.newaxis], seen] = model._joint_log_likelihood(data)
        return scores

    def _view(self, fold: int) -> FloatArray:
        return self._views[fold % len(self._views)]

    def decide_as_scikit_learn(self, mask: BoolArray, doubtful: IntArray, winners: IntArray) -> None:
        """Let scikit-learn decide about doubtful predictions, so that even its rounding is reproduced."""
        folds = np.unique(self.folds.row_folds[doubtful])
        winners[doubtful] = self._scores_of_folds(np.flatnonzero(mask), folds)[doubtful].argmax(axis=1)

    def _predict_on_cpu(self, masks: BoolArray, folds: range) -> IntArray:
        from pqswarm.evaluation.exact.naive_bayes.kernels import gaussian_winners

        part = slice(folds.start, folds.stop)
        starts = self.starts[folds.start : folds.stop + 1]
        predicted = np.empty((len(masks), self.by_fold.size), dtype=np.int64)

        def work(row: int) -> None:
            mask = masks[row]
            columns = self.columns
            selected = np.flatnonzero(mask)
            (means, variances, spread) = self.moments
            if selected.size == 1:
                columns, means, variances, spread = self.single(int(selected[0]))
                selected = np.zeros(1, dtype=np.int64)
            # A fraction of the largest variance of a selected feature, in each fold.
            smoothing = self.var_smoothing * spread[part, selected].max(axis=1)
            winners = np.empty(self.by_fold.size, dtype=np.int64)
            doubtful = np.zeros(self.by_fold.size, dtype=np.bool_)
            doubtful[starts[0] : starts[-1]] = True
            if (smoothing > 0).all():
                moments = (means[part], variances[part], smoothing, self.log_priors[part])
                gaussian_winners(columns, starts, selected, *moments, winners, doubtful)
            predicted[row, self.by_fold] = winners
            if doubtful.any():
                self.decide_as_scikit_learn(mask, self.by_fold[doubtful], predicted[row])

        self.in_threads(work, range(len(masks)))
        return predicted
