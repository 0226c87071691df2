"""Axes to plot on; matplotlib is imported on first use, and is not needed otherwise."""

from typing import Any

from pqswarm.errors import PqswarmError


def new_axes(width: float, height: float) -> Any:
    """Return the axes of a new figure of this size [inch]."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PqswarmError("figures need matplotlib: pip install matplotlib.") from error
    return Figure(figsize=(width, height), layout="constrained").subplots()
