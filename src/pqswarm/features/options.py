"""Options of the feature extraction."""

from pqswarm._base.parameters import Parameters, parameter
from pqswarm.features._filters import FILTERS
from pqswarm.features.wavelet import BORDERS, decomposition_level

WAVELETS: tuple[str, ...] = tuple(FILTERS)
"""Names of the wavelets: Daubechies (minimum delay), symlets and coiflets."""


class FeatureOptions(Parameters):
    """How features are extracted: wavelet, number of levels, and border mode.

    The defaults are those of the paper; the border mode is our choice, MATLAB's default.

    Examples
    --------
    >>> options = FeatureOptions(wavelet="db4", level=5)
    >>> options.describe(), options.level_at(25_000, 50), options.n_features(25_000, 50)
    ('db4, level 5, border symmetric', 5, 66)
    """

    _owner = "features"

    wavelet: str = parameter("orthogonal wavelet", default="sym6", choices=WAVELETS)
    level: int | None = parameter(
        "levels of the transform; None for the paper's rule of thumb", default=None, low=1, high=20
    )
    border: str = parameter("how a signal is extended at its ends", default="symmetric", choices=BORDERS)

    def level_at(self, sampling_rate: float, frequency: float) -> int:
        """Return the level at a sampling rate and a frequency of the grid [Hz]."""
        return decomposition_level(sampling_rate, frequency) if self.level is None else self.level

    def n_features(self, sampling_rate: float, frequency: float) -> int:
        """Return the number of features at a sampling rate and a frequency of the grid [Hz]."""
        from pqswarm.features.matrix import FUNCTIONS

        return len(FUNCTIONS) * (self.level_at(sampling_rate, frequency) + 1)

    def describe(self) -> str:
        """Return the options as text."""
        level = "level by rule of thumb" if self.level is None else f"level {self.level}"
        return f"{self.wavelet}, {level}, border {self.border}"

    def changed(self) -> dict[str, str | int]:
        """Return the options that differ from the defaults."""
        default = type(self)().settings()
        return {name: value for name, value in self.settings().items() if value != default[name]}
