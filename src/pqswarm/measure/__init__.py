"""What happened in a recording: measured by IEC 61000-4-30, in the words of IEEE 1159."""

from pqswarm.measure.characterisation import ChannelResult, Characterisation, Disturbance, Flag
from pqswarm.measure.detect.transients import Transient
from pqswarm.measure.detect.urms import half_cycle_rms
from pqswarm.measure.event import KINDS, Event, Part
from pqswarm.measure.moment import AtMoment, ChannelAtMoment, Phasor, SystemAtMoment, measure_at
from pqswarm.measure.pipeline import characterise
from pqswarm.measure.steady.harmonics import Spectrum
from pqswarm.measure.thresholds import Thresholds

__all__ = [
    "KINDS",
    "AtMoment",
    "ChannelAtMoment",
    "ChannelResult",
    "Characterisation",
    "Disturbance",
    "Event",
    "Flag",
    "Part",
    "Phasor",
    "Spectrum",
    "SystemAtMoment",
    "Thresholds",
    "Transient",
    "characterise",
    "half_cycle_rms",
    "measure_at",
]
