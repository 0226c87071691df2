"""Events, folds and a classifier, from which any process can create the evaluator."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError, naming_plugin
from pqswarm.evaluation import ClassificationEvaluator, Classifier, FeatureGroups, Folds, GroupedEvaluator
from pqswarm.search.base import checked_errors


@dataclass(frozen=True, eq=False)
class StudyProblem:
    """The cross-validated error of a classifier on given events, for any process."""

    X: FloatArray  # (n_events, n_features)
    y: IntArray  # (n_events,)
    test_fold: IntArray  # (n_events,): the fold in which each event is tested
    classifier: Classifier
    scaling: Literal["once", "minmax", "standard", "robust"] = "once"
    groups: FeatureGroups | None = None  # the features that each bit of a search selects; None: one each

    @cached_property
    def key(self) -> str:
        """A digest of everything that determines the errors."""
        settings = dict(self.classifier.settings)
        if settings.get("underflow") is False:  # digests are older than this option
            del settings["underflow"]
        classifier = (self.classifier.name, sorted(settings.items()), self.scaling)
        digest = hashlib.sha256(repr(classifier).encode())
        for array in (self.X, self.y, self.test_fold, *([self.groups.owner] if self.groups else [])):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def evaluator(self, n_jobs: int | None = None, device: str = "cpu") -> ClassificationEvaluator:
        """Return the evaluator of the classifier, for a number of threads and a device."""
        return self.classifier.evaluator(
            self.X, self.y, Folds(self.test_fold), scaling=self.scaling, n_jobs=n_jobs, device=device
        )

    def error_of_all(self, n_jobs: int) -> float:
        """Return the error of all features; refuse a classifier of another package that violates its contract."""
        masks = np.ones((3, self.X.shape[1]), dtype=np.bool_)
        masks[2, 0] = False
        with naming_plugin("classifier", self.classifier):
            evaluator = self.evaluator(n_jobs)
            found, again = (checked_errors(evaluator.errors(masks), 3) for _ in range(2))
            if masks.sum() != masks.size - 1 or found[0] != found[1] or (again != found).any():
                raise PqswarmError("it changes the masks, or gives a subset two errors")
            if found.min() < 0.0 or found.max() > 1.0:
                raise PqswarmError(f"its errors must be from 0 to 1, not {found.tolist()}")
        return float(found[0])

    def searched(self, n_jobs: int | None = None, device: str = "cpu") -> Any:
        """Return the evaluator of the bits of a search."""
        evaluator = self.evaluator(n_jobs, device)
        return evaluator if self.groups is None else GroupedEvaluator(evaluator, self.groups)
