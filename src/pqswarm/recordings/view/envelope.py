"""The picture of a long recording: the least and greatest value of each part, refined where one looks closer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from pqswarm._base.checks import check_integer
from pqswarm._base.thinning import extremes
from pqswarm._base.typing import FloatArray
from pqswarm.recordings.recording import RecordingSource

__all__ = ["Envelope", "EnvelopeView"]

Pictured = NDArray[np.float32]
"""Values to be drawn, of shape (n_channels, n)."""

MOST_PARTS = 50_000
"""Parts of one view; no screen has more columns."""

_BLOCK = 1_000_000  # values of all channels that are read at once
_MOST_READ = 2_000_000  # values of all channels that are read for a view where the envelope would be almost as good
_MOST_KEPT = 16_000_000  # least and greatest values of all channels, 4 bytes each


@dataclass(frozen=True, eq=False)
class EnvelopeView:
    """A stretch of a recording, thinned to what can be drawn.

    Attributes
    ----------
    first, stop : int
        The first sample, and the one after the last. They reach a little further than what was asked for, to whole
        parts, so that a picture does not flicker when it is moved.
    n : int
        Number of parts.
    step : int
        Samples of a part; part `i` begins at sample `first + i * step`, the last one may be shorter.
    exact : bool
        Whether each part is one sample; `low` and `high` are then the same, the samples themselves.
    low, high : ndarray of shape (n_channels, n)
        Least and greatest value of each part, NaN where there is none; single precision.
    share : float
        How much of what this view needs was ready; below 1 the rest is NaN, until the envelope has been built.
    """

    first: int
    stop: int
    n: int
    step: int
    exact: bool
    low: Pictured
    high: Pictured
    share: float = 1.0


class Envelope:
    """Least and greatest values of the parts of a recording, which make a picture of any stretch of it fast.

    A view of a short stretch is read from the recording, one of a long stretch comes from what :meth:`build` has
    found. One thread may build while others look: what is not there yet is NaN. Parts are built all over the recording,
    not from its beginning, so that a first picture shows all of it, roughly.

    Parameters
    ----------
    source : RecordingSource
        The recording; it stays in its file.
    part : int
        Samples of each part that is kept. Of recordings so long that 64 MB would not do, parts are longer.

    Examples
    --------
    >>> from pqswarm.recordings import Channel, Recording
    >>> wave = np.sin(2 * np.pi * 50 * np.arange(600_000) / 10_000)
    >>> envelope = Envelope(Recording((Channel("U", "V", "A", wave),), 10_000.0, 50.0))
    >>> envelope.build()
    >>> whole = envelope.view(0, 600_000, 1000)
    >>> whole.exact, whole.n, whole.step, float(whole.low.min()), float(whole.high.max())
    (False, 938, 640, -1.0, 1.0)
    >>> cycle = envelope.view(300_000, 300_200, 1000)
    >>> cycle.exact, cycle.first, cycle.n
    (True, 299999, 202)
    """

    def __init__(self, source: RecordingSource, part: int = 128) -> None:
        part = check_integer("part", part, 1, 1 << 30)
        n_channels = len(source.channels)
        while 2 * n_channels * -(-source.n_samples // part) > _MOST_KEPT:
            part *= 2
        self.source = source
        self.part = part
        n_parts = -(-source.n_samples // part)
        self._low = np.full((n_channels, n_parts), np.nan, np.float32)
        self._high = self._low.copy()
        self._block = max(_BLOCK // (part * max(n_channels, 1)), 1)  # parts
        self._is_built = np.zeros(-(-n_parts // self._block), np.bool_)
        self._building, self._writing = Lock(), Lock()

    @property
    def share(self) -> float:
        """How much of the recording has been built, from 0 to 1."""
        return float(self._is_built.mean()) if self._is_built.size else 1.0

    def build(self, check: Callable[[], object] | None = None) -> None:
        """Go through the recording in blocks, and keep the least and greatest value of each part.

        Parameters
        ----------
        check : callable, optional
            Is called before each block; what it raises ends the work, which the next call takes up again.
        """
        for block in _spread(self._is_built.size):
            if check is not None:
                check()
            with self._building:  # of several builders, each does what is left
                if not self._is_built[block]:
                    self._build_block(block)

    def view(self, first: int, stop: int, n_parts: int, check: Callable[[], object] | None = None) -> EnvelopeView:
        """Return a stretch, thinned to about so many parts.

        Parameters
        ----------
        first, stop : int
            The first sample, and the one after the last; what lies outside the recording is left out.
        n_parts : int
            How many parts are wanted, such as the columns of pixels of a picture: 1 to 50000. Stretches of up to twice
            as many samples are returned as they are, with a sample more at both ends.
        check : callable, optional
            Is called before each block that must be read; what it raises ends the work.

        Returns
        -------
        EnvelopeView
            Of at most `n_parts` + 1 parts, or all samples.
        """
        check_integer("n_parts", n_parts, 1, MOST_PARTS)
        n = self.source.n_samples
        first = min(max(int(first), 0), max(n - 1, 0))
        stop = min(max(int(stop), first + 1), n)
        if stop - first <= 2 * n_parts:
            first, stop = max(first - 1, 0), min(stop + 1, n)
            samples = self._thin(first, stop, 1, check)[0]
            return EnvelopeView(first, stop, stop - first, 1, True, samples, samples)
        step = -(-(stop - first) // int(n_parts))
        many = (stop - first) * len(self.source.channels) > _MOST_READ
        is_kept = step >= 2 * self.part or (many and 2 * step >= self.part)
        if is_kept:
            step = -(-step // self.part) * self.part
        first, stop = first // step * step, min(-(-stop // step) * step, n)
        low, high, share = self._kept(first, stop, step) if is_kept else (*self._thin(first, stop, step, check), 1.0)
        return EnvelopeView(first, stop, low.shape[1], step, False, low, high, share)

    def _build_block(self, block: int) -> None:
        first, stop = block * self._block, min((block + 1) * self._block, self._low.shape[1])
        low, high = _single_extremes(self._samples(first * self.part, stop * self.part), self.part)
        with self._writing:
            self._low[:, first:stop], self._high[:, first:stop] = low, high
            self._is_built[block] = True

    def _samples(self, first: int, stop: int) -> list[FloatArray]:
        return [channel.samples for channel in self.source.read(first, stop).channels]

    def _kept(self, first: int, stop: int, step: int) -> tuple[Pictured, Pictured, float]:
        """Of parts that are multiples of those that are kept."""
        begin, end = first // self.part, -(-stop // self.part)
        with self._writing:
            low, high = self._low[:, begin:end].copy(), self._high[:, begin:end].copy()
            share = float(self._is_built[begin // self._block : -(-end // self._block)].mean())
        times = step // self.part
        return extremes(low, times)[0], extremes(high, times)[1], share

    def _thin(self, first: int, stop: int, step: int, check: Callable[[], object] | None) -> tuple[Pictured, Pictured]:
        """Of parts of any length, from the recording itself, in blocks."""
        n_channels = len(self.source.channels)
        length = max(_BLOCK // (step * max(n_channels, 1)), 1) * step
        found = [(np.empty((n_channels, 0), np.float32),) * 2]
        for begin in range(first, stop, length):
            if check is not None:
                check()
            found.append(_single_extremes(self._samples(begin, min(begin + length, stop)), step))
        low, high = zip(*found, strict=True)
        return np.concatenate(low, axis=1), np.concatenate(high, axis=1)


def _single_extremes(rows: "list[FloatArray] | Pictured", step: int) -> tuple[Pictured, Pictured]:
    """Least and greatest number of each part of each row; NaN if it has none."""
    size = rows[0].size if len(rows) else 0
    low = np.empty((len(rows), -(-size // step)), np.float32)
    high = np.empty_like(low)
    with np.errstate(over="ignore", invalid="ignore"):
        for place, row in enumerate(rows):
            low[place], high[place] = extremes(row, step)
    for found in (low, high):
        found[~np.isfinite(found)] = np.nan  # beyond single precision
    return low, high


def _spread(n: int) -> Iterator[int]:
    """The numbers below `n`, each once, spread evenly from the first ones on."""
    bits = max(n - 1, 0).bit_length()
    for k in range(1 << bits):
        number = int(f"{k:0{bits}b}"[::-1], 2) if bits else 0
        if number < n:
            yield number
