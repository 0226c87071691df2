"""The room of studies."""

from pqswarm.app.handlers import Base

__all__ = ["ROUTES"]

ROUTES: list[tuple[str, type[Base]]] = []
