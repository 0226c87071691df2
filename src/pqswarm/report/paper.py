"""The numbers printed in the paper, shown with those of the study if the plan asks for them.

F. Hafiz, A. Swain, C. Naik, N. Patel, "Efficient feature selection of power quality events using two dimensional
(2D) particle swarms", Applied Soft Computing 81 (2019).
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from math import nan
from typing import Any, Literal

from pqswarm.study import StudyPlan

_READ = tomllib.loads((files("pqswarm.report") / "paper.toml").read_text(encoding="utf-8"))

ALGORITHMS: tuple[str, ...] = tuple(_READ["algorithms"])

HYPERPARAMETERS: dict[str, dict[str, Any]] = _READ["hyperparameters"]
"""Those of the paper, by kind of classifier."""

PRINTED: dict[str, dict[str, list[float]]] = _READ["printed"]
"""The rows of the paper's tables, by kind of classifier; ``paper.toml`` says what they hold."""

INCONSISTENCIES: tuple[str, ...] = (*_READ["inconsistencies"], *_READ["silences"])
"""Where the paper contradicts itself, and what it does not say and matters for a comparison."""

SEARCH_PARAMETERS: dict[str, dict[str, str]] = _READ["parameters"]
"""The rows of the paper's Table 2, by the name of the algorithm."""

EVENT_MODELS: dict[str, tuple[str, str]] = {name: tuple(row) for name, row in _READ["events"].items()}
"""The rows of the paper's Table 1, model and ranges, by the name of the event class."""

ABBREVIATIONS: dict[str, str] = _READ["abbreviations"]
"""What the titles of algorithms and classifiers stand for."""

SYMBOLS: dict[str, str] = _READ["symbols"]
"""How the symbols of parameters are printed."""

PAPER_RUNS = 40
"""Runs of each algorithm in the paper."""


_Rows = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Overlay:
    """The paper's values for one classifier, as rows of our tables; false if it has none.

    `performance` is indexed by the title of the algorithm, `ranks` by ``"error"`` and ``"size"``, `posthoc` by these
    and by title. A row of `noise` holds a level, Theta(U), and accuracies and gains by title.
    """

    all_features: float = nan
    performance: _Rows = field(default_factory=dict)
    ranks: _Rows = field(default_factory=dict)
    posthoc: Mapping[str, _Rows] = field(default_factory=dict)
    sffs: Mapping[str, Any] = field(default_factory=dict)
    noise: Sequence[tuple[float, float, Mapping[str, float], Mapping[str, float]]] = ()
    contrast: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, int] = field(default_factory=dict)

    def caption(self, table: str, words: str) -> str:
        """Return the caption of a table of the paper, with its number there; without, if it has none."""
        return paper_caption(self.tables.get(table), words)

    def __bool__(self) -> bool:
        return bool(self.performance)

    def means(self, quantity: Literal["error", "size", "score"]) -> dict[str, float]:
        """Return the mean errors or sizes of the algorithms, or their scores, by title."""
        key = {"error": "mean_J", "size": "mean_size", "score": "score"}[quantity]
        return {title: row[key] for title, row in self.performance.items()}

    def robust(self, title: str) -> bool | None:
        """Whether a subset was at least as accurate as all features at every level; None if it is not in the paper."""
        return all(gain[title] >= 0 for *_, gain in self.noise) if title in self.performance else None


def paper_caption(number: int | None, words: str, kind: str = "Table") -> str:
    """Return a caption that names a table or figure of the paper, if it has a number there."""
    return f"{words[0].upper()}{words[1:]}" if number is None else f"{kind} {number} of the paper: {words}"


def paper_overlay(plan: StudyPlan, classifier: str) -> Overlay:
    """Return the paper's values for a classifier, if the plan asks for them and the paper used its kind."""
    kind = plan.classifier(classifier).kind
    if not plan.paper or kind not in PRINTED:
        return Overlay()
    printed = {name: [float(value) for value in values] for name, values in PRINTED[kind].items()}

    def by_title(name: str, first: int = 0) -> dict[str, float]:
        return dict(zip(ALGORITHMS, printed[name][first:], strict=False))

    ranks = {}
    posthoc = {}
    for key in ("error", "size"):
        ranks[key] = by_title(f"rank-{key}") | dict(zip(("chi2", "p"), printed[f"rank-{key}"][-2:], strict=True))
        z, p, limit = (by_title(f"{column}-{key}") for column in ("z", "p", "limit"))
        posthoc[key] = {title: {"z": z[title], "p": p[title], "adjusted": limit[title], "differs": True} for title in z}
    performance = {key: by_title(key) for key in ("mean_J", "sd_J", "PI", "mean_size", "sd_size", "Xi", "score")}
    return Overlay(
        all_features=printed["all"][0],
        performance={title: {key: performance[key][title] for key in performance} for title in ALGORITHMS},
        ranks=ranks,
        posthoc=posthoc,
        sffs=dict(zip(("size", "SFFS", ALGORITHMS[-1]), printed["sffs"], strict=True)),
        noise=[
            (float(name.removeprefix("noise-")), printed[name][0], by_title(name, 1), by_title(name, 7))
            for name in printed
            if name.startswith("noise-")
        ],
        contrast={title: by_title(f"contrast-{title}") for title in ALGORITHMS},
        hyperparameters=HYPERPARAMETERS[kind],
        tables=_READ["tables"][kind],
    )
