"""Presets by name: built-in ones and plugins."""

from os import PathLike, fspath

from pqswarm._base.registry import Registry
from pqswarm.events.paper_presets import field_16_preset, field_preset, paper_preset, stepped_preset
from pqswarm.events.preset import Preset

_PRINTED = paper_preset(
    "paper-printed", flicker_frequency="printed", transient_onset="with_disturbance", notch_period="half-cycle"
)

PRESETS: Registry[Preset] = Registry(
    "preset", "pqswarm.presets", Preset, (paper_preset(), stepped_preset(), _PRINTED, field_preset(), field_16_preset())
)
"""Presets by name: built-in ones and plugins."""


def get_preset(preset: str | PathLike[str] | Preset) -> Preset:
    """Return a preset by its name in :data:`PRESETS`, or from a file by :func:`load_preset`; a preset stays as it is.

    Examples
    --------
    >>> get_preset("field").name
    'field'
    """
    if isinstance(preset, Preset):
        return preset
    if isinstance(preset, PathLike) or (isinstance(preset, str) and preset.endswith(".toml")):
        from pqswarm.events.presetfile import load_preset

        return load_preset(fspath(preset))
    return PRESETS.find(preset)
