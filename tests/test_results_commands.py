"""Every command that the page of reference results prints runs, in the order of the page, at small size."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pqswarm.cli.main import app
from pqswarm.study import load_plan
from pqswarm.study.plan import DatasetPlan, parse_changes

pytestmark = pytest.mark.slow
RESULTS = Path(__file__).parents[1] / "docs" / "results"
PAGE = RESULTS / "replication.md"
ON_A_LINE = re.compile(r"^(?:\$ |    )pqswarm ([a-z][^#\n]*)", re.MULTILINE)
IN_A_SENTENCE = re.compile(r"`pqswarm ([a-z][^`\n]*)`")
CLASSES = ["pure_sinusoid", "dc_offset", "flicker", "sag", "interruption", "sag_with_transient"]
SMALL = {"runs": 2, "max_evaluations": 30, "dataset.events_per_class": 10, "folds.number": 2}


def printed_commands(text):
    """The commands of a page, as lists of words, in its order."""
    found = [*ON_A_LINE.finditer(text), *IN_A_SENTENCE.finditer(text)]
    return [shlex.split(match[1]) for match in sorted(found, key=lambda match: match.start())]


def small_changes(plan):
    """Changes that make the study of a plan small, whatever it varies."""
    changes = SMALL | {"classifiers.*.grid_search": False}
    changes |= {f"algorithms.{each.name}.size": 2 for each in plan.sequential}
    if isinstance(plan.dataset, DatasetPlan):
        changes["dataset.classes"] = CLASSES
        changes["dataset.snr"] = [float("inf"), 30.0]
    if plan.dataset_seeds:
        changes["dataset.seeds"] = list(plan.dataset_seeds[:2])
    elif plan.multiverse is None:
        changes |= {"held_out.events_per_class": 10, "held_out.seeds": [1001]}
    return changes


def small_command(words):
    """A command with the size of its study reduced, on a CPU."""
    if words[0] != "study":
        return words
    kept = [word for word in words if word not in ("--device", "cuda")]
    given = [kept[i + 1] for i, word in enumerate(kept) if word == "--set"]
    plan = load_plan(kept[1], parse_changes(given))
    changes = small_changes(plan)
    if plan.multiverse is not None:
        for choice, alternatives in plan.multiverse.choices.items():
            for i, (name, keys) in enumerate(alternatives.items()):
                if "dataset.events_per_class" in keys:
                    changes[f"multiverse.choices.{choice}.{name}"] = {"dataset.events_per_class": 10 + i}
    if plan.multiverse is not None and "--specification" not in kept:
        changes |= {"multiverse.design": "random", "multiverse.specifications": 8, "multiverse.marked": {}}
    options = [f"--set={key}={_toml(value)}" for key, value in changes.items()]
    return [*kept, *options, "--jobs", "1"]


def _toml(value):
    """A value as TOML writes it."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        pairs = (f'"{key}" = {_toml(each)}' for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    return repr(value).lower() if isinstance(value, bool) else repr(value)


def test_commands_are_found():
    text = (
        "    pqswarm study paper --device cuda   # minutes\n\n$ pqswarm report study-paper\n`pqswarm plan show paper`\n"
    )
    assert printed_commands(text) == [
        ["study", "paper", "--device", "cuda"],
        ["report", "study-paper"],
        ["plan", "show", "paper"],
    ]
    assert len(printed_commands(PAGE.read_text(encoding="utf-8"))) >= 5


def test_printed_commands_run(tmp_path, monkeypatch):
    for file in (*RESULTS.glob("*.toml"), *RESULTS.glob("*.csv")):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pqswarm.report.html._html_pictures", lambda drawing, prefix: {"wide": ""})
    for words in printed_commands(PAGE.read_text(encoding="utf-8")):
        told = CliRunner().invoke(app, small_command(words))
        assert told.exit_code == 0, f"pqswarm {shlex.join(words)}: {told.exception or told.output}"
