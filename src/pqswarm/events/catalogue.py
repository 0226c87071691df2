"""The parameters that events can have: symbol, unit, meaning and limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite, nan, pi
from types import MappingProxyType

from pqswarm.errors import PqswarmError, unknown_name

HARMONICS = ("h5", "h7", "h11", "h13")
"""The amplitudes of a spectrum."""

_HUGE = 1e6  # beyond any event, and far from overflow


@dataclass(frozen=True)
class Parameter:
    """One row of the catalogue: the paper's symbol, the unit, the meaning, the allowed closed interval."""

    symbol: str
    unit: str
    meaning: str
    low: float = -_HUGE
    high: float = _HUGE


def _catalogue() -> dict[str, Parameter]:
    record = {
        "sampling_rate": Parameter("F_s", "Hz", "samples per second", 1.0, 1e9),
        "frequency": Parameter("f", "Hz", "nominal frequency of the grid", 1.0, 1e6),
        "cycles": Parameter("", "cycles", "length of the record in nominal cycles", 1.0, 1e6),
    }
    grid = {
        "amplitude": Parameter("alpha", "pu", "amplitude of the fundamental", 0.0),
        "phase": Parameter("", "rad", "phase of the fundamental at the start of the record"),
        "frequency_deviation": Parameter("", "1", "actual over nominal frequency, minus 1", -0.5, 0.5),
        "snr": Parameter("SNR", "dB", "noise that belongs to the event itself", -300.0, 300.0),
    }
    background = {
        name: parameter
        for order in (3, 5, 7, 11, 13)
        for name, parameter in (
            (f"background_{order}", Parameter("", "pu", f"background harmonic of order {order}", 0.0)),
            (f"background_{order}_phase", Parameter("", "rad", f"phase of the background harmonic of order {order}")),
        )
    }
    disturbance = {
        "offset": Parameter("beta", "pu", "direct component"),
        "depth": Parameter("alpha", "pu", "depth of a sag or an interruption", 0.0, 1.0),
        "rise": Parameter("alpha", "pu", "rise of a swell", 0.0),
        "start": Parameter("t_1", "s", "start of a sag, swell, interruption or fault", 0.0),
        "duration": Parameter("t_2 - t_1", "s", "duration of a sag, swell, interruption or fault", 0.0),
        "flicker_depth": Parameter("alpha_f", "pu", "depth of the flicker modulation", 0.0, 1.0),
        "flicker_frequency": Parameter("beta_f", "Hz", "frequency of the flicker modulation", 0.0),
        "notch_depth": Parameter("K", "pu", "depth of a notch", 0.0),
        "notch_position": Parameter("t_1", "s", "start of the first notch", 0.0),
        "notch_width": Parameter("t_2 - t_1", "s", "width of a notch", 0.0),
        "notches_per_cycle": Parameter("", "1", "notches in a cycle of the fundamental", 1.0, 100.0),
        "spectrum": Parameter("", "1", "number of the spectrum among those of the preset, from 1", 1.0, 1000.0),
        **{f"h{k}": Parameter(f"delta_{k}", "pu", f"harmonic of order {k}", 0.0, 0.5) for k in (5, 7, 11, 13)},
        "transient_amplitude": Parameter("beta", "pu", "initial amplitude of the transient"),
        "transient_damping": Parameter("gamma", "1/s", "decay rate of the transient", 0.0, 1e9),
        "transient_frequency": Parameter("f_tr", "Hz", "frequency of the transient", 0.0),
        "transient_onset": Parameter("t_1", "s", "start of the transient, or earliest closing of the bank", 0.0),
    }
    bench = {
        "source_inductance": Parameter("", "H", "inductance of the source, per phase", 1e-9, 1e3),
        "source_x_over_r": Parameter(
            "", "1", "reactance over resistance of the source at nominal frequency", 1e-3, 1e6
        ),
        "load_resistance": Parameter("", "ohm", "linear load at the coupling point, per phase", 1e-3, 1e12),
        "rectifier_ratio": Parameter("", "1", "load resistance of the rectifier over source reactance", 1e-2, 1e9),
        "capacitance": Parameter("", "F", "capacitor bank, per phase", 1e-12, 1e3),
        "capacitor_resistance": Parameter("", "ohm", "series resistance of the bank, per phase", 1e-6, 1e6),
        "trapped_voltage": Parameter("", "pu", "voltage left on the bank of phase A before it is closed", -2.0, 2.0),
        "switching_angle": Parameter("", "rad", "angle of phase A at which the bank closes", 0.0, 2 * pi),
        "fault_ratio": Parameter("", "1", "fault resistance over source impedance", 1e-4, 1e6),
    }
    return record | grid | background | disturbance | bench


PARAMETERS: Mapping[str, Parameter] = MappingProxyType(_catalogue())
"""Every parameter an event can have."""


def check_catalogue_parameters(
    parameters: Mapping[str, object], known: Mapping[str, object], owner: str,
    catalogue: Mapping[str, Parameter] = PARAMETERS,
) -> dict[str, float]:  # fmt: skip
    """Return `parameters` of `owner` as floats, or raise an error that names the first invalid one."""
    checked = {}
    for name, given in parameters.items():
        if name not in known:
            raise unknown_name(f"parameter of {owner}", name, known)
        allowed = catalogue[name]
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
