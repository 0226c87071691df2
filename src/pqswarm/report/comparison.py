"""Several studies in one report: the differences between their plans and their results."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.report.datasets.document import describe_datasets
from pqswarm.report.datasets.figures import datasets_panel
from pqswarm.report.datasets.summary import DatasetsSummary, OverDatasets
from pqswarm.report.document import Document, Passage, describe_study, number_contents
from pqswarm.report.section import Content, Drawing, adaptive_drawing
from pqswarm.report.shared.palette import Palette
from pqswarm.report.shared.run_points import ALL_FEATURES, Panel, draw_panels
from pqswarm.report.shared.sentences import count, enumerate_words, percent
from pqswarm.report.tables import Table
from pqswarm.statistics import hommel, mann_whitney, wilcoxon_signed_rank

_Studies = Mapping[str, DatasetsSummary]
_Group = dict[str, OverDatasets]  # the results of all studies with one classifier


def compare_studies(studies: _Studies) -> Document:
    """Compare studies, given by name, in one report: the classifiers and algorithms that all have."""
    first, *others = studies.values()
    members = {name: {found.name: found for found in study.classifiers} for name, study in studies.items()}
    groups = [
        {name: found[each.name] for name, found in members.items()}
        for each in first.classifiers
        if all(each.name in found for found in members.values())
    ]
    if not groups:
        raise PqswarmError(f"the studies {enumerate_words(list(studies))} have no classifier of the same name.")
    opening = Content(
        answer=[_finding(group) for group in groups],
        drawings=[_sizes(studies, groups)],
        tables=[_means(studies, groups)],
        words=[_caution(first, others)],
    )
    document = Document(
        title=enumerate_words(list(studies)),
        opening=opening,
        description=" ".join(f"{name}: {_describe(study)}" for name, study in studies.items()),
        reference=others[-1].reference,
        version=others[-1].about.version,
        chapters=(),
        parts=(Passage("Differences between the plans", _plans(studies)),),
    )
    return number_contents(document)


def _describe(study: DatasetsSummary) -> str:
    return describe_study(study.members[""]) if study.single else describe_datasets(study)


def _shared(group: _Group) -> list[str]:
    """Titles of the algorithms that all studies have; without those that run once if runs are compared."""
    first, *others = group.values()
    runs = [title for title in first.titles if all(title in other.titles for other in others)]
    single = [found.members[""] for found in group.values() if "" in found.members]
    return [title for title in runs if len(single) < len(group) or title in single[0].runs]


def _finding(group: _Group) -> str:
    """The results in all studies of the reference of the first, or of another algorithm that all have."""
    titles, reference = _shared(group), next(iter(group.values())).reference
    title = reference if reference in titles else next(iter(titles), None)
    parts = [f"all features have an error rate of {_each({n: f.all_features for n, f in group.items()})}"]
    if title is not None:
        sizes = [count(round(float(found.mean_sizes(title).mean()), 1)) for found in group.values()]
        means = _each({name: found.mean_errors(title) for name, found in group.items()})
        parts.append(f"the mean of {title} is {means}, with {enumerate_words(sizes)} features")
    return f"{next(iter(group.values())).name}: {'; '.join(parts)}."


def _each(shares: Mapping[str, FloatArray]) -> str:
    return enumerate_words([f"{percent(float(share.mean()))} in {name}" for name, share in shares.items()])


def _caution(first: DatasetsSummary, others: Sequence[DatasetsSummary]) -> str:
    if all(first.same_data(other) for other in others):
        return f"The studies searched on the same {first.item}s: differences are due to the searches."
    return (
        f"The studies searched on different {first.item}s: differences may be due to the {first.item}s, the searches, "
        f"or both. The order of the algorithms can be compared."
    )


def _means(studies: _Studies, groups: Sequence[_Group]) -> Table:
    """Means of error and size side by side, with a test of each study against the first."""
    by_run = all(study.single for study in studies.values())
    base, *names = studies
    paired = {name: not by_run and studies[base].same_data(studies[name]) for name in names}
    rows: list[dict[str, Any]] = []
    for group in groups:
        titles = [*_shared(group), ALL_FEATURES]
        mine: list[dict[str, Any]] = [{"algorithm": title, "classifier": group[base].name} for title in titles]
        for what, factor in (("error", 100.0), ("size", 1.0)):
            values = [{name: _units(found, title, what, by_run) for name, found in group.items()} for title in titles]
            for row, each in zip(mine, values, strict=True):
                row |= {f"{what} {name}": factor * float(value.mean()) for name, value in each.items()}
            for name in names:
                test = wilcoxon_signed_rank if paired[name] else _unpaired_p
                p = hommel([test(each[base], each[name]) for each in values[:-1]]).tolist() if titles[1:] else []
                for row, adjusted in zip(mine, [*p, None], strict=True):
                    row[f"{what} change {name}"] = row[f"{what} {name}"] - row[f"{what} {base}"]
                    row[f"{what} p {name}"] = adjusted
        rows += mine
    if len(rows) == len(groups):
        raise PqswarmError(f"the studies {enumerate_words(list(studies))} have no algorithm of the same name.")
    columns: dict[str, tuple[str, str]] = {"classifier": ("classifier", "")}
    for what, heading, form in (("error", "error rate [%]", ".2f"), ("size", "features", ".1f")):
        columns |= {f"{what} {name}": (f"{heading}, {name}", form) for name in studies}
        for name in names:
            which = f", {name}" if len(names) > 1 else ""
            columns |= {f"{what} change {name}": (f"difference{which}", f"+{form}")}
            columns |= {f"{what} p {name}": (f"p, Hommel-adjusted{which}", "#.2g")}
    unit = "runs" if by_run else "data sets, means over runs"
    kinds = dict.fromkeys("Wilcoxon signed-rank" if each else "Mann-Whitney" for each in paired.values())
    return Table(
        "means",
        f"Means of {enumerate_words(list(studies))}",
        rows,
        columns,
        note=f"Unit of the tests: {unit} ({_numbers(groups, by_run)}). p: two-sided {enumerate_words(list(kinds))} "
        f"test between a study and {base}, Hommel-adjusted for the number of algorithms per classifier.",
    )


def _units(found: OverDatasets, title: str, what: str, by_run: bool) -> FloatArray:
    """The runs on the only data set, or the means on each."""
    if title == ALL_FEATURES:
        sizes = np.array([float(one.n_features) for one in found.members.values()])
        return found.all_features if what == "error" else sizes
    values = found.errors(title) if what == "error" else found.sizes(title)
    return values[0] if by_run else np.array([each.mean() for each in values])


def _unpaired_p(one: FloatArray, other: FloatArray) -> float:
    return mann_whitney(one, other)[0]


def _numbers(groups: Sequence[_Group], by_run: bool) -> str:
    return "; ".join(
        f"{next(iter(group.values())).name}, "
        + enumerate_words([f"{f.members[''].n_runs if by_run else len(f.members)} in {n}" for n, f in group.items()])
        for group in groups
    )


def _sizes(studies: _Studies, groups: Sequence[_Group]) -> Drawing:
    by_run = all(study.single for study in studies.values())
    unit = "run" if by_run else "data set"

    def draw(narrow: bool = False) -> Figure:
        titles = dict.fromkeys(a.title for study in studies.values() for a in study.plan.algorithms)
        panels: dict[str, Panel] = {
            f"{found.name}, {name}": datasets_panel(found, by_run) for group in groups for name, found in group.items()
        }
        return draw_panels(panels, Palette(titles, next(iter(studies.values())).reference), narrow, unit)

    once = ", hollow ones searches that run only once" if by_run else ""
    note = f"Each panel has its own scale. Small markers are {unit}s, large ones means{once}."
    return adaptive_drawing("size", "Error rate against number of features", note, draw)


def _plans(studies: _Studies) -> Content:
    base, *names = studies
    rows: dict[str, dict[str, Any]] = {}
    for name in names:
        for key, one, other in studies[base].plan.differences(studies[name].plan):
            row = rows.setdefault(key, {"key": key} | {f"in {each}": str(one) for each in studies})
            row[f"in {name}"] = str(other)
    if not rows:
        return Content(words=["The plans are the same."])
    columns = {f"in {name}": (name, "") for name in studies}
    note = "Only keys that affect the results are listed."
    return Content(tables=[Table("plans", "Keys that differ", list(rows.values()), columns, note=note)])
