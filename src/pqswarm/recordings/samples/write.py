"""Write sample recordings, with a table of the true disturbances."""

import csv
import io
from datetime import datetime, timedelta
from math import sqrt
from pathlib import Path

from pqswarm._base.files import write_atomically
from pqswarm._base.random import checked_seed, derived_seed, stream
from pqswarm.errors import PqswarmError
from pqswarm.recordings.comtrade import write_comtrade
from pqswarm.recordings.samples.generated import Disturbance, GeneratedRecording

_BEGIN = datetime(2026, 3, 2, 10, 15, 30, 250_000)
_STATION = "Sample North"
_SHORTEST, _LONGEST = 2.0, 24 * 60.0  # minutes
_ASCII = ("fault.cfg", "sag.cfg")
_TRUTH = ("file", "type", "phases", "start", "duration", "magnitude", "unit")
_SITE = """\
# Site of the sample recordings. Usage: pqswarm identify FOLDER --site FOLDER/site.toml
station = "Sample North"
nominal_voltage = { line_to_line = "20 kV" }
nominal_frequency = 50
reference = "nominal"

[channels."U outlet"]  # of the meter that wrote outlet.csv
nominal = 230
"""


def write_samples(folder: str | Path, *, seed: int = 0, minutes: float = 2.0) -> list[Path]:
    """Write sample recordings: COMTRADE, a table of an instrument, a long recording, a site file, and the truth.

    Parameters
    ----------
    folder : str or Path
        It must be new or empty.
    seed : int
        The same seed gives the same files.
    minutes : float
        Length of the long recording, 2 to 1440: three phases at 12.8 kHz, 10.8 MB per minute.

    Returns
    -------
    list of Path
        The files. ``truth.csv`` has a row for each disturbance, and one of type ``none`` for an undisturbed recording.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_samples(f"{folder}/samples")][-4:]
    ['outlet.csv', 'long.cfg', 'site.toml', 'truth.csv']
    """
    folder, seed = Path(folder), checked_seed(seed)
    if not _SHORTEST <= minutes <= _LONGEST:
        raise PqswarmError(f"minutes must be {_SHORTEST:g} to {_LONGEST:g}, not {minutes:,.10g}.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise PqswarmError(f"{folder} exists and is not empty: give the name of a new folder.")
    truth = io.StringIO()
    table = csv.DictWriter(truth, _TRUTH, lineterminator="\n")
    table.writeheader()
    written = []
    for made in [*_short_sample_recordings(seed), _long_sample_recording(seed, minutes)]:
        path = folder / made.source
        is_table = path.suffix == ".csv"
        encoding = "ASCII" if made.source in _ASCII else "BINARY"
        written.append(_write_table(made, path) if is_table else write_comtrade(made, path, encoding))
        nothing = Disturbance("none", "", 0.0, made.seconds, 1.0)
        table.writerows({"file": made.source, **one.truth(made.seconds)} for one in made.disturbances or [nothing])
    written.append(write_atomically(folder / "site.toml", _SITE))
    written.append(write_atomically(folder / "truth.csv", truth.getvalue()))
    return written


def _short_sample_recordings(seed: int) -> list[GeneratedRecording]:
    """Captures of faults and switching, as a triggered recorder writes them."""
    draw = stream(seed, (0,))
    deep, high = draw.uniform(0.35, 0.5), draw.uniform(1.2, 1.35)
    scenes: dict[str, tuple[list[Disturbance], float, float]] = {
        "fault.cfg": (
            [Disturbance("sag", "A", 0.3, 0.12, deep), Disturbance("swell", "BC", 0.3, 0.12, high)],
            0.8,
            6400.0,
        ),
        "sag.cfg": ([Disturbance("sag", "ABC", 0.4, 0.25, draw.uniform(0.6, 0.8))], 1.0, 3200.0),
        "interruption.cfg": ([Disturbance("interruption", "ABC", 0.5, 0.8, 0.02)], 2.0, 6400.0),
        "capacitor.cfg": (
            [Disturbance("transient", "ABC", 0.2056, 0.004, draw.uniform(0.5, 0.8), draw.uniform(500, 900))],
            0.5,
            12_800.0,
        ),
        "harmonics.cfg": ([Disturbance("harmonics", "ABC", -1.0, 3.0, 0.09)], 0.6, 12_800.0),
        "quiet.cfg": ([], 0.6, 6400.0),
        "outlet.csv": ([Disturbance("swell", "A", 0.3, 0.2, 1.18)], 0.8, 10_000.0),
    }
    return [
        GeneratedRecording(
            disturbances,
            seconds,
            rate,
            volts=230.0 if name == "outlet.csv" else 20e3 / sqrt(3),
            seed=derived_seed(seed, (1, number)),
            currents=name == "fault.cfg",
            start=_BEGIN + timedelta(hours=number),
            source=name,
            station=_STATION,
        )
        for number, (name, (disturbances, seconds, rate)) in enumerate(scenes.items())
    ]


def _long_sample_recording(seed: int, minutes: float) -> GeneratedRecording:
    """One disturbance of each type, equally spaced."""
    draw = stream(seed, (2,))
    steady = [float(x) for x in draw.uniform(10, 18, 4)]
    event_types: list[tuple[str, str, float, float, float]] = [
        ("sag", "A", 0.1, draw.uniform(0.5, 0.7), 0.0),
        ("transient", "ABC", 0.004, draw.uniform(0.4, 0.8), draw.uniform(450, 900)),
        ("harmonics", "ABC", steady[0], 0.1, 0.0),
        ("rapid voltage change", "ABC", 0.8, 0.95, 0.0),
        ("swell", "B", 0.2, draw.uniform(1.15, 1.3), 0.0),
        ("notching", "ABC", steady[1], 0.25, 0.0),
        ("sag", "BC", 0.3, draw.uniform(0.7, 0.8), 0.0),
        ("interruption", "ABC", 1.2, 0.03, 0.0),
        ("flicker", "ABC", steady[2], 0.04, 8.8),
        ("transient", "C", 0.0003, 0.6, 0.0),
        ("unbalance", "ABC", steady[3], 0.04, 0.0),
        ("sag", "ABC", 0.5, 0.82, 0.0),
        ("rapid voltage change", "ABC", 0.8, 1.05, 0.0),
    ]
    gap = (60 * minutes - sum(one[2] for one in event_types)) / (len(event_types) + 1)
    disturbances, clock = [], gap
    for event_type, phases, duration, magnitude, frequency in event_types:
        disturbances.append(
            Disturbance(event_type, phases, round(clock, 4), duration, float(magnitude), float(frequency))
        )
        clock += duration + gap
    return GeneratedRecording(
        disturbances,
        60 * minutes,
        seed=derived_seed(seed, (3,)),
        start=_BEGIN + timedelta(days=1),
        source="long.cfg",
        station=_STATION,
    )


def _write_table(made: GeneratedRecording, path: Path) -> Path:
    """Phase A as an instrument writes it: a header, then time and voltage."""
    wave = made.read().channels[0].samples
    began = "" if made.start is None else made.start.isoformat(sep=" ", timespec="milliseconds")
    lines = [
        *("Instrument,Outlet meter", "Serial number,000123", f"Start time,{began}"),
        f"Sampling rate,{made.sampling_rate:g} Hz",
        *("", "Time [s],U outlet [V]"),
        *(f"{n / made.sampling_rate:.6f},{volts:.2f}" for n, volts in enumerate(wave.tolist())),
    ]
    return write_atomically(path, "\r\n".join([*lines, ""]))
