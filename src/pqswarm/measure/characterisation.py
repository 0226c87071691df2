"""The result of a measurement: plain frozen records and sentences."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm._base.units import voltage_text
from pqswarm.errors import PqswarmError
from pqswarm.measure.event import Event
from pqswarm.measure.incidents.record import Incident
from pqswarm.measure.steady import SteadySeries
from pqswarm.measure.steady.harmonics import Spectrum
from pqswarm.measure.supply.channels import ChannelState
from pqswarm.measure.thresholds import Thresholds

_MAX_VALUES = 20_000
"""Values of Urms(1/2) per channel that are written to JSON."""


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

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values."""
        spectrum, noise = self.spectrum, self.noise if self.noise == self.noise else None
        return {**vars(self), "spectrum": None if spectrum is None else spectrum.as_dict(), "noise": noise}


@dataclass(frozen=True, eq=False)
class Series:
    """The measured time series, the large part of a result.

    Attributes
    ----------
    time : ndarray of shape (n_windows,)
        Centres of the windows of Urms(1/2) [s].
    urms : ndarray of shape (n_channels, n_windows)
        Urms(1/2) [pu], in the order of :attr:`Characterisation.channels`.
    steady : SteadySeries
        Quantities of each 10 or 12 cycles.
    """

    time: FloatArray
    urms: FloatArray
    steady: SteadySeries

    @property
    def nbytes(self) -> int:
        """Memory of the arrays [byte]."""
        arrays = (self.time, self.urms, *vars(self.steady).values())
        return sum(one.nbytes for one in arrays if isinstance(one, np.ndarray))


@dataclass(frozen=True, eq=False)
class Characterisation:
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
        In order of time; one of kind ``"none"`` if nothing was found.
    caveats : tuple of str
        Assumptions, and what the recording cannot show; one sentence each.
    incidents : tuple of Incident
        Events that belong together, with their cause; in order of time.
    series : Series or None
        The measured time series; None if they were dropped to save memory.
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
    series: Series | None = None

    def require_series(self) -> Series:
        """Return the time series, or raise :class:`PqswarmError` if they were dropped."""
        if self.series is None:
            raise PqswarmError("the time series of this result were dropped: analyse the recording again.")
        return self.series

    def urms_of(self, channel: ChannelResult) -> FloatArray:
        """Return Urms(1/2) of one of :attr:`channels` [pu], at :attr:`Series.time`."""
        place = next(i for i, one in enumerate(self.channels) if one.number == channel.number)
        values: FloatArray = self.require_series().urms[place]
        return values

    def sentences(self) -> tuple[str, ...]:
        """Describe each event, in order of time."""
        return tuple(event.sentence for event in self.events)

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

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON; Urms(1/2) of a long recording is left out."""
        series = self.series if self.series is not None and self.series.time.size <= _MAX_VALUES else None
        urms = [None] * len(self.channels) if series is None else list(map(_characterisation_json_values, series.urms))
        return {
            "source": self.source,
            "sampling_rate": self.sampling_rate,
            "frequency": self.frequency,
            "nominal_frequency": self.nominal_frequency,
            "thresholds": asdict(self.thresholds),
            "time": None if series is None else _characterisation_json_values(series.time),
            "sentences": list(self.sentences()),
            "events": [event.as_dict() for event in self.events],
            "incidents": [incident.as_dict() for incident in self.incidents],
            "channels": [{**one.as_dict(), "urms": values} for one, values in zip(self.channels, urms, strict=True)],
            "states": [vars(one) for one in self.states],
            "caveats": list(self.caveats),
        }


def _characterisation_json_values(values: FloatArray) -> list[float | None]:
    return [None if value != value else round(value, 6) for value in values.tolist()]
