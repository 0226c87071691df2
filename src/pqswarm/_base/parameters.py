"""Parameters of algorithms and classifiers: frozen and checked, with meaning, range and default in one place."""

import dataclasses
from collections.abc import Callable, Mapping
from types import NoneType
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


def _is_integer_list(value: Any) -> bool:
    numbers = np.asarray(value)
    return not numbers.size or (numbers.ndim == 1 and numbers.dtype.kind in "iu")


_KINDS: dict[type, tuple[Callable[[Any], bool], Callable[[Any], Any]]] = {
    bool: (lambda value: isinstance(value, bool | np.bool_), bool),
    str: (lambda value: isinstance(value, str), str),
    float: (is_finite, float),
    int: (is_integer, int),
    NoneType: (is_integer, int),
    tuple: (_is_integer_list, lambda value: tuple(np.asarray(value).tolist())),
}
"""Whether a value is of a type, and the value in that type, by the type of the default."""


def _checked_parameter(field: _Field, value: Any, name: str) -> Any:
    """Return the value in the field's type, or raise an error with its name and what is allowed."""
    low, high, choices = (field.metadata[key] for key in ("low", "high", "choices"))
    kind = type(field.default)
    if choices:
        return check_name(name, value, choices)
    if kind is tuple and low is None:
        return _pairs_parameter(name, value)
    if value is None is field.default:
        return None
    fits, convert = _KINDS[kind]
    is_valid = fits(value) and (low is None or np.all(np.greater_equal(value, low)))
    if not is_valid or (high is not None and np.any(np.greater(value, high))):
        raise PqswarmError(f"{name} must be {_parameter_range_text(field)}, not {value!r}.")
    return convert(value)


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
    entries = "mapping of str to object" if field.metadata["low"] is None else "tuple of int"
    return {tuple: entries, NoneType: "int or None"}.get(type(field.default), type(field.default).__name__)


def _parameter_range_text(field: _Field) -> str:
    low, high, choices = (field.metadata[key] for key in ("low", "high", "choices"))
    entries = "names and values" if low is None else "a list of integers"
    kinds = {bool: "true or false", str: "text", float: "a number", tuple: entries}
    limits = {
        (True, True): f" from {low} to {high}",
        (True, False): f" of at least {low}",
        (False, True): f" of at most {high}",
    }
    text = kinds.get(type(field.default), "an integer") + limits.get((low is not None, high is not None), "")
    return " or ".join(choices) or text + (", or None" if field.default is None else "")


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
            found = "parameters of another kind" if isinstance(given, Parameters) else repr(given)
            raise PqswarmError(f"parameters must be a mapping of names to values, not {found}.")
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
