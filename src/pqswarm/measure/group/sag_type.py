"""Type of a three-phase sag after Bollen, from its symmetrical components.

A: all phases alike. C: two phases approach each other; E and G: the same of a fault of two phases to earth, with and
without a zero sequence. D: one phase sags along its own direction and the others less; B: the same with a zero
sequence; F: of a fault of two phases to earth behind a transformer. H and I: one phase or two sag while the others
swell, where the neutral moves. The letter after it is the symmetrical phase.

References
----------
M. H. J. Bollen, "Algorithms for characterizing measured three-phase unbalanced voltage dips", IEEE Trans. Power
Delivery 18 (2003) 937-944.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.event import ChannelEvent
from pqswarm.measure.steady.unbalance import orient_lines, symmetrical_components
from pqswarm.measure.supply.survey import Supply
from pqswarm.recordings.recording import RecordingSource

_TYPES = (("C", "a"), ("D", "c"), ("C", "b"), ("D", "a"), ("C", "c"), ("D", "b"))
"""By the angle of V2 / (1 - V1) in steps of 60 degrees."""
_BALANCED = (0.02, 0.2)  # tuned
"""Negative sequence below which a sag is of type A [pu], and as a fraction of the dip of the positive sequence."""
_ZERO = 0.5  # tuned
_NEUTRAL = 1.5  # tuned
"""Zero sequence over negative sequence from which on a fault is to earth, and from which on the neutral moves."""
_EARTH = 1 / 6
"""Change of the PN factor over that of the characteristic voltage: 0 without earth, 1/3 for two phases to earth."""
_SWELL = 1.08  # tuned
"""Voltage of a phase from which on it swells with the neutral [pu]."""
_MIN_NEUTRAL = 0.05  # tuned
"""Zero sequence of a neutral that moves [pu]."""
_WITH_ZERO = {
    "C": {"earth": "G", "zero": "E", "neutral": "I"},
    "D": {"earth": "F", "zero": "B", "neutral": "H"},
}
"""Types of a fault to earth, of one with a zero sequence, and of one in which the neutral moves."""
_ORDERS: Mapping[tuple[str, ...], bool] = {("A", "B", "C"): False, ("AB", "BC", "CA"): True}


def fit_phasor(samples: FloatArray, first: int, sampling_rate: float, frequency: float) -> complex:
    """Phasor (RMS) of the fundamental in samples of which the first has the number `first`; by least squares."""
    angle = 2 * np.pi * frequency / sampling_rate * (first + np.arange(samples.size))
    basis = np.column_stack([np.cos(angle), np.sin(angle), np.ones(samples.size)])
    (cosine, sine, _), *_ = np.linalg.lstsq(basis, samples, rcond=None)
    return complex(cosine, -sine) / 2**0.5


@dataclass(frozen=True)
class _SagComponents:
    """Symmetrical components during a sag, over the positive sequence before it.

    A phase may swell; the lowest one is ``"a"``, ``"b"`` or ``"c"``. If the phases rotate the other way, positive and
    negative sequence are exchanged.
    """

    zero: complex
    positive: complex
    negative: complex
    swells: bool
    lowest_phase: str
    is_reverse: bool
    between_lines: bool

    @staticmethod
    def of(before: Sequence[complex], during: Sequence[complex], *, between_lines: bool) -> "_SagComponents | None":
        """Measure a sag by its phasors; None if there was no voltage before."""
        if between_lines:
            signs = orient_lines(before)
            before = [sign * value for sign, value in zip(signs, before, strict=True)]
            during = [sign * value for sign, value in zip(signs, during, strict=True)]
        _, positive, negative = symmetrical_components(before)
        is_reverse = abs(negative) > abs(positive)
        usual = negative if is_reverse else positive
        if not abs(usual) > 0:
            return None
        zero, first, second = (component / usual for component in symmetrical_components(during))
        lowest = "abc"[int(np.abs(during).argmin())]
        if is_reverse:
            first, second = second, first
        swells = max(map(abs, during)) > _SWELL * abs(usual)
        return _SagComponents(zero, first, second, swells, lowest, is_reverse, between_lines)

    @property
    def is_balanced(self) -> bool:
        """Whether all phases sag alike."""
        return abs(self.negative) < max(_BALANCED[0], _BALANCED[1] * abs(1 - self.positive))

    def balanced_type(self) -> str:
        """Type of a sag without a negative sequence: A, or H where only the neutral moves."""
        dip = abs(1 - self.positive)
        if dip > 2 * _BALANCED[0] and abs(self.zero) < max(_MIN_NEUTRAL, dip):
            return "A"
        return f"H{self.lowest_phase}" if abs(self.zero) > _MIN_NEUTRAL and not self.between_lines else ""

    def unbalanced_type(self) -> tuple[str, complex]:
        """Type and characteristic voltage by the angle of the negative sequence."""
        negative = self.negative
        if self.between_lines:  # the negative sequence of the phases is turned by 60 degrees
            negative *= np.exp((-1j if self.is_reverse else 1j) * np.pi / 3)
        letter, phase = _TYPES[round(float(np.angle(negative / (1 - self.positive))) / (np.pi / 3)) % 6]
        turned = negative * np.exp(-2j * np.pi / 3 * "abc".index(phase))
        sign = 1 if letter == "D" else -1
        characteristic = self.positive + sign * turned
        to_earth = abs(1 - (self.positive - sign * turned)) > _EARTH * abs(1 - characteristic)
        if self.is_reverse:  # B and C have changed places
            phase = {"a": "a", "b": "c", "c": "b"}[phase]
        return self._with_zero_sequence(letter, to_earth, abs(negative)) + phase, characteristic

    def _with_zero_sequence(self, letter: str, to_earth: bool, negative: float) -> str:
        """Letter of a sag of type C or D with its zero sequence."""
        zero_ratio = 0.0 if self.between_lines else abs(self.zero) / negative
        moves = self.swells or zero_ratio > _NEUTRAL
        letters = _WITH_ZERO[letter]
        if zero_ratio <= _ZERO:
            return letters["earth"] if to_earth else letter
        return letters["neutral"] if abs(self.zero) > _MIN_NEUTRAL and moves else letters["zero"]


def sag_type(phases: Sequence[str], before: Sequence[complex], during: Sequence[complex]) -> tuple[str, complex]:
    """Type of a sag, empty if it has none, and characteristic voltage [pu], from the phasors before and during it."""
    order = next((names for names in _ORDERS if sorted(names) == sorted(phases)), ())
    if not order:
        return "", 1.0
    places = [list(phases).index(name) for name in order]
    sag = _SagComponents.of([before[i] for i in places], [during[i] for i in places], between_lines=_ORDERS[order])
    if sag is None:
        return "", 1.0
    return (sag.balanced_type(), sag.positive) if sag.is_balanced else sag.unbalanced_type()


_SOON = 10.0  # tuned
"""The type of a sag is that of its lowest voltage in the first cycles."""
_PAST = 2.0  # tuned
_USUAL = 0.1  # tuned
_TURNS = 8  # tuned
"""The phasors before are at most this old [s], within this of 1 pu, and taken over this many values of Urms(1/2)."""


@dataclass(frozen=True, eq=False)
class SagPhasors:
    """Measures sags of the three channels with the indices `members` among the supply voltages."""

    recording: RecordingSource
    supply: Supply
    time: FloatArray
    urms: FloatArray
    members: list[int]

    def measure(self, worst: ChannelEvent) -> tuple[str, dict[str, float]]:
        """Return the type of a sag and its phase-angle jump [degrees], by its worst part.

        Phasors [pu] before the event are compared with those at its lowest voltage soon after. Between the two,
        phasors turn by as much as the frequency is off, which the cycles before the event show.
        """
        is_complete = len(self.members) == 3 and all(self.supply.references[i].volts > 0 for i in self.members)
        calm = self._calm_moments(worst.start) if is_complete else None
        if calm is None:
            return "", {}
        early, late = calm
        lowest = self._lowest_moment(worst)
        first, before, during = (self._at(moment) for moment in (early, late, lowest))
        if first is None or before is None or during is None:
            return "", {}
        turn = 0.0
        if late > early:
            usual = symmetrical_components(first)[1]
            slip = float(np.angle(symmetrical_components(before)[1] / usual)) if abs(usual) > _USUAL else 0.0
            turn = slip / (late - early) * (lowest - late)
        during = [value * np.exp(-1j * turn) for value in during]
        place = self.members.index(self.supply.numbers.index(worst.number))
        angle = float(np.degrees(np.angle(during[place] / before[place]))) if during[place] else 0.0
        letters, characteristic = sag_type([self.supply.headers[i].phase for i in self.members], before, during)
        details = {"phase_jump": round(angle, 2)}
        if letters:
            details["characteristic_voltage"] = round(abs(characteristic), 4)
            details["characteristic_jump"] = round(float(np.degrees(np.angle(characteristic))), 2)
        return letters, details

    def _calm_moments(self, start: float) -> tuple[float, float] | None:
        """First and last of some moments before a sag at which all phases are as usual [s]; None if there is none."""
        usual = np.all([np.abs(self.urms[i] - 1) < _USUAL for i in self.members], axis=0)
        is_before = (self.time < start - 0.75 / self.supply.frequency) & (self.time > start - _PAST)
        calm = np.flatnonzero(usual & is_before)
        if not calm.size:
            return None
        return float(self.time[max(int(calm[-1]) - _TURNS, int(calm[0]))]), float(self.time[calm[-1]])

    def _lowest_moment(self, worst: ChannelEvent) -> float:
        """Moment of the lowest voltage of a sag in its first cycles, off its edges [s]."""
        frequency = self.supply.frequency
        soon = min(worst.details["urms_end"], worst.details["urms_start"] + _SOON / frequency)
        inside = (self.time >= worst.details["urms_start"] - 1e-9) & (self.time <= soon + 1e-9)
        body = inside & (self.time >= worst.start + 0.5 / frequency) & (self.time <= worst.end - 0.5 / frequency)
        inside = body if body.any() else inside
        urms = self.urms[self.supply.numbers.index(worst.number)]
        return float(self.time[np.where(inside & np.isfinite(urms), urms, np.inf).argmin()])

    def _at(self, moment: float) -> list[complex] | None:
        """Phasors [pu] of the cycle about a moment [s]; None if it is incomplete."""
        rate = self.recording.sampling_rate
        frequency = self.supply.frequency
        width = round(rate / frequency)
        first = round(moment * rate) - width // 2
        if first < 0 or first + width > self.recording.n_samples:
            return None
        volts = read_channels(self.recording, [self.supply.numbers[i] for i in self.members], first, first + width)
        if not np.isfinite(volts).all():
            return None
        return [
            fit_phasor(samples / self.supply.references[i].volts, first, rate, frequency)
            for samples, i in zip(volts, self.members, strict=True)
        ]
