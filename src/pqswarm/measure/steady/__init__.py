"""Steady quantities: harmonics, unbalance and flicker in windows of 10 or 12 cycles."""

from pqswarm.measure.steady.disturbances import find_steady
from pqswarm.measure.steady.flicker import Flickermeter
from pqswarm.measure.steady.series import SteadyMeter, SteadySeries

__all__ = ["Flickermeter", "SteadyMeter", "SteadySeries", "find_steady"]
