"""Scripts and style sheets shared by the workbench, pages and reports; scripts add to the namespace `pq`."""

from importlib.resources import files

__all__ = ["SCRIPTS", "STYLES", "VIEWER", "read_scripts", "read_styles"]

VIEWER = ("draw.js", "waves_pictures.js", "waves_panels.js", "waves_input.js", "waves.js", "waves_frame.js")
"""Scripts of the waveform viewer, in loading order."""

SCRIPTS = (*VIEWER, "table.js", "instruments.js")
"""All scripts, in loading order."""

STYLES = ("colors.css", "base.css", "waves.css", "instruments.css", "tolerance.css")
"""All style sheets, in loading order."""


def read_scripts(*names: str) -> str:
    """Return scripts as one text, to be inlined in a page.

    Examples
    --------
    >>> "pq.svg" in read_scripts("draw.js")
    True
    """
    return "\n".join((files(__name__) / name).read_text(encoding="utf-8") for name in names)


def read_styles(*names: str) -> str:
    """Return style sheets as one text, to be inlined in a page."""
    return read_scripts(*names)
