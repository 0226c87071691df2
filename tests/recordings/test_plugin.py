"""A reader of another package, found by its entry point: in ``read_all``, ``characterize`` and ``pqswarm identify``."""

import numpy as np
import pytest
from typer.testing import CliRunner

from pqswarm.cli.main import app
from pqswarm.errors import PqswarmError
from pqswarm.measure import characterize
from pqswarm.recordings import READERS, RawChannel, RawRecording, Reader, read, read_all

PLUGIN = """
import numpy as np
from pqswarm.recordings import RawChannel, RawRecording, Reader, RecordingError

def read_mine(path, options):
    head, _, body = path.read_bytes().partition(b"\\n")
    if not body:
        raise RecordingError("is empty.")
    options.check_samples(len(body) // 2)
    samples = np.frombuffer(body, "<i2")
    return [RawRecording([RawChannel("Ua", "kV", "", samples / 1000)], float(head.split()[1]))]

mine = Reader("mine", (".mine",), read_mine, lambda path, head: head.startswith(b"MINE "))
"""


@pytest.fixture
def folder(tmp_path):
    t = np.arange(6000) / 10_000
    wave = 20_000 * np.sin(2 * np.pi * 50 * t) * np.where((t > 0.2) & (t <= 0.35), 0.62, 1.0)
    (tmp_path / "files").mkdir()
    content = b"MINE 10000\n" + wave.astype("<i2").tobytes()
    for name in ("a.mine", "b.bin"):
        (tmp_path / "files" / name).write_bytes(content)
    return tmp_path / "files"


def test_a_reader_by_entry_point(installed, folder):
    assert len(PLUGIN.strip().splitlines()) <= 30
    installed(PLUGIN, "[pqswarm.readers]\nmine = plugin:mine\n", READERS)
    for name in ("a.mine", "b.bin"):  # by content, whatever the suffix
        (recording,) = read_all(folder / name)
        assert (recording.format, recording.source, recording.sampling_rate) == ("mine", name, 10_000)
        assert recording.channels[0].unit == "V"
        told = characterize(recording).sentences()
        assert [*told] == ["instantaneous sag on phase A, 0.62 pu residual, 7.5 cycles"]
    (folder / "c.mine").write_bytes(b"")
    done = CliRunner().invoke(app, ["identify", str(folder)])
    assert done.exit_code == 1
    assert "instantaneous sag" in done.stdout
    assert "b.bin" not in done.stdout  # a folder is searched by suffix
    assert f"pqswarm: {folder / 'c.mine'}: is empty." in done.stderr.replace(
        f"{folder / 'c.mine'} is", f"{folder / 'c.mine'}: is"
    )


def test_a_reader_that_cannot_be_loaded_does_not_stop_the_others(installed, folder):
    installed(PLUGIN, "[pqswarm.readers]\nmine = plugin:nothing\n", READERS)
    (folder / "fine.csv").write_text("t [s],Ua [V]\n0,0\n0.001,1\n0.002,0\n")
    with pytest.warns(RuntimeWarning, match="format of recordings 'mine', plugin:nothing, cannot be loaded"):
        assert read(folder / "fine.csv").n_samples == 3


def test_a_reader_of_this_process(tmp_path, monkeypatch):
    monkeypatch.setattr(READERS, "_members", dict(READERS._members))

    def read_two(path, options):
        one = [RawChannel("U1", "V", "A", np.arange(50.0))]
        bad = [RawChannel("U1", "V", "A", np.full(50, np.nan))]
        return [RawRecording(bad, 800.0), RawRecording(one, 800.0), RawRecording(one, 1600.0, is_main=True)]

    READERS.register(Reader("two", (".two",), read_two))
    path = tmp_path / "some.two"
    path.write_bytes(b"x")
    assert [recording.sampling_rate for recording in read_all(path)] == [800, 1600]
    assert read(path).sampling_rate == 1600
    assert read(path, 1).sampling_rate == 800
    assert read(path, sampling_rate=50.0).sampling_rate == 50
    with pytest.raises(PqswarmError, match="cannot be registered"):
        READERS.register(Reader("csv", (".two",), read_two))
    with pytest.raises(PqswarmError, match="unknown option of a reader 'sampling_rat': did you mean 'sampling_rate'"):
        read(path, sampling_rat=50.0)
