"""Measurements by IEC 61000-4-30 and events in the words of IEEE 1159.

Constants marked ``# tuned`` are empirical: they were chosen on recordings and generated signals. All others follow from
a standard, from statistics or from the sampling.
"""

from pqswarm.measure.detect.urms import half_cycle_rms
from pqswarm.measure.event import EVENT_TYPES, ChannelEvent, Event
from pqswarm.measure.incidents.stages import CAUSES, Incident, IncidentStage, Operation
from pqswarm.measure.pipeline import ChannelResult, Characterization, MeasuredSeries, characterize
from pqswarm.measure.snapshot import ChannelSnapshot, Phasor, PowerSnapshot, Snapshot, SystemSnapshot, measure_at
from pqswarm.measure.steady.harmonics import Spectrum
from pqswarm.measure.supply.channels import ChannelState
from pqswarm.measure.thresholds import Thresholds

__all__ = [
    "CAUSES",
    "EVENT_TYPES",
    "ChannelEvent",
    "ChannelResult",
    "ChannelSnapshot",
    "ChannelState",
    "Characterization",
    "Event",
    "Incident",
    "IncidentStage",
    "MeasuredSeries",
    "Operation",
    "Phasor",
    "PowerSnapshot",
    "Snapshot",
    "Spectrum",
    "SystemSnapshot",
    "Thresholds",
    "characterize",
    "half_cycle_rms",
    "measure_at",
]
