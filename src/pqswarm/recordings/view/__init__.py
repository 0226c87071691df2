"""Views of long waveforms: envelopes and their encoding."""

__all__: list[str] = []
