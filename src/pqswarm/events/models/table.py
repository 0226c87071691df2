"""The models by name, in the order of the paper's Table 1."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pqswarm._typing import FloatArray
from pqswarm.events.models import combined, single

__all__ = ["EVENT_CLASSES", "MODELS"]

MODELS: Mapping[str, Callable[..., FloatArray]] = MappingProxyType(
    {
        model.__name__: model
        for model in (
            single.pure_sinusoid,
            single.dc_offset,
            single.sag,
            single.swell,
            single.interruption,
            single.flicker,
            single.notching,
            single.harmonics,
            single.oscillatory_transient,
            combined.sag_with_harmonics,
            combined.swell_with_harmonics,
            combined.flicker_with_harmonics,
            combined.sag_with_transient,
            combined.swell_with_transient,
        )
    }
)
"""The models by name, in the order of the paper's Table 1."""

EVENT_CLASSES: tuple[str, ...] = tuple(MODELS)
"""The names of the fourteen event classes, in the order of the paper's Table 1."""
