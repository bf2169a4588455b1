"""The machine-checked proofs (``proofs/coq``), and what ties them to the code.

``sources`` reads the Coq files, ``build`` compiles a clean copy and asks Coq for statements, definitions and
axioms, ``check`` compares the answers with what is committed, ``mutants`` holds wrong constants that must not
compile, ``constants`` writes the numbers of the Python code as theorems, ``claims`` ties theorems to claims and to
Python code, ``status`` writes ``proofs/STATUS.md``, and
``python -m audit.proofs`` runs it all.  A verdict of the ledger never rests on Coq alone.
"""
