"""Array types shared by the package."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["AnyArray", "FloatArray", "IntArray"]

AnyArray = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
