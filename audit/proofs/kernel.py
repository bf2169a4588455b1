"""Check compiled proofs again by ``coqchk``, Coq's separate checker.

``coqc`` writes a compiled file after its kernel has accepted it; ``coqchk`` is a separate program that reads the
files and checks them again.  It checks the project's files and trusts those of Coq's libraries.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from audit.proofs.build import ProofError, compile_file, proving, surroundings

SECTION = re.compile(r"^\* ([^:]+):[ \t]*(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
NONE = "<none>"
OWNERS = ("Coq.", "Coquelicot.", "mathcomp.")
LIBRARIES = "Libraries.v"

LIBRARY = "Coq."
"""Start of the names of Coq's own library.  ``Print Assumptions`` checks which of its axioms a theorem uses."""


def recheck(folder: Path) -> Iterator[str]:
    """Yield ``coqchk``'s objections to a compiled copy of a project, and what it trusts without a proof.

    The libraries of Coq are admitted one by one, by name: whatever else has been loaded is checked.
    """
    # without the virtual machine, comparisons of long numbers take minutes
    command = ["coqchk", "-silent", "-o", "-bytecode-compiler", "yes", "-Q", ".", "CFM"]
    try:
        libraries = _libraries(folder)
    except ProofError as problem:
        yield f"coqchk: not asked, the compiled files cannot be loaded: {problem}"
        return
    for name in libraries:
        command += ["-admit", name]
    command += [f"CFM.{Path(name).stem}" for name in proving(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=surroundings())
    if done.returncode != 0:
        yield f"coqchk: {' '.join((done.stderr or done.stdout).split())}"
        return
    # the summary comes on the stream of errors
    yield from believed(done.stdout + done.stderr)


def _libraries(folder: Path) -> list[str]:
    """Return the files of Coq's libraries that the compiled files of a project load."""
    modules = " ".join(Path(name).stem for name in proving(folder))
    question = f'From CFM Require {modules}.\nRedirect "libraries" Print Libraries.\n'
    (folder / LIBRARIES).write_text(question, encoding="utf-8")
    compile_file(folder, LIBRARIES)
    loaded = (folder / "libraries.out").read_text(encoding="utf-8").split()
    return [name for name in loaded if name.startswith(OWNERS)]


def believed(summary: str) -> Iterator[str]:
    """Yield what a summary of ``coqchk -o`` lists besides axioms of Coq's own library."""
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
