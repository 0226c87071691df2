"""A site file to start from, for a recording."""

from importlib.resources import files

from pqswarm._base.toml import to_toml
from pqswarm.recordings.recording import RecordingSource

_HEAD = (files("pqswarm.recordings.site") / "template.toml").read_text(encoding="utf-8")


def site_template(recording: RecordingSource) -> str:
    """Return a site file that changes nothing, with every channel of the recording."""
    lines = [_HEAD.format(station=to_toml(recording.station), frequency=recording.nominal_frequency)]
    for name in dict.fromkeys(channel.name for channel in recording.channels):
        channel = next(one for one in recording.channels if one.name == name)
        lines += [
            f"[channels.{to_toml(name)}]  # {channel.unit or 'no unit'}",
            f"{'' if channel.phase else '# '}phase = {to_toml(channel.phase or 'A')}",
            "",
        ]
    return "\n".join(lines)
