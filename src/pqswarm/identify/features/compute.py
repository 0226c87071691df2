"""Features of a capture of any rate, frequency and length, as a model uses them."""

from collections.abc import Iterable

import numpy as np

from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.features import WINDOW_CYCLES, extend, extract, feature_names
from pqswarm.identify.features.capture import MEASURES, SAMPLES_PER_CYCLE, WIDEST, measure_capture

_NAMES = feature_names(8)
FEATURES: tuple[str, ...] = (*_NAMES, *MEASURES)
"""Names of all features that a model can use: the paper's 99, then the measures."""

MIN_CYCLES = 2.2
"""Cycles of the shortest capture that a model can classify."""

BANDWIDTHS: tuple[float, ...] = (WIDEST, 125.0, 62.5, 31.25, 16.0, 8.0, 4.0)
"""Bandwidths for which a model has a subset of features, in multiples of the fundamental."""

_TAPS = 24
_MIN_SAMPLES = 16
_FINER = 4
MARGIN = 1.02
"""Factor by which half the sampling rate may be below the edge of a band: 64 samples per cycle are common."""


def feature_upper_frequencies() -> FloatArray:
    """Return the highest frequency of each feature, in multiples of the fundamental."""
    bands = {f"D{j}": min(SAMPLES_PER_CYCLE / 2**j, WIDEST) for j in range(1, 9)} | {"A8": SAMPLES_PER_CYCLE / 2**9}
    return np.array([*(bands[name.partition(".")[0]] for name in _NAMES), *MEASURES.values()])


def usable_features(sampling_rate: float, frequency: float) -> BoolArray:
    """Return which features a recording of that rate has.

    Parameters
    ----------
    sampling_rate : float
        Sampling rate of the recording [Hz].
    frequency : float
        Fundamental [Hz].

    Returns
    -------
    ndarray of bool, shape (n_features,)
        True for features of frequencies below half the sampling rate, in the order of :data:`FEATURES`.

    Examples
    --------
    >>> [name for name, yes in zip(FEATURES, usable_features(3200, 50), strict=True) if yes][0]
    'D4.minimum'
    """
    highest = MARGIN * sampling_rate / (2 * frequency)
    yes: BoolArray = feature_upper_frequencies() <= highest
    return yes


def bandwidth_of(sampling_rate: float, frequency: float) -> float:
    """Return the widest of BANDWIDTHS that a recording has, or the narrowest if it has none."""
    highest = MARGIN * sampling_rate / (2 * frequency)
    return next((bandwidth for bandwidth in BANDWIDTHS if bandwidth <= highest), BANDWIDTHS[-1])


def uses_wavelets(names: Iterable[str]) -> bool:
    """Whether any of these is one of the paper's wavelet features, which need 30 cycles."""
    return not set(names).isdisjoint(_NAMES)


def resample_for_features(signal: FloatArray, ratio: float, cutoff: float = 1.0) -> FloatArray:
    """Resample an evenly sampled signal without NaN, band-limited, to `ratio` times its rate.

    By sinc interpolation with a Kaiser window. Content above the new Nyquist frequency, or above `cutoff` times the old
    one, is filtered out. Beyond its ends the signal is continued point-symmetrically.
    """
    from scipy.ndimage import map_coordinates
    from scipy.signal import firwin, upfirdn

    cutoff = min(1.0, ratio, cutoff)
    reach = min(int(np.ceil(_TAPS / cutoff)), signal.size - 1)
    if signal.size < _MIN_SAMPLES:
        raise PqswarmError(f"a capture of {signal.size} samples is too short to be resampled.")
    padded = np.concatenate([2 * signal[0] - signal[reach:0:-1], signal, 2 * signal[-1] - signal[-2 : -reach - 2 : -1]])
    low_pass = _FINER * firwin(2 * _FINER * reach + 1, 0.97 * cutoff / _FINER, window=("kaiser", 7.0))
    finer = upfirdn(low_pass, padded, up=_FINER)
    places = np.arange(int(np.floor((signal.size - 1) * ratio)) + 1) / ratio
    result = map_coordinates(finer, [_FINER * (2 * reach + places)], order=3, mode="nearest")
    return np.asarray(result, dtype=np.float64)


def compute_features(
    capture: FloatArray, sampling_rate: float, frequency: float, *, wavelet: bool = True
) -> FloatArray:
    """Compute all features of a capture, including those that its rate does not allow (see :func:`usable_features`).

    Time is scaled so that a cycle has 500 samples, whatever the frequency and rate: bands are the same multiples of the
    fundamental for all recordings. Content above the widest of :data:`BANDWIDTHS` that the rate allows is filtered out,
    so that recorders of different rates give the same values. Captures shorter than 30 cycles are extended
    (:func:`pqswarm.features.extend`) for the wavelet features; longer ones are cut.

    Parameters
    ----------
    capture : ndarray of shape (n,)
        Voltage [pu of the peak], without NaN.
    sampling_rate : float
        Sampling rate [Hz].
    frequency : float
        Measured fundamental [Hz].
    wavelet : bool
        Whether to compute the 99 wavelet features; otherwise they are 0.

    Returns
    -------
    ndarray of shape (n_features,)
        In the order of :data:`FEATURES`.

    Examples
    --------
    >>> from pqswarm.events import generate
    >>> event = generate("sag", seed=1, frequency=60, cycles=6, sampling_rate=15_360)
    >>> compute_features(event.signal, 15_360, 60.0).shape == (len(FEATURES),)
    True
    """
    cycles = capture.size / sampling_rate * frequency
    if cycles < MIN_CYCLES:
        raise PqswarmError(f"a capture of {cycles:.2g} cycles is too short: the minimum is {MIN_CYCLES}.")
    bandwidth = bandwidth_of(sampling_rate, frequency)
    ratio = SAMPLES_PER_CYCLE * frequency / sampling_rate
    cutoff = 2 * bandwidth * frequency / sampling_rate
    even = resample_for_features(capture, ratio, cutoff)[: round(WINDOW_CYCLES * SAMPLES_PER_CYCLE)]
    bands = extract(extend(even, 25_000.0, 50.0), 25_000.0)[0] if wavelet else np.zeros(len(_NAMES))
    return np.concatenate([bands, measure_capture(even, bandwidth)])
