"""Small projects that need no library, on which the gate is tried."""

from __future__ import annotations

from pathlib import Path

from audit.gate.needs import require_or_skip
from audit.proofs.build import missing

WORDS = """
Definition bound : nat := 2.
Definition small (n : nat) : Prop := n < bound.
"""

STATED = """
From CFM Require Import Words.
(** A statement (* with a comment inside a comment. *) *)
Theorem one_is_small : small 1.
Proof. unfold small, bound. repeat constructor. Qed.
Theorem two_is_at_most_bound : 2 <= bound.
Proof. unfold bound. apply le_n. Qed.
"""

FILES = ("Words.v", "Statements.v")


def require_coq() -> None:
    """Skip, or under CHECK_ALL=1 fail, where Coq is not installed."""
    reason = missing()
    require_or_skip(reason is None, str(reason))


def project(folder: Path, **files: str) -> Path:
    """Write a project of these files, in this order."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = "\n".join(f"{name}.v" for name in files)
    (folder / "_CoqProject").write_text(f"-Q . CFM\n{listed}\n", encoding="utf-8")
    for name, text in files.items():
        (folder / f"{name}.v").write_text(text, encoding="utf-8")
    return folder


def toy(folder: Path, words: str = WORDS, stated: str = STATED) -> Path:
    """Write a project of two files that needs no library."""
    return project(folder, Words=words, Statements=stated)
