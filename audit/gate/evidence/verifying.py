"""The subject of a certificate, and the command that verifies it."""

from __future__ import annotations

import json
from functools import cache

from audit.evidence.ball_arithmetic import joint_holds
from audit.evidence.certificate import Certificate
from audit.gate.requests import verify_command as main
from audit.subjects.descriptions import CatalogueDescription

SUBJECT = CatalogueDescription(name="laplace_half_noise", parameters={"epsilon": 1.0})

# most edits leave counts and bound as they are: decided once
ONCE = cache(joint_holds)


def run(capsys, tmp_path, document: Certificate, *words: str):
    """Write a certificate and verify it by the command; return exit code and result."""
    path = tmp_path / "certificate.json"
    document.write(path)
    code = main([str(path), *words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)
