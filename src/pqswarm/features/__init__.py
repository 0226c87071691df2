"""Wavelet features: the paper's 99 (sym6 to level 8, eleven functions of nine bands), and other wavelets."""

from pqswarm.features.matrix import (
    FUNCTIONS,
    WAVELETS,
    WINDOW_CYCLES,
    FeatureOptions,
    describe_band,
    describe_feature,
    extend,
    extract,
    feature_names,
)
from pqswarm.features.wavelet import (
    BORDERS,
    BandWaveforms,
    band_edges,
    band_names,
    band_waveforms,
    decompose,
    decomposition_level,
    minimum_samples,
)

__all__ = [
    "BORDERS",
    "FUNCTIONS",
    "WAVELETS",
    "WINDOW_CYCLES",
    "BandWaveforms",
    "FeatureOptions",
    "band_edges",
    "band_names",
    "band_waveforms",
    "decompose",
    "decomposition_level",
    "describe_band",
    "describe_feature",
    "extend",
    "extract",
    "feature_names",
    "minimum_samples",
]
