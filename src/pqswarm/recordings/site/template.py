"""A site file to start from, for a recording."""

from pqswarm._base.toml import to_toml
from pqswarm.recordings.recording import RecordingSource

_HEAD = """\
# Site file of a meter. Usage: pqswarm identify RECORDINGS --site FILE
# Lines that start with # are comments; remove the # to override the recording.

station = {station}

# Nominal voltage (RMS); give one of the two. Channels of phases AB, BC and CA are compared with the line-to-line
# voltage, those of A, B and C with the phase-to-neutral voltage.
# nominal_voltage = {{ line_to_line = "20 kV" }}
# nominal_voltage = {{ phase_to_neutral = 230 }}

nominal_frequency = {frequency:g}  # Hz

# What 1 pu is: "nominal", "pre-event" (the first steady level), "auto", or a voltage.
# reference = "nominal"

# Unit of channels that have none.
# unit = "V"

# Detection thresholds; all keys: pqswarm.measure.Thresholds.
# [thresholds]
# sag = 0.9
# swell = 1.1

# Channels by name in the recording, or by pattern, such as "U*"; an exact name takes precedence. Optional keys:
#   name = "U1"        new name
#   phase = "A"        A, B, C, N, AB, BC or CA
#   unit = "kV"        unit of the stored numbers; overrides the recording
#   ratio = 200        factor, such as that of a voltage transformer
#   system = "bar 1"   name of the three-phase system
#   nominal = "110 V"  nominal voltage of this channel, after the ratio
#   state = "live"     what the channel is: live, dead throughout, dead for a part, calculated, not of the supply
#   ignore = true      ignore the channel
"""


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
