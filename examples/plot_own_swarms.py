"""
Other swarms with learning in two dimensions
============================================

Most particle swarms can learn how many features to select, and which. `Swarm2D` has everything but the choice of
exemplars; a variant writes one method, `_likelihoods`. Here are the global, the local, the fully informed and the
comprehensive learning swarm, each a complete search that resumes and runs in studies.
"""

import matplotlib.pyplot as plt
import numpy as np

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import CachedEvaluator, Folds, GaussianNBEvaluator
from pqswarm.search import UPSO2D, Swarm2D, minimize
from pqswarm.search.conformance import check_search
from pqswarm.search.learning2d import neighborhood_best

# %%
# The two ends of 2D-UPSO. A particle learns from its own best, and from the best of all or of its neighbors on a ring.


class GPSO2D(Swarm2D):
    """The global swarm: a particle learns from its own best and from the best of all."""

    name = "2d-gpso"
    title = "2D-GPSO"

    def _likelihoods(self):
        own = self.parameters.cognitive * self._random_numbers()
        others = self.parameters.social * self._random_numbers()
        return self._learned((own, self.pbest), (others, self.gbest))


class LPSO2D(Swarm2D):
    """The local swarm: a particle learns from its own best and from the best of its neighbors on a ring."""

    name = "2d-lpso"
    title = "2D-LPSO"

    def _likelihoods(self):
        own = self.parameters.cognitive * self._random_numbers()
        others = self.parameters.social * self._random_numbers()
        nbest = self.pbest[neighborhood_best(self.pbest_errors)]
        return self._learned((own, self.pbest), (others, nbest))


# %%
# In the fully informed swarm (Mendes, Kennedy and Neves, 2004) all neighbors teach, with equal weights.


class FIPS2D(Swarm2D):
    """The fully informed swarm: a particle learns from the bests of all of its neighbors, and from its own."""

    name = "2d-fips"
    title = "2D-FIPS"

    def _likelihoods(self):
        weight = (self.parameters.cognitive + self.parameters.social) / 3
        bests = [np.roll(self.pbest, step, axis=0) for step in (-1, 0, 1)]
        return self._learned(*((weight * self._random_numbers(), best) for best in bests))


# %%
# In comprehensive learning (Liang and others, 2006) each feature has a teacher of its own, the better of two particles
# drawn at random or the particle itself. A particle that does not improve for seven iterations changes its teachers.
# What a search remembers beyond its base class is listed in `state_fields`.


class CLPSO2D(Swarm2D):
    """Comprehensive learning: a particle learns each feature from the best of some particle."""

    name = "2d-clpso"
    title = "2D-CLPSO"
    state_fields = (*Swarm2D.state_fields, "teachers", "drawn")

    def _start(self):
        super()._start()
        self.teachers = np.zeros(self.positions.shape, dtype=np.int64)
        self.drawn = np.full(len(self.positions), -7)  # stagnation when the teachers were drawn

    def _likelihoods(self):
        count, n = self.positions.shape
        chance = 0.05 + 0.45 * np.expm1(np.linspace(0, 10, count)) / np.expm1(10)
        one, other = (self.rng.random((2, count, n)) * count).astype(int)
        better = np.where(self.pbest_errors[one] <= self.pbest_errors[other], one, other)
        another = self.rng.random((count, n)) < chance[:, np.newaxis]
        due = (self.stagnation >= self.drawn + 7) | (self.stagnation < self.drawn)
        self.drawn = np.where(due, self.stagnation, self.drawn)
        chosen = np.where(another, better, np.arange(count)[:, np.newaxis])
        self.teachers = np.where(due[:, np.newaxis], chosen, self.teachers)
        exemplars = np.take_along_axis(self.pbest, self.teachers, axis=0)
        return self._learned((self.parameters.cognitive * self._random_numbers(), exemplars))


# %%
# `check_search` runs the checks that every algorithm must pass. In a plan these swarms are used by their import path,
# such as `algorithm = "my_swarms:FIPS2D"`.

dataset = make_dataset(events_per_class=10, snr=float("inf"), seed=0)
folds = Folds.stratified(dataset.y, n_folds=5, seed=0)
evaluator = CachedEvaluator(GaussianNBEvaluator(dataset.X(), dataset.y, folds))
BUDGET = 1500

_, axis = plt.subplots(figsize=(7.5, 3.2), layout="constrained")
for swarm in (UPSO2D, GPSO2D, LPSO2D, FIPS2D, CLPSO2D):
    check_search(swarm)
    found = minimize(swarm, evaluator, max_evaluations=BUDGET, seed=0)
    print(f"{swarm.title:8} error {found.error:.3f} with {found.mask.sum()} features")
    axis.step(np.arange(len(found.errors)), found.errors, where="post", label=swarm.title)
axis.set(xlabel="evaluations", ylabel="lowest cross-validated error", xscale="log")
axis.legend(frameon=False)
plt.show()
