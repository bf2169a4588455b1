"""Whether a fit stopped short of its slack, and what it refused to pay: post-processing."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from reference.domain import Domain
from reference.repaired import guessed
from reference.repaired.cells import Cells, carried_shares, differences, errors, fair_thresholds, spread
from reference.repaired.expected import LARGEST_MULTIPLIER, drawn_records
from reference.repaired.interval import CONFIDENCE, UNKNOWN, Limits, limits_of
from reference.repaired.model import Model
from reference.repaired.threshold import TRUSTED, WORTH

CHANCE = 0.01
"""How often noise alone may look like a shortfall, in a model that is exactly as fair as its slack."""

DOUBT, WARY = 0.05, 1.0
"""How often, by forecast, a difference may be larger than what its noise is said to allow; for this, all that is
expected to change from a probe to the final threshold counts as one more standard deviation."""

NEGLIGIBLE = 0.01
"""Of a difference we say nothing if its limits allow the slack and end no farther above it than this."""


DEAR = 0.03
"""Accuracy that fairness may cost unnoticed."""

APART = 0.03
"""How much farther apart than the slack groups may be unnoticed."""


class Shortfall(NamedTuple):
    """A difference between groups that is above the slack by more than noise explains (see CHANCE).

    Parameters
    ----------
    difference, noise : float
        What all probes together say of the fitted records, and what its noise is taken to be.  It is a forecast:
        probes elsewhere are carried to the final thresholds.
    slack : float
    limit : float or None
        Accuracy that the fit was ready to lose for the last unit of it; None where no price stopped it.
    refused : float or None
        What the last unit would have cost: infinite where nothing reaches the slack, None where it is not known.
    limits : Limits
        Between which the difference is, with at least 95 % confidence, whatever was forecast.
    hidden : bool
        Whether noise hides some groups, which then count nowhere.
    """

    difference: float
    noise: float
    slack: float
    limit: float | None = None
    refused: float | None = None
    limits: Limits = UNKNOWN
    hidden: bool = False

    @property
    def holds_slack(self) -> bool:
        """Whether the limits are known and do not rule the slack out."""
        return self.limits.known and self.limits.low <= self.slack

    def __str__(self) -> str:
        """Return what to tell the user, in a line."""
        low, high = self.limits
        said = f"the fit stopped short of slack {self.slack:.6g}: a difference between groups of about "
        if self.limits.known:
            but = ", but for groups that noise hides" if self.hidden else ""
            # rounded like the limits, and so not outside them
            about = round(min(max(self.difference, low), high), 3)
            holds = "; that includes the slack, as limits allow for more noise than a forecast" * self.holds_slack
            said += f"{about:.3g} is left ({self.limits} with {CONFIDENCE:.0%} confidence{but}{holds})"
        else:
            said += f"{self.difference:.2g} is forecast, and no probe shows how much is left"
        if self.limit is None:
            return said
        if self.refused is None:
            most = "a point" if self.limit == 1 else f"{self.limit:.2g} points"
            return f"{said}; its last point would cost more than {most} of accuracy"
        cost = "no price evens it out" if math.isinf(self.refused) else f"its last point costs {self.refused:.2g}"
        return f"{said}; by forecast {cost}, and probes justified {self.limit:.2g} points of accuracy for a point"


def most_paid(fairness: str, *, group_at_prediction: bool) -> float | None:
    """Return the accuracy that the last unit of a difference may cost at first; None where nothing limits it."""
    if fairness == "none" or group_at_prediction:
        return None
    return guessed.PRICE if fairness == "equalised_odds" else guessed.FREE_PRICE


def shortfall_of(model: Model, domain: Domain, slack: float) -> Shortfall | None:
    """Return how far a released model misses its slack; None where the probes do not show that it does.

    Parameters
    ----------
    model : Model
    domain : Domain
        Of the release.
    slack : float
        For which the model was made or tuned.
    """
    found = _found(model, domain, slack)
    if found is None:
        return None
    found = found._replace(limits=limits_of(model, domain))
    return None if found.holds_slack and found.limits.high <= slack + NEGLIGIBLE else found


def doubted(model: Model, domain: Domain, slack: float) -> float | None:
    """Return the difference that may be left, where probes cannot show that it is at most APART above the slack.

    It is a forecast, cut to the limits, rounded outwards.  Nothing is said of a shortfall, which says more, and
    where limits rule it out.
    """
    found = estimated(model, domain, slack, WARY)
    most = 0.0 if found is None else min(1.0, math.ceil(_most(found, model, domain) * 1000) / 1000)
    if most <= slack + APART or shortfall_of(model, domain, slack) is not None:
        return None
    low, high = limits_of(model, domain).rounded
    return None if high <= slack + APART else min(max(most, low), high)


def doubt_of(model: Model, domain: Domain, slack: float) -> str | None:
    """Return what to tell users of a doubt; else None."""
    most, limits = doubted(model, domain, slack), limits_of(model, domain)
    if most is None:
        return None
    known = f" ({limits} with {CONFIDENCE:.0%} confidence)" if limits.known else ""
    return (
        f"probes cannot show that groups are at most {slack + APART:.6g} apart: noise may leave a difference of "
        f"about {most:.3g}{known}; get more records, or spend more{perhaps_no_help(model, domain, most)}"
    )


def perhaps_no_help(model: Model, domain: Domain, most: float) -> str:
    """Return a clause for models whose constraint is not shown to help: more may be left than without it.

    It says what a model without it would leave, by forecast.  On average the constraint helps nevertheless.

    Parameters
    ----------
    model : Model
    domain : Domain
        Of the release.
    most : float
        The difference that may be left.
    """
    cells = model.cells
    if not any((model.multiplier,) if cells is None else cells.thresholds):
        return ""
    plain = replace(model, multiplier=0.0)
    if cells is not None:
        plain = replace(model, cells=replace(cells, thresholds=(0.0,) * cells.groups))
    found = estimated(plain, domain, 1.0)
    if found is None or found.difference >= most:
        return ""
    return (
        "; nor do probes show that the constraint helps: without it (fairness `none`, or `tuned(1)`, which spends "
        f"nothing) the difference would be about {found.difference:.2g} by forecast"
    )


def costs_of(model: Model, domain: Domain) -> str | None:
    """Return what to tell users where fairness without the group costs more than DEAR of accuracy; else None.

    It is a forecast, by the model's own probabilities of records drawn from the released counts.
    """
    if model.group_weights is None:
        return None
    x = drawn_records(model.counts, domain, model.n).x
    advantage, beyond = guessed.advantage_of(model.w, x), model.excess(x)
    costs, free, chosen = guessed.cost_of(advantage, beyond), advantage > 0.0, beyond > 0.0
    if costs <= DEAR:
        return None
    return (
        f"fairness without the group is dear here: it costs about {costs:.2g} of accuracy, by forecast, and "
        f"selects {chosen.mean():.0%} instead of {free.mean():.0%} of the records; use the group, tolerate some "
        "slack, or spend more"
    )


def _most(found: Shortfall, model: Model, domain: Domain) -> float:
    """Return how large the difference may be by forecast, in either direction and between any two groups."""
    cells = model.cells
    if cells is None:
        return found.difference - float(ndtri(DOUBT / 2)) * found.noise
    shares, variances = (
        one.reshape(cells.groups, -1)
        for one in carried_shares(cells, model.expected_cells(domain), WARY)(cells.thresholds)
    )
    pairs = math.comb(cells.groups, 2) * shares.shape[1]
    noise = np.sqrt(variances[:, None] + variances[None])
    return float((shares[:, None] - shares[None] - ndtri(DOUBT / (2 * pairs)) * noise).max())


def estimated(model: Model, domain: Domain, slack: float, wary: float = TRUSTED) -> Shortfall | None:
    """Return the difference that all probes together forecast, and its noise; None without fairness."""
    cells = model.cells
    if cells is not None:
        estimate, variance = differences(cells, model.expected_cells(domain))(cells.thresholds)
        return Shortfall(estimate, math.sqrt(variance), slack, hidden=cells.hidden)
    if model.zbar is None:
        return None
    estimate, variance = model.root(model.forecast(domain), slack).estimate(model.multiplier, wary)
    return Shortfall(abs(estimate), math.hypot(math.sqrt(variance), _most_of_share(model, domain)), slack)


def _found(model: Model, domain: Domain, slack: float) -> Shortfall | None:
    found = estimated(model, domain, slack)
    if found is None:
        return None
    if model.cells is not None:
        return _of_cells(found, model, model.cells, domain)
    if not _beyond(found, 1):
        return None
    assert model.zbar is not None
    expected = model.forecast(domain)
    root = model.root(expected, slack)
    refused, allowed = root.wanted(), root.allowed()
    if model.group_weights is None:
        return found
    if abs(refused) <= allowed:
        dearer = expected.cost(refused) > expected.cost(model.multiplier)
        fairer = _missed(root.estimate(refused), slack) < _missed(root.estimate(model.multiplier), slack)
        return found._replace(limit=WORTH) if dearer and fairer else found
    # the last unit costs 2 lambda zbar (1 - zbar)
    unit = 2 * float(model.zbar * (1 - model.zbar))
    reached = abs(refused) < LARGEST_MULTIPLIER * (1 - 1e-6)
    return found._replace(limit=allowed * unit, refused=abs(refused) * unit if reached else math.inf)


def _most_of_share(model: Model, domain: Domain) -> float:
    """Return the largest deviation that the noise of zbar gives a probe, or the difference at the end.

    Where a share p of all is chosen, it is 2 p - 1 times what it is at most.
    """
    drawn = drawn_records(model.counts, domain, model.n).x
    z = (drawn[:, -1] > 0).astype(np.float64)
    multipliers = {model.multiplier, *(probe.multiplier for probe in model.probes)}
    chosen = [replace(model, multiplier=one).predict(drawn, z).mean() for one in multipliers]
    return float(model.noise_of_share * max(abs(2 * share - 1) for share in chosen))


def _of_cells(found: Shortfall, model: Model, cells: Cells, domain: Domain) -> Shortfall | None:
    pairs = sum(math.comb(int(seen), 2) for seen in cells.seen.sum(axis=0))
    if not _beyond(found, pairs):
        return None
    # at the thresholds sought, the corrected forecast is still above the slack
    expected = model.expected_cells(domain)
    sought = fair_thresholds(cells, expected, found.slack)
    rates = errors(cells, expected).corrected(expected.rates(np.array(sought), odds=cells.odds))
    if model.group_weights is None:
        return found
    if spread(rates, rates, cells)[0] > found.slack + found.noise:
        return found._replace(limit=guessed.PRICE if cells.odds else guessed.FREE_PRICE)
    difference, dearer = differences(cells, expected), expected.cost(sought) > expected.cost(cells.thresholds)
    fairer = _missed(difference(sought), found.slack) < _missed(difference(cells.thresholds), found.slack)
    return found._replace(limit=WORTH) if dearer and fairer else found


def _missed(estimated: tuple[float, float], slack: float) -> float:
    """Return how far a difference, given with its variance, is taken to be from the slack."""
    estimate, variance = estimated
    return math.hypot(abs(estimate) - slack, math.sqrt(variance))


def _beyond(found: Shortfall, pairs: int) -> bool:
    """Return whether a difference, the largest of these pairs in either direction, is above the slack."""
    return pairs > 0 and found.difference - found.slack > -float(ndtri(CHANCE / (2 * pairs))) * found.noise
