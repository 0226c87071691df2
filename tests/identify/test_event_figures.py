"""Figures of events: one axis of time, units that read well, colors that tell systems apart, names of any script."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from tests.identify.invented import analysis, event, recording, renamed
from tests.recordings.builders import Watched

from pqswarm.identify.show import figures
from pqswarm.identify.show.figures import SheetBook, draw_sheet, plot_event
from pqswarm.measure import Incident, IncidentStage
from pqswarm.measure.incidents.stages import Operation

SAG = event(magnitude=0.62, start=0.4, duration=0.08)


def labels(figure):
    return [axis.get_ylabel() for axis in figure.axes]


def legends(figure):
    return [text.get_text() for axis in figure.axes if axis.get_legend() for text in axis.get_legend().get_texts()]


def colors(axis):
    return {to_hex(line.get_color()) for line in axis.lines if len(line.get_xdata()) > 2}


def test_panels_units_and_one_axis_of_time():
    of = recording()
    figure = plot_event(of, analysis(SAG, of=of))
    assert labels(figure) == ["voltage [kV]", "Urms(1/2) [pu]", "current [A]"]
    assert {axis.get_xlim() for axis in figure.axes} == {figure.axes[0].get_xlim()}
    assert figure.axes[-1].get_xlabel() == "time from the start of the event [ms]"
    assert figure.axes[0].get_xlim() == pytest.approx((-60, 80 + 60))  # three cycles before and after
    wave = figure.axes[0].lines[0]
    assert np.abs(wave.get_ydata()).max() == pytest.approx(2**0.5 * 11.547, rel=1e-3)
    during = (wave.get_xdata() > 0) & (wave.get_xdata() < 80)
    assert np.abs(wave.get_ydata()[during]).max() == pytest.approx(0.62 * 2**0.5 * 11.547, rel=0.01)
    title = figure.texts[0].get_text()
    assert "North, 2026-03-04 05:06:07.489" in title  # 0.4 s after the first sample
    assert "6.4 kHz" in title


def test_only_what_is_shown_is_read(monkeypatch):
    of = Watched(recording(seconds=20.0))
    plot_event(of, analysis(replace(SAG, start=10.0, end=10.08), of=of))
    assert of.reads == [(round(9.94 * 6400), round(10.14 * 6400))]
    of.reads.clear()
    monkeypatch.setattr("pqswarm.identify.show.figures._BLOCK", 20_000)
    plot_event(of, analysis(replace(SAG, start=1.0, end=15.0, duration=14.0), of=of))
    assert len(of.reads) > 4
    assert max(stop - first for first, stop in of.reads) <= 20_000
    assert of.reads[0][0] == 0
    assert of.reads[-1][1] == 16 * 6400


def test_thinning_keeps_the_peaks_whatever_the_block(monkeypatch):
    of = recording(seconds=20.0)
    of.channels[1].samples[70_000] = 123_000.0
    of.channels[2].samples[40_000:60_000] = np.nan
    verdict_on = analysis(replace(SAG, start=1.0, end=15.0, duration=14.0), of=of)
    lines = plot_event(of, verdict_on).axes[0].lines[:3]
    assert max(line.get_ydata().size for line in lines) <= 1002
    assert lines[1].get_ydata().max() == pytest.approx(123.0)
    assert np.isnan(lines[2].get_ydata()).any()
    monkeypatch.setattr("pqswarm.identify.show.figures._BLOCK", 5_000)
    for line, other in zip(lines, plot_event(of, verdict_on).axes[0].lines, strict=False):
        np.testing.assert_array_equal(line.get_ydata(), other.get_ydata())


def test_an_event_shows_its_own_busbar():
    systems = ("bus 1", "bus 2")
    of = recording(systems)
    one, two = (event(system=system, phases="A") for system in systems)
    verdict_on = analysis(one, two, of=of, systems=systems)
    alone = [plot_event(of, verdict_on, found) for found in verdict_on.events]
    assert [len(figure.axes) for figure in alone] == [3, 3]
    assert legends(alone[1])[:3] == ["bus 2 UA", "bus 2 UB", "bus 2 UC"]
    assert len(colors(alone[1].axes[0])) == 3


@pytest.mark.filterwarnings("ignore:Glyph .* missing")  # where no font has Chinese letters, their boxes are as wide
def test_legends_are_inside(monkeypatch):
    monkeypatch.setattr("pqswarm.identify.show.figures.draw_figure_name", lambda text, otherwise="": text)
    of = recording()
    long = "a very long name of a channel, with $maths$ and_underscores " * 3
    of = renamed(of, UA=long, IB="TRANSFORMER 110 KV BUSBAR CURRENT", UB="220kV母线电压" * 9)
    figure = plot_event(of, analysis(SAG, of=of))
    figure.draw_without_rendering()
    for axis in figure.axes:
        if axis.get_legend():
            box = axis.get_legend().get_window_extent()
            assert figure.bbox.padded(1).contains(box.x0, box.y0)
            assert figure.bbox.padded(1).contains(box.x1, box.y1)


def test_names_that_no_font_has(monkeypatch):
    """The phase stands for the name."""
    monkeypatch.setattr("pqswarm.identify.show.figures.figure_font_families", lambda: ("DejaVu Sans",))
    monkeypatch.setattr(figures, "_figure_fonts_have", lambda letter: ord(letter) < 0x3000)
    of = renamed(recording(), UA="220kV母线", UB="Шина", IC="电流")
    verdict_on = analysis(SAG, of=of, station="站 1")
    figure = plot_event(of, verdict_on)
    assert legends(figure) == ["phase A", "Шина", "UC", "IA", "IB", "current C"]
    assert figure.texts[0].get_text().startswith("… 1, ")
    figure.draw_without_rendering()  # a warning would be an error


def test_fonts_are_those_of_the_machine():
    from matplotlib.font_manager import fontManager

    assert set(figures.figure_font_families()) <= {font.name for font in fontManager.ttflist}
    assert figures.figure_font_families()[0] == "DejaVu Sans"


def test_currents_are_those_beside_the_largest():
    of = recording()
    names = ["J1", "J2", "J3"]
    more = [replace(one, name=name, samples=9 * one.samples) for one, name in zip(of.channels[3:], names, strict=True)]
    of = replace(of, channels=(*of.channels, *more))
    assert legends(plot_event(of, analysis(SAG, of=of)))[-3:] == names
    none = recording(currents=False)
    assert labels(plot_event(none, analysis(SAG, of=none))) == ["voltage [kV]", "Urms(1/2) [pu]"]


@pytest.mark.parametrize(
    ("kind", "length", "start", "shown"),
    [
        ("transient", 0.0, 0.5, 120),
        ("harmonics", 3.0, 0.0, 200),
        ("flicker", 3.0, 0.0, 1000),
        ("DC offset", 3.0, 0.0, 200),
        ("unbalance", 3.0, 0.0, 200),
    ],
)
def test_every_kind(kind, length, start, shown):
    of = recording(seconds=3.0)
    begin, end = plot_event(of, analysis(event(kind, 0.3, length, start=start), of=of)).axes[0].get_xlim()
    assert end - begin == pytest.approx(shown, rel=0.01)


def test_a_short_record_is_shown_whole():
    of = recording(seconds=0.2)
    figure = plot_event(of, analysis(event(start=0.1, duration=0.02), of=of))
    assert figure.axes[0].get_xlim() == pytest.approx((-100, 100))


@pytest.mark.parametrize("systems", [("",), ("Bus 1", "Umspannwerk Süd, Sammelschiene 2, 110 kV", "B3", "B4")])
def test_a_sheet_holds_everything(systems):
    of = recording(systems, currents=len(systems) == 1)
    names = {one.name: f"{one.name} with a very long name of a channel" for one in of.channels}
    of = renamed(of, **names) if len(systems) > 1 else of
    found = [event(phases="ABC", system=systems[-1], start=0.4 + 0.01 * k) for k in range(8)]
    said = analysis(*found, of=of, systems=systems, station="Umspannwerk mit einem sehr langen Namen " * 4)
    stages = tuple(
        IncidentStage(0.1 * k, 0.1 * k + 0.1, "fault: low on A " * 9, {"A": 0.5, "B": 1.0}) for k in range(9)
    )
    incident = Incident(
        "fault", 0.97, ("evidence " * 40,) * 9, stages, tuple(range(8)), 0.4, 0.6, phases="AG", feeder="F" * 90
    )
    figure = draw_sheet(of, replace(said, incidents=(incident,)), incident)
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in figure.texts if text.get_text().strip()]
    for text, box in boxes:
        assert box.x0 >= 0, text
        assert box.x1 <= figure.bbox.width, text
        assert box.y0 >= 0, text
    assert len({round(box.y0, 1) for _, box in boxes}) > 20
    for i, (text, box) in enumerate(boxes):  # no text covers another
        inner = box.shrunk(0.9, 0.5)
        assert not any(inner.overlaps(other.shrunk(0.9, 0.5)) for _, other in boxes[:i]), text
    assert any("11.55 kV" in text for text, _ in boxes)  # 1 pu
    book = SheetBook()
    book.add(of, said, [incident])
    assert book.finish().count(b"/FontFile2") >= 2  # TrueType


def test_a_sheet_tells_the_whole_timeline_and_turns_nothing_by_a_dead_phase():
    of = recording(currents=False)
    samples = of.channels[0].samples.copy()
    samples[samples.size // 2 :] = np.random.default_rng(1).normal(0, 10, samples.size // 2)
    of = replace(of, channels=(replace(of.channels[0], samples=samples), *of.channels[1:]))
    said = analysis(event(magnitude=0.0, start=0.6), of=of)
    steps = [Operation(0.4 + k / 100, what, "K1") for k, what in enumerate(("pickup", "trip", "open", "reset") * 3)]
    incident = Incident("fault", 0.9, ("dead",), (IncidentStage(0.5, 0.9, "low"),), (0,), 0.5, 0.9, timeline=steps)
    texts = [text.get_text() for text in draw_sheet(of, replace(said, incidents=(incident,)), incident).figure.texts]
    assert [text for text in texts if "(K1)" in text][-1] == "• 0.4900 s trip (K1)"
    assert "and 2 more" in texts
    assert [text for text in texts if "°" in text] == ["+0°", "+0°"]


def test_a_full_sheet_leaves_room_for_the_panels_and_says_what_is_at_once_together():
    of = recording()
    found = [event(start=0.4 + 0.05 * k, duration=0.04) for k in range(4)]
    said = replace(analysis(*found, of=of), remarks=("a note that is long enough for two lines " * 4,) * 3)
    relays = [Operation(0.41, "trip", f"21P zone {k}") for k in range(5)]
    steps = [Operation(0.4 + k / 50, "fault evolves", "waveform") for k in range(9)]
    incident = Incident(
        "fault", 0.9, ("evidence " * 12,) * 9, (), (0, 1, 2, 3), 0.4, 0.6, timeline=(*relays, *steps), clearing_s=0.07
    )
    figure = draw_sheet(of, replace(said, incidents=(incident,)), incident)
    texts = [text.get_text() for text in figure.texts]
    assert "• 0.4100 s trip (21P zone 0, 21P zone 1, 21P zone 2, 21P zone 3, 21P zone 4)" in texts
    assert "Timeline: cleared in 70 ms" in texts
    panels = [axis.get_position().height * figure.get_figheight() for axis in figure.axes if axis.get_ylabel()]
    assert min(panels) > 0.65
