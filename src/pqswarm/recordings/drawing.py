"""Recordings as pages draw them: headers, views, status channels and series as JSON."""

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pqswarm._base.thinning import extremes
from pqswarm._base.typing import AnyArray
from pqswarm.recordings.envelope import EnvelopeView
from pqswarm.recordings.recording import RecordingSource, StatusChannel

_KINDS = {"V": "voltage", "A": "current"}
Encode = Callable[[AnyArray, AnyArray | None], dict[str, Any]]


def encode_floats(values: AnyArray) -> str:
    """Encode numbers as base64 of little-endian single precision."""
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode("ascii")


def encode_extremes(low: AnyArray, high: AnyArray | None) -> dict[str, Any]:
    """Encode minima and maxima in single precision; `high` is None if `low` holds samples."""
    return {"low": encode_floats(low), "high": None if high is None else encode_floats(high)}


def describe_header(
    source: RecordingSource, channels: Sequence[int] | None = None, text: Callable[[str], str] = str
) -> dict[str, Any]:
    """Describe a recording without its samples: times [s], rates [Hz] and channels; `text` makes names safe to show."""
    shown = range(len(source.channels)) if channels is None else channels
    direct = _direct_voltages_in_view(source)
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
                "kind": "direct" if place in direct else _KINDS.get(one.unit, "other"),
            }
            for place, one in ((place, source.channels[place]) for place in shown)
        ],
    }


def _direct_voltages_in_view(source: RecordingSource) -> set[int]:
    """The channels of voltages that hardly alternate in the first cycles, such as a station battery."""
    if not source.n_samples:
        return set()
    first = source.read(0, min(source.n_samples, round(10 * source.sampling_rate / source.nominal_frequency)))
    direct = set()
    for place, one in enumerate(first.channels):
        known = one.samples[np.isfinite(one.samples)] if one.is_voltage else np.empty(0)
        if known.size and abs(known.mean()) > (2 if one.phase else 1) * known.std():
            direct.add(place)
    return direct


def encode_status_channels(
    status: Iterable[StatusChannel], sampling_rate: float, most: int | None = None, text: Callable[[str], str] = str
) -> list[dict[str, Any]]:
    """Return status channels as drawn, with up to `most` changes each: time [s] and new state."""
    return [
        {"name": text(one.name), "changes": [[place / sampling_rate, state] for place, state in one.changes[:most]]}
        for one in status
    ]


def describe_drawn_view(
    view: EnvelopeView,
    sampling_rate: float,
    channels: Sequence[int] | None = None,
    encode: Encode = encode_extremes,
    *,
    at_place: bool = False,
) -> dict[str, Any]:
    """Describe part of a recording as it is drawn; times in s. Channels are numbered as given, or by their place."""
    shown = range(len(view.low)) if channels is None else channels
    return {
        "from": view.first / sampling_rate,
        "to": view.stop / sampling_rate,
        "n": view.n,
        "step": view.step / sampling_rate,
        "exact": view.exact,
        "fraction": view.fraction,
        "channels": [
            {"index": place if at_place else i, **encode(view.low[place], None if view.exact else view.high[place])}
            for i, place in enumerate(shown)
        ],
    }


def encode_thinned_series(values: AnyArray, start: float, step: float, times: int) -> dict[str, Any]:
    """Encode a series, from `start` each `step` [s], as drawn: all values, or extremes of each `times`."""
    if times <= 1:
        return {"from": start, "step": step, "n": len(values), **encode_extremes(values, None)}
    low, high = extremes(np.asarray(values, np.float64), times)
    return {"from": start, "step": step * times, "n": len(low), **encode_extremes(low, high)}
