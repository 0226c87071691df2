r"""Parametric models: the fourteen of the paper's Table 1, one function per row, and of impulses.

Every model is a pure function of the time axis `t` [s] and of its parameters, returns a voltage in per unit [pu] and
draws nothing. The printed formulas have :math:`\omega = 2 \pi f` and :math:`u(t) = 1` for :math:`t > 0`, else 0.

The supply of the table is a clean sine of 1 pu with phase 0. The argument `grid` replaces it by a
supply of another amplitude, phase or frequency, or with background harmonics, as field recordings have.

References
----------
F. Hafiz, A. Swain, C. Naik, N. Patel, "Efficient feature selection of power quality events using two
dimensional (2D) particle swarms", Applied Soft Computing 81 (2019) 105498, Table 1.
"""

from pqswarm.events.models.combined import (
    flicker_with_harmonics,
    sag_with_harmonics,
    sag_with_transient,
    swell_with_harmonics,
    swell_with_transient,
)
from pqswarm.events.models.grid import Grid
from pqswarm.events.models.single import (
    dc_offset,
    flicker,
    harmonics,
    impulsive_transient,
    interruption,
    notching,
    oscillatory_transient,
    pure_sinusoid,
    sag,
    swell,
)

__all__ = [
    "Grid",
    "dc_offset",
    "flicker",
    "flicker_with_harmonics",
    "harmonics",
    "impulsive_transient",
    "interruption",
    "notching",
    "oscillatory_transient",
    "pure_sinusoid",
    "sag",
    "sag_with_harmonics",
    "sag_with_transient",
    "swell",
    "swell_with_harmonics",
    "swell_with_transient",
]
