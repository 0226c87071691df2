"""Site files: nominal values, ratios and channels of a meter."""
