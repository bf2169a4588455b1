"""The claims ledger: every claim of the paper, decided by a program.

``registry`` defines a row, the topic modules have the rows with their checks and controls, ``ledger`` runs
them and compares with the committed ledger, ``digest`` ties a row to the code it is about, ``render`` writes text
and HTML.  ``python -m audit claims`` prints the ledger; ``--claim T5`` explains one row.
"""
