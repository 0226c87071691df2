"""What the currents of the feeders do in an incident: which one rises, in which phases, to earth or not."""

from dataclasses import dataclass

import numpy as np

from pqswarm._base.typing import AnyArray
from pqswarm.measure.detect.pages import read_channels
from pqswarm.measure.steady.harmonics import fit_harmonics
from pqswarm.measure.supply.channels import name_systems
from pqswarm.recordings.recording import RecordingSource

_ORDERS = 3
_CYCLES = 1
_TAKES_PART = 0.45  # tuned
"""Change of current of a phase over that of the largest from which on it is faulted."""
_EARTH = 0.2  # tuned
"""Zero sequence over the largest change of a phase from which on a fault is to earth."""
_MOST = 60
"""Current channels that are looked at."""


@dataclass(frozen=True)
class FeederCurrents:
    """Currents of a feeder: the largest before, its rise [A], faulted phases (``"G"``: earth), second harmonic."""

    feeder: str
    before: float
    rise: float
    phases: str
    second: float

    @property
    def ratio(self) -> float:
        """The largest current over that before."""
        return 1 + self.rise / max(self.before, 1e-9)


def measure_currents(
    recording: RecordingSource, before: float, during: float, frequency: float
) -> tuple[FeederCurrents, ...]:
    """Compare the currents of each feeder in a cycle before with one during an incident [s]; the largest rise first."""
    numbers = [i for i, one in enumerate(recording.channels) if one.is_current and one.phase in ("A", "B", "C")][:_MOST]
    old, new = (_current_phasors(recording, numbers, moment, frequency) for moment in (before, during))
    if old is None or new is None:
        return ()
    headers = [recording.channels[i] for i in numbers]
    systems = name_systems(headers)
    found = []
    for system in dict.fromkeys(systems):
        places = {headers[i].phase: i for i, name in enumerate(systems) if name == system}
        if len(places) == 3:
            found.append(_feeder(system, *(table[:, [places[p] for p in "ABC"]] for table in (old, new))))
    return tuple(sorted(found, key=lambda one: -one.rise))


def _feeder(name: str, old: AnyArray, new: AnyArray) -> FeederCurrents:
    change = np.abs(new[0] - old[0])
    largest = float(change.max())
    faulted = [phase for phase, size in zip("ABC", change, strict=True) if size > _TAKES_PART * largest]
    zero = abs(complex((new[0] - old[0]).sum())) / 3
    earth = "G" if zero > _EARTH * largest and len(faulted) < 3 else ""
    worst = int(np.abs(new[0]).argmax())
    second = float(np.abs(new[1, worst]) / max(float(np.abs(new[0, worst])), 1e-12))
    before = float(np.abs(old[0]).max())
    return FeederCurrents(name, before, float(np.abs(new[0]).max()) - before, "".join(faulted) + earth, second)


def _current_phasors(
    recording: RecordingSource, numbers: list[int], moment: float, frequency: float
) -> AnyArray | None:
    """Phasors of the orders 1 to 3 in the cycle that starts at a moment [s], (3, n_channels); None if incomplete."""
    rate = recording.sampling_rate
    first = round(moment * rate)
    size = round(_CYCLES * rate / frequency)
    if not numbers or first < 0 or first + size > recording.n_samples or size < 2 * _ORDERS + 2:
        return None
    table = read_channels(recording, numbers, first, first + size)
    if not np.isfinite(table).all():
        return None
    # Angles from the start of the record, so that the two moments compare.
    turn = np.exp(-2j * np.pi * frequency * first / rate * np.arange(1, _ORDERS + 1))
    fits = [fit_harmonics(row, rate / frequency, _ORDERS, _CYCLES)[1] * turn for row in table]
    return np.asarray(np.array(fits).T / np.sqrt(2))
