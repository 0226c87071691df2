"""What is true of a record, by the rules of KINDS.md: measured on its channels before errors of the recorder."""

import numpy as np
from scipy.interpolate import CubicSpline


def sliding_rms(values, rate, frequency):
    """RMS of the cycle that ends at each sample after the first cycle, any number of samples per cycle."""
    total = np.concatenate([[0.0], np.cumsum((values[1:] ** 2 + values[:-1] ** 2) / 2)])
    length = rate / frequency
    ends = np.arange(int(np.ceil(length)), values.size)
    starts = np.interp(ends - length, np.arange(values.size), total)
    return ends / rate, np.sqrt(np.maximum(total[ends] - starts, 0.0) / length)


def harmonic(values, rate, frequency, order):
    """Amplitude of an order over the whole cycles of `values`."""
    cycles = max(1, int(values.size * frequency / rate))
    part = values[: round(cycles * rate / frequency)]
    turn = np.exp(-2j * np.pi * frequency * order / rate * np.arange(part.size))
    return 2 * abs(np.mean(part * turn))


def measure(scene, voltages, currents, nominal):
    """Facts of the channels, as parts of nominal voltage and of the current before the event."""
    rate, frequency, begin = scene.rate, scene.frequency, scene.begin
    cycle = 1 / frequency
    facts = {}
    series = [sliding_rms(values, rate, frequency) for values in voltages]
    ends = series[0][0]
    rms = np.array([values for _, values in series]) / nominal
    before = ends <= begin
    calm = before if before.any() else ends > ends[-1] - 2 * cycle
    reference = np.median(rms[:, calm], axis=1, keepdims=True)
    facts["low"] = float(min(rms.min(), (rms / reference).min()))
    facts["high"] = float(max(rms.max(), (rms / reference).max()))
    relative = rms / reference
    facts["dip"] = float(1 - relative.min())
    facts["rise"] = float(relative.max() - 1)
    facts["change"] = max(facts["dip"], facts["rise"])
    worst = relative.min(axis=0)
    lowest = int(np.argmin(worst))
    recovered = np.flatnonzero(worst[lowest:] > 1 - facts["dip"] / 2)
    facts["recovery"] = float(recovered[0] / rate / cycle) if recovered.size else None
    facts["spread"] = float(np.ptp(relative[:, lowest]))
    facts["final"] = float(np.median(relative[:, -max(3, int(rate * cycle)) :]) - 1)
    shift = round(rate * cycle)
    crest = nominal * np.sqrt(2)
    first = max(0, int((begin - 0.0005) * rate))
    window = np.arange(first, min(first + shift, voltages.shape[1] - 4 * shift))
    offset = -rate * cycle if first >= rate * cycle else 3 * rate * cycle
    other = CubicSpline(np.arange(voltages.shape[1]), voltages, axis=1)(window + offset)
    facts["jump"] = float(np.abs(voltages[:, window] - other).max() / crest) if window.size else 0.0
    spectrum = [harmonic(values[-4 * shift :], rate, frequency, order) for values in voltages for order in (2, 3, 5, 7)]
    facts["harmonics"] = float(max(spectrum) / crest)
    if currents is None:
        return facts
    current = np.array([sliding_rms(values, rate, frequency)[1] for values in currents])
    reference = np.median(current[:, calm], axis=1, keepdims=True)
    top = current.max()
    reference = np.maximum(reference, 1e-3 * top)
    facts["current_ratio"] = float((current / reference).max())
    added = current - reference
    extra = added.max(axis=0)
    highest = int(np.argmax(extra))
    facts["current_added"] = float(extra[highest] / reference.max())
    facts["current_left"] = float(extra[-1] / max(extra[highest], 1e-9))
    high = np.flatnonzero(extra > 0.5 * extra[highest])
    facts["current_held"] = float((series[0][0][high[-1]] - begin) / cycle)
    final = np.median(current[:, -max(3, shift) :], axis=1)
    facts["current_step"] = float(np.max(np.abs(final - reference[:, 0]) / np.maximum(final, reference[:, 0])))
    from_sample = max(0, round(begin * rate))
    three = round(3 * rate * cycle)
    seen = currents[:, from_sample : from_sample + three]
    if from_sample >= three and seen.shape[1] == three:
        added = seen - currents[:, from_sample - three : from_sample]
        second = [harmonic(x, rate, frequency, 2) / max(harmonic(x, rate, frequency, 1), 1e-9) for x in added]
        sizes = [harmonic(x, rate, frequency, 1) for x in added]
        strongest = [part for part, size in zip(second, sizes, strict=True) if size > 0.3 * max(sizes)]
        facts["second"] = float(max(strongest))
    return facts


def is_visible(cause, facts, scene):
    """Whether an expert could sign the cause from the channels, by KINDS.md."""
    has_currents = "current_ratio" in facts
    if cause == "fault":
        clear_current = has_currents and facts["current_ratio"] >= 2 and facts["change"] >= 0.01
        return facts["change"] >= 0.04 or clear_current
    if cause == "motor start":
        by_current = has_currents and facts["current_added"] >= 0.5
        by_current = by_current and facts["current_held"] >= 5 and facts["current_left"] < 0.6
        slow = facts["recovery"] is not None and facts["recovery"] >= 5
        return by_current or (facts["dip"] >= 0.04 and slow and not scene.only_currents)
    if cause == "transformer energising":
        by_current = has_currents and facts.get("second", 0) >= 0.15 and facts["current_added"] >= 0.2
        slow = facts["recovery"] is None or facts["recovery"] >= 3
        return by_current or (facts["dip"] >= 0.04 and facts["spread"] >= 0.01 and slow)
    if cause == "capacitor switching":
        by_current = has_currents and facts["current_step"] >= 0.1
        if scene.only_currents:
            return by_current
        followed = scene.rate >= 4 * scene.oscillation
        return (facts["jump"] >= 0.1 and followed) or (by_current and facts["jump"] >= 0.03)
    if cause == "load switching":
        return has_currents and facts["current_step"] >= 0.1
    return False


def events_of(facts, scene):
    """What may be reported, and whether reporting nothing is right."""
    events = list(scene.more_events)
    if scene.only_these_events:
        return events, bool(scene.none_ok)
    limits = [
        ("sag", facts["low"] < 0.92),
        ("interruption", facts["low"] < 0.12),
        ("swell", facts["high"] > 1.08),
        ("rapid voltage change", facts["change"] >= 0.02),
        ("transient", facts["jump"] >= 0.03),
        ("harmonics", facts["harmonics"] > 0.02),
        ("unbalance", facts["spread"] >= 0.015),
    ]
    events += [name for name, is_over in limits if is_over and name not in events]
    is_calm = facts["low"] > 0.88 and facts["high"] < 1.12 and facts["change"] < 0.04 and facts["jump"] < 0.2
    return events, bool(is_calm if scene.none_ok is None else scene.none_ok)
