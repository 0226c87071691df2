"""The benchmark tools, without timing anything: figures, comparison with a release, lists."""

import ast
import importlib
import json
import re
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
TOOLS = ("figures", "run")
FILES = sorted(path.stem for path in BENCHMARKS.glob("*.py") if path.stem not in TOOLS)


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("figures")


@pytest.fixture
def run(figures):
    return importlib.import_module("run")


def released_with(**values):
    figures = {name: {"value": value, "unit": "x", "spread": 0.05} for name, value in values.items()}
    about = {"version": "0.0.1", "date": "2026-01-01", "machine": {}}
    return {"benchmarks": {"made-up": {**about, "figures": figures}}}


def defined_functions(name):
    tree = ast.parse((BENCHMARKS / f"{name}.py").read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def patterns(name):
    """Each string of a benchmark as a regular expression; placeholders match anything."""
    tree = ast.parse((BENCHMARKS / f"{name}.py").read_text())
    for node in ast.walk(tree):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        texts = [str(part.value) if isinstance(part, ast.Constant) else None for part in parts]
        if any(texts):
            yield "".join(".+" if text is None else re.escape(text) for text in texts)


@pytest.mark.parametrize("name", FILES)
def test_what_a_benchmark_takes_from_tests_is_there(name):
    tree = ast.parse((BENCHMARKS / f"{name}.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("tests."):
            module = importlib.import_module(node.module)
            assert not [alias.name for alias in node.names if not hasattr(module, alias.name)]


def test_readme_names_every_benchmark():
    text = (BENCHMARKS / "README.md").read_text()
    assert not [name for name in FILES if f"python benchmarks/{name}.py" not in text]


def test_every_benchmark_has_figures(run):
    assert sorted(run.all_benchmarks()) == [name for name in FILES if "figures" in defined_functions(name)] == FILES


def test_recorded_figures_exist():
    released = json.loads((BENCHMARKS / "released.json").read_text())["benchmarks"]
    assert released
    for name, kept in released.items():
        known = [pattern for pattern in patterns(name) if len(re.sub(r"\W", "", pattern)) > 3]
        assert {"version", "date", "runs", "machine", "figures"} <= set(kept)
        assert not [figure for figure in kept["figures"] if not any(re.fullmatch(p, figure) for p in known)]
        assert all(one["value"] > 0 and 0 <= one["spread"] < 1 for one in kept["figures"].values())


def test_ratio_is_the_median_of_rounds_in_turn(figures):
    order = []

    def side(name, seconds):
        return lambda turn: order.append(name) or seconds[turn]

    figure = figures.compare_seconds(
        "a", "b / c", side("theirs", [8.0, 6.0, 40.0]), side("ours", [2.0, 2.0, 2.0]), rounds=3, factors=(1, 0.5)
    )
    assert figure.value == 8.0
    assert figure.seconds == (8.0, 1.0)
    assert order == ["theirs", "ours", "ours", "theirs", "theirs", "ours"]
    lower = figures.compare_seconds("a", "c / b", lambda _: 2.0, lambda _: 3.0, better="lower")
    assert (lower.value, lower.spread) == (1.5, 0.0)


@pytest.mark.parametrize(
    ("options", "now", "verdict"),
    [
        ({}, 10.0, "same"),
        ({}, 7.8, "same"),  # a quarter slower, and the recording's own spread
        ({}, 7.6, "slower"),
        ({}, 13.5, "faster"),
        ({"better": "lower"}, 12.8, "same"),
        ({"better": "lower"}, 13.2, "slower"),
        ({"better": "lower"}, 7.0, "faster"),
        ({"unit": "%", "tolerance": 0.01}, 9.8, "worse"),  # a figure without noise has its own tolerance
    ],
)
def test_regression_is_found(figures, options, now, verdict):
    (row,) = figures.against("made-up", [figures.Figure("a", "b / c", now, **options)], released_with(a=10.0), 0.25)
    assert row.verdict == verdict
    assert row.is_regression == (verdict in ("slower", "worse"))


def test_new_and_disturbed_figures_are_not_compared(figures):
    made = [figures.Figure("new", "b / c", 1.0), figures.Figure("a", "b / c", 1.0, disturbed=True)]
    rows = list(figures.against("made-up", made, released_with(a=10.0), 0.25))
    assert [row.verdict for row in rows] == ["new", "disturbed"]
    assert not any(row.is_regression for row in rows)


def test_disturbed_figures_are_not_recorded(run, figures):
    calm, busy = (figures.Figure("a", "b / c", value, disturbed=value < 2) for value in (2.0, 1.0))
    assert run.merge([[busy], [calm]])["a"]["value"] == 2.0
    assert not run.merge([[busy]])


@pytest.fixture
def made_up(run, figures, monkeypatch):
    """A benchmark with two figures that the test chooses for each run."""
    values = []

    class MadeUp(run.Benchmark):
        def figures(self):
            fast, small = values.pop(0)
            return [figures.Figure("fast", "b / c", fast), figures.Figure("small", "memory", small, "MB", "lower")]

    monkeypatch.setattr(run, "others_running", lambda: 0.0)
    monkeypatch.setattr(run, "has_gpu", lambda: False)
    monkeypatch.setattr(run, "all_benchmarks", lambda: {"made-up": MadeUp("made-up"), "gpu": run.Benchmark("gpu")})
    return values


def test_table_names_what_got_slower(run, made_up, tmp_path, capsys):
    path = tmp_path / "released.json"
    made_up += [(10.0, 50.0), (12.0, 50.0), (11.0, 50.0)]
    assert run.main(["--record", "0.0.1", "--released", str(path)]) == 0
    kept = json.loads(path.read_text())["benchmarks"]["made-up"]
    assert kept["figures"]["fast"] == {"value": 11.0, "unit": "x", "spread": 0.091}
    made_up += [(5.0, 40.0), (5.5, 41.0)]  # it is run once more
    capsys.readouterr()
    assert run.main(["--released", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(re.fullmatch(r"made-up +fast +11 +5.5 x +-50 % +slower", line) for line in lines)
    assert any(re.fullmatch(r"made-up +small +50 +40 MB +\+25 % +same", line) for line in lines)
    assert "skipped: gpu (needs an NVIDIA GPU and CuPy): python benchmarks/gpu.py" in lines
    assert "fast (-50 %)" in lines[-1]


def test_slowness_that_a_second_run_does_not_confirm_is_no_regression(run, made_up, tmp_path, capsys):
    path = tmp_path / "released.json"
    path.write_text(json.dumps(released_with(fast=10.0, lost=1.0)))
    made_up += [(5.0, 40.0), (9.0, 40.0)]
    assert run.main(["--released", str(path), "--only", "made-up"]) == 0
    assert "no longer measured: lost" in capsys.readouterr().out
    made_up += [(9.0, 40.0)]
    assert run.main(["--released", str(path), "--tolerance", "0.1"]) == 0


def test_unreadable_record_is_named(run, tmp_path):
    path = tmp_path / "released.json"
    path.write_text("no")
    with pytest.raises(SystemExit, match="--record VERSION"):
        run.main(["--released", str(path), "--only", "study"])
