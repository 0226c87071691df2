"""Envelopes: the minimum and maximum of each bin of a long recording, refined by zooming in."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from pqswarm._base.checks import check_integer
from pqswarm._base.thinning import extremes
from pqswarm._base.typing import FloatArray
from pqswarm.recordings.recording import RecordingSource, do_nothing

Pictured = NDArray[np.float32]
"""Values to be drawn, of shape (n_channels, n)."""

MAX_PARTS = 50_000
"""Maximum number of bins of a view; no screen has more columns."""

_BLOCK = 1_000_000  # values of all channels read at once
_MAX_READ = 2_000_000  # values of all channels read for a view if the envelope is almost as good
_MAX_KEPT = 16_000_000  # minima and maxima of all channels, 4 bytes each


@dataclass(frozen=True, eq=False)
class EnvelopeView:
    """Part of a recording, thinned for drawing.

    Attributes
    ----------
    first, stop : int
        The first sample, and the one after the last, extended to whole bins: a picture then does not flicker when it
        is moved.
    n : int
        Number of bins.
    step : int
        Samples in a bin; bin `i` starts at sample `first + i * step`, the last one may be shorter.
    exact : bool
        Whether each bin is one sample; `low` and `high` are then both the samples.
    low, high : ndarray of shape (n_channels, n)
        Minimum and maximum of each bin, NaN where there is none; single precision.
    fraction : float
        Fraction of the view that was ready; the rest is NaN until the envelope has been built.
    """

    first: int
    stop: int
    n: int
    step: int
    exact: bool
    low: Pictured
    high: Pictured
    fraction: float = 1.0


class Envelope:
    """Minima and maxima of the bins of a recording, for fast drawing of any part.

    A short view is read from the recording, a long one from the bins that :meth:`build` has computed. One thread may
    build while others view: missing bins are NaN. Bins are built all over the recording, so that the first picture
    roughly shows everything.

    Parameters
    ----------
    source : RecordingSource
        The recording; it stays in its file.
    part : int, default=128
        Samples in a stored bin; more if a long recording would exceed 64 MB.

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
        while 2 * n_channels * -(-source.n_samples // part) > _MAX_KEPT:
            part *= 2
        self.source = source
        self.part = part
        n_parts = -(-source.n_samples // part)
        self._low = np.full((n_channels, n_parts), np.nan, np.float32)
        self._high = self._low.copy()
        self._block = max(_BLOCK // (part * max(n_channels, 1)), 1)  # parts
        self._is_built = np.zeros(-(-n_parts // self._block), np.bool_)
        self._building = Lock()
        self._writing = Lock()

    @property
    def fraction(self) -> float:
        """Fraction of the recording that has been built."""
        return float(self._is_built.mean()) if self._is_built.size else 1.0

    def build(self, check: Callable[[], object] = do_nothing) -> None:
        """Read the recording in blocks, and store minimum and maximum of each bin.

        Parameters
        ----------
        check : callable, optional
            Called before each block; its exception stops the work, which the next call resumes.
        """
        for block in _spread_envelope_blocks(self._is_built.size):
            check()
            with self._building:  # several builders share the work
                if not self._is_built[block]:
                    self._build_block(block)

    def view(self, first: int, stop: int, n_parts: int, check: Callable[[], object] = do_nothing) -> EnvelopeView:
        """Return part of the recording, thinned to about that many bins.

        Parameters
        ----------
        first, stop : int
            The first sample, and the one after the last, cut to the recording.
        n_parts : int
            Target number of bins, such as the pixel columns of a picture: 1 to 50000. Up to twice as many samples are
            returned unthinned, with one more sample at both ends.
        check : callable, optional
            Called before each block that must be read; its exception stops the work.

        Returns
        -------
        EnvelopeView
            At most `n_parts` + 1 bins, or all samples.
        """
        check_integer("n_parts", n_parts, 1, MAX_PARTS)
        n = self.source.n_samples
        first = min(max(int(first), 0), max(n - 1, 0))
        stop = min(max(int(stop), first + 1), n)
        if stop - first <= 2 * n_parts:
            first, stop = max(first - 1, 0), min(stop + 1, n)
            samples = self._thin(first, stop, 1, check)[0]
            return EnvelopeView(first, stop, stop - first, 1, True, samples, samples)
        step = -(-(stop - first) // int(n_parts))
        many = (stop - first) * len(self.source.channels) > _MAX_READ
        is_kept = step >= 2 * self.part or (many and 2 * step >= self.part)
        if is_kept:
            step = -(-step // self.part) * self.part
        first, stop = first // step * step, min(-(-stop // step) * step, n)
        low, high, fraction = self._kept(first, stop, step) if is_kept else (*self._thin(first, stop, step, check), 1.0)
        return EnvelopeView(first, stop, low.shape[1], step, False, low, high, fraction)

    def _build_block(self, block: int) -> None:
        first, stop = block * self._block, min((block + 1) * self._block, self._low.shape[1])
        low, high = _envelope_extremes(self._samples(first * self.part, stop * self.part), self.part)
        with self._writing:
            self._low[:, first:stop] = low
            self._high[:, first:stop] = high
            self._is_built[block] = True

    def _samples(self, first: int, stop: int) -> list[FloatArray]:
        return [channel.samples for channel in self.source.read(first, stop).channels]

    def _kept(self, first: int, stop: int, step: int) -> tuple[Pictured, Pictured, float]:
        """Extremes of bins that are multiples of the stored ones."""
        begin, end = first // self.part, -(-stop // self.part)
        with self._writing:
            low, high = self._low[:, begin:end].copy(), self._high[:, begin:end].copy()
            fraction = float(self._is_built[begin // self._block : -(-end // self._block)].mean())
        times = step // self.part
        return extremes(low, times)[0], extremes(high, times)[1], fraction

    def _thin(self, first: int, stop: int, step: int, check: Callable[[], object]) -> tuple[Pictured, Pictured]:
        """Extremes of bins of any length, from the recording, in blocks."""
        n_channels = len(self.source.channels)
        length = max(_BLOCK // (step * max(n_channels, 1)), 1) * step
        blocks = [(np.empty((n_channels, 0), np.float32),) * 2]
        for begin in range(first, stop, length):
            check()
            blocks.append(_envelope_extremes(self._samples(begin, min(begin + length, stop)), step))
        low, high = zip(*blocks, strict=True)
        return np.concatenate(low, axis=1), np.concatenate(high, axis=1)


def _envelope_extremes(rows: list[FloatArray], step: int) -> tuple[Pictured, Pictured]:
    """Minimum and maximum of each bin of each row, in single precision; NaN if it has none."""
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = extremes(np.asarray(rows, np.float32), step)
    for values in (low, high):
        values[~np.isfinite(values)] = np.nan  # beyond single precision
    return low, high


def _spread_envelope_blocks(n: int) -> Iterator[int]:
    """The numbers below `n` in an order that covers the range evenly from the start."""
    bits = max(n - 1, 0).bit_length()
    for k in range(1 << bits):
        number = int(f"{k:0{bits}b}"[::-1], 2) if bits else 0
        if number < n:
            yield number
