"""Requests and certificates for tests: what a command line asks for, and copies with some fields changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from audit.auditor.events import stored_event
from audit.commands import verify
from audit.commands.estimate import EstimateOptions, command, requests
from audit.evidence.certificate import FORMULAS, Certificate
from audit.evidence.request import EstimateRequest
from audit.subjects.descriptions import Description
from reference.commands.parsing import filled_in, run
from reference.common.documents import Document, converted


def asked(*words: str) -> list[EstimateRequest]:
    """Return what a command line of `estimate` asks for, without carrying it out."""
    with command.make_context("estimate", list(words)) as context:
        groups = [filled_in(group, context.params) for group in GROUPS]
    *given, output = groups
    return requests(EstimateOptions(*given), output.seed)


GROUPS: Sequence[Any] = command.groups


def verify_command(words: Sequence[str]) -> int:
    """Run ``python -m audit verify`` and return its exit code."""
    return run(verify.command, words, name="python -m audit verify")


class Holder(Document, frozen=True):
    """A document has one type: a union is a field of it."""

    subject: Description


def described(document: Any) -> Description:
    """Return the description in a parsed JSON document."""
    return converted({"subject": document}, Holder).subject


def changed(certificate: Certificate, **changes: Any) -> Certificate:
    """Return a copy of a certificate with some of its fields changed, or of its request's.

    A name that both have is the certificate's; `request` is a dict of changes of the request, and `event` may be a
    JSON document.  Other counts are all counts, unless these are given.
    """
    if "counts" in changes:
        changes.setdefault("all_counts", changes["counts"])
    inner = changes.pop("request", {}) | {
        name: changes.pop(name) for name in list(changes) if name not in Certificate.__struct_fields__
    }
    if isinstance(changes.get("event"), dict):
        changes["event"] = stored_event(changes["event"])
    if "method" in changes:
        changes["formula"] = FORMULAS[changes["method"]]
    request = msgspec.structs.replace(certificate.request, **inner)
    return msgspec.structs.replace(certificate, **{"request": request, **changes})
