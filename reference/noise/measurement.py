"""A function of data as an OpenDP measurement, with the privacy map that an account gives."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from reference.common.numbers import rounded_up
from reference.noise.hardened import opendp_library


def measurement_of(
    describes: str,
    belongs: Callable[[Any], bool],
    function: Callable[[Any], Any],
    loss: Callable[[int], tuple[Fraction, Fraction]],
    *,
    pure: bool,
) -> Any:
    """Return an OpenDP measurement under its change-one distance.

    Parameters
    ----------
    describes : str
        The input domain; two measurements compose only where it is the same.
    belongs : callable
        Whether a value is in the input domain.
    function : callable
    loss : callable
        Epsilon and delta for a number of replaced records, at least 1; floats are rounded up from them.
    pure : bool
        Without delta: the output measure is the max divergence.

    Raises
    ------
    opendp.mod.OpenDPException
        Unless the feature `honest-but-curious` of OpenDP is enabled: it takes our word for the map.
    """
    dp = opendp_library()

    def privacy_map(distance: int) -> Any:
        epsilon, delta = loss(distance) if distance else (Fraction(0), Fraction(0))
        return rounded_up(epsilon) if pure else (rounded_up(epsilon), rounded_up(delta))

    return dp.m.make_user_measurement(
        dp.user_domain(describes, belongs),
        dp.change_one_distance(),
        dp.max_divergence() if pure else dp.fixed_smoothed_max_divergence(),
        function,
        privacy_map,
    )
