"""The commands of ``python -m audit``, each imported when used."""

from __future__ import annotations

from reference.commands.parsing import CommandRow, Family

ROWS = {
    "estimate": CommandRow("audit.commands.estimate", "does a mechanism keep the epsilon it claims?"),
    "verify": CommandRow("audit.commands.verify", "is the certificate of an estimate right?"),
    "catalogue": CommandRow("audit.commands.catalogue", "how good is an auditor, on mechanisms of known loss?"),
    "validity": CommandRow("audit.commands.validity", "how often is the auditor wrong?"),
    "sensitivity": CommandRow("audit.commands.sensitivity", "how far can one record move the coefficients?"),
    "privacy": CommandRow("audit.commands.privacy", "is the paper's privacy statement true, and what is?"),
    "thresholds": CommandRow("audit.commands.thresholds", "where do the published sensitivities stop holding?"),
    "boundary": CommandRow("audit.commands.boundary", "for which ratios of budgets do Theorems 3 and 5 hold?"),
    "weights": CommandRow("audit.commands.weights", "do ADFC's released weights keep Theorem 5?"),
    "claims": CommandRow("audit.commands.claims", "every claim of the paper, decided by a program"),
    "proofs": CommandRow("audit.commands.proofs", "check the machine-checked proofs from scratch"),
    "vectors": CommandRow("audit.commands.vectors", "cases with exact answers, for other implementations"),
    "conformance": CommandRow(
        "audit.commands.conformance", "is another implementation right, and which bug has it?"
    ),
    "compare": CommandRow(
        "audit.commands.compare", "does another implementation agree on new data sets, and where not?"
    ),
    "accountant": CommandRow("audit.commands.accountant", "is a library's reported epsilon below the true one?"),
    "certify": CommandRow("audit.commands.certify", "do a release's scales carry its stated (epsilon, delta)?"),
    "report": CommandRow("audit.commands.report.command", "what is true in the paper, on one page"),
}

command = Family("audit", ROWS, "What was checked, how, and how sure that makes us.")
