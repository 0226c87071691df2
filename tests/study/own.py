"""A classifier and a search of a user's own module, which no entry point makes known."""

from sklearn.naive_bayes import GaussianNB

from pqswarm.evaluation import Classifier, GaussianNBEvaluator
from pqswarm.search import SFFS


class OwnClassifier(Classifier):
    """Gaussian naive Bayes, fitted as usual."""

    name = "own"
    title = "Own"

    def estimator(self):
        return GaussianNB()


class GPUClassifier(OwnClassifier):
    """It says that it computes on a GPU, too, and does not."""

    name = "own-gpu"
    devices = ("cpu", "cuda")

    def _evaluator(self, X, y, folds, device="cpu", **options):
        return GaussianNBEvaluator(X, y, folds, **options)


class OwnSearch(SFFS):
    """SFFS by another name: it runs once, because it says so."""

    name = "own-search"
    title = "Own search"
