"""Generated sample recordings with known disturbances."""
