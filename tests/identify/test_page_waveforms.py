"""Waveforms on the page of events: true to the samples, bounded in number and size, from the file or not at all."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from tests.identify.invented import analysis, event, recording
from tests.identify.test_event_page import SAG, Page, drawn, later, listed

from pqswarm.identify.show.page import ListedRecording, page_html
from pqswarm.identify.show.page.listing import MAX_BYTES, choose_events
from pqswarm.recordings import Channel, ChannelHeader, Envelope, Recording, StatusChannel, write_comtrade


def unpack(line, side="low"):
    """Values as the browser reads them."""
    steps = np.frombuffer(base64.b64decode(line[side]), "<i2").astype(float)
    return np.where(steps == -32_768, np.nan, line["least"] + (steps + 32_767) * line["scale"])


def test_views_are_true_to_the_samples():
    of = recording(seconds=20.0)
    of.channels[1].samples[2600] = np.nan
    (told,) = (json.loads(text) for text in Page(drawn([analysis(SAG, of=of)], of=of)).data)
    whole, middle, fine = told["views"]
    assert (whole["from"], whole["to"], whole["exact"]) == (0.0, 20.0, False)
    assert [view["exact"] for view in (middle, fine)] == [False, True]
    first = round(fine["from"] * of.sampling_rate)
    for line, channel in zip(fine["channels"], of.channels, strict=True):
        values = unpack(line)
        np.testing.assert_allclose(values, channel.samples[first : first + values.size], atol=1e-4 * 16_330)
    low, high = (unpack(whole["channels"][0], side) for side in ("low", "high"))
    step = round(whole["step"] * of.sampling_rate)
    parts = of.channels[0].samples[: low.size // 2 * step].reshape(-1, step)
    np.testing.assert_allclose(low[: len(parts)], parts.min(axis=1), atol=2)
    np.testing.assert_allclose(high[: len(parts)], parts.max(axis=1), atol=2)
    assert told["first"]["1"] == pytest.approx([0.34, 0.54])
    assert [line["index"] for line in fine["urms"]["channels"]] == [0, 1, 2]


def test_what_is_kept_gives_the_same_page():
    from pqswarm.identify import identify

    of = recording(seconds=60.0, rate=1600, currents=False)
    whole = identify(of)
    kept = ListedRecording.of(whole)
    assert drawn([kept], of=of) == drawn([whole], of=of)
    assert kept.analysis.characterization is None
    assert kept.time.size < 0.5 * whole.characterization.series.time.size
    assert kept.urms.shape == (3, kept.time.size)


def test_number_and_size_of_figures_are_bounded(monkeypatch):
    many = [
        analysis(event("sag", 0.5 + 0.01 * i, 0.1), event("swell", 1.101, 0.04), source=f"{i}.cfg") for i in range(25)
    ]
    chosen = choose_events(listed(many))
    assert len(chosen) == 20
    assert [row.recording.analysis.source for row in chosen] == [
        f"{i}.cfg" for i in range(20)
    ]  # the worst of each, worst first
    monkeypatch.setattr("pqswarm.identify.show.page.listing.MAX_BYTES", 120_000)
    text = drawn([analysis(SAG, source=name) for name in "abc"])
    assert 1 <= text.count('class="waveform"') < 3
    assert len(text) < 300_000


class Long:
    """Ten minutes of many channels that lie nowhere."""

    sampling_rate, nominal_frequency, n_samples, start = 12_800.0, 50.0, 12_800 * 600, None
    source, path, station, format, notes = "long.cfg", "", "", "", ()
    status = tuple(StatusChannel(f"S{i}", 0, np.arange(150), np.arange(150) % 2) for i in range(100))

    def __init__(self, n):
        self.channels = tuple(ChannelHeader(f"{'n' * 500}{i}", "VA"[i % 2], "ABC"[i % 3]) for i in range(n))
        self._noise = np.random.default_rng(0).normal(size=65_536)

    def read(self, first=0, stop=None):
        samples = np.resize(self._noise, stop - first)
        channels = tuple(Channel(one.name, one.unit, one.phase, samples) for one in self.channels)
        return Recording(channels, self.sampling_rate, self.nominal_frequency)


def test_twenty_long_recordings_of_many_channels_fit(monkeypatch):
    monkeypatch.setattr(Envelope, "build", lambda envelope: envelope._is_built.fill(True))  # all else is as it is
    of = Long(60)
    events = [event("sag", 0.5, 5.0, start=20.0 * i + 10) for i in range(20)]
    apart = [analysis(one, systems=("",), start=later(i)) for i, one in enumerate(events)]
    texts = [drawn(analyses, of=of) for analyses in (apart, [analysis(*events)])]
    assert max(map(len, texts)) < MAX_BYTES + 1_000_000
    page = Page(texts[0])
    assert len(page.of("figure", **{"class": "waveform"})) == 20
    assert "48 of 60 channels are shown." in page.text


def test_figures_come_from_the_file_or_not_at_all(tmp_path):
    of = recording()
    there = analysis(SAG, of=of, path=str(write_comtrade(of, tmp_path / "fault.cfg")))
    assert Page(page_html([there])).of("figure", id="figure-1")
    gone = replace(there, path=str(tmp_path / "gone.cfg"))
    assert not Page(page_html([gone])).of("figure", id="figure-1")
    other = replace(there, source="another.cfg")
    assert not Page(page_html([other])).of("figure", id="figure-1")

    def fails(_):
        raise OSError("the disk is gone")

    assert "1 event in 1 recording" in page_html([gone], find=fails)
