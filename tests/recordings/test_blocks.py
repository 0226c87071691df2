"""Stretches of recordings that stay in their files are those of the whole, whatever the format and the stretches."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from tests.recordings import builders
from tests.reference import pqdif

from pqswarm.recordings import RecordingError, open_recordings, read, read_all
from pqswarm.recordings.stamps import find_rate_of_stamps


def contents():
    """Files of every format, by name; of COMTRADE the first of two."""
    for i, (config, data) in enumerate(builders.comtrade_seeds()):
        yield f"c{i}.cfg", {f"c{i}.cfg": config, f"c{i}.dat": data}
    config, data = builders.comtrade_seeds()[1]
    yield "one.cff", {"one.cff": builders.cff(config, data, "BINARY")}
    for i, text in enumerate(builders.csv_seeds()):
        yield f"t{i}.csv", {f"t{i}.csv": text.encode()}
    yield "wide.csv", {"wide.csv": builders.csv_seeds()[0].encode("utf-16")}
    yield "marked.csv", {"marked.csv": builders.csv_seeds()[0].encode("utf-8-sig")}
    yield "a.npz", {"a.npz": builders.zipped(builders.npz_seeds()[0])}
    yield "rte.npz", {"rte.npz": builders.zipped(builders.npz_seeds()[2])}
    yield "a.pqd", {"a.pqd": pqdif.example()[0]}


FILES = dict(contents())


@pytest.fixture
def save(tmp_path):
    def save(name, files=None):
        for each, content in (files or FILES[name]).items():
            (tmp_path / each).write_bytes(content)
        return tmp_path / name

    return save


@pytest.fixture
def compile_all(monkeypatch):
    """A function that leaves nothing to Python, however short a table is, and reads it in small pieces."""

    def compile_all():
        monkeypatch.setattr("pqswarm.recordings.text._COMPILED_FROM", 0)
        monkeypatch.setattr("pqswarm.recordings.text._CHUNK", 10_000)

    return compile_all


def same(source, whole, edges):
    """Assert that stretches between the edges are the whole."""
    parts = [source.read(a, b) for a, b in pairwise(edges)]
    for i, channel in enumerate(whole.channels):
        np.testing.assert_array_equal(np.concatenate([part.channels[i].samples for part in parts]), channel.samples)


@pytest.mark.parametrize("name", FILES)
def test_parts_add_up_to_the_whole(save, name):
    path = save(name)
    wholes = read_all(path)
    for source, whole in zip(open_recordings(path), wholes, strict=True):
        assert source.n_samples == whole.n_samples
        for field in ("sampling_rate", "nominal_frequency", "start", "source", "path", "station", "format"):
            assert getattr(source, field) == getattr(whole, field)
        assert whole.path == str(path)
        assert [vars(header) for header in source.channels] == [
            {key: value for key, value in vars(channel).items() if key != "samples"} for channel in whole.channels
        ]
        assert set(source.notes) <= set(whole.notes)
        same(source, whole, [0, *sorted(random.Random(name).sample(range(source.n_samples), 9)), source.n_samples])
        same(source, whole, [0, 1, 1, source.n_samples])
        part = source.read(-7, -2)
        np.testing.assert_array_equal(part.channels[0].samples, whole.channels[0].samples[-7:-2])
        if whole.start is not None:
            lag = (part.start - whole.start).total_seconds() * whole.sampling_rate
            assert lag == pytest.approx(whole.n_samples - 7, abs=0.01)


def long_table(n, decimal=".", delimiter=","):
    """A table with what compiled code leaves to Python here and there."""
    rng = np.random.default_rng(5)
    odd = ["", " nan", '"12.5"', "x", "1e400", "1.00000000000000000001", "\u00e9", "7 ", "+.5", "-0", "1e22", "1_0"]
    values = rng.normal(0, 300, (n, 2))
    lines = [f"t [s]{delimiter}Ua [V]{delimiter}Ub [V]"]
    for i, (a, b) in enumerate(values.tolist()):
        text = f"{a!r}" if i % 7 == 0 else f"{a:.3f}"
        if i % 97 == 5:
            text = odd[i // 97 % len(odd)]
        line = f"{i / 4800:.7f}{delimiter}{text}{delimiter}{b:.17g}"
        lines.append(line if decimal == "." else line.replace(".", decimal))
        if i % 501 == 0:
            lines.append("  ")
    return "\r\n".join(lines).encode("utf-8")


@pytest.mark.parametrize(("delimiter", "decimal"), [(",", "."), (";", ","), ("\t", ".")])
def test_compiled_rows_are_those_of_python(save, compile_all, delimiter, decimal):
    path = save("long.csv", {"long.csv": long_table(4500, decimal, delimiter)})
    plain = read(path)
    compile_all()
    (source,) = open_recordings(path)
    compiled = source.read()
    assert (compiled.sampling_rate, compiled.n_samples, compiled.notes) == (4800, 4500, plain.notes)
    for one, other in zip(plain.channels, compiled.channels, strict=True):
        np.testing.assert_array_equal(one.samples, other.samples)
    same(source, plain, [0, 1, 4095, 4096, 4097, 4200, 4500])
    exact = [float(f"{v:.17g}") for v in np.random.default_rng(5).normal(0, 300, (4500, 2))[:, 1].tolist()]
    np.testing.assert_array_equal(compiled.channel("Ub").samples, exact)


@pytest.mark.parametrize("dated", [True, False])
def test_compiled_dates_are_those_of_python(save, compile_all, dated):
    begin = datetime(2024, 2, 28, 23, 58, 1)
    lines = ["n;time;Ua [V]"]
    for i in range(3000):
        moment = (begin + timedelta(microseconds=50_000 * i)).isoformat(" ")
        text = moment if dated else moment.split()[1]
        odd = [text + " ", f'"{text}"', text.replace(".", ","), "", text + "0001", "x", f" {text}"]
        lines.append(f"{i % 3};{odd[i - 7] if 7 <= i < 14 else text};{i % 100}")
    path = save("dates.csv", {"dates.csv": "\n".join(lines).encode()})
    plain = read(path, columns=["Ua"])
    compile_all()
    compiled = read(path, columns=["Ua"])
    for recording in (plain, compiled):
        assert recording.sampling_rate == pytest.approx(20)
        assert recording.n_samples == 3000  # midnight is no gap
        assert recording.start == (begin if dated else None)
    assert compiled.notes == plain.notes
    assert "2 rows without a time: interpolated." in plain.notes


def test_compiled_comtrade_rows(save, monkeypatch):
    table = builders.rows(builders.waves(5000))
    lines = builders.ascii_dat(table).split(b"\r\n")
    lines[100], lines[200], lines[300] = b"7,8", lines[200].replace(b",", b" , "), b"301,,1,,3"
    path = save("x.cfg", {"x.cfg": builders.cfg(rates=("4800,4999",)), "x.dat": b"\n".join(lines)})
    plain = read(path)
    monkeypatch.setattr("pqswarm.recordings.text._COMPILED_FROM", 0)
    compiled = read(path)
    assert compiled.notes == plain.notes
    assert "1 line of the data too short: ignored." in plain.notes
    assert np.isnan(plain.channels[1].samples[299])
    for one, other in zip(plain.channels, compiled.channels, strict=True):
        np.testing.assert_array_equal(one.samples, other.samples)


def test_threads_read_the_same(save):
    path = save("c1.cfg")
    (source,), whole = open_recordings(path), read(path)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda at: source.read(at, at + 5).channels[2].samples, range(0, 96, 5)))
    np.testing.assert_array_equal(np.concatenate(parts), whole.channels[2].samples)


@pytest.mark.parametrize(("name", "data"), [("c0.cfg", "c0.dat"), ("c1.cfg", "c1.dat"), ("t0.csv", "t0.csv")])
def test_files_that_change_or_vanish(save, tmp_path, name, data):
    path = save(name)
    for damage in ("shrink", "grow", "rewrite", "vanish"):
        save(name)
        (source,) = open_recordings(path)
        source.read(0, 10)
        content = (tmp_path / data).read_bytes()
        if damage == "vanish":
            (tmp_path / data).unlink()
        else:
            changed = {"shrink": content[:-50], "grow": content * 2, "rewrite": content.replace(b"1", b"2")}[damage]
            (tmp_path / data).write_bytes(changed)
        with pytest.raises(RecordingError, match=name.replace(".", r"\.")):
            source.read(0, 10)


def test_samples_in_the_file_are_not_limited(save):
    path = save("c1.cfg")
    (source,) = open_recordings(path, max_bytes=1000)
    assert source.read(50).n_samples == 46
    with pytest.raises(RecordingError, match=r"over the limit .* max_bytes"):
        read(path, max_bytes=1000)


def test_missing_samples_are_counted_where_they_are(save):
    lines = builders.csv_seeds()[0].split("\r\n")
    lines[50] = lines[50].split(",")[0] + ",,inf,x"
    (source,) = open_recordings(save("gaps.csv", {"gaps.csv": "\n".join(lines).encode()}))
    assert not [note for note in source.read(0, 49).notes if "samples" in note and "estimated" not in note]
    assert source.read(49, 50).notes[-2:] == (
        "Samples missing, or not numbers: 2.",
        "1 sample infinite or beyond 1e+15: treated as missing.",
    )


def test_a_channel_with_a_late_first_number_is_kept(save):
    n = 70_000
    table = np.zeros(n, [("n", "<u4"), ("t", "<u4"), ("values", "<i2", (3,))])
    table["n"] = np.arange(n) + 1
    table["values"][:, 1:] = -32768
    table["values"][-2, 1] = 5
    config = builders.cfg(kind="BINARY", rates=(f"4800,{n}",))
    (source,) = open_recordings(save("late.cfg", {"late.cfg": config, "late.dat": table.tobytes()}))
    assert [channel.name for channel in source.channels] == ["Ua", "Ub"]
    assert "No samples that are numbers: Uc; ignored." in source.notes
    assert source.read().notes[-1] == "Samples marked as missing: 69999."


@pytest.mark.parametrize("damage", ["none", "gap", "coarse", "back", "rounded", "nan"])
def test_rate_of_pieces_is_that_of_the_whole(damage):
    times = np.arange(200_000) / 6400
    if damage == "gap":
        times[150_000:] += 3.0
        times[:10] -= 1.0
    elif damage == "coarse":
        times = np.floor(times * 100) / 100
    elif damage == "back":
        times[70_000:] -= 20.0
    elif damage == "rounded":
        times = np.round(times, 5)
    elif damage == "nan":
        times[99_999] = np.nan
    notes, piece_notes = [], []
    rate, kept, _ = find_rate_of_stamps([times], notes)
    pieces = np.split(times, [1, 2, 500, 65_536, 65_537, 150_001])
    again, kept_again, seconds = find_rate_of_stamps(pieces, piece_notes)
    assert (rate, kept, notes) == (again, kept_again, piece_notes)
    assert rate == (0 if damage == "nan" else pytest.approx(6400, rel=1e-3 if damage == "coarse" else 1e-12))
    assert seconds == pytest.approx(times[kept.start] - times[0])
    lengths = {"gap": (10, 150_000), "back": (70_000, 200_000)}
    assert (kept.start, kept.stop) == lengths.get(damage, (0, 200_000))
