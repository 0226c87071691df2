"""A reader of another package, found by its entry point: in ``read_all``, ``characterise`` and ``pqswarm identify``."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
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
PROGRAM = """if True:
    import sys
    from pqswarm.measure import characterise
    from pqswarm.recordings import read_all
    for path in sys.argv[1:]:
        (recording,) = read_all(path)
        print(recording.format, recording.source, recording.sampling_rate, recording.channels[0].unit)
        print(*characterise(recording).sentences())
"""


@pytest.fixture
def plugin(tmp_path):
    """A package with a reader, and its environment."""

    def install(target="plugin:mine"):
        (tmp_path / "plugin.py").write_text(PLUGIN)
        info = tmp_path / "plugin-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[pqswarm.readers]\nmine = {target}\n")
        source = str(Path(__file__).parents[2] / "src")
        return os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), source])}

    return install


@pytest.fixture
def folder(tmp_path):
    t = np.arange(6000) / 10_000
    wave = 20_000 * np.sin(2 * np.pi * 50 * t) * np.where((t > 0.2) & (t <= 0.35), 0.62, 1.0)
    (tmp_path / "files").mkdir()
    content = b"MINE 10000\n" + wave.astype("<i2").tobytes()
    for name in ("a.mine", "b.bin"):
        (tmp_path / "files" / name).write_bytes(content)
    return tmp_path / "files"


def run(environment, *arguments, code=0):
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, env=environment)
    assert done.returncode == code, done.stderr
    return done


def test_a_reader_by_entry_point(plugin, folder):
    assert len(PLUGIN.strip().splitlines()) <= 30
    environment = plugin()
    said = run(environment, "-c", PROGRAM, folder / "a.mine", folder / "b.bin").stdout.splitlines()
    sag = "instantaneous sag on phase A, 0.62 pu residual, 7.5 cycles"
    assert said == ["mine a.mine 10000.0 V", sag, "mine b.bin 10000.0 V", sag]  # by content, whatever the suffix
    (folder / "c.mine").write_bytes(b"")
    done = run(environment, "-m", "pqswarm", "identify", folder, code=1)
    assert "instantaneous sag" in done.stdout
    assert "b.bin" not in done.stdout  # a folder is searched by suffix
    assert f"pqswarm: {folder / 'c.mine'}: is empty." in done.stderr.replace(
        f"{folder / 'c.mine'} is", f"{folder / 'c.mine'}: is"
    )


def test_a_reader_that_cannot_be_loaded_does_not_stop_the_others(plugin, folder):
    (folder / "fine.csv").write_text("t [s],Ua [V]\n0,0\n0.001,1\n0.002,0\n")
    program = "import sys; from pqswarm.recordings import read; print(read(sys.argv[1]).n_samples)"
    done = run(plugin("plugin:nothing"), "-c", program, folder / "fine.csv")
    assert done.stdout.strip() == "3"
    assert "format of recordings 'mine', plugin:nothing, cannot be loaded" in done.stderr


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
