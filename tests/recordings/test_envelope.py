"""Pictures of recordings: nothing is lost by thinning, whatever the stretch, the blocks and the threads."""

from threading import Thread

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.recordings import Channel, Envelope, Recording, envelope, open_recordings, write_comtrade

N = 50_021


@pytest.fixture(scope="module")
def recording():
    rng = np.random.default_rng(5)
    waves = rng.normal(size=(3, N)) * [[1.0], [1e4], [1e-3]]
    waves[0, 12_345] = 77.0  # a spike of one sample
    waves[1, 20_000:21_000] = np.nan
    waves[2, -300:] = np.nan
    return Recording(tuple(Channel(f"U{i}", "V", "", wave) for i, wave in enumerate(waves)), 10_000.0, 50.0)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(envelope, "_BLOCK", 4096)


def expected(recording, view):
    """Minimum and maximum of each bin, the slow way."""
    parts = [slice(i, min(i + view.step, view.stop)) for i in range(view.first, view.stop, view.step)]
    rows = [[channel.samples[part] for part in parts] for channel in recording.channels]
    low = [[np.fmin.reduce(x) for x in row] for row in rows]
    high = [[np.fmax.reduce(x) for x in row] for row in rows]
    return np.array(low, np.float32), np.array(high, np.float32)


@pytest.mark.parametrize("part", [1, 50, 128])
@pytest.mark.parametrize(
    ("first", "stop", "n_parts"),
    [(0, N, 100), (0, N, 1), (0, N, 1999), (17, 33_333, 64), (49_000, N, 30), (40, 45, 1), (-5, N + 999, 700)],
)
def test_every_bin_has_its_minimum_and_maximum(recording, small_blocks, part, first, stop, n_parts):
    made = Envelope(recording, part)
    made.build()
    view = made.view(first, stop, n_parts)
    low, high = expected(recording, view)
    np.testing.assert_array_equal(view.low, low)
    np.testing.assert_array_equal(view.high, high)
    assert view.low.dtype == np.float32
    assert view.low.shape == (3, view.n)
    assert view.first <= max(first, 0)
    assert view.stop >= min(stop, N)
    assert view.n <= n_parts + 1
    assert (view.n - 1) * view.step < view.stop - view.first <= view.n * view.step
    assert view.fraction == 1


def test_short_views_are_the_samples(recording):
    view = Envelope(recording).view(12_300, 12_400, 50)
    assert view.exact
    assert (view.first, view.stop, view.n, view.step) == (12_299, 12_401, 102, 1)
    np.testing.assert_array_equal(view.low[0], recording.channels[0].samples[12_299:12_401].astype(np.float32))
    assert view.high is view.low
    assert Envelope(recording).view(N + 10, N + 20, 50).stop == N


def test_bins_do_not_move_with_the_view(recording):
    one, other = Envelope(recording).view(1000, 9000, 100), Envelope(recording).view(1007, 9007, 100)
    assert one.step == other.step
    assert (one.first - other.first) % one.step == 0


def test_building_can_be_interrupted_and_resumed(recording, small_blocks):
    made, calls = Envelope(recording, 16), []

    def check():
        calls.append(made.fraction)
        if len(calls) == 8:
            raise TimeoutError

    assert made.fraction == 0
    assert np.isnan(made.view(0, N, 100).low).all()
    with pytest.raises(TimeoutError):
        made.build(check)
    assert 0 < made.fraction < 1
    partly = made.view(0, N, 100)
    assert partly.fraction == pytest.approx(made.fraction)
    assert np.isfinite(partly.low[0]).mean() > 0.2
    assert np.isfinite(partly.low[0, 60:]).any(), "a first picture shows all of the recording"
    assert made.view(100, 900, 100).fraction == 1, "what is read from the recording needs no building"
    made.build()
    assert made.fraction == 1
    np.testing.assert_array_equal(made.view(0, N, 100).high, expected(recording, made.view(0, N, 100))[1])


def test_a_cancelled_view_stops(recording, small_blocks):
    def check():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        Envelope(recording).view(0, N, 400, check)


def test_several_threads_build_and_look(recording, small_blocks):
    made = Envelope(recording, 16)
    failures = []

    def look():
        while made.fraction < 1:
            view = made.view(0, N, 100)
            if (np.isnan(view.low) != np.isnan(view.high)).any():
                failures.append(view)

    threads = [Thread(target=made.build), Thread(target=made.build), Thread(target=look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert made.fraction == 1


def test_a_recording_in_its_file_looks_the_same(tmp_path, recording, small_blocks):
    (source,) = open_recordings(write_comtrade(recording, tmp_path / "one.cfg", "BINARY"))
    made = Envelope(source)
    made.build()
    view = made.view(0, N, 90)
    low, high = expected(source.read(), view)
    np.testing.assert_array_equal(view.low, low)
    np.testing.assert_array_equal(view.high, high)


def test_memory_is_bounded(recording, monkeypatch):
    monkeypatch.setattr(envelope, "_MAX_KEPT", 2000)
    made = Envelope(recording)
    assert made.part == 256
    made.build()
    assert made.view(0, N, 20).high[0].max() == 77


def test_fewer_samples_are_read_of_many_channels(recording, monkeypatch):
    monkeypatch.setattr(envelope, "_MAX_READ", 1000)
    made = Envelope(recording)
    assert made.view(0, N, 500).step == 128
    assert made.view(0, N, 5000).step == 11


def test_infinite_values_and_empty_recordings():
    samples = np.array([1.0, np.inf, 1e300, -2.0])
    made = Envelope(Recording((Channel("U", "V", "", samples),), 1000.0, 50.0))
    np.testing.assert_array_equal(made.view(0, 4, 10).low, [[1, np.nan, np.nan, -2]])
    empty = Envelope(Recording((Channel("U", "V", "", samples[:0]),), 1000.0, 50.0))
    empty.build()
    assert (empty.fraction, empty.view(0, 10, 5).n) == (1, 0)


def test_mistakes_are_named(recording):
    for part in (0, True, 1.5, "9"):
        with pytest.raises(PqswarmError, match="part must be an integer"):
            Envelope(recording, part)
    for n_parts in (0, -1, 50_001):
        with pytest.raises(PqswarmError, match="n_parts must be an integer from 1 to 50000"):
            Envelope(recording).view(0, 10, n_parts)
