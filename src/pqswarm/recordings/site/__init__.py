"""Site files: what is known about a meter and its channels."""

__all__: list[str] = []
