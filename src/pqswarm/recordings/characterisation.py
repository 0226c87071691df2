"""Where the results of :func:`pqswarm.measure.characterise` were in earlier versions."""

from pqswarm.recordings.characterise import __getattr__ as __getattr__

__all__: list[str] = []
