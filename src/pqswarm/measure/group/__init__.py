"""Group what was found on single channels into events, and describe them."""

__all__: list[str] = []
