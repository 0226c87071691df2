"""What the events look like: figures of waveforms, and one event of each class of a study."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pqswarm._base.text import frequency_text
from pqswarm._base.thinning import extreme_places, extremes
from pqswarm._base.typing import FloatArray
from pqswarm.events import EVENT_CLASSES, Event, add_noise, class_title, generate, noise_stream
from pqswarm.features import band_edges, band_names, decompose, decomposition_level, describe_band, extend
from pqswarm.features.wavelet import coefficient_times
from pqswarm.report.section import Content, adaptive_drawing
from pqswarm.report.style import BAND, FAINT, NARROW, WAVE, WIDE, settle_layout, styled
from pqswarm.report.summary import DatasetSummary

_POINTS = 600  # per waveform of a gallery, about two per pixel


def events_content(study: DatasetSummary) -> Content:
    """Show one event of each class, if the events are generated."""
    made = study.generated
    if made is None or not set(study.class_names) <= set(made.class_names):
        return Content()

    def draw(narrow: bool = False) -> Figure:
        events = [generate(name, made.seed, preset=made.make_preset()) for name in study.class_names]
        return plot_gallery(events, narrow=narrow)

    drawing = adaptive_drawing(
        "",
        f"The {len(study.class_names)} event classes",
        "Voltage in per unit of the nominal amplitude, against time. Of short events the figure shows part of the "
        "record. Oscillations too fast to resolve are drawn as a band, with their start enlarged in an inset.",
        draw,
    )
    words = (
        "One event of each class, generated as in the study, without noise. The same events were tested at each noise "
        "level."
    )
    return Content(words=[words], drawings=[drawing])


@styled
def plot_event(event: Event, snr: float = float("inf")) -> Figure:
    """Draw the waveform of an event and its wavelet bands, with noise of `snr` [dB] added first.

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> len(plot_event(generate("sag", seed=0)).axes)
    10
    """
    signal = add_noise(event.signal, snr, noise_stream(event.seed, snr))
    window = extend(signal, event.sampling_rate, event.frequency)
    level = decomposition_level(event.sampling_rate, event.frequency)
    bands = decompose(window[np.newaxis], level)
    before = (window.size - signal.size) // 2 / event.sampling_rate  # of the extension before the record
    span = (-before, (window.size - 1) / event.sampling_rate - before)

    figure = Figure(figsize=(9.0, 11.0), layout="constrained")
    axes = figure.subplots(level + 2, 1, sharex=True, height_ratios=[3.2, *[1.0] * (level + 1)])
    figure.suptitle(class_title(event.label), x=0.01, ha="left", fontsize=15, fontweight="bold")
    wave = axes[0]
    wave.set_title(_event_caption(event, snr), fontsize=8, color="#444444")
    wave.axhline(0.0, color=FAINT, lw=0.5)
    wave.plot(event.time, signal, color=WAVE, lw=0.8)
    wave.set_ylabel("voltage [pu]")
    edges = band_edges(event.sampling_rate, level)
    for axis, name, (low, high), band in zip(axes[1:], band_names(level), edges, bands, strict=True):
        times = coefficient_times(name, band.shape[1], event.sampling_rate) + span[0]
        axis.plot(times, band[0], color=BAND, lw=0.7)
        axis.axhline(0.0, color=FAINT, lw=0.5)
        label = {"xycoords": "axes fraction", "ha": "right", "textcoords": "offset points"}
        axis.annotate(name, (0.0, 0.5), (-40, 1), va="bottom", fontweight="bold", **label)
        words = describe_band(low, high).replace(" to ", " to\n")
        axis.annotate(words, (0.0, 0.5), (-40, 0), va="top", fontsize=6.5, **label)
        axis.tick_params(labelsize=7)
        axis.locator_params(axis="y", nbins=3)
    axes[-1].set(xlabel="time [s]", xlim=span)
    return settle_layout(figure)


def _event_caption(event: Event, snr: float) -> str:
    """The parameters of the disturbance and of the record, in two or three lines."""
    hidden = ("background", "phase", "frequency_deviation", "snr")
    catalog = EVENT_CLASSES.find(event.label).catalog
    parts = [
        f"{name.replace('_', ' ')} {value:.4g} {catalog[name].unit}".removesuffix(" 1")
        for name, value in event.parameters.items()
        if not name.startswith(hidden)
    ]
    rate = frequency_text(event.sampling_rate)
    record = f"{event.frequency:g} Hz, {event.cycles:.3g} cycles at {rate}, {event.source}"
    noise = "no noise added" if snr == float("inf") else f"noise at {snr:g} dB"
    lines = ["; ".join(parts[i : i + 5]) for i in range(0, len(parts), 5)]
    return "\n".join([*lines, f"{record}, seed {event.seed}, {noise}"])


@styled
def plot_gallery(events: Sequence[Event], snr: float = float("inf"), *, narrow: bool = False) -> Figure:
    """Draw many events in one figure, each around its disturbance.

    Parameters
    ----------
    events : sequence of Event
        One panel each.
    snr : float, default=inf
        Noise to add first [dB]; infinity adds none.
    narrow : bool, default=False
        Whether to draw it for a narrow screen, in two columns.

    Returns
    -------
    matplotlib.figure.Figure
        The figure. Oscillations too fast to resolve are drawn as a band, with their start enlarged in an inset.

    Examples
    --------
    >>> from pqswarm.events import PRESETS, generate
    >>> len(plot_gallery([generate(name, seed=0) for name in PRESETS["paper"].classes]).axes)
    14
    """
    columns = min(2 if narrow else 3, len(events))
    rows = -(-len(events) // columns)
    figure = Figure(figsize=(NARROW, 1.25 * rows) if narrow else (WIDE, 1.45 * rows), layout="constrained")
    for i, event in enumerate(events):
        axis = figure.add_subplot(rows, columns, i + 1)
        signal = add_noise(event.signal, snr, noise_stream(event.seed, snr))
        first, last = _event_time_shown(event)
        inside = (event.time >= first) & (event.time <= last)
        axis.axhline(0.0, color=FAINT, lw=0.5)
        _draw_event_wave(axis, 1000 * event.time[inside], signal[inside])
        axis.set_xlim(1000 * first, 1000 * last)
        height = max(1.25, 1.1 * float(np.abs(signal[inside]).max()))
        axis.set_ylim(-height, height)
        axis.locator_params(axis="x", nbins=4 if narrow else 6)
        axis.locator_params(axis="y", nbins=4)
        if "transient_onset" in event.parameters:
            _draw_event_inset(axis, event, signal)
        axis.tick_params(labelsize=7.5)
        axis.set_title(class_title(event.label), fontsize=8.5 if narrow else 9.5, fontweight="bold")
        if i % columns == 0:
            axis.set_ylabel("voltage [pu]", fontsize=8)
        if i + columns >= len(events):
            axis.set_xlabel("time [ms]", fontsize=8)
    return settle_layout(figure)


def _draw_event_wave(axis: Axes, time: FloatArray, signal: FloatArray) -> None:
    """Draw a waveform with few points: a line, and a band for oscillations too fast to resolve."""
    width = max(1, -(-time.size // _POINTS))
    starts = np.arange(0, time.size, width)
    low, high = extremes(signal, width)
    middle = np.add.reduceat(signal, starts) / np.diff(np.append(starts, time.size))
    at = time[np.minimum(starts + width // 2, time.size - 1)]
    # A range that the slope explains is not an oscillation.
    slope = np.abs(np.gradient(middle)) if middle.size > 1 else np.zeros(middle.size)
    fast = high - low > 1.3 * slope + 0.06 * max(float(np.ptp(signal)), 1e-9)
    if np.count_nonzero(fast) > 2:
        axis.fill_between(at, low, high, where=fast, color=WAVE, alpha=0.3, lw=0)
        axis.plot(at, middle, color=WAVE, lw=0.8)
    else:
        axis.plot(*_thin_event_line(time, signal), color=WAVE, lw=0.9)


def _thin_event_line(time: FloatArray, signal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The minimum and maximum of each step: the same line with fewer points."""
    width = max(1, -(-2 * time.size // _POINTS))
    if width < 3:
        return time, signal
    order = np.unique(np.append(extreme_places(signal, width), (0, time.size - 1)))
    return time[order], signal[order]


def _draw_event_inset(axis: Axes, event: Event, signal: FloatArray) -> None:
    """Draw the first periods of a transient, enlarged, in an inset."""
    onset = event.parameters["transient_onset"]
    period = 1.0 / event.parameters["transient_frequency"]
    first, last = onset - 2 * period, onset + 9 * period
    shown = (event.time >= first) & (event.time <= last)
    left, right = axis.get_xlim()
    late = 1000 * onset > (left + right) / 2
    axis.set_yticks([tick for tick in axis.get_yticks() if abs(tick) < axis.get_ylim()[1]])
    axis.set_ylim(bottom=1.5 * axis.get_ylim()[0])  # space below the waveform
    inset = axis.inset_axes((0.02 if late else 0.5, 0.02, 0.48, 0.34))
    inset.plot(event.time[shown], signal[shown], color=BAND, lw=0.8)
    inset.set(xlim=(first, last), xticks=[], yticks=[])
    inset.spines[:].set(visible=True, color=FAINT, lw=0.6)
    axis.axvspan(1000 * first, 1000 * last, color=BAND, alpha=0.4, lw=0)
    place: dict[str, Any] = {"x": 0.52, "ha": "left"} if late else {"x": 0.48, "ha": "right"}
    words = f"{1000 * (last - first):.2g} ms"
    axis.text(y=0.12, s=words, transform=axis.transAxes, fontsize=7.5, color=BAND, va="center", **place)


def _event_time_shown(event: Event) -> tuple[float, float]:
    """The section of the record [s] that shows the event: around its start, or a few steady cycles."""
    cycle = 1.0 / event.frequency
    end = event.cycles * cycle
    starts = [event.parameters[name] for name in ("start", "transient_onset") if name in event.parameters]
    if starts:
        stops = [event.parameters["start"] + event.parameters["duration"]] if "start" in event.parameters else []
        moments = sorted(starts + stops)
        return max(0.0, moments[0] - 2 * cycle), min(end, max(moments[-1] + 2 * cycle, moments[0] + 4 * cycle))
    return 0.0, min(end, (15 if "flicker_depth" in event.parameters else 3) * cycle)
