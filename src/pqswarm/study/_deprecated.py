"""Attributes by their names of earlier versions, which still work, with a warning."""

import warnings
from typing import TYPE_CHECKING, Any

__all__ = ["OldClassifierPlan", "OldRunRecord", "OldStudyPlan"]


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is deprecated: use {new}.", DeprecationWarning, stacklevel=3)


class OldRunRecord:
    """What is in the result now."""

    if not TYPE_CHECKING:  # else no misspelt attribute would be noticed

        def __getattr__(self, name: str) -> Any:
            if name not in ("n_evaluations", "improvements", "selected", "error_after"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            _warn(f"RunRecord.{name}", f"result.{name}")
            return getattr(self.result, name)


class OldStudyPlan:
    """What has a new name."""

    @property
    def fresh(self) -> Any:
        """The plan of held-out events."""
        _warn("StudyPlan.fresh", "held_out")
        return self.held_out  # type: ignore[attr-defined]


class OldClassifierPlan:
    """What has a new name."""

    @property
    def hyperparameters(self) -> Any:
        """The given hyperparameters."""
        _warn("ClassifierPlan.hyperparameters", "parameters")
        return self.parameters  # type: ignore[attr-defined]
