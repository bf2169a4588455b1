"""Compares runs on two neighbouring data sets with the same noise."""

from __future__ import annotations

import inspect
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from audit.subjects.recorder.carried import plain
from audit.subjects.recorder.draws import REORDERED
from audit.subjects.recorder.patches import NoiseFunction, recording
from audit.subjects.recorder.tape import LIBRARIES, NoiseCall, Tape, same
from reference.common.arrays import FloatArray
from reference.noise.profile import delta_of_shift

ROUNDING = 1e-9
"""Relative slack for sums in doubles."""


@dataclass(frozen=True)
class NoiseClaim:
    """The claim on a function.

    Parameters
    ----------
    epsilon, delta : float
    sensitivity : float, sequence of float or None
        Of all noise calls together, or of each in turn: l1 for Laplace noise, l2 for Gaussian noise.  None: only
        the loss on the two given data sets is judged.
    """

    epsilon: float
    delta: float = 0.0
    sensitivity: float | Sequence[float] | None = None


@dataclass(frozen=True)
class RecorderFinding:
    """One thing that is wrong, and where.

    Parameters
    ----------
    kind : str
        `calls`, `public`, `scale`, `sensitivity`, `loss`, `nan`, `reused`, `around`, `randomness`, `raised`, or
        `unjudged` where the recorder cannot tell.
    line : str
        file:line; for what bypasses the noise, the start of the function; empty if unknown.
    said : str
        In words.  It may quote data.
    """

    kind: str
    line: str
    said: str

    def __str__(self) -> str:
        return f"{self.line}: {self.said} [{self.kind}]" if self.line else f"{self.said} [{self.kind}]"


@dataclass(frozen=True, eq=False)
class Moved:
    """The movement of one noise call.

    Parameters
    ----------
    call : NoiseCall
    shift : ndarray
        In units of the noise.
    distance : ndarray
        In the unit of the value that the noise was added to.
    scale : ndarray
        Of the noise, in that unit.
    """

    call: NoiseCall
    shift: FloatArray
    distance: FloatArray
    scale: FloatArray


def examine(
    run: Callable[[Any], Any],
    left: Any,
    right: Any,
    claim: NoiseClaim,
    *,
    functions: Sequence[NoiseFunction] = (),
    seed: int = 0,
) -> list[RecorderFinding]:
    """Run a function on two neighbours with the same noise and return what is wrong; an empty list proves nothing.

    The second run gets the noisy numbers of the first.  A function that is private through its noise alone
    must then return the same.

    Parameters
    ----------
    run : callable
        Takes a data set, and makes its random generators itself.
    left, right : object
        Neighbours; take the worst that are known.
    claim : NoiseClaim
    functions : sequence of NoiseFunction
    seed : int
    """
    first, result, problem = _run(run, left, Tape(seed), functions)
    second, other, other_problem = _run(run, right, Tape(seed, first), functions)
    if problem and other_problem:
        raise problem
    unjudged = list(_draws(first, second))
    if other_problem and any(draw.replayed for draws in second.draws.values() for draw in draws):
        # what was drawn for one data set may not suit the other
        return unjudged
    findings = [*_raised(problem or other_problem, "left" if problem else "right"), *_calls(first, second)]
    findings += [found for call in (*first.calls, *second.calls) for found in _numbers(call)]
    if findings:
        return _once([*findings, *unjudged])
    pairs = list(zip(first.calls, second.calls, strict=True))
    findings = [found for a, b in pairs for found in _parameters(a, b)]
    if not findings:
        findings = _moves(pairs, claim)
    if not same(result, other) or not same(first.seeds, second.seeds):
        again, repeated, _ = _run(run, left, Tape(seed, first), functions)
        if same(first.seeds, again.seeds):
            findings += _seeds(first, second)
        if not same(result, other):
            findings.append(_around(_definition(run), again, repeats=same(result, repeated)))
    return _once([*findings, *unjudged])


def _run(
    run: Callable[[Any], Any], data: Any, tape: Tape, functions: Sequence[NoiseFunction]
) -> tuple[Tape, Any, Exception | None]:
    with recording(tape, functions):
        try:
            return tape, plain(run(data)), None
        except Exception as problem:  # noqa: BLE001  the code under examination may raise anything
            return tape, None, problem


def _once(findings: list[RecorderFinding]) -> list[RecorderFinding]:
    return list(dict.fromkeys(findings))


def _raised(problem: Exception | None, side: str) -> Iterator[RecorderFinding]:
    if problem is not None:
        frames = traceback.extract_tb(problem.__traceback__)
        users = [frame for frame in frames if not any(part in frame.filename for part in LIBRARIES)]
        line = f"{users[-1].filename}:{users[-1].lineno}" if users else ""
        yield RecorderFinding("raised", line, f"on the {side} data set only: {type(problem).__name__}: {problem}")


def _definition(run: Callable[[Any], Any]) -> str:
    """Return where a function begins: a result that bypasses the noise has no noise line."""
    code = getattr(inspect.unwrap(run), "__code__", None)
    return "" if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def _around(line: str, again: Tape, *, repeats: bool) -> RecorderFinding:
    if not repeats:
        said = "two runs on the same data with the same noise differ: not all noise is seen"
        return RecorderFinding("randomness", line, said)
    drawn = ", ".join(dict.fromkeys(name for name, _ in again.draws))
    if drawn:
        said = f"the results differ with the same randomness: a raw answer, or noise of {drawn}, not followed here"
        return RecorderFinding("around", line, said)
    if not again.calls:
        return RecorderFinding("around", line, "a raw answer: the results differ, and no noise was drawn")
    return RecorderFinding("around", line, "a raw answer: all noisy numbers are equal and the results differ")


def _draws(first: Tape, second: Tape) -> Iterator[RecorderFinding]:
    """Yield draws that data reach in a way that no rule judges: in their parameters, or in a population."""
    for (name, line), draws in second.draws.items():
        if any(draw.replayed for draw in draws):
            said = f"the parameters of {name} depend on data: there is no rule for the loss of what it draws"
            yield RecorderFinding("unjudged", line, said)
            continue
        pairs = list(zip(first.draws.get((name, line), []), draws, strict=False))
        # a shuffle keeps all records: what follows shows them
        if name in REORDERED or not all(same(a.drawn, b.drawn) for a, b in pairs):
            continue
        if not all(same(a.population, b.population) for a, b in pairs):
            said = f"what {name} draws from depends on data, and what it drew here does not show that"
            yield RecorderFinding("unjudged", line, said)


def _seeds(first: Tape, second: Tape) -> Iterator[RecorderFinding]:
    """Yield the first seed that differs: the seed reveals noise that data choose."""
    for (line, seed), (_, other) in zip(first.seeds, second.seeds, strict=False):
        if not same(seed, other):
            yield RecorderFinding("public", line, "the seed of a generator depends on data")
            return


def _calls(first: Tape, second: Tape) -> Iterator[RecorderFinding]:
    """Yield the first difference in number or order."""
    for number, (a, b) in enumerate(zip(first.calls, second.calls, strict=False), 1):
        if (a.name, a.line) != (b.name, b.line):
            yield RecorderFinding(
                "calls", a.line, f"noise call {number} is {a.name}, on the neighbour {b.name} at {b.line}"
            )
            return
    if len(first.calls) != len(second.calls):
        longer = max(first.calls, second.calls, key=len)
        shorter = min(len(first.calls), len(second.calls))
        said = f"{len(first.calls)} noise calls, on the neighbour {len(second.calls)}"
        yield RecorderFinding("calls", longer[shorter].line, said)


def _numbers(call: NoiseCall) -> Iterator[RecorderFinding]:
    for affine, _ in call.opened:
        if not (np.isfinite(affine.offset).all() and np.isfinite(affine.gain).all()):
            yield RecorderFinding("nan", call.line, "NaN or infinity enters the noise")
    if call.kind == "mechanism" and _numeric(call.value) and not np.isfinite(call.value).all():
        yield RecorderFinding("nan", call.line, "NaN or infinity enters the mechanism")


def _numeric(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "iuf" if not isinstance(value, str) else False


def _parameters(a: NoiseCall, b: NoiseCall) -> Iterator[RecorderFinding]:
    for name in a.public:
        if not same(a.public[name], b.public[name]):
            kind = "scale" if name == "scale" else "public"
            yield RecorderFinding(kind, a.line, f"the parameter {name} of {a.name} depends on data")
    if len(a.opened) != len(b.opened):
        yield RecorderFinding(
            "calls", a.line, f"noisy numbers are used {len(a.opened)} times, on the neighbour {len(b.opened)}"
        )
        return
    for (x, _), (y, _) in zip(a.opened, b.opened, strict=True):
        if x.gain.shape != y.gain.shape or not same(x.places, y.places):
            yield RecorderFinding("public", a.line, "how many numbers enter the noise depends on data")
        elif not np.allclose(x.gain, y.gain, rtol=ROUNDING, atol=0):
            yield RecorderFinding("scale", a.line, "the factor of the noise depends on data")


def _moves(pairs: list[tuple[NoiseCall, NoiseCall]], claim: NoiseClaim) -> list[RecorderFinding]:
    findings: list[RecorderFinding] = []
    moves, laplace, gaussian = [], 0.0, 0.0
    for a, b in pairs:
        if a.kind == "mechanism":
            findings += _beyond(a, b)
            loss = stated_loss(a, b)
        else:
            move, problems = _moved(a, b)
            moves.append(move)
            findings += problems
            loss = _loss(move)
        if loss is None:
            said = f"there is no rule for the loss of {a.name}: it is not counted"
            findings.append(RecorderFinding("unjudged", a.line, said))
        else:
            laplace, gaussian = laplace + loss[0], gaussian + loss[1]
    findings += _distances(moves, claim)
    if not findings and not within(laplace, gaussian, claim):
        lines = ", ".join(dict.fromkeys(call.line for call, _ in pairs))
        said = f"more than epsilon = {claim.epsilon:g} is lost on these neighbours"
        findings.append(RecorderFinding("loss", lines, said))
    return findings


def _loss(move: Moved) -> tuple[float, float] | None:
    if move.call.kind == "laplace":
        return float(np.abs(move.shift).sum()), 0.0
    if move.call.kind == "gaussian":
        return 0.0, float((move.shift**2).sum())
    return None if move.shift.any() else (0.0, 0.0)


def _moved(a: NoiseCall, b: NoiseCall) -> tuple[Moved, list[RecorderFinding]]:
    """Return how far each unit variate would have to move."""
    size = 1 + max((int(x.places.max()) for x, _ in a.opened if x.places.size), default=-1)
    shift, distance = np.zeros(size), np.zeros(size)
    scale, seen = np.full(size, np.inf), np.zeros(size, dtype=bool)
    findings = []
    for (x, _), (y, _) in zip(a.opened, b.opened, strict=True):
        # entry by entry: a variate may be at several places
        change = np.ravel(y.offset - x.offset)
        slack = np.ravel(ROUNDING * (1 + np.abs(x.offset)))
        rows = zip(np.ravel(x.places), change, np.ravel(x.gain), np.ravel(x.unit), slack, strict=True)
        for place, moved, gain, unit, small in rows:
            needed = moved / gain if gain else np.copysign(np.inf, moved) if moved else 0.0
            if not seen[place]:
                shift[place], distance[place], scale[place] = (
                    needed,
                    needed * abs(unit) if gain else moved,
                    abs(unit),
                )
                seen[place] = True
            elif abs(needed - shift[place]) * abs(gain) > small:
                findings.append(
                    RecorderFinding("reused", a.line, "one noise covers two numbers that move differently")
                )
    return Moved(a, shift, distance, scale), findings


def _distances(moves: list[Moved], claim: NoiseClaim) -> Iterator[RecorderFinding]:
    """Yield where data move farther than declared, or the declared sensitivity needs more noise."""
    if claim.sensitivity is None or not moves:
        return
    each = isinstance(claim.sensitivity, Sequence)
    declared = list(claim.sensitivity) if isinstance(claim.sensitivity, Sequence) else [claim.sensitivity]
    if each and len(declared) != len(moves):
        raise ValueError(f"{len(declared)} sensitivities for {len(moves)} noise calls")
    groups = [[move] for move in moves] if each else [moves]
    laplace, gaussian = 0.0, 0.0
    for group, most in zip(groups, declared, strict=True):
        l2 = all(move.call.kind == "gaussian" for move in group)
        distances = np.concatenate([np.abs(move.distance) for move in group])
        length = float(np.sqrt((distances**2).sum()) if l2 else distances.sum())
        line = max(group, key=lambda move: float(np.abs(move.distance).sum())).call.line
        if length > most * (1 + ROUNDING):
            yield RecorderFinding(
                "sensitivity", line, f"data move by {length:.6g}, more than the declared {most:.6g}"
            )
        least = min(float(move.scale.min(initial=np.inf)) for move in group)
        needed = most / least if least > 0 else np.inf
        laplace, gaussian = (laplace, gaussian + needed**2) if l2 else (laplace + needed, gaussian)
    if not within(laplace, gaussian, claim):
        lines = ", ".join(dict.fromkeys(move.call.line for move in moves))
        needs = (
            f": at least {declared[0] / claim.epsilon:.6g} is needed"
            if len(declared) == 1 and not gaussian
            else ""
        )
        yield RecorderFinding("scale", lines, f"the noise is too small for epsilon = {claim.epsilon:g}{needs}")


def _beyond(a: NoiseCall, b: NoiseCall) -> Iterator[RecorderFinding]:
    """Yield where data move farther than the sensitivity given to a mechanism."""
    given = getattr(a.mechanism, "sensitivity", None)
    if given is not None and abs(b.value - a.value) > given * (1 + ROUNDING):
        moved = float(abs(b.value - a.value))
        said = f"data move by {moved:.6g}, and {a.name} was given the sensitivity {given:.6g}"
        yield RecorderFinding("sensitivity", a.line, said)


def stated_loss(a: NoiseCall, b: NoiseCall) -> tuple[float, float] | None:
    """Return the pure epsilon, and the squared Gaussian shift, that a mechanism states for two inputs."""
    if not hasattr(a.mechanism, "map"):
        moved, sensitivity = abs(b.value - a.value), a.mechanism.sensitivity
        return float(a.mechanism.epsilon * moved / sensitivity) if sensitivity else _endless(moved), 0.0
    apart = _apart(str(a.mechanism.input_metric), a.value, b.value)
    measure = str(a.mechanism.output_measure)
    if apart is None or measure not in ("MaxDivergence", "ZeroConcentratedDivergence"):
        return None
    loss = float(a.mechanism.map(apart))
    return (loss, 0.0) if measure == "MaxDivergence" else (0.0, 2 * loss)


def _endless(moved: float) -> float:
    return np.inf if moved else 0.0


def _apart(metric: str, left: Any, right: Any) -> Any:
    """Return a distance in a metric of OpenDP, in its type."""
    if metric.startswith("Symmetric"):
        before, after = Counter(left), Counter(right)
        return ((before - after) + (after - before)).total()
    change = np.subtract(right, left)
    if metric.startswith("L2"):
        return float(np.sqrt((change.astype(np.float64) ** 2).sum()))
    if metric.startswith(("L1", "Absolute")):
        return np.abs(change).sum().item()
    return None


def within(laplace: float, squared_shift: float, claim: NoiseClaim) -> bool:
    """Return whether a pure loss and a Gaussian shift keep a claim."""
    left = claim.epsilon * (1 + ROUNDING) - laplace
    if not squared_shift or left < 0 or not np.isfinite(squared_shift):
        return left >= 0 and not squared_shift
    if not claim.delta:
        return False
    lost = delta_of_shift(Fraction(squared_shift * (1 - ROUNDING)), Fraction(left))
    return float(lost.lower) <= claim.delta
