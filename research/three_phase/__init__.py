"""Three-phase events with known causes, written from the literature and independent of the events of the package."""

from three_phase.record import BACKGROUNDS, Background, Stage, ThreePhaseEvent, Truth
from three_phase.suite import EVENT_TYPES, draw_suite

__all__ = ["BACKGROUNDS", "EVENT_TYPES", "Background", "Stage", "ThreePhaseEvent", "Truth", "draw_suite"]
