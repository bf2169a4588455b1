"""The document of one audit: what was requested, drawn, counted and concluded, so that others can check it.

``python -m audit verify`` checks it.  The JSON Schema is ``audit/common/schemas/certificate_v4.schema.json``.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from audit.auditor.curve import Cut
from audit.auditor.events import StoredEvent
from audit.auditor.verdict import Verdict
from audit.bounds import Counts
from audit.bounds.curve import EpsilonCurve
from audit.evidence.request import EstimateRequest, Judged
from audit.subjects.adjacency import EQUAL, UNCHECKED
from audit.subjects.descriptions import Description, core
from audit.subjects.programs import ProgramDescription
from audit.subjects.releases import MechanismDescription
from reference.common.arrays import BoolArray, FloatArray
from reference.common.documents import Document, converted, json_of_file, plain
from reference.common.errors import DocumentError
from reference.common.files import json_text, write_whole

EARLIER = ("certificate_v1.json", "certificate_v2.json", "certificate_v3")
"""Schemas of certificates with a command line in place of the request, or without counts of all draws."""

FORMULAS = {
    "joint": "smallest log((p_likely - delta) / p_unlikely) over the pairs that neither count alone nor the "
    "weighted sum of their normal scores rejects",
    "clopper_pearson": "log((low - delta) / high), each probability bounded at half the significance",
    "conditional": "log(p + omega (1 - p)), p a Clopper-Pearson limit on p_likely, omega the exact limit on the "
    "odds ratio given the sum of the counts",
    "anytime_betting": "highest level whose e-value, of fixed stakes on both counts and on the likely one alone, "
    "reached 1 / significance, levels taken from below",
    "cluster_betting": "log((low - delta) / high), the mean of the calls' shares bounded on each input by betting "
    "at half the significance",
    "anytime": "highest level whose e-value reached 1 / significance, levels taken from below",
}
"""The step of each method from counts to a bound; proofs: proofs/joint_bound.md, proofs/auditor_bounds.md."""


SHOWN_ALIKE = "a certificate shows both inputs alike: whether anything tells them apart cannot be read from it"
"""The note on inputs of one text that are not known to be equal, as `[1, 2]` and `{1, 2}`."""

WITNESS_FIELDS = frozenset({"inputs", "output", "event", "counts"})

RESULT_FIELDS_OF_BITS = frozenset({"epsilon_lower_bound", "bound", "witness"})

RESULT_FIELDS = RESULT_FIELDS_OF_BITS | {
    *("mechanism", "claimed_epsilon", "claimed_delta", "significance", "draws", "requested_draws", "rerun"),
    *("verdict", "implementation_verdict", "implementation", "curve", "certificate", "stopped", "seconds"),
    *("detectable_epsilon", "detectable_by_event", "largest_certifiable_epsilon"),
    *("neighbours_checked", "notes", "not_ruled_out"),
}
"""Fields of :class:`audit.evidence.report.EstimateResult`, which holds a certificate."""


class CertificateError(DocumentError):
    """A document is not a certificate, or is of an earlier version."""

    document = "certificate"


class StoredPoint(Document, frozen=True, kw_only=True):
    """A lower bound at one delta, by an event of the score that the whole curve shares.

    Parameters
    ----------
    delta, epsilon_lower_bound : float
    relation : {'>=', '<'}
    threshold : float
        The event is that the score stands in this relation to it.
    likely_input : {'left', 'right'}
    counts : Counts
        Of the certifying draws.
    """

    delta: float
    epsilon_lower_bound: float
    relation: Literal[">=", "<"]
    threshold: float
    likely_input: Literal["left", "right"]
    counts: Counts

    def occurs(self, scores: FloatArray) -> BoolArray:
        """Return whether the event occurs, per score."""
        return scores >= self.threshold if self.relation == ">=" else scores < self.threshold


class StoredCurve(Document, frozen=True, kw_only=True):
    """Lower bounds at several deltas that all hold together, except with probability at most `significance`.

    Parameters
    ----------
    significance : float
        Of all points together; each is certified at an equal share.
    bound : {'joint', 'clopper_pearson'}
        The method of all points.
    points : tuple of StoredPoint
        By increasing delta.
    """

    significance: float
    bound: Literal["joint", "clopper_pearson"]
    points: Annotated[tuple[StoredPoint, ...], Meta(min_length=1)]

    @classmethod
    def of(cls, curve: EpsilonCurve, cuts: Sequence[Cut], levels: FloatArray) -> StoredCurve:
        """Return the stored form of a curve: `cuts` by increasing delta, like its points, at some `levels`."""
        points = tuple(
            StoredPoint(
                delta=point.delta,
                epsilon_lower_bound=point.epsilon_lower_bound,
                relation=">=" if cut.at_least else "<",
                threshold=float(levels[cut.level]),
                likely_input="right" if cut.likely else "left",
                counts=point.counts,
            )
            for point, cut in zip(curve.points, cuts, strict=True)
        )
        bound: Literal["joint", "clopper_pearson"] = (
            "clopper_pearson" if curve.method == "clopper_pearson" else "joint"
        )
        return cls(significance=curve.significance, bound=bound, points=points)


class Certificate(Document, frozen=True, kw_only=True, tag_field="schema", tag="certificate_v4"):
    """One certified lower bound and everything it rests on.

    Parameters
    ----------
    request : EstimateRequest
        The request: the subject, the size, the significance and the seed.
    inputs : dict
        The two inputs, for a reader.
    event : StoredEvent
        `audit.auditor.events.event.event_of` makes the event from it.
    judged : {'ideal', 'implementation'}
        Whether outputs were quantised before the event looked at them.
    neighbours : str
        In words, who checked that the inputs are neighbours.
    counts : Counts
        Of the certifying draws; for an anytime bound, of those made by the look at which its level was passed.
    all_counts : Counts
        Of all certifying draws; what the event could see follows from them.
    draws : int
        Of all phases, both inputs.
    method : {'joint', 'clopper_pearson', 'conditional', 'cluster_betting', 'anytime_betting', 'anytime'}
        `cluster_betting`: only calls need be independent; `anytime`: with the bets of an earlier version.
    formula : str
        What the method does, in words.
    claimed_epsilon : float
    claimed_delta : str
        A decimal number, or "p/q".
    epsilon_lower_bound : float
        On epsilon at the claimed delta.
    verdict : {'refuted', 'not refuted', 'undecided'}
    seeded : bool
        Whether all draws follow from the seed: not if the subject has its own randomness.
    versions : dict
        Of Python and the libraries that drew and counted.
    curve : StoredCurve or None
        Lower bounds at several deltas that hold together, by events of the ideal event's score.
    share : float
        Of the significance: the certifying stage's, if an audit went in stages, times the event's, if a sturdy
        event was certified beside the chosen one.
    """

    request: EstimateRequest
    inputs: dict[str, Any]
    event: StoredEvent
    judged: Judged
    neighbours: str
    counts: Counts
    all_counts: Counts
    draws: int
    method: Literal["joint", "clopper_pearson", "conditional", "cluster_betting", "anytime_betting", "anytime"]
    formula: str
    claimed_epsilon: float
    claimed_delta: str
    epsilon_lower_bound: float
    verdict: Verdict
    seeded: bool
    versions: dict[str, str]
    curve: StoredCurve | None
    share: float = 1.0

    def __post_init__(self) -> None:
        """Check that the formula is the method's."""
        if self.formula != FORMULAS[self.method]:
            raise ValueError(f"formula must be that of the method {self.method}")

    @property
    def mechanism(self) -> str:
        """The name of the audited mechanism."""
        return self.request.mechanism

    @property
    def subject(self) -> Description:
        """The audited subject."""
        return self.request.subject

    @property
    def significance(self) -> float:
        """Chance that the bound is wrong: the requested one, or a share of it."""
        return self.share * self.request.significance

    def to_json(self) -> dict[str, Any]:
        """Return the document."""
        document: dict[str, Any] = plain(self)
        return document

    def write(self, path: str | Path) -> None:
        """Write the document, whole or not at all; an existing file is replaced."""
        write_whole(path, json_text(self.to_json()))

    @classmethod
    def of(cls, document: Any, *, file: str | None = None) -> Certificate:
        """Return the certificate in a document; `audit.evidence.verify` checks its consistency.

        Raises
        ------
        CertificateError
            When a field is missing, unknown, or of the wrong kind.
        """
        schema = document.get("schema") if isinstance(document, dict) else None
        if schema in EARLIER:
            raise CertificateError(f"{schema} is an earlier version, which is not read any more", file=file)
        if str(schema).startswith("repaired_release_"):
            raise CertificateError(
                "this is a release of `repaired`, not a certificate: `audit certify` reads it", file=file
            )
        if isinstance(document, dict) and "neighbours_checked" in document and "mechanism" not in document:
            raise CertificateError(
                "this is a finding of assert_private, not a certificate: `audit estimate --out FILE` writes one",
                file=file,
            )
        return converted(document, cls, CertificateError, file=file)

    @classmethod
    def read(cls, path: str | Path) -> Certificate:
        """Return the certificate in a file.

        Raises
        ------
        CertificateError
            When the file cannot be read, or is not a certificate.
        """
        found = cls.read_all(path)
        if len(found) != 1:
            raise CertificateError(f"one certificate is needed, not {len(found)}", file=str(path))
        return found[0]

    @classmethod
    def read_all(cls, path: str | Path) -> list[Certificate]:
        """Return the certificates in a file: one, or those of the several mechanisms of one call.

        A result (:class:`audit.evidence.report.EstimateResult`) holds one, and must agree with it.

        Raises
        ------
        CertificateError
            When the file cannot be read, or is neither a certificate nor a list of them.
        """
        return [found for found, _ in cls.read_with_results(path)]

    @classmethod
    def read_with_results(cls, path: str | Path) -> list[tuple[Certificate, dict[str, Any] | None]]:
        """Return the certificates in a file likewise, each with the result that holds it, if any.

        Raises
        ------
        CertificateError
            Likewise.
        """
        document = json_of_file(path, CertificateError)
        if document == []:
            raise CertificateError("the file contains no certificate", file=str(path))
        documents = document if isinstance(document, list) else [document]
        return [
            (cls._of_result(one, file=str(path)), one) if _is_result(one) else (cls.of(one, file=str(path)), None)
            for one in documents
        ]

    @classmethod
    def _of_result(cls, result: dict[str, Any], *, file: str) -> Certificate:
        """Return the certificate of a result, after checking that the two agree."""
        found = cls.of(result["certificate"], file=file)
        _check_fields(result, RESULT_FIELDS, "", file)
        _check_fields(result["implementation"], RESULT_FIELDS_OF_BITS, "implementation", file)
        for place, part in (("witness", result), ("implementation.witness", result["implementation"])):
            _check_fields(part["witness"], WITNESS_FIELDS, place, file)
        if isinstance(result["seconds"], bool) or not isinstance(result["seconds"], int | float):
            raise CertificateError("must be a number", file=file, place="seconds")
        bits = found.judged == "implementation"
        of_object = result["implementation"] if bits else result
        said = {
            "mechanism": (result.get("mechanism"), found.mechanism),
            "claimed_epsilon": (result.get("claimed_epsilon"), found.claimed_epsilon),
            "claimed_delta": (result.get("claimed_delta"), found.claimed_delta),
            "significance": (result.get("significance"), found.request.significance),
            "draws": (result.get("draws"), found.draws),
            "requested_draws": (result.get("requested_draws"), found.request.draws),
            "rerun": (result.get("rerun"), found.request.command),
            "neighbours_checked": (result.get("neighbours_checked"), found.neighbours != UNCHECKED),
            "verdict": (result.get("implementation_verdict" if bits else "verdict"), found.verdict),
            "epsilon_lower_bound": (of_object.get("epsilon_lower_bound"), found.epsilon_lower_bound),
            "bound": (of_object.get("bound"), found.method),
        }
        witness = {"inputs": found.inputs, "event": plain(found.event), "counts": plain(found.all_counts)}
        said |= {
            f"witness.{name}": (of_object["witness"].get(name), one)
            for name, one in json.loads(json_text(witness)).items()
        }
        if not bits:
            said["curve"] = result.get("curve"), json.loads(json_text(plain(found.curve)))
        for place, (stated, certified) in said.items():
            if type(stated) is not type(certified) or stated != certified:
                raise CertificateError("is not what the result's certificate says", file=file, place=place)
        return found


def _check_fields(part: Any, fields: frozenset[str], place: str, file: str) -> None:
    """Refuse a part of a result that lacks fields, or has others."""
    if not isinstance(part, dict):
        raise CertificateError("is not what the result's certificate says", file=file, place=place)
    if wrong := sorted(part.keys() ^ fields):
        words = "is missing in the result" if wrong[0] in fields else "is no field of a result"
        raise CertificateError(words, file=file, place=".".join(filter(None, (place, wrong[0]))))


def _is_result(document: Any) -> bool:
    return isinstance(document, dict) and "schema" not in document and "certificate" in document


def tempered(verdict: Verdict, described: Description, inputs: dict[str, Any]) -> Verdict:
    """Return `undecided` for `not refuted` if inputs are shown alike, or the coefficients of w lose too much.

    Equal inputs test nothing, and nobody can tell others from them that a certificate shows alike.  How much w
    still has of a loss that its coefficients are known to have is unknown.

    Parameters
    ----------
    verdict : {'refuted', 'not refuted', 'undecided'}
        On the certified event.
    described : Description
    inputs : dict
        Of a certificate: they have the exact privacy of the coefficients.
    """
    if verdict == "not refuted" and shown_equal(described, inputs):
        return "undecided"
    inner = core(described)
    if verdict != "not refuted" or not isinstance(inner, MechanismDescription) or inner.release != "weights":
        return verdict
    exact = inputs.get("exact")
    return "undecided" if isinstance(exact, dict) and exact.get("verdict") == "refuted" else verdict


def shown_equal(described: Description, inputs: dict[str, Any]) -> bool:
    """Return whether a certificate shows one input twice: words may not tell all of an object."""
    if isinstance(described, ProgramDescription) and described.inputs is not None:
        return EQUAL in described.inputs.notes
    left, right = (json.dumps(inputs.get(side), sort_keys=True) for side in ("left", "right"))
    if "left" not in inputs or left != right:
        return False
    return not _has_words(inputs["left"])


def _has_words(shown: Any) -> bool:
    if isinstance(shown, dict | list):
        return any(map(_has_words, shown.values() if isinstance(shown, dict) else shown))
    return isinstance(shown, str)


def versions(packages: Iterable[str] = ("numpy", "scipy", "scikit-learn")) -> dict[str, str]:
    """Return the versions of this package, of Python and of the libraries that draw and count."""
    named = {name: version(name) for name in ("calibrated-functional-mechanism", *packages)}
    return {"python": platform.python_version(), **named}
