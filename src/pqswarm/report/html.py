"""The report of a study as one self-contained HTML file."""

import base64
import hashlib
import re
from importlib.resources import files
from itertools import count

from markupsafe import Markup, escape

from pqswarm._web import read_scripts
from pqswarm.report.document import Document
from pqswarm.report.section import Drawing
from pqswarm.report.svg import inline_svg


def html_report(document: Document) -> str:
    """Return a report as one page that needs no network; its security policy allows only its own script, by digest."""
    from jinja2 import Environment, PackageLoader

    loader = Environment(loader=PackageLoader("pqswarm.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    numbers = count()
    # A number and its unit stay on one line, and so does a command.
    loader.filters["bind"] = lambda text: Markup(  # noqa: S704 (escaped)
        re.sub("“(pqswarm .*?)”", r"<code>\1</code>", re.sub(" (?=%|dB)", "\u00a0", str(escape(text))))
    )
    loader.filters["pictures"] = lambda drawing: _html_pictures(drawing, f"d{next(numbers)}")
    script = read_scripts("draw.js") + "\n" + _html_template("report.js")
    if any(table.name == "specifications" for table in document.tables):
        script += "\n" + _html_template("specifications.js")
    return loader.get_template("report.html.jinja").render(
        document=document,
        style=Markup(_html_template("report.css")),  # noqa: S704 (ours)
        script=Markup(script),  # noqa: S704 (ours)
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _html_template(name: str) -> str:
    return (files("pqswarm.report") / "templates" / name).read_text(encoding="utf-8")


def _html_pictures(drawing: Drawing, prefix: str) -> dict[str, Markup]:
    """A drawing for the page: ``wide``, and ``narrow`` if it can be drawn for narrow screens."""
    pictures = {"wide": inline_svg(drawing.draw(), drawing.caption, f"{prefix}-")}
    if drawing.narrow is not None:
        pictures["narrow"] = inline_svg(drawing.narrow(), drawing.caption, f"{prefix}n-")
    return {kind: Markup(text) for kind, text in pictures.items()}  # noqa: S704 (its words are escaped)
