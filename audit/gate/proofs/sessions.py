"""Many texts in one session of Coq, which loads the compiled proofs once."""

from __future__ import annotations

import re
import secrets
import subprocess
from collections.abc import Mapping
from pathlib import Path

from audit.proofs.build import surroundings

IMPORTED = re.compile(r"^From CFM Require (?:Import|Export) ([\w\s]+)\.$", re.MULTILINE)


def first_errors(folder: Path, texts: Mapping[str, str], *, seconds: float | None = None) -> dict[str, str]:
    """Return for each text the first error that Coq finds in it, or "" where it accepts all of it.

    Every text begins with the same state, in which libraries are loaded and none is imported, and must end outside
    proofs, sections and modules: Coq answers as it answers for one file a text.

    Raises
    ------
    RuntimeError
        When the session breaks off.
    """
    names = {name for text in texts.values() for found in IMPORTED.findall(text) for name in found.split()}
    # no text knows the marks, so none can write them
    mark = secrets.token_hex(8)
    script = [f"From CFM Require {' '.join(sorted(names))}."] if names else []
    for number, text in enumerate(texts.values()):
        script += [f"Definition start_{number} := tt.", f"Fail Check text_{mark}_{number}.", text]
        # no module begins inside a proof or a section, and what an open module holds has another name
        script += [f"Module Closed_{number}. End Closed_{number}."]
        script += [f"Definition last_{number} := tt.", f"Check Top.last_{number}."]
        script += [f"Fail Check end_{mark}_{number}."]
        script += ["Abort All.", f"Reset start_{number}."]
    done = subprocess.run(
        ["coqtop", "-q", "-Q", ".", "CFM", "-w", "none"],
        input="\n".join(script) + "\n",
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=surroundings(),
        timeout=seconds,
    )
    found = {}
    for number, name in enumerate(texts):
        said = done.stdout.partition(f"text_{mark}_{number} was not found")[2]
        said, ended, _ = said.partition(f"end_{mark}_{number} was not found")
        if not ended:
            raise RuntimeError(f"{name}: the session of Coq broke off: {done.stdout[-500:]}")
        # what the next prompt follows belongs to the next sentence
        found[name] = " ".join(re.split(r"\n\n\S+ < ", said.partition("\nError:")[2])[0].split())
    return found
