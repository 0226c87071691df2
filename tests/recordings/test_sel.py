"""Event reports of SEL relays: compressed and plain."""

import numpy as np
import pytest
from tests.recordings.vendor_files import cev, eve, relay_rows

from pqswarm.recordings import RecordingError, read, read_all

NAME = "case.cev"


def check_samples(recording, precision):
    rows = relay_rows()
    assert [(one.name, one.unit, one.phase) for one in recording.channels] == [
        *((f"I{p}", "A", p) for p in "ABC"),
        *((f"V{p}", "V", p) for p in "ABC"),
    ]
    factors = np.sqrt(2) * np.array([1, 1, 1, 1000, 1000, 1000])
    for channel, row, factor in zip(recording.channels, rows.T, factors, strict=True):
        np.testing.assert_allclose(channel.samples, row * factor, atol=precision * factor)


def test_compressed(save):
    recording = read(save(cev()))
    check_samples(recording, 1e-3)
    assert (recording.sampling_rate, recording.nominal_frequency) == (240.0, 60.0)
    assert recording.start.isoformat() == "2013-04-22T09:17:45.938667"  # 32 samples before the trigger
    assert (recording.station, recording.format) == ("NORTH 7", "SEL event report")
    assert not any("checksum" in note or "waveforms" in note for note in recording.notes)
    assert any("59.9 Hz: times are those of 60 Hz" in note for note in recording.notes)
    states = {one.name: one.changes for one in recording.status}
    assert states == {"TRIP": ((0, 0), (32, 1)), "52A": ((0, 1),), "BFI": ((0, 0),), "IN101": ((0, 1), (32, 0))}


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_line_ends_and_prompts(save, end):
    path = save(b"=>CEV 1\r\n" + cev(end=end, settings=False), "log.txt")
    assert read(path, format="sel").n_samples == 64
    assert read(save(cev(end=end), "report.txt")).format == "SEL event report"


def test_wrong_checksums_and_short_rows(save):
    content = cev().replace(b"\r\n0,-86.603", b"\r\n1,-86.603", 1).replace(b'125,59.9," ","C000"', b"", 1)
    recording = read(save(content))
    assert recording.n_samples == 63
    assert any("1 row with a wrong checksum" in note for note in recording.notes)
    assert np.isnan(read(save(cev().replace(b"\r\n0,-86.603", b"\r\nx,-86.603", 1))).channels[0].samples[0])


def test_16_samples_a_cycle(save):
    assert read(save(cev(per_cycle=16))).sampling_rate == 16 * 60
    assert read(save(eve(per_cycle=16), "case.eve")).sampling_rate == 16 * 60


def test_plain(save):
    recording = read(save(eve(), "case.eve"))
    check_samples(recording, 0.5)
    assert (recording.sampling_rate, recording.nominal_frequency) == (240.0, 60.0)
    assert recording.start.isoformat() == "2013-04-22T09:17:45.938667"
    assert recording.station == "FEEDER 1"
    assert not any("ambiguous" in note for note in recording.notes)


def test_plain_reports_in_one_file(save):
    two = read_all(save(eve() + b"\r\n" + eve(date="04/05/13"), "case.eve"))
    assert [one.source for one in two] == ["case.eve, report 1", "case.eve, report 2"]
    assert two[1].start.month == 4
    assert any("04/05/13 is ambiguous: read as month/day" in note for note in two[1].notes)


def test_frequency(save):
    recording = read(save(eve(freq=False), "case.eve"))
    assert recording.sampling_rate == 240
    assert any("60 Hz is assumed" in note for note in recording.notes)
    assert read(save(eve(freq=False), "case.eve"), nominal_frequency=50).sampling_rate == 200
    with_setting = eve(freq=False).replace(b"RID   =FEEDER 1", b"NFREQ = 50   PHROT = ABC")
    assert read(save(with_setting, "case.eve")).sampling_rate == 200
    with pytest.raises(RecordingError, match=r"case\.cev .* does not give its sampling rate; set sampling_rate"):
        read(save(cev(header=False)))
    assert read(save(cev(header=False)), sampling_rate=240).n_samples == 64


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (cev().replace(b'"TRIG"', b'"TRIP"'), "case.cev", "no column TRIG"),
        (cev(rows=relay_rows()[:0]), "case.cev", "no rows of samples"),
        (b"", "case.cev", "no currents or voltages"),
        (eve().replace(b"Currents (Amps Pri)", b"").replace(b"Voltages (kV Pri)", b""), "case.eve", "no currents"),
        (eve().replace(b"[1]", b""), "case.eve", "no currents or voltages by cycle"),
        (cev().replace(b'"IA","IB","IC","VA(kV)","VB(kV)","VC(kV)"', b"a,b,c,d,e,f"), "case.cev", "without"),
    ],
)
def test_no_reports(save, content, name, reason):
    with pytest.raises(RecordingError, match=reason):
        read(save(content, name))
