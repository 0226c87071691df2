"""A site: nominal values of a meter, and names, phases, ratios and units of its channels; and recordings seen so."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from importlib.resources import files
from math import sqrt
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pqswarm._base.checks import check_name, is_finite
from pqswarm._base.toml import explain_mistakes, parse_toml, read_toml_text, table_error, to_toml
from pqswarm.errors import PqswarmError, shorten, unknown_name
from pqswarm.recordings.names import si_unit
from pqswarm.recordings.recording import (
    STATES,
    ChannelHeader,
    Recording,
    RecordingError,
    RecordingHeader,
    RecordingSource,
    StatusChannel,
)
from pqswarm.recordings.source import PickedChannel
from pqswarm.recordings.text import clean_name, first_names


@dataclass(frozen=True, eq=False, kw_only=True)
class SiteSource(RecordingHeader):
    """A recording source with a site applied."""

    inner: RecordingSource
    picks: tuple[PickedChannel, ...]

    @property
    def n_samples(self) -> int:
        """Samples of each channel."""
        return self.inner.n_samples

    @property
    def status(self) -> tuple[StatusChannel, ...]:
        """Status channels, named as in the file."""
        return self.inner.status

    def read(self, first: int = 0, stop: int | None = None) -> Recording:
        """Return scaled samples of the selected channels."""
        part = self.inner.read(first, stop)
        samples = [part.channels[pick.number].samples for pick in self.picks]
        return replace(
            part,
            channels=tuple(
                pick.header.with_samples(own if pick.factor == 1 else own * pick.factor)
                for pick, own in zip(self.picks, samples, strict=True)
            ),
            nominal_frequency=self.nominal_frequency,
            station=self.station,
            notes=self.notes,
        )


_HEAD = (files("pqswarm.recordings") / "site_template.toml").read_text(encoding="utf-8")


_REFERENCES = ("auto", "nominal", "pre-event")
_VOLTAGE = re.compile(r"\s*([0-9][0-9.eE+-]*)\s*([^\s\d].*)?")


def read_site_voltage(key: str, value: object) -> float:
    """Return a voltage of 1 uV to 1 GV in volts, from a number or a text such as ``20 kV``."""
    volts: object = value
    if isinstance(value, str):
        match = _VOLTAGE.fullmatch(value)
        unit, factor = si_unit(match[2] or "V") if match else ("", 1.0)
        try:
            volts = float(match[1]) * factor if match and unit == "V" else None
        except ValueError:
            volts = None
    if not is_finite(volts) or not 1e-6 <= volts <= 1e9:
        raise PqswarmError(
            f"{key + ': ' if key else ''}must be a voltage above 0 (1e-6 to 1e9 V), such as 230, '400 V' or '20 kV', "
            f"not {shorten(repr(value))}."
        )
    return float(volts)


def read_reference(key: str, value: object) -> str | float:
    """Return what 1 pu is: a name, or a voltage [V]."""
    if isinstance(value, str) and not value.strip()[:1].isdigit():
        if value not in _REFERENCES:
            raise unknown_name(key, value, (*_REFERENCES, "a voltage such as 230 or '20 kV'"))
        return value
    return read_site_voltage(key, value)


def _check_site_unit(text: str) -> str:
    if text and si_unit(text)[0] == text and text not in ("V", "A", "W", "VA", "var", "Hz"):
        raise PqswarmError(f"{text!r} is not a known unit: give V, kV, mV, A, kA, ...")
    return text


def _check_site_ratio(ratio: float) -> float:
    if ratio == 0:
        raise PqswarmError("must not be 0: it is the factor from what the meter sees to the network")
    return ratio


def _check_site_connection(given: Any) -> Any:
    if given is not None and not isinstance(given, Mapping):
        raise PqswarmError(f"say which: {{ line_to_line = {given!r} }} or {{ phase_to_neutral = {given!r} }}")
    return given


Text = Annotated[str, AfterValidator(clean_name)]
Unit = Annotated[Text, AfterValidator(_check_site_unit)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_NONE_IF_EMPTY = AfterValidator(lambda text: text or None)
Voltage = Annotated[float, BeforeValidator(partial(read_site_voltage, ""))]


class _SiteTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ChannelRule(_SiteTable):
    """What a site file says about a channel; None if it says nothing.

    Attributes
    ----------
    name, phase, unit, system : str or None
        Override those of the recording.
    ratio : float
        Factor from stored to actual values, such as that of a voltage transformer; negative if it is reversed.
    nominal : float or None
        Nominal voltage of this channel, RMS, after the ratio [V].
    state : str or None
        What the channel is, if it is not to be found out: one of :data:`pqswarm.recordings.STATES`.
    ignore : bool
        Whether to ignore the channel.
    """

    name: Annotated[Text, Field(min_length=1)] | None = None
    phase: Literal["A", "B", "C", "N", "AB", "BC", "CA", ""] | None = None
    unit: Annotated[Unit | None, _NONE_IF_EMPTY] = None
    ratio: Annotated[Number, Field(ge=-1e9, le=1e9), AfterValidator(_check_site_ratio)] = 1.0
    system: Annotated[Text | None, _NONE_IF_EMPTY] = None
    nominal: Voltage | None = None
    state: Annotated[str, AfterValidator(partial(check_name, "state", known=STATES))] | None = None
    ignore: Annotated[bool, Field(strict=True)] = False


@dataclass(frozen=True)
class Site:
    """The site of a meter: what would otherwise have to be guessed.

    Attributes
    ----------
    station : str
        Name; empty to keep that of the recording.
    line_to_line : float or None
        Nominal voltage between two phases, RMS [V].
    nominal_frequency : float or None
        Nominal frequency of the grid [Hz].
    reference : str, float or None
        What 1 pu is: ``"auto"``, ``"nominal"``, ``"pre-event"`` or a voltage [V].
    unit : str
        Unit of channels that have none in the recording or in `channels`.
    thresholds : mapping of str to float
        Keys of :class:`pqswarm.measure.Thresholds`.
    channels : mapping of str to ChannelRule
        By the name in the recording, or a pattern with ``*``, ``?`` and ``[...]``. An exact name takes precedence, then
        the first pattern that matches.
    source : str
        Name of the file in messages.

    Examples
    --------
    >>> site = Site.read('''
    ... station = "North"
    ... nominal_voltage = { line_to_line = "20 kV" }
    ... [channels."U?"]
    ... ratio = 200
    ... [channels.IN4]
    ... ignore = true
    ... ''')
    >>> import numpy as np
    >>> from pqswarm.recordings import Channel
    >>> waves = [Channel(name, "V", phase, np.ones(3)) for name, phase in (("U1", "A"), ("IN4", ""))]
    >>> seen = site.apply(Recording(tuple(waves), 1000.0, 50.0)).read()
    >>> seen.station, seen.channels[0].samples.tolist(), round(site.nominal_voltage(seen.channels[0]))
    ('North', [200.0, 200.0, 200.0], 11547)
    """

    station: str = ""
    line_to_line: float | None = None
    nominal_frequency: float | None = None
    reference: str | float | None = None
    unit: str = ""
    thresholds: Mapping[str, float] = field(default_factory=dict)
    channels: Mapping[str, ChannelRule] = field(default_factory=dict)
    source: str = "the site file"

    @classmethod
    def load(cls, path: str | Path) -> "Site":
        """Read a site file.

        Parameters
        ----------
        path : str or Path
            TOML; ``pqswarm site-file RECORDING`` prints one to edit.

        Returns
        -------
        Site
            Checked.
        """
        path = Path(path)
        try:
            text = read_toml_text(path)
        except FileNotFoundError:
            raise PqswarmError(
                f"there is no site file {path}: `pqswarm site-file RECORDING > {path.name}` writes one to edit."
            ) from None
        return cls.read(text, str(path))

    @classmethod
    def read(cls, text: str, source: str = "the site file") -> "Site":
        """Read the text of a site file.

        Parameters
        ----------
        text : str
            TOML.
        source : str, default="the site file"
            Name of the source in messages.

        Returns
        -------
        Site
            Checked.
        """
        try:
            file = _SiteFile.model_validate(parse_toml(text, source))
        except ValidationError as error:
            raise table_error(source, explain_mistakes(error, _SiteFile)) from None
        fields = dict(file)
        nominal = fields.pop("nominal_voltage") or _SiteNominalVoltage.model_construct()
        to_neutral = nominal.phase_to_neutral
        line_to_line = nominal.line_to_line if to_neutral is None else to_neutral * sqrt(3)
        return cls(**fields, line_to_line=line_to_line, source=source)

    @staticmethod
    def template(recording: RecordingSource) -> str:
        """Return a site file for recordings like this one, as a starting point.

        Parameters
        ----------
        recording : RecordingSource
            A recording of the meter; its channels are listed.

        Returns
        -------
        str
            TOML, with comments.
        """
        lines = [_HEAD.format(station=to_toml(recording.station), frequency=recording.nominal_frequency)]
        for name in dict.fromkeys(channel.name for channel in recording.channels):
            channel = next(one for one in recording.channels if one.name == name)
            lines += [
                f"[channels.{to_toml(name)}]  # {channel.unit or 'no unit'}",
                f"{'' if channel.phase else '# '}phase = {to_toml(channel.phase or 'A')}",
                "",
            ]
        return "\n".join(lines)

    def rule(self, name: str) -> ChannelRule:
        """Return the rule for a channel by its name in the recording: an exact name first, then patterns."""
        if name in self.channels:
            return self.channels[name]
        return next((rule for key, rule in self.channels.items() if fnmatchcase(name, key)), ChannelRule())

    def with_states(self, states: Mapping[str, str]) -> "Site":
        """Return the site with states of channels, by name or pattern, that take precedence over its own."""
        changed = {
            name: rule.model_copy(
                update={"state": next((one for key, one in states.items() if fnmatchcase(name, key)), rule.state)}
            )
            for name, rule in self.channels.items()
        }
        added = {
            key: self.rule(key).model_copy(update={"state": state})
            for key, state in states.items()
            if key not in changed
        }
        return replace(self, channels={**added, **changed})

    def nominal_voltage(self, channel: ChannelHeader) -> float | None:
        """Return the nominal voltage of a channel.

        Parameters
        ----------
        channel : ChannelHeader
            A channel of the recording that :meth:`apply` returned.

        Returns
        -------
        float or None
            RMS [V]: that of the channel, or that of the site between phases (AB, BC, CA) or to neutral (A, B, C);
            None if the site gives none, or the phase is unknown.
        """
        if not channel.is_voltage:
            return None
        nominal = self._own_nominal(channel.name)
        if nominal is not None or self.line_to_line is None or channel.phase in ("", "N"):
            return nominal
        return self.line_to_line if len(channel.phase) == 2 else self.line_to_line / sqrt(3)

    def _own_nominal(self, name: str) -> float | None:
        """The nominal voltage of the channel with this name after renaming."""
        named = [rule.nominal for key, rule in self.channels.items() if (rule.name or key) == name]
        fitting = [rule.nominal for key, rule in self.channels.items() if not rule.name and fnmatchcase(name, key)]
        return next((value for value in (*named, *fitting) if value is not None), None)

    @property
    def units(self) -> Mapping[str, str]:
        """Units by names in the recording, for the option `units` of readers, with patterns and the default unit."""
        return _SiteUnits(self)

    def apply(self, source: RecordingSource) -> RecordingSource:
        """Apply the site to a recording.

        Parameters
        ----------
        source : RecordingSource
            Read with the option ``units=site.units`` if the site gives units. Channels without a rule do not change;
            rules without a channel are ignored.

        Returns
        -------
        RecordingSource
            With names, phases, units, ratios and systems of the site, without ignored channels. Samples are scaled
            when they are read; a :class:`Recording` gives a :class:`Recording`.
        """
        rules = [self.rule(channel.name) for channel in source.channels]
        picks = [
            PickedChannel(number, *self._header(channel, rule))
            for number, (channel, rule) in enumerate(zip(source.channels, rules, strict=True))
            if not rule.ignore
        ]
        if not picks:
            raise RecordingError(f"{self.source}: channels: all {len(source.channels)} channels are ignored.")
        names = [pick.header.name for pick in picks]
        before = [channel.name for channel in source.channels]
        twice = next((name for name in names if names.count(name) > max(before.count(name), 1)), None)
        if twice is not None:
            raise RecordingError(f"{self.source}: channels: two channels get the name {twice!r}.")
        seen = SiteSource(
            inner=source,
            picks=tuple(picks),
            channels=tuple(pick.header for pick in picks),
            station=self.station or source.station,
            nominal_frequency=self.nominal_frequency or source.nominal_frequency,
            notes=(*source.notes, *self._notes(source)),
            sampling_rate=source.sampling_rate,
            start=source.start,
            source=source.source,
            path=source.path,
            format=source.format,
        )
        return seen.read() if isinstance(source, Recording) else seen

    def _header(self, channel: ChannelHeader, rule: ChannelRule) -> tuple[ChannelHeader, float]:
        """The new header of a channel, and the factor of its samples."""
        unit = channel.unit
        factor = rule.ratio
        if rule.unit is not None:
            given, prefix = si_unit(rule.unit)
            if unit.removesuffix(" rms") != given:  # else the reader has applied it
                unit = given
                factor = factor * prefix
        phase = channel.phase if rule.phase is None else rule.phase
        system = rule.system or channel.system
        state = rule.state or channel.state
        return ChannelHeader(rule.name or channel.name, unit, phase, system=system, state=state), factor

    def _notes(self, source: RecordingSource) -> tuple[str, ...]:
        """Return the changes to a recording, one sentence each."""
        rules = {channel.name: self.rule(channel.name) for channel in source.channels}
        names = [channel.name for channel in source.channels]
        ignored = [name for name in names if rules[name].ignore]
        scaled = [f"{name} x {rules[name].ratio:g}" for name in names if name not in ignored and rules[name].ratio != 1]
        notes = []
        if scaled:
            notes.append(f"Ratios of {self.source}: {first_names(scaled, 6)}.")
        if ignored:
            notes.append(f"Ignored by {self.source}: {first_names(ignored, 6)}.")
        return tuple(notes)


class _SiteUnits(dict[str, str]):
    """Units of channels by name or pattern; `get` returns the default unit of the site if the recording has none."""

    def __init__(self, site: Site) -> None:
        super().__init__({name: rule.unit for name, rule in site.channels.items() if rule.unit is not None})
        self._site = site

    def get(self, name: str, default: Any = None) -> Any:
        """The unit of a channel, of the recording, or the default of the site."""
        unit = self._site.rule(name).unit
        if unit is not None:
            return unit
        return self._site.unit if isinstance(default, str) and not default.strip() else default


class _SiteNominalVoltage(_SiteTable):
    line_to_line: Voltage | None = None
    phase_to_neutral: Voltage | None = None

    @model_validator(mode="after")
    def _check_one(self) -> "_SiteNominalVoltage":
        if len(self.model_fields_set) != 1:
            raise PqswarmError("give one of line_to_line and phase_to_neutral")
        return self


class _SiteFile(_SiteTable):
    station: Text = ""
    nominal_voltage: Annotated[_SiteNominalVoltage | None, BeforeValidator(_check_site_connection)] = None
    nominal_frequency: Annotated[Number, Field(ge=5, le=1000)] | None = None
    reference: Annotated[Any, BeforeValidator(partial(read_reference, "reference"))] = None
    unit: Unit = ""
    thresholds: dict[str, Annotated[Number, Field(ge=0)]] = {}
    channels: dict[str, ChannelRule] = {}
