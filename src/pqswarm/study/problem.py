"""A problem: events, folds and a classifier, from which any process can make the evaluator."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pqswarm._typing import FloatArray, IntArray
from pqswarm.evaluation import Evaluator, Folds, KernelNBEvaluator, KNNEvaluator
from pqswarm.study.plan import ClassifierPlan

__all__ = ["Problem"]


@dataclass(frozen=True, eq=False)
class Problem:
    """The cross-validated error of a classifier on some events, ready to be sent to another process.

    Attributes
    ----------
    X : ndarray of shape (n_events, n_features)
        Features.
    y : ndarray of int, shape (n_events,)
        Labels.
    test_fold : ndarray of int, shape (n_events,)
        The fold in which each event is tested.
    kind : {"k-nn", "kernel-nb"}
        Classifier.
    hyperparameters : mapping
        Its hyperparameters.
    scaling : {"once", "fold"}
        How features are scaled.
    """

    X: FloatArray
    y: IntArray
    test_fold: IntArray
    kind: str
    hyperparameters: Mapping[str, Any]
    scaling: str

    @classmethod
    def of(
        cls, classifier: ClassifierPlan, hyperparameters: Mapping[str, Any], X: FloatArray, y: IntArray, folds: Folds
    ) -> "Problem":
        """Make the problem of a planned classifier."""
        return cls(X, y, folds.test_fold, classifier.kind, dict(hyperparameters), classifier.scaling)

    @cached_property
    def key(self) -> str:
        """A digest of all that decides the errors."""
        digest = hashlib.sha256(repr((self.kind, sorted(self.hyperparameters.items()), self.scaling)).encode())
        for array in (self.X, self.y, self.test_fold):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def evaluator(self, n_jobs: int | None = None, device: str = "cpu") -> Evaluator:
        """Return the evaluator.

        Parameters
        ----------
        n_jobs : int or None
            Threads.
        device : {"cpu", "cuda"}
            Where it computes.

        Returns
        -------
        Evaluator
            The exact evaluator of the classifier.
        """
        make: Any = KNNEvaluator if self.kind == "k-nn" else KernelNBEvaluator
        folds = Folds(self.test_fold)
        settings = {**self.hyperparameters, "scaling": self.scaling, "n_jobs": n_jobs, "device": device}
        made: Evaluator = make(self.X, self.y, folds, **settings)
        return made
