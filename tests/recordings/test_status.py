"""Status channels: what was on or off, in all encodings, whatever a file does with them."""

from dataclasses import replace

import comtrade
import numpy as np
import pytest
from tests.recordings import builders

from pqswarm.recordings import (
    Channel,
    Recording,
    RecordingError,
    Site,
    StatusChannel,
    open_recordings,
    read,
    read_all,
    write_comtrade,
)
from pqswarm.recordings.recording import interruptible_status_reading

N, N_STATUS = 96, 19


def states(n=N, n_status=N_STATUS):
    """Samples x channels: all change, but for the last, which stays on."""
    table = (np.arange(n)[:, None] // (3 + np.arange(n_status))) % 2
    table[:, -1] = 1
    return table


def write(folder, kind="BINARY", code="h", year="1999", bits=None, **options):
    bits = states() if bits is None else bits
    table = builders.rows(builders.waves())
    text = builders.ascii_dat(np.column_stack([table, bits]))
    (folder / "case.dat").write_bytes(builders.binary_dat(table, code, states=bits) if code else text)
    (folder / "case.cfg").write_bytes(builders.cfg(kind=kind, year=year, n_status=bits.shape[1], **options))
    return folder / "case.cfg"


ENCODINGS = [("ASCII", "", "1999"), ("BINARY", "h", "1999"), ("BINARY32", "i", "2013"), ("FLOAT32", "f", "2013")]


@pytest.mark.parametrize(("kind", "code", "year"), ENCODINGS)
def test_agrees_with_the_comtrade_package(tmp_path, kind, code, year):
    path = write(tmp_path, kind, code, year)
    other = comtrade.load(str(path), str(path.with_suffix(".dat")), use_double_precision=True, use_numpy_arrays=True)
    recording = read(path)
    assert other.cfg.sample_rates[0][0] == recording.sampling_rate
    for channel, values in zip(recording.channels, other.analog, strict=True):
        np.testing.assert_allclose(channel.samples, values)
    assert [one.name for one in recording.status] == list(other.status_channel_ids)
    for one, values in zip(recording.status, other.status, strict=True):
        np.testing.assert_array_equal(one.expand(0, N), values)
        assert (np.diff(one.states) != 0).all()
        assert one.places[0] == 0
        assert one.note == ""
    assert recording.status[-1].changes == ((0, 1),)
    assert recording.status[0].changes[:3] == ((0, 0), (3, 1), (6, 0))


def test_they_are_found_in_blocks_on_demand(tmp_path, monkeypatch):
    path = write(tmp_path)
    whole = read(path)
    monkeypatch.setattr("pqswarm.recordings.comtrade._STATES", 7 * N_STATUS)
    (source,) = open_recordings(path)
    assert source.read(3, 90).status == ()
    assert [one.changes for one in source.status] == [one.changes for one in whole.status]
    assert source.status is source.status
    (late,) = open_recordings(path)
    path.with_suffix(".dat").write_bytes(b"")
    with pytest.raises(RecordingError, match="has changed"):
        _ = late.status


def test_each_segment_has_its_own(tmp_path):
    segments = read_all(write(tmp_path, rates=("4800,40", "50,45", "4800,96")))
    assert [one.n_samples for one in segments] == [40, 51]
    np.testing.assert_array_equal(segments[1].status[2].expand(0, 51), states()[45:, 2])


def test_part_of_a_recording_has_its_part(tmp_path):
    part = read(write(tmp_path)).read(31, 70)
    for one, column in zip(part.status, states().T, strict=True):
        np.testing.assert_array_equal(one.expand(0, 39), column[31:70])
        assert one.places[0] == 0


def test_sites_keep_them(tmp_path):
    site = Site.read('[channels."U*"]\nratio = 10\n[channels.Uc]\nignore = true')
    (source,) = open_recordings(write(tmp_path))
    assert len(site.apply(source).status) == len(site.apply(source.read()).status) == N_STATUS


@pytest.mark.parametrize("encoding", ["ASCII", "BINARY"])
def test_they_are_written(tmp_path, encoding):
    recording = read(write(tmp_path))
    again = read(write_comtrade(recording, tmp_path / "again.cfg", encoding))
    assert [(one.name, one.normal, one.changes) for one in again.status] == [
        (one.name, one.normal, one.changes) for one in recording.status
    ]
    np.testing.assert_allclose(again.channels[1].samples, recording.channels[1].samples, atol=0.1)


def test_untrusted_names_are_harmless(tmp_path):
    path = write(tmp_path, bits=states(n_status=6))
    lines = path.read_text().splitlines()
    odd = ["1,\x1b[31mTrip\x07,,,1", "2,,,,0", "3", "4,a,b,c,,,1", f"5,{'x' * 5000},,,0", "6,<b>&,1"]
    path.write_text("\n".join([*lines[:5], *odd, *lines[11:]]))
    found = read(path).status
    assert [one.name for one in found[:4]] == ["[31mTrip", "status 2", "status 3", "a b c"]
    assert (len(found[4].name), found[5].name) == (120, "<b>&")
    assert [one.normal for one in found] == [1, 0, 0, 1, 0, 1]


def test_missing_states_count_as_unchanged(tmp_path):
    table = builders.rows(builders.waves())
    lines = [",".join(map(str, row)) for row in np.column_stack([table, states(n_status=2)]).tolist()]
    lines[0] = lines[0][:-4]  # of both channels
    lines[40] = lines[40][:-1] + "?"
    lines[41] = lines[41][:-1] + "7"
    (tmp_path / "case.dat").write_text("\n".join(lines))
    (tmp_path / "case.cfg").write_bytes(builders.cfg(n_status=2))
    one, other = read(tmp_path / "case.cfg").status
    assert one.changes[:2] == ((1, 0), (3, 1))
    assert other.changes == ((1, 1),)
    (tmp_path / "case.dat").write_bytes(builders.ascii_dat(table))
    assert [one.changes for one in read(tmp_path / "case.cfg").status] == [(), ()]


def test_channels_that_change_constantly_are_thinned_with_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr("pqswarm.recordings.recording._MAX_CHANGES", 10)
    monkeypatch.setattr("pqswarm.recordings.comtrade._STATES", 40)
    bits = np.zeros((N, 2), int)
    bits[::2, 0] = 1
    bits[60:, 0] = 0
    bits[50:, 1] = 1
    recording = read(write(tmp_path, bits=bits))
    often, once = recording.status
    assert once.changes == ((0, 0), (50, 1))
    assert often.places.size <= 10
    assert often.changes[0] == (0, 1)
    assert often.changes[-1] == (59, 0)
    assert often.expand(8, 60).any(), "that it changes is seen all along"
    assert "very often" in often.note
    assert [note for note in recording.notes if note.startswith("S1: ")]


def test_their_number_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("pqswarm.recordings.comtrade.MAX_STATUS", 17)
    recording = read(write(tmp_path))
    assert len(recording.status) == 17
    assert "Of 19 status channels, the first 17 are read." in recording.notes
    np.testing.assert_array_equal(recording.status[16].expand(0, N), states()[:, 16])


def test_others_have_none():
    recording = Recording((Channel("U", "V", "A", np.arange(9.0)),), 1000.0, 50.0)
    assert recording.status == ()
    breaker = StatusChannel("52a", 0, np.array([0, 4]), np.array([0, 1]))
    assert replace(recording, status=(breaker,)).read(5, 9).status[0].changes == ((0, 1),)


def test_the_search_can_be_interrupted(tmp_path):
    breaker = (StatusChannel("52a", 1, np.array([0, 5]), np.array([1, 0])),)
    recording = Recording((Channel("U", "V", "A", np.ones(10)),), 1000.0, 50.0, status=breaker)
    (source,) = open_recordings(write_comtrade(recording, tmp_path / "a.cfg"))

    def check():
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"), interruptible_status_reading(check):
        source.status  # noqa: B018
    assert [one.name for one in source.status] == ["52a"]
