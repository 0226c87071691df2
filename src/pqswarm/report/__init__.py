"""What people look at: the report of a study, its figures, and figures of events, features and searches.

Its parts are imported on first use, so that the style of the figures can be used without the rest.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
    from pqswarm.report.comparison_figures import plot_ranks, plot_superiority
    from pqswarm.report.convergence import plot_convergence
    from pqswarm.report.event_figures import plot_event, plot_features, plot_gallery
    from pqswarm.report.feature_figures import plot_feature_map, plot_feature_maps, plot_selected_features
    from pqswarm.report.noise_figures import plot_robustness
    from pqswarm.report.run_figures import plot_boxes, plot_error_against_size, plot_overview
    from pqswarm.report.search_figures import plot_front, plot_searches
    from pqswarm.report.section import ClassifierSection, Content, Drawing, StudySection
    from pqswarm.report.sections.confusion import plot_confusion
    from pqswarm.report.sections.fronts import plot_fronts
    from pqswarm.report.sections.registry import SECTIONS
    from pqswarm.report.study_report import FORMATS, study_figures, write_comparison, write_figures, write_report
    from pqswarm.report.style import Palette, save_figure
    from pqswarm.report.summary import ClassifierSummary, StudySummary, summarize
    from pqswarm.report.tables import Table

__all__ = [
    "FORMATS",
    "SECTIONS",
    "ClassifierSection",
    "ClassifierSummary",
    "Content",
    "Drawing",
    "Palette",
    "StudySection",
    "StudySummary",
    "Table",
    "plot_boxes",
    "plot_confusion",
    "plot_convergence",
    "plot_error_against_size",
    "plot_event",
    "plot_feature_map",
    "plot_feature_maps",
    "plot_features",
    "plot_front",
    "plot_fronts",
    "plot_gallery",
    "plot_overview",
    "plot_ranks",
    "plot_robustness",
    "plot_searches",
    "plot_selected_features",
    "plot_superiority",
    "save_figure",
    "study_figures",
    "summarize",
    "write_comparison",
    "write_figures",
    "write_report",
]


# Where they are, in the order in which they import each other: a name is found without loading what comes after it.
_FIGURES = (
    *("event_figures", "search_figures", "convergence", "run_figures", "feature_figures", "comparison_figures"),
    "noise_figures",
)
_MODULES = ("style", "tables", *_FIGURES, "section", "summary", "study_report")
_SECTIONS = ("confusion", "fronts", "registry")


def __getattr__(name: str) -> _Any:
    if name in __all__:
        for module in (*_MODULES, *(f"sections.{section}" for section in _SECTIONS)):
            found = _import_module(f"{__name__}.{module}")
            if name in found.__all__:
                return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
