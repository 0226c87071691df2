"""A small study that many tests look at."""

import shutil

import pytest

from pqswarm.study import run_study
from tests.conftest import made_once
from tests.study.studies import events_of_few, tiny


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """The folder of the finished study of the plan ``tiny()``, made in one process, only to be read."""
    return made_once(tmp_path_factory, "tiny-study", lambda folder: run_study(tiny(), folder, jobs=1))


@pytest.fixture
def study_copy(study, tmp_path):
    """The same, to be changed."""
    return shutil.copytree(study, tmp_path / "copy")


@pytest.fixture(scope="session")
def events():
    return events_of_few()
