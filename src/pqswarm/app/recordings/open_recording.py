"""An open recording: its header, views of any interval, and measurements at a point in time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm.errors import PqswarmError
from pqswarm.recordings import Envelope, RecordingSource
from pqswarm.recordings.drawing import (
    describe_drawn_view,
    describe_header,
    encode_status_channels,
    encode_thinned_series,
)
from pqswarm.recordings.recording import interruptible_status_reading

if TYPE_CHECKING:
    from pqswarm.identify import Analysis

MAX_POINTS = 4000
"""Maximum number of columns of a view; no screen has more."""
_MAX_STATUS = 128
_MAX_CHANGES = 2000
"""Maximum number of status channels sent, and of changes of each."""
_MAX_ROWS = 200_000
"""Maximum number of rows of a table of samples."""
_READ_FROM_DISK = ("COMTRADE", "CSV", "table")
"""Formats whose samples are not held in memory."""


@dataclass(frozen=True, eq=False)
class OpenRecording:
    """A recording after the site file was applied, its envelope, and its position in the file."""

    source: "RecordingSource"
    envelope: Envelope
    number: int
    n_recordings: int

    @property
    def size(self) -> int:
        """Approximate memory use [byte]; compressed formats are held in memory."""
        samples = len(self.source.channels) * self.source.n_samples
        return 16 * samples // self.envelope.part + (
            0 if self.source.format.startswith(_READ_FROM_DISK) else 8 * samples
        )

    @property
    def seconds(self) -> float:
        """Duration [s]."""
        return self.source.n_samples / self.source.sampling_rate

    def header(self, check: Callable[[], object]) -> dict[str, Any]:
        """Return its metadata as plain values; `check` may interrupt the reading of status channels."""
        source = self.source
        with interruptible_status_reading(check):
            # Those that change come first.
            found = sorted(source.status, key=lambda one: len(one.places) < 2)
            status = encode_status_channels(found[:_MAX_STATUS], source.sampling_rate, _MAX_CHANGES)
        return {
            "source": source.source,
            "station": source.station,
            "format": source.format,
            "notes": list(source.notes),
            **describe_header(source),
            "status": status,
        }

    def view(
        self, start: float, end: float, points: int, check: Callable[[], object], channels: Sequence[int] | None = None
    ) -> dict[str, Any]:
        """Return the waveforms of an interval [s], thinned to what can be drawn; of some channels, or of all."""
        rate = self.source.sampling_rate
        found = self.envelope.view(floor(start * rate), ceil(end * rate), min(max(points, 1), MAX_POINTS), check)
        return describe_drawn_view(found, rate, channels, at_place=True)

    def measure(self, moment: float, cycles: int, channels: Sequence[int] | None = None) -> dict[str, Any]:
        """Return phasors, symmetrical components and spectra just before a point in time [s], or an error."""
        from pqswarm.measure import measure_at

        try:
            found = measure_at(self.source, moment, cycles=cycles, channels=channels or None, side="before").as_dict()
        except PqswarmError as error:
            return {"moment": moment, "error": str(error)}
        for one in found["channels"]:
            if one["spectrum"] is not None:  # four digits of each order are what a bar shows
                orders = [float(f"{fraction:.4g}") for fraction in one["spectrum"]["orders"]]
                one["spectrum"] = {"thd": one["spectrum"]["thd"], "orders": orders}
        return found

    def table(self, start: float, end: float) -> str:
        """Return the samples of an interval [s] as CSV."""
        import csv
        import io

        from pqswarm._base.text import disarm

        rate = self.source.sampling_rate
        first, stop = max(floor(start * rate), 0), min(ceil(end * rate), self.source.n_samples)
        if stop - first > _MAX_ROWS:
            raise PqswarmError(f"the table of samples is limited to {_MAX_ROWS / rate:.3g} s: zoom in.")
        part = self.source.read(first, stop)
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["time [s]", *(disarm(f"{one.name} [{one.unit}]") for one in part.channels)])
        columns = [(first + np.arange(stop - first)) / rate, *(one.samples for one in part.channels)]
        for row in zip(*(column.tolist() for column in columns), strict=True):
            writer.writerow([f"{value:.9g}" if value == value else "" for value in row])
        return stream.getvalue()


def open_recording_measured_view(
    analysis: "Analysis", start: float, end: float, points: int, channels: Sequence[int] | None = None
) -> dict[str, Any]:
    """Return Urms(1/2) [pu] of analyzed channels, all or some, and the frequency [Hz] in an interval [s], if known."""
    found = analysis.characterization
    if found is None:
        return {}
    measured = found.require_series()
    time = measured.time
    if time.size < 2 or not found.channels:
        return {}
    step = float(time[-1] - time[0]) / (time.size - 1)
    first = max(int(np.searchsorted(time, start)) - 1, 0)
    stop = min(int(np.searchsorted(time, end)) + 1, time.size)
    times = 1 if stop - first <= 2 * points else ceil((stop - first) / points)
    # On a fixed grid, the curve does not flicker while panning.
    first, stop = first // times * times, min(ceil(stop / times) * times, time.size)
    series = [encode_thinned_series(urms[first:stop], float(time[first]), step, times) for urms in measured.urms]
    urms = {
        "from": float(time[first]),
        "to": float(time[max(stop - 1, 0)]),
        "n": series[0]["n"],
        "step": series[0]["step"],
        "channels": [
            {"index": one.number, "low": own["low"], "high": own["high"]}
            for one, own in zip(found.channels, series, strict=True)
            if channels is None or one.number in channels
        ],
    }
    hertz = measured.frequency
    is_known = hertz.size == time.size and np.isfinite(hertz).any()
    trace = encode_thinned_series(hertz[first:stop], float(time[first]), step, times) if is_known else None
    return {"urms": urms, "frequency": trace}
