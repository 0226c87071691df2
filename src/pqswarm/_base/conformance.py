"""The frame of conformance checks, for searches and classifiers, also those of other packages."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from pqswarm._base.parameters import Parameters
from pqswarm._base.typing import ArrayLike
from pqswarm.errors import PqswarmError


def collect_checks(module: Mapping[str, Any]) -> tuple[Callable[[Any], None], ...]:
    """Return the functions ``check_...`` of a module, given by its globals, in their order."""
    return tuple(value for name, value in module.items() if name.startswith("check_"))


def require(condition: object, message: str) -> None:
    """Raise an AssertionError with this message unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def require_equal(one: ArrayLike, other: ArrayLike, message: str) -> None:
    """Raise an AssertionError with this message unless two arrays are equal."""
    require(np.array_equal(one, other), message)


def refuses(action: Callable[..., object], *arguments: Any, named: str = "", **options: Any) -> bool:
    """Return whether the action raises a PqswarmError whose message contains `named`."""
    try:
        action(*arguments, **options)
    except PqswarmError as error:
        return named in str(error)
    return False


@contextmanager
def global_generator_unchanged() -> Iterator[None]:
    """Require that NumPy's global generator is neither used nor changed inside this context."""
    before = np.random.get_state(legacy=True)  # noqa: NPY002
    yield
    require(str(np.random.get_state(legacy=True)) == str(before), "NumPy's global random state was changed")  # noqa: NPY002


def is_frozen(instance: object, name: str) -> bool:
    """Return whether an attribute of a dataclass cannot be set."""
    try:
        setattr(instance, name, None)
    except dataclasses.FrozenInstanceError:
        return True
    return False


def require_parameter_class(kind: type[Parameters], make: Callable[[Mapping[str, Any]], object], given: Any) -> None:
    """Require that parameters are frozen and documented; `make` must refuse wrong names and values by name."""
    for row in kind.table():
        require(row["meaning"] and row["range"], f"parameter {row['name']} has no meaning or range")
        require(is_frozen(kind.of(given), row["name"]), "parameters can be changed")
    wrong: list[tuple[str, Any]] = [("no_such_thing", 1)]
    for field in dataclasses.fields(kind):
        wrong.append((field.name, object()))
        for limit, beyond in ((field.metadata["low"], -1), (field.metadata["high"], 1)):
            if limit is not None:
                wrong.append((field.name, limit + beyond * max(1, abs(limit))))
    for name, value in wrong:
        require(refuses(make, {**given, name: value}, named=name), f"{name} = {value!r} is accepted")
