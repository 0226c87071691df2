"""The exact error of Gaussian naive Bayes."""

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from pqswarm._base.options import Parameters, option, parameters
from pqswarm._base.typing import BoolArray, FloatArray, IntArray
from pqswarm.evaluation.backend import Backend, ExactEvaluator, ExactOptions
from pqswarm.evaluation.exact.naive_bayes.evaluator import fold_log_priors
from pqswarm.evaluation.folds import Folds


@parameters
class GaussianNBHyperparameters(Parameters):
    """Hyperparameters of Gaussian naive Bayes."""

    var_smoothing: float = option(
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

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = GaussianNBEvaluator(X, y, Folds.stratified(y))
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.1)
    True
    """

    def __init__(
        self, X: ArrayLike, y: ArrayLike, folds: Folds, var_smoothing: float = 1e-9, **options: Unpack[ExactOptions]
    ) -> None:
        super().__init__(X, y, folds, **options)
        self.var_smoothing = GaussianNBHyperparameters(var_smoothing=var_smoothing).var_smoothing
        self._views = self.fold_views()
        self.by_fold = np.argsort(folds.test_fold, kind="stable")
        self.starts = np.concatenate([[0], np.cumsum(folds.sizes)])
        self.columns = np.empty(self.data.shape[::-1])  # each event in the scale of its fold, fold by fold
        for fold in range(folds.n_folds):
            self.columns[:, self.starts[fold] : self.starts[fold + 1]] = self._view(fold)[folds.test(fold)].T
        self.log_priors = fold_log_priors(self)
        self.moments = self._moments_of(slice(None))
        self._backend = GaussianNBOnCpu(self)
        if self.device == "cuda":
            from pqswarm.evaluation.exact.naive_bayes.cuda import GaussianNBOnCuda

            self._backend = GaussianNBOnCuda(self)

    def _moments_of(self, features: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means and variances of each fold's training events, (folds, features, classes), and overall variances."""
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

    def single(self, feature: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The column and moments of a single feature: NumPy rounds sums over one column differently."""
        column = slice(feature, feature + 1)
        return self.columns[column], *self._moments_of(column)

    def _view(self, fold: int) -> FloatArray:
        return self._views[fold % len(self._views)]

    def decide_as_scikit_learn(self, mask: BoolArray, doubtful: IntArray, winners: IntArray) -> None:
        """Let scikit-learn decide about doubtful events, so that even its rounding is reproduced."""
        selected = np.flatnonzero(mask)
        moments = self._moments_of(slice(selected[0], selected[0] + 1)) if selected.size == 1 else self.moments
        columns = np.zeros(1, dtype=np.int64) if selected.size == 1 else selected
        for number in np.unique(self.folds.test_fold[doubtful]):
            events = doubtful[self.folds.test_fold[doubtful] == number]
            data = np.ascontiguousarray(self._view(int(number))[events][:, selected])
            with np.errstate(all="ignore"):
                model = self._model(int(number), *(moment[number][columns] for moment in moments))
                winners[events] = model.predict(data)

    def _model(self, fold: int, means: FloatArray, variances: FloatArray, spread: FloatArray) -> Any:
        """The model that scikit-learn would fit without a fold, from precomputed moments."""
        from sklearn.naive_bayes import GaussianNB

        counts = np.bincount(self.labels[self.folds.test_fold != fold], minlength=self.classes.size)
        seen = np.flatnonzero(counts)
        model = GaussianNB(var_smoothing=self.var_smoothing)
        model.classes_ = seen
        model.class_prior_ = counts[seen] / counts.sum()
        model.theta_ = np.ascontiguousarray(means[:, seen].T)
        model.var_ = np.ascontiguousarray(variances[:, seen].T) + self.var_smoothing * spread.max()
        return model


class GaussianNBOnCpu(Backend[GaussianNBEvaluator]):
    """Gaussian naive Bayes on the CPU, by the compiled code of ``kernels.py``."""

    def predict(self, masks: BoolArray, folds: range | None = None) -> IntArray:
        """Return the labels of every event for each mask; see :class:`Backend`."""
        from pqswarm.evaluation.exact.naive_bayes.kernels import gaussian_winners

        e = self.evaluator
        part = slice(None) if folds is None else slice(folds.start, folds.stop)
        starts = e.starts if folds is None else e.starts[folds.start : folds.stop + 1]
        predicted = np.empty((len(masks), len(e.data)), dtype=np.int64)

        def work(row: int) -> None:
            mask = masks[row]
            columns, selected, (means, variances, spread) = e.columns, np.flatnonzero(mask), e.moments
            if selected.size == 1:
                columns, means, variances, spread = e.single(int(selected[0]))
                selected = np.zeros(1, dtype=np.int64)
            # A fraction of the largest variance of a selected feature, in each fold.
            smoothing = e.var_smoothing * spread[part, selected].max(axis=1)
            winners = np.empty(len(e.data), dtype=np.int64)
            doubtful = np.zeros(len(e.data), dtype=np.bool_)
            doubtful[starts[0] : starts[-1]] = True
            if (smoothing > 0).all():
                moments = (means[part], variances[part], smoothing, e.log_priors[part])
                gaussian_winners(columns, starts, selected, *moments, winners, doubtful)
            predicted[row, e.by_fold] = winners
            if doubtful.any():
                e.decide_as_scikit_learn(mask, e.by_fold[doubtful], predicted[row])

        e.in_threads(work, list(range(len(masks))))
        return predicted
