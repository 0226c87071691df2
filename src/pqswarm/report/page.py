"""The report of a study as one HTML file that needs nothing else."""

import base64
import io
from collections.abc import Sequence
from math import inf
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pqswarm.events import Event, generate
from pqswarm.features import FUNCTIONS, band_edges, band_names
from pqswarm.report.answers import answer, classifier_words, description, how, settings_words
from pqswarm.report.event_figures import plot_gallery, title
from pqswarm.report.outcome_figures import plot_confusion, plot_feature_map, plot_ranks
from pqswarm.report.published import INCONSISTENCIES
from pqswarm.report.study_figures import plot_convergence, plot_error_against_size, plot_robustness
from pqswarm.report.study_tables import classifier_tables
from pqswarm.report.style import INK, STYLE
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.report.svg import inline_svg
from pqswarm.report.tables import Table
from pqswarm.statistics import critical_difference
from pqswarm.study import format_plan
from pqswarm.study.findings import ONE_STANDARD_ERROR

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
    preset, seed = study.plan.dataset.preset, study.plan.dataset.seed
    events = [generate(name, seed, preset=preset) for name in study.plan.dataset.class_names]
    loader.filters["bound"] = _bound
    return loader.get_template("report.html.jinja").render(
        title=study.title,
        description=description(study),
        reference=study.reference,
        sections=[_section(study, found, number, events) for number, found in enumerate(study.classifiers)],
        gallery=_gallery(events),
        inconsistencies=INCONSISTENCIES,
        how=how(study),
        plan=format_plan(study.plan),
        footer=f"Made by pqswarm {study.version}.",
    )


def _section(study: StudySummary, found: ClassifierSummary, number: int, events: Sequence[Event]) -> dict[str, Any]:
    """What the page shows of one classifier."""
    tables = classifier_tables(found)
    best = found.best(found.reference)
    prefix = f"c{number}"
    noise = found.noise is not None
    parts = [
        _part(
            "Which algorithm finds the better subsets?",
            [],
            [_convergence(study, found, prefix), _scatter(study, found, prefix)],
            tables,
            ("performance", "gap"),
        ),
        _part(
            "Is the difference more than chance?",
            [],
            _rank_drawings(found, prefix),
            tables,
            ("friedman", "posthoc-error", "posthoc-size"),
        ),
        _part("Does a plain sequential search do as well?", [], [], tables, ("sffs",)),
        _part(
            "Which features matter?",
            [_selected(found)],
            [_feature_map(found, prefix, {event.sampling_rate for event in events})],
            tables,
            ("features", "stability"),
        ),
        _part(
            "Do the subsets stand noise?",
            [],
            [_robustness(found, prefix)] if noise else [],
            tables,
            ("robust", "noise", "noise-paper", "contrast", "contrast-paper"),
        ),
        _part(
            "Which events are taken for others?", [], [_confusion(found, prefix, events)] if noise else [], tables, ()
        ),
        _part("What can be expected of new events?", [], [], tables, ("fresh",)),
        _part("How were the hyperparameters chosen?", [], [_grid(found, prefix)] if found.grid else [], tables, ()),
    ]
    return {
        "id": f"classifier-{number}",
        "name": found.name,
        "classifier": classifier_words(found),
        "answer": answer(found),
        "numbers": [
            {"label": "features", "value": f"{best.size} of {best.mask.size}"},
            {"label": "robust to noise", "value": _robust(found)},
            {"label": "its errors", "value": f"{100 * best.error:.2f} %"},
            {"label": "errors of all features", "value": f"{100 * found.all_features:.2f} %"},
        ],
        "parts": [part for part in parts if part["drawings"] or part["tables"]],
    }


def _robust(found: ClassifierSummary) -> str:
    if found.noise is None or all(level == inf for level in found.noise.levels):
        return "not tested"
    return "yes" if found.noise.robust(found.reference) else "no"


def _part(
    heading: str, words: list[str], drawings: list[dict[str, Any]], tables: dict[str, Table], keys: tuple[str, ...]
) -> dict[str, Any]:
    from markupsafe import Markup

    shown = [Markup(tables[key].html()) for key in keys if key in tables]  # noqa: S704 (its cells are escaped)
    return {"heading": heading, "words": words, "drawings": drawings, "tables": shown}


def _bound(text: str) -> str:
    """Keep a number and its unit on one line."""
    return text.replace(" %", "\u00a0%").replace(" dB", "\u00a0dB")


def _drawing(figure: Figure, caption: str, words: str, prefix: str) -> dict[str, Any]:
    from markupsafe import Markup

    return {"caption": caption, "picture": Markup(inline_svg(figure, caption, prefix)), "words": words}  # noqa: S704


def _convergence(study: StudySummary, found: ClassifierSummary, prefix: str) -> dict[str, Any]:
    at = np.arange(1, study.plan.max_evaluations + 1)
    curves = {name: np.array([record.result.error_after(at) for record in runs]) for name, runs in found.runs.items()}
    spread = "A line is the median of the runs, 8 of 10 lie in its band. " if found.n_runs > 1 else ""
    return _drawing(
        plot_convergence(curves),
        "Least error so far against evaluations",
        f"An evaluation is one subset tried. {spread}Lower is better; a line that falls early finds good subsets soon.",
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
                "1 is best. Algorithms that a bar joins differ by less than the critical difference: by no more than "
                "chance allows, when each is compared with each (Nemenyi's test, 5 %). The tables below compare with "
                "the best alone, and so can tell apart what a bar joins."
                if key == "error"
                else "1 is best: the fewest features. Bars as above.",
                f"{prefix}-ranks-{key}",
            )
        )
    return drawings


def _selected(found: ClassifierSummary) -> str:
    best, smaller = found.best(found.reference), found.smaller_mask
    text = f"The best subset of {found.reference} has {best.size} features."
    if smaller is None or found.smaller is None:
        return text
    if smaller.sum() >= best.size:
        text += f" No smaller one was found within one standard error ({found.smaller.standard_error:.4f}) of it."
    else:
        text += (
            f" Within one standard error ({found.smaller.standard_error:.4f}) of its {best.error:.4f} lies a subset "
            f"of {int(smaller.sum())} features with an error of {found.smaller.error:.4f}: these events can hardly "
            f"tell the two apart."
        )
    return text


def _feature_map(found: ClassifierSummary, prefix: str, rates: set[float]) -> dict[str, Any]:
    share = found.frequency(found.reference)
    level = share.size // len(FUNCTIONS) - 1
    bands = band_names(level)
    ranges = ""
    if len(rates) == 1:
        (low, high), *_, (_, least) = band_edges(rates.pop(), level)
        ranges = f" D1 holds {low / 1000:g} to {high / 1000:g} kHz, {bands[-1]} what is below {least:.0f} Hz."
    return _drawing(
        plot_feature_map(share.reshape(len(bands), len(FUNCTIONS)), bands, FUNCTIONS),
        f"In how many of its runs {found.reference} chose each feature [%]",
        f"Rows are the bands of the wavelet transform, from the highest frequencies (D1) to the lowest ({bands[-1]}); "
        f"columns are what is computed from the coefficients of a band. Empty: never chosen.{ranges}",
        f"{prefix}-map",
    )


def _robustness(found: ClassifierSummary, prefix: str) -> dict[str, Any]:
    assert found.noise is not None  # noqa: S101 (the caller has looked)
    accuracy = {name: values for name, values in found.noise.accuracy.items() if name != ONE_STANDARD_ERROR}
    return _drawing(
        plot_robustness(found.noise.levels, accuracy, found.noise.all_features),
        "Accuracy of the best subsets against noise",
        "Above: accuracy, the share of events that are taken for what they are. Below: gain over all features; what "
        "falls below zero does worse than all features.",
        f"{prefix}-noise",
    )


def _confusion(found: ClassifierSummary, prefix: str, events: Sequence[Event]) -> dict[str, Any]:
    assert found.noise is not None  # noqa: S101 (the caller has looked)
    names = [title(event.label) for event in events]
    return _drawing(
        plot_confusion(found.noise.before, found.noise.after, names),
        f"Who is taken for whom: all features, and the best subset of {found.reference}",
        "Rows are the true classes, columns what the classifier took them for, without noise. The diagonal counts what "
        "was right, the red cells the errors.",
        f"{prefix}-confusion",
    )


def _grid(found: ClassifierSummary, prefix: str) -> dict[str, Any]:
    assert found.grid is not None  # noqa: S101 (the caller has looked)
    grid = found.grid
    with mpl.rc_context(STYLE):
        figure = grid.plot()
    figure.set_size_inches(7.5, 4.2)
    for line in figure.axes[0].lines:
        if line.get_markeredgecolor() == "black":  # the ring around the best, which must show on a dark page
            line.set_markeredgecolor(INK)
    theirs = {"n_neighbors": 3, "metric": "manhattan"} if found.kind == "k-nn" else {"bandwidth": 0.004, "floor": 0.0}
    used, same = settings_words(found.hyperparameters), found.hyperparameters == theirs
    return _drawing(
        figure,
        "Accuracy of all features for other hyperparameters",
        f"Ringed is the best, {settings_words(grid.best)}. This study used {used}, "
        + ("as the paper did." if same else f"the paper {settings_words(theirs)}."),
        f"{prefix}-grid",
    )


def _gallery(events: Sequence[Event]) -> Any:
    from markupsafe import Markup

    figure = plot_gallery(events)
    file = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    data = base64.b64encode(file.getvalue()).decode()
    return Markup(f'<img alt="Waveforms of the 14 event classes" src="data:image/png;base64,{data}">')  # noqa: S704
