"""Wavelet features: the paper's 99 (sym6 to level 8, eleven functions of nine bands), and other wavelets."""

from pqswarm.features.extension import WINDOW_CYCLES, extend
from pqswarm.features.matrix import (
    FUNCTIONS,
    WAVELETS,
    FeatureOptions,
    describe_band,
    describe_feature,
    extract,
    feature_names,
)
from pqswarm.features.waveforms import BandWaveforms, band_waveforms
from pqswarm.features.wavelet import (
    BORDERS,
    band_edges,
    band_names,
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
