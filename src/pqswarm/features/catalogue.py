"""What each feature measures, in words."""

import re

from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.features.matrix import FUNCTIONS
from pqswarm.features.wavelet import band_edges

__all__ = ["describe_band", "describe_feature"]

_NAME = re.compile(r"([DA])([1-9]\d?)\.(\w+)")
_WORDS = {
    "minimum": "lowest coefficient {of}: its greatest peak downwards",
    "maximum": "highest coefficient {of}: its greatest peak upwards",
    "median": "offset {of}, as the middle value: short events count little",
    "energy": "energy {of}: grows with its size and with how long it lasts",
    "mean": "offset {of}, as the mean",
    "entropy": "how evenly the energy {of} is spread over time: low for a short burst, high for what lasts",
    "skewness": "skewness {of}: positive if its peaks upwards are larger than those downwards",
    "deviation": "standard deviation {of}: its RMS size, without its offset",
    "mean_deviation": "mean absolute deviation {of}: its size, with peaks counting less than in the RMS",
    "variance": "variance {of}: its power, without its offset",
    "kurtosis": "kurtosis {of}: high if short peaks stand out from the rest",
}


def describe_feature(name: str, sampling_rate: float | None = None) -> str:
    """Return in words what a wavelet feature measures, and in which band of frequencies.

    The words say what the definition says: the function (see :func:`extract`) and the nominal edges of the band (see
    :func:`band_edges`; neighbouring bands overlap). Which events a feature tells apart depends on the data.

    Parameters
    ----------
    name : str
        Name of a feature, such as ``"A8.median"``; see :func:`feature_names`.
    sampling_rate : float, optional
        Samples per second of the signals [Hz]; without it the band is called by its name.

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
    'offset of what is below 49 Hz, as the middle value: short events count little'
    >>> describe_feature("D3.energy", 25_000)
    'energy of what is at 1.56 to 3.12 kHz: grows with its size and with how long it lasts'
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise PqswarmError(f"{name!r} is not the name of a wavelet feature, such as 'D3.energy' or 'A8.median'.")
    kind, level, function = found[1], int(found[2]), found[3]
    if function not in _WORDS:
        raise unknown_name("function of a wavelet feature", function, FUNCTIONS)
    if sampling_rate is None:
        return _WORDS[function].format(of=f"of band {kind}{level}")
    low, high = band_edges(sampling_rate, level)[-1 if kind == "A" else level - 1]
    band = describe_band(low, high)
    return _WORDS[function].format(of=f"of what is {band if low == 0 else f'at {band}'}")


def describe_band(low: float, high: float) -> str:
    """Return a band of frequencies in words, with three digits.

    Parameters
    ----------
    low, high : float
        Its edges [Hz].

    Returns
    -------
    str
        Such as ``98 to 195 Hz``, or ``below 49 Hz`` if it begins at zero.

    Examples
    --------
    >>> describe_band(0.0, 48.8), describe_band(781.25, 1562.5), describe_band(6250.0, 12500.0)
    ('below 49 Hz', '781 Hz to 1.56 kHz', '6.25 to 12.5 kHz')
    """
    if low <= 0:
        return f"below {_number(high)} {_unit(high)}"
    first = "" if _unit(low) == _unit(high) else f" {_unit(low)}"
    return f"{_number(low)}{first} to {_number(high)} {_unit(high)}"


def _unit(frequency: float) -> str:
    return "kHz" if frequency >= 999.5 else "Hz"


def _number(frequency: float) -> str:
    if _unit(frequency) == "kHz":
        return f"{frequency / 1000:.3g}"
    return f"{frequency:.0f}" if frequency >= 10 else f"{frequency:.2g}"
