"""The result of a measurement: plain frozen records and sentences."""

from dataclasses import dataclass, field

import numpy as np

from pqswarm._base.text import voltage_text
from pqswarm._base.typing import FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.measure.event import Event
from pqswarm.measure.incidents.stages import Incident
from pqswarm.measure.steady import SteadySeries
from pqswarm.measure.steady.harmonics import Spectrum
from pqswarm.measure.supply.channels import ChannelState
from pqswarm.measure.thresholds import Thresholds


@dataclass(frozen=True)
class ChannelResult:
    """A supply voltage.

    Attributes
    ----------
    name, phase : str
        Name of the channel, and its phase; the phase is empty if unknown.
    system : str
        Three-phase system of the channel.
    number : int
        Index of the channel in the recording.
    reference : float
        Voltage of 1 pu [V].
    reference_source : str
        Where the reference comes from: ``"pre-event"``, ``"nominal"``, ``"given"``, ...
    spectrum : Spectrum or None
        Harmonics of the steadiest cycles; None if no cycle is live.
    noise : float
        RMS of the noise above four times the fundamental [pu of the peak]; NaN if unknown.
    """

    name: str
    phase: str
    system: str
    number: int
    reference: float
    reference_source: str
    spectrum: Spectrum | None = None
    noise: float = float("nan")


@dataclass(frozen=True, eq=False)
class MeasuredSeries:
    """The measured time series, the large part of a result.

    Attributes
    ----------
    time : ndarray of shape (n_windows,)
        Centres of the windows of Urms(1/2) [s].
    urms : ndarray of shape (n_channels, n_windows)
        Urms(1/2) [pu], in the order of :attr:`Characterization.channels`.
    steady : SteadySeries
        Quantities of each 10 or 12 cycles.
    frequency : ndarray of shape (n_windows,)
        Frequency at :attr:`time` [Hz]; NaN where it is unknown.
    """

    time: FloatArray
    urms: FloatArray
    steady: SteadySeries
    frequency: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def nbytes(self) -> int:
        """Memory of the arrays [byte]."""
        arrays = (self.time, self.urms, self.frequency, *vars(self.steady).values())
        return sum(one.nbytes for one in arrays if isinstance(one, np.ndarray))


@dataclass(frozen=True, eq=False)
class Characterization:
    """What was found in a recording, with the thresholds and references used.

    Attributes
    ----------
    source : str
        Name of the recording.
    sampling_rate, frequency, nominal_frequency : float
        Samples per second; measured frequency, or the nominal one if it could not be measured; nominal [Hz].
    n_samples : int
        Samples per channel.
    thresholds : Thresholds
        Detection thresholds.
    channels : tuple of ChannelResult
        One per supply voltage.
    states : tuple of ChannelState
        What each voltage of the recording is, and why.
    events : tuple of Event
        In order of time; empty if nothing was found.
    caveats : tuple of str
        Assumptions, and what the recording cannot show; one sentence each.
    incidents : tuple of Incident
        Events that belong together, with their cause; in order of time.
    series : MeasuredSeries or None
        The measured time series; None if they were dropped to save memory.
    no_event_reason : str
        Why there are no events, such as ``"no disturbance found"``; empty if there are any.
    """

    source: str
    sampling_rate: float
    frequency: float
    nominal_frequency: float
    n_samples: int
    thresholds: Thresholds
    channels: tuple[ChannelResult, ...]
    states: tuple[ChannelState, ...]
    events: tuple[Event, ...]
    caveats: tuple[str, ...]
    incidents: tuple[Incident, ...] = ()
    series: MeasuredSeries | None = None
    no_event_reason: str = ""

    def require_series(self) -> MeasuredSeries:
        """Return the time series, or raise :class:`PqswarmError` if they were dropped."""
        if self.series is None:
            raise PqswarmError("the time series of this result were dropped: analyze the recording again.")
        return self.series

    def urms_of(self, channel: ChannelResult) -> FloatArray:
        """Return Urms(1/2) of one of :attr:`channels` [pu], at :attr:`MeasuredSeries.time`."""
        place = next(i for i, one in enumerate(self.channels) if one.number == channel.number)
        return np.asarray(self.require_series().urms[place])

    def sentences(self) -> tuple[str, ...]:
        """Describe each event, in order of time, or say why there is none."""
        return tuple(event.sentence for event in self.events) or (self.no_event_reason,)

    def text(self) -> str:
        """Return sentences, references, thresholds and caveats, one per line."""
        t = self.thresholds
        references = "; ".join(f"{c.name} {voltage_text(c.reference)} ({c.reference_source})" for c in self.channels)
        return "\n".join(
            [
                *self.sentences(),
                f"1 pu: {references}",
                f"frequency {self.frequency:.2f} Hz (nominal {self.nominal_frequency:g} Hz)",
                f"thresholds: sag {t.sag:g}, swell {t.swell:g}, interruption {t.interruption:g}, "
                f"hysteresis {t.hysteresis:g}, transient {t.transient:g} pu; THD {t.thd:g}",
                *self.caveats,
            ]
        )
