"""The paper's values, to be laid over a report beside those of the study, where the plan asks for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pqswarm.report.paper_values import ALGORITHMS, LEVELS, PUBLISHED
from pqswarm.report.tables import PAPER, SOURCE
from pqswarm.study import StudyPlan

__all__ = ["Overlay", "paper_overlay"]

_Rows = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Overlay:
    """What the paper printed for one classifier, in the form of our tables; empty where it printed nothing.

    Attributes
    ----------
    all_features : float or None
        J(U).
    performance : mapping of str to row
        Search performance, by title of the algorithm.
    ranks : mapping of str to row
        Friedman ranks and statistic by ``"error"`` and ``"size"``.
    posthoc : mapping of str to mapping of str to row
        The same, then by title, compared with the control of the paper.
    sequential : list of row
        SFFS beside 2D-UPSO.
    robust : mapping of str to bool
        Whether the best subset was at least as good as all features at every level, by title.
    noise : list of (level, all features, accuracy by title, gain by title)
        Accuracies at each noise level [%].
    contrast : mapping of str to mapping of str to float
        Contrast estimation: row, column.
    hyperparameters : mapping
        Of the classifier.
    """

    all_features: float | None = None
    performance: _Rows = field(default_factory=dict)
    ranks: _Rows = field(default_factory=dict)
    posthoc: Mapping[str, _Rows] = field(default_factory=dict)
    sequential: Sequence[Mapping[str, Any]] = ()
    robust: Mapping[str, bool] = field(default_factory=dict)
    noise: Sequence[tuple[float, float, Mapping[str, float], Mapping[str, float]]] = ()
    contrast: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.all_features is not None


def is_asked_for(plan: StudyPlan) -> bool:
    """Whether the report of a study shows the paper's values beside its own."""
    return bool(getattr(plan, "paper", True))


def paper_overlay(plan: StudyPlan, classifier: str) -> Overlay:
    """Return what the paper printed for a classifier of a plan.

    Parameters
    ----------
    plan : StudyPlan
        Says whether the paper is asked for, and which kind of classifier it is.
    classifier : str
        Name of the classifier in the plan.

    Returns
    -------
    Overlay
        Empty if the plan does not ask for it, or the paper has no such classifier.
    """
    p = PUBLISHED.get(plan.classifier(classifier).kind)
    if p is None or not is_asked_for(plan):
        return Overlay()
    ranks = {
        key: dict(zip(ALGORITHMS, values, strict=True)) | {"chi2": p.chi2[i], "p": p.p_value[i]}
        for i, (key, values) in enumerate({"error": p.ranks_error, "size": p.ranks_size}.items())
    }
    columns = {"error": (p.z_error, p.p_error, p.limit_error), "size": (p.z_size, p.p_size, p.limit_size)}
    control = {"control": ALGORITHMS[-1], "adjusted": None, "differs": True}
    posthoc = {
        key: {
            name: dict(zip(("z", "p", "limit"), values, strict=True)) | control
            for name, *values in zip(ALGORITHMS, *printed, strict=False)
        }
        for key, printed in columns.items()
    }
    size, theirs, ours = p.sffs
    sffs = {"search": "SFFS", SOURCE: PAPER, "size": size, "J": theirs}
    sffs |= {"reference": ALGORITHMS[-1], "reference_size": size, "reference_J": ours}
    performance = {
        "mean_J": p.mean_error,
        "sd_J": p.sd_error,
        "PI": p.improvement,
        "mean_size": p.mean_size,
        "sd_size": p.sd_size,
        "Xi": p.reduction,
        "score": p.score,
    }
    return Overlay(
        all_features=p.all_features,
        performance={name: {k: column[i] for k, column in performance.items()} for i, name in enumerate(ALGORITHMS)},
        ranks=ranks,
        posthoc=posthoc,
        sequential=[sffs],
        robust={name: all(row[i] >= 0 for row in p.gain) for i, name in enumerate(ALGORITHMS)},
        noise=[
            (level, whole, dict(zip(ALGORITHMS, accuracy, strict=True)), dict(zip(ALGORITHMS, gain, strict=True)))
            for level, whole, accuracy, gain in zip(LEVELS, p.accuracy_all, p.accuracy, p.gain, strict=True)
        ],
        contrast={
            name: dict(zip(ALGORITHMS, map(float, row), strict=True))
            for name, row in zip(ALGORITHMS, p.contrast, strict=True)
        },
        hyperparameters=p.hyperparameters,
    )
