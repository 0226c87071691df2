"""The room of events."""

from pqswarm.app.handlers import Base

__all__ = ["ROUTES"]

ROUTES: list[tuple[str, type[Base]]] = []
