"""The three-phase network obeys physics, and incidents drawn in it are what they say of themselves."""

import numpy as np
import pytest
from research.network import INCIDENT_CAUSES, Network, draw_incident
from scipy.integrate import cumulative_trapezoid, solve_ivp
from tests.depth import DEPTH

from pqswarm.errors import PqswarmError

pytestmark = pytest.mark.skipif(DEPTH == 1, reason="a tool of benchmarks, which takes long to compile: make deep")

FS, F0, V = 6400.0, 50.0, 230.0
W = 2 * np.pi * F0
CYCLE = round(FS / F0)
A = np.exp(2j * np.pi / 3)
TO_PHASES = np.array([[1, 1, 1], [1, A**2, A], [1, A, A**2]])  # of zero, positive and negative sequence
Z1, Z0, LINE1, LINE0, LOAD = 0.01 + 0.1j, 0.03 + 0.2j, 0.06 + 0.15j, 0.2 + 0.5j, 8 + 3j
ARM, TO_EARTH = 0.02, 0.05


def phasors(rows):
    """RMS phasors of the fundamental in the last five cycles, against the sine of phase A of the source."""
    n = rows.shape[1] - 5 * CYCLE
    t = np.arange(n, rows.shape[1]) / FS
    return np.sqrt(2) * 1j * (rows[:, n:] * np.exp(-1j * W * t)).mean(axis=1)


def rms(rows):
    return np.sqrt((rows**2).mean(axis=-1))


def stiff(**options):
    network = Network()
    return network, network.source("bus", V, 1e-4 + 1e-3j, 1e-4 + 1e-3j, **options)


def sequence_fault(kind):
    """Voltages of the busbar and currents into the line during a fault at its end, from the sequence networks."""
    inner = np.array([Z0 * LOAD / (Z0 + LOAD), *[Z1 * LOAD / (Z1 + LOAD)] * 2])
    before = V * LOAD / (LOAD + Z1)
    z0, z1, z2 = inner + np.array([LINE0, LINE1, LINE1]) + ARM
    i0 = i1 = i2 = 0j
    if kind == "AG":
        i0 = i1 = i2 = before / (z0 + z1 + z2 + 3 * TO_EARTH)
    elif kind == "BC":
        i1 = before / (z1 + z2)
        i2 = -i1
    elif kind == "BCG":
        z0 += 3 * TO_EARTH
        i1 = before / (z1 + z0 * z2 / (z0 + z2))
        i2, i0 = -i1 * z0 / (z0 + z2), -i1 * z2 / (z0 + z2)
    elif kind == "ABC":
        i1 = before / z1
    currents = np.array([i0, i1, i2])
    return TO_PHASES @ (np.array([0, before, 0]) - inner * currents), TO_PHASES @ currents


@pytest.mark.parametrize("kind", ["none", "AG", "BC", "BCG", "ABC"])
def test_faults_agree_with_symmetrical_components(kind):
    network = Network()
    network.source("bus", V, Z1, Z0)
    line = network.line("bus", "end", LINE1, LINE0)
    network.shunt("bus", LOAD)
    if kind != "none":
        network.fault("end", {arm: [0.053] for arm in kind}, resistance=ARM, earth_resistance=TO_EARTH)
    record = network.run(0.4, FS, "bus", line)
    voltages, currents = sequence_fault(kind)
    np.testing.assert_allclose(phasors(record.voltages), voltages, atol=0.005 * V)
    np.testing.assert_allclose(phasors(record.currents), currents, atol=0.01 * max(abs(currents).max(), 1))
    np.testing.assert_allclose(rms(record.voltages[:, :CYCLE]), abs(sequence_fault("none")[0]), rtol=0.002)


def test_earth_fault_in_an_isolated_network_moves_the_neutral():
    network = Network()
    source = network.source("bus", V, Z1, Z0, earthing=1e9)
    network.shunt("bus", 1 + 0j, capacitance=2e-6)
    network.fault("bus", {"A": [0.05], "G": [0.05]}, resistance=0.01)
    record = network.run(0.4, FS, "bus", source)
    np.testing.assert_allclose(abs(phasors(record.voltages)), [0, V * 3**0.5, V * 3**0.5], rtol=0.01, atol=1)
    np.testing.assert_allclose(abs(phasors(record.currents))[0], 3 * V * W * 2e-6, rtol=0.02)


def test_a_delta_star_transformer_turns_and_blocks_the_zero_sequence():
    network = Network()
    network.source("bus", V, Z1, Z0)
    unit = network.transformer("bus", "low", 0.5, 0.001 + 0.01j)
    network.shunt("low", 1e4 + 0j)
    network.fault("bus", {"A": [0.05], "G": [0.05]}, resistance=0.1)
    high = phasors(network.run(0.4, FS, "bus", unit).voltages)
    low = phasors(network.run(0.4, FS, "low", unit).voltages)
    np.testing.assert_allclose(low, 0.5 * (high - np.roll(high, -1)), atol=0.2)
    assert abs(low.sum()) < 0.2 < abs(high.sum())


def test_breaker_opens_at_current_zeros_one_pole_after_another():
    network = Network()
    network.source("bus", V, Z1, Z0)
    line = network.line("bus", "end", LINE1, LINE0, operations=[0.2, 0.3])
    network.shunt("end", 2 + 1j)
    network.fault("end", {"A": [0.1, 0.25], "B": [0.1, 0.25], "G": [0.1, 0.25]}, resistance=0.01)
    record = network.run(0.5, FS, "bus", line)
    opened, closed = record.operated[list(line), :2].T
    assert (opened >= 0.2).all()
    assert (opened < 0.2 + 0.75 / F0).all()
    assert np.ptp(opened) > 0.1 / F0
    np.testing.assert_allclose(closed, 0.3, atol=1e-4)
    t = np.arange(record.currents.shape[1]) / FS
    assert abs(record.currents[:, (t > 0.218) & (t < 0.298)]).max() < 1e-3 * abs(record.currents).max()
    np.testing.assert_allclose(rms(record.currents[:, -CYCLE:]), rms(record.currents[:, :CYCLE]), rtol=0.01)


def test_power_of_the_source_is_what_resistances_take():
    network = Network()
    source = network.source("bus", V, Z1, Z1, harmonics=[(5, 0.05, 0.3), (7, 0.03, 1.0)])
    network.shunt("bus", 5 + 0j)
    network.shunt("bus", 0.01 + 0j, capacitance=200e-6)
    record = network.run(0.4, FS, "bus", source)
    t = np.arange(record.voltages.shape[1]) / FS - np.arange(3)[:, None] / (3 * F0)
    emf = np.sqrt(2) * V * (np.sin(W * t) + 0.05 * np.sin(5 * W * t + 0.3) + 0.03 * np.sin(7 * W * t + 1.0))
    given = (emf * record.currents)[:, -5 * CYCLE :].sum(axis=0).mean()
    i_bank = np.gradient(record.voltages, 1 / FS, axis=1) * 200e-6
    taken = Z1.real * record.currents**2 + record.voltages**2 / 5 + 0.01 * i_bank**2
    assert given == pytest.approx(taken[:, -5 * CYCLE :].sum(axis=0).mean(), rel=0.005)


@pytest.mark.parametrize("frequency", [300.0, 500.0, 800.0])
def test_bank_rings_at_the_frequency_of_the_circuit_and_keeps_its_charge(frequency):
    network = Network()
    network.source("bus", V, 0.005 + 0.1j, 0.005 + 0.1j)
    capacitance = 1 / ((2 * np.pi * frequency) ** 2 * 0.1 / W)
    bank = network.shunt("bus", 1e-3 + 0j, capacitance=capacitance, operations=[0.105], open_=True)
    record = network.run(0.3, FS, "bus", bank)
    ring = record.currents[0, round(0.106 * FS) :][: round(0.08 * FS)]
    steady = V * np.sqrt(2) * W * capacitance * np.cos(W * (0.106 + np.arange(ring.size) / FS))
    spectrum = abs(np.fft.rfft((ring - steady) * np.hanning(ring.size), 1 << 15))
    assert spectrum.argmax() * FS / (1 << 15) == pytest.approx(frequency, rel=0.05)
    fine = network.run(0.2, 32_000.0, "bus", bank)
    charge = cumulative_trapezoid(fine.currents[0], dx=1 / 32_000, initial=0)[3600:]  # the ringing has begun
    np.testing.assert_allclose(charge, capacitance * fine.voltages[0, 3600:], atol=0.02 * V * capacitance)


MOTOR = {"stator": 0.05 + 0.2j, "rotor": 0.06 + 0.2j, "magnetising": 6.0}


def motor_by_equations(times, closing, inertia, load):
    """Speed and stator current of phase A by the flux equations of the machine, in the stator's frame."""
    (rs, xs), (rr, xr) = ((MOTOR[key].real, MOTOR[key].imag / W) for key in ("stator", "rotor"))
    lm = MOTOR["magnetising"] / W
    inverse = np.linalg.inv([[xs + lm, lm], [lm, xr + lm]])

    def slope(t, y):
        flux = np.array([y[0] + 1j * y[1], y[2] + 1j * y[3]])
        i_s, i_r = inverse @ flux
        v = np.sqrt(2) * V * -1j * np.exp(1j * W * t)
        d_s, d_r = v - rs * i_s, 1j * y[4] * flux[1] - rr * i_r
        torque = 1.5 * (np.conj(flux[0]) * i_s).imag
        moment = 2 * inertia / W**2
        return [d_s.real, d_s.imag, d_r.real, d_r.imag, (torque - load / W * (y[4] / W) ** 2) / moment]

    y = solve_ivp(slope, (closing, times[-1]), np.zeros(5), t_eval=times, rtol=1e-7, atol=1e-9, max_step=1e-3).y
    return y[4] / W, (inverse @ np.array([y[0] + 1j * y[1], y[2] + 1j * y[3]]))[0].real


def test_motor_start_agrees_with_the_equations_of_the_machine():
    network, _ = stiff()
    motor = network.motor("bus", **MOTOR, inertia=15e3, load=60e3, operations=[0.1])
    record = network.run(0.8, FS, "bus", motor)
    closing = record.operated[motor[0], 0]
    t = np.arange(round(0.11 * FS), record.speed.size)
    speed, current = motor_by_equations(t / FS, closing, 15e3, 60e3)
    np.testing.assert_allclose(record.speed[t], speed, atol=0.01)
    np.testing.assert_allclose(record.currents[0, t], current, atol=0.03 * abs(current).max())
    locked = V / abs(MOTOR["stator"] + 1 / (1 / MOTOR["rotor"] + 1 / (1j * MOTOR["magnetising"])))
    early = slice(round(0.14 * FS), round(0.16 * FS))
    assert rms(record.currents[:, early]).mean() == pytest.approx(locked, rel=0.05)
    slip = 1 - record.speed[-1]
    rotor = MOTOR["rotor"].imag * 1j + MOTOR["rotor"].real / slip
    i_s = V / (MOTOR["stator"] + 1 / (1 / rotor + 1 / (1j * MOTOR["magnetising"])))
    i_r = i_s * 1j * MOTOR["magnetising"] / (rotor + 1j * MOTOR["magnetising"])
    assert 3 * abs(i_r) ** 2 * MOTOR["rotor"].real / slip == pytest.approx(60e3 * (1 - slip) ** 2, rel=0.05)


def test_a_running_motor_keeps_its_speed():
    network, _ = stiff()
    motor = network.motor("bus", **MOTOR, inertia=5e3, slip=0.02)
    np.testing.assert_allclose(network.run(0.5, FS, "bus", motor).speed, 0.98, atol=0.0025)


def test_inrush_follows_the_flux():
    """On a stiff source flux is the integral of the voltage, and the current its place on the curve."""
    network, _ = stiff()
    rated = np.sqrt(2) * V / W
    knee, inductances = 1.2 * rated, [10.0, 0.01]
    cores = [(knee, inductances[1], rest * rated) for rest in (0.5, -0.5, 0.0)]
    unit = network.shunt("bus", 1e-5 + 1j * W * inductances[0], cores=cores, operations=[0.1], open_=True)
    record = network.run(0.2, FS, "bus", unit)
    closing = record.operated[unit[0], 0]
    t = np.arange(round(0.102 * FS), record.currents.shape[1]) / FS
    bends = np.array([0, knee, 3 * rated])
    values = np.cumsum(np.diff(bends, prepend=0) / [1.0, *inductances])
    for k in range(3):
        flux = cores[k][2] + rated * (np.cos(W * closing - k * 2 * np.pi / 3) - np.cos(W * t - k * 2 * np.pi / 3))
        expected = np.sign(flux) * np.interp(abs(flux), bends, values)
        np.testing.assert_allclose(record.currents[k, round(0.102 * FS) :], expected, atol=0.03 * values[-1])


def test_mistakes_name_the_remedy():
    network = Network()
    with pytest.raises(PqswarmError, match=r"source\(\)"):
        network.run(0.1, FS, "bus", (0, 1, 2))
    source = network.source("bus", V, Z1, Z0)
    for wrong in (
        lambda: network.source("bus", V, Z1, Z0),
        lambda: network.run(0.1, FS, "nowhere", source),
        lambda: network.shunt("bus", 1 + 0j, connection="zigzag"),
        lambda: network.fault("bus", {"D": [0.1]}, resistance=1.0),
        lambda: Network(frequency=0),
    ):
        with pytest.raises(PqswarmError):
            wrong()


def draw(cause, seed, **options):
    return draw_incident(cause, np.random.default_rng(seed), **options)


def levels(incident):
    """RMS of whole cycles [pu], phases x cycles."""
    cycles = incident.voltages[:, : incident.voltages.shape[1] // CYCLE * CYCLE].reshape(3, -1, CYCLE)
    return np.sqrt((cycles**2).mean(axis=2)) / incident.nominal


def harmonic(rows, order, start, cycles=5):
    """Size of a harmonic of each row from a cycle on, over the fundamental."""
    lines = abs(np.fft.rfft(rows[:, start * CYCLE : (start + cycles) * CYCLE]))
    return lines[:, order * cycles] / lines[:, cycles]


@pytest.mark.parametrize("cause", INCIDENT_CAUSES)
def test_a_seed_is_an_incident(cause):
    first, again, other = draw(cause, 3, duration=0.5), draw(cause, 3, duration=0.5), draw(cause, 4, duration=0.5)
    assert first.stages == again.stages
    np.testing.assert_array_equal(first.voltages, again.voltages)
    np.testing.assert_array_equal(first.currents, again.currents)
    assert not np.array_equal(first.voltages, other.voltages)


@pytest.mark.parametrize("cause", INCIDENT_CAUSES)
def test_nothing_happens_before_the_first_stage(cause):
    for seed in range(4):
        incident = draw(cause, seed)
        assert incident.cause == cause
        assert incident.voltages.shape == incident.currents.shape == (3, 6400)
        assert np.isfinite(incident.voltages).all()
        assert np.isfinite(incident.currents).all()
        assert all(0.1 < time < 1 for time, _ in incident.stages)
        before = levels(incident)[:, : int(incident.stages[0][0] * 50)]
        assert np.ptp(before) < 0.02
        assert 0.85 < before.min() < before.max() < 1.1
        assert bool(incident.phases) == (cause == "fault")


def test_faults_are_seen_while_they_last():
    seen = set()
    for seed in range(8):
        incident = draw("fault", seed)
        rms = levels(incident)
        assert abs(rms / rms[:, :1] - 1).max() >= 0.08
        named = [what.removeprefix("fault ") for _, what in incident.stages if what[-1] in "ABCG"]
        assert named[-1].strip("G") == incident.phases
        assert ("G" in named[-1]) == incident.grounded
        seen |= {what.split()[0] for _, what in incident.stages}
    assert seen == {"fault", "breaker"}


def test_a_motor_start_is_balanced_and_recovers_as_it_accelerates():
    recovered = 0
    for seed in range(5):
        incident = draw("motor start", seed)
        rms, start = levels(incident), int(incident.stages[0][0] * 50)
        dip = 1 - rms[:, start + 3 : start + 6].mean(axis=1) / rms[:, 2]
        assert 0.04 < dip.min() <= dip.max() < 0.35
        assert np.ptp(dip) < 0.02
        assert np.diff(rms[0, start + 3 :]).min() > -0.01
        recovered += rms[0, -1] > rms[0, 2] - 0.4 * dip[0]
    assert recovered >= 3


def test_an_energised_transformer_dips_unequally_with_decaying_even_harmonics():
    for seed in range(5):
        incident = draw("transformer energising", seed, thd=0.02)
        rms, start = levels(incident), int(incident.stages[0][0] * 50) + 2
        assert np.ptp(rms[:, start]) > 0.01
        second = harmonic(incident.voltages, 2, start).max()
        assert second > 5 * harmonic(incident.voltages, 2, 1).max()
        assert harmonic(incident.voltages, 2, 44).max() < 0.8 * second
        assert rms[:, -1].min() > rms[:, start].min()


def test_background_distortion_is_that_asked_for():
    incident = draw("load switching", 1, thd=0.04)
    size = np.sqrt(sum(harmonic(incident.voltages, k, 0) ** 2 for k in (5, 7, 11, 13)))
    np.testing.assert_allclose(size, 0.04, rtol=0.35)  # the network amplifies or damps it


def test_rates_frequencies_and_mistakes():
    incident = draw("load switching", 2, sample_rate=3840.0, frequency=60.0, duration=0.6, snr=np.inf)
    assert incident.voltages.shape == (3, 2304)
    assert abs(np.fft.rfft(incident.voltages[0, :384])).argmax() == 6
    for options in ({"cause": "lightning"}, {"duration": 0.1}, {"sample_rate": -1.0}):
        with pytest.raises(PqswarmError):
            draw(**{"cause": "fault", "seed": 1} | options)
