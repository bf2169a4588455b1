"""Compare noise with the curvature that n records can have at most, from public numbers alone."""

from __future__ import annotations

import math

from reference.coefficients import Layout
from reference.noise.kinds import Noise
from reference.readings import ADJACENCIES


class DrownedSignalWarning(UserWarning):
    """The noise of a fit matches the curvature of any data set of its size: w says little about the data."""


def records_needed(noise: Noise, public: Layout, norm: str) -> int:
    """Estimate how many records some data set needs to have more curvature than noise, in every direction.

    The degree-2 part is w'Qw with Q = sum x x'/8.  Its trace is at most n r/8, where r = 1 on the balls and d on
    the box, so its smallest eigenvalue is at most n r/(8 d), whatever the data are.  The noise is a symmetric
    matrix whose entries off the diagonal have standard deviation s/2 (monomial basis) or s/sqrt(2); its smallest
    eigenvalue is near -2 sqrt(d) times that (Wigner).

    Parameters
    ----------
    noise : Noise
    public : Layout
    norm : {'unit_ball', 'unit_box', 'symmetric_ball'}
    """
    d = public.dimension
    unit = math.sqrt(2) if noise.kind == "laplace" else 1.0
    # Phi_n is the bulk; for d = 1 there is nothing but Phi_s
    deviation = unit * float(noise.scales[-1] if d == 1 else min(noise.scale_s, noise.scale_n))
    off_diagonal = deviation / (2 if public.basis == "monomial" else math.sqrt(2))
    most = 1 / d if norm != "unit_box" else 1.0
    return math.ceil(2 * math.sqrt(d) * off_diagonal * 8 / most)


def drowned(noise: Noise, public: Layout, norm: str, adjacency: str, n: int) -> str | None:
    """Return the warning about a fit whose noise drowns its signal; None where it does not, or n is not public."""
    if adjacency != ADJACENCIES[0]:
        return None
    needed = records_needed(noise, public, norm)
    if n >= needed:
        return None
    return (
        f"the noise drowns the signal: in some direction even the best {n} records likely have less curvature "
        f"than noise; about {needed} may have more (fewer with fewer columns or a larger epsilon)"
    )
