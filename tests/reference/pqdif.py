"""A tiny writer of PQDIF files (IEEE 1159.3), built from the standard's structure and sharing nothing with the reader.

Elements are nested tuples: ``(tag, value)``, where a value is a list of elements (a collection), a :class:`Scalar`, or
a :class:`Vector`. :func:`pack` makes a record's body of them, :func:`chain` a file of records.
"""

import struct
import zlib
from dataclasses import dataclass
from uuid import UUID

import numpy as np

CODES = {"<i2": 21, "<i4": 22, "<u2": 31, "<u4": 32, "<f4": 40, "<f8": 41, "u1": 30, "i1": 20, "bool4": 3}

# name: GUID, from the standard's tables
GUIDS = {
    "signature": "4a111440-e49f-11cf-9900-505144494600",
    "container": "89738606-f1c3-11cf-9d89-0080c72e70a3",
    "source": "89738619-f1c3-11cf-9d89-0080c72e70a3",
    "settings": "b48d858c-f5f5-11cf-9d89-0080c72e70a3",
    "observation": "8973861a-f1c3-11cf-9d89-0080c72e70a3",
    "style": "8973861b-f1c3-11cf-9d89-0080c72e70a3",
    "algorithm": "8973861c-f1c3-11cf-9d89-0080c72e70a3",
    "source name": "b48d8587-f5f5-11cf-9d89-0080c72e70a3",
    "source location": "b48d8589-f5f5-11cf-9d89-0080c72e70a3",
    "channel definitions": "b48d858d-f5f5-11cf-9d89-0080c72e70a3",
    "channel definition": "b48d858e-f5f5-11cf-9d89-0080c72e70a3",
    "channel name": "b48d8590-f5f5-11cf-9d89-0080c72e70a3",
    "phase": "b48d8591-f5f5-11cf-9d89-0080c72e70a3",
    "quantity type": "b48d8592-f5f5-11cf-9d89-0080c72e70a3",
    "quantity measured": "c690e872-f755-11cf-9d89-0080c72e70a3",
    "series definitions": "b48d8598-f5f5-11cf-9d89-0080c72e70a3",
    "series definition": "b48d859a-f5f5-11cf-9d89-0080c72e70a3",
    "units": "b48d859b-f5f5-11cf-9d89-0080c72e70a3",
    "value type": "b48d859c-f5f5-11cf-9d89-0080c72e70a3",
    "storage": "b48d85a1-f5f5-11cf-9d89-0080c72e70a3",
    "waveform": "67f6af80-f753-11cf-9d89-0080c72e70a3",
    "value log": "67f6af82-f753-11cf-9d89-0080c72e70a3",
    "values type": "67f6af97-f753-11cf-9d89-0080c72e70a3",
    "time type": "c690e862-f755-11cf-9d89-0080c72e70a3",
    "nominal frequency": "0fa118c3-cb4a-11d2-b30b-fe25cb9a1760",
    "use transducer": "62f28181-f9c4-11cf-9d89-0080c72e70a3",
    "channel settings": "62f28182-f9c4-11cf-9d89-0080c72e70a3",
    "channel setting": "3d786f9a-f76e-11cf-9d89-0080c72e70a3",
    "system side": "62f2818a-f9c4-11cf-9d89-0080c72e70a3",
    "monitor side": "62f2818b-f9c4-11cf-9d89-0080c72e70a3",
    "time start": "3d786f8c-f76e-11cf-9d89-0080c72e70a3",
    "channel instances": "3d786f91-f76e-11cf-9d89-0080c72e70a3",
    "channel instance": "3d786f92-f76e-11cf-9d89-0080c72e70a3",
    "channel index": "b48d858f-f5f5-11cf-9d89-0080c72e70a3",
    "series instances": "3d786f93-f76e-11cf-9d89-0080c72e70a3",
    "series instance": "3d786f94-f76e-11cf-9d89-0080c72e70a3",
    "scale": "3d786f96-f76e-11cf-9d89-0080c72e70a3",
    "offset": "3d786f97-f76e-11cf-9d89-0080c72e70a3",
    "values": "3d786f99-f76e-11cf-9d89-0080c72e70a3",
    "share channel": "8973861f-f1c3-11cf-9d89-0080c72e70a3",
    "share series": "89738620-f1c3-11cf-9d89-0080c72e70a3",
}


def guid(name):
    return UUID(GUIDS[name]).bytes_le


@dataclass
class Scalar:
    code: int
    content: bytes


@dataclass
class Vector:
    code: int
    size: int
    content: bytes


def u4(value):
    return Scalar(32, struct.pack("<I", value))


def r8(value):
    return Scalar(41, struct.pack("<d", value))


def boolean(value):
    return Scalar(3, struct.pack("<i", value))


def ident(name):
    return Scalar(60, guid(name))


def moment(days, seconds):
    return Scalar(50, struct.pack("<Id", days, seconds))


def text(value):
    content = value.encode("latin-1") + b"\0"
    return Vector(10, len(content), content)


def vector(values, dtype="<f8"):
    array = np.asarray(values, dtype)
    return Vector(CODES[dtype], array.size, array.tobytes())


def pack(elements):
    """The body of a record: the collection, and after it everything it links to."""
    body = bytearray()

    def place(content):
        link = len(body)
        body.extend(content + b"\0" * (-len(content) % 4))
        return link

    def collection(members):
        link = place(struct.pack("<i", len(members)) + b"\0" * 28 * len(members))
        for i, (name, value) in enumerate(members):
            if isinstance(value, list):
                kind, code, embedded = 1, 0, 0
                tail = struct.pack("<ii", collection(value), 0)
            elif isinstance(value, Scalar):
                kind, code, embedded = 2, value.code, int(len(value.content) <= 8)
                if embedded:
                    tail = value.content.ljust(8, b"\0")
                else:
                    tail = struct.pack("<ii", place(value.content), len(value.content))
            else:
                kind, code, embedded = 3, value.code, 0
                stored = struct.pack("<i", value.size) + value.content
                tail = struct.pack("<ii", place(stored), len(stored))
            start = link + 4 + 28 * i
            body[start : start + 28] = guid(name) + bytes([kind, code, embedded, 0]) + tail
        return link

    collection(elements)
    return bytes(body)


def chain(records, *, packed=True):
    """A file of records (kind, elements or a finished body), the first one being the container."""
    out = bytearray()
    for i, (kind, elements) in enumerate(records):
        body = elements if isinstance(elements, bytes) else pack(elements)
        if packed and i:
            body = zlib.compress(body)
        following = len(out) + 64 + len(body) if i + 1 < len(records) else 0
        out += guid("signature") + guid(kind) + struct.pack("<iiiI", 64, len(body), following, zlib.adler32(body))
        out += b"\0" * 16 + body
    return bytes(out)


def container(packed=True):
    return ("container", [("style", u4(2 if packed else 0)), ("algorithm", u4(1 if packed else 0))])


def definition(name, phase, units, *, storage=1, time_storage=4, quantity="waveform", time_units=2):
    """A channel with a time series and a series of values."""
    kinds = (("time type", time_units, time_storage), ("values type", units, storage))
    series = [[("value type", ident(kind)), ("units", u4(unit)), ("storage", u4(how))] for kind, unit, how in kinds]
    return [
        ("channel name", text(name)),
        ("phase", u4(phase)),
        ("quantity type", ident(quantity)),
        ("quantity measured", u4({6: 1, 7: 2}.get(units, 0))),
        ("series definitions", [("series definition", one) for one in series]),
    ]


def source(*definitions):
    return ("source", [("channel definitions", [("channel definition", one) for one in definitions])])


def settings(frequency, ratios=None):
    elements = [("nominal frequency", r8(frequency)), ("use transducer", boolean(bool(ratios)))]
    members = [
        ("channel setting", [("channel index", u4(i)), ("system side", r8(a)), ("monitor side", r8(b))])
        for i, (a, b) in (ratios or {}).items()
    ]
    return ("settings", [*elements, ("channel settings", members)])


def instance(index, time, values):
    """A channel instance: `time` and `values` are lists of elements of the two series."""
    return [
        ("channel index", u4(index)),
        ("series instances", [("series instance", time), ("series instance", values)]),
    ]


def observation(*instances, days=36000, seconds=0.0):
    channels = [("channel instance", one) for one in instances]
    return ("observation", [("time start", moment(days, seconds)), ("channel instances", channels)])


def example_records(*, packed=True, n=96, rate=4800.0):
    """Records with a trend, and a waveform of three voltages: increments, shared time, scaled integers."""
    t = np.arange(n) / rate
    waves = [1000 * np.sin(2 * np.pi * (50 * t - k / 3)) for k in range(3)]
    times = [("values", vector([1, n, 1 / rate]))]
    shared = [("share channel", u4(0)), ("share series", u4(0))]
    scaled = [("scale", r8(0.5)), ("offset", r8(10.0)), ("values", vector(np.rint((waves[2] - 10) / 0.5), "<i2"))]
    records = [
        container(packed),
        source(
            definition("Va", 1, 6),
            definition("Vb", 2, 6),
            definition("Vc", 3, 6, storage=3),
            definition("trend", 1, 6, quantity="value log"),
        ),
        settings(50.0),
        observation(instance(3, [("values", vector([1, 3, 600.0]))], [("values", vector([1.0, 2.0, 3.0]))])),
        observation(
            instance(0, times, [("values", vector(waves[0]))]),
            instance(1, shared, [("values", vector(waves[1], "<f4"))]),
            instance(2, shared, scaled),
            seconds=3600.5,
        ),
    ]
    return records, waves


def example(*, packed=True, n=96, rate=4800.0):
    """The file of :func:`example_records`, and its three waves."""
    records, waves = example_records(packed=packed, n=n, rate=rate)
    return chain(records, packed=packed), waves
