"""Descriptions of the features."""

import re

from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.features.matrix import FUNCTIONS
from pqswarm.features.wavelet import band_edges

_NAME = re.compile(r"([DA])([1-9]\d?)\.(\w+)")
_WORDS = {
    "minimum": "minimum {of}: its largest negative peak",
    "maximum": "maximum {of}: its largest positive peak",
    "median": "median {of}: its offset, insensitive to short events",
    "energy": "energy {of}: grows with its amplitude and duration",
    "mean": "mean {of}: its offset",
    "entropy": "entropy {of}: how evenly its energy is spread over time, low for a short burst",
    "skewness": "skewness {of}: positive if its positive peaks are larger than the negative ones",
    "deviation": "standard deviation {of}: its RMS value without the offset",
    "mean_deviation": "mean absolute deviation {of}: its size, less sensitive to peaks than the RMS value",
    "variance": "variance {of}: its power without the offset",
    "kurtosis": "kurtosis {of}: high if short peaks stand out",
}


def describe_feature(name: str, sampling_rate: float | None = None) -> str:
    """Describe what a wavelet feature measures, and in which frequency band.

    The text follows from the definition: the function (see :func:`extract`) and the nominal edges of the band (see
    :func:`band_edges`; neighbouring bands overlap). Which events a feature separates depends on the data.

    Parameters
    ----------
    name : str
        Name of a feature, such as ``"A8.median"``; see :func:`feature_names`.
    sampling_rate : float, optional
        Samples per second of the signals [Hz]; without it the band is given by name.

    Returns
    -------
    str
        The function, the band and what the value grows with.

    Raises
    ------
    PqswarmError
        If there is no such feature.

    Examples
    --------
    >>> describe_feature("A8.median", 25_000)
    'median of the band below 49 Hz: its offset, insensitive to short events'
    >>> describe_feature("D3.energy", 25_000)
    'energy of the 1.56 to 3.12 kHz band: grows with its amplitude and duration'
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise PqswarmError(f"{name!r} is not the name of a wavelet feature, such as 'D3.energy' or 'A8.median'.")
    kind = match[1]
    level = int(match[2])
    function = match[3]
    if function not in _WORDS:
        raise unknown_name("function of a wavelet feature", function, FUNCTIONS)
    if sampling_rate is None:
        return _WORDS[function].format(of=f"of band {kind}{level}")
    low, high = band_edges(sampling_rate, level)[-1 if kind == "A" else level - 1]
    band = describe_band(low, high)
    return _WORDS[function].format(of=f"of the {f'band {band}' if low == 0 else f'{band} band'}")


def describe_band(low: float, high: float) -> str:
    """Return the frequency band between two edges [Hz] as text, with three digits.

    Examples
    --------
    >>> describe_band(0.0, 48.8), describe_band(781.25, 1562.5), describe_band(6250.0, 12500.0)
    ('below 49 Hz', '781 Hz to 1.56 kHz', '6.25 to 12.5 kHz')
    """
    if low <= 0:
        return f"below {_feature_frequency_digits(high)} {_feature_frequency_unit(high)}"
    first = "" if _feature_frequency_unit(low) == _feature_frequency_unit(high) else f" {_feature_frequency_unit(low)}"
    return (
        f"{_feature_frequency_digits(low)}{first} to {_feature_frequency_digits(high)} {_feature_frequency_unit(high)}"
    )


def _feature_frequency_unit(frequency: float) -> str:
    return "kHz" if frequency >= 999.5 else "Hz"


def _feature_frequency_digits(frequency: float) -> str:
    if _feature_frequency_unit(frequency) == "kHz":
        return f"{frequency / 1000:.3g}"
    return f"{frequency:.0f}" if frequency >= 10 else f"{frequency:.2g}"
