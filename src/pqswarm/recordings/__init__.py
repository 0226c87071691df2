"""Read and write recordings."""

from pqswarm.recordings.comtrade import write_comtrade
from pqswarm.recordings.envelope import Envelope, EnvelopeView
from pqswarm.recordings.readers import READERS, open_recordings, read, read_all
from pqswarm.recordings.recording import (
    STATES,
    Channel,
    ChannelHeader,
    Options,
    RawChannel,
    RawHeader,
    RawRecording,
    RawSource,
    Reader,
    Recording,
    RecordingError,
    RecordingSource,
    StatusChannel,
)
from pqswarm.recordings.samples import write_samples
from pqswarm.recordings.site import ChannelRule, Site
from pqswarm.recordings.table import write_csv

__all__ = [
    "READERS",
    "STATES",
    "Channel",
    "ChannelHeader",
    "ChannelRule",
    "Envelope",
    "EnvelopeView",
    "Options",
    "RawChannel",
    "RawHeader",
    "RawRecording",
    "RawSource",
    "Reader",
    "Recording",
    "RecordingError",
    "RecordingSource",
    "Site",
    "StatusChannel",
    "open_recordings",
    "read",
    "read_all",
    "write_comtrade",
    "write_csv",
    "write_samples",
]
