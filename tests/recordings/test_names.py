"""Names of channels as makers write them."""

import pytest

from pqswarm.recordings.names import find_phase, find_phases, guess_unit, si_unit, split_unit
from pqswarm.recordings.text import date_from_text

OF_A = """
Ua UA VA Va V_A U1 V1 UL1 U_L1 L1 IL1 Van VAG Phase-A phA A相电压 Voltage_A V1N ULA F5-VA 220kV母线I_Ua
"""
NAMES = {
    "A": OF_A.split(),
    "B": ["Ub", "U2", "UL2", "Vbn", "SRC 1 Vbg", "B phase", "VS", "U B", "Voltage B", "voltage_b", "Current L2"],
    "C": ["Uc_1\u0421\u0428-110_\u0422\u041d_110\u043a\u0412", "LINE SUM ILC", "U3", "IT", "phase C", "C"],
    "N": ["3U0", "3Uo_x", "UN", "Un", "V0", "Vo", "I4", "F8-VN", "In1", "neutral", "IG", "U0"],
    "AB": ["Uab", "V12", "V1-2", "UL1-L2", "L1-L2", "U21", "VAB", "Vrs", "A-B", "Waveform VAB", "U 1-2"],
    "BC": ["Ubc", "U23", "U32", "UL2L3", "VST"],
    "CA": ["Uca", "U31", "U13", "V3-1", "VTR"],
    "": ["CB_Closed", "高频通道1", "VAC", "Frequency", "I DIFF", "column 2", "CH1", "X", "Channel A", "Input B"],
}


@pytest.mark.parametrize(("phase", "name"), [(phase, name) for phase, names in NAMES.items() for name in names])
def test_phase_from_name(phase, name):
    assert find_phase("", name) == phase


FIELDS = {"A": "A AN R", "B": "b V2", "C": "L3 I3 3", "N": "N G", "AB": "AB 1-2", "CA": "CA", "": "AC _ 7 D"}


@pytest.mark.parametrize(("phase", "field"), [(phase, field) for phase in FIELDS for field in FIELDS[phase].split()])
def test_phase_from_field(phase, field):
    assert find_phase(field, "x") == phase


@pytest.mark.parametrize(
    ("names", "phases"),
    [
        ("VR VY VB VN", "A B C N"),
        ("VRN VYN VBN IR IY IB IN", "A B C A B C N"),
        ("VRY VYB VBR", "AB BC CA"),
        ("R-phase Y-phase B-phase", "A B C"),
        ("VR VS VT", "A B C"),
        ("VA VB VC", "A B C"),
        ("VA VB VC Y", "A B C "),
    ],
)
def test_phases_of_red_yellow_and_blue(names, phases):
    """A B is phase C only beside an R and a Y."""
    assert find_phases([("", name) for name in names.split()]) == phases.split(" ")
    assert find_phases([(name, f"channel {i}") for i, name in enumerate(names.split())]) == phases.split(" ")


UNITS = {
    ("V", 1e-6): ["\u00b5V"],
    ("V", 1e-3): ["mV", "мВ"],
    ("V", 1): ["V", "Volts", "v", "\u0412/\u043a\u0412", "V (L-N)", "V L-L", "VAC", "вольт", "伏特"],
    ("V", 1e3): ["kV", "KV", "kv", "\u043a\u0412", "kV/V", "㎸"],
    ("V", 1e6): ["MV", "\u041c\u0412"],
    ("V rms", 1): ["Vrms"],
    ("V rms", 1e3): ["kV rms"],
    ("A", 1): ["ampere", "amperios"],
    ("A", 1e3): ["kA", "kA (peak)"],
    ("W", 1e3): ["кВт"],
    ("W", 1e6): ["MW"],
    ("Hz", 1): ["Гц"],
    **{(unit, 1): [unit] for unit in ("", "one", "V/s", "A/m", "min", "pu", "deg", "VA")},
}


@pytest.mark.parametrize(("unit", "factor", "text"), [(*unit, text) for unit in UNITS for text in UNITS[unit]])
def test_units(unit, factor, text):
    assert si_unit(text) == (unit, pytest.approx(factor))


def test_headers():
    assert split_unit("Voltage L1 [kV]") == ("Voltage L1", "kV")
    assert split_unit("CH1") == ("CH1", "")
    assert split_unit("[V]") == ("[V]", "V")
    assert split_unit("a/b") == ("a/b", "")
    units = [guess_unit(name) for name in ("u", "Uab", "UL1", "3U0", "I_N", "Strom", "time", "Input")]
    assert units == [*"VVVVAA", "", ""]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2020-01-02 03:04:05.123456789", "2020-01-02T03:04:05.123456"),
        ("1/2/2020 03:04", "2020-02-01T03:04:00"),
        ("12/31/2020 00:00:00", "2020-12-31T00:00:00"),
        ("'08-05-20 10:00:00", "2008-05-20T10:00:00"),
        ("02.01.99 10:00:00,5", "1999-01-02T10:00:00.500000"),
        ("31/12/2020 23:59:60", "2021-01-01T00:00:00"),
    ],
)
def test_stamps(text, expected):
    assert date_from_text(text).isoformat() == expected


def test_impossible_stamps():
    for text in ("", "now", "32/13/2020", "0/0/0", "2020-01-02 99:00", "9999-12-31 23:59:61"):
        assert date_from_text(text) is None
