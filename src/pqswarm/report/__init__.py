"""The report of a study, and figures of studies, events and searches.

Modules are imported on first use.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
    from pqswarm.report.section import ClassifierSection, Content, Drawing, StudySection, Table
    from pqswarm.report.sections.algorithms import plot_convergence, plot_error_against_size
    from pqswarm.report.sections.chance import plot_ranks
    from pqswarm.report.sections.events import plot_event, plot_gallery
    from pqswarm.report.sections.registry import SECTIONS
    from pqswarm.report.study_report import FORMATS, write_comparison, write_figures, write_report
    from pqswarm.report.style import Palette, save_figure
    from pqswarm.report.summary import (
        ClassifierAcrossDatasets,
        ClassifierSummary,
        DatasetSummary,
        StudySummary,
        summarize,
    )

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

_MODULES = {
    "section": ("ClassifierSection", "Content", "Drawing", "StudySection", "Table"),
    "sections.algorithms": ("plot_convergence", "plot_error_against_size"),
    "sections.chance": ("plot_ranks",),
    "sections.events": ("plot_event", "plot_gallery"),
    "sections.registry": ("SECTIONS",),
    "study_report": ("FORMATS", "write_comparison", "write_figures", "write_report"),
    "style": ("Palette", "save_figure"),
    "summary": ("ClassifierAcrossDatasets", "ClassifierSummary", "DatasetSummary", "StudySummary", "summarize"),
}


def __getattr__(name: str) -> _Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(_import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
