"""What people look at: figures of events, features and searches, and the report of a study."""

from pqswarm.report.event_figures import plot_event, plot_features, plot_gallery
from pqswarm.report.search_figures import plot_searches
from pqswarm.report.study_report import FORMATS, write_report
from pqswarm.report.style import save_figure

__all__ = ["FORMATS", "plot_event", "plot_features", "plot_gallery", "plot_searches", "save_figure", "write_report"]
