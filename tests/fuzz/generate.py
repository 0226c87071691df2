"""Odd but well-formed recordings in every layout; readers accept most."""

from dataclasses import dataclass

import numpy as np
from tests.fuzz.mutations import HOSTILE
from tests.recordings import builders, vendor_files
from tests.reference import pqdif

RATES = (0.01, 1.0, 10.0, 49.0, 50.0, 100.0, 101.0, 400.0, 1000.0, 1600.0, 4800.0, 4800.0, 12_345.678, 1e6, 9e8)
FREQUENCIES = (50.0, 50.0, 60.0, 0.0, 16.7, 400.0, 49.9, 5.0, 1000.0)
LENGTHS = (1, 2, 3, 7, 16, 31, 96, 96, 97, 192, 400)
SCALES = (1e-300, 1e-12, 1e-3, 1.0, 1.0, 230.0, 1000.0, 1e6, 1e15, 3e15)
NAMES = ("Ua", "Ub", "Uc", "U0", "Ia", "Ib", "u a-b", "UAB", "", "V1", "Ua", "frequency", "Ua*", *HOSTILE)
UNITS = ("V", "V", "V", "kV", "A", "pu", "", "Hz", "%", "mV", "°C", "V\x1b[1m", "<b>")
PHASES = ("A", "B", "C", "N", "AB", "", "L1", "x", "3")


@dataclass
class Odd:
    """A recording, channels x samples."""

    samples: np.ndarray
    rate: float
    frequency: float
    names: list
    units: list
    phases: list


def choose_shape(n, rate, rng):
    kind = rng.randrange(12)
    t = np.arange(n) / rate
    cycles = rng.choice((rate / 96, rate / 32, 50.0, 60.0, 16.7, rate / 3, 2 * rate))
    wave = np.sin(2 * np.pi * (cycles * t - rng.choice((0, 1 / 3, 2 / 3))))
    if kind == 0:
        return np.zeros(n)
    if kind == 1:
        return np.full(n, rng.choice((1.0, -1.0, np.nan)))
    if kind == 2:
        return np.where(np.arange(n) % rng.choice((2, 3, 50)) == 0, np.nan, wave)
    if kind == 3:
        return wave * (np.abs(np.arange(n) - n / 2) > n / 8)
    if kind == 4:
        return wave * np.where(np.arange(n) > n / 2, rng.choice((0.0, 0.5, 1.4, 1e6)), 1.0)
    if kind == 5:
        wave[rng.randrange(n)] = rng.choice((50.0, -50.0, 1e300, np.nan))
        return wave
    if kind == 6:
        return np.array([rng.uniform(-1, 1) for _ in range(n)])
    if kind == 7:
        return np.sign(wave)
    if kind == 8:
        return wave + rng.choice((1.0, 1e6))
    return wave


def odd_recording(rng):
    """A random recording: shape, rate, names and units."""
    n, count = rng.choice(LENGTHS), rng.choice((1, 1, 2, 3, 3, 4, 6))
    rate, frequency, scale = rng.choice(RATES), rng.choice(FREQUENCIES), rng.choice(SCALES)
    plain = rng.random() < 0.6
    names = ["Ua", "Ub", "Uc", "Ia", "Ib", "Ic"][:count] if plain else [rng.choice(NAMES) for _ in range(count)]
    units = ["V"] * 3 + ["A"] * 3 if plain else [rng.choice(UNITS) for _ in range(count)]
    phases = ["A", "B", "C"] * 2 if plain else [rng.choice(PHASES) for _ in range(count)]
    samples = np.array([choose_shape(n, rate, rng) for _ in range(count)]) * scale
    return Odd(samples, rate, frequency, names, units[:count], phases[:count])


def write_comtrade(odd, rng):
    kind, code = rng.choice((("ASCII", ""), ("BINARY", "h"), ("BINARY32", "i"), ("FLOAT32", "f")))
    n = odd.samples.shape[1]
    largest = np.nanmax(np.abs(odd.samples), initial=0.0)
    factor = 1.0 if code == "f" else min(max(largest / 30_000, 1e-300), 1e300)
    stored = np.nan_to_num(odd.samples / factor, nan=-32768.0, posinf=32767.0, neginf=-32767.0)
    stamps = np.arange(n) / odd.rate * 1e6 if rng.random() < 0.8 else np.zeros(n)
    table = np.column_stack([np.arange(1, n + 1), np.clip(np.rint(stamps), 0, 2**31), *stored])
    if code != "f":
        table = np.clip(np.rint(table), -(2**31), 2**31 - 1).astype(np.int64)
        table[:, 2:] = np.clip(table[:, 2:], -32768, 32767)
    else:
        table[:, 2:] = np.clip(table[:, 2:], -3e38, 3e38)
    clean = [
        [text.replace(",", " ").replace("\n", " ") for text in texts] for texts in (odd.names, odd.phases, odd.units)
    ]
    n_status = rng.choice((0, 0, 1, 17)) if code else 0
    config = builders.cfg(
        tuple(f"{name},{phase},,{unit}" for name, phase, unit in zip(*clean, strict=True)),
        year=rng.choice(("1999", "2013", "")),
        a=f"{factor:g}",
        n_status=n_status,
        frequency=f"{odd.frequency:g}",
        rates=rng.choice(
            ((f"{odd.rate:g},{n}",), (f"{odd.rate:g},{n}",), (f"0,{n}",), (f"{odd.rate:g},{n // 2}", f"1,{n}"))
        ),
        n_rates=rng.choice((None, None, None, 0)),
        kind=kind,
    )
    data = builders.binary_dat(table, code, n_status) if code else builders.ascii_dat(table)
    if rng.random() < 0.2:
        return {"case.cff": builders.cff(config, data, kind)}
    return {"case.cfg": config, "case.dat": data}


def write_csv(odd, rng):
    sep, decimal = rng.choice(((",", "."), (";", ","), ("\t", "."), (";", ".")))
    labels = [f"{name} [{unit}]" for name, unit in zip(odd.names, odd.units, strict=True)]
    step, unit = rng.choice(((1.0, "s"), (1e3, "ms"), (1e6, "us")))
    header = [sep.join([f"time [{unit}]", *(label.replace(sep, " ").replace("\n", " ") for label in labels)])]
    text = builders.table_text(header, odd.samples, rate=odd.rate, sep=sep, decimal=decimal, step=step)
    return {"case.csv": text.encode(rng.choice(("utf-8", "utf-8", "utf-16", "utf-8-sig")))}


def write_npz(odd, rng):
    arrays = {f"u{i}": samples for i, samples in enumerate(odd.samples)}
    arrays |= {"sampling_rate": odd.rate, "f0": odd.frequency}
    return {"case.npz": builders.zipped(builders.npz_members(arrays))}


def write_pqdif(odd, rng):
    n = odd.samples.shape[1]
    units = {"V": 6, "A": 7}
    names = [name.encode("latin-1", "replace").decode("latin-1").replace("\0", "") for name in odd.names]
    definitions = [
        pqdif.definition(name, rng.randrange(6), units.get(unit, rng.choice((0, 6, 6, 8))))
        for name, unit in zip(names, odd.units, strict=True)
    ]
    times = [("values", pqdif.vector([1, n, 1 / odd.rate]))]
    shared = [("share channel", pqdif.u4(0)), ("share series", pqdif.u4(0))]
    instances = [
        pqdif.instance(i, shared if i else times, [("values", pqdif.vector(samples))])
        for i, samples in enumerate(odd.samples)
    ]
    packed = rng.random() < 0.5
    days, seconds = rng.choice(((36000, 0.5), (0, 0.0), (2**32 - 1, 1e9), (2_958_465, 86_399.9999999)))
    records = [
        pqdif.container(packed),
        pqdif.source(*definitions),
        pqdif.settings(
            odd.frequency, {0: rng.choice(((1.0, 1.0), (0.0, 0.0), (1e300, 1e-300)))} if rng.random() < 0.2 else None
        ),
        pqdif.observation(*instances, days=days, seconds=seconds),
    ]
    return {"case.pqd": pqdif.chain(records, packed=packed)}


def write_sel(odd, rng):
    """An event report, compressed or plain, with rows of the recording."""
    rows = np.resize(np.nan_to_num(odd.samples.T, posinf=1e9, neginf=-1e9), (odd.samples.shape[1], 6))
    how = {"trigger": rng.choice((0, 5, 32, 10**6)), "per_cycle": rng.choice((1, 4, 16, 32))}
    if rng.random() < 0.5:
        return {"case.cev": vendor_files.cev(rows, end=rng.choice(("\r\n", "\n", "\r")), **how)}
    return {"case.eve": vendor_files.eve(np.clip(rows, -99999, 99999), freq=rng.random() < 0.5, **how)}


def write_mat(odd, rng):
    """The channels as arrays of MATLAB, of any type and byte order."""
    code, order = rng.choice(("f8", "f8", "f4", "i2", "u1")), rng.choice("<>")
    arrays = {
        f"u{i}": np.nan_to_num(x).astype(code) if code[0] != "f" else x.astype(code) for i, x in enumerate(odd.samples)
    }
    if rng.random() < 0.3:
        arrays = {rng.choice(("u", "Ua", "V1")): np.stack(list(arrays.values())).T}
    arrays |= {rng.choice(("fs", "Fs", "sampling_rate", "rate")): np.float64(odd.rate)}
    return {"case.mat": vendor_files.mat(arrays, order, compress=rng.random() < 0.5)}


def write_zip(odd, rng):
    """An archive with an odd recording of another format, or two."""
    members = {}
    for number in range(rng.choice((1, 1, 2))):
        writer = rng.choice((write_comtrade, write_csv, write_npz, write_sel, write_mat))
        members |= {name.replace("case", f"case{number}"): content for name, content in writer(odd, rng).items()}
    return {"case.zip": builders.zipped(members)}


GENERATORS = {"comtrade": write_comtrade, "csv": write_csv, "npz": write_npz, "pqdif": write_pqdif}
GENERATORS |= {"sel": write_sel, "mat": write_mat, "zip": write_zip}
"""Writers of odd recordings, by target."""


def generate(target, rng):
    """Write an odd recording as a case; None if the target is not a recording."""
    if target not in GENERATORS:
        return None
    with np.errstate(all="ignore"):
        return GENERATORS[target](odd_recording(rng), rng)
