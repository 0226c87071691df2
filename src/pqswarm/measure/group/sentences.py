"""Events in words: what several channels share is said once."""

from collections.abc import Sequence

from pqswarm.measure.event import ChannelEvent, Event, duration_text, name_parts

_SAME_SIZE = 0.03
"""Magnitudes that differ by less are said once [pu]."""
_SAME_LENGTH = 0.5
"""Steady parts whose durations differ by less have the same duration [s]."""
_MAX_CYCLES_OFF = 1.25
"""Cycles by which the duration of the standard may differ from that on the waveform."""
_AROUND = {"harmonics": ("THD ", ""), "notching": ("", " deep"), "flicker": ("", " deep")}
"""What is said before and after the largest value of a steady disturbance."""


def describe_levels(event: Event) -> str:
    """Describe the sags, swells or interruptions of an event; where phases differ, each gets its own words."""
    hertz = event.nominal_frequency
    parts = event.parts
    start, end = min(one.details["urms_start"] for one in parts), max(one.details["urms_end"] for one in parts)
    word = "maximum" if event.type == "swell" else "residual"
    is_cut = event.cut_start or event.cut_end
    seconds = event.duration if is_cut else _duration_in_sentence(event.end - event.start, end - start, hertz)
    length = duration_text(seconds, hertz)
    text = f"{event.category} on {event.where}, {event.magnitude:.2f} pu {word}, "
    cut = " and ".join(name for name, yes in (("start", event.cut_start), ("end", event.cut_end)) if yes)
    text += f"at least {length} (cut by the {cut} of the record)" if cut else length
    lengths = [
        _duration_in_sentence(one.end - one.start, one.details["urms_end"] - one.details["urms_start"], hertz)
        for one in parts
    ]
    sizes = [one.magnitude for one in parts]
    alike = max(sizes) - min(sizes) < _SAME_SIZE
    if alike and max(lengths) - min(lengths) <= max(1.01 / hertz, 0.05 * max(lengths)):
        return text
    each = (
        f"{one.label} {one.magnitude:.2f} pu for {duration_text(seconds, hertz)}"
        for one, seconds in zip(parts, lengths, strict=True)
    )
    return f"{text}: {', '.join(each)}"


def _duration_in_sentence(waveform: float, urms: float, nominal_frequency: float) -> float:
    """Duration on the waveform [s], or, where edges are too slow for that, that by Urms(1/2) [s]."""
    return waveform if abs(urms - waveform) * nominal_frequency <= _MAX_CYCLES_OFF else urms


def describe_change(parts: Sequence[ChannelEvent], nominal_frequency: float) -> str:
    """Describe a rapid voltage change, each phase with its own size."""
    worst = max(parts, key=lambda part: abs(part.magnitude))
    before, after = worst.details["before"], worst.details["after"]
    word = "dip" if worst.magnitude < 0 else "rise"
    if abs(after - before) > abs(worst.magnitude) / 200:
        word = "step"
    text = f"rapid voltage change on {name_parts(parts, worst.system)}"
    if len({part.magnitude > 0 for part in parts}) == 1:
        text += f", {word} of {worst.magnitude:+.1f} %"
    if len(parts) > 1:
        text += f" ({', '.join(f'{part.label} {part.magnitude:+.1f} %' for part in parts)})"
    where = f" on {worst.label}" if len(parts) > 1 else ""
    text += f", from {before:.3f} to {after:.3f} pu{where}"
    return text if worst.end <= worst.start else f"{text}, {duration_text(worst.duration, nominal_frequency)}"


def describe_frequency(part: ChannelEvent, nominal_frequency: float) -> str:
    """Describe how far and how long the frequency leaves its band."""
    text = f"{part.category}, {'minimum' if part.category.startswith('under') else 'maximum'} {part.magnitude:.2f} Hz, "
    length = duration_text(part.duration, nominal_frequency)
    return text + (f"at least {length} (cut by the end of the record)" if part.cut_end else length)


def describe_transients(group: Sequence[ChannelEvent]) -> str:
    """Describe the strongest of simultaneous transients, and say where they are."""
    worst = max(group, key=lambda part: part.magnitude)
    onset = worst.start
    hertz = worst.details["frequency"]
    decay = worst.details["decay"]
    text = (
        f"{worst.category} on {name_parts(sorted(group, key=lambda part: (part.phase, part.channel)), worst.system)} "
        f"at {f'{1000 * onset:.1f} ms' if onset < 10 else f'{onset:.4f} s'}, {worst.magnitude:.2f} pu peak "
        f"({max(part.details['peak_voltage'] for part in group):.2f} pu voltage)"
    )
    peaks = {part.label: part.magnitude for part in group}
    if len(peaks) > 1 and min(peaks.values()) < 0.8 * max(peaks.values()):
        text += f" ({', '.join(f'{name} {peak:.2f}' for name, peak in sorted(peaks.items()))} pu)"
    if hertz == hertz:
        text += f", {hertz / 1000:.1f} kHz" if hertz >= 1000 else f", {hertz:.0f} Hz"
    if decay == decay:
        text += f", decays in {1000 * decay:.2g} ms"
    return text


def describe_steady(parts: Sequence[ChannelEvent]) -> str:
    """Describe a steady disturbance by its worst part, with what differs on the others."""
    worst = max(parts, key=lambda part: abs(part.magnitude))
    event_type = worst.type
    duration = max(part.end for part in parts) - min(part.start for part in parts)
    before, after = _AROUND.get(event_type, ("", ""))
    text = f"{event_type} on {name_parts(parts, worst.system)}, {before}{_steady_value_sentence(worst)}{after}"
    values = [_steady_value_sentence(part) for part in parts]
    lasting = [f" for {part.duration:.1f} s" if duration - part.duration > _SAME_LENGTH else "" for part in parts]
    # Unbalance is one value of all phases.
    if event_type != "unbalance" and (len(set(values)) > 1 or any(lasting)):
        each = (f"{part.label} {value}{last}" for part, value, last in zip(parts, values, lasting, strict=True))
        text += f" ({', '.join(each)})"
    return f"{text}{_steady_details_sentence(parts, worst)}, for {duration:.1f} s"


def _steady_value_sentence(part: ChannelEvent) -> str:
    if part.type == "DC offset":
        return f"{part.magnitude / 100:.3f} pu"
    return f"{part.magnitude / 100:.2f} pu" if part.type == "notching" else f"{part.magnitude:.1f} %"


def _steady_details_sentence(parts: Sequence[ChannelEvent], worst: ChannelEvent) -> str:
    """What else is said, of each phase where they differ."""
    if worst.type == "harmonics":
        return f", most of order {_each_phase_in_sentence(parts, 'order', '.0f')}"
    if worst.type == "notching":
        return f", {_each_phase_in_sentence(parts, 'per_cycle', '.0f')} per cycle"
    if worst.type == "flicker" and "pst" in worst.details:
        return f", Pst {_each_phase_in_sentence(parts, 'pst', '.2f')}"
    if worst.type == "flicker":
        return f", at {_each_phase_in_sentence(parts, 'frequency', '.1f')} Hz"
    if worst.type == "unbalance" and worst.details["zero_sequence"] == worst.details["zero_sequence"]:
        return f", zero sequence {100 * worst.details['zero_sequence']:.1f} %"
    return ""


def _each_phase_in_sentence(parts: Sequence[ChannelEvent], name: str, form: str) -> str:
    values = [format(part.details.get(name, float("nan")), form) for part in parts]
    if len(set(values)) == 1:
        return values[0]
    return ", ".join(f"{value} on {part.label}" for value, part in zip(values, parts, strict=True))
