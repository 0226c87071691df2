"""Views of long waveforms: envelopes and their encoding."""
