"""What people get to see of many verdicts: one page, fit to forward."""

from pqswarm.identify.page.html import page_html
from pqswarm.identify.page.pictures import find_recording

__all__ = ["find_recording", "page_html"]
