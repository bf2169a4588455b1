"""Estimators in scikit-learn's style as subjects: fit on two data sets, observe one attribute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from audit.auditor.subject import SubjectError
from audit.subjects.adapters.outputs import OWN_ENTROPY, as_rows
from reference.common.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class EstimatorSubject:
    """An estimator on two neighbouring data sets; an output is an attribute of the fitted estimator.

    Every output is a fit of a fresh clone.  An estimator that raises ends the audit: whether it raises may depend
    on the data, and an audit that left such outputs out would be wrong.

    Parameters
    ----------
    estimator : object
        Has `fit` and `get_params`; never fitted itself.
    left_data, right_data : tuple or mapping
        Arguments of `fit`, by position or by name.  The caller ensures that they are neighbours.
    attribute : str or callable
        What is released: a name, dotted for an attribute of an attribute, or a function of the fitted estimator.
    seeded : bool
        Give each clone a `random_state` of 128 bits from the auditor's generator, so that a rerun repeats the
        draws.  That audits the seeded estimator.  Otherwise `random_state` stays None, as in a release.
    epsilon, delta : float and decimal string, optional
        The claim; by default the estimator's parameters of these names.

    Raises
    ------
    audit.auditor.subject.SubjectError
        For an estimator that cannot be cloned, or has a fixed `random_state`: every fit would be the same draw.
    """

    estimator: Any
    left_data: Any
    right_data: Any
    attribute: str | Callable[[Any], Any] = "coef_"
    seeded: bool = False
    epsilon: float | None = None
    delta: str | None = None
    most_rows = 64

    def __post_init__(self) -> None:
        """Check that fits will be independent."""
        try:
            parameters = clone(self.estimator).get_params(deep=True)
        except Exception as problem:
            raise SubjectError(f"the estimator cannot be cloned: {type(problem).__name__}: {problem}") from problem
        random_states = {name: value for name, value in parameters.items() if _is_random_state(name)}
        fixed = sorted(name for name, value in random_states.items() if value is not None)
        if fixed:
            raise SubjectError(f"{', '.join(fixed)} must be None: each clone would repeat the same draw")
        if self.seeded and not random_states:
            raise SubjectError("seeded needs an estimator with a random_state")

    @property
    def own_entropy(self) -> bool:
        """Whether the estimator leaves the auditor's generator unused."""
        return not self.seeded

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the randomness."""
        return () if self.seeded else (OWN_ENTROPY,)

    @property
    def claimed_epsilon(self) -> float:
        """The claim, or the estimator's parameter."""
        stated = getattr(self.estimator, "epsilon", None) if self.epsilon is None else self.epsilon
        if stated is None:
            raise SubjectError("the estimator has no epsilon: state the claim")
        return float(stated)

    @property
    def claimed_delta(self) -> str:
        """The claim, or the estimator's parameter, or 0."""
        stated = getattr(self.estimator, "delta", None) if self.delta is None else self.delta
        return "0" if stated is None else str(stated)

    def inputs(self) -> tuple[Any, Any]:
        """Return the arguments of `fit` on both sides."""
        return self.left_data, self.right_data

    def sample(self, data: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return the attribute of `count` fits, shape (count, k)."""
        return as_rows(self._released(data, rng) for _ in range(count))

    def _released(self, data: Any, rng: np.random.Generator) -> Any:
        estimator = clone(self.estimator)
        if self.seeded:
            names = [name for name in estimator.get_params(deep=True) if _is_random_state(name)]
            estimator.set_params(**{name: _random_state(rng) for name in names})
        if isinstance(data, Mapping):
            estimator.fit(**data)
        else:
            estimator.fit(*data)
        if callable(self.attribute):
            return self.attribute(estimator)
        found: Any = estimator
        for name in self.attribute.split("."):
            found = getattr(found, name)
        return found


def _is_random_state(name: str) -> bool:
    return name.rpartition("__")[2] == "random_state"


def _random_state(rng: np.random.Generator) -> np.random.RandomState:
    words = rng.integers(0, 2**32, 4, dtype=np.uint32)
    # 128 bits: with the 32 of an integer seed, fits would repeat after some ten thousand
    return np.random.RandomState(np.random.MT19937(np.random.SeedSequence(words.tolist())))
