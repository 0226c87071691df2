"""The numbers printed in the paper.

F. Hafiz, A. Swain, C. Naik, N. Patel, "Efficient feature selection of power quality events using two dimensional
(2D) particle swarms", Applied Soft Computing 81 (2019).
"""

import tomllib
from importlib.resources import files
from typing import Any

_READ = tomllib.loads((files("pqswarm.report") / "paper.toml").read_text(encoding="utf-8"))

ALGORITHMS: tuple[str, ...] = tuple(_READ["algorithms"])

HYPERPARAMETERS: dict[str, dict[str, Any]] = _READ["hyperparameters"]
"""Those of the paper, by kind of classifier."""

PRINTED: dict[str, dict[str, list[float]]] = _READ["printed"]
"""The rows of the paper's tables, by kind of classifier; ``paper.toml`` says what they hold."""

INCONSISTENCIES: tuple[str, ...] = tuple(_READ["inconsistencies"])
"""Inconsistencies and gaps of the paper that matter for a comparison."""
