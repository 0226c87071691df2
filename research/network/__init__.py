"""A simulated three-phase network, on which the rules of causes were developed, and incidents drawn on it."""

from .circuit import Network, NetworkRecord
from .incidents import INCIDENT_CAUSES, SimulatedIncident, draw_incident

__all__ = ["INCIDENT_CAUSES", "Network", "NetworkRecord", "SimulatedIncident", "draw_incident"]
