"""Import the installed modules that the methods need, so that forked processes share them."""

import contextlib
import importlib
import warnings

for name in ("race.data", "race.methods", "pqswarm.selector", "mlxtend.feature_selection", "mrmr", "boruta", "mafese"):
    # An error here recurs in the method's process and is reported there.
    with contextlib.suppress(Exception), warnings.catch_warnings(action="ignore"):
        importlib.import_module(name)
