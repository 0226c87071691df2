"""The scripts of research/ start, and their README names each; a source archive has none of them."""

import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pqswarm.recordings import read

RESEARCH = Path(__file__).parents[1] / "research"
SCRIPTS = sorted(path.stem for path in RESEARCH.glob("*.py"))

pytestmark = pytest.mark.skipif(not SCRIPTS, reason="a source archive has no research")


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    """The folder of the scripts comes first among those of modules, as if one of them was run."""
    monkeypatch.syspath_prepend(RESEARCH)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_starts(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_path(str(RESEARCH / f"{name}.py"), run_name="__main__")
    assert "usage: " in capsys.readouterr().out
    assert f"`python research/{name}.py" in (RESEARCH / "README.md").read_text(encoding="utf-8")


def test_a_mark_of_time_has_the_last_batch_that_ended_before_it(monkeypatch):
    """One batch may pass several marks; before the first batch ends, there is only that one."""
    follow = runpy.run_path(str(RESEARCH / "equal_time.py"))["follow"]
    times = iter([0.0, 2.0, 4.0, 40.0])
    fake = SimpleNamespace(process_time=lambda: next(times))
    run = SimpleNamespace(done=False, n_evaluations=0, best_error=0.5, best=np.ones(1, dtype=bool))
    monkeypatch.setitem(follow.__globals__, "time", fake)
    monkeypatch.setitem(follow.__globals__, "Run", lambda *_: run)
    monkeypatch.setitem(follow.__globals__, "advance_runs", lambda *_: setattr(run, "n_evaluations", next(counts)))
    counts = iter([10, 20, 30])
    found = follow(None, None, (1.0, 3.0, 10.0, 30.0))
    assert {mark: state[:2] for mark, state in found.items()} == {
        1.0: (2.0, 10),
        3.0: (2.0, 10),
        10.0: (4.0, 20),
        30.0: (4.0, 20),
    }


def test_a_three_phase_event_is_drawn_and_repeats():
    from three_phase import draw_suite

    (name, event), (again, same) = (next(iter(draw_suite(7, 1600, "noisy", 1))) for _ in range(2))
    assert name == again
    assert np.isfinite(event.voltages).all()
    np.testing.assert_array_equal(event.voltages, same.voltages)


def test_a_record_of_the_networks_repeats(tmp_path, monkeypatch):
    """A record depends on its kind and seed, can be read, and its truth has what the scorer asks."""
    monkeypatch.syspath_prepend(RESEARCH / "heldout")
    script = runpy.run_path(str(RESEARCH / "heldout" / "generate.py"))
    results = []
    for name in ("once", "again"):
        (tmp_path / name).mkdir()
        results.append(script["make"]("fault_two_phases", 5, tmp_path / name))
    assert results[0] == results[1]
    stem, truth = results[0]
    for end in (".cfg", ".dat"):
        first, second = ((tmp_path / name / (stem + end)).read_bytes() for name in ("once", "again"))
        assert first == second
    recording = read(tmp_path / "once" / f"{stem}.cfg")
    assert recording.sampling_rate == truth["rate"]
    assert truth["true_cause"] == "fault"
    assert truth["events"] == ["sag"]
    asked = re.findall(r"\bt\[\"(\w+)\"\]", (RESEARCH / "circuits" / "score.py").read_text(encoding="utf-8"))
    assert set(asked) <= set(truth)


def test_first_ten_minutes_are_those_of_the_pages():
    """The script runs every command of the three pages, in order, after the first installation."""
    import first_ten_minutes

    texts = {name: path.read_text(encoding="utf-8") for name, path in first_ten_minutes.PAGES.items()}
    start = first_ten_minutes.START.read_text(encoding="utf-8")
    installing, users = first_ten_minutes.read_pages(start, texts)
    for text, (steps, files) in zip(texts.values(), users.values(), strict=True):
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        assert [step.code for step in steps if not step.is_python] == re.findall(r"^\$ (.*)$", text, re.MULTILINE)
        assert "".join(step.code for step in steps if step.is_python) == "".join(blocks)
        assert files
    assert installing.code == "make install"
