"""Hyperbolic geometry in plain NumPy float64: the readable truth that compiled kernels are tested against.

Each module is a set of free functions that broadcast over leading axes. `poincare` and `lorentz` write down
the same space in two ways, `euclidean` is the flat baseline, `capacity` says how many children fit around a
node and `dilation` makes room for them.
"""

from __future__ import annotations

from . import capacity, dilation, euclidean, half_space, lorentz, models, poincare, terms

__all__ = ["capacity", "dilation", "euclidean", "half_space", "lorentz", "models", "poincare", "terms"]
