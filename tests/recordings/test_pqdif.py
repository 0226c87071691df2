"""PQDIF: files made by an independent writer, good and bad."""

import struct
import zlib
from datetime import datetime

import numpy as np
import pytest
from tests.reference import pqdif
from tests.reference.pqdif import boolean, definition, instance, observation, r8, u4, vector

from pqswarm.recordings import RecordingError, read, read_all

RATE = 4800.0


NAME = "case.pqd"


def wave(n=96, amplitude=1000.0, phase=0.0):
    return amplitude * np.sin(2 * np.pi * 50 * np.arange(n) / RATE - phase)


def increments(n=96):
    return [("values", vector([1, n, 1 / RATE]))]


def values(array, dtype="<f8"):
    return [("values", vector(array, dtype))]


def seen(times=None, samples=None, **when):
    """An observation of the first channel, by default of a usual wave."""
    return observation(instance(0, times or increments(), samples or values(wave())), **when)


def one_channel(*observations, channel=None, ratios=None):
    channels = pqdif.source(channel or definition("V", 1, 6))
    return pqdif.chain([pqdif.container(), channels, pqdif.settings(50.0, ratios), *observations])


@pytest.mark.parametrize("packed", [True, False])
def test_example(save, packed):
    content, waves = pqdif.example(packed=packed)
    recordings = read_all(save(content))
    assert len(recordings) == 1
    recording = recordings[0]
    assert (recording.sampling_rate, recording.nominal_frequency, recording.n_samples) == (RATE, 50, 96)
    assert [(c.name, c.unit, c.phase) for c in recording.channels] == [(f"V{p.lower()}", "V", p) for p in "ABC"]
    for channel, expected, atol in zip(recording.channels, waves, (1e-9, 1e-3, 0.26), strict=True):
        np.testing.assert_allclose(channel.samples, expected, atol=atol)
    assert recording.source == "case.pqd, observation 2"
    assert recording.format == "PQDIF"
    assert "1 of 2 observations without usable waveforms: ignored." in recording.notes


def test_days_are_two_off(save):
    assert read(save(one_channel(seen(days=25569)))).start.isoformat() == "1970-01-01T00:00:00"


@pytest.mark.parametrize(
    ("time", "storage", "units", "first"),
    [
        (values(np.arange(96) / RATE + 0.25), 1, 2, 0.25),
        (values(np.arange(96) / RATE * 50), 1, 3, 0.0),
        ([("scale", r8(1e-6)), ("offset", r8(1.0)), *values(np.arange(96) * 1e6 / RATE)], 3, 2, 1.0),
        (values([0.5, 96, 1 / RATE]), 4, 2, 0.5),
        (values([1, 96, 1 / RATE], "<f4"), 4, 2, 0.0),
        (values([2, 48, 1 / RATE, 48, 1 / RATE]), 4, 2, 0.0),
    ],
)
def test_time_series(save, time, storage, units, first):
    channel = definition("V", 1, 6, time_storage=storage, time_units=units)
    recording = read(save(one_channel(seen(time, days=25569), channel=channel)))
    assert recording.sampling_rate == RATE
    assert (recording.start - datetime(1970, 1, 1)).total_seconds() == pytest.approx(first, abs=1e-5)


def test_time_stamps(save):
    stamps = pqdif.Vector(50, 96, b"".join(struct.pack("<Id", 25570, 60 + i / RATE) for i in range(96)))
    channel = definition("V", 1, 6, time_storage=1, time_units=1)
    recording = read(save(one_channel(seen([("values", stamps)]), channel=channel)))
    assert recording.sampling_rate == RATE
    assert recording.start.isoformat() == "1970-01-02T00:01:00"


def test_transducer_ratio(save):
    recording = read(save(one_channel(seen(), ratios={0: (7200.0, 120.0)})))
    assert np.abs(recording.channels[0].samples).max() == pytest.approx(60_000, rel=1e-3)
    assert any("transducer ratio (60)" in note for note in recording.notes)


def test_time_base_with_most_voltages(save):
    instances = [instance(place, increments(n), values(wave(n))) for place, n in ((2, 200), (0, 96), (1, 96))]
    channels = pqdif.source(definition("Va", 1, 6), definition("Vb", 2, 6), definition("Ia", 1, 7))
    recording = read(save(pqdif.chain([pqdif.container(), channels, observation(*instances)])))
    assert [channel.name for channel in recording.channels] == ["Va", "Vb"]
    assert any("2 time bases" in note for note in recording.notes)
    assert any("estimated" in note or "assumed" in note for note in recording.notes)


def test_several_observations_and_sources(save):
    records = [pqdif.container()]
    for name, phase, size in (("old", 1, 1000.0), ("new", 2, 5.0)):
        records += [pqdif.source(definition(name, phase, 6)), seen(samples=values(wave(amplitude=size)))]
    path = save(pqdif.chain(records))
    assert [r.channels[0].name for r in read_all(path)] == ["old", "new"]
    assert read(path).channels[0].name == "old"
    assert read(path, 1).channels[0].phase == "B"


def test_damage_after_a_good_observation(save):
    content = one_channel(seen(), seen())
    recordings = read_all(save(content[:-10]))
    assert len(recordings) == 1
    assert any("damaged after observation 1" in note for note in recordings[0].notes)
    wrong = bytearray(content)
    wrong[44] ^= 1  # the container's checksum
    assert any("checksum" in note for note in read(save(bytes(wrong))).notes)


def with_sums(content, checksum):
    """The same file with another kind of checksum, a function of the stored and of the unpacked body."""
    changed, position = bytearray(content), 0
    while True:
        size, following = struct.unpack_from("<ii", content, position + 36)
        body = content[position + 64 : position + 64 + size]
        unpacked = zlib.decompress(body) if position else body
        struct.pack_into("<I", changed, position + 44, checksum(body, unpacked))
        if not following:
            return bytes(changed)
        position = following


@pytest.mark.parametrize(
    "checksum",
    [
        lambda body, unpacked: 0,
        lambda body, unpacked: 0xFFFFFFFF,
        lambda body, unpacked: zlib.adler32(unpacked),
        lambda body, unpacked: zlib.adler32(body, 0),
        lambda body, unpacked: zlib.crc32(body) ^ 7,  # a maker's own
    ],
)
def test_checksums_of_vendors(save, checksum):
    content = with_sums(pqdif.example(packed=True)[0], checksum)
    assert not any("checksum" in note for note in read(save(content)).notes)


def test_station(save):
    kind, elements = pqdif.source(definition("V", 1, 6))
    named = [("source name", pqdif.text("Meter 7")), ("source location", pqdif.text("North")), *elements]
    assert read(save(pqdif.chain([pqdif.container(), (kind, named), seen()]))).station == "Meter 7, North"
    assert read(save(pqdif.chain([pqdif.container(), (kind, elements), seen()]))).station == ""


def test_circular_sharing(save):
    circle = [("share channel", u4(0)), ("share series", u4(1))]
    with pytest.raises(RecordingError, match="no waveforms"):
        read(save(one_channel(seen(samples=circle))))


def test_counts_that_are_not_there(save):
    recording = read(save(one_channel(seen(values([1, 1e15, 1 / RATE])))))
    assert recording.n_samples == 96
    assert any("1e+15 values" in note for note in recording.notes)


@pytest.mark.parametrize("step", [0.0, -1.0, 1e-320, 1e308, float("nan"), float("inf")])
def test_impossible_steps(save, step):
    path = save(one_channel(seen(values([1, 96, step]))))
    with pytest.raises(RecordingError, match="sampling_rate"):
        read(path)
    assert read(path, sampling_rate=RATE).sampling_rate == RATE


def header(kind, body, following, size=None):
    return (
        pqdif.guid("signature")
        + pqdif.guid(kind)
        + struct.pack("<iiiI", 64, len(body) if size is None else size, following, zlib.adler32(body))
        + b"\0" * 16
    )


def attack(name):
    """A file that wants time or memory."""
    start = pqdif.pack(pqdif.container()[1])
    first = header("container", start, 64 + len(start)) + start
    at = len(first)
    if name == "circle of records":
        return header("container", start, at) + start + header("source", b"", 0x40 and at)
    if name == "overlapping records":
        count = 3000
        size = count * 64
        return first + b"".join(
            header("observation", b"", at + 64 * (i + 1) if i + 1 < count else 0, size - 64 * (i + 1))
            for i in range(count)
        )
    if "collections" in name:
        count = {"nested collections": 1, "fan of collections": 1000}[name]
        member = pqdif.guid("source") + bytes([1, 0, 0, 0]) + struct.pack("<ii", 0, 0)
        body = zlib.compress(struct.pack("<i", count) + count * member)
        return first + header("observation", body, 0) + body
    if name == "negative size":
        return first + header("observation", b"", 0, -1)
    if name == "PKZIP":
        start = pqdif.pack([("style", u4(2)), ("algorithm", u4(64))])
        return header("container", start, 0) + start
    raise AssertionError(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("circle of records", "circle"),
        ("overlapping records", "overlap|longer|unpacked"),
        ("nested collections", "nested|twice"),
        ("fan of collections", "nested|twice"),
        ("negative size", "longer"),
        ("PKZIP", "algorithm 64"),
    ],
)
def test_attacks(check_attack, name, reason):
    check_attack(attack(name), reason)


def test_one_series_for_a_thousand_channels(save):
    big = values(np.zeros(10_000))
    shared = [("share channel", u4(0)), ("share series", u4(1))]
    instances = instance(0, increments(10_000), big), *[instance(0, increments(10_000), shared)] * 1000
    path = save(one_channel(observation(*instances)))
    with pytest.raises(RecordingError, match="overlap"):
        read(path)
    with pytest.raises(RecordingError, match="max_bytes"):
        read(path, max_bytes=200_000)


def test_boolean_and_missing_parts(save):
    assert boolean(True).code == 3
    with pytest.raises(RecordingError, match="no waveforms"):  # no data source
        read(save(pqdif.chain([pqdif.container(), seen()])))
