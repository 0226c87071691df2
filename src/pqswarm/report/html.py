"""The report of a study as one HTML file that needs nothing else."""

import base64
import io
from itertools import count

import matplotlib as mpl
from markupsafe import Markup, escape

from pqswarm.report.document import Document
from pqswarm.report.section import Drawing
from pqswarm.report.style import STYLE
from pqswarm.report.svg import inline_svg

__all__ = ["html_report"]


def html_report(document: Document) -> str:
    """Return a report as one page with style and pictures inside, which opens without a network."""
    from jinja2 import Environment, PackageLoader

    loader = Environment(loader=PackageLoader("pqswarm.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    numbers = count()
    loader.filters["bind"] = _bind
    loader.filters["picture"] = lambda drawing: _picture(drawing, f"d{next(numbers)}-")
    return loader.get_template("report.html.jinja").render(document=document)


def _bind(text: str) -> str:
    """Keep a number and its unit on one line."""
    return text.replace(" %", "\u00a0%").replace(" dB", "\u00a0dB")


def _picture(drawing: Drawing, prefix: str) -> Markup:
    figure = drawing.draw()
    if not drawing.raster:
        return Markup(inline_svg(figure, drawing.caption, prefix))  # noqa: S704 (its words are escaped)
    file = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    data = base64.b64encode(file.getvalue()).decode()
    return Markup(f'<img alt="{escape(drawing.caption)}" src="data:image/png;base64,{data}">')  # noqa: S704
