"""The studies that tests of the report look at."""

import pytest
from tests.report.studies import TINY, TITLE, replanned, summary_of

from pqswarm.study import read_plan, run_study


@pytest.fixture(scope="session")
def study(smoke_study):
    return summary_of(smoke_study)


@pytest.fixture(params=["k-NN", "NB"])
def found(study, request):
    return next(c for c in study.classifiers if c.name == request.param)


@pytest.fixture(scope="session")
def hostile(smoke_study, tmp_path_factory):
    """The same study under a title that no one should trust."""
    return replanned(smoke_study, tmp_path_factory.mktemp("hostile") / "study", title=TITLE)


@pytest.fixture
def knn(study):
    return study.classifiers[0]


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    """One run of own algorithms, without noise and SFFS, with classifiers whose names look alike."""
    path = tmp_path_factory.mktemp("tiny")
    run_study(read_plan(TINY), path, jobs=1)
    return path


@pytest.fixture(scope="session")
def tiny(tiny_folder):
    return summary_of(tiny_folder)
