"""Array types by the kind of their entries, for signatures."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
IntArray: TypeAlias = npt.NDArray[np.int64]
NumberArray: TypeAlias = npt.NDArray[Any]
"""Floats, or exact integers as Python objects."""
