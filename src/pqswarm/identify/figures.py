"""The figure of a verdict: waveforms, Urms(1/2), marked events, band energies."""

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from pqswarm.errors import PqswarmError
from pqswarm.features import band_edges, band_names, decompose
from pqswarm.identify.features import resample
from pqswarm.measure.capture import SAMPLES_PER_CYCLE, WIDEST
from pqswarm.measure.urms import fill_gaps
from pqswarm.report.style import FAINT, INK, STYLE, settle

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from pqswarm._typing import FloatArray
    from pqswarm.identify.verdict import ChannelVerdict, Verdict
    from pqswarm.recordings.recording import Recording

__all__ = ["plot_verdict"]

_PHASES = {"A": "#b5541c", "B": "#1f4e79", "C": "#4d7c3a", "AB": "#b5541c", "BC": "#1f4e79", "CA": "#4d7c3a"}
_OTHERS = ("#1f4e79", "#b5541c", "#4d7c3a", "#7a5fd0", "#c05a80", "#87962b")
_MARKS = {"sag": "#d9a441", "swell": "#c05a80", "interruption": "#d1344b"}
_MOST_CHANNELS = 6
_KNOWN_SIGNS = 0x500
"""Latin, Greek and Cyrillic: what matplotlib's own font has."""


def plot_verdict(recording: "Recording", verdict: "Verdict") -> Figure:
    """Draw a verdict: see :meth:`pqswarm.identify.Verdict.plot`."""
    shown = verdict.channels[:_MOST_CHANNELS]
    main = max(range(len(shown)), key=lambda i: _severity(shown[i]))
    colours = [_PHASES.get(one.result.phase, other) for one, other in zip(shown, _OTHERS, strict=False)]
    waves = [_wave(recording, verdict, channel) for channel in shown]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 8.0), layout=ConstrainedLayoutEngine(w_pad=0.15))
        axes = figure.subplots(3, 1, height_ratios=[1.25, 1.0, 1.1])
        _draw_title(figure, recording, verdict, shown[main])
        _draw_waves(axes[0], recording, shown, waves, colours, shown[main].window)
        _draw_urms(axes[1], verdict, shown, colours, recording.duration, shown[main].window)
        _draw_bands(figure, axes[2], recording, verdict, shown[main], waves[main])
        return settle(figure)


def _severity(channel: "ChannelVerdict") -> float:
    result = channel.result
    return max(
        [abs(1 - event.magnitude) for event in result.events]
        + [transient.peak for transient in result.transients]
        + [1 - channel.probabilities.get("pure_sinusoid", 1.0) - 1.0]
    )


def _wave(recording: "Recording", verdict: "Verdict", channel: "ChannelVerdict") -> "FloatArray":
    """The samples of a channel [pu of the peak]."""
    result, found = channel.result, verdict.characterisation
    filled, _ = fill_gaps(recording.channels[result.number].samples, found.sampling_rate / found.frequency)
    largest = float(np.abs(filled).max(initial=0.0))
    return np.asarray(filled / (np.sqrt(2) * result.reference if result.reference > 0 else max(largest, 1e-300)))


def _wrap(text: str, most: int) -> str:
    """A line that the font can draw, not longer than `most`."""
    text = "".join(sign if sign.isprintable() and ord(sign) < _KNOWN_SIGNS else "\u25a1" for sign in text)
    return text if len(text) <= most else text[: most - 3].rstrip() + "..."


def _draw_title(figure: Figure, recording: "Recording", verdict: "Verdict", main: "ChannelVerdict") -> None:
    lines = [_wrap(sentence, 125) for sentence in verdict.sentences[:3]]
    if len(verdict.sentences) > 3:
        lines[-1] += f" (and {len(verdict.sentences) - 3} more)"
    name = recording.source.replace("\\", "/").rsplit("/", 1)[-1] or "recording"
    caption = f"{name}: {recording.sampling_rate:.6g} Hz, {recording.cycles:.4g} cycles"
    text = "\n".join([_wrap(caption, 125), *lines, _wrap(main.text(), 125)])
    figure.suptitle(text, x=0.01, ha="left", fontsize=9.5, linespacing=1.35).set_parse_math(False)


def _draw_waves(
    axis: "Axes",
    recording: "Recording",
    shown: "tuple[ChannelVerdict, ...]",
    waves: "list[FloatArray]",
    colours: list[str],
    window: tuple[float, float],
) -> None:
    """Draw the waveforms in the window that the model looked at."""
    first, stop = (round(moment * recording.sampling_rate) for moment in window)
    time = 1000 * np.arange(first, stop) / recording.sampling_rate
    for channel, wave, colour in zip(shown, waves, colours, strict=True):
        axis.plot(time, wave[first:stop], color=colour, lw=0.7, label=_label(channel))
        for transient in channel.result.transients:
            if window[0] <= transient.onset <= window[1]:
                axis.axvline(1000 * transient.onset, color=colour, lw=0.8, ls=":")
    axis.set_ylabel("voltage [pu of peak]")
    axis.set_xlim(1000 * window[0], 1000 * window[1])
    legend = axis.legend(loc="lower right", frameon=False, ncols=6, fontsize=7.5, bbox_to_anchor=(1.0, 0.99))
    for text in legend.get_texts():
        text.set_parse_math(False)


def _label(channel: "ChannelVerdict") -> str:
    return _wrap(channel.result.name, 18) or "channel"


def _draw_urms(
    axis: "Axes",
    verdict: "Verdict",
    shown: "tuple[ChannelVerdict, ...]",
    colours: list[str],
    duration: float,
    window: tuple[float, float],
) -> None:
    found = verdict.characterisation
    for level in (found.thresholds.interruption, found.thresholds.sag, found.thresholds.swell):
        axis.axhline(level, color=FAINT, lw=0.8, ls="--")
        axis.annotate(f"{level:g}", (1.004, level), xycoords=("axes fraction", "data"), va="center", fontsize=7.5)
    marked: dict[str, Artist] = {}
    for channel, colour in zip(shown, colours, strict=True):
        marker = "." if found.time.size < 60 else None
        axis.plot(1000 * found.time, channel.result.urms, color=colour, lw=1.0, marker=marker, ms=3)
        for event in channel.result.events:
            shade = axis.axvspan(1000 * event.start, 1000 * event.end, color=_MARKS[event.kind], alpha=0.18, lw=0)
            marked.setdefault(event.kind, shade)
    if marked:
        shades, kinds = list(marked.values()), list(marked)
        axis.legend(shades, kinds, loc="lower right", frameon=False, ncols=3, fontsize=7.5, bbox_to_anchor=(1, 0.98))
    if window[1] - window[0] < 0.98 * duration:
        axis.axvspan(1000 * window[0], 1000 * window[1], ymax=0.03, color=INK, alpha=0.6, lw=0)
    axis.set_ylabel("Urms(1/2) [pu]")
    axis.set_xlabel("time [ms]")
    axis.set_xlim(0, 1000 * duration)
    top = max([1.25, *(float(np.nanmax(one.result.urms, initial=0.0)) for one in shown if one.result.urms.size)])
    axis.set_ylim(0, min(1.05 * top, 3.0))


def _draw_bands(
    figure: Figure,
    axis: "Axes",
    recording: "Recording",
    verdict: "Verdict",
    channel: "ChannelVerdict",
    wave: "FloatArray",
) -> None:
    """Draw the energy of each band in each half cycle; bands that the recording cannot have stay empty."""
    frequency, rate = verdict.characterisation.frequency, recording.sampling_rate
    first, stop = (round(moment * rate) for moment in channel.window)
    names = band_names(8)
    edges = band_edges(SAMPLES_PER_CYCLE * frequency, 8)
    try:
        even = resample(wave[first:stop], SAMPLES_PER_CYCLE * frequency / rate)
        energy = _energies(even)
    except PqswarmError:
        axis.text(0.5, 0.5, "too short for wavelet bands", ha="center", transform=axis.transAxes)
        axis.set_axis_off()
        return
    missing = [low >= rate / 2 for low, _ in edges]
    energy[missing] = np.nan
    levels = 10 * np.log10(np.maximum(energy, 1e-12))
    halves = energy.shape[1]
    begin = 1000 * channel.window[0]
    span = (begin, begin + 500 * halves / frequency)
    image = axis.imshow(
        levels, aspect="auto", cmap="magma", vmin=-70, vmax=0, extent=(*span, 8.5, -0.5), interpolation="nearest"
    )
    axis.set_yticks(range(9), [f"{n}  {_range(low, high)}" for n, (low, high) in zip(names, edges, strict=True)])
    axis.tick_params(axis="y", labelsize=7, length=0)
    for row, (low, high) in enumerate(edges):
        if min(high, WIDEST * frequency) > 1.02 * rate / 2:
            words, ink = "partly above half the sampling rate: not used", "white"
            if low >= rate / 2:
                words, ink = "above half the sampling rate", "#555555"
            axis.text(span[0] + 0.01 * (span[1] - span[0]), row, words, fontsize=7, va="center", color=ink)
    axis.set_xlim(1000 * channel.window[0], 1000 * channel.window[1])
    axis.set_xlabel("time [ms]")
    title = axis.set_title(f"energy of the wavelet bands of {_label(channel)}, each half cycle", fontsize=8.5)
    title.set_parse_math(False)
    figure.colorbar(image, ax=axis, label="dB of 1 pu", pad=0.01, aspect=18)


def _energies(even: "FloatArray") -> "FloatArray":
    """Mean square of each band in each half cycle [pu of the peak, squared, times 2]: shape (9, n_half_cycles)."""
    half = SAMPLES_PER_CYCLE // 2
    count = max(even.size // half, 1)
    room = min(6 * SAMPLES_PER_CYCLE, even.size - 1)
    padded = np.pad(even, room, mode="reflect", reflect_type="odd")
    table = np.zeros((9, count))
    for row, band in enumerate(decompose(padded[np.newaxis], 8)):
        step = 2 ** min(row + 1, 8)
        centres = step * np.arange(band.shape[1]) - 4.5 * (step - 1) - room
        power = np.interp(np.arange(count * half), centres, band[0] ** 2 / step)
        table[row] = 2 * power.reshape(count, -1).mean(axis=1)
    return table


def _range(low: float, high: float) -> str:
    if high >= 1000:
        return f"{low / 1000:.2g} - {high / 1000:.3g} kHz"
    return f"{low:.3g} - {high:.3g} Hz"
