"""Show results: text lines, figures and the HTML page."""

__all__: list[str] = []
