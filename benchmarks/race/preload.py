"""Imports what the methods need, as far as it is there, so that forked processes have it at once."""

import contextlib
import importlib
import warnings

for name in ("race.data", "race.methods", "pqswarm.selector", "mlxtend.feature_selection", "mrmr", "boruta", "mafese"):
    # Whatever goes wrong here goes wrong again in the method's process, and is told there.
    with contextlib.suppress(Exception), warnings.catch_warnings(action="ignore"):
        importlib.import_module(name)
