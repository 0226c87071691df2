"""Power-quality events: the fourteen models of the paper, the laboratory bench, noise, and presets."""

from pqswarm.events.bench import BenchRecord, run_bench
from pqswarm.events.event import RECORD, Event, check_record, generate, synthesise
from pqswarm.events.models import EVENT_CLASSES, MODELS, Grid
from pqswarm.events.noise import NOISE_LEVELS, add_noise, check_snr, noise_stream
from pqswarm.events.parameters import PARAMETERS, Choice, Fixed, Inside, LogUniform, Same, Uniform
from pqswarm.events.presets import PRESETS, SOURCES, Preset, get_preset, paper_preset

__all__ = [
    "EVENT_CLASSES",
    "MODELS",
    "NOISE_LEVELS",
    "PARAMETERS",
    "PRESETS",
    "RECORD",
    "SOURCES",
    "BenchRecord",
    "Choice",
    "Event",
    "Fixed",
    "Grid",
    "Inside",
    "LogUniform",
    "Preset",
    "Same",
    "Uniform",
    "add_noise",
    "check_record",
    "check_snr",
    "generate",
    "get_preset",
    "noise_stream",
    "paper_preset",
    "run_bench",
    "synthesise",
]
