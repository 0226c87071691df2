"""Events, folds and a classifier, from which any process can create the evaluator."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.evaluation import ClassificationEvaluator, Classifier, FeatureGroups, Folds, GroupedEvaluator


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

    def searched(self, n_jobs: int | None = None, device: str = "cpu") -> Any:
        """Return the evaluator of the bits of a search."""
        evaluator = self.evaluator(n_jobs, device)
        return evaluator if self.groups is None else GroupedEvaluator(evaluator, self.groups)
