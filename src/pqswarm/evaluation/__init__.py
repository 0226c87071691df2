"""Exact evaluators of the cross-validated error of feature subsets, classifiers by name, and filters."""

from pqswarm._base.options import Parameters, option, parameters
from pqswarm.evaluation.backend import ExactEvaluator
from pqswarm.evaluation.base import ClassificationEvaluator, Evaluator
from pqswarm.evaluation.choose import EvaluatorChoice, choose_evaluator
from pqswarm.evaluation.classifier import Classifier
from pqswarm.evaluation.exact.knn.evaluator import METRICS, KNNEvaluator
from pqswarm.evaluation.exact.knn.regression import KNNRegressionEvaluator
from pqswarm.evaluation.exact.linear.lda import LDAEvaluator
from pqswarm.evaluation.exact.linear.regression import LinearEvaluator
from pqswarm.evaluation.exact.naive_bayes.discrete import DiscreteNBEvaluator
from pqswarm.evaluation.exact.naive_bayes.evaluator import KernelNBEvaluator
from pqswarm.evaluation.exact.naive_bayes.gaussian import GaussianNBEvaluator
from pqswarm.evaluation.filters.filter import FILTERS, Filter, Prefiltered, prefilter
from pqswarm.evaluation.folds import Folds
from pqswarm.evaluation.generic import GenericEvaluator
from pqswarm.evaluation.grid import GridSearchResult
from pqswarm.evaluation.grouping import FeatureGroups, GroupedEvaluator
from pqswarm.evaluation.memo import Memo
from pqswarm.evaluation.racing import Race, RacingEvaluator, race
from pqswarm.evaluation.registry import CLASSIFIERS, REGRESSORS, find_classifier, find_regressor
from pqswarm.evaluation.regression import RegressionEvaluator
from pqswarm.evaluation.regressor import Regressor
from pqswarm.evaluation.repeated import RepeatedEvaluator
from pqswarm.evaluation.scaling import scaled
from pqswarm.evaluation.splits import Splits

__all__ = [
    "CLASSIFIERS", "FILTERS", "METRICS", "REGRESSORS", "ClassificationEvaluator", "Classifier",
    "DiscreteNBEvaluator", "Evaluator", "EvaluatorChoice", "ExactEvaluator", "FeatureGroups", "Filter", "Folds",
    "GaussianNBEvaluator", "GenericEvaluator",
    "GridSearchResult", "GroupedEvaluator", "KNNEvaluator", "KNNRegressionEvaluator", "KernelNBEvaluator",
    "LDAEvaluator", "LinearEvaluator", "Memo", "Parameters", "Prefiltered",
    "Race", "RacingEvaluator", "RegressionEvaluator", "Regressor", "RepeatedEvaluator", "Splits", "choose_evaluator",
    "find_classifier", "find_regressor", "option", "parameters", "prefilter", "race", "scaled",
]  # fmt: skip
