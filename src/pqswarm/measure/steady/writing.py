"""Steady quantities as files."""

import csv
from collections.abc import Iterator
from datetime import datetime, timedelta
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pqswarm._base.files import write_atomically
from pqswarm._base.text import disarm
from pqswarm.errors import PqswarmError
from pqswarm.measure.steady.series import SteadySeries

_SHARES = ("thd", "thd_without_notches", "notch_depth", "noise", "modulation")


def write_series(series: SteadySeries, path: Path, start: datetime | None) -> Path:
    """Write a series as CSV or npz, by the suffix of `path`."""
    suffix = path.suffix.lower()
    if suffix == ".npz":
        arrays = _series_arrays(series, start)
        return write_atomically(path, lambda file: np.savez_compressed(file, **arrays))
    if suffix != ".csv":
        raise PqswarmError(f"steady quantities are written as .csv or .npz, not as {path.name!r}.")
    return write_atomically(path, lambda file: _write_series_rows(file, _window_rows(series, start)))


def _write_series_rows(file: BinaryIO, rows: Iterator[list[str]]) -> None:
    """Write rows one by one: an hour is tens of megabytes of text."""
    text = TextIOWrapper(file, encoding="utf-8", newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    text.detach()


def _series_arrays(series: SteadySeries, start: datetime | None) -> dict[str, Any]:
    """Everything as arrays that need no pickle."""
    plain = {name: value for name, value in vars(series).items() if isinstance(value, np.ndarray)}
    return {
        **plain,
        "channel": np.array([one.name for one in series.channels]),
        "phase": np.array([one.phase for one in series.channels]),
        "system": np.array(series.systems),
        "groups": np.array(series.groups, dtype=np.int64).reshape(-1, 3),
        "sampling_rate": np.array(series.sampling_rate),
        "nominal_frequency": np.array(series.nominal_frequency),
        "cycles": np.array(series.cycles),
        "start": np.array("" if start is None else start.isoformat()),
    }


def _window_rows(series: SteadySeries, start: datetime | None) -> Iterator[list[str]]:
    """One row for each window: times, frequency, then the values of each channel and system."""
    head = ["start [s]", "end [s]", "frequency [Hz]"]
    columns = [series.edges[:-1], series.edges[1:], series.frequency]
    for c, channel in enumerate(series.channels):
        head += [f"{channel.name} {name} [V]" for name in ("rms", "fundamental", "dc")]
        columns += [series.rms[c], series.fundamental[c], series.dc[c]]
        head += [f"{channel.name} {name} [%]" for name in _SHARES]
        columns += [100 * getattr(series, name)[c] for name in _SHARES]
        head += [f"{channel.name} notches per cycle", f"{channel.name} Pinst"]
        columns += [series.notches[c], series.sensation[c]]
        head += [f"{channel.name} h{k + 2} [%]" for k in range(series.harmonics.shape[2])]
        columns += [100 * values for values in series.harmonics[c].T]
    for g, members in enumerate(series.groups):
        name = series.systems[members[0]] or "/".join(series.channels[i].name for i in members)
        head += [f"{name} unbalance [%]", f"{name} zero sequence [%]"]
        columns += [100 * series.unbalance[g], 100 * series.zero_sequence[g]]
    yield [str(disarm(name)) for name in (head if start is None else ["time", *head])]
    for row in np.column_stack(columns):
        values = [f"{value:.6f}" for value in row[:2]] + ["" if value != value else f"{value:.6g}" for value in row[2:]]
        yield values if start is None else [_series_time_text(start, float(row[0])), *values]


def _series_time_text(start: datetime, seconds: float) -> str:
    try:
        return (start + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")
    except OverflowError:
        return ""
