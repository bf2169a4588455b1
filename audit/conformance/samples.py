"""Draws from a program that only samples: the requests, and the tests of its answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.conformance.distribution import FEWEST, Detectable, SampleCheck, check_samples, detectable
from audit.conformance.exchange import Exchange
from audit.conformance.program import Reply, Work, run_program
from audit.vectors.format import VectorCase
from audit.vectors.judge import number_of
from reference.common.arrays import FloatArray
from reference.common.errors import ParameterError
from reference.common.exit_codes import EXIT_FINE, EXIT_REFUTED, EXIT_UNDECIDED
from reference.noise import Noise

BATCH = 500
"""Most draws of one request."""

KIND = "Samples"

ASKED: dict[str, dict[str, Any]] = {
    noise: {
        "noise": noise,
        "values": ["1", "-2", "3", "0", "-1/2"],
        # w_0, w_1, w_0 w_0, w_0 w_1, w_1 w_1 with x_s = 0
        "inS": ["1", "0", "1", "1", "0"],
        "scaleS": "8",
        "scaleN": "3",
    }
    for noise in ("laplace", "gaussian")
}
"""The request for each kind of noise: five coefficients, two scales."""


@dataclass(frozen=True)
class SampledNoise:
    """The finding about one kind of noise.

    Parameters
    ----------
    noise : str
    draws : int
    checks : tuple of SampleCheck
        Empty if there are no draws.
    detectable : Detectable or None
    said : str
        Why there are none.
    """

    noise: str
    draws: int
    checks: tuple[SampleCheck, ...] = ()
    detectable: Detectable | None = None
    said: str = ""

    @property
    def verdict(self) -> str:
        """`refuted`, `not refuted`, or `undecided` without draws."""
        if not self.checks:
            return "undecided"
        return "refuted" if any(one.rejected for one in self.checks) else "not refuted"


@dataclass(frozen=True)
class SampleReport:
    """All kinds of noise of one program."""

    program: str
    significance: float
    found: tuple[SampledNoise, ...]

    @property
    def verdict(self) -> str:
        """The verdict of the worst kind; `undecided` where no kind was sampled."""
        verdicts = {one.verdict for one in self.found}
        return next(one for one in ("refuted", "not refuted", "undecided") if one in verdicts)

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        return {"refuted": EXIT_REFUTED, "not refuted": EXIT_FINE, "undecided": EXIT_UNDECIDED}[self.verdict]

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        yield f"program: {self.program}"
        yield f"significance: {self.significance:g}, shared by all tests of all kinds of noise"
        for one in self.found:
            yield f"{one.noise}: {one.verdict}, {one.draws} draws{': ' if one.said else ''}{one.said}"
            if one.detectable is not None:
                limits = one.detectable
                yield (
                    f"  found with power 0.9 in one coefficient: noise {limits.scale_factor:.3g} times too large, "
                    f"a shift of {limits.shift:.2g} scales, equal signs in {limits.agreement:.1%} of draws, "
                    f"{limits.tail_factor:.2g} times as many draws far out"
                )
            for check in one.checks:
                if check.rejected:
                    yield f"  {check.check}, {check.place}: {check.said} (p = {check.p_value:.2g})"
        yield f"verdict: {self.verdict}"

    def document(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "program": self.program,
            "verdict": self.verdict,
            "significance": self.significance,
            "noises": [
                {
                    "noise": one.noise,
                    "verdict": one.verdict,
                    "draws": one.draws,
                    "said": one.said,
                    "tests": len(one.checks),
                    "detectable": None if one.detectable is None else vars(one.detectable),
                    "rejected": [vars(check) for check in one.checks if check.rejected],
                }
                for one in self.found
            ],
        }


def requests(draws: int) -> Work:
    """Return the requests: `draws` draws of each kind of noise, in batches.

    Raises
    ------
    reference.common.errors.ParameterError
        For too few draws.
    """
    if draws < FEWEST:
        raise ParameterError("samples", draws, f"at least {FEWEST} draws")
    work: Work = []
    for place, (noise, inputs) in enumerate(ASKED.items(), start=1):
        for batch, start in enumerate(range(0, draws, BATCH)):
            given = inputs | {"count": str(min(BATCH, draws - start))}
            comment = f"{noise}, batch {batch}"
            asked = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
            work.append((KIND, VectorCase(tc_id=100_000 * place + batch, comment=comment, inputs=asked)))
    return work


def sampled(
    command: Sequence[str],
    draws: int,
    exchange: Exchange = "json",
    *,
    significance: float = 0.05,
    timeout: float = 60,
) -> SampleReport:
    """Draw from a program and test the draws."""
    work = requests(draws)
    replies = run_program(command, work, exchange, timeout=timeout)
    for reply in replies.values():
        if reply.status == "unsteady":
            nothing = tuple(SampledNoise(noise, 0, said=reply.said) for noise in ASKED)
            return SampleReport(" ".join(command), significance, nothing)
    found = []
    for noise in ASKED:
        own = [(case, replies[case.tc_id]) for _, case in work if case.given["noise"] == noise]
        found.append(judged(noise, own, significance / len(ASKED)))
    return SampleReport(" ".join(command), significance, tuple(found))


def judged(noise: str, own: Sequence[tuple[VectorCase, Reply]], significance: float) -> SampledNoise:
    """Judge the draws of one kind of noise."""
    blocks = []
    for case, reply in own:
        if reply.status == "skipped":
            return SampledNoise(noise, 0, said=reply.said)
        block = _numbers(reply, int(case.given["count"]))
        if block is None:
            said = reply.said or "no list of lists of finite numbers of the right size under samples"
            broken = SampleCheck("repetition", case.comment, 0.0, True, f"{reply.status}: {said}")
            return SampledNoise(noise, 0, (broken,))
        blocks.append(block)
    samples, inputs = np.concatenate(blocks), ASKED[noise]
    member = np.array(inputs["inS"]) == "1"
    stated = Noise(noise, float(inputs["scaleS"]), float(inputs["scaleN"]), member)
    values = np.array([float(number_of(text) or 0) for text in inputs["values"]])
    checks = check_samples(samples, values, stated, significance)
    limits = detectable(len(samples), len(values), noise, significance)
    return SampledNoise(noise, len(samples), tuple(checks), limits)


def _numbers(reply: Reply, count: int) -> FloatArray | None:
    rows = reply.answer.get("samples")
    width = len(ASKED["laplace"]["values"])
    if not isinstance(rows, list) or len(rows) != count:
        return None
    if not all(isinstance(row, list) and len(row) == width for row in rows):
        return None
    numbers = [[number_of(value) for value in row] for row in rows]
    if any(value is None for row in numbers for value in row):
        return None
    return np.array([[float(value or 0) for value in row] for row in numbers])
