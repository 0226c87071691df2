"""Site files: rules for channels, and mistakes."""

from math import sqrt

import numpy as np
import pytest
from tests.recordings.builders import Watched

from pqswarm.errors import PqswarmError
from pqswarm.recordings import Channel, ChannelHeader, Recording, Site, read

TEXT = """
station = "Nord 1"
nominal_voltage = { line_to_line = "20 kV" }
nominal_frequency = 60
reference = "nominal"
thresholds = { sag = 0.85 }

[channels.U1]
name = "UL1"
phase = "A"
ratio = 200
system = "bar 1"

[channels."U?"]
ratio = -100

[channels.U12]
phase = "AB"

[channels."spare*"]
ignore = true

[channels.Usec]
phase = "B"
nominal = "110 V"
"""


def recording(*names, unit="V", n=6):
    channels = tuple(Channel(name, unit, "", np.arange(n) + 10.0 * k) for k, name in enumerate(names))
    return Recording(channels, 1000.0, 50.0, source="x.cfg", notes=("a note",), station="file's")


def test_channels_are_renamed_scaled_and_ignored():
    made = recording("U1", "U2", "spare 7", "other")
    seen = Site.read(TEXT).apply(made).read()
    assert [one.name for one in seen.channels] == ["UL1", "U2", "other"]
    assert [one.phase for one in seen.channels] == ["A", "", ""]
    assert [one.system for one in seen.channels] == ["bar 1", "", ""]
    for one, source, ratio in zip(seen.channels, (0, 1, 3), (200, -100, 1), strict=True):
        assert np.array_equal(one.samples, ratio * made.channels[source].samples)
    assert (seen.station, seen.nominal_frequency, seen.sampling_rate) == ("Nord 1", 60, 1000)
    assert seen.notes[0] == "a note"
    assert "U1 x 200" in seen.notes[1]
    assert "spare 7" in seen.notes[2]


def test_samples_are_read_on_demand():
    inner = Watched(recording("U1", "spare"))
    inner.channels = tuple(ChannelHeader(one.name, one.unit, one.phase) for one in inner.channels)  # without samples
    seen = Site.read(TEXT).apply(inner)
    assert inner.reads == []
    assert [one.name for one in seen.channels] == ["UL1"]
    part = seen.read(2, 4)
    assert inner.reads == [(2, 4)]
    assert part.channels[0].samples.tolist() == [400.0, 600.0]
    assert (part.station, part.nominal_frequency, seen.n_samples, seen.source) == ("Nord 1", 60, 6, "x.cfg")


@pytest.mark.parametrize(
    ("name", "phase", "volts"),
    [("UL1", "A", 20e3 / sqrt(3)), ("U12", "AB", 20e3), ("x", "", None), ("x", "N", None), ("Usec", "B", 110.0)],
)
def test_nominal_voltage_is_that_of_the_phase(name, phase, volts):
    assert Site.read(TEXT).nominal_voltage(ChannelHeader(name, "V", phase)) == (volts and pytest.approx(volts))


def test_nominal_voltage_to_neutral_and_by_pattern():
    site = Site.read('nominal_voltage = { phase_to_neutral = 230 }\n[channels."H*"]\nnominal = "1 kV"')
    assert site.nominal_voltage(ChannelHeader("U", "V", "CA")) == pytest.approx(230 * sqrt(3))
    assert site.nominal_voltage(ChannelHeader("U", "V", "C")) == pytest.approx(230)
    assert site.nominal_voltage(ChannelHeader("H1", "V", "C")) == 1000
    assert site.nominal_voltage(ChannelHeader("I", "A", "C")) is None


def test_units_are_those_of_the_numbers_in_the_file(tmp_path):
    """They replace what the file says, and are applied once."""
    path = tmp_path / "x.csv"
    path.write_text("t [ms],P1 [kV],P2 [raw],P3\n0,1,2,3\n1,4,5,6\n2,7,8,9\n")
    site = Site.read('unit = "mV"\n[channels."P[12]"]\nunit = "kV"')
    seen = site.apply(read(path, units=site.units)).read()
    assert [one.unit for one in seen.channels] == ["V", "V", "V"]
    assert [one.samples[0] for one in seen.channels] == [1000.0, 2000.0, pytest.approx(0.003)]
    again = Site.read('[channels.P2]\nunit = "kV"').apply(recording("P2", unit="raw")).read()
    assert (again.channels[0].unit, again.channels[0].samples[1]) == ("V", 1000.0)


def test_template_changes_nothing():
    made = recording('U "1" [kV]', "U2", "IN*")
    text = Site.template(made)
    assert 'line_to_line = "20 kV"' in text
    seen = Site.read(text).apply(made).read()
    assert [(a.name, a.unit, a.phase) for a in seen.channels] == [(b.name, b.unit, b.phase) for b in made.channels]
    assert seen.station == made.station
    assert seen.notes == made.notes
    for line in ("nominal_voltage = { line", "reference"):
        text = text.replace(f"# {line}", line)
    assert Site.read(text).line_to_line == 20e3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("station = 3", "station: must be text, not 3"),
        ("stattion = 'x'", "did you mean 'station'"),
        ("nominal_voltage = 230", "line_to_line = 230"),
        ("nominal_voltage = { line_to_lin = 1 }", "did you mean 'line_to_line'"),
        ("nominal_voltage = { line_to_line = 1, phase_to_neutral = 2 }", "one of"),
        ("nominal_voltage = { line_to_line = '20 kA' }", "'20 kA'"),
        ("nominal_voltage = { line_to_line = -1 }", "above 0"),
        ("nominal_frequency = 0", "nominal_frequency: must be at least 5, not 0"),
        ("reference = 'nominl'", "did you mean 'nominal'"),
        ("unit = 'furlong'", "'furlong'"),
        ("thresholds = { sag = 'low' }", "thresholds.sag"),
        ("thresholds = 3", "thresholds: must be a table"),
        ("channels = { U = 1 }", "channels.U: must be a table"),
        ("channels.U.ratio = 0", "channels.U.ratio: must not be 0"),
        ("channels.U.ratio = 'x'", "channels.U.ratio: must be a number, not 'x'"),
        ("channels.U.phase = 'D'", "channels.U.phase: must be 'A', 'B', 'C', 'N', 'AB', 'BC', 'CA' or '', not 'D'"),
        ("channels.U.ratios = 3", "did you mean 'ratio'"),
        ("channels.U.ignore = 1", "true or false"),
        ("channels.U.name = ' '", "channels.U.name: must hold at least 1"),
        ("channels.U = { ratio = 0, phase = 'D' }", "channels.U.ratio: must not be 0"),
        ("channels.U.nominal = nan", "channels.U.nominal"),
        ("station = ", "not valid TOML"),
    ],
)
def test_what_is_refused(text, said, tmp_path):
    path = tmp_path / "my-site.toml"
    path.write_text(text)
    with pytest.raises(PqswarmError, match="my-site") as caught:
        Site.load(path)
    assert said in str(caught.value)


def test_a_missing_file_and_channels_that_clash(tmp_path):
    with pytest.raises(PqswarmError, match="pqswarm site-file RECORDING"):
        Site.load(tmp_path / "none.toml")
    with pytest.raises(PqswarmError, match="all 1 channels"):
        Site.read('[channels."*"]\nignore = true').apply(recording("U"))
    with pytest.raises(PqswarmError, match="two channels get the name 'X'"):
        Site.read('[channels."U*"]\nname = "X"').apply(recording("U1", "U2"))
