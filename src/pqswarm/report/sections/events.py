"""What the events look like: one of each class, where the events of the study are generated ones."""

from matplotlib.figure import Figure

from pqswarm.events import generate
from pqswarm.report.event_figures import plot_gallery
from pqswarm.report.section import Content, Drawing
from pqswarm.report.summary import StudySummary

__all__ = ["content"]


def content(study: StudySummary) -> Content:
    """Show one event of each class."""
    made = study.generated
    if made is None or not set(study.class_names) <= set(made.class_names):
        return Content()

    def draw(narrow: bool = False) -> Figure:
        events = [generate(name, made.seed, preset=made.make_preset()) for name in study.class_names]
        return plot_gallery(events, narrow=narrow)

    drawing = Drawing(
        "",
        f"The {len(study.class_names)} event classes",
        "Voltage, in units of its nominal amplitude, against time. Where an event is short, the figure shows a part of "
        "the record. What is too fast for the figure is drawn as the band that it fills, and its beginning again in "
        "an inset.",
        draw,
        narrow=lambda: draw(narrow=True),
    )
    words = (
        "One event of each class, made in the way the study makes them, without noise. At each noise level the same "
        "events were tested."
    )
    return Content(words=[words], drawings=[drawing])
