"""PQDIF (IEEE 1159.3): the waveforms of observations.

A data source record defines channels and their series (time, values), monitor settings give the nominal frequency and
transducer ratios, and each observation record refers to the definitions before it. Series may be scaled, and shared.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from pqswarm._base.text import count_text
from pqswarm._base.typing import AnyArray, FloatArray
from pqswarm.recordings.files import FileBytes
from pqswarm.recordings.recording import Options, RawChannel, RawRecording, Reader, RecordingError, shift_time
from pqswarm.recordings.stamps import find_rate_of_stamps
from pqswarm.recordings.text import clean_name, decode_text

SIGNATURE = UUID("4a111440-e49f-11cf-9900-505144494600").bytes_le
_GUIDS = {
    # Kinds of records.
    "container": "89738606-f1c3-11cf-9d89-0080c72e70a3",
    "data source": "89738619-f1c3-11cf-9d89-0080c72e70a3",
    "monitor settings": "b48d858c-f5f5-11cf-9d89-0080c72e70a3",
    "observation": "8973861a-f1c3-11cf-9d89-0080c72e70a3",
    # Container: 0 none, 1 total file (deprecated), 2 each record; 0 none, 1 zlib, 64 PKZIP (deprecated).
    "compression style": "8973861b-f1c3-11cf-9d89-0080c72e70a3",
    "compression algorithm": "8973861c-f1c3-11cf-9d89-0080c72e70a3",
    # Data source: names, and channel definitions, each with series definitions.
    "source name": "b48d8587-f5f5-11cf-9d89-0080c72e70a3",
    "source location": "b48d8589-f5f5-11cf-9d89-0080c72e70a3",
    "channel definitions": "b48d858d-f5f5-11cf-9d89-0080c72e70a3",
    "channel definition": "b48d858e-f5f5-11cf-9d89-0080c72e70a3",
    "channel name": "b48d8590-f5f5-11cf-9d89-0080c72e70a3",
    "phase id": "b48d8591-f5f5-11cf-9d89-0080c72e70a3",
    "quantity type": "b48d8592-f5f5-11cf-9d89-0080c72e70a3",
    "quantity measured": "c690e872-f755-11cf-9d89-0080c72e70a3",
    "series definitions": "b48d8598-f5f5-11cf-9d89-0080c72e70a3",
    "series definition": "b48d859a-f5f5-11cf-9d89-0080c72e70a3",
    "series units": "b48d859b-f5f5-11cf-9d89-0080c72e70a3",
    "series value type": "b48d859c-f5f5-11cf-9d89-0080c72e70a3",
    "storage method": "b48d85a1-f5f5-11cf-9d89-0080c72e70a3",
    "waveform": "67f6af80-f753-11cf-9d89-0080c72e70a3",
    "values": "67f6af97-f753-11cf-9d89-0080c72e70a3",
    "instantaneous values": "67f6af9b-f753-11cf-9d89-0080c72e70a3",
    "times": "c690e862-f755-11cf-9d89-0080c72e70a3",
    # Monitor settings.
    "nominal frequency": "0fa118c3-cb4a-11d2-b30b-fe25cb9a1760",
    "use transducer": "62f28181-f9c4-11cf-9d89-0080c72e70a3",
    "channel settings": "62f28182-f9c4-11cf-9d89-0080c72e70a3",
    "channel setting": "3d786f9a-f76e-11cf-9d89-0080c72e70a3",
    "transducer system side": "62f2818a-f9c4-11cf-9d89-0080c72e70a3",
    "transducer monitor side": "62f2818b-f9c4-11cf-9d89-0080c72e70a3",
    # Observation: channel instances, each with series instances.
    "time start": "3d786f8c-f76e-11cf-9d89-0080c72e70a3",
    "channel instances": "3d786f91-f76e-11cf-9d89-0080c72e70a3",
    "channel instance": "3d786f92-f76e-11cf-9d89-0080c72e70a3",
    "channel definition index": "b48d858f-f5f5-11cf-9d89-0080c72e70a3",
    "series instances": "3d786f93-f76e-11cf-9d89-0080c72e70a3",
    "series instance": "3d786f94-f76e-11cf-9d89-0080c72e70a3",
    "series scale": "3d786f96-f76e-11cf-9d89-0080c72e70a3",
    "series offset": "3d786f97-f76e-11cf-9d89-0080c72e70a3",
    "series values": "3d786f99-f76e-11cf-9d89-0080c72e70a3",
    "share channel": "8973861f-f1c3-11cf-9d89-0080c72e70a3",
    "share series": "89738620-f1c3-11cf-9d89-0080c72e70a3",
}
_TAGS = {UUID(text).bytes_le: name for name, text in _GUIDS.items()}
"""Names of the GUIDs as stored in the file: the first three parts are little endian."""

# Storage methods are flags.
SCALED = 2
INCREMENT = 4

PHASES = {1: "A", 2: "B", 3: "C", 4: "N", 5: "AB", 6: "BC", 7: "CA", 8: "N", 12: "N", 19: "A", 20: "B", 21: "C"}
"""Phase by the standard's number; general phases 1 to 3 count as A to C."""

UNITS = {6: "V", 7: "A", 8: "VA", 9: "W", 10: "var", 15: "Hz", 16: "°C", 17: "deg", 19: "%", 20: "pu"}
"""Unit of a series by the standard's number."""

CYCLES = 3
"""Unit of a time series that does not count seconds."""


_HEADER = struct.Struct("<16s16siiiI16x")
_ELEMENT = struct.Struct("<16sBBBB8s")
_LINK = struct.Struct("<ii")
_COUNT = struct.Struct("<i")
_STAMP = np.dtype([("days", "<u4"), ("seconds", "<f8")])
_NO_CHECKSUM = (0, 1, 0xFFFFFFFF)
_MAX_DEPTH = 12  # an observation needs five

_TYPE_NAMES = {
    1: "u1",
    2: "<i2",
    3: "<i4",
    10: "S1",
    11: "<u2",
    20: "i1",
    21: "<i2",
    22: "<i4",
    30: "u1",
    31: "<u2",
    32: "<u4",
    40: "<f4",
    41: "<f8",
    42: "<c8",
    43: "<c16",
    60: "V16",
}
_TYPES: dict[int, np.dtype[Any]] = {code: np.dtype(name) for code, name in _TYPE_NAMES.items()} | {50: _STAMP}


class PqdifDamageError(RecordingError):
    """A record is damaged; earlier ones are usable."""


@dataclass(frozen=True)
class PqdifScalar:
    """One value."""

    kind: int
    content: bytes

    def number(self) -> float:
        """The value as a number; NaN if it is not a number."""
        return float(np.frombuffer(self.content, _TYPES[self.kind])[0]) if self.kind in _NUMERIC else float("nan")

    def time(self) -> datetime | None:
        """The value as a time, or None."""
        return pqdif_time(*np.frombuffer(self.content, _STAMP)[0].item()) if self.kind == 50 else None


@dataclass(frozen=True)
class PqdifVector:
    """Values of one type; `content` is a view into the body."""

    kind: int
    size: int
    content: memoryview

    def array(self) -> AnyArray:
        """The values as stored."""
        return np.frombuffer(self.content, _TYPES[self.kind])

    def text(self) -> str:
        """The values as text."""
        if self.kind not in (10, 11):
            return ""
        content = bytes(self.content[:2000])
        text = content.decode("utf-16-le", errors="replace") if self.kind == 11 else decode_text(content)[0]
        return text.split("\0", 1)[0]


@dataclass(frozen=True)
class PqdifCollection:
    """Tagged elements, in order."""

    elements: tuple[tuple[str, "PqdifCollection | PqdifScalar | PqdifVector"], ...]

    def scalar(self, wanted: str) -> PqdifScalar | None:
        """The first scalar with a tag."""
        return next((e for name, e in self.elements if name == wanted and isinstance(e, PqdifScalar)), None)

    def vector(self, wanted: str) -> PqdifVector | None:
        """The first vector with a tag."""
        return next((e for name, e in self.elements if name == wanted and isinstance(e, PqdifVector)), None)

    def collections(self, outer: str, inner: str) -> "list[PqdifCollection]":
        """All collections with the tag `inner` in the first one with the tag `outer`."""
        first = next(
            (e for name, e in self.elements if name == outer and isinstance(e, PqdifCollection)), PqdifCollection(())
        )
        return [e for name, e in first.elements if name == inner and isinstance(e, PqdifCollection)]

    def number(self, wanted: str, default: float = float("nan")) -> float:
        """The number of the first scalar with a tag."""
        scalar = self.scalar(wanted)
        value = float("nan") if scalar is None else scalar.number()
        return default if np.isnan(value) else value

    def integer(self, wanted: str, default: int = -1) -> int:
        """The integer of the first scalar with a tag."""
        value = self.number(wanted, default)
        return int(value) if abs(value) < 2**53 else default

    def meaning(self, wanted: str) -> str:
        """What the GUID of the first scalar with a tag means; empty if that is unknown."""
        scalar = self.scalar(wanted)
        return _TAGS.get(scalar.content, "") if scalar is not None and scalar.kind == 60 else ""


def pqdif_time(days: int, seconds: float) -> datetime | None:
    """Return a PQDIF time; the day count of the standard, from 1900, is off by two."""
    return shift_time(shift_time(datetime(1900, 1, 1), 86400 * (days - 2)), seconds)


def pqdif_records(content: bytes, unpacked_limit: int, notes: list[str]) -> Iterator[tuple[str, PqdifCollection, int]]:
    """Yield the kind of each record, its body, and the size of the body in bytes.

    All bodies together may have `unpacked_limit` bytes after decompression. Tolerated faults are added to the notes; a
    broken chain or body raises PqdifDamageError; records that overlap or exceed the limit raise RecordingError.

    The checksum is Adler-32 of the stored body. Some vendors use the uncompressed body, start with 0 instead of 1, or
    omit it; if it matches no record of a file, the vendor computes something else. Only a wrong checksum among
    right ones indicates damage.
    """
    position = 0
    seen = set[int]()
    packed = False
    stored = unpacked = 0
    checked: set[bool] = set()
    element_limit = 100_000 + len(content) // 7  # waveforms need few elements: more would only waste time
    while True:
        if position + _HEADER.size > len(content):
            raise PqdifDamageError(f"the record at byte {position} lies beyond the end of the file")
        seen.add(position)
        signature, guid, header_size, body_size, following, checksum = _HEADER.unpack_from(content, position)
        if signature != SIGNATURE:
            raise PqdifDamageError(f"there is no record at byte {position}")
        start = position + max(header_size, _HEADER.size)
        if body_size < 0 or start + body_size > len(content):
            raise PqdifDamageError(f"the record at byte {position} is longer than the file")
        stored += body_size
        if stored > len(content):
            raise RecordingError("is damaged: its records overlap.")
        body = content[start : start + body_size]
        sums = {zlib.adler32(body), zlib.adler32(body, 0)}
        if body and packed:
            body = _decompress_pqdif_record(body, unpacked_limit - unpacked, position)
            sums |= {zlib.adler32(body), zlib.adler32(body, 0)}
        if checksum not in _NO_CHECKSUM and len(checked) < 2:
            checked.add(checksum in sums)
            if len(checked) == 2:
                notes.append("The checksum of a record is wrong.")
        unpacked += len(body)
        if body:
            tree = _PqdifTree(body, element_limit)
            root = tree.collection(0, 0)
            kind = _TAGS.get(guid, "")
            element_limit -= tree.count_read
            if kind == "container":
                packed = _is_compressed_pqdif(root)
            yield kind, root, len(body)
        if following <= 0:
            return
        if following in seen:
            raise PqdifDamageError(f"the chain of records loops at byte {following}")
        position = following


def _is_compressed_pqdif(container: PqdifCollection) -> bool:
    style = container.integer("compression style", 0)
    algorithm = container.integer("compression algorithm", 0)
    if style and algorithm not in (0, 1):
        raise RecordingError(f"is compressed with algorithm {algorithm}; only zlib (1) is supported.")
    return bool(style and algorithm)


def _decompress_pqdif_record(body: bytes, limit: int, position: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        result = unpacker.decompress(body, max(1, limit))
    except zlib.error:
        raise PqdifDamageError(f"the record at byte {position} cannot be unpacked") from None
    if unpacker.unconsumed_tail:
        raise RecordingError(f"unpacks to more than {limit} bytes, over the limit; max_bytes raises it.")
    return result


class _PqdifTree:
    """The elements of a body, each read once: crossing links cannot multiply the work."""

    def __init__(self, body: bytes, limit: int) -> None:
        self.body = body
        self.view = memoryview(body)
        self.limit = limit
        self.count_read = 0

    def collection(self, link: int, depth: int) -> PqdifCollection:
        if depth > _MAX_DEPTH:
            raise PqdifDamageError("its elements are nested too deeply")
        count = self.count(link)
        start = link + _COUNT.size
        self.count_read += count
        if count * _ELEMENT.size > len(self.body) - start or self.count_read * _ELEMENT.size > len(self.body):
            raise PqdifDamageError("a collection is longer than its record, or read twice")
        if self.count_read > self.limit:
            raise RecordingError("has more elements than a file of its size needs.")
        elements = []
        for i in range(count):
            name, kind, type_, embedded, _, value = _ELEMENT.unpack_from(self.body, start + i * _ELEMENT.size)
            element = self.element(kind, type_, bool(embedded), value, depth)
            if element is not None:
                elements.append((_TAGS.get(name, ""), element))
        return PqdifCollection(tuple(elements))

    def element(
        self, kind: int, type_: int, embedded: bool, value: bytes, depth: int
    ) -> "PqdifCollection | PqdifScalar | PqdifVector | None":
        link, _ = _LINK.unpack(value)
        if kind == 1:
            return self.collection(link, depth + 1)
        if type_ not in _TYPES or kind not in (2, 3):
            return None
        size = _TYPES[type_].itemsize
        if kind == 2:
            if embedded:
                return PqdifScalar(type_, value[:size]) if size <= len(value) else None
            if not 0 <= link <= len(self.body) - size:
                raise PqdifDamageError("a value lies outside its record")
            return PqdifScalar(type_, self.body[link : link + size])
        count = self.count(link)
        start = link + _COUNT.size
        if count * size > len(self.body) - start:
            raise PqdifDamageError("a series is longer than its record")
        return PqdifVector(type_, count, self.view[start : start + count * size])

    def count(self, link: int) -> int:
        if not 0 <= link <= len(self.body) - _COUNT.size:
            raise PqdifDamageError("an element lies outside its record")
        (count,) = _COUNT.unpack_from(self.body, link)
        if count < 0:
            raise PqdifDamageError("an element has a negative size")
        return int(count)


_MAX_LINKS = 4  # a series that shares one that shares one ...


_TimeBase = tuple[float, float, datetime | None]
"""Rate [Hz], 0 if unknown; time of the first sample [s]; and its date, if the series has dates."""
_NO_TIME: _TimeBase = (0.0, 0.0, None)


@dataclass(frozen=True)
class PqdifChannelDefinition:
    """A channel definition: positions of the time and value series, and their definitions."""

    name: str
    unit: str
    phase: str
    time_at: int
    values_at: int
    methods: tuple[int, ...]
    units: tuple[int, ...]


@dataclass(frozen=True)
class PqdifSeries:
    """A stored series."""

    values: PqdifVector
    method: int
    unit: int
    scale: float
    offset: float

    def in_units(self, values: "FloatArray | float", *, only_scale: bool = False) -> FloatArray:
        """Stored values times scale plus offset, if the series is scaled."""
        if not self.method & SCALED:
            return np.asarray(values, np.float64)
        scale = 1.0 if np.isnan(self.scale) else self.scale
        offset = 0.0 if np.isnan(self.offset) or only_scale else self.offset
        return np.asarray(values * scale + offset, np.float64)


@dataclass
class PqdifInstances:
    """The channels of an observation; shared series are looked up once."""

    indices: list[int]
    all_series: list[list[PqdifCollection]]
    definitions: list[PqdifChannelDefinition | None]
    memory: dict[tuple[int, int], PqdifSeries | None] = field(default_factory=dict)
    time_bases: dict[tuple[int, int], _TimeBase] = field(default_factory=dict)

    def definition(self, i: int) -> PqdifChannelDefinition | None:
        """Definition of a channel."""
        return self.definitions[self.indices[i]] if 0 <= self.indices[i] < len(self.definitions) else None

    def find_series(self, i: int, at: int, depth: int = 0) -> "PqdifSeries | None":
        """Values, scale, offset and coding of a series, resolved through shared ones."""
        if depth > _MAX_LINKS or not (0 <= i < len(self.indices) and 0 <= at < len(self.all_series[i])):
            return None
        if (i, at) not in self.memory:
            self.memory[i, at] = self._look_up(i, at, depth)
        return self.memory[i, at]

    def _look_up(self, i: int, at: int, depth: int) -> "PqdifSeries | None":
        definition = self.definition(i)
        series = self.all_series[i][at]
        scale = series.number("series scale")
        offset = series.number("series offset")
        values = series.vector("series values")
        if values is None:
            other = self.find_series(series.integer("share channel"), series.integer("share series"), depth + 1)
            if other is None:
                return None
            if np.isnan(scale) and np.isnan(offset):
                return other
            scale = other.scale if np.isnan(scale) else scale
            return replace(other, scale=scale, offset=other.offset if np.isnan(offset) else offset)
        if definition is None or at >= len(definition.methods):
            return None
        return PqdifSeries(values, definition.methods[at], definition.units[at], scale, offset)


def read_pqdif_definition(channel: PqdifCollection) -> PqdifChannelDefinition | None:
    """A channel's definition; None if it is not a waveform with time and values."""
    if channel.meaning("quantity type") != "waveform":
        return None
    kinds = channel.collections("series definitions", "series definition")
    types = [kind.meaning("series value type") for kind in kinds]
    at = next((types.index(t) for t in ("values", "instantaneous values") if t in types), -1)
    if at < 0 or "times" not in types:
        return None
    units = tuple(kind.integer("series units", 0) for kind in kinds)
    measured = {1: "V", 2: "A"}.get(channel.integer("quantity measured", 0), "?")
    name = channel.vector("channel name")
    return PqdifChannelDefinition(
        "" if name is None else clean_name(name.text()),
        UNITS.get(units[at], measured),
        PHASES.get(channel.integer("phase id", 0), ""),
        types.index("times"),
        at,
        tuple(kind.integer("storage method", 1) for kind in kinds),
        units,
    )


def pqdif_increments(stored: FloatArray) -> tuple[float, float, float]:
    """Count, step and first value of a series stored as increments.

    The standard stores the number of rates, and a count and a step for each; some vendors store start, count and step.
    If there are several rates, that of the longest section counts.
    """
    if stored.size < 3:
        return 0.0, 0.0, 0.0
    if stored[0] >= 1 and stored.size == 1 + 2 * stored[0]:
        counts = stored[1::2]
        steps = stored[2::2]
        return (float(counts.sum()), float(steps[0]), 0.0) if (steps == steps[0]).all() else (0.0, 0.0, 0.0)
    return float(stored[1]), float(stored[2]), float(stored[0])


_NUMERIC = frozenset({1, 2, 3, 20, 21, 22, 30, 31, 32, 40, 41})


@dataclass
class _PqdifWaveform:
    """A channel of an observation, and its time base: rate [Hz], first time [s] and number of samples."""

    channel: RawChannel
    rate: float
    first: float
    start: datetime | None
    ratio: float


def read_pqdif(path: Path, options: Options) -> list[RawRecording]:
    """Read a file: each observation with waveforms is a recording."""
    content = FileBytes.of(path, 4 * options.max_bytes).read_all()
    reader = _PqdifCollector(path.name, options)
    notes: list[str] = []
    limit = options.unpacked_limit(len(content), 8_000_000)
    try:
        for kind, body, size in pqdif_records(content, limit, notes):
            reader.n_bytes += size
            reader.take(kind, body)
    except PqdifDamageError as damage:
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


@dataclass
class _PqdifCollector:
    """Collects recordings along the chain of records; a channel that is not a waveform is None."""

    source: str
    options: Options
    channels: list[PqdifChannelDefinition | None] = field(default_factory=list)
    station: str = ""
    frequency: float = 0.0
    ratios: dict[int, float] = field(default_factory=dict)
    recordings: list[RawRecording] = field(default_factory=list)
    n_observations: int = 0
    n_samples: int = 0
    n_bytes: int = 0

    def take(self, kind: str, body: PqdifCollection) -> None:
        if kind == "data source":
            channels = body.collections("channel definitions", "channel definition")
            self.channels = [read_pqdif_definition(channel) for channel in channels]
            self.frequency = 0.0
            self.ratios = {}
            texts = [body.vector("source name"), body.vector("source location")]
            self.station = ", ".join(
                dict.fromkeys(filter(None, (clean_name(x.text()) for x in texts if x is not None)))
            )
        elif kind == "monitor settings":
            self.frequency = body.number("nominal frequency", 0.0)
            self.ratios = _pqdif_ratios(body)
        elif kind == "observation":
            self.n_observations += 1
            recording = self.observation(body)
            if recording is not None:
                self.recordings.append(recording)

    def observation(self, body: PqdifCollection) -> RawRecording | None:
        instances = body.collections("channel instances", "channel instance")
        known = PqdifInstances(
            [one.integer("channel definition index") for one in instances],
            [one.collections("series instances", "series instance") for one in instances],
            self.channels,
        )
        notes: list[str] = []
        waveforms = [wave for wave in (self.waveform(i, known, notes) for i in range(len(instances))) if wave]
        if not waveforms:
            return None
        bases: dict[tuple[int, int, int], list[_PqdifWaveform]] = {}
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
        began = body.scalar("time start")
        start = chosen[0].start or (None if began is None else began.time())
        if start is not None and chosen[0].first and chosen[0].start is None:
            start = shift_time(start, chosen[0].first)
        channels = [wave.channel for wave in chosen]
        place = f"{self.source}, observation {self.n_observations}"
        return RawRecording(
            channels, chosen[0].rate, self.frequency, start, place, "PQDIF", notes, station=self.station
        )

    def waveform(self, i: int, known: PqdifInstances, notes: list[str]) -> _PqdifWaveform | None:
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
        return _PqdifWaveform(channel, rate, first, start, ratio)

    def series(self, stored: PqdifSeries | None) -> FloatArray | None:
        if stored is None or stored.method & INCREMENT or stored.values.kind not in _NUMERIC:
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

    def time_base(self, stored: PqdifSeries | None, size: int, name: str, notes: list[str]) -> _TimeBase:
        """The time base of a channel of `size` values."""
        if stored is None or not stored.values.size:
            return _NO_TIME
        if stored.values.kind == 50:
            return _dated_pqdif_times(stored.values, size, notes)
        if stored.values.kind not in _NUMERIC:
            return _NO_TIME
        unit = 1 / (self.frequency or 50.0) if stored.unit == CYCLES else 1.0
        if stored.method & INCREMENT:
            return _stepped_pqdif_times(stored, unit, size, name, notes)
        self.count(stored.values.size)
        with np.errstate(all="ignore"):
            times = stored.in_units(stored.values.array().astype(np.float64)) * unit
        if times.size != size or not np.isfinite(times).all():
            return _NO_TIME
        return _rate_of_pqdif_stamps(times, size, notes), (float(times[0]) if abs(times[0]) < 1e9 else 0.0), None


def _rate_of_pqdif_stamps(times: FloatArray, size: int, notes: list[str]) -> float:
    """Rate of time stamps without a gap [Hz], else 0."""
    rate, kept, _ = find_rate_of_stamps([times], notes)
    return rate if kept == slice(0, size) else 0.0


def _dated_pqdif_times(values: PqdifVector, size: int, notes: list[str]) -> _TimeBase:
    """Time base of a series of dates."""
    dates = values.array()
    seconds = (dates["days"].astype(np.float64) - float(dates["days"][0])) * 86400 + dates["seconds"]
    if dates.size != size or not np.isfinite(seconds).all():
        return _NO_TIME
    return _rate_of_pqdif_stamps(seconds, size, notes), 0.0, pqdif_time(*dates[0].item())


def _stepped_pqdif_times(stored: PqdifSeries, unit: float, size: int, name: str, notes: list[str]) -> _TimeBase:
    """Time base of a series that is stored as its steps."""
    with np.errstate(all="ignore"):
        count, step, first = pqdif_increments(stored.values.array()[:1000].astype(np.float64))
        step = float(stored.in_units(step, only_scale=True)) * unit
        first = float(stored.in_units(first)) * unit
        if count != size and count:
            notes.append(f"{name}: the time series has {count:g} values, the channel {size}.")
        rate = 1 / step if step > 1e-12 else 0.0
        if 1 < rate < 1e9 and abs(round(rate) / rate - 1) < (2e-7 if stored.values.kind == 40 else 1e-12):
            rate = float(round(rate))  # the precision of a step in single precision
    return rate, (first if abs(first) < 1e9 else 0.0), None


def _pqdif_ratios(settings: PqdifCollection) -> dict[int, float]:
    """Transducer ratio of each channel to which the settings apply it."""
    if settings.number("use transducer", 0.0) == 0:
        return {}
    ratios = {}
    for one in settings.collections("channel settings", "channel setting"):
        system = one.number("transducer system side")
        monitor = one.number("transducer monitor side")
        if 0 < system < 1e9 and 1e-6 < monitor < 1e9:
            ratios[one.integer("channel definition index")] = system / monitor
    return ratios


PQDIF = Reader("pqdif", (".pqd", ".pqdif"), read_pqdif, lambda path, head: head.startswith(SIGNATURE))  # noqa: ARG005
