"""The report of a multiverse as a document, like that of a study."""

import json
from functools import partial
from typing import Any

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.report.document import Chapter, Document, Passage, number_contents
from pqswarm.report.multiverse.figures import as_percent, plot_closeness, plot_curve
from pqswarm.report.multiverse.summary import MultiverseSummary, OverReadings
from pqswarm.report.section import Content, Drawing
from pqswarm.report.shared.sentences import count_runs, enumerate_words, probability
from pqswarm.report.tables import Table
from pqswarm.statistics import hommel, wilson_interval
from pqswarm.statistics.readings import explain_effects, joint_permutation
from pqswarm.study import format_plan

_NOUNS = {"error": "error rate", "size": "number of features"}
_CURVE = (
    "Each column is a reading: the {noun} of {reference} relative to that of its best rival, below zero is better, "
    "with a 95 % t interval over the data sets; blue or orange if it excludes zero. Squares: the choices of the "
    "reading. Diamonds are readings that the plan marks. The best rival is chosen in each reading by its mean, which "
    "favours the rivals."
)


def compose_multiverse(study: MultiverseSummary) -> Document:
    """Return the report of a multiverse."""
    claims = {found.name: _claims(study, found) for found in study.classifiers}
    opening = Content(
        answer=[_say_claims(study, found, claims[found.name]) for found in study.classifiers],
        drawings=[_curve(study, study.classifiers[0], "error", study.classifiers[0].slug)],
        tables=[_claims_table(study, claims)],
        words=[_say_unit(study)],
    )
    document = Document(
        title=study.plan.title,
        opening=opening,
        description=_describe(study),
        reference=study.reference,
        version=study.about.version,
        chapters=tuple(_chapter(study, found) for found in study.classifiers),
        parts=(_readings(study), Passage("How was the study run?", _how(study))),
    )
    return number_contents(document)


def _chapter(study: MultiverseSummary, found: OverReadings) -> Chapter:
    first = found is study.classifiers[0]
    curves = [_curve(study, found, what, found.slug) for what in (("size",) if first else ("error", "size"))]
    parts = [
        Passage("In which readings does the lead hold?", Content(drawings=curves, tables=[_rivals_table(study, found)]))
    ]
    if not study.where:  # in a part of a design, choices are not balanced
        parts.append(Passage("Which choices matter?", _choices(study, found)))
    if found.paper:
        note = (
            "The vertical line is the paper. Readings are not left out because their error rate is unlike the paper's."
        )
        drawing = Drawing(
            f"{found.slug}-closeness",
            f"Effect against closeness to the paper, with {found.name}",
            note,
            partial(plot_closeness, study, found),
            narrow=partial(plot_closeness, study, found, narrow=True),
        )
        parts.append(Passage("Does it hold where the events are like the paper's?", _near(study, found, drawing)))
    return Chapter(
        name=found.name,
        description=study.plan.classifier(found.name).make().describe() + ", or as the reading chooses",
        answer=(_say_range(study, found, "error"), _say_range(study, found, "size")),
        numbers={},
        parts=tuple(parts),
    )


def _curve(study: MultiverseSummary, found: OverReadings, what: str, slug: str) -> Drawing:
    return Drawing(
        f"{slug}-curve-{what}",
        f"Specification curve of the {_NOUNS[what]}, with {found.name}",
        _CURVE.format(noun=_NOUNS[what], reference=found.reference),
        partial(plot_curve, study, found, what),
        narrow=partial(plot_curve, study, found, what, narrow=True),
    )


def _claims(study: MultiverseSummary, found: OverReadings) -> dict[str, FloatArray]:
    """Whether each claim holds, in each reading of the design."""
    hero, counted = found.reference, study.counted
    claims = {
        f"{hero} has the lowest mean error rate": _below_all(found, "error"),
        f"{hero} has the smallest subsets": _below_all(found, "size"),
    }
    if "SFFS" in found.errors:
        median = np.median(found.errors[hero], axis=2).mean(axis=1)
        claims["its median run has fewer errors than SFFS at the same size"] = (
            median < found.errors["SFFS"].mean(axis=(1, 2)) - 1e-12
        )
    for title in found.rivals:
        claims[f"{hero} has a lower mean error rate than {title}"] = found.is_lower("error", title)
    for title in found.errors:
        if title not in (hero, "SFFS", *found.rivals):
            claims[f"{title} has a lower mean error rate than {hero}"] = (
                found.errors[title].mean(axis=(1, 2)) < found.errors[hero].mean(axis=(1, 2)) - 1e-12
            )
    return {claim: holds[counted] for claim, holds in claims.items()}


def _below_all(found: OverReadings, what: str) -> FloatArray:
    return np.asarray(np.all([found.is_lower(what, title) for title in found.rivals], axis=0))


def _claims_table(study: MultiverseSummary, claims: dict[str, dict[str, FloatArray]]) -> Table:
    rows: list[dict[str, Any]] = []
    for claim in next(iter(claims.values())):
        row: dict[str, Any] = {"claim": claim}
        for name, found in claims.items():
            holds = found[claim]
            row |= {f"share {name}": 100 * float(holds.mean())}
            low, high = wilson_interval(int(holds.sum()), holds.size)
            row |= {f"{name}_interval": (100 * low, 100 * high)}
        rows.append(row)
    headings = {"claim": ("Claim", "")}
    for name in claims:
        headings |= {f"share {name}": (f"{name} [% of readings]", ".0f"), f"{name}_interval": ("95 % interval", ".0f")}
    number = int(study.counted.sum())
    return Table(
        "shares",
        f"In how many of {number} readings each claim holds",
        rows,
        headings,
        note="A claim holds in a reading if it does for the means over its data sets. Wilson's intervals, as if the "
        "readings were drawn at random: they describe the choices of the plan, not all imaginable ones.",
    )


def _rivals_table(study: MultiverseSummary, found: OverReadings) -> Table:
    counted = study.counted
    others = [title for title in found.errors if title != found.reference]
    tests = {
        title: joint_permutation(found.errors[found.reference][counted], found.errors[title][counted])
        for title in others
    }
    adjusted = dict(zip(others, hommel([p for _, p in tests.values()]).tolist(), strict=True))
    rows = []
    for title in others:
        effects = as_percent(found.ratio("error", title)[counted].mean(axis=1))
        sizes = as_percent(found.ratio("size", title)[counted].mean(axis=1))
        rows.append(
            {
                "against": title,
                "share": 100 * float(found.is_lower("error", title)[counted].mean()),
                "median": float(np.median(effects)),
                "range_interval": tuple(np.percentile(effects, [10, 90]).tolist()),
                "p": tests[title][1],
                "adjusted": adjusted[title],
                "smaller": 100 * float(found.is_lower("size", title)[counted].mean()),
                "size": float(np.median(sizes)),
            }
        )
    return Table(
        f"{found.slug}-rivals",
        f"{found.reference} against each other algorithm over the readings, with {found.name}",
        rows,
        {
            "against": ("against", ""),
            "share": ("lower error rate in [% of readings]", ".0f"),
            "median": ("error rate, median reading [%]", "+.1f"),
            "range_interval": ("10 % to 90 % of readings", "+.1f"),
            "p": ("p", ".2g"),
            "adjusted": ("p, Hommel", ".2g"),
            "smaller": ("smaller subsets in [% of readings]", ".0f"),
            "size": ("features, median reading [%]", "+.1f"),
        },
        note="Differences relative to the other algorithm. p: joint test of the median reading, by exchanging the "
        "labels of the runs within data sets, in all readings at once (9999 times): about these data sets, not others.",
    )


def _choices(study: MultiverseSummary, found: OverReadings) -> Content:
    counted = np.flatnonzero(study.counted)
    chosen = [study.readings[i].chosen for i in counted]
    parts = {what: explain_effects(found.effects(what)[counted], chosen) for what in ("error", "size")}
    rows: list[dict[str, Any]] = []
    for error, size in zip(parts["error"][0], parts["size"][0], strict=True):
        for name in error.means:
            first = name == next(iter(error.means))
            rows.append(
                {
                    "choice": error.choice if first else "",
                    "alternative": name,
                    "error": float(as_percent(np.array(error.means[name]))),
                    "error_share": 100 * error.share if first else None,
                    "size": float(as_percent(np.array(size.means[name]))),
                    "size_share": 100 * size.share if first else None,
                }
            )
    for label, place in (("data sets", 1), ("the rest", 2)):
        shares = {f"{what}_share": 100 * parts[what][place] for what in parts}
        rows.append({"choice": label, "alternative": "", "error": None, "size": None} | shares)
        rows[-1] = {key: rows[-1][key] for key in rows[0]}
    table = Table(
        f"{found.slug}-choices",
        f"Mean effect with each alternative, and the share of variance of each choice, with {found.name}",
        rows,
        {
            "error": ("error rate vs. best rival [%]", "+.1f"),
            "error_share": ("share of variance [%]", ".0f"),
            "size": ("features vs. fewest of a rival [%]", "+.1f"),
            "size_share": ("share of variance [%]", ".0f"),
        },
        note="Main effects, by least squares; descriptive. The rest holds interactions of choices and chance.",
    )
    most = max(parts["error"][0], key=lambda one: one.share)
    lowest, highest = (pick(most.means, key=lambda name: most.means[name]) for pick in (min, max))
    words = (
        f"Of the choices, {most.choice.rpartition('.')[2]} moves the lead in error rate most: "
        f"{float(as_percent(np.array(most.means[lowest]))):+.1f} % with {lowest}, "
        f"{float(as_percent(np.array(most.means[highest]))):+.1f} % with {highest}."
    )
    return Content(words=[words], tables=[table])


def _near(study: MultiverseSummary, found: OverReadings, drawing: Drawing) -> Content:
    from scipy.stats import spearmanr

    printed = found.paper.all_features
    assert printed is not None  # noqa: S101
    far = np.abs(np.log(found.all_features.mean(axis=1) / printed))[study.counted]
    effect = found.spread("error").mean[study.counted]
    if np.ptp(far) == 0 or np.ptp(effect) == 0:
        return Content(drawings=[drawing])
    near = far <= np.quantile(far, 0.25)
    rank = spearmanr(far, effect)
    words = (
        "In the quarter of the readings whose error rate of all features is nearest to the paper's, the mean effect "
        f"is {float(as_percent(effect[near].mean())):+.1f} %, in the others "
        f"{float(as_percent(effect[~near].mean())):+.1f} % (rank correlation of distance and effect "
        f"{float(rank.statistic):+.2f}, {probability(float(rank.pvalue))})."
    )
    return Content(words=[words], drawings=[drawing])


def _readings(study: MultiverseSummary) -> Passage:
    means = {(found.name, what): found.spread(what).mean for found in study.classifiers for what in ("error", "size")}
    rows: list[dict[str, Any]] = [
        {"reading": reading.name}
        | {f"{name} {what}": float(as_percent(values[i])) for (name, what), values in means.items()}
        | reading.chosen
        for i, reading in enumerate(study.readings)
    ]
    headings = {f"{name} {what}": (f"{name}, {_NOUNS[what]} [%]", "+.1f") for name, what in means}
    headings |= {choice: (choice.rpartition(".")[2], "") for choice in study.readings[0].chosen}
    table = Table(
        "readings",
        "All readings: the reference relative to its best rival, and the alternatives chosen",
        rows,
        headings,
    )
    listings = {
        f"Reading {reading.name}": "\n".join(
            f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in reading.changes.items()
        )
        or "the plan itself"
        for reading in study.readings
    }
    words = (
        "Below, the keys of the plan that each reading sets. For its whole plan: pqswarm plan show DIR --reading NAME."
    )
    return Passage("What are the readings?", Content(words=[words], tables=[table], listings=listings))


def _say_claims(study: MultiverseSummary, found: OverReadings, claims: dict[str, FloatArray]) -> str:
    number = int(study.counted.sum())
    error, size = list(claims.values())[:2]
    text = (
        f"{found.name}: over {number} readings of the plan{study.only}, {found.reference} has the lowest mean error "
        f"rate in {int(error.sum())} and the smallest subsets in {int(size.sum())}"
    )
    ahead = [
        f"{claim.partition(' has ')[0]} has a lower error rate than {found.reference} in {int(holds.sum())}"
        for claim, holds in claims.items()
        if claim.endswith(f"than {found.reference}")
    ]
    return f"{text}; {enumerate_words(ahead)}." if ahead else f"{text}."


def _say_range(study: MultiverseSummary, found: OverReadings, what: str) -> str:
    mean, low, high = (each[study.counted] for each in found.spread(what))
    shown = as_percent(mean)
    text = (
        f"The {_NOUNS[what]} of {found.reference} relative to its best rival ranges from {shown.min():+.1f} to "
        f"{shown.max():+.1f} %, median {np.median(shown):+.1f} %"
    )
    if np.isfinite(low).all():
        text += (
            f"; the interval over data sets lies below zero in {int((high < 0).sum())} readings and above in "
            f"{int((low > 0).sum())}"
        )
    return f"{text}."


def _describe(study: MultiverseSummary) -> str:
    plan = study.plan
    assert plan.multiverse is not None  # noqa: S101
    choices = [choice.rpartition(".")[2] for choice in plan.multiverse.choices]
    marked = sum(reading.marked for reading in study.readings)
    searched, once = [a.title for a in plan.searched], [a.title for a in plan.sequential]
    text = (
        f"{int(study.counted.sum())} readings{study.only} of a plan ({plan.multiverse.design} design"
        f"{f', and {marked} marked' if marked else ''}) vary {enumerate_words(choices)}. In each, on "
        f"{enumerate_words(study.datasets)}, {enumerate_words(searched + once)} searched for the features with which "
        f"{enumerate_words([found.name for found in study.classifiers])} make the fewest errors: "
        f"{count_runs(plan.runs)} of {plan.max_evaluations} evaluations each"
        f"{f' ({enumerate_words(once)}: once)' if once else ''}."
    )
    if study.missing:
        text += f" The study is not finished: {study.missing} readings are left out."
    return text


def _say_unit(study: MultiverseSummary) -> str:
    k = len(study.datasets)
    over = f"and intervals are over {k} data sets, the same seeds in all readings" if k > 1 else "are over runs"
    return (
        f"A reading is one way to settle what the plan leaves open; its means {over}. Click a reading in a figure for "
        f"the keys it sets; filter readings by choice above the figure."
    )


def _how(study: MultiverseSummary) -> Content:
    about, machine = study.about, study.about.machine
    words = (
        f"pqswarm {about.version} on {machine['processor']} ({machine['cores']} cores, {machine['system']}, Python "
        f"{machine['python']}). The same plan gives the same numbers, regardless of workers, device and interruptions."
    )
    return Content(words=[words], listings={"The plan, to repeat the study": format_plan(study.plan)})
