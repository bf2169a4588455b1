"""Have compiled proofs read again by ``coqchk``, Coq's separate checker.

``coqc`` writes a compiled file after its kernel has accepted it; ``coqchk`` is a program of its own that reads the
files and checks them once more.  The files of the project are checked, those of Coq's libraries believed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from audit.proofs.build import NOT_CHECKED, proving, surroundings

SECTION = re.compile(r"^\* ([^:]+):[ \t]*(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
NONE = "<none>"
LIBRARY = "Coq."
"""Names of Coq's own library begin so.  Which of its axioms a theorem may use, ``Print Assumptions`` says."""


def checker_missing() -> str | None:
    """Return why the compiled proofs cannot be read again here, or None."""
    return None if shutil.which("coqchk") else f"{NOT_CHECKED} again: coqchk is not installed (Debian: coq)"


def recheck(folder: Path) -> Iterator[str]:
    """Yield what ``coqchk`` objects to in a compiled copy of a project, and what it believes without a proof."""
    # the virtual machine is needed: without it the comparisons of long numbers take minutes
    command = ["coqchk", "-silent", "-o", "-bytecode-compiler", "yes", "-Q", ".", "CFM"]
    for name in proving(folder):
        command += ["-norec", f"CFM.{Path(name).stem}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=surroundings())
    if done.returncode != 0:
        yield f"coqchk: {' '.join((done.stderr or done.stdout).split())}"
        return
    # the summary comes on the stream of errors
    yield from believed(done.stdout + done.stderr)


def believed(summary: str) -> Iterator[str]:
    """Yield what a summary of ``coqchk -o`` lists beside axioms of Coq's own library."""
    sections = {name: rest.split() for name, rest in SECTION.findall(summary)}
    if " ".join(sections.pop("Theory", [])) != "Set is predicative" or "Axioms" not in sections:
        yield f"coqchk: no summary that can be read: {summary.strip()[:200]}"
        return
    for name, listed in sections.items():
        found = [word for word in listed if word != NONE]
        if name == "Axioms":
            found = [word for word in found if not word.startswith(LIBRARY)]
        if found:
            yield f"coqchk: {name}: {', '.join(found)}"
