"""Parts of a plan about data: generated events, your own files, and held-out data."""

from functools import cached_property
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationInfo, model_validator

from pqswarm._base.text import printable
from pqswarm.datasets.make import count_features
from pqswarm.errors import unknown_name
from pqswarm.events import NOISE_LEVELS, Preset, check_snr, get_preset, load_preset
from pqswarm.events.preset_file import read_preset, write_preset
from pqswarm.features import FeatureOptions

Seed = Annotated[int, Field(ge=0, le=2**63 - 1, strict=True)]
Title = Annotated[
    str,
    Field(min_length=1, max_length=200),
    BeforeValidator(lambda given: printable(" ".join(given.split())) if isinstance(given, str) else given),
]
DatasetName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,39}$")]
FileName = Annotated[str, Field(min_length=1, max_length=1000)]

_GENERATED = ("preset", "classes", "events_per_class", "snr", "features", "seed", "seeds")
"""Keys of generated events, which do not apply to your own data."""


class PlanPart(BaseModel):
    """A table of a plan."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def whole_preset_file(key: str, given: Any, folder: Path) -> Any:
    """Return the value of a key; the file of a preset is replaced by its content, as in :class:`DatasetPlan`."""
    named = given.get("extends") if isinstance(given, dict) else given
    if key.rpartition(".")[2] != "preset" or not (isinstance(named, str) and named.endswith(".toml")):
        return given
    return write_preset(read_preset(given, folder=folder) if isinstance(given, dict) else load_preset(folder / given))


def _complete_preset(given: Any, info: ValidationInfo) -> Any:
    """Replace a preset file or table by its full content, so that the study does not depend on the file."""
    folder = (info.context or {}).get("folder", Path())
    if isinstance(given, dict):
        return write_preset(read_preset(given, folder=folder))
    return whole_preset_file("preset", given, folder)


def _changed_feature_options(given: Any) -> Any:
    """Return the feature options that differ from the defaults, so that equal plans compare equal."""
    return FeatureOptions.of(given).changed() if isinstance(given, dict) else given


class DatasetPlan(PlanPart):
    """The events to study and their features.

    Attributes
    ----------
    preset : str or dict
        Name of a preset, or the content of a preset file. In a plan file also the path of a preset file, relative to
        the plan, or a table with its content.
    classes : tuple of str or None
        Classes of the preset to use; by default all.
    events_per_class : int
        Events per class.
    snr : tuple of float
        Noise levels [dB] of stage II, including infinity, that of stage I.
    seed : int
        Seed of the events.
    seeds : tuple of int or None
        Seeds of several data sets, instead of `seed`: the study then runs on each, and tests over them.
    features : dict
        Options of :class:`pqswarm.features.FeatureOptions` that differ from the defaults.

    Examples
    --------
    >>> plan = DatasetPlan(preset={"extends": "paper", "common": {"frequency": 60}}, features={"wavelet": "db4"})
    >>> plan.preset_name, plan.make_preset().common["frequency"], plan.n_features
    ('own', Fixed(value=60.0), 99)
    """

    preset: Annotated[str | dict[str, Any], BeforeValidator(_complete_preset)] = "paper"
    classes: Annotated[tuple[str, ...], Field(min_length=2)] | None = None  # None: all classes of the preset
    events_per_class: Annotated[int, Field(ge=10, le=100_000, strict=True)] = 250
    snr: tuple[Annotated[float, BeforeValidator(check_snr)], ...] = NOISE_LEVELS
    seed: Seed = 0
    seeds: Annotated[tuple[Seed, ...], Field(min_length=1, max_length=1000)] | None = None
    features: Annotated[dict[str, Any], BeforeValidator(_changed_feature_options)] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.seeds is not None:
            if "seed" in self.model_fields_set and self.seed != 0:
                raise ValueError("seed and seeds are both given: keep only seeds")
            if len(set(self.seeds)) < len(self.seeds):
                raise ValueError("seeds contains a seed twice: its events would count twice")
        self.n_features  # noqa: B018 (raises if there are none)
        if inf not in self.snr:
            raise ValueError("snr must contain inf, the level at which features are selected")
        if len({f"{level:g}" for level in self.snr}) != len(self.snr):
            raise ValueError("snr contains a level twice")
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

    @cached_property
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
    """Return whether a table of a plan describes your own data, generated events, or is absent."""
    if given is None:
        return "none"
    keys = type(given).model_fields if isinstance(given, BaseModel) else given if isinstance(given, dict) else {}
    return "own" if keys.keys() & {"file", "fraction"} else "generated"


class _FromFile(PlanPart):
    """A table that may name a file, relative to the folder of the plan."""

    _folder: Path = PrivateAttr(default=Path())

    @model_validator(mode="before")
    @classmethod
    def _explain(cls, given: Any) -> Any:
        for key in given if isinstance(given, dict) else ():
            if key in _GENERATED and key not in cls.model_fields:
                raise ValueError(f"{key} applies to generated events, not to your own data: remove it")
            if key not in cls.model_fields:
                raise ValueError(str(unknown_name("key", key, cls.model_fields)))
        return given

    def lie_in(self, folder: Path) -> None:
        """Set the folder of relative paths."""
        self._folder = folder

    def located(self, file: str) -> Path:
        """Return the path of a file."""
        return self._folder / file


class OwnDataPlan(_FromFile):
    """Your own data: a CSV or npz file, see :func:`pqswarm.datasets.read_samples`.

    Attributes
    ----------
    file : str
        Path of the file, relative to the plan.
    label : str or None
        Label column of a CSV file; by default the one named label, class or target, otherwise the last.
    ignore : tuple of str
        Columns of a CSV file to leave out, such as an identifier.
    drop_missing : bool
        Whether to leave out rows with missing values; otherwise these are an error.
    """

    file: FileName
    label: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    ignore: tuple[str, ...] = ()
    drop_missing: Annotated[bool, Field(strict=True)] = False

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self.located(self.file)

    @property
    def snr(self) -> tuple[float, ...]:
        """The noise levels [dB]: only infinity."""
        return (inf,)


class NamedEvents(DatasetPlan):
    """One of several data sets: generated events, with a name."""

    name: DatasetName

    @model_validator(mode="before")
    @classmethod
    def _named_after_preset(cls, given: Any) -> Any:
        if isinstance(given, dict) and isinstance(given.get("preset", "paper"), str):
            return {"name": Path(given.get("preset", "paper")).stem} | given
        return given

    @model_validator(mode="after")
    def _one_seed(self) -> Self:
        if self.seeds is not None:
            raise ValueError("seeds belongs in [dataset]: give each of [[datasets]] one seed")
        return self

    def alone(self) -> DatasetPlan:
        """Return the data set without its name."""
        return DatasetPlan.model_validate(self.model_dump(exclude={"name"}))


class NamedFile(OwnDataPlan):
    """One of several data sets: a file of your own, with a name."""

    name: DatasetName

    @model_validator(mode="before")
    @classmethod
    def _named_after_file(cls, given: Any) -> Any:
        if isinstance(given, dict) and isinstance(given.get("file"), str):
            return {"name": Path(given["file"]).stem} | given
        return given

    def alone(self) -> OwnDataPlan:
        """Return the data set without its name."""
        alone = OwnDataPlan.model_validate(self.model_dump(exclude={"name"}))
        alone.lie_in(self._folder)
        return alone


class OwnHeldOutPlan(_FromFile):
    """Your own samples that no search uses: another file, or a fraction of each class.

    Attributes
    ----------
    file : str or None
        Path of the other file, relative to the plan.
    fraction : float or None
        Fraction of each class to hold out; give it or `file`.
    seed : int
        Seed of the split.
    """

    file: FileName | None = None
    fraction: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None
    seed: Seed = 0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.file is None) == (self.fraction is None):
            raise ValueError("give file or fraction, not both")
        return self

    @property
    def path(self) -> Path | None:
        """Path of the file, if there is one."""
        return None if self.file is None else self.located(self.file)


class HeldOutPlan(PlanPart):
    """Generated events that no search uses, to test selected subsets.

    Attributes
    ----------
    events_per_class : int
        Events per class and set.
    seeds : tuple of int
        Seeds, one set of events each.
    cross_dataset : bool
        Whether to use the events of the other data sets of the study instead; the default with ``dataset.seeds``.
    """

    events_per_class: Annotated[int, Field(ge=1, le=100_000, strict=True)] = 250
    seeds: Annotated[tuple[Seed, ...], Field(min_length=1, max_length=1000)] = (1, 2, 3, 4, 5)
    cross_dataset: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="before")
    @classmethod
    def _one_seed(cls, given: Any) -> Any:
        """Accept a single seed."""
        if not isinstance(given, dict) or "seed" not in given:
            return given
        if "seeds" in given:
            raise ValueError("seed and seeds are both given: keep only seeds")
        return {"seeds" if key == "seed" else key: [value] if key == "seed" else value for key, value in given.items()}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("seeds contains a seed twice: its events would count twice")
        if self.cross_dataset and (self.events_per_class, self.seeds) != (250, (1, 2, 3, 4, 5)):  # the defaults
            raise ValueError("cross_dataset uses the events of the other data sets: remove seeds and events_per_class")
        return self
