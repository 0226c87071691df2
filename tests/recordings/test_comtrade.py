"""COMTRADE: all editions and encodings, and deviations of vendors."""

import base64
from dataclasses import replace
from datetime import datetime

import comtrade
import numpy as np
import pytest
from tests.recordings import builders

from pqswarm.errors import PqswarmError
from pqswarm.recordings import Channel, Recording, RecordingError, read, read_all, write_comtrade

TABLE = builders.rows(builders.waves())
CONFIG, DATA = builders.comtrade_seeds()[0]


@pytest.fixture
def write(save):
    """A function that writes a pair of files and returns the first."""

    def write(config, data, config_name="case.cfg", data_name="case.dat"):
        save(data, data_name)
        return save(config, config_name)

    return write


def assert_waves(recording, factor=1.0, atol=0.06):
    for channel, wave in zip(recording.channels, builders.waves(), strict=True):
        np.testing.assert_allclose(channel.samples / factor, wave, atol=atol)


@pytest.mark.parametrize(
    ("kind", "code", "year"),
    [
        ("ASCII", "", "1999"),
        ("BINARY", "h", "1999"),
        ("BINARY32", "i", "2013"),
        ("FLOAT32", "f", "2013"),
        ("ASCII", "", ""),
        ("BINARY", "h", ""),
        ("ASCII", "", "1991"),
        ("BINARY", "h", "2001"),
    ],
)
def test_revisions_and_encodings(write, kind, code, year):
    tail = ",1,1,P" if year > "1991" else ""
    config = builders.cfg(kind=kind, year=year, tail=tail, n_status=17)
    if code:
        data = builders.binary_dat(TABLE, code, 17)
    else:
        data = builders.ascii_dat(np.column_stack([TABLE, np.zeros((96, 17), int)]))
    recording = read(write(config, data))
    assert_waves(recording)
    revision = {"": 1991, "1991": 1991, "2001": 1999}.get(year, int(year or 0))
    assert recording.format == f"COMTRADE {revision} {kind}"
    assert (recording.sampling_rate, recording.nominal_frequency, recording.n_samples) == (4800, 50, 96)
    assert [(c.name, c.unit, c.phase) for c in recording.channels] == [(f"U{p.lower()}", "V", p) for p in "ABC"]
    assert recording.source == "case.cfg"
    assert recording.start.isoformat() == "2015-11-18T05:33:03.765333"


def test_one_file(save):
    config, data = builders.comtrade_seeds()[1]
    content = builders.cff(config, data, "BINARY")
    variants = {
        "case.CFF": content,
        "colons.cff": content.replace(b"file type: ", b"file type "),
        "notepad.cff": b"\xef\xbb\xbf" + content,
    }
    for number, head in enumerate((b"--- file type: %s ---", b"--\tFILE TYPE %s\t--", b"---file type:%s: 77---")):
        variants[f"{number}.cff"] = b"\r\n".join([head % b"CFG", CONFIG, head % b"DAT ASCII", DATA])
    for name, variant in variants.items():
        assert_waves(read(save(variant, name)))
    with pytest.raises(RecordingError, match=r"bad\.cff .*no data section"):
        read(save(b"--- file type: CFG ---\r\n" + config, "bad.cff"))


@pytest.mark.parametrize("kind", ["BINARY", "BINARY BASE64", "BASE64"])
def test_one_file_in_base64(save, kind):
    config, data = builders.comtrade_seeds()[1]
    packed = base64.encodebytes(data)
    recording = read(save(builders.cff(config, packed, kind), "case.cff"))
    assert_waves(recording)
    assert len(recording.status) == 18
    assert_waves(read(save(builders.cff(base64.encodebytes(config), packed, kind), "case.cff")))
    path = save(builders.cff(config, packed[:-3], kind), "case.cff")
    with pytest.raises(RecordingError, match=r"case\.cff is damaged: a section in base64"):
        read(path)
    with pytest.raises(RecordingError, match="max_bytes"):
        read(path, max_bytes=1000)


def test_station(write):
    assert read(write(CONFIG, DATA)).station == "station"
    assert read(write(CONFIG.replace(b"station,device", b"North , "), DATA)).station == "North"
    assert read(write(CONFIG.replace(b"station,device", b"North,North"), DATA)).station == "North"
    assert read(write(CONFIG.replace(b"station,device", b","), DATA)).station == ""


def test_units_of_two(write):
    recording = read(write(CONFIG.replace(b"Ua,A,,V", "Ua,A,,\u0412/\u043a\u0412".encode()), DATA))
    assert recording.channels[0].unit == "V"
    assert "Of the unit '\u0412/\u043a\u0412', the first is taken." in recording.notes


def test_start_of_the_longest_stretch(write):
    stamps = np.rint(np.arange(96) / builders.RATE * 1e6)
    stamps[20:] += 2e6
    config = builders.cfg(n_rates=0, rates=("0,96",), kind="BINARY")
    recording = read(write(config, builders.binary_dat(builders.rows(builders.waves(), stamps))))
    assert recording.n_samples == 76
    assert recording.start.isoformat() == "2015-11-18T05:33:05.769500"


@pytest.mark.parametrize("name", ["case.cfg", "CASE.Dat", "case.hdr"])
def test_partners_are_found_whatever_their_case(write, tmp_path, name):
    write(CONFIG, DATA, "Case.CFG", "CASE.Dat")
    path = tmp_path / ("Case.CFG" if name == "case.cfg" else name)
    path.touch()
    assert_waves(read(path))


def test_missing_partners(save):
    config, data = builders.comtrade_seeds()[1]
    for path, lacking in ((save(config, "a.cfg"), "dat"), (save(data, "b.dat"), "cfg")):
        with pytest.raises(RecordingError, match=rf"{path.name} has no matching \.{lacking}"):
            read(path)


@pytest.mark.parametrize(
    ("name", "encoding", "told"),
    [
        ("母线_Ua", "gbk", "gbk"),
        ("Шина_Ua", "cp1251", "cp1251"),
        ("Größe Ua", "latin-1", "latin-1"),
        ("Größe Ua", "utf-8-sig", ""),
        ("母线_Ua", "utf-16", "utf-16"),
    ],
)
def test_encodings_of_text(write, name, encoding, told):
    config = builders.cfg(channels=(f"{name},,,V", "Ub,,,V", "Uc,,,V")).decode().encode(encoding)
    recording = read(write(config, DATA))
    assert [channel.name for channel in recording.channels] == [name, "Ub", "Uc"]
    assert [channel.phase for channel in recording.channels] == ["A", "B", "C"]
    assert any(told in note for note in recording.notes) == bool(told)


@pytest.mark.parametrize(
    "date", ["", "00/00/0000,00:00:00", "31/02/2020,10:00:00", "yesterday,noon", ",", "18/11/2015,25:61:00.1"]
)
def test_malformed_dates(write, date):
    recording = read(write(builders.cfg(dates=(date, date)), DATA))
    assert recording.start is None
    assert_waves(recording)
    assert any("malformed" in note for note in recording.notes)


def test_dates_of_1991_have_the_month_first(write):
    config = builders.cfg(year="", tail="", dates=("03/04/98,01:02:03.5",) * 2, last=())
    recording = read(write(config, DATA))
    assert recording.start.isoformat() == "1998-03-04T01:02:03.500000"
    assert any("03/04/98 is ambiguous: read as month/day/year" in note for note in recording.notes)
    later = read(write(builders.cfg(dates=("03/04/1998,01:02:03.5",) * 2), DATA))
    assert (later.start.day, [note for note in later.notes if "ambiguous" in note]) == (3, [])


def test_binary_of_1991_keeps_minus_one(write):
    table = TABLE.copy()
    table[5, 2] = -1
    config = builders.cfg(year="", tail="", kind="BINARY", last=())
    assert read(write(config, builders.binary_dat(table))).channels[0].samples[5] == pytest.approx(-0.1)


def test_trailing_bytes_and_missing_lines(write):
    for config in (builders.cfg(kind="BINARY", last=()), builders.cfg(kind="BINARY").rstrip() + b"\r\n\x1a\r\n\r\n"):
        recording = read(write(config, builders.binary_dat(TABLE) + b"\x1a\0\0"))
        assert_waves(recording)
        assert "3 bytes after the last whole row: ignored." in recording.notes
    short = builders.cfg().split(b"ASCII")[0].rsplit(b"\r\n", 3)[0]
    recording = read(write(short, builders.ascii_dat(TABLE)))
    assert_waves(recording)
    assert any("ends early" in note for note in recording.notes)
    recording = read(write(builders.cfg(), builders.ascii_dat(TABLE, "\r\r\n") + b"97,2"))
    assert_waves(recording)


def test_cut_data(write):
    config, data = builders.comtrade_seeds()[1]
    recording = read(write(config, data[: len(data) // 2]))
    assert recording.n_samples == 48
    assert "The configuration announces 96 samples, the data have 48." in recording.notes
    with pytest.raises(RecordingError, match="max_bytes"):
        read(write(CONFIG, DATA), max_bytes=1000)
    with pytest.raises(RecordingError, match="no whole row"):
        read(write(config, data[:5]))


def test_several_rates(write):
    path = write(*builders.comtrade_seeds()[6])
    first, second = read_all(path)
    assert [(r.n_samples, r.sampling_rate) for r in (first, second)] == [(40, 4800), (51, 4800)]
    np.testing.assert_allclose(first.channels[0].samples, builders.waves()[0][:40], atol=0.06)
    np.testing.assert_allclose(second.channels[0].samples, builders.waves()[0][45:], atol=0.06)
    assert (second.start - first.start).total_seconds() == pytest.approx(40 / 4800 + 5 / 50, abs=1e-5)
    assert read(path).n_samples == 51  # the longest
    assert read(path, 0).n_samples == 40
    assert "several rates" in " ".join(first.notes)
    assert second.source == "case.cfg, segment 2"
    with pytest.raises(RecordingError, match="holds 2 recordings: there is no number 2"):
        read(path, 2)


def test_rates_that_follow_the_grid_are_joined(write):
    recording = read(write(builders.cfg(rates=("4795,32", "4805,64", "4800,96")), DATA))
    assert recording.n_samples == 96
    assert recording.sampling_rate == pytest.approx(4800, abs=0.1)


def test_no_rate(write):
    recording = read(write(*builders.comtrade_seeds()[7]))
    assert recording.sampling_rate == 4800  # from time stamps in whole microseconds
    config = builders.cfg(n_rates=0, rates=("0,96",))
    blank = b"\r\n".join(b",".join([b"%d" % r[0], b"", *(b"%d" % v for v in r[2:])]) for r in TABLE.tolist())
    with pytest.raises(RecordingError, match="sampling_rate"):
        read(write(config, blank))
    assert_waves(read(write(config, blank), sampling_rate=4800))


def test_rate_is_not_taken_from_rounded_time_stamps(write):
    table = builders.rows(builders.waves(), stamps=np.arange(96) * 208)
    assert read(write(builders.cfg(), builders.ascii_dat(table))).sampling_rate == 4800


def test_scales(write):
    recording = read(write(builders.cfg(tail=",11000,100,S"), DATA))
    assert_waves(recording, 110.0)
    assert any("110" in note and "secondary" in note for note in recording.notes)
    assert_waves(read(write(builders.cfg(tail=",11000,100,P"), DATA)))
    assert_waves(read(write(builders.cfg(tail=",11000,0,S"), DATA)))
    assert_waves(read(write(builders.cfg(a="-0.1"), DATA)), -1.0)
    channels = ("Ua,A,,kV", "Ia,A,,kA", "Ub,B,,mV")
    recording = read(write(builders.cfg(channels=channels), DATA))
    assert [(c.unit, round(np.abs(c.samples).max(), -1)) for c in recording.channels[:2]] == [("V", 1e6), ("A", 1e6)]
    assert np.abs(recording.channels[2].samples).max() == pytest.approx(1.0, abs=0.01)
    recording = read(write(builders.cfg(channels=channels), DATA), units={"Ia": "V"}, columns=["Ia", 0])
    assert [(c.name, c.unit) for c in recording.channels] == [("Ia", "V"), ("Ua", "V")]


@pytest.mark.parametrize(("kind", "marker"), [("ASCII", 99999), ("BINARY", -32768), ("BINARY32", -(2**31))])
def test_missing_values(write, kind, marker):
    table = TABLE.copy()
    table[7, 3] = marker
    data = builders.ascii_dat(table) if kind == "ASCII" else builders.binary_dat(table, "i" if "32" in kind else "h")
    recording = read(write(builders.cfg(kind=kind), data))
    assert np.isnan(recording.channels[1].samples[7])
    assert np.isnan(np.concatenate([c.samples for c in recording.channels])).sum() == 1


def test_kind_is_found_if_it_is_not_given(write):
    for kind, data in (
        ("", builders.ascii_dat(TABLE)),
        ("", builders.binary_dat(TABLE, "i")),
        ("BINARY", builders.ascii_dat(TABLE)),
    ):
        assert_waves(read(write(builders.cfg(kind=kind), data)))


def test_phase_numbers_are_believed_only_if_they_differ(write):
    same = read(write(builders.cfg(channels=("X,1,,V", "Y,1,,V", "Uc,1,,V")), DATA))
    assert [channel.phase for channel in same.channels] == ["", "", "C"]
    apart = read(write(builders.cfg(channels=("X,1,,V", "Y,2,,V", "Z,3,,V")), DATA))
    assert [channel.phase for channel in apart.channels] == ["A", "B", "C"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((b"3,3A,0D", b"3,0A,3D"), "no analog channels"),
        ((b"3,3A,0D", b"3,9999999A,0D"), "announces 9999999"),
        ((b"3,3A,0D", b"3"), "second line"),
        ((b"1,Ua,A,,V,0.1", b"1,Ua,A,,V,x"), "no multiplier"),
    ],
)
def test_lies_in_the_configuration(write, change, reason):
    path = write(CONFIG.replace(*change), DATA)
    with pytest.raises(RecordingError, match=reason) as caught:
        read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("rates", [b"1e300,96", b"-4800,96", b"4800,-5", b"4800,99999999999999999999"])
def test_time_stamps_or_all_rows_save_a_wrong_rate(write, rates):
    assert read(write(CONFIG.replace(b"4800,96", rates), DATA)).sampling_rate == 4800


@pytest.fixture
def recording():
    rng = np.random.default_rng(1)
    samples = np.stack(builders.waves(400)) + rng.normal(0, 3, (3, 400))
    samples[1, 7] = np.nan
    channels = [Channel(f"U, {p}", "V", p, row) for p, row in zip("ABC", samples, strict=True)]
    channels += [Channel("offset", "A", "", np.linspace(5, 6, 400)), Channel("flat", "V", "N", np.full(400, 7.0))]
    return Recording(tuple(channels), 30707.244140625, 60.0, None, "made, here", "test")


@pytest.mark.parametrize(("encoding", "levels"), [("ASCII", 99998), ("BINARY", 32767)])
def test_round_trip(recording, tmp_path, encoding, levels):
    recording = replace(recording, station="North", start=datetime(2026, 3, 2, 10, 15, 30, 412_000))
    path = write_comtrade(recording, tmp_path / "new" / "trip.cfg", encoding)
    back = read(path)
    assert back.start == recording.start
    assert path.with_suffix(".dat").exists()
    assert back.format == f"COMTRADE 1999 {encoding}"
    assert (back.sampling_rate, back.nominal_frequency) == (recording.sampling_rate, 60.0)
    for old, new in zip(recording.channels, back.channels, strict=True):
        assert (new.name, new.unit, new.phase) == (old.name.replace(",", ""), old.unit, old.phase)
        step = np.nanmax(np.abs(old.samples)) / levels
        np.testing.assert_allclose(new.samples, old.samples, atol=0.51 * step)
    other = comtrade.load(str(path), str(path.with_suffix(".dat")), use_double_precision=True, use_numpy_arrays=True)
    assert (other.station_name, other.start_timestamp) == ("North", back.start)
    for values, channel in zip(other.analog, back.channels, strict=True):
        np.testing.assert_allclose(values, channel.samples)


def test_the_station_is_written(recording, tmp_path):
    for station in ("North PQ 7", "North"):
        assert read(write_comtrade(replace(recording, station=station), tmp_path / "a.cfg")).station == station
    assert read(write_comtrade(recording, tmp_path / "b.cfg")).station == "pqswarm"


def test_writer_refuses(recording, tmp_path):
    with pytest.raises(PqswarmError, match="unknown encoding"):
        write_comtrade(recording, tmp_path / "x.cfg", "FLOAT")
    (tmp_path / "file").touch()
    with pytest.raises(PqswarmError, match="cannot write"):
        write_comtrade(recording, tmp_path / "file" / "x.cfg")
