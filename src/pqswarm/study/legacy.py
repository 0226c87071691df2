"""Studies of the first schema, whose findings were named values: what they say, in today's records, to be read."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

import numpy as np

from pqswarm.evaluation import GridSearchResult
from pqswarm.search import SearchResult
from pqswarm.study import findings
from pqswarm.study.findings import Finding
from pqswarm.study.records import RunKey, RunRecord, text_mask

__all__ = ["translate"]

_RENAMED = {"width": "bandwidth"}
_RUNS = "SELECT classifier, algorithm, run, seed, error, size, mask, n_evaluations, improvements, seconds FROM runs"


def translate(db: sqlite3.Connection) -> tuple[list[Finding], list[RunRecord]]:
    """Return the findings and the finished runs of a database of schema 1, which is only read."""
    facts = {name: json.loads(value) for name, value in db.execute("SELECT name, value FROM facts")}
    found = [_finding(name, value, facts) for name, value in facts.items()]
    searches = {plan["name"]: plan["algorithm"] for plan in json.loads(facts.get("plan", "{}")).get("algorithms", [])}
    return [one for one in found if one is not None], [_run(row, searches) for row in db.execute(_RUNS)]


def _finding(name: str, value: Any, facts: Mapping[str, Any]) -> Finding | None:
    kind, _, classifier = name.partition("/")
    match kind:
        case "plan":
            about = (facts[key] for key in ("version", "began", "machine"))
            return findings.About(_plan(json.loads(value)) | {"title": facts["title"]}, *about)
        case "events":
            return findings.Events(**value)
        case "finished":
            return findings.Finished(value)
        case "grid":
            names, points = tuple(_renamed(dict.fromkeys(value["names"]))), tuple(map(tuple, value["points"]))
            usable = tuple("cosine" not in point for point in points)
            return findings.Grid(classifier, GridSearchResult(names, points, np.array(value["accuracies"]), usable))
        case "hyperparameters":
            return findings.Hyperparameters(classifier, _renamed(value))
        case "problem":
            return findings.ProblemDigest(classifier, value)
        case "J(U)":
            return findings.AllFeatures(classifier, value)
        case "one-se":
            return findings.OneStandardError(classifier, **value | {"mask": text_mask(value["mask"])})
        case "fresh":
            return findings.HeldOut(classifier, value)
        case "stage2":
            classifier, _, level = classifier.rpartition("/")
            tables = {key: np.array(value[key]) for key in ("before", "after") if key in value}
            return findings.StageTwo(classifier, float(level), value["accuracy"], **tables)
    return None  # part of another


def _plan(kept: dict[str, Any]) -> dict[str, Any]:
    """The plan in today's words."""
    plan = kept | {"held_out": kept.pop("fresh"), "paper": kept["dataset"]["preset"] == "paper"}
    hyperparameters = ("n_neighbors", "metric", "width")
    classifiers = [
        {key: value for key, value in given.items() if key not in hyperparameters}
        | {"parameters": _renamed({key: given[key] for key in hyperparameters if given[key] is not None})}
        for given in kept["classifiers"]
    ]
    return plan | {"classifiers": classifiers}


def _renamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {_RENAMED.get(name, name): value for name, value in settings.items()}


def _run(row: tuple[Any, ...], searches: Mapping[str, str]) -> RunRecord:
    classifier, algorithm, run, seed, error, size, mask, n_evaluations, improvements, seconds = row
    if mask.count("1") != size:
        raise ValueError(f"the mask of {classifier}, {algorithm}, run {run} is not of {size} features")
    steps = np.array(json.loads(improvements), dtype=np.float64).reshape(-1, 3)
    result = SearchResult(searches[algorithm], text_mask(mask), float(error), n_evaluations, steps)
    return RunRecord(RunKey(classifier, algorithm, run), int(seed), result, float(seconds))
