"""The report of a study, and figures of studies, events and searches.

Modules are imported on first use.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
    from pqswarm.report.section import ClassifierSection, Content, Drawing, StudySection
    from pqswarm.report.sections.algorithms.convergence import plot_convergence
    from pqswarm.report.sections.algorithms.points import plot_error_against_size
    from pqswarm.report.sections.chance.ranks import plot_ranks
    from pqswarm.report.sections.events import plot_event, plot_gallery
    from pqswarm.report.sections.registry import SECTIONS
    from pqswarm.report.shared.palette import Palette
    from pqswarm.report.study_report import FORMATS, write_comparison, write_figures, write_report
    from pqswarm.report.style import save_figure
    from pqswarm.report.summary import (
        ClassifierAcrossDatasets,
        ClassifierSummary,
        DatasetSummary,
        StudySummary,
        summarize,
    )
    from pqswarm.report.tables import Table

__all__ = [
    "FORMATS",
    "SECTIONS",
    "ClassifierAcrossDatasets",
    "ClassifierSection",
    "ClassifierSummary",
    "Content",
    "DatasetSummary",
    "Drawing",
    "Palette",
    "StudySection",
    "StudySummary",
    "Table",
    "plot_convergence",
    "plot_error_against_size",
    "plot_event",
    "plot_gallery",
    "plot_ranks",
    "save_figure",
    "summarize",
    "write_comparison",
    "write_figures",
    "write_report",
]

_HOMES = {
    "FORMATS": "study_report",
    "SECTIONS": "sections.registry",
    "ClassifierAcrossDatasets": "summary",
    "ClassifierSection": "section",
    "ClassifierSummary": "summary",
    "Content": "section",
    "DatasetSummary": "summary",
    "Drawing": "section",
    "Palette": "shared.palette",
    "StudySection": "section",
    "StudySummary": "summary",
    "Table": "tables",
    "plot_convergence": "sections.algorithms.convergence",
    "plot_error_against_size": "sections.algorithms.points",
    "plot_event": "sections.events",
    "plot_gallery": "sections.events",
    "plot_ranks": "sections.chance.ranks",
    "save_figure": "style",
    "summarize": "summary",
    "write_comparison": "study_report",
    "write_figures": "study_report",
    "write_report": "study_report",
}


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
