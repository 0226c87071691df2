"""Figures: what they hold, and that they do not change by themselves."""

import matplotlib as mpl
import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.events import PRESETS, generate
from pqswarm.report import plot_error_against_size, plot_event, plot_gallery, save_figure


@pytest.mark.parametrize("event_class", ["pure_sinusoid", "oscillatory_transient", "sag_with_harmonics"])
def test_event_shows_the_waveform_and_nine_bands(event_class):
    event = generate(event_class, 0)
    figure = plot_event(event)
    wave, *bands = figure.axes
    assert np.array_equal(wave.lines[1].get_ydata(), event.signal)
    labels = [axis.texts[0].get_text() for axis in bands]
    assert labels == ["D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "A8"]
    assert "6.25 to\n12.5 kHz" in bands[0].texts[1].get_text()


def test_noise_is_added_for_the_picture():
    event = generate("sag", 0)
    noisy = plot_event(event, snr=20.0).axes[0].lines[1].get_ydata()
    assert np.std(noisy - event.signal) == pytest.approx(np.sqrt(np.mean(event.signal**2) / 100), rel=0.01)


@pytest.mark.slow
def test_short_captures_and_other_rates():
    assert len(plot_event(generate("sag", 1, "field", cycles=4)).axes) == 10
    assert len(plot_event(generate("sag", 1, sampling_rate=3200, frequency=60)).axes) == 7


def test_gallery_shows_all_classes_in_words():
    figure = plot_gallery([generate(name, 0) for name in PRESETS["paper"].classes], snr=40.0)
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert titles[:3] == ["Pure sinusoid", "DC offset", "Sag"]
    assert len(titles) == 14
    for axis in figure.axes:
        assert len(axis.lines[1].get_xdata()) > 500


@pytest.mark.slow
def test_same_figure_same_bytes(tmp_path):
    figures = [plot_error_against_size({"GA": ([30, 28], [0.09, 0.08])}, (99, 0.12)) for _ in range(2)]
    for suffix in (".png", ".svg", ".pdf"):
        first, second = (save_figure(one, tmp_path / f"{id(one)}{suffix}").read_bytes() for one in figures)
        assert first == second, suffix


def test_global_style_is_left_alone():
    before = dict(mpl.rcParams)
    plot_event(generate("sag", 0))
    assert dict(mpl.rcParams) == before


def test_places_that_cannot_be_written(tmp_path):
    figure = plot_event(generate("sag", 0))
    with pytest.raises(PqswarmError, match="must end in"):
        save_figure(figure, tmp_path / "figure.gif")
    (tmp_path / "file").write_text("")
    with pytest.raises(PqswarmError, match="cannot write"):
        save_figure(figure, tmp_path / "file" / "figure.png")
