"""Several studies in one report: the differences between their plans and their results."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.report.document import Document, Passage, number_contents
from pqswarm.report.overview import describe_study, new_data_note, new_data_panel, plot_new_data
from pqswarm.report.runs import ALL_FEATURES
from pqswarm.report.section import Content, Drawing, Table, adaptive_drawing, count, enumerate_words, percent
from pqswarm.report.style import Palette
from pqswarm.report.summary import (
    MEASURE_FACTORS,
    MEASURE_FORMATS,
    MEASURE_NOUNS,
    MEASURES,
    ClassifierAcrossDatasets,
    Measure,
    MultiverseSummary,
    StudySummary,
)
from pqswarm.statistics import hommel, mann_whitney, wilcoxon_signed_rank


def compare_studies(studies: Mapping[str, StudySummary | MultiverseSummary]) -> Document:
    """Compare studies, given by name, in one report: the classifiers and algorithms that all have."""
    comparable = {name: study for name, study in studies.items() if isinstance(study, StudySummary)}
    multiverse = next((name for name in studies if name not in comparable), None)
    if multiverse is not None:
        raise PqswarmError(
            f"{multiverse} is a multiverse: its report compares its specifications; compare other studies."
        )
    return _StudyComparison(comparable).compose()


class _StudyComparison:
    """Studies by name, and the results with each classifier that all have.

    The unit of the tests is the run if all studies have a single data set, otherwise the data set.
    """

    def __init__(self, studies: dict[str, StudySummary]) -> None:
        self.studies = studies
        self.names = list(studies)
        self.base = self.names[0]
        self.by_run = all(study.only is not None for study in studies.values())
        by_name = {name: {each.name: each for each in study.classifiers} for name, study in studies.items()}
        self.classifiers: dict[str, dict[str, ClassifierAcrossDatasets]] = {
            classifier: {name: each[classifier] for name, each in by_name.items()}
            for classifier in by_name[self.base]
            if all(classifier in each for each in by_name.values())
        }
        if not self.classifiers:
            raise PqswarmError(f"the studies {enumerate_words(self.names)} have no classifier of the same name.")

    def compose(self) -> Document:
        document = Document(
            title=enumerate_words(self.names),
            overview=Content(
                answer=[self._say_results(classifier) for classifier in self.classifiers],
                drawings=[self._drawing()],
                tables=[self._table_of_means()],
                words=[self._say_caution()],
            ),
            description=" ".join(f"{name}: {describe_study(study)}" for name, study in self.studies.items()),
            version=self.studies[self.names[-1]].about.version,
            chapters=(),
            parts=(Passage("Differences between the plans", self._plans()),),
        )
        return number_contents(document)

    def _shared_titles(self, classifier: str) -> list[str]:
        """Titles of the algorithms that all studies have; without those that run once if runs are compared."""
        first, *others = self.classifiers[classifier].values()
        titles = [title for title in first.titles if all(title in other.titles for other in others)]
        return [title for title in titles if not self.by_run or title in first.datasets[""].runs]

    def _say_results(self, classifier: str) -> str:
        """The results in all studies of the baseline of the first, or of another algorithm that all have."""
        results = self.classifiers[classifier]
        titles = self._shared_titles(classifier)
        baseline = results[self.base].baseline
        title = baseline if baseline in titles else next(iter(titles), None)
        whole = _say_each_compared_study({name: float(each.all_features.mean()) for name, each in results.items()})
        parts = [f"all features have an error rate of {whole}"]
        if title is not None:
            means = _say_each_compared_study({name: each.mean("error", title) for name, each in results.items()})
            sizes = enumerate_words([count(round(each.mean("size", title), 1)) for each in results.values()])
            parts.append(f"the mean of {title} is {means}, with {sizes} features")
        return f"{classifier}: {'; '.join(parts)}."

    def _say_caution(self) -> str:
        first, *others = self.studies.values()
        if all(first.searched_data == other.searched_data for other in others):
            return f"The studies searched on the same {first.item}s: differences are due to the searches."
        return (
            f"The studies searched on different {first.item}s: differences may be due to the {first.item}s, the "
            f"searches, or both. The order of the algorithms can be compared."
        )

    def _table_of_means(self) -> Table:
        """Means of error and size side by side, with a test of each study against the first."""
        rows = [row for classifier in self.classifiers for row in self._rows_of_means(classifier)]
        if len(rows) == len(self.classifiers):
            raise PqswarmError(f"the studies {enumerate_words(self.names)} have no algorithm of the same name.")
        others = self.names[1:]
        columns: dict[str, tuple[str, str]] = {"classifier": ("classifier", "")}
        for measure in MEASURES:
            form = MEASURE_FORMATS[measure]
            columns |= {f"{measure} {name}": (f"{MEASURE_NOUNS[measure]}, {name}", form) for name in self.names}
            for name in others:
                which = f", {name}" if len(others) > 1 else ""
                columns[f"{measure} change {name}"] = (f"difference{which}", f"+{form}")
                columns[f"{measure} p {name}"] = (f"p, Hommel-adjusted{which}", "#.2g")
        unit = "runs" if self.by_run else "data sets, means over runs"
        tests = dict.fromkeys("Wilcoxon signed-rank" if self._is_paired(name) else "Mann-Whitney" for name in others)
        return Table(
            "means",
            f"Means of {enumerate_words(self.names)}",
            rows,
            columns,
            note=f"Unit of the tests: {unit} ({self._say_numbers()}). p: two-sided {enumerate_words(list(tests))} test "
            f"between a study and {self.base}, Hommel-adjusted for the number of algorithms per classifier.",
        )

    def _rows_of_means(self, classifier: str) -> list[dict[str, Any]]:
        """A row for each algorithm, and for all features, which are not tested."""
        results = self.classifiers[classifier]
        titles = self._shared_titles(classifier)
        rows: list[dict[str, Any]] = [
            {"algorithm": title, "classifier": classifier} for title in (*titles, ALL_FEATURES)
        ]
        for measure in MEASURES:
            values = {
                (title, name): self._values(each, title, measure)
                for title in (*titles, ALL_FEATURES)
                for name, each in results.items()
            }
            for row in rows:
                for name in self.names:
                    row[f"{measure} {name}"] = MEASURE_FACTORS[measure] * float(values[row["algorithm"], name].mean())
            for name in self.names[1:]:
                p = [self._test(name, values[title, self.base], values[title, name]) for title in titles]
                adjusted = dict(zip(titles, hommel(p).tolist() if p else [], strict=True))
                for row in rows:
                    row[f"{measure} change {name}"] = row[f"{measure} {name}"] - row[f"{measure} {self.base}"]
                    row[f"{measure} p {name}"] = adjusted.get(row["algorithm"])
        return rows

    def _values(self, results: ClassifierAcrossDatasets, title: str, measure: Measure) -> FloatArray:
        """The runs on the only data set, or the means on each."""
        if title == ALL_FEATURES:
            sizes = np.array([float(dataset.n_features) for dataset in results.datasets.values()])
            return results.all_features if measure == "error" else sizes
        return results.values(measure)[title][0] if self.by_run else results.means(measure, title)

    def _is_paired(self, name: str) -> bool:
        """Whether a study has the data sets of the first."""
        return not self.by_run and self.studies[self.base].searched_data == self.studies[name].searched_data

    def _test(self, name: str, first: FloatArray, second: FloatArray) -> float:
        return wilcoxon_signed_rank(first, second) if self._is_paired(name) else mann_whitney(first, second)[0]

    def _say_numbers(self) -> str:
        """The numbers of units of each study."""
        numbers = {
            classifier: [
                f"{each.datasets[''].n_runs if self.by_run else each.n_datasets} in {name}"
                for name, each in results.items()
            ]
            for classifier, results in self.classifiers.items()
        }
        return "; ".join(f"{classifier}, {enumerate_words(each)}" for classifier, each in numbers.items())

    def _drawing(self) -> Drawing:
        titles = dict.fromkeys(a.title for study in self.studies.values() for a in study.plan.algorithms)
        panels = {
            f"{classifier}, {name}": new_data_panel(each)
            for classifier, results in self.classifiers.items()
            for name, each in results.items()
        }
        palette = Palette(titles, self.studies[self.base].baseline)
        caption = "Error rate of the best subset of each algorithm"
        note = f"Each panel has its own scale. {new_data_note(panels)}"
        return adaptive_drawing("errors", caption, note, plot_new_data, panels, palette)

    def _plans(self) -> Content:
        rows: dict[str, dict[str, Any]] = {}
        for name in self.names[1:]:
            for key, first, second in self.studies[self.base].plan.differences(self.studies[name].plan):
                row = rows.setdefault(key, {"key": key} | {f"in {each}": str(first) for each in self.names})
                row[f"in {name}"] = str(second)
        if not rows:
            return Content(words=["The plans are the same."])
        columns = {f"in {name}": (name, "") for name in self.names}
        note = "Only keys that affect the results are listed."
        return Content(tables=[Table("plans", "Keys that differ", list(rows.values()), columns, note=note)])


def _say_each_compared_study(errors: Mapping[str, float]) -> str:
    return enumerate_words([f"{percent(error)} in {name}" for name, error in errors.items()])
