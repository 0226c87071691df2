"""Power-quality events: the paper's models, a simulated bench, noise and presets."""

from pqswarm.events.bench import BenchRecord, run_bench
from pqswarm.events.classes import EVENT_CLASSES, CaptureRequirements, EventClass, class_title, class_type
from pqswarm.events.event import Event, generate
from pqswarm.events.models import Grid
from pqswarm.events.noise import NOISE_LEVELS, add_noise, check_snr, noise_stream
from pqswarm.events.parameters import (
    PARAMETERS,
    EqualTo,
    Fixed,
    IndexedBy,
    LogUniform,
    NameIndex,
    OneOf,
    Parameter,
    Steps,
    Uniform,
    WithinRecord,
    spectrum_ranges,
)
from pqswarm.events.preset import PRESETS, SOURCES, Preset, get_preset
from pqswarm.events.preset_file import format_preset, load_preset

__all__ = [
    "EVENT_CLASSES",
    "NOISE_LEVELS",
    "PARAMETERS",
    "PRESETS",
    "SOURCES",
    "BenchRecord",
    "CaptureRequirements",
    "EqualTo",
    "Event",
    "EventClass",
    "Fixed",
    "Grid",
    "IndexedBy",
    "LogUniform",
    "NameIndex",
    "OneOf",
    "Parameter",
    "Preset",
    "Steps",
    "Uniform",
    "WithinRecord",
    "add_noise",
    "check_snr",
    "class_title",
    "class_type",
    "format_preset",
    "generate",
    "get_preset",
    "load_preset",
    "noise_stream",
    "run_bench",
    "spectrum_ranges",
]
