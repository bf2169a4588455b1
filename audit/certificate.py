"""The document of one audit: what was drawn, counted and concluded, so that others can check it.

``python -m audit.verify`` checks it.  The JSON Schema is ``audit/schemas/certificate_v1.json``, and with an
epsilon(delta) curve ``certificate_v2.json``, which differs in that field only.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from audit.bounds import ANYTIME_METHODS, Counts
from audit.stored_curve import StoredCurve
from audit.strict_json import parsed
from reference.errors import InputError
from reference.files import json_text, write_whole

SCHEMA, SCHEMA_WITH_CURVE = "certificate_v1.json", "certificate_v2.json"
SCHEMAS = Path(__file__).parent / "schemas"


@dataclass(frozen=True)
class Check:
    """One thing that was checked of a certificate.

    Parameters
    ----------
    name : str
    holds : bool or None
        None when it could not be decided.
    detail : str
    """

    name: str
    holds: bool | None
    detail: str


METHODS = ("joint", "clopper_pearson", "conditional", *ANYTIME_METHODS)

FORMULAS = {
    "joint": "smallest log((p_likely - delta) / p_unlikely) over the pairs that neither count alone nor the "
    "weighted sum of their normal scores rejects",
    "clopper_pearson": "log((low - delta) / high), each probability bounded at half the significance",
    "conditional": "log(p + omega (1 - p)), p a Clopper-Pearson limit on p_likely, omega the exact limit on the "
    "odds ratio given the sum of the counts",
    "anytime_betting": "highest level whose e-value, of fixed stakes on both counts and on the likely one alone, "
    "reached 1 / significance, levels taken from below",
    "anytime": "highest level whose e-value reached 1 / significance, levels taken from below",
}
"""How each method turns counts into a bound; the proofs are in docs/proofs/bounds.md."""


class CertificateError(InputError):
    """A document that is no certificate.

    Parameters
    ----------
    field : str
    problem : str
    """

    def __init__(self, field: str, problem: str) -> None:
        self.field = field
        self.problem = problem
        super().__init__(f"certificate, {field}: {problem}")


@dataclass(frozen=True)
class Certificate:
    """One certified lower bound and all it rests on.

    Parameters
    ----------
    mechanism : str
    subject : dict
        From which `audit.descriptions.rebuild` makes the mechanism and its two inputs.
    inputs : dict
        The two inputs, for a reader.
    event : dict
        From which `audit.events.event_from_json` makes the event; has a `score`.
    judged : {'ideal', 'implementation'}
        Whether outputs were quantised before the event looked at them.
    counts : Counts
        Of the certifying draws; for an anytime bound, of those made by the look at which its level was passed.
    draws : int
        Of all phases, both inputs.
    significance : float
    method : {'joint', 'clopper_pearson', 'conditional', 'anytime_betting', 'anytime'}
        `anytime`: with the bets of an earlier version.
    claimed_epsilon : float
    claimed_delta : str
        A decimal number, or "p/q".
    epsilon_lower_bound : float
        On epsilon at the claimed delta.
    verdict : {'refuted', 'not refuted', 'undecided'}
    seed : int or None
        None when the operating system's entropy was used.
    command : str
        That repeats the audit.
    versions : dict
        Of Python and the libraries that drew and counted.
    curve : StoredCurve or None
        Lower bounds at several deltas that hold together, by events of the ideal event's score.
    """

    mechanism: str
    subject: dict[str, Any]
    inputs: dict[str, Any]
    event: dict[str, Any]
    judged: str
    counts: Counts
    draws: int
    significance: float
    method: str
    claimed_epsilon: float
    claimed_delta: str
    epsilon_lower_bound: float
    verdict: str
    seed: int | None
    command: str
    versions: dict[str, str]
    curve: StoredCurve | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the document: of version 1 where there is no curve."""
        document = {**asdict(self), "formula": FORMULAS[self.method]}
        del document["curve"]
        if self.curve is None:
            return {"schema": SCHEMA, **document}
        return {"schema": SCHEMA_WITH_CURVE, **document, "curve": self.curve.to_json()}

    @classmethod
    def from_json(cls, document: Any) -> Certificate:
        """Return the certificate of a document; its own consistency is checked by `audit.verify`.

        Raises
        ------
        CertificateError
            When a field is missing, unknown, or of the wrong kind.
        """
        if not isinstance(document, dict):
            raise CertificateError("document", "is no JSON object")
        schema = document.get("schema")
        if schema not in (SCHEMA, SCHEMA_WITH_CURVE):
            hint = "; this is a result, and its field `certificate` is one" if "certificate" in document else ""
            raise CertificateError("schema", f"must be {SCHEMA} or {SCHEMA_WITH_CURVE}, not {schema!r}{hint}")
        if ("curve" in document) != (schema == SCHEMA_WITH_CURVE):
            raise CertificateError("curve", f"is in {SCHEMA_WITH_CURVE}, and there only")
        names = [field.name for field in fields(cls)]
        for unknown in document.keys() - {"schema", "formula", *names}:
            raise CertificateError(unknown, "is no field of a certificate")
        values = {}
        for field in fields(cls):
            if field.name == "curve" and schema == SCHEMA:
                continue
            if field.name not in document:
                raise CertificateError(field.name, "is missing")
            values[field.name] = _checked(field.name, document[field.name])
        if document.get("formula") != FORMULAS[values["method"]]:
            raise CertificateError("formula", f"must be that of the method {values['method']}")
        return cls(**values)

    def write(self, path: str | Path) -> None:
        """Write the document, whole or not at all."""
        write_whole(path, json_text(self.to_json()))

    @classmethod
    def read(cls, path: str | Path) -> Certificate:
        """Return the certificate in a file.

        Raises
        ------
        CertificateError
            When the file cannot be read, or is no certificate.
        """
        found = cls.read_all(path)
        if len(found) != 1:
            raise CertificateError("document", f"one certificate, not {len(found)}")
        return found[0]

    @classmethod
    def read_all(cls, path: str | Path) -> list[Certificate]:
        """Return the certificates in a file: one, or those of the several mechanisms of one call.

        Raises
        ------
        CertificateError
            When the file cannot be read, or is no certificate and no list of them.
        """
        try:
            document = parsed(Path(path).read_text(encoding="utf-8"), "is no number of JSON")
        except OSError as problem:
            raise CertificateError("file", f"{path} cannot be read: {problem.strerror}") from problem
        except (ValueError, RecursionError) as problem:
            raise CertificateError("document", f"is no JSON: {problem}") from problem
        if document == []:
            raise CertificateError("document", "holds no certificate")
        return [cls.from_json(one) for one in (document if isinstance(document, list) else [document])]


KINDS: dict[str, tuple[type, ...]] = {
    "mechanism": (str,),
    "subject": (dict,),
    "inputs": (dict,),
    "event": (dict,),
    "judged": (str,),
    "counts": (dict,),
    "draws": (int,),
    "significance": (int, float),
    "method": (str,),
    "claimed_epsilon": (int, float),
    "claimed_delta": (str,),
    "epsilon_lower_bound": (int, float),
    "verdict": (str,),
    "seed": (int, type(None)),
    "command": (str,),
    "versions": (dict,),
    "curve": (dict,),
}
"""JSON kinds of the fields."""

CHOICES = {
    "judged": ("ideal", "implementation"),
    "method": METHODS,
    "verdict": ("refuted", "not refuted", "undecided"),
}


def _checked(name: str, value: Any) -> Any:
    """Return a field's value in its own type."""
    if isinstance(value, bool) or not isinstance(value, KINDS[name]):
        kinds = " or ".join(kind.__name__ for kind in KINDS[name])
        raise CertificateError(name, f"must be {kinds}, not {value!r}")
    if name in CHOICES and value not in CHOICES[name]:
        raise CertificateError(name, f"must be one of {', '.join(CHOICES[name])}, not {value!r}")
    if isinstance(value, dict) and name == "event" and "score" not in value:
        raise CertificateError(name, "has no score")
    if name == "curve":
        try:
            return StoredCurve.from_json(value)
        except ValueError as problem:
            raise CertificateError(name, str(problem)) from problem
    return _counts(value) if isinstance(value, dict) and name == "counts" else value


def _counts(value: dict[str, Any]) -> Counts:
    names = [field.name for field in fields(Counts)]
    if sorted(value) != sorted(names) or not all(type(number) is int for number in value.values()):
        raise CertificateError("counts", f"must be whole numbers {', '.join(names)}, not {value!r}")
    try:
        return Counts(**value)
    except ValueError as problem:
        raise CertificateError("counts", str(problem)) from problem


def versions(packages: Iterable[str] = ("numpy", "scipy", "scikit-learn")) -> dict[str, str]:
    """Return the versions of this package, of Python and of the libraries that draw and count."""
    named = {name: version(name) for name in ("calibrated-functional-mechanism", *packages)}
    return {"python": platform.python_version(), **named}
