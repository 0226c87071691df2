"""Read a study for your own analysis: its runs as rows or as a data frame."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pqswarm.errors import PqswarmError
from pqswarm.study import findings
from pqswarm.study.plan import StudyPlan
from pqswarm.study.plan_file import restore_plan
from pqswarm.study.records import RunRecord
from pqswarm.study.store import Store


@dataclass(frozen=True, eq=False)
class Study:
    """The finished runs of a study.

    Attributes
    ----------
    plan : StudyPlan
        Its plan.
    runs : dict of str to tuple of RunRecord
        Finished runs by data set; the only one of a study has an empty name.
    feature_names : dict of str to tuple of str
        Names of the features of each data set.
    """

    plan: StudyPlan
    runs: dict[str, tuple[RunRecord, ...]]
    feature_names: dict[str, tuple[str, ...]]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per run: data set, classifier, algorithm, run, error, size, evaluations, time and features."""
        titles = {algorithm.name: algorithm.title for algorithm in self.plan.algorithms}
        return [
            {
                "dataset": dataset,
                "classifier": record.key.classifier,
                "algorithm": titles[record.key.algorithm],
                "run": record.key.run,
                "error": record.error,
                "size": record.size,
                "evaluations": record.result.n_evaluations,
                "seconds": record.seconds,
                "features": tuple(self.feature_names[dataset][i] for i in record.result.selected),
            }
            for dataset, records in self.runs.items()
            for record in records
        ]

    def to_frame(self) -> Any:
        """Return :meth:`rows` as a pandas data frame."""
        try:
            import pandas as pd  # type: ignore[import-untyped]
        except ImportError:
            raise PqswarmError("a data frame needs the package pandas: pip install pandas.") from None
        return pd.DataFrame(self.rows())


def read_study(folder: str | Path) -> Study:
    """Read the plan and the finished runs of the study in a folder, finished or not.

    Examples
    --------
    >>> def mean_errors(folder):
    ...     frame = read_study(folder).to_frame()
    ...     return frame.groupby(["classifier", "algorithm", "dataset"])["error"].mean()
    """
    with Store(folder) as store:
        about = store.find(findings.About)
        if about is None:
            raise PqswarmError(f"{folder} holds a study that has not started: run it first.")
        plan = restore_plan(about.plan)
        runs = {}
        names = {}
        for dataset in plan.cells():
            events = store.of(dataset).find(findings.Events)
            records = tuple(store.of(dataset).finished())
            if events is not None and records:
                width = records[0].mask.size
                names[dataset] = events.feature_names or tuple(f"feature {i}" for i in range(width))
                runs[dataset] = records
        return Study(plan, runs, names)
