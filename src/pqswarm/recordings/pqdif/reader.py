"""PQDIF (IEEE 1159.3): the waveforms of observations.

A data source record defines channels and their series (time, values), monitor settings give the nominal frequency and
transducer ratios, and each observation record refers to the definitions before it. Series may be scaled, and shared.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from pqswarm._base.text import count_text
from pqswarm._base.typing import FloatArray
from pqswarm.recordings.files import FileBytes
from pqswarm.recordings.pqdif import tags
from pqswarm.recordings.pqdif.records import Collection, DamageError, Vector, moment, records
from pqswarm.recordings.reader import Options, RawChannel, RawRecording, Reader
from pqswarm.recordings.recording import RecordingError, shift_time
from pqswarm.recordings.stamps import find_rate_of_stamps
from pqswarm.recordings.units import clean

_MAX_LINKS = 4  # a series that shares one that shares one ...


_TimeBase = tuple[float, float, datetime | None]
"""Rate [Hz], 0 if unknown; time of the first sample [s]; and its date, if the series has dates."""
_NO_TIME: _TimeBase = (0.0, 0.0, None)


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
        self.time_bases: dict[tuple[int, int], _TimeBase] = {}

    def definition(self, i: int) -> Definition | None:
        """Definition of a channel."""
        return self.definitions[self.indices[i]] if 0 <= self.indices[i] < len(self.definitions) else None

    def find_series(self, i: int, at: int, depth: int = 0) -> "Stored | None":
        """Values, scale, offset and coding of a series, resolved through shared ones."""
        if depth > _MAX_LINKS or not (0 <= i < len(self.indices) and 0 <= at < len(self.all_series[i])):
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


_NUMERIC = frozenset({1, 2, 3, 20, 21, 22, 30, 31, 32, 40, 41})


@dataclass
class _Waveform:
    """A channel of an observation, and its time base: rate [Hz], first time [s] and number of samples."""

    channel: RawChannel
    rate: float
    first: float
    start: datetime | None
    ratio: float


def read_pqdif(path: Path, options: Options) -> list[RawRecording]:
    """Read a file: each observation with waveforms is a recording."""
    content = FileBytes.of(path, 4 * options.max_bytes).read_all()
    reader = _Collector(path.name, options)
    notes: list[str] = []
    limit = options.unpacked_limit(len(content), 8_000_000)
    try:
        for kind, body, size in records(content, limit, notes):
            reader.n_bytes += size
            reader.take(kind, body)
    except DamageError as damage:
        if not reader.recordings:
            raise RecordingError(f"is damaged, or is not a PQDIF file: {damage}.") from None
        notes.append(f"The file is damaged after observation {reader.n_observations}: {damage}.")
    if not reader.recordings:
        held = count_text(reader.n_observations, "observation")
        raise RecordingError(f"has no waveforms in its {held}, only trends or other values: export the waveforms.")
    skipped = reader.n_observations - len(reader.recordings)
    if skipped:
        notes.append(
            f"{skipped} of {count_text(reader.n_observations, 'observation')} without usable waveforms: ignored."
        )
    for recording in reader.recordings:
        recording.notes[:0] = notes
    return reader.recordings


class _Collector:
    """Collects recordings along the chain of records; a channel that is not a waveform is None."""

    def __init__(self, source: str, options: Options) -> None:
        self.source = source
        self.options = options
        self.channels: list[Definition | None] = []
        self.station = ""
        self.frequency = 0.0
        self.ratios: dict[int, float] = {}
        self.recordings: list[RawRecording] = []
        self.n_observations = 0
        self.n_samples = 0
        self.n_bytes = 0

    def take(self, kind: bytes, body: Collection) -> None:
        if kind == tags.DATA_SOURCE:
            channels = body.collection(tags.CHANNEL_DEFINITIONS).collections(tags.ONE_CHANNEL_DEFINITION)
            self.channels = [read_definition(channel) for channel in channels]
            self.frequency = 0.0
            self.ratios = {}
            texts = [body.vector(tags.SOURCE_NAME), body.vector(tags.SOURCE_LOCATION)]
            self.station = ", ".join(dict.fromkeys(filter(None, (clean(x.text()) for x in texts if x is not None))))
        elif kind == tags.MONITOR_SETTINGS:
            self.frequency = body.number(tags.NOMINAL_FREQUENCY, 0.0)
            self.ratios = _ratios(body)
        elif kind == tags.OBSERVATION:
            self.n_observations += 1
            recording = self.observation(body)
            if recording is not None:
                self.recordings.append(recording)

    def observation(self, body: Collection) -> RawRecording | None:
        instances = body.collection(tags.CHANNEL_INSTANCES).collections(tags.ONE_CHANNEL_INSTANCE)
        known = Instances(
            [one.integer(tags.CHANNEL_DEFINITION_INDEX) for one in instances],
            [one.collection(tags.SERIES_INSTANCES).collections(tags.ONE_SERIES_INSTANCE) for one in instances],
            self.channels,
        )
        notes: list[str] = []
        waveforms = [wave for wave in (self.waveform(i, known, notes) for i in range(len(instances))) if wave]
        if not waveforms:
            return None
        bases: dict[tuple[int, int, int], list[_Waveform]] = {}
        for wave in waveforms:
            key = (wave.channel.samples.size, round(wave.rate), round(wave.first * max(wave.rate, 1)))
            bases.setdefault(key, []).append(wave)
        chosen = max(bases.values(), key=lambda group: (sum(wave.channel.unit == "V" for wave in group), len(group)))
        if len(bases) > 1:
            notes.append(
                f"The observation has {len(bases)} time bases: the one with the most voltages is used "
                f"({len(chosen)} of {len(waveforms)} channels)."
            )
        ratios = sorted({wave.ratio for wave in chosen if wave.ratio != 1})
        if ratios:
            listed = ", ".join(f"{ratio:g}" for ratio in ratios[:6])
            notes.append(f"Values were multiplied by the transducer ratio ({listed}).")
        began = body.scalar(tags.TIME_START)
        start = chosen[0].start or (None if began is None else began.time())
        if start is not None and chosen[0].first and chosen[0].start is None:
            start = shift_time(start, chosen[0].first)
        channels = [wave.channel for wave in chosen]
        about = f"{self.source}, observation {self.n_observations}", "PQDIF", notes
        return RawRecording(channels, chosen[0].rate, self.frequency, start, *about, station=self.station)

    def waveform(self, i: int, known: Instances, notes: list[str]) -> _Waveform | None:
        """One channel of an observation; None if it is not a waveform."""
        definition = known.definition(i)
        if definition is None:
            return None
        values = self.series(known.find_series(i, definition.values_at))
        if values is None or values.size < 2:
            return None
        time = known.find_series(i, definition.time_at)
        key = (id(time), values.size)
        if key not in known.time_bases:
            known.time_bases[key] = self.time_base(time, values.size, definition.name, notes)
        rate, first, start = known.time_bases[key]
        ratio = self.ratios.get(known.indices[i], 1.0)
        with np.errstate(over="ignore", invalid="ignore"):  # signalling NaN, or overflow
            values = values * ratio
        channel = RawChannel(definition.name, definition.unit, definition.phase, values)
        return _Waveform(channel, rate, first, start, ratio)

    def series(self, stored: Stored | None) -> FloatArray | None:
        if stored is None or stored.method & tags.INCREMENT or stored.values.kind not in _NUMERIC:
            return None
        self.count(stored.values.size)
        with np.errstate(over="ignore", invalid="ignore"):
            return stored.in_units(stored.values.array().astype(np.float64))

    def count(self, n_samples: int) -> None:
        """Refuse series that overlap or are shared by many channels, which would multiply memory."""
        self.n_samples += n_samples
        self.options.check_samples(self.n_samples)
        if self.n_samples > self.n_bytes:
            raise RecordingError("has more samples than it has bytes: its series overlap.")

    def time_base(self, stored: Stored | None, size: int, name: str, notes: list[str]) -> _TimeBase:
        """The time base of a channel of `size` values."""
        if stored is None or not stored.values.size:
            return _NO_TIME
        if stored.values.kind == 50:
            return _dated_base(stored.values, size, notes)
        if stored.values.kind not in _NUMERIC:
            return _NO_TIME
        unit = 1 / (self.frequency or 50.0) if stored.unit == tags.CYCLES else 1.0
        if stored.method & tags.INCREMENT:
            return _stepped_base(stored, unit, size, name, notes)
        self.count(stored.values.size)
        with np.errstate(all="ignore"):
            times = stored.in_units(stored.values.array().astype(np.float64)) * unit
        if times.size != size or not np.isfinite(times).all():
            return _NO_TIME
        return _rate_of_all(times, size, notes), (float(times[0]) if abs(times[0]) < 1e9 else 0.0), None


def _rate_of_all(times: FloatArray, size: int, notes: list[str]) -> float:
    """Rate of time stamps without a gap [Hz], else 0."""
    rate, kept = find_rate_of_stamps(times, notes)
    return rate if kept == slice(0, size) else 0.0


def _dated_base(values: Vector, size: int, notes: list[str]) -> _TimeBase:
    """Time base of a series of dates."""
    dates = values.array()
    seconds = (dates["days"].astype(np.float64) - float(dates["days"][0])) * 86400 + dates["seconds"]
    if dates.size != size or not np.isfinite(seconds).all():
        return _NO_TIME
    return _rate_of_all(seconds, size, notes), 0.0, moment(*dates[0].item())


def _stepped_base(stored: Stored, unit: float, size: int, name: str, notes: list[str]) -> _TimeBase:
    """Time base of a series that is stored as its steps."""
    with np.errstate(all="ignore"):
        count, step, first = increments(stored.values.array()[:1000].astype(np.float64))
        step = float(stored.in_units(step, only_scale=True)) * unit
        first = float(stored.in_units(first)) * unit
        if count != size and count:
            notes.append(f"{name}: the time series has {count:g} values, the channel {size}.")
        rate = 1 / step if step > 1e-12 else 0.0
        if 1 < rate < 1e9 and abs(round(rate) / rate - 1) < (2e-7 if stored.values.kind == 40 else 1e-12):
            rate = float(round(rate))  # the precision of a step in single precision
    return rate, (first if abs(first) < 1e9 else 0.0), None


def _ratios(settings: Collection) -> dict[int, float]:
    """Transducer ratio of each channel to which the settings apply it."""
    if settings.number(tags.USE_TRANSDUCER, 0.0) == 0:
        return {}
    ratios = {}
    for one in settings.collection(tags.CHANNEL_SETTINGS).collections(tags.ONE_CHANNEL_SETTING):
        system = one.number(tags.TRANSDUCER_SYSTEM_SIDE)
        monitor = one.number(tags.TRANSDUCER_MONITOR_SIDE)
        if 0 < system < 1e9 and 1e-6 < monitor < 1e9:
            ratios[one.integer(tags.CHANNEL_DEFINITION_INDEX)] = system / monitor
    return ratios


PQDIF = Reader("pqdif", (".pqd", ".pqdif"), read_pqdif, lambda path, head: head.startswith(tags.SIGNATURE))  # noqa: ARG005
