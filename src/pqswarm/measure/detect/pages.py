"""A recording in pages: stretches of a fixed length, with a margin on both sides.

Everything is measured page by page, so memory use does not grow with the recording. Page boundaries depend only on the
number of samples; the block size in which the file is read does not change a result.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.recordings.recording import RecordingSource

PAGE = 131_072
"""Samples of a page, of each channel."""


@dataclass(frozen=True, eq=False)
class Page:
    """Samples (n_channels, n) from `start` on; `first` to before `stop` is the page itself, the rest its margins."""

    first: int
    stop: int
    start: int
    samples: FloatArray

    @property
    def core(self) -> FloatArray:
        """The samples without the margins."""
        return self.samples[:, self.first - self.start : self.stop - self.start]


def turn_pages(
    source: RecordingSource, numbers: Sequence[int], margin: int, block: int | None = None
) -> Iterator[Page]:
    """Yield the pages of some channels, read in blocks of `block` samples; the last one is up to twice as long."""
    if block is not None and block < 1:
        raise PqswarmError(f"block must be at least 1 sample, not {block!r}.")
    total = source.n_samples
    step = PAGE if block is None else block
    held = np.empty((len(numbers), 0))
    base = 0
    for number in range(max(total // PAGE, 1)):
        first = number * PAGE
        stop = total if total < first + 2 * PAGE else first + PAGE
        start, end = max(first - margin, 0), min(stop + margin, total)
        parts = [held[:, start - base :]]
        known = base + held.shape[1]
        while known < end:
            following = min(known + step, total)
            parts.append(read_channels(source, numbers, known, following))
            known = following
        held = np.concatenate(parts, axis=1)
        base = start
        yield Page(first, stop, start, held[:, : end - start])


def read_channels(source: RecordingSource, numbers: Sequence[int], first: int, stop: int) -> FloatArray:
    """Samples of some channels from `first` to before `stop`: shape (n_channels, n)."""
    channels = source.read(first, stop).channels
    return np.array([channels[number].samples for number in numbers], dtype=np.float64)
