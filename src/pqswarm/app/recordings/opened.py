"""A recording that somebody looks at: its header, pictures of any stretch, and what is measured at a moment."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm.errors import PqswarmError
from pqswarm.recordings import Envelope
from pqswarm.recordings.status import interruptible
from pqswarm.recordings.view.encode import describe_header, describe_status, describe_view, thin

if TYPE_CHECKING:
    from pqswarm.identify import Verdict
    from pqswarm.recordings import RecordingSource

__all__ = ["MOST_POINTS", "OpenRecording", "urms_view"]

MOST_POINTS = 4000
"""Parts of a picture; no screen has more columns."""
_MOST_STATUS, _MOST_CHANGES = 128, 2000
"""Status channels that are sent, and changes of each."""
_MOST_BAND, _MOST_ROWS = 100_000, 200_000
"""Samples of wavelet bands, and rows of a table of samples."""
_AROUND = 10.0
"""Cycles before and after a stretch that are looked at for its bands."""
_STAYS = ("COMTRADE", "CSV", "table")


@dataclass(frozen=True, eq=False)
class OpenRecording:
    """A recording, as the site sees it, and its picture.

    Attributes
    ----------
    source : RecordingSource
        The recording.
    envelope : Envelope
        Its picture, which takes shape while it is looked at.
    number, n_recordings : int
        Its place among the recordings of the file, and how many there are.
    """

    source: "RecordingSource"
    envelope: Envelope
    number: int
    n_recordings: int

    @classmethod
    def of(cls, source: "RecordingSource", number: int, n_recordings: int) -> "OpenRecording":
        """Begin a picture."""
        return cls(source, Envelope(source), number, n_recordings)

    @property
    def size(self) -> int:
        """About how much memory it takes [byte]; recordings of packed formats are in memory."""
        samples = len(self.source.channels) * self.source.n_samples
        return 16 * samples // self.envelope.part + (0 if self.source.format.startswith(_STAYS) else 8 * samples)

    @property
    def seconds(self) -> float:
        """Its length [s]."""
        return self.source.n_samples / self.source.sampling_rate

    def header(self, check: Callable[[], object]) -> dict[str, Any]:
        """Return what is known of it as plain values; `check` may end the search for its status channels."""
        source = self.source
        with interruptible(check):
            status = self._status()
        return {
            "source": source.source,
            "station": source.station,
            "format": source.format,
            "notes": list(source.notes),
            **describe_header(source),
            "status": status,
        }

    def _status(self) -> list[dict[str, Any]]:
        """Status channels, those first that change."""
        found = sorted(self.source.status, key=lambda one: len(one.places) < 2)
        return describe_status(found[:_MOST_STATUS], self.source.sampling_rate, _MOST_CHANGES)

    def view(self, begin: float, end: float, points: int, check: Callable[[], object]) -> dict[str, Any]:
        """Return a picture of a stretch [s]."""
        rate = self.source.sampling_rate
        found = self.envelope.view(floor(begin * rate), ceil(end * rate), min(max(points, 1), MOST_POINTS), check)
        return describe_view(found, rate)

    def measure(self, moment: float, cycles: int) -> dict[str, Any]:
        """Return phasors, symmetrical components and spectra just before a moment [s], or why there are none."""
        from pqswarm.measure import measure_at

        try:
            return measure_at(self.source, moment, cycles=cycles, side="before").as_dict()
        except PqswarmError as error:
            return {"moment": moment, "error": str(error)}

    def bands(self, begin: float, end: float, channel: int, points: int) -> dict[str, Any]:
        """Return the wavelet bands of a stretch [s] of a channel, thinned."""
        from pqswarm.features import band_waveforms

        rate = self.source.sampling_rate
        if not 0 <= channel < len(self.source.channels):
            raise PqswarmError(f"channel must be 0 to {len(self.source.channels) - 1}, not {channel}.")
        first, stop = max(floor(begin * rate), 0), min(ceil(end * rate), self.source.n_samples)
        if stop - first > _MOST_BAND:
            raise PqswarmError(f"wavelet bands are shown of up to {_MOST_BAND / rate:.3g} s: zoom in.")
        around = ceil(_AROUND * rate / self.source.nominal_frequency)  # a band at an end depends on what goes on
        begins, ends = max(first - around, 0), min(stop + around, self.source.n_samples)
        samples = self.source.read(begins, ends).channels[channel].samples
        found = band_waveforms(samples, rate, self.source.nominal_frequency)
        shown = slice(first - begins, stop - begins)
        step = max(ceil((stop - first) / min(max(points, 1), MOST_POINTS)), 1)
        header = self.source.channels[channel]
        return {
            "channel": channel,
            "name": header.name,
            "unit": header.unit,
            "from": first / rate,
            "to": stop / rate,
            "bands": [
                {"name": name, "edges_hz": list(map(float, edges)), **thin(values[shown], first / rate, 1 / rate, step)}
                for name, edges, values in zip(found.names, found.edges_hz, found.values, strict=True)
            ],
            "note": "",
        }

    def table(self, begin: float, end: float) -> str:
        """Return the samples of a stretch [s] as CSV."""
        import csv
        import io

        from pqswarm._base.text import disarm

        rate = self.source.sampling_rate
        first, stop = max(floor(begin * rate), 0), min(ceil(end * rate), self.source.n_samples)
        if stop - first > _MOST_ROWS:
            raise PqswarmError(f"samples are saved of up to {_MOST_ROWS / rate:.3g} s: zoom in.")
        part = self.source.read(first, stop)
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["time [s]", *(disarm(f"{one.name} [{one.unit}]") for one in part.channels)])
        columns = [(first + np.arange(stop - first)) / rate, *(one.samples for one in part.channels)]
        for row in zip(*(column.tolist() for column in columns), strict=True):
            writer.writerow([f"{value:.9g}" if value == value else "" for value in row])
        return stream.getvalue()


def urms_view(verdict: "Verdict", begin: float, end: float, points: int) -> dict[str, Any] | None:
    """Return Urms(1/2) [pu] of a stretch [s] of all channels that were judged; None if there is none."""
    found = verdict.characterisation
    measured, points = found.require_series(), min(max(points, 1), MOST_POINTS)
    time = measured.time
    if time.size < 2 or not found.channels:
        return None
    step = float(time[-1] - time[0]) / (time.size - 1)
    first = max(int(np.searchsorted(time, begin)) - 1, 0)
    stop = min(int(np.searchsorted(time, end)) + 1, time.size)
    times = 1 if stop - first <= 2 * points else ceil((stop - first) / points)
    first, stop = first // times * times, min(ceil(stop / times) * times, time.size)  # still when it is moved
    series = [thin(urms[first:stop], float(time[first]), step, times) for urms in measured.urms]
    return {
        "from": float(time[first]),
        "to": float(time[max(stop - 1, 0)]),
        "n": series[0]["n"],
        "step": series[0]["step"],
        "channels": [
            {"index": one.number, "low": own["low"], "high": own["high"]}
            for one, own in zip(found.channels, series, strict=True)
        ],
    }
