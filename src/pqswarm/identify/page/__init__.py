"""What people get to see of many verdicts: one page, fit to forward."""

from pqswarm.identify.page.html import page_html

__all__ = ["page_html"]
