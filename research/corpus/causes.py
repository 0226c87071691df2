"""Compare the causes that `identify` states with those signed from waveforms, currents and status channels."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pqswarm.identify import Failure, default_model, identify_file

if TYPE_CHECKING:
    from pqswarm.identify.analysis import Analysis

TRUTHS = Path(__file__).with_name("causes.csv")
HIDDEN = "not evident"
"""Cause of a recording in which nobody would sign one."""
UNNAMED = ("other", "none", "recorder fault")
"""Causes without a name among those of incidents: the program says that it is unknown, or nothing."""
SURE = 0.8
DOUBTFUL = 0.6
"""Stated probability from which on a wrong cause is grave, and above which a hidden one must not be named."""


@dataclass(frozen=True)
class CauseComparison:
    """A capture, its true cause and phases, and what is said of it, with its probability; it is not refused."""

    name: str
    truth: str
    true_phases: str
    said: str
    phases: str
    probability: float

    @property
    def is_named(self) -> bool:
        """Whether a cause is stated."""
        return self.said not in ("none", "unknown", "refused")

    @property
    def is_right(self) -> bool:
        """Whether the cause is right, or unknown where none can be named; a hidden one may be named with doubt."""
        if self.truth == HIDDEN:
            return not self.is_named or self.probability <= DOUBTFUL
        return not self.is_named if self.truth in UNNAMED else self.said == self.truth

    @property
    def has_phases(self) -> bool | None:
        """Whether the faulted phases are right; None if they are not known, or no fault is named."""
        if self.truth != "fault" or not self.true_phases or self.said != "fault":
            return None
        return set(self.phases) - {" "} == set(self.true_phases)

    @property
    def is_grave(self) -> bool:
        """Whether a wrong cause is stated as if it was sure."""
        return self.is_named and not self.is_right and (self.truth == HIDDEN or self.probability >= SURE)

    def __str__(self) -> str:
        said = f"{self.said} {self.phases} {100 * self.probability:.0f} %" if self.is_named else self.said
        word = "right" if self.is_right else "GRAVE" if self.is_grave else "wrong" if self.is_named else "unnamed"
        return f"{word:8}{self.name}: {said} (true: {self.truth} {self.true_phases})"


def compare_causes(*folders: Path) -> Iterator[CauseComparison]:
    """Compare the causes of the recordings of some folders; those that are not there are left out."""
    results: dict[Path, list[Analysis | Failure]] = {}
    with TRUTHS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        path = next((folder / row["file"] for folder in folders if (folder / row["file"]).is_file()), None)
        if path is None:
            continue
        if path not in results:
            results[path] = list(identify_file(path, model=default_model()))
        capture = row["capture"]
        name = f"{row['file']}, {capture}"
        for found in results[path]:
            if isinstance(found, Failure):
                yield CauseComparison(name, row["cause"], row["phases"], "refused", "", 0.0)
            elif not capture.startswith(("observation", "segment")) or found.source.endswith(f" {capture}"):
                moving = [one for one in found.incidents if one.stages]
                main = found.main_incident if found.main_incident in moving else next(iter(moving), None)
                said = ("none", "", 0.0) if main is None else (main.cause, main.phases, main.probability)
                yield CauseComparison(name, row["cause"], row["phases"], *said)
