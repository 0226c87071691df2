"""A study with an algorithm by its import path, and the swarms that the documentation shows."""

import re
from pathlib import Path

import pytest

from pqswarm.errors import PqswarmError
from pqswarm.search import Swarm2D
from pqswarm.search.conformance import check_search
from pqswarm.study import plan_text, read_plan, run_study
from tests.study.studies import contents, records, tiny

PAGE = Path(__file__).parents[2] / "examples" / "plot_own_swarms.py"
CODE = PAGE.read_text(encoding="utf-8").partition("# `check_search` runs")[0]
CLASSES = re.findall(r"^class (\w+)\(Swarm2D\):\n(?:(?:    .*)?\n)+", CODE, re.MULTILINE)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The swarms of the page as a module that Python finds."""
    (tmp_path / "documented_swarms.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    return "documented_swarms"


def test_the_swarms_of_the_page_are_short_and_have_one_hook():
    assert CLASSES == ["GPSO2D", "LPSO2D", "FIPS2D", "CLPSO2D"]
    for match in re.finditer(r"^class \w+\(Swarm2D\):\n(?:(?:    .*)?\n)+", CODE, re.MULTILINE):
        assert len(match[0].strip().splitlines()) <= 25
    assert Swarm2D.__abstractmethods__ == {"_likelihoods"}


@pytest.mark.parametrize("name", ["2d-gpso", "2d-lpso", "2d-fips", "2d-clpso"])
def test_the_swarms_of_the_page_conform(name):
    namespace = {}
    exec(compile(CODE, str(PAGE), "exec"), namespace)
    (swarm,) = [value for value in namespace.values() if getattr(value, "name", None) == name]
    check_search(swarm)


def plan(algorithm):
    """The smoke plan with another algorithm in the place of BPSO."""
    return read_plan(plan_text("smoke").replace('algorithm = "bpso"', algorithm), "my.toml")


def test_a_plan_takes_an_algorithm_by_its_import_path(module):
    by_path = plan(f'algorithm = "{module}:GPSO2D"\nparameters = {{ swarm_size = 20 }}').algorithm("GPSO2D")
    assert (by_path.title, by_path.search.name) == ("2D-GPSO", "2d-gpso")
    named = plan(f'name = "global swarm"\nalgorithm = "{module}:GPSO2D"').algorithm("global swarm")
    assert named.title == "global swarm"
    with pytest.raises(
        PqswarmError, match=r"my.toml.*\n.*unknown class of documented_swarms 'GPSO': did you mean 'GPSO2D'"
    ):
        plan(f'algorithm = "{module}:GPSO"')


def test_a_study_runs_it_in_processes_of_its_own(module, tmp_path):
    planned = tiny(runs=2, algorithms=("2d-upso", f"{module}:GPSO2D"))
    for jobs in (1, 2):
        run_study(planned, tmp_path / str(jobs), jobs=jobs)
    assert len(records(tmp_path / "2", "NB", "GPSO2D")) == 2
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
