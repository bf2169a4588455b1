"""The machine-checked proofs (``proofs/coq``), and their ties to the code.

``files`` lists the Coq files, ``grammar`` refuses what is outside a small part of their language, ``sources``
reads them, ``names`` finds what printed words mean, ``build`` compiles a clean copy and asks Coq for
statements, definitions and axioms, ``kernel`` has the compiled files read again, ``check`` compares the answers
with what is committed, ``mutants`` holds wrong constants that must not compile, ``constants`` and ``formulas``
write the numbers and formulas of the Python code as theorems, ``claims`` ties theorems to claims and to Python
code, ``verdicts`` has Coq check a verdict on counts, ``status`` writes ``proofs/STATUS.md``, and ``python -m
audit proofs`` runs it all.  A verdict of the ledger never rests on Coq alone.
"""
