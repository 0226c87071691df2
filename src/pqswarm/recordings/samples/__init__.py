"""Generated sample recordings with known disturbances."""

__all__: list[str] = []
