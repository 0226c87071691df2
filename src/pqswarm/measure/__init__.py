"""Measurements by IEC 61000-4-30 and events in the words of IEEE 1159.

Constants marked ``# tuned`` are empirical: they were chosen on recordings and generated signals. All others follow from
a standard, from statistics or from the sampling.
"""

from pqswarm.measure.characterisation import ChannelResult, Characterisation, Series
from pqswarm.measure.detect.urms import half_cycle_rms
from pqswarm.measure.event import KINDS, Event, Part
from pqswarm.measure.incidents.record import CAUSES, Incident, Stage
from pqswarm.measure.moment import AtMoment, ChannelAtMoment, Phasor, SystemAtMoment, measure_at
from pqswarm.measure.pipeline import characterise
from pqswarm.measure.power import PowerAtMoment
from pqswarm.measure.steady.harmonics import Spectrum
from pqswarm.measure.supply.channels import ChannelState
from pqswarm.measure.thresholds import Thresholds

__all__ = [
    "CAUSES",
    "KINDS",
    "AtMoment",
    "ChannelAtMoment",
    "ChannelResult",
    "ChannelState",
    "Characterisation",
    "Event",
    "Incident",
    "Part",
    "Phasor",
    "PowerAtMoment",
    "Series",
    "Spectrum",
    "Stage",
    "SystemAtMoment",
    "Thresholds",
    "characterise",
    "half_cycle_rms",
    "measure_at",
]
