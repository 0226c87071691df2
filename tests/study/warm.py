"""Import and load all that a study needs, and leave no thread: a server that has done so forks studies at once."""

from math import inf

import numpy as np

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import CLASSIFIERS, Folds

events = make_dataset(10, inf, 0, "paper", n_jobs=1)
folds, everything = Folds.stratified(events.y, 5, 0), np.ones((1, events.X(inf).shape[1]), dtype=np.bool_)
for name in ("k-nn", "kernel-nb"):
    classifier = CLASSIFIERS[name]()
    classifier.evaluator(events.X(inf), events.y, folds, n_jobs=1).errors(everything)
    classifier.estimator().fit(events.X(inf), events.y)
