"""What people look at: figures of events and features."""

from pqswarm.report.figures import plot_event, plot_features, plot_gallery, save_figure

__all__ = ["plot_event", "plot_features", "plot_gallery", "save_figure"]
