"""Files that are not read: each is refused by its kind, with a remedy."""

import re

from pqswarm.recordings.recording import RecordingError

EXPORT = "export the waveforms as COMTRADE, PQDIF or CSV"
"""The remedy if there is none of its own."""
_KINDS = (
    (rb"MATLAB 7\.3", "a MATLAB 7.3 file (HDF5)", "save it with -v7"),
    (rb"\x89HDF", "an HDF5 file", EXPORT),
    (rb"TDSm.\0", "a LabVIEW file (TDMS)", EXPORT),
    (rb"RIFF[^\r\n,;]{4}WAVE", "a WAV file", "save samples in volts and sampling_rate as .npz"),
    (rb"\x93NUMPY", "a single array (.npy)", "save it and sampling_rate as .npz"),
    (rb"PAR1[\x15\x19\x1c]|ARROW1\0|Obj\x01", "a Parquet, Arrow or Avro file", "save the table as CSV"),
    (rb"\xd0\xcf\x11\xe0", "an Excel 97 or other OLE file", "save the sheet with the samples as CSV"),
    (rb"\x1f\x8b|BZh\d1AY|\xfd7zXZ|7z\xbc\xaf|Rar!", "a packed file", "unpack it first"),
    (rb"%PDF|\x89PNG|\xff\xd8\xff", "a document or picture", "get the recording itself"),
    (rb"<(?=.*comtrade)", "a COMTRADE file in XML", "export it as .cfg with .dat"),
    (rb"<[?!a-z]|[{]\s*\"", "an XML, HTML or JSON file", EXPORT),
)


def refuse_other_kinds(head: bytes) -> None:
    """Raise an error if the first bytes of a file are those of a kind that is not read."""
    for start, kind, remedy in _KINDS:
        if re.match(rb"(?:\xef\xbb\xbf)?\s*+(?:" + start + rb")", head, re.IGNORECASE | re.DOTALL):
            raise RecordingError(f"is {kind}, which is not read: {remedy}.")
