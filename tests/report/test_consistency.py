"""Stores of strangers: values that are well formed and yet impossible are damage, and never a crash of the report."""

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

from pqswarm.evaluation import GridSearchResult
from pqswarm.report.summary import check_consistency

GRID = GridSearchResult(("n_neighbors",), ((1,), (3,)), np.array([0.8, 0.9]))


def with_run(found, **changes):
    """The same classifier, of which one run says something else."""
    title, (first, *rest) = next(iter(found.runs.items()))
    return replace(found, runs=found.runs | {title: [replace(first, result=replace(first.result, **changes)), *rest]})


def with_noise(found, **changes):
    return replace(found, noise=replace(found.noise, **changes))


def with_grid(found, **changes):
    return replace(found, grid=replace(GRID, **changes))


def with_smaller(found, **changes):
    return replace(found, smaller=replace(found.smaller, **changes))


FORGED = {
    "a run without features": lambda found: with_run(found, mask=np.zeros(99, dtype=bool)),
    "a run of fewer features": lambda found: with_run(found, mask=np.ones(98, dtype=bool)),
    "an error of 2": lambda found: with_run(found, error=2.0),
    "an infinite error": lambda found: with_run(found, error=inf),
    "an error in words": lambda found: with_run(found, error="small"),
    "no evaluation": lambda found: with_run(found, n_evaluations=0),
    "half an evaluation": lambda found: with_run(found, n_evaluations=0.5),
    "no improvement": lambda found: with_run(found, improvements=np.empty((0, 3))),
    "improvements back in time": lambda found: with_run(found, improvements=np.array([[9, 0.1, 3], [1, 0.1, 2.0]])),
    "an improvement to nothing": lambda found: with_run(found, improvements=np.array([[9.0, nan, 3.0]])),
    "a front of others": lambda found: with_run(
        found, front_masks=np.ones((1, 3), dtype=bool), front_errors=np.array([0.1])
    ),
    "an error of all features above 1": lambda found: replace(found, all_features=1.4),
    "a smaller subset that is none": lambda found: with_smaller(found, mask=np.zeros(0, dtype=bool)),
    "a negative standard error": lambda found: with_smaller(found, standard_error=-1.0),
    "no smaller subset, which was tested": lambda found: replace(found, smaller=None),
    "nothing held out for the reference": lambda found: replace(
        found, held_out={title: errors for title, errors in found.held_out.items() if title != found.baseline}
    ),
    "held out for strangers": lambda found: replace(found, held_out=found.held_out | {"mine": np.zeros(2)}),
    "held-out errors above 1": lambda found: replace(
        found, held_out=found.held_out | {found.baseline: np.full(2, 3.0)}
    ),
    "accuracies above 100": lambda found: with_noise(found, all_features=found.noise.all_features + 100),
    "no accuracy of the reference": lambda found: with_noise(found, accuracy={}),
    "no confusion": lambda found: with_noise(found, before=np.asarray(None)),
    "a confusion of three": lambda found: with_noise(found, after=np.eye(3, dtype=np.int64)),
    "negative confusion": lambda found: with_noise(found, after=-found.noise.after),
    "a grid of other points": lambda found: with_grid(found, points=GRID.points[1:]),
    "a grid of nothing": lambda found: with_grid(found, points=()),
    "a grid of lists": lambda found: with_grid(found, points=(([],), ([],))),
}


@pytest.mark.parametrize("kind", FORGED)
def test_what_cannot_be_is_refused(study, kind):
    check_consistency(study)
    with pytest.raises(ValueError, match=r"k-NN|smaller subset|hyperparameters"):
        check_consistency(replace(study, classifiers=[FORGED[kind](study.classifiers[0])]))


@pytest.mark.parametrize("change", [{"n_events": 0}, {"class_names": ("sag",)}, {"feature_names": ("a",) * 99}])
def test_data_that_cannot_be_are_refused(study, change):
    with pytest.raises(ValueError, match=r"the events|the names of features"):
        check_consistency(replace(study, **change))
