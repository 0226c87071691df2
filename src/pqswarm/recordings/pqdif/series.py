"""The series of PQDIF channels: how they are defined, stored, scaled and shared."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.recordings.pqdif import tags
from pqswarm.recordings.pqdif.records import Collection, Vector
from pqswarm.recordings.units import clean

if TYPE_CHECKING:
    from datetime import datetime

_MAX_SHARES = 4  # a series that shares one that shares one ...


@dataclass(frozen=True)
class Definition:
    """A channel definition: positions of the time and value series, and their definitions."""

    name: str
    unit: str
    phase: str
    time_at: int
    values_at: int
    methods: tuple[int, ...]
    units: tuple[int, ...]


@dataclass(frozen=True)
class Stored:
    """A stored series."""

    values: Vector
    method: int
    unit: int
    scale: float
    offset: float

    def in_units(self, values: "FloatArray | float", *, only_scale: bool = False) -> FloatArray:
        """Stored values times scale plus offset, if the series is scaled."""
        if not self.method & tags.SCALED:
            return np.asarray(values, np.float64)
        scale = 1.0 if np.isnan(self.scale) else self.scale
        offset = 0.0 if np.isnan(self.offset) or only_scale else self.offset
        return np.asarray(values * scale + offset, np.float64)


class Instances:
    """The channels of an observation; shared series are looked up once."""

    def __init__(
        self, indices: list[int], series: list[list[Collection]], definitions: "list[Definition | None]"
    ) -> None:
        self.indices = indices
        self.all_series = series
        self.definitions = definitions
        self.memory: dict[tuple[int, int], Stored | None] = {}
        self.time_bases: dict[tuple[int, int], tuple[float, float, datetime | None]] = {}

    def definition(self, i: int) -> Definition | None:
        """Definition of a channel."""
        return self.definitions[self.indices[i]] if 0 <= self.indices[i] < len(self.definitions) else None

    def find_series(self, i: int, at: int, depth: int = 0) -> "Stored | None":
        """Values, scale, offset and coding of a series, resolved through shared ones."""
        if depth > _MAX_SHARES or not (0 <= i < len(self.indices) and 0 <= at < len(self.all_series[i])):
            return None
        if (i, at) not in self.memory:
            self.memory[i, at] = self._look_up(i, at, depth)
        return self.memory[i, at]

    def _look_up(self, i: int, at: int, depth: int) -> "Stored | None":
        definition = self.definition(i)
        series = self.all_series[i][at]
        scale = series.number(tags.SERIES_SCALE)
        offset = series.number(tags.SERIES_OFFSET)
        values = series.vector(tags.SERIES_VALUES)
        if values is None:
            other = self.find_series(series.integer(tags.SHARE_CHANNEL), series.integer(tags.SHARE_SERIES), depth + 1)
            if other is None:
                return None
            if np.isnan(scale) and np.isnan(offset):
                return other
            scale = other.scale if np.isnan(scale) else scale
            return replace(other, scale=scale, offset=other.offset if np.isnan(offset) else offset)
        if definition is None or at >= len(definition.methods):
            return None
        return Stored(values, definition.methods[at], definition.units[at], scale, offset)


def read_definition(channel: Collection) -> Definition | None:
    """A channel's definition; None if it is not a waveform with time and values."""
    if channel.guid(tags.QUANTITY_TYPE) != tags.WAVEFORM:
        return None
    kinds = channel.collection(tags.SERIES_DEFINITIONS).collections(tags.ONE_SERIES_DEFINITION)
    types = [kind.guid(tags.SERIES_VALUE_TYPE) for kind in kinds]
    at = next((types.index(t) for t in (tags.VALUE_TYPE_VALUE, tags.VALUE_TYPE_INSTANTANEOUS) if t in types), -1)
    if at < 0 or tags.VALUE_TYPE_TIME not in types:
        return None
    units = tuple(kind.integer(tags.SERIES_UNITS, 0) for kind in kinds)
    measured = {1: "V", 2: "A"}.get(channel.integer(tags.QUANTITY_MEASURED, 0), "?")
    name = channel.vector(tags.CHANNEL_NAME)
    return Definition(
        "" if name is None else clean(name.text()),
        tags.UNITS.get(units[at], measured),
        tags.PHASES.get(channel.integer(tags.PHASE_ID, 0), ""),
        types.index(tags.VALUE_TYPE_TIME),
        at,
        tuple(kind.integer(tags.STORAGE_METHOD, 1) for kind in kinds),
        units,
    )


def increments(stored: FloatArray) -> tuple[float, float, float]:
    """Count, step and first value of a series stored as increments.

    The standard stores the number of rates, and a count and a step for each; some vendors store start, count and step.
    Of several rates, the longest section counts.
    """
    if stored.size < 3:
        return 0.0, 0.0, 0.0
    if stored[0] >= 1 and stored.size == 1 + 2 * stored[0]:
        counts = stored[1::2]
        steps = stored[2::2]
        if (steps == steps[0]).all():
            return float(counts.sum()), float(steps[0]), 0.0
        return 0.0, 0.0, 0.0
    return float(stored[1]), float(stored[2]), float(stored[0])
