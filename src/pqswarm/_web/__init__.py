"""What pages in a browser share: styles, and scripts that draw; each adds to one namespace, `pq`."""

from importlib.resources import files

__all__ = ["SCRIPTS", "STYLES", "VIEWER", "read_scripts", "read_styles"]

VIEWER = ("draw.js", "waves_panels.js", "waves_input.js", "waves.js", "waves_frame.js")
"""What the waveform viewer needs, in the order in which a page loads them."""

SCRIPTS = (*VIEWER, "table.js", "instruments.js", "charts.js")
"""All, in such an order."""

STYLES = ("colours.css", "base.css", "waves.css", "instruments.css", "tolerance.css", "charts.css")
"""In the same order."""


def read_scripts(*names: str) -> str:
    """Return scripts as one text, fit to be put into a page.

    Examples
    --------
    >>> "pq.svg" in read_scripts("draw.js")
    True
    """
    return "\n".join((files(__name__) / name).read_text(encoding="utf-8") for name in names)


def read_styles(*names: str) -> str:
    """Return styles as one text, fit to be put into a page."""
    return read_scripts(*names)
