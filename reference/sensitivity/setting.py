"""The set that a supremum is taken over, and the enclosure of its value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from reference.common.errors import ReadingError
from reference.domain import NORMS
from reference.readings import ADJACENCIES, BASES, FAIRNESS, require_rows_per_person

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Setting:
    """The readings that the exact sensitivity depends on.

    Parameters
    ----------
    dimension : int
        The paper's d, at least 1.
    fairness : {'none', 'absolute', 'covariance', 'separate'}
    norm : {'unit_ball', 'unit_box', 'symmetric_ball'}
        `symmetric_ball` (any sign, |x|_2 <= 1) has no `absolute`.
    adjacency : {'replace_one', 'add_or_remove_one'}
    basis : {'monomial', 'matrix'}
    fairness_weight : Fraction
        The paper's alpha_1.
    records : int or None
        N, the records of the larger data set; None for the limit, which is also the supremum over all N.
    rows_per_person : int
        The largest number of records in which neighbouring data sets differ: those of one person.

    Raises
    ------
    reference.common.errors.ReadingError
    """

    dimension: int
    fairness: str = "absolute"
    norm: str = "unit_ball"
    adjacency: str = "replace_one"
    basis: str = "monomial"
    fairness_weight: Fraction = Fraction(1)
    records: int | None = None
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        for name, allowed in (
            ("fairness", FAIRNESS),
            ("norm", NORMS),
            ("adjacency", ADJACENCIES),
            ("basis", BASES),
        ):
            if getattr(self, name) not in allowed:
                raise ReadingError(name, getattr(self, name), "one of " + ", ".join(allowed))
        if self.dimension < 1:
            raise ReadingError("dimension", self.dimension, "at least 1")
        if self.fairness_weight < 0:
            raise ReadingError("fairness_weight", str(self.fairness_weight), "at least 0")
        require_rows_per_person(self.rows_per_person)
        rows, fair = self.rows_per_person, self.fairness != "none"
        if self.records is not None and fair and self.records % rows:
            proved = f"a multiple of {rows}, the rows per person, with a fairness term: proved for these"
            raise ReadingError("records", self.records, proved)
        # somebody else stays where records are added
        smallest = rows + (not self.replaces) * (rows if fair else 1)
        if self.records is not None and self.records < smallest:
            raise ReadingError("records", self.records, f"at least {smallest} for {self.adjacency}")
        if self.norm == "symmetric_ball" and self.fairness == "absolute":
            raise ReadingError("fairness", "absolute", "none, covariance or separate on the symmetric ball")

    @property
    def nu(self) -> Fraction:
        """(N - 1) / N, the weight of the records that stay; 1 in the limit."""
        return Fraction(1) if self.records is None else Fraction(self.records - 1, self.records)

    @property
    def drift(self) -> Fraction:
        """How far the movement of zbar can carry the fairness term, per unit of x.

        alpha_1 (N - 1)/N; without alpha_1 for `separate`, whose covariance vector is released unweighted.
        """
        if self.fairness == "none":
            return Fraction(0)
        return self.nu * (1 if self.fairness == "separate" else self.fairness_weight)

    @property
    def replaces(self) -> bool:
        """Whether neighbours replace a record, rather than add or remove one."""
        return self.adjacency == "replace_one"


@dataclass(frozen=True)
class Supremum:
    """A supremum, or a certified enclosure of it.

    Parameters
    ----------
    lower, upper : Fraction
        Equal when the value is known exactly.  Otherwise neighbouring data sets attain `lower`, and no
        neighbouring data sets exceed `upper`.
    method : str
        `closed form`, or how the enclosure was found.
    """

    lower: Fraction
    upper: Fraction
    method: str = "closed form"

    @classmethod
    def exactly(cls, value: Fraction) -> Supremum:
        """Return a value known exactly."""
        return cls(value, value)

    @property
    def is_exact(self) -> bool:
        """Whether the value is known exactly, as a rational number."""
        return self.lower == self.upper
