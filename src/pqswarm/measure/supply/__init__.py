"""Supply voltages: channels, reference voltage and frequency."""

__all__: list[str] = []
