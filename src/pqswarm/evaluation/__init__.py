"""Exact evaluators of the cross-validated error of feature subsets, classifiers by name, and filters."""

from pqswarm._base.parameters import Parameters, parameter
from pqswarm.evaluation.backend import ExactEvaluator
from pqswarm.evaluation.base import ClassificationEvaluator, Evaluator
from pqswarm.evaluation.cached import CachedEvaluator
from pqswarm.evaluation.choose import EvaluatorChoice, choose_evaluator
from pqswarm.evaluation.exact.knn.evaluator import METRICS, KNNEvaluator, KNNRegressionEvaluator
from pqswarm.evaluation.exact.linear.lda import LDAEvaluator
from pqswarm.evaluation.exact.linear.regression import LinearEvaluator
from pqswarm.evaluation.exact.naive_bayes.discrete import DiscreteNBEvaluator
from pqswarm.evaluation.exact.naive_bayes.evaluator import KernelNBEvaluator
from pqswarm.evaluation.exact.naive_bayes.gaussian import GaussianNBEvaluator
from pqswarm.evaluation.filters.filter import FILTERS, Filter, Prefiltered, prefilter
from pqswarm.evaluation.folds import Folds, Splits
from pqswarm.evaluation.generic import GenericEvaluator
from pqswarm.evaluation.grid import GridSearchResult
from pqswarm.evaluation.grouping import FeatureGroups, GroupedEvaluator
from pqswarm.evaluation.learner import Classifier, Regressor
from pqswarm.evaluation.registry import CLASSIFIERS, REGRESSORS, find_classifier, find_regressor
from pqswarm.evaluation.regression import RegressionEvaluator
from pqswarm.evaluation.repeated import RepeatedEvaluator

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
