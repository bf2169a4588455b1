"""The privacy that a release states, beside the exact loss of its noise.

Each `published_*` function is a theorem's formula as the paper prints it, of (budget, dimension, adjacency).
Whether the theorem is true is another question: see the claim that :attr:`PrivacyStatement.claim` names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import UNSET, UnsetType, field
from msgspec.structs import force_setattr, replace

from reference.accounting.discrete import delta_ends, epsilon_ends, grid_shift
from reference.budgets import Budget, SplitBudget
from reference.common.documents import Document
from reference.common.errors import ReadingError
from reference.common.numbers import Enclosure, decimal_above, decimal_below, short_text
from reference.domain import Domain
from reference.noise import Noise
from reference.noise.grid import widened_l1, widened_l2_squared
from reference.noise.profile import delta_of_shift, epsilon_of_shift
from reference.readings import Adjacency, Readings, RowsPerPerson
from reference.sensitivity import Declared, Setting, Supremum, exact_l1, exact_l2_squared

Verdict: TypeAlias = Literal["proved", "enclosed", "refuted", "undecided"]

NOT_PRIVATE = "not private: for the data holder"
"""The mark of every exact metric and prediction, and of a release that states nothing."""


class PrivacyStatement(Document, frozen=True, omit_defaults=True):
    """(epsilon, delta)-differential privacy for a named adjacency, as claimed by a named theorem.

    Parameters
    ----------
    epsilon, delta : Fraction
    adjacency : {'replace_one', 'add_or_remove_one'}
    claims : tuple of str
        Rows of the claims ledger that the statement rests on: the theorem first, then the lemma of its
        sensitivity, then `L2.alpha` where alpha_1 is not 1.
    rounded : float
        Epsilon as the nearest float, for programs that read no exact numbers.
    rows_per_person : int
        The largest number of records in which neighbours differ.
    """

    epsilon: Fraction = field(name="epsilon_exact")
    delta: Fraction
    adjacency: Adjacency
    claims: tuple[str, ...]
    rounded: float | UnsetType = field(name="epsilon", default=UNSET)
    rows_per_person: RowsPerPerson = 1

    def __post_init__(self) -> None:
        set_rounded(self, self.epsilon, self.rounded)

    @property
    def claim(self) -> str:
        """The theorem."""
        return self.claims[0]

    def __str__(self) -> str:
        """Return the statement in six digits, for reading."""
        claims = ", ".join(self.claims)
        rows = "" if self.rows_per_person == 1 else f", {self.rows_per_person} rows per person"
        return f"{claims}: ({short_text(self.epsilon)}, {short_text(self.delta)}), {self.adjacency}{rows}"


def published_functional(budget: Budget, dimension: int, adjacency: str) -> PrivacyStatement:  # noqa: ARG001
    """Return Theorem 1's statement for Laplace noise of scale Delta_1 / epsilon on every coefficient."""
    return PrivacyStatement(budget.epsilon, Fraction(0), adjacency, ("T1",))


def published_pflr(budget: Budget, dimension: int, adjacency: str) -> PrivacyStatement:  # noqa: ARG001
    """Return the claim for noise whose mean comes from the data: epsilon, by Theorem 1 without the mean.

    No theorem of the paper says this; `T1.shift` is the claim that Theorem 1 covers such a mean.
    """
    return PrivacyStatement(budget.epsilon, Fraction(0), adjacency, ("T1.shift",))


def published_relaxed_functional(budget: Budget, dimension: int, adjacency: str) -> PrivacyStatement:  # noqa: ARG001
    """Return Theorem 4's statement."""
    return PrivacyStatement(budget.epsilon, budget.delta, adjacency, ("T4",))


def published_pdfc(budget: SplitBudget, dimension: int, adjacency: str) -> PrivacyStatement:
    """Return Theorem 3's statement (Algorithm 1, line 25)."""
    # epsilon <- epsilon_s / d + epsilon_n (d - 1) / d
    epsilon = budget.epsilon_s / dimension + budget.epsilon_n * Fraction(dimension - 1, dimension)
    return PrivacyStatement(epsilon, Fraction(0), adjacency, ("T3",))


def published_adfc(budget: SplitBudget, dimension: int, adjacency: str) -> PrivacyStatement:
    """Return Theorem 5's statement (Algorithm 3, line 26)."""
    # epsilon <- epsilon_s / d + epsilon_n (d - 1) / d
    epsilon = budget.epsilon_s / dimension + budget.epsilon_n * Fraction(dimension - 1, dimension)
    # delta <- 1 - (1 - delta_s)(1 - delta_n), which the budget holds
    return PrivacyStatement(epsilon, budget.delta, adjacency, ("T5",))


def published_statement(
    formula: Callable[..., PrivacyStatement],
    domain: Domain,
    budget: Budget | SplitBudget,
    readings: Readings,
    s: int | None,
) -> PrivacyStatement | None:
    """Return the published statement with all its claims, or None where the paper states nothing.

    The paper's Delta is the published one, its neighbours differ in one record, and its x_s is a whole attribute:
    its formula says nothing about another sensitivity, about persons with several rows, or about one column of an
    attribute that is encoded in several.

    Parameters
    ----------
    formula : callable
        One of the `published_*` functions of this module.
    domain : Domain
    budget : Budget or SplitBudget
    readings : Readings
    s : int or None
        Index of x_s; None for mechanisms with one budget.
    """
    if readings.sensitivity != "published" or readings.rows_per_person > 1:
        return None
    if s is not None and domain.is_one_of_several(s):
        return None
    statement = formula(budget, domain.dimension, readings.adjacency)
    # a shifted mean leaves the fairness term out of the sensitivity
    fair = readings.fairness != "none" and statement.claim != "T1.shift"
    number = (3 if statement.claim in ("T4", "T5") else 1) + fair
    scaled = fair and readings.fairness_weight != 1
    return replace(statement, claims=(*statement.claims, f"L{number}", *(["L2.alpha"] if scaled else [])))


def basic_composition(statements: Sequence[PrivacyStatement | None]) -> PrivacyStatement | None:
    """Return the statement for several releases on the same records: epsilons and deltas add up.

    None when one of the releases states nothing; deltas stop at 1.

    Raises
    ------
    reference.common.errors.ReadingError
        When the statements speak of different neighbours.
    """
    known = [statement for statement in statements if statement is not None]
    if not known or len(known) < len(statements):
        return None
    if len({(statement.adjacency, statement.rows_per_person) for statement in known}) > 1:
        raise ReadingError("adjacency", "mixed", "the same in all statements that are composed")
    return PrivacyStatement(
        sum((statement.epsilon for statement in known), Fraction(0)),
        min(Fraction(1), sum((statement.delta for statement in known), Fraction(0))),
        known[0].adjacency,
        tuple(dict.fromkeys(claim for statement in known for claim in statement.claims)),
        rows_per_person=known[0].rows_per_person,
    )


def set_rounded(statement: Document, epsilon: Fraction, rounded: float | UnsetType) -> None:
    """Set the field `rounded` of a new statement, or check the one that was read."""
    try:
        nearest = float(epsilon)
    except OverflowError:
        raise ReadingError("epsilon", short_text(epsilon), "a number that a float holds") from None
    if rounded is not UNSET and rounded != nearest:
        raise ReadingError("epsilon", rounded, f"{nearest!r}, as epsilon_exact")
    force_setattr(statement, "rounded", nearest)


class PublishedStatementWarning(UserWarning):
    """A release carries a published statement that is false for its budgets."""


def _above(value: Enclosure) -> str:
    return short_text(decimal_above(value.upper, 6))


class ExactPrivacy(Document, frozen=True):
    """The privacy that noise of given scales really gives, over all neighbouring data sets.

    Parameters
    ----------
    epsilon : Enclosure
        Laplace: the worst-case loss.  Gaussian: the smallest epsilon at `at_delta`.
    at_delta : Fraction
        The claimed delta; 0 for Laplace noise.
    delta : Enclosure or None
        Gaussian: the smallest delta at `at_epsilon`; None for Laplace noise and without a claim.
    at_epsilon : Fraction or None
        The claimed epsilon.
    verdict : str or None
        Of the claim: `proved` (rational arithmetic only) or `enclosed` (true), `refuted`, `undecided` (the
        enclosure straddles it); None without a claim.
    squared_shift : Enclosure or None
        Gaussian: the square of the longest Mahalanobis shift, which determines the whole profile; None for
        Laplace noise and on a grid.
    rho : Fraction or None
        Gaussian noise on a grid: it is rho-zCDP.  None elsewhere, where the shift or epsilon gives rho.
    grid_shift : Fraction
        Gaussian noise on a grid: mu^2, where it is mu-GDP except for a total variation of
        :data:`reference.accounting.discrete.BEYOND`.
    """

    epsilon: Enclosure
    at_delta: Fraction
    delta: Enclosure | None
    at_epsilon: Fraction | None
    verdict: Verdict | None
    squared_shift: Enclosure | None = None
    rho: Fraction | None = None
    grid_shift: Fraction | UnsetType = UNSET

    def __str__(self) -> str:
        """Return the exact privacy in six digits, for reading: upper ends, rounded up."""
        text = f"epsilon at most {_above(self.epsilon)}"
        if self.delta is not None and self.at_epsilon is not None:
            text += f" at delta {short_text(self.at_delta)}"
            text += f", delta at most {_above(self.delta)} at epsilon {short_text(self.at_epsilon)}"
        elif self.at_delta:
            text += f" at delta {short_text(self.at_delta)}"
        return text if self.verdict is None else f"{text}; verdict on the published statement: {self.verdict}"

    def costs_at_most(self, counted: ExactPrivacy) -> bool:
        """Return whether a release costs at most what was counted; with x_s drawn at random it may cost less."""
        if self.at_delta != counted.at_delta or self.epsilon.upper > counted.epsilon.upper:
            return False
        both = list(zip(self._composed_by(), counted._composed_by(), strict=True))
        return all((a is None) == (b is None) and (a is None or b is None or a <= b) for a, b in both)

    def _composed_by(self) -> tuple[Fraction | None, ...]:
        """Return the statement that a ledger composes, if there is one."""
        shift = None if self.squared_shift is None else self.squared_shift.upper
        return shift, self.rho, self.grid_shift or None


class Privacy(Document, frozen=True):
    """The published statement of a release, beside its exact loss.

    Parameters
    ----------
    published : PrivacyStatement or None
        The paper's theorem with the paper's sensitivity, as printed.  None without noise, with a sensitivity
        that is not the paper's, for persons with several rows, and where x_s is one column of an attribute
        encoded in several.
    exact : ExactPrivacy or None
        What the noise really gives, however it was calibrated, over data sets of rows that the declared domain
        encodes; None without noise.
    norm_domain: ExactPrivacy or None
        The same over all rows of the norm; the declared domain encodes a part of them. Never less private.
    """

    published: PrivacyStatement | None = None
    exact: ExactPrivacy | None = None
    norm_domain: ExactPrivacy | None = None

    def __str__(self) -> str:
        """Return both in six digits, for reading."""
        if self.exact is None:
            return "not private"
        return f"published {self.published or 'nothing'}; exact {self.exact}"


def exact_privacy(
    where: Setting | Declared,
    noise: Noise,
    claim: PrivacyStatement | None,
    delta: Fraction,
    effort: str = "quick",
) -> ExactPrivacy:
    """Return the exact privacy of the noisy coefficients.

    Laplace noise loses exactly the supremum of sum |change| / scale.  Gaussian noise has the profile of
    :mod:`reference.noise.profile` at the longest Mahalanobis shift, sqrt(sup sum (change / sigma)^2).  Noise on a
    grid is enclosed: rounding the records and the coefficients is part of the change, see
    :mod:`reference.noise.grid`, and the discrete Gaussian is within a proved distance of the continuous one, see
    :mod:`reference.accounting.discrete`.

    Parameters
    ----------
    where : Setting or Declared
        All rows of a norm, or those that a domain encodes.
    noise : Noise
        Laplace or Gaussian.
    claim : PrivacyStatement or None
        The claim to judge.
    delta : Fraction
        Where epsilon is evaluated: the claimed delta, or the budget's where nothing is claimed.
    effort : {'fast', 'quick', 'close', 'thorough'}
        As for :func:`reference.sensitivity.exact_l1`.
    """
    scale_n = Fraction(noise.scale_n)
    scale_s = Fraction(noise.scale_s) if noise.in_s.any() else scale_n
    epsilon, delta = (None, delta) if claim is None else (claim.epsilon, claim.delta)
    if noise.steps is not None:
        in_s = int(noise.in_s.sum())
        grid = (noise.steps, in_s, noise.in_s.size - in_s)
        return _exact_privacy_on_grid(where, noise.kind, (scale_s, scale_n), grid, epsilon, delta, effort)
    return _exact_privacy(where, noise.kind, (scale_s, scale_n), epsilon, delta, effort)


def privacy_of(
    where: Declared, noise: Noise, claim: PrivacyStatement | None, delta: Fraction
) -> tuple[ExactPrivacy, ExactPrivacy]:
    """Return the exact privacy over the declared domain, and over the norm domain; see :func:`exact_privacy`.

    Both with effort `fast`: this is part of every fit.  `audit privacy` states the l1 supremum on a ball narrower.
    """
    declared = exact_privacy(where, noise, claim, delta, "fast")
    return declared, exact_privacy(where.setting, noise, claim, delta, "fast")


@lru_cache(maxsize=1024)
def _exact_privacy(
    where: Setting | Declared,
    kind: str,
    scales: tuple[Fraction, Fraction],
    epsilon: Fraction | None,
    delta: Fraction,
    effort: str,
) -> ExactPrivacy:
    scale_s, scale_n = scales
    if kind == "laplace":
        loss = exact_l1(where, 1 / scale_s, 1 / scale_n, effort)
        verdict = None if epsilon is None else _verdict(loss.lower, loss.upper, epsilon, exact=loss.is_exact)
        return ExactPrivacy(Enclosure(loss.lower, loss.upper), delta, None, epsilon, verdict)
    squared_shift = exact_l2_squared(where, 1 / scale_s**2, 1 / scale_n**2)
    shift = Enclosure(decimal_below(squared_shift.lower, 20), decimal_above(squared_shift.upper, 20))
    worst_epsilon = _enclose(squared_shift, epsilon_of_shift, delta)
    if epsilon is None:
        return ExactPrivacy(worst_epsilon, delta, None, None, None, shift)
    worst_delta = _enclose(squared_shift, delta_of_shift, epsilon)
    # by ball arithmetic: never more than enclosed
    verdict = _verdict(worst_delta.lower, worst_delta.upper, delta, exact=False)
    return ExactPrivacy(worst_epsilon, delta, worst_delta, epsilon, verdict, shift)


@lru_cache(maxsize=1024)
def _exact_privacy_on_grid(
    where: Setting | Declared,
    kind: str,
    scales: tuple[Fraction, Fraction],
    grid: tuple[int, int, int],
    epsilon: Fraction | None,
    delta: Fraction,
    effort: str,
) -> ExactPrivacy:
    """Return the privacy of discrete noise on rounded coefficients; `grid` is steps, |Phi_s| and |Phi_n|."""
    (scale_s, scale_n), (steps, in_s, others) = scales, grid
    inverse_scales = in_s / scale_s + others / scale_n
    if kind == "laplace":
        weights = (1 / scale_s, 1 / scale_n)
        loss = _on_grid(where, 1, weights, inverse_scales, steps, effort)
        is_exact = exact_l1(where, *weights, effort).is_exact
        verdict = None if epsilon is None else _verdict(loss.lower, loss.upper, epsilon, exact=is_exact)
        return ExactPrivacy(_outwards(loss.lower, loss.upper), delta, None, epsilon, verdict)
    inverse_squares = in_s / scale_s**2 + others / scale_n**2
    squared_shift = _on_grid(where, 2, (1 / scale_s**2, 1 / scale_n**2), inverse_squares, steps, effort)
    noise = (squared_shift, inverse_scales, in_s + others, steps)
    worst_epsilon = _outwards(*epsilon_ends(*noise, delta))
    # the discrete Gaussian: D_alpha <= alpha mu^2 / 2, as the continuous one
    rho = decimal_above(squared_shift.upper / 2, 20)
    mu_squared = grid_shift(squared_shift, inverse_scales, in_s + others, steps)
    shift = UNSET if mu_squared is None else decimal_above(mu_squared, 20)
    if epsilon is None:
        return ExactPrivacy(worst_epsilon, delta, None, None, None, rho=rho, grid_shift=shift)
    lower, upper = delta_ends(*noise, epsilon, delta)
    verdict = _verdict(lower, upper, delta, exact=False)
    return ExactPrivacy(worst_epsilon, delta, _outwards(lower, upper), epsilon, verdict, rho=rho, grid_shift=shift)


def _on_grid(
    where: Setting | Declared,
    power: int,
    weights: tuple[Fraction, Fraction],
    inverse: Fraction,
    steps: int,
    effort: str,
) -> Supremum:
    """Return the supremum of the l1 change (power 1) or of the square of the l2 change for rounded records."""
    widened = widened_l1 if power == 1 else widened_l2_squared

    def supremum(over: Setting | Declared) -> Supremum:
        return exact_l1(over, *weights, effort) if power == 1 else exact_l2_squared(over, *weights)

    if isinstance(where, Setting):
        return widened(supremum(where), where, inverse, steps)
    setting, leaves = where.setting, not where.domain.prescaled
    found = widened(supremum(where), setting, inverse, steps, leaves=leaves)
    if leaves and (power == 2 or setting.norm == "unit_box"):
        # rounded records are no longer encoded ones, but stay inside the norm
        inside = widened(supremum(setting), setting, inverse, steps)
        return Supremum(found.lower, min(found.upper, inside.upper), found.method)
    return found


def _outwards(lower: Fraction, upper: Fraction) -> Enclosure:
    """Round an enclosure outwards, to ends of 20 digits."""
    return Enclosure(decimal_below(lower, 20), decimal_above(upper, 20))


def _verdict(lower: Fraction, upper: Fraction, claimed: Fraction, *, exact: bool) -> Verdict:
    if lower > claimed:
        return "refuted"
    if upper <= claimed:
        return "proved" if exact else "enclosed"
    return "undecided"


def _enclose(
    squared_shift: Supremum, evaluate: Callable[[Fraction, Fraction], Enclosure], at: Fraction
) -> Enclosure:
    """Enclose an increasing function of the shift over an enclosure of the shift."""
    high = evaluate(squared_shift.upper, at)
    low = high if squared_shift.is_exact else evaluate(squared_shift.lower, at)
    return _outwards(low.lower, high.upper)
