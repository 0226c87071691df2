"""One HTML page for many verdicts, ready to forward."""

from pqswarm.identify.show.page.html import page_html
from pqswarm.identify.show.page.listing import PageRecording
from pqswarm.identify.show.page.waveforms import find_recording, match_recording

__all__ = ["PageRecording", "find_recording", "match_recording", "page_html"]
