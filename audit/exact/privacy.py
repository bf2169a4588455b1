"""Judge the paper's privacy statement by the exact loss.

The exact privacy of the noisy coefficients over all neighbouring data sets, beside the published formula, with
two explicit neighbouring data sets as witness.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from audit.exact.declared import farthest_pair
from audit.exact.enclosures import written
from audit.exact.neighbours import Neighbours, extreme_neighbours, scales
from audit.exact.witnesses import domain_of, readings_of
from reference.accounting import ExactPrivacy, PrivacyStatement, exact_privacy
from reference.budgets import Budget, SplitBudget
from reference.common.documents import plain
from reference.common.numbers import Enclosure, decimal_above, decimal_below, decimal_text, short_text
from reference.domain import Domain
from reference.noise import Noise
from reference.noise.profile import delta_of_shift
from reference.readings import Readings
from reference.registry import MECHANISMS, MechanismSpec
from reference.sensitivity import Declared, Setting, Supremum, declared_of, exact_l1, exact_l2_squared

PRIVATE = tuple(name for name, spec in MECHANISMS.items() if spec.private)

WITNESS_SIZES = (1000, 1_000_000)
"""Sizes of the witness, in persons, if the statement is about all sizes: the first that shows the verdict."""

AGREEMENT = Fraction(1, 10**9)
"""Largest relative distance of the witness's coefficients from the stated supremum, up to 10^5 records.

For more records sums of floats lose digits: see :func:`agreement`.
"""

COVERED = (
    "every pair of neighbouring data sets of the domain, and every event on the ideal noisy coefficients; not "
    "covered: the bits of floating-point noise, and a choice of x_s that looks at the data"
)


@dataclass(frozen=True, eq=False)
class Judgement:
    """A published statement beside the exact privacy.

    Parameters
    ----------
    mechanism : str
    claim : PrivacyStatement
    exact : ExactPrivacy
    setting : Setting
    noise : Noise
    budget : Budget or SplitBudget
    readings : Readings
    x_s : str
        Coordinate with its own scale.
    witness : PrivacyWitness
    norm_domain : ExactPrivacy or None
        Over all rows of the norm, if `exact` is over those that a declared domain encodes.
    """

    mechanism: str
    claim: PrivacyStatement
    exact: ExactPrivacy
    setting: Setting
    noise: Noise
    budget: Budget | SplitBudget
    readings: Readings
    x_s: str
    witness: PrivacyWitness
    norm_domain: ExactPrivacy | None = None

    @property
    def verdict(self) -> str:
        """Verdict on the published statement at these budgets."""
        return self.exact.verdict or "undecided"

    @property
    def rows_of(self) -> str:
        """The rows of the data sets, in words."""
        return (
            self.setting.norm
            if self.norm_domain is None
            else f"rows that the domain encodes ({self.setting.norm})"
        )

    @property
    def factor(self) -> Fraction:
        """The lower end of the exact delta (Laplace: epsilon) over the claimed one."""
        if self.exact.delta is None:
            return self.exact.epsilon.lower / self.claim.epsilon
        return self.exact.delta.lower / self.claim.delta

    def to_json(self) -> dict[str, Any]:
        """Return the contract's object."""
        exact_delta = self.exact.delta
        return {
            "mechanism": self.mechanism,
            "claim": self.claim.claim,
            "claimed_epsilon": decimal_text(self.claim.epsilon),
            "claimed_delta": decimal_text(self.claim.delta),
            "exact_epsilon": _written(self.exact.epsilon),
            "exact_delta": None if exact_delta is None else _written(exact_delta),
            **({} if self.norm_domain is None else {"norm_domain": _stated(self.norm_domain)}),
            "factor": short_text(self.factor),
            "verdict": self.verdict,
            "witness": self.witness.to_json(),
            "budget": plain(self.budget),
            "noise": {"kind": self.noise.kind, "scale_s": self.noise.scale_s, "scale_n": self.noise.scale_n},
            "readings": {
                **plain(self.readings),
                "domain": self.setting.norm,
                "dimension": self.setting.dimension,
                "records": self.setting.records,
                "x_s": self.x_s,
            },
            "covered": COVERED,
        }


@dataclass(frozen=True, eq=False)
class PrivacyWitness:
    """Two neighbouring data sets, and what their coefficients show.

    Parameters
    ----------
    neighbours : Neighbours
    loss : Fraction
        As :meth:`audit.exact.neighbours.Neighbours.loss`.
    supremum : Supremum
        Of the loss over all neighbouring data sets of this size.
    epsilon : Fraction or None
        Laplace noise: the worst loss of this pair.
    delta : Enclosure or None
        Gaussian noise: the smallest delta for this pair at the claimed epsilon.
    rows : dict or None
        The rows of a table that a declared domain encodes to them.
    """

    neighbours: Neighbours
    loss: Fraction
    supremum: Supremum
    epsilon: Fraction | None
    delta: Enclosure | None
    rows: dict[str, Any] | None = None

    @property
    def records(self) -> int:
        """N: the records of the larger data set."""
        return max(len(self.neighbours.left), len(self.neighbours.right))

    @property
    def attains(self) -> bool:
        """Whether the pair attains the supremum for its size, up to rounding."""
        return self.loss >= self.supremum.lower * (1 - agreement(self.records))

    def violates(self, claim: PrivacyStatement) -> bool:
        """Return whether this pair alone contradicts the statement."""
        if self.epsilon is not None:
            return self.epsilon > claim.epsilon
        return self.delta is not None and self.delta.lower > claim.delta

    def to_json(self) -> dict[str, Any]:
        """Return the data sets, with the loss by their coefficients."""
        return {
            "records": self.records,
            **self.neighbours.to_json(),
            **(
                {"epsilon": short_text(self.loss)}
                if self.delta is None
                else {"shift_squared": short_text(self.loss)}
            ),
            "delta_at_claimed_epsilon": None if self.delta is None else _written(self.delta),
            "attains_supremum": self.attains,
            **({} if self.rows is None else {"rows": self.rows}),
        }


def judge(
    spec: MechanismSpec,
    setting: Setting,
    budget: Budget | SplitBudget,
    readings: Readings,
    *,
    x_s: str | int | None = None,
) -> Judgement:
    """Judge the published statement of one mechanism over all neighbouring data sets of a setting.

    Claims: T3, T4, T5 (at the given budgets).

    Parameters
    ----------
    spec : MechanismSpec
        A private mechanism.
    setting : Setting
    budget : Budget or SplitBudget
        As the mechanism takes it.
    readings : Readings
        Supplies those that the setting lacks (`sensitivity`).
    x_s : str or int, optional
        By symmetry it does not change the verdict; the first coordinate when None.

    Raises
    ------
    RuntimeError
        When the witness contradicts the stated supremum: one of the two has a bug.
    """
    domain = domain_of(setting)
    s = domain.coordinate(x_s if x_s is not None else 0)
    return _judged(spec, setting, budget, (domain, readings), s)


def judge_declared(
    spec: MechanismSpec,
    domain: Domain,
    budget: Budget | SplitBudget,
    readings: Readings,
    *,
    records: int | None = None,
    x_s: str | int | None = None,
) -> Judgement:
    """Judge the published statement of one mechanism over all data sets of rows that a domain encodes.

    Parameters as for :func:`judge`; `records` is N, and `x_s` matters: the first attribute when None.
    """
    s = domain.selectable[0] if x_s is None else domain.coordinate(x_s)
    where = declared_of(domain, readings, s if spec.split_budget else None, records)
    return _judged(spec, where, budget, (domain, readings), s)


def _judged(
    spec: MechanismSpec,
    where: Setting | Declared,
    budget: Budget | SplitBudget,
    public: tuple[Domain, Readings],
    s: int,
) -> Judgement:
    domain, readings = public
    noise = spec.noise(domain, budget, readings, s)
    # with the caller's own sensitivity, this judges the theorem's formula
    claim = spec.statement(domain, budget, readings, s) or spec.formula(domain, budget, readings)
    exact = exact_privacy(where, noise, claim, claim.delta, "close")
    witness = _witness(where, noise, claim, s, must_violate=exact.verdict == "refuted")
    setting = where.setting if isinstance(where, Declared) else where
    over_norm = exact_privacy(setting, noise, claim, claim.delta, "close") if isinstance(where, Declared) else None
    x_s = domain.columns[s]
    return Judgement(spec.name, claim, exact, setting, noise, budget, readings, x_s, witness, over_norm)


def _witness(
    where: Setting | Declared, noise: Noise, claim: PrivacyStatement, s: int, *, must_violate: bool
) -> PrivacyWitness:
    """Return the worst pair of the setting's size, or of the first size that shows the violation."""
    setting = where.setting if isinstance(where, Declared) else where
    persons = [setting.rows_per_person * size for size in WITNESS_SIZES]
    sizes = persons if setting.records is None else [setting.records]
    found = None
    for records in sizes:
        sized = replace(setting, records=records)
        found = witness_at(
            replace(where, setting=sized) if isinstance(where, Declared) else sized, noise, claim, s
        )
        if must_violate and found.violates(claim):
            break
    if found is None:
        raise RuntimeError("no size to build a witness at")
    return found


def witness_at(where: Setting | Declared, noise: Noise, claim: PrivacyStatement, s: int) -> PrivacyWitness:
    """Build the worst pair of a setting with a number of records, and compute its loss by its coefficients."""
    rows = None
    if isinstance(where, Declared):
        setting, (power, scale_s, scale_n) = where.setting, (1 if noise.kind == "laplace" else 2, *scales(noise))
        pair = farthest_pair(where, power, 1 / scale_s**power, 1 / scale_n**power)
        neighbours, rows = Neighbours(pair.left, pair.right, readings_of(setting)), pair.rows_json()
    else:
        setting = where
        neighbours = extreme_neighbours(setting, noise, s)
    loss = neighbours.loss(noise)
    supremum = supremum_of(where, noise)
    slack = agreement(setting.records or 1)
    if loss > supremum.upper * (1 + slack):
        raise RuntimeError(f"a pair of data sets loses {float(loss)}, above the supremum {float(supremum.upper)}")
    if supremum.is_exact and loss < supremum.lower * (1 - slack):
        raise RuntimeError(f"the worst pair found loses {float(loss)}, below the supremum {float(supremum.lower)}")
    if noise.kind == "laplace":
        return PrivacyWitness(neighbours, loss, supremum, loss, None, rows)
    low, high = (delta_of_shift(loss * factor, claim.epsilon) for factor in (1 - slack, 1 + slack))
    delta = Enclosure(decimal_below(low.lower, 12), decimal_above(high.upper, 12))
    return PrivacyWitness(neighbours, loss, supremum, None, delta, rows)


def agreement(records: int) -> Fraction:
    """Return the relative difference that rounding may cause in the change of sums over this many records."""
    return AGREEMENT * max(Fraction(1), Fraction(records, 10**5))


def supremum_of(where: Setting | Declared, noise: Noise) -> Supremum:
    """Return the supremum of the loss over neighbouring data sets: of what :meth:`Neighbours.loss` returns."""
    scale_s, scale_n = scales(noise)
    if noise.kind == "laplace":
        return exact_l1(where, 1 / scale_s, 1 / scale_n)
    return exact_l2_squared(where, 1 / scale_s**2, 1 / scale_n**2)


def _stated(exact: ExactPrivacy) -> dict[str, Any]:
    return {
        "exact_epsilon": _written(exact.epsilon),
        "exact_delta": None if exact.delta is None else _written(exact.delta),
        "verdict": exact.verdict,
    }


def _written(value: Enclosure) -> str | dict[str, str]:
    """Return a number, an enclosure, or an upper bound."""
    if value.lower == 0 < value.upper:
        return {"upper": decimal_text(decimal_above(value.upper, 20))}
    return written(value.lower, value.upper, 20)
