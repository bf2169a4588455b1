"""The claims ledger: every claim of the paper, decided by a program.

``registry`` holds what a row is, the topic modules hold the rows with their checks and controls, ``ledger`` runs
them and compares with the committed ledger, ``digest`` ties a row to the code it speaks of, ``render`` writes text
and HTML.  ``python -m audit claims`` prints the ledger; ``--claim T5`` explains one row.
"""
