"""Low-pass filters of orthogonal wavelets, by name.

A filter is orthonormal to itself shifted by two, and the wavelet has N vanishing moments: dbN (minimum delay) and symN
(minimum asymmetry) have 2 N coefficients; coifN has 6 N, 2 N vanishing moments, and 2 N - 1 of the scaling function.
Equations were solved with 60 digits and rounded, except sym6, whose coefficients are those of MATLAB and PyWavelets,
with an error of 1.5e-12, so that features match.
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

_READ = json.loads((files("pqswarm.features") / "filters.json").read_text(encoding="utf-8"))
_READ["haar"] = _READ["db1"]

FILTERS: Mapping[str, tuple[float, ...]] = MappingProxyType({name: tuple(taps) for name, taps in _READ.items()})
"""The coefficients of each filter; the first one multiplies the newest sample."""
