"""Long recordings: page by page, whatever the block."""

from functools import cache

import numpy as np
import pytest
from tests.recordings.builders import Watched

from pqswarm.errors import PqswarmError
from pqswarm.measure import characterize
from pqswarm.measure.detect.pages import turn_pages
from pqswarm.recordings import Channel, Recording

RATE = 3200.0


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    for module in ("detect.pages", "supply.survey", "detect.rms_events"):
        monkeypatch.setattr(f"pqswarm.measure.{module}.PAGE", 16_384)


@cache
def long_recording(seconds=24.0):
    t = np.arange(round(seconds * RATE)) / RATE
    rng = np.random.default_rng(3)
    waves = [325 * np.sin(2 * np.pi * 50.02 * t - 2 * np.pi * k / 3) for k in range(3)]
    waves[0][(t > 5.0) & (t <= 5.3)] *= 0.5  # across the border of two pages
    waves[1][(t > 9.0) & (t <= 9.06)] *= 1.3
    for wave in waves:
        wave[(t > 13.0) & (t <= 19.0)] = 0.0  # longer than a page
        wave += rng.standard_normal(t.size)
        later = t[t > 21] - 21
        wave[t > 21] += 130 * np.exp(-later / 0.003) * np.sin(2 * np.pi * 600 * later)
    return Recording(tuple(Channel(f"U{p}", "V", p, wave) for p, wave in zip("ABC", waves, strict=True)), RATE, 50.0)


def test_everything_is_found_once():
    found = characterize(long_recording())
    assert [(event.type, event.phases) for event in found.events] == [
        ("sag", ("A",)),
        ("swell", ("B",)),
        ("interruption", ("A", "B", "C")),
        ("transient", ("A", "B", "C")),
    ]
    assert [event.start for event in found.events] == pytest.approx([5.0, 9.0, 13.0, 21.0], abs=0.004)
    assert [event.end for event in found.events[:3]] == pytest.approx([5.3, 9.06, 19.0], abs=0.006)


@pytest.mark.parametrize("block", [1000, 50_001])
def test_results_do_not_depend_on_the_block(block):
    one, other = characterize(long_recording()), characterize(long_recording(), block=block)
    np.testing.assert_array_equal(one.series.urms, other.series.urms)
    assert str([event.as_dict() for event in one.events]) == str([event.as_dict() for event in other.events])
    np.testing.assert_array_equal(one.series.steady.thd, other.series.steady.thd)


def test_pages_equal_the_whole(monkeypatch):
    recording = long_recording()
    paged = characterize(recording)
    for module in ("detect.pages", "supply.survey", "detect.rms_events"):
        monkeypatch.setattr(f"pqswarm.measure.{module}.PAGE", 10**6)
    whole = characterize(recording)
    assert [event.type for event in paged.events] == [event.type for event in whole.events]
    assert [e.start for e in paged.events] == pytest.approx([e.start for e in whole.events], abs=2e-3)
    assert paged.frequency == pytest.approx(whole.frequency, abs=0.01)


def test_no_more_than_a_page_is_read_at_a_time():
    watched = Watched(long_recording())
    characterize(watched)
    assert max(stop - first for first, stop in watched.reads) <= 2 * 16_384


def test_the_border_of_a_page_is_no_border_of_an_event():
    recording = long_recording()
    pages, others = (list(turn_pages(recording, [0, 2], 100, *block)) for block in ((999,), ()))
    for page, following in zip(pages[:-1], others[1:], strict=True):
        assert page.stop == following.first
        assert page.core.shape == (2, page.stop - page.first)
        np.testing.assert_array_equal(page.core[1], recording.channels[2].samples[page.first : page.stop])


def test_block_and_progress():
    with pytest.raises(PqswarmError, match="block must be at least 1"):
        characterize(long_recording(), block=0)
    seen = []
    characterize(long_recording(), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (76_800, 76_800)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
