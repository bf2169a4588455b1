"""The Coq file of a certificate of the repaired mechanism: its releases, the statement, and a computation.

Only numbers and words of this module reach the file: no name from the release does, so none can end a comment.
The proof is a theorem of ``RepairedCertificates.v`` or ``RepairedOnGrid.v``, applied to the file's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from audit.proofs.releases.composed import Composed
from audit.proofs.releases.text import SEEDED
from audit.proofs.sigma import quotient
from reference.repaired.spent import SUM_STEPS

HEADER = """\
(** * Certificate of a release of the repaired mechanism

    Generated from a release's file by [python -m audit certify].  [parts] lists the file's releases: how many
    numbers each has, by how much one record can change them ({norm}), the scale of their noise, which is
    exactly the float in the file, what it may lose whatever was released before, and the least scale that it may
    then have; [Q2R (a # b)] is a / b.

    [release_is_private] is about any algorithm that releases these numbers one after the other.  The centre and
    the scale of a number may depend on all numbers before it, so long as no release loses more than it may: a
    probe's scale follows the released share of the group.  [file_is_private] is about the file's scales, where no
    sum changes by more than is stated.  That the sums of the mechanism do not is [repaired_lemma_1] to
    [repaired_lemma_4]; that the program computes these sums is not proved.
    {about}
    The sampler and the floats are outside. *)
"""

NORMS = {"gaussian": "its square in l2", "laplace": "in l1"}

DENSITY = """\
They are about real arithmetic, noise given by its density, and test functions on boxes.  [every_event_is_private]
    takes the first to every Borel set of transcripts: for any two measures whose mass of each box is the iterated
    integral, where these integrals exist."""
WHOLE = """They are about whole numbers and every event.
    Changes and scales are in steps of the grid, 2^-40 each."""

IMPORTS = """\
From Coq Require Import Reals ZArith QArith Qreals List.
From CFM Require Import {modules}.
Import ListNotations.
Open Scope R_scope.
"""

MODULES = {
    ("laplace", False): "Definitions Adaptive AdaptiveEvents RepairedCertificates",
    ("laplace", True): "Definitions Countable Hardened RepairedCertificates RepairedOnGrid",
    ("gaussian", False): "Definitions Adaptive AdaptiveEvents RepairedCertificates",
    ("gaussian", True): "Definitions Countable DiscreteGaussian RepairedCertificates RepairedOnGrid",
}
"""Coq text by the kind of noise, and whether it is on a grid."""

DENSITIES = """
Theorem release_is_private : forall scale c c' : list R -> R,
  (forall past, 0 < scale past) ->
  (forall ts, length ts = all_numbers parts -> losses_within (fun i => {loss}) 0 parts) ->
  adaptively_indistinguishable (Q2R epsilon) {delta} (all_numbers parts)
    (fun past t => {kind}_density (scale past) (t - c past))
    (fun past t => {kind}_density (scale past) (t - c' past)).
Proof.
  intros scale c c'; refine (repaired_{kind} {arguments} scale c c' _); vm_cast_no_check (eq_refl true).
Qed.

Theorem every_event_is_private : forall scale c c' : list R -> R,
  (forall past, 0 < scale past) ->
  (forall ts, length ts = all_numbers parts -> losses_within (fun i => {loss}) 0 parts) ->
  integrable_transcripts (fun past t => {kind}_density (scale past) (t - c past)) ->
  integrable_transcripts (fun past t => {kind}_density (scale past) (t - c' past)) ->
  adaptively_indistinguishable_on_borel_sets (Q2R epsilon) {delta} (all_numbers parts)
    (fun past t => {kind}_density (scale past) (t - c past))
    (fun past t => {kind}_density (scale past) (t - c' past)).
Proof.
  intros scale c c' positive within exist exist'; apply transcripts_on_borel_sets; [exact exist | exact exist' |].
  apply release_is_private; assumption.
Qed.

Theorem file_is_private : forall c c' : list R -> R,
  (forall ts, length ts = all_numbers parts ->
    changes_within {size} (fun i => c (firstn i ts) - c' (firstn i ts)) 0 parts) ->
  adaptively_indistinguishable (Q2R epsilon) {delta} (all_numbers parts)
    (fun past t => {kind}_density (value_at stated_scale parts (length past)) (t - c past))
    (fun past t => {kind}_density (value_at stated_scale parts (length past)) (t - c' past)).
Proof.
  intros c c'; refine (repaired_{kind}_file {arguments} c c' _ _); vm_cast_no_check (eq_refl true).
Qed.
"""

ON_GRID = """
Theorem release_is_private : forall (scale : list Z -> R) (c c' : list Z -> Z),
  (forall past, 0 < scale past) ->{wide}
  (forall ts, length ts = all_numbers parts -> losses_within (fun i => {loss}) 0 parts) ->
  close (Q2R epsilon) {delta}
    (transcript_mass (fun past => discrete_{kind} (scale past)) c (all_numbers parts) [])
    (transcript_mass (fun past => discrete_{kind} (scale past)) c' (all_numbers parts) []).
Proof.
  intros scale c c'; refine (repaired_discrete_{kind} {arguments} scale c c' _); vm_cast_no_check (eq_refl true).
Qed.

Theorem file_is_private : forall c c' : list Z -> Z,
  (forall ts, length ts = all_numbers parts ->
    changes_within {size} (fun i => IZR (c (firstn i ts)) - IZR (c' (firstn i ts))) 0 parts) ->
  close (Q2R epsilon) {delta}
    (transcript_mass (fun past => discrete_{kind} (value_at stated_scale parts (length past))) c
      (all_numbers parts) [])
    (transcript_mass (fun past => discrete_{kind} (value_at stated_scale parts (length past))) c'
      (all_numbers parts) []).
Proof.
  intros c c'; refine (repaired_discrete_{kind}_file {arguments} c c' _ _{last}); vm_cast_no_check (eq_refl true).
Qed.
"""

WIDE = """
  (forall past, (length past < all_numbers parts)%nat ->
    value_at stated_least parts (length past) <= scale past) ->"""

SPARE_BITS = 144
"""Bits beyond delta and exp(epsilon) for computing the profile."""


def composed_text(composed: Composed) -> str:
    """Return the Coq file."""
    return "".join(_parts(composed))


def _parts(composed: Composed) -> Iterator[str]:
    kind, discrete = composed.kind, composed.discrete
    gaussian = kind == "gaussian"
    yield HEADER.format(norm=NORMS[kind], about=WHOLE if discrete else DENSITY)
    yield SEEDED if composed.release.seeded else ""
    yield IMPORTS.format(modules=MODULES[kind, discrete])
    yield f"\nDefinition parts : list stated_release := [\n  {_rows(composed)}].\n"
    yield f"Definition epsilon : Q := {quotient(composed.epsilon)}.\n"
    arguments = "parts epsilon"
    if composed.mu is not None:
        yield f"Definition delta : Q := {quotient(composed.delta)}.\n"
        yield f"Definition mu : Q := {quotient(composed.mu)}.\n"
        steps, bits = _precision(composed.mu, composed.epsilon, composed.delta)
        reach = "" if composed.grid is None else "reach "
        arguments = f"{steps} {bits} parts {reach}mu epsilon delta"
    if composed.grid is not None:
        yield f"Definition reach : Q := {quotient(composed.grid.reach)}.\n"
    change = "c (firstn i ts) - c' (firstn i ts)"
    if discrete:
        change = "IZR (c (firstn i ts)) - IZR (c' (firstn i ts))"
    yield (ON_GRID if discrete else DENSITIES).format(
        kind=kind,
        arguments=arguments,
        delta="(Q2R delta)" if gaussian else "0",
        size="(fun v => v ^ 2)" if gaussian else "Rabs",
        loss=f"(({change}) / scale (firstn i ts)) ^ 2" if gaussian else f"Rabs ({change}) / scale (firstn i ts)",
        wide=WIDE if gaussian else "",
        last=" _" if gaussian else "",
    )


def _rows(composed: Composed) -> str:
    unit = SUM_STEPS if composed.discrete else 1
    square = unit if composed.kind == "gaussian" else 1
    numbers = (
        (one.change * unit * square, one.scale * unit, one.bound, one.least * unit) for one in composed.entries
    )
    rows = (" ".join(f"({quotient(value)})" for value in row) for row in numbers)
    return ";\n  ".join(f"Stated {one.numbers} {row}" for one, row in zip(composed.entries, rows, strict=True))


def _precision(shift: Fraction, epsilon: Fraction, delta: Fraction) -> tuple[int, int]:
    """Return how many terms of the profile's sums Coq adds up, and the power of 2 that is their unit."""
    bits = SPARE_BITS + math.ceil(1.45 * float(epsilon) - math.log2(delta))
    square = float(epsilon / shift + shift / 2) ** 2
    exponent = max(float(epsilon), float(epsilon / shift - shift / 2) ** 2 / 2)
    return max(_terms(exponent, 1, 1, bits), _terms(square, 3, 2, bits)), bits


def _terms(factor: float, first: int, step: int, bits: int) -> int:
    """Return how many terms a sum needs until they halve and the last is below 2^-bits."""
    count, logarithm, divisor = 0, max(0.0, math.log2(factor)), float(first)
    while 2 * factor > divisor or logarithm > -bits:
        logarithm += math.log2(factor / divisor)
        divisor += step
        count += 1
    return count + 2
