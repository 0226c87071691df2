"""Phasors before and during a sag: its type and its phase-angle jump."""

from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.event import ChannelEvent
from pqswarm.measure.group.sag_type import fit_phasor, sag_type, symmetrical_components
from pqswarm.measure.supply.survey import Supply
from pqswarm.recordings.recording import RecordingSource

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
        frequency = self.supply.frequency
        time = self.time
        urms = self.urms
        if len(self.members) != 3 or not all(self.supply.references[i].volts > 0 for i in self.members):
            return "", {}
        own = self.supply.numbers.index(worst.number)
        soon = min(worst.details["urms_end"], worst.details["urms_start"] + _SOON / frequency)
        inside = (time >= worst.details["urms_start"] - 1e-9) & (time <= soon + 1e-9)
        body = inside & (time >= worst.start + 0.5 / frequency) & (time <= worst.end - 0.5 / frequency)
        inside = body if body.any() else inside
        lowest = int(np.where(inside & np.isfinite(urms[own]), urms[own], np.inf).argmin())
        usual = np.all([np.abs(urms[i] - 1) < _USUAL for i in self.members], axis=0)
        calm = np.flatnonzero(usual & (time < worst.start - 0.75 / frequency) & (time > worst.start - _PAST))
        if not calm.size:
            return "", {}
        first, last = time[max(int(calm[-1]) - _TURNS, int(calm[0]))], time[calm[-1]]
        moments = [float(first), float(last), float(time[lowest])]
        phasors = [self._at(moment) for moment in moments]
        if any(each is None for each in phasors):
            return "", {}
        turn = 0.0
        if last > first:
            before = [symmetrical_components(each)[1] for each in phasors[:2] if each is not None]
            slip = float(np.angle(before[1] / before[0])) if abs(before[0]) > _USUAL else 0.0
            turn = slip / (moments[1] - moments[0]) * (moments[2] - moments[1])
        steady = phasors[1]
        during = [one * np.exp(-1j * turn) for one in phasors[2] or ()]
        place = self.members.index(own)
        angle = float(np.degrees(np.angle(during[place] / steady[place]))) if steady and during[place] else 0.0
        phases = [self.supply.headers[i].phase for i in self.members]
        kind, characteristic = sag_type(phases, steady or (), during)
        details = {"phase_jump": round(angle, 2)}
        if kind:
            details["characteristic_voltage"] = round(abs(characteristic), 4)
            details["characteristic_jump"] = round(float(np.degrees(np.angle(characteristic))), 2)
        return kind, details

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
