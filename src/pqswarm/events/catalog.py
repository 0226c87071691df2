"""The parameters that events can have: symbol, unit, meaning and limits."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from math import inf, isfinite, nan
from types import MappingProxyType

from pqswarm._base.checks import check_name
from pqswarm.errors import PqswarmError

HARMONICS = ("h5", "h7", "h11", "h13")
"""The amplitudes of a spectrum."""

_HUGE = 1e6  # beyond any event, and far from overflow


@dataclass(frozen=True)
class Parameter:
    """One row of the catalog: the paper's symbol, the unit, the meaning, the allowed closed interval."""

    symbol: str
    unit: str
    meaning: str
    low: float = -_HUGE
    high: float = _HUGE


PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        name: Parameter(**row)
        for name, row in tomllib.loads(
            (files("pqswarm.events") / "parameters.toml").read_text(encoding="utf-8")
        ).items()
    }
)
"""Every parameter an event can have, in the order of ``parameters.toml``."""

RECORD_PARAMETERS = ("sampling_rate", "frequency", "cycles")
BACKGROUND_PARAMETERS = tuple(name for name in PARAMETERS if name.startswith("background_"))
SUPPLY_PARAMETERS = ("amplitude", "phase", "frequency_deviation", "snr", *BACKGROUND_PARAMETERS)


def check_parameters(
    parameters: Mapping[str, object],
    known: Mapping[str, object],
    owner: str,
    catalog: Mapping[str, Parameter] = PARAMETERS,
) -> dict[str, float]:
    """Return `parameters` of `owner` as floats, or raise an error that names the first invalid one."""
    checked = {}
    for name, given in parameters.items():
        allowed = catalog[check_name(f"parameter of {owner}", name, known)]
        try:
            value = float(given)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            value = nan
        without_noise = name == "snr" and value == inf
        if not (without_noise or (isfinite(value) and allowed.low <= value <= allowed.high)):
            limits = f"from {allowed.low:g} to {allowed.high:g} [{allowed.unit}]"
            raise PqswarmError(f"{name} of {owner} must be a number {limits}, not {given!r}.")
        checked[name] = value
    return checked
