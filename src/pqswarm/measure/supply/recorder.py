"""Self-check of a recorder: samples that are no measurement are named, and left out, before anything is measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from pqswarm._base.text import unit_text
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm.measure.detect.pages import turn_pages
from pqswarm.measure.detect.spans import true_stretches
from pqswarm.recordings.recording import ChannelHeader, Recording, RecordingSource

_MOST = 60
"""Channels that are looked at."""
_FROZEN = 1 / 16
_FROZEN_ALONE = 0.3
_FROZEN_BESIDE = 0.6
_FEWEST = 4
"""Cycles, of several channels, of a single one, and of one beside others, and samples, in which a live signal is not
constant."""
_NO_BREAKER = 12.0
"""Cycles from which on zeros may be a supply that a breaker opens and closes again."""
_HELD = 0.05  # tuned
"""A value that is held over the largest: below it, it is a supply without voltage."""
_COARSE = 0.5
"""Fraction of repeated samples from which on a recorder repeats them at all times: its rate is lower than stated."""
_JUMP = np.radians(8)  # tuned
_SAME_ANGLE = np.radians(3)  # tuned
_SAME_SIZE = 0.03  # tuned
_EXCHANGED = 0.8  # tuned
"""Angle by which all channels jump where samples are lost, and by how much they may differ in it and in size; fraction
of the negative sequence after two channels are exchanged, and of the positive one before."""
_LIVE = 0.3
"""A voltage below this fraction of the largest is not looked at for jumps."""
_STEPS = 64
"""Moments in a cycle at which a jump is looked for."""
_REACH = 0.75
"""Cycles on both sides of a jump that are no measurement."""
_FLAT = 3
"""Samples in a row at the extreme value that are no crest, beyond twice those that coarse values explain."""
_KINK = 0.02  # tuned
"""Rise to the extreme value in two samples, or in a 64th of a cycle, over it."""
_BESIDE = 2.5
"""Cycles next to a fault in which there is no other one."""
_MARGIN = 4.0
"""Cycles next to a page."""


@dataclass(frozen=True)
class RecorderFault:
    """What is wrong with the samples from `start` to `end` [s]; `is_blank` if they are no measurement.

    `channel` is the number of the only channel that it is of; None if it is of all.
    """

    start: float
    end: float
    sentence: str
    is_blank: bool = True
    channel: int | None = None


@dataclass(frozen=True, eq=False)
class SoundRecording:
    """A recording whose faulty samples read as missing; else it is the recording itself."""

    recording: RecordingSource
    faults: tuple[RecorderFault, ...]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.recording, name)

    def read(self, first: int = 0, stop: int | None = None) -> Recording:
        """Return some samples, those that are no measurement as missing."""
        first, stop, _ = slice(first, stop).indices(self.recording.n_samples)
        part = self.recording.read(first, stop)
        missing = np.zeros((len(part.channels), part.n_samples), dtype=np.bool_)
        rate = self.recording.sampling_rate
        for fault in self.faults:
            begin, end = (max(round(moment * rate) - first, 0) for moment in (fault.start, fault.end))
            missing[slice(None) if fault.channel is None else fault.channel, begin:end] |= fault.is_blank
        if not missing.any():
            return part
        channels = [
            replace(one, samples=np.where(row, np.nan, one.samples)) if row.any() else one
            for one, row in zip(part.channels, missing, strict=True)
        ]
        return replace(part, channels=tuple(channels))


@np.errstate(invalid="ignore")  # samples may be infinite
def check_recorder(recording: RecordingSource) -> tuple[RecordingSource, list[RecorderFault]]:
    """Return the recording with samples that are no measurement as missing, and the faults in order of time."""
    cycle = recording.sampling_rate / recording.nominal_frequency
    numbers = [i for i, one in enumerate(recording.channels) if one.is_voltage or one.is_current][:_MOST]
    if not numbers or cycle < _FEWEST:
        return recording, []
    headers = [recording.channels[i] for i in numbers]
    faults: list[RecorderFault] = []
    extremes = _Extremes(headers, cycle)
    for page in turn_pages(recording, numbers, round(_MARGIN * cycle)):
        begin = page.start / recording.sampling_rate
        for row, first, stop, how in chain(
            _frozen_stretches(page.samples, headers, cycle), _frozen_alone(page.samples, headers, cycle)
        ):
            start, end = (begin + place / recording.sampling_rate for place in (first, stop))
            channel = None if row is None else numbers[row]
            if not any(one.channel in (None, channel) and start < one.end and end > one.start for one in faults):
                who = "All voltages are" if row is None else f"{headers[row].name} is"
                said = f"{who} {how} from {start:.3f} s on, for {(stop - first) / cycle:.1f} cycles."
                faults.append(RecorderFault(start, end, said, channel=channel))
        for first, stop, what in _jumps(page.samples, headers, cycle):
            start, end = (begin + place / recording.sampling_rate for place in (first, stop))
            beside = _BESIDE * cycle / recording.sampling_rate  # it may be the edge of another fault
            if not any(start < one.end + beside and end > one.start - beside for one in faults):
                faults.append(RecorderFault(start, end, what.format(at=f"{(start + end) / 2:.3f} s")))
        extremes.feed(page.core, page.first)
    faults += extremes.faults(recording.sampling_rate)
    if not faults:
        return recording, []
    faults.sort(key=lambda fault: fault.start)
    return SoundRecording(recording, tuple(faults)), faults


def blank_fraction(recording: RecordingSource, faults: Sequence[RecorderFault]) -> float:
    """Fraction of the samples of a recording that some faults leave out."""
    n, rate = recording.n_samples, recording.sampling_rate
    return sum(min(round(fault.end * rate), n) - round(fault.start * rate) for fault in faults) / n


def _frozen_stretches(
    samples: FloatArray, headers: Sequence[ChannelHeader], cycle: float
) -> Iterator[tuple[None, int, int, str]]:
    """No row, first sample, end and kind of each stretch in which all voltages hold a value, some far from zero.

    Or all are exactly zero from one sample to the next, and come back so, sooner than a breaker recloses.
    """
    samples = samples[[i for i, one in enumerate(headers) if one.is_voltage]]
    sizes = np.nanmax(np.abs(samples), axis=1, initial=0.0)
    live = samples[(sizes > 0) & (np.nanmax(np.abs(np.diff(samples, axis=1)), axis=1, initial=0.0) > 0)]
    if not live.size:
        return
    same = (np.diff(live, axis=1) == 0).all(axis=0)
    least = max((_FROZEN if len(live) > 1 else _FROZEN_ALONE) * cycle, _FEWEST)
    if same.mean() > _COARSE:
        return
    size = np.nanmax(np.abs(live), axis=1)
    for first, stop in (pair for pair in true_stretches(same) if pair[1] - pair[0] >= least):
        is_far = bool((np.abs(live[:, first]) > _HELD * size).any())
        sides = np.abs(live[:, [first - 1, min(stop + 1, same.size)]]) > _LIVE * size[:, None]
        is_filled = first > 0 and len(live) > 1 and not live[:, first].any() and sides.any(axis=0).all()
        if is_far or (is_filled and stop - first < _NO_BREAKER * cycle):
            yield None, first + is_far, stop + 1, "frozen" if is_far else "zero, as where samples are missing,"


def _frozen_alone(
    samples: FloatArray, headers: Sequence[ChannelHeader], cycle: float
) -> Iterator[tuple[int, int, int, str]]:
    """Row, first sample, end and kind of each stretch in which a voltage alone holds a value far from zero."""
    rows = [i for i, one in enumerate(headers) if one.is_voltage]
    held = np.diff(samples[rows], axis=1) == 0
    least = max(_FROZEN_BESIDE * cycle, _FEWEST)
    for row, own in zip(rows, held, strict=True):
        size = np.nanmax(np.abs(samples[row]), initial=0.0)
        for first, stop in true_stretches(own):
            is_far = abs(samples[row, first]) > _HELD * size
            if stop - first >= least and is_far and (held[:, first:stop].mean(axis=1) < _COARSE).any():
                yield row, first + 1, stop + 1, "frozen"


def _jumps(samples: FloatArray, headers: Sequence[ChannelHeader], cycle: float) -> Iterator[tuple[int, int, str]]:
    """The cycle about each moment at which samples are lost, or two channels are exchanged."""
    rows = [i for i, one in enumerate(headers) if one.is_voltage]
    volts = np.where(np.isfinite(samples[rows]), samples[rows], 0.0)
    volts = volts / max(float(np.abs(volts).max(initial=0.0)), 1e-300)
    width = round(cycle)
    if not rows or volts.shape[1] < 4 * width:
        return
    turn = np.exp(-2j * np.pi / cycle * np.arange(volts.shape[1]))
    total = np.cumsum(np.pad(volts * turn, ((0, 0), (1, 0))), axis=1)
    hop = max(width // _STEPS, 1)
    lag = round(width / hop)
    phasors = (total[:, width:] - total[:, :-width])[:, ::hop]
    is_there = np.abs(phasors).max(axis=1) > _LIVE * np.abs(phasors).max()
    phasors = phasors[is_there]
    if len(phasors) < 2:
        return
    before, after = phasors[:, :-lag], phasors[:, lag:]
    least = _LIVE * np.abs(phasors).max(axis=1, keepdims=True)
    is_live = (np.minimum(np.abs(before), np.abs(after)) > least).all(axis=0)
    usual_size = np.median(np.abs(phasors), axis=1, keepdims=True)
    is_steady = is_live.copy()
    for table in (before, after):
        is_steady &= (np.abs(np.abs(table) - usual_size) <= _SAME_SIZE * usual_size).all(axis=0)
    turned = after * np.conj(before)
    # Less what the frequency makes of it, by the cycles beside.
    beside = np.pad(np.where(is_live, turned, 1.0), ((0, 0), (2 * lag, 2 * lag)), mode="edge")
    sides = np.angle([beside[:, : -4 * lag], beside[:, 4 * lag :]])
    is_steady &= (np.abs(np.ptp(sides, axis=0)) < _JUMP).all(axis=0)  # else one of them holds a jump
    angle = np.angle(turned * np.exp(-1j * sides.mean(axis=0)))
    together = np.abs(angle)
    least_angle = together.min(axis=0)
    spread = np.ptp(np.angle(np.exp(1j * (angle - angle[:1]))), axis=0)
    lost = is_steady & (spread < _SAME_ANGLE) & (least_angle > _JUMP)
    reach = round(_REACH * width)
    peaks = [first + int(least_angle[first:stop].argmax()) for first, stop in true_stretches(lost)]
    for strongest in sorted(peaks, key=lambda peak: -least_angle[peak]):  # a jump has shadows in the cycles next to it
        at = strongest * hop + width
        degrees = np.degrees(together[:, strongest].mean())
        what = f"All voltages jump by {degrees:.0f} degrees at {{at}} and keep their size: samples are lost"
        yield max(at - reach, 0), at + reach, f"{what}, or the supply was switched."
    phases = [headers[rows[k]].phase for k in np.flatnonzero(is_there)]
    yield from _exchanges(before, after, is_live, phases, hop, width)


def _exchanges(
    before: AnyArray, after: AnyArray, is_live: BoolArray, phases: Sequence[str], hop: int, width: int
) -> Iterator[tuple[int, int, str]]:
    """The cycle about a moment at which the phases of the first three-phase system begin to rotate the other way."""
    if not set("ABC") <= set(phases):
        return
    places = [list(phases).index(phase) for phase in "ABC"]
    shift = np.exp(2j * np.pi / 3 * np.arange(3))[:, None]
    fractions = []
    for table in (before[places], after[places]):
        total = np.maximum(np.abs(table).sum(axis=0), 1e-300)
        fractions.append((np.abs((table * shift).sum(axis=0)) / total, np.abs((table * shift**2).sum(axis=0)) / total))
    (ahead, behind), (ahead_after, behind_after) = fractions
    exchanged = np.maximum(np.minimum(ahead, behind_after), np.minimum(behind, ahead_after))
    reach = round(_REACH * width)
    for first, stop in true_stretches(is_live & (exchanged > _EXCHANGED)):
        at = (first + int(exchanged[first:stop].argmax())) * hop + width
        what = "Two voltages are exchanged at {at}: the phases rotate the other way."
        yield max(at - reach, 0), at + reach, what


class _Extremes:
    """The largest and smallest value of each channel, how often it stands there, and where it does so first."""

    def __init__(self, headers: Sequence[ChannelHeader], cycle: float) -> None:
        self.headers = headers
        self.cycle = cycle
        self.found: dict[tuple[int, int], tuple[float, int, int]] = {}

    def feed(self, samples: FloatArray, first: int) -> None:
        """Take the samples of a page, the first of which has the number `first`."""
        for i in range(len(self.headers)):
            for sign in (1, -1):
                row = sign * samples[i]
                top = float(np.nanmax(row, initial=-np.inf))
                known, count, place = self.found.get((i, sign), (0.0, 0, -1))
                if not top > 0 or top < known * (1 - 1e-9):
                    continue
                count = 0 if top > known * (1 + 1e-9) else count
                runs = self._flat_runs(row, top)
                place = first + runs[0][0] if runs and not count else place
                self.found[i, sign] = (top, count + len(runs), place)

    def _flat_runs(self, row: FloatArray, top: float) -> list[tuple[int, int]]:
        """Runs at the extreme value that are longer than a crest of such coarse values, and begin with a kink."""
        steps = np.abs(np.diff(row))
        quantum = float(steps[steps > 1e-9 * top].min(initial=top))
        crest = _FLAT + 2 * self.cycle / np.pi * float(np.arccos(1 - min(quantum / top, 1.0)))
        kink = max(_KINK * top, 4 * quantum)
        runs = [(a, b) for a, b in true_stretches(row >= top * (1 - 1e-9)) if b - a > crest]
        near = max(round(self.cycle / 64), 2)
        return [(a, b) for a, b in runs if a >= near and top - row[a - near] > kink]

    def faults(self, sampling_rate: float) -> list[RecorderFault]:
        """A fault for each channel that stands at an extreme value more than once."""
        faults: dict[int, RecorderFault] = {}
        units = [header.unit for header in self.headers]
        largest = dict.fromkeys(units, 0.0)
        for (i, _), (top, _, _) in self.found.items():
            largest[units[i]] = max(largest[units[i]], top)
        for (i, _), (top, count, place) in self.found.items():
            if count > 1 and i not in faults and top > _LIVE * largest[units[i]]:
                name = self.headers[i].name
                start = place / sampling_rate
                limit = unit_text(top, units[i])
                text = f"{name} is clipped at {limit} from {start:.3f} s on: its magnitudes are too small."
                faults[i] = RecorderFault(start, start, text, is_blank=False)
        return list(faults.values())
