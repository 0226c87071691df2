"""Parts of a plan that say where data come from: generated events, files of one's own, and what is held out."""

from functools import cached_property
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationInfo, model_validator

from pqswarm._base.text import printable
from pqswarm.datasets.make import count_features
from pqswarm.errors import unknown_name
from pqswarm.events import NOISE_LEVELS, Preset, check_snr, get_preset, load_preset
from pqswarm.events.preset_text import write_preset
from pqswarm.events.presetfile import read_preset
from pqswarm.features import FeatureOptions

__all__ = ["DatasetPlan", "HeldOutPlan", "OwnDataPlan", "OwnHeldOutPlan", "Seed", "Title", "is_own"]

Seed = Annotated[int, Field(ge=0, le=2**63 - 1, strict=True)]
Title = Annotated[
    str,
    Field(min_length=1, max_length=200),
    BeforeValidator(lambda given: printable(" ".join(given.split())) if isinstance(given, str) else given),
]
FileName = Annotated[str, Field(min_length=1, max_length=1000)]

_GENERATED = ("preset", "classes", "events_per_class", "snr", "features", "seed", "seeds")
"""Keys of generated events, which mean nothing for data of one's own."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _complete_preset(given: Any, info: ValidationInfo) -> Any:
    """Put what a preset file says, or a table, in full in its place: a study is to know it when the file is gone."""
    folder = (info.context or {}).get("folder", Path())
    if isinstance(given, dict):
        return write_preset(read_preset(given, folder=folder))
    return write_preset(load_preset(folder / given)) if isinstance(given, str) and given.endswith(".toml") else given


def _changed_options(given: Any) -> Any:
    """Return the options of features that are not the default, so that equal plans are equal in words, too."""
    return FeatureOptions.of(given).changed() if isinstance(given, dict) else given


class DatasetPlan(_Part):
    """The events to study, and the features that are extracted from them.

    Attributes
    ----------
    preset : str or dict
        Name of a preset, or all that a preset file says. In a plan file it may also be the path of a preset file,
        relative to the plan, or a table of what would stand in one.
    classes : tuple of str or None
        Some of the classes of the preset, or all of them.
    events_per_class : int
        Events of each class.
    snr : tuple of float
        The noise levels [dB] of stage II; infinity, that of stage I, is among them.
    seed : int
        Seed of the events.
    features : dict
        What is not the default of :class:`pqswarm.features.FeatureOptions`.

    Examples
    --------
    >>> plan = DatasetPlan(preset={"extends": "paper", "common": {"frequency": 60}}, features={"wavelet": "db4"})
    >>> plan.preset_name, plan.make_preset().common["frequency"], plan.n_features
    ('own', Fixed(value=60.0), 99)
    """

    preset: Annotated[str | dict[str, Any], BeforeValidator(_complete_preset)] = "paper"
    classes: Annotated[tuple[str, ...], Field(min_length=2)] | None = None  # of the preset; None: all of them
    events_per_class: Annotated[int, Field(ge=10, le=100_000, strict=True)] = 250
    snr: tuple[Annotated[float, BeforeValidator(check_snr)], ...] = NOISE_LEVELS
    seed: Seed = 0
    features: Annotated[dict[str, Any], BeforeValidator(_changed_options)] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.n_features  # noqa: B018 (it says if there is none)
        if inf not in self.snr:
            raise ValueError("snr must hold inf, the level at which features are selected")
        if len({f"{level:g}" for level in self.snr}) != len(self.snr):
            raise ValueError("snr holds a level twice")
        return self

    @cached_property
    def whole_preset(self) -> Preset:
        """The preset with all of its classes."""
        return get_preset(self.preset) if isinstance(self.preset, str) else read_preset(self.preset)

    def make_preset(self) -> Preset:
        """Return the preset with the chosen classes."""
        return self.whole_preset if self.classes is None else self.whole_preset.with_classes(self.classes)

    @property
    def preset_name(self) -> str:
        """Name of the preset."""
        return self.whole_preset.name

    @property
    def feature_options(self) -> FeatureOptions:
        """Wavelet, level and border mode of the features."""
        return FeatureOptions.of(self.features)

    @property
    def n_features(self) -> int:
        """Features of an event."""
        return count_features(self.make_preset(), self.feature_options)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The event classes, in the order of the preset."""
        return self.make_preset().classes

    @property
    def n_events(self) -> int:
        """Events of all classes."""
        return len(self.class_names) * self.events_per_class


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

    Attributes
    ----------
    file : str
        Path of the file, relative to the plan.
    label : str or None
        The column of labels of a CSV file; None: the one called label, class or target, else the last one.
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
    """Samples of one's own that no search sees: of another file, or a share of each class.

    Attributes
    ----------
    file : str or None
        Path of the other file, relative to the plan.
    share : float or None
        Share of each class that is set aside before all else; give it or `file`.
    seed : int
        Seed of what is set aside.
    """

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
    """Generated events that no search ever sees, on which selected subsets are tested.

    Attributes
    ----------
    events_per_class : int
        Events of each class, in each set.
    seeds : tuple of int
        Seeds, a set of events for each.
    """

    events_per_class: Annotated[int, Field(ge=1, le=100_000, strict=True)] = 250
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
