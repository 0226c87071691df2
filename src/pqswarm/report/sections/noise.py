"""The question "Do the subsets stand noise?": accuracy at each noise level, robust subsets, contrast estimation."""

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from pqswarm.report.noise_figures import plot_robustness
from pqswarm.report.section import Content, Drawing
from pqswarm.report.sentences import decibel, enumerate_words, points
from pqswarm.report.spread import t_interval
from pqswarm.report.summary import ClassifierSummary, NoiseSummary, StudySummary
from pqswarm.report.tables import Table
from pqswarm.statistics import contrast_estimation
from pqswarm.study.findings import ALL_FEATURES

__all__ = ["content"]

YES, NO, UNKNOWN = "yes", "no", "cannot be told"
_NUMBER = "robust to noise"
_NEW = ("new_least", "new_low", "new_high", "new_where", "new_robust")  # columns on held-out events


def content(study: StudySummary, found: ClassifierSummary) -> Content:
    """Lay the accuracy of the best subsets at each noise level beside that of all features."""
    noise, levels = found.noise, study.plan.dataset.snr
    if not any(level != inf for level in levels):
        return Content()
    if noise is None:
        return Content(numbers={_NUMBER: "not tested"})
    seen = noise.held_out if _n_sets(noise) else {ALL_FEATURES: noise.all_features, **noise.accuracy}
    rows = {title: values for title, values in seen.items() if title != ALL_FEATURES}
    whole = seen[ALL_FEATURES]

    def draw(narrow: bool = False) -> Figure:
        return plot_robustness(levels, rows, whole, study.palette, narrow=narrow)

    sets = _n_sets(noise)
    events = f"{sets} set{'s' * (sets > 1)} of held-out events" if sets else "the events of the study, cross-validated"
    bars = " Upright lines are 95 % t intervals over the sets." if sets > 1 else ""
    drawing = Drawing(
        "",
        "Accuracy of the best subsets against noise",
        f"On {events}. Above: accuracy, the share of events that are classified correctly. Below: gain over all "
        f"features; what falls below zero does worse than all features.{bars}",
        draw,
        narrow=lambda: draw(narrow=True),
    )
    told = _on_held_out(noise, found.reference)
    return Content(
        drawings=[drawing],
        tables=[_robust(found, noise), *_accuracies(found, noise), *_held_out(found, noise), *_contrasts(found, noise)],
        answer=_sentences(found.reference, noise),
        numbers={_NUMBER: told.verdict if told else "yes" if noise.robust(found.reference) else "no"},
    )


class _Told(NamedTuple):
    """What sets of held-out events tell about a subset: the verdict, and the least gain, its interval and level."""

    verdict: str
    least: float
    low: float
    high: float
    level: float


def _n_sets(noise: NoiseSummary) -> int:
    return len(noise.held_out[ALL_FEATURES]) if noise.held_out else 0


def _on_held_out(noise: NoiseSummary, title: str) -> _Told | None:
    """Whether a subset is robust on held-out events, by the interval at each level; None if there are no intervals."""
    if _n_sets(noise) < 2 or title not in noise.held_out:
        return None
    gain = t_interval(noise.gains(title))
    verdict = YES if (gain.low >= 0).all() else NO if (gain.high < 0).any() else UNKNOWN
    i = int(gain.mean.argmin())
    return _Told(verdict, float(gain.mean[i]), float(gain.low[i]), float(gain.high[i]), noise.levels[i])


def _sentences(reference: str, noise: NoiseSummary) -> list[str]:
    gain = noise.gain(reference)
    others = [title for title in noise.accuracy if title != reference]
    robust = [title for title in others if noise.robust(title)]
    if noise.robust(reference):
        more = f" So is the best of {enumerate_words(robust)}." if robust else " No other is." if others else ""
        word = "more accurate than all features" if gain.min() > 0 else "never less accurate than all features"
        words = f"{word}, by {gain.min():.2f} to {gain.max():.2f} percentage points"
        words = words if gain.any() else "exactly as accurate as all features"
        first = (
            f"The best subset of {reference} is robust in cross-validation: at every noise level it is {words}.{more}"
        )
    else:
        pairs = zip(noise.levels, gain, strict=True)
        lost = [f"{-value:.2f} at {decibel(level)}" for level, value in pairs if value < 0]
        more = (
            f" Robust is the best of {enumerate_words(robust)}." if robust else " Nor is any other." if others else ""
        )
        first = (
            f"The best subset of {reference} is not robust in cross-validation: it is less accurate than all features "
            f"by {enumerate_words(lost)} [percentage points].{more}"
        )
    return [first, *_held_out_sentence(reference, noise, others)]


def _held_out_sentence(reference: str, noise: NoiseSummary, others: Sequence[str]) -> list[str]:
    told = _on_held_out(noise, reference)
    if told is None:
        return []
    words = {YES: "it is robust there", NO: "it is not robust there", UNKNOWN: "whether it is robust cannot be told"}
    rest = {title: verdict.verdict for title in others if (verdict := _on_held_out(noise, title)) is not None}
    more = [
        f"{said} {enumerate_words(titles)}"
        for verdict, said in ((YES, "robust:"), (NO, "not robust:"), (UNKNOWN, "not to be told:"))
        if (titles := [title for title, found in rest.items() if found == verdict])
    ]
    of_others = f" Of the best of the others, {'; '.join(more)}." if more else ""
    return [
        f"On {_n_sets(noise)} sets of held-out events its least gain over all features is {points(told.least)} "
        f"percentage points, at {decibel(told.level)} (95 % t interval {points(told.low)} to {points(told.high)}): "
        f"{words[told.verdict]}.{of_others}"
    ]


def _robust(found: ClassifierSummary, noise: NoiseSummary) -> Table:
    columns = {"least": ("least θ", ".2f"), "where": ("at", ""), "robust": ("robust, cross-validated", "")}
    rows: list[dict[str, Any]] = []
    for title in noise.accuracy:
        gain, told = noise.gain(title), _on_held_out(noise, title)
        where = decibel(noise.levels[int(gain.argmin())])
        rows.append({"algorithm": title, "least": float(gain.min()), "where": where, "robust": noise.robust(title)})
        if _n_sets(noise) > 1:
            new = None if told is None else (told.least, told.low, told.high, decibel(told.level), told.verdict)
            rows[-1] |= dict(zip(_NEW, new or (None,) * len(_NEW), strict=True))
    if _n_sets(noise) > 1:
        heads = ("least θ on held-out events", "95 % interval from", "to", "at", "robust on held-out events")
        columns |= {key: (head, ".2f") for key, head in zip(_NEW, heads, strict=True)}
    if found.paper:
        columns["paper"] = ("robust in the paper", "")
        rows = [row | {"paper": found.paper.robust(row["algorithm"])} for row in rows]
    note = "θ: gain in accuracy over all features, in percentage points. Robust: at no level less accurate than they."
    if _n_sets(noise) > 1:
        note += (
            f" On held-out events θ is the mean over {_n_sets(noise)} sets, with Student's t interval over the sets; "
            f"yes: at no level does the interval reach below zero; no: at some level all of it is below. Each interval "
            f"is of one level, without a correction for their number."
        )
    return Table(
        "robust",
        f"Robust subsets with {found.name}: at least as good as all features at every noise level",
        rows,
        columns,
        signed=("least", "new_least") if _n_sets(noise) > 1 else ("least",),
        note=note,
    )


def _held_out(found: ClassifierSummary, noise: NoiseSummary) -> list[Table]:
    """The same on held-out events: means over the sets, and how well the gains are known."""
    sets = _n_sets(noise)
    if not sets:
        return []
    titles = [title for title in noise.held_out if title != ALL_FEATURES]
    gains = {title: t_interval(noise.gains(title)) for title in titles}
    rows: list[dict[str, Any]] = []
    for i, level in enumerate(noise.levels):
        whole = t_interval(noise.held_out[ALL_FEATURES][:, i])
        rows.append({"level": decibel(level), "all": float(whole.mean), "± all": _half(whole.mean, whole.high)})
        for title in titles:
            gain = gains[title]
            rows[-1] |= {title: float(noise.held_out[title][:, i].mean()), f"θ {title}": float(gain.mean[i])}
            rows[-1] |= {f"± {title}": _half(gain.mean[i], gain.high[i])}
    thetas = tuple(f"θ {title}" for title in titles)
    columns = {key: (key, ".2f") for key in rows[0]} | dict.fromkeys(thetas, ("θ", ".2f"))
    columns |= {key: ("±", ".2f") for key in rows[0] if key.startswith("± ")}
    columns |= {"level": ("SNR", ""), "all": ("Θ(U)", ".2f")}
    spread = f" ±: half of Student's t interval of θ, or of Θ(U), over the {sets} sets, 95 %." if sets > 1 else ""
    return [
        Table(
            "noise-held-out",
            f"The same on held-out events, means over {sets} set{'s' * (sets > 1)}, with {found.name}",
            rows,
            columns,
            signed=thetas,
            across=thetas,
            note=f"The classifiers were trained on all events of the study at the same noise level.{spread}",
        )
    ]


def _half(mean: Any, high: Any) -> float | None:
    return None if np.isnan(high) else float(high - mean)


def _accuracies(found: ClassifierSummary, noise: NoiseSummary) -> list[Table]:
    ours = []
    for i, level in enumerate(noise.levels):
        accuracies = {title: float(values[i]) for title, values in noise.accuracy.items()}
        theta = {title: float(noise.gain(title)[i]) for title in noise.accuracy}
        ours.append((level, float(noise.all_features[i]), accuracies, theta))
    caption = f"Accuracy Θ [%] of the best subsets at each noise level with {found.name}"
    note = (
        "SNR: signal-to-noise ratio, ∞ without noise. Θ(U): accuracy of all features. θ: gain over it, in percentage "
        "points; negative gains are marked, the highest of each level is in bold. The subsets were selected without "
        "noise; folds are other ones than in the search."
    )
    tables = []
    for name, words, levels, more in (
        ("noise", caption, ours, note),
        ("noise-paper", f"The same in the paper, {found.name}", found.paper.noise, ""),
    ):
        rows: list[dict[str, Any]] = []
        for level, whole, accuracy, gain in levels:
            rows.append({"level": decibel(level), "all": whole})
            for title in accuracy:
                rows[-1] |= {title: accuracy[title], f"θ {title}": gain[title]}
        if rows:
            gains = tuple(key for key in rows[0] if key.startswith("θ "))
            columns = {key: ("θ" if key in gains else key, ".2f") for key in rows[0]}
            columns |= {"level": ("SNR", ""), "all": ("Θ(U)", ".2f")}
            tables.append(Table(name, words, rows, columns, signed=gains, across=gains, note=more))
    return tables


def _contrasts(found: ClassifierSummary, noise: NoiseSummary) -> list[Table]:
    titles = list(found.runs)
    values = np.array([noise.accuracy[title] for title in titles]).T
    if min(values.shape) < 2:
        return []
    matrix = contrast_estimation(values, names=titles).matrix.tolist()
    ours = {title: dict(zip(titles, row, strict=True)) for title, row in zip(titles, matrix, strict=True)}
    note = (
        "Estimate, from medians over the noise levels, of how much more accurate the algorithm of the row is than that "
        "of the column [percentage points]. Where it is less accurate, the value is marked."
    )
    tables = []
    for name, words, rows, more in (
        ("contrast", f"Contrast estimation over the noise levels with {found.name}", ours, note),
        ("contrast-paper", f"The same in the paper, {found.name}", found.paper.contrast, ""),
    ):
        if rows:
            shown = [{"algorithm": title, **row} for title, row in rows.items()]
            columns = {title: (title, ".4f") for title in rows}
            tables.append(Table(name, words, shown, columns, signed=tuple(rows), note=more))
    return tables
