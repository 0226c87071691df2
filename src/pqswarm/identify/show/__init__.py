"""Show results: text lines, figures and the HTML page."""
