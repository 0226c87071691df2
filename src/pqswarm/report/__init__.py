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
    from pqswarm.report.summary import ClassifierSummary, StudySummary, summarize
    from pqswarm.report.tables import Table

__all__ = [
    "FORMATS", "SECTIONS", "ClassifierSection", "ClassifierSummary", "Content", "Drawing", "Palette", "StudySection",
    "StudySummary", "Table", "plot_convergence", "plot_error_against_size", "plot_event", "plot_gallery",
    "plot_ranks", "save_figure", "summarize", "write_comparison", "write_figures",
    "write_report",
]  # fmt: skip

_NAMES_BY_MODULE = {
    "sections.algorithms.convergence": ("plot_convergence",),
    "sections.algorithms.points": ("plot_error_against_size",),
    "sections.chance.ranks": ("plot_ranks",),
    "sections.events": ("plot_event", "plot_gallery"),
    "sections.registry": ("SECTIONS",),
    "section": ("ClassifierSection", "Content", "Drawing", "StudySection"),
    "shared.palette": ("Palette",),
    "study_report": ("FORMATS", "write_comparison", "write_figures", "write_report"),
    "style": ("save_figure",),
    "summary": ("ClassifierSummary", "StudySummary", "summarize"),
    "tables": ("Table",),
}
_HOMES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
