"""The readings of the paper: every choice that its text leaves open, with the default.

Every release, bound and audit depends on these, so they travel together and are printed with every
result.  The readings that concern the records (norm, intercept, kept group) belong to
:class:`reference.domain.Domain`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, TypeAlias

from msgspec import Meta
from msgspec.structs import force_setattr, replace

from reference.common.documents import Document, always
from reference.common.errors import ReadingError
from reference.common.numbers import RealLike, decimal_text, exact, in_float_range, require_whole

FAIRNESS = ("none", "absolute", "covariance", "separate")
BASES = ("monomial", "matrix")
ADJACENCIES = ("replace_one", "add_or_remove_one")
REPAIRS = ("none", "shift_and_trim", "trim", "ball")
NOISE_SOURCES = ("numpy", "hardened")
SENSITIVITIES = ("published", "exact")

MOST_ROWS_PER_PERSON = 10**9

Fairness: TypeAlias = Annotated[str, Meta(extra_json_schema={"enum": FAIRNESS})]
Basis: TypeAlias = Annotated[str, Meta(extra_json_schema={"enum": BASES})]
Adjacency: TypeAlias = Annotated[str, Meta(extra_json_schema={"enum": ADJACENCIES})]
Repair: TypeAlias = Annotated[str, Meta(extra_json_schema={"enum": REPAIRS})]
NoiseSource: TypeAlias = Annotated[str, Meta(extra_json_schema={"enum": NOISE_SOURCES})]
RowsPerPerson: TypeAlias = Annotated[int, Meta(ge=1, le=MOST_ROWS_PER_PERSON)]


class Readings(Document, frozen=True, omit_defaults=True):
    """One reading of the paper.

    Parameters
    ----------
    fairness : {'none', 'absolute', 'covariance', 'separate'}
        The linear coefficient of one record: (1/2 - y) x, plus ``alpha_1 |z - zbar| x`` (`absolute`, what the
        proofs of Lemmas 2 and 4 write) or alpha_1 (z - zbar) x (`covariance`); `separate` releases
        sum (z - zbar) x apart and minimises with the true absolute value.
    fairness_weight : number
        The paper's alpha_1, at least 0.
    tau : number
        The paper's tau.  It matters in `separate` only: elsewhere it shifts a constant.
    basis : {'monomial', 'matrix'}
        Degree-2 coefficients: one per w_e w_l with e <= l (the algorithms), or all d^2 entries (the proofs).
    adjacency : {'replace_one', 'add_or_remove_one'}
        Neighbouring relation of the privacy statement.
    sensitivity : 'published', 'exact' or number
        The bound that calibrates the noise: the paper's, the supremum over all neighbouring data sets, or the
        caller's own (l1 or l2, as the mechanism needs), which is kept as an exact text.
    repair : {'none', 'shift_and_trim', 'trim', 'ball'}
        What is done when the noisy objective has no minimum.  The paper has no such step.
    ball_radius : number
        Radius of the ball of `repair='ball'`: a public constant.
    noise : {'numpy', 'hardened'}
        The sampler: numpy's, for study, or OpenDP's, which is safe down to the bits and takes no seed.  A run
        without a seed takes OpenDP's, whatever this says.
    rows_per_person : int
        How many records one person may have; the statement protects persons.
    """

    fairness: Fairness = always("none")
    fairness_weight: Fraction = always(Fraction(1))
    tau: Fraction = always(Fraction(0))
    basis: Basis = always("monomial")
    adjacency: Adjacency = always("replace_one")
    sensitivity: str = always("published")
    repair: Repair = always("shift_and_trim")
    ball_radius: Fraction = always(Fraction(10))
    noise: NoiseSource = always("numpy")
    rows_per_person: RowsPerPerson = 1

    def __post_init__(self) -> None:
        _one_of("fairness", self.fairness, FAIRNESS)
        _one_of("basis", self.basis, BASES)
        _one_of("adjacency", self.adjacency, ADJACENCIES)
        _one_of("repair", self.repair, REPAIRS)
        _one_of("noise", self.noise, NOISE_SOURCES)
        for name in ("fairness_weight", "tau", "ball_radius"):
            number = exact(name, getattr(self, name))
            if not in_float_range(number):
                raise ReadingError(name, getattr(self, name), "0 or between 1e-100 and 1e100")
            force_setattr(self, name, number)
        force_setattr(self, "sensitivity", parse_sensitivity(self.sensitivity))
        require_rows_per_person(self.rows_per_person)
        if self.fairness_weight < 0:
            raise ReadingError("fairness_weight", decimal_text(self.fairness_weight), "at least 0")
        if self.tau < 0:
            raise ReadingError("tau", decimal_text(self.tau), "at least 0")
        if self.ball_radius <= 0:
            raise ReadingError("ball_radius", decimal_text(self.ball_radius), "positive")
        if self.fairness == "separate" and self.repair == "ball":
            raise ReadingError("repair", "ball", "'none', 'trim' or 'shift_and_trim' with fairness 'separate'")

    def __repr__(self) -> str:
        """Return the readings as Python text; it names seeded streams, so it must not change."""
        shown = {name: getattr(self, name) for name in self.__struct_fields__}
        if self.rows_per_person == 1:
            del shown["rows_per_person"]
        if self.own_sensitivity is not None:
            shown["sensitivity"] = self.own_sensitivity
        return f"Readings({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    @property
    def own_sensitivity(self) -> Fraction | None:
        """The caller's own bound; None where the bound is named."""
        return None if self.sensitivity in SENSITIVITIES else exact("sensitivity", self.sensitivity)

    def with_(self, **changes: Any) -> Readings:
        """Return a copy with some readings changed."""
        return replace(self, **changes)


def require_rows_per_person(rows: object) -> None:
    """Raise unless it is a possible number of records of one person."""
    require_whole("rows_per_person", rows, 1, MOST_ROWS_PER_PERSON)


def require_one_row(readings: Readings) -> None:
    """Raise for persons with several rows, where nothing is proved or implemented for them."""
    if readings.rows_per_person != 1:
        raise ReadingError("rows_per_person", readings.rows_per_person, "1 here: neighbours differ in one record")


def parse_sensitivity(value: str | RealLike) -> str:
    """Return a named sensitivity unchanged, and anything else as the text of an exact positive number."""
    if isinstance(value, str) and value in SENSITIVITIES:
        return value
    try:
        number = exact("sensitivity", value)
    except ReadingError:
        raise ReadingError("sensitivity", value, f"one of {', '.join(SENSITIVITIES)}, or a number") from None
    if number <= 0:
        raise ReadingError("sensitivity", value, "positive (zero sensitivity would add no noise)")
    if not in_float_range(number):
        raise ReadingError("sensitivity", value, "between 1e-100 and 1e100")
    return decimal_text(number)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ReadingError(name, value, "one of " + ", ".join(allowed))
