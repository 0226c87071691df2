"""Generated recordings: the same each time, in any stretches, and with the truth beside them."""

import csv
import hashlib

import numpy as np
import pytest
from tests.memory import memory_below

from pqswarm.errors import PqswarmError
from pqswarm.identify import find_recordings, identify_file, load_site
from pqswarm.measure.event import EVENT_TYPES
from pqswarm.recordings import read, write_comtrade, write_samples
from pqswarm.recordings.samples import Disturbance, SampleRecording, _long_sample_recording, _short_sample_recordings


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "samples"
    return folder, write_samples(folder, seed=5)


def truth_of(folder):
    return list(csv.DictReader((folder / "truth.csv").read_text().splitlines()))


def rms(wave, rate, start, seconds):
    """Of whole cycles in the middle of a stretch."""
    cycles = max(int(seconds * 50) - 2, 1)
    first = round((start + seconds / 2 - cycles / 100) * rate)
    return np.sqrt(np.mean(wave[first : first + round(cycles / 50 * rate)] ** 2))


@pytest.mark.slow
def test_the_truth_is_in_the_files(samples):
    """Sags, swells, interruptions and changes have the RMS that the truth says, on its phases and on no other."""
    folder, _ = samples
    n_checked = 0
    for row in truth_of(folder):
        assert row["type"] in (*EVENT_TYPES, "none")
        if row["type"] not in ("sag", "swell", "interruption", "rapid voltage change") or row["file"] == "outlet.csv":
            continue
        recording = read(folder / row["file"])
        others = {
            one["phases"] for one in truth_of(folder) if one["file"] == row["file"] and one["start"] == row["start"]
        }
        for channel in recording.voltages:
            level = rms(channel.samples, recording.sampling_rate, float(row["start"]), float(row["duration"]))
            level /= 20e3 / np.sqrt(3)
            if channel.phase in row["phases"]:
                told = float(row["magnitude"])
                assert level == pytest.approx(1 + told / 100 if row["unit"] == "%" else told, abs=0.01), row
                n_checked += 1
            elif not any(channel.phase in phases for phases in others):
                assert level == pytest.approx(1, abs=0.01), row
    assert n_checked >= 15


def test_the_long_one_has_every_kind(samples):
    folder, _ = samples
    long = [row for row in truth_of(folder) if row["file"] == "long.cfg"]
    steady = {"harmonics", "notching", "flicker", "unbalance"}
    brief = {"interruption", "sag", "swell", "transient", "rapid voltage change"}
    assert {row["type"] for row in long} == steady | brief
    assert all(10 <= float(row["duration"]) <= 20 for row in long if row["type"] in steady)
    fifth = next(row for row in long if row["type"] == "harmonics")
    recording = read(folder / "long.cfg")
    assert recording.station == "Sample North"
    first = round((float(fifth["start"]) + 2) * 12_800)
    spectrum = np.abs(np.fft.rfft(recording.channel("UA").samples[first : first + 12_800] * np.hanning(12_800)))
    assert spectrum[250] / spectrum[50] == pytest.approx(0.1, abs=0.01)


def test_the_same_seed_gives_the_same_files(samples, tmp_path):
    folder, written = samples
    small = [one for one in _short_sample_recordings(5) if one.source in ("fault.cfg", "capacitor.cfg")]
    for made in small:
        path = write_comtrade(made, tmp_path / made.source, "ASCII" if made.source == "fault.cfg" else "BINARY")
        for one in (path, path.with_suffix(".dat")):
            assert digest(one) == digest(folder / one.name)
    five, six = ([one.magnitude for one in _short_sample_recordings(seed)[0].disturbances] for seed in (5, 6))
    assert five != six
    assert len(written) == 10


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_stretches_are_parts_of_the_whole():
    made = SampleRecording([Disturbance("flicker", "B", 3.0, 4.0, 0.04, 8.8)], 12.0, 12_800.0)
    whole = made.read()
    for first, stop in ((0, 10), (65_530, 65_550), (100_000, 153_600), (5, 5)):
        part = made.read(first, stop)
        for one, all_ in zip(part.channels, whole.channels, strict=True):
            assert np.array_equal(one.samples, all_.samples[first:stop])


def test_a_long_one_takes_little_memory():
    """Ten minutes have 184 MB of samples."""
    made = _long_sample_recording(0, 10)
    assert made.n_samples * 3 * 8 > 180e6
    with memory_below(60e6):
        made.read(5_000_000, 5_000_000 + 262_144)


def test_a_folder_with_something_in_it_is_refused(tmp_path):
    (tmp_path / "precious").write_text("x")
    with pytest.raises(PqswarmError, match="not empty"):
        write_samples(tmp_path)
    with pytest.raises(PqswarmError, match="minutes must be 2 to 1440, not 1"):
        write_samples(tmp_path / "new", minutes=1)
    assert not (tmp_path / "new").exists()


def test_they_can_be_identified(samples):
    folder, _ = samples
    found, failures = find_recordings([folder])
    assert [path.name for path in found] == [
        *("capacitor.cfg", "fault.cfg", "harmonics.cfg", "interruption.cfg", "long.cfg", "outlet.csv", "quiet.cfg"),
        "sag.cfg",
    ]
    assert not failures
    site = load_site(folder / "site.toml")
    outlet = site.apply(read(folder / "outlet.csv"))
    assert site.nominal_voltage(outlet.channels[0]) == 230
    assert outlet.start.hour == 16


def test_the_sample_of_a_capacitor_bank_is_named(samples):
    (analysis,) = identify_file(samples[0] / "capacitor.cfg", model=None)
    assert [incident.cause for incident in analysis.incidents] == ["capacitor switching"]
    assert any("higher" in text for text in analysis.incidents[0].evidence)
