"""Parts of a plan that say where data come from: files of one's own, and what is held out."""

from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from pqswarm.errors import unknown_name

__all__ = ["Count", "HeldOutPlan", "OwnDataPlan", "OwnHeldOutPlan", "Seed", "is_own"]

Seed = Annotated[int, Field(ge=0, le=2**63 - 1, strict=True)]
Count = Annotated[int, Field(ge=1, strict=True)]
FileName = Annotated[str, Field(min_length=1, max_length=1000)]

_GENERATED = ("preset", "classes", "events_per_class", "snr", "features", "seed", "seeds")
"""Keys of generated events, which mean nothing for data of one's own."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def is_own(given: Any) -> Literal["own", "generated", "none"]:
    """Return whether a table of a plan speaks of data of one's own, of generated events, or is not there."""
    if given is None:
        return "none"
    keys = type(given).model_fields if isinstance(given, BaseModel) else given if isinstance(given, dict) else {}
    return "own" if keys.keys() & {"file", "share"} else "generated"


class _FromFile(_Part):
    """A table that may name a file, which lies in the folder of the plan unless its path is absolute."""

    _folder: Path = PrivateAttr(default=Path())

    @model_validator(mode="before")
    @classmethod
    def _explain(cls, given: Any) -> Any:
        for key in given if isinstance(given, dict) else ():
            if key in _GENERATED and key not in cls.model_fields:
                raise ValueError(f"{key} is of generated events and means nothing for data of one's own: leave it out")
            if key not in cls.model_fields:
                raise ValueError(str(unknown_name("key", key, cls.model_fields)))
        return given

    def lie_in(self, folder: Path) -> None:
        """Say in which folder a file without a full path is."""
        self._folder = folder

    def located(self, file: str) -> Path:
        """Return where a file is."""
        return self._folder / file


class OwnDataPlan(_FromFile):
    """Data of one's own to study: a CSV or npz file, see :func:`pqswarm.datasets.read_samples`.

    `label` names the column of labels of a CSV file.
    """

    file: FileName
    label: Annotated[str, Field(min_length=1, max_length=200)] | None = None

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self.located(self.file)

    @property
    def snr(self) -> tuple[float, ...]:
        """The noise levels [dB]: none but infinity."""
        return (inf,)


class OwnHeldOutPlan(_FromFile):
    """Samples that no search sees: of another file, or a share of each class, set aside by a seed before all else."""

    file: FileName | None = None
    share: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None
    seed: Seed = 0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.file is None) == (self.share is None):
            raise ValueError("give file or share, not both")
        return self

    @property
    def path(self) -> Path | None:
        """Where the file is, if there is one."""
        return None if self.file is None else self.located(self.file)


class HeldOutPlan(_Part):
    """Generated events that no search ever sees: a set for each seed, on which selected subsets are tested."""

    events_per_class: Count = 250
    seeds: Annotated[tuple[Seed, ...], Field(min_length=1, max_length=1000)] = (1, 2, 3, 4, 5)

    @model_validator(mode="before")
    @classmethod
    def _one_seed(cls, given: Any) -> Any:
        """Take a single seed, as plans of earlier versions have it."""
        if not isinstance(given, dict) or "seed" not in given:
            return given
        if "seeds" in given:
            raise ValueError("seed and seeds are both given: keep seeds alone")
        return {"seeds" if key == "seed" else key: [value] if key == "seed" else value for key, value in given.items()}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("seeds holds a seed twice, whose events would count twice")
        return self
