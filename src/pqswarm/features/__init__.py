"""Wavelet features: the paper's 99 (sym6 to level 8, eleven functions of nine bands), and other wavelets."""

from pqswarm.features.wavelet import (
    BORDERS,
    FUNCTIONS,
    WAVELETS,
    WINDOW_CYCLES,
    FeatureOptions,
    band_edges,
    band_names,
    decompose,
    decomposition_level,
    describe_band,
    describe_feature,
    extend,
    extract,
    feature_names,
    minimum_samples,
)

__all__ = [
    "BORDERS",
    "FUNCTIONS",
    "WAVELETS",
    "WINDOW_CYCLES",
    "FeatureOptions",
    "band_edges",
    "band_names",
    "decompose",
    "decomposition_level",
    "describe_band",
    "describe_feature",
    "extend",
    "extract",
    "feature_names",
    "minimum_samples",
]
