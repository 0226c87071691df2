"""Until evaluation.choose is there."""

from dataclasses import dataclass
from typing import Any

from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from pqswarm.evaluation import Folds, GenericEvaluator, find_classifier


class Splits:
    @staticmethod
    def from_cv(cv, X, y, groups=None, *, classifier=False):
        return Folds.from_splitter(check_cv(cv, y, classifier=classifier), X, y, groups)


@dataclass(frozen=True)
class Choice:
    evaluator: Any
    reason: str


def _fold_errors(self, masks):
    return self.error_counts(masks) / self.folds.sizes


def choose_evaluator(estimator, X, y, splits, *, scoring=None, sample_weight=None, n_jobs=None):
    if is_classifier(estimator) and scoring in (None, "accuracy"):
        scaling, inner = "none", estimator
        if (
            type(estimator) is Pipeline
            and len(estimator.steps) == 2
            and type(estimator.steps[0][1]) is MinMaxScaler
            and not estimator.steps[0][1].clip
        ):
            scaling, inner = "fold", estimator.steps[1][1]
        found = find_classifier(inner)
        if found is not None:
            e = found.evaluator(X, y, splits, scaling=scaling, n_jobs=n_jobs)
            type(e).fold_errors = _fold_errors
            type(e).is_loss = False
            return Choice(e, f"{type(e).__name__}: exact")
    e = GenericEvaluator(X, y, splits, estimator, scoring, scaling="none", n_jobs=n_jobs)
    type(e).fold_errors = lambda self, masks: __import__("numpy").ones((len(masks), 5))
    return Choice(e, f"{type(e).__name__}: generic")
