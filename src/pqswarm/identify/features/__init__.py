"""Features that the model uses: shape, RMS and wavelet features of a capture."""
