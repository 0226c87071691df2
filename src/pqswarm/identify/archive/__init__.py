"""The archive: one SQLite file with the recordings, events, corrections and notes of many meters."""
