"""From questions to files: the second source answers, and every mutant flags the cases that it fails."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np

from audit.vectors.answers import answer
from audit.vectors.cases import CASES
from audit.vectors.cases.asked import AskedCase
from audit.vectors.format import VERSION, Note, SecondSource, TestGroup, VectorCase, VectorFile
from audit.vectors.judge import passes
from audit.vectors.mutants import MUTANTS
from audit.vectors.mutants.broken import Broken
from audit.vectors.pairs import measured
from audit.vectors.sources.registry import SOURCES, TYPES, expected
from audit.vectors.steps import STEPS, Answer, Steps
from reference.common.documents import converted
from reference.common.errors import InputError

HOW_TO: dict[str, tuple[str, ...]] = {
    "Domain": ("Encode the rows by the declared bounds.", "Answer dimension, x and y."),
    "Coefficients": (
        "Sum the coefficients of equation (6) over the records.",
        "Answer linear, quadratic, covariance.",
    ),
    "Grouping": ("List the monomials.", "Answer size, inS (1 for a monomial with w_s) and selectable."),
    "Sensitivity": ("Compute the bound, the supremum, or the change between two data sets.", "Compare exactly."),
    "Scale": ("Compute the scale of the noise.", "Answer scale, or scaleS and scaleN."),
    "Perturbation": ("Add scale times variate to every coefficient.", "Answer noisy."),
    "Minimiser": ("Repair and minimise.", "Answer status, w and the objective after the repair."),
    "Privacy": ("Compute what is claimed, or what is true.", "Answer epsilon, delta or squaredShift."),
    "Accounting": ("Compose the releases.", "Answer epsilon, and delta for basic composition."),
    "FairnessMetric": ("Predict, and count.", "Answer all six metrics; none where a group has no members."),
    "RepairedBudget": ("Compute what a record changes, a scale, a schedule or a loss.", "Answer it."),
    "RepairedDescent": ("Compute a gradient, or descend from the given variates.", "Answer every step."),
    "RepairedThreshold": ("Compute a step of the threshold from what was released.", "Answer it."),
    "Release": ("Encode, sum, scale, perturb with the given variates, minimise.", "Answer every step."),
}
"""The task of each group type, in words."""

FIRST_ID = 1000
"""Ids of the n-th group type start at n times this."""


class TwoAnswersError(InputError):
    """The reference and the second source answer a case differently: one of them is wrong."""


class Watched(Steps):
    """The reference, recording which steps were used."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def __getattribute__(self, name: str) -> Any:
        if name in STEPS:
            self.used.add(name)
        return super().__getattribute__(name)


def replaced_steps(mutant: type[Broken]) -> set[str]:
    """Return the steps that a mutant replaces."""
    kinds = mutant.__mro__[: mutant.__mro__.index(Broken)]
    return {name for kind in kinds for name in kind.__dict__ if name in STEPS}


REPLACED = {flag: replaced_steps(mutant) for flag, mutant in MUTANTS.items()}
"""The steps that each flag's mutant replaces."""


def mutated(flag: str, kind: str, inputs: Answer) -> Answer:
    """Return a mutant's answer; one that breaks down has no right answer."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return measured(inputs, answer(MUTANTS[flag](), kind, inputs))
        except (ArithmeticError, ValueError, IndexError) as problem:
            return {"broke": type(problem).__name__}


def flags_of(kind: str, inputs: Answer, right: Answer | None) -> tuple[str, ...]:
    """Return the flags of a case: the mutants that fail it.

    A mutant that replaces no step of a case answers like the reference, and is not run.

    Raises
    ------
    TwoAnswersError
    """
    watched = Watched()
    found = measured(inputs, answer(watched, kind, inputs))
    if not passes(right, found):
        raise TwoAnswersError(f"{kind}: the reference answers {found}, the second source {right}, for {inputs}")
    near = (flag for flag in MUTANTS if REPLACED[flag] & watched.used)
    return tuple(sorted(flag for flag in near if not passes(right, mutated(flag, kind, inputs))))


def case_of(kind: str, number: int, asked: AskedCase) -> VectorCase:
    """Return one case with its answer and its flags."""
    right, error = expected(kind, asked.inputs)
    document: dict[str, Any] = {
        "tcId": FIRST_ID * (1 + TYPES.index(kind)) + number,
        "comment": asked.comment,
        "flags": flags_of(kind, asked.inputs, right),
        "result": "valid" if error is None else "invalid",
        "inputs": asked.inputs,
    }
    answered = {"expected": right} if error is None else {"expectedError": error}
    return converted(document | {"flags": list(document["flags"])} | answered, VectorCase)


def note_of(flag: str) -> Note:
    """Return the note of a flag."""
    mutant = MUTANTS[flag]
    description, effect = mutant.told()
    return Note(
        bug_type=mutant.bug_type,
        kills=flag,
        description=description,
        effect=effect,
        claims=mutant.claims,
        links=mutant.links,
    )


def groups_of(kind: str) -> Iterator[TestGroup]:
    """Yield the groups of a type, one for each set of abilities."""
    source = SecondSource(SOURCES[kind][0], f"mpmath {mpmath.__version__}")
    asked = list(enumerate(CASES[kind](), start=1))
    for requires in dict.fromkeys(one.requires for _, one in asked):
        tests = tuple(case_of(kind, number, one) for number, one in asked if one.requires == requires)
        yield TestGroup(type=kind, source=source, requires=requires, tests=tests)


def build(kind: str) -> VectorFile:
    """Return the file of a group type, made again."""
    groups = tuple(groups_of(kind))
    cases = [case for group in groups for case in group.tests]
    flags = sorted({flag for case in cases for flag in case.flags})
    return VectorFile(
        algorithm="differentially private and fair classification by the calibrated functional mechanism",
        reference_version=VERSION,
        licence="CC0-1.0",
        how_to=HOW_TO[kind],
        notes={flag: note_of(flag) for flag in flags},
        number_of_tests=len(cases),
        test_groups=groups,
    )
