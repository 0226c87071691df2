"""The studies that tests of the report look at."""

import pytest
from markupsafe import Markup
from tests.conftest import made_once
from tests.report.studies import TINY, TITLE, pictures_of, replanned, summary_of

from pqswarm.report import write_report
from pqswarm.study import read_plan, run_study


@pytest.fixture(scope="session")
def study(smoke_study):
    return summary_of(smoke_study)


@pytest.fixture(params=["k-NN", "NB"])
def found(study, request):
    return next(c for c in study.classifiers if c.name == request.param)


@pytest.fixture(scope="session")
def hostile(smoke_study, tmp_path_factory):
    """The same study under a title that no one should trust, with its report, only to be read.

    Its pictures take most of the time: they are those of the study's own report, where the title alone differs.
    """
    drawn = pictures_of((smoke_study / "report.html").read_text(encoding="utf-8"))

    def make(folder):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pqswarm.report.html._html_pictures", lambda drawing, prefix: drawn[drawing.name])
            write_report(replanned(smoke_study, folder, title=TITLE))

    return made_once(tmp_path_factory, "hostile-study", make)


@pytest.fixture
def no_pictures(monkeypatch):
    """Pages without pictures, which take most of the time, for tests of words and tables."""
    monkeypatch.setattr("pqswarm.report.html._html_pictures", lambda drawing, prefix: {"wide": Markup("<svg></svg>")})


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
