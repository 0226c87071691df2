"""Exact evaluators: the cross-validated error of feature subsets, many at a time."""

from pqswarm.evaluation.base import Evaluator, scaled
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.generic import GenericEvaluator
from pqswarm.evaluation.knn import METRICS, KNNEvaluator
from pqswarm.evaluation.memo import Memo
from pqswarm.evaluation.naive_bayes import GaussianNBEvaluator, KernelNBEvaluator
from pqswarm.evaluation.tuning import GridSearch, tune_kernel_nb, tune_knn

__all__ = [
    "METRICS",
    "Evaluator",
    "Folds",
    "GaussianNBEvaluator",
    "GenericEvaluator",
    "GridSearch",
    "KNNEvaluator",
    "KernelNBEvaluator",
    "Memo",
    "scaled",
    "tune_kernel_nb",
    "tune_knn",
]
