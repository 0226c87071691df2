"""One HTML page for many analyses, ready to forward."""

from pqswarm.identify.show.page.html import page_html
from pqswarm.identify.show.page.listing import ListedRecording, find_listed_recording, match_listed_recording

__all__ = ["ListedRecording", "find_listed_recording", "match_listed_recording", "page_html"]
