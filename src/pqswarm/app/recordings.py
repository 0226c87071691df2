"""The room of recordings."""

from pqswarm.app.handlers import Base

__all__ = ["ROUTES"]

ROUTES: list[tuple[str, type[Base]]] = []
