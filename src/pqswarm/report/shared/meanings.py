"""Names and meanings of the features of a study."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pqswarm.features import FUNCTIONS, describe_feature, feature_names

if TYPE_CHECKING:
    from pqswarm.study import StudyPlan
    from pqswarm.study.findings import Events


def names_of(events: "Events", n_features: int) -> tuple[str, ...]:
    """Return the names of the features; studies that do not store them have wavelet features."""
    return events.feature_names or feature_names(n_features // len(FUNCTIONS) - 1)


def wavelet_level(names: Sequence[str]) -> int | None:
    """Return the level of the wavelet transform behind the features; None for other features."""
    level = len(names) // len(FUNCTIONS) - 1
    return level if level > 0 and tuple(names) == feature_names(level) else None


def sampling_rate(plan: "StudyPlan", names: Sequence[str]) -> float | None:
    """Return the sampling rate of all events of a study [Hz]; None if they differ or it is unknown."""
    from pqswarm.study.plan import DatasetPlan

    if wavelet_level(names) is None or not isinstance(plan.dataset, DatasetPlan):
        return None
    rate = getattr(plan.dataset.make_preset().common.get("sampling_rate"), "value", None)
    return None if rate is None else float(rate)


def feature_meanings(plan: "StudyPlan", names: Sequence[str]) -> tuple[str, ...]:
    """Return a description of each feature of a study; empty if unknown."""
    if wavelet_level(names) is None:
        return ("",) * len(names)
    rate = sampling_rate(plan, names)
    return tuple(describe_feature(name, rate) for name in names)
