"""Exact evaluators of the cross-validated error of feature subsets, classifiers by name, and filters."""

from pqswarm._base.parameters import Parameters, parameter
from pqswarm.evaluation.base import ClassificationEvaluator, Evaluator, ExactEvaluator, RegressionEvaluator
from pqswarm.evaluation.choose import EvaluatorChoice, choose_evaluator
from pqswarm.evaluation.exact.knn.evaluator import METRICS, KNNEvaluator, KNNRegressionEvaluator
from pqswarm.evaluation.exact.linear.evaluator import LDAEvaluator, LinearEvaluator
from pqswarm.evaluation.exact.naive_bayes.evaluator import DiscreteNBEvaluator, GaussianNBEvaluator, KernelNBEvaluator
from pqswarm.evaluation.filters import FILTERS, Filter, Prefiltered, prefilter
from pqswarm.evaluation.folds import Folds, Splits
from pqswarm.evaluation.generic import GenericEvaluator
from pqswarm.evaluation.learners import (
    CLASSIFIERS,
    REGRESSORS,
    Classifier,
    GridSearchResult,
    Regressor,
    find_classifier,
    find_regressor,
)
from pqswarm.evaluation.wrappers import CachedEvaluator, FeatureGroups, GroupedEvaluator, RepeatedEvaluator

__all__ = [
    "CLASSIFIERS",
    "FILTERS",
    "METRICS",
    "REGRESSORS",
    "CachedEvaluator",
    "ClassificationEvaluator",
    "Classifier",
    "DiscreteNBEvaluator",
    "Evaluator",
    "EvaluatorChoice",
    "ExactEvaluator",
    "FeatureGroups",
    "Filter",
    "Folds",
    "GaussianNBEvaluator",
    "GenericEvaluator",
    "GridSearchResult",
    "GroupedEvaluator",
    "KNNEvaluator",
    "KNNRegressionEvaluator",
    "KernelNBEvaluator",
    "LDAEvaluator",
    "LinearEvaluator",
    "Parameters",
    "Prefiltered",
    "RegressionEvaluator",
    "Regressor",
    "RepeatedEvaluator",
    "Splits",
    "choose_evaluator",
    "find_classifier",
    "find_regressor",
    "parameter",
    "prefilter",
]
