"""Import the installed modules that the methods need, so that forked processes share them."""

import contextlib
import importlib
import warnings

OURS = ("suite.runs", "race.methods", "pqswarm.selector")
for name in (*OURS, "mlxtend.feature_selection", "mrmr", "boruta", "mafese", "sklearn_genetic"):
    # An error here recurs in the method's process and is reported there.
    with contextlib.suppress(Exception), warnings.catch_warnings(action="ignore"):
        importlib.import_module(name)
