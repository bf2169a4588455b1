"""The commands of the reference, a line each."""

from __future__ import annotations

from reference.commands.parsing import CommandRow, Family

ROWS = {
    "fit": CommandRow("reference.commands.fit", "train mechanisms on random splits and measure them on the rest"),
    "predict": CommandRow("reference.commands.predict", "predict for the records of a file"),
    "ledger": CommandRow("reference.commands.ledger", "make a release ledger, or show what it has counted"),
    "domain": CommandRow("reference.commands.domain", "print, describe or check a domain file"),
    "advise": CommandRow("reference.commands.advise", "say what a budget buys, from public numbers alone"),
    "card": CommandRow("reference.commands.card", "explain a repaired release on one page"),
    "experiments": CommandRow("reference.commands.experiments", "the paper's figures and tables on real data"),
}

command = Family(
    "reference",
    ROWS,
    "Run the paper's mechanisms, predict, count releases, write domain files, repeat the experiments.",
)
