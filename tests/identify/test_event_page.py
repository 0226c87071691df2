"""The page about many recordings: what it says, its points, counts and waveforms; nothing from outside gets in."""

import base64
import gzip
import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from math import log10, nan

import numpy as np
import pytest
from tests.fuzz.outputs import check_html
from tests.identify.invented import analysis, event, recording, with_label
from tests.pages import Page

from pqswarm.identify.archive.export import export_csv_table
from pqswarm.identify.show.page import ListedRecording, page_html
from pqswarm.identify.show.page.html import (
    MAX_BYTES,
    choose_listed_events,
    count_page_dips,
    count_page_swells,
    list_events,
    listing_headline,
    page_sarfi,
)
from pqswarm.identify.tolerance import ITIC, SEMI, event_severity, rank_event
from pqswarm.measure import Incident, IncidentStage
from pqswarm.recordings import Channel, ChannelHeader, Envelope, Recording, StatusChannel, write_comtrade

SAG = event("sag", 0.62, 0.08, start=0.4, phases="AB", sag_type="Ca")
LONG = event("interruption", 0.02, 0.3, start=0.5, phases="C")
SWELL = event("swell", 1.25, 0.04, start=0.1, phases="B")
HOSTILE = "</script><script>alert(1)</script>\"><img src=x onerror=alert(1)>'&amp;{{ 7*7 }}"


def drawn(analyses, failures=(), of=None):
    """The page with figures, all of one recording."""
    return page_html(analyses, failures, find=lambda _: of or recording())


def plain(analyses, failures=()):
    """The page without figures of waveforms."""
    return page_html(analyses, failures, find=lambda _: None)


def listed(analyses):
    return list_events([ListedRecording.of(one) for one in analyses])


@pytest.fixture(scope="module")
def usual():
    one = analysis(
        with_label(SAG), with_label(LONG, "interruption", 0.8, "disagree: rules say so"), with_label(SWELL, "swell")
    )
    two = analysis(station="South", source="quiet.cfg", start=datetime(2026, 3, 9))
    return drawn([one, two], ["lost.cfg cannot be read: it is empty."])


def test_what_it_says(usual):
    page = Page(usual)
    text = page.text
    assert "3 events in 2 recordings at North and South, 2026-03-04 to 2026-03-09." in text
    assert "Worst: interruption on phase C, 0.02 pu (230.9 V), 300 ms (15.0 cycles) at North, " in text
    assert "1 recording could not be analyzed" in text
    assert "One figure per event." in text
    assert "lost.cfg cannot be read: it is empty." in text
    assert "2026-03-04 05:06:07.489" in text  # 0.4 s after the first sample
    assert "Assumed." in text
    assert "nan" not in re.sub(r"[A-Za-z]{4,}", "", text).lower().split()
    assert len(page.of("tr", id="event-2")) == 1
    rows = [attrs["data-type"] for attrs in page.of("tr") if "data-type" in attrs]
    assert rows == ["swell", "sag", "interruption"]
    sizes = re.findall(r"file of (\d+\.\d) MB", text)
    assert float(sizes[0]) == pytest.approx(len(usual.encode()) / 1e6, abs=0.06)


def test_cells_of_a_row(usual):
    row = usual[usual.index('id="event-2"') :].partition("</tr>")[0]
    cells = [re.sub(r"<[^>]*>", "", cell).replace("\u00a0", " ") for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
    assert cells == [
        *("2", "North", "2026-03-04", "05:06:07.489", "sag", "A, B", "0.62 pu (7.159 kV)", "80 ms (4.0 cycles)"),
        *("Ca", "", "sag", "fault.cfg"),
    ]


def test_links_lead_somewhere(usual):
    page = Page(usual)
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = {attrs["href"][1:] for attrs in page.of("a") if attrs["href"].startswith("#")}
    assert {"event-1", "event-2", "event-3", "figure-1", "figure-2", "figure-3", "events", "failures"} <= targets
    assert targets <= set(ids)


def test_nothing_is_loaded_and_only_our_scripts_run(usual):
    check_html(usual, "page")
    assert set(re.findall(r"https?://[\w./]+", usual)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "@import" not in usual
    (policy,) = [attrs["content"] for attrs in Page(usual).of("meta") if "http-equiv" in attrs]
    assert "default-src 'none'" in policy


def test_hostile_names_stay_text():
    of = recording()
    of = replace(of, channels=tuple(replace(one, name=f"{HOSTILE}{one.name}") for one in of.channels), source=HOSTILE)
    hurt = event("sag", 0.5, 0.1, sag_type=HOSTILE, sentence=HOSTILE)
    hurt = replace(hurt, parts=(replace(hurt.parts[0], channel=f"{HOSTILE}UA"),), system=HOSTILE, category=HOSTILE)
    found = with_label(hurt, HOSTILE, 0.9, HOSTILE)
    one = analysis(found, of=of, station=HOSTILE, notes=(HOSTILE,), caveats=(HOSTILE,), path=f"/nowhere/{HOSTILE}")
    page = Page(drawn([one], [HOSTILE], of))
    assert len(page.scripts) == 3
    assert json.loads(page.data[0])["header"]["channels"][0]["name"].startswith(HOSTILE)
    assert not page.of("img")
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert HOSTILE in page.text
    assert "49" not in page.text.split("7*7")[0][-3:]


def test_names_that_are_no_text():
    """Names of files on disk may hold bytes that are no UTF-8."""
    assert drawn([analysis(SAG, source="fault\udcff.cfg", station="\x00\u202e")], ["\udcff"]).encode()


def test_what_is_not_known_is_left_out():
    broken = event("sag", nan, nan, reference_volts=nan)
    strange = event("transient", 0.4, 0.0, details={"decay": nan, "peak_voltage": nan})
    text = Page(plain([analysis(broken, strange, start=None, station="")])).text
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)
    assert "+0.400 s" in text


def test_without_anything():
    assert "No recording could be read." in Page(page_html([], ["all lost."])).text
    text = Page(plain([analysis()])).text
    assert "No disturbance was found." in text
    assert "Tolerance" not in text
    assert export_csv_table([]).startswith("source,path,station,date,time,")


@pytest.mark.parametrize(
    ("seconds", "lower", "upper"),
    [
        *((0.0001, 0, 500), (0.001, 0, 200), (0.003, 0, 140), (0.0031, 0, 120), (0.02, 0, 120), (0.0201, 70, 120)),
        *((0.5, 70, 120), (0.501, 80, 110), (10.0, 80, 110), (10.1, 90, 110), (3600.0, 90, 110)),
    ],
)
def test_itic_corners(seconds, lower, upper):
    assert (ITIC.minimum(seconds), ITIC.maximum(seconds)) == (lower, pytest.approx(upper))


@pytest.mark.parametrize(
    ("seconds", "lower"), [(0.05, 50), (0.2, 50), (0.201, 70), (0.5, 70), (0.6, 80), (1.0, 80), (10.0, 80), (11.0, 90)]
)
def test_semi_corners(seconds, lower):
    assert SEMI.minimum(seconds) == lower


def test_severity_of_ieee_1564():
    """The factors of the SEMI F47 curve: 1, 2, 3.33, 5 and 10 times the drop."""
    found = [event_severity(40, seconds, 50) for seconds in (0.02, 0.1, 0.4, 5.0, 20.0)]
    np.testing.assert_allclose(found, 0.6 * np.array([1, 2, 10 / 3, 5, 10]))
    assert rank_event(event("frequency", 49.0, 2.0, unit="Hz")) == (1.0, pytest.approx(0.02))


def test_points_are_where_they_belong():
    spike = event("transient", 0.8, 0.0, start=0.2, details={"decay": 1e-3, "peak_voltage": 1.5})
    within = event("sag", 0.95, 0.03, start=0.7)
    page = Page(plain([analysis(SAG, LONG, SWELL, spike, within)]))
    assert "5 events: 1 in the prohibited region, 2 in the no-damage region and 2 in the no-interruption" in page.text
    assert "3 events: 1 below the curve and 2 on or above it." in page.text
    points = page.of("a", **{"class": "point"})
    assert [point["href"] for point in points].count("#event-5") == 2  # on both charts
    by_kind = {point["data-type"]: point for point in points}
    assert float(by_kind["swell"]["data-percent"]) == 125
    assert float(by_kind["swell"]["data-seconds"]) == 0.04
    # The circle of the swell, on axes from 0.1 ms to 100 s and from 0 to 200 %.
    place = next(i for i, (tag, attrs) in enumerate(page.tags) if attrs.get("data-type") == "swell" and tag == "a")
    circle = next(attrs for tag, attrs in page.tags[place:] if tag == "circle")
    across = log10(0.04 / 1e-4) / log10(100 / 1e-4)
    assert float(circle["cx"]) == pytest.approx(62 + across * (600 - 62 - 16), abs=0.1)
    assert float(circle["cy"]) == pytest.approx(430 - 58 - 125 / 200 * (430 - 14 - 58), abs=0.1)


def later(seconds):
    return datetime(2026, 3, 4, 5, 6, 7) + timedelta(seconds=seconds)


def test_sarfi_by_hand():
    """Three events within a minute are one; another station, another busbar and a later time are others."""
    first = analysis(event("sag", 0.85, 0.1), event("interruption", 0.05, 0.2), start=later(0))
    same = analysis(event("swell", 1.3, 0.1), start=later(50), source="b.cfg")
    after = analysis(event("sag", 0.6, 0.015), start=later(61), source="c.cfg")
    bus = analysis(event("sag", 0.9, 0.1, system="bus 2"), start=later(0), source="d.cfg")
    south = analysis(event("sag", 0.45, 0.1), start=later(0), station="South", source="e.cfg")
    quiet = analysis(event("transient", 0.5, 0.0), station="West", source="f.cfg")
    table = {row["site"]: row for row in page_sarfi(listed([first, same, after, bus, south, quiet]))}
    assert list(table) == ["all sites", "North", "North, bus 2", "South", "West"]
    levels = (90, 80, 70, 50, 10, 110, 120, 140, "ITIC", "SEMI")
    counts = {site: [row["events"], *(row[f"SARFI-{level}"] for level in levels)] for site, row in table.items()}
    assert counts["North"] == [2, 2, 2, 2, 1, 1, 1, 1, 0, 1, 1]
    assert counts["North, bus 2"] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert counts["South"] == [1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1]
    assert counts["West"] == [0] * 11
    assert counts["all sites"] == np.sum([counts[site] for site in list(table)[1:]], axis=0).tolist()


@pytest.mark.parametrize("names", [{"source": "{}.cfg"}, {"path": "{}/fault.cfg"}])
def test_sarfi_without_a_clock(names):
    """Whether events of two recordings are one is not known, even if the files have one name."""
    recordings = [analysis(SAG, start=None, **{key: text.format(one) for key, text in names.items()}) for one in "ab"]
    (row,) = page_sarfi(listed(recordings))
    assert row["events"] == 2


def test_dips_and_swells_by_hand():
    lows = [(0.85, 0.2), (0.8, 0.201), (0.7, 0.5), (0.4, 1.0), (0.05, 5.0), (0.049, 60.0), (0.3, 61.0), (0.85, 0.005)]
    events = [event("sag", u, t, start=100.0 * i) for i, (u, t) in enumerate(lows)] + [
        event("swell", u, t) for u, t in ((1.2, 0.5), (1.15, 5.01))
    ]
    dips = count_page_dips(listed([analysis(*events)]))
    counts = [(2, 1, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 1, 0), (0, 0, 0, 0, 1)]
    assert numbers_of(dips) == counts
    assert dips.rows[0]["u"] == "90 > u ≥ 80"
    assert dips.note.endswith("in no cell: 1.")
    assert numbers_of(count_page_swells(listed([analysis(*events)]))) == [(1, 0, 0), (0, 0, 1)]


def numbers_of(table):
    return [tuple(value for key, value in row.items() if key != "u") for row in table.rows]


def test_a_sag_that_becomes_an_interruption_is_one_dip():
    events = [event("sag", 0.6, 0.1, 1.0), event("interruption", 0.01, 0.2, 1.1), event("sag", 0.6, 0.2, 1.3)]
    assert numbers_of(count_page_dips(listed([analysis(*events)]))) == [(0,) * 5] * 4 + [(0, 1, 0, 0, 0)]


def test_a_long_list_says_where_it_ends(monkeypatch):
    monkeypatch.setattr("pqswarm.identify.show.page.html._MAX_RECORDINGS", 2)
    assert "3 recordings, of which the first 2 are listed" in Page(plain([analysis(SAG)] * 3)).text
    assert "of which the first" not in Page(plain([analysis(SAG)] * 2)).text


def test_headline_of_many_stations():
    recordings = [ListedRecording.of(analysis(SAG, station=f"station {i}")) for i in range(5)]
    headline = listing_headline(list_events(recordings), recordings)[0]
    assert headline == "5 events in 5 recordings from 5 stations, 2026-03-04."


def test_of_many_events_the_worst_are_rows_and_all_are_packed(monkeypatch):
    monkeypatch.setattr("pqswarm.identify.show.page.html._MAX_ROWS", 2)
    events = [event("sag", level, 0.1, start=0.1 * k) for k, level in enumerate((0.8, 0.3, 0.7, 0.2), 1)]
    text = page_html([analysis(*events)], find=lambda _: None)
    assert re.findall(r'<tr id="event-(\d)"', text) == ["2", "4"]
    found = {name: re.search(rf'id="packed-{name}">([^<]+)<', text)[1] for name in ("events", "csv")}
    rows, csv = (gzip.decompress(base64.b64decode(packed)).decode() for packed in found.values())
    assert re.findall(r'<tr id="event-(\d)"', rows) == ["1", "2", "3", "4"]
    assert "0.30\u00a0pu (3.464\u00a0kV)" in rows
    assert len(csv.splitlines()) == 5


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


def test_the_cursor_of_a_dip_is_at_the_end_of_its_worst_cycle():
    stages = (IncidentStage(0.4, 0.48, "fault"),)
    incident = Incident("fault", 0.9, ("deep",), stages, (0,), 0.4, 0.48, worst_cycle_end=0.46, clearing_s=0.08)
    page = Page(drawn([replace(analysis(SAG), incidents=(incident,))]))
    (told,) = (json.loads(text) for text in page.data)
    assert [one["worst_end"] for one in told["events"]] == [0.46]
    assert "Cleared in 80 ms." in page.text


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
    chosen = [row.recording.analysis.source for row in choose_listed_events(listed(many))]
    assert chosen == [f"{i}.cfg" for i in range(20)]  # the worst of each, worst first
    monkeypatch.setattr("pqswarm.identify.show.page.html.MAX_BYTES", 200_000)
    text = drawn([analysis(SAG, source=name) for name in "abc"])
    assert text.count('class="waveform"') == 2
    assert len(text) < 380_000
    assert "Figures of 2 of the 3 events, the worst of each recording first" in text


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
    assert not Page(page_html([replace(there, source="another.cfg")])).of("figure", id="figure-1")

    def fails(_):
        raise OSError("the disk is gone")

    assert "1 event in 1 recording" in page_html([gone], find=fails)
