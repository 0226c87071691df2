"""The types of sags after Bollen: phasors as his table defines them, in all three phases, and from waveforms."""

import numpy as np
import pytest
from tests.measure.waves import record

from pqswarm.measure import characterize
from pqswarm.measure.group.sag_type import fit_phasor, sag_type
from pqswarm.measure.steady.unbalance import symmetrical_components

TURN = np.exp(-2j * np.pi / 3)
BEFORE = np.array([1, TURN, TURN**2])


def dip(kind, v, phase):
    """Phasors of a sag of residual voltage v whose symmetrical phase is 0, 1 or 2 (Bollen 2003, Table I)."""
    root = np.sqrt(3) / 2
    basic = {
        "A": [v, v * TURN, v * TURN**2],
        "B": [v, TURN, TURN**2],
        "C": [1, -0.5 - root * v * 1j, -0.5 + root * v * 1j],
        "D": [v, -0.5 * v - root * 1j, -0.5 * v + root * 1j],
        "E": [1, v * TURN, v * TURN**2],
        "F": [v, -v / 2 - 1j * (2 + v) / np.sqrt(12), -v / 2 + 1j * (2 + v) / np.sqrt(12)],
        "G": [(2 + v) / 3, -(2 + v) / 6 - root * v * 1j, -(2 + v) / 6 + root * v * 1j],
        # Of a fault of one phase, or two, to earth where the neutral moves.
        "H": [v, TURN - (1 - v), TURN**2 - (1 - v)],
        "I": [1 + 0.9 * (1 - v), -0.5 - root * v * 1j + 0.9 * (1 - v), -0.5 + root * v * 1j + 0.9 * (1 - v)],
    }[kind]
    return np.roll(basic, phase) * TURN**phase


@pytest.mark.parametrize("kind", "ABCDEFGHI")
@pytest.mark.parametrize("phase", [0, 1, 2])
@pytest.mark.parametrize("v", [0.1, 0.5, 0.8])
def test_types(kind, phase, v):
    during = dip(kind, v, phase)
    wanted = "A" if kind == "A" else kind + "abc"[phase]
    found, characteristic = sag_type("ABC", BEFORE, during)
    assert found == wanted
    assert abs(characteristic) == pytest.approx({"B": (1 + 2 * v) / 3, "H": 1.0}.get(kind, v))
    # Between phases there is no zero sequence: a sag of type B is one of type D.
    lines = [[x[0] - x[1], x[1] - x[2], x[2] - x[0]] for x in (BEFORE, during)]
    between = {"B": "D", "E": "G", "I": "C"}.get(kind, kind)
    assert sag_type(["AB", "BC", "CA"], *lines)[0] == (wanted.replace(kind, between) if kind != "H" else "")
    # Whatever the order of the channels.
    assert sag_type("CAB", np.roll(BEFORE, 1), np.roll(during, 1))[0] == wanted


@pytest.mark.parametrize(
    ("phases", "before", "during", "kind"),
    [
        ("ABC", BEFORE[[0, 2, 1]], dip("C", 0.5, 1)[[0, 2, 1]], "Cc"),  # phases that turn the other way
        ("AB", BEFORE[:2], BEFORE[:2], ""),
        (["", "", ""], BEFORE, BEFORE, ""),
        ("ABC", 0 * BEFORE, BEFORE, ""),
        ("ABC", BEFORE, BEFORE, ""),
    ],
)
def test_other_phases_and_no_type(phases, before, during, kind):
    assert sag_type(phases, before, during)[0] == kind


def test_components_and_phasor():
    zero, positive, negative = symmetrical_components(BEFORE + 0.2)
    assert [abs(zero), abs(positive), abs(negative)] == pytest.approx([0.2, 1.0, 0.0])
    n = np.arange(1000, 1237)
    wave = 10 * np.cos(2 * np.pi * 50 * n / 6400 + 0.7) + 3
    phasor = fit_phasor(wave, 1000, 6400, 50.0)
    assert abs(phasor) == pytest.approx(10 / np.sqrt(2))
    assert np.angle(phasor) == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("kind", "phase"), [("A", 0), ("B", 1), ("C", 2), ("D", 0), ("E", 1), ("F", 2), ("G", 0), ("H", 1), ("I", 2)]
)
def test_from_waveforms(kind, phase):
    t = np.arange(3840) / 6400
    during = (t > 0.2) & (t <= 0.35)
    waves = [
        325 * np.where(during, np.imag(b * np.exp(2j * np.pi * 50 * t)), np.imag(a * np.exp(2j * np.pi * 50 * t)))
        for a, b in zip(BEFORE, dip(kind, 0.5, phase), strict=True)
    ]
    (event,) = [one for one in characterize(record(*waves, rate=6400.0)).events if one.type == "sag"]
    assert event.sag_type == ("A" if kind == "A" else kind + "abc"[phase])
