"""Parameters of algorithms and classifiers: frozen and checked, with meaning, range and default in one place."""

import dataclasses
from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np

from pqswarm._base.checks import check_name, is_finite, is_integer
from pqswarm.errors import PqswarmError

_Field = dataclasses.Field[Any]


def parameter(
    meaning: str,
    *,
    default: Any,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    symbol: str = "",
) -> Any:
    """Declare a field of a subclass of :class:`Parameters`.

    Parameters
    ----------
    meaning : str
        What it does, in a phrase.
    default : object
        Its default, which also sets its type: a number, a bool, text, or None (an integer or None). An empty tuple
        declares a mapping of names to plain values, stored as sorted pairs, or, with `low`, a list of integers.
    low, high : float, default=None
        Minimum and maximum.
    choices : tuple of str, default=()
        The allowed names of a text field; empty allows any text.
    symbol : str, default=""
        Its symbol in the paper.

    Returns
    -------
    object
        A field of a dataclass.
    """
    metadata = {"meaning": meaning, "low": low, "high": high, "choices": choices, "symbol": symbol}
    return dataclasses.field(default=default, metadata=metadata)


def _checked_parameter(field: _Field, value: Any, name: str) -> Any:
    """Return the value in the field's type, or raise an error with its name and what is allowed."""
    if field.default is None:
        return None if value is None else _number_parameter(field, value, name)
    if isinstance(field.default, bool):
        if not isinstance(value, bool | np.bool_):
            raise PqswarmError(f"{name} must be true or false, not {value!r}.")
        return bool(value)
    if isinstance(field.default, str):
        return _text_parameter(field, value, name)
    if isinstance(field.default, tuple):
        return _pairs_parameter(name, value) if field.metadata["low"] is None else _list_parameter(field, value, name)
    return _number_parameter(field, value, name)


def _text_parameter(field: _Field, value: Any, name: str) -> str:
    if field.metadata["choices"]:
        check_name(name, value, field.metadata["choices"])
    if not isinstance(value, str):
        raise PqswarmError(f"{name} must be text, not {value!r}.")
    return value


def _list_parameter(field: _Field, value: Any, name: str) -> tuple[int, ...]:
    numbers = np.asarray(value)
    low = field.metadata["low"]
    if numbers.size and (numbers.ndim != 1 or numbers.dtype.kind not in "iu" or numbers.min() < low):
        raise PqswarmError(f"{name} must be a list of integers of at least {low}, not {value!r}.")
    return tuple(numbers.tolist())


def _number_parameter(field: _Field, value: Any, name: str) -> int | float:
    low = -inf if field.metadata["low"] is None else field.metadata["low"]
    high = inf if field.metadata["high"] is None else field.metadata["high"]
    is_of_type = is_integer if _is_integer_parameter(field) else is_finite
    if not is_of_type(value) or not low <= value <= high:
        raise PqswarmError(f"{name} must be {_parameter_range_text(field)}, not {value!r}.")
    return int(value) if _is_integer_parameter(field) else float(value)


def _is_integer_parameter(field: _Field) -> bool:
    return field.default is None or isinstance(field.default, int)


def _pairs_parameter(name: str, value: Any) -> tuple[tuple[str, Any], ...]:
    """A mapping as sorted pairs, with lists as tuples: hashable and immutable."""
    given = dict(value) if isinstance(value, Mapping | tuple) else None
    if given is None or not all(isinstance(key, str) for key in given):
        raise PqswarmError(f"{name} must be a mapping of names to values, not {value!r}.")
    return tuple((key, _plain_parameter_entry(f"{key} in {name}", given[key])) for key in sorted(given))


def _plain_parameter_entry(name: str, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_plain_parameter_entry(name, entry) for entry in value)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise PqswarmError(f"{name} must be a number, text, true or false, or a list of those, not {value!r}.")


def _parameter_type_text(field: _Field) -> str:
    if field.metadata["choices"]:
        return "{" + ", ".join(repr(choice) for choice in field.metadata["choices"]) + "}"
    if isinstance(field.default, tuple):
        return "mapping of str to object"
    return "int or None" if field.default is None else type(field.default).__name__


def _parameter_range_text(field: _Field) -> str:
    low, high, choices = (field.metadata[key] for key in ("low", "high", "choices"))
    if choices:
        return " or ".join(choices)
    if isinstance(field.default, bool):
        return "true or false"
    if isinstance(field.default, str | tuple):
        return "text" if isinstance(field.default, str) else "names and values"
    kind = "an integer" if _is_integer_parameter(field) else "a number"
    limits = {
        (True, True): f" from {low} to {high}",
        (True, False): f" of at least {low}",
        (False, True): f" of at most {high}",
    }
    return kind + limits.get((low is not None, high is not None), "") + (", or None" if field.default is None else "")


def _parameter_sentence(field: _Field) -> str:
    meaning = field.metadata["meaning"]
    symbol = field.metadata["symbol"]
    text = meaning[0].upper() + meaning[1:] + (f" ({symbol})" if symbol else "")
    allowed = (
        "" if field.metadata["choices"] or isinstance(field.default, bool) else f": {_parameter_range_text(field)}"
    )
    return f"{text}{allowed}. Default {field.default}."


def _parameter_as_lists(value: Any) -> Any:
    return [_parameter_as_lists(entry) for entry in value] if isinstance(value, tuple) else value


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(parameter,))
@dataclasses.dataclass(frozen=True, kw_only=True)
class Parameters:
    """Base class of the parameters of an algorithm or classifier.

    Subclasses declare their fields by :func:`parameter`; they become frozen dataclasses with a docstring that lists
    them.
    """

    _owner: ClassVar[str] = ""  # what messages append to the name of a parameter

    def __init_subclass__(cls) -> None:
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)
        lines = [cls.__doc__ or "", "", "    Attributes", "    ----------"]
        for field in dataclasses.fields(cls):
            lines += [f"    {field.name} : {_parameter_type_text(field)}", f"        {_parameter_sentence(field)}"]
        cls.__doc__ = "\n".join(lines) + "\n    "

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = _checked_parameter(field, getattr(self, field.name), field.name + self._owner)
            object.__setattr__(self, field.name, value)

    @classmethod
    def of(cls, given: "Parameters | Mapping[str, Any] | None") -> Self:
        """Return parameters from an instance of this class, a mapping of names to values, or None (the defaults)."""
        given = {} if given is None else given
        if type(given) is cls:
            return given
        if not isinstance(given, Mapping):
            raise PqswarmError(f"parameters must be a {cls.__name__} or a mapping of names to values, not {given!r}.")
        known = [field.name for field in dataclasses.fields(cls)]
        for name in given:
            check_name(f"parameter{cls._owner}", name, known)
        return cls(**given)

    def settings(self) -> dict[str, Any]:
        """Return names and JSON values; :meth:`of` restores equal parameters from them."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            name: {key: _parameter_as_lists(entry) for key, entry in value} if isinstance(value, tuple) else value
            for name, value in values.items()
        }

    @classmethod
    def table(cls) -> list[dict[str, str]]:
        """Return one row per parameter with name, symbol, meaning, range and default as text."""
        return [
            {
                "name": field.name,
                "symbol": field.metadata["symbol"],
                "meaning": field.metadata["meaning"],
                "range": _parameter_range_text(field),
                "default": str(field.default),
            }
            for field in dataclasses.fields(cls)
        ]
