"""The built-in classifiers."""

from pqswarm.evaluation.classifiers.discrete_nb import DiscreteNBClassifier
from pqswarm.evaluation.classifiers.gaussian_nb import GaussianNBClassifier
from pqswarm.evaluation.classifiers.k_nn import KNNClassifier
from pqswarm.evaluation.classifiers.kernel_nb import KernelNBClassifier
from pqswarm.evaluation.classifiers.lda import LDAClassifier
from pqswarm.evaluation.classifiers.sklearn import EstimatorClassifier

__all__ = [
    "DiscreteNBClassifier",
    "EstimatorClassifier",
    "GaussianNBClassifier",
    "KNNClassifier",
    "KernelNBClassifier",
    "LDAClassifier",
]
