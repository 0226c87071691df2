"""Detect events: Urms(1/2), spans beyond thresholds, transients, rapid voltage changes."""
