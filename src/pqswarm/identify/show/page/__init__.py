"""One HTML page for many analyses, ready to forward."""

from pqswarm.identify.show.page.html import ListedRecording, find_listed_recording, match_listed_recording, page_html

__all__ = ["ListedRecording", "find_listed_recording", "match_listed_recording", "page_html"]
