"""Naive Bayes with kernel densities."""

from typing import Any, ClassVar, Self

import numpy as np

from pqswarm._base.parameters import Parameters
from pqswarm._base.threads import effective_jobs
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.exact.naive_bayes.evaluator import KernelNBEvaluator, KernelNBHyperparameters


class KernelNBClassifier(Classifier):
    """Naive Bayes with normal kernel densities, one of the paper's two classifiers."""

    name = "kernel-nb"
    title = "Kernel NB"
    Hyperparameters: ClassVar[type[Parameters]] = KernelNBHyperparameters
    devices = ("cpu", "cuda")
    exact = True
    grid: ClassVar[Any] = {
        "bandwidth": tuple(sorted({*(float(f"{value:.2g}") for value in np.logspace(-4, 0, 21)), 0.004}))
    }
    hyperparameters: KernelNBHyperparameters
    fast_evaluator = KernelNBEvaluator

    def estimator(self) -> Any:
        """Return :class:`pqswarm.KernelNB`."""
        from pqswarm.evaluation.exact.naive_bayes.kernel import KernelNB

        return KernelNB(**self.settings)

    def describe(self) -> str:
        """Return a short description."""
        floor = self.hyperparameters.floor
        bounded = f" and a floor of {floor:g}" if floor else ""
        plain = " and underflow" if self.hyperparameters.underflow else ""
        return f"naive Bayes with kernels of bandwidth {self.hyperparameters.bandwidth:g}{bounded}{plain}"

    def predict_new(
        self, X: FloatArray, y: AnyArray, new: FloatArray, masks: BoolArray, *, n_jobs: int | None = None
    ) -> AnyArray:
        """Predict the labels of new samples; the log densities of each feature are computed once for all subsets."""
        from joblib import Parallel, delayed

        from pqswarm.evaluation.exact.naive_bayes.kernels import decide_exactly

        def terms(columns: IntArray) -> tuple[FloatArray, FloatArray]:
            found: tuple[FloatArray, FloatArray] = self.estimator().fit(X[:, columns], y)._terms(new[:, columns])
            return found

        jobs = min(effective_jobs(n_jobs), X.shape[1])
        parts = np.array_split(np.arange(X.shape[1]), jobs)
        found = Parallel(n_jobs=jobs, backend="threading")(delayed(terms)(columns) for columns in parts)
        table = np.concatenate([part for part, _ in found])
        priors = found[0][1]
        winners = np.empty((len(masks), len(new)), dtype=np.int64)
        for mask, row in zip(masks, winners, strict=True):
            decide_exactly(table, priors, np.flatnonzero(mask), np.arange(len(new)), row)
        return np.asarray(np.unique(y)[winners])

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self | None:
        """Return the classifier that equals a :class:`pqswarm.KernelNB`."""
        from pqswarm.evaluation.exact.naive_bayes.kernel import KernelNB

        return cls(estimator.checked_hyperparameters()) if type(estimator) is KernelNB else None
