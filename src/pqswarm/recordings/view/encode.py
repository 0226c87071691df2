"""A recording as plain values, for the viewer of the workbench and of the page of `pqswarm identify`."""

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._base.thinning import extremes

if TYPE_CHECKING:
    from pqswarm._base.typing import AnyArray
    from pqswarm.recordings.recording import RecordingSource
    from pqswarm.recordings.status import StatusChannel
    from pqswarm.recordings.view.envelope import EnvelopeView

__all__ = [
    "describe_header",
    "describe_view",
    "encode_extremes",
    "encode_floats",
    "encode_status_channels",
    "encode_thinned_series",
]

Encode = Callable[["AnyArray", "AnyArray | None"], dict[str, Any]]


def encode_floats(values: "AnyArray") -> str:
    """Return numbers as base64 of little-endian single precision.

    Examples
    --------
    >>> encode_floats(np.array([1.0, 0.5]))
    'AACAPwAAAD8='
    """
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode("ascii")


def encode_extremes(low: "AnyArray", high: "AnyArray | None") -> dict[str, Any]:
    """Return minima and maxima in single precision; `high` is None if `low` holds samples."""
    return {"low": encode_floats(low), "high": None if high is None else encode_floats(high)}


def describe_header(
    source: "RecordingSource", channels: Sequence[int] | None = None, text: Callable[[str], str] = str
) -> dict[str, Any]:
    """Describe a recording without reading samples: time, rates and channels.

    Parameters
    ----------
    source : RecordingSource
        The recording.
    channels : sequence of int, optional
        Which channels; by default all.
    text : callable
        Makes untrusted names and units safe to show.

    Returns
    -------
    dict
        Times in s, rates in Hz.

    Examples
    --------
    >>> from pqswarm.recordings import Channel, Recording
    >>> header = describe_header(Recording((Channel("UL1", "V", "A", np.zeros(100)),), 1000.0, 50.0))
    >>> header["seconds"], header["channels"]
    (0.1, [{'name': 'UL1', 'unit': 'V', 'phase': 'A', 'kind': 'voltage'}])
    """
    shown = range(len(source.channels)) if channels is None else channels
    return {
        "start": None if source.start is None else source.start.isoformat(),
        "seconds": source.n_samples / source.sampling_rate,
        "n_samples": source.n_samples,
        "sampling_rate": float(source.sampling_rate),
        "nominal_frequency": float(source.nominal_frequency),
        "channels": [
            {
                "name": text(one.name),
                "unit": text(one.unit),
                "phase": one.phase,
                "kind": "voltage" if one.is_voltage else "current" if one.is_current else "other",
            }
            for one in (source.channels[place] for place in shown)
        ],
    }


def encode_status_channels(
    status: "Iterable[StatusChannel]",
    sampling_rate: float,
    most: int | None = None,
    text: Callable[[str], str] = str,
) -> list[dict[str, Any]]:
    """Return status channels with up to `most` changes each: time [s] and new state.

    Examples
    --------
    >>> from pqswarm.recordings import StatusChannel
    >>> encode_status_channels([StatusChannel("trip", 0, np.array([0, 50]), np.array([0, 1]))], 1000.0)
    [{'name': 'trip', 'changes': [[0.0, 0], [0.05, 1]]}]
    """
    return [
        {"name": text(one.name), "changes": [[place / sampling_rate, state] for place, state in one.changes[:most]]}
        for one in status
    ]


def describe_view(
    view: "EnvelopeView",
    sampling_rate: float,
    channels: Sequence[int] | None = None,
    encode: Encode = encode_extremes,
) -> dict[str, Any]:
    """Return part of a recording as it is drawn; times in s.

    Examples
    --------
    >>> from pqswarm.recordings import Channel, Envelope, Recording
    >>> view = Envelope(Recording((Channel("UL1", "V", "A", np.zeros(100)),), 1000.0, 50.0)).view(20, 40, 50)
    >>> found = describe_view(view, 1000.0)
    >>> found["from"], found["to"], found["n"], found["exact"], found["channels"][0]["high"]
    (0.019, 0.041, 22, True, None)
    """
    shown = range(len(view.low)) if channels is None else channels
    return {
        "from": view.first / sampling_rate,
        "to": view.stop / sampling_rate,
        "n": view.n,
        "step": view.step / sampling_rate,
        "exact": view.exact,
        "share": view.share,
        "channels": [
            {"index": i, **encode(view.low[place], None if view.exact else view.high[place])}
            for i, place in enumerate(shown)
        ],
    }


def encode_thinned_series(values: "AnyArray", start: float, step: float, times: int) -> dict[str, Any]:
    """Return a series as it is drawn: all values, or minimum and maximum of each `times` values; NaN is a gap.

    Parameters
    ----------
    values : ndarray
        The series.
    start, step : float
        Time of the first value, and between values [s].
    times : int
        Values in a bin.

    Examples
    --------
    >>> found = encode_thinned_series(np.arange(10.0), 0.0, 0.001, 4)
    >>> found["n"], found["step"], found["low"] == encode_floats(np.array([0.0, 4.0, 8.0]))
    (3, 0.004, True)
    """
    if times <= 1:
        return {"from": start, "step": step, "n": len(values), **encode_extremes(values, None)}
    low, high = extremes(np.asarray(values, np.float64), times)
    return {"from": start, "step": step * times, "n": len(low), **encode_extremes(low, high)}
