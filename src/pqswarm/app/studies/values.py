"""Studies as plain values for the page: charts, runs, texts and tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm.app.handlers import Missing
from pqswarm.features import FUNCTIONS, band_edges, band_names, describe_band
from pqswarm.report.shared.curves import (
    convergence_curves,
    convergence_grid,
    pareto_front,
    quartile_curve,
    selection_shares,
)
from pqswarm.report.shared.meanings import feature_meanings, names_of, sampling_rate, wavelet_level
from pqswarm.study import RunRecord, StudyPlan, findings, format_plan

if TYPE_CHECKING:
    from pqswarm.report.document import Document, Passage
    from pqswarm.report.tables import Table
    from pqswarm.study.live_progress import Follower


@dataclass(frozen=True, eq=False)
class Runs:
    """The finished runs of a study with one classifier, and the feature names."""

    plan: StudyPlan
    classifier: str
    records: list[RunRecord]
    all_features: float | None
    names: tuple[str, ...]

    @property
    def groups(self) -> dict[str, list[RunRecord]]:
        """Runs by the title of the algorithm, in the order of the plan."""
        groups = {
            algorithm.title: [record for record in self.records if record.key.algorithm == algorithm.name]
            for algorithm in self.plan.algorithms
        }
        return {title: group for title, group in groups.items() if group}


def study_values(follower: "Follower") -> dict[str, Any]:
    """Return plan and machine of a study, and titles, colours and markers of its algorithms."""
    from pqswarm.report.shared.palette import Palette

    plan, about, end = follower.plan, follower.about, follower.store.find(findings.Finished)
    palette = Palette([algorithm.title for algorithm in plan.algorithms], plan.algorithm(plan.baseline).title)
    return {
        "title": plan.title,
        "plan": format_plan(plan),
        "version": about.version,
        "machine": {str(key): _json_value(value) for key, value in about.machine.items()},
        "began": _json_value(about.began),
        "finished": None if end is None else _json_value(end.at),
        "runs": plan.runs,
        "max_evaluations": plan.max_evaluations,
        "classifiers": [classifier.name for classifier in plan.classifiers],
        "datasets": list(plan.cells()),
        "algorithms": [
            {
                "name": algorithm.name,
                "title": algorithm.title,
                "colour": palette.colour(algorithm.title),
                "marker": palette.marker(algorithm.title),
                "reference": algorithm.name == plan.baseline,
                "once": algorithm.sequential,
            }
            for algorithm in plan.algorithms
        ],
    }


def read_runs(follower: "Follower", classifier: str, dataset: str = "") -> Runs:
    """Return the finished runs with a classifier on a data set, by default the first."""
    cells = follower.plan.cells()
    dataset = dataset or next(iter(cells))
    if dataset not in cells:
        raise Missing("The study has no such data set.")
    plan, store = cells[dataset], follower.store.of(dataset)
    if classifier not in [one.name for one in plan.classifiers]:
        raise Missing("The study has no such classifier.")
    mine = (classifier, dataset)
    records = [record for record in follower.records() if (record.key.classifier, record.key.dataset) == mine]
    whole, events = store.find(findings.AllFeatures, classifier), store.find(findings.Events)
    names = names_of(events, records[0].mask.size) if records and events is not None else ()
    return Runs(plan, classifier, records, None if whole is None else whole.error, names)


def current_runs(follower: "Follower", classifier: str, dataset: str = "") -> tuple[Runs, bool]:
    """Return the finished runs with a classifier on a data set, and whether more are expected soon."""
    seen = follower.look()
    more = seen.state == "running" and seen.progress.runs_done < seen.progress.runs_total
    return read_runs(follower, classifier, dataset), more


def chart_values(check: Callable[[], None], runs: Runs) -> dict[str, Any]:
    """Return the chart data of a classifier; errors are error rates [%]."""
    found: dict[str, Any] = {
        "classifier": runs.classifier,
        "budget": runs.plan.max_evaluations,
        "n_runs": len(runs.records),
        "n_features": len(runs.names),
        "all_features": None if runs.all_features is None else _json_value(100 * runs.all_features),
        "convergence": [],
        "points": [],
        "front": [],
        "features": None,
    }
    if not runs.records:
        return found
    groups, titles = runs.groups, {algorithm.name: algorithm.title for algorithm in runs.plan.algorithms}
    found["convergence"] = _convergence_values(groups, runs.plan.max_evaluations, check)
    found["points"] = [
        {
            "algorithm": record.key.algorithm,
            "title": titles[record.key.algorithm],
            "run": record.key.run,
            "size": record.size,
            "error": 100 * record.error,
            "evaluations": record.result.n_evaluations,
            "seed": str(record.seed),
        }
        for record in runs.records
        if record.key.algorithm in titles and isfinite(record.error)
    ]
    sizes, errors = pareto_front(runs.records)
    found["front"] = [[int(size), 100 * float(error)] for size, error in zip(sizes, errors, strict=True)]
    check()
    found["features"] = _feature_values(runs, groups)
    return found


def _convergence_values(
    groups: dict[str, list[RunRecord]], budget: int, check: Callable[[], None]
) -> list[dict[str, Any]]:
    grid, lines = convergence_grid(groups, budget), []
    for title, curve in convergence_curves(groups, budget).items():
        check()
        after, quartiles = quartile_curve(title, curve, grid)
        points = zip(after.tolist(), *(100 * quartiles[[1, 0, 2]]).tolist(), strict=True)
        shown = [
            [n, median, _json_value(low), _json_value(high)] for n, median, low, high in points if isfinite(median)
        ]
        lines.append({"title": title, "n_runs": len(curve), "points": shown})
    return lines


def _feature_values(runs: Runs, groups: dict[str, list[RunRecord]]) -> dict[str, Any]:
    level, rate = wavelet_level(runs.names), sampling_rate(runs.plan, runs.names)
    grid = None
    if level is not None:
        bands = list(band_names(level))
        edges = [""] * len(bands) if rate is None else [describe_band(*edge) for edge in band_edges(rate, level)]
        grid = {"bands": bands, "edges": edges, "functions": list(FUNCTIONS)}
    return {
        "names": list(runs.names),
        "meanings": list(feature_meanings(runs.plan, runs.names)),
        "grid": grid,
        "shares": {title: np.round(share, 6).tolist() for title, share in selection_shares(groups).items()},
    }


def run_values(runs: Runs, algorithm: str, number: int) -> dict[str, Any]:
    """Return one run: its error rate and the selected features with their meanings."""
    found = [record for record in runs.records if (record.key.algorithm, record.key.run) == (algorithm, number)]
    if not found:
        raise Missing(f"There is no finished run {number} of {algorithm} with {runs.classifier} in the study.")
    record, result = found[0], found[0].result
    names, meanings = runs.names, feature_meanings(runs.plan, runs.names)
    return {
        "classifier": runs.classifier,
        "algorithm": algorithm,
        "title": runs.plan.algorithm(algorithm).title,
        "run": number,
        "error": _json_value(100 * record.error),
        "all_features": None if runs.all_features is None else _json_value(100 * runs.all_features),
        "size": record.size,
        "n_features": int(record.mask.size),
        "seed": str(record.seed),
        "evaluations": result.n_evaluations,
        "seconds": _json_value(record.seconds),
        "features": [{"name": names[i], "meaning": meanings[i]} for i in result.selected.tolist()],
    }


def document_values(document: "Document") -> dict[str, Any]:
    """Return the texts and tables of a report."""
    return {
        "title": document.title,
        "description": document.description,
        "opening": _part_values("", document.opening.words, document.opening.answer, document.opening.tables),
        "chapters": [
            {"name": chapter.name, "description": chapter.description, "answer": list(chapter.answer)}
            | {"parts": _passage_values(chapter.parts)}
            for chapter in document.chapters
        ],
        "parts": _passage_values(document.parts),
    }


def _passage_values(parts: "Sequence[Passage]") -> list[dict[str, Any]]:
    found = [_part_values(p.heading, p.content.words, p.content.points, p.content.tables) for p in parts]
    return [part for part in found if part["words"] or part["points"] or part["tables"]]


def _part_values(
    heading: str, words: Sequence[str], points: Sequence[str], tables: "Sequence[Table]"
) -> dict[str, Any]:
    shown = [_table_values(table) for table in tables]
    return {"heading": heading, "words": list(words), "points": list(points), "tables": shown}


def _table_values(table: "Table") -> dict[str, Any]:
    keys = table.keys
    rows = [
        [[table.text(row, key), _sort_value(row[key]), table.kinds(row, key)] for key in keys] for row in table.rows
    ]
    return {
        "name": table.name,
        "caption": table.title,
        "note": table.note,
        "columns": [
            {"key": key, "title": table.heading(key), "number": table.is_numeric(key), "wide": table.is_wide(key)}
            for key in keys
        ],
        "rows": rows,
        "csv": table.csv(),
    }


def _sort_value(value: Any) -> float | None:
    """Numeric sort key of a cell: the value, or the lower end of an interval."""
    first = value[0] if isinstance(value, tuple) and value else value
    if isinstance(first, bool) or not isinstance(first, int | float):
        return None
    return first if isfinite(first) else None


def _json_value(value: Any) -> Any:
    """Convert a value to one that JSON can represent."""
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)
