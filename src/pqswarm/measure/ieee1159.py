"""The words of IEEE 1159 for what was measured."""

_MOMENTARY_CYCLES = 30.0
_TEMPORARY_SECONDS = 3.0
_LONG_SECONDS = 60.0
_LONG_WORDS = {"sag": "undervoltage", "swell": "overvoltage", "interruption": "sustained interruption"}
_LOW_HERTZ = 5e3
_MEDIUM_HERTZ = 5e5


def category(event_type: str, duration: float, nominal_frequency: float) -> str:
    """Name a sag, swell or interruption by its duration [s] (IEEE 1159-2019, Table 2).

    It is instantaneous to 30 cycles, momentary to 3 s (an interruption is at least that) and temporary to 1 min.
    """
    if duration > _LONG_SECONDS:
        return _LONG_WORDS[event_type]
    if duration > _TEMPORARY_SECONDS:
        return f"temporary {event_type}"
    # A hair of grace: thirty cycles are thirty cycles also after rounding.
    if event_type == "interruption" or duration * nominal_frequency > _MOMENTARY_CYCLES * (1 + 1e-9):
        return f"momentary {event_type}"
    return f"instantaneous {event_type}"


def oscillation_word(frequency: float) -> str:
    """Name an oscillatory transient by its frequency [Hz] (IEEE 1159-2019, Table 2)."""
    if not frequency >= _LOW_HERTZ:  # also what is too low to be measured
        return "low-frequency"
    return "medium-frequency" if frequency < _MEDIUM_HERTZ else "high-frequency"


def duration_text(duration: float, nominal_frequency: float) -> str:
    """Write a duration [s] in cycles, with the seconds where they are easier to read: ``"255 cycles (5.1 s)"``."""
    cycles = duration * nominal_frequency
    if cycles < _MOMENTARY_CYCLES:
        return f"{cycles:.1f} cycles"
    return f"{cycles:.0f} cycles ({float(f'{duration:.3g}'):g} s)"


def join_names(names: tuple[str, ...], phases: tuple[str, ...], system: str = "") -> str:
    """Say on which channels something happened: ``"phases A and B of bar 1"``, or names if a phase is unknown."""
    known = all(phases)
    words = phases if known else names
    text = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    if known:
        text = f"{'phase' if len(words) == 1 else 'phases'} {text}"
    return f"{text} of {system}" if system and known else text
