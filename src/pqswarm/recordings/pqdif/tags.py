"""GUIDs and numbers of the standard (IEEE 1159.3, PQDIF 1.5) that a reader of waveforms needs."""

from uuid import UUID


def tag(text: str) -> bytes:
    """The GUID as stored in the file: the first three parts are little endian."""
    return UUID(text).bytes_le


SIGNATURE = tag("4a111440-e49f-11cf-9900-505144494600")

# Kinds of records.
CONTAINER = tag("89738606-f1c3-11cf-9d89-0080c72e70a3")
DATA_SOURCE = tag("89738619-f1c3-11cf-9d89-0080c72e70a3")
MONITOR_SETTINGS = tag("b48d858c-f5f5-11cf-9d89-0080c72e70a3")
OBSERVATION = tag("8973861a-f1c3-11cf-9d89-0080c72e70a3")

# Container: 0 none, 1 total file (deprecated), 2 each record; 0 none, 1 zlib, 64 PKZIP (deprecated).
COMPRESSION_STYLE = tag("8973861b-f1c3-11cf-9d89-0080c72e70a3")
COMPRESSION_ALGORITHM = tag("8973861c-f1c3-11cf-9d89-0080c72e70a3")

# Data source: names, and channel definitions, each with series definitions.
SOURCE_NAME = tag("b48d8587-f5f5-11cf-9d89-0080c72e70a3")
SOURCE_LOCATION = tag("b48d8589-f5f5-11cf-9d89-0080c72e70a3")
CHANNEL_DEFINITIONS = tag("b48d858d-f5f5-11cf-9d89-0080c72e70a3")
ONE_CHANNEL_DEFINITION = tag("b48d858e-f5f5-11cf-9d89-0080c72e70a3")
CHANNEL_NAME = tag("b48d8590-f5f5-11cf-9d89-0080c72e70a3")
PHASE_ID = tag("b48d8591-f5f5-11cf-9d89-0080c72e70a3")
QUANTITY_TYPE = tag("b48d8592-f5f5-11cf-9d89-0080c72e70a3")
QUANTITY_MEASURED = tag("c690e872-f755-11cf-9d89-0080c72e70a3")
SERIES_DEFINITIONS = tag("b48d8598-f5f5-11cf-9d89-0080c72e70a3")
ONE_SERIES_DEFINITION = tag("b48d859a-f5f5-11cf-9d89-0080c72e70a3")
SERIES_UNITS = tag("b48d859b-f5f5-11cf-9d89-0080c72e70a3")
SERIES_VALUE_TYPE = tag("b48d859c-f5f5-11cf-9d89-0080c72e70a3")
STORAGE_METHOD = tag("b48d85a1-f5f5-11cf-9d89-0080c72e70a3")
WAVEFORM = tag("67f6af80-f753-11cf-9d89-0080c72e70a3")
VALUE_TYPE_VALUE = tag("67f6af97-f753-11cf-9d89-0080c72e70a3")
VALUE_TYPE_INSTANTANEOUS = tag("67f6af9b-f753-11cf-9d89-0080c72e70a3")
VALUE_TYPE_TIME = tag("c690e862-f755-11cf-9d89-0080c72e70a3")

# Monitor settings.
NOMINAL_FREQUENCY = tag("0fa118c3-cb4a-11d2-b30b-fe25cb9a1760")
USE_TRANSDUCER = tag("62f28181-f9c4-11cf-9d89-0080c72e70a3")
CHANNEL_SETTINGS = tag("62f28182-f9c4-11cf-9d89-0080c72e70a3")
ONE_CHANNEL_SETTING = tag("3d786f9a-f76e-11cf-9d89-0080c72e70a3")
TRANSDUCER_SYSTEM_SIDE = tag("62f2818a-f9c4-11cf-9d89-0080c72e70a3")
TRANSDUCER_MONITOR_SIDE = tag("62f2818b-f9c4-11cf-9d89-0080c72e70a3")

# Observation: channel instances, each with series instances.
TIME_START = tag("3d786f8c-f76e-11cf-9d89-0080c72e70a3")
CHANNEL_INSTANCES = tag("3d786f91-f76e-11cf-9d89-0080c72e70a3")
ONE_CHANNEL_INSTANCE = tag("3d786f92-f76e-11cf-9d89-0080c72e70a3")
CHANNEL_DEFINITION_INDEX = tag("b48d858f-f5f5-11cf-9d89-0080c72e70a3")
SERIES_INSTANCES = tag("3d786f93-f76e-11cf-9d89-0080c72e70a3")
ONE_SERIES_INSTANCE = tag("3d786f94-f76e-11cf-9d89-0080c72e70a3")
SERIES_SCALE = tag("3d786f96-f76e-11cf-9d89-0080c72e70a3")
SERIES_OFFSET = tag("3d786f97-f76e-11cf-9d89-0080c72e70a3")
SERIES_VALUES = tag("3d786f99-f76e-11cf-9d89-0080c72e70a3")
SHARE_CHANNEL = tag("8973861f-f1c3-11cf-9d89-0080c72e70a3")
SHARE_SERIES = tag("89738620-f1c3-11cf-9d89-0080c72e70a3")

# Storage methods are flags.
SCALED = 2
INCREMENT = 4

PHASES = {1: "A", 2: "B", 3: "C", 4: "N", 5: "AB", 6: "BC", 7: "CA", 8: "N", 12: "N", 19: "A", 20: "B", 21: "C"}
"""Phase by the standard's number; general phases 1 to 3 count as A to C."""

UNITS = {6: "V", 7: "A", 8: "VA", 9: "W", 10: "var", 15: "Hz", 16: "°C", 17: "deg", 19: "%", 20: "pu"}
"""Unit of a series by the standard's number."""

CYCLES = 3
"""Unit of a time series that does not count seconds."""
