"""The report of a study as one HTML file that needs nothing else."""

import base64
import io
from math import inf
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm.evaluation import GridSearch
from pqswarm.events import EVENT_CLASSES, generate
from pqswarm.features import FUNCTIONS, band_names
from pqswarm.report.answers import answer, description
from pqswarm.report.event_figures import plot_gallery, title
from pqswarm.report.outcome_figures import plot_confusion, plot_feature_map, plot_ranks
from pqswarm.report.published import INCONSISTENCIES
from pqswarm.report.study_figures import plot_convergence, plot_error_against_size, plot_robustness
from pqswarm.report.study_tables import classifier_tables
from pqswarm.report.style import STYLE
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.svg import inline_svg
from pqswarm.statistics import critical_difference
from pqswarm.study.runner import ONE_STANDARD_ERROR

__all__ = ["html_report"]


def html_report(study: StudySummary) -> str:
    """Return the report of a study as HTML.

    Parameters
    ----------
    study : StudySummary
        A study, finished or not.

    Returns
    -------
    str
        A page with style and pictures inside; it opens without a network.
    """
    from jinja2 import Environment, PackageLoader

    loader = Environment(loader=PackageLoader("pqswarm.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return loader.get_template("report.html.jinja").render(
        title=study.title,
        description=description(study),
        reference=study.reference,
        sections=[_section(study, found, number) for number, found in enumerate(study.classifiers)],
        gallery=_gallery(study),
        event_count=14 * study.plan.dataset.events_per_class,
        inconsistencies=INCONSISTENCIES,
        how=_how(study),
        plan=_plan_text(study),
        footer=f"Made by pqswarm {study.version}.",
    )


def _section(study: StudySummary, found: ClassifierSummary, number: int) -> dict[str, Any]:
    """What the page shows of one classifier."""
    tables = classifier_tables(found)
    best = found.best(found.reference)
    prefix = f"c{number}"
    parts = [
        _part(
            "Which algorithm finds the better subsets?",
            [],
            [_convergence(study, found, prefix), _scatter(study, found, prefix)],
            [tables["performance"]],
        ),
        _part(
            "Is the difference more than chance?",
            [],
            _rank_drawings(found, prefix),
            [tables[key] for key in ("friedman", "posthoc-error", "posthoc-size") if key in tables],
        ),
        _part("Against sequential floating search", [], [], [tables[key] for key in ("sffs",) if key in tables]),
        _part(
            "Which features matter?",
            [_selected(found)],
            [_feature_map(found, prefix)],
            [tables["features"], tables["stability"]],
        ),
        _part(
            "Do the subsets stand noise?",
            [],
            [] if found.noise is None else [_robustness(found, prefix)],
            [tables[k] for k in ("robust", "noise", "noise-paper", "contrast", "contrast-paper") if k in tables],
        ),
        _part(
            "What does the error on new events come to?",
            [],
            [] if found.noise is None else [_confusion(found, prefix)],
            [tables[key] for key in ("fresh",) if key in tables],
        ),
        _part("Hyperparameters", [], [] if found.grid is None else [_grid(found, prefix)], []),
    ]
    return {
        "id": f"classifier-{number}",
        "name": found.name,
        "classifier": _classifier(found),
        "answer": answer(found),
        "numbers": [
            {"label": "features", "value": f"{best.size} of {best.mask.size}"},
            {"label": "error", "value": f"{100 * best.error:.2f} %"},
            {"label": "all features", "value": f"{100 * found.all_features:.2f} %"},
            {"label": "robust to noise", "value": _robust(found)},
        ],
        "parts": [part for part in parts if part["drawings"] or part["tables"]],
    }


def _robust(found: ClassifierSummary) -> str:
    if found.noise is None:
        return "not tested"
    return "yes" if found.noise.robust(found.reference) else "no"


def _part(heading: str, words: list[str], drawings: list[dict[str, Any]], tables: list[Any]) -> dict[str, Any]:
    from markupsafe import Markup

    shown = [Markup(table.html()) for table in tables]  # noqa: S704 (its cells are escaped)
    return {"heading": heading, "words": words, "drawings": drawings, "tables": shown}


def _drawing(figure: Figure, caption: str, words: str, prefix: str) -> dict[str, Any]:
    from markupsafe import Markup

    return {"caption": caption, "picture": Markup(inline_svg(figure, caption, prefix)), "words": words}  # noqa: S704


def _classifier(found: ClassifierSummary) -> str:
    settings = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in found.hyperparameters.items())
    kind = "k-nearest neighbours" if found.kind == "k-nn" else "naive Bayes with kernel densities"
    return f"{kind}, {settings}; the error of all features is {found.all_features:.4f}."


def _convergence(study: StudySummary, found: ClassifierSummary, prefix: str) -> dict[str, Any]:
    at = np.arange(1, study.plan.max_evaluations + 1)
    curves = {name: np.array([record.error_after(at) for record in runs]) for name, runs in found.runs.items()}
    return _drawing(
        plot_convergence(curves),
        "Least error so far against evaluations",
        "A line is the median over the runs, its band holds the middle 80 % of them. Lower is better; a line that "
        "falls early finds good subsets soon.",
        f"{prefix}-convergence",
    )


def _scatter(study: StudySummary, found: ClassifierSummary, prefix: str) -> dict[str, Any]:
    points = {name: (found.size_of(name).astype(np.int64), found.error_of(name)) for name in found.runs}
    points |= {name: (np.array([record.size]), np.array([record.error])) for name, record in found.sffs.items()}
    return _drawing(
        plot_error_against_size(points, (study.n_features, found.all_features)),
        "Error against number of features, one mark for each run",
        "Down and to the left is better: fewer errors with fewer features.",
        f"{prefix}-scatter",
    )


def _rank_drawings(found: ClassifierSummary, prefix: str) -> list[dict[str, Any]]:
    drawings = []
    for what, key, comparison in (("error", "error", found.errors), ("number of features", "size", found.sizes)):
        if comparison is None:
            continue
        test = comparison.friedman
        difference = critical_difference(len(test.names), test.n_blocks)
        drawings.append(
            _drawing(
                plot_ranks(dict(zip(test.names, test.mean_ranks.tolist(), strict=True)), difference),
                f"Average ranks by {what}",
                "1 is best. Algorithms joined by a bar do not differ more than chance allows (Nemenyi, 5 %).",
                f"{prefix}-ranks-{key}",
            )
        )
    return drawings


def _selected(found: ClassifierSummary) -> str:
    best, smaller = found.best(found.reference), found.smaller_mask
    text = f"The best subset of {found.reference} has {best.size} features."
    if smaller is not None and found.smaller is not None:
        text += (
            f" Within one standard error ({found.smaller['standard_error']:.4f}) of its {best.error:.4f} lies a subset "
            f"of {int(smaller.sum())} features with an error of {found.smaller['error']:.4f}: these events can hardly "
            f"tell the two apart."
        )
    return text


def _feature_map(found: ClassifierSummary, prefix: str) -> dict[str, Any]:
    bands, share = band_names(8), found.frequency(found.reference)
    return _drawing(
        plot_feature_map(share.reshape(len(bands), len(FUNCTIONS)), bands, FUNCTIONS),
        f"In how many of its runs {found.reference} chose each feature [%]",
        "Rows are wavelet bands, from the highest frequencies (D1) to the lowest (A8); columns are the functions of a "
        "band.",
        f"{prefix}-map",
    )


def _robustness(found: ClassifierSummary, prefix: str) -> dict[str, Any]:
    assert found.noise is not None  # noqa: S101 (the caller has looked)
    accuracy = {name: values for name, values in found.noise.accuracy.items() if name != ONE_STANDARD_ERROR}
    return _drawing(
        plot_robustness(found.noise.levels, accuracy, found.noise.all_features),
        "Accuracy of the best subsets against noise",
        "Above: accuracy. Below: gain over all features; what falls below zero does worse than all features.",
        f"{prefix}-noise",
    )


def _confusion(found: ClassifierSummary, prefix: str) -> dict[str, Any]:
    assert found.noise is not None  # noqa: S101 (the caller has looked)
    names = [title(name) for name in EVENT_CLASSES]
    return _drawing(
        plot_confusion(found.noise.before, found.noise.after, names),
        f"Who is taken for whom: all features, and the best subset of {found.reference}",
        "Rows are true classes, columns what was said. Off the diagonal are the errors.",
        f"{prefix}-confusion",
    )


def _grid(found: ClassifierSummary, prefix: str) -> dict[str, Any]:
    assert found.grid is not None  # noqa: S101 (the caller has looked)
    points = tuple(tuple(point) for point in found.grid["points"])
    grid = GridSearch(tuple(found.grid["names"]), points, np.array(found.grid["accuracies"]))
    with mpl.rc_context(STYLE):
        figure = grid.plot()
    best = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in grid.best.items())
    return _drawing(
        figure,
        "Accuracy of all features for other hyperparameters",
        f"The best of the grid is {best}. The paper chose three neighbours by Manhattan distance, and a width of "
        f"0.004.",
        f"{prefix}-grid",
    )


def _gallery(study: StudySummary) -> Any:
    from markupsafe import Markup

    preset, seed = study.plan.dataset.preset, study.plan.dataset.seed
    figure = plot_gallery([generate(name, seed, preset=preset) for name in EVENT_CLASSES])
    file = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    data = base64.b64encode(file.getvalue()).decode()
    return Markup(f'<img alt="Waveforms of the 14 event classes" src="data:image/png;base64,{data}">')  # noqa: S704


def _how(study: StudySummary) -> str:
    machine = study.machine
    return (
        f"pqswarm {study.version} on {machine['processor']} ({machine['cores']} cores, {machine['system']}, Python "
        f"{machine['python']}). All searches together took {study.seconds / 60:.1f} minutes of one core. Seeds: "
        f"{study.plan.dataset.seed} (events), {study.plan.folds.seed} and {study.plan.folds.stage_two_seed} (folds), "
        f"{study.plan.seed} (searches), {study.plan.fresh.seed} (fresh events). The same plan gives the same numbers, "
        f"whatever the number of workers and interruptions."
    )


def _plan_text(study: StudySummary) -> str:
    """The plan as TOML."""
    lines = []
    plan = study.plan.model_dump(mode="python", exclude_none=True)
    for key, value in plan.items():
        if not isinstance(value, dict | tuple):
            lines.append(f"{key} = {_toml(value)}")
    for key, value in plan.items():
        members = [value] if isinstance(value, dict) else value if isinstance(value, tuple) else []
        for member in members:
            lines += ["", f"[{key}]" if isinstance(value, dict) else f"[[{key}]]"]
            lines += [f"{name} = {_toml(entry)}" for name, entry in member.items() if entry != {}]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(entry)}" for name, entry in value.items()) + " }"
    return "inf" if value == inf else repr(value)
