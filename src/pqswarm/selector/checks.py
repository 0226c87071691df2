"""Checks of a selector's parameters, and what follows from them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pqswarm._base.checks import check_name, is_integer
from pqswarm._base.random import derived_seed
from pqswarm.errors import PqswarmError

__all__ = ["check_rule", "seed_of", "sized_parameters", "threads_of"]

RULES = ("best", "1se")


def check_rule(rule: Any, n_features_to_select: Any) -> None:
    """Raise an error unless a rule is known, and does not contradict the number of features."""
    if isinstance(rule, str):
        check_name("rule", rule, RULES)
    else:
        if not (is_integer(rule) and rule >= 1):
            raise PqswarmError(f"rule must be 'best', '1se' or a number of features, not {rule!r}.")
        if n_features_to_select is not None:
            raise PqswarmError("give n_features_to_select or a rule that is a number of features, not both.")


def seed_of(random_state: Any) -> int:
    """Return a seed from what scikit-learn calls a random state; the global one is left alone."""
    if random_state is None:
        return derived_seed(np.random.SeedSequence().entropy, ())  # type: ignore[arg-type]
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if is_integer(random_state) and random_state >= 0:
        return int(random_state)
    raise PqswarmError(f"random_state must be a non-negative integer, a RandomState or None, not {random_state!r}.")


def threads_of(n_jobs: Any) -> int:
    """Return a number of threads from scikit-learn's n_jobs: None is 1, or what joblib.parallel_config says."""
    if n_jobs is not None and (not is_integer(n_jobs) or n_jobs == 0):
        raise PqswarmError(f"n_jobs must be an integer other than 0, -1 for all cores, or None, not {n_jobs!r}.")
    from joblib import effective_n_jobs

    return max(1, int(effective_n_jobs(None if n_jobs is None else int(n_jobs))))


def sized_parameters(given: Any, wanted: Any, n_features: int) -> dict[str, Any]:
    """Return the parameters of an algorithm with the number of features to select."""
    if given is not None and not isinstance(given, Mapping):
        raise PqswarmError(f"algorithm_params must be a mapping of names to values, not {given!r}.")
    parameters = dict(given or {})
    if wanted is None:
        return parameters
    whole = is_integer(wanted) and 1 <= wanted <= n_features
    share = isinstance(wanted, float | np.floating) and 0 < wanted < 1
    if not (whole or share):
        raise PqswarmError(
            f"n_features_to_select must be an integer from 1 to {n_features}, a share between 0 and 1, or "
            f"None, not {wanted!r}."
        )
    if "size" in parameters:
        raise PqswarmError("give n_features_to_select or the size in algorithm_params, not both.")
    return parameters | {"size": int(wanted) if whole else max(1, int(wanted * n_features))}
