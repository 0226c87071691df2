"""Tables of text: the shapes that instruments export, and overrides."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.memory import memory_below
from tests.recordings import builders
from tests.recordings.builders import RATE, table_text, waves
from tests.recordings.vendor_files import tektronix_blocks
from tests.reference import pqdif

from pqswarm.recordings import Channel, Recording, RecordingError, open_recordings, read, write_csv
from pqswarm.recordings.comtrade import Configuration, _find_comtrade_status
from pqswarm.recordings.text import Clock, decode_text

NAME = "case.csv"


@pytest.mark.parametrize("n", range(len(builders.csv_seeds())))
def test_shapes(save, n):
    recording = read(save(builders.csv_seeds()[n]))
    assert recording.sampling_rate == pytest.approx(RATE, rel=1e-7)
    assert recording.n_samples == 96
    assert all(channel.unit == "V" for channel in recording.channels)
    for channel, wave in zip(recording.channels, waves(), strict=False):
        np.testing.assert_allclose(channel.samples, wave, atol=0.01)
    expected = ("Ua Ub Uc", "Ua Ub", "U1 U2", "CH1 CH2", "CH1", "CH1 CH2", "CH1 CH2", "Ua", "Ua Ub")
    assert [channel.name for channel in recording.channels] == expected[n].split()
    starts = {3: "2015-11-18T05:33:03.765000", 7: "2020-02-03T04:05:06"}
    assert n not in starts or recording.start.isoformat() == starts[n]
    assert recording.format == "CSV"
    assert any("Read as a table" in note for note in recording.notes)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1251", "gbk"])
def test_encodings(save, encoding):
    name = "母线Ua" if encoding == "gbk" else "Шина Ua"
    recording = read(save(table_text([f"time [s],{name} [V]"], waves()[:1]), encoding=encoding))
    assert recording.channels[0].name == name


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32", "utf-8-sig", "cp1251"])
def test_given_encodings(save, encoding):
    path = save(table_text(["time [s];Шина Ua [V]"], waves()[:1], sep=";", decimal=","), encoding=encoding)
    (source,) = open_recordings(path, encoding=encoding)
    assert source.channels[0].name == "Шина Ua"
    np.testing.assert_allclose(source.read(10, 20).channels[0].samples, waves()[0][10:20], atol=0.01)


@pytest.mark.parametrize(("unit", "step"), [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("µs", 1e6), ("ns", 1e9)])
def test_time_units(save, unit, step):
    assert read(save(table_text([f"Time ({unit}),U (V)"], waves()[:1], step=step))).sampling_rate == RATE


MICROSECONDS = "t_us|time_us|Time [microseconds]|time us|timestamp_us|Zeit in us|время, мкс|时间(微秒)|usec"


@pytest.mark.parametrize("header", MICROSECONDS.split("|"))
def test_units_of_time_in_names(save, header):
    recording = read(save(table_text([f"{header};Ua;Ub"], waves()[:2], sep=";", step=1e6)))
    assert recording.sampling_rate == RATE
    assert not any("assumed" in note and "nominal" not in note for note in recording.notes)


@pytest.mark.parametrize(
    ("words", "step"), [("milliseconds", 1e3), ("microseconds", 1e6), ("seconds are assumed", 1.0)]
)
def test_unit_of_time_from_the_frequency(save, words, step):
    recording = read(save(table_text(["time,Ua,Ub"], waves(480)[:2], step=step)))
    assert recording.sampling_rate == RATE
    assert any(f"'time' is not given: {words}" in note for note in recording.notes)


def test_long_steps_without_a_unit_are_not_seconds(save):
    lines = [f"{10_000 * i},{value:.3f}" for i, value in enumerate(waves(480)[0])]
    with pytest.raises(RecordingError, match=r"unit of its column 'time', and steps of 10000 .*'time \[us\]'"):
        read(save("\n".join(["time,Ua", *lines])))
    assert read(save("\n".join(["time [us],Ua", *lines]))).sampling_rate == 100
    hourly = [f"{3600 * i},{value:.3f}" for i, value in enumerate(waves(480)[0])]
    assert read(save("\n".join(["time,Ua", *hourly]))).sampling_rate == pytest.approx(1 / 3600)


def test_times_with_their_unit(save):
    lines = ["Time,Ua [V]"] + [f"{i / RATE * 1e3:.5f} ms,{v:.3f}" for i, v in enumerate(waves(480)[0])]
    lines[1] = lines[1].replace("0.00000 ms", "0 s")
    (source,) = open_recordings(save("\n".join(lines)))
    assert (source.sampling_rate, source.n_samples) == (RATE, 480)
    assert "each with its unit" in source.notes[0]


def test_logs_of_rms_values(save):
    log = ["Date;Time;Urms L1 [V];U1 max [V];f [Hz]"]
    log += [
        f"02.01.2024;{(i // 6 + 23) % 24:02d}:{i % 6 * 10:02d}:00;{230 + i % 3};{231 + i % 2};50" for i in range(100)
    ]
    recording = read(save("\n".join(log)))
    assert [channel.unit for channel in recording.channels] == ["V rms", "V rms", "Hz"]
    assert recording.sampling_rate == pytest.approx(1 / 600)
    assert recording.n_samples == 100  # midnight is no gap
    assert recording.start.isoformat() == "2024-01-02T23:00:00"
    assert any("not waveforms of 50 Hz" in note for note in recording.notes)


def test_clock():
    seconds = {
        "2024-02-28 23:59:58.5": 0,
        "2024-02-28 23:59:59,25": 0.75,
        "28/02/2024 23:59:60": 1.5,
        "2024-02-29 00:00:01.1234567": 2.623456,
        "x": np.nan,
        "2024-02-29 00:00:02": 3.5,
        "2024-02-29 00:00:02.000001": 3.500001,
        "2024-02-29 00:00:61.5": 63.0,
        "2024-02-29 00:01": 61.5,
    }
    clock = Clock()
    assert [clock.seconds(text) for text in seconds] == pytest.approx(list(seconds.values()), abs=1e-9, nan_ok=True)
    assert clock.first.isoformat() == "2024-02-28T23:59:58.500000"
    clock = Clock()
    assert [clock.seconds(text) for text in ("23:59:59", "23:59:59.5", "00:00:00.5", "00:00:01")] == [0, 0.5, 1.5, 2]
    assert clock.first is None


OSCILLOSCOPE = """Model,TBS1102B
Date,2024-03-05
Time,06:07:08.5
Point Format,Y,
Sample Interval,{interval},
Record Length,960
Vertical Units,{units}
Vertical Scale,100
Label,,
"""


def scope(units, names, n=2):
    head = OSCILLOSCOPE.format(interval=1 / RATE, units=units) + names
    rows = [f"{i / RATE - 0.1:.7f}," + ",".join([f"{v:.2f}"] * n) for i, v in enumerate(waves(960)[0])]
    return head.splitlines() + rows


def test_oscilloscopes(save):
    recording = read(save("\n".join(scope("V,A", "TIME,CH1,CH2\n"))))
    assert [(channel.name, channel.unit) for channel in recording.channels] == [("CH1", "V"), ("CH2", "A")]
    assert recording.start.isoformat() == "2024-03-05T06:07:08.400000"
    recording = read(save("\n".join(scope("A", "", 1))))
    assert [(channel.name, channel.unit) for channel in recording.channels] == [("column 2", "A")]
    short = ["Vertical Units,A", "Sample Interval,2.0833e-4", *scope("A", "", 1)[9:]]
    assert read(save("\n".join(short))).channels[0].name == "column 2"


def test_blocks_side_by_side(save):
    recording = read(save(tektronix_blocks()))
    assert [(channel.name, channel.unit) for channel in recording.channels] == [("CH1", "A"), ("CH2", "V")]
    assert recording.sampling_rate == pytest.approx(RATE)
    for channel, wave in zip(recording.channels, waves(), strict=False):
        np.testing.assert_allclose(channel.samples, wave, atol=1e-4)
    assert not any("unit" in note and "not given" in note for note in recording.notes)
    other = read(save(tektronix_blocks(units=("Volts", "Volts"), shift=0.5)))  # its own time: it is left out
    assert [(channel.name, channel.unit) for channel in other.channels] == [("CH1", "V")]


@pytest.mark.parametrize(
    ("stamps", "start", "order"),
    [
        ("3/4/2024 2:05:{:09.6f} PM", "2024-03-04T14:05:00", "month/day/year"),
        ("3/4/2024 12:05:{:09.6f} am", "2024-03-04T00:05:00", "month/day/year"),
        ("03/04/2024 14:05:{:09.6f}", "2024-04-03T14:05:00", "day/month/year"),
        ("03-04-2024 14:05:{:09.6f}", "2024-04-03T14:05:00", "day/month/year"),
        ("3/14/2024 2:05:{:09.6f} P.M.", "2024-03-14T14:05:00", ""),
        ("14/3/2024 14:05:{:09.6f}", "2024-03-14T14:05:00", ""),
        ("03.04.2024 14:05:{:09.6f}", "2024-04-03T14:05:00", ""),
        ("2024-03-04 14:05:{:09.6f}", "2024-03-04T14:05:00", ""),
        ("4/4/2024 14:05:{:09.6f}", "2024-04-04T14:05:00", ""),
    ],
)
def test_ambiguous_dates(save, stamps, start, order):
    rows = [f"{stamps.format(i / RATE)},{v:.3f}" for i, v in enumerate(waves(480)[0])]
    recording = read(save("\n".join(["time,Ua [V]", *rows])))
    assert (recording.start.isoformat(), recording.n_samples) == (start, 480)
    assert recording.sampling_rate == pytest.approx(RATE, rel=1e-4)
    said = [note for note in recording.notes if "ambiguous" in note]
    assert [note.endswith(f"read as {order}.") for note in said] == [True] * bool(order)


def test_ambiguous_dates_in_headers_and_columns(save):
    lines = scope("V", "TIME,CH1\n", 1)
    for text in ("05/03/2024", "25/03/2024"):
        recording = read(save("\n".join(lines).replace("2024-03-05", text)))
        assert recording.start.month == 3
        assert any("ambiguous" in note for note in recording.notes) == (text[:2] == "05")
    rows = [f"1/2/2024,2:05:{i / RATE:09.6f} PM,{v:.3f}" for i, v in enumerate(waves(480)[0])]
    recording = read(save("\n".join(["Date,Time,Ua [V]", *rows])))
    assert recording.start.isoformat() == "2024-01-02T14:05:00"
    assert any("1/2/2024 is ambiguous: read as month/day/year" in note for note in recording.notes)


def test_a_wrong_stamp_does_not_drop_half_of_an_oscilloscope_record(save):
    lines = scope("V", "TIME,CH1\n", 1)
    lines[500] = "0.02," + lines[500].split(",")[1]
    recording = read(save("\n".join(lines)))
    assert (recording.n_samples, recording.sampling_rate) == (960, RATE)
    assert any("Some time stamps are wrong" in note for note in recording.notes)
    without = [line for line in lines if not line.startswith(("Sample", "Record"))]
    assert read(save("\n".join(without))).n_samples < 600


def test_rounded_and_coarse_times(save):
    wave = waves(960)[0]
    text = "t [s],U [V]\n" + "\n".join(f"{i / RATE:.4f},{v:.3f}" for i, v in enumerate(wave))
    assert read(save(text)).sampling_rate == pytest.approx(RATE, rel=2e-3)
    text = "t [s],U [V]\n" + "\n".join(f"{np.floor(i / RATE * 100) / 100:.2f},{v:.3f}" for i, v in enumerate(wave))
    recording = read(save(text))
    assert recording.sampling_rate == pytest.approx(RATE, rel=0.06)
    assert any("coarser" in note for note in recording.notes)


def test_gaps(save):
    wave = waves(300)[0]
    times = np.arange(300) / RATE
    times[100:] += 1.0
    text = "t [s],U [V]\n" + "\n".join(f"{t:.6f},{v:.3f}" for t, v in zip(times, wave, strict=True))
    recording = read(save(text))
    assert recording.n_samples == 200
    assert recording.sampling_rate == RATE
    assert any("gap" in note for note in recording.notes)


def test_without_time(save):
    text = "Ua;Ub\n" + "\n".join(f"{a:.3f};{b:.3f}" for a, b in zip(*waves()[:2], strict=True))
    with pytest.raises(RecordingError, match="sampling_rate"):
        read(save(text))
    recording = read(save(text), sampling_rate=RATE, nominal_frequency=60)
    assert (recording.sampling_rate, recording.nominal_frequency) == (RATE, 60)
    assert [channel.phase for channel in recording.channels] == ["A", "B"]
    bare = "\n".join(f"{v:.3f}" for v in waves()[0])
    assert read(save(bare), sampling_rate=RATE).channels[0].unit == "V"
    counted = "n,U\n" + "\n".join(f"{i},{v:.3f}" for i, v in enumerate(waves()[0]))
    with pytest.raises(RecordingError, match="counts samples"):
        read(save(counted))
    assert len(read(save(counted), sampling_rate=RATE).channels) == 1


def test_odd_shapes(save):
    wave = waves()[0]
    lone = "U\n" + "\n".join(f"{v:.3f}".replace(".", ",") for v in wave)
    recording = read(save(lone), sampling_rate=RATE)
    assert len(recording.channels) == 1
    np.testing.assert_allclose(recording.channels[0].samples, wave, atol=0.001)
    spaces = "# fs = 4800\n# line frequency: 60 Hz\n" + "\n".join(
        f"{a:.3f} {b:.3f}" for a, b in zip(*waves()[:2], strict=True)
    )
    recording = read(save(spaces))
    assert (recording.sampling_rate, recording.nominal_frequency, len(recording.channels)) == (RATE, 60, 2)
    quoted = ' "Time (s)", "Voltage, L1 (kV)"\n' + "\n".join(f'"{i / RATE:.7f}","{v:.3f}"' for i, v in enumerate(wave))
    recording = read(save(quoted))
    assert [(c.name, c.phase) for c in recording.channels] == [("Voltage, L1", "A")]
    assert recording.sampling_rate == RATE
    commas = '"Time (s)","U (V)"\n' + "\n".join(
        f'"{i / RATE:.7f}","{v:.3f}"'.replace(".", ",") for i, v in enumerate(wave)
    )
    assert read(save(commas)).sampling_rate == RATE
    aligned = "  t    Va    Vb\n" + "\n".join(f" {i / RATE:9.7f}  {v:10.3f} {-v:10.3f}" for i, v in enumerate(wave))
    assert [c.phase for c in read(save(aligned)).channels] == ["A", "B"]


def test_overrides(save):
    path = save(table_text(["a,b,c"], waves()[:2]))
    recording = read(path, columns=["c"], units="kV", time_column="a")
    assert np.abs(recording.channels[0].samples).max() == pytest.approx(1e6, rel=0.01)
    assert read(path, columns=[0]).channels[0].name == "b"
    assert read(path, sampling_rate=10_000).sampling_rate == 10_000
    assert any("replaces" in note for note in read(path, sampling_rate=10_000).notes)
    assert read(path, delimiter=",", decimal=".", encoding="latin-1", format="csv").n_samples == 96
    with pytest.raises(RecordingError, match="no channel 'z'; it has b, c"):
        read(path, columns=["z"])
    with pytest.raises(RecordingError, match="no column 'z' for the time"):
        read(path, time_column="z")
    with pytest.raises(RecordingError, match="no encoding"):
        read(path, encoding="klingon")
    with pytest.raises(RecordingError, match="max_bytes"):
        read(path, max_bytes=1000)
    for wrong in ({"sampling_rate": -1}, {"nominal_frequency": 0}):
        with pytest.raises(RecordingError, match="allowed"):
            read(path, **wrong)


def test_missing_and_absurd_values(save):
    lines = builders.csv_seeds()[0].split("\r\n")
    lines[5] = lines[5].split(",")[0] + ",,inf,1e300"
    recording = read(save("\n".join(lines)))
    assert [np.isnan(channel.samples).sum() for channel in recording.channels] == [1, 1, 1]
    flood = "t,U,W\n" + "\n".join(f"{i / RATE:.6f},nan,{i}" for i in range(50))
    recording = read(save(flood), units={"W": "V"})
    assert [channel.name for channel in recording.channels] == ["W"]
    assert any("ignored" in note for note in recording.notes)
    with pytest.raises(RecordingError, match="samples that are numbers"):
        read(save("t,U\n" + "\n".join(f"{i / RATE:.6f},nan" for i in range(50))))


TEXTS = ["", "x", "hello\nworld\nthis is\nno table\n", "\0\0\0\0\n\0\0", "t,U\n1\n"]
TEXTS += ["Time,Unit\n" + "0.1,V\n" * 10, "1," * 5000 + "\n" + "1," * 5000]


@pytest.mark.parametrize("text", TEXTS)
def test_no_table(save, text):
    with pytest.raises(RecordingError, match=r"case\.csv"):
        read(save(text))


def test_frequency_is_estimated(save):
    for frequency in (49.6, 50.0, 60.3):
        text = table_text(["t [s],U [V]"], waves(2000, frequency=frequency)[:1])
        assert read(save(text)).nominal_frequency == round(frequency, -1)
    noise = np.random.default_rng(0).normal(size=2000)
    recording = read(save(table_text(["t [s],U [V]"], [noise])))
    assert recording.nominal_frequency == 50
    assert any("assumed" in note for note in recording.notes)
    text = "Line frequency,60 Hz\n" + table_text(["t [s],U [V]"], [noise])
    assert read(save(text)).nominal_frequency == 60


def test_round_trip(tmp_path):
    samples = np.stack(waves(500)) / 3
    samples[0, 3] = np.nan
    channels = tuple(Channel(f"U{p.lower()}, x", "V", p, row) for p, row in zip("ABC", samples, strict=True))
    recording = Recording(channels, 30707.244140625, 50.0)
    back = read(write_csv(recording, tmp_path / "trip.csv"))
    assert back.sampling_rate == pytest.approx(recording.sampling_rate, rel=1e-9)
    for old, new in zip(channels, back.channels, strict=True):
        assert (new.name, new.unit, new.phase) == (old.name, "V", old.phase)
        np.testing.assert_allclose(new.samples, old.samples, rtol=1e-11)


def lines_of(**changes):
    return builders.cfg(**changes).replace(b"\r\n", b"\n")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("blanks.cff", b"--- file type: CFG" + b" " * 2500 + b"x\n", "no data section"),
        ("letters.cff", b"--- file type: " + b"A" * 15_000 + b"!\n", "no data section"),
        ("dashes.cff", b"-" * 500_000, "no data section"),
        ("high.csv", b"\xe0" * 50_000, "fewer than two lines"),
        ("rates.cfg", lines_of(rates=["4800,1"] * 10_001), "more than 10000 sampling rates"),
        ("lines.cfg", b"a,b,1999\n1,1A,0D\n" + b"\n" * 1_200_000, "more than 1100000 lines"),
        ("counts.cfg", lines_of().replace(b"3A", b"3A" * 20_000), "more than 20000 characters"),
        ("commas.cfg", lines_of().replace(b"Ua", b"," * 30_000), "more than 20000 characters"),
    ],
)
def test_time_is_linear_in_the_length_of_text(save, check_attack, name, content, reason):
    """What is met again and again takes ten times as long as is allowed."""
    save(b"1,0,1,2,3\n", Path(name).with_suffix(".dat"))
    check_attack(content, reason, name, seconds=2.0)


def test_words_of_high_bytes_are_recognized():
    assert decode_text("Spannung f\u00fcr \u00dcbung".encode("latin-1"))[1] == "latin-1"
    assert decode_text("\u0448\u0438\u043d\u0430 \u043f\u0435\u0440\u0432\u0430\u044f".encode("cp1251"))[1] == "cp1251"


def test_many_status_channels_are_not_read_row_by_row():
    calls = []

    def states(first, stop):
        calls.append((first, stop))
        return np.zeros((stop - first, 2), np.int8)

    config = Configuration(1999, [], n_status=4_000_000, status=[("a", 0), ("b", 0)])
    assert len(_find_comtrade_status(config, SimpleNamespace(status=states), range(100))) == 2
    assert calls == [(0, 100)]


@pytest.mark.parametrize("times", [1, 30])
def test_a_packed_record_is_unpacked_to_a_limit(save, times):
    records = [pqdif.container(), *[("observation", b"\0" * (60_000_000 // times))] * times]
    path = save(pqdif.chain(records), "bomb.pqd")
    assert path.stat().st_size < 100_000
    with memory_below(40e6), pytest.raises(RecordingError, match="over the limit"):
        read(path)
