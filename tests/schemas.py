"""The JSON Schemas of all documents: ``python -m tests.schemas --write`` makes the committed files anew."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from audit.evidence.certificate import Certificate
from audit.proofs.releases.composed import RepairedCertificate
from audit.proofs.releases.result import ReleaseCertificate
from audit.subjects.programs import InputPair
from audit.subjects.programs.protocol import ErrorAnswer, InputsRequest, SampleAnswer, SampleRequest
from audit.vectors.format import VectorFile
from reference.accounting.ledger_file import LedgerHeader, ReleaseLine
from reference.accounting.release import Release
from reference.commands.trace import Trace
from reference.common.documents import format_of, schema_of
from reference.common.files import json_text
from reference.datasets.checkpoint import Checkpoint
from reference.domain.file import DomainFile
from reference.repaired.released import RepairedRelease

ROOT = Path(__file__).parent.parent

DOCUMENTS: tuple[tuple[str, type[Any]], ...] = (
    ("audit/common/schemas", Certificate),
    ("audit/common/schemas", ReleaseCertificate),
    ("audit/common/schemas", RepairedCertificate),
    ("audit/common/schemas", InputPair),
    ("audit/common/schemas", VectorFile),
    ("audit/common/schemas", InputsRequest),
    ("audit/common/schemas", SampleRequest),
    ("audit/common/schemas", SampleAnswer),
    ("audit/common/schemas", ErrorAnswer),
    ("reference/common/schemas", DomainFile),
    ("reference/common/schemas", Release),
    ("reference/common/schemas", RepairedRelease),
    ("reference/common/schemas", Trace),
    ("reference/common/schemas", LedgerHeader),
    ("reference/common/schemas", ReleaseLine),
    ("reference/common/schemas", Checkpoint),
)
"""The folder of a schema, and the type that it describes."""


def files() -> dict[Path, str]:
    """Return the text that each schema file should have."""
    return {
        ROOT / folder / f"{format_of(kind) or kind.__name__}.schema.json": json_text(schema_of(kind))
        for folder, kind in DOCUMENTS
    }


def main() -> int:
    """Write the schema files, or only name those that differ."""
    stale = [path for path, text in files().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")
        if "--write" in sys.argv[1:]:
            path.parent.mkdir(exist_ok=True)
            path.write_text(files()[path])
    return int(bool(stale) and "--write" not in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
