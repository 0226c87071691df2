"""One HTML page for many analyses, ready to forward."""

from pqswarm.identify.show.page.html import page_html
from pqswarm.identify.show.page.listing import ListedRecording, find_waveform_recording, match_waveform_recording

__all__ = ["ListedRecording", "find_waveform_recording", "match_waveform_recording", "page_html"]
