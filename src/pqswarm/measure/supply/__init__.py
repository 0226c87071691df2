"""Supply voltages: channels, reference voltage and frequency."""
