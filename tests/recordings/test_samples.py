"""Third-party recordings, if available: rates, lengths and voltages as listed in shared/RECORDINGS.md."""

import os
from pathlib import Path

import comtrade
import numpy as np
import pytest

from pqswarm.recordings import read, read_all

FOLDER = Path(os.environ.get("PQSWARM_RECORDINGS", Path(__file__).parents[3] / "shared" / "recordings"))
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no third-party recordings in {FOLDER}")

# file: rate [Hz], frequency [Hz], seconds, voltages with a phase, all voltages
SAMPLES = {
    "keating/keating_1999.CFG": (30707.244140625, 60, 0.0667, "A B C N", 4),
    "go_comtrade/test1.cfg": (1000, 50, 11.001, "A B C N", 4),
    "substation_2023/xtz.cfg": (3200, 50, 0.46, "A B C N A B C N", 16),
    "substation_2023/ymz.cfg": (4000, 50, 0.28, "A B C N " * 10, 40),
    "wisp/1.cfg": (2403.43, 50, 2.2118, "A B C N", 4),
    "wisp/2.cfg": (1200, 50, 16.3992, "A B C N A B C N", 11),
    "wisp/3.cfg": (800, 50, 1.7, "A B C N", 4),
    "wisp/4.CFG": (600, 50, 3.9983, "AB BC N", 3),
    "wisp/5.cfg": (2000, 50, 0.101, "A B C N", 31),
    "pqdif/example.pqd": (15360, 60, 0.1, "AB BC CA", 3),
    "rte/DATA_S2.npz": (6400, 50, 3.28125, "A B C", 3),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_sample(name):
    rate, frequency, seconds, phases, n_voltages = SAMPLES[name]
    recording = read(FOLDER / name)
    assert recording.sampling_rate == pytest.approx(rate, rel=1e-5)
    assert recording.nominal_frequency == frequency
    assert recording.duration == pytest.approx(seconds, abs=1e-4)
    assert [channel.phase for channel in recording.voltages if channel.phase] == phases.split()
    assert len(recording.voltages) == n_voltages


def peaks(recording):
    """Of the first cycle and a half."""
    n = round(1.5 * recording.sampling_rate / recording.nominal_frequency)
    return [float(np.nanmax(np.abs(channel.samples[:n]))) for channel in recording.voltages[:3]]


@pytest.mark.parametrize(
    ("name", "volts"),
    [
        ("keating/keating_1999.CFG", 349 * 2**0.5),
        ("substation_2023/xtz.cfg", 220e3 / 3**0.5 * 2**0.5),
        ("substation_2023/ymz.cfg", 220e3 / 3**0.5 * 2**0.5),
        ("go_comtrade/test1.cfg", 275e3 / 3**0.5 * 2**0.5),
        ("wisp/2.cfg", 110e3 / 3**0.5 * 2**0.5),
        ("pqdif/example.pqd", 34.5e3 * 2**0.5),
        ("rte/DATA_S2.npz", 1.19 * 90e3 / 3**0.5 * 2**0.5),
    ],
)
def test_primary_volts(name, volts):
    assert peaks(read(FOLDER / name)) == pytest.approx([volts] * 3, rel=0.2)


@pytest.mark.parametrize(
    ("name", "encoding"), [("go_comtrade/test1", "utf-8"), ("substation_2023/xtz", "gbk"), ("wisp/3", "utf-8")]
)
def test_values_are_those_of_the_comtrade_package(name, encoding):
    other = comtrade.Comtrade(ignore_warnings=True, use_double_precision=True, use_numpy_arrays=True)
    other.load(str(FOLDER / f"{name}.cfg"), str(FOLDER / f"{name}.dat"), encoding=encoding)
    recording = read(FOLDER / f"{name}.cfg", 0)
    for channel, line, values in zip(recording.channels, other.cfg.analog_channels, other.analog, strict=True):
        ratio = line.primary / line.secondary if line.pors == "S" else 1.0
        factor = 1000.0 if line.uu == "kV" else 1.0
        np.testing.assert_allclose(
            channel.samples, factor * ratio * np.asarray(values)[: recording.n_samples], rtol=1e-12
        )


def test_files_with_several_recordings():
    assert len(read_all(FOLDER / "pqdif/example.pqd")) == 20
    assert {round(recording.cycles) for recording in read_all(FOLDER / "pqdif/example.pqd")} == {6, 11}
    assert len(read_all(FOLDER / "rte/DATA_S2.npz")) == 12
    xtz = read_all(FOLDER / "substation_2023/xtz.cfg")
    assert [recording.n_samples for recording in xtz] == [1280, 1472]
    assert (xtz[1].start - xtz[0].start).total_seconds() == pytest.approx(1.12)
