"""Detection thresholds."""

from pqswarm._base.parameters import Parameters, parameter
from pqswarm.errors import PqswarmError


class Thresholds(Parameters):
    """Detection thresholds, in pu of the reference, or of its peak for instantaneous values."""

    sag: float = parameter(default=0.9, low=0, meaning="Urms(1/2) below which a sag begins [pu]")
    swell: float = parameter(default=1.1, low=0, meaning="Urms(1/2) above which a swell begins [pu]")
    interruption: float = parameter(default=0.1, low=0, meaning="Urms(1/2) below which an interruption begins [pu]")
    hysteresis: float = parameter(default=0.02, low=0, meaning="by how much Urms(1/2) must be back for the end [pu]")
    transient: float = parameter(default=0.08, low=0, meaning="minimum deviation from the cycles before and after [pu]")
    transient_noise_factor: float = parameter(
        default=6.0, low=0, meaning="minimum deviation over the recording's noise"
    )
    voltage_change: float = parameter(default=0.02, low=0, meaning="minimum rapid change of Urms(1/2) [pu]")
    thd: float = parameter(default=0.05, low=0, meaning="total harmonic distortion above which harmonics are flagged")
    dc: float = parameter(default=0.01, low=0, meaning="direct component above which it is flagged [pu]")
    notch: float = parameter(default=0.05, low=0, meaning="minimum depth of a notch [pu]")
    flicker: float = parameter(default=0.005, low=0, meaning="minimum depth of a modulation")
    unbalance: float = parameter(
        default=0.02, low=0, meaning="negative over positive sequence above which it is flagged"
    )
    lowest_frequency: float = parameter(
        default=0.0, low=0, meaning="frequency below which it is an event [Hz]; 0: 1 % below nominal"
    )
    highest_frequency: float = parameter(
        default=0.0, low=0, meaning="frequency above which it is an event [Hz]; 0: 1 % above nominal"
    )
    pst: float = parameter(default=1.0, low=0, meaning="short-term flicker severity above which flicker is flagged")

    def frequency_band(self, nominal: float) -> tuple[float, float]:
        """Return the lowest and highest frequency that is no event, for a nominal frequency [Hz].

        Examples
        --------
        >>> Thresholds().frequency_band(50.0), Thresholds(lowest_frequency=49.8).frequency_band(50.0)
        ((49.5, 50.5), (49.8, 50.5))
        """
        return self.lowest_frequency or 0.99 * nominal, self.highest_frequency or 1.01 * nominal

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.highest_frequency <= self.lowest_frequency:
            raise PqswarmError(
                f"lowest_frequency, {self.lowest_frequency:g} Hz, must be below highest_frequency, "
                f"{self.highest_frequency:g} Hz."
            )
        if not self.interruption + self.hysteresis <= self.sag < 1 < self.swell or self.hysteresis >= self.swell - 1:
            raise PqswarmError(
                "thresholds must be in the order interruption + hysteresis <= sag < 1 < swell, and hysteresis below "
                f"swell - 1, not {self.interruption:g}, {self.hysteresis:g}, {self.sag:g} and {self.swell:g}."
            )
