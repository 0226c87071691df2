"""Recordings of others: read, write and characterise them."""

from pqswarm.recordings._comtrade_write import write_comtrade
from pqswarm.recordings.characterise import characterise
from pqswarm.recordings.csv import write_csv
from pqswarm.recordings.npz import write_npz
from pqswarm.recordings.readers import FORMATS, read, read_all
from pqswarm.recordings.recording import Channel, Recording, RecordingError

__all__ = [
    "FORMATS",
    "Channel",
    "Recording",
    "RecordingError",
    "characterise",
    "read",
    "read_all",
    "write_comtrade",
    "write_csv",
    "write_npz",
]
