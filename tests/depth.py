"""How often a property is tried: once in ``make test``, ten times as often in ``make deep``."""

import os

DEPTH = int(os.environ.get("PQSWARM_DEPTH", "1"))
