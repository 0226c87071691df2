"""Figures of the worst events for the page: read where they lie, drawn as SVG, bounded in number and size."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from markupsafe import Markup

from pqswarm.errors import PqswarmError
from pqswarm.identify.page.rows import Row
from pqswarm.recordings import open_recordings

if TYPE_CHECKING:
    from pqswarm.identify.verdict import Verdict
    from pqswarm.recordings.recording import RecordingSource

__all__ = ["MOST_BYTES", "MOST_FIGURES", "Picture", "choose_rows", "draw_pictures", "find_recording", "match_recording"]

MOST_FIGURES = 20
MOST_BYTES = 4_000_000
"""Of all figures together."""

_TROUBLE = (PqswarmError, OSError, ValueError, ArithmeticError, LookupError)
"""What a file may do to its figure; the row stays."""


@dataclass(frozen=True, eq=False)
class Picture:
    """An event and its figure."""

    row: Row
    svg: Markup


def choose_rows(rows: Sequence[Row], most: int = MOST_FIGURES) -> list[Row]:
    """Choose the events to be drawn: the worst of each recording first, worst first, then others."""
    ordered = sorted((row for row in rows if row.event.kind != "none"), key=lambda row: row.severity, reverse=True)
    firsts: dict[int, Row] = {}
    for row in ordered:
        firsts.setdefault(id(row.verdict), row)
    chosen = [*firsts.values(), *(row for row in ordered if firsts[id(row.verdict)] is not row)][:most]
    return sorted(chosen, key=lambda row: row.severity, reverse=True)


@lru_cache(maxsize=1)
def _open(path: str) -> "tuple[RecordingSource, ...]":
    """The recordings of a file, of which the last one opened stays open: a file may hold many."""
    try:
        return open_recordings(path)
    except _TROUBLE:
        return ()


def find_recording(verdict: "Verdict") -> "RecordingSource | None":
    """Return the recording of a verdict from its file; None if that is not there, or has changed."""
    return match_recording(verdict, _open(verdict.path)) if verdict.path else None


def match_recording(verdict: "Verdict", sources: "Iterable[RecordingSource]") -> "RecordingSource | None":
    """Return the recording of a verdict among those of its file; None if it is not there, or has changed."""
    found = verdict.characterisation
    for source in sources:
        same = (source.source, source.n_samples, source.start) == (verdict.source, found.n_samples, verdict.start)
        if same and abs(source.sampling_rate / found.sampling_rate - 1) < 1e-6:
            return source
    return None


def draw_pictures(
    rows: Sequence[Row], find: "Callable[[Verdict], RecordingSource | None]" = find_recording
) -> list[Picture]:
    """Draw the worst events, as far as number and size allow; what cannot be read again is left out."""
    from pqswarm.identify.figures import plot_verdict
    from pqswarm.report.svg import inline_svg

    pictures: list[Picture] = []
    for row in sorted(choose_rows(rows), key=lambda row: row.verdict.path):
        try:
            recording = find(row.verdict)
            if recording is None:
                continue
            with warnings.catch_warnings():
                # Letters are the reader's, whose fonts have them.
                warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
                figure = plot_verdict(recording, row.verdict, row.found, on_page=True)
                svg = inline_svg(figure, f"Waveforms of event {row.number}: {row.sentence}", f"e{row.number}-")
        except _TROUBLE:
            continue
        pictures.append(Picture(row, Markup(svg)))  # noqa: S704 (its words are escaped)
    _open.cache_clear()
    pictures.sort(key=lambda picture: picture.row.severity, reverse=True)
    sizes = accumulate(len(picture.svg) for picture in pictures)
    return [picture for picture, size in zip(pictures, sizes, strict=True) if size <= MOST_BYTES]
