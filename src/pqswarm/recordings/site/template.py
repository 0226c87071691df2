"""The text of a site file for a recording, to edit."""

from pqswarm._base.toml import to_toml
from pqswarm.recordings.recording import RecordingSource

__all__ = ["site_template"]

_HEAD = """\
# A site file: what is known of the place of a meter. Use it by: pqswarm identify RECORDINGS --site FILE
# Lines that begin with # say nothing; take the # away where you know better than the recording.

station = {station}

# Nominal voltage, as it is called (RMS); one of both. Channels of phases AB, BC and CA are compared with the voltage
# between phases, those of A, B and C with that to neutral.
# nominal_voltage = {{ line_to_line = "20 kV" }}
# nominal_voltage = {{ phase_to_neutral = 230 }}

nominal_frequency = {frequency:g}  # Hz

# What 1 pu is: "nominal", "pre-event" (the first steady level), "auto", or a voltage.
# reference = "nominal"

# Unit of channels without any.
# unit = "V"

# Levels beyond which something counts as found; all keys: pqswarm.measure.Thresholds.
# [thresholds]
# sag = 0.9
# swell = 1.1

# Channels by their names in the recording; patterns such as "U*" hold where no name does. Each may have
#   name = "U1"        another name
#   phase = "A"        A, B, C, N, AB, BC or CA
#   unit = "kV"        of the numbers in the file, instead of what it says
#   ratio = 200        factor to them, such as that of a voltage transformer
#   system = "bar 1"   channels of one three-phase system have the same
#   nominal = "110 V"  nominal voltage of this channel alone, after the ratio
#   ignore = true      leave it out
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
